/* random.h — splitmix64 streams, the source of all seeded choices of the library. */
#ifndef TWIN_BASE_RANDOM_H
#define TWIN_BASE_RANDOM_H

#include <stdint.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection in which every input bit changes about half
 * of the output bits. */
static inline uint64_t twin__mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The number that becomes x when it is mixed. */
static inline uint64_t twin__unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * 0x319642B2D24D8EC3u;
    x = (x ^ x >> 27 ^ x >> 54) * 0x96DE1B173F119089u;
    return x ^ x >> 30 ^ x >> 60;
}

/* The next number of the stream whose state is *state. */
static inline uint64_t twin__random_next(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio, odd: visits every state */
    return twin__mix(*state);
}

/* A number below n, n > 0. The bias is at most n/2^64. */
static inline uint64_t twin__random_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)twin__random_next(state) * n) >> 64);
}

#endif

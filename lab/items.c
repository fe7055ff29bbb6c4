/* items.c — items to hash: random strings and decimal numbers. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

uint64_t draw(uint64_t *state)
{
    return twin_hash_mix(*state += 0x9E3779B97F4A7C15u); /* splitmix64 */
}

uint64_t draw_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)draw(state) * n) >> 64);
}

double draw_unit(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

uint64_t seed_of(uint64_t seed, uint64_t part)
{
    return twin_hash_mix(seed + twin_hash_mix(part + 1));
}

enum { LONGEST = 50 };

/* Ten characters per random number. */
static size_t draw_string(char *out, uint64_t *state)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
    size_t length = 1 + draw_below(state, LONGEST);
    uint64_t bits = 0;
    for (size_t i = 0; i < length; i++, bits >>= 6) {
        if (i % 10 == 0)
            bits = draw(state);
        out[i] = letters[bits & 63];
    }
    return length;
}

/* Inserts a hash into an open-addressing table whose size is a power of two; false when it is present. 0 means
 * empty. */
static bool put(uint64_t *table, size_t mask, uint64_t hash)
{
    size_t slot = hash & mask;
    while (table[slot] && table[slot] != hash)
        slot = (slot + 1) & mask;
    bool fresh = !table[slot];
    table[slot] = hash;
    return fresh;
}

void items_random(struct items *out, size_t count, uint64_t seed)
{
    static const twin_hash hash = { .family = TWIN_HASH_XXH3, .seed = 0x1ab }; /* not a function under test */
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    uint64_t *seen = need(places, sizeof *seen), state = seed;
    *out = (struct items){ need(count, sizeof *out->texts), need(count, LONGEST), 0 };
    char *end = out->bytes;
    while (out->count < count) {
        size_t length = draw_string(end, &state);
        if (!put(seen, places - 1, twin_hash_bytes(hash, end, length) | 1))
            continue;
        out->texts[out->count++] = (twin_text){ end, length };
        end += length;
    }
    free(seen);
}

void items_numbers(struct items *out, size_t count)
{
    enum { DIGITS = 21 };
    *out = (struct items){ need(count, sizeof *out->texts), need(count, DIGITS), count };
    char *end = out->bytes;
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(end, DIGITS, "%zu", i + 1);
        out->texts[i] = (twin_text){ end, (size_t)length };
        end += length;
    }
}

void items_clear(struct items *items)
{
    free(items->texts);
    free(items->bytes);
    *items = (struct items){ 0 };
}

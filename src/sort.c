/* sort.c — sorting 64-bit numbers. */
#include "sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, MOST_DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS };

/* A digit: which bits of a number it is, and where its values go. */
struct digit {
    unsigned shift;
    size_t mask;
    size_t start[1 << DIGIT_BITS];
};

/* Counts the digits of all items in one pass; each start is then where the items with that digit begin. */
static inline void count_digits(struct digit *digits, unsigned count, const uint64_t *items, size_t n)
{
    for (unsigned d = 0; d < count; d++)
        memset(digits[d].start, 0, (digits[d].mask + 1) * sizeof digits[d].start[0]);
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < count; d++)
            digits[d].start[items[i] >> digits[d].shift & digits[d].mask]++;
    for (unsigned d = 0; d < count; d++) {
        size_t sum = 0;
        for (size_t value = 0; value <= digits[d].mask; value++) {
            size_t here = digits[d].start[value];
            digits[d].start[value] = sum;
            sum += here;
        }
    }
}

/* Sorts by the leading `count` digits of `bits` bits each, the lowest of them first. In line, so that where both are
 * known the loops over digits are none. */
static inline __attribute__((always_inline)) void sort_by_digits(uint64_t *items, uint64_t *spare, size_t n,
                                                                 unsigned count, unsigned bits)
{
    struct digit digits[MOST_DIGITS];
    for (unsigned d = 0; d < count; d++) {
        unsigned top = 64 - (count - 1 - d) * bits, low = top > bits ? top - bits : 0;
        digits[d].shift = low;
        digits[d].mask = ((size_t)1 << (top - low)) - 1;
    }
    count_digits(digits, count, items, n);
    for (unsigned d = 0; d < count; d++) {
        struct digit *digit = &digits[d];
        for (size_t i = 0; i < n; i++)
            spare[digit->start[items[i] >> digit->shift & digit->mask]++] = items[i];
        uint64_t *other = items;
        items = spare;
        spare = other;
    }
    if (count & 1)
        memcpy(spare, items, n * sizeof *items);
}

/* Puts right what is nearly in order; gives up when that takes more than a few moves an item. */
static bool insertion_sort(uint64_t *items, size_t n)
{
    size_t moves = 0, allowed = 8 * n;
    for (size_t i = 1; i < n; i++) {
        uint64_t item = items[i];
        size_t j = i;
        for (; j > 0 && items[j - 1] > item; j--)
            items[j] = items[j - 1];
        items[j] = item;
        moves += i - j;
        if (moves > allowed)
            return false;
    }
    return true;
}

/* Mixed hashes are all but sorted once their leading bits are: with five bits more than it takes to number
 * them, one item in 64 is out of place. Two digits of 8 bits do for a page of text, 11 bits for a book. Items
 * that are not mixed, or were made to look alike, are sorted by all their bits. */
void twin__sort(uint64_t *items, uint64_t *spare, size_t n)
{
    unsigned digits = 2, bits = 8;
    if (n > (size_t)1 << 12)
        bits = DIGIT_BITS;
    while (digits < MOST_DIGITS && n >> (digits * bits - 5))
        digits++;
    if (n > 16 && digits == 2 && bits == 8)
        sort_by_digits(items, spare, n, 2, 8);
    else if (n > 16)
        sort_by_digits(items, spare, n, digits, bits);
    if (!insertion_sort(items, n))
        sort_by_digits(items, spare, n, MOST_DIGITS, DIGIT_BITS);
}

void twin__sort_by_high_half(uint64_t *items, uint64_t *spare, size_t n)
{
    sort_by_digits(items, spare, n, 3, DIGIT_BITS);
}

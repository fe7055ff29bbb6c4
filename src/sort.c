/* sort.c — sorting 64-bit numbers. */
#include "sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, MOST_DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS };

/* Sorts by the `bits` bits from `shift` up, stably, into `to`. */
static void sort_by_digit(uint64_t *to, const uint64_t *from, size_t n, unsigned shift, unsigned bits)
{
    size_t start[1 << DIGIT_BITS];
    size_t mask = ((size_t)1 << bits) - 1, sum = 0;
    memset(start, 0, (mask + 1) * sizeof start[0]);
    for (size_t i = 0; i < n; i++)
        start[from[i] >> shift & mask]++;
    for (size_t digit = 0; digit <= mask; digit++) {
        size_t count = start[digit];
        start[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[start[from[i] >> shift & mask]++] = from[i];
}

/* Sorts by the leading `digits` digits of `bits` bits each. */
static void sort_by_digits(uint64_t *items, uint64_t *spare, size_t n, unsigned digits, unsigned bits)
{
    for (unsigned digit = digits; digit-- > 0;) {
        unsigned top = 64 - digit * bits, low = top > bits ? top - bits : 0;
        sort_by_digit(spare, items, n, low, top - low);
        uint64_t *other = items;
        items = spare;
        spare = other;
    }
    if (digits & 1)
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
    if (n > 16)
        sort_by_digits(items, spare, n, digits, bits);
    if (!insertion_sort(items, n))
        sort_by_digits(items, spare, n, MOST_DIGITS, DIGIT_BITS);
}

void twin__sort_by_high_half(uint64_t *items, uint64_t *spare, size_t n)
{
    sort_by_digits(items, spare, n, 3, DIGIT_BITS);
}

/* sort.c — sorting 64-bit numbers.
 *
 * Items are usually well-mixed hashes, so their leading bits determine the order almost completely. A few items are
 * sorted by insertion, a few thousand in bins by their leading bits (a kernel sorts the bins), and more by radix sort
 * on the leading digits, followed by an insertion pass. Items that are not mixed are detected and sorted by all
 * bits. */
#include "kernels/sort.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/stages.h"
#include "kernels/kernels.h"
#include "kernels/sort_bytes.h"

/* Three digits are counted in one pass, which is all that mixed items need; 24 KB of stack. */
enum { DIGIT_BITS = 11, MOST_DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS, COUNTED_AT_ONCE = 3 };

/* Up to these numbers insertion is fastest: compared with bins, and with digits. */
enum { FEW = 16, FEW_FOR_DIGITS = 32 };

/* With four items per bin, one mixed item in a hundred finds its bin full. Three per bin give fewer of those, five give
 * fewer bins; neither is faster. 128 KB of rows suffice for 8,192 items; a worker's stack has room for those of 512. */
enum { BIN_LOAD = 4, MOST_FOR_BINS = 4 * 2048, BINS_ON_STACK = 128 };

/* So many items are dealt before a long call may report. A sort that is begun is completed. */
enum { PIECE = 1 << 20 };

/* A digit: which bits of a number it has, and where its values go. */
struct digit {
    unsigned shift;
    size_t mask;
    uint32_t *start;
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
        uint32_t sum = 0;
        for (size_t value = 0; value <= digits[d].mask; value++) {
            uint32_t here = digits[d].start[value];
            digits[d].start[value] = sum;
            sum += here;
        }
    }
}

/* Whether all items have this digit of `item`, as in numbers that are small. */
static inline bool is_constant(const struct digit *digit, uint64_t item, size_t n)
{
    size_t value = item >> digit->shift & digit->mask;
    size_t end = value < digit->mask ? digit->start[value + 1] : n;
    return end - digit->start[value] == n;
}

/* Digit `d` of the leading `count`, each of `bits` bits but the lowest, which may have fewer. */
static inline void place_digit(struct digit *digit, unsigned d, unsigned count, unsigned bits)
{
    unsigned top = 64 - (count - 1 - d) * bits, low = top > bits ? top - bits : 0;
    digit->shift = low;
    digit->mask = ((size_t)1 << (top - low)) - 1;
}

/* Sorts by the leading `count` digits of `bits` bits each, the lowest of them first; `starts` has room for those that
 * are counted at once. Inline, so that constant arguments unroll the loops over digits. */
static inline __attribute__((always_inline)) void sort_by_digits(uint64_t *items, uint64_t *spare, size_t n,
                                                                 unsigned count, unsigned bits, uint32_t *starts)
{
    struct digit digits[COUNTED_AT_ONCE];
    for (unsigned d = 0; d < COUNTED_AT_ONCE; d++)
        digits[d].start = starts + ((size_t)d << bits);
    uint64_t *home = items;
    for (unsigned first = 0; first < count && n > 0; first += COUNTED_AT_ONCE) {
        unsigned counted = count - first < COUNTED_AT_ONCE ? count - first : COUNTED_AT_ONCE;
        for (unsigned d = 0; d < counted; d++)
            place_digit(&digits[d], first + d, count, bits);
        count_digits(digits, counted, items, n);
        for (unsigned d = 0; d < counted; d++) {
            struct digit *digit = &digits[d];
            if (is_constant(digit, items[0], n))
                continue;
            for (size_t begin = 0; begin < n; begin += PIECE) {
                size_t end = n - begin > PIECE ? begin + PIECE : n;
                for (size_t i = begin; i < end; i++)
                    spare[digit->start[items[i] >> digit->shift & digit->mask]++] = items[i];
                if (n > PIECE)
                    (void)twin__poll();
            }
            uint64_t *other = items;
            items = spare;
            spare = other;
        }
    }
    if (items != home)
        memcpy(home, items, n * sizeof *items);
}

/* Not inline, so that only those who come here have the counts on their stack. */
static __attribute__((noinline)) void sort_by_long_digits(uint64_t *items, uint64_t *spare, size_t n, unsigned count)
{
    uint32_t starts[COUNTED_AT_ONCE << DIGIT_BITS];
    if (count == 2)
        sort_by_digits(items, spare, n, 2, DIGIT_BITS, starts);
    else
        sort_by_digits(items, spare, n, count, DIGIT_BITS, starts);
}

static __attribute__((noinline)) void sort_by_short_digits(uint64_t *items, uint64_t *spare, size_t n)
{
    uint32_t starts[2 << 8];
    sort_by_digits(items, spare, n, 2, 8, starts);
}

void twin__sort_by_bytes(uint64_t *items, uint64_t *spare, size_t n, unsigned bytes)
{
    uint64_t *home = items;
    for (unsigned shift = 64 - 8 * bytes; shift < 64; shift += 8) {
        size_t start[256] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++)
            start[items[i] >> shift & 0xFF]++;
        for (size_t value = 0; value < 256; value++) {
            size_t here = start[value];
            start[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            spare[start[items[i] >> shift & 0xFF]++] = items[i];
        uint64_t *other = items;
        items = spare;
        spare = other;
    }
    if (items != home)
        memcpy(home, items, n * sizeof *items);
}

/* Completes an almost sorted order, ignoring the last `ignored` bits, stably. Gives up when that takes more than a few
 * moves per item, but not on a few items. */
static inline bool insertion_sort(uint64_t *items, size_t n, unsigned ignored)
{
    size_t moves = 0, allowed = 8 * (n + FEW_FOR_DIGITS);
    for (size_t i = 1; i < n; i++) {
        uint64_t item = items[i];
        size_t j = i;
        for (; j > 0 && items[j - 1] >> ignored > item >> ignored; j--)
            items[j] = items[j - 1];
        items[j] = item;
        moves += i - j;
        if (moves > allowed)
            return false;
    }
    return true;
}

/* Mixed hashes are all but sorted once their leading bits are: with five bits more than it takes to number
 * them, one item in 64 is out of place. Two digits of 8 bits suffice for a page of text, 11 bits for a book.
 * Items that are not mixed, or were constructed to be close, are sorted by all their bits. */
static void sort_by_leading_digits(uint64_t *items, uint64_t *spare, size_t n)
{
    unsigned digits = 2;
    if (n > UINT32_MAX) {
        twin__sort_by_bytes(items, spare, n, 8);
        return;
    }
    while (digits < MOST_DIGITS && n >> (digits * DIGIT_BITS - 5))
        digits++;
    if (n >> (2 * 8 - 5))
        sort_by_long_digits(items, spare, n, digits);
    else if (n > FEW_FOR_DIGITS)
        sort_by_short_digits(items, spare, n);
    if (!insertion_sort(items, n, 0))
        sort_by_long_digits(items, spare, n, MOST_DIGITS);
}

/* ---- bins: a page of mixed hashes ---- */

/* Element k * stride + b of the rows is the k-th item of bin b. An item that finds its bin full is counted in it but
 * stored separately, as a stray. */
struct bins {
    size_t count;
    unsigned stride_bits;
    uint32_t *held;
    uint64_t *rows;
};

static struct bins bins_for(size_t n)
{
    struct bins bins = { .count = (n / BIN_LOAD + 7) / 8 * 8, .stride_bits = 3 };
    while ((size_t)1 << bins.stride_bits < bins.count)
        bins.stride_bits++;
    return bins;
}

static size_t numbers_in_rows(const struct bins *bins)
{
    return (size_t)BIN_ROOM << bins->stride_bits;
}

/* Of two items the greater is never in an earlier bin. */
static inline size_t bin_of(uint64_t item, size_t bins)
{
    return (size_t)((unsigned __int128)item * bins >> 64);
}

/* Distributes the items to the bins; those that find theirs full go to `strays`, and their number to *stray_count.
 * Gives up when they are one in four, where bins do not pay. */
static bool deal(struct bins *bins, uint64_t *strays, size_t *stray_count, const uint64_t *items, size_t n)
{
    size_t count = bins->count, astray = 0;
    uint32_t stride = (uint32_t)1 << bins->stride_bits;
    assert(count > 0);
    uint32_t *next = bins->held; /* where the next item of each bin goes, for one addition per item */
    for (size_t bin = 0; bin < count; bin++)
        next[bin] = (uint32_t)bin;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i];
        size_t bin = bin_of(item, count);
        uint32_t place = next[bin];
        next[bin] = place + stride;
        if (place < BIN_ROOM * stride)
            bins->rows[place] = item;
        else if (astray < n / 4)
            strays[astray++] = item;
        else
            return false;
    }
    for (size_t bin = 0; bin < count; bin++)
        bins->held[bin] = next[bin] >> bins->stride_bits;
    *stray_count = astray;
    return true;
}

/* Inserts each stray into its bin, which is sorted and has space after its eight items. Strays come in increasing
 * order, so none moves past more than those eight. */
static void bring_home(uint64_t *items, const struct bins *bins, const uint64_t *strays, size_t stray_count)
{
    size_t bin = 0, begin = 0, end = BIN_ROOM;
    for (size_t i = 0; i < stray_count; i++) {
        size_t home = bin_of(strays[i], bins->count);
        for (; bin < home; bin++) {
            begin += bins->held[bin];
            end = begin + BIN_ROOM;
        }
        size_t place = end++;
        for (; place > begin && items[place - 1] > strays[i]; place--)
            items[place] = items[place - 1];
        items[place] = strays[i];
    }
}

/* One pass to distribute, and no branch that depends on the order of mixed items except for the few strays. */
static bool sort_in_bins(uint64_t *items, uint64_t *spare, size_t n, struct bins *bins)
{
    size_t strays;
    if (!deal(bins, spare, &strays, items, n))
        return false;
    twin__kernels()->sort_bins(items, n, bins->rows, (size_t)1 << bins->stride_bits, bins->held, bins->count);
    sort_by_leading_digits(spare, spare + strays, strays);
    bring_home(items, bins, spare, strays);
    return true;
}

/* Not inline, so that only those who come here have the rows on their stack. */
static __attribute__((noinline)) bool sort_in_few_bins(uint64_t *items, uint64_t *spare, size_t n)
{
    uint32_t held[BINS_ON_STACK];
    uint64_t rows[BIN_ROOM * BINS_ON_STACK];
    struct bins bins = bins_for(n);
    bins.held = held;
    bins.rows = rows;
    return sort_in_bins(items, spare, n, &bins);
}

static void sort_with_little_room(uint64_t *items, uint64_t *spare, size_t n)
{
    if (n <= FEW || n > (size_t)BIN_LOAD * BINS_ON_STACK || !sort_in_few_bins(items, spare, n))
        sort_by_leading_digits(items, spare, n);
}

size_t twin__sort_room(size_t n)
{
    if (n <= FEW || n > MOST_FOR_BINS)
        return n;
    struct bins bins = bins_for(n);
    return n + numbers_in_rows(&bins) + (bins.count + 1) / 2;
}

void twin__sort(uint64_t *items, size_t n, uint64_t *spare, size_t room)
{
    if (n <= (size_t)BIN_LOAD * BINS_ON_STACK || n > MOST_FOR_BINS || room < twin__sort_room(n)) {
        sort_with_little_room(items, spare, n);
        return;
    }
    struct bins bins = bins_for(n);
    bins.rows = spare + n;
    bins.held = (uint32_t *)(void *)(bins.rows + numbers_in_rows(&bins));
    if (!sort_in_bins(items, spare, n, &bins))
        sort_by_leading_digits(items, spare, n);
}

/* ---- in place ---- */

/* Moves each item to its bucket, by the digit of 8 bits above `shift`; ends[d] becomes where bucket d ends (American
 * flag sort: McIlroy, Bostic, McIlroy 1993). */
static void deal_in_place(size_t ends[256], uint64_t *items, size_t n, unsigned shift)
{
    size_t next[256] = { 0 }, sum = 0;
    for (size_t i = 0; i < n; i++)
        next[items[i] >> shift & 0xFF]++;
    for (size_t digit = 0; digit < 256; digit++) {
        size_t here = next[digit];
        next[digit] = sum;
        ends[digit] = sum += here;
    }
    for (size_t digit = 0; digit < 256; digit++)
        while (next[digit] < ends[digit]) {
            uint64_t item = items[next[digit]];
            for (size_t to = item >> shift & 0xFF; to != digit; to = item >> shift & 0xFF) {
                uint64_t other = items[next[to]];
                items[next[to]++] = item;
                item = other;
            }
            items[next[digit]++] = item;
        }
}

/* Sorts items that agree in their leading bits, by the others: as if they were mixed from the first bit on. */
static void sort_rests(uint64_t *items, size_t n, uint64_t *spare, size_t room, unsigned equal)
{
    uint64_t leading = n && equal ? items[0] >> (64 - equal) << (64 - equal) : 0;
    for (size_t i = 0; i < n; i++)
        items[i] <<= equal;
    twin__sort(items, n, spare, room);
    for (size_t i = 0; i < n; i++)
        items[i] = items[i] >> equal | leading;
}

/* The items agree in all bits above the lowest `bits`. */
static void sort_below(uint64_t *items, size_t n, uint64_t *spare, size_t room, unsigned bits)
{
    (void)twin__poll();
    if (n <= room) {
        sort_rests(items, n, spare, room, 64 - bits);
        return;
    }
    size_t ends[256];
    unsigned shift = bits > 8 ? bits - 8 : 0;
    deal_in_place(ends, items, n, shift);
    for (size_t digit = 0, begin = 0; digit < 256 && shift > 0; begin = ends[digit++])
        sort_below(items + begin, ends[digit] - begin, spare, room, shift);
}

/* Items of a narrow range agree in more bits once its start is subtracted, and are then dealt to 128 buckets at
 * least. */
void twin__sort_in_place(uint64_t *items, size_t n, uint64_t *spare, size_t room)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = items[i] < least ? items[i] : least;
        most = items[i] > most ? items[i] : most;
    }
    if (n < 2 || least == most)
        return;
    unsigned bits = 64 - (unsigned)__builtin_clzll(most - least);
    for (size_t i = 0; i < n && bits < 64; i++)
        items[i] -= least;
    sort_below(items, n, spare, room, bits);
    for (size_t i = 0; i < n && bits < 64; i++)
        items[i] += least;
}

/* Up to two million mixed items, two digits leave few out of place. */
void twin__sort_by_high_half(uint64_t *items, uint64_t *spare, size_t n)
{
    if (n >> 21 == 0) {
        sort_by_long_digits(items, spare, n, 2);
        if (insertion_sort(items, n, 64 - 3 * DIGIT_BITS))
            return;
    }
    if (n > UINT32_MAX)
        twin__sort_by_bytes(items, spare, n, 4);
    else
        sort_by_long_digits(items, spare, n, 3);
}

bool twin__sort_numbers(uint64_t *items, size_t n)
{
    uint64_t *spare = malloc((n + 1) * sizeof *spare);
    if (!spare)
        return false;
    twin__sort(items, n, spare, n);
    free(spare);
    return true;
}

bool twin__sort_many_numbers(uint64_t *items, size_t n)
{
    enum { MOST_SPARE = 1 << 16 };
    size_t room = n < MOST_SPARE ? n + 1 : MOST_SPARE;
    uint64_t *spare = malloc(room * sizeof *spare);
    if (!spare)
        return false;
    if (n)
        twin__sort_in_place(items, n, spare, room);
    free(spare);
    return true;
}

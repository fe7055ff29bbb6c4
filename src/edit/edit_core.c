/* edit_core.c — edit distance over arrays of symbols: diagonals and strips.
 *
 * Diagonals follow runs of equal symbols, eight bytes at a time, and take about d² steps for d edits; after some
 * edits they guess from how far they have come whether strips will be faster. Strips compute 64 cells of the table
 * per word; each passes its lowest row on to the next as steps of +1, 0 or -1, and only the columns that a path
 * within the cut-off can reach are computed. Loops are compiled once per width of symbol and number of words, so that
 * their state stays in registers. */
#include "edit/edit_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/scratch.h"
#include "base/stages.h"

enum { POLLED_EDITS = 64 }; /* edits along diagonals after which it is asked whether to stop */

void *twin__edit_room(twin_edit_scratch *scratch, int which, size_t bytes)
{
    if (scratch->bytes[which] < bytes) {
        free(scratch->room[which]);
        size_t with_spare = bytes + bytes / 4 + 64;
        scratch->room[which] = calloc(1, with_spare);
        scratch->bytes[which] = scratch->room[which] ? with_spare : 0;
    }
    return scratch->room[which];
}

static inline size_t width_of(struct twin__pair pair)
{
    return pair.wide ? sizeof(uint32_t) : 1;
}

static inline uint32_t symbol(const void *symbols, int64_t i, bool wide)
{
    return wide ? ((const uint32_t *)symbols)[i] : ((const uint8_t *)symbols)[i];
}

struct twin__pair twin__edit_part(struct twin__pair pair, int64_t a_begin, int64_t n, int64_t b_begin, int64_t m)
{
    size_t width = width_of(pair);
    pair.a = (const char *)pair.a + (size_t)a_begin * width;
    pair.b = (const char *)pair.b + (size_t)b_begin * width;
    pair.n = n;
    pair.m = m;
    return pair;
}

/* How many of the first bytes of two different words agree, in the order of memory. */
static inline int equal_bytes(uint64_t difference)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_clzll(difference) / 8;
#else
    return __builtin_ctzll(difference) / 8;
#endif
}

/* The number of symbols from a[i] and b[j] on that agree, at most `most`: eight bytes at a time. */
static inline __attribute__((always_inline)) int64_t run_length(struct twin__pair pair, int64_t i, int64_t j,
                                                                int64_t most, bool wide)
{
    const int size = wide ? 4 : 1;
    const char *a = (const char *)pair.a + i * size, *b = (const char *)pair.b + j * size;
    int64_t run = 0;
    for (; run + 8 / size <= most; run += 8 / size) {
        uint64_t x, y;
        memcpy(&x, a + run * size, 8);
        memcpy(&y, b + run * size, 8);
        if (x != y)
            return run + equal_bytes(x ^ y) / size;
    }
    while (run < most && symbol(a, run, wide) == symbol(b, run, wide))
        run++;
    return run;
}

static inline int64_t distance_between(int64_t x, int64_t y)
{
    return x < y ? y - x : x - y;
}

int64_t twin__edit_prefix(struct twin__pair pair)
{
    int64_t most = twin__lesser(pair.n, pair.m);
    return pair.wide ? run_length(pair, 0, 0, most, true) : run_length(pair, 0, 0, most, false);
}

int64_t twin__edit_suffix(struct twin__pair pair)
{
    int64_t run = 0, most = twin__lesser(pair.n, pair.m);
    while (run < most && symbol(pair.a, pair.n - 1 - run, pair.wide) == symbol(pair.b, pair.m - 1 - run, pair.wide))
        run++;
    return run;
}

/* ---- numbering ---- */

struct number {
    uint32_t symbol_plus_one; /* 0: free */
    uint32_t number;
};

static struct number *find_number(struct number *table, uint64_t mask, uint32_t sought)
{
    uint64_t at = twin__mix(sought) & mask;
    while (table[at].symbol_plus_one != 0 && table[at].symbol_plus_one != sought + 1)
        at = (at + 1) & mask;
    return &table[at];
}

twin_status twin__edit_number(struct twin__pair *pair, twin_edit_scratch *scratch)
{
    if (pair->symbols != UINT32_MAX)
        return TWIN_OK;
    uint64_t size = 16;
    while (size < 2 * (uint64_t)pair->n)
        size *= 2;
    struct number *table = twin__edit_room(scratch, TWIN__EDIT_TABLE, size * sizeof *table);
    if (!table)
        return TWIN_ENOMEM;
    memset(table, 0, size * sizeof *table);

    uint32_t next = 1;
    uint32_t *a = (uint32_t *)pair->a, *b = (uint32_t *)pair->b; /* ours: they are in room SYMBOLS */
    for (int64_t i = 0; i < pair->n; i++) {
        struct number *entry = find_number(table, size - 1, a[i]);
        if (entry->symbol_plus_one == 0)
            *entry = (struct number){ a[i] + 1, next++ };
        a[i] = entry->number;
    }
    for (int64_t j = 0; j < pair->m; j++)
        b[j] = find_number(table, size - 1, b[j])->number;
    pair->symbols = next;
    return TWIN_OK;
}

/* ---- diagonals ----
 *
 * Ukkonen 1985, Landau and Vishkin 1986. Diagonal c holds the cells (i, i + c); far[c] is the last row
 * it reaches with d edits. */

enum {
    NOWHERE = INT32_MIN / 2, /* of a diagonal not reached yet */
    FIRST_LOOK = 16,         /* edits after which, and after each doubling, the rate is checked */
    /* Edits per this many symbols up to which diagonals are faster than strips: measured by bench_edit, see
     * docs/decisions/0040-edit-distance.md. */
    DIAGONAL_RATE = 24,
    INDEL_RATE = 20,
};

/* Extends far[] by one edit on the diagonals low, low + step, … high, and returns the furthest row of all. */
static inline __attribute__((always_inline)) int64_t one_more(int32_t *next, const int32_t *far,
                                                              struct twin__pair pair, int64_t low, int64_t high,
                                                              bool wide, bool replaces)
{
    int64_t furthest = 0;
    for (int64_t c = low; c <= high; c += replaces ? 1 : 2) {
        int64_t i = twin__greater(far[c - 1], far[c + 1] + 1);
        if (replaces)
            i = twin__greater(i, far[c] + 1);
        /* A cell past the edge is replaced by the one on the edge: neighbours differ by at most one edit. */
        int64_t edge = twin__lesser(pair.n, pair.m - c);
        i = twin__lesser(i, edge);
        i += run_length(pair, i, i + c, edge - i, wide);
        next[c] = (int32_t)i;
        furthest = twin__greater(furthest, i);
    }
    next[low - 1] = next[low - 2] = next[high + 1] = next[high + 2] = NOWHERE;
    return furthest;
}

static int64_t one_more_edit(int32_t *next, const int32_t *far, struct twin__pair pair, int64_t low, int64_t high)
{
    if (pair.wide)
        return pair.replaces ? one_more(next, far, pair, low, high, true, true)
                             : one_more(next, far, pair, low, high, true, false);
    return pair.replaces ? one_more(next, far, pair, low, high, false, true)
                         : one_more(next, far, pair, low, high, false, false);
}

static bool worth_looking(int64_t d)
{
    return d >= FIRST_LOOK && (d & (d - 1)) == 0;
}

twin_status twin__edit_diagonals(size_t *out, int64_t *guess, struct twin__pair pair, twin_edit_scratch *scratch,
                                 int64_t most)
{
    const int64_t end = pair.m - pair.n, rate = pair.replaces ? DIAGONAL_RATE : INDEL_RATE;
    *out = TWIN_EDIT_FAR;
    *guess = 0;
    if (distance_between(pair.m, pair.n) > most)
        return TWIN_OK;

    /* The rate allows no more than this many edits, since between two checks they at most double. */
    int64_t limit = twin__lesser(most, 2 * FIRST_LOOK + 2 * pair.n / rate);
    int32_t *block = twin__edit_room(scratch, TWIN__EDIT_DIAGONALS, (size_t)(4 * limit + 12) * sizeof *block);
    if (!block)
        return TWIN_ENOMEM;
    int32_t *far = block + limit + 3, *next = far + 2 * limit + 6;

    far[0] = (int32_t)twin__edit_prefix(pair);
    far[-1] = far[-2] = far[1] = far[2] = NOWHERE;
    for (int64_t d = 0, furthest = far[0];; d++) {
        bool end_seen = d >= distance_between(end, 0) && (pair.replaces || ((d ^ end) & 1) == 0);
        if (end_seen && far[end] == pair.n) {
            *out = (size_t)d;
            return TWIN_OK;
        }
        if (d == most)
            return TWIN_OK;
        if (d % POLLED_EDITS == POLLED_EDITS - 1 && twin__poll() != TWIN_OK)
            return TWIN_ESTOPPED;
        if (d == limit || (worth_looking(d) && d * rate > furthest)) {
            *guess = 1 + d * pair.n / (furthest + 1);
            return TWIN_OK;
        }
        /* From diagonal c it takes |end - c| edits at least to the last one. */
        int64_t low = twin__greater(twin__greater(-(d + 1), -pair.n), end - (most - d - 1));
        int64_t high = twin__lesser(twin__lesser(d + 1, pair.m), end + (most - d - 1));
        if (!pair.replaces) {
            low += (low ^ (d + 1)) & 1;
            high -= (high ^ (d + 1)) & 1;
        }
        if (low > high)
            return TWIN_OK;
        furthest = one_more_edit(next, far, pair, low, high);
        int32_t *spare = far;
        far = next;
        next = spare;
    }
}

/* ---- strips ----
 *
 * Myers 1999, Hyyrö 2003 and 2004. A strip is `words` words of consecutive rows. A column of it is stored as its
 * vertical steps: where they are +1 and -1 for Levenshtein, where the longest common subsequence stays the same for
 * indels. A strip passes one horizontal step per column to the strip below.
 *
 * Horizontal steps are two bits: */
enum { UP = 1, DOWN = 2 }; /* +1 and -1 */

enum { MAX_WORDS = 4 };

int twin__edit_step(const twin_edit_scratch *scratch, int64_t c)
{
    uint8_t delta = ((const uint8_t *)scratch->room[TWIN__EDIT_DELTAS])[c];
    return (delta & UP) - (delta >> 1);
}

/* The loop over the columns from + 1 .. to of a strip, for Levenshtein. `last` is the bit of the last word that
 * is the lowest row. Returns what the lowest row gains from `from` to `to`. */
static inline __attribute__((always_inline)) int64_t strip_edits(uint8_t *deltas, const uint64_t *masks,
                                                                 struct twin__pair pair, int64_t from, int64_t to,
                                                                 int last, int words, bool wide)
{
    uint64_t up[MAX_WORDS], down[MAX_WORDS];
    for (int w = 0; w < words; w++) {
        up[w] = ~(uint64_t)0;
        down[w] = 0;
    }
    int64_t gain = 0;
    for (int64_t c = from + 1; c <= to; c++) {
        const uint64_t *here = masks + (size_t)symbol(pair.b, c - 1, wide) * (size_t)words;
        uint64_t across_up = deltas[c] & UP, across_down = deltas[c] >> 1;
        for (int w = 0; w < words; w++) {
            uint64_t equal = here[w], vertical = equal | down[w];
            equal |= across_down;
            uint64_t horizontal = (((equal & up[w]) + up[w]) ^ up[w]) | equal;
            uint64_t rises = down[w] | ~(horizontal | up[w]), falls = up[w] & horizontal;
            int bit = w == words - 1 ? last : 63;
            uint64_t out_up = rises >> bit & 1, out_down = falls >> bit & 1;
            rises = rises << 1 | across_up;
            falls = falls << 1 | across_down;
            up[w] = falls | ~(vertical | rises);
            down[w] = rises & vertical;
            across_up = out_up;
            across_down = out_down;
        }
        deltas[c] = (uint8_t)(across_up | across_down << 1);
        gain += (int64_t)across_up - (int64_t)across_down;
    }
    return gain;
}

/* The same for indels. The cost is rows + columns - 2·LCS, so a horizontal step is -1 where the LCS grows, which is
 * the carry out of the addition, and +1 elsewhere. Rows past the lowest never match and propagate the carry. */
static inline __attribute__((always_inline)) int64_t strip_indels(uint8_t *deltas, const uint64_t *masks,
                                                                  struct twin__pair pair, int64_t from, int64_t to,
                                                                  int words, bool wide)
{
    uint64_t flat[MAX_WORDS];
    for (int w = 0; w < words; w++)
        flat[w] = ~(uint64_t)0;
    int64_t gain = 0;
    for (int64_t c = from + 1; c <= to; c++) {
        const uint64_t *here = masks + (size_t)symbol(pair.b, c - 1, wide) * (size_t)words;
        uint64_t carry = deltas[c] >> 1;
        for (int w = 0; w < words; w++) {
            uint64_t matched = flat[w] & here[w], sum = flat[w] + matched;
            uint64_t over = sum < matched;
            sum += carry;
            carry = over | (sum < carry);
            flat[w] = sum | (flat[w] & ~here[w]);
        }
        deltas[c] = carry ? DOWN : UP;
        gain += 1 - 2 * (int64_t)carry;
    }
    return gain;
}

/* One loop per number of words, so that the compiler keeps the columns in registers. */
static inline __attribute__((always_inline)) int64_t strip_of(uint8_t *deltas, const uint64_t *masks,
                                                              struct twin__pair pair, int64_t from, int64_t to,
                                                              int last, int words, bool wide)
{
    if (!pair.replaces)
        return strip_indels(deltas, masks, pair, from, to, words, wide);
    return strip_edits(deltas, masks, pair, from, to, last, words, wide);
}

static int64_t strip(uint8_t *deltas, const uint64_t *masks, struct twin__pair pair, int64_t from, int64_t to,
                     int last, int words)
{
    switch (words) {
    case 4:
        return pair.wide ? strip_of(deltas, masks, pair, from, to, last, 4, true)
                         : strip_of(deltas, masks, pair, from, to, last, 4, false);
    case 2:
        return pair.wide ? strip_of(deltas, masks, pair, from, to, last, 2, true)
                         : strip_of(deltas, masks, pair, from, to, last, 2, false);
    default:
        return pair.wide ? strip_of(deltas, masks, pair, from, to, last, 1, true)
                         : strip_of(deltas, masks, pair, from, to, last, 1, false);
    }
}

/* Sets, or clears, the bits that mark where the symbols of rows `row` .. row + rows - 1 occur. */
static void mark(uint64_t *masks, struct twin__pair pair, int64_t row, int64_t rows, int words, bool set)
{
    for (int64_t i = 0; i < rows; i++) {
        uint64_t *word = &masks[(size_t)symbol(pair.a, row + i, pair.wide) * (size_t)words + (size_t)(i / 64)];
        *word = set ? *word | (uint64_t)1 << i % 64 : 0;
    }
}

/* Tall strips hide the latency of a column behind the next; short ones follow a narrow band more closely. */
static int words_for(int64_t rows_left, int64_t most)
{
    int words = most < 64 ? 1 : most < 192 ? 2 : 4;
    while (words > 1 && rows_left < 64 * words)
        words /= 2;
    return words;
}

/* Narrows a row to the columns on a path within `most`; false when there is none. Sets `score_to`, the cost of the
 * last column. */
static bool narrow(struct twin__edit_row *row, int64_t *score_to, const twin_edit_scratch *scratch,
                   struct twin__pair pair, int64_t rows, int64_t most)
{
    const int64_t end = pair.m - pair.n;
    while (row->score + distance_between(end, row->from - rows) > most) {
        if (row->from == row->to)
            return false;
        row->score += twin__edit_step(scratch, ++row->from);
    }
    while (*score_to + distance_between(end, row->to - rows) > most)
        *score_to -= twin__edit_step(scratch, row->to--);
    return true;
}

twin_status twin__edit_strips(struct twin__edit_row *out, bool *found, struct twin__pair pair,
                              twin_edit_scratch *scratch, int64_t rows, int64_t most)
{
    const int64_t end = pair.m - pair.n;
    *found = false;
    if (distance_between(end, 0) > most)
        return TWIN_OK;
    uint8_t *deltas = twin__edit_room(scratch, TWIN__EDIT_DELTAS, (size_t)pair.m + 1);
    uint64_t *masks = twin__edit_room(scratch, TWIN__EDIT_MASKS, (size_t)pair.symbols * MAX_WORDS * sizeof *masks);
    if (!deltas || !masks)
        return TWIN_ENOMEM;

    struct twin__edit_row row = { 0, 0, 0 };
    int64_t known = 0;    /* columns whose step into the next strip is known */
    int64_t score_to = 0; /* cost at column row.to */
    for (int64_t at = 0; at < rows;) {
        int words = words_for(rows - at, most);
        int64_t height = twin__lesser(rows - at, 64 * words);
        /* The last column a path can reach below: straight down the diagonal from row.to, then across with half
         * of the remaining edits, since every horizontal step must be undone. From further left it reaches no further,
         * since the cost grows by at most one per column. */
        int64_t to = twin__lesser(pair.m, row.to + height + (most - score_to - (row.to - at) + end) / 2);
        if (to > known)
            memset(deltas + known + 1, UP, (size_t)(to - known));
        mark(masks, pair, at, height, words, true);
        int64_t gain = strip(deltas, masks, pair, row.from, to, (int)((height - 1) % 64), words);
        mark(masks, pair, at, height, words, false);
        at += height;
        row.score += height;
        row.to = known = to;
        score_to = row.score + gain;
        if (!narrow(&row, &score_to, scratch, pair, at, most))
            return TWIN_OK;
        if (at < rows && twin__poll() != TWIN_OK)
            return TWIN_ESTOPPED;
    }
    *out = row;
    *found = true;
    return TWIN_OK;
}

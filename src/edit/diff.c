/* diff.c — what two texts have in common and where they differ, word by word.
 *
 * Words become numbers, equal for equal words. Of long texts the sequences of words that occur once in both are
 * aligned first, as many as are in the same order (patience diff); what is between them, or all of short texts, is
 * aligned by the method of Myers (1986): a shortest path is sought from both ends, the part is split where they meet,
 * and each half is done in the same way. After `effort` differences it is split where one end has come furthest;
 * since each side then got that far at least, the work is linear. The result is two arrays of marks, from which spans
 * are made. */
#include <twinsift/edit.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "edit/edit_core.h"
#include "edit/words.h"
#include "kernels/sort.h"

enum { DEFAULT_EFFORT = 256 };

/* ---- the shortest path ---- */

/* Words a_begin .. a_end-1 of a, and those of b. */
struct box {
    int64_t a_begin, a_end, b_begin, b_end;
};

struct aligning {
    struct twin__words *a, *b;
    int64_t effort;
    int64_t *forward, *backward; /* by diagonal, a - b: the furthest a that is reached from either end */
    int64_t *forward_block, *backward_block;
};

struct point {
    int64_t a, b;
};

/* One end of the search: the diagonals low, low + 2, … high are reached. */
struct end {
    int64_t *reach;
    int64_t low, high;
};

/* One difference more: the diagonals next to those reached, as far as the box has them. `nowhere` is what the step
 * from outside must not use. */
static void widen(struct end *end, int64_t least, int64_t most, int64_t nowhere)
{
    if (end->low > least)
        end->reach[--end->low - 1] = nowhere;
    else
        end->low++;
    if (end->high < most)
        end->reach[++end->high + 1] = nowhere;
    else
        end->high--;
}

/* True when the two ends have met at `out`. */
static bool step_forward(struct point *out, const struct aligning *aligning, struct box box, struct end *from,
                         const struct end *other, bool may_meet)
{
    const uint32_t *a = aligning->a->numbers, *b = aligning->b->numbers;
    for (int64_t k = from->high; k >= from->low; k -= 2) {
        int64_t below = from->reach[k - 1], above = from->reach[k + 1];
        int64_t x = below < above ? above : below + 1;
        for (; x < box.a_end && x - k < box.b_end && a[x] == b[x - k]; x++) {
        }
        from->reach[k] = x;
        if (may_meet && k >= other->low && k <= other->high && other->reach[k] <= x) {
            *out = (struct point){ x, x - k };
            return true;
        }
    }
    return false;
}

static bool step_backward(struct point *out, const struct aligning *aligning, struct box box, struct end *from,
                          const struct end *other, bool may_meet)
{
    const uint32_t *a = aligning->a->numbers, *b = aligning->b->numbers;
    for (int64_t k = from->high; k >= from->low; k -= 2) {
        int64_t below = from->reach[k - 1], above = from->reach[k + 1];
        int64_t x = below < above ? below : above - 1;
        for (; x > box.a_begin && x - k > box.b_begin && a[x - 1] == b[x - k - 1]; x--) {
        }
        from->reach[k] = x;
        if (may_meet && k >= other->low && k <= other->high && x <= other->reach[k]) {
            *out = (struct point){ x, x - k };
            return true;
        }
    }
    return false;
}

/* The point that either end has come furthest to. */
static struct point furthest(struct box box, const struct end *forward, const struct end *backward)
{
    struct point first = { box.a_begin, box.b_begin }, last = { box.a_end, box.b_end };
    for (int64_t k = forward->low; k <= forward->high; k += 2) {
        int64_t x = twin__lesser(forward->reach[k], twin__lesser(box.a_end, box.b_end + k));
        if (2 * x - k > first.a + first.b)
            first = (struct point){ x, x - k };
    }
    for (int64_t k = backward->low; k <= backward->high; k += 2) {
        int64_t x = twin__greater(backward->reach[k], twin__greater(box.a_begin, box.b_begin + k));
        if (2 * x - k < last.a + last.b)
            last = (struct point){ x, x - k };
    }
    int64_t ahead = first.a + first.b - box.a_begin - box.b_begin, behind = box.a_end + box.b_end - last.a - last.b;
    return ahead >= behind ? first : last;
}

/* A point on a path through the box, whose corners differ. */
static struct point split(const struct aligning *aligning, struct box box)
{
    const int64_t least = box.a_begin - box.b_end, most = box.a_end - box.b_begin;
    const int64_t start = box.a_begin - box.b_begin, stop = box.a_end - box.b_end;
    const bool odd = (start - stop) & 1;
    struct end forward = { aligning->forward, start, start }, backward = { aligning->backward, stop, stop };
    struct point met = { 0 };
    forward.reach[start] = box.a_begin;
    backward.reach[stop] = box.a_end;
    for (int64_t cost = 1; cost <= aligning->effort; cost++) {
        widen(&forward, least, most, -1);
        if (step_forward(&met, aligning, box, &forward, &backward, odd))
            return met;
        widen(&backward, least, most, INT64_MAX);
        if (step_backward(&met, aligning, box, &backward, &forward, !odd))
            return met;
    }
    return furthest(box, &forward, &backward);
}

static bool is_smaller(struct box x, struct box y)
{
    return x.a_end - x.a_begin + x.b_end - x.b_begin < y.a_end - y.a_begin + y.b_end - y.b_begin;
}

/* Marks what differs. Calls itself for the smaller half only, so that it is not nested deeply. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void align_box(const struct aligning *aligning, struct box box)
{
    const uint32_t *a = aligning->a->numbers, *b = aligning->b->numbers;
    for (;;) {
        while (box.a_begin < box.a_end && box.b_begin < box.b_end && a[box.a_begin] == b[box.b_begin]) {
            box.a_begin++;
            box.b_begin++;
        }
        while (box.a_begin < box.a_end && box.b_begin < box.b_end && a[box.a_end - 1] == b[box.b_end - 1]) {
            box.a_end--;
            box.b_end--;
        }
        if (box.a_begin == box.a_end || box.b_begin == box.b_end)
            break;
        struct point at = split(aligning, box);
        assert(at.a >= box.a_begin && at.a <= box.a_end && at.b >= box.b_begin && at.b <= box.b_end);
        struct box left = { box.a_begin, at.a, box.b_begin, at.b }, right = { at.a, box.a_end, at.b, box.b_end };
        align_box(aligning, is_smaller(left, right) ? left : right);
        box = is_smaller(left, right) ? right : left;
    }
    if (box.a_begin < box.a_end)
        memset(aligning->a->changed + box.a_begin, true, (size_t)(box.a_end - box.a_begin));
    if (box.b_begin < box.b_end)
        memset(aligning->b->changed + box.b_begin, true, (size_t)(box.b_end - box.b_begin));
}

/* ---- anchors of long texts ---- */

/* Words of both texts from which on anchors are sought, and of an anchor: four in a row, once in either text, are
 * hardly ever the same by chance. */
enum { LONG = 4096, ANCHOR = 4, POSITION_BITS = 30 };

/* A number per window of ANCHOR words: its position below, as much of its hash as there is room for above; sorted. */
static uint64_t *list_windows(size_t *count, const struct twin__words *words)
{
    *count = words->count >= ANCHOR ? words->count - ANCHOR + 1 : 0;
    uint64_t *windows = malloc((2 * *count + 1) * sizeof *windows);
    for (size_t i = 0; windows && i < *count; i++) {
        uint64_t hash = 0;
        for (size_t j = 0; j < ANCHOR; j++)
            hash = twin__mix(hash + words->numbers[i + j]);
        windows[i] = hash << POSITION_BITS | i;
    }
    if (windows && *count)
        twin__sort(windows, *count, windows + *count, *count);
    return windows;
}

static bool is_alone(const uint64_t *windows, size_t count, size_t i)
{
    uint64_t hash = windows[i] >> POSITION_BITS;
    return (i == 0 || windows[i - 1] >> POSITION_BITS != hash) &&
           (i + 1 == count || windows[i + 1] >> POSITION_BITS != hash);
}

/* Pairs of positions of the windows that are once in either text, a above b, in the order of a. */
static twin_status pair_windows(uint64_t **out, size_t *count, const struct twin__words *a,
                                const struct twin__words *b)
{
    const uint64_t low = ((uint64_t)1 << POSITION_BITS) - 1;
    size_t in_a, in_b, i = 0, j = 0;
    uint64_t *x = list_windows(&in_a, a), *y = list_windows(&in_b, b);
    *count = 0;
    *out = malloc((2 * twin__lesser((int64_t)in_a, (int64_t)in_b) + 1) * sizeof **out);
    bool good = x && y && *out;
    while (good && i < in_a && j < in_b) {
        uint64_t p = x[i] >> POSITION_BITS, q = y[j] >> POSITION_BITS;
        size_t at = x[i] & low, other = y[j] & low;
        if (p == q && is_alone(x, in_a, i) && is_alone(y, in_b, j) &&
            memcmp(a->numbers + at, b->numbers + other, ANCHOR * sizeof *a->numbers) == 0)
            (*out)[(*count)++] = (uint64_t)at << 32 | other;
        i += p <= q;
        j += q <= p;
    }
    free(x);
    free(y);
    if (good && *count)
        twin__sort(*out, *count, *out + *count, *count);
    return good ? TWIN_OK : TWIN_ENOMEM;
}

/* Keeps the most pairs that are in order of b, too: a longest increasing subsequence. */
static twin_status keep_in_order(uint64_t *pairs, size_t *count)
{
    uint32_t *before = malloc((*count + 1) * sizeof *before), *ends = malloc((*count + 1) * sizeof *ends);
    size_t longest = 0;
    if (!before || !ends) {
        free(before);
        free(ends);
        return TWIN_ENOMEM;
    }
    for (size_t i = 0; i < *count; i++) { /* ends[n]: the last of the n + 1 that end lowest */
        size_t low = 0, high = longest;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if ((uint32_t)pairs[ends[middle]] < (uint32_t)pairs[i])
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low ? ends[low - 1] : 0;
        ends[low] = (uint32_t)i;
        longest += low == longest;
    }
    uint32_t at = longest ? ends[longest - 1] : 0;
    for (size_t i = longest; i > 0; i--) {
        ends[i - 1] = at;
        at = before[at];
    }
    for (size_t i = 0; i < longest; i++)
        pairs[i] = pairs[ends[i]];
    *count = longest;
    free(before);
    free(ends);
    return TWIN_OK;
}

/* Aligns what is between the anchors. */
static twin_status align_long(const struct aligning *aligning)
{
    uint64_t *anchors;
    size_t count;
    twin_status status = pair_windows(&anchors, &count, aligning->a, aligning->b);
    if (status == TWIN_OK)
        status = keep_in_order(anchors, &count);
    struct box box = { 0, 0, 0, 0 };
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        box.a_end = (int64_t)(anchors[i] >> 32);
        box.b_end = (int64_t)(uint32_t)anchors[i];
        if (box.a_end < box.a_begin || box.b_end < box.b_begin)
            continue; /* part of the anchor before */
        align_box(aligning, box);
        box.a_begin = box.a_end + ANCHOR;
        box.b_begin = box.b_end + ANCHOR;
    }
    if (status == TWIN_OK)
        align_box(aligning,
                  (struct box){ box.a_begin, (int64_t)aligning->a->count, box.b_begin, (int64_t)aligning->b->count });
    free(anchors);
    return status;
}

static twin_status align_words(struct twin__words *a, struct twin__words *b, size_t effort)
{
    const size_t diagonals = a->count + b->count + 3;
    struct aligning aligning = { .a = a, .b = b };
    twin_status status = TWIN_OK;
    aligning.effort = effort == 0 ? DEFAULT_EFFORT : effort < INT64_MAX ? (int64_t)effort : INT64_MAX;
    aligning.forward_block = malloc(diagonals * sizeof *aligning.forward);
    aligning.backward_block = malloc(diagonals * sizeof *aligning.backward);
    if (aligning.forward_block && aligning.backward_block) {
        aligning.forward = aligning.forward_block + b->count + 1;
        aligning.backward = aligning.backward_block + b->count + 1;
        if (a->count + b->count >= LONG)
            status = align_long(&aligning);
        else
            align_box(&aligning, (struct box){ 0, (int64_t)a->count, 0, (int64_t)b->count });
    } else {
        status = TWIN_ENOMEM;
    }
    free(aligning.forward_block);
    free(aligning.backward_block);
    return status;
}

/* ---- spans ---- */

/* The end of the words from `i` on that are changed. */
static size_t change_end(const struct twin__words *words, size_t i)
{
    while (i < words->count && words->changed[i])
        i++;
    return i;
}

/* How many words from these on are equal in both. */
static size_t equal_words(const struct twin__words *a, size_t i, const struct twin__words *b, size_t j)
{
    size_t count = 0;
    while (i + count < a->count && j + count < b->count && !a->changed[i + count] && !b->changed[j + count])
        count++;
    return count;
}

/* Marks equal parts of up to `join` words between larger changes. */
static void join_changes(struct twin__words *a, struct twin__words *b, size_t join)
{
    size_t i = 0, j = 0, before = 0; /* words of the last change */
    while (i < a->count || j < b->count) {
        size_t a_end = change_end(a, i), b_end = change_end(b, j), change = a_end - i + b_end - j;
        size_t equal = equal_words(a, a_end, b, b_end), next = a_end + equal, other = b_end + equal;
        before += change;
        size_t after = change_end(a, next) - next + change_end(b, other) - other;
        if (equal > 0 && equal <= join && before > 2 * equal && after > 2 * equal) {
            memset(a->changed + a_end, true, equal);
            memset(b->changed + b_end, true, equal);
            before += 2 * equal;
        } else {
            before = 0;
        }
        i = next;
        j = other;
    }
}

static uint32_t span_begin(const struct twin__words *words, size_t i)
{
    return i == 0 ? 0 : words->begins[i];
}

static twin_status put_span(twin_edit_spans *out, twin_edit_kind kind, const struct twin__words *a,
                            const struct twin__words *b, struct box box)
{
    if (box.a_begin == box.a_end && box.b_begin == box.b_end)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&out->spans, &out->capacity, out->count, 1))
        return TWIN_ENOMEM;
    uint32_t from = span_begin(a, (size_t)box.a_begin), other = span_begin(b, (size_t)box.b_begin);
    out->spans[out->count++] = (twin_edit_span){ .kind = kind,
                                                 .a_begin = from,
                                                 .a_length = span_begin(a, (size_t)box.a_end) - from,
                                                 .b_begin = other,
                                                 .b_length = span_begin(b, (size_t)box.b_end) - other };
    return TWIN_OK;
}

static twin_status make_spans(twin_edit_spans *out, const struct twin__words *a, const struct twin__words *b)
{
    twin_status status = TWIN_OK;
    int64_t i = 0, j = 0;
    while ((i < (int64_t)a->count || j < (int64_t)b->count) && status == TWIN_OK) {
        int64_t a_end = (int64_t)change_end(a, (size_t)i), b_end = (int64_t)change_end(b, (size_t)j);
        out->distance += (size_t)(a_end - i + b_end - j);
        status = put_span(out, TWIN_EDIT_DELETED, a, b, (struct box){ i, a_end, j, j });
        if (status == TWIN_OK)
            status = put_span(out, TWIN_EDIT_INSERTED, a, b, (struct box){ a_end, a_end, j, b_end });
        int64_t equal = (int64_t)equal_words(a, (size_t)a_end, b, (size_t)b_end);
        i = a_end + equal;
        j = b_end + equal;
        if (status == TWIN_OK)
            status = put_span(out, TWIN_EDIT_EQUAL, a, b, (struct box){ a_end, i, b_end, j });
    }
    return status;
}

twin_status twin_diff(twin_edit_spans *out, twin_text a, twin_text b, twin_diff_options options)
{
    if (!out || (!a.bytes && a.length) || (!b.bytes && b.length))
        return twin__fail_null(NULL, !out ? "out" : !a.bytes && a.length ? "a.bytes" : "b.bytes");
    if (a.length > TWIN_EDIT_MAX_LENGTH || b.length > TWIN_EDIT_MAX_LENGTH)
        return twin__fail(NULL, TWIN_ELIMIT, "a text is longer than %d bytes", TWIN_EDIT_MAX_LENGTH);
    out->count = 0;
    out->distance = 0;
    struct twin__words x = { 0 }, y = { 0 };
    twin_status status = twin__check_reserved(NULL, options.reserved, "differences");
    if (status == TWIN_OK)
        status = twin__words_find(&x, a);
    if (status == TWIN_OK)
        status = twin__words_find(&y, b);
    if (status == TWIN_OK)
        status = twin__words_number(&x, &y);
    if (status == TWIN_OK)
        status = align_words(&x, &y, options.effort);
    if (status == TWIN_OK && options.join)
        join_changes(&x, &y, options.join);
    if (status == TWIN_OK)
        status = make_spans(out, &x, &y);
    twin__words_clear(&x);
    twin__words_clear(&y);
    return status;
}

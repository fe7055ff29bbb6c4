/* edit.c — edit distance, indel ratio and alignment of two texts.
 *
 * Texts become arrays of symbols (bytes or characters), common ends are cut off, and edit_core.c computes the
 * distance: first by diagonals, then by strips when the texts turn out to be far apart. Alignments trace stored
 * diagonals when the distance is small, and otherwise split the pair in two (Hirschberg 1975). */
#include <twinsift/edit.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/array.h"
#include "base/error.h"
#include "edit/edit.h"
#include "edit/edit_characters.h"
#include "edit/edit_core.h"
#include "kernels/kernels.h"

enum {
    /* An alignment with up to this many edits stores all diagonals, 16 KB; a longer one is split in two, which costs
     * about as much as the distance. */
    TRACED_EDITS = 63,
};

void twin_edit_spans_clear(twin_edit_spans *spans)
{
    if (!spans)
        return;
    free(spans->spans);
    *spans = (twin_edit_spans){ 0 };
}

static twin_status check_arguments(const void *out, const twin_edit_scratch *scratch, twin_text a, twin_text b,
                                   twin_edit_unit unit)
{
    if (!out || !scratch)
        return twin__fail_null(NULL, out ? "scratch" : "out");
    if ((!a.bytes && a.length) || (!b.bytes && b.length))
        return twin__fail_null(NULL, a.bytes || a.length == 0 ? "b.bytes" : "a.bytes");
    if ((unsigned)unit > TWIN_EDIT_BYTES)
        return twin__fail(NULL, TWIN_EINVAL, "unknown unit of edits %d", (int)unit);
    return TWIN_OK;
}

static bool is_ascii(twin_text text)
{
    return twin__kernels()->is_ascii(text.bytes, text.length);
}

uint32_t twin__edit_character(twin_text text, size_t at, size_t *length)
{
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)text.bytes + at;
    utf8proc_int32_t c;
    utf8proc_ssize_t taken = utf8proc_iterate(p, (utf8proc_ssize_t)(text.length - at), &c);
    *length = taken > 0 ? (size_t)taken : 1;
    return taken > 0 ? (uint32_t)c : (uint32_t)TWIN__EDIT_BAD_BYTE + *p;
}

size_t twin__edit_decode(uint32_t *out, twin_text text)
{
    size_t count = 0;
    for (size_t at = 0, length; at < text.length; at += length, count++) {
        uint32_t character = twin__edit_character(text, at, &length);
        if (out)
            out[count] = character;
    }
    return count;
}

/* Turns two texts into symbols: the bytes themselves, or characters in the scratch unless all are ASCII. */
static twin_status make_pair(struct twin__pair *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                             twin_edit_unit unit, bool replaces)
{
    if (a.length > TWIN_EDIT_MAX_LENGTH || b.length > TWIN_EDIT_MAX_LENGTH)
        return twin__fail(NULL, TWIN_ELIMIT, "a text is longer than %d bytes", TWIN_EDIT_MAX_LENGTH);
    a.bytes = a.bytes ? a.bytes : ""; /* no place can be counted from NULL */
    b.bytes = b.bytes ? b.bytes : "";
    if (unit == TWIN_EDIT_BYTES || (is_ascii(a) && is_ascii(b))) {
        *out = (struct twin__pair){ a.bytes, b.bytes, (int64_t)a.length, (int64_t)b.length, false, replaces, 256 };
        return TWIN_OK;
    }
    uint32_t *symbols = twin__edit_room(scratch, TWIN__EDIT_SYMBOLS, (a.length + b.length) * sizeof *symbols);
    if (!symbols)
        return TWIN_ENOMEM;
    int64_t n = (int64_t)twin__edit_decode(symbols, a), m = (int64_t)twin__edit_decode(symbols + n, b);
    *out = (struct twin__pair){ symbols, symbols + n, n, m, true, replaces, UINT32_MAX };
    return TWIN_OK;
}

/* Strips with a cut-off that starts near the guess and grows: a guess that is too low costs little, since the work is
 * proportional to the cut-off. */
static twin_status by_strips(size_t *out, struct twin__pair pair, twin_edit_scratch *scratch, int64_t guess,
                             int64_t most)
{
    for (int64_t cut = twin__lesser(most, guess + guess / 4 + 32);; cut = twin__lesser(most, 2 * cut)) {
        struct twin__edit_row row;
        bool found;
        twin_status status = twin__edit_strips(&row, &found, pair, scratch, pair.n, cut);
        if (status != TWIN_OK)
            return status;
        if (found) {
            for (int64_t c = row.from + 1; c <= row.to; c++)
                row.score += twin__edit_step(scratch, c);
            if (row.to == pair.m && row.score <= cut) {
                *out = (size_t)row.score;
                return TWIN_OK;
            }
        }
        if (cut == most)
            return TWIN_OK;
    }
}

/* The distance of a pair; numbers its symbols if that is useful. */
static twin_status within(size_t *out, struct twin__pair *pair, twin_edit_scratch *scratch, size_t at_most)
{
    int64_t prefix = twin__edit_prefix(*pair);
    struct twin__pair core = twin__edit_part(*pair, prefix, pair->n - prefix, prefix, pair->m - prefix);
    int64_t suffix = twin__edit_suffix(core), guess;
    core.n -= suffix;
    core.m -= suffix;

    if (core.n == 0 || core.m == 0) {
        *out = (size_t)(core.n + core.m) <= at_most ? (size_t)(core.n + core.m) : TWIN_EDIT_FAR;
        return TWIN_OK;
    }
    /* Replacing all of the shorter text and inserting the remaining characters is always enough. */
    int64_t worst = pair->replaces ? (core.n > core.m ? core.n : core.m) : core.n + core.m;
    int64_t most = at_most < (size_t)worst ? (int64_t)at_most : worst;
    twin_status status = twin__edit_diagonals(out, &guess, core, scratch, most);
    if (status != TWIN_OK || guess == 0)
        return status;
    status = twin__edit_number(pair, scratch);
    if (status != TWIN_OK)
        return status;
    core.symbols = pair->symbols;
    return by_strips(out, core, scratch, guess, most);
}

static twin_status measure_within(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                  twin_edit_unit unit, bool replaces, size_t at_most)
{
    struct twin__pair pair;
    twin_status status = check_arguments(out, scratch, a, b, unit);
    if (status != TWIN_OK)
        return status;
    *out = TWIN_EDIT_FAR;
    status = make_pair(&pair, scratch, a, b, unit, replaces);
    return status == TWIN_OK ? within(out, &pair, scratch, at_most) : status;
}

twin_status twin__edit_distance(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                twin_edit_unit unit, size_t at_most)
{
    return measure_within(out, scratch, a, b, unit, true, at_most);
}

twin_status twin__edit_indel(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b, twin_edit_unit unit,
                             size_t at_most)
{
    return measure_within(out, scratch, a, b, unit, false, at_most);
}

double twin__edit_ratio_of(size_t indels, size_t total)
{
    return total ? (double)(total - indels) / (double)total : 1;
}

/* The quotient itself decides, so that rounding cannot reject a ratio that would be printed as sufficient. */
size_t twin__edit_most_indels(double at_least, size_t total)
{
    size_t most = (size_t)((1 - at_least) * (double)total);
    while (most < total && twin__edit_ratio_of(most + 1, total) >= at_least)
        most++;
    while (most > 0 && twin__edit_ratio_of(most, total) < at_least)
        most--;
    return most;
}

twin_status twin__edit_ratio(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b, twin_edit_unit unit,
                             double at_least)
{
    twin_status status = check_arguments(out, scratch, a, b, unit);
    if (status != TWIN_OK)
        return status;
    *out = -1;
    if (!(at_least >= 0 && at_least <= 1))
        return twin__fail(NULL, TWIN_EINVAL, "at_least must be 0 to 1, not %g", at_least);
    struct twin__pair pair;
    status = make_pair(&pair, scratch, a, b, unit, false);
    if (status != TWIN_OK)
        return status;
    size_t total = (size_t)(pair.n + pair.m), indels = TWIN_EDIT_FAR;
    status = within(&indels, &pair, scratch, twin__edit_most_indels(at_least, total));
    if (status == TWIN_OK && indels != TWIN_EDIT_FAR)
        *out = twin__edit_ratio_of(indels, total);
    return status;
}

/* ---- alignment ---- */

struct aligning {
    twin_edit_spans *out;
    twin_edit_scratch *scratch;
    uint32_t a_at, b_at;         /* how far the spans reach, in symbols */
    struct twin__pair backwards; /* the whole pair reversed; a is NULL until it is needed */
    struct twin__pair whole;
};

static twin_status put_steps(struct aligning *aligning, twin_edit_kind kind, int64_t count)
{
    twin_edit_spans *out = aligning->out;
    uint32_t in_a = kind == TWIN_EDIT_INSERTED ? 0 : (uint32_t)count;
    uint32_t in_b = kind == TWIN_EDIT_DELETED ? 0 : (uint32_t)count;
    if (count == 0)
        return TWIN_OK;
    if (out->count == 0 || out->spans[out->count - 1].kind != kind) {
        if (!TWIN__ARRAY_GROW(&out->spans, &out->capacity, out->count, 1))
            return TWIN_ENOMEM;
        out->spans[out->count++] = (twin_edit_span){ kind, aligning->a_at, 0, aligning->b_at, 0 };
    }
    out->spans[out->count - 1].a_length += in_a;
    out->spans[out->count - 1].b_length += in_b;
    aligning->a_at += in_a;
    aligning->b_at += in_b;
    return TWIN_OK;
}

/* All diagonals of every number of edits: reach(d, c) for |c| <= d is the last row of diagonal c that d edits
 * get to, and negative when they do not get onto it. */
static int32_t *reach(int32_t *rows, int64_t d, int64_t c)
{
    return &rows[d * d + d + c];
}

static int32_t reached(int32_t *rows, int64_t d, int64_t c)
{
    return c < -d || c > d ? INT32_MIN / 2 : *reach(rows, d, c);
}

/* The row that the d-th edit reaches on diagonal c, and which edit that is; negative when there is none. */
static int64_t step_onto(twin_edit_kind *kind, int32_t *rows, struct twin__pair pair, int64_t d, int64_t c)
{
    int64_t edge = twin__lesser(pair.n, pair.m - c), best = -1;
    const struct {
        twin_edit_kind kind;
        int64_t row;
    } ways[] = {
        { TWIN_EDIT_REPLACED, (int64_t)reached(rows, d - 1, c) + 1 },
        { TWIN_EDIT_DELETED, (int64_t)reached(rows, d - 1, c + 1) + 1 },
        { TWIN_EDIT_INSERTED, reached(rows, d - 1, c - 1) },
    };
    for (int i = 0; i < 3; i++)
        if (ways[i].row > best && ways[i].row <= edge) {
            best = ways[i].row;
            *kind = ways[i].kind;
        }
    return best;
}

static void fill_rows(int32_t *rows, struct twin__pair pair, int64_t distance)
{
    *reach(rows, 0, 0) = (int32_t)twin__edit_prefix(pair);
    for (int64_t d = 1; d <= distance; d++)
        for (int64_t c = -d; c <= d; c++) {
            twin_edit_kind kind;
            bool useless = c < -pair.n || c > pair.m || llabs(pair.m - pair.n - c) > distance - d;
            int64_t i = useless ? -1 : step_onto(&kind, rows, pair, d, c);
            if (i >= 0)
                i += twin__edit_prefix(twin__edit_part(pair, i, pair.n - i, i + c, pair.m - i - c));
            *reach(rows, d, c) = i < 0 ? INT32_MIN / 2 : (int32_t)i;
        }
}

/* Spans of a pair whose distance is known and small: backwards through the diagonals, then forwards. */
static twin_status trace(struct aligning *aligning, struct twin__pair pair, int64_t distance)
{
    int32_t *rows = twin__edit_room(aligning->scratch, TWIN__EDIT_DIAGONALS,
                                    (size_t)((distance + 1) * (distance + 1)) * sizeof *rows);
    if (!rows)
        return TWIN_ENOMEM;
    fill_rows(rows, pair, distance);

    twin_edit_kind kinds[TRACED_EDITS + 1];
    int64_t runs[TRACED_EDITS + 1], c = pair.m - pair.n, end = pair.n;
    assert(*reach(rows, distance, c) == pair.n);
    for (int64_t d = distance; d > 0; d--) {
        int64_t begin = step_onto(&kinds[d], rows, pair, d, c);
        runs[d] = end - begin;
        end = begin - (kinds[d] != TWIN_EDIT_INSERTED);
        c += (kinds[d] == TWIN_EDIT_DELETED) - (kinds[d] == TWIN_EDIT_INSERTED);
    }
    twin_status status = put_steps(aligning, TWIN_EDIT_EQUAL, end);
    for (int64_t d = 1; d <= distance && status == TWIN_OK; d++) {
        status = put_steps(aligning, kinds[d], 1);
        if (status == TWIN_OK)
            status = put_steps(aligning, TWIN_EDIT_EQUAL, runs[d]);
    }
    return status;
}

static void reverse(void *out, const void *symbols, int64_t count, bool wide)
{
    for (int64_t i = 0; i < count; i++)
        if (wide)
            ((uint32_t *)out)[i] = ((const uint32_t *)symbols)[count - 1 - i];
        else
            ((uint8_t *)out)[i] = ((const uint8_t *)symbols)[count - 1 - i];
}

static twin_status make_backwards(struct aligning *aligning)
{
    twin_status status = twin__edit_number(&aligning->whole, aligning->scratch);
    if (status != TWIN_OK || aligning->backwards.a)
        return status;
    struct twin__pair whole = aligning->whole;
    size_t width = whole.wide ? sizeof(uint32_t) : 1;
    char *room = twin__edit_room(aligning->scratch, TWIN__EDIT_REVERSED, (size_t)(whole.n + whole.m) * width);
    if (!room)
        return TWIN_ENOMEM;
    reverse(room, whole.a, whole.n, whole.wide);
    reverse(room + (size_t)whole.n * width, whole.b, whole.m, whole.wide);
    aligning->backwards = whole;
    aligning->backwards.a = room;
    aligning->backwards.b = room + (size_t)whole.n * width;
    return TWIN_OK;
}

/* A part of the whole pair: n symbols of a from a_begin on, m of b from b_begin on, `distance` edits apart. */
struct part {
    int64_t a_begin, n, b_begin, m, distance;
};

static struct twin__pair forwards_part(const struct aligning *aligning, struct part part)
{
    return twin__edit_part(aligning->whole, part.a_begin, part.n, part.b_begin, part.m);
}

static struct twin__pair backwards_part(const struct aligning *aligning, struct part part)
{
    const struct twin__pair *whole = &aligning->whole;
    return twin__edit_part(aligning->backwards, whole->n - part.a_begin - part.n, part.n,
                           whole->m - part.b_begin - part.m, part.m);
}

/* Splits a part in two at the middle of a (Hirschberg 1975): at the column where the costs before and after add up to
 * the distance. */
static twin_status cut(struct part *left, struct part *right, struct aligning *aligning, struct part part)
{
    twin_status status = make_backwards(aligning);
    if (status != TWIN_OK)
        return status;
    int32_t *before = twin__edit_room(aligning->scratch, TWIN__EDIT_SCORES, (size_t)(part.m + 1) * sizeof *before);
    if (!before)
        return TWIN_ENOMEM;
    struct twin__edit_row row, back;
    bool found;
    const int64_t middle = part.n / 2;
    status = twin__edit_strips(&row, &found, forwards_part(aligning, part), aligning->scratch, middle, part.distance);
    if (status != TWIN_OK)
        return status;
    assert(found);
    before[row.from] = (int32_t)row.score;
    for (int64_t c = row.from + 1; c <= row.to; c++)
        before[c] = before[c - 1] + twin__edit_step(aligning->scratch, c);

    status = twin__edit_strips(&back, &found, backwards_part(aligning, part), aligning->scratch, part.n - middle,
                               part.distance);
    if (status != TWIN_OK)
        return status;
    assert(found);
    int64_t c = back.from, score = back.score;
    while (part.m - c < row.from || part.m - c > row.to || before[part.m - c] + score != part.distance) {
        assert(c < back.to);
        score += twin__edit_step(aligning->scratch, ++c);
    }
    *left = (struct part){ part.a_begin, middle, part.b_begin, part.m - c, part.distance - score };
    *right = (struct part){ part.a_begin + middle, part.n - middle, part.b_begin + part.m - c, c, score };
    return TWIN_OK;
}

/* Spans where a is a single symbol, at neither end of b: it stays if b has it, and is replaced otherwise. */
static twin_status align_one(struct aligning *aligning, struct part part)
{
    struct part rest = part;
    while (rest.m > 0 && twin__edit_prefix(forwards_part(aligning, rest)) == 0) {
        rest.b_begin++;
        rest.m--;
    }
    if (rest.m == 0) {
        twin_status status = put_steps(aligning, TWIN_EDIT_REPLACED, 1);
        return status == TWIN_OK ? put_steps(aligning, TWIN_EDIT_INSERTED, part.m - 1) : status;
    }
    twin_status status = put_steps(aligning, TWIN_EDIT_INSERTED, part.m - rest.m);
    if (status == TWIN_OK)
        status = put_steps(aligning, TWIN_EDIT_EQUAL, 1);
    return status == TWIN_OK ? put_steps(aligning, TWIN_EDIT_INSERTED, rest.m - 1) : status;
}

static twin_status align_part(struct aligning *aligning, struct part part)
{
    struct twin__pair pair = forwards_part(aligning, part);
    int64_t prefix = twin__edit_prefix(pair);
    twin_status status = put_steps(aligning, TWIN_EDIT_EQUAL, prefix);
    if (status != TWIN_OK)
        return status;
    part = (struct part){ part.a_begin + prefix, part.n - prefix, part.b_begin + prefix, part.m - prefix,
                          part.distance };
    int64_t suffix = twin__edit_suffix(forwards_part(aligning, part));
    part.n -= suffix;
    part.m -= suffix;

    if (part.n == 0 || part.m == 0) {
        status = put_steps(aligning, part.n ? TWIN_EDIT_DELETED : TWIN_EDIT_INSERTED, part.n + part.m);
    } else if (part.n == 1) {
        status = align_one(aligning, part);
    } else if (part.distance <= TRACED_EDITS) {
        status = trace(aligning, forwards_part(aligning, part), part.distance);
    } else {
        struct part left, right;
        status = cut(&left, &right, aligning, part);
        if (status == TWIN_OK)
            status = align_part(aligning, left);
        if (status == TWIN_OK)
            status = align_part(aligning, right);
    }
    return status == TWIN_OK ? put_steps(aligning, TWIN_EDIT_EQUAL, suffix) : status;
}

/* Turns a number of characters into a number of bytes, and advances *at past them. */
static uint32_t length_of_characters(twin_text text, size_t *at, uint32_t characters)
{
    size_t begin = *at;
    for (size_t length; characters > 0; characters--, *at += length)
        twin__edit_character(text, *at, &length);
    return (uint32_t)(*at - begin);
}

static void count_in_bytes(twin_edit_spans *spans, twin_text a, twin_text b)
{
    size_t a_at = 0, b_at = 0;
    for (size_t i = 0; i < spans->count; i++) {
        twin_edit_span *span = &spans->spans[i];
        span->a_begin = (uint32_t)a_at;
        span->b_begin = (uint32_t)b_at;
        span->a_length = length_of_characters(a, &a_at, span->a_length);
        span->b_length = length_of_characters(b, &b_at, span->b_length);
    }
}

twin_status twin__edit_align(twin_edit_spans *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                             twin_edit_unit unit, size_t at_most)
{
    twin_status status = check_arguments(out, scratch, a, b, unit);
    if (status != TWIN_OK)
        return status;
    out->count = 0;
    out->distance = TWIN_EDIT_FAR;
    struct aligning aligning = { .out = out, .scratch = scratch };
    status = make_pair(&aligning.whole, scratch, a, b, unit, true);
    if (status == TWIN_OK)
        status = within(&out->distance, &aligning.whole, scratch, at_most);
    if (status != TWIN_OK || out->distance == TWIN_EDIT_FAR)
        return status;
    const struct twin__pair *whole = &aligning.whole;
    status = align_part(&aligning, (struct part){ 0, whole->n, 0, whole->m, (int64_t)out->distance });
    if (status == TWIN_OK && whole->wide)
        count_in_bytes(out, a, b);
    return status;
}

/* ---- with a scratch of the caller ---- */

twin_status twin_edit_distance(size_t *out, twin_scratch **scratch, twin_text a, twin_text b, twin_edit_unit unit,
                               size_t at_most)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__edit_distance(out, &(*scratch)->edit, a, b, unit, at_most) : status;
}

twin_status twin_edit_ratio(double *out, twin_scratch **scratch, twin_text a, twin_text b, twin_edit_unit unit,
                            double at_least)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__edit_ratio(out, &(*scratch)->edit, a, b, unit, at_least) : status;
}

twin_status twin_edit_align(twin_edit_spans *out, twin_scratch **scratch, twin_text a, twin_text b,
                            twin_edit_unit unit, size_t at_most)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__edit_align(out, &(*scratch)->edit, a, b, unit, at_most) : status;
}

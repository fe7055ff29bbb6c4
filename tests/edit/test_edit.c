/* test_edit.c — edit distance, indel ratio and alignments against the textbook table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/edit.h>

#include "edit/edit.h"
#include "random_unit.h"
#include "scale.h"

enum {
    SHORT_PAIRS = QUICK ? 200000 : 400000,
    MIDDLE_PAIRS = QUICK ? 3000 : 20000,
    LONG_PAIRS = QUICK ? 12 : 60,
    LONG = QUICK ? 1500 : 4000,
    MIDDLE = 200
};

/* The textbook: the whole table, one row at a time, over symbols that compare by value. */
REFERENCE static size_t textbook(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool replaces)
{
    size_t *row = malloc((m + 1) * sizeof *row);
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = corner + (a[i - 1] == b[j - 1] ? 0 : replaces ? 1 : 2);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    size_t distance = row[m];
    free(row);
    return distance;
}

/* A text and the code points of its characters. */
struct sample {
    uint32_t symbols[2 * LONG];
    size_t count;
    char bytes[8 * LONG];
    size_t length;
};

/* Letters of one to four bytes in UTF-8, so that "letters" of them need the wide path. */
static void write_utf8(struct sample *s)
{
    s->length = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t c = s->symbols[i];
        unsigned char *p = (unsigned char *)s->bytes + s->length;
        if (c < 0x80) {
            p[0] = (unsigned char)c;
            s->length += 1;
        } else if (c < 0x800) {
            p[0] = (unsigned char)(0xC0 | c >> 6);
            p[1] = (unsigned char)(0x80 | (c & 63));
            s->length += 2;
        } else if (c < 0x10000) {
            p[0] = (unsigned char)(0xE0 | c >> 12);
            p[1] = (unsigned char)(0x80 | (c >> 6 & 63));
            p[2] = (unsigned char)(0x80 | (c & 63));
            s->length += 3;
        } else {
            p[0] = (unsigned char)(0xF0 | c >> 18);
            p[1] = (unsigned char)(0x80 | (c >> 12 & 63));
            p[2] = (unsigned char)(0x80 | (c >> 6 & 63));
            p[3] = (unsigned char)(0x80 | (c & 63));
            s->length += 4;
        }
    }
}

static uint32_t letter(uint64_t *state, uint64_t letters, bool wide)
{
    static const uint32_t base[] = { 'a', 0xE0, 0x3B1, 0x4E00, 0x1F600 };
    uint64_t which = twin__random_below(state, letters);
    return wide ? base[which % 5] + (uint32_t)(which / 5) : 'a' + (uint32_t)which;
}

static void draw(struct sample *s, uint64_t *state, size_t count, uint64_t letters, bool wide)
{
    s->count = count;
    for (size_t i = 0; i < count; i++)
        s->symbols[i] = letter(state, letters, wide);
    write_utf8(s);
}

/* `out` is `s` after this many random insertions, deletions and replacements. */
static void edit(struct sample *out, const struct sample *s, uint64_t *state, size_t edits, uint64_t letters,
                 bool wide)
{
    memcpy(out->symbols, s->symbols, s->count * sizeof s->symbols[0]);
    out->count = s->count;
    for (size_t e = 0; e < edits; e++) {
        size_t at = (size_t)twin__random_below(state, out->count + 1);
        uint64_t kind = twin__random_below(state, 3);
        if (kind == 0 && out->count < 2 * LONG) {
            memmove(out->symbols + at + 1, out->symbols + at, (out->count - at) * sizeof out->symbols[0]);
            out->symbols[at] = letter(state, letters, wide);
            out->count++;
        } else if (kind == 1 && at < out->count) {
            memmove(out->symbols + at, out->symbols + at + 1, (out->count - at - 1) * sizeof out->symbols[0]);
            out->count--;
        } else if (at < out->count) {
            out->symbols[at] = letter(state, letters, wide);
        }
    }
    write_utf8(out);
}

static twin_text text_of(const struct sample *s)
{
    return (twin_text){ s->bytes, s->length };
}

static twin_text text(const char *s)
{
    return (twin_text){ s, strlen(s) };
}

static size_t units(twin_text t, bool chars)
{
    size_t count = 0;
    for (size_t i = 0; i < t.length; i++)
        count += !chars || ((unsigned char)t.bytes[i] & 0xC0) != 0x80;
    return count;
}

/* The spans say what a and b are, and add up to the distance. */
static void check_spans(const twin_edit_spans *spans, twin_text a, twin_text b, bool chars, size_t distance)
{
    size_t a_at = 0, b_at = 0, edits = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const twin_edit_span *s = &spans->spans[i];
        assert_int_equal(s->a_begin, a_at);
        assert_int_equal(s->b_begin, b_at);
        assert_true(i == 0 || s->kind != s[-1].kind);
        assert_true(a_at + s->a_length <= a.length && b_at + s->b_length <= b.length);
        size_t in_a = units((twin_text){ a.bytes + a_at, s->a_length }, chars);
        size_t in_b = units((twin_text){ b.bytes + b_at, s->b_length }, chars);
        assert_true(in_a + in_b > 0);
        switch (s->kind) {
        case TWIN_EDIT_EQUAL:
            assert_int_equal(s->a_length, s->b_length);
            assert_memory_equal(a.bytes + a_at, b.bytes + b_at, s->a_length);
            break;
        case TWIN_EDIT_REPLACED: assert_int_equal(in_a, in_b); break;
        case TWIN_EDIT_INSERTED: assert_int_equal(in_a, 0); break;
        case TWIN_EDIT_DELETED: assert_int_equal(in_b, 0); break;
        }
        if (s->kind != TWIN_EDIT_EQUAL)
            edits += in_a > in_b ? in_a : in_b;
        a_at += s->a_length;
        b_at += s->b_length;
    }
    assert_int_equal(a_at, a.length);
    assert_int_equal(b_at, b.length);
    assert_int_equal(edits, distance);
}

struct fixture {
    struct sample a, b;
    twin_edit_scratch scratch;
    twin_edit_spans spans;
    uint64_t state;
};

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    twin__edit_scratch_clear(&f->scratch);
    twin_edit_spans_clear(&f->spans);
    free(f);
    return 0;
}

/* Compares everything we say of a pair with the textbook, under a cut-off drawn around the truth. */
static void check_pair(struct fixture *f, size_t n, size_t m, uint64_t letters, bool wide, bool related)
{
    draw(&f->a, &f->state, n, letters, wide);
    if (related)
        edit(&f->b, &f->a, &f->state, (size_t)twin__random_below(&f->state, n / 2 + 3), letters, wide);
    else
        draw(&f->b, &f->state, m, letters, wide);
    twin_text a = text_of(&f->a), b = text_of(&f->b);
    for (int replaces = 0; replaces < 2; replaces++) {
        size_t truth = textbook(f->a.symbols, f->a.count, f->b.symbols, f->b.count, replaces), found;
        size_t cut = (size_t)twin__random_below(&f->state, 2 * truth + 3);
        if (twin__random_below(&f->state, 8) == 0)
            cut = truth;
        twin_status status =
            (replaces ? twin__edit_distance : twin__edit_indel)(&found, &f->scratch, a, b, TWIN_EDIT_CHARS, cut);
        assert_int_equal(status, TWIN_OK);
        assert_int_equal(found, truth <= cut ? truth : TWIN_EDIT_FAR);
        if (replaces && twin__random_below(&f->state, 4) == 0) {
            assert_int_equal(twin__edit_align(&f->spans, &f->scratch, a, b, TWIN_EDIT_CHARS, truth), TWIN_OK);
            check_spans(&f->spans, a, b, true, truth);
            assert_int_equal(f->spans.distance, truth);
        }
    }
}

static void short_pairs_have_the_textbook_distance(void **state)
{
    struct fixture *f = *state;
    f->state = 1;
    for (size_t i = 0; i < SHORT_PAIRS; i++)
        check_pair(f, (size_t)twin__random_below(&f->state, 20), (size_t)twin__random_below(&f->state, 20),
                   1 + twin__random_below(&f->state, 4), i % 4 == 0, i % 2);
}

static void middling_pairs_have_the_textbook_distance(void **state)
{
    static const uint64_t letters[] = { 1, 2, 3, 4, 8, 26 };
    struct fixture *f = *state;
    f->state = 2;
    for (size_t i = 0; i < MIDDLE_PAIRS; i++)
        check_pair(f, (size_t)twin__random_below(&f->state, MIDDLE + 1),
                   (size_t)twin__random_below(&f->state, MIDDLE + 1), letters[i % 6], i % 5 == 0, i / 6 % 2);
}

static void long_pairs_have_the_textbook_distance(void **state)
{
    static const uint64_t letters[] = { 2, 4, 26 };
    struct fixture *f = *state;
    f->state = 3;
    for (size_t i = 0; i < LONG_PAIRS; i++)
        check_pair(f, LONG / 2 + (size_t)twin__random_below(&f->state, LONG / 2),
                   LONG / 2 + (size_t)twin__random_below(&f->state, LONG / 2), letters[i % 3], i % 4 == 0, i / 3 % 2);
}

/* 600 letters of one to four bytes: far more than 256 symbols, so the numbering is put to work. */
static void large_alphabets_have_the_textbook_distance(void **state)
{
    struct fixture *f = *state;
    f->state = 4;
    for (size_t i = 0; i < MIDDLE_PAIRS / 20; i++)
        check_pair(f, (size_t)twin__random_below(&f->state, 4 * MIDDLE),
                   (size_t)twin__random_below(&f->state, 4 * MIDDLE), 600, true, i % 2);
}

/* More edits than are traced at once: the alignment is cut in two, more than once. */
static void far_texts_align_too(void **state)
{
    struct fixture *f = *state;
    f->state = 5;
    for (int wide = 0; wide < 2; wide++) {
        draw(&f->a, &f->state, LONG, 26, wide);
        draw(&f->b, &f->state, LONG - 100, 26, wide);
        twin_text a = text_of(&f->a), b = text_of(&f->b);
        size_t truth = textbook(f->a.symbols, f->a.count, f->b.symbols, f->b.count, true);
        assert_true(truth > 4 * 63);
        assert_int_equal(twin__edit_align(&f->spans, &f->scratch, a, b, TWIN_EDIT_CHARS, truth), TWIN_OK);
        assert_int_equal(f->spans.distance, truth);
        check_spans(&f->spans, a, b, true, truth);
        assert_int_equal(twin__edit_align(&f->spans, &f->scratch, a, b, TWIN_EDIT_CHARS, truth - 1), TWIN_OK);
        assert_true(f->spans.distance == TWIN_EDIT_FAR);
        assert_int_equal(f->spans.count, 0);
    }
}

/* One symbol against many, where there is no middle to cut through. */
static void a_single_symbol_aligns(void **state)
{
    struct fixture *f = *state;
    char many[2000];
    memset(many, 'x', sizeof many);
    for (int has = 0; has < 2; has++) {
        many[700] = has ? 'y' : 'x';
        twin_text a = text("y"), b = { many, sizeof many };
        assert_int_equal(twin__edit_align(&f->spans, &f->scratch, a, b, TWIN_EDIT_BYTES, SIZE_MAX), TWIN_OK);
        assert_int_equal(f->spans.distance, has ? 1999 : 2000);
        check_spans(&f->spans, a, b, false, f->spans.distance);
        assert_int_equal(twin__edit_align(&f->spans, &f->scratch, b, a, TWIN_EDIT_BYTES, SIZE_MAX), TWIN_OK);
        check_spans(&f->spans, b, a, false, f->spans.distance);
    }
}

static double ratio_of(struct fixture *f, const char *a, const char *b, double at_least)
{
    double ratio;
    assert_int_equal(twin__edit_ratio(&ratio, &f->scratch, text(a), text(b), TWIN_EDIT_CHARS, at_least), TWIN_OK);
    return ratio;
}

/* The first four are what String::Similarity 1.04 says. */
static void ratio_is_what_string_similarity_means(void **state)
{
    struct fixture *f = *state;
    assert_true(ratio_of(f, "kitten", "sitting", 0) == 8.0 / 13);
    assert_true(ratio_of(f, "abc", "abd", 0) == 2.0 / 3);
    assert_true(ratio_of(f, "", "", 1) == 1);
    assert_true(ratio_of(f, "", "abc", 0) == 0);
    assert_true(ratio_of(f, "", "abc", 0.001) == -1);
    assert_true(ratio_of(f, "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\xA4", 0) == 6.0 / 8);
}

static void ratio_is_cut_off_exactly_at_its_limit(void **state)
{
    struct fixture *f = *state;
    f->state = 6;
    for (size_t i = 0; i < MIDDLE_PAIRS; i++) {
        draw(&f->a, &f->state, 1 + (size_t)twin__random_below(&f->state, 60), 3, false);
        edit(&f->b, &f->a, &f->state, (size_t)twin__random_below(&f->state, 20), 3, false);
        size_t total = f->a.count + f->b.count;
        double truth =
            (double)(total - textbook(f->a.symbols, f->a.count, f->b.symbols, f->b.count, false)) / (double)total;
        double limits[] = { truth, truth + 1e-12, random_unit(&f->state), 0, 1 }, ratio;
        for (size_t k = 0; k < 5; k++) {
            double limit = limits[k] > 1 ? 1 : limits[k];
            assert_int_equal(
                twin__edit_ratio(&ratio, &f->scratch, text_of(&f->a), text_of(&f->b), TWIN_EDIT_BYTES, limit),
                TWIN_OK);
            assert_true(ratio == (truth >= limit ? truth : -1));
        }
    }
}

static void characters_and_bytes_are_counted_apart(void **state)
{
    struct fixture *f = *state;
    twin_text a = text("na\xC3\xAFve \xF0\x9F\x98\x80"), b = text("naive \xE2\x82\xAC");
    size_t distance;
    assert_int_equal(twin__edit_distance(&distance, &f->scratch, a, b, TWIN_EDIT_CHARS, 9), TWIN_OK);
    assert_int_equal(distance, 2);
    assert_int_equal(twin__edit_distance(&distance, &f->scratch, a, b, TWIN_EDIT_BYTES, 9), TWIN_OK);
    assert_int_equal(distance, 6);
}

/* Bytes that are no UTF-8 differ from each other and from every character. */
static void bad_bytes_are_characters_of_their_own(void **state)
{
    struct fixture *f = *state;
    size_t distance;
    assert_int_equal(twin__edit_distance(&distance, &f->scratch, text("a\xFFz"), text("a\xFEz"), TWIN_EDIT_CHARS, 9),
                     TWIN_OK);
    assert_int_equal(distance, 1);
    assert_int_equal(
        twin__edit_distance(&distance, &f->scratch, text("a\xFFz"), text("a\xC3\xBFz"), TWIN_EDIT_CHARS, 9), TWIN_OK);
    assert_int_equal(distance, 1);
    assert_int_equal(
        twin__edit_align(&f->spans, &f->scratch, text("\xE2\x82"), text("\xE2\x82\xAC"), TWIN_EDIT_CHARS, 9),
        TWIN_OK);
    assert_int_equal(f->spans.distance, 2);
    assert_int_equal(f->spans.spans[f->spans.count - 1].a_begin + f->spans.spans[f->spans.count - 1].a_length, 2);
}

static void wrong_limits_are_refused(void **state)
{
    struct fixture *f = *state;
    double ratio;
    assert_int_equal(twin__edit_ratio(&ratio, &f->scratch, text("a"), text("b"), TWIN_EDIT_BYTES, 1.5), TWIN_EINVAL);
    assert_int_equal(twin__edit_ratio(&ratio, &f->scratch, text("a"), text("b"), TWIN_EDIT_BYTES, -0.1), TWIN_EINVAL);
    size_t distance;
    twin_text huge = { "", (size_t)TWIN_EDIT_MAX_LENGTH + 1 };
    assert_int_equal(twin__edit_distance(&distance, &f->scratch, huge, text("b"), TWIN_EDIT_BYTES, 1), TWIN_ELIMIT);
}

static bool never_again(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    ++*(unsigned *)context;
    return false;
}

struct comparison {
    twin_text a, b;
    size_t distance;
};

static twin_status compare(void *context)
{
    struct comparison *comparison = context;
    twin_scratch *scratch = NULL;
    twin_status status = twin_edit_distance(&comparison->distance, &scratch, comparison->a, comparison->b,
                                            TWIN_EDIT_BYTES, TWIN_EDIT_MAX_LENGTH);
    twin_scratch_free(scratch);
    return status;
}

static void a_long_comparison_can_be_stopped(void **state_unused)
{
    (void)state_unused;
    enum { LENGTH = 400000 }; /* more than a second for the whole table */
    char *letters = malloc(2 * LENGTH);
    uint64_t state = 5;
    for (size_t i = 0; i < 2 * LENGTH; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        letters[i] = (char)('a' + (state >> 60));
    }
    struct comparison comparison = { { letters, LENGTH }, { letters + LENGTH, LENGTH }, 0 };
    unsigned calls = 0;
    assert_int_equal(twin_progress_watch((twin_progress){ never_again, &calls }, compare, &comparison),
                     TWIN_ESTOPPED);
    assert_int_equal(calls, 1);

    comparison.a.length = comparison.b.length = 1000;
    assert_int_equal(twin_progress_watch((twin_progress){ NULL, NULL }, compare, &comparison), TWIN_OK);
    assert_in_range(comparison.distance, 500, 1000);
    assert_int_equal(twin_progress_watch((twin_progress){ NULL, NULL }, NULL, NULL), TWIN_EINVAL);
    free(letters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_pairs_have_the_textbook_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(middling_pairs_have_the_textbook_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_pairs_have_the_textbook_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_alphabets_have_the_textbook_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(far_texts_align_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_single_symbol_aligns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ratio_is_what_string_similarity_means, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ratio_is_cut_off_exactly_at_its_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(characters_and_bytes_are_counted_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_bytes_are_characters_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_limits_are_refused, set_up, tear_down),
        cmocka_unit_test(a_long_comparison_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

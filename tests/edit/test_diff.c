/* test_diff.c — differences of words: they cover both texts, what is equal is equal, and there are no more than need
 * be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/edit.h>

#include "base/random.h"
#include "scale.h"

static twin_text text_of(const char *string)
{
    return (twin_text){ string, strlen(string) };
}

/* The differences as wdiff prints them. */
static void print_spans(char *out, const twin_edit_spans *spans, twin_text a, twin_text b)
{
    out[0] = '\0';
    for (size_t i = 0; i < spans->count; i++) {
        twin_edit_span span = spans->spans[i];
        bool gone = span.kind == TWIN_EDIT_DELETED;
        const char *bytes = gone ? a.bytes + span.a_begin : b.bytes + span.b_begin;
        size_t length = gone ? span.a_length : span.b_length;
        sprintf(out + strlen(out),
                span.kind == TWIN_EDIT_EQUAL ? "%.*s"
                : gone                       ? "[-%.*s-]"
                                             : "{+%.*s+}",
                (int)length, bytes);
    }
}

static void expect(const char *expected, const char *a, const char *b, twin_diff_options options)
{
    char printed[1000];
    twin_edit_spans spans = { 0 };
    assert_int_equal(twin_diff(&spans, text_of(a), text_of(b), options), TWIN_OK);
    print_spans(printed, &spans, text_of(a), text_of(b));
    assert_string_equal(printed, expected);
    twin_edit_spans_clear(&spans);
}

static void words_are_marked(void **unused)
{
    (void)unused;
    twin_diff_options plain = { 0 };
    expect("", "", "", plain);
    expect("same words", "same words", "same words", plain);
    expect("{+new+}", "", "new", plain);
    expect("[-gone-]", "gone", "", plain);
    expect("the [-quick -]{+slow +}fox", "the quick fox", "the slow fox", plain);
    expect("one{+, two+}.", "one.", "one, two.", plain);
    expect("x {+N +}y", "x y", "x N y", plain);
    expect("don't", "don't", "don't", plain);
    expect("国[-文-]{+家+}", "国文", "国家", plain); /* each character is a word */
    expect("ก[-ข-]{+ค+}", "กข", "กค", plain);
    expect("spaces  do\nnot count", "spaces do not count", "spaces  do\nnot count", plain);
    expect("\xe4\xba\xac[-\xe9\x83\xbd-]{+\xe5\x9f\x8e+}", "\xe4\xba\xac\xe9\x83\xbd", "\xe4\xba\xac\xe5\x9f\x8e",
           plain);
    expect("[-gr\xc3\xbcn-]{+gr\xc3\xb6n+}", "gr\xc3\xbcn", "gr\xc3\xb6n", plain);
    expect("[-\xff-]{+\xfe+}a",
           "\xff"
           "a",
           "\xfe"
           "a",
           plain);
}

static void a_word_between_changes_may_be_joined(void **unused)
{
    (void)unused;
    const char *a = "a b c and d e f", *b = "u v w and x y z";
    expect("[-a b c -]{+u v w +}and [-d e f-]{+x y z+}", a, b, (twin_diff_options){ 0 });
    expect("[-a b c and d e f-]{+u v w and x y z+}", a, b, (twin_diff_options){ .join = 1 });
    expect("[-a -]{+u +}and [-d-]{+x+}", "a and d", "u and x", (twin_diff_options){ .join = 1 });
}

/* ---- random texts ---- */

static char *draw_words(size_t count, size_t vocabulary, uint64_t *state)
{
    char *text = malloc(count * 8 + 1), *end = text;
    assert_non_null(text);
    *text = '\0';
    for (size_t i = 0; i < count; i++)
        end += sprintf(end, "w%d ", (int)twin__random_below(state, vocabulary));
    return text;
}

/* The same words, of which about one in `rate` is gone, new or another. */
static char *change_words(const char *text, size_t rate, size_t vocabulary, uint64_t *state)
{
    char *out = malloc(2 * strlen(text) + 100), *end = out;
    assert_non_null(out);
    *out = '\0';
    for (const char *p = text, *next; *p; p = next) {
        next = strchr(p, ' ') + 1;
        enum { REPLACED, NEW_BEFORE, GONE, KEPT };
        uint64_t kind = twin__random_below(state, rate) ? KEPT : twin__random_below(state, KEPT);
        if (kind == REPLACED || kind == NEW_BEFORE)
            end += sprintf(end, "w%d ", (int)twin__random_below(state, vocabulary));
        if (kind == NEW_BEFORE || kind == KEPT)
            end += sprintf(end, "%.*s", (int)(next - p), p);
    }
    return out;
}

/* Spans cover both texts in order, and what is equal is. Returns the words that are not. */
static size_t check(const char *a, const char *b, twin_diff_options options)
{
    twin_edit_spans spans = { 0 };
    assert_int_equal(twin_diff(&spans, text_of(a), text_of(b), options), TWIN_OK);
    size_t in_a = 0, in_b = 0, different = 0;
    for (size_t i = 0; i < spans.count; i++) {
        twin_edit_span span = spans.spans[i];
        assert_true(span.a_begin == in_a && span.b_begin == in_b && span.a_length + span.b_length > 0);
        assert_true(i == 0 || spans.spans[i - 1].kind != span.kind);
        assert_true(span.kind != TWIN_EDIT_EQUAL ||
                    (span.a_length == span.b_length && memcmp(a + in_a, b + in_b, span.a_length) == 0));
        assert_true(span.kind != TWIN_EDIT_DELETED || span.b_length == 0);
        assert_true(span.kind != TWIN_EDIT_INSERTED || span.a_length == 0);
        for (size_t j = 0; span.kind != TWIN_EDIT_EQUAL && j < span.a_length + span.b_length; j++)
            different += (span.a_length ? a[in_a + j] : b[in_b + j]) == ' ';
        in_a += span.a_length;
        in_b += span.b_length;
    }
    assert_true(in_a == strlen(a) && in_b == strlen(b));
    assert_int_equal(spans.distance, different);
    twin_edit_spans_clear(&spans);
    return different;
}

/* Words that are not in the longest common subsequence, by the textbook's table. */
static size_t slow_differences(const char *a, const char *b)
{
    static size_t rows[2][1000];
    static const char *words[2][1000];
    size_t counts[2] = { 0, 0 };
    for (int side = 0; side < 2; side++)
        for (const char *p = side ? b : a; *p; p = strchr(p, ' ') + 1)
            words[side][counts[side]++] = p;
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < counts[0]; i++)
        for (size_t j = 0; j < counts[1]; j++) {
            const char *x = words[0][i], *y = words[1][j];
            size_t *up = rows[i % 2], *row = rows[(i + 1) % 2], length = (size_t)(strchr(x, ' ') - x) + 1;
            row[j + 1] = strncmp(x, y, length) == 0 ? up[j] + 1 : up[j + 1] > row[j] ? up[j + 1] : row[j];
        }
    return counts[0] + counts[1] - 2 * rows[counts[0] % 2][counts[1]];
}

static void differences_are_as_few_as_can_be(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int round = 0; round < (QUICK ? 100 : 1000); round++) {
        size_t vocabulary = 2 + twin__random_below(&state, 50);
        char *a = draw_words(twin__random_below(&state, 120), vocabulary, &state);
        char *b = round % 2 ? change_words(a, 2 + twin__random_below(&state, 10), vocabulary, &state)
                            : draw_words(twin__random_below(&state, 120), vocabulary, &state);
        assert_int_equal(check(a, b, (twin_diff_options){ 0 }), slow_differences(a, b));
        check(a, b, (twin_diff_options){ .effort = 1 + twin__random_below(&state, 10) });
        check(a, b, (twin_diff_options){ .effort = 5, .join = twin__random_below(&state, 4) });
        free(a);
        free(b);
    }
}

/* 20,000 words of which one in twenty is changed: anchors lead through them, and hardly more differences are found than
 * were made. A changed word is at most two. */
static void long_texts_are_aligned_too(void **unused)
{
    (void)unused;
    enum { WORDS = QUICK ? 5000 : 20000 };
    uint64_t state = 4;
    char *a = draw_words(WORDS, 2000, &state), *b = change_words(a, 20, 2000, &state);
    size_t different = check(a, b, (twin_diff_options){ 0 });
    assert_in_range(different, WORDS / 30, WORDS * 2 / 15);
    free(a);
    free(b);
}

/* Nothing in common, one word over and over, two by turns: time is bounded by the effort. With a square somewhere the
 * plain build would take minutes. */
static void hostile_texts_take_no_longer(void **unused)
{
    (void)unused;
    enum { WORDS = QUICK ? 3000 : 100000 };
    uint64_t state = 5;
    char *random = draw_words(WORDS, 1000000, &state), *other = draw_words(WORDS, 1000000, &state);
    char *few = draw_words(WORDS, 2, &state), *more = draw_words(WORDS, 3, &state),
         *one = draw_words(WORDS, 1, &state);
    char *texts[] = { random, other, few, more, one };
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            check(texts[i], texts[j], (twin_diff_options){ .effort = 16, .join = 2 });
    for (size_t i = 0; i < 5; i++)
        free(texts[i]);
}

static void what_makes_no_sense_is_refused(void **unused)
{
    (void)unused;
    twin_edit_spans spans = { 0 };
    assert_int_equal(twin_diff(NULL, text_of("a"), text_of("b"), (twin_diff_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_diff(&spans, (twin_text){ NULL, 1 }, text_of("b"), (twin_diff_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_diff(&spans, (twin_text){ "a", (size_t)TWIN_EDIT_MAX_LENGTH + 1 }, text_of("b"),
                               (twin_diff_options){ 0 }),
                     TWIN_ELIMIT);
    assert_int_equal(twin_diff(&spans, (twin_text){ NULL, 0 }, text_of("b"), (twin_diff_options){ 0 }), TWIN_OK);
    assert_int_equal(spans.distance, 1);
    twin_edit_spans_clear(&spans);
}

/* As much as it takes: the most that a number can say. */
static void any_effort_ends(void **unused)
{
    (void)unused;
    expect("[-a b c-]{+x y z+}", "a b c", "x y z", (twin_diff_options){ .effort = 1 });
    expect("[-a b c-]{+x y z+}", "a b c", "x y z", (twin_diff_options){ .effort = SIZE_MAX });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_marked),
        cmocka_unit_test(a_word_between_changes_may_be_joined),
        cmocka_unit_test(differences_are_as_few_as_can_be),
        cmocka_unit_test(long_texts_are_aligned_too),
        cmocka_unit_test(hostile_texts_take_no_longer),
        cmocka_unit_test(any_effort_ends),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

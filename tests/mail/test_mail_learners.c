/* test_mail_learners.c — features, both learners, records and lookalikes against plain versions of themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "mail/content.h"
#include "mail/rehearsal.h"
#include "mail/remembered.h"
#include "sketch/hash.h"

/* ---- features made up: places below 4000, so that messages share many */

enum { WORDS = 30, WINDOWS = 80, RANGE = 4000 };

struct made {
    uint32_t places[WORDS + WINDOWS];
    struct twin__features features;
};

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t fill(uint32_t *out, uint32_t wanted, uint64_t *state, bool positive)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < wanted; i++) /* half of the range is rare in each class */
        out[i] = (uint32_t)twin__random_below(state, twin__random_below(state, 4) ? RANGE / 2 : RANGE) +
                 (positive ? RANGE / 2 : 0);
    qsort(out, wanted, sizeof *out, by_place);
    for (uint32_t i = 0; i < wanted; i++)
        if (count == 0 || out[count - 1] != out[i])
            out[count++] = out[i];
    return count;
}

static void make(struct made *out, uint64_t *state, bool positive)
{
    static const uint32_t sizes[TWIN__FEATURE_BLOCKS] = { WORDS / 2, WORDS / 2, WINDOWS / 4, 3 * WINDOWS / 4 };
    uint32_t *at = out->places;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; at += sizes[b++]) {
        out->features.places[b] = at;
        out->features.counts[b] = fill(at, sizes[b], state, positive);
    }
}

/* Words, or windows, of which a block has a part. */
static uint32_t in_group(const uint32_t *counts, int block)
{
    int first = block - block % 2;
    return counts[first] + counts[first + 1];
}

/* ---- the linear learner, in long doubles, as the formula is written */

static long double slow_weights[2 * RANGE], slow_squares[2 * RANGE];

/* The unit that is always on has place 0, which no feature has. */
static long double slow_score(const struct twin__features *f)
{
    long double z = slow_weights[0];
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (uint32_t i = 0; i < f->counts[b]; i++)
            z += slow_weights[f->places[b][i]] / sqrtl(in_group(f->counts, b));
    return z;
}

static void slow_step(uint32_t place, long double g)
{
    slow_squares[place] += g * g;
    slow_weights[place] += 0.2L * g / (0.01L + sqrtl(slow_squares[place]));
}

static void slow_learn(const struct twin__features *f, bool positive)
{
    long double error = (positive ? 1 : 0) - 1 / (1 + expl(-slow_score(f)));
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (uint32_t i = 0; i < f->counts[b]; i++)
            slow_step(f->places[b][i], error / sqrtl(in_group(f->counts, b)));
    slow_step(0, error);
}

static void the_linear_learner_is_its_formula(void **unused)
{
    (void)unused;
    struct twin__linear_cell *cells = calloc(TWIN__FEATURE_PLACES, sizeof *cells);
    uint64_t state = 3;
    for (int i = 0; i < 400; i++) {
        struct made m;
        bool positive = twin__random_below(&state, 2);
        make(&m, &state, positive);
        double score = twin__linear_score(cells, &m.features);
        /* Floats have 24 bits, and a hundred weights of size 1 are added. */
        assert_true(fabsl(score - slow_score(&m.features)) < 1e-3);
        twin__linear_learn(cells, &m.features, score, positive, 1);
        slow_learn(&m.features, positive);
    }
    free(cells);
}

/* ---- the second voter */

static void assert_weights_are_the_sum(const struct twin__margin *margin, const double *past)
{
    double *sum = malloc(2 * RANGE * sizeof *sum);
    memcpy(sum, past, 2 * RANGE * sizeof *sum);
    for (size_t i = 0; i < margin->count; i++) {
        const struct twin__margin_example *e = margin->examples[i];
        assert_true(e->alpha > 0 && (double)e->alpha <= TWIN__MARGIN_COST);
        assert_true(i == 0 || margin->examples[i - 1]->number < e->number);
        const uint32_t *at = e->places;
        sum[0] += (e->positive ? 1 : -1) * (double)e->alpha;
        for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
            for (uint32_t k = 0; k < e->counts[b]; k++)
                sum[*at++] += (e->positive ? 1 : -1) * (double)e->alpha / sqrt(in_group(e->counts, b));
    }
    for (int i = 0; i < 2 * RANGE; i++)
        assert_true(fabs(sum[i] - (double)margin->weights[i]) < 1e-4);
    free(sum);
}

static void the_second_voter_is_the_sum_of_its_examples(void **unused)
{
    (void)unused;
    struct twin__content content;
    double *past = calloc(2 * RANGE, sizeof *past); /* nothing leaves the window here */
    uint64_t state = 4;
    int right = 0;
    assert_int_equal(twin__content_init(&content), TWIN_OK);
    for (uint64_t i = 0; i < 300; i++) {
        struct made m;
        bool positive = twin__random_below(&state, 2);
        make(&m, &state, positive);
        double score = twin__margin_score(&content.margin, &m.features);
        right += i >= 100 && (score > 0) == positive;
        assert_int_equal(twin__margin_learn(&content.margin, i, &m.features, score, positive), TWIN_OK);
        /* One pass brings the newest to a margin of 1, or α to its bound. */
        if (i % 20 == 0)
            assert_weights_are_the_sum(&content.margin, past);
    }
    assert_true(right >= 180); /* of 200; the classes differ in half of their features */
    uint64_t number = content.margin.examples[0]->number;
    twin__margin_forget(&content.margin, number);
    assert_true(content.margin.count == 0 || content.margin.examples[0]->number != number);
    assert_weights_are_the_sum(&content.margin, past);
    twin__content_clear(&content);
    free(past);
}

/* A message that is wrong can move the score of another by at most C·|x|², about 1. */
static void one_message_has_little_influence(void **unused)
{
    (void)unused;
    struct twin__content content;
    uint64_t state = 5;
    struct made m;
    assert_int_equal(twin__content_init(&content), TWIN_OK);
    make(&m, &state, true);
    assert_int_equal(twin__margin_learn(&content.margin, 0, &m.features, 0, false), TWIN_OK);
    double score = twin__margin_score(&content.margin, &m.features);
    assert_true(score < -1 + 1e-5 && score > -1.5); /* more than 1 because some places are in both blocks */
    twin__content_clear(&content);
}

/* ---- records, against a plain list */

enum { MOST = 3000 };

static void records_are_found_until_they_expire(void **unused)
{
    (void)unused;
    struct twin__remembered r = { 0 };
    static bool removed[MOST];
    uint64_t state = 6, first = 0;
    for (uint64_t n = 0; n < MOST; n++) {
        struct twin__mail_record record = { .id = twin__mix(n + 1), .label = (uint16_t)(n % 3) };
        struct twin__mail_signature signature;
        memset(signature.slots, (int)(n % 251), sizeof signature.slots);
        assert_int_equal(twin__remembered_add(&r, &record, &signature), TWIN_OK);
        if (twin__random_below(&state, 3) == 0 && n > first) {
            uint64_t gone = first + twin__random_below(&state, n - first);
            removed[gone] = true;
            assert_int_equal(twin__remembered_remove(&r, gone), TWIN_OK);
        }
        while (n - first > 400) {
            twin__remembered_drop_first(&r);
            first++;
        }
        uint64_t any = twin__random_below(&state, n + 1), found = twin__remembered_find(&r, twin__mix(any + 1));
        assert_true(found == (any < first || removed[any] ? UINT64_MAX : any));
        assert_int_equal(twin__remembered_signature(&r, n).slots[100], (int)(n % 251));
    }
    uint64_t live = 0;
    for (uint64_t n = first; n < MOST; n++)
        live += !removed[n];
    assert_int_equal(r.live, live);
    twin__remembered_clear(&r);
}

/* Of very many copies the latest are enough; without `near` all of them count. */
static void many_copies_are_not_all_compared(void **unused)
{
    (void)unused;
    enum { COPIES = 6000, COMPARED = 4096 };
    struct twin__remembered r = { 0 };
    struct twin__mail_signature signature = { { 1, 2, 3 } };
    for (uint64_t n = 0; n < COPIES; n++) {
        struct twin__mail_record record = { .id = n + 1, .label = n >= COPIES - COMPARED / 2 };
        assert_int_equal(twin__remembered_add(&r, &record, &signature), TWIN_OK);
    }
    struct twin__neighbours found[TWIN__MAIL_MAX_LABELS];
    twin__remembered_nearest(found, &r, &signature, true);
    assert_int_equal(found[0].copies, COMPARED / 2);
    assert_int_equal(found[1].copies, COMPARED / 2);
    assert_int_equal(found[1].numbers[0], COPIES - 1);
    twin__remembered_nearest(found, &r, &signature, false);
    assert_int_equal(found[0].copies + found[1].copies, COPIES);
    twin__remembered_clear(&r);
}

/* The nearest of each label by a scan without tricks; with `near` the very near ones are the same. */
static void the_nearest_are_the_nearest(void **unused)
{
    (void)unused;
    struct twin__remembered r = { 0 };
    uint64_t state = 7;
    struct twin__mail_signature base, list[200];
    for (int i = 0; i < TWIN__MAIL_SLOTS; i++)
        base.slots[i] = (uint8_t)twin__random_next(&state);
    for (uint64_t n = 0; n < 200; n++) {
        struct twin__mail_record record = { .id = n + 1, .label = (uint16_t)(n % 2) };
        list[n] = base;
        uint64_t kept = twin__random_below(&state, 1000);
        for (int i = 0; i < TWIN__MAIL_SLOTS; i++)
            if (twin__random_below(&state, 1000) > kept)
                list[n].slots[i] = (uint8_t)twin__random_next(&state);
        assert_int_equal(twin__remembered_add(&r, &record, &list[n]), TWIN_OK);
    }
    struct twin__neighbours all[TWIN__MAIL_MAX_LABELS], near[TWIN__MAIL_MAX_LABELS];
    twin__remembered_nearest(all, &r, &base, false);
    twin__remembered_nearest(near, &r, &base, true);
    for (unsigned label = 0; label < 2; label++) {
        uint32_t copies = 0;
        double best = 0;
        for (uint64_t n = label; n < 200; n += 2) {
            double similarity = twin__mail_similarity(&list[n], &base);
            best = fmax(best, similarity);
            copies += similarity >= 0.9;
        }
        assert_true(all[label].similarities[0] == best && near[label].similarities[0] == best);
        assert_int_equal(all[label].copies, copies);
        for (uint32_t i = 1; i < all[label].count; i++)
            assert_true(all[label].similarities[i - 1] >= all[label].similarities[i]);
    }
    twin__remembered_clear(&r);
}

static void rehearsal_keeps_and_drops(void **unused)
{
    (void)unused;
    struct twin__rehearsal rehearsal = { 0 };
    uint64_t state = 8;
    assert_null(twin__rehearsal_draw(&rehearsal, 5));
    for (uint64_t n = 0; n < 2000; n++) {
        struct made m;
        make(&m, &state, n % 2);
        assert_int_equal(twin__rehearsal_add(&rehearsal, n, &m.features), TWIN_OK);
        struct twin__features kept = { .counts = { 0 } };
        for (size_t i = 0; i < TWIN__REHEARSED; i++)
            if (rehearsal.slots[i] && rehearsal.slots[i]->number == n)
                kept = twin__rehearsed_features(rehearsal.slots[i]);
        for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
            assert_int_equal(kept.counts[b], m.features.counts[b]);
            assert_memory_equal(kept.places[b], m.features.places[b], kept.counts[b] * sizeof(uint32_t));
        }
    }
    /* Of 2000 messages in 512 slots hardly a slot is empty: (1 - 1/512)^2000 = 2 %, 10 slots, and 30 are six sigmas. */
    assert_true(rehearsal.count > 480);
    for (uint64_t n = 0; n < 2000; n++)
        twin__rehearsal_drop(&rehearsal, n);
    assert_int_equal(rehearsal.count, 0);
    twin__rehearsal_clear(&rehearsal);
}

/* ---- features of messages */

struct seen {
    const struct twin__features *features;
    int block;
    bool link, subject, body, date;
};

static void look(void *context, uint32_t place, twin_text kind, twin_text word)
{
    struct seen *seen = context;
    const struct twin__features *f = seen->features;
    assert_non_null(bsearch(&place, f->places[seen->block], f->counts[seen->block], sizeof place, by_place));
    seen->date = seen->date || (word.length == 4 && memcmp(word.bytes, "Date", 4) == 0);
    seen->link = seen->link || (kind.length == 4 && memcmp(kind.bytes, "link", 4) == 0);
    seen->subject = seen->subject || (word.length == 7 && memcmp(word.bytes, "Winning", 7) == 0);
    seen->body = seen->body || (word.length == 5 && memcmp(word.bytes, "claim", 5) == 0);
}

static void words_and_windows_become_increasing_places(void **unused)
{
    (void)unused;
    static const char text[] =
        "From: Ann <ann@example.org>\nSubject: Winning\nDate: Mon, 2 Mar 2026 08:00:00 +0000\n\n"
        "Claim it at http://claim.example.com/now now now now.\n";
    const uint64_t key[2] = { 1, 2 }, other[2] = { 1, 3 };
    twin__feature_maker *maker, *second;
    twin_message_reader *reader;
    const twin_message *message;
    struct twin__features features, opening, again;
    assert_int_equal(twin__feature_maker_create(&maker, key), TWIN_OK);
    assert_int_equal(twin__feature_maker_create(&second, other), TWIN_OK);
    assert_int_equal(twin_message_reader_create(&reader, (twin_message_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ text, sizeof text - 1 }), TWIN_OK);
    assert_int_equal(twin__features_make(&features, &opening, maker, message), TWIN_OK);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (uint32_t i = 1; i < features.counts[b]; i++)
            assert_true(features.places[b][i - 1] < features.places[b][i]);
    uint32_t words = in_group(features.counts, TWIN__SEEN_WORDS),
             windows = in_group(features.counts, TWIN__SEEN_WINDOWS);
    assert_true(words > 20 && words < 60 && features.counts[TWIN__SEEN_WORDS] > words / 2);
    assert_true(windows > 80 && windows < sizeof text && features.counts[TWIN__SEEN_WINDOWS] > 40);
    struct seen seen = { .features = &features, .block = TWIN__SEEN_WORDS };
    assert_int_equal(twin__features_name(maker, message, true, look, &seen), TWIN_OK);
    assert_true(seen.link && seen.subject && seen.body && !seen.date);
    seen = (struct seen){ .features = &features, .block = TWIN__OTHER_WORDS };
    assert_int_equal(twin__features_name(maker, message, false, look, &seen), TWIN_OK);
    assert_true(seen.date && !seen.link && !seen.subject && !seen.body);
    /* Under another key the places are others. */
    assert_int_equal(twin__features_make(&again, &opening, second, message), TWIN_OK);
    assert_true(again.counts[0] != features.counts[0] ||
                memcmp(again.places[0], features.places[0], again.counts[0] * sizeof(uint32_t)) != 0);
    twin_message_reader_free(reader);
    twin__feature_maker_free(maker);
    twin__feature_maker_free(second);
}

static bool is_among(uint32_t place, const struct twin__features *features, int block)
{
    for (uint32_t i = 0; i < features->counts[block]; i++)
        if (features->places[block][i] == place)
            return true;
    return false;
}

/* The opening of a text is the features of a message that ends with it; a short text has none. */
static void opening_is_the_beginning_of_a_long_text(void **unused)
{
    (void)unused;
    static const char head[] = "From: Ann <ann@example.org>\nSubject: Winning\n\n";
    char text[2000];
    size_t length = sizeof head - 1, cut = 0;
    memcpy(text, head, length);
    for (int i = 0; i < 120; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "word%03d ", i);
        if (i == 48) /* and the word of the subject */
            cut = length - 1;
    }
    const uint64_t key[2] = { 1, 2 };
    twin__feature_maker *maker, *second;
    twin_message_reader *reader;
    const twin_message *message;
    struct twin__features whole, opening, begun, none;
    assert_int_equal(twin__feature_maker_create(&maker, key), TWIN_OK);
    assert_int_equal(twin__feature_maker_create(&second, key), TWIN_OK);
    assert_int_equal(twin_message_reader_create(&reader, (twin_message_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ text, length }), TWIN_OK);
    assert_int_equal(twin__features_make(&whole, &opening, maker, message), TWIN_OK);
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ text, cut }), TWIN_OK);
    assert_int_equal(twin__features_make(&begun, &none, second, message), TWIN_OK);
    assert_int_equal(none.counts[0], 0);
    uint32_t others = 0; /* the size of the part */
    for (uint32_t i = 0; i < begun.counts[TWIN__SEEN_WORDS]; i++)
        others += !is_among(begun.places[TWIN__SEEN_WORDS][i], &opening, TWIN__SEEN_WORDS);
    assert_true(others <= 1 && opening.counts[TWIN__SEEN_WORDS] + others >= begun.counts[TWIN__SEEN_WORDS]);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (uint32_t i = 0; i < opening.counts[b]; i++)
            assert_true(is_among(opening.places[b][i], &whole, b));
    assert_true(whole.counts[TWIN__SEEN_WORDS] >= opening.counts[TWIN__SEEN_WORDS] + 60);
    assert_true(whole.counts[TWIN__SEEN_WINDOWS] > opening.counts[TWIN__SEEN_WINDOWS] + 60);
    /* Windows across the end of the opening are not forgotten: there are as many as of the bytes at once. */
    uint64_t windows[sizeof text];
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    twin__hash_windows(windows, hash, text, 4, length - 3);
    for (size_t i = 0; i < length - 3; i++)
        assert_true(is_among((uint32_t)windows[i] & (TWIN__FEATURE_PLACES - 1), &whole, TWIN__SEEN_WINDOWS) ||
                    is_among((uint32_t)windows[i] & (TWIN__FEATURE_PLACES - 1), &whole, TWIN__OTHER_WINDOWS));
    twin_message_reader_free(reader);
    twin__feature_maker_free(maker);
    twin__feature_maker_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_linear_learner_is_its_formula),
        cmocka_unit_test(the_second_voter_is_the_sum_of_its_examples),
        cmocka_unit_test(one_message_has_little_influence),
        cmocka_unit_test(records_are_found_until_they_expire),
        cmocka_unit_test(many_copies_are_not_all_compared),
        cmocka_unit_test(the_nearest_are_the_nearest),
        cmocka_unit_test(rehearsal_keeps_and_drops),
        cmocka_unit_test(words_and_windows_become_increasing_places),
        cmocka_unit_test(opening_is_the_beginning_of_a_long_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

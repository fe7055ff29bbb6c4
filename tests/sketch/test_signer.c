/* test_signer.c — the signer against its steps, one by one, and many texts against one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/signer.h>

#include "base/random.h"

#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"

enum { TEXTS = 300, MOST_BYTES = 400 };
static char bytes[TEXTS][MOST_BYTES];
static twin_text texts[TEXTS];

static int draw_texts(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (size_t i = 0; i < TEXTS; i++) {
        size_t length = twin__random_below(&random, MOST_BYTES);
        for (size_t j = 0; j < length; j++)
            bytes[i][j] = "aB cdE  fgh the\xC3\xA9\xFF"[twin__random_below(&random, 18)];
        texts[i] = (twin_text){ bytes[i], length };
    }
    texts[0].length = 0;
    return 0;
}

/* The steps as a caller without a signer would write them. */
static void sign_slowly(uint32_t *signature, twin_items *items, twin_set *set, const twin_scheme *scheme,
                        twin_text text)
{
    twin_buffer normal = { 0 };
    twin_items spare = { 0 };
    twin_shingler *shingler;
    twin_minhash *hasher;
    assert_int_equal(twin_text_normalise(&normal, NULL, text, scheme->normal), TWIN_OK);
    assert_int_equal(twin__shingler_create(&shingler, scheme->shingle), TWIN_OK);
    assert_int_equal(twin__minhash_create(&hasher, scheme->minhash), TWIN_OK);
    assert_int_equal(twin__shingle_text(items, shingler, (twin_text){ normal.bytes, normal.length }), TWIN_OK);
    assert_int_equal(twin__set_make(set, items, &spare), TWIN_OK);
    twin__minhash_sign(signature, hasher, set->items, set->count);
    twin__shingler_free(shingler);
    twin__minhash_free(hasher);
    twin_buffer_clear(&normal);
    twin__items_clear(&spare);
}

static void a_signer_takes_all_steps(void **state)
{
    (void)state;
    static const char *const rules[] = { "char:9", "char:3", "word:2", "stop:2", "byte:4" };
    for (size_t rule = 0; rule < 5; rule++) {
        twin_scheme scheme = twin_scheme_default();
        assert_int_equal(twin_shingle_parse(&scheme.shingle, rules[rule]), TWIN_OK);
        twin_signer *signer;
        twin_sign_scratch scratch = { 0 };
        twin_items items = { 0 };
        assert_int_equal(twin_signer_create(&signer, &scheme, NULL), TWIN_OK);
        for (size_t i = 0; i < TEXTS; i++) {
            uint32_t quick[128], without_set[128], slow[128], of_items[128];
            twin_set set, expected, again;
            sign_slowly(slow, &items, &expected, &scheme, texts[i]);
            assert_int_equal(twin__signer_text(without_set, NULL, signer, &scratch, texts[i]), TWIN_OK);
            assert_int_equal(twin__signer_text(quick, &set, signer, &scratch, texts[i]), TWIN_OK);
            assert_memory_equal(quick, slow, sizeof slow);
            assert_memory_equal(without_set, slow, sizeof slow);
            assert_int_equal(set.count, expected.count);
            if (set.count)
                assert_memory_equal(set.items, expected.items, set.count * sizeof *set.items);
            assert_int_equal(twin__signer_items(of_items, &again, signer, &scratch, expected), TWIN_OK);
            assert_memory_equal(of_items, slow, sizeof slow);
            assert_int_equal(again.count, expected.count);
        }
        twin__items_clear(&items);
        twin__sign_scratch_clear(&scratch);
        twin_signer_free(signer);
    }
}

static void many_are_signed_as_one_by_one(void **state)
{
    (void)state;
    static const twin_exec execs[] = {
        { 0 }, { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 7 }
    };
    twin_signer *signer;
    twin_sign_scratch scratch = { 0 };
    assert_int_equal(twin_signer_create(&signer, NULL, NULL), TWIN_OK);
    size_t slots = twin_signer_scheme(signer)->minhash.slots;
    uint32_t *many = malloc(TEXTS * slots * sizeof *many), *one = malloc(slots * sizeof *one);
    uint64_t *sizes = malloc(TEXTS * sizeof *sizes);
    assert_true(many && one && sizes);
    for (size_t e = 0; e < 4; e++) {
        assert_int_equal(twin_signer_many(many, e % 2 ? sizes : NULL, signer, texts, TEXTS,
                                          (twin_signer_many_options){ .exec = execs[e] }),
                         TWIN_OK);
        for (size_t i = 0; i < TEXTS; i++) {
            twin_set set;
            assert_int_equal(twin__signer_text(one, &set, signer, &scratch, texts[i]), TWIN_OK);
            assert_memory_equal(many + i * slots, one, slots * sizeof *one);
            if (e % 2)
                assert_int_equal(sizes[i], set.count);
        }
    }
    free(many);
    free(one);
    free(sizes);
    twin__sign_scratch_clear(&scratch);
    twin_signer_free(signer);
}

/* The caller's words may go away once the signer is there. */
static void stop_words_are_copied(void **state)
{
    (void)state;
    char word[] = "fgh";
    twin_text words[] = { { word, 3 } };
    twin_scheme scheme = { .shingle = { .kind = TWIN_SHINGLE_STOP, .stop_words = words, .stop_word_count = 1 } };
    twin_signer *signer;
    assert_int_equal(twin_signer_create(&signer, &scheme, NULL), TWIN_OK);
    memset(word, 'x', 3);
    const twin_scheme *kept = twin_signer_scheme(signer);
    assert_int_equal(kept->shingle.stop_word_count, 1);
    assert_memory_equal(kept->shingle.stop_words[0].bytes, "fgh", 3);
    twin_signer_free(signer);
}

/* The scratch of a caller: made by the first call, used by all, and the results are those of the steps. */
static void a_scratch_is_made_by_the_first_call(void **state)
{
    (void)state;
    const twin_text text = { "One Text,  and  another", 23 };
    twin_signer *signer;
    twin_scratch *scratch = NULL;
    twin_set set;
    twin_text normalised;
    const uint64_t *hashes;
    size_t count;
    uint32_t signature[128], again[128];
    assert_int_equal(twin_signer_create(&signer, NULL, NULL), TWIN_OK);
    assert_int_equal(twin_signer_text(signature, &set, signer, NULL, text), TWIN_EINVAL);
    assert_int_equal(twin_signer_text(signature, &set, signer, &scratch, text), TWIN_OK);
    assert_non_null(scratch);
    size_t items = set.count;
    assert_int_equal(twin_signer_shingles(&normalised, &hashes, &count, signer, &scratch, text), TWIN_OK);
    assert_int_equal(normalised.length, 21);
    assert_memory_equal(normalised.bytes, "one text, and another", 21);
    assert_int_equal(count, 21 - 8);
    assert_int_equal(count, items);
    twin_signer_sign(again, signer, hashes, count);
    assert_memory_equal(signature, again, sizeof signature);
    assert_int_equal(twin_signer_shingles(&normalised, &hashes, &count, signer, &scratch, (twin_text){ 0 }), TWIN_OK);
    assert_int_equal(normalised.length + count, 0);
    twin_scratch_free(scratch);
    twin_scratch_free(NULL);
    twin_signer_free(signer);
}

static void wrong_schemes_are_refused(void **state)
{
    (void)state;
    twin_scheme scheme = { .threshold = 3 };
    twin_signer *signer;
    twin_error error = { 0 };
    assert_int_equal(twin_signer_create(&signer, &scheme, &error), TWIN_EINVAL);
    assert_null(signer);
    assert_non_null(strstr(error.message, "threshold"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signer_takes_all_steps),  cmocka_unit_test(many_are_signed_as_one_by_one),
        cmocka_unit_test(stop_words_are_copied),     cmocka_unit_test(a_scratch_is_made_by_the_first_call),
        cmocka_unit_test(wrong_schemes_are_refused),
    };
    return cmocka_run_group_tests(tests, draw_texts, NULL);
}

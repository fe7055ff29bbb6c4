/* test_names.c — each enumerator has its name, and no other value has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <twinsift/twinsift.h>

static const struct {
    twin_names names;
    int value;
    const char *name;
} known[] = {
    { TWIN_NAMES_EXECUTOR, TWIN_EXEC_SERIAL, "serial" },
    { TWIN_NAMES_EXECUTOR, TWIN_EXEC_PTHREADS, "pthreads" },
    { TWIN_NAMES_EXECUTOR, TWIN_EXEC_OPENMP, "openmp" },
    { TWIN_NAMES_CPU, TWIN_CPU_SCALAR, "scalar" },
    { TWIN_NAMES_CPU, TWIN_CPU_AVX2, "avx2" },
    { TWIN_NAMES_CPU, TWIN_CPU_AVX512, "avx512" },
    { TWIN_NAMES_CPU, TWIN_CPU_NEON, "neon" },
    { TWIN_NAMES_HASH_FAMILY, TWIN_HASH_XXH3, "xxh3" },
    { TWIN_NAMES_HASH_FAMILY, TWIN_HASH_FARM, "farm" },
    { TWIN_NAMES_HASH_FAMILY, TWIN_HASH_JENKINS, "jenkins" },
    { TWIN_NAMES_HASH_FAMILY, TWIN_HASH_SIP, "sip" },
    { TWIN_NAMES_NORMAL, TWIN_NORMAL_FOLD, "fold" },
    { TWIN_NAMES_NORMAL, TWIN_NORMAL_CHECK, "check" },
    { TWIN_NAMES_NORMAL, TWIN_NORMAL_BYTES, "bytes" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_AUTO, "auto" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_CHAR, "char" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_BYTE, "byte" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_WORD, "word" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_STOP, "stop" },
    { TWIN_NAMES_SHINGLE_KIND, TWIN_SHINGLE_KMER, "kmer" },
    { TWIN_NAMES_SKETCH, TWIN_SKETCH_FAST, "fast" },
    { TWIN_NAMES_SKETCH, TWIN_SKETCH_CLASSIC, "classic" },
    { TWIN_NAMES_MEASURE, TWIN_JACCARD, "jaccard" },
    { TWIN_NAMES_MEASURE, TWIN_CONTAINMENT, "containment" },
    { TWIN_NAMES_KEEP, TWIN_KEEP_SETS, "sets" },
    { TWIN_NAMES_KEEP, TWIN_KEEP_TEXT, "text" },
    { TWIN_NAMES_KEEP, TWIN_KEEP_NONE, "none" },
    { TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_AUTO, "auto" },
    { TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_BLOCKS, "blocks" },
    { TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_CLASSIC, "classic" },
    { TWIN_NAMES_MAIL_REASON, TWIN_MAIL_BY_NOTHING, "nothing" },
    { TWIN_NAMES_MAIL_REASON, TWIN_MAIL_BY_CONTENT, "content" },
    { TWIN_NAMES_MAIL_REASON, TWIN_MAIL_BY_SENDER, "sender" },
    { TWIN_NAMES_MAIL_REASON, TWIN_MAIL_BY_LOOKALIKE, "lookalike" },
};
enum { KNOWN = sizeof known / sizeof known[0] };

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        assert_string_equal(twin_name_of(known[i].names, known[i].value), known[i].name);
        assert_int_equal(twin_value_of(known[i].names, known[i].name), known[i].value);
    }
}

static void other_values_have_no_names(void **state)
{
    (void)state;
    size_t named = 0;
    for (int names = -1; names <= TWIN_NAMES_MAIL_REASON + 1; names++)
        for (int value = -100; value < 100; value++)
            named += *twin_name_of((twin_names)names, value) != '\0';
    assert_int_equal(named, KNOWN);
}

static void other_names_have_no_values(void **state)
{
    (void)state;
    static const struct {
        twin_names names;
        const char *name, *sentence;
    } unknown[] = {
        { TWIN_NAMES_CPU, "sse", "there is no level \"sse\"" },
        { TWIN_NAMES_SKETCH, "faster", "there is no sketch \"faster\"" },
        { TWIN_NAMES_HASH_FAMILY, "XXH3", "there is no hash family \"XXH3\"" },
        { TWIN_NAMES_KEEP, "", "there is no way to keep documents \"\"" },
        { TWIN_NAMES_NORMAL, NULL, "name must not be NULL" },
        { (twin_names)99, "fast", "unknown names 99" },
    };
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_int_equal(twin_value_of(unknown[i].names, unknown[i].name), -1);
        assert_string_equal(twin_error_last(TWIN_EINVAL), unknown[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(other_values_have_no_names),
        cmocka_unit_test(other_names_have_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

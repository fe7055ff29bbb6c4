/* test_hash.c — the families against independent implementations, and values that must never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/exec.h>
#include <twinsift/hash.h>
#include <xxhash.h>

#include "base/random.h"
#include "families.h"
#include "kernels/kernels.h"
#include "numbers.h"
#include "sketch/hash.h"
#include "sketch/hash_farm.h"

enum { LENGTHS = 300, FAMILIES = 4 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void draw(unsigned char *bytes, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)twin__random_next(&seed);
}

/* ---- second implementations ---- */

static void xxh3_is_that_of_the_library(void **state)
{
    (void)state;
    unsigned char bytes[LENGTHS];
    draw(bytes, sizeof bytes, 1);
    for (uint64_t seed = 0; seed < 3; seed++)
        for (size_t length = 0; length <= LENGTHS; length++) {
            twin_hash hash = twin_hash_member(TWIN_HASH_XXH3, seed << 40 | seed);
            assert_true(twin_hash_bytes(hash, bytes, length) == XXH3_64bits_withSeed(bytes, length, hash.seed));
            XXH128_hash_t digest = XXH3_128bits_withSeed(bytes, length, hash.seed);
            twin_digest got = twin_hash_digest(hash, bytes, length);
            assert_true(got.low == digest.low64 && got.high == digest.high64);
        }
}

#define ROTATE(x, by) ((x) << (by) | (x) >> (64 - (by)))

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = ROTATE(v[1], 13), v[1] ^= v[0], v[0] = ROTATE(v[0], 32);
        v[2] += v[3], v[3] = ROTATE(v[3], 16), v[3] ^= v[2];
        v[0] += v[3], v[3] = ROTATE(v[3], 21), v[3] ^= v[0];
        v[2] += v[1], v[1] = ROTATE(v[1], 17), v[1] ^= v[2], v[2] = ROTATE(v[2], 32);
    }
}

/* As the paper has it (Aumasson, Bernstein 2012, §2.1-2.4), the text padded into a copy. */
static uint64_t textbook_sip(const unsigned char *text, size_t length, const uint64_t key[2], int c, int d)
{
    unsigned char padded[LENGTHS + 8] = { 0 };
    size_t words = length / 8 + 1;
    memcpy(padded, text, length);
    padded[8 * words - 1] = (unsigned char)length;
    uint64_t v[4] = { key[0], key[1], key[0], key[1] };
    const char *constant =
        "uespemosmodnarodarenegylsetybdet"; /* "somepseudorandomlygeneratedbytes", each word turned */
    for (int i = 0; i < 4; i++)
        for (int byte = 0; byte < 8; byte++)
            v[i] ^= (uint64_t)constant[8 * i + byte] << (8 * byte);
    for (size_t w = 0; w < words; w++) {
        uint64_t m = 0;
        for (int byte = 7; byte >= 0; byte--)
            m = m << 8 | padded[8 * w + (size_t)byte];
        v[3] ^= m;
        sip_rounds(v, c);
        v[0] ^= m;
    }
    v[2] ^= 0xFF;
    sip_rounds(v, d);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Key 00 01 .. 0f, text 00 01 .. : the vectors of the reference code. */
static const uint64_t vector_key[2] = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };

static void the_textbook_sip_knows_its_paper(void **state)
{
    (void)state;
    unsigned char text[64];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)i;
    /* SipHash-2-4: appendix A of the paper, and the first lines of its published vectors. */
    assert_true(textbook_sip(text, 15, vector_key, 2, 4) == 0xa129ca6149be45e5u);
    assert_true(textbook_sip(text, 0, vector_key, 2, 4) == 0x726fdb47dd0e0e31u);
    assert_true(textbook_sip(text, 1, vector_key, 2, 4) == 0x74f839c593dc67fdu);
    /* SipHash-1-3, as Rust's core::hash tests have them. */
    assert_true(textbook_sip(text, 0, vector_key, 1, 3) == 0xabac0158050fc4dcu);
    assert_true(textbook_sip(text, 1, vector_key, 1, 3) == 0xc9f49bf37d57ca93u);
    assert_true(textbook_sip(text, 2, vector_key, 1, 3) == 0x82cb9b024dc7d44du);
}

static void sip_is_that_of_the_textbook(void **state)
{
    (void)state;
    unsigned char bytes[LENGTHS];
    draw(bytes, sizeof bytes, 2);
    uint64_t seed = 3;
    for (size_t length = 0; length <= LENGTHS - 8; length++) {
        twin_hash hash = { TWIN_HASH_SIP, 0, { twin__random_next(&seed), twin__random_next(&seed) } };
        assert_true(twin_hash_bytes(hash, bytes, length) == textbook_sip(bytes, length, hash.key, 1, 3));
        assert_true(twin_hash_bytes(hash, bytes + length % 8, length) ==
                    textbook_sip(bytes + length % 8, length, hash.key, 1, 3));
        assert_true(twin_hash_digest(hash, bytes, length).low == twin_hash_bytes(hash, bytes, length));
    }
}

/* An empty buffer has no bytes to point at. */
static void nothing_may_be_anywhere(void **state)
{
    (void)state;
    for (int family = TWIN_HASH_XXH3; family <= TWIN_HASH_SIP; family++) {
        twin_hash hash = twin_hash_member(family, 5);
        assert_true(twin_hash_bytes(hash, NULL, 0) == twin_hash_bytes(hash, "", 0));
        assert_true(twin_hash_digest(hash, NULL, 0).low == twin_hash_digest(hash, "", 0).low);
    }
}

static uint32_t textbook_one_at_a_time(const char *key, size_t length, uint32_t hash)
{
    size_t i = 0;
    while (i != length) {
        hash += (uint8_t)key[i++];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return hash;
}

static void jenkins_is_two_textbook_halves(void **state)
{
    (void)state;
    /* Known values of the plain function, begun with 0. */
    assert_true(textbook_one_at_a_time("a", 1, 0) == 0xca2e9442u);
    assert_true(textbook_one_at_a_time("The quick brown fox jumps over the lazy dog", 43, 0) == 0x519e91f5u);
    char bytes[100];
    draw((unsigned char *)bytes, sizeof bytes, 4);
    for (uint64_t seed = 0; seed < 20; seed++)
        for (size_t length = 0; length <= sizeof bytes; length++) {
            uint64_t start = twin__mix(seed + 1);
            uint64_t high = textbook_one_at_a_time(bytes, length, (uint32_t)(start >> 32));
            uint64_t low = textbook_one_at_a_time(bytes, length, (uint32_t)start);
            assert_true(twin_hash_bytes(twin_hash_member(TWIN_HASH_JENKINS, seed), bytes, length) ==
                        (high << 32 | low));
        }
}

/* Fingerprint64 promises to give these for ever. */
static void farm_is_the_stable_fingerprint(void **state)
{
    (void)state;
#ifndef TWIN_FARMHASH
    assert_int_equal(twin_hash_available(TWIN_HASH_FARM), TWIN_EUNSUPPORTED);
    assert_non_null(strstr(twin_error_last(TWIN_EUNSUPPORTED), "farm"));
    print_message("this build has no hash family farm: skipped\n");
    skip();
#else
    assert_int_equal(twin_hash_available(TWIN_HASH_FARM), TWIN_OK);
    assert_true(twin__farm_fingerprint("", 0) == 0x9ae16a3b2f90404fu);
    assert_true(twin__farm_fingerprint("hello", 5) == 0xb48be5a931380ce8u);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (size_t length = 0; length <= 43; length++) {
            const char *text = "The quick brown fox jumps over the lazy dog";
            uint64_t expected =
                twin__mix(twin__farm_fingerprint(text, length) + twin__mix(seed + 0x9E3779B97F4A7C15u));
            assert_true(twin_hash_bytes(twin_hash_member(TWIN_HASH_FARM, seed), text, length) == expected);
        }
#endif
}

/* ---- what stays for good ---- */

static const struct golden {
    twin_hash_family family;
    uint64_t seed;
    const char *text;
    uint64_t hash, low, high;
} goldens[] = {
    { TWIN_HASH_XXH3, 0, "", 0x2d06800538d394c2u, 0x6001c324468d497fu, 0x99aa06d3014798d8u },
    { TWIN_HASH_XXH3, 0, "a", 0xe6c632b61e964e1fu, 0xe6c632b61e964e1fu, 0xa96faf705af16834u },
    { TWIN_HASH_XXH3, 0, "lookalike", 0x7e3901194effb0d0u, 0x4095ae0dd5339d1du, 0x1a06f5c7c1894b52u },
    { TWIN_HASH_XXH3, 0, "The quick brown fox jumps over the lazy dog", 0xce7d19a5418fb365u, 0x24a1cc2e3a8a7651u,
      0xddd650205ca3e7fau },
    { TWIN_HASH_XXH3, 42, "", 0xb029411ff43d84d2u, 0x3c1d09e9fe249164u, 0x16c20acd33f7af2fu },
    { TWIN_HASH_XXH3, 42, "a", 0x4c437dd47f0716f4u, 0x4c437dd47f0716f4u, 0x28df5945863b24b7u },
    { TWIN_HASH_XXH3, 42, "lookalike", 0x722fe658f7478cefu, 0xeb1bcc9c1544ac57u, 0xace2c1cbb6157afeu },
    { TWIN_HASH_XXH3, 42, "The quick brown fox jumps over the lazy dog", 0xb4a3f3c36b3c7d26u, 0x72c665da6e6d93b8u,
      0x97fdbc584d4c6984u },
    { TWIN_HASH_FARM, 0, "", 0x35a667091895d481u, 0x6001c324468d497fu, 0x99aa06d3014798d8u },
    { TWIN_HASH_FARM, 0, "a", 0x5a10e922d5b9af80u, 0xe6c632b61e964e1fu, 0xa96faf705af16834u },
    { TWIN_HASH_FARM, 0, "lookalike", 0xc585fb82519951e8u, 0x4095ae0dd5339d1du, 0x1a06f5c7c1894b52u },
    { TWIN_HASH_FARM, 0, "The quick brown fox jumps over the lazy dog", 0x1c9104c0d311aba7u, 0x24a1cc2e3a8a7651u,
      0xddd650205ca3e7fau },
    { TWIN_HASH_FARM, 42, "", 0x8ec1e52163a4fee5u, 0x3c1d09e9fe249164u, 0x16c20acd33f7af2fu },
    { TWIN_HASH_FARM, 42, "a", 0xd0e56c1b3a3cbae5u, 0x4c437dd47f0716f4u, 0x28df5945863b24b7u },
    { TWIN_HASH_FARM, 42, "lookalike", 0x1f5fefe8f611618du, 0xeb1bcc9c1544ac57u, 0xace2c1cbb6157afeu },
    { TWIN_HASH_FARM, 42, "The quick brown fox jumps over the lazy dog", 0xf3a7759b394ee223u, 0x72c665da6e6d93b8u,
      0x97fdbc584d4c6984u },
    { TWIN_HASH_JENKINS, 0, "", 0xdcd2235d2d26b96bu, 0x6001c324468d497fu, 0x99aa06d3014798d8u },
    { TWIN_HASH_JENKINS, 0, "a", 0x4eaa1ac9db08ef17u, 0xe6c632b61e964e1fu, 0xa96faf705af16834u },
    { TWIN_HASH_JENKINS, 0, "lookalike", 0x74269d8498372a29u, 0x4095ae0dd5339d1du, 0x1a06f5c7c1894b52u },
    { TWIN_HASH_JENKINS, 0, "The quick brown fox jumps over the lazy dog", 0x3bb5173d3afdea90u, 0x24a1cc2e3a8a7651u,
      0xddd650205ca3e7fau },
    { TWIN_HASH_JENKINS, 42, "", 0x94cd1b0f8ed394e9u, 0x3c1d09e9fe249164u, 0x16c20acd33f7af2fu },
    { TWIN_HASH_JENKINS, 42, "a", 0x153420855340ac76u, 0x4c437dd47f0716f4u, 0x28df5945863b24b7u },
    { TWIN_HASH_JENKINS, 42, "lookalike", 0xaae12ba5eda84bceu, 0xeb1bcc9c1544ac57u, 0xace2c1cbb6157afeu },
    { TWIN_HASH_JENKINS, 42, "The quick brown fox jumps over the lazy dog", 0xd3f7e2b5337ed4a0u, 0x72c665da6e6d93b8u,
      0x97fdbc584d4c6984u },
    { TWIN_HASH_SIP, 0, "", 0x4126a35f4783e576u, 0x4126a35f4783e576u, 0x385f60f030443b03u },
    { TWIN_HASH_SIP, 0, "a", 0x47bb627b6ecfc12cu, 0x47bb627b6ecfc12cu, 0xcf1fd69ed1f438c0u },
    { TWIN_HASH_SIP, 0, "lookalike", 0xb2bcfada4d7ef69eu, 0xb2bcfada4d7ef69eu, 0xf2c26b41c262c22bu },
    { TWIN_HASH_SIP, 0, "The quick brown fox jumps over the lazy dog", 0xe7ca67e8415bd1b3u, 0xe7ca67e8415bd1b3u,
      0xd03742b7a4abade0u },
    { TWIN_HASH_SIP, 42, "", 0xb2775ee1b39ba2f8u, 0xb2775ee1b39ba2f8u, 0xbd06dbcbc5cc6ae6u },
    { TWIN_HASH_SIP, 42, "a", 0xf9fd9562ae884215u, 0xf9fd9562ae884215u, 0xfb43f78cd9031591u },
    { TWIN_HASH_SIP, 42, "lookalike", 0xca8fdcc10dcd28c7u, 0xca8fdcc10dcd28c7u, 0x8b7a9566f05090c4u },
    { TWIN_HASH_SIP, 42, "The quick brown fox jumps over the lazy dog", 0x8604a277225375afu, 0x8604a277225375afu,
      0x6b4c78b5889bd098u },
};

static void values_never_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        const struct golden *golden = &goldens[i];
        if (twin_hash_available(golden->family) != TWIN_OK)
            continue;
        twin_hash hash = twin_hash_member(golden->family, golden->seed);
        size_t length = strlen(golden->text);
        twin_digest digest = twin_hash_digest(hash, golden->text, length);
        assert_true(twin_hash_bytes(hash, golden->text, length) == golden->hash);
        assert_true(digest.low == golden->low && digest.high == golden->high);
    }
}

static void members_differ_by_their_seed(void **state)
{
    (void)state;
    for (int family = 0; family < FAMILIES; family++)
        for (uint64_t a = 0; a < 50; a++)
            for (uint64_t b = 0; b < a; b++)
                assert_true(
                    twin_hash_bytes(twin_hash_member(present_family((twin_hash_family)family), a), "text", 4) !=
                    twin_hash_bytes(twin_hash_member(present_family((twin_hash_family)family), b), "text", 4));
}

/* ---- windows ---- */

enum { MOST = 40 };

static void equal_members_are_the_same_function(void **state)
{
    (void)state;
    for (int family = TWIN_HASH_XXH3; family <= TWIN_HASH_SIP; family++) {
        bool keyed = family == TWIN_HASH_SIP;
        twin_hash hash = twin_hash_member((twin_hash_family)family, 1), seeded = hash, keyed_other = hash,
                  other = hash;
        seeded.seed = 2;
        keyed_other.key[1]++;
        other.family = (twin_hash_family)(family ^ 1);
        assert_true(twin__hash_equal(hash, hash));
        assert_false(twin__hash_equal(hash, other));
        assert_int_equal(twin__hash_equal(hash, seeded), keyed); /* what is not used makes no difference */
        assert_int_equal(twin__hash_equal(hash, keyed_other), !keyed);
    }
}

static void check_windows(void)
{
    for (int family = 0; family < FAMILIES; family++)
        for (size_t width = 1; width <= MOST; width++)
            for (size_t count = 0; count <= MOST; count++) {
                twin_hash hash = twin_hash_member(present_family((twin_hash_family)family), width);
                size_t length = count ? count + width - 1 : 0;
                unsigned char *bytes = malloc(length + 1);
                uint64_t out[MOST + 1] = { 0 };
                assert_non_null(bytes);
                draw(bytes + 1, length, count); /* ends where the block ends, for the address sanitizer */
                twin__hash_windows(out, hash, bytes + 1, width, count);
                for (size_t i = 0; i < count; i++)
                    assert_true(out[i] == twin_hash_bytes(hash, bytes + 1 + i, width));
                assert_true(out[count] == 0);
                free(bytes);
            }
}

static void windows_are_hashes_of_the_pieces(void **state)
{
    (void)state;
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        check_windows();
    }
}

static void wide_windows_too(void **state)
{
    (void)state;
    unsigned char bytes[1200];
    static const size_t widths[] = { 64, 128, 129, 240, 241, 1024 };
    draw(bytes, sizeof bytes, 5);
    for (int family = 0; family < FAMILIES; family++)
        for (size_t w = 0; w < COUNT(widths); w++) {
            uint64_t out[100];
            twin_hash hash = twin_hash_member(present_family((twin_hash_family)family), w);
            twin__hash_windows(out, hash, bytes, widths[w], COUNT(out));
            for (size_t i = 0; i < COUNT(out); i++)
                assert_true(out[i] == twin_hash_bytes(hash, bytes + i, widths[w]));
        }
}

/* ---- mixing ---- */

/* Each input bit moves each output bit in half of TRIALS numbers; the share has a standard error of
 * .5/sqrt(TRIALS), and with 4,096 pairs of bits the largest of their deviations is below five of them 998 times
 * in 1,000. The average over all pairs is 64 times sharper. */
static void mixing_moves_every_bit_half_the_time(void **state)
{
    (void)state;
    enum { TRIALS = 10000 };
    static unsigned moved[64][64];
    uint64_t seed = 6, total = 0;
    memset(moved, 0, sizeof moved);
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t x = twin__random_next(&seed);
        for (int in = 0; in < 64; in++) {
            uint64_t change = twin_hash_mix(x) ^ twin_hash_mix(x ^ (uint64_t)1 << in);
            for (int out = 0; out < 64; out++)
                moved[in][out] += change >> out & 1;
        }
    }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++) {
            assert_in_range(moved[in][out], TRIALS / 2 - 5 * 50, TRIALS / 2 + 5 * 50);
            total += moved[in][out];
        }
    assert_in_range(total, 4096u * (TRIALS / 2) - 5 * 64 * 50, 4096u * (TRIALS / 2) + 5 * 64 * 50);
}

static void mixing_is_one_to_one(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    uint64_t *mixed = malloc(MANY * sizeof *mixed);
    assert_non_null(mixed);
    for (uint64_t i = 0; i < MANY; i++)
        mixed[i] = twin_hash_mix(i);
    qsort(mixed, MANY, sizeof *mixed, by_value);
    for (size_t i = 1; i < MANY; i++)
        assert_true(mixed[i] != mixed[i - 1]);
    free(mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh3_is_that_of_the_library),
        cmocka_unit_test(the_textbook_sip_knows_its_paper),
        cmocka_unit_test(sip_is_that_of_the_textbook),
        cmocka_unit_test(nothing_may_be_anywhere),
        cmocka_unit_test(jenkins_is_two_textbook_halves),
        cmocka_unit_test(farm_is_the_stable_fingerprint),
        cmocka_unit_test(values_never_change),
        cmocka_unit_test(members_differ_by_their_seed),
        cmocka_unit_test(equal_members_are_the_same_function),
        cmocka_unit_test(windows_are_hashes_of_the_pieces),
        cmocka_unit_test(wide_windows_too),
        cmocka_unit_test(mixing_moves_every_bit_half_the_time),
        cmocka_unit_test(mixing_is_one_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_long_text.c — long texts, piece by piece and range by range, against the short way: all at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "families.h"
#include "scale.h"
#include "sketch/digester.h"
#include "sketch/long_text.h"
#include "sketch/set.h"
#include "sketch/signer.h"
#include "text/pieces.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const rules[] = {
    "auto:9", "char:9", "char:1", "byte:4", "word:3", "word:1", "word:1024", "stop:2"
};

enum texture { PLAIN, MIXED, MARKS, BLANKS, BAD, ONE_WORD, TEXTURES };

/* `length` bytes or a few more. Plain text; with characters of all lengths; with marks that combine and have to be
 * sorted; mostly white space; mostly ill-formed; a word without an end. */
static void draw_text(twin_buffer *out, size_t length, enum texture texture, uint64_t *seed)
{
    static const char *const others[] = { "\xC3\x89",     "\xD0\x96",         "\xE6\x97\xA5",
                                          "\xEF\xAC\x81", "\xF0\x9F\x98\x80", "\xE1\x84\x80\xE1\x85\xA1",
                                          "\xC2\xA0" };
    static const char *const marks[] = { "\xCC\x81", "\xCC\xA7", "\xCC\x82", "\xE1\x86\xA8" };
    out->length = 0;
    while (out->length < length) {
        uint64_t x = twin__random_below(seed, 100);
        char letter = "etaoin Shrdlu\tCm\nf, wyp"[twin__random_below(seed, 24)];
        const char *bytes = &letter;
        size_t count = 1;
        if (texture == MIXED && x < 60)
            bytes = others[x % COUNT(others)], count = strlen(bytes);
        else if (texture == MARKS && x < 60)
            bytes = marks[x % COUNT(marks)], count = strlen(bytes);
        else if (texture == BLANKS && x < 98)
            letter = " \t\n\r"[x % 4];
        else if (texture == BAD && x < 90)
            letter = (char)(0x80 + x);
        else if (texture == ONE_WORD)
            letter = (char)('a' + x % 26);
        assert_int_equal(twin_buffer_append(out, bytes, count), TWIN_OK);
    }
}

static void pieces_are_the_whole(void **state)
{
    (void)state;
    twin_buffer raw = { 0 }, whole = { 0 }, pieces = { 0 };
    uint64_t seed = 1;
    for (int round = 0; round < 4 * TEXTURES; round++)
        for (int normal = TWIN_NORMAL_FOLD; normal <= TWIN_NORMAL_BYTES; normal++) {
            uint64_t replaced = 0;
            draw_text(&raw, 3 * TWIN__PIECE + twin__random_below(&seed, 50), round % TEXTURES, &seed);
            twin_text text = { raw.bytes, raw.length };
            assert_int_equal(twin_text_normalise(&whole, &replaced, text, normal), TWIN_OK);
            struct twin__normaliser state_of = { .rest = text, .normal = normal };
            pieces.length = 0;
            while (state_of.rest.length)
                assert_int_equal(twin__normalise_piece(&pieces, &state_of), TWIN_OK);
            assert_int_equal(pieces.length, whole.length);
            assert_memory_equal(pieces.bytes, whole.bytes, whole.length);
            assert_int_equal(state_of.replaced, replaced);
        }
    twin_buffer_clear(&raw);
    twin_buffer_clear(&whole);
    twin_buffer_clear(&pieces);
}

static void digests_come_piece_by_piece(void **state)
{
    (void)state;
    static const twin_hash_family families[] = { TWIN_HASH_XXH3, TWIN_HASH_FARM, TWIN_HASH_JENKINS, TWIN_HASH_SIP };
    char bytes[2000];
    uint64_t seed = 2;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)twin__random_next(&seed);
    for (int round = 0; round < 400; round++) {
        twin_hash hash = twin_hash_member(present_family(families[round % 4]), 3);
        size_t length = twin__random_below(&seed, round < 200 ? 40 : sizeof bytes), done = 0;
        struct twin__digester *digester;
        assert_int_equal(twin__digester_create(&digester, hash), TWIN_OK);
        while (done < length) {
            size_t more = twin__random_below(&seed, length - done + 1);
            twin__digester_add(digester, bytes + done, more);
            done += more;
        }
        twin_digest all = twin_hash_digest(hash, bytes, length), now = twin__digester_end(digester);
        assert_true(all.low == now.low && all.high == now.high);
        twin__digester_free(digester);
    }
}

/* ---- signatures and sets ---- */

struct world {
    twin_signer *signer;
    twin_sign_scratch scratch, other;
    twin_set set; /* in `other` */
    uint32_t *expected, *found;
    size_t slots;
};

static void world_begin(struct world *world, twin_scheme scheme)
{
    *world = (struct world){ 0 };
    assert_int_equal(twin_signer_create(&world->signer, &scheme, NULL), TWIN_OK);
    world->slots = twin_signer_scheme(world->signer)->minhash.slots;
    world->expected = calloc(world->slots, sizeof *world->expected);
    world->found = calloc(world->slots, sizeof *world->found);
    assert_true(world->expected && world->found);
}

static void world_end(struct world *world)
{
    twin_signer_free(world->signer);
    twin__sign_scratch_clear(&world->scratch);
    twin__sign_scratch_clear(&world->other);
    free(world->expected);
    free(world->found);
}

static void check_signature(struct world *world, struct twin__long_text *text)
{
    uint64_t replaced = 0;
    twin_hash hash = text->digest_hash;
    assert_int_equal(twin__signer_shingle(&world->other, &replaced, world->signer, text->text), TWIN_OK);
    bool is_empty = world->other.items.count == 0;
    assert_int_equal(twin__signer_text(world->expected, &world->set, world->signer, &world->other, text->text),
                     TWIN_OK);
    assert_int_equal(twin__long_text_sign(world->found, text, world->signer, &world->scratch), TWIN_OK);
    assert_memory_equal(world->found, world->expected, world->slots * sizeof *world->found);
    twin_digest digest = twin_hash_digest(hash, world->other.text.bytes, world->other.text.length);
    assert_true(text->digest.low == digest.low && text->digest.high == digest.high);
    assert_int_equal(text->replaced, replaced);
    assert_int_equal(text->length, world->other.text.length);
    assert_int_equal(text->is_short, world->other.is_short);
    assert_int_equal(text->is_empty, is_empty);
}

/* The ranges of a set, one after the other, are the set. */
static void check_ranges(struct world *world, struct twin__long_text *text, size_t room)
{
    struct twin__hash_range range = { 0, UINT64_MAX, room };
    twin_items part = { 0 };
    size_t count = 0, rounds = 0;
    do {
        uint64_t first = range.first;
        assert_int_equal(twin__long_text_range(&part, &range, text, world->signer, &world->scratch), TWIN_OK);
        assert_true(part.count <= room);
        assert_true(range.first == first && count + part.count <= world->set.count);
        if (part.count)
            assert_memory_equal(part.items, world->set.items + count, part.count * sizeof *part.items);
        count += part.count;
        rounds++;
    } while (twin__hash_range_next(&range, part.count));
    assert_int_equal(count, world->set.count);
    assert_true(rounds <= 4 * count / room + 8);
    twin__items_clear(&part);
}

static void check_text(struct world *world, twin_text bytes, size_t room)
{
    struct twin__long_text text = { .text = bytes, .digest_hash = twin_hash_member(TWIN_HASH_XXH3, 5) };
    check_signature(world, &text);
    check_ranges(world, &text, room);
    text.is_measured = true;
    assert_int_equal(twin__long_text_sign(NULL, &text, world->signer, &world->scratch), TWIN_OK);
    twin_digest expected = twin__set_digest(world->set);
    assert_int_equal(text.set_size, world->set.count);
    assert_true(text.set_digest.low == expected.low && text.set_digest.high == expected.high);
}

static void long_texts_have_the_sets_and_signatures_of_the_short_way(void **state)
{
    (void)state;
    twin_buffer raw = { 0 };
    uint64_t seed = 3;
    for (size_t r = 0; r < COUNT(rules); r++)
        for (int texture = 0; texture < TEXTURES; texture += 1 + QUICK) {
            twin_scheme scheme = { .minhash = { .slots = r % 3 ? 128 : 5000, .sketch = texture % 5 == 4 } };
            struct world world;
            assert_int_equal(twin_shingle_parse(&scheme.shingle, rules[r]), TWIN_OK);
            scheme.normal = texture == BAD ? TWIN_NORMAL_CHECK : TWIN_NORMAL_FOLD;
            twin_scheme_seed(&scheme, 1 + r);
            world_begin(&world, scheme);
            draw_text(&raw, 2 * TWIN__PIECE + 4000, texture, &seed);
            check_text(&world, (twin_text){ raw.bytes, raw.length }, 20000);
            world_end(&world);
        }
    twin_buffer_clear(&raw);
}

/* Texts that fit into one piece, or into none; and one of a single stretch over and over, whose set is small. */
static void texts_of_all_lengths_are_long_texts_too(void **state)
{
    (void)state;
    twin_buffer raw = { 0 };
    uint64_t seed = 4;
    for (size_t r = 0; r < COUNT(rules); r++) {
        twin_scheme scheme = { 0 };
        struct world world;
        assert_int_equal(twin_shingle_parse(&scheme.shingle, rules[r]), TWIN_OK);
        world_begin(&world, scheme);
        for (size_t length = 0; length < 40; length++) {
            draw_text(&raw, length, (enum texture)(length % 2), &seed);
            check_text(&world, (twin_text){ length ? raw.bytes : NULL, raw.length }, 64);
        }
        draw_text(&raw, 3000, PLAIN, &seed);
        for (int i = 0; i < 60; i++) {
            assert_int_equal(twin_buffer_reserve(&raw, 3000), TWIN_OK);
            assert_int_equal(twin_buffer_append(&raw, raw.bytes, 3000), TWIN_OK);
        }
        check_text(&world, (twin_text){ raw.bytes, raw.length }, 10000);
        world_end(&world);
    }
    twin_buffer_clear(&raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(digests_come_piece_by_piece),
        cmocka_unit_test(long_texts_have_the_sets_and_signatures_of_the_short_way),
        cmocka_unit_test(texts_of_all_lengths_are_long_texts_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

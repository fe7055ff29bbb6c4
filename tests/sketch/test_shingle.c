/* test_shingle.c — shingles against a slow implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "base/random.h"
#include "families.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static twin_text text_of(const char *words)
{
    return (twin_text){ words, strlen(words) };
}

static twin_shingler *shingler(const char *rule, twin_hash hash)
{
    twin_shingle_options options = { .hash = hash };
    twin_shingler *made;
    assert_int_equal(twin_shingle_parse(&options, rule), TWIN_OK);
    assert_int_equal(twin__shingler_create(&made, options), TWIN_OK);
    return made;
}

static void shingle(twin_items *out, const char *rule, twin_text text)
{
    twin_shingler *made = shingler(rule, twin_hash_member(TWIN_HASH_XXH3, 0));
    assert_int_equal(twin__shingle_text(out, made, text), TWIN_OK);
    twin__shingler_free(made);
}

static uint64_t hash_of(const char *bytes, size_t length)
{
    return twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, 0), bytes, length);
}

/* ---- worked checks ---- */

static double jaccard(const char *rule, const char *a, const char *b)
{
    twin_items items[2] = { { 0 }, { 0 } }, scratch = { 0 };
    twin_set sets[2];
    shingle(&items[0], rule, text_of(a));
    shingle(&items[1], rule, text_of(b));
    for (int i = 0; i < 2; i++)
        assert_int_equal(twin__set_make(&sets[i], &items[i], &scratch), TWIN_OK);
    double similarity = twin_set_similarity(sets[0], sets[1], TWIN_JACCARD);
    twin__items_clear(&items[0]);
    twin__items_clear(&items[1]);
    twin__items_clear(&scratch);
    return similarity;
}

static void the_slides_are_right(void **state)
{
    (void)state;
    /* 10 words of 13 are shared: 0.7692. */
    assert_true(jaccard("word:1", "when nine hundred years old you reach, look as good you will not.",
                        "you will not look as good when nine hundred years old") == 10. / 13);
    /* D1 .. D4 */
    const char *documents[] = { "aab", "bcd", "cda", "cd" };
    assert_true(jaccard("char:2", documents[1], documents[2]) == 1. / 3);
    assert_true(jaccard("char:2", documents[0], documents[1]) == 0);
    assert_true(jaccard("char:2", documents[2], documents[3]) == .5);

    twin_items items = { 0 }, scratch = { 0 };
    twin_set set;
    shingle(&items, "char:2", text_of("abcab"));
    assert_int_equal(items.count, 4);
    assert_int_equal(twin__set_make(&set, &items, &scratch), TWIN_OK);
    assert_int_equal(set.count, 3);
    const char *expected[] = { "ab", "bc", "ca" };
    for (size_t i = 0; i < 3; i++) {
        uint64_t hash = hash_of(expected[i], 2);
        assert_int_equal(twin_set_common(set, (twin_set){ &hash, 1 }), 1);
    }
    twin__items_clear(&items);
    twin__items_clear(&scratch);
}

/* ---- characters and bytes ---- */

enum { MOST_CHARACTERS = 80 };

struct letters {
    char bytes[4 * MOST_CHARACTERS];
    size_t start[MOST_CHARACTERS + 1]; /* of each character, and the end of the last */
    size_t count;
};

/* Characters of one to four bytes; `ascii` of a hundred are of one. */
static void draw_letters(struct letters *out, size_t count, unsigned ascii, uint64_t *seed)
{
    static const char *const some[] = { "\xC3\xA9", "\xD0\x96", "\xE2\x82\xAC", "\xE6\x97\xA5", "\xF0\x9F\x98\x80" };
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        out->start[i] = length;
        if (twin__random_below(seed, 100) < ascii)
            out->bytes[length++] = "ab c"[twin__random_below(seed, 4)];
        else {
            const char *letter = some[twin__random_below(seed, COUNT(some))];
            memcpy(out->bytes + length, letter, strlen(letter));
            length += strlen(letter);
        }
    }
    out->start[count] = length;
    out->count = count;
}

/* A copy that ends where its block ends, so that the address sanitizer sees a step too far. */
static twin_text exact_copy(char **block, const char *bytes, size_t length)
{
    *block = malloc(length + 1);
    assert_non_null(*block);
    memcpy(*block + 1, bytes, length);
    return (twin_text){ *block + 1, length };
}

/* A text shorter than one shingle is one as a whole, unless it is empty. */
static void check_whole(const twin_items *items, twin_text text)
{
    assert_int_equal(items->count, text.length > 0);
    if (text.length)
        assert_true(items->items[0] == hash_of(text.bytes, text.length));
}

static void character_windows_are_those_cut_by_hand(void **state)
{
    (void)state;
    twin_items items = { 0 };
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct letters letters;
        char rule[20], *block;
        static const unsigned shares[] = { 0, 50, 95, 100 };
        draw_letters(&letters, twin__random_below(&seed, MOST_CHARACTERS + 1), shares[round % 4], &seed);
        size_t width = 1 + twin__random_below(&seed, 12);
        snprintf(rule, sizeof rule, "char:%zu", width);
        shingle(&items, rule, exact_copy(&block, letters.bytes, letters.start[letters.count]));
        if (letters.count < width) {
            check_whole(&items, (twin_text){ letters.bytes, letters.start[letters.count] });
        } else {
            assert_int_equal(items.count, letters.count - width + 1);
            for (size_t i = 0; i < items.count; i++)
                assert_true(items.items[i] ==
                            hash_of(letters.bytes + letters.start[i], letters.start[i + width] - letters.start[i]));
        }
        free(block);
    }
    twin__items_clear(&items);
}

static void byte_windows_are_those_cut_by_hand(void **state)
{
    (void)state;
    twin_items items = { 0 };
    uint64_t seed = 2;
    for (size_t width = 1; width <= 40; width++)
        for (size_t length = 0; length <= 60; length++) {
            char bytes[60], rule[20], *block;
            for (size_t i = 0; i < length; i++)
                bytes[i] = (char)twin__random_next(&seed);
            snprintf(rule, sizeof rule, "byte:%zu", width);
            shingle(&items, rule, exact_copy(&block, bytes, length));
            if (length < width) {
                check_whole(&items, (twin_text){ bytes, length });
            } else {
                assert_int_equal(items.count, length - width + 1);
                for (size_t i = 0; i < items.count; i++)
                    assert_true(items.items[i] == hash_of(bytes + i, width));
            }
            free(block);
        }
    twin__items_clear(&items);
}

/* By the tables of the Unicode standard, written another way: ranges of code points. */
static size_t weight_of(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        size_t weight;
    } ranges[] = {
        { 0x0E00, 0x0EFF, 3 }, { 0x1000, 0x107F, 3 }, { 0x1780, 0x17FF, 3 }, { 0x3005, 0x3005, 6 },
        { 0x3007, 0x3007, 6 }, { 0x3040, 0x312F, 6 }, { 0x31F0, 0x31FF, 6 }, { 0x3400, 0x9FFF, 6 },
        { 0xAC00, 0xD7BF, 3 }, { 0xF900, 0xFAFF, 6 }, { 0xFF66, 0xFF9F, 6 }, { 0x20000, 0x3FFFF, 6 },
    };
    for (size_t i = 0; i < COUNT(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].weight;
    return 2;
}

static size_t encode(char *out, uint32_t c)
{
    if (c < 0x80)
        return (size_t)(out[0] = (char)c, 1);
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00 >> length) | c);
    return length;
}

/* Most characters from where weights change, and some from anywhere. */
static uint32_t draw_character(uint64_t *seed)
{
    static const uint32_t near[] = { 0x20,   0x61,    0xE9,    0x0E00,  0x0F00,  0x1000, 0x1080, 0x1780,
                                     0x1800, 0x2019,  0x3005,  0x3007,  0x3040,  0x3130, 0x31F0, 0x3200,
                                     0x3400, 0x4E00,  0xA000,  0xAC00,  0xD7A3,  0xF900, 0xFB00, 0xFF66,
                                     0xFFA0, 0x10000, 0x1F600, 0x20000, 0x3FFFD, 0x40000 };
    uint32_t c = near[twin__random_below(seed, COUNT(near))] + (uint32_t)twin__random_below(seed, 5) - 2;
    return twin__random_below(seed, 10) || (c >= 0xD7C0 && c < 0xE000)
               ? c
               : 0x4E00 + (uint32_t)twin__random_below(seed, 99);
}

static void windows_are_as_heavy_as_they_are_wide(void **state)
{
    (void)state;
    enum { MOST = 60 };
    twin_items items = { 0 };
    uint64_t seed = 9;
    for (int round = 0; round < 20000; round++) {
        char bytes[4 * MOST], rule[20], *block;
        size_t start[MOST + 1] = { 0 }, weights[MOST], count = twin__random_below(&seed, MOST + 1), found = 0;
        size_t width = 1 + twin__random_below(&seed, 12);
        for (size_t i = 0; i < count; i++) {
            bool letter = round % 3 == 0 || (round % 3 == 1 && twin__random_below(&seed, 15)); /* runs of ASCII */
            uint32_t other = round % 3 ? draw_character(&seed) : 'a' + 0x370;
            uint32_t c = letter && (round % 3 || twin__random_below(&seed, 2)) ? 'a' : other;
            weights[i] = weight_of(c);
            start[i + 1] = start[i] + encode(bytes + start[i], c);
        }
        snprintf(rule, sizeof rule, "auto:%zu", width);
        shingle(&items, rule, exact_copy(&block, bytes, start[count]));
        for (size_t i = 0; i < count; i++) {
            size_t weight = 0, end = i;
            while (end < count && weight < 2 * width)
                weight += weights[end++];
            if (weight < 2 * width)
                break;
            assert_true(found < items.count &&
                        items.items[found] == hash_of(bytes + start[i], start[end] - start[i]));
            found++;
        }
        if (found == 0)
            check_whole(&items, (twin_text){ bytes, start[count] });
        else
            assert_int_equal(items.count, found);
        free(block);
    }
    twin__items_clear(&items);
}

/* Latin, Greek, Cyrillic, Arabic, Devanagari, dashes and quotation marks, emoji. */
static void auto_is_char_where_all_characters_are_letters(void **state)
{
    (void)state;
    static const char text[] =
        "The caf\xC3\xA9 \xE2\x80\x94 \xCE\xB1\xCE\xB2\xCE\xB3 \xD0\x96\xD0\xB8\xD0\xB2 \xE2\x80\x9C"
        "\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85\xE2\x80\x9D \xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D"
        "\xE0\xA4\xA4\xE0\xA5\x87 and an emoji \xF0\x9F\x98\x80 at the end";
    twin_items some = { 0 }, all = { 0 };
    for (size_t length = 0; length < sizeof text; length++) {
        if (((unsigned char)text[length] & 0xC0) == 0x80)
            continue;
        shingle(&some, "auto", (twin_text){ text, length });
        shingle(&all, "char:9", (twin_text){ text, length });
        assert_int_equal(some.count, all.count);
        if (some.count)
            assert_memory_equal(some.items, all.items, some.count * sizeof *some.items);
    }
    twin__items_clear(&some);
    twin__items_clear(&all);
}

/* A letter beyond ASCII at the end sends the whole text down the general path. */
static void ascii_takes_a_quick_path_to_the_same_place(void **state)
{
    (void)state;
    twin_items quick = { 0 }, general = { 0 };
    char bytes[202];
    uint64_t seed = 3;
    for (size_t i = 0; i < 200; i++)
        bytes[i] = (char)twin__random_below(&seed, 128);
    bytes[200] = (char)0xC3;
    bytes[201] = (char)0xA9;
    static const char *const rules[] = { "char:1", "char:5", "char:9", "char:40" };
    for (size_t r = 0; r < COUNT(rules); r++) {
        shingle(&quick, rules[r], (twin_text){ bytes, 200 });
        shingle(&general, rules[r], (twin_text){ bytes, 202 });
        assert_int_equal(general.count, quick.count + 1);
        assert_memory_equal(general.items, quick.items, quick.count * sizeof *quick.items);
    }
    twin__items_clear(&quick);
    twin__items_clear(&general);
}

/* ---- words ---- */

enum { MOST_WORDS = 150 };

struct words {
    char bytes[16 * MOST_WORDS];
    size_t length;
    const char *word[MOST_WORDS];
    size_t count;
};

/* Few words, so that windows repeat; some are others run together, and blanks come in all kinds and numbers. */
static void draw_words(struct words *out, size_t count, uint64_t *seed)
{
    static const char *const some[] = { "a", "b", "ab", "ba", "the", "of", "\xC3\xA9t\xC3\xA9", "the-end" };
    out->length = 0;
    out->count = count;
    for (size_t i = 0; i <= count; i++) {
        size_t blanks = (i > 0 && i < count) + twin__random_below(seed, 3) / 2;
        for (size_t blank = 0; blank < blanks; blank++)
            out->bytes[out->length++] = " \t\n\v\f\r"[twin__random_below(seed, 6)];
        if (i == count)
            break;
        out->word[i] = some[twin__random_below(seed, COUNT(some))];
        memcpy(out->bytes + out->length, out->word[i], strlen(out->word[i]));
        out->length += strlen(out->word[i]);
    }
}

static bool same_words(const struct words *words, size_t a, size_t b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if (strcmp(words->word[a + i], words->word[b + i]) != 0)
            return false;
    return true;
}

static void windows_of_words_are_equal_when_their_words_are(void **state)
{
    (void)state;
    static const twin_hash_family families[] = { TWIN_HASH_XXH3, TWIN_HASH_FARM, TWIN_HASH_JENKINS, TWIN_HASH_SIP };
    twin_items items = { 0 };
    uint64_t seed = 4;
    for (int round = 0; round < 120; round++) {
        struct words words;
        char rule[20], *block;
        size_t width = 1 + twin__random_below(&seed, 6);
        draw_words(&words, twin__random_below(&seed, MOST_WORDS + 1), &seed);
        snprintf(rule, sizeof rule, "word:%zu", width);
        twin_shingler *made = shingler(rule, twin_hash_member(present_family(families[round % 4]), 5));
        assert_int_equal(twin__shingle_text(&items, made, exact_copy(&block, words.bytes, words.length)), TWIN_OK);
        assert_int_equal(items.count, words.count < width ? words.count > 0 : words.count - width + 1);
        for (size_t a = 0; a < items.count; a++)
            for (size_t b = 0; b < a; b++)
                assert_int_equal(items.items[a] == items.items[b], same_words(&words, a, b, width));
        free(block);
        twin__shingler_free(made);
    }
    twin__items_clear(&items);
}

/* A window may roll far: the last one of a long text equals the same words on their own. */
static void a_window_does_not_remember_what_it_left_behind(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 2, 3, 5, 50, 200, TWIN_SHINGLE_MAX_WIDTH };
    enum { WORDS = 3000 };
    char text[WORDS * 3];
    uint64_t seed = 5;
    for (size_t i = 0; i < WORDS; i++) {
        text[3 * i] = (char)('a' + twin__random_below(&seed, 26));
        text[3 * i + 1] = (char)('a' + twin__random_below(&seed, 26));
        text[3 * i + 2] = ' ';
    }
    twin_items all = { 0 }, one = { 0 };
    for (size_t w = 0; w < COUNT(widths); w++) {
        char rule[20];
        snprintf(rule, sizeof rule, "word:%zu", widths[w]);
        shingle(&all, rule, (twin_text){ text, sizeof text });
        assert_int_equal(all.count, WORDS - widths[w] + 1);
        for (size_t i = 0; i < all.count; i += 97) {
            shingle(&one, rule, (twin_text){ text + 3 * i, 3 * widths[w] });
            assert_int_equal(one.count, 1);
            assert_true(one.items[0] == all.items[i]);
        }
    }
    twin__items_clear(&all);
    twin__items_clear(&one);
}

/* Equal words are equal texts, whatever the white space; all others are similar to none of these, nor to longer
 * ones. */
static void texts_shorter_than_a_shingle_are_similar_only_to_their_copies(void **state)
{
    (void)state;
    static const char *const texts[] = { "a", "b", "a b", "b a", "a a", "a b c d", "a b c", "b c d", "ab" };
    static const char *const rules[] = { "word:3", "word:4", "char:4", "char:5", "byte:4", "stop:2", "stop:5" };
    for (size_t r = 0; r < COUNT(rules); r++)
        for (size_t i = 0; i < COUNT(texts); i++) {
            assert_true(jaccard(rules[r], texts[i], texts[i]) == 1);
            for (size_t j = 0; j < i; j++) /* neither is a window of the other, and both have at most one shingle */
                if (strlen(texts[i]) < 4 && strlen(texts[j]) < 4)
                    assert_true(jaccard(rules[r], texts[i], texts[j]) == 0);
        }
    assert_true(jaccard("word:3", "a b", "\ta  b ") == 1);
    assert_true(jaccard("stop:2", "red cats like milk", "red  cats like milk") == 1);
    assert_true(jaccard("stop:2", "red cats like milk", "red cats like fish") == 0);
    assert_true(jaccard("word:3", "", "") == 0);
    assert_true(jaccard("word:3", " \t", " \t") == 0);
    assert_true(jaccard("char:3", "", "") == 0);
}

/* stop:N is word:N without the windows that begin with another word. */
static void check_stops(const char *text, const twin_text *stops, size_t stop_count, const bool *is_stop,
                        size_t words, size_t width)
{
    twin_shingle_options options = { .kind = TWIN_SHINGLE_WORD, .width = width, .stop_words = stops };
    options.hash = twin_hash_member(TWIN_HASH_XXH3, 0);
    options.stop_word_count = stop_count;
    twin_shingler *made[2];
    twin_items all = { 0 }, some = { 0 };
    assert_int_equal(twin__shingler_create(&made[0], options), TWIN_OK);
    options.kind = TWIN_SHINGLE_STOP;
    assert_int_equal(twin__shingler_create(&made[1], options), TWIN_OK);
    assert_int_equal(twin__shingle_text(&all, made[0], text_of(text)), TWIN_OK);
    assert_int_equal(twin__shingle_text(&some, made[1], text_of(text)), TWIN_OK);
    size_t matched = 0;
    for (size_t i = 0; i + width <= words; i++)
        if (is_stop[i]) {
            assert_true(matched < some.count && some.items[matched] == all.items[i]);
            matched++;
        }
    assert_int_equal(some.count, matched ? matched : 1);
    twin__shingler_free(made[0]);
    twin__shingler_free(made[1]);
    twin__items_clear(&all);
    twin__items_clear(&some);
}

static void stop_words_begin_shingles(void **state)
{
    (void)state;
    static const char text[] = "the cat sat on the mat and its hat was red us";
    static const bool english[] = { 1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1 };
    static const bool custom[] = { 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 };
    const twin_text stops[] = { text_of("cat"), text_of("was"), text_of("mat"), text_of("cat"), text_of("dog") };
    static const bool none[12];
    for (size_t width = 1; width <= 13; width++) {
        check_stops(text, NULL, 0, english, 12, width);
        check_stops(text, stops, COUNT(stops), custom, 12, width);
        check_stops(text, stops, 0, none, 12, width);
    }
}

static void the_built_in_list_has_a_hundred_words(void **state)
{
    (void)state;
    /* Every word of a text of these is a stop word, so that stop:1 leaves none out. */
    static const char words[] =
        "the be to of and a in that have i it for not on with he as you do at this but his by from they we say her "
        "she or an will my one all would there their what so up out if about who get which go me when make can like "
        "time no just him know take people into year your good some could them see other than then now look only "
        "come its over think also back after use two how our work first well way even new want because any these "
        "give day most us";
    twin_items items = { 0 }, scratch = { 0 };
    twin_set set;
    shingle(&items, "stop:1", text_of(words));
    assert_int_equal(items.count, 100);
    assert_int_equal(twin__set_make(&set, &items, &scratch), TWIN_OK);
    assert_int_equal(set.count, 100);
    shingle(&items, "stop:1", text_of("The THE thee cat is was are"));
    assert_int_equal(items.count, 1); /* as a whole, for none of them is a stop word */
    twin__items_clear(&items);
    twin__items_clear(&scratch);
}

/* ---- the rest ---- */

static void a_text_without_characters_or_words_has_no_shingle(void **state)
{
    (void)state;
    static const char *const rules[] = { "char:4", "byte:4", "word:2", "stop:2" };
    static const char *const texts[] = { "", "", " ", "  \t" };
    twin_items items = { 0 };
    for (size_t r = 0; r < COUNT(rules); r++) {
        for (size_t t = 0; t < COUNT(texts); t++) {
            shingle(&items, rules[r], text_of(texts[t]));
            assert_int_equal(items.count, r < 2 && *texts[t]); /* blanks are characters, but not words */
        }
        shingle(&items, rules[r], (twin_text){ NULL, 0 });
        assert_int_equal(items.count, 0);
        shingle(&items, rules[r], text_of("the end")); /* what was there before does not matter */
        assert_int_equal(items.count, r < 2 ? 4 : 1);
    }
    twin__items_clear(&items);
}

static void rules_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        twin_shingle_kind kind;
        size_t width;
    } good[] = { { "char:9", TWIN_SHINGLE_CHAR, 9 },
                 { "byte:4", TWIN_SHINGLE_BYTE, 4 },
                 { "word:1", TWIN_SHINGLE_WORD, 1 },
                 { "stop:03", TWIN_SHINGLE_STOP, 3 },
                 { "char:1024", TWIN_SHINGLE_CHAR, 1024 } };
    static const char *const bad[] = { "",
                                       "char",
                                       "char:",
                                       "char:0",
                                       "char:1025",
                                       "char:-1",
                                       "char:9 ",
                                       "char:x",
                                       "Char:9",
                                       "words:3",
                                       "word: 3",
                                       "word:+3",
                                       ":3",
                                       "9",
                                       "word:3,",
                                       "char:99999999999999999999999999",
                                       "byte:18446744073709551617" };
    twin_shingle_options options;
    for (size_t i = 0; i < COUNT(good); i++) {
        options = (twin_shingle_options){ .stop_word_count = 7 };
        assert_int_equal(twin_shingle_parse(&options, good[i].rule), TWIN_OK);
        assert_true(options.kind == good[i].kind && options.width == good[i].width && options.stop_word_count == 7);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        options = (twin_shingle_options){ .kind = TWIN_SHINGLE_WORD, .width = 5 };
        assert_int_equal(twin_shingle_parse(&options, bad[i]), TWIN_EINVAL);
        assert_true(options.kind == TWIN_SHINGLE_WORD && options.width == 5);
    }
}

/* The number of a window, two bits per letter, by the textbook; and of what is on the other strand. */
static uint64_t slow_kmer(const char *window, size_t width, bool other)
{
    static const char letters[] = "ACGT";
    uint64_t number = 0;
    for (size_t i = 0; i < width; i++) {
        size_t base = (size_t)(strchr(letters, window[other ? width - 1 - i : i]) - letters);
        number = number * 4 + (other ? 3 - base : base);
    }
    return number;
}

static void kmers_are_those_of_either_strand(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t width = 1; width <= TWIN_SHINGLE_MAX_KMER; width += 1 + width / 3) {
        char dna[300], other[300];
        twin_items items = { 0 }, others = { 0 };
        twin_shingler *shingler;
        twin_shingle_options options = { .kind = TWIN_SHINGLE_KMER, .width = width };
        for (size_t i = 0; i < sizeof dna; i++)
            dna[i] = twin__random_below(&seed, 60) ? "ACGT"[twin__random_below(&seed, 4)] : 'N';
        for (size_t i = 0; i < sizeof dna; i++) {
            char letter = dna[sizeof dna - 1 - i];
            other[i] = letter == 'A' ? 't' : letter == 'C' ? 'g' : letter == 'G' ? 'c' : letter == 'T' ? 'a' : 'n';
        }
        assert_int_equal(twin__shingler_create(&shingler, options), TWIN_OK);
        assert_int_equal(twin__shingle_text(&items, shingler, (twin_text){ dna, sizeof dna }), TWIN_OK);
        assert_int_equal(twin__shingle_text(&others, shingler, (twin_text){ other, sizeof other }), TWIN_OK);
        size_t count = 0;
        for (size_t i = 0; i + width <= sizeof dna; i++) {
            if (memchr(dna + i, 'N', width))
                continue;
            uint64_t one = slow_kmer(dna + i, width, false), two = slow_kmer(dna + i, width, true);
            uint64_t least = one < two ? one : two;
            assert_true(count < items.count &&
                        items.items[count] == twin_hash_bytes(options.hash, (const char *)&least, sizeof least));
            count++;
        }
        assert_int_equal(items.count, count);
        assert_int_equal(others.count, count);
        for (size_t i = 0; i < count; i++)
            assert_true(others.items[i] == items.items[count - 1 - i]);
        twin__shingler_free(shingler);
        twin__items_clear(&items);
        twin__items_clear(&others);
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    twin_shingler *made;
    const twin_shingle_options bad[] = { { .kind = TWIN_SHINGLE_CHAR, .width = TWIN_SHINGLE_MAX_WIDTH + 1 },
                                         { .kind = (twin_shingle_kind)6, .width = 3 },
                                         { .kind = TWIN_SHINGLE_KMER, .width = TWIN_SHINGLE_MAX_KMER + 1 } };
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(twin__shingler_create(&made, bad[i]), TWIN_EINVAL);
        assert_null(made);
    }
    twin__shingler_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slides_are_right),
        cmocka_unit_test(character_windows_are_those_cut_by_hand),
        cmocka_unit_test(byte_windows_are_those_cut_by_hand),
        cmocka_unit_test(windows_are_as_heavy_as_they_are_wide),
        cmocka_unit_test(auto_is_char_where_all_characters_are_letters),
        cmocka_unit_test(ascii_takes_a_quick_path_to_the_same_place),
        cmocka_unit_test(windows_of_words_are_equal_when_their_words_are),
        cmocka_unit_test(a_window_does_not_remember_what_it_left_behind),
        cmocka_unit_test(texts_shorter_than_a_shingle_are_similar_only_to_their_copies),
        cmocka_unit_test(stop_words_begin_shingles),
        cmocka_unit_test(the_built_in_list_has_a_hundred_words),
        cmocka_unit_test(a_text_without_characters_or_words_has_no_shingle),
        cmocka_unit_test(rules_are_read),
        cmocka_unit_test(kmers_are_those_of_either_strand),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

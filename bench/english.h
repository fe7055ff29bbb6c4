/* english.h — text with the word statistics of English, from a splitmix64 stream.
 *
 * Words follow Zipf's law over a made-up vocabulary whose commonest entries are real function words. Texts are
 * tokens, so that they can be edited word by word before they are written. All arithmetic is on integers: a
 * seed gives the same text on every machine. */
#ifndef BENCH_ENGLISH_H
#define BENCH_ENGLISH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* A word and the punctuation around it. The low bits are an index into the vocabulary or into the foreign words. */
typedef uint32_t token;
enum {
    WORD = 0xFFFF,
    CAPITAL = 1 << 16,
    COMMA = 1 << 17,
    FULL_STOP = 1 << 18,
    PARAGRAPH = 1 << 19, /* followed by an empty line */
    QUOTED = 1 << 20,
    FOREIGN = 1 << 21,
    NUMBER = 1 << 22, /* the number itself instead of a word */
};

enum {
    VOCABULARY = 20000,
    LONGEST_WORD = 15,
    DRAWS = 1 << 18, /* the rarest of the vocabulary has about one of them */
};

struct english {
    struct {
        char bytes[LONGEST_WORD]; /* the rest is zero */
        uint8_t length;
    } words[VOCABULARY];
    uint16_t drawn[DRAWS]; /* word r about as often as 1/(r + 3) says */
};

/* A growing array of tokens; begin with {0}. */
struct tokens {
    token *items;
    size_t count, capacity;
};

/* Words as they are in lower case and NFKC, so that nothing but ASCII has to be folded: as UTF-8, and as an
 * ASCII-only JSON writer escapes them. */
static const struct {
    const char *plain, *escaped;
} foreign_words[] = {
    { "café", "caf\\u00e9" },     { "naïve", "na\\u00efve" },   { "über", "\\u00fcber" },
    { "señor", "se\\u00f1or" },   { "façade", "fa\\u00e7ade" }, { "мир", "\\u043c\\u0438\\u0440" },
    { "東京", "\\u6771\\u4eac" }, { "—", "\\u2014" },
};
enum { FOREIGN_WORDS = sizeof foreign_words / sizeof foreign_words[0] };

static inline void *allocated(void *memory)
{
    if (memory)
        return memory;
    fputs("out of memory\n", stderr);
    exit(2);
}

static inline const char *piece(uint64_t *state, const char *const *pieces, size_t count)
{
    return pieces[twin__random_below(state, count)];
}

/* At most `most` syllables and an ending; false when the word is too long. */
static inline bool make_word(char *out, uint64_t *state, uint64_t most)
{
    static const char *const onsets[] = { "b",  "bl", "br", "c",  "ch", "cl", "cr", "d",  "dr", "f",  "fl",
                                          "fr", "g",  "gl", "gr", "h",  "j",  "k",  "l",  "m",  "n",  "p",
                                          "ph", "pl", "pr", "qu", "r",  "s",  "sc", "sh", "sl", "sm", "sn",
                                          "sp", "st", "t",  "th", "tr", "v",  "w",  "wh", "str" };
    static const char *const vowels[] = { "a", "e", "i", "o", "u", "ai", "ea", "ee", "ie", "oo", "ou", "oa" };
    static const char *const codas[] = { "",  "",  "",   "n",  "r",  "s",  "t",  "l",
                                         "m", "d", "nd", "st", "ck", "ng", "rt", "ss" };
    static const char *const endings[] = { "", "", "", "", "s", "ed", "ing", "er", "ly", "tion", "ment", "al" };
    char word[64];
    int length = 0;
    for (uint64_t syllables = 1 + twin__random_below(state, most); syllables > 0; syllables--) {
        const char *onset = piece(state, onsets, sizeof onsets / sizeof onsets[0]);
        const char *vowel = piece(state, vowels, sizeof vowels / sizeof vowels[0]);
        const char *coda = piece(state, codas, sizeof codas / sizeof codas[0]);
        length += sprintf(word + length, "%s%s%s", onset, vowel, coda);
    }
    length += sprintf(word + length, "%s", piece(state, endings, sizeof endings / sizeof endings[0]));
    if (length > LONGEST_WORD)
        return false;
    memcpy(out, word, (size_t)length + 1);
    return true;
}

/* Common words are short. Some come twice, as "lead" and "lead" do. */
static inline void make_vocabulary(struct english *english, uint64_t *state)
{
    static const char *const function_words[] = {
        "the",   "of",    "and",  "to",   "a",     "in",    "is",    "that", "for",   "it",   "as",
        "was",   "with",  "be",   "by",   "on",    "not",   "he",    "his",  "but",   "at",   "are",
        "this",  "have",  "from", "or",   "had",   "an",    "they",  "one",  "which", "you",  "were",
        "all",   "her",   "she",  "we",   "there", "would", "their", "him",  "been",  "has",  "when",
        "who",   "will",  "no",   "more", "if",    "out",   "so",    "up",   "said",  "what", "its",
        "into",  "about", "than", "them", "can",   "only",  "time",  "new",  "other", "some", "could",
        "these", "first", "may",  "then", "do",    "after", "where",
    };
    enum { FUNCTION_WORDS = sizeof function_words / sizeof function_words[0] };
    for (size_t i = 0; i < VOCABULARY; i++) {
        char made[LONGEST_WORD + 1];
        const char *word = i < FUNCTION_WORDS ? function_words[i] : made;
        while (word == made && !make_word(made, state, i < 1000 ? 1 : i < 5000 ? 2 : 3))
            ;
        english->words[i].length = (uint8_t)strlen(word);
        memcpy(english->words[i].bytes, word, english->words[i].length);
    }
}

/* Makes the words and their frequencies; release with free(). */
static inline struct english *english_create(uint64_t seed)
{
    struct english *english = allocated(calloc(1, sizeof *english));
    make_vocabulary(english, &seed);
    uint64_t total = 0, sum = 0;
    for (uint64_t r = 0; r < VOCABULARY; r++)
        total += (1ull << 40) / (r + 3);
    size_t draw = 0;
    for (uint64_t r = 0; r < VOCABULARY; r++) {
        sum += (1ull << 40) / (r + 3);
        for (; draw < DRAWS && draw <= sum / (total / DRAWS); draw++)
            english->drawn[draw] = (uint16_t)r;
    }
    return english;
}

static inline void push(struct tokens *tokens, token one)
{
    if (tokens->count == tokens->capacity) {
        tokens->capacity = tokens->capacity ? 2 * tokens->capacity : 1024;
        tokens->items = allocated(realloc(tokens->items, tokens->capacity * sizeof *tokens->items));
    }
    tokens->items[tokens->count++] = one;
}

/* Any word of the vocabulary, common ones more often. */
static inline token draw_word(const struct english *english, uint64_t random)
{
    return english->drawn[random % DRAWS];
}

/* Appends sentences and paragraphs of about `bytes` bytes. With `foreign` one word in 64 is from elsewhere. */
static inline void write_body(struct tokens *out, const struct english *english, uint64_t *state, size_t bytes,
                              bool foreign)
{
    size_t left = 0; /* words of the sentence */
    for (size_t used = 0; used < bytes;) {
        uint64_t random = twin__random_next(state);
        token one = draw_word(english, random); /* 18 bits; punctuation uses others */
        used += english->words[one].length + 1u;
        if (foreign && (random >> 18) % 64 == 0)
            one = FOREIGN | (token)((random >> 24) % FOREIGN_WORDS);
        if (left == 0) {
            left = 6 + (random >> 32) % 18;
            one |= CAPITAL;
        }
        if (--left == 0)
            one |= (random >> 40) % 8 == 0 ? FULL_STOP | PARAGRAPH : FULL_STOP;
        else if ((random >> 43) % 14 == 0)
            one |= COMMA;
        if ((random >> 50) % 256 == 0)
            one |= QUOTED;
        push(out, one);
    }
}

#endif

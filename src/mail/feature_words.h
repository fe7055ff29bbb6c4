/* feature_words.h — words and other hashes become places of features.
 *
 * A word is hashed together with its kind: the hash of the kind's name is put in front of the word's bytes. The places
 * of a block are first marked in a bitmap, which leaves out repeats, and then listed by walking over it, which sorts
 * them: no hash table, no sort, and the weights are then visited in their order in memory. A second bitmap says which
 * words of the first are not zero. */
#ifndef TWIN_MAIL_FEATURE_WORDS_H
#define TWIN_MAIL_FEATURE_WORDS_H

#include "kernels/kernels.h"
#include "mail/features.h"

enum {
    TWIN__WORD_BYTES = 56, /* what is longer is cut: a word of 32 KB is no word */
    /* A word to be hashed is a few numbers of eight bytes: the hash of its kind, its bytes in lower case, and what is left
     * over with its length. */
    TWIN__WORD_NUMBERS = 2 + TWIN__WORD_BYTES / 8,
    TWIN__BITMAP_WORDS = TWIN__FEATURE_PLACES / 64,
    TWIN__SUMMARY_WORDS = TWIN__BITMAP_WORDS / 64,
};

/* A kind of word: its name, and the hash of that. */
struct twin__word_kind {
    twin_text name;
    uint64_t hash;
};

/* Words of the same number of numbers, which are hashed together as soon as there are eight. */
struct twin__waiting_words {
    uint64_t numbers[TWIN__WORD_NUMBERS * SIP_TEXTS]; /* as twin__sip_texts_fn takes them */
    size_t count;
};

/* What is marked in a block; nothing between blocks. */
struct twin__marks {
    twin_hash hash;
    unsigned char classes[256]; /* of bytes: in which words they are */
    uint64_t *bitmap, summary[TWIN__SUMMARY_WORDS];
    struct twin__waiting_words waiting[TWIN__WORD_NUMBERS + 1]; /* words of so many numbers */
    twin__feature_visit *visit;                                 /* unless NULL, words are visited and not marked */
    void *context;
};
twin_status twin__marks_init(struct twin__marks *marks, const uint64_t key[2]);
void twin__marks_clear(struct twin__marks *marks);

/* The place of a hash: 0 is TWIN__FEATURE_ALWAYS. */
static inline uint32_t twin__place_of(uint64_t hash)
{
    uint32_t place = (uint32_t)hash & (TWIN__FEATURE_PLACES - 1);
    return place + !place;
}

/* Marks the place of a hash. */
static inline void twin__mark(struct twin__marks *marks, uint64_t hash)
{
    uint32_t place = twin__place_of(hash), word = place / 64;
    marks->bitmap[word] |= (uint64_t)1 << place % 64;
    marks->summary[word / 64] |= (uint64_t)1 << word % 64;
}

/* The kind of words with a name; the case of letters does not matter. */
struct twin__word_kind twin__word_kind_of(const struct twin__marks *marks, twin_text name);

void twin__mark_word(struct twin__marks *marks, const struct twin__word_kind *kind, twin_text word);

/* Marks the first `most` words of a text, and returns what is left of it. What is part of a word differs between headers and
 * the text. */
enum { TWIN__WORDS_OF_HEADER = 1, TWIN__WORDS_OF_TEXT = 2 };
twin_text twin__mark_words(struct twin__marks *marks, const struct twin__word_kind *kind, twin_text text,
                           unsigned char class, size_t most);

/* Marks the words that still wait to be hashed. */
void twin__mark_waiting(struct twin__marks *marks);

/* Lists the places marked so far in increasing order. `out` has room for one more. The second also clears the marks. */
uint32_t twin__list_marked(uint32_t *out, struct twin__marks *marks);
uint32_t twin__take_marked(uint32_t *out, struct twin__marks *marks);

#endif

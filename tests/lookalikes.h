/* lookalikes.h — collections with a known truth: documents are sets of words, stored as tables. */
#ifndef LOOKALIKES_H
#define LOOKALIKES_H

#include "base/random.h"
#include "corpus.h"

enum { VOCABULARY = 512 };

struct lookalikes {
    size_t count;
    struct words {
        uint64_t bits[VOCABULARY / 64];
    } * documents;
};

static inline bool has_word(const struct lookalikes *lookalikes, size_t d, size_t word)
{
    return lookalikes->documents[d].bits[word / 64] >> word % 64 & 1;
}

static inline void add_word(struct lookalikes *lookalikes, size_t d, size_t word)
{
    lookalikes->documents[d].bits[word / 64] |= (uint64_t)1 << word % 64;
}

static inline void lookalikes_init(struct lookalikes *out, size_t count)
{
    out->count = count;
    out->documents = calloc(count, sizeof *out->documents);
    assert_non_null(out->documents);
}

static inline void lookalikes_clear(struct lookalikes *lookalikes)
{
    free(lookalikes->documents);
}

static inline void flip_words(struct words *words, uint64_t times, uint64_t *seed)
{
    for (; times > 0; times--) {
        size_t word = twin__random_below(seed, VOCABULARY);
        words->bits[word / 64] ^= (uint64_t)1 << word % 64;
    }
}

/* New ones, variants of earlier ones, copies of earlier ones, and some that are empty. */
static inline void draw_lookalikes(struct lookalikes *out, size_t count, uint64_t *seed)
{
    lookalikes_init(out, count);
    for (size_t d = 0; d < count; d++) {
        uint64_t kind = twin__random_below(seed, 10);
        if (kind == 0)
            continue;
        if (d > 0 && kind > 2)
            out->documents[d] = out->documents[twin__random_below(seed, d)];
        if (kind <= 2 || kind > 5)
            flip_words(&out->documents[d], kind <= 2 ? 40 : 1 + twin__random_below(seed, 20), seed);
    }
}

static inline size_t word_count(const struct lookalikes *lookalikes, size_t d)
{
    size_t count = 0;
    for (size_t i = 0; i < VOCABULARY / 64; i++)
        count += (size_t)__builtin_popcountll(lookalikes->documents[d].bits[i]);
    return count;
}

static inline double true_similarity(const struct lookalikes *lookalikes, size_t a, size_t b, twin_measure measure)
{
    size_t common = 0, sizes[] = { word_count(lookalikes, a), word_count(lookalikes, b) };
    for (size_t i = 0; i < VOCABULARY / 64; i++)
        common += (size_t)__builtin_popcountll(lookalikes->documents[a].bits[i] & lookalikes->documents[b].bits[i]);
    size_t smaller = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    if (smaller == 0)
        return 0;
    return (double)common / (double)(measure == TWIN_JACCARD ? sizes[0] + sizes[1] - common : smaller);
}

static inline bool is_empty(const struct lookalikes *lookalikes, size_t d)
{
    return word_count(lookalikes, d) == 0;
}

/* The first document with the same words; an empty one stands alone. */
static inline size_t true_first(const struct lookalikes *lookalikes, size_t d)
{
    size_t first = is_empty(lookalikes, d) ? d : 0;
    while (memcmp(&lookalikes->documents[first], &lookalikes->documents[d], sizeof lookalikes->documents[d]) != 0)
        first++;
    return first;
}

/* Half of them with their words in order, so that copies have equal texts, half in any order and with repeats. */
static inline const char *write_lookalikes(struct corpus *corpus, const struct lookalikes *lookalikes, uint64_t *seed)
{
    FILE *file = fopen(corpus_path(corpus, "lookalikes.jsonl"), "wb");
    assert_non_null(file);
    for (size_t d = 0; d < lookalikes->count; d++) {
        bool plain = twin__random_below(seed, 2) == 0;
        size_t from = plain ? 0 : twin__random_below(seed, VOCABULARY);
        fprintf(file, "{\"id\":%zu,\"text\":\"", d);
        for (size_t i = 0; i < VOCABULARY; i++) {
            size_t word = (from + i) % VOCABULARY;
            for (uint64_t times = plain ? 1 : 1 + twin__random_below(seed, 2);
                 has_word(lookalikes, d, word) && times > 0; times--)
                fprintf(file, "w%zu ", word);
        }
        fprintf(file, "\"}\n");
    }
    assert_int_equal(fclose(file), 0);
    return corpus->path;
}

#endif

/* lookalikes.h — collections whose truth is known: documents are sets of words, kept as tables. */
#ifndef LOOKALIKES_H
#define LOOKALIKES_H

#include "corpus.h"
#include "random.h"

enum { VOCABULARY = 512 };

struct lookalikes {
    size_t count;
    bool (*has)[VOCABULARY];
};

static inline void lookalikes_init(struct lookalikes *out, size_t count)
{
    out->count = count;
    out->has = calloc(count, sizeof *out->has);
    assert_non_null(out->has);
}

static inline void lookalikes_clear(struct lookalikes *lookalikes)
{
    free(lookalikes->has);
}

static inline void flip_words(bool *has, uint64_t times, uint64_t *seed)
{
    for (; times > 0; times--) {
        size_t word = twin__random_below(seed, VOCABULARY);
        has[word] = !has[word];
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
            memcpy(out->has[d], out->has[twin__random_below(seed, d)], sizeof out->has[d]);
        if (kind <= 2 || kind > 5)
            flip_words(out->has[d], kind <= 2 ? 40 : 1 + twin__random_below(seed, 20), seed);
    }
}

static inline size_t word_count(const struct lookalikes *lookalikes, size_t d)
{
    size_t count = 0;
    for (size_t w = 0; w < VOCABULARY; w++)
        count += lookalikes->has[d][w];
    return count;
}

static inline double true_similarity(const struct lookalikes *lookalikes, size_t a, size_t b, twin_measure measure)
{
    size_t common = 0, sizes[2] = { 0 };
    for (size_t w = 0; w < VOCABULARY; w++) {
        bool in_a = lookalikes->has[a][w], in_b = lookalikes->has[b][w];
        sizes[0] += in_a;
        sizes[1] += in_b;
        common += in_a && in_b;
    }
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
    while (memcmp(lookalikes->has[first], lookalikes->has[d], sizeof lookalikes->has[d]) != 0)
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
            for (uint64_t times = plain ? 1 : 1 + twin__random_below(seed, 2); lookalikes->has[d][word] && times > 0;
                 times--)
                fprintf(file, "w%zu ", word);
        }
        fprintf(file, "\"}\n");
    }
    assert_int_equal(fclose(file), 0);
    return corpus->path;
}

#endif

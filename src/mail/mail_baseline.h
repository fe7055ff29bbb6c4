/* mail_baseline.h — two published mail filters, for comparison with mail.h.
 *
 *     TWIN__MAIL_RULE     Martins and Jesus 2015: spam is what is similar to known spam, by MinHash over shingles that begin
 *                        with a stop word; what comes from a sender seen twice in spam; and what has no shingles
 *     TWIN__MAIL_FOREST   Sokolov 2007: the score is the deepest level at which an LSH forest of known spam has something
 *                        like the first thousand letters
 *
 * Both remember spam only. They live in memory; one thread uses a filter at a time. docs/references.md has the
 * sources. */
#ifndef TWIN_MAIL_MAIL_BASELINE_H
#define TWIN_MAIL_MAIL_BASELINE_H

#include <twinsift/message.h>

typedef enum twin__mail_baseline_kind {
    TWIN__MAIL_RULE,
    TWIN__MAIL_FOREST,
} twin__mail_baseline_kind;

typedef struct twin__mail_baseline_options {
    twin__mail_baseline_kind kind;
    double
        threshold; /* RULE: the similarity from which a message is spam; 0: 0.1. FOREST: the share of the depth; 0: 0.5 */
    size_t hashes; /* RULE: MinHash functions; 0: 400, for an error of 0.05 */
    size_t trees;  /* FOREST: up to TWIN__FOREST_MAX_TREES; 0: 100 */
    size_t depth;  /* FOREST: up to TWIN__FOREST_MAX_DEPTH; 0: 30 */
    bool by_edits; /* FOREST: labels by an embedding of edit distance (embed.h), as published, not by MinHash */
    bool by_mean;  /* FOREST: the score is the mean level of the answers, four per tree, not the deepest one */
    uint64_t seed;
} twin__mail_baseline_options;

typedef struct twin__mail_baseline twin__mail_baseline;

/* Creates a filter; release it with twin__mail_baseline_free(). */
twin_status twin__mail_baseline_create(twin__mail_baseline **out, twin__mail_baseline_options options);
void twin__mail_baseline_free(twin__mail_baseline *filter);

/* RULE: the similarity to the nearest known spam that shares a band; 1 for a sender seen at least twice in spam, and
 * for a message without shingles. FOREST: the deepest level, as a share of the depth. `is_spam` is whether that
 * reaches the threshold. */
typedef struct twin__mail_opinion {
    double score; /* 0 .. 1 */
    bool is_spam;
} twin__mail_opinion;
twin_status twin__mail_baseline_judge(twin__mail_opinion *out, twin__mail_baseline *filter,
                                      const twin_message *message);

/* Remembers a message that is spam. */
twin_status twin__mail_baseline_learn(twin__mail_baseline *filter, const twin_message *message);

#endif

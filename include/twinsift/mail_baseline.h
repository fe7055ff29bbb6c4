/* mail_baseline.h — two published mail filters, for comparison with mail.h.
 *
 *     TWIN_MAIL_RULE     Martins and Jesus 2015: spam is what is similar to known spam, by MinHash over shingles that begin
 *                        with a stop word; what comes from a sender seen twice in spam; and what has no shingles
 *     TWIN_MAIL_FOREST   Sokolov 2007: the score is the deepest level at which an LSH forest of known spam has something
 *                        like the first thousand letters
 *
 * Both remember spam only. They live in memory; one thread uses a filter at a time. docs/references.md has the
 * sources. */
#ifndef TWINSIFT_MAIL_BASELINE_H
#define TWINSIFT_MAIL_BASELINE_H

#include <twinsift/message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_mail_baseline_kind {
    TWIN_MAIL_RULE,
    TWIN_MAIL_FOREST,
} twin_mail_baseline_kind;

typedef struct twin_mail_baseline_options {
    twin_mail_baseline_kind kind;
    double
        threshold; /* RULE: the similarity from which a message is spam; 0: 0.1. FOREST: the share of the depth; 0: 0.5 */
    size_t hashes; /* RULE: MinHash functions; 0: 400, for an error of 0.05 */
    size_t trees;  /* FOREST: up to TWIN_FOREST_MAX_TREES; 0: 100 */
    size_t depth;  /* FOREST: up to TWIN_FOREST_MAX_DEPTH; 0: 30 */
    bool by_edits; /* FOREST: labels by an embedding of edit distance (embed.h), as published, not by MinHash */
    bool by_mean;  /* FOREST: the score is the mean level of the answers, four per tree, not the deepest one */
    uint64_t seed;
} twin_mail_baseline_options;

typedef struct twin_mail_baseline twin_mail_baseline;

/* Creates a filter; release it with twin_mail_baseline_free(). */
TWIN_API twin_status twin_mail_baseline_create(twin_mail_baseline **out, twin_mail_baseline_options options);
TWIN_API void twin_mail_baseline_free(twin_mail_baseline *filter);

/* RULE: the similarity to the nearest known spam that shares a band; 1 for a sender seen at least twice in spam, and
 * for a message without shingles. FOREST: the deepest level, as a share of the depth. `is_spam` is whether that
 * reaches the threshold. */
typedef struct twin_mail_opinion {
    double score; /* 0 .. 1 */
    bool is_spam;
} twin_mail_opinion;
TWIN_API twin_status twin_mail_baseline_judge(twin_mail_opinion *out, twin_mail_baseline *filter,
                                              const twin_message *message);

/* Remembers a message that is spam. */
TWIN_API twin_status twin_mail_baseline_learn(twin_mail_baseline *filter, const twin_message *message);

#ifdef __cplusplus
}
#endif
#endif

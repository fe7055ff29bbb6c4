/* trec.h — a TREC spam corpus played in order: classify, reveal, learn.
 *
 * The index has a line per message, "JUDGEMENT PATH", with the path relative to the index. The case of the judgement says
 * what is done: spam and ham are judged and learnt, Spam and Ham only judged, SPAM and HAM only learnt; unknown is judged
 * and its judgement not counted. */
#ifndef TWIN_TREC_H
#define TWIN_TREC_H

#include <stdio.h>
#include <twinsift/twinsift.h>

struct trec_line {
    char *path;
    bool judged, learnt, known; /* known: spam or ham */
    bool is_spam;
};

/* Begin with {0}. */
struct trec_index {
    struct trec_line *lines;
    size_t count, capacity;
};

/* Reads an index, at most `most` lines. On false the error has been reported; clear it also then. */
bool trec_read(struct trec_index *out, const char *path, size_t most);
void trec_clear(struct trec_index *index);

struct trec_options {
    twin_mail_method method;
    const twin_bloom *trusted;
    double noise;         /* labels that are learnt wrong, 0 .. 1 */
    uint64_t teach_every; /* only every n-th message is learnt; 0: all */
    uint64_t delay;       /* a message is learnt after so many more were judged */
    uint64_t seed;        /* of the noise */
    FILE *results;        /* NULL: none. A line per judged message, as the TREC toolkit writes it */
};

struct trec_outcome {
    twin_mail_judgement *judgements; /* of the messages judged whose label is known, in order */
    size_t count;
    uint64_t unsure_good, unsure_spam;
    uint64_t learnt, skipped; /* skipped: files that could not be read */
};
void trec_outcome_clear(struct trec_outcome *outcome);

/* Plays it. On false the error has been reported; clear the outcome also then. */
bool trec_play(struct trec_outcome *out, twin_mail *mail, const struct trec_index *index,
               const struct trec_options *options);

#endif

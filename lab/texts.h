/* texts.h — texts that the experiments on edit distance share: random ones, edited ones, and Reuters-21578. */
#ifndef TWIN_LAB_TEXTS_H
#define TWIN_LAB_TEXTS_H

#include "lab.h"

/* ---- texts.c */

/* n random letters of 26. */
void draw_letters(char *out, size_t n, uint64_t *state);

/* How a text keeps its length while it is edited; document D does not say. */
enum keeping {
    KEEP_BY_PAIRS, /* an insertion comes with a deletion elsewhere, and they are two edits */
    KEEP_AT_LAST,  /* after all edits the end is cut off or filled up */
    KEEP_EACH,     /* the same after each edit */
    KEEP_REPLACED, /* there are replacements only */
};

/* `from` after so many random edits: insertions, deletions and replacements (D's RandomStrings). */
void draw_edited(char *out, const char *from, size_t n, size_t edits, enum keeping keeping, uint64_t *state);

/* Seconds since some moment. */
double seconds_now(void);

/* ---- reuters.c */

/* What is kept of a text, in lower case. */
enum reuters_form {
    REUTERS_JOINED,  /* letters and digits, one after another */
    REUTERS_WORDS,   /* runs of letters and digits, a space between them */
    REUTERS_LETTERS, /* runs of letters, a space between them */
};

/* The texts of Reuters-21578 in their order: all in the TEXT element, without tags and entities. */
struct reuters {
    twin_text *texts;
    char *bytes;
    size_t count;
};

/* False, and a word about why, when DATA/reuters21578 is not there. */
bool reuters_read(struct reuters *out, struct lab *lab, enum reuters_form form);
void reuters_clear(struct reuters *reuters);

/* The text cut to n bytes. */
twin_text text_cut(twin_text text, size_t n);

/* Two texts, a < b, and how sure it is that they belong together. */
struct scored {
    uint32_t a, b;
    float score;
};
struct scored_pairs {
    struct scored *pairs;
    size_t count, capacity;
};
void scored_add(struct scored_pairs *to, uint32_t a, uint32_t b, float score);

/* Sorts by a and b, and keeps the highest score of each pair. */
void scored_unite(struct scored_pairs *pairs);

/* ---- gold.c */

/* All pairs of the first `count` texts, each cut to n, whose indel ratio is at least `at_least`, with the ratio, by a and b.
 * They are kept in OUT/NAME.tsv beside a checksum of what they were made from; *seconds is what comparing took, or
 * took when they were kept. */
void gold_pairs(struct scored_pairs *out, double *seconds, const struct lab *lab, const char *name,
                const twin_text *texts, size_t count, size_t n, double at_least);

#endif

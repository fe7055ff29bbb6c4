/* texts.h — texts for the experiments on edit distance: random ones, edited ones, and Reuters-21578. */
#ifndef TWIN_LAB_TEXTS_H
#define TWIN_LAB_TEXTS_H

#include "edit/embed.h"
#include "lab.h"

/* ---- texts.c */

/* n random letters of 26. */
void draw_letters(char *out, size_t n, uint64_t *state);

/* How a text keeps its length while it is edited; Sokolov 2007 does not say. */
enum keeping {
    KEEP_BY_PAIRS, /* insertions and deletions come in pairs, which count as two edits */
    KEEP_AT_LAST,  /* the end is cut off or filled up after all edits */
    KEEP_EACH,     /* the end is cut off or filled up after each edit */
    KEEP_REPLACED, /* replacements only */
};

/* Writes `from` after `edits` random insertions, deletions and replacements, as the RandomStrings of Sokolov 2007. */
void draw_edited(char *out, const char *from, size_t n, size_t edits, enum keeping keeping, uint64_t *state);

/* ---- reuters.c */

/* What is kept of a text, in lower case. */
enum reuters_form {
    REUTERS_JOINED,  /* letters and digits, without separators */
    REUTERS_WORDS,   /* words of letters and digits, separated by a space */
    REUTERS_LETTERS, /* words of letters, separated by a space */
};

/* The texts of Reuters-21578 in file order: the TEXT elements without tags and entities. */
struct reuters {
    twin_text *texts;
    char *bytes;
    size_t count;
};

/* Returns false, and prints why, when DATA/reuters21578 does not exist. */
bool reuters_read(struct reuters *out, struct lab *lab, enum reuters_form form);
void reuters_clear(struct reuters *reuters);

/* The text cut to n bytes. */
twin_text text_cut(twin_text text, size_t n);

/* A pair of texts, a < b, and its score. */
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

/* For qsort() and bsearch(): by a and b. */
int scored_by_pair(const void *one, const void *other);

/* Moves the pairs of all workers to `out`, united, and frees the array. */
void scored_gather(struct scored_pairs *out, struct scored_pairs *of_workers, size_t workers);

/* A text in a class of lengths. */
struct member {
    uint32_t text;
    twin__embed_class class;
};

/* Writes the classes of all texts, with lengths that differ by up to `ratio`, to an array that the caller frees. The
 * numbers of the classes are below `classes`. Returns the number of members. */
size_t members_of(struct member **out, const twin_text *texts, size_t count, double ratio, size_t classes);

/* ---- gold.c */

/* All pairs of the first `count` texts, each cut to n, whose indel ratio is at least `at_least`, with the ratio, in
 * order. The texts are of letters and digits (REUTERS_JOINED). The pairs are cached in OUT/NAME.tsv with a checksum of
 * the texts; *taken is the seconds of the comparison, now or when it was cached. */
void gold_pairs(struct scored_pairs *out, double *taken, const struct lab *lab, const char *name,
                const twin_text *texts, size_t count, size_t n, double at_least);

#endif

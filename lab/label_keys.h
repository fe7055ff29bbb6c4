/* label_keys.h — texts that agree in the first K labels of a tree, by hashes of these labels. */
#ifndef TWIN_LAB_LABEL_KEYS_H
#define TWIN_LAB_LABEL_KEYS_H

#include "texts.h"

enum { TREES = 5, DEPTHS = 9, DEEPEST = 200 };

/* The values of K. */
extern const size_t depths[DEPTHS];

/* A hash of the first K labels of each tree. */
struct keys {
    uint64_t at[TREES][DEPTHS];
};

/* An entry of a tree: the key of a text. */
struct entry {
    uint64_t key;
    uint32_t text;
};

/* Per text: whether it shares a key with any other text, and with an earlier one (then it is a copy). */
struct marks {
    bool *shared, *copy;
};

/* Pairs of identical texts, the texts in them, and those of them that have an earlier one. */
struct identical {
    size_t pairs, texts, copies;
};

/* Hashes the labels of all trees. Keys that begin with another number are different. */
void fold_labels(struct keys *out, const uint32_t *labels, uint64_t start);

/* For qsort(): by key, then by text. The end of the entries that have the same key as that at `begin`. */
int compare_entries(const void *one, const void *other);
size_t end_of_run(const struct entry *entries, size_t begin, size_t count);

struct marks need_marks(size_t count);
void free_marks(struct marks marks);

/* Sorts the entries and marks texts by their keys; returns the number of pairs that share one. */
size_t mark_runs(struct marks out, struct entry *entries, size_t count);

/* How many are true. */
size_t count_marks(const bool *marks, size_t count);

/* Counts texts whose first n bytes are those of another. */
struct identical count_identical(const twin_text *texts, size_t count, size_t n);

/* exp_reuters_classes.c: whole texts in classes of similar length, with the defaults of twinsift. */
void run_classes(struct lab *lab, const struct reuters *reuters, size_t count);

#endif

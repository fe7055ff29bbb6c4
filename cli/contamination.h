/* contamination.h — test questions that are in training data: what was found, and how it is reported. */
#ifndef TWIN_CONTAMINATION_H
#define TWIN_CONTAMINATION_H

#include <stdio.h>
#include <twinsift/twinsift.h>

#include "support/command.h"

/* An item of a benchmark: the best match, and in how many training documents it is. */
struct leak {
    double share;       /* of its shingles that are in the best match; 0: it is in none */
    uint32_t best;      /* the training document */
    uint32_t documents; /* that contain it */
    uint32_t group;     /* the number of its file and split */
    bool is_judged;     /* it is long enough */
};

/* A benchmark file, or a split of one. */
struct leak_group {
    uint32_t source; /* the file */
    char *split;     /* the value of --split-field; NULL: none was asked for */
    uint64_t items, judged, leaked;
};

struct contamination {
    const twin_input *benchmarks;
    const twin_collection *train, *eval;
    struct leak *leaks; /* one per document of `eval` */
    struct leak_group *groups;
    size_t group_count;
    uint32_t *places; /* a table of their numbers and one, by hash */
    size_t place_count;
    bool *is_leaked; /* one per document of `train`: it contains an item */
    uint64_t leaked_documents;
};

/* Where the best match of an item is: both texts, normalised, and the part of the document that looks most like the
 * item. They live until the next call with the same place. */
struct leak_place {
    twin_scratch *scratches[2];
    twin_text item, document;
    size_t begin, end;  /* bytes of the document */
    uint64_t character; /* of `begin`, counted from 1 */
};
void leak_place_clear(struct leak_place *place);
twin_status leak_place_find(struct leak_place *out, const struct contamination *found, uint32_t item,
                            twin_error *error);

/* contamination_html.c: a page with the counts of all groups, and the items that are in training data. On false the error
 * has been reported. */
bool write_contamination_page(const char *path, const struct contamination *found, const struct request_base *base);

#endif

/* audit_private.h — what the files of the audit share: audit.c draws documents and holds all others against them, batch
 * by batch, and compares sets; edit_join/edit_audit.c compares texts. */
#ifndef TWIN_JOIN_AUDIT_PRIVATE_H
#define TWIN_JOIN_AUDIT_PRIVATE_H

#include <stdatomic.h>
#include <twinsift/similar.h>

#include "base/error.h"
#include "join/matches.h"

enum { TWIN__AUDIT_DOCUMENTS = 1000 }; /* drawn by default */

/* An audit at work; begins with the first three set, and `judge` and the rest of the second part. */
struct twin__audit {
    const twin_collection *collection;
    twin_exec exec;

    /* What differs. Reads the sets or texts of samples[0 ..], as many as fit into memory together, at least one, and
     * says how many in sample_count; holds a document against them; sums a batch up, or NULL. */
    twin_status (*read_samples)(struct twin__audit *audit, size_t left, twin_error *error);
    twin_status (*judge)(struct twin__audit *audit, uint32_t document, int worker, twin_error *error);
    twin_status (*end_batch)(struct twin__audit *audit, twin_error *error);
    size_t piece; /* documents that a worker takes at once */

    const uint32_t *distinct;
    size_t distinct_count;
    twin_matches matches; /* of documents that were drawn, sorted */
    uint32_t *drawn;      /* increasing */
    size_t drawn_count;
    bool *is_drawn; /* by document */

    const uint32_t *samples; /* the drawn ones of this batch */
    size_t sample_count;
    size_t *begin; /* where their sets or texts begin in one block; one more for the end */
    atomic_size_t done;
    size_t total;
};

/* Draws `wanted` of the distinct documents, each as likely as any other; release with twin__audit_end(). `similar`
 * NULL: of those that are in the audit already, and there are no matches. */
twin_status twin__audit_begin(struct twin__audit *audit, const twin_similar *similar, size_t wanted, uint64_t seed,
                              twin_error *error);
twin_status twin__audit_batches(struct twin__audit *audit, twin_error *error);
void twin__audit_end(struct twin__audit *audit);

/* Whether a pair, of a document that was drawn, is among the matches. */
bool twin__audit_found(const struct twin__audit *audit, uint32_t x, uint32_t y);

/* Fills in what follows from `similar` and `found`, `confirmed` being the pairs of drawn documents that are rightly
 * among the matches. */
void twin__audit_sum_up(twin_audit *out, const struct twin__audit *audit, uint64_t confirmed);

/* Numbers of documents of a collection. */
typedef struct twin_document_list {
    const uint32_t *items;
    size_t count;
} twin_document_list;

/* Draws some of the documents listed, which are in increasing order and without copies of each other, and compares
 * them with all that are listed. Adds each similar pair to `out`, by a, then b; is_drawn[i] becomes whether
 * documents[i] was drawn. Threshold and measure are those of the options, or of the collection's scheme if the
 * threshold is 0; top is not used. */
twin_status twin__audit_documents(twin_matches *out, bool *is_drawn, const twin_collection *collection,
                                  twin_document_list documents, twin_audit_options options, twin_error *error);

/* The 95 % interval (Wilson's) of the share found / of. */
void twin__audit_interval(double *low, double *high, uint64_t found, uint64_t of);

#endif

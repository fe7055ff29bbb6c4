/* shards.h — near-duplicates of a collection that is divided among machines, by whatever engine moves the rows.
 *
 * Documents that may be similar share the key of a band (twin_band_keys). An engine such as Spark, a database or MPI sorts
 * rows of key, document and sketch by key; the edges between documents that this header finds in them unite documents
 * into groups; and a collection of whole groups, read by the same scheme in the same order, has the similar pairs and the
 * kept documents that the whole collection has. A group may be larger than it needs to be, never smaller.
 *
 * Rows per document: one for each band. Copies may be left out but for the first of them; documents whose set is empty,
 * all slots of which are UINT32_MAX, must be. Jaccard similarity only. */
#ifndef TWINSIFT_SHARDS_H
#define TWINSIFT_SHARDS_H

#include <twinsift/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The least number of equal slots at which a pair that shares a band is compared: of pairs with fewer, hardly any
 * reaches the threshold of the scheme (similar.h). 0 if the scheme is not one of Jaccard similarity. */
TWIN_API size_t twin_shard_gate(const twin_scheme *scheme);

/* A sketch has the four low bits of each slot, the first slot in the low half of the first byte: (slots + 1) / 2 bytes. Two sketches agree in at
 * least as many places as the signatures do, so a pair that passes the gate by its signatures passes it by its sketches. */
TWIN_API void twin_shard_sketch(unsigned char *out, const uint32_t *signature, const twin_scheme *scheme);

/* Rows, sorted by key; row i has the sketch at sketches + i·bytes. Equal keys may have their documents in any order. */
typedef struct twin_shard_rows {
    const uint64_t *keys, *documents;
    const unsigned char *sketches;
    size_t count;
} twin_shard_rows;

/* Called with two different documents that belong to one group; returns false to stop. */
typedef bool twin_edge_visit(void *context, uint64_t a, uint64_t b);

/* Makes edges of rows that come piece by piece: below 64 rows of equal key those pairs that pass the gate; from 64 on a
 * star, each row with the first. No more than 63 rows are held. Release it with twin_edges_free(). */
typedef struct twin_edges twin_edges;
TWIN_API twin_status twin_edges_create(twin_edges **out, const twin_scheme *scheme, twin_edge_visit *visit,
                                       void *context, twin_error *error);
TWIN_API void twin_edges_free(twin_edges *edges);

/* Takes the next rows: TWIN_EINVAL if their keys decrease, TWIN_ESTOPPED if the visit stopped. After the last of them,
 * twin_edges_end() visits the edges of the rows that are held; then rows of smaller keys may follow. */
TWIN_API twin_status twin_edges_add(twin_edges *edges, twin_shard_rows rows, twin_error *error);
TWIN_API twin_status twin_edges_end(twin_edges *edges);

/* Groups of documents that edges unite, which come piece by piece and in any order: about 24 bytes per document that has an
 * edge. The groups of some edges are edges themselves, at most one per document, so that each machine may reduce its own
 * before they are united in one place. Release it with twin_unions_free(). */
typedef struct twin_unions twin_unions;
TWIN_API twin_status twin_unions_create(twin_unions **out);
TWIN_API void twin_unions_free(twin_unions *unions);

/* Unites a[i] with b[i]. TWIN_ELIMIT: more than 2^31 documents. After a failure some are united. */
TWIN_API twin_status twin_unions_add(twin_unions *unions, const uint64_t *a, const uint64_t *b, size_t count);

/* Writes the documents that have an edge, in increasing order, and the group of each, which is the smallest document of it.
 * *count is the room in both arrays, and becomes how many there are; TWIN_EINVAL if that is more. No room: they are only
 * counted. */
TWIN_API twin_status twin_unions_list(uint64_t *documents, uint64_t *groups, size_t *count, twin_unions *unions);

#ifdef __cplusplus
}
#endif
#endif

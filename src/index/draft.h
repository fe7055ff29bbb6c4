/* draft.h — documents prepared for writing, and batches of them. */
#ifndef TWIN_INDEX_DRAFT_H
#define TWIN_INDEX_DRAFT_H

#include "base/scratch.h"
#include "index/handle.h"

/* A prepared document; its id and what is kept of it are in the draft's bytes. */
struct twin__index_draft_entry {
    twin_digest digest;
    uint64_t time;
    size_t set_size, id, kept, kept_length;
    uint32_t id_length, label;
    bool id_is_number;
    twin_position position;
};

/* Prepared documents, of one chunk of an input. */
struct twin__index_draft {
    struct twin__index_draft_entry *entries;
    uint32_t *signatures; /* `slots` per entry */
    size_t begin, count;  /* the entries begin .. count-1 are still to be written */
    size_t entry_capacity, signature_capacity;
    twin_buffer bytes;
    void *packer;
    bool lent; /* its memory belongs to another batch, which holds the entries that follow */
    uint64_t repaired, unspaced, text_bytes;
};
void twin__index_draft_empty(struct twin__index_draft *draft);
void twin__index_draft_clear(struct twin__index_draft *draft);

/* Prepares a document: set, signature, and what is kept of it. */
twin_status twin__index_draft_add(struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch,
                                  const twin_index_document *document);

/* long_draft.c: the same for a long text, without holding its hashes. False in *is_kept: it is one shingle, to be
 * kept like others. */
twin_status twin__index_keep_long(struct twin__index_draft_entry *entry, bool *is_kept, uint32_t *signature,
                                  struct twin__index_draft *draft, const twin_index *index,
                                  twin_sign_scratch *scratch, twin_text text);

/* Drafts that wait to be written, in their order. Written ones are kept, so that their memory is used again. */
struct twin__index_batch {
    struct twin__index_draft *drafts, *spare;
    size_t draft_count, draft_capacity, spare_count, spare_capacity;
    size_t count, bytes; /* of all drafts */
    bool written;        /* some before; emptying keeps this and the next */
    uint64_t first;      /* the number of the first document that was written */
};

/* Takes a draft over and leaves an empty one. False: out of memory, and nothing was taken. */
bool twin__index_batch_take(struct twin__index_batch *batch, struct twin__index_draft *draft);

/* Moves the first drafts of `from`, with `count` entries or all there are, to `batch`, which is empty; and the spare
 * ones the other way. Of a draft with more than that the first entries are lent: `from` may take further drafts, but
 * may not move or clear any until `batch` is empty again. False: out of memory. */
bool twin__index_batch_move(struct twin__index_batch *batch, struct twin__index_batch *from, size_t count);

void twin__index_batch_empty(struct twin__index_batch *batch);
void twin__index_batch_clear(struct twin__index_batch *batch);

/* The set of a text, or of items, in scratch->sign.items, and its signature. Counts up the ill-formed sequences. */
twin_status twin__index_sketch(twin_set *set, uint32_t *signature, const twin_index *index, twin_scratch *scratch,
                               uint64_t *ill_formed, const twin_index_document *document);

/* The leading bits of a hash that are an item: 35 of 64 where sets of shingles are kept. */
unsigned twin__index_item_bits(const twin_index_options *options);

/* What makes documents share a set: that their sets are equal, or, where a set is not kept, their normalised texts.
 * Texts without a single item share the empty set in either case. */
bool twin__index_shares_by_set(const twin_index_options *options);
twin_digest twin__index_text_digest(const twin_index *index, twin_text text);
twin_hash twin__index_text_hash(const twin_index *index); /* of the digest */

/* ---- write.c: batches go to the file */

/* Writes a batch in one transaction, and empties it when it is written. */
twin_status twin__index_batch_write(twin_index_change *change, twin_index *index, struct twin__index_batch *batch,
                                    twin_error *error);

#endif

/* index_private.h — what the files of the index know of each other.
 *
 *   index.c         creates, opens, closes; transactions; what LMDB says, in words
 *   index_commit.c  the end of a transaction
 *   index_open.c    what this process has open, so that nothing is opened twice
 *   index_pages.c   looks at the pages of a file before LMDB does
 *   index_record.c  what the values look like
 *   index_kept.c    what is kept of a set, and the blocks in which that lies, byte by byte
 *   index_blocks.c  those blocks in the file
 *   index_runs.c    what is looked up by hash: sorted runs, merged as they grow
 *   index_draft.c   documents worked out, before they are written
 *   index_add.c     adds and removes
 *   index_feed.c    the documents of an input, read by many, handed on in order
 *   index_view.c    views: documents by number and id, what is kept of them
 *   index_query.c   what looks like this?
 *   view_provider.c the sets of an index as a provider of the join
 *   index_pairs.c   all similar pairs
 *   index_check.c   tells what it is like, and checks it
 *
 * Tables: "meta" (the format and the counts), "documents" (number: document), "id-runs" (first document: run), "ids" (run:
 * hashes and documents, sorted), "sets" (number: set and signature), "members" (set: label and number of each document
 * that has it), "kept" (first set: block of items or texts), "runs" (first set: run), "bands" (run and band: hashes and sets,
 * sorted). Keys are 64-bit numbers except in meta. */
#ifndef TWIN_INDEX_PRIVATE_H
#define TWIN_INDEX_PRIVATE_H

#include <string.h>

#include "index/record.h"
#include "join/provider.h"
#include "store/store.h"

enum twin__table {
    TWIN__META,
    TWIN__DOCUMENTS,
    TWIN__ID_RUNS,
    TWIN__IDS,
    TWIN__SETS,
    TWIN__MEMBERS,
    TWIN__KEPT,
    TWIN__RUNS,
    TWIN__BANDS,
    TWIN__TABLES,
};

extern const struct twin__store_schema twin__index_schema;

struct twin_index {
    twin__store *store;
    const char *path; /* the store's */
    twin_index_options options;
    const twin_text *stop_words; /* as they were read from the file; the signer has its own */
    twin_signer *signer;
};

/* ---- index.c */

twin_status twin__fail_damaged(twin_error *error, const twin_index *index, const char *what);

/* One change: `write` fills the transaction, and is called again, from the start, when the map had to grow. What it
 * returns except TWIN_OK ends the transaction without a trace. */
struct twin__writing {
    twin_index *index;
    twin__store_txn *txn;
    struct twin__counts counts; /* as they were; written back as `write` leaves them */
    twin_error *error;
};
typedef twin_status twin__write(struct twin__writing *writing, void *context);
twin_status twin__transact(twin_index *index, twin__write *write, void *context, twin_error *error);

twin_status twin__get_counts(struct twin__counts *out, const twin_index *index, twin__store_txn *txn,
                             twin_error *error);

uint32_t twin__index_id_hash(const twin_index *index, twin_text id);
uint32_t twin__index_digest_hash(twin_digest digest);

/* ---- index_runs.c */

/* What is looked up by hash: sets, by each band of their signatures and, in one list more, by their digests; documents,
 * by their ids. */
enum twin__postings { TWIN__POSTINGS_SETS, TWIN__POSTINGS_IDS };
size_t twin__postings_lists(const twin_index_options *options, enum twin__postings heap);

/* A set or a document on its way into a run. */
struct twin__new_posting {
    uint64_t number;
    const uint32_t *signature; /* of a set */
    uint32_t hash;             /* of its digest, or of the id */
    bool apart;                /* gone again, or the empty set: comes into no run */
};

/* The hash of band `band` of a signature. */
uint32_t twin__band_hash(const twin_index_options *options, const uint32_t *signature, size_t band);

/* Writes a run of newcomers, in increasing order, and merges it with smaller ones before it. */
twin_status twin__runs_append(struct twin__writing *writing, enum twin__postings heap,
                              const struct twin__new_posting *newcomers, size_t count);

/* Notes that a number which stands in a run was removed; clears the run when half of it was. */
twin_status twin__runs_mark_removed(struct twin__writing *writing, enum twin__postings heap, uint64_t number);

/* Makes one run of all, without what was removed. */
twin_status twin__runs_merge_all(struct twin__writing *writing, enum twin__postings heap);

/* The entries of a list of a run as they lie in the file: hash in the high half, number less the run's first in the
 * low. Behind them stands their XXH3. */
struct twin__band {
    const void *entries;
    size_t count;
};
static inline uint64_t twin__entry_at(struct twin__band band, size_t i)
{
    uint64_t entry;
    memcpy(&entry, (const char *)band.entries + i * sizeof entry, sizeof entry);
    return entry;
}
twin_status twin__list_get(struct twin__band *out, const twin_index *index, twin__store_txn *txn,
                           enum twin__postings heap, struct twin__run run, size_t list, twin_error *error);
bool twin__band_check_fits(struct twin__band band);

/* The runs in order; to be freed. */
twin_status twin__runs_list(struct twin__run **out, size_t *count, const twin_index *index, twin__store_txn *txn,
                            enum twin__postings heap, twin_error *error);

/* The runs of a heap and `stride` of the lists of each, one run behind the other. What was written by earlier
 * transactions stays where it is as long as the transaction lasts. */
struct twin__lists {
    struct twin__run *runs;
    struct twin__band *lists;
    size_t run_count, stride;
};
twin_status twin__lists_get(struct twin__lists *out, const twin_index *index, twin__store_txn *txn,
                            enum twin__postings heap, size_t first, size_t count, twin_error *error);
void twin__lists_clear(struct twin__lists *lists);

/* The place of the first entry whose hash is at least `hash`; from a place on that is not behind it. */
size_t twin__band_find(struct twin__band band, uint32_t hash);
size_t twin__band_find_from(struct twin__band band, size_t from, uint32_t hash);

/* ---- index_blocks.c */

/* What is kept of a set; it lives until the cursor's transaction writes or ends. That there is none is damage. */
twin_status twin__kept_get(struct twin__bytes *out, const twin_index *index, struct twin__store_cursor *cursor,
                           uint64_t set, twin_error *error);

/* What is kept of the last sets, not yet in a block. */
struct twin__unwritten {
    struct twin__kept *list;
    size_t count, capacity, bytes;
};
void twin__unwritten_clear(struct twin__unwritten *unwritten);

/* Adds what is kept of a set with a greater number than all before; its bytes stay where they are until the last block
 * is written. */
twin_status twin__blocks_add(struct twin__writing *writing, struct twin__unwritten *unwritten,
                             struct twin__kept kept);
twin_status twin__blocks_finish(struct twin__writing *writing, struct twin__unwritten *unwritten);

/* To be told of a set that has been removed from its table; and the same for all, leaving nothing of removed ones. */
twin_status twin__blocks_remove(struct twin__writing *writing, struct twin__unwritten *unwritten, uint64_t set);
twin_status twin__blocks_tidy(struct twin__writing *writing);

/* ---- index_draft.c */

/* A document worked out; its id and what is kept of it lie in the draft's bytes. */
struct twin__draft_entry {
    twin_digest digest;
    uint64_t time;
    size_t set_size, id, kept, kept_length;
    uint32_t id_length, label;
    bool id_is_number;
    twin_position position;
};

/* Documents worked out, one piece of an input. */
struct twin__draft {
    struct twin__draft_entry *entries;
    uint32_t *signatures; /* `slots` an entry */
    size_t begin, count;  /* the entries begin .. count-1 are still to be written */
    size_t entry_capacity, signature_capacity;
    twin_buffer bytes;
    void *packer;
    bool lent; /* all of it belongs to another batch, which holds the entries that follow */
    uint64_t repaired, text_bytes;
};
void twin__draft_empty(struct twin__draft *draft);
void twin__draft_clear(struct twin__draft *draft);

/* Works a document out. */
twin_status twin__draft_add(struct twin__draft *draft, const twin_index *index, twin_scratch *scratch,
                            const twin_index_document *document);

/* Drafts that wait to be written, in their order. Those that were written are kept for others to be drawn up in. */
struct twin__batch {
    struct twin__draft *drafts, *spare;
    size_t draft_count, draft_capacity, spare_count, spare_capacity;
    size_t count, bytes; /* of all drafts */
};

/* Takes a draft over and leaves an empty one. False when memory runs out: nothing was taken. */
bool twin__batch_take(struct twin__batch *batch, struct twin__draft *draft);

/* Moves the first drafts of `from`, with `count` entries or all there are, to `batch`, which is empty; and the spare
 * ones the other way. Of a draft with more than that the first entries are lent: `from` may take further drafts, but
 * may not move or clear any until `batch` is empty again. False when memory runs out. */
bool twin__batch_move(struct twin__batch *batch, struct twin__batch *from, size_t count);

void twin__batch_empty(struct twin__batch *batch);
void twin__batch_clear(struct twin__batch *batch);

/* The set of a text, or of items, in scratch->sign.items, and its signature. */
twin_status twin__work_out(twin_set *set, uint32_t *signature, const twin_index *index, twin_scratch *scratch,
                           const twin_index_document *document);

/* The leading bits of a hash that are an item: 35 of 64 where sets of shingles are kept. */
unsigned twin__item_bits(const twin_index_options *options);

/* What makes documents share a set: that their sets are equal, or, where a set is not kept, their normalised texts.
 * Texts without a single item share the empty set in either case. */
bool twin__shares_by_set(const twin_index_options *options);
twin_digest twin__text_digest(twin_text text);

/* ---- index_add.c */

/* Writes a batch in one transaction, and empties it when it is written. */
twin_status twin__batch_write(twin_index_change *change, twin_index *index, struct twin__batch *batch,
                              twin_error *error);

/* ---- index_feed.c */

/* What a worker does with a document of an input, and what is done with its results, one piece after the other. */
struct twin__ingest_options {
    const twin_index *index;
    const twin_input *input;
    twin_exec exec;
    bool strict;
    /* The worker's part; its results are in a place of its own. */
    twin_status (*work)(void *context, int worker, const twin_index_document *document, twin_position position);
    void (*restart)(void *context, int worker);
    /* Takes the worker's results over; lines are to be raised by `line_base`. */
    twin_status (*hand_in)(void *context, int worker, uint64_t line_base, twin_error *error);
    void (*problem)(void *context, const twin_problem *problem);
    void *context, *problem_context;
    const twin_stage *stage;
    twin_progress progress;
};
twin_status twin__ingest(uint64_t *problems, const struct twin__ingest_options *feeding, twin_error *error);

/* ---- index_view.c */

struct twin_index_view {
    twin_index *index;
    twin__store_txn *txn;
    struct twin__store_cursor kept;
    struct twin__counts counts;
    struct twin__lists bands, ids;
    twin_scratch scratch; /* of the query */
    twin_items items;     /* a set of the index */
    twin_buffer text;     /* a text of the index */
    twin_scratch again;   /* to make a set of it */
    uint32_t *asked, *signature;
    struct twin__hit {
        uint64_t set, size;
        size_t equal; /* slots */
        double similarity;
    } * hits;
    size_t hit_count, hit_capacity;
    twin_items candidates, spare;
};

/* A record of the view. `found` false: there is none; NULL: then it is damage. */
twin_status twin__view_set(struct twin__set *out, bool *found, uint32_t *signature, twin_index_view *view,
                           uint64_t set, twin_error *error);
twin_status twin__view_document(struct twin__document *out, bool *found, twin_index_view *view, uint64_t document,
                                twin_error *error);
twin_status twin__view_items(twin_set *out, twin_index_view *view, uint64_t set, uint64_t size, twin_error *error);
twin_index_entry twin__entry_of(uint64_t number, const struct twin__document *document, uint64_t set_size);

/* Views of one instant, one for each worker, in one block. */
struct twin__seat {
    twin_index_view *view;
};
twin_status twin__seats_create(struct twin__seat **out, int count, twin_index *index, twin_error *error);
void twin__seats_free(struct twin__seat *seats, int count);

/* A member of a set as it is kept: label, then number, high bytes first, so that they sort. */
enum { TWIN__MEMBER_BYTES = 12 };
void twin__member_encode(unsigned char out[TWIN__MEMBER_BYTES], uint32_t label, uint64_t document);
bool twin__member_decode(uint32_t *label, uint64_t *document, struct twin__bytes value);

/* ---- view_provider.c */

/* Sets that are not empty; the provider's documents are their positions in `sets`. */
struct twin__view_provider {
    struct twin__provider provider;
    struct twin__seat *seats; /* borrowed: a view per worker */
    struct twin__provided_set {
        uint64_t number, size;
        uint64_t first; /* the first document that has it */
    } * sets;
    uint32_t *signatures, *documents;
    size_t count, capacity, signature_capacity;
};
twin_status twin__view_provider_init(struct twin__view_provider *out, struct twin__seat *seats, twin_error *error);
void twin__view_provider_clear(struct twin__view_provider *sets);

#endif

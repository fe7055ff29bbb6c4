/* handle.h — an open index, its tables, and its transactions (index.c).
 *
 * Tables: "meta" (the format and the counts), "documents" (number: document), "id-runs" (first document: run), "ids"
 * (run: hashes and documents, sorted), "sets" (number: set and signature), "members" (set: label and number of each
 * document that has it), "kept" (first set: block of items or texts), "runs" (first set: run), "bands" (run and band:
 * hashes and sets, sorted). Keys are 64-bit numbers except in meta.
 *
 * The other files of the room: record.c and kept.c draw the values byte by byte; blocks.c stores what is kept,
 * postings.c what is looked up by hash; draft.c prepares documents on many workers and write.c writes them; ingest.c
 * reads inputs, to add them (add_input.c) or to query with them (query_input.c); view.c reads records, query.c and
 * pairs.c search, check.c describes and checks. */
#ifndef TWIN_INDEX_HANDLE_H
#define TWIN_INDEX_HANDLE_H

#include "index/record.h"
#include "store/store.h"

enum twin__index_table {
    TWIN__INDEX_META,
    TWIN__INDEX_DOCUMENTS,
    TWIN__INDEX_ID_RUNS,
    TWIN__INDEX_IDS,
    TWIN__INDEX_SETS,
    TWIN__INDEX_MEMBERS,
    TWIN__INDEX_KEPT,
    TWIN__INDEX_RUNS,
    TWIN__INDEX_BANDS,
    TWIN__INDEX_TABLES,
};

/* The records of TWIN__INDEX_META. */
enum { TWIN__INDEX_META_FORMAT, TWIN__INDEX_META_COUNTS };

extern const struct twin__store_schema twin__index_schema;

struct twin_index {
    twin__store *store;
    const char *path; /* the store's */
    unsigned version; /* of the file */
    twin_index_options options;
    const twin_text *stop_words; /* as they were read from the file; the signer has its own */
    twin_signer *signer;
    struct twin__index_verified *verified; /* posting lists that were found whole */
};

twin_status twin__index_fail_damaged(twin_error *error, const twin_index *index, const char *what);

/* One change: `write` fills the transaction, and is called again, from the start, when the map had to grow. What it
 * returns except TWIN_OK ends the transaction without a trace. */
struct twin__index_writing {
    twin_index *index;
    twin__store_txn *txn;
    struct twin__index_counts counts; /* as they were; written back as `write` leaves them */
    twin_error *error;
};
typedef twin_status twin__index_write(struct twin__index_writing *writing, void *context);
twin_status twin__index_transact(twin_index *index, twin__index_write *write, void *context, twin_error *error);

twin_status twin__index_get_counts(struct twin__index_counts *out, const twin_index *index, twin__store_txn *txn,
                                   twin_error *error);

/* Where records are read: a transaction of an index, which reads or writes. */
struct twin__index_source {
    const twin_index *index;
    twin__store_txn *txn;
};

/* A set, with its signature unless that is NULL, and a document. `found` false: there is none, as when a run still names a
 * removed one; NULL: then it is damage. */
twin_status twin__index_get_set(struct twin__index_set_record *out, bool *found, uint32_t *signature,
                                struct twin__index_source source, uint64_t number, twin_error *error);
twin_status twin__index_get_document(struct twin__index_document_record *out, bool *found,
                                     struct twin__index_source source, uint64_t number, twin_error *error);

uint32_t twin__index_id_hash(const twin_index *index, twin_text id);
uint32_t twin__index_digest_hash(twin_digest digest);

#endif

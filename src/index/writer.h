/* writer.h — the records of one transaction, as write.c changes them. */
#ifndef TWIN_INDEX_WRITER_H
#define TWIN_INDEX_WRITER_H

#include "index/blocks.h"
#include "index/draft.h"
#include "index/postings.h"

/* What is new in a transaction is in no run yet: a hash table leads to it, whose slots hold positions in the list, plus
 * one. */
struct twin__index_new_postings {
    struct twin__index_new_posting *list;
    size_t count, capacity;
    uint64_t first; /* the number of the first; the others follow */
    uint32_t *table;
    size_t slots; /* a power of two, more than twice the count; or 0 */
};

/* The state of one transaction. */
struct twin__index_writer {
    struct twin__index_writing *writing;
    struct twin__store_cursor members;
    struct twin__index_lists ids, digests; /* as earlier transactions left them */
    struct twin__index_new_postings documents, sets;
    struct twin__index_unwritten unwritten;
    twin_buffer record;
    uint32_t *signature;
    twin_index_change change;
};

twin_status twin__index_writer_open(struct twin__index_writer *writer, struct twin__index_writing *writing);
void twin__index_writer_close(struct twin__index_writer *writer);

/* The sentence that the index is damaged. */
twin_status twin__index_writer_damaged(const struct twin__index_writer *writer, const char *what);

/* ---- new postings */

bool twin__index_writer_add_posting(struct twin__index_new_postings *all, struct twin__index_new_posting posting);

/* Of this transaction, or in a run. */
twin_status twin__index_writer_remove_posting(struct twin__index_writer *writer, struct twin__index_new_postings *all,
                                              enum twin__index_postings kind, uint64_t number);

/* The new ones become a run. */
twin_status twin__index_writer_finish_run(struct twin__index_writer *writer, struct twin__index_new_postings *all,
                                          enum twin__index_postings kind);

/* ---- single records; `found` as in handle.h */

twin_status twin__index_writer_get_document(struct twin__index_document_record *out, bool *found,
                                            struct twin__index_writer *writer, uint64_t number);

/* The signature goes to writer->signature. */
twin_status twin__index_writer_get_set(struct twin__index_set_record *out, bool *found,
                                       struct twin__index_writer *writer, uint64_t number);
twin_status twin__index_writer_put_document(struct twin__index_writer *writer, uint64_t number,
                                            const struct twin__index_document_record *document,
                                            enum twin__store_put how);
twin_status twin__index_writer_put_set(struct twin__index_writer *writer, uint64_t number,
                                       const struct twin__index_set_record *set, const uint32_t *signature,
                                       enum twin__store_put how);
twin_status twin__index_writer_delete_record(struct twin__index_writer *writer, enum twin__index_table table,
                                             uint64_t number);
twin_status twin__index_writer_put_member(struct twin__index_writer *writer, uint64_t set, uint32_t label,
                                          uint64_t document, enum twin__store_put how);
twin_status twin__index_writer_delete_member(struct twin__index_writer *writer, uint64_t set, uint32_t label,
                                             uint64_t document);

/* ---- finding what is there. `old` false: the hash is in no run */

twin_status twin__index_writer_find_id(bool *found, uint64_t *out, struct twin__index_writer *writer, twin_text id,
                                       uint32_t hash, bool old);

/* The empty set is in no run; its number is among the counts. */
twin_status twin__index_writer_find_set(bool *found, uint64_t *out, struct twin__index_writer *writer,
                                        const struct twin__index_draft_entry *entry, bool old);

#endif

/* collection_private.h — what the files of the collection share.
 *
 * read.c reads documents and set_rows.c sets; append.c keeps what was read, in memory or in files (spill_file.c);
 * exact_copies.c finds repeated ids and equal sets. collection.c answers questions about documents, long_documents.c
 * about those whose sets are not held as a whole, and provider.c offers both to the joins. saved.c writes a collection
 * to a file. */
#ifndef TWIN_COLLECTION_COLLECTION_PRIVATE_H
#define TWIN_COLLECTION_COLLECTION_PRIVATE_H

#include <stdatomic.h>
#include <twinsift/collection.h>

#include "base/scratch.h"
#include "collection/spill_file.h"
#include "input/reader.h"

/* What is kept of a document beside its signature. */
struct twin__entry {
    twin_position position;
    twin_digest digest; /* of the normalised text; of the set, for rows */
    size_t id;          /* where its id begins among the ids */
    uint32_t id_length;
    uint32_t size;  /* items of the set, when sizes were asked for; characters, for texts */
    bool has_id;    /* false: its line number is its id */
    bool is_number; /* the id was written as a JSON number */
    bool is_short;  /* shorter than one shingle */
    bool is_empty;  /* no shingles at all: similar to nothing, not even to its copy */
    bool is_long;   /* sketch/long_text.h: its set is not held as a whole */
};

struct twin__set_rows; /* sets that came as rows, kept whole */

struct twin_collection {
    const twin_input *input;
    twin_signer *signer;
    size_t slots; /* 0 for texts */
    bool sizes, texts, by_words;

    struct twin__entry *entries;
    uint32_t *signatures; /* `slots` numbers an entry */
    size_t count, entry_capacity, signature_capacity;
    twin_buffer ids;                           /* one after the other */
    twin_problem problems[TWIN_PROBLEMS_KEPT]; /* the first ones; counts.problems is the number of all */
    size_t problem_count;
    twin_problem ill_formed[TWIN_PROBLEMS_KEPT]; /* the same of documents with ill-formed UTF-8 */
    size_t ill_formed_count;

    uint32_t *firsts, *distinct;
    size_t distinct_count;
    struct twin__set_rows *rows; /* NULL unless the input is rows */
    twin_collection_counts counts;

    size_t memory_bytes; /* that the arrays above may take; 0: any number */
    const char *temp_folder;
    struct twin__spilled *spilled; /* NULL: all of it is in memory */
};

/* The arrays of a collection that has become too large for memory: they grow in files, and are mapped in the end. */
struct twin__spilled {
    struct twin__spill entries, signatures, ids;
};

/* Text becomes items, in scratch->sign.items, unless it is to stay text; the text they came from is scratch->sign.text,
 * and that is its digest. */
twin_status twin__collection_shingle(const twin_collection *collection, twin_scratch *scratch, uint64_t *replaced,
                                     twin_text raw);
twin_digest twin__collection_digest(const twin_collection *collection, const twin_scratch *scratch);

/* Reads a document again: its text and its items are then in `scratch`. */
twin_status twin__collection_read_again(const twin_collection *collection, twin_scratch *scratch, uint32_t document,
                                        twin_error *error);

/* An entry about to be read. */
static inline const struct twin__entry *twin__entry_of(const twin_collection *collection, uint32_t document)
{
    if (collection->spilled)
        twin__spill_touch(&collection->spilled->entries, TWIN__SPILL_AROUND);
    return &collection->entries[document];
}

/* A signature about to be read, after the one before it. */
static inline const uint32_t *twin__signature_of(const twin_collection *collection, size_t document)
{
    if (collection->spilled)
        twin__spill_touch(&collection->spilled->signatures, collection->slots * sizeof(uint32_t));
    return collection->signatures + document * collection->slots;
}

/* Signatures before it that are passed over: they may be mapped as well. */
static inline void twin__signatures_pass(const twin_collection *collection, size_t count)
{
    size_t bytes = count * collection->slots * sizeof(uint32_t);
    if (collection->spilled)
        twin__spill_touch(&collection->spilled->signatures, bytes < TWIN__SPILL_AROUND ? bytes : TWIN__SPILL_AROUND);
}

/* A row of a chunk; its name is among the result's ids. */
struct twin__set_row {
    uint64_t name_hash, element;
    size_t name;
    uint32_t name_length, weight;
};

/* What one worker makes of the documents of a chunk. */
struct twin__chunk_result {
    const twin_collection *collection;
    twin_scratch scratch;
    struct twin__entry *entries;
    uint32_t *signatures;
    size_t entry_count, entry_capacity, signature_capacity;
    struct twin__set_row *rows;
    size_t row_count, row_capacity;
    twin_buffer ids;
    uint64_t replaced, bytes, too_short, unspaced;
};

/* How a kind of input is read: how a worker adds a document to its result, and how the result of a chunk is appended
 * to the collection, in the order of the input. */
struct twin__chunk_kind {
    twin_status (*add)(struct twin__chunk_result *result, const twin_document *document);
    twin_status (*append)(twin_collection *collection, struct twin__chunk_result *result, struct twin__reader *reader,
                          twin_error *error);
};

/* collection.c: a collection without documents; and how they are to be signed. */
twin_status twin__collection_create(twin_collection **out, const twin_input *input,
                                    const twin_collection_options *options, twin_error *error);
twin_status twin__collection_sign_by(twin_collection *collection, const twin_scheme *scheme, twin_error *error);

/* read.c: reads the whole input. */
twin_status twin__read_chunks(twin_collection *collection, struct twin__chunk_kind kind,
                              const twin_collection_options *options, twin_error *error);

/* set_rows.c */
twin_status twin__read_set_rows(twin_collection *collection, const twin_collection_options *options,
                                twin_error *error);
twin_set twin__set_rows_get(const struct twin__set_rows *rows, uint32_t set);
void twin__set_rows_free(struct twin__set_rows *rows);

/* exact_copies.c */
twin_status twin__drop_repeated_ids(twin_collection *collection, const twin_collection_options *options,
                                    twin_error *error);
twin_status twin__find_exact_copies(twin_collection *collection, twin_exec exec, twin_error *error);
uint64_t twin__id_hash(twin_text id);

/* collection.c: a document is not what it was when it was read first. */
twin_status twin__collection_fail_changed(twin_error *error, const twin_collection *collection,
                                          twin_position position);

/* Documents that follow those of a collection. Ids begin at offsets of `ids`. */
struct twin__more_documents {
    const struct twin__entry *entries;
    const uint32_t *signatures;
    size_t count;
    twin_text ids;
};

/* append.c: adds documents to a collection, in memory or, if they would be more than the options allow, in files; and
 * makes those in files readable when all have been added. */
twin_status twin__collection_append(twin_collection *collection, const struct twin__more_documents *more,
                                    twin_error *error);
twin_status twin__collection_append_end(twin_collection *collection, twin_error *error);
void twin__collection_free_arrays(twin_collection *collection);

/* long_documents.c: documents whose sets are not held as a whole. */
struct twin__long_text twin__long_text_of(const twin_collection *collection, twin_text text);

/* The digest of the set of a long document, as twin__set_digest() of the whole would be. */
twin_status twin__long_document_digest(twin_digest *out, const twin_collection *collection, twin_scratch *scratch,
                                       uint32_t document, twin_error *error);

/* The similarity of two documents of which at least one is long. */
twin_status twin__long_document_similarity(double *out, const twin_collection *collection, twin_scratch *scratch,
                                           const uint32_t documents[2], twin_measure measure, twin_error *error);

#endif

/* collection_private.h — what the files of the collection know of each other: collection.c reads documents, rows.c
 * reads sets, copies.c finds what came before. */
#ifndef TWIN_JOIN_COLLECTION_PRIVATE_H
#define TWIN_JOIN_COLLECTION_PRIVATE_H

#include <stdatomic.h>
#include <twinsift/collection.h>

/* What is kept of a document beside its signature. */
struct twin__entry {
    twin_position position;
    twin_digest digest; /* of the normalised text; of the set, for rows */
    size_t id;          /* where its id begins among the ids */
    uint32_t id_length;
    uint32_t size;  /* items of the set, when sizes were asked for; characters, for texts */
    bool has_id;    /* false: its line number is its id */
    bool is_number; /* the id was written as a JSON number */
    bool is_empty;  /* too short: no shingles */
};

struct twin__set_rows; /* sets that came as rows, kept whole */

struct twin_collection {
    const twin_input *input;
    twin_signer *signer;
    size_t slots; /* 0 for texts */
    bool strict, sizes, texts;

    struct twin__entry *entries;
    uint32_t *signatures; /* `slots` numbers an entry */
    size_t count, entry_capacity, signature_capacity;
    twin_buffer ids; /* one behind the other */
    twin_problem *problems;
    size_t problem_count, problem_capacity;

    uint32_t *firsts, *distinct;
    size_t distinct_count;
    struct twin__set_rows *rows; /* NULL unless the input is rows */
    twin_collection_counts counts;
};

/* A row as a worker found it; its name lies among the finding's ids. */
struct twin__set_row {
    uint64_t name_hash, element;
    size_t name;
    uint32_t name_length;
};

/* What a worker finds in one piece before it is handed in. */
struct twin__chunk_result {
    const twin_collection *collection;
    twin_scratch scratch;
    struct twin__entry *entries;
    uint32_t *signatures;
    size_t entry_count, entry_capacity, signature_capacity;
    struct twin__set_row *rows;
    size_t row_count, row_capacity;
    twin_buffer ids;
    twin_problem *problems;
    size_t problem_count, problem_capacity;
    uint64_t lines, replaced, bytes, too_short;
    twin_status status;
    twin_error error;
};

/* How a kind of input is read: what a worker does with each document, and how its finding joins the
 * collection, in the order of the input. */
struct twin__chunk_kind {
    bool (*visit)(void *finding, const twin_document *document);
    twin_status (*join)(twin_collection *collection, const struct twin__chunk_result *finding, uint64_t line_base);
};

/* collection.c: takes every piece of the input through `kind`. */
twin_status twin__read_chunks(twin_collection *collection, struct twin__chunk_kind kind,
                              const twin_collection_options *options, twin_error *error);
twin_status twin__fail_problem(twin_error *error, const twin_collection *collection, const twin_problem *problem);
twin_status twin__add_problem(twin_collection *collection, const twin_problem *problem);

/* rows.c */
twin_status twin__read_set_rows(twin_collection *collection, const twin_collection_options *options,
                                twin_error *error);
twin_set twin__set_rows_get(const struct twin__set_rows *rows, uint32_t set);
void twin__set_rows_free(struct twin__set_rows *rows);

/* copies.c */
twin_status twin__drop_repeated_ids(twin_collection *collection, twin_error *error);
twin_status twin__find_exact_copies(twin_collection *collection, twin_exec exec, twin_error *error);
uint64_t twin__id_hash(twin_text id);

#endif

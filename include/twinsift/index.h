/* index.h — a persistent index of documents for near-duplicate queries.
 *
 * An index is one file, with a small lock file beside it (FILE-lock). The kind of its documents and the scheme by which
 * they are signed are fixed when it is created and stored in the file.
 *
 * Many processes may read while one writes. Each change is one transaction: if the process dies or the disk is full,
 * the file is as the last complete transaction left it. A view is the state of the index at one instant, unaffected
 * by later writes. Documents with equal sets share one entry, however many there are.
 *
 * A process may open a file several times, for reading and for writing, under any names; each handle is closed
 * separately. Threads may share an index; a view belongs to one thread at a time. A child process must open the file
 * itself: calls on handles that it inherited through fork() return TWIN_EINVAL.
 *
 * Pages are checked when they are first used, and all pages of the file when it is opened for writing (0.3 s per
 * million documents). Damage is reported as TWIN_EFORMAT; it neither kills the process nor hides matches. A file
 * that is truncated while it is open is refused by the next call that begins to read it; calls that are reading it, and
 * views, are killed by SIGBUS, as with any mapped file. An index in a folder
 * that cannot be written is read without FILE-lock; nobody should write it meanwhile. If FILE-lock is a link or some
 * other file, it is not touched: TWIN_EINVAL. */
#ifndef TWINSIFT_INDEX_H
#define TWINSIFT_INDEX_H

#include <twinsift/collection.h>
#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is stored of a document besides its signature. */
typedef enum twin_keep {
    TWIN_KEEP_SETS, /* its set, for documents the leading 35 bits of each item. Similarities are exact but for
                       chance: of pairs with 2,000 shingles each, one in 700,000 is off by 1/1,200 */
    TWIN_KEEP_TEXT, /* its normalised text, compressed: similarities are exact, and texts can be shown */
    TWIN_KEEP_NONE, /* nothing: similarities are estimates */
} twin_keep;

/* What is fixed when an index is created. */
typedef struct twin_index_options {
    twin_input_format format; /* documents or sets */
    twin_scheme scheme;       /* stored in the file, keys and stop words included; Jaccard only. Its threshold is
                           the default threshold of queries */
    twin_keep keep;

    /* Texts are compared by edit distance instead, such as names, titles and addresses. All that are within `edits` of a
     * query (up to TWIN_INDEX_MOST_EDITS) are found, at any length; of others, those of up to 64 characters too, if they are
     * not more than 64 MiB together, and longer ones most likely, through a forest. The scheme is
     * that of their q-grams: shingles CHAR (AUTO: too; four characters if the width is 0), 64 slots if there are none. Texts are kept, whatever `keep` says. */
    bool by_edits;
    size_t edits;
    uint64_t reserved[TWIN_RESERVED];
} twin_index_options;

enum { TWIN_INDEX_MOST_EDITS = 4 };

typedef enum twin_index_access {
    TWIN_INDEX_READ,
    TWIN_INDEX_WRITE,
} twin_index_access;

typedef struct twin_index twin_index;

/* Creates an empty index. An existing file is replaced only if `replace` is true and no process has it open, this one
 * included (TWIN_EBUSY). It must be an index or empty (TWIN_EINVAL). */
TWIN_API twin_status twin_index_create(const char *path, twin_index_options options, bool replace, twin_error *error);

/* Opens an index; release it with twin_index_close(), after its views. Damaged, truncated, of another format or a
 * newer version: TWIN_EFORMAT. Being replaced or compacted: TWIN_EBUSY. */
TWIN_API twin_status twin_index_open(twin_index **out, const char *path, twin_index_access access, twin_error *error);
TWIN_API void twin_index_close(twin_index *index);

/* The options it was created with; stop words live as long as the index. */
TWIN_API twin_index_options twin_index_options_of(const twin_index *index);

/* ---- writing */

/* A document to add: a text, or, for an index of sets, hashes in any order. */
typedef struct twin_index_document {
    twin_text id; /* 1 .. UINT32_MAX bytes */
    bool id_is_number;
    twin_text text;
    const uint64_t *items;
    size_t item_count;
    uint32_t label; /* the caller's, such as the number of a folder */
    uint64_t time;
} twin_index_document;

typedef struct twin_index_change {
    uint64_t added;      /* documents with new ids */
    uint64_t replaced;   /* documents whose ids were in the index */
    uint64_t repeated;   /* of these, ids that an earlier document of the same call or input had; not if both have
                            the set that the index has for the id */
    uint64_t removed;    /* by twin_index_remove() */
    uint64_t too_short;  /* documents with an empty set: stored, but similar to none */
    uint64_t unspaced;   /* if shingles are words: in a script whose words are not separated by blanks */
    uint64_t problems;   /* bad documents of an input, left out */
    uint64_t repaired;   /* ill-formed stretches of UTF-8 that became U+FFFD */
    uint64_t ill_formed; /* documents of an input with such stretches */
    uint64_t bytes;      /* of text */
    uint64_t batches;    /* transactions */
    uint64_t reserved[TWIN_RESERVED];
} twin_index_change;

/* How documents are added. Those given in memory have their own label and time, and are one batch: of the options only
 * `exec` and `progress` apply to them. */
typedef struct twin_index_add_options {
    twin_exec exec;
    size_t batch_documents; /* the most in one transaction; 0: 20,000 */
    size_t batch_bytes;     /* the most that waits in memory; 0: 128 MiB */
    uint32_t label;
    uint64_t time;
    bool strict; /* the first problem ends the call with TWIN_EFORMAT; batches before it stay */
    /* Called for the first TWIN_PROBLEMS_KEPT bad documents, and for as many with ill-formed UTF-8, which are not left
     * out, in the order of the input; or NULL. */
    void (*problem)(void *context, const twin_problem *problem);
    void *context;
    twin_progress progress; /* reports stage "adding" */
    uint64_t reserved[TWIN_RESERVED];
} twin_index_add_options;

/* Adds documents in one transaction: when the call returns TWIN_OK they are on the disk, else none is. A document
 * whose id exists replaces the earlier one; of documents with equal ids the last is kept. The workers of `exec` sign;
 * one writes. The counts are added to `change`, unless that is NULL. */
TWIN_API twin_status twin_index_add(twin_index_change *change, twin_index *index,
                                    const twin_index_document *documents, size_t count,
                                    twin_index_add_options options, twin_error *error);

/* Adds all documents of an input, batch after batch. What was done before a failure stays done. */
TWIN_API twin_status twin_index_add_input(twin_index_change *change, twin_index *index, const twin_input *input,
                                          twin_index_add_options options, twin_error *error);

/* Removes documents in one transaction. `found`, unless NULL, has room for one answer per id: whether it was there. */
TWIN_API twin_status twin_index_remove(bool *found, twin_index_change *change, twin_index *index,
                                       const twin_text *ids, size_t count, twin_error *error);

/* Replaces the file by a copy without unused space. It must not be open for writing anywhere, nor for reading in this
 * process (TWIN_EBUSY). Other processes that read keep the old file. Once the new one has been changed, creating or
 * renewing a view of the old one fails with TWIN_EBUSY, and the index has to be opened again. */
TWIN_API twin_status twin_index_compact(const char *path, twin_progress progress, twin_error *error);

/* ---- reading */

typedef struct twin_index_view twin_index_view;

/* A view of the last transaction; release it with twin_index_view_free(). While it exists, the file cannot reuse
 * space that is freed, so do not keep one for days; renewing moves it to the last transaction. If that fails the view
 * is empty: until it is renewed, calls with it return TWIN_EINVAL. */
TWIN_API twin_status twin_index_view_create(twin_index_view **out, twin_index *index, twin_error *error);
TWIN_API twin_status twin_index_view_renew(twin_index_view *view, twin_error *error);
TWIN_API void twin_index_view_free(twin_index_view *view);

/* The number of documents in a view, which is known without reading anything; 0 for an empty view. */
TWIN_API uint64_t twin_index_documents(const twin_index_view *view);

/* What to look for. */
typedef struct twin_index_query_options {
    double threshold; /* 0: the index's own. Below that, pairs are found only if they happen to share a band. */
    size_t top;       /* the most documents reported; 0: all */
    bool per_label;   /* `top` applies to each label separately; 0 then means 1 */

    /* Of an index by edit distance: texts within that many edits (twin_edit_distance), if `limit_edits` is set, and with at
     * least `threshold` as indel ratio (twin_edit_ratio), if that is not 0. Neither: within the edits of the index. The
     * similarity of an answer is the indel ratio. */
    bool limit_edits;
    size_t edits;

    /* How many candidates are compared exactly, those with the most equal slots first; 0: TWIN_INDEX_MOST_COMPARED,
     * SIZE_MAX: all. It bounds the time of a query among many pages of one template. */
    size_t most_compared;
    uint64_t reserved[TWIN_RESERVED];
} twin_index_query_options;

enum { TWIN_INDEX_MOST_COMPARED = 10000 };

/* A document of the index. The id lives until the answer or the view is used again. */
typedef struct twin_index_entry {
    uint64_t document; /* its number: larger if added later; never reused */
    twin_text id;
    bool id_is_number;
    uint32_t label;
    uint64_t time;
    uint64_t set;      /* the number of its set: equal for copies */
    uint64_t set_size; /* 0: empty, similar to nothing */
    double similarity; /* in answers */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_index_entry;

/* A growing array of matches; begin with {0} and end with twin_index_answer_clear(). */
typedef struct twin_index_answer {
    twin_index_entry *entries; /* most similar first; ties by the age of the set, then label, then number */
    size_t count, capacity;
    bool estimated;  /* similarities are estimates, since the index keeps neither sets nor texts */
    bool incomplete; /* there were more candidates than `most_compared`: similar documents may be missing */
    twin_buffer ids;
    uint64_t reserved[TWIN_RESERVED];
} twin_index_answer;
TWIN_API void twin_index_answer_clear(twin_index_answer *answer);

/* Replaces `out` by the documents similar to a text, or to a set given by its hashes in any order. */
TWIN_API twin_status twin_index_query(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                      twin_text text, twin_error *error);
TWIN_API twin_status twin_index_query_items(twin_index_answer *out, twin_index_view *view,
                                            twin_index_query_options options, const uint64_t *items, size_t count,
                                            twin_error *error);

/* How the index is queried for many texts. */
typedef struct twin_index_query_many_options {
    twin_index_query_options query;
    twin_exec exec;
    twin_progress progress; /* reports stage "querying" */
    uint64_t reserved[TWIN_RESERVED];
} twin_index_query_many_options;

/* The same for many texts in parallel, all in one view: out[i] is the answer to texts[i], and begins with {0}. */
TWIN_API twin_status twin_index_query_many(twin_index_answer *out, twin_index *index,
                                           twin_index_query_many_options options, const twin_text *texts,
                                           size_t count, twin_error *error);

/* How the index is queried for the documents of an input. */
typedef struct twin_index_query_input_options {
    twin_index_query_options query;
    twin_exec exec;
    bool strict;
    /* Called with the answer to each document, in the order of the input; returns false to stop. */
    bool (*answer)(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer);
    /* Called for the first TWIN_PROBLEMS_KEPT bad documents, and for as many with ill-formed UTF-8, which are not left
     * out, in the order of the input; or NULL. */
    void (*problem)(void *context, const twin_problem *problem);
    void *context;
    twin_progress progress; /* reports stage "querying" */

    /* Of an index by edit distance: the recall, measured by comparing the first `audited` queries with all texts. With
     * `top` only those most similar count. The counts are in `audit`. */
    size_t audited;
    twin_audit *audit;
    uint64_t reserved[TWIN_RESERVED];
} twin_index_query_input_options;

/* Queries the index for all documents of an input, all in one view. `problems`, unless NULL, becomes the number of bad
 * documents, which were left out. */
TWIN_API twin_status twin_index_query_input(uint64_t *problems, twin_index *index, const twin_input *input,
                                            twin_index_query_input_options options, twin_error *error);

/* One document by its id: TWIN_OK and an entry, or TWIN_OK and false in `found`. */
TWIN_API twin_status twin_index_find(twin_index_entry *out, bool *found, twin_index_view *view, twin_text id,
                                     twin_error *error);

/* The signature of a document, `slots` numbers that live until the view is used again; its set (TWIN_KEEP_SETS and
 * TWIN_KEEP_TEXT); its text (TWIN_KEEP_TEXT). TWIN_EUNSUPPORTED when that is not kept. */
TWIN_API twin_status twin_index_signature(const uint32_t **out, twin_index_view *view, twin_index_entry entry,
                                          twin_error *error);
TWIN_API twin_status twin_index_set(twin_set *out, twin_index_view *view, twin_index_entry entry, twin_error *error);
TWIN_API twin_status twin_index_text(twin_text *out, twin_index_view *view, twin_index_entry entry,
                                     twin_error *error);

/* Calls `visit` for every document, in the order of adding. The visit returns false to stop; the call then returns
 * TWIN_ESTOPPED. */
typedef bool twin_index_visit(void *context, const twin_index_entry *entry);
TWIN_API twin_status twin_index_each(twin_index_view *view, twin_index_visit *visit, void *context,
                                     twin_error *error);

typedef struct twin_index_pairs_options {
    double threshold;        /* 0: the index's own */
    twin_copies copies;      /* FIRST or NONE */
    size_t spill_after;      /* the most pairs held in memory; more are sorted in a temporary file. 0: no limit */
    const char *temp_folder; /* for that file; NULL: "/tmp"; "": none, and more pairs are TWIN_ELIMIT */
    twin_exec exec;
    twin_progress progress; /* receives "pairing" and "verifying" */
    uint64_t reserved[TWIN_RESERVED];
} twin_index_pairs_options;

/* Calls `visit` for every similar pair, a before b, sorted: pairs of different sets between the first documents that
 * have them, and, unless `copies` is TWIN_COPIES_NONE, each copy with the first of its kind. The visit returns false
 * to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_index_pair_visit(void *context, const twin_index_entry *a, const twin_index_entry *b,
                                   double similarity);
TWIN_API twin_status twin_index_pairs(twin_index *index, twin_index_pairs_options options,
                                      twin_index_pair_visit *visit, void *context, twin_error *error);

/* ---- state */

typedef struct twin_index_info {
    uint64_t documents, sets, too_short;
    uint64_t removed_sets;   /* still in posting lists */
    uint64_t runs;           /* sorted runs of postings that a query searches */
    uint64_t bytes;          /* of the file */
    uint64_t free_bytes;     /* of these, unused */
    uint64_t document_bytes; /* records and ids */
    uint64_t signature_bytes, band_bytes, kept_bytes;
    uint64_t buckets;        /* groups of sets that agree in a band */
    uint64_t largest_bucket; /* in sets */
    double mean_bucket;
    uint64_t reserved[TWIN_RESERVED];
} twin_index_info;

TWIN_API twin_status twin_index_describe(twin_index_info *out, twin_index_view *view, twin_error *error);

/* Reads the whole index and checks that it is consistent: checksums; ids lead to their documents, and documents to
 * their sets; each set is in every band exactly once, under the right hash, and bands contain no others except
 * removed ones; signatures and digests belong to the kept sets; counts. TWIN_EFORMAT names the first
 * inconsistency. */
TWIN_API twin_status twin_index_check(twin_index_view *view, twin_progress progress, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

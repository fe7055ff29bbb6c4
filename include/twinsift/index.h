/* index.h — the road, kept on disk: add, remove, ask again tomorrow.
 *
 * An index is one file (and a small one beside it, FILE-lock, for those who have it open). What a document is and how
 * it is signed is fixed when the index is created and read from the file ever after.
 *
 * Many processes may read while one writes. Each change is one transaction: a process that dies, or a disk that is
 * full, leaves the last one that was done. A view is what the index held at one instant, whatever is written later.
 * Documents with equal sets share one entry, however many there are.
 *
 * A process may open a file several times, for reading and for writing, under any names; each handle is closed for itself.
 * Threads may share an index; a view belongs to one thread at a time. A child made by fork() opens the file itself: calls
 * on what its parent opened return TWIN_EINVAL.
 *
 * What is read is checked when it is first used, and all pages of the file when it is opened to be written (0.3 s per
 * million documents), so that damage is reported as TWIN_EFORMAT and neither kills the process nor leaves answers out. But
 * a file that is cut short while it is open kills its readers (SIGBUS), as with everything that is mapped. An index in a
 * folder that cannot be written is read without FILE-lock; then nobody should write it meanwhile. FILE-lock is not touched
 * if it is a link or another file: TWIN_EINVAL. */
#ifndef TWINSIFT_INDEX_H
#define TWINSIFT_INDEX_H

#include <twinsift/collection.h>
#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is kept of a document beside its signature. */
typedef enum twin_keep {
    TWIN_KEEP_SETS, /* its set, of documents the leading 35 bits of each item: answers are exact but for chance: of
                       pairs with 2,000 shingles each, one in 700,000 is off by 1/1,200 */
    TWIN_KEEP_TEXT, /* its normalised text, compressed: answers are exact, and lookalikes can be shown */
    TWIN_KEEP_NONE, /* nothing: answers are estimates */
} twin_keep;

/* "sets", "text", "none". From a name: TWIN_EINVAL when there is no such choice. */
TWIN_API const char *twin_keep_name(twin_keep keep);
TWIN_API twin_status twin_keep_from_name(twin_keep *out, const char *name);

/* What a file fixes. */
typedef struct twin_index_options {
    twin_input_format format; /* documents, or rows: sets as they are */
    twin_scheme scheme; /* stored in the file, keys and stop words included; Jaccard only. Its threshold is the least
                                 similarity that a query finds, unless the query asks for more */
    twin_keep keep;
} twin_index_options;

typedef enum twin_index_access {
    TWIN_INDEX_READ,
    TWIN_INDEX_WRITE,
} twin_index_access;

typedef struct twin_index twin_index;

/* Makes an empty index. A file that exists is replaced only if `replace`, and nobody may have it open,
 * this process included (TWIN_EBUSY). */
TWIN_API twin_status twin_index_create(const char *path, twin_index_options options, bool replace, twin_error *error);

/* Opens an index; release it with twin_index_close(), after its views. Damaged, cut short, foreign or newer:
 * TWIN_EFORMAT. Being replaced or compacted: TWIN_EBUSY. */
TWIN_API twin_status twin_index_open(twin_index **out, const char *path, twin_index_access access, twin_error *error);
TWIN_API void twin_index_close(twin_index *index);

/* What the file fixed; stop words live as long as the index. */
TWIN_API twin_index_options twin_index_options_of(const twin_index *index);

/* ---- writing */

/* A document to add: a text, or, for an index of rows, hashes in any order. */
typedef struct twin_index_document {
    twin_text id; /* 1 .. UINT32_MAX bytes */
    bool id_is_number;
    twin_text text;
    const uint64_t *items;
    size_t item_count;
    uint32_t label; /* what the caller means by it: a mail filter's folder */
    uint64_t time;
} twin_index_document;

typedef struct twin_index_change {
    uint64_t added;      /* ids that were not there before */
    uint64_t replaced;   /* ids that were */
    uint64_t repeated;   /* of these, ids that an earlier document of the same call or input had */
    uint64_t removed;    /* by twin_index_remove() */
    uint64_t too_short;  /* added with an empty set: kept, never similar */
    uint64_t unspaced;   /* if shingles are words: in a script whose words are not separated by blanks */
    uint64_t problems;   /* bad documents of an input, left out */
    uint64_t repaired;   /* ill-formed stretches of UTF-8 that became U+FFFD */
    uint64_t ill_formed; /* documents of an input with such stretches */
    uint64_t bytes;      /* of text */
    uint64_t batches;    /* transactions */
} twin_index_change;

/* Adds documents in one transaction: when the call returns TWIN_OK they are on the disk, else none is. An id that
 * exists is replaced; of equal ids the last stays. The workers of `exec` sign; one writes. `change`, unless NULL, is
 * added to. */
TWIN_API twin_status twin_index_add(twin_index_change *change, twin_index *index,
                                    const twin_index_document *documents, size_t count, twin_exec exec,
                                    twin_error *error);

/* How the documents of an input are added. */
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
} twin_index_add_options;

/* Adds all documents of an input, batch after batch. What was done before a failure stays done. */
TWIN_API twin_status twin_index_add_input(twin_index_change *change, twin_index *index, const twin_input *input,
                                          twin_index_add_options feed, twin_error *error);

/* Removes documents in one transaction. `found`, unless NULL, has a place for each id: whether it was there. */
TWIN_API twin_status twin_index_remove(bool *found, twin_index_change *change, twin_index *index,
                                       const twin_text *ids, size_t count, twin_error *error);

/* Writes the index anew without the room of what was removed, and gives it the name of the old file. Nobody may have it open
 * to write, nor this process to read (TWIN_EBUSY). Other processes that read keep the old file; once the new one has been
 * changed, a view of theirs that is created or renewed fails with TWIN_EBUSY, and they open it again. */
TWIN_API twin_status twin_index_compact(const char *path, twin_error *error);

/* ---- reading */

typedef struct twin_index_view twin_index_view;

/* A view of the last transaction; release it with twin_index_view_free(). While it lives the file cannot reuse the
 * room of what is removed, so do not keep one for days; renewing brings it to the last transaction. */
TWIN_API twin_status twin_index_view_create(twin_index_view **out, twin_index *index, twin_error *error);
TWIN_API twin_status twin_index_view_renew(twin_index_view *view, twin_error *error);
TWIN_API void twin_index_view_free(twin_index_view *view);

/* What to look for. */
typedef struct twin_index_query_options {
    double threshold; /* 0: the index's own. A lower one than that finds what bands happen to find. */
    size_t top;       /* the most documents reported; 0: all */
    bool per_label;   /* `top` counts for each label alone, and 0 means the nearest one */
} twin_index_query_options;

/* A document of the index. The id lives until the answer or the view is used again. */
typedef struct twin_index_entry {
    uint64_t document; /* its number: larger for what was added later; never given again */
    twin_text id;
    bool id_is_number;
    uint32_t label;
    uint64_t time;
    uint64_t set;      /* the number of its set: equal for copies */
    uint64_t set_size; /* 0: empty, similar to nothing */
    double similarity; /* in answers */
} twin_index_entry;

/* Answers that grow; begin with {0} and end with twin_index_answer_clear(). */
typedef struct twin_index_answer {
    twin_index_entry *entries; /* most similar first; equals by the age of their set, then label, then number */
    size_t count, capacity;
    bool estimated; /* nothing is kept that would make similarities exact */
    twin_buffer ids;
} twin_index_answer;
TWIN_API void twin_index_answer_clear(twin_index_answer *answer);

/* Replaces `out` by the documents similar to a text, or to a set given by its hashes in any order. */
TWIN_API twin_status twin_index_query(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                      twin_text text, twin_error *error);
TWIN_API twin_status twin_index_query_items(twin_index_answer *out, twin_index_view *view,
                                            twin_index_query_options options, const uint64_t *items, size_t count,
                                            twin_error *error);

/* How many texts are queried at once. */
typedef struct twin_index_query_many_options {
    twin_index_query_options query;
    twin_exec exec;
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

/* Hears of every document in the order they were added; returns false to stop, and the call then returns
 * TWIN_ESTOPPED. */
typedef bool twin_index_visit(void *context, const twin_index_entry *entry);
TWIN_API twin_status twin_index_each(twin_index_view *view, twin_index_visit *visit, void *context,
                                     twin_error *error);

typedef struct twin_index_pairs_options {
    double threshold;         /* 0: the index's own */
    twin_copies copies;       /* FIRST or NONE */
    size_t matches_in_memory; /* pairs of different sets at a time; more are sorted in a temporary file. 0: all */
    const char *temp_folder;  /* for that file; NULL: "/tmp" */
    twin_exec exec;
    twin_progress progress; /* receives "pairing" and "verifying" */
} twin_index_pairs_options;

/* Calls `visit` for every similar pair, a before b, sorted: pairs of different sets between the first documents that
 * have them, and, unless `copies` is TWIN_COPIES_NONE, each copy with the first of its kind. The visit returns false
 * to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_index_pair_visit(void *context, const twin_index_entry *a, const twin_index_entry *b,
                                   double similarity);
TWIN_API twin_status twin_index_pairs(twin_index *index, twin_index_pairs_options options,
                                      twin_index_pair_visit *visit, void *context, twin_error *error);

/* ---- what it is like */

typedef struct twin_index_info {
    uint64_t documents, sets, too_short;
    uint64_t removed_sets;   /* whose places in bands are not yet cleared */
    uint64_t runs;           /* sorted parts that a query looks into */
    uint64_t bytes;          /* of the file */
    uint64_t free_bytes;     /* of these, free to be used again */
    uint64_t document_bytes; /* records and ids */
    uint64_t signature_bytes, band_bytes, kept_bytes;
    uint64_t buckets;        /* sets that agree in a band */
    uint64_t largest_bucket; /* in sets */
    double mean_bucket;
} twin_index_info;

TWIN_API twin_status twin_index_describe(twin_index_info *out, twin_index_view *view, twin_error *error);

/* Reads all of the index and checks that its parts agree: every checksum; each id leads to its document and each
 * document to its set; each set is in every band once, under the right hash, and bands hold no others but removed ones;
 * signatures and digests are those of the kept sets; counts. TWIN_EFORMAT with what is wrong first. */
TWIN_API twin_status twin_index_check(twin_index_view *view, twin_progress progress, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

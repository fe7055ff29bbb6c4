/* collection.h — a collection: documents, each with its signature; sets on demand.
 *
 * Reading a collection takes every document of an input through text, shingles and signature, and keeps the
 * signature, the id, the position and a few numbers: about 600 bytes per document at 128 slots. Texts and sets are not kept;
 * the few that need an exact answer are read again. (The sets of rows are kept: there is no text.)
 *
 * Documents are numbered in the order of the input. Bad ones are left out and reported as problems. Documents whose
 * sets are equal are copies, and every copy knows the first of its kind.
 * A collection never changes once read, so threads may share it, each with a twin_scratch of its own. */
#ifndef TWINSIFT_COLLECTION_H
#define TWINSIFT_COLLECTION_H

#include <stdio.h>
#include <twinsift/exec.h>
#include <twinsift/input.h>
#include <twinsift/signer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_collection_options {
    twin_scheme scheme; /* how documents are signed; of sets and texts only the parts that concern them are used */
    bool texts; /* documents are compared as texts, not as sets: no shingles are cut and nothing is signed, copies
                           are equal texts, and none is too short; not for sets */
    twin_exec exec;
    bool sizes;          /* also keep the size of every set, which takes a sort of each; for containment always */
    bool repeated_ids;   /* documents may share an id; otherwise one with an earlier document's id is a problem */
    size_t memory_bytes; /* of memory for what is kept of documents; the rest is in files and read from there, but for
                            a few bytes per document. 0: all is in memory. Not for sets, texts, or ids that must not
                            repeat */
    const char *temp_folder; /* for these files; NULL: "/tmp" */
    bool strict;             /* the first problem ends the reading with TWIN_EFORMAT */
    twin_progress progress;  /* reports stage "reading" */
    /* Unless NULL, called with each document that is added, by all workers at once, while its text is at hand: so that
     * something else need not read the input once more. Of the position, source and offset are known. A status other
     * than TWIN_OK ends the reading. Not for sets. */
    twin_status (*examine)(void *context, const twin_document *document, int worker, twin_error *error);
    void *context;
} twin_collection_options;

typedef struct twin_collection twin_collection;

typedef struct twin_collection_counts {
    uint64_t documents; /* good ones, too short or not */
    uint64_t unspaced;  /* if shingles are words: in a script whose words are not separated by blanks */
    uint64_t too_short; /* shorter than one shingle, and so similar only to their copies; or empty, similar to none */
    uint64_t copies;    /* whose set is that of an earlier document */
    uint64_t problems;  /* bad documents, left out */
    uint64_t repeated_ids; /* of these, those that repeat the id of an earlier document */
    uint64_t replaced;     /* ill-formed stretches of UTF-8 that became U+FFFD */
    uint64_t ill_formed;   /* documents with such stretches */
    uint64_t bytes;        /* of text, as it stood in the input */
} twin_collection_counts;

/* The room one worker needs to read documents again; begin with {0}, end with twin_scratch_clear(). */
typedef struct twin_scratch {
    twin_read_buffers reading;
    twin_sign_scratch sign;
} twin_scratch;
TWIN_API void twin_scratch_clear(twin_scratch *scratch);

/* Reads all documents of `input`, which must outlive the collection; release with twin_collection_free(). */
TWIN_API twin_status twin_collection_read(twin_collection **out, const twin_input *input,
                                          twin_collection_options options, twin_error *error);
TWIN_API void twin_collection_free(twin_collection *collection);

/* Writes a collection of signed documents to a file (docs/format.md), with a note of the caller's. TWIN_EIO when that
 * fails. If the scheme has a secret key, the file has it too. */
TWIN_API twin_status twin_collection_write(const twin_collection *collection, twin_text note, FILE *file,
                                           twin_error *error);

/* The note of such a file, which is then at its beginning again. */
TWIN_API twin_status twin_collection_read_note(twin_buffer *note, FILE *file, twin_error *error);

/* Files that were written. */
typedef struct twin_saved_files {
    FILE *const *files;
    size_t count;
    size_t *failed; /* unless NULL, becomes the number of the file that failed, or `count` */
} twin_saved_files;

/* Reads them as one collection, as if their inputs had been read one after the other; `input` has these inputs, in that
 * order, and must outlive the collection. Of the options the scheme is ignored: it is that of the files. Problems are counted, but not
 * listed. */
TWIN_API twin_status twin_collection_load(twin_collection **out, const twin_input *input, twin_saved_files saved,
                                          twin_collection_options options, twin_error *error);

TWIN_API twin_collection_counts twin_collection_count(const twin_collection *collection);

/* The first TWIN_PROBLEMS_KEPT problems in the order of the input; the counts have the number of all. They live as long
 * as the collection. */
TWIN_API size_t twin_collection_problems(const twin_problem **out, const twin_collection *collection);

/* The same of documents with ill-formed UTF-8, which are part of the collection. With `strict` they are problems. */
TWIN_API size_t twin_collection_ill_formed(const twin_problem **out, const twin_collection *collection);

/* A number that tells collections apart: equal ones have the same scheme and the same texts in the same order. */
TWIN_API twin_status twin_collection_fingerprint(uint64_t *out, const twin_collection *collection);

/* The input from which it was read. */
TWIN_API const twin_input *twin_collection_input(const twin_collection *collection);

/* The scheme by which it was read, complete; it lives as long as the collection. */
TWIN_API const twin_scheme *twin_collection_scheme(const twin_collection *collection);

/* The signatures, one after the other, `slots` numbers each; and the number of slots. */
TWIN_API const uint32_t *twin_collection_signatures(const twin_collection *collection);
TWIN_API size_t twin_collection_slots(const twin_collection *collection);

/* How large a document is: the number of items of its set, if `sizes` was set or the input is sets; of characters of its
 * normalised text, if `texts` was set; else 0. */
TWIN_API uint32_t twin_collection_size(const twin_collection *collection, uint32_t document);

/* For each document the first of its copies: itself, if it is the first or the only one. */
TWIN_API const uint32_t *twin_collection_firsts(const twin_collection *collection);

/* The documents worth comparing, in increasing order: firsts whose set is not empty. */
TWIN_API size_t twin_collection_distinct(const uint32_t **out, const twin_collection *collection);

/* The set of a document. It lives until `scratch` is used again. TWIN_EFORMAT when the document has changed
 * since it was read, TWIN_EIO when it cannot be read any more. */
TWIN_API twin_status twin_collection_set(twin_set *out, const twin_collection *collection, twin_scratch *scratch,
                                         uint32_t document, twin_error *error);

/* The text of a document as it was normalised; and the same manners. Not for rows. */
TWIN_API twin_status twin_collection_text(twin_text *out, const twin_collection *collection, twin_scratch *scratch,
                                          uint32_t document, twin_error *error);

/* A document as it stands in its input, which is read again. It lives until `scratch` is used again. Not for rows. */
TWIN_API twin_status twin_collection_document(twin_document *out, const twin_collection *collection,
                                              twin_scratch *scratch, uint32_t document, twin_error *error);

/* Where a document is in the input; all zeros for rows. */
TWIN_API twin_position twin_collection_position(const twin_collection *collection, uint32_t document);

/* The id of a document, which lives as long as the collection. One without an id is named by its line; if that is the id
 * of another document, all such names have a colon in front, or as many as it takes. And, unless `is_number` is NULL, whether it was
 * written as a JSON number. */
TWIN_API twin_text twin_collection_id(bool *is_number, const twin_collection *collection, uint32_t document);

#ifdef __cplusplus
}
#endif
#endif

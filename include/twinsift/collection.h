/* collection.h — a collection: documents, each with its signature; sets on demand.
 *
 * Reading a collection takes every document of an input through text, shingles and signature, and keeps the
 * signature, the id, the position and a few numbers: about 600 bytes per document at 128 slots. Texts and sets are
 * not kept; the few that have to be verified are read again. (With TWIN_INPUT_SETS the sets are kept.)
 *
 * Documents are numbered in the order of the input. Documents that cannot be read are left out and reported as
 * problems. Documents whose sets are equal are copies of the first of them. A collection never changes once read, so
 * threads may share it, each with a scratch of its own. */
#ifndef TWINSIFT_COLLECTION_H
#define TWINSIFT_COLLECTION_H

#include <twinsift/exec.h>
#include <twinsift/input.h>
#include <twinsift/signer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_collection_options {
    twin_scheme scheme; /* how documents are signed; for sets, and with `texts`, only the parts that apply are used */
    bool texts;         /* compare documents as texts, not as sets: nothing is shingled or signed, copies are equal
                           texts, and none is too short. Not for sets */
    twin_exec exec;
    bool set_sizes;      /* also keep the size of every set, which takes a sort of each; always so for containment */
    bool ids_may_repeat; /* documents may share an id; otherwise one with an earlier document's id is a problem */
    size_t memory_bytes; /* the most memory for what is kept of documents, apart from a few bytes each; the rest is
                            kept in files. 0: no limit. Not for sets, `texts`, or if ids must not repeat */
    const char *temp_folder; /* for these files; NULL: "/tmp" */
    bool strict;             /* the first problem ends the reading with TWIN_EFORMAT */
    twin_progress progress;  /* reports stage "reading" */
    /* Unless NULL, called with each document that is added, by all workers at once, so that a caller who needs the text
     * does not have to read the input again. Source and offset of the position are known. A status other than TWIN_OK
     * ends the reading. Not for sets. */
    twin_status (*on_document)(void *context, const twin_document *document, int worker, twin_error *error);
    void *context;
    uint64_t reserved[TWIN_RESERVED];
} twin_collection_options;

typedef struct twin_collection twin_collection;

typedef struct twin_collection_counts {
    uint64_t documents; /* that were read, too short or not */
    uint64_t unspaced;  /* if shingles are words: in a script whose words are not separated by blanks */
    uint64_t too_short; /* shorter than one shingle, and so similar only to their copies; or empty, similar to none */
    uint64_t copies;    /* whose set is that of an earlier document */
    uint64_t problems;  /* documents that could not be read and were left out */
    uint64_t repeated_ids; /* of these, documents with the id of an earlier one */
    uint64_t replaced;     /* ill-formed stretches of UTF-8 that became U+FFFD */
    uint64_t ill_formed;   /* documents with such stretches */
    uint64_t bytes;        /* of text, as it stood in the input */
    uint64_t reserved[TWIN_RESERVED];
} twin_collection_counts;

/* Reads all documents of `input`, which must outlive the collection; release with twin_collection_free(). */
TWIN_API twin_status twin_collection_read(twin_collection **out, const twin_input *input,
                                          twin_collection_options options, twin_error *error);
TWIN_API void twin_collection_free(twin_collection *collection);

/* Writes a collection of signed documents as a file (docs/format.md), with a note of the caller's. If the scheme has a
 * secret key, it is in the file. */
TWIN_API twin_status twin_collection_write(const twin_collection *collection, twin_text note, twin_sink sink,
                                           twin_error *error);

/* Reads the note of such a file, and about 64 KiB of it; to load the collection, begin the file again. */
TWIN_API twin_status twin_collection_read_note(twin_buffer *note, twin_source source, twin_error *error);

/* Files written by the call above or by later steps (dedup.h), each from its beginning. */
typedef struct twin_saved_files {
    const twin_source *sources;
    size_t count;
    size_t
        *failed; /* unless NULL, becomes the number of the file that failed; `count` if they do not belong together;
                       SIZE_MAX if they are good */
} twin_saved_files;

/* Reads files as one collection, as if their inputs had been read one after the other; `input` has these inputs, in
 * that order, and must outlive the collection. The scheme is that of the files; the one in the options is ignored.
 * Problems are counted, but not listed. */
TWIN_API twin_status twin_collection_load(twin_collection **out, const twin_input *input, twin_saved_files saved,
                                          twin_collection_options options, twin_error *error);

TWIN_API twin_collection_counts twin_collection_count(const twin_collection *collection);

/* The first TWIN_PROBLEMS_KEPT problems in the order of the input; the counts have the number of all. They live as long
 * as the collection. */
TWIN_API size_t twin_collection_problems(const twin_problem **out, const twin_collection *collection);

/* The same of documents with ill-formed UTF-8, which are part of the collection. With `strict` they are problems. */
TWIN_API size_t twin_collection_ill_formed(const twin_problem **out, const twin_collection *collection);

/* What a collection keeps of a document. */
typedef struct twin_collection_entry {
    twin_text
        id; /* lives as long as the collection. A document without an id is named by its line; if another document
                     has that id, all such names get colons in front until they differ */
    bool id_is_number; /* in JSON */
    uint32_t
        size; /* the number of items of its set, if `set_sizes` was set or the input is sets; of characters of its
                      normalised text, if `texts` was set; else 0 */
    twin_position position; /* in the input; all zeros for sets */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_collection_entry;

/* All zeros and an empty id when there is no such document. */
TWIN_API twin_collection_entry twin_collection_entry_of(const twin_collection *collection, uint32_t document);

/* For each document the first of its copies: itself, if it is the first or the only one. */
TWIN_API const uint32_t *twin_collection_firsts(const twin_collection *collection);

/* The normalised text of a document. It lives until `scratch` is used again. TWIN_EFORMAT when the document has changed
 * since it was read, TWIN_EIO when it cannot be read any more. Not for sets. */
TWIN_API twin_status twin_collection_text(twin_text *out, const twin_collection *collection, twin_scratch **scratch,
                                          uint32_t document, twin_error *error);

/* A document as it stands in its input, which is read again. It lives until `scratch` is used again. Not for sets. */
TWIN_API twin_status twin_collection_document(twin_document *out, const twin_collection *collection,
                                              twin_scratch **scratch, uint32_t document, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

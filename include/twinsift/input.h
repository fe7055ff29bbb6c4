/* input.h — where documents come from.
 *
 * An input is one or more folders, JSON-lines files (plain, .gz, .zst), tables (CSV, TSV), text
 * files, files of sets, or standard input; or texts that the caller has in memory. It is divided into chunks that
 * several threads may read at once, in any order. Each document comes with its position, and can
 * be fetched again by it. Only the names of files in folders are kept in memory, so an input may
 * be larger than memory; what cannot be read twice (a pipe, compressed lines) is first copied to
 * memory or, if it is large, to an unnamed temporary file.
 *
 * The files of a folder are read as they would be if they were given themselves: .jsonl and
 * .ndjson line by line, .csv and .tsv record by record, others as one document each. Files of
 * lines and records are sources of their own, after the folder, and stay open.
 *
 * A JSON array, or JSON objects over several lines, is converted to JSON lines when it is opened: in a file
 * named .json, or where JSON lines are expected and the first bytes show it. Its elements are then the lines. In a
 * folder, a .json file that is not an array of objects is a document.
 *
 * A table has a header, which names its columns; "id" and "text" by default. Columns are separated
 * by commas, or else by semicolons or tabs, as the header shows; quotes, and line ends in them, are
 * those of RFC 4180. An empty id is none. A record with more or fewer columns than the header is a
 * problem.
 *
 * Of mail, a file that begins with a line "From ADDRESS DATE" is an mbox. Of a Maildir, the messages
 * in cur and new are read, except drafts and those marked for deletion; its folders, which begin with
 * a dot, only if hidden ones are asked for. A message's id is the path of
 * its file, after the folder's name as it was given, with ":2" for the second message of an mbox; its
 * text is the message as it was sent, without the "From " line.
 *
 * A byte order mark at the start of a file is ignored, and a document in UTF-16 that has one is
 * converted. In lines the '\r' of a line end is ignored too, and blank lines are neither documents
 * nor problems. A bad document is a twin_problem, not a failure: reading continues after it.
 *
 * An input does not change once it is open: any number of threads may use it at once, each with a
 * scratch of its own. */
#ifndef TWINSIFT_INPUT_H
#define TWINSIFT_INPUT_H

#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_input_format {
    TWIN_INPUT_DOCUMENTS, /* folders, files, "-": lines on standard input */
    TWIN_INPUT_SETS,      /* lines "set<separator>element": plain, .gz or .zst, or "-" */
    TWIN_INPUT_MAIL,      /* messages: files of one, mbox files (both also .gz or .zst), Maildirs, folders, or "-" */
} twin_input_format;

/* The dialect of mbox files: how a message's own lines "From …" are kept apart from those between messages. */
typedef enum twin_mbox {
    TWIN_MBOX_AUTO, /* mboxcl2 where a Content-Length is right, else mboxrd, which reads mboxo well enough */
    TWIN_MBOX_O,    /* ">From …" was "From …" */
    TWIN_MBOX_RD,   /* the same, and each further '>' before it stands for one less */
    TWIN_MBOX_CL,   /* as mboxo, with a Content-Length */
    TWIN_MBOX_CL2,  /* lines are as they were, by Content-Length */
    TWIN_MBOX_NONE, /* each file is one message, even if it begins with a line "From …", which is then kept */
} twin_mbox;

/* What the files of an input of documents are. */
typedef enum twin_input_as {
    TWIN_INPUT_AS_NAMED, /* .jsonl, .ndjson: lines, .csv, .tsv: tables, .fa, .fasta: sequences, all also with .gz or .zst; what has no
                            name: lines; others: a document */
    TWIN_INPUT_AS_FILES, /* each is a document, whatever its name, also if it is not text */
    TWIN_INPUT_AS_JSONL, /* each is JSON lines, whatever its name */
    TWIN_INPUT_AS_LINES, /* each line is a document, named by its number: names, titles, logs */
    TWIN_INPUT_AS_CSV,   /* each is comma-separated values, whatever its name */
    TWIN_INPUT_AS_TSV,   /* tab-separated values */
    TWIN_INPUT_AS_FASTA, /* each sequence is a document: a line ">ID …", then lines of letters, which are joined */
    TWIN_INPUT_AS_HTML,  /* each is a page, of which the text that a person sees is the document */
} twin_input_as;

/* Where ids come from. */
typedef enum twin_input_ids {
    TWIN_IDS_FIELD,         /* the field or column of the id. A record without one is named by its line, "12", or by
                               "FILE:12" if there are several inputs or it is in a folder */
    TWIN_IDS_FIELD_OR_PATH, /* the same, but always by "FILE:12", which is for ids that meet those of other inputs */
    TWIN_IDS_PATH_AND_LINE, /* "FILE:12", whatever the fields say; of files and folders, the path as it was given */
} twin_input_ids;

enum { TWIN_INPUT_MOST_WEIGHT = 1000000 };

typedef struct twin_input_options {
    twin_input_format format;
    twin_input_as as;
    twin_input_ids ids; /* of documents */
    bool hidden;        /* also read files and folders in folders whose names begin with '.' */

    /* Globs for what is in folders, NULL or ended by NULL; used while the input is opened. Of the files those are read that
     * match one of `include`, if there are any; files and folders that match one of `exclude` are not. *, ?, [a-z] and
     * [!a-z] are those of the shell. A glob without a slash is for the name of a file or folder, others are for the
     * path below the folder, in which * also matches slashes. */
    const char *const *include, *const *exclude;

    /* A command that makes the text of each file, or of those that match one of `pre_globs` if there are any, as
     * pdftotext does: NULL, or words ended by NULL, the first of which is the program. The file is its standard input; a
     * word {} stands for its path, which a command of one word gets as its argument. There is no shell. Such a file is
     * one document, whatever its name; the command is run again when a document is fetched. */
    const char *const *pre, *const *pre_globs;

    const char *id_field;    /* NULL: "id"; "meta.id" is the member "id" of the object "meta" */
    const char *text_field;  /* NULL: "text"; "title,body": these, joined by a line end, without those that are
                                missing or null */
    char separator;          /* of sets; 0: a tab */
    bool weights;            /* of sets: what follows the element, after another separator, is how often it is in the
                                set, 0 to TWIN_INPUT_MOST_WEIGHT. For schemes of multisets */
    twin_mbox mbox;          /* of mail */
    const char *temp_folder; /* for what must be unpacked and is larger than memory_bytes; NULL: "/tmp" */
    size_t memory_bytes; /* of compressed files of lines or pipes that are kept in memory, all together; 0: 64 MiB */

    /* TWIN_ELIMIT if a file of lines or mail unpacks to more, or a pipe has more. 0: if it unpacks to 1 GiB and 200 times
     * its size, and pipes may have any number. */
    uint64_t max_unpacked_bytes;

    size_t chunk_bytes;     /* 0: 1 MiB; small values are for tests */
    uint32_t max_bytes;     /* a longer line or file is a problem; 0: UINT32_MAX, the most there can be.
                                A longer message is cut; 0: 16 MiB, the most there can be */
    twin_progress progress; /* reports stage "unpacking" */
    uint64_t reserved[TWIN_RESERVED];
} twin_input_options;

typedef struct twin_input twin_input;

/* Where a document is. */
typedef struct twin_position {
    uint64_t offset; /* lines: of the line's first byte; a folder: the file's number in byte order;
                        memory and mail: the document's number. All from 0 */
    uint64_t line;   /* lines and memory: counted from 1; within the chunk while a chunk is read; otherwise 0 */
    uint32_t source; /* which of the sources, from 0 */
    uint32_t length; /* lines: bytes without the line end; otherwise 0 */
} twin_position;

/* A document as it is in its input. The texts live until the visitor returns. */
typedef struct twin_document {
    twin_text id;      /* JSON lines: "id", unescaped; a folder: the path below it, after the folder's
                          name when there are several inputs; sets: the set.
                          NULL bytes while a chunk is read: it has none, so its line will be its id */
    bool id_is_number; /* JSON lines: the id was written as a number */
    twin_text text;    /* JSON lines: "text", unescaped; a folder: the file's bytes after a byte order mark; sets: the
                          element */
    twin_text record;  /* lines: the whole line without its line end; otherwise the same as text */
    twin_position position;
    uint32_t weight; /* sets with weights: how often the element is in the set, at least 1; otherwise 0 */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_document;

typedef enum twin_problem_kind {
    TWIN_PROBLEM_BROKEN,      /* not a JSON object, or a line of sets without a separator */
    TWIN_PROBLEM_NO_TEXT,     /* no text field, or one that is not a string */
    TWIN_PROBLEM_BAD_ID,      /* an id that is neither a string nor a number */
    TWIN_PROBLEM_UNREADABLE,  /* a file, or a folder in a folder, that could not be read */
    TWIN_PROBLEM_TOO_LONG,    /* a line or file of more than max_bytes */
    TWIN_PROBLEM_REPEATED_ID, /* an id that an earlier document has; found by the collection */
    TWIN_PROBLEM_FOREIGN,     /* a file in a folder that is not text */
    TWIN_PROBLEM_ILL_FORMED,  /* a text with ill-formed UTF-8: it is read, with U+FFFD in its place. Not counted among
                                 problems. Found when documents are signed */
} twin_problem_kind;

typedef struct twin_problem {
    twin_problem_kind kind;
    twin_position position;
    uint64_t column;   /* the byte of the line, counted from 1, where that helps; 0 otherwise */
    char message[160]; /* what is wrong, as part of a sentence: "no field \"text\"" */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_problem;

/* Only the first problems of an input are kept or reported, but all are counted, so that a file of another kind does
 * not fill the memory. */
enum { TWIN_PROBLEMS_KEPT = 100 };

/* Receives what is in a chunk. Both return false to stop reading it. */
typedef struct twin_visitor {
    bool (*document)(void *context, const twin_document *document);
    bool (*problem)(void *context, const twin_problem *problem);
    void *context;
} twin_visitor;

/* Opens the inputs in the order given; release with twin_input_free(). If there is none, or one
 * is missing, unreadable, of an unknown kind or damaged, it fails with a sentence in `error`, unless
 * that is NULL. */
TWIN_API twin_status twin_input_open(twin_input **out, const char *const *paths, size_t count,
                                     twin_input_options options, twin_error *error);

/* A document in memory. */
typedef struct twin_memory_document {
    twin_text text;    /* NULL bytes: an empty text */
    twin_text id;      /* NULL bytes: none, so its number, counted from 1, will be its id */
    bool id_is_number; /* it is printed without quotes in JSON */
} twin_memory_document;

/* Documents that the caller provides by number, 0 .. count - 1, such as the rows of a table in memory. `get` may be
 * called from several threads at once, for any document and more than
 * once, and must always give the same. TWIN_OK and a document, or a status that ends the reading. */
typedef struct twin_memory_source {
    uint64_t count;
    twin_status (*get)(void *context, uint64_t number, twin_memory_document *out);
    void *context;
} twin_memory_source;

/* Inputs in memory. Nothing is copied: texts and ids, and the array itself, must live unchanged as long as
 * the input. Only `format`, `ids`, `max_bytes` and `chunk_bytes` of the options are used. With TWIN_INPUT_SETS
 * each document is an element: its id is the set, and its text the element. */
TWIN_API twin_status twin_input_from_texts(twin_input **out, const twin_memory_document *documents, size_t count,
                                           twin_input_options options, twin_error *error);
TWIN_API twin_status twin_input_from_callback(twin_input **out, twin_memory_source source, twin_input_options options,
                                              twin_error *error);

TWIN_API void twin_input_free(twin_input *input);
TWIN_API twin_input_format twin_input_format_of(const twin_input *input);

/* The number of chunks, at least one for each input that is not empty. */
TWIN_API size_t twin_input_chunks(const twin_input *input);

typedef struct twin_input_chunk {
    uint64_t size;   /* for progress: bytes; folders and memory: documents */
    uint32_t source; /* of which it is part */
} twin_input_chunk;

/* All zeros when there is no such chunk. */
TWIN_API twin_input_chunk twin_input_chunk_of(const twin_input *input, size_t chunk);

/* Visits the documents and problems of a chunk in their order. `lines`, unless NULL, becomes the
 * number of lines that begin in the chunk, with blank and bad ones, so that a caller can add up
 * line numbers. Several threads may read at once, each with a scratch of its own. TWIN_ESTOPPED
 * when the visitor stopped; TWIN_EIO when the system fails, or a file of lines has become
 * shorter since it was opened. */
TWIN_API twin_status twin_input_read(uint64_t *lines, const twin_input *input, twin_scratch **scratch, size_t chunk,
                                     twin_visitor visitor, twin_error *error);

/* Replaces `out` by the bytes of an input of lines from `begin` to `end`, line ends included, as they are after
 * unpacking; `end` may lie behind the last. TWIN_EINVAL for other inputs. */
TWIN_API twin_status twin_input_bytes(twin_buffer *out, const twin_input *input, uint32_t source, uint64_t begin,
                                      uint64_t end, twin_error *error);

/* The value of a field of a document that was fetched, by its name as for text_field: a string, unescaped, or a
 * number as it is written; of a table, a column. NULL bytes when it is missing or neither. It lives in `scratch`,
 * which must not be the one that the document is in. TWIN_EINVAL when records of this input have no fields. */
TWIN_API twin_status twin_input_field(twin_text *out, const twin_input *input, twin_scratch **scratch,
                                      const twin_document *document, const char *name, twin_error *error);

/* Replaces `out` by the header of a table, with its line end; by nothing for other sources. */
TWIN_API twin_status twin_input_header(twin_buffer *out, const twin_input *input, uint32_t source, twin_error *error);

/* What others have done to the file of a source since it was opened, by its size and its time of modification: they
 * have added to it, or changed what it was. Of folders, and of what was unpacked or is in memory, nothing. */
typedef enum twin_input_change {
    TWIN_INPUT_UNCHANGED,
    TWIN_INPUT_GROWN,
    TWIN_INPUT_CHANGED,
} twin_input_change;
TWIN_API twin_input_change twin_input_change_of(const twin_input *input, uint32_t source);

/* The number of sources, and the name of one as it was given; "-" is "standard input". After a folder
 * come those of its files that are read line by line. */
TWIN_API size_t twin_input_sources(const twin_input *input);
TWIN_API const char *twin_input_name(const twin_input *input, uint32_t source);

/* What a folder has, and what was skipped in it. */
typedef struct twin_folder_info {
    uint64_t links, special; /* symbolic links; sockets, pipes and devices */
    uint64_t hidden;         /* files and folders */
    uint64_t documents;      /* files that are a document each */
    uint64_t shards;         /* files whose lines or rows are documents */
    uint64_t reserved[TWIN_RESERVED];
} twin_folder_info;

/* All zeros when the input with this number is not a folder. */
TWIN_API twin_folder_info twin_input_folder_info(const twin_input *input, uint32_t source);

/* Replaces `out` by a position for messages, ended by a zero that `length` does not count:
 * FILE:LINE:BYTE, "news.jsonl:12:31", or without the byte if `column` is 0; the path of a file
 * in a folder, "folder/file.txt"; "document 12" in memory. TWIN_EINVAL when the position is in
 * none of the inputs. */
TWIN_API twin_status twin_input_describe(twin_buffer *out, const twin_input *input, twin_position position,
                                         uint64_t column);

/* Gets the next bytes of a file; returns false to stop. */
typedef bool twin_block_visit(void *context, const char *bytes, size_t length);

/* Reads a file, or standard input if the path is "-", once and as it comes, for lists of other things than documents:
 * calls `visit` for one block after the other, unpacked and without a byte order mark. If that stops, it is
 * TWIN_ESTOPPED. Nothing is stored, so a pipe may be endless. UTF-16 and other packings are refused with advice.
 * `progress` reports the bytes read of the file. */
TWIN_API twin_status twin_input_stream(const char *path, twin_block_visit *visit, void *context,
                                       twin_progress progress, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* input.h — where documents come from.
 *
 * An input is one or more folders, JSON-lines files (plain, .gz, .zst), row files, or standard input. It is
 * cut into pieces that may be read by many threads at once, in any order, each document with its place; and
 * any document can be fetched again by its place. Nothing is kept in memory but the names of a folder's
 * files, so a collection may be larger than memory: what cannot be read twice (a pipe, a compressed file) is
 * unpacked once into a temporary file that no longer has a name.
 *
 * In lines a byte order mark at the start and the '\r' of a line end are passed over, and blank lines are neither
 * documents nor problems. A bad document is a twin_problem, not a failure: reading goes on behind it. */
#ifndef TWINSIFT_INPUT_H
#define TWINSIFT_INPUT_H

#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_input_format {
    TWIN_INPUT_DOCUMENTS, /* folders, .jsonl, .jsonl.gz, .jsonl.zst (or .ndjson…), "-": lines on standard input */
    TWIN_INPUT_SETS,      /* lines "set<separator>element", plain, .gz or .zst, or "-" */
} twin_input_format;

typedef struct twin_input_options {
    twin_input_format format;
    const char *id_field;    /* NULL: "id" */
    const char *text_field;  /* NULL: "text" */
    char separator;          /* rows; 0: a tab */
    const char *temp_folder; /* for what must be unpacked; NULL: "/tmp" */
    size_t chunk_bytes;      /* 0: 1 MiB; small values are for tests */
    uint32_t max_bytes;      /* a longer line or file is a problem; 0: UINT32_MAX, the most there can be */
    twin_progress progress;  /* reports stage "unpacking" */
} twin_input_options;

typedef struct twin_input twin_input;

/* Where a document stands. */
typedef struct twin_position {
    uint64_t offset; /* lines: of the first byte of the line; a folder: the file's number in byte order */
    uint64_t line;   /* lines: counted from 1, within the piece while a piece is read; a folder: 0 */
    uint32_t source; /* which of the inputs, from 0 */
    uint32_t length; /* lines: bytes without the line end; a folder: 0 */
} twin_position;

/* A document as it stands in its input. The texts live until the visit ends. */
typedef struct twin_document {
    twin_text id;      /* JSON lines: "id", unescaped; a folder: the path below it, behind the folder's
                          name when there are several inputs; a row: the set.
                          NULL bytes while a piece is read: no id, so the line number will be it. */
    bool id_is_number; /* JSON lines: the id was written as a number */
    twin_text text;    /* JSON lines: "text", unescaped; a folder: the file's bytes; a row: the element */
    twin_text record;  /* lines: the whole line without its line end; a folder: same as text */
    twin_position position;
} twin_document;

typedef enum twin_problem_kind {
    TWIN_PROBLEM_BROKEN,     /* not a JSON object, or a row without a separator */
    TWIN_PROBLEM_NO_TEXT,    /* no text field, or one that is not a string */
    TWIN_PROBLEM_BAD_ID,     /* an id that is neither a string nor a number */
    TWIN_PROBLEM_UNREADABLE, /* a file, or a folder in a folder, that could not be read */
    TWIN_PROBLEM_TOO_LONG,   /* a line or file of more than max_bytes */
    TWIN_PROBLEM_REPEATED_ID /* an id that another document had before; found by the collection */
} twin_problem_kind;

typedef struct twin_problem {
    twin_problem_kind kind;
    twin_position position;
    uint64_t column;   /* the byte of the line, counted from 1, where that helps; 0 otherwise */
    char message[160]; /* what is wrong, as part of a sentence: "no field \"text\"" */
} twin_problem;

/* Hears what a piece holds. Both return false to stop reading the piece. */
typedef struct twin_visitor {
    bool (*document)(void *context, const twin_document *document);
    bool (*problem)(void *context, const twin_problem *problem);
    void *context;
} twin_visitor;

/* The room one reader needs; begin with {0}, keep it from call to call, end with twin_read_buffers_clear(). */
typedef struct twin_read_buffers {
    twin_buffer block, id, text, key;
} twin_read_buffers;
TWIN_API void twin_read_buffers_clear(twin_read_buffers *reading);

/* Opens the inputs in the order given; release with twin_input_free(). Missing, unreadable, of an unknown
 * kind, compressed and damaged: a status, and a sentence in `error` unless that is NULL. */
TWIN_API twin_status twin_input_open(twin_input **out, const char *const *paths, size_t count,
                                     twin_input_options options, twin_error *error);
TWIN_API void twin_input_free(twin_input *input);
TWIN_API twin_input_format twin_input_format_of(const twin_input *input);

/* The number of pieces, at least one for each input that is not empty; the bytes there are to read in one
 * of them, for progress (a folder's piece: the number of its files). */
TWIN_API size_t twin_input_chunks(const twin_input *input);
TWIN_API uint64_t twin_input_chunk_size(const twin_input *input, size_t piece);
TWIN_API uint32_t twin_input_chunk_source(const twin_input *input, size_t piece);

/* Visits the documents and problems of a piece in their order. `lines`, unless NULL, becomes the number of
 * lines that begin in the piece, blank and bad ones too, so that a caller can add up line numbers. Threads may
 * read different pieces at once, each with a `reading` of its own. TWIN_ESTOPPED when the visitor stopped;
 * TWIN_EIO when the system fails, or a file of lines has become shorter since it was opened. */
TWIN_API twin_status twin_input_read(uint64_t *lines, const twin_input *input, twin_read_buffers *reading,
                                     size_t piece, twin_visitor visitor, twin_error *error);

/* Reads one document again. `position` has its line counted from the start of the input, so that a document
 * without an id gets its line number for one: alone if there is one input, else behind the input's name and a
 * colon. The texts live until `reading` is used again. TWIN_EFORMAT when the document is not there any more. */
TWIN_API twin_status twin_input_fetch(twin_document *out, const twin_input *input, twin_read_buffers *reading,
                                      twin_position position, twin_error *error);

/* The number of inputs, and the name of one as it was given; "-" is "standard input". */
TWIN_API size_t twin_input_sources(const twin_input *input);
TWIN_API const char *twin_input_name(const twin_input *input, uint32_t source);

/* Replaces `out` by a place in words, ended by a zero that `length` does not count: "news.jsonl: line 12" or
 * "folder/file.txt". TWIN_EINVAL when the place is in none of the inputs. */
TWIN_API twin_status twin_input_describe(twin_buffer *out, const twin_input *input, twin_position position);

#ifdef __cplusplus
}
#endif
#endif

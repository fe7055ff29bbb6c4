/* source.h — one of the sources of an input, behind one interface.
 *
 * A kind of source (lines.c, table.c, file.c, folder.c, mailbox.c, memory.c) is a table of functions. To add one:
 * write a file with such a table, and add it to the list in open.c, which asks the kinds in turn whether a path is
 * theirs. input.c calls nothing but these functions, so neither it nor the readers above it know what kinds there
 * are. */
#ifndef TWIN_INPUT_SOURCE_H
#define TWIN_INPUT_SOURCE_H

#include <string.h>
#include <sys/stat.h>
#include <twinsift/input.h>

#include "base/scratch.h"
#include "input/fields.h"

/* What all sources of an input share. */
struct twin__input_settings {
    twin_input_options options; /* without zeros; the strings belong to the input */
    struct twin__fields fields;
    size_t
        *memory_left; /* what further sources may keep in memory of what was unpacked; changes as they are opened */
    bool names_id;    /* the field of the id was given, and not left to the default */
    bool full_names;  /* ids of files begin with the name of the input: there are several, or it was asked for */
    bool names_lines; /* ids made from lines begin with the name of the file, for the same reasons */
    bool ignores_ids; /* ids of records do not count */
};

/* A line, file or text: nothing, a document, or why it is none. */
struct twin__record {
    enum { TWIN__RECORD_BLANK, TWIN__RECORD_DOCUMENT, TWIN__RECORD_PROBLEM } what;
    twin_document document;
    twin_problem problem;
};

/* How a file is read: as one document, or record by record. */
enum twin__content {
    TWIN__CONTENT_DOCUMENT,
    TWIN__CONTENT_JSON, /* arrays, or objects over several lines: they become JSON lines */
    TWIN__CONTENT_JSONL,
    TWIN__CONTENT_LINES, /* each a document */
    TWIN__CONTENT_CSV,
    TWIN__CONTENT_TSV,
    TWIN__CONTENT_FASTA, /* sequences */
};

/* A source, opened. Each kind has a struct of its own that begins with this one. */
struct twin__source {
    const struct twin__source_kind *kind;
    const struct twin__input_settings *settings;
    char *name;          /* as it was given; "-" is "standard input"; of a file in a folder, the path */
    const char *id_name; /* part of `name`: what comes before a line in an id; NULL: nothing, the line is the id */
    uint32_t number;     /* which of the sources, from 0 */
    size_t chunks;
    size_t first_chunk; /* counted over all sources before it */
    bool is_fasta;      /* of lines: a record goes on to a line that begins with '>' */
};

/* One chunk being read. */
struct twin__chunk {
    size_t number; /* within the source */
    twin_read_buffers *buffers;
    twin_visitor visitor;
    bool ignores_ids;
    uint64_t lines; /* to be counted up while reading */
    twin_error *error;
};

/* The bytes of a byte order mark (U+FEFF, which some programs write at the start of a file) if these begin with one,
 * else
 * 0. */
static inline size_t twin__byte_order_mark(const char *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* A path before its kind is known. */
struct twin__opening {
    const char *path;
    const char *name; /* for messages */
    int fd;           /* belongs to the caller until a kind's `open` sets it to -1 */
    struct stat about;
    const struct twin__input_settings *settings;
};

struct twin__source_kind {
    /* Whether this kind reads what was opened. NULL: never made from a path. */
    bool (*accepts)(const struct twin__opening *opening);

    /* Makes `out`, with the fields of its kind and `chunks`; the others are filled in by the
     * caller. After a failure *out is NULL, or a source to be closed. */
    twin_status (*open)(struct twin__source **out, struct twin__opening *opening, twin_error *error);

    /* The bytes of a chunk, or its documents, for progress. */
    uint64_t (*chunk_size)(const struct twin__source *source, size_t chunk);

    /* Passes the records of a chunk to twin__deliver() in their order. Many threads may read at
     * once. */
    twin_status (*read)(const struct twin__source *source, struct twin__chunk *chunk);

    /* Whether a record can begin at this position. The calls below need that. */
    bool (*contains)(const struct twin__source *source, twin_position position);

    /* Reads the record at a position again. A record that is gone or has changed its length is
     * not a document. */
    twin_status (*fetch)(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                         twin_position position, twin_error *error);

    /* Appends the position for messages: a file, and the line in it if it has lines. */
    twin_status (*describe)(twin_buffer *out, const struct twin__source *source, twin_position position);

    /* Appends the bytes from `begin` to `end`, or to the last: how `twinsift dedup` copies records. NULL: records are
     * not ranges of one file. Positions then have no lines, except in memory. */
    twin_status (*bytes)(twin_buffer *out, const struct twin__source *source, uint64_t begin, uint64_t end,
                         twin_error *error);

    /* Appends the header of a table. NULL: there is none. */
    twin_status (*header)(twin_buffer *out, const struct twin__source *source, twin_error *error);

    /* What others have done to the file since it was opened. NULL: it is not read again as a whole. */
    twin_input_change (*change)(const struct twin__source *source);

    /* The value of a field of a record, stored in `room`; NULL bytes when it is missing. NULL: records have no
     * fields. */
    twin_status (*field)(twin_text *out, const struct twin__source *source, twin_read_buffers *room, twin_text record,
                         const char *name, twin_error *error);

    /* What is in the folder. NULL: this kind is none. */
    twin_folder_info (*folder_info)(const struct twin__source *source);

    /* The files in it that are sources of their own, because they hold many documents: how many there may be, and
     * one of them, opened by twin__opening_open(), or NULL if it is none after all. NULL: this kind has none. */
    size_t (*parts)(const struct twin__source *source);
    twin_status (*open_part)(struct twin__source **out, struct twin__source *source, size_t part, twin_error *error);

    /* Frees the source and all it holds but the name. */
    void (*close)(struct twin__source *source);
};

extern const struct twin__source_kind twin__mailbox, twin__lines, twin__table, twin__file, twin__folder, twin__memory;

/* Begin with {0}. */
struct twin__source_list {
    struct twin__source **items;
    size_t count, capacity;
};

/* open.c: opens a path with the first kind that accepts it and appends the source, and those that are
 * parts of it, to the list. Also after a failure all of the list is to be released with
 * twin__source_close(). */
twin_status twin__source_open(struct twin__source_list *out, const char *path,
                              const struct twin__input_settings *settings, twin_error *error);
void twin__source_close(struct twin__source *source);

/* open.c: opens what is behind the descriptor, which is closed unless the source keeps it. The source gets a
 * copy of the name. */
twin_status twin__opening_open(struct twin__source **out, struct twin__opening *opening, twin_error *error);

/* open.c: whether the path can be opened again later: not standard input, a pipe, or what is behind /dev/fd/63. */
bool twin__opening_can_repeat(const struct twin__opening *opening);

/* open.c: how a file of this name is read, unless the options say how all are; what was opened; whether a name
 * ends so, in small letters or capitals. */
enum twin__content twin__content_of_name(const char *name, const struct twin__input_settings *settings);
enum twin__content twin__content_of(const struct twin__opening *opening);
bool twin__name_ends_in(const char *name, const char *ending);

/* open.c: whether options.pre makes the text of a file with this path, below a folder or as it was given. */
bool twin__is_filtered(const char *path, const struct twin__input_settings *settings);

/* Whether a byte is the character `small`, which is no capital letter, or its capital letter of ASCII: in any locale. */
static inline bool twin__is_in_any_case(char byte, char small)
{
    return byte == small || (byte >= 'A' && byte <= 'Z' && byte - 'A' + 'a' == small);
}

/* memory.c: documents in memory, either as an array or by calls. Borrows both. */
twin_status twin__memory_open(struct twin__source **out, const twin_memory_document *documents,
                              twin_memory_source source, const struct twin__input_settings *settings,
                              twin_error *error);

/* record.c: a member of a JSON object on a line, a string or a number; NULL bytes when it is missing or neither. */
twin_status twin__json_field(twin_text *out, twin_read_buffers *room, twin_text line, const char *name,
                             twin_error *error);

/* record.c: makes the record a problem. */
void twin__record_problem(struct twin__record *record, twin_problem_kind kind, uint64_t column, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));
void twin__record_too_long(struct twin__record *record, const struct twin__source *source);

/* record.c: a document of lines loses its id, so that its position names it. */
void twin__document_drop_id(twin_document *document);

/* record.c: calls the visitor. TWIN_ESTOPPED when that wants no more. */
twin_status twin__deliver(struct twin__chunk *chunk, struct twin__record *record, twin_position position);

/* record.c: the `describe` of kinds that have lines. */
twin_status twin__describe_line(twin_buffer *out, const struct twin__source *source, twin_position position);

/* record.c: looks at the line that starts at `line`; a newline is right before `end`. `newline`
 * becomes the one that ends the line; of sequences, the one that ends the last line of the record. */
twin_status twin__record_from_line(struct twin__record *out, const char **newline, const struct twin__source *source,
                                   twin_read_buffers *buffers, const char *line, const char *end);

/* input.c: the id of a document that has none, stored in `buffer`: its line, after the source's
 * name if there are several. */
twin_status twin__name_by_line(twin_text *out, const twin_input *input, twin_buffer *buffer, twin_position position);

#endif

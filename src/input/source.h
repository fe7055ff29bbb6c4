/* source.h — one input, opened: a folder with its files listed, or lines that can be read anywhere. */
#ifndef TWIN_INPUT_SOURCE_H
#define TWIN_INPUT_SOURCE_H

#include <twinsift/input.h>

#include "input/folder.h"

struct source {
    char *name; /* as it was given; "-" is "standard input" */
    int fd;     /* the folder, the file, or the temporary file it was unpacked into; -1: none */
    bool is_folder;
    uint64_t begin, end;  /* lines: where they begin, behind a byte order mark, and end */
    struct folder folder; /* a folder: its files */
    size_t first_chunk, pieces;
};

/* Opens `path`, with the defaults already filled into `options`. Release with twin__source_close(), also after
 * a failure. */
twin_status twin__source_open(struct source *out, const char *path, const twin_input_options *options,
                              twin_error *error);
void twin__source_close(struct source *source);

/* A document without an id is called by its line, behind its input's name when there are several. The name lies in
 * `room`. */
twin_status twin__name_by_line(twin_text *out, const twin_input *input, twin_buffer *room, twin_position position);

#endif

/* word_list.c — a file of words, one per line. */
#include "word_list.h"

#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

static bool read_whole(twin_buffer *out, const char *path)
{
    enum { BLOCK = 1 << 16 };
    FILE *file = fopen(path, "rb");
    size_t length = file ? 1 : 0;
    bool has_room = true;
    while (length && has_room && out->length <= MOST_BYTES) {
        has_room = twin_buffer_reserve(out, BLOCK) == TWIN_OK;
        length = has_room ? fread(out->bytes + out->length, 1, BLOCK, file) : 0;
        out->length += length;
    }
    bool failed = !file || ferror(file) != 0;
    int reason = errno;
    if (file)
        fclose(file);
    if (failed || !has_room)
        return refuse("%s: %s", path, failed ? strerror(reason) : twin_status_text(TWIN_ENOMEM));
    return out->length <= MOST_BYTES || refuse("%s: a list of words larger than 16 MiB", path);
}

static size_t split(twin_text *words, char *bytes, size_t length)
{
    size_t count = 0;
    for (char *p = bytes, *end = bytes + length; p < end;) {
        char *newline = memchr(p, '\n', (size_t)(end - p));
        char *stop = newline ? newline : end, *last = stop;
        while (last > p && (last[-1] == '\r' || last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (last > p)
            words[count++] = (twin_text){ p, (size_t)(last - p) };
        p = stop + 1;
    }
    return count;
}

static bool take_block(void *context, const char *bytes, size_t length)
{
    return twin_buffer_append(context, bytes, length) == TWIN_OK;
}

/* Each line that is not empty is a word. */
static size_t split_lines(twin_text *words, char *bytes, size_t length)
{
    size_t count = 0;
    for (char *p = bytes, *end = bytes + length; p < end;) {
        char *newline = memchr(p, '\n', (size_t)(end - p));
        char *stop = newline ? newline : end;
        size_t has_return = stop > p && stop[-1] == '\r';
        if ((size_t)(stop - p) > has_return)
            words[count++] = (twin_text){ p, (size_t)(stop - p) - has_return };
        p = stop + 1;
    }
    return count;
}

static size_t count_lines(const char *bytes, size_t length)
{
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    return lines;
}

bool word_list_read_lines(struct word_list *out, const char *name)
{
    twin_buffer bytes = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_input_stream(name, take_block, &bytes, (twin_progress){ 0 }, &error);
    *out = (struct word_list){ .file = bytes.bytes };
    if (status == TWIN_OK)
        out->words = malloc(count_lines(bytes.bytes, bytes.length) * sizeof *out->words);
    if (status == TWIN_ESTOPPED || (status == TWIN_OK && !out->words))
        return refuse("%s: %s", name, twin_status_text(TWIN_ENOMEM));
    if (status != TWIN_OK)
        return refuse_status(name, status, &error);
    if (bytes.length)
        out->count = split_lines(out->words, bytes.bytes, bytes.length);
    return true;
}

bool word_list_read(struct word_list *out, const char *path)
{
    twin_buffer bytes = { 0 };
    bool is_read = read_whole(&bytes, path);
    *out = (struct word_list){ .file = bytes.bytes };
    if (!is_read)
        return false;
    out->words = malloc(count_lines(bytes.bytes, bytes.length) * sizeof *out->words);
    if (!out->words)
        return refuse("%s: %s", path, twin_status_text(TWIN_ENOMEM));
    out->count = split(out->words, bytes.bytes, bytes.length);
    if (out->count == 0)
        fail("%s: there are no words in it", path);
    return out->count > 0;
}

void word_list_clear(struct word_list *list)
{
    free(list->words);
    free(list->file);
    *list = (struct word_list){ 0 };
}

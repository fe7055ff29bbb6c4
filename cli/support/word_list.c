/* word_list.c — a file of words, one per line. */
#include "word_list.h"

#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

static bool read_whole(char **out, size_t *length, const char *path)
{
    FILE *file = fopen(path, "rb");
    *out = malloc(MOST_BYTES + 1);
    *length = 0;
    if (!file || !*out) {
        fail("%s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return false;
    }
    *length = fread(*out, 1, MOST_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed)
        fail("%s: %s", path, strerror(reason));
    else if (*length > MOST_BYTES)
        fail("%s: a list of words larger than 16 MiB", path);
    return !failed && *length <= MOST_BYTES;
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

bool word_list_read(struct word_list *out, const char *path)
{
    size_t length, lines = 1;
    *out = (struct word_list){ 0 };
    if (!read_whole(&out->file, &length, path))
        return false;
    for (size_t i = 0; i < length; i++)
        lines += out->file[i] == '\n';
    out->words = malloc(lines * sizeof *out->words);
    if (!out->words) {
        fail("%s: %s", path, twin_status_text(TWIN_ENOMEM));
        return false;
    }
    out->count = split(out->words, out->file, length);
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

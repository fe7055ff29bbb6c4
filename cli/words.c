/* words.c — a file of words, one a line. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

/* The whole file, folded as texts are, with lines kept apart. */
static bool read_whole(char **out, size_t *length, const char *path)
{
    FILE *file = fopen(path, "rb");
    *out = malloc(MOST_BYTES + 1);
    *length = 0;
    if (!file || !*out) {
        trouble("%s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return false;
    }
    *length = fread(*out, 1, MOST_BYTES + 1, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed)
        trouble("%s: %s", path, strerror(reason));
    else if (*length > MOST_BYTES)
        trouble("%s: a list of words larger than 16 MiB", path);
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

bool read_words(char **file, twin_text **words, size_t *count, const char *path)
{
    size_t length;
    if (!read_whole(file, &length, path))
        return false;
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += (*file)[i] == '\n';
    *words = malloc(lines * sizeof **words);
    if (!*words) {
        trouble("%s: %s", path, twin_status_text(TWIN_ENOMEM));
        return false;
    }
    *count = split(*words, *file, length);
    if (*count == 0)
        trouble("%s: there are no words in it", path);
    return *count > 0;
}

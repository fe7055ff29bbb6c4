/* reuters.c — the texts of Reuters-21578.
 *
 * The collection is 22 SGML files. Only the TEXT elements are wanted, so tags and entities are removed by hand; the
 * pairs of texts with scores that experiments compare are here too. */
#include "texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 22 };

static void name_file(char *out, size_t room, const struct lab *lab, int number)
{
    snprintf(out, room, "%s/reuters21578/reut2-%03d.sgm", lab->data, number);
}

/* The bytes of a file, zero-terminated. */
static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die("%s: cannot be read: %s", path, strerror(errno));
    long size = ftell(file);
    rewind(file);
    if (size < 0)
        die("%s: cannot be read: %s", path, strerror(errno));
    char *bytes = need((size_t)size + 1, 1);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size)
        die("%s: could not be read", path);
    fclose(file);
    for (long i = 0; i < size; i++)
        if (bytes[i] == '\0')
            bytes[i] = ' '; /* so that string functions see all of it */
    return bytes;
}

/* The length of a tag or entity that begins here, or 0. No entity stands for a letter. */
static size_t markup(const char *text, const char *end)
{
    size_t most = (size_t)(end - text), length;
    if (text[0] != '<' && text[0] != '&')
        return 0;
    if (text[0] == '<')
        length = 1 + strcspn(text + 1, ">");
    else
        length = 1 + strspn(text + 1, "#0123456789abcdefghijklmnopqrstuvwxyz");
    bool whole = length < most && text[length] == (text[0] == '<' ? '>' : ';');
    return whole ? length + 1 : 0;
}

/* Writes what `form` keeps of begin .. end; returns the length. */
static size_t clean(char *out, const char *begin, const char *end, enum reuters_form form)
{
    size_t length = 0;
    bool apart = false; /* something was dropped since the last byte kept */
    while (begin < end) {
        size_t skipped = markup(begin, end);
        char c = *begin >= 'A' && *begin <= 'Z' ? (char)(*begin - 'A' + 'a') : *begin;
        bool kept = !skipped && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && form != REUTERS_LETTERS));
        if (kept && apart && length > 0 && form != REUTERS_JOINED)
            out[length++] = ' ';
        if (kept)
            out[length++] = c;
        apart = !kept;
        begin += skipped ? skipped : 1;
    }
    return length;
}

/* Adds the texts of a file; there is room for the bytes of all files. */
static void add_texts(struct reuters *out, size_t *capacity, char **room, const char *file, enum reuters_form form)
{
    for (const char *at = file; (at = strstr(at, "<TEXT")) != NULL;) {
        const char *begin = strchr(at, '>'), *end = begin ? strstr(begin, "</TEXT>") : NULL;
        if (!end)
            return;
        if (out->count == *capacity) {
            *capacity = *capacity ? 2 * *capacity : 4096;
            out->texts = realloc(out->texts, *capacity * sizeof *out->texts);
            if (!out->texts)
                die("out of memory");
        }
        size_t length = clean(*room, begin + 1, end, form);
        out->texts[out->count++] = (twin_text){ *room, length };
        *room += length;
        at = end;
    }
}

bool reuters_read(struct reuters *out, struct lab *lab, enum reuters_form form)
{
    char path[4096], *files[FILES];
    size_t bytes = 0, capacity = 0;
    *out = (struct reuters){ 0 };
    if (!lab->data) {
        skip(lab, "no data folder; use --data DIR or set TWINSIFT_DATA");
        return false;
    }
    for (int i = 0; i < FILES; i++) {
        name_file(path, sizeof path, lab, i);
        if (access(path, R_OK) != 0) {
            skip(lab, "Reuters-21578: %s does not exist", path);
            return false;
        }
    }
    for (int i = 0; i < FILES; i++) {
        name_file(path, sizeof path, lab, i);
        files[i] = read_whole(path);
        bytes += strlen(files[i]);
    }
    out->bytes = need(bytes, 1);
    char *room = out->bytes;
    for (int i = 0; i < FILES; i++) {
        add_texts(out, &capacity, &room, files[i], form);
        free(files[i]);
    }
    return true;
}

void reuters_clear(struct reuters *reuters)
{
    free(reuters->texts);
    free(reuters->bytes);
    *reuters = (struct reuters){ 0 };
}

twin_text text_cut(twin_text text, size_t n)
{
    return (twin_text){ text.bytes, text.length < n ? text.length : n };
}

void scored_add(struct scored_pairs *to, uint32_t a, uint32_t b, float score)
{
    if (to->count == to->capacity) {
        to->capacity = to->capacity ? 2 * to->capacity : 1024;
        to->pairs = realloc(to->pairs, to->capacity * sizeof *to->pairs);
        if (!to->pairs)
            die("out of memory");
    }
    to->pairs[to->count++] = (struct scored){ a < b ? a : b, a < b ? b : a, score };
}

static int compare_pairs(const void *one, const void *other)
{
    const struct scored *x = one, *y = other;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->score < y->score) - (x->score > y->score);
}

void scored_unite(struct scored_pairs *pairs)
{
    size_t kept = 0;
    if (pairs->count)
        qsort(pairs->pairs, pairs->count, sizeof *pairs->pairs, compare_pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct scored *pair = &pairs->pairs[i];
        if (kept == 0 || pairs->pairs[kept - 1].a != pair->a || pairs->pairs[kept - 1].b != pair->b)
            pairs->pairs[kept++] = *pair;
    }
    pairs->count = kept;
}

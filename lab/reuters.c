/* reuters.c — the texts of Reuters-21578.
 *
 * The collection is 22 SGML files. Only the TEXT elements are wanted, so tags and entities are removed by hand. The
 * pairs of texts with scores that experiments compare, and the classes of their lengths, are here too. */
#include "edit/embed.h"
#include "texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 22 };

/* The bytes of a file, zero-terminated. */
static char *read_whole(const char *path)
{
    FILE *file = file_open(path);
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0)
        die("%s: cannot read: %s", path, strerror(errno));
    rewind(file);
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
    char *files[FILES] = { NULL };
    size_t bytes = 0, capacity = 0;
    bool found = true;
    *out = (struct reuters){ 0 };
    for (int i = 0; i < FILES && found; i++) {
        char path[PATH_ROOM], name[64];
        snprintf(name, sizeof name, "reuters21578/reut2-%03d.sgm", i);
        found = data_find(path, lab, name);
        files[i] = found ? read_whole(path) : NULL;
        bytes += found ? strlen(files[i]) : 0;
    }
    out->bytes = need(bytes, 1);
    char *room = out->bytes;
    for (int i = 0; i < FILES; i++) {
        if (found)
            add_texts(out, &capacity, &room, files[i], form);
        free(files[i]);
    }
    if (!found)
        reuters_clear(out);
    return found;
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

int scored_by_pair(const void *one, const void *other)
{
    const struct scored *x = one, *y = other;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* The highest score of a pair first. */
static int by_pair_and_score(const void *one, const void *other)
{
    const struct scored *x = one, *y = other;
    int order = scored_by_pair(one, other);
    return order ? order : (x->score < y->score) - (x->score > y->score);
}

void scored_unite(struct scored_pairs *pairs)
{
    size_t kept = 0;
    if (pairs->count)
        qsort(pairs->pairs, pairs->count, sizeof *pairs->pairs, by_pair_and_score);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct scored *pair = &pairs->pairs[i];
        if (kept == 0 || pairs->pairs[kept - 1].a != pair->a || pairs->pairs[kept - 1].b != pair->b)
            pairs->pairs[kept++] = *pair;
    }
    pairs->count = kept;
}

void scored_gather(struct scored_pairs *out, struct scored_pairs *of_workers, size_t workers)
{
    *out = (struct scored_pairs){ 0 };
    for (size_t w = 0; w < workers; w++) {
        for (size_t i = 0; i < of_workers[w].count; i++)
            scored_add(out, of_workers[w].pairs[i].a, of_workers[w].pairs[i].b, of_workers[w].pairs[i].score);
        free(of_workers[w].pairs);
    }
    free(of_workers);
    scored_unite(out);
}

size_t members_of(struct member **out, const twin_text *texts, size_t count, double ratio, size_t classes)
{
    struct member *members = need(TWIN__EMBED_MAX_CLASSES * count, sizeof *members);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        twin__embed_class of_text[TWIN__EMBED_MAX_CLASSES];
        size_t number = twin__embed_length_classes(of_text, texts[i].length, ratio);
        for (size_t c = 0; c < number; c++) {
            if (of_text[c].number >= classes)
                die("a text of %zu bytes is in class %zu", texts[i].length, (size_t)of_text[c].number);
            members[found++] = (struct member){ (uint32_t)i, of_text[c] };
        }
    }
    *out = members;
    return found;
}

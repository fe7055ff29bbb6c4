/* preference_keys.c — what decides which of two documents is preferred, and more of it than fits into memory.
 *
 * A run is keys one after the other, each followed by the bytes of its field. Ids are those of the collection, and are
 * not written. To merge, each run has a buffer from which its next key is taken; the smallest of these is looked for
 * among all runs, which are few, since a run takes a good part of the memory. */
#include "dedup/preference_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

/* ---- the order ---- */

static int compare_texts(twin_text a, twin_text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* Missing fields last, numbers before other values. */
static int compare_fields(const struct twin__key *x, const struct twin__key *y)
{
    if (!x->field.bytes || !y->field.bytes)
        return (x->field.bytes == NULL) - (y->field.bytes == NULL);
    int order = x->is_number != y->is_number ? (x->is_number ? -1 : 1)
                : x->is_number               ? (x->number > y->number) - (x->number < y->number)
                                             : compare_texts(x->field, y->field);
    return x->is_reversed ? -order : order;
}

int twin__key_compare(const void *a, const void *b)
{
    const struct twin__key *x = a, *y = b;
    int field = compare_fields(x, y);
    if (field)
        return field;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->digest.high != y->digest.high)
        return x->digest.high < y->digest.high ? -1 : 1;
    if (x->digest.low != y->digest.low)
        return x->digest.low < y->digest.low ? -1 : 1;
    int order = compare_texts(x->id, y->id);
    return order ? order : (x->document > y->document) - (x->document < y->document);
}

/* ---- writing ---- */

void twin__key_runs_clear(struct twin__key_runs *runs)
{
    if (runs->fd >= 0)
        close(runs->fd);
    free(runs->starts);
    *runs = (struct twin__key_runs){ .fd = -1 };
}

static twin_status fail_runs(const struct twin__key_runs *runs, twin_error *error)
{
    return twin__fail(error, TWIN_EIO, "what orders documents cannot be kept in the temporary folder %s: %m",
                      runs->folder);
}

static twin_status append_key(twin_buffer *buffer, const struct twin__key *key)
{
    twin_status status = twin_buffer_append(buffer, (const char *)key, sizeof *key);
    return status == TWIN_OK && key->field.bytes ? twin_buffer_append(buffer, key->field.bytes, key->field.length)
                                                 : status;
}

enum { BUFFERED = 1 << 16 }; /* bytes */

/* Adds keys to the end of the file, from *end on. */
static twin_status write_keys(uint64_t *end, const struct twin__key_runs *runs, const struct twin__key *keys,
                              size_t count, twin_error *error)
{
    twin_buffer buffer = { 0 };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        if (append_key(&buffer, &keys[i]) != TWIN_OK)
            status = twin__fail_memory(error);
        else if ((buffer.length >= BUFFERED || i + 1 == count) && buffer.length) {
            if (!twin__write_at(runs->fd, buffer.bytes, buffer.length, *end))
                status = fail_runs(runs, error);
            *end += buffer.length;
            buffer.length = 0;
        }
    }
    twin_buffer_clear(&buffer);
    return status;
}

twin_status twin__key_runs_write(struct twin__key_runs *runs, const struct twin__key *keys, size_t count,
                                 twin_error *error)
{
    if (runs->fd < 0)
        runs->fd = twin__temporary_file(runs->folder);
    if (runs->fd < 0)
        return fail_runs(runs, error);
    if (!TWIN__ARRAY_GROW(&runs->starts, &runs->capacity, runs->count, 2))
        return twin__fail_memory(error);
    if (runs->count == 0)
        runs->starts[0] = 0;
    uint64_t end = runs->starts[runs->count];
    twin_status status = write_keys(&end, runs, keys, count, error);
    runs->starts[++runs->count] = end;
    return status;
}

/* ---- merging ---- */

/* What is next of a run. */
struct reader {
    uint64_t next, end; /* in the file, of what is not in the buffer */
    char *buffer;
    size_t at, length, capacity; /* of the buffer; the next key begins at `at` */
    struct twin__key key;        /* the next one, with its field in the buffer */
    bool has_ended;
};

/* Makes sure that `wanted` bytes from `at` on are in the buffer. */
static twin_status fill_buffer(struct reader *reader, const struct twin__key_runs *runs, size_t wanted,
                               twin_error *error)
{
    if (reader->length - reader->at >= wanted)
        return TWIN_OK;
    size_t left = reader->length - reader->at, room = wanted > BUFFERED ? wanted : BUFFERED;
    if (left)
        memmove(reader->buffer, reader->buffer + reader->at, left);
    reader->at = 0;
    reader->length = left;
    if (!TWIN__ARRAY_GROW(&reader->buffer, &reader->capacity, left, room - left))
        return twin__fail_memory(error);
    uint64_t more = reader->end - reader->next < room - left ? reader->end - reader->next : room - left;
    errno = EIO; /* if there are fewer, which nobody but the system can have taken */
    if (left + more < wanted || twin__read_at(runs->fd, reader->buffer + left, more, reader->next) != (ssize_t)more)
        return fail_runs(runs, error);
    reader->next += more;
    reader->length += more;
    return TWIN_OK;
}

static twin_status read_key(struct reader *reader, const struct twin__key_runs *runs,
                            const twin_collection *collection, twin_error *error)
{
    reader->has_ended = reader->at == reader->length && reader->next == reader->end;
    if (reader->has_ended)
        return TWIN_OK;
    twin_status status = fill_buffer(reader, runs, sizeof reader->key, error);
    if (status != TWIN_OK)
        return status;
    memcpy(&reader->key, reader->buffer + reader->at, sizeof reader->key);
    reader->at += sizeof reader->key;
    reader->key.id = twin_collection_entry_of(collection, reader->key.document).id;
    if (!reader->key.field.bytes)
        return TWIN_OK;
    status = fill_buffer(reader, runs, reader->key.field.length, error);
    reader->key.field.bytes = reader->buffer + reader->at;
    reader->at += reader->key.field.length;
    return status;
}

static struct reader *smallest(struct reader *readers, size_t count)
{
    struct reader *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (!readers[i].has_ended && (!found || twin__key_compare(&readers[i].key, &found->key) < 0))
            found = &readers[i];
    return found;
}

twin_status twin__key_runs_merge(uint32_t *out, size_t *without_field, const struct twin__key_runs *runs,
                                 const twin_collection *collection, twin_error *error)
{
    struct reader *readers = calloc(runs->count + 1, sizeof *readers);
    twin_status status = readers ? TWIN_OK : twin__fail_memory(error);
    for (size_t i = 0; i < runs->count && status == TWIN_OK; i++) {
        readers[i].next = runs->starts[i];
        readers[i].end = runs->starts[i + 1];
        status = read_key(&readers[i], runs, collection, error);
    }
    for (struct reader *next; status == TWIN_OK && (next = smallest(readers, runs->count));) {
        *out++ = next->key.document;
        *without_field += !next->key.field.bytes;
        status = read_key(next, runs, collection, error);
    }
    for (size_t i = 0; readers && i < runs->count; i++)
        free(readers[i].buffer);
    free(readers);
    return status;
}

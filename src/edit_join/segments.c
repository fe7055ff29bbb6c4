/* segments.c — segments as keys: see segments.h. The longer of two texts, or the later of equal lengths, looks up the
 * other: each of its windows where a segment may be. Between two collections those of the first look up the others,
 * which may be longer or shorter. */
#include <stdlib.h>

#include "edit_join/keys.h"
#include "edit_join/segments.h"
#include "kernels/sort.h"

/* Texts that a worker takes at a time. To index or count one takes about as long as any other; to compare one with
 * all it shares a key with may take a thousand times as long, so fewer are taken then. */
enum { TEXTS_AT_A_TIME = 64, COMPARED_AT_A_TIME = 16 };

/* The key of characters begin .. end-1 as segment `i` of a text of `length`. */
static uint64_t segment_key(const struct twin__keys *keys, const struct twin__characters *characters, size_t begin,
                            size_t end, size_t length, size_t i)
{
    uint32_t from = characters->at[begin];
    uint64_t bytes = twin_hash_bytes(keys->hash, characters->bytes + from, characters->at[end] - from);
    return twin__key_of(bytes ^ twin__mix((uint64_t)length << 32 | i));
}

/* ---- the index ---- */

/* The first text that is looked up by others, and how many are. */
static size_t indexed_first(const struct twin__edit_class *class)
{
    return class->is_between ? class->middle : 0;
}

static size_t indexed_count(const struct twin__edit_class *class)
{
    return class->is_between ? class->count - class->middle : class->middle;
}

/* How many look up others: the first ones. */
static size_t looking_count(const struct twin__edit_class *class)
{
    return class->is_between ? class->middle : class->count;
}

static void index_some(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    struct twin__key_index *index = context;
    const struct twin__keys *keys = index->keys;
    const size_t edits = keys->edits;
    for (size_t number = begin; number < end; number++) {
        struct twin__characters characters;
        size_t position = indexed_first(keys->class) + number;
        twin__key_characters(&characters, keys, position);
        size_t length = characters.count;
        for (size_t i = 0; i <= edits; i++)
            index->entries[number * (edits + 1) + i] =
                segment_key(keys, &characters, twin__segment_begin(edits, length, i),
                            twin__segment_begin(edits, length, i + 1), length, i) |
                position;
    }
}

static twin_status make(struct twin__key_index *out, struct twin__keys *keys)
{
    const struct twin__edit_class *class = keys->class;
    twin_status status = twin__key_index_room(out, keys, indexed_count(class) * (keys->edits + 1));
    if (status != TWIN_OK)
        return status;
    twin_exec_for(class->options.exec, indexed_count(class), TEXTS_AT_A_TIME, index_some, out);
    return twin__key_index_sort(out);
}

/* ---- looking up ---- */

typedef twin_status visitor(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                            const uint64_t *entries, size_t count);

/* Calls `visit` with the entries of a key that belong to earlier texts, or between two collections with all. */
static twin_status show_entries(const struct twin__key_index *index, struct twin__key_worker *worker, size_t position,
                                uint64_t key, visitor *visit)
{
    size_t from = twin__lower_bound(index->entries, index->count, key), to = from;
    uint64_t bound = key | (index->keys->class->is_between ? UINT32_MAX : position);
    while (to < index->count && to < from + 8 && index->entries[to] < bound)
        to++;
    if (to == from + 8) /* many */
        to = twin__lower_bound(index->entries, index->count, bound);
    return visit(index->keys, worker, position, index->entries + from, to - from);
}

/* Calls `visit` with the entries of all windows where a segment of a text of `length` may be. */
static twin_status look_up_length(const struct twin__key_index *index, struct twin__key_worker *worker,
                                  size_t position, const struct twin__characters *characters, size_t length,
                                  visitor *visit)
{
    const struct twin__keys *keys = index->keys;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i <= keys->edits; i++) {
        struct twin__segment_window window;
        if (!twin__segment_window(&window, keys->edits, characters->count, length, i))
            continue;
        for (size_t at = window.first; at <= window.last && status == TWIN_OK; at++) {
            uint64_t key = segment_key(keys, characters, at, at + window.size, length, i);
            status = show_entries(index, worker, position, key, visit);
        }
    }
    return status;
}

/* Calls `visit` with the index entries of all texts that may be near the one at `position`, some more than once. */
static twin_status look_up(const struct twin__key_index *index, struct twin__key_worker *worker, size_t position,
                           visitor *visit)
{
    const struct twin__keys *keys = index->keys;
    const size_t edits = keys->edits;
    struct twin__characters characters;
    twin_status status = TWIN_OK;
    twin__key_characters(&characters, keys, position);
    size_t count = characters.count, longest = count + (keys->class->is_between ? edits : 0);
    for (size_t length = count > 2 * edits ? count - edits : edits + 1; length <= longest && status == TWIN_OK;
         length++)
        status = look_up_length(index, worker, position, &characters, length, visit);
    return status;
}

static twin_status count_entries(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                                 const uint64_t *entries, size_t count)
{
    (void)keys;
    (void)position;
    (void)entries;
    worker->seen += count;
    return TWIN_OK;
}

static void count_some(void *context, size_t begin, size_t end, int worker)
{
    const struct twin__key_index *index = context;
    for (size_t position = begin; position < end; position++)
        (void)look_up(index, &index->keys->workers[worker], position, count_entries);
}

static uint64_t count(const struct twin__key_index *index)
{
    const struct twin__keys *keys = index->keys;
    uint64_t seen = 0;
    twin_exec_for(keys->class->options.exec, looking_count(keys->class), TEXTS_AT_A_TIME, count_some, (void *)index);
    for (int i = 0; i < keys->class->options.exec.workers; i++) {
        seen += keys->workers[i].seen;
        keys->workers[i].seen = 0;
    }
    return seen;
}

/* ---- comparing ---- */

static twin_status compare_entries(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                                   const uint64_t *entries, size_t count)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        uint32_t other = (uint32_t)entries[i];
        if (worker->compared_by[other] == position + 1)
            continue;
        worker->compared_by[other] = (uint32_t)position + 1;
        status = twin__keys_compare(keys, worker, position, other);
    }
    return status;
}

static twin_status compare_some(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    const struct twin__key_index *index = context;
    struct twin__keys *keys = index->keys;
    struct twin__key_worker *worker = &keys->workers[number];
    twin_status status = TWIN_OK;
    (void)error; /* the status says it all */
    for (size_t position = begin; position < end && status == TWIN_OK; position++) {
        twin__keys_begin(keys, worker, position);
        status = look_up(index, worker, position, compare_entries);
        twin__keys_end(keys, worker, position);
    }
    return status;
}

static twin_status compare(const struct twin__key_index *index, twin_error *error)
{
    const struct twin__edit_class *class = index->keys->class;
    return twin__exec_try(class->options.exec, looking_count(class), COMPARED_AT_A_TIME, compare_some, (void *)index,
                          error);
}

/* Looks that take as long as to look up a window twice, once to count. A text has about 3·edits² windows. */
static const double WINDOW = 1000;

/* The same to make and sort a key. */
static const double KEY = 120;

static double cost(const struct twin__keys *keys)
{
    const struct twin__edit_class *class = keys->class;
    double windows = (double)(3 * keys->edits * keys->edits + 1);
    if (!class->is_between)
        return WINDOW * windows * (double)class->count;
    return WINDOW * 2 * windows * (double)class->middle + KEY * (double)((keys->edits + 1) * indexed_count(class));
}

const struct twin__key_kind twin__segments = {
    .cost = cost, .comparison = 15, .make = make, .count = count, .compare = compare
};

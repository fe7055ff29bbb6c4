/* segments.c — segments as keys (Pass-Join: Li, Deng, Wang, Feng 2011).
 *
 * A text is cut into one segment more than the edits allowed. Each edit changes one segment at most, so a near text
 * contains one of them unchanged, shifted by no more characters than the edits allowed. The longer of two texts, or the
 * later of equal lengths, looks up the other: each of its windows where a segment may be. */
#include <stdlib.h>

#include "edit_join/keys.h"
#include "kernels/sort.h"

/* Texts that a worker takes at a time. To index or count one takes about as long as any other; to compare one with
 * all it shares a key with may take a thousand times as long, so fewer are taken then. */
enum { TEXTS_AT_A_TIME = 64, COMPARED_AT_A_TIME = 16 };

/* Where segment `i` of a text of `length` characters begins; the one past the last begins at its end. */
static size_t segment_begin(const struct twin__keys *keys, size_t length, size_t i)
{
    return i * length / (keys->edits + 1);
}

/* The key of characters begin .. end-1 as segment `i` of a text of `length`. */
static uint64_t segment_key(const struct twin__keys *keys, const struct twin__characters *characters, size_t begin,
                            size_t end, size_t length, size_t i)
{
    uint32_t from = characters->at[begin];
    uint64_t bytes = twin_hash_bytes(keys->hash, characters->bytes + from, characters->at[end] - from);
    return twin__key_of(bytes ^ twin__mix((uint64_t)length << 32 | i));
}

/* ---- the index ---- */

static void index_some(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    struct twin__key_index *index = context;
    const struct twin__keys *keys = index->keys;
    for (size_t position = begin; position < end; position++) {
        struct twin__characters characters;
        twin__key_characters(&characters, keys, position);
        size_t length = characters.count;
        for (size_t i = 0; i <= keys->edits; i++)
            index->entries[position * (keys->edits + 1) + i] =
                segment_key(keys, &characters, segment_begin(keys, length, i), segment_begin(keys, length, i + 1),
                            length, i) |
                position;
    }
}

static twin_status make(struct twin__key_index *out, struct twin__keys *keys)
{
    twin_status status = twin__key_index_room(out, keys, keys->class->middle * (keys->edits + 1));
    if (status != TWIN_OK)
        return status;
    twin_exec_for(keys->class->options.exec, keys->class->middle, TEXTS_AT_A_TIME, index_some, out);
    return twin__key_index_sort(out);
}

/* ---- looking up ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

typedef twin_status visitor(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                            const uint64_t *entries, size_t count);

/* Calls `visit` with the entries of a key that belong to earlier texts. */
static twin_status show_entries(const struct twin__key_index *index, struct twin__key_worker *worker, size_t position,
                                uint64_t key, visitor *visit)
{
    size_t from = twin__lower_bound(index->entries, index->count, key), to = from;
    while (to < index->count && to < from + 8 && index->entries[to] < (key | position))
        to++;
    if (to == from + 8) /* many */
        to = twin__lower_bound(index->entries, index->count, key | position);
    return visit(index->keys, worker, position, index->entries + from, to - from);
}

/* Calls `visit` with the index entries of all earlier texts that may be near the one at `position`, some more than
 * once.
 *
 * Let segment i begin at `begin` in a text that is `shorter` by so much, and at `at` here. Should it be the first
 * that is left whole, each of the i before it took an edit at least; the rest is left to those behind it. So it has
 * moved by i characters at most, seen from the beginning, and by as many as there are segments behind it, seen from
 * the end. Of the segments of a near text one keeps within both. */
static twin_status look_up(const struct twin__key_index *index, struct twin__key_worker *worker, size_t position,
                           visitor *visit)
{
    const struct twin__keys *keys = index->keys;
    const size_t edits = keys->edits;
    struct twin__characters characters;
    twin_status status = TWIN_OK;
    twin__key_characters(&characters, keys, position);
    for (size_t shorter = 0; shorter <= edits && characters.count > edits + shorter; shorter++)
        for (size_t i = 0; i <= edits; i++) {
            const size_t length = characters.count - shorter, behind = edits - i;
            size_t begin = segment_begin(keys, length, i), size = segment_begin(keys, length, i + 1) - begin;
            size_t first = larger(begin - smaller(begin, i), begin + shorter - smaller(begin + shorter, behind));
            size_t last = smaller(characters.count - size, smaller(begin + i, begin + shorter + behind));
            for (size_t at = first; at <= last && status == TWIN_OK; at++) {
                uint64_t key = segment_key(keys, &characters, at, at + size, length, i);
                status = show_entries(index, worker, position, key, visit);
            }
        }
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
    twin_exec_for(keys->class->options.exec, keys->class->count, TEXTS_AT_A_TIME, count_some, (void *)index);
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
    return twin__exec_try(class->options.exec, class->count, COMPARED_AT_A_TIME, compare_some, (void *)index, error);
}

/* Nanoseconds to look up a window twice, once to count; measured on surnames. A text has about 3·edits² windows. */
static const double WINDOW = 1000;

static double cost(const struct twin__keys *keys)
{
    return WINDOW * (double)(3 * keys->edits * keys->edits + 1) * (double)keys->class->count;
}

const struct twin__key_kind twin__segments = {
    .cost = cost, .comparison = 15, .make = make, .count = count, .compare = compare
};

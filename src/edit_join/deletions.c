/* deletions.c — deletions as keys (FastSS: Bocek, Hunt, Stiller 2007).
 *
 * The keys of a text are all strings that remain when up to as many characters are deleted as there may be edits. Two
 * near texts have one in common, since an edit deletes a character from either or both. All keys of all texts are
 * sorted, and texts that have one in common are compared: candidates are few, for they are within twice the edits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit_join/keys.h"
#include "kernels/kernels.h"

/* Keys of a class, of 8 bytes and as much again while they are sorted. */
enum { MOST_KEYS = 1 << 24 };

enum { TEXTS_AT_A_TIME = 64, ENTRIES_AT_A_TIME = 4096 };

/* How many ways there are to take up to `edits` out of `length`; MOST_KEYS or more: too many. */
static size_t keys_of_length(size_t length, size_t edits)
{
    size_t sum = 1, ways = 1;
    for (size_t taken = 1; taken <= edits && taken <= length && sum < MOST_KEYS; taken++) {
        ways = ways * (length - taken + 1) / taken;
        sum += ways;
    }
    return sum;
}

/* The number of keys, and where those of each text begin, unless `begins` is NULL; MOST_KEYS + 1: too many. */
static size_t lay_out(size_t *begins, const struct twin__keys *keys)
{
    size_t sum = 0;
    for (size_t position = 0; position < keys->class->count && sum <= MOST_KEYS; position++) {
        if (begins)
            begins[position] = sum;
        sum += keys_of_length(twin__edit_class_length(keys->class, position), keys->edits);
    }
    return sum <= MOST_KEYS ? sum : MOST_KEYS + 1;
}

/* ---- making them ---- */

struct deleting {
    const struct twin__keys *keys;
    const struct twin__characters *characters;
    size_t position;
    uint64_t *out; /* where the next key goes */
    char left[TWIN__KEY_CHARACTERS * 4];
};

/* Takes up to `more` characters out from number `from` on, `used` bytes being left of those before. */
static void delete_from(struct deleting *deleting, size_t from, size_t used, size_t more)
{
    const uint32_t *at = deleting->characters->at;
    const char *bytes = deleting->characters->bytes;
    const size_t count = deleting->characters->count;
    size_t rest = at[count] - at[from];
    memcpy(deleting->left + used, bytes + at[from], rest);
    *deleting->out++ =
        twin__key_of(twin_hash_bytes(deleting->keys->hash, deleting->left, used + rest)) | deleting->position;
    for (size_t i = from; more > 0 && i < count; i++) {
        memcpy(deleting->left + used, bytes + at[from], at[i] - at[from]);
        delete_from(deleting, i + 1, used + at[i] - at[from], more - 1);
    }
}

struct making {
    const struct twin__key_index *index;
    const size_t *begins;
};

static void make_some(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    const struct making *making = context;
    const struct twin__keys *keys = making->index->keys;
    for (size_t position = begin; position < end; position++) {
        struct twin__characters characters;
        twin__key_characters(&characters, keys, position);
        struct deleting deleting = { .keys = keys,
                                     .characters = &characters,
                                     .position = position,
                                     .out = making->index->entries + making->begins[position] };
        delete_from(&deleting, 0, 0, keys->edits);
    }
}

static twin_status make(struct twin__key_index *out, struct twin__keys *keys)
{
    const struct twin__edit_class *class = keys->class;
    size_t *begins = malloc((class->count + 1) * sizeof *begins);
    twin_status status = begins ? twin__key_index_room(out, keys, lay_out(begins, keys)) : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        struct making making = { out, begins };
        twin_exec_for(class->options.exec, class->count, TEXTS_AT_A_TIME, make_some, &making);
        status = twin__key_index_sort(out);
    }
    free(begins);
    if (status == TWIN_OK) /* what remains of "aab" without one or the other a */
        out->count = twin__kernels()->drop_repeats(out->entries, out->count);
    return status;
}

/* ---- using them ---- */

/* The end of the entries from `begin` on that have the same key. */
static size_t group_end(const struct twin__key_index *index, size_t begin)
{
    size_t end = begin + 1;
    while (end < index->count && (index->entries[end] ^ index->entries[begin]) >> 32 == 0)
        end++;
    return end;
}

/* The first of the entries from `i` to `end`, of one key, that are compared with that of `i`. */
static size_t others_begin(const struct twin__key_index *index, size_t i, size_t end)
{
    const struct twin__edit_class *class = index->keys->class;
    size_t other = i + 1;
    while (class->is_between && other < end && (uint32_t)index->entries[other] < class->middle)
        other++;
    return other;
}

static uint64_t count(const struct twin__key_index *index)
{
    uint64_t seen = 0;
    for (size_t begin = 0, end; begin < index->count; begin = end) {
        end = group_end(index, begin);
        size_t others = others_begin(index, begin, end);
        for (size_t i = begin; i < end && (uint32_t)index->entries[i] < index->keys->class->middle; i++)
            seen += end - (others > i ? others : i + 1);
    }
    return seen;
}

static twin_status compare_group(const struct twin__key_index *index, struct twin__key_worker *worker, size_t begin,
                                 size_t end)
{
    struct twin__keys *keys = index->keys;
    twin_status status = TWIN_OK;
    size_t others = others_begin(index, begin, end);
    for (size_t i = begin; i + 1 < end && (uint32_t)index->entries[i] < keys->class->middle && status == TWIN_OK;
         i++) {
        size_t position = (uint32_t)index->entries[i];
        twin__keys_begin(keys, worker, position);
        for (size_t j = others > i ? others : i + 1; j < end && status == TWIN_OK; j++)
            status = twin__keys_compare(keys, worker, position, (uint32_t)index->entries[j]);
        twin__keys_end(keys, worker, position);
    }
    return status;
}

/* The groups that begin among the entries begin .. end-1. */
static twin_status compare_some(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    const struct twin__key_index *index = context;
    struct twin__key_worker *worker = &index->keys->workers[number];
    twin_status status = TWIN_OK;
    (void)error; /* the status says it all */
    while (begin > 0 && begin < end && (index->entries[begin] ^ index->entries[begin - 1]) >> 32 == 0)
        begin++;
    for (size_t next; begin < end && status == TWIN_OK; begin = next) {
        next = group_end(index, begin);
        status = compare_group(index, worker, begin, next);
    }
    return status;
}

static twin_status compare(const struct twin__key_index *index, twin_error *error)
{
    return twin__exec_try(index->keys->class->options.exec, index->count, ENTRIES_AT_A_TIME, compare_some,
                          (void *)index, error);
}

/* Looks that take as long as to make and sort a key. */
static const double KEY = 120;

static double cost(const struct twin__keys *keys)
{
    size_t all = lay_out(NULL, keys);
    return all <= MOST_KEYS ? KEY * (double)all : (double)INFINITY;
}

const struct twin__key_kind twin__deletions = {
    .cost = cost, .comparison = 50, .make = make, .count = count, .compare = compare
};

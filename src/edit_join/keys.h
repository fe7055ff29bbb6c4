/* keys.h — what near texts must share. See keys.c. */
#ifndef TWIN_EDIT_JOIN_KEYS_H
#define TWIN_EDIT_JOIN_KEYS_H

#include <twinsift/hash.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/random.h"
#include "edit_join/edit_join_private.h"
#include "edit_join/edit_pairs.h"
#include "edit_join/short_texts.h"

/* Longer texts are left to the forest, for texts are kept in memory; so are more edits, because windows grow with their
 * square. */
enum { TWIN__KEY_CHARACTERS = 256, TWIN__KEY_EDITS = 4 };

struct twin__key_worker {
    int number;
    struct twin__edit64 word; /* the text that others are compared with, if texts are short */
    uint32_t *compared_by;    /* segments: by position, the last text that was compared with it, plus one */
    uint64_t seen;            /* candidates */
    struct twin__edit_pairs pairs;
};

struct twin__keys {
    const struct twin__edit_class *class;
    size_t edits; /* within which near texts are */
    twin_hash hash;
    bool are_short;
    struct twin__short_texts short_texts[2]; /* if they are: all, or, between two collections, of either, */
    twin_buffer *texts;                      /* and if not, by position */
    struct twin__key_worker *workers;
};

/* The characters of the short text at a position, which has `length` of them. */
static inline const uint32_t *twin__key_short_text(const struct twin__keys *keys, size_t position, size_t length)
{
    bool other = keys->class->is_between && position >= keys->class->middle;
    return twin__short_text(&keys->short_texts[other], position - (other ? keys->class->middle : 0), length);
}

/* Where the characters of a text begin, and where it ends. */
struct twin__characters {
    const char *bytes;
    uint32_t at[TWIN__KEY_CHARACTERS + 1];
    size_t count;
};
void twin__key_characters(struct twin__characters *out, const struct twin__keys *keys, size_t position);

/* A key is the high half of a number. */
static inline uint64_t twin__key_of(uint64_t hash)
{
    return twin__mix(hash) & 0xFFFFFFFF00000000u;
}

/* Compares the text at `position` with others: between these two calls, `compare` adds those that are near to the
 * worker's pairs. */
void twin__keys_begin(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position);
twin_status twin__keys_compare(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                               size_t other);
void twin__keys_end(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position);

/* ---- two kinds of keys: segments.c and deletions.c */

/* Keys in increasing order, each in the high half of a number, with the position of its text in the low half. Free
 * `entries` in the end. */
struct twin__key_index {
    struct twin__keys *keys;
    uint64_t *entries;
    size_t count;
};

/* Room for `count` entries; and their order. */
twin_status twin__key_index_room(struct twin__key_index *out, struct twin__keys *keys, size_t count);
twin_status twin__key_index_sort(struct twin__key_index *index);

/* How a kind makes its keys, counts the candidates (some more than once), and compares them. `cost` is roughly what
 * that takes in looks, except for `comparison`, which is per candidate; infinite when there would be too many
 * keys. */
struct twin__key_kind {
    double (*cost)(const struct twin__keys *keys);
    double comparison;
    twin_status (*make)(struct twin__key_index *out, struct twin__keys *keys);
    uint64_t (*count)(const struct twin__key_index *index);
    twin_status (*compare)(const struct twin__key_index *index, twin_error *error);
};
extern const struct twin__key_kind twin__segments, twin__deletions;

#endif

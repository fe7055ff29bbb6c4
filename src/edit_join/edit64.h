/* edit64.h — texts of up to 64 characters, compared one with many: a column of the table is one word.
 *
 * The loops are those of edit_core.c, for one word, and of the kernel edit_tile for one lane. */
#ifndef TWIN_EDIT_JOIN_EDIT64_H
#define TWIN_EDIT_JOIN_EDIT64_H

#include "edit/edit_characters.h"

enum { TWIN__EDIT64 = 64 }; /* the most characters */

/* A text that others are compared with. Bit i of masks[row_of[c]] is set if its character i is c; row 0 is zero. */
struct twin__edit64 {
    uint16_t *row_of; /* TWIN__EDIT_CHARACTERS of them, the caller's, all zero but for the text's own */
    uint64_t masks[TWIN__EDIT64 + 1];
    uint64_t full; /* as many bits as there are characters */
    size_t length;
};

static inline void twin__edit64_set(struct twin__edit64 *word, const uint32_t *characters, size_t length)
{
    uint16_t rows = 0;
    word->masks[0] = 0;
    word->length = length;
    word->full = length == TWIN__EDIT64 ? UINT64_MAX : ((uint64_t)1 << length) - 1;
    for (size_t i = 0; i < length; i++) {
        uint16_t *row = &word->row_of[characters[i]];
        if (!*row) {
            *row = ++rows;
            word->masks[rows] = 0;
        }
        word->masks[*row] |= (uint64_t)1 << i;
    }
}

/* Zeroes row_of again. */
static inline void twin__edit64_unset(struct twin__edit64 *word, const uint32_t *characters)
{
    for (size_t i = 0; i < word->length; i++)
        word->row_of[characters[i]] = 0;
}

static inline size_t twin__edit64_distance(const struct twin__edit64 *word, const uint32_t *text, size_t n)
{
    uint64_t up = UINT64_MAX, down = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t equal = word->masks[word->row_of[text[j]]];
        uint64_t same = (((equal & up) + up) ^ up) | equal | down;
        uint64_t stays = ((same | up) & ~down) << 1, falls = (up & same) << 1;
        up = falls | (stays & ~same);
        down = same & ~stays;
    }
    return n + (size_t)__builtin_popcountll(up & word->full) - (size_t)__builtin_popcountll(down & word->full);
}

static inline size_t twin__edit64_indels(const struct twin__edit64 *word, const uint32_t *text, size_t n)
{
    uint64_t flat = UINT64_MAX;
    for (size_t j = 0; j < n; j++) {
        uint64_t equal = word->masks[word->row_of[text[j]]];
        flat = (flat + (flat & equal)) | (flat & ~equal);
    }
    return n - word->length + 2 * (size_t)__builtin_popcountll(flat & word->full);
}

#endif

/* edit_core.h — edit distance over arrays of symbols, for edit.c.
 *
 * Two methods for one number. Diagonals: for d = 0, 1, 2, … how far each diagonal of the table gets with d edits; about
 * d² steps for any length. Strips: the table itself, 64 cells per word, 64 to 256 rows at a time, only where a path
 * within the cut-off is still possible. */
#ifndef TWIN_EDIT_EDIT_CORE_H
#define TWIN_EDIT_EDIT_CORE_H

#include <twinsift/edit.h>

#include "base/scratch.h"

/* What the arrays of a scratch are for. */
enum {
    TWIN__EDIT_SYMBOLS,   /* a and b, decoded */
    TWIN__EDIT_DIAGONALS, /* how far each diagonal got */
    TWIN__EDIT_DELTAS,    /* the lowest row of a strip, as steps from column to column */
    TWIN__EDIT_MASKS,     /* where each symbol occurs in a strip; all zero between two strips */
    TWIN__EDIT_TABLE,     /* from symbols to small numbers */
    TWIN__EDIT_REVERSED,  /* a and b, backwards */
    TWIN__EDIT_SCORES,    /* a row of the table */
};

/* Each byte that is not UTF-8 counts as a character past the last one. */
enum { TWIN__EDIT_BAD_BYTE = 0x110000 };

/* The character at `at`; *length becomes its number of bytes. */
uint32_t twin__edit_character(twin_text text, size_t at, size_t *length);

static inline int64_t twin__lesser(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static inline int64_t twin__greater(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* Two sequences. `a` runs down the table and `b` across it. */
struct twin__pair {
    const void *a, *b;
    int64_t n, m;     /* symbols in a, in b */
    bool wide;        /* symbols are uint32_t; bytes otherwise */
    bool replaces;    /* a replacement is one edit; otherwise there are only insertions and deletions */
    uint32_t symbols; /* every symbol of a and b is below this; UINT32_MAX when they are not numbered yet */
};

/* Array number `which` with at least `bytes` bytes, or NULL. Its contents are lost when it grows. */
void *twin__edit_room(twin_edit_scratch *scratch, int which, size_t bytes);

/* The symbols of a pair from a_begin and b_begin on, n and m of them. */
struct twin__pair twin__edit_part(struct twin__pair pair, int64_t a_begin, int64_t n, int64_t b_begin, int64_t m);

/* The lengths of the common prefix and of the common suffix of a and b. */
int64_t twin__edit_prefix(struct twin__pair pair);
int64_t twin__edit_suffix(struct twin__pair pair);

/* Numbers the symbols of a wide pair, in place, from 1 on; those of b that a lacks become 0. The arrays must be in
 * room SYMBOLS. Does nothing the second time. */
twin_status twin__edit_number(struct twin__pair *pair, twin_edit_scratch *scratch);

/* Diagonals with at most `most` edits. `out` becomes the distance, or TWIN_EDIT_FAR when it is more than `most`.
 * Stops when strips are expected to be faster: `guess` is then a rough distance, and 0 otherwise. */
twin_status twin__edit_diagonals(size_t *out, int64_t *guess, struct twin__pair pair, twin_edit_scratch *scratch,
                                 int64_t most);

/* A row of the table. Column c (b[0..c) against the rows' part of a) costs `score` at c = from; room DELTAS has
 * the steps from there to each column up to `to`. Columns outside cannot be on a path within the cut-off. */
struct twin__edit_row {
    int64_t from, to, score;
};

/* The step to column c, c > from: +1, 0 or -1. */
int twin__edit_step(const twin_edit_scratch *scratch, int64_t c);

/* Strips over the first `rows` symbols of a, with at most `most` edits for the whole pair, whose symbols are
 * numbered. Every cell of the row that is on a path within `most` has its true cost; others cost at least theirs.
 * `found` is false when there is no such path. */
twin_status twin__edit_strips(struct twin__edit_row *out, bool *found, struct twin__pair pair,
                              twin_edit_scratch *scratch, int64_t rows, int64_t most);

#endif

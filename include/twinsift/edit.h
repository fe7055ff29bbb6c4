/* edit.h — how far apart two texts are, in edits.
 *
 * The distance is the fewest insertions, deletions and replacements that turn one text into the other
 * (Levenshtein); the indel distance knows no replacements. Both are exact and always asked with a cut-off,
 * for that is what makes them cheap: near texts cost about a pass over them, far ones are turned away early.
 * See docs/decisions/0040-edit-distance.md for what is done when, and its price.
 *
 * Every call is re-entrant: what it needs is in the scratch the caller holds, one for each thread. */
#ifndef TWINSIFT_EDIT_H
#define TWINSIFT_EDIT_H

#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest text, in bytes; longer ones are TWIN_ELIMIT. */
enum { TWIN_EDIT_MAX_LENGTH = 0x3FFFFFFF };

/* The distance of two texts that are further apart than was asked. */
#define TWIN_EDIT_FAR SIZE_MAX

/* What one edit changes. A byte that is no part of a UTF-8 character counts as a character of its own. */
typedef enum twin_edit_unit {
    TWIN_EDIT_CHARS, /* a Unicode character */
    TWIN_EDIT_BYTES, /* a byte */
} twin_edit_unit;

/* Room that grows with need: a few dozen bytes for each byte of the texts at worst, and next to nothing for near
 * ones. Begin with {0}, keep it from call to call, end with twin_edit_scratch_clear(). */
typedef struct twin_edit_scratch {
    void *room[7];
    size_t bytes[7];
} twin_edit_scratch;

TWIN_API void twin_edit_scratch_clear(twin_edit_scratch *scratch);

/* The distance of two texts when it is at most `at_most`, and TWIN_EDIT_FAR otherwise. */
TWIN_API twin_status twin_edit_distance(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                        twin_edit_unit unit, size_t at_most);

/* The same without replacements: a replaced character counts as one deleted and one inserted. */
TWIN_API twin_status twin_edit_indel(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                     twin_edit_unit unit, size_t at_most);

/* The indel ratio 2·LCS/(n₁+n₂), where LCS is the length of the longest common subsequence, when it is at
 * least `at_least` (0 .. 1), and -1 otherwise. Two empty texts have 1. Perl's String::Similarity means the same
 * number, but gives up early on long texts that are far apart and then says less. */
TWIN_API twin_status twin_edit_ratio(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                     twin_edit_unit unit, double at_least);

typedef enum twin_edit_kind {
    TWIN_EDIT_EQUAL,
    TWIN_EDIT_REPLACED, /* as many units in b as in a */
    TWIN_EDIT_INSERTED, /* in b only */
    TWIN_EDIT_DELETED,  /* in a only */
} twin_edit_kind;

/* What became of a run of a: bytes a_begin .. a_begin + a_length - 1 of a are now those of b. */
typedef struct twin_edit_span {
    twin_edit_kind kind;
    uint32_t a_begin, a_length, b_begin, b_length; /* in bytes, whatever the unit */
} twin_edit_span;

/* Spans that grow; begin with {0} and end with twin_edit_spans_clear(). */
typedef struct twin_edit_spans {
    twin_edit_span *spans;
    size_t count, capacity;
} twin_edit_spans;

TWIN_API void twin_edit_spans_clear(twin_edit_spans *spans);

/* Replaces `out` by the spans of a shortest way from a to b, in their order: side by side they are all of a
 * and all of b, no two neighbours have one kind, and their edits add up to the distance, which `distance`
 * becomes. There are none when it is TWIN_EDIT_FAR. */
TWIN_API twin_status twin_edit_align(twin_edit_spans *out, size_t *distance, twin_edit_scratch *scratch, twin_text a,
                                     twin_text b, twin_edit_unit unit, size_t at_most);

#ifdef __cplusplus
}
#endif
#endif

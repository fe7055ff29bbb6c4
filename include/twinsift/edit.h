/* edit.h — edit distance (Levenshtein distance), indel ratio and alignment of two texts.
 *
 * The edit distance is the smallest number of insertions, deletions and replacements that turn one text into the other;
 * the indel distance allows no replacements. Both are exact and always take a cut-off, which is what makes them cheap:
 * similar texts cost about one pass over them, and others are rejected early. See docs/decisions/0040-edit-distance.md
 * for the methods and their cost.
 *
 * Every call is re-entrant: its memory is in the caller's scratch, one per thread. */
#ifndef TWINSIFT_EDIT_H
#define TWINSIFT_EDIT_H

#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest text, in bytes; longer ones are TWIN_ELIMIT. */
enum { TWIN_EDIT_MAX_LENGTH = 0x3FFFFFFF };

/* The result when the distance exceeds the cut-off. */
#define TWIN_EDIT_FAR SIZE_MAX

/* What one edit changes. A byte that is not part of a UTF-8 character counts as one character. */
typedef enum twin_edit_unit {
    TWIN_EDIT_CHARS, /* a Unicode character */
    TWIN_EDIT_BYTES, /* a byte */
} twin_edit_unit;

/* The distance of two texts when it is at most `at_most`, and TWIN_EDIT_FAR otherwise. */
TWIN_API twin_status twin_edit_distance(size_t *out, twin_scratch **scratch, twin_text a, twin_text b,
                                        twin_edit_unit unit, size_t at_most);

/* The indel ratio 2·LCS/(n₁+n₂), where LCS is the length of the longest common subsequence, when it is at
 * least `at_least` (0 .. 1), and -1 otherwise. Two empty texts have 1. Perl's String::Similarity defines the
 * same number, but stops early on long dissimilar texts and then returns less. */
TWIN_API twin_status twin_edit_ratio(double *out, twin_scratch **scratch, twin_text a, twin_text b,
                                     twin_edit_unit unit, double at_least);

typedef enum twin_edit_kind {
    TWIN_EDIT_EQUAL,
    TWIN_EDIT_REPLACED, /* as many units in b as in a */
    TWIN_EDIT_INSERTED, /* in b only */
    TWIN_EDIT_DELETED,  /* in a only */
} twin_edit_kind;

/* One step of an alignment: bytes a_begin .. a_begin + a_length - 1 of a correspond to those of b. */
typedef struct twin_edit_span {
    twin_edit_kind kind;
    uint32_t a_begin, a_length, b_begin, b_length; /* in bytes for either unit */
} twin_edit_span;

/* A growing array of spans; begin with {0} and end with twin_edit_spans_clear(). */
typedef struct twin_edit_spans {
    twin_edit_span *spans;
    size_t count, capacity;
    size_t distance; /* the number of edits, or TWIN_EDIT_FAR */
} twin_edit_spans;

TWIN_API void twin_edit_spans_clear(twin_edit_spans *spans);

/* Replaces `out` by the spans of a shortest edit script from a to b, in order. Together they cover all of a and all of
 * b, no two neighbours have the same kind, and their edits add up to out->distance. There are none when that is
 * TWIN_EDIT_FAR. */
TWIN_API twin_status twin_edit_align(twin_edit_spans *out, twin_scratch **scratch, twin_text a, twin_text b,
                                     twin_edit_unit unit, size_t at_most);

/* ---- differences, word by word
 *
 * A word is a sequence of characters without white space and punctuation. A punctuation mark is a word of its own,
 * and so is each character of a script without blanks (Chinese, Japanese, Thai) and each byte that is not UTF-8.
 * White space is not compared. The alignment is a shortest one, or close to it where the texts differ much: time and
 * memory grow linearly with the length of the texts, whatever they are. */

typedef struct twin_diff_options {
    size_t effort; /* differences after which a part is split where the search has come furthest; 0: 256. The time is
                      at most proportional to it, times the words */
    size_t join;   /* up to this many equal words between two longer changes count as changed too, which is easier to
                    read */
    uint64_t reserved[TWIN_RESERVED];
} twin_diff_options;

/* Replaces `out` by what is equal (TWIN_EDIT_EQUAL), in a only (TWIN_EDIT_DELETED) and in b only
 * (TWIN_EDIT_INSERTED), in order; a deletion comes before the insertion that replaces it. White space before the
 * first word belongs to it, and all other to the word before it. A text without words has no spans. out->distance is
 * the number of words that are not equal. Texts longer than TWIN_EDIT_MAX_LENGTH are TWIN_ELIMIT. */
TWIN_API twin_status twin_diff(twin_edit_spans *out, twin_text a, twin_text b, twin_diff_options options);

#ifdef __cplusplus
}
#endif
#endif

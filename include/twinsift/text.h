/* text.h — normalisation: UTF-8 is checked, Unicode normalised, white space folded.
 *
 * Different encodings of one text become the same bytes: compatibility characters are resolved (NFKC), case is folded,
 * every sequence of white space becomes one blank, and white space at either end is removed. */
#ifndef TWINSIFT_TEXT_H
#define TWINSIFT_TEXT_H

#include <twinsift/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_normal {
    TWIN_NORMAL_FOLD,  /* UTF-8 checked, NFKC, case folded, white space folded: the default */
    TWIN_NORMAL_CHECK, /* UTF-8 checked, nothing else */
    TWIN_NORMAL_BYTES, /* unchanged */
} twin_normal;

/* Replaces the contents of `out` by the normalised text; `text` must not point into `out`. Each ill-formed byte
 * sequence (a "maximal subpart" in Unicode's terms) is replaced by one U+FFFD; their number is added to `replaced`
 * unless that is NULL.
 *
 * Folding decomposes each character with its compatibility and case foldings, orders the marks and composes, all
 * in one pass; then it folds every White_Space character. Folding is idempotent. Invisible characters such as U+200B or
 * U+00AD are kept. The time is linear in the length for any input. Re-entrant. */
TWIN_API twin_status twin_text_normalise(twin_buffer *out, uint64_t *replaced, twin_text text, twin_normal normal);

#ifdef __cplusplus
}
#endif
#endif

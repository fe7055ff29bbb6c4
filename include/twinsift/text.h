/* text.h — bytes become text: UTF-8 checked, Unicode normalised, blanks folded.
 *
 * Two writings of one text become the same bytes: compatibility characters are resolved (NFKC), case is
 * folded, every run of white space becomes one blank and none is left at either end. */
#ifndef TWINSIFT_TEXT_H
#define TWINSIFT_TEXT_H

#include <twinsift/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_normal {
    TWIN_NORMAL_FOLD,  /* UTF-8 checked, NFKC, case folded, white space folded: the default */
    TWIN_NORMAL_CHECK, /* UTF-8 checked, nothing else */
    TWIN_NORMAL_BYTES, /* as they are */
} twin_normal;

/* Writes the text, which must not lie in `out`, into `out`, replacing what was there. Each maximal run of bytes
 * that cannot be part of a character (Unicode's "maximal subpart") becomes one U+FFFD; their number is added
 * to `replaced` unless that is NULL.
 *
 * Folding decomposes each character with its compatibility and case foldings, orders the marks and composes, all
 * in one pass; then it folds White_Space of every kind. What comes out stays the same when it is folded again.
 * Characters that cannot be seen, such as U+200B or U+00AD, are kept. The time is linear in the length, whatever
 * the bytes. Re-entrant. */
TWIN_API twin_status twin_text_normalise(twin_buffer *out, uint64_t *replaced, twin_text text, twin_normal normal);

#ifdef __cplusplus
}
#endif
#endif

/* diff.h — what two texts have in common and where they differ, word by word.
 *
 * A word is a sequence of characters without white space and punctuation. A punctuation mark is a word of its own,
 * and so is each character of a script without blanks (Chinese, Japanese, Thai) and each byte that is not UTF-8.
 * White space is not compared. The alignment is a shortest one, or close to it where the texts differ much: time and
 * memory grow linearly with the length of the texts, whatever they are.
 *
 * For edits of single characters see twin_edit_align(). */
#ifndef TWINSIFT_DIFF_H
#define TWINSIFT_DIFF_H

#include <twinsift/edit.h>

#ifdef __cplusplus
extern "C" {
#endif

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

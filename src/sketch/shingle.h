/* shingle.h — shingles, with what the signer also has to know. */
#ifndef TWIN_SKETCH_SHINGLE_H
#define TWIN_SKETCH_SHINGLE_H

#include <stdbool.h>
#include <twinsift/scheme.h>

#include "base/scratch.h"

typedef struct twin_shingler twin_shingler;

/* Creates a shingler, which copies its stop words and never changes, so that threads may share it; release it with
 * twin__shingler_free(). */
twin_status twin__shingler_create(twin_shingler **out, twin_shingle_options options);
void twin__shingler_free(twin_shingler *shingler);

/* Replaces `out` by the hashes of the text's shingles, in the order of the text, including repeats. The text must
 * be well-formed UTF-8 unless the kind is BYTE; words are separated by ASCII white space. */
twin_status twin__shingle_text(twin_items *out, const twin_shingler *shingler, twin_text text);

/* The same, but a text without a window has no shingles at all. */
twin_status twin__shingle_windows(twin_items *out, const twin_shingler *shingler, twin_text text);

/* The width that 0 stands for. */
size_t twin__shingle_default_width(twin_shingle_kind kind);

/* Whether most characters of a text are of scripts that do not separate words by blanks, such as Han, kana and Thai:
 * then shingles of words are long passages, and shingles of characters should be used. */
bool twin__shingle_is_unspaced(twin_text text);

/* TWIN_EINVAL and a sentence if there is no such kind, if it cannot be so wide, or if a stop word is empty. */
twin_status twin__shingle_check(const twin_shingle_options *options, twin_error *error);

/* twin__shingle_text(), and whether the text is shorter than one shingle: it has no items or, unless it is empty, one. */
twin_status twin__shingle(twin_items *out, bool *is_short, const twin_shingler *shingler, twin_text text);

/* A text that comes piece by piece. */
struct twin__shingling {
    bool any_items, any_words;
    bool is_short;     /* after the last piece: the text is shorter than one shingle */
    size_t word_count; /* of the words that the next windows begin with */
    size_t known;      /* bytes of the rest that are of one word */
    uint64_t whole;    /* of all words, while there is no window */
    uint64_t words[TWIN_SHINGLE_MAX_WIDTH];
};
void twin__shingle_begin(struct twin__shingling *state);

/* Replaces `out` by the hashes of the next shingles. `text` is the rest of the one before, whose first *used bytes
 * are done with, followed by a new piece; both end between characters. */
twin_status twin__shingle_piece(twin_items *out, size_t *used, struct twin__shingling *state,
                                const twin_shingler *shingler, twin_text text, bool is_last);

#endif

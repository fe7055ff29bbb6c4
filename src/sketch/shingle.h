/* shingle.h — shingles, with what the signer also has to know. */
#ifndef TWIN_SKETCH_SHINGLE_H
#define TWIN_SKETCH_SHINGLE_H

#include <stdbool.h>
#include <twinsift/shingle.h>

/* TWIN_EINVAL and a sentence if there is no such kind, if it cannot be so wide, or if a stop word is empty. */
twin_status twin__shingle_check(const twin_shingle_options *options, twin_error *error);

/* twin_shingle(), and whether the text is shorter than one shingle: it has no items or, unless it is empty, one. */
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

/* pieces.h — normalisation piece by piece, for texts of which no second copy is wanted.
 *
 * The pieces, one after the other, are what twin_text_normalise() makes of the whole. */
#ifndef TWIN_TEXT_PIECES_H
#define TWIN_TEXT_PIECES_H

#include <twinsift/text.h>

/* Bytes of a text that are normalised at a time, or a few more: a text is cut only where nothing combines. */
enum { TWIN__PIECE = 1 << 16 };

/* Begin with the text and how to normalise it, and zeros. */
struct twin__normaliser {
    twin_text rest; /* what is still to be read */
    twin_normal normal;
    uint64_t replaced; /* ill-formed sequences so far */
    bool begun, blank; /* something was written; a blank is to be written before what follows */
};

/* Appends the next piece to `out`, and moves on in the text. */
twin_status twin__normalise_piece(twin_buffer *out, struct twin__normaliser *state);

#endif

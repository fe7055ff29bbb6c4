/* grams.h — the q-grams of a text, by which texts that are near in edits agree: of a join, and of an index. */
#ifndef TWIN_EDIT_JOIN_GRAMS_H
#define TWIN_EDIT_JOIN_GRAMS_H

#include <twinsift/signer.h>

#include "base/scratch.h"

/* Replaces scratch->items by the q-grams of a normalised text, q being the width of the signer's shingles; `padded` is
 * room. The text gets q - 1 marks at both ends, so that its ends are in as many q-grams as its middle, and no text is too
 * short. A q-gram that is repeated is another item each time. */
twin_status twin__edit_grams(twin_sign_scratch *scratch, twin_buffer *padded, const twin_signer *signer,
                             twin_text text);

#endif

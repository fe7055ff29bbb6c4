/* long_text.h — texts too long for their hashes to be held at once.
 *
 * A shingle at each character makes eight bytes of hashes per byte of text, and as many again to sort them. A long
 * text is instead normalised, shingled and signed piece by piece, and its set is taken in ranges of hashes, as many
 * at a time as there is room for, each with a pass over the text. Results are those of the short way. */
#ifndef TWIN_SKETCH_LONG_TEXT_H
#define TWIN_SKETCH_LONG_TEXT_H

#include <twinsift/signer.h>

#include "base/scratch.h"

/* A text of more bytes is long. */
enum { TWIN__LONG_TEXT = 1 << 20 };

/* Whether a text is read piece by piece. Occurrences cannot be counted so: the text of a multiset is taken as a whole. */
static inline bool twin__is_long_text(const twin_signer *signer, size_t length)
{
    return length > TWIN__LONG_TEXT && !twin_signer_scheme(signer)->multiset;
}

/* A long text and how to read it. The first call fills in the other members. */
struct twin__long_text {
    twin_text text;        /* as it is in its input */
    twin_hash digest_hash; /* of the digest of the normalised text */
    uint64_t mask;         /* bits of a hash that make the item, once repeats were dropped; 0: all */
    bool is_measured;      /* twin__long_text_sign() also finds size and digest of the set */

    twin_digest digest;
    uint64_t replaced; /* ill-formed sequences */
    size_t length;     /* of the normalised text */
    bool is_short, is_empty;
    size_t set_size;
    twin_digest set_digest; /* twin__set_digest() */
};

/* `signature` may be NULL, when only the set is to be measured. */
twin_status twin__long_text_sign(uint32_t *signature, struct twin__long_text *text, const twin_signer *signer,
                                 twin_sign_scratch *scratch);

/* Hashes from `first` to `last`, and how many there is room for. */
struct twin__hash_range {
    uint64_t first, last;
    size_t room;
};

/* Of the bytes of a text, what its hashes may take: with the text itself less than three times as many, when one text
 * is in memory and the hashes of one or of two are. */
#define TWIN__ROOM_OF_ONE 1.7
#define TWIN__ROOM_OF_TWO 0.85

/* The first range of the set of a text of `length` bytes, whose hashes may take `share` times as many; there is room
 * for some hundred thousand in any case. It fills the room if all shingles differ. */
struct twin__hash_range twin__hash_range_first(size_t length, double share);

/* Replaces `out` by the part of the set that is in the range, without the mask. If there is no room for it, the range
 * is shortened. `out` must not be part of the scratch. */
twin_status twin__long_text_range(twin_items *out, struct twin__hash_range *range, struct twin__long_text *text,
                                  const twin_signer *signer, twin_sign_scratch *scratch);

/* The range that follows one with `count` hashes, of a length that should fill the room. False: there is none. */
bool twin__hash_range_next(struct twin__hash_range *range, size_t count);

#endif

/* signer.h — what a signer is made of. */
#ifndef TWIN_SKETCH_SIGNER_H
#define TWIN_SKETCH_SIGNER_H

#include <twinsift/signer.h>

struct twin_signer {
    twin_scheme scheme; /* complete; stop words are `words` */
    twin_shingler *shingler;
    twin_minhash *hasher;
    twin_text *words; /* the list, then the bytes of the words */
};

#endif

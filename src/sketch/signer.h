/* signer.h — what a signer is made of, and its steps. */
#ifndef TWIN_SKETCH_SIGNER_H
#define TWIN_SKETCH_SIGNER_H

#include <twinsift/signer.h>

#include "base/scratch.h"
#include "sketch/minhash.h"
#include "sketch/shingle.h"

struct twin_signer {
    twin_scheme scheme; /* complete; stop words are `words` */
    twin_shingler *shingler;
    twin_minhash *hasher;
    twin_text *words; /* the list, then the bytes of the words */
};

/* twin_signer_text() with a scratch of our own; the same for hashes in any order, with any repeats, that are the items
 * of a set, or of a multiset. */
twin_status twin__signer_text(uint32_t *signature, twin_set *set, const twin_signer *signer,
                              twin_sign_scratch *scratch, twin_text text);
twin_status twin__signer_items(uint32_t *signature, twin_set *set, const twin_signer *signer,
                               twin_sign_scratch *scratch, twin_set items);

/* The steps on their own, for callers that do something between them: text → scratch->text; text → scratch->text and,
 * in the order of the text, repeats and all, scratch->items (of a multiset in any order, numbered). `replaced`, unless NULL, is increased by the number of
 * ill-formed byte sequences that became U+FFFD. */
twin_status twin__signer_normalise(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                   twin_text text);
twin_status twin__signer_shingle(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                 twin_text text);

/* Text that is normalised already → scratch->items; scratch->text is left alone, and `text` may be it. */
twin_status twin__signer_shingle_normalised(twin_sign_scratch *scratch, const twin_signer *signer, twin_text text);

/* Whether two complete schemes are the same in all parts, stop words and keys included. */
bool twin__scheme_equal(const twin_scheme *a, const twin_scheme *b);

#endif

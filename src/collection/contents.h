/* contents.h — what a collection is made of: signatures, sets, texts; with a scratch of our own. */
#ifndef TWIN_COLLECTION_CONTENTS_H
#define TWIN_COLLECTION_CONTENTS_H

#include <twinsift/collection.h>

#include "base/scratch.h"

/* A number that identifies the collection: equal if scheme, texts and their order are equal. */
twin_status twin__collection_fingerprint(uint64_t *out, const twin_collection *collection);

/* The input from which it was read. */
const twin_input *twin__collection_input(const twin_collection *collection);

/* The scheme by which it was read, complete; it lives as long as the collection. */
const twin_scheme *twin__collection_scheme(const twin_collection *collection);

/* The signatures, one after the other, `slots` numbers each; and the number of slots. */
const uint32_t *twin__collection_signatures(const twin_collection *collection);
size_t twin__collection_slots(const twin_collection *collection);

/* The documents worth comparing, in increasing order: firsts whose set is not empty. */
size_t twin__collection_distinct(const uint32_t **out, const twin_collection *collection);

/* The set of a document. It lives until `scratch` is used again. TWIN_EFORMAT when the document has changed
 * since it was read, TWIN_EIO when it cannot be read any more. */
twin_status twin__collection_set(twin_set *out, const twin_collection *collection, twin_scratch *scratch,
                                 uint32_t document, twin_error *error);

/* twin_collection_text() and twin_collection_document(). */
twin_status twin__collection_text(twin_text *out, const twin_collection *collection, twin_scratch *scratch,
                                  uint32_t document, twin_error *error);
twin_status twin__collection_document(twin_document *out, const twin_collection *collection, twin_scratch *scratch,
                                      uint32_t document, twin_error *error);

#endif

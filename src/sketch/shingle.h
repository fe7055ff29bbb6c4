/* shingle.h — shingles, with what the signer also has to know. */
#ifndef TWIN_SKETCH_SHINGLE_H
#define TWIN_SKETCH_SHINGLE_H

#include <stdbool.h>
#include <twinsift/shingle.h>

/* twin_shingle(), and whether the text is shorter than one shingle: it has no items or, unless it is empty, one. */
twin_status twin__shingle(twin_items *out, bool *is_short, const twin_shingler *shingler, twin_text text);

#endif

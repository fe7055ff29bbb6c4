/* edit.h — edit distances with a scratch of our own, which is kept from call to call. */
#ifndef TWIN_EDIT_EDIT_H
#define TWIN_EDIT_EDIT_H

#include <twinsift/edit.h>

#include "base/scratch.h"

twin_status twin__edit_distance(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                twin_edit_unit unit, size_t at_most);

/* The same without replacements: a replaced character counts as one deleted and one inserted. */
twin_status twin__edit_indel(size_t *out, twin_edit_scratch *scratch, twin_text a, twin_text b, twin_edit_unit unit,
                             size_t at_most);

twin_status twin__edit_ratio(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b, twin_edit_unit unit,
                             double at_least);

twin_status twin__edit_align(twin_edit_spans *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                             twin_edit_unit unit, size_t at_most);

#endif

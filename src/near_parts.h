/* near_parts.h — what near.c lets the audit use: when two texts are near. */
#ifndef TWIN_NEAR_PARTS_H
#define TWIN_NEAR_PARTS_H

#include <twinsift/near.h>

bool twin__near_options_are_good(twin_near_options options);

/* The longest text, in characters, that can be near to one of `length`. */
size_t twin__near_reach(twin_near_options options, size_t length);

/* The indel ratio of two texts that are near, and -1 of others. */
twin_status twin__near_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                               twin_near_options options);

#endif

/* edit_characters.h — what a join by edits needs of the distance: characters, and ratios of counts. */
#ifndef TWIN_EDIT_EDIT_CHARACTERS_H
#define TWIN_EDIT_EDIT_CHARACTERS_H

#include <twinsift/edit.h>

/* Each character is below this: Unicode, and the bytes that are not UTF-8. */
enum { TWIN__EDIT_CHARACTERS = 0x110000 + 256 };

/* The characters of a text, as its edits count them; `out` has room for one per byte, or is NULL. Returns their
 * number. */
size_t twin__edit_decode(uint32_t *out, twin_text text);

/* The ratio of two texts with `total` characters together, `indels` of which are not in both; and the most of these
 * that a ratio of at least `at_least` allows. */
double twin__edit_ratio_of(size_t indels, size_t total);
size_t twin__edit_most_indels(double at_least, size_t total);

#endif

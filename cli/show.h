/* show.h — prints what two texts have in common and where they differ, and how the method sees them. */
#ifndef TWIN_SHOW_H
#define TWIN_SHOW_H

#include <stdio.h>
#include <twinsift/twinsift.h>

struct diff_style {
    bool color;     /* instead of the marks [-gone-] and {+new+} */
    size_t columns; /* at which lines are wrapped; 0: as they are */
    size_t context; /* words printed of what is equal next to a change; SIZE_MAX: all */
};

/* Prints both texts as one, or side by side. Control characters are escaped. */
void print_unified(FILE *out, twin_text a, twin_text b, const twin_edit_spans *spans, struct diff_style style);

/* False: out of memory. */
bool print_side_by_side(FILE *out, twin_text a, twin_text b, const twin_edit_spans *spans, struct diff_style style);

/* ---- show_method.c: how the method sees two documents, and why it works */

/* Prints shingles, slots and bands of two texts, and which agree. On false the error has been reported. */
bool print_method(FILE *out, const twin_scheme *scheme, const twin_text texts[2], bool json, bool color);

/* Prints a worked example: four documents, seven shingles, three permutations. */
void print_permutations(FILE *out, bool color);

#endif

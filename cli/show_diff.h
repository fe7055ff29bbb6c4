/* show_diff.h — prints what two texts have in common and where they differ. */
#ifndef TWIN_SHOW_DIFF_H
#define TWIN_SHOW_DIFF_H

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

#endif

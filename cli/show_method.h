/* show_method.h — how the method sees two documents, and why it works. */
#ifndef TWIN_SHOW_METHOD_H
#define TWIN_SHOW_METHOD_H

#include <stdio.h>
#include <twinsift/twinsift.h>

/* Prints shingles, slots and bands of two texts, and which agree. On false the error has been reported. */
bool print_method(FILE *out, const twin_scheme *scheme, const twin_text texts[2], bool json, bool color);

/* Prints a worked example: four documents, seven shingles, three permutations. */
void print_permutations(FILE *out, bool color);

#endif

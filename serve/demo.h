/* demo.h — copies of the samples to play with. */
#ifndef TWIN_SERVE_DEMO_H
#define TWIN_SERVE_DEMO_H

#include <stdbool.h>

struct demo {
    char folder[64];
    char model[96], index[96];
};

/* Makes a model and an index of the samples, in a folder of its own. On false the error has been reported. */
bool demo_make(struct demo *out);
void demo_remove(const struct demo *demo);

#endif

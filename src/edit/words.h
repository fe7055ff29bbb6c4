/* words.h — the words of a text, and numbers for them: for diff.c. */
#ifndef TWIN_EDIT_WORDS_H
#define TWIN_EDIT_WORDS_H

#include <twinsift/edit.h>

/* Begin with {0}, end with twin__words_clear(). */
struct twin__words {
    twin_text text;
    uint32_t *begins; /* where each begins; one more for the end of the text */
    uint32_t *numbers;
    bool *changed; /* not in the other text */
    size_t count, begin_capacity;
};
void twin__words_clear(struct twin__words *words);

/* Finds the words of a text, which is borrowed: see twin_diff() for what a word is. */
twin_status twin__words_find(struct twin__words *out, twin_text text);

/* Numbers the words of two texts: equal numbers for equal words only. */
twin_status twin__words_number(struct twin__words *a, struct twin__words *b);

#endif

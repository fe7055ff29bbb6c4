/* texts.c — random texts and their edited versions. */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

static char draw_letter(uint64_t *state)
{
    return (char)('a' + draw_below(state, 26));
}

void draw_letters(char *out, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        out[i] = draw_letter(state);
}

enum edit { INSERT, DELETE, REPLACE };

/* Edits `length` bytes, with room for one more; returns the new length. */
static size_t edit_once(char *text, size_t length, enum edit edit, uint64_t *state)
{
    size_t at = draw_below(state, length + (edit == INSERT));
    if (edit == INSERT)
        memmove(text + at + 1, text + at, length - at);
    if (edit == DELETE)
        memmove(text + at, text + at + 1, length - at - 1);
    else
        text[at] = draw_letter(state);
    return length + (edit == INSERT) - (edit == DELETE);
}

/* Makes n bytes of `length`. */
static void fit(char *text, size_t length, size_t n, uint64_t *state)
{
    if (length < n)
        draw_letters(text + length, n - length, state);
}

static void edit_by_pairs(char *text, size_t n, size_t edits, uint64_t *state)
{
    while (edits > 0) {
        if (edits == 1 || draw_below(state, 3) == REPLACE) {
            edit_once(text, n, REPLACE, state);
            edits--;
        } else {
            edit_once(text, edit_once(text, n, DELETE, state), INSERT, state);
            edits -= 2;
        }
    }
}

void draw_edited(char *out, const char *from, size_t n, size_t edits, enum keeping keeping, uint64_t *state)
{
    char *text = need(n + edits + 1, 1);
    size_t length = n;
    memcpy(text, from, n);
    if (keeping == KEEP_BY_PAIRS)
        edit_by_pairs(text, n, edits, state);
    for (size_t e = 0; e < edits && keeping != KEEP_BY_PAIRS; e++) {
        length = edit_once(text, length, keeping == KEEP_REPLACED ? REPLACE : (enum edit)draw_below(state, 3), state);
        if (keeping == KEEP_EACH) {
            fit(text, length, n, state);
            length = n;
        }
    }
    fit(text, length, n, state);
    memcpy(out, text, n);
    free(text);
}

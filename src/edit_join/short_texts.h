/* short_texts.h — texts of up to 64 characters in memory, in order of their length. */
#ifndef TWIN_EDIT_JOIN_SHORT_TEXTS_H
#define TWIN_EDIT_JOIN_SHORT_TEXTS_H

#include "edit_join/edit64.h"
#include "join/join_private.h"

/* Begin with {0}, end with twin__short_texts_clear(). */
struct twin__short_texts {
    size_t count;
    size_t begin[TWIN__EDIT64 + 2]; /* by length: the first text of it */
    size_t at[TWIN__EDIT64 + 2];    /* where that one's characters begin; those of the next follow */
    uint32_t *characters;
    uint32_t *documents; /* their numbers */
};
void twin__short_texts_clear(struct twin__short_texts *texts);

/* The characters of text number i, which has `length` of them. */
static inline const uint32_t *twin__short_text(const struct twin__short_texts *texts, size_t i, size_t length)
{
    return texts->characters + texts->at[length] + (i - texts->begin[length]) * length;
}

/* Loads `count` documents, which are in order of length and short. */
twin_status twin__short_texts_load(struct twin__short_texts *out, const struct twin__provider *provider,
                                   const uint32_t *documents, size_t count, twin_exec exec, twin_error *error);

#endif

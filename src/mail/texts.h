/* texts.h — the beginnings of messages that were learnt, for showing the one that a message looks like.
 *
 * Of a message its subject and text are kept, TWIN__MAIL_TEXT_BYTES at most, unless the model was created without. Those
 * that were learnt last wait in memory; file_texts.c writes them. */
#ifndef TWIN_MAIL_TEXTS_H
#define TWIN_MAIL_TEXTS_H

#include <twinsift/text.h>

enum { TWIN__MAIL_TEXT_BYTES = 2000 };

struct twin__mail_text {
    uint64_t number; /* of the message */
    size_t length;
    char *bytes;
};

/* Begin with {0}. In increasing order of numbers. */
struct twin__mail_texts {
    struct twin__mail_text *list;
    size_t count, capacity;
};
void twin__mail_texts_clear(struct twin__mail_texts *texts);

/* Appends the beginning of a message: a line for its subject, and its text. */
twin_status twin__mail_cut(twin_buffer *out, twin_text subject, twin_text text);

/* Adds the beginning of a message with a greater number than all before. */
twin_status twin__mail_texts_add(struct twin__mail_texts *texts, uint64_t number, twin_text subject, twin_text text);

/* The text of a message; NULL: it is not here. */
const struct twin__mail_text *twin__mail_texts_find(const struct twin__mail_texts *texts, uint64_t number);

#endif

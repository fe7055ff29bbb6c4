/* texts.c — the beginnings of messages, until they are in the file. */
#include "mail/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mail/fields.h"

void twin__mail_texts_clear(struct twin__mail_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i].bytes);
    free(texts->list);
    *texts = (struct twin__mail_texts){ 0 };
}

twin_status twin__mail_cut(twin_buffer *out, twin_text subject, twin_text text)
{
    subject = twin__cut(subject, TWIN__MAIL_TEXT_BYTES / 4);
    text = twin__cut(text, TWIN__MAIL_TEXT_BYTES - subject.length - 1);
    twin_status status = twin_buffer_reserve(out, subject.length + 1 + text.length);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, subject.bytes, subject.length);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, "\n", 1);
    return status == TWIN_OK ? twin_buffer_append(out, text.bytes, text.length) : status;
}

twin_status twin__mail_texts_add(struct twin__mail_texts *texts, uint64_t number, twin_text subject, twin_text text)
{
    twin_buffer cut = { 0 };
    if (!TWIN__ARRAY_GROW(&texts->list, &texts->capacity, texts->count, 1))
        return TWIN_ENOMEM;
    twin_status status = twin__mail_cut(&cut, subject, text);
    if (status != TWIN_OK) {
        twin_buffer_clear(&cut);
        return status;
    }
    texts->list[texts->count++] = (struct twin__mail_text){ number, cut.length, cut.bytes };
    return TWIN_OK;
}

const struct twin__mail_text *twin__mail_texts_find(const struct twin__mail_texts *texts, uint64_t number)
{
    size_t low = 0, high = texts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (texts->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < texts->count && texts->list[low].number == number ? &texts->list[low] : NULL;
}

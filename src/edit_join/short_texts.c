/* short_texts.c — texts of up to 64 characters in memory, in order of their length. */
#include "edit_join/short_texts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"

void twin__short_texts_clear(struct twin__short_texts *texts)
{
    free(texts->characters);
    free(texts->documents);
    *texts = (struct twin__short_texts){ 0 };
}

/* Room for as many texts of each length as counts[length] says. */
static twin_status make_room(struct twin__short_texts *out, const size_t *counts)
{
    for (size_t length = 0; length <= TWIN__EDIT64; length++) {
        out->begin[length + 1] = out->begin[length] + counts[length];
        out->at[length + 1] = out->at[length] + counts[length] * length;
    }
    out->count = out->begin[TWIN__EDIT64 + 1];
    out->characters = malloc((out->at[TWIN__EDIT64 + 1] + 1) * sizeof *out->characters);
    out->documents = malloc((out->count + 1) * sizeof *out->documents);
    return out->characters && out->documents ? TWIN_OK : TWIN_ENOMEM;
}

struct loading {
    struct twin__short_texts *out;
    const struct twin__provider *provider;
};

static twin_status load_text(struct loading *loading, size_t i, int worker, twin_error *error)
{
    struct twin__short_texts *out = loading->out;
    struct twin__content text;
    twin_status status = loading->provider->fetch(&text, loading->provider, out->documents[i], worker, error);
    if (status != TWIN_OK)
        return status;
    uint32_t characters[4 * TWIN__EDIT64];
    size_t length = loading->provider->size(loading->provider, out->documents[i]);
    bool fits = text.size <= sizeof characters / sizeof characters[0];
    size_t found = fits ? twin__edit_decode(characters, (twin_text){ text.bytes, text.size }) : 0;
    if (found != length) /* the provider promises that it is as long as it was */
        return twin__fail(error, TWIN_EFORMAT, "document %u has changed while it was read", out->documents[i]);
    if (length)
        memcpy(out->characters + out->at[length] + (i - out->begin[length]) * length, characters,
               length * sizeof *characters);
    return TWIN_OK;
}

static twin_status load_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct loading *loading = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = load_text(loading, i, worker, error);
    return status;
}

enum { TEXTS_AT_A_TIME = 64 };

twin_status twin__short_texts_load(struct twin__short_texts *out, const struct twin__provider *provider,
                                   const uint32_t *documents, size_t count, twin_exec exec, twin_error *error)
{
    size_t counts[TWIN__EDIT64 + 1] = { 0 };
    *out = (struct twin__short_texts){ 0 };
    for (size_t i = 0; i < count; i++) {
        size_t length = provider->size(provider, documents[i]);
        assert(length <= TWIN__EDIT64);
        counts[length]++;
    }
    twin_status status = make_room(out, counts);
    if (status != TWIN_OK)
        return twin__fail_memory(error);
    memcpy(out->documents, documents, count * sizeof *documents);
    struct loading loading = { out, provider };
    return twin__exec_try(exec, count, TEXTS_AT_A_TIME, load_some, &loading, error);
}

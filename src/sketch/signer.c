/* signer.c — texts become sets and signatures: the only place that normalises, shingles and signs.
 *
 * A signer owns what its scheme needs: a copy of the stop words, a shingler and a MinHash hasher. It never changes, so
 * workers share it; what a worker writes is in its scratch. Many texts are signed in a parallel loop, each into its own
 * row of the result. */
#include <twinsift/signer.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"

/* Texts that a worker takes at a time: a few hundred microseconds of work. */
enum { GRAIN = 16 };

static twin_status copy_words(twin_signer *signer)
{
    twin_shingle_options *shingle = &signer->scheme.shingle;
    size_t count = shingle->stop_word_count, bytes = 0;
    if (!shingle->stop_words)
        return TWIN_OK;
    for (size_t i = 0; i < count; i++)
        bytes += shingle->stop_words[i].length;
    signer->words = malloc(count * sizeof *signer->words + bytes + 1);
    if (!signer->words)
        return TWIN_ENOMEM;
    char *end = (char *)(signer->words + count);
    for (size_t i = 0; i < count; i++) {
        twin_text word = shingle->stop_words[i];
        if (word.length)
            memcpy(end, word.bytes, word.length);
        signer->words[i] = (twin_text){ end, word.length };
        end += word.length;
    }
    shingle->stop_words = signer->words;
    return TWIN_OK;
}

static twin_status prepare_signer(twin_signer *signer, twin_error *error)
{
    twin_status status = twin_scheme_complete(&signer->scheme, error);
    if (status != TWIN_OK)
        return status;
    status = copy_words(signer);
    if (status == TWIN_OK)
        status = twin__shingler_create(&signer->shingler, signer->scheme.shingle);
    if (status == TWIN_OK)
        status = twin__minhash_create(&signer->hasher, signer->scheme.minhash);
    return status == TWIN_OK ? status : twin__fail_status(error, status);
}

twin_status twin_signer_create(twin_signer **out, const twin_scheme *scheme, twin_error *error)
{
    if (!out)
        return twin__fail_null(error, "out");
    *out = NULL;
    twin_signer *signer = calloc(1, sizeof *signer);
    if (!signer)
        return twin__fail_memory(error);
    signer->scheme = scheme ? *scheme : twin_scheme_default();
    twin_status status = prepare_signer(signer, error);
    if (status != TWIN_OK) {
        twin_signer_free(signer);
        return status;
    }
    *out = signer;
    return TWIN_OK;
}

void twin_signer_free(twin_signer *signer)
{
    if (!signer)
        return;
    twin__shingler_free(signer->shingler);
    twin__minhash_free(signer->hasher);
    free(signer->words);
    free(signer);
}

const twin_scheme *twin_signer_scheme(const twin_signer *signer)
{
    return signer ? &signer->scheme : NULL;
}

/* ---- the steps ---- */

twin_status twin__signer_normalise(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                   twin_text text)
{
    if (!scratch || !signer)
        return twin__fail_null(NULL, scratch ? "signer" : "scratch");
    return twin_text_normalise(&scratch->text, replaced, text, signer->scheme.normal);
}

twin_status twin__signer_shingle_normalised(twin_sign_scratch *scratch, const twin_signer *signer, twin_text text)
{
    if (!scratch || !signer || (!text.bytes && text.length))
        return twin__fail_null(NULL, !scratch ? "scratch" : !signer ? "signer" : "text.bytes");
    twin_status status = twin__shingle(&scratch->items, &scratch->is_short, signer->shingler, text);
    return status == TWIN_OK && signer->scheme.multiset ? twin__items_number(&scratch->items, &scratch->spare)
                                                        : status;
}

twin_status twin__signer_shingle(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                 twin_text text)
{
    twin_status status = twin__signer_normalise(scratch, replaced, signer, text);
    if (status != TWIN_OK)
        return status;
    return twin__signer_shingle_normalised(scratch, signer, (twin_text){ scratch->text.bytes, scratch->text.length });
}

void twin_signer_sign(uint32_t *signature, const twin_signer *signer, const uint64_t *items, size_t count)
{
    if (signer)
        twin__minhash_sign(signature, signer->hasher, items, count);
}

/* ---- one document ---- */

/* Signs scratch->items, and makes a set of them if one is wanted. */
static twin_status finish(uint32_t *signature, twin_set *set, const twin_signer *signer, twin_sign_scratch *scratch)
{
    twin_status status = set ? twin__set_make(set, &scratch->items, &scratch->spare) : TWIN_OK;
    if (status == TWIN_OK && signature)
        twin_signer_sign(signature, signer, scratch->items.items, set ? set->count : scratch->items.count);
    return status;
}

twin_status twin__signer_text(uint32_t *signature, twin_set *set, const twin_signer *signer,
                              twin_sign_scratch *scratch, twin_text text)
{
    twin_status status = twin__signer_shingle(scratch, NULL, signer, text);
    return status == TWIN_OK ? finish(signature, set, signer, scratch) : status;
}

twin_status twin__signer_items(uint32_t *signature, twin_set *set, const twin_signer *signer,
                               twin_sign_scratch *scratch, twin_set items)
{
    if (!scratch || !signer || (!items.items && items.count))
        return twin__fail_null(NULL, !scratch ? "scratch" : !signer ? "signer" : "items");
    scratch->items.count = 0;
    twin_status status = twin__items_reserve(&scratch->items, items.count + 1);
    if (status != TWIN_OK)
        return status;
    if (items.count)
        memcpy(scratch->items.items, items.items, items.count * sizeof *items.items);
    scratch->items.count = items.count;
    status = signer->scheme.multiset ? twin__items_number(&scratch->items, &scratch->spare) : TWIN_OK;
    if (status != TWIN_OK)
        return status;
    return finish(signature, set, signer, scratch);
}

/* ---- with a scratch of the caller ---- */

twin_status twin_signer_text(uint32_t *signature, twin_set *set, const twin_signer *signer, twin_scratch **scratch,
                             twin_text text)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__signer_text(signature, set, signer, &(*scratch)->sign, text) : status;
}

twin_status twin_signer_shingles(twin_text *normalised, const uint64_t **hashes, size_t *count,
                                 const twin_signer *signer, twin_scratch **scratch, twin_text text)
{
    if (!normalised || !hashes || !count)
        return twin__fail_null(NULL, !normalised ? "normalised" : !hashes ? "hashes" : "count");
    twin_status status = twin__scratch_make(scratch);
    if (status != TWIN_OK)
        return status;
    twin_sign_scratch *sign = &(*scratch)->sign;
    status = twin__signer_normalise(sign, NULL, signer, text);
    if (status == TWIN_OK)
        status = twin__shingle(&sign->items, &sign->is_short, signer->shingler,
                               (twin_text){ sign->text.bytes, sign->text.length });
    if (status != TWIN_OK)
        return status;
    *normalised = (twin_text){ sign->text.bytes ? sign->text.bytes : "", sign->text.length };
    *hashes = sign->items.items;
    *count = sign->items.count;
    return TWIN_OK;
}

/* ---- many texts ---- */

struct signing {
    uint32_t *signatures;
    uint64_t *sizes;
    const twin_signer *signer;
    const twin_text *texts;
    twin_sign_scratch *scratches; /* one per worker */
    atomic_int status;
    size_t count;
    atomic_size_t done;
};

static twin_status sign_one(struct signing *signing, size_t i, twin_sign_scratch *scratch)
{
    const twin_signer *signer = signing->signer;
    uint32_t *signature = signing->signatures + i * signer->scheme.minhash.slots;
    twin_status status = twin__signer_text(signature, NULL, signer, scratch, signing->texts[i]);
    size_t size = 0;
    if (status == TWIN_OK && signing->sizes) {
        status = twin__items_distinct(&size, &scratch->items, &scratch->spare);
        signing->sizes[i] = size;
    }
    return status;
}

static void sign_some(void *context, size_t begin, size_t end, int worker)
{
    struct signing *signing = context;
    for (size_t i = begin; i < end && twin__poll() == TWIN_OK; i++) {
        twin_status status = sign_one(signing, i, &signing->scratches[worker]);
        if (status != TWIN_OK)
            atomic_store(&signing->status, status); /* memory is all that can fail, so any failure is the first */
    }
    size_t done = atomic_fetch_add(&signing->done, end - begin) + end - begin;
    (void)twin__report(&twin__stage_signing, done, signing->count);
}

twin_status twin_signer_many(uint32_t *signatures, uint64_t *sizes, const twin_signer *signer, const twin_text *texts,
                             size_t count, twin_signer_many_options options)
{
    if (!signer || (count && (!signatures || !texts)))
        return twin__fail_null(NULL, !signer ? "signer" : !texts ? "texts" : "signatures");
    twin_status status = twin__check_reserved(NULL, options.reserved, "signing");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, NULL);
    if (status != TWIN_OK)
        return status;
    size_t workers = (size_t)options.exec.workers;
    struct signing signing = { .signatures = signatures,
                               .sizes = sizes,
                               .signer = signer,
                               .texts = texts,
                               .scratches = calloc(workers, sizeof *signing.scratches),
                               .count = count };
    if (!signing.scratches)
        return TWIN_ENOMEM;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_signing);
    status = twin__exec_run(options.exec, count, GRAIN, sign_some, &signing, NULL);
    status = twin__watch_end(&watch, status, NULL);
    for (size_t i = 0; i < workers; i++)
        twin__sign_scratch_clear(&signing.scratches[i]);
    free(signing.scratches);
    return status == TWIN_OK ? (twin_status)atomic_load(&signing.status) : status;
}

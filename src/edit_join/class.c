/* class.c — when two texts are near, and a class of texts of like length. */
#include "edit_join/edit_join_private.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/exec.h"
#include "collection/contents.h"
#include "edit/edit.h"
#include "join/matches.h"
#include "join/verify.h"

/* ---- when two texts are near ---- */

static const double DEFAULT_RATIO = 0.8;

twin_status twin__edit_join_complete(twin_edit_join_options *options, const twin_collection *collection,
                                     twin_error *error)
{
    if (twin__collection_slots(collection) != 0)
        return twin__fail(error, TWIN_EINVAL, "the collection was not read as texts");
    if (!(options->ratio >= 0 && options->ratio <= 1))
        return twin__fail(error, TWIN_EINVAL, "ratio must be 0 to 1, not %g", options->ratio);
    if (options->grams > TWIN_SHINGLE_MAX_WIDTH)
        return twin__fail(error, TWIN_EINVAL, "grams must be 0 to %d, not %zu", (int)TWIN_SHINGLE_MAX_WIDTH,
                          options->grams);
    if (!options->limit_edits)
        options->edits = TWIN_EDIT_FAR;
    if (options->ratio == 0 && options->edits == TWIN_EDIT_FAR)
        options->ratio = DEFAULT_RATIO;
    if (options->minhash.slots == 0)
        options->minhash.slots = TWIN_MINHASH_DEFAULT_SLOTS;
    twin_status status = twin__check_reserved(error, options->reserved, "the search by edits");
    if (status == TWIN_OK)
        status = twin__check_reserved(error, options->minhash.reserved, "MinHash");
    return status == TWIN_OK ? twin__exec_complete(&options->exec, error) : status;
}

/* 2n/(n + m) >= ratio bounds m, and so does m <= n + edits. A little more is harmless, for texts are compared. */
size_t twin__edit_join_reach(twin_edit_join_options options, size_t length)
{
    size_t reach = TWIN_EDIT_MAX_LENGTH;
    if (options.ratio > 0) {
        double most = (double)length * (2 / options.ratio - 1) + 1e-6;
        reach = most < (double)reach ? (size_t)most : reach;
    }
    if (options.edits < reach && length + options.edits < reach)
        reach = length + options.edits;
    return reach > length ? reach : length;
}

twin_status twin__edit_join_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                    twin_edit_join_options options)
{
    *out = -1;
    if (options.edits != TWIN_EDIT_FAR) {
        size_t distance;
        twin_status status = twin__edit_distance(&distance, scratch, a, b, TWIN_EDIT_CHARS, options.edits);
        if (status != TWIN_OK || distance == TWIN_EDIT_FAR)
            return status;
    }
    return twin__edit_ratio(out, scratch, a, b, TWIN_EDIT_CHARS, options.ratio);
}

/* ---- a class ---- */

bool twin__edit_class_allows(const void *context, uint32_t position, uint32_t other)
{
    const struct twin__edit_class *class = context;
    if (class->is_between && (position < class->middle) == (other < class->middle))
        return false;
    size_t a = twin__edit_class_length(class, position), b = twin__edit_class_length(class, other);
    return twin__edit_join_reach(class->options, a < b ? a : b) >= (a < b ? b : a);
}

void twin__edit_class_name(const struct twin__edit_class *class, struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = class->documents[twin__pair_low(pairs->items[i])];
        uint32_t b = class->documents[twin__pair_high(pairs->items[i])];
        pairs->items[i] = twin__pair(a, b);
    }
}

static twin_status compare_texts(double *out, void *context, struct twin__content a, struct twin__content b,
                                 int worker)
{
    const struct twin__edit_class *class = context;
    return twin__edit_join_compare(out, &class->scratch[worker], (twin_text){ a.bytes, a.size },
                                   (twin_text){ b.bytes, b.size }, class->options);
}

twin_status twin__edit_class_verify(twin_matches *out, const struct twin__edit_class *class,
                                    const struct twin__pairs *pairs, twin_error *error)
{
    struct twin__edit_class copy = *class; /* the verifier's context is not const */
    struct twin__verify_options options = { .comparison = { .compare = compare_texts, .context = &copy },
                                            .exec = class->options.exec };
    double begun = twin__seconds();
    twin_status status = twin__verify_pairs(out, class->provider, pairs, options, error);
    class->similar->counts.verified += pairs->count;
    class->similar->counts.verifying_seconds += twin__seconds() - begun;
    return status;
}

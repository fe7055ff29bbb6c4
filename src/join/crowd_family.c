/* crowd_family.c — a crowd whose pairs are all compared.
 *
 * The sets of a crowd have much in common, so once they are encoded (family.h) a pair takes some ten nanoseconds. For
 * a few thousand documents that is less than ordering their shingles. It is also what remains to be done when the
 * template alone reaches the threshold: then prefixes do not distinguish documents. */
#include <stdlib.h>

#include "join/crowd_private.h"
#include "join/family.h"

static size_t all_before(uint32_t *out, const void *context, uint32_t row, uint32_t begin, uint32_t end)
{
    const struct twin__family_source *source = context;
    size_t count = 0;
    for (uint32_t i = begin; i < end; i++) {
        out[count] = i;
        count += twin__provider_wants(source->provider, source->documents[row], source->documents[i]);
    }
    return count;
}

/* The same for documents of different components, as these were in the beginning: of each the first document. */
static size_t all_apart(uint32_t *out, const void *context, uint32_t row, uint32_t begin, uint32_t end)
{
    const uint32_t *roots = context;
    size_t count = 0;
    for (uint32_t i = begin; i < end; i++) {
        out[count] = i;
        count += roots[i] != roots[row];
    }
    return count;
}

static twin_status compare_apart(twin_matches *out, uint64_t *compared, struct twin__family *family,
                                 const struct twin__components *components, twin_error *error)
{
    uint32_t *roots = malloc((family->source.count + 1) * sizeof *roots);
    if (!roots)
        return twin__fail_memory(error);
    for (size_t i = 0; i < family->source.count; i++)
        roots[i] = twin__union_find(components->group, family->source.documents[i]);
    family->columns = all_apart;
    family->context = roots;
    twin_status status = twin__family_join(out, compared, family, error);
    free(roots);
    return status;
}

twin_status twin__crowd_compare_all(twin_matches *out, struct twin__crowd_counts *counts,
                                    const struct twin__provider *provider, struct twin__crowd_documents documents,
                                    const struct twin__crowd_options *options, twin_error *error)
{
    enum { MOST_ITEMS = 1 << 22 };
    struct twin__family family = { .source = { .provider = provider,
                                               .documents = documents.items,
                                               .count = documents.count,
                                               .most_items = MOST_ITEMS,
                                               .exec = options->exec },
                                   .rule = { TWIN_JACCARD, options->threshold },
                                   .columns = all_before };
    family.context = &family.source;
    family.components = options->components;
    if (options->components)
        return compare_apart(out, &counts->compared, &family, options->components, error);
    return twin__family_join(out, &counts->compared, &family, error);
}

double twin__crowd_seconds_to_compare_all(size_t documents, double mean_size)
{
    /* Measured: a pair, per item of its sets and in any case; to fetch and encode a set, per item. A block of a
     * family is full when a twentieth of its items are not of the template, and each asks for all later documents
     * once more. */
    static const double PAIR = 10e-9, PAIR_PER_ITEM = 10e-12, FETCH_PER_ITEM = 20e-9,
                        ITEMS_PER_BLOCK = 20.0 * (1 << 22);
    double count = (double)documents, blocks = 1 + count * mean_size / ITEMS_PER_BLOCK / 2;
    return count * count / 2 * (PAIR + PAIR_PER_ITEM * mean_size) + blocks * count * mean_size * FETCH_PER_ITEM;
}

/* crowd_worth.c — whether a crowd is worth more than to list its pairs. */
#include "join/crowd_worth.h"

/* To fetch a document a few times, measured on texts of 2 KB, and a signature; to look up an item of a document among
 * 40,000 to 120,000 others that stay. */
static const double SECONDS_PER_DOCUMENT = 60e-6, SECONDS_PER_SIGNATURE = 4e-6, SECONDS_PER_ITEM = 300e-9;

double twin__crowd_fetching_seconds(const struct twin__crowd *crowd, bool sets)
{
    return (sets ? SECONDS_PER_DOCUMENT : SECONDS_PER_SIGNATURE) * (double)crowd->count;
}

/* How many items a document has, by some of them. */
static twin_status mean_items(double *out, const struct twin__provider *provider, const uint32_t *documents,
                              size_t count, twin_error *error)
{
    enum { SAMPLED = 16 };
    double sum = 0;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < SAMPLED && status == TWIN_OK; i++) {
        uint32_t document = documents[i * count / SAMPLED];
        struct twin__content content = { 0 };
        if (!provider->is_long || !provider->is_long(provider, document))
            status = provider->fetch(&content, provider, document, 0, error);
        sum += (double)content.size / sizeof(uint64_t);
    }
    *out = sum / SAMPLED;
    return status;
}

/* Where few pairs would be compared, most documents stay, and each is looked up among all before it. */
twin_status twin__crowd_is_worth_deciding(bool *out, const struct twin__provider *provider,
                                          const struct twin__crowds *crowds, size_t number, twin_error *error)
{
    const struct twin__crowd *crowd = &crowds->items[number];
    double fetching = twin__crowd_fetching_seconds(crowd, true), items;
    *out = crowd->seconds > fetching;
    if (!*out || crowd->comparing > fetching)
        return TWIN_OK;
    twin_status status = mean_items(&items, provider, crowds->documents + crowd->begin, crowd->count, error);
    *out = crowd->seconds > SECONDS_PER_ITEM * items * (double)crowd->count;
    return status;
}

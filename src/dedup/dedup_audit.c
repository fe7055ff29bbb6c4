/* dedup_audit.c — how much of what is similar was dropped. */
#include <twinsift/dedup.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "dedup/preference.h"
#include "join/audit_private.h"
#include "join/matches.h"
#include "join/similar_private.h"

/* The kept documents, and what was found about them. */
struct survey {
    const twin_collection *collection;
    uint32_t *kept;
    bool *is_drawn; /* of each kept one */
    size_t count;
    twin_matches pairs;
};

static size_t number_of_document(const struct survey *survey, uint32_t document)
{
    size_t low = 0, count = survey->count;
    while (count > 1) {
        size_t half = count / 2;
        low = survey->kept[low + half] <= document ? low + half : low;
        count -= half;
    }
    return low;
}

/* Of each pair the less preferred document should have gone; of those that were drawn, each counts once. */
static twin_status count_missed(uint64_t *missed, const struct survey *survey, struct twin__preference preference,
                                twin_exec exec, twin_error *error)
{
    bool *should_go = calloc(survey->count + 1, sizeof *should_go);
    twin_status status = should_go ? TWIN_OK : twin__fail_memory(error);
    for (size_t i = 0; i < survey->pairs.count && status == TWIN_OK; i++) {
        uint32_t pair[2] = { survey->pairs.items[i].a, survey->pairs.items[i].b };
        status = twin__preference_sort(pair, 2, survey->collection, preference, exec, error);
        should_go[number_of_document(survey, pair[1])] = true;
    }
    *missed = 0;
    for (size_t i = 0; i < survey->count && status == TWIN_OK; i++)
        *missed += should_go[i] && survey->is_drawn[i];
    free(should_go);
    return status;
}

/* From the share of missed documents among those drawn to the recall. */
static void estimate(twin_dedup_audit *out, const struct survey *survey, uint64_t dropped)
{
    double low, high, count = (double)survey->count, near = (double)dropped;
    double share = out->documents ? (double)out->missed / (double)out->documents : 0;
    twin__audit_interval(&low, &high, out->missed, out->documents);
    if (out->documents == survey->count)
        low = high = share;
    out->recall = share > 0 ? near / (near + share * count) : 1;
    out->low = high > 0 ? near / (near + high * count) : 1;
    out->high = low > 0 ? near / (near + low * count) : 1;
}

static twin_status survey_init(struct survey *out, const twin_dedup *dedup)
{
    twin_dedup_counts counts = twin_dedup_count(dedup);
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    out->kept = malloc((counts.kept + 1) * sizeof *out->kept);
    out->is_drawn = calloc(counts.kept + 1, sizeof *out->is_drawn);
    if (!out->kept || !out->is_drawn)
        return TWIN_ENOMEM;
    for (uint32_t i = 0; i < counts.documents; i++)
        if (keepers[i] == i)
            out->kept[out->count++] = i;
    return TWIN_OK;
}

static twin_status run_audit(twin_dedup_audit *out, const twin_dedup *dedup, const twin_collection *collection,
                             twin_dedup_options options, twin_audit_options audit, twin_error *error)
{
    if (!out || !dedup || !collection)
        return twin__fail_null(error, !out ? "out" : !dedup ? "dedup" : "collection");
    *out = (twin_dedup_audit){ 0 };
    if (twin_dedup_count(dedup).documents != twin_collection_count(collection).documents)
        return twin__fail(error, TWIN_EINVAL, "the collection is another than the one that was decided about");
    twin_status status = twin__check_reserved(error, options.reserved, "dedup");
    if (status == TWIN_OK)
        status = twin__similar_complete(&options.search, twin__collection_scheme(collection), error);
    if (status == TWIN_OK)
        status = twin__exec_complete(&audit.exec, error);
    if (status != TWIN_OK)
        return status;
    audit.threshold = options.search.threshold;
    audit.measure = options.search.measure;
    struct survey survey = { .collection = collection };
    if (survey_init(&survey, dedup) != TWIN_OK)
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__audit_documents(&survey.pairs, survey.is_drawn, collection,
                                       (twin_document_list){ survey.kept, survey.count }, audit, error);
    for (size_t i = 0; i < survey.count && status == TWIN_OK; i++)
        out->documents += survey.is_drawn[i];
    if (status == TWIN_OK)
        status = count_missed(
            &out->missed, &survey,
            (struct twin__preference){ .rule = options.preference, .field = options.field, .ranks = options.ranks },
            audit.exec, error);
    if (status == TWIN_OK)
        estimate(out, &survey, twin_dedup_count(dedup).near_copies);
    free(survey.kept);
    free(survey.is_drawn);
    twin__matches_clear(&survey.pairs);
    return status;
}

twin_status twin_dedup_audit_run(twin_dedup_audit *out, const twin_dedup *dedup, const twin_collection *collection,
                                 twin_dedup_options options, twin_audit_options audit, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, audit.progress, &twin__stage_auditing);
    return twin__watch_end(&watch, run_audit(out, dedup, collection, options, audit, error), error);
}

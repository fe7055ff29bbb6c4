/* audit_near.c — a run by edit distance measures its own recall: some texts are compared with all others. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "audit_parts.h"
#include "collection_parts.h"
#include "fail.h"
#include "near_parts.h"

struct audit {
    const twin_collection *collection;
    twin_near_options options;
    const uint32_t *distinct;
    size_t distinct_count;
    const twin_match *matches;
    size_t match_count;

    const uint32_t *samples; /* of this batch */
    size_t sample_count;
    size_t *begin;          /* where their texts begin in `texts`; one more for the end */
    twin_buffer texts;      /* one behind the other */
    const bool *is_sampled; /* by document: drawn in any batch */

    struct auditor {
        twin_scratch scratch;
        twin_edit_scratch edit;
        uint64_t similar, found;
    } * auditors;
    struct twin__first_failure failure;
    atomic_size_t done;
    size_t total;
};

/* Whether the lengths allow it. */
static bool may_be_near(const struct audit *audit, uint32_t a, uint32_t b)
{
    size_t x = twin_collection_length(audit->collection, a), y = twin_collection_length(audit->collection, b);
    return twin__near_reach(audit->options, x < y ? x : y) >= (x < y ? y : x);
}

static twin_status judge(struct audit *audit, struct auditor *auditor, uint32_t document, twin_text text)
{
    for (size_t i = 0; i < audit->sample_count; i++) {
        uint32_t other = audit->samples[i];
        /* A pair of two drawn documents is met twice: it counts from its second. */
        if (other == document || (other > document && audit->is_sampled[document]) ||
            !may_be_near(audit, document, other))
            continue;
        double ratio;
        twin_text sample = { audit->texts.bytes + audit->begin[i], audit->begin[i + 1] - audit->begin[i] };
        twin_status status = twin__near_compare(&ratio, &auditor->edit, sample, text, audit->options);
        if (status != TWIN_OK)
            return status;
        if (ratio < 0)
            continue;
        auditor->similar++;
        auditor->found += twin__audit_found(audit->matches, audit->match_count, other < document ? other : document,
                                            other < document ? document : other);
    }
    return TWIN_OK;
}

static void audit_documents(void *context, size_t begin, size_t end, int worker)
{
    struct audit *audit = context;
    struct auditor *auditor = &audit->auditors[worker];
    for (size_t i = begin; i < end; i++) {
        twin_text text;
        twin_error error = { 0 };
        twin_status status =
            twin_collection_text(&text, audit->collection, &auditor->scratch, audit->distinct[i], &error);
        if (status == TWIN_OK) {
            status = judge(audit, auditor, audit->distinct[i], text);
            if (status != TWIN_OK)
                twin__fail(&error, status, "%s", twin_status_text(status));
        }
        if (status != TWIN_OK) {
            twin__keep_first_failure(&audit->failure, i, &error);
            return;
        }
    }
    size_t done = atomic_fetch_add(&audit->done, end - begin) + end - begin;
    if (audit->options.progress.tell)
        audit->options.progress.tell(audit->options.progress.context, "auditing", done, audit->total);
}

/* Reads as many drawn texts, from samples[0] on, as are of moderate size together; at least one. */
enum { MOST_BYTES = 1 << 24 };

static twin_status read_samples(struct audit *audit, size_t left, twin_error *error)
{
    audit->texts.length = audit->sample_count = 0;
    while (audit->sample_count < left && audit->texts.length < MOST_BYTES) {
        twin_text text;
        twin_status status = twin_collection_text(&text, audit->collection, &audit->auditors[0].scratch,
                                                  audit->samples[audit->sample_count], error);
        if (status != TWIN_OK)
            return status;
        if (twin_buffer_append(&audit->texts, text.bytes, text.length) != TWIN_OK)
            return twin__fail_memory(error);
        audit->begin[++audit->sample_count] = audit->texts.length;
    }
    return TWIN_OK;
}

static twin_status run_batches(struct audit *audit, size_t drawn, twin_error *error)
{
    for (size_t done = 0; done < drawn; done += audit->sample_count, audit->samples += audit->sample_count) {
        twin_status status = read_samples(audit, drawn - done, error);
        if (status != TWIN_OK)
            return status;
        audit->total = (size_t)atomic_load(&audit->done) + audit->distinct_count;
        twin_exec_for(audit->options.exec, audit->distinct_count, 16, audit_documents, audit);
        status = twin__first_failure(error, &audit->failure);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

static void sum_up(twin_audit *out, const struct audit *audit, size_t drawn)
{
    *out = (twin_audit){ .documents = drawn };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        out->similar += audit->auditors[i].similar;
        out->found += audit->auditors[i].found;
    }
    twin__audit_sum_up(out, out->found, audit->matches, audit->match_count, audit->is_sampled);
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin_scratch_clear(&audit->auditors[i].scratch);
        twin_edit_scratch_clear(&audit->auditors[i].edit);
    }
    free(audit->auditors);
}

twin_status twin_audit_near(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                            twin_near_options options, size_t documents, uint64_t seed, twin_error *error)
{
    if (!twin__near_options_are_good(options) || !collection->texts)
        return twin__fail(error, TWIN_EINVAL, "%s", twin_status_text(TWIN_EINVAL));
    struct audit audit = { .collection = collection, .options = options, .failure = TWIN__NO_FAILURE };
    audit.distinct_count = twin_collection_distinct(&audit.distinct, collection);
    audit.match_count = twin_similar_matches(&audit.matches, similar);
    size_t drawn = documents < audit.distinct_count ? documents : audit.distinct_count;

    uint32_t *samples = calloc(drawn + 1, sizeof *samples);
    bool *is_sampled = calloc(collection->count + 1, sizeof *is_sampled);
    audit.begin = calloc(drawn + 2, sizeof *audit.begin);
    audit.auditors = calloc((size_t)options.exec.workers, sizeof *audit.auditors);
    twin_status status = TWIN_OK;
    if (!samples || !is_sampled || !audit.begin || !audit.auditors) {
        status = twin__fail_memory(error);
        goto done;
    }
    twin__audit_draw(samples, drawn, audit.distinct, audit.distinct_count, seed);
    for (size_t i = 0; i < drawn; i++)
        is_sampled[samples[i]] = true;
    audit.samples = samples;
    audit.is_sampled = is_sampled;
    status = run_batches(&audit, drawn, error);
    if (status == TWIN_OK)
        sum_up(out, &audit, drawn);
done:
    free_auditors(&audit);
    free(samples);
    free(is_sampled);
    free(audit.begin);
    twin_buffer_clear(&audit.texts);
    return status;
}

/* edit_audit.c — a run by edit distance measures its own recall. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "edit_join/edit_join_private.h"
#include "join/audit_private.h"

struct audit {
    struct twin__audit base; /* first: the two are one address */
    twin_edit_join_options options;
    twin_buffer texts; /* the drawn ones of this batch, one behind the other */
    struct auditor {
        twin_scratch scratch;
        twin_edit_scratch edit;
        uint64_t similar, found;
    } * auditors;
};

/* Whether the lengths allow it. */
static bool may_be_near(const struct audit *audit, uint32_t a, uint32_t b)
{
    const twin_collection *collection = audit->base.collection;
    size_t x = twin_collection_entry_of(collection, a).size, y = twin_collection_entry_of(collection, b).size;
    return twin__edit_join_reach(audit->options, x < y ? x : y) >= (x < y ? y : x);
}

static twin_status judge_text(struct audit *audit, struct auditor *auditor, uint32_t document, twin_text text)
{
    const struct twin__audit *base = &audit->base;
    for (size_t i = 0; i < base->sample_count; i++) {
        uint32_t other = base->samples[i];
        /* A pair of two drawn documents is met twice: it counts from its second. */
        if (other == document || (other > document && base->is_drawn[document]) ||
            !may_be_near(audit, document, other))
            continue;
        double ratio;
        twin_text sample = { audit->texts.bytes + base->begin[i], base->begin[i + 1] - base->begin[i] };
        twin_status status = twin__edit_join_compare(&ratio, &auditor->edit, sample, text, audit->options);
        if (status != TWIN_OK)
            return status;
        if (ratio < 0)
            continue;
        auditor->similar++;
        auditor->found += twin__audit_found(base, document, other);
    }
    return TWIN_OK;
}

static twin_status judge(struct twin__audit *base, uint32_t document, int worker, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    struct auditor *auditor = &audit->auditors[worker];
    twin_text text;
    twin_status status = twin__collection_text(&text, base->collection, &auditor->scratch, document, error);
    if (status != TWIN_OK)
        return status;
    status = judge_text(audit, auditor, document, text);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

enum { MOST_BYTES = 1 << 24 };

static twin_status read_samples(struct twin__audit *base, size_t left, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    audit->texts.length = base->sample_count = 0;
    while (base->sample_count < left && audit->texts.length < MOST_BYTES) {
        twin_text text;
        twin_status status = twin__collection_text(&text, base->collection, &audit->auditors[0].scratch,
                                                   base->samples[base->sample_count], error);
        if (status != TWIN_OK)
            return status;
        if (twin_buffer_append(&audit->texts, text.bytes, text.length) != TWIN_OK)
            return twin__fail_memory(error);
        base->begin[++base->sample_count] = audit->texts.length;
    }
    return TWIN_OK;
}

static void sum_up(twin_audit *out, const struct audit *audit)
{
    *out = (twin_audit){ 0 };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        out->similar += audit->auditors[i].similar;
        out->found += audit->auditors[i].found;
    }
    twin__audit_sum_up(out, &audit->base, out->found);
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin__scratch_clear(&audit->auditors[i].scratch);
        twin__edit_scratch_clear(&audit->auditors[i].edit);
    }
    free(audit->auditors);
}

static twin_status audit_edits(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                               twin_edit_join_options join, twin_audit_options options, twin_error *error)
{
    if (!out || !collection || !similar)
        return twin__fail_null(error, !out ? "out" : !collection ? "collection" : "similar");
    twin_status status = twin__edit_join_complete(&join, collection, error);
    if (status == TWIN_OK)
        status = twin__check_reserved(error, options.reserved, "an audit");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    if (options.documents == 0)
        options.documents = TWIN__AUDIT_DOCUMENTS;
    join.exec = options.exec;
    struct audit audit = { .base = { .collection = collection,
                                     .exec = options.exec,
                                     .read_samples = read_samples,
                                     .judge = judge,
                                     .piece = 16 },
                           .options = join };
    status = twin__audit_begin(&audit.base, similar, options.documents, options.seed, error);
    audit.auditors = calloc((size_t)options.exec.workers, sizeof *audit.auditors);
    if (status == TWIN_OK && !audit.auditors)
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__audit_batches(&audit.base, error);
    if (status == TWIN_OK)
        sum_up(out, &audit);
    free_auditors(&audit);
    twin_buffer_clear(&audit.texts);
    twin__audit_end(&audit.base);
    return status;
}

twin_status twin_audit_edits(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                             twin_edit_join_options join, twin_audit_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_auditing);
    return twin__watch_end(&watch, audit_edits(out, collection, similar, join, options, error), error);
}

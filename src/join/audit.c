/* audit.c — a run measures its own recall: documents are drawn, and all others held against them. */
#include "join/audit_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/random.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "join/matches.h"
#include "join/set_index.h"
#include "join/similar_private.h"
#include "join/verify.h"

/* ---- drawing ---- */

/* Knuth's selection sampling: in increasing order. */
static void draw(struct twin__audit *audit, uint64_t seed)
{
    size_t count = 0;
    for (size_t i = 0; i < audit->distinct_count && count < audit->drawn_count; i++)
        if (twin__random_below(&seed, audit->distinct_count - i) < audit->drawn_count - count) {
            audit->drawn[count++] = audit->distinct[i];
            audit->is_drawn[audit->distinct[i]] = true;
        }
}

/* Keeps the matches of drawn documents: no others are asked for. */
static twin_status keep_matches(struct twin__audit *audit, const twin_similar *similar)
{
    struct twin__match_cursor cursor;
    twin_status status = twin__match_cursor_init(&cursor, &similar->matches);
    for (bool found = true; status == TWIN_OK && found;) {
        twin_match match;
        status = twin__match_cursor_next(&match, &found, &cursor);
        if (status == TWIN_OK && found && (audit->is_drawn[match.a] || audit->is_drawn[match.b]))
            status = twin__matches_add(&audit->matches, match);
    }
    twin__match_cursor_clear(&cursor);
    for (size_t i = 0; i < similar->packed.count && status == TWIN_OK; i++) {
        twin_match match = twin__packed_match(similar->packed.items[i], similar->collection);
        if (audit->is_drawn[match.a] || audit->is_drawn[match.b])
            status = twin__matches_add(&audit->matches, match);
    }
    return status;
}

twin_status twin__audit_begin(struct twin__audit *audit, const twin_similar *similar, size_t wanted, uint64_t seed,
                              twin_error *error)
{
    if (similar)
        audit->distinct_count = twin__collection_distinct(&audit->distinct, audit->collection);
    audit->drawn_count = wanted < audit->distinct_count ? wanted : audit->distinct_count;
    audit->drawn = calloc(audit->drawn_count + 1, sizeof *audit->drawn);
    audit->is_drawn = calloc(twin_collection_count(audit->collection).documents + 1, sizeof *audit->is_drawn);
    audit->begin = calloc(audit->drawn_count + 2, sizeof *audit->begin);
    if (!audit->drawn || !audit->is_drawn || !audit->begin)
        return twin__fail_memory(error);
    draw(audit, seed);
    twin_status status = similar ? keep_matches(audit, similar) : TWIN_OK;
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

void twin__audit_end(struct twin__audit *audit)
{
    free(audit->drawn);
    free(audit->is_drawn);
    free(audit->begin);
    twin__matches_clear(&audit->matches);
}

/* ---- batches: each a pass over the collection ---- */

static twin_status judge_documents(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__audit *audit = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = audit->judge(audit, audit->distinct[i], worker, error);
    size_t done = atomic_fetch_add(&audit->done, end - begin) + end - begin;
    twin_status stopped = twin__report(&twin__stage_auditing, done, audit->total);
    return status == TWIN_OK ? stopped : status;
}

static twin_status run_batch(struct twin__audit *audit, size_t left, twin_error *error)
{
    twin_status status = audit->read_samples(audit, left, error);
    if (status != TWIN_OK)
        return status;
    audit->total = (size_t)atomic_load(&audit->done) + audit->distinct_count;
    status = twin__exec_try(audit->exec, audit->distinct_count, audit->piece, judge_documents, audit, error);
    return status == TWIN_OK && audit->end_batch ? audit->end_batch(audit, error) : status;
}

twin_status twin__audit_batches(struct twin__audit *audit, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t done = 0; done < audit->drawn_count && status == TWIN_OK; done += audit->sample_count) {
        audit->samples = audit->drawn + done;
        status = run_batch(audit, audit->drawn_count - done, error);
    }
    return status;
}

/* ---- the sum ---- */

bool twin__audit_found(const struct twin__audit *audit, uint32_t x, uint32_t y)
{
    uint32_t a = x < y ? x : y, b = x < y ? y : x;
    size_t low = 0, high = audit->matches.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const twin_match *match = &audit->matches.items[middle];
        if (match->a < a || (match->a == a && match->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < audit->matches.count && audit->matches.items[low].a == a && audit->matches.items[low].b == b;
}

void twin__audit_interval(double *low, double *high, uint64_t found, uint64_t of)
{
    const double z = 1.959964;
    double n = (double)of, p = of ? (double)found / n : 1;
    if (of == 0) {
        *low = 0;
        *high = 1;
        return;
    }
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    /* With nothing or all found one end is p itself, which rounding must not pass. */
    *low = fmin(p, fmax(0, middle - reach));
    *high = fmax(p, fmin(1, middle + reach));
}

void twin__audit_sum_up(twin_audit *out, const struct twin__audit *audit, uint64_t confirmed)
{
    out->documents = audit->drawn_count;
    out->wrong = audit->matches.count - confirmed;
    out->recall = out->similar ? (double)out->found / (double)out->similar : 1;
    twin__audit_interval(&out->low, &out->high, out->found, out->similar);
}

/* ---- an audit of sets ----
 *
 * The sets of drawn documents, as many as fit into memory, are in an index (set_index.h). One pass over the collection
 * finds all documents similar to one of them, exactly. Each similar pair is looked up among those that the search had
 * found. If only the best of each drawn document count, all its similar documents are noted first, and ranked at the end
 * of the batch. */

struct audit {
    struct twin__audit base; /* first: the two are one address */
    twin_audit_options options;
    struct twin__provider provider;
    struct twin__set_index index; /* of the drawn sets of this batch */
    struct auditor {
        struct twin__index_worker searcher;
        uint64_t similar, found, confirmed; /* confirmed: found, each pair once */
        twin_matches seen; /* of samples (a) and documents (b), when only the best count or all are listed */
    } * auditors;
    uint64_t similar, found; /* among the best, so far */
    twin_matches *pairs;     /* unless NULL, takes all similar pairs */
};

/* ---- judging ---- */

/* Takes what was found of a document. */
static twin_status judge_found(const struct audit *audit, struct auditor *auditor, uint32_t document)
{
    const struct twin__index_scratch *scratch = &auditor->searcher.scratch;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < scratch->found_count && status == TWIN_OK; i++) {
        struct twin__set_found found = scratch->found[i];
        uint32_t other = audit->index.members[found.member].document;
        /* A pair of two drawn documents is met twice: it counts from its second, unless each has its own best. */
        bool again = other > document && audit->base.is_drawn[document];
        if (other == document || (again && audit->options.top == 0))
            continue;
        bool is_known = twin__audit_found(&audit->base, document, other);
        auditor->similar++;
        auditor->found += is_known;
        auditor->confirmed += is_known && !again;
        if (audit->options.top || audit->pairs)
            status = twin__matches_add(&auditor->seen, (twin_match){ other, document, found.similarity });
    }
    return status;
}

static twin_status divide_document(struct twin__divided_set *out, struct audit *audit, uint32_t document, int worker,
                                   twin_error *error)
{
    twin_set items;
    twin_status status = twin__provider_items(&items, &audit->provider, document, worker, error);
    if (status == TWIN_OK &&
        !twin__index_divide(out, &audit->auditors[worker].searcher, &audit->index.frequent, items))
        status = twin__fail_memory(error);
    return status;
}

static twin_status judge(struct twin__audit *base, uint32_t document, int worker, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    struct auditor *auditor = &audit->auditors[worker];
    struct twin__index_query query = { .end = audit->index.count };
    twin_status status = divide_document(&query.set, audit, document, worker, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__set_index_all(&auditor->searcher.scratch, &audit->index, &query) ||
        judge_found(audit, auditor, document) != TWIN_OK)
        return twin__fail_memory(error);
    return TWIN_OK;
}

static int by_sample(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static bool gather_seen(twin_matches *out, struct audit *audit)
{
    bool good = true;
    for (int i = 0; i < audit->options.exec.workers && good; i++)
        good = twin__matches_move(out, &audit->auditors[i].seen);
    return good;
}

/* Counts what the batch has seen among the best of each sample. */
static twin_status count_best(struct twin__audit *base, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    twin_matches all = { 0 };
    bool good = gather_seen(&all, audit);
    if (good && all.count)
        qsort(all.items, all.count, sizeof *all.items, by_sample);
    for (size_t i = 0, rank = 0; good && i < all.count; i++) {
        rank = i > 0 && all.items[i].a == all.items[i - 1].a ? rank + 1 : 0;
        if (rank >= audit->options.top)
            continue;
        audit->similar++;
        audit->found += twin__audit_found(base, all.items[i].a, all.items[i].b);
    }
    twin__matches_clear(&all);
    return good ? TWIN_OK : twin__fail_memory(error);
}

/* ---- the sets of a batch ---- */

/* Adds as many drawn sets to the index as are of moderate size together, at least one. An empty one is similar to none. */
static twin_status read_samples(struct twin__audit *base, size_t left, twin_error *error)
{
    enum { MOST_ITEMS = 1 << 21 };
    struct audit *audit = (struct audit *)base;
    struct twin__set_source source = { .provider = &audit->provider, .documents = base->samples, .count = left };
    size_t items = 0;
    twin__set_index_clear(&audit->index);
    twin_status status =
        twin__set_index_init(&audit->index, &source, audit->options.measure, audit->options.threshold, error);
    for (base->sample_count = 0; base->sample_count < left && items < MOST_ITEMS && status == TWIN_OK;
         base->sample_count++) {
        uint32_t document = base->samples[base->sample_count];
        struct twin__divided_set set;
        status = divide_document(&set, audit, document, 0, error);
        if (status == TWIN_OK && set.size && !twin__set_index_add(&audit->index, document, set))
            status = twin__fail_memory(error);
        items += status == TWIN_OK ? set.size : 0;
    }
    return status;
}

/* ---- all of it ---- */

static void sum_up(twin_audit *out, const struct audit *audit)
{
    uint64_t confirmed = 0;
    *out = (twin_audit){ 0 };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        out->similar += audit->auditors[i].similar;
        out->found += audit->auditors[i].found;
        confirmed += audit->auditors[i].confirmed;
    }
    if (audit->options.top) {
        out->similar = audit->similar;
        out->found = audit->found;
    }
    twin__audit_sum_up(out, &audit->base, confirmed);
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin__index_worker_clear(&audit->auditors[i].searcher);
        twin__matches_clear(&audit->auditors[i].seen);
    }
    free(audit->auditors);
}

/* Draws and compares; on success `audit` is to be summed up, and in any case to be ended. */
static twin_status run(struct audit *audit, const twin_similar *similar, twin_error *error)
{
    struct twin__audit *base = &audit->base;
    base->exec = audit->options.exec;
    base->read_samples = read_samples;
    base->judge = judge;
    base->piece = 64;
    twin_status status = twin__audit_begin(base, similar, audit->options.documents, audit->options.seed, error);
    audit->auditors = calloc((size_t)base->exec.workers, sizeof *audit->auditors);
    if (status == TWIN_OK && !audit->auditors)
        status = twin__fail_memory(error);
    if (status == TWIN_OK &&
        twin__collection_provider(&audit->provider, base->collection, NULL, base->exec.workers) != TWIN_OK)
        status = twin__fail_memory(error);
    return status == TWIN_OK ? twin__audit_batches(base, error) : status;
}

static void end(struct audit *audit)
{
    free_auditors(audit);
    twin__set_index_clear(&audit->index);
    twin__collection_provider_clear(&audit->provider);
    twin__audit_end(&audit->base);
}

static twin_status complete_audit(twin_audit_options *options, twin_error *error)
{
    if (!(options->threshold >= 0 && options->threshold <= 1))
        return twin__fail(error, TWIN_EINVAL, "threshold must be 0 to 1, not %g", options->threshold);
    if (options->documents == 0)
        options->documents = TWIN__AUDIT_DOCUMENTS;
    twin_status status = twin__check_reserved(error, options->reserved, "an audit");
    return status == TWIN_OK ? twin__exec_complete(&options->exec, error) : status;
}

static twin_status run_audit(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                             twin_audit_options options, twin_error *error)
{
    if (!out || !collection || !similar)
        return twin__fail_null(error, !out ? "out" : !collection ? "collection" : "similar");
    twin_status status = complete_audit(&options, error);
    if (status != TWIN_OK)
        return status;
    if (options.threshold == 0) {
        options.threshold = similar->threshold;
        options.measure = similar->measure;
    }
    struct audit audit = { .base = { .collection = collection, .end_batch = options.top ? count_best : NULL },
                           .options = options };
    status = run(&audit, similar, error);
    if (status == TWIN_OK)
        sum_up(out, &audit);
    end(&audit);
    return status;
}

twin_status twin_audit_run(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                           twin_audit_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_auditing);
    return twin__watch_end(&watch, run_audit(out, collection, similar, options, error), error);
}

/* ---- pairs of some documents ---- */

static twin_status take_pairs(struct twin__audit *base, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    return gather_seen(audit->pairs, audit) ? TWIN_OK : twin__fail_memory(error);
}

static twin_status audit_documents(twin_matches *out, bool *is_drawn, const twin_collection *collection,
                                   twin_document_list documents, twin_audit_options options, twin_error *error)
{
    if (!out || !collection || (documents.count && (!documents.items || !is_drawn)))
        return twin__fail_null(error, !out          ? "out"
                                      : !collection ? "collection"
                                      : is_drawn    ? "documents"
                                                    : "is_drawn");
    for (size_t i = 0; i < documents.count; i++)
        if (documents.items[i] >= twin_collection_count(collection).documents ||
            (i > 0 && documents.items[i] <= documents.items[i - 1]))
            return twin__fail(error, TWIN_EINVAL, "documents must be those of the collection, in increasing order");
    twin_status status = complete_audit(&options, error);
    if (status != TWIN_OK)
        return status;
    options.top = 0;
    if (options.threshold == 0) {
        options.threshold = twin__collection_scheme(collection)->threshold;
        options.measure = twin__collection_scheme(collection)->measure;
    }
    struct audit audit = { .base = { .collection = collection,
                                     .end_batch = take_pairs,
                                     .distinct = documents.items,
                                     .distinct_count = documents.count },
                           .options = options,
                           .pairs = out };
    status = run(&audit, NULL, error);
    for (size_t i = 0; i < out->count && status == TWIN_OK; i++)
        if (out->items[i].a > out->items[i].b)
            out->items[i] = (twin_match){ out->items[i].b, out->items[i].a, out->items[i].similarity };
    if (status == TWIN_OK)
        twin__matches_sort(out);
    for (size_t i = 0; i < documents.count && status == TWIN_OK; i++)
        is_drawn[i] = audit.base.is_drawn[documents.items[i]];
    end(&audit);
    return status;
}

twin_status twin__audit_documents(twin_matches *out, bool *is_drawn, const twin_collection *collection,
                                  twin_document_list documents, twin_audit_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_auditing);
    return twin__watch_end(&watch, audit_documents(out, is_drawn, collection, documents, options, error), error);
}

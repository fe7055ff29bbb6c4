/* audit_sets.c — a run over sets measures its own recall.
 *
 * The sets of drawn documents, the samples, are in memory, as many as fit. One pass over the collection finds all
 * documents similar to one of them: an index of some items of each sample says which samples a document may be
 * similar to, and these are compared exactly. Each similar pair is looked up among those that the search had found.
 * If only the best of each sample count, all its similar documents are noted first, and ranked at the end of the
 * batch. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "join/audit_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "sketch/set.h"

/* A document B with J(A, B) >= t holds at least t·|A| items of A, hence at least one of any |A| - ceil(t·|A|) + 1 of
 * them. So of each drawn set A only that many items are listed, its rarest, and one pass over the collection meets
 * every B that can be similar: exact, yet not quadratic where everything shares common phrases. Containment has no
 * such bound, for B may be small: all items are listed. */
struct postings {
    struct posting {
        uint64_t hash;
        uint32_t count; /* drawn sets that have it; 0 is an empty place */
        uint32_t head;  /* of the chain of those it is listed for, plus one; 0: for none */
    } * table;
    size_t size;
    struct link {
        uint32_t sample, next;
    } * links;
    size_t link_count, link_capacity;
};

struct audit {
    struct twin__audit base; /* first: the two are one address */
    twin_audit_options options;
    twin_items items; /* the drawn sets of this batch, one behind the other */
    struct postings postings;
    struct auditor {
        twin_scratch scratch;
        uint32_t *touched; /* the samples that share a listed item with the document in hand */
        bool *is_touched;
        uint64_t similar, found, confirmed; /* confirmed: found, each pair once */
        twin_matches seen; /* of samples (a) and documents (b), when only the best count or all are listed */
        bool no_memory;
    } * auditors;
    uint64_t similar, found; /* among the best, so far */
    twin_matches *pairs;     /* unless NULL, takes all similar pairs */
};

/* ---- postings ---- */

static struct posting *posting_of(const struct postings *postings, uint64_t hash)
{
    size_t mask = postings->size - 1, place = hash & mask;
    while (postings->table[place].count && postings->table[place].hash != hash)
        place = (place + 1) & mask;
    return &postings->table[place];
}

/* An empty table for `items` items. */
static twin_status postings_init(struct postings *postings, size_t items)
{
    size_t size = 1024;
    while (size < 2 * items)
        size *= 2;
    *postings = (struct postings){ .size = size, .table = calloc(size, sizeof *postings->table) };
    return postings->table ? TWIN_OK : TWIN_ENOMEM;
}

static void postings_clear(struct postings *postings)
{
    free(postings->table);
    free(postings->links);
    *postings = (struct postings){ 0 };
}

static void postings_count(struct postings *postings, uint64_t hash)
{
    struct posting *posting = posting_of(postings, hash);
    posting->hash = hash;
    posting->count++;
}

static twin_status postings_list(struct postings *postings, uint64_t hash, uint32_t sample)
{
    if (!TWIN__ARRAY_GROW(&postings->links, &postings->link_capacity, postings->link_count, 1))
        return TWIN_ENOMEM;
    struct posting *posting = posting_of(postings, hash);
    postings->links[postings->link_count++] = (struct link){ sample, posting->head };
    posting->head = (uint32_t)postings->link_count;
    return TWIN_OK;
}

static twin_set sample_set(const struct audit *audit, size_t sample)
{
    const size_t *begin = audit->base.begin + sample;
    if (begin[0] == begin[1]) /* perhaps there are no items at all */
        return (twin_set){ 0 };
    return (twin_set){ audit->items.items + begin[0], begin[1] - begin[0] };
}

/* How many items of a set must be listed. */
static size_t listed_of(const struct audit *audit, size_t count)
{
    if (audit->options.measure != TWIN_JACCARD)
        return count;
    size_t needed = (size_t)(audit->options.threshold * (double)count * (1 - 1e-12));
    return count - needed + (needed > 0);
}

/* The number of sets such that `listed` items of this one are in no more sets than that. */
enum { MOST_SETS = 1023 };

static uint32_t rarity_bound(const struct postings *postings, twin_set set, size_t listed)
{
    size_t histogram[MOST_SETS + 1] = { 0 }, sum = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint32_t count = posting_of(postings, set.items[i])->count;
        histogram[count < MOST_SETS ? count : MOST_SETS]++;
    }
    for (uint32_t bound = 1; bound < MOST_SETS; bound++) {
        sum += histogram[bound];
        if (sum >= listed)
            return bound;
    }
    return UINT32_MAX;
}

/* Lists the rarest items of a sample: those in fewer sets than the bound, and of those on it as many as it takes. */
static twin_status list_sample(struct audit *audit, uint32_t sample)
{
    struct postings *postings = &audit->postings;
    twin_set set = sample_set(audit, sample);
    size_t listed = listed_of(audit, set.count), below = 0;
    uint32_t bound = rarity_bound(postings, set, listed);
    for (size_t i = 0; i < set.count; i++)
        below += posting_of(postings, set.items[i])->count < bound;
    size_t on_bound = listed > below ? listed - below : 0;
    for (size_t i = 0; i < set.count; i++) {
        uint32_t count = posting_of(postings, set.items[i])->count;
        if (count > bound || (count == bound && on_bound == 0))
            continue;
        on_bound -= count == bound;
        twin_status status = postings_list(postings, set.items[i], sample);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* ---- judging ---- */

/* The samples that share a listed item with the set. The table is larger than the caches, so places are asked for
 * some items ahead. */
enum { AHEAD = 16 };

static size_t touch_samples(const struct audit *audit, struct auditor *auditor, twin_set set)
{
    const struct postings *postings = &audit->postings;
    size_t touched = 0;
    for (size_t i = 0; i < set.count; i++) {
        if (i + AHEAD < set.count)
            __builtin_prefetch(&postings->table[set.items[i + AHEAD] & (postings->size - 1)]);
        for (uint32_t link = posting_of(postings, set.items[i])->head; link; link = postings->links[link - 1].next) {
            uint32_t sample = postings->links[link - 1].sample;
            if (!auditor->is_touched[sample])
                auditor->touched[touched++] = sample;
            auditor->is_touched[sample] = true;
        }
    }
    return touched;
}

static void note(struct auditor *auditor, twin_match match)
{
    twin_matches *seen = &auditor->seen;
    if (!TWIN__ARRAY_GROW(&seen->items, &seen->capacity, seen->count, 1))
        auditor->no_memory = true;
    else
        seen->items[seen->count++] = match;
}

static void judge_set(const struct audit *audit, struct auditor *auditor, uint32_t document, twin_set set)
{
    size_t touched = touch_samples(audit, auditor, set);
    for (size_t i = 0; i < touched; i++) {
        uint32_t sample = auditor->touched[i], other = audit->base.samples[sample];
        auditor->is_touched[sample] = false;
        /* A pair of two drawn documents is met twice: it counts from its second, unless each has its own best. */
        bool again = other > document && audit->base.is_drawn[document];
        if (other == document || (again && audit->options.top == 0))
            continue;
        double similarity = twin__set_similarity_at_least(sample_set(audit, sample), set, audit->options.measure,
                                                          audit->options.threshold);
        if (similarity < 0)
            continue;
        bool found = twin__audit_found(&audit->base, document, other);
        auditor->similar++;
        auditor->found += found;
        auditor->confirmed += found && !again;
        if (audit->options.top || audit->pairs)
            note(auditor, (twin_match){ other, document, similarity });
    }
}

static twin_status judge(struct twin__audit *base, uint32_t document, int worker, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    struct auditor *auditor = &audit->auditors[worker];
    twin_set set;
    twin_status status = twin__collection_set(&set, base->collection, &auditor->scratch, document, error);
    if (status == TWIN_OK)
        judge_set(audit, auditor, document, set);
    return status;
}

static int by_rank(const void *a, const void *b)
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
    for (int i = 0; i < audit->options.exec.workers; i++) {
        twin_matches *seen = &audit->auditors[i].seen;
        if (audit->auditors[i].no_memory || !TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, seen->count))
            return false;
        if (seen->count)
            memcpy(out->items + out->count, seen->items, seen->count * sizeof *seen->items);
        out->count += seen->count;
        seen->count = 0;
    }
    return true;
}

/* Counts what the batch has seen among the best of each sample. */
static twin_status count_best(struct twin__audit *base, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    twin_matches all = { 0 };
    bool good = gather_seen(&all, audit);
    if (good && all.count)
        qsort(all.items, all.count, sizeof *all.items, by_rank);
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

/* Reads the sets of as many drawn documents, from samples[0] on, as are of moderate size together; at least one. */
enum { MOST_ITEMS = 1 << 21 };

static twin_status read_sets(struct audit *audit, size_t left, twin_error *error)
{
    struct twin__audit *base = &audit->base;
    audit->items.count = base->sample_count = 0;
    while (base->sample_count < left && audit->items.count < MOST_ITEMS) {
        twin_set set;
        twin_status status = twin__collection_set(&set, base->collection, &audit->auditors[0].scratch,
                                                  base->samples[base->sample_count], error);
        if (status != TWIN_OK)
            return status;
        if (twin__items_reserve(&audit->items, set.count) != TWIN_OK)
            return twin__fail_memory(error);
        if (set.count)
            memcpy(audit->items.items + audit->items.count, set.items, set.count * sizeof *set.items);
        audit->items.count += set.count;
        base->begin[++base->sample_count] = audit->items.count;
    }
    return TWIN_OK;
}

static twin_status read_samples(struct twin__audit *base, size_t left, twin_error *error)
{
    struct audit *audit = (struct audit *)base;
    twin_status status = read_sets(audit, left, error);
    if (status != TWIN_OK)
        return status;
    postings_clear(&audit->postings);
    status = postings_init(&audit->postings, audit->items.count);
    for (size_t i = 0; i < audit->items.count && status == TWIN_OK; i++)
        postings_count(&audit->postings, audit->items.items[i]);
    for (size_t sample = 0; sample < base->sample_count && status == TWIN_OK; sample++)
        status = list_sample(audit, (uint32_t)sample);
    return status == TWIN_OK ? TWIN_OK : twin__fail_memory(error);
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

static bool make_auditors(struct audit *audit)
{
    size_t room = audit->base.drawn_count + 1;
    audit->auditors = calloc((size_t)audit->options.exec.workers, sizeof *audit->auditors);
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        audit->auditors[i].touched = calloc(room, sizeof(uint32_t));
        audit->auditors[i].is_touched = calloc(room, sizeof(bool));
        if (!audit->auditors[i].touched || !audit->auditors[i].is_touched)
            return false;
    }
    return audit->auditors != NULL;
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin__scratch_clear(&audit->auditors[i].scratch);
        free(audit->auditors[i].touched);
        free(audit->auditors[i].is_touched);
        twin__matches_clear(&audit->auditors[i].seen);
    }
    free(audit->auditors);
}

/* Draws and compares; on success `audit` is to be summed up, and in any case to be ended. */
static twin_status run(struct audit *audit, const twin_similar *similar, twin_error *error)
{
    struct twin__audit *base = &audit->base;
    base->exec = audit->options.exec;
    base->progress = audit->options.progress;
    base->read_samples = read_samples;
    base->judge = judge;
    base->piece = 64;
    twin_status status = twin__audit_begin(base, similar, audit->options.documents, audit->options.seed, error);
    if (status == TWIN_OK && !make_auditors(audit))
        status = twin__fail_memory(error);
    return status == TWIN_OK ? twin__audit_batches(base, error) : status;
}

static void end(struct audit *audit)
{
    free_auditors(audit);
    postings_clear(&audit->postings);
    twin__items_clear(&audit->items);
    twin__audit_end(&audit->base);
}

static twin_status complete(twin_audit_options *options, twin_error *error)
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
    twin_status status = complete(&options, error);
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
    twin_status status = complete(&options, error);
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

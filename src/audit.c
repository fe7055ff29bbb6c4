/* audit.c — a run measures its own recall. */
#include <twinsift/audit.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "audit_parts.h"
#include "fail.h"
#include "grow.h"
#include "random.h"

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
    const twin_collection *collection;
    twin_audit_options options;
    const uint32_t *distinct;
    size_t distinct_count;
    const twin_match *matches;
    size_t match_count;

    uint32_t *samples;      /* the drawn documents, increasing */
    size_t sample_count;    /* of this batch */
    size_t *begin;          /* where their sets begin in items; one more for the end */
    twin_items items;       /* the sets, one behind the other */
    const bool *is_sampled; /* by document: drawn in any batch */
    struct postings postings;

    struct auditor {
        twin_scratch scratch;
        uint32_t *touched; /* the samples that share a listed item with the document in hand */
        bool *is_touched;
        uint64_t similar, found, told; /* told: found, each pair once */
        twin_matches seen;             /* of samples (a) and documents (b), when only the best count */
        bool no_memory;
    } * auditors;
    uint64_t similar, found; /* among the best, so far */
    struct twin__first_failure failure;
    atomic_size_t done;
    size_t total;
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
    if (!twin__grow(&postings->links, &postings->link_capacity, postings->link_count, 1, sizeof *postings->links))
        return TWIN_ENOMEM;
    struct posting *posting = posting_of(postings, hash);
    postings->links[postings->link_count++] = (struct link){ sample, posting->head };
    posting->head = (uint32_t)postings->link_count;
    return TWIN_OK;
}

static twin_set sample_set(const struct audit *audit, size_t sample)
{
    return (twin_set){ audit->items.items + audit->begin[sample], audit->begin[sample + 1] - audit->begin[sample] };
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

/* ---- drawing ---- */

/* Knuth's selection sampling. */
void twin__audit_draw(uint32_t *out, size_t wanted, const uint32_t *distinct, size_t count, uint64_t seed)
{
    size_t drawn = 0;
    for (size_t i = 0; i < count && drawn < wanted; i++)
        if (twin__random_below(&seed, count - i) < wanted - drawn)
            out[drawn++] = distinct[i];
}

/* ---- one batch: a pass over the collection ---- */

bool twin__audit_found(const twin_match *matches, size_t count, uint32_t a, uint32_t b)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const twin_match *match = &matches[middle];
        if (match->a < a || (match->a == a && match->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && matches[low].a == a && matches[low].b == b;
}

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
    if (!twin__grow(&seen->items, &seen->capacity, seen->count, 1, sizeof *seen->items))
        auditor->no_memory = true;
    else
        seen->items[seen->count++] = match;
}

static bool was_found(const struct audit *audit, uint32_t x, uint32_t y)
{
    return twin__audit_found(audit->matches, audit->match_count, x < y ? x : y, x < y ? y : x);
}

static void judge(const struct audit *audit, struct auditor *auditor, uint32_t document, twin_set set)
{
    size_t touched = touch_samples(audit, auditor, set);
    for (size_t i = 0; i < touched; i++) {
        uint32_t sample = auditor->touched[i], other = audit->samples[sample];
        auditor->is_touched[sample] = false;
        /* A pair of two drawn documents is met twice: it counts from its second, unless each has its own best. */
        bool again = other > document && audit->is_sampled[document];
        if (other == document || (again && audit->options.top == 0))
            continue;
        double similarity = twin_set_similarity_at_least(sample_set(audit, sample), set, audit->options.measure,
                                                         audit->options.threshold);
        if (similarity < 0)
            continue;
        bool found = was_found(audit, document, other);
        auditor->similar++;
        auditor->found += found;
        auditor->told += found && !again;
        if (audit->options.top)
            note(auditor, (twin_match){ other, document, similarity });
    }
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

/* Counts what the batch has seen among the best of each sample. */
static twin_status count_best(struct audit *audit)
{
    twin_matches all = { 0 };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        twin_matches *seen = &audit->auditors[i].seen;
        if (audit->auditors[i].no_memory ||
            !twin__grow(&all.items, &all.capacity, all.count, seen->count, sizeof *all.items)) {
            twin_matches_clear(&all);
            return TWIN_ENOMEM;
        }
        if (seen->count)
            memcpy(all.items + all.count, seen->items, seen->count * sizeof *seen->items);
        all.count += seen->count;
        seen->count = 0;
    }
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, by_rank);
    for (size_t i = 0, rank = 0; i < all.count; i++) {
        rank = i > 0 && all.items[i].a == all.items[i - 1].a ? rank + 1 : 0;
        if (rank >= audit->options.top)
            continue;
        audit->similar++;
        audit->found += was_found(audit, all.items[i].a, all.items[i].b);
    }
    twin_matches_clear(&all);
    return TWIN_OK;
}

static void audit_documents(void *context, size_t begin, size_t end, int worker)
{
    struct audit *audit = context;
    struct auditor *auditor = &audit->auditors[worker];
    for (size_t i = begin; i < end; i++) {
        twin_set set;
        twin_error error = { 0 };
        if (twin_collection_set(&set, audit->collection, &auditor->scratch, audit->distinct[i], &error) != TWIN_OK) {
            twin__keep_first_failure(&audit->failure, i, &error);
            return;
        }
        judge(audit, auditor, audit->distinct[i], set);
    }
    size_t done = atomic_fetch_add(&audit->done, end - begin) + end - begin;
    if (audit->options.progress.tell)
        audit->options.progress.tell(audit->options.progress.context, "auditing", done, audit->total);
}

/* Reads the sets of as many drawn documents, from samples[0] on, as are of moderate size together; at least one. */
enum { MOST_ITEMS = 1 << 21 };

static twin_status read_samples(struct audit *audit, size_t left, twin_error *error)
{
    audit->items.count = audit->sample_count = 0;
    while (audit->sample_count < left && audit->items.count < MOST_ITEMS) {
        twin_set set;
        twin_status status = twin_collection_set(&set, audit->collection, &audit->auditors[0].scratch,
                                                 audit->samples[audit->sample_count], error);
        if (status != TWIN_OK)
            return status;
        if (twin_items_reserve(&audit->items, set.count) != TWIN_OK)
            return twin__fail_memory(error);
        memcpy(audit->items.items + audit->items.count, set.items, set.count * sizeof *set.items);
        audit->items.count += set.count;
        audit->begin[++audit->sample_count] = audit->items.count;
    }
    return TWIN_OK;
}

static twin_status fill_postings(struct audit *audit, size_t left, twin_error *error)
{
    twin_status status = read_samples(audit, left, error);
    if (status != TWIN_OK)
        return status;
    postings_clear(&audit->postings);
    status = postings_init(&audit->postings, audit->items.count);
    for (size_t i = 0; i < audit->items.count && status == TWIN_OK; i++)
        postings_count(&audit->postings, audit->items.items[i]);
    for (size_t sample = 0; sample < audit->sample_count && status == TWIN_OK; sample++)
        status = list_sample(audit, (uint32_t)sample);
    return status == TWIN_OK ? TWIN_OK : twin__fail_memory(error);
}

static twin_status run_batches(struct audit *audit, size_t drawn, twin_error *error)
{
    for (size_t done = 0; done < drawn; done += audit->sample_count, audit->samples += audit->sample_count) {
        twin_status status = fill_postings(audit, drawn - done, error);
        if (status != TWIN_OK)
            return status;
        audit->total = (size_t)atomic_load(&audit->done) + audit->distinct_count;
        twin_exec_for(audit->options.exec, audit->distinct_count, 64, audit_documents, audit);
        status = twin__first_failure(error, &audit->failure);
        if (status == TWIN_OK && audit->options.top && count_best(audit) != TWIN_OK)
            status = twin__fail_memory(error);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* ---- the sum ---- */

/* Wilson's score interval for a share, at 95 %. */
static void wilson(double *low, double *high, uint64_t found, uint64_t of)
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
    /* Rounding must not put the share itself outside. */
    *low = fmax(0, fmin(p, middle - reach));
    *high = fmin(1, fmax(p, middle + reach));
}

void twin__audit_sum_up(twin_audit *out, uint64_t told, const twin_match *matches, size_t count,
                        const bool *is_sampled)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += is_sampled[matches[i].a] || is_sampled[matches[i].b];
    out->wrong = all - told;
    out->recall = out->similar ? (double)out->found / (double)out->similar : 1;
    wilson(&out->low, &out->high, out->found, out->similar);
}

static void sum_up(twin_audit *out, const struct audit *audit, size_t drawn)
{
    uint64_t told = 0;
    *out = (twin_audit){ .documents = drawn };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        out->similar += audit->auditors[i].similar;
        out->found += audit->auditors[i].found;
        told += audit->auditors[i].told;
    }
    if (audit->options.top) {
        out->similar = audit->similar;
        out->found = audit->found;
    }
    twin__audit_sum_up(out, told, audit->matches, audit->match_count, audit->is_sampled);
}

static twin_status make_auditors(struct audit *audit, size_t drawn)
{
    audit->auditors = calloc((size_t)audit->options.exec.workers, sizeof *audit->auditors);
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        audit->auditors[i].touched = calloc(drawn + 1, sizeof(uint32_t));
        audit->auditors[i].is_touched = calloc(drawn + 1, sizeof(bool));
        if (!audit->auditors[i].touched || !audit->auditors[i].is_touched)
            return TWIN_ENOMEM;
    }
    return audit->auditors ? TWIN_OK : TWIN_ENOMEM;
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin_scratch_clear(&audit->auditors[i].scratch);
        free(audit->auditors[i].touched);
        free(audit->auditors[i].is_touched);
        twin_matches_clear(&audit->auditors[i].seen);
    }
    free(audit->auditors);
}

twin_status twin_audit_run(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                           twin_audit_options options, twin_error *error)
{
    struct audit audit = { .collection = collection, .options = options, .failure = TWIN__NO_FAILURE };
    audit.distinct_count = twin_collection_distinct(&audit.distinct, collection);
    audit.match_count = twin_similar_matches(&audit.matches, similar);
    size_t drawn = options.documents < audit.distinct_count ? options.documents : audit.distinct_count;

    uint32_t *samples = calloc(drawn + 1, sizeof *samples);
    bool *is_sampled = calloc(twin_collection_count(collection).documents + 1, sizeof *is_sampled);
    audit.begin = calloc(drawn + 2, sizeof *audit.begin);
    twin_status status = make_auditors(&audit, drawn);
    if (!samples || !is_sampled || !audit.begin || status != TWIN_OK) {
        status = twin__fail_memory(error);
        goto done;
    }
    twin__audit_draw(samples, drawn, audit.distinct, audit.distinct_count, options.seed);
    for (size_t i = 0; i < drawn; i++)
        is_sampled[samples[i]] = true;
    audit.samples = samples;
    audit.is_sampled = is_sampled;
    status = run_batches(&audit, drawn, error);
    if (status == TWIN_OK)
        sum_up(out, &audit, drawn);
done:
    free_auditors(&audit);
    postings_clear(&audit.postings);
    free(samples);
    free(is_sampled);
    free(audit.begin);
    twin_items_clear(&audit.items);
    return status;
}

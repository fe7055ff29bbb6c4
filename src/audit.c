/* audit.c — a run measures its own recall. */
#include <twinsift/audit.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "grow.h"
#include "random.h"

/* Where the hashes of the drawn documents are: open addressing by hash, each entry the head of a chain of the
 * documents that have it. One pass over the collection then counts what every document shares with each. */
struct postings {
    uint64_t *hash;
    uint32_t *head; /* of the chain, plus one; 0 is an empty place */
    size_t size, used;
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
    size_t *sizes;          /* of their sets */
    size_t sample_count;    /* of this batch */
    const bool *is_sampled; /* by document: drawn in any batch */
    struct postings postings;

    struct auditor {
        twin_scratch scratch;
        uint32_t *common;  /* one a sample */
        uint32_t *touched; /* the samples with common > 0 */
        uint64_t similar, found;
    } * auditors;
    struct twin__first_failure failure;
    atomic_size_t done;
    size_t total;
};

/* ---- postings ---- */

static size_t place_of(const struct postings *postings, uint64_t hash)
{
    size_t mask = postings->size - 1, place = hash & mask;
    while (postings->head[place] && postings->hash[place] != hash)
        place = (place + 1) & mask;
    return place;
}

static bool postings_grow(struct postings *postings)
{
    struct postings larger = { .size = postings->size ? 2 * postings->size : 1 << 12 };
    larger.hash = malloc(larger.size * sizeof *larger.hash);
    larger.head = calloc(larger.size, sizeof *larger.head);
    if (!larger.hash || !larger.head) {
        free(larger.hash);
        free(larger.head);
        return false;
    }
    for (size_t i = 0; i < postings->size; i++)
        if (postings->head[i]) {
            size_t place = place_of(&larger, postings->hash[i]);
            larger.hash[place] = postings->hash[i];
            larger.head[place] = postings->head[i];
        }
    free(postings->hash);
    free(postings->head);
    postings->hash = larger.hash;
    postings->head = larger.head;
    postings->size = larger.size;
    return true;
}

static bool postings_add(struct postings *postings, uint64_t hash, uint32_t sample)
{
    if (2 * postings->used >= postings->size && !postings_grow(postings))
        return false;
    if (postings->link_count == UINT32_MAX - 1 ||
        !twin__grow(&postings->links, &postings->link_capacity, postings->link_count, 1, sizeof *postings->links))
        return false;
    size_t place = place_of(postings, hash);
    postings->used += postings->head[place] == 0;
    postings->links[postings->link_count++] = (struct link){ sample, postings->head[place] };
    postings->hash[place] = hash;
    postings->head[place] = (uint32_t)postings->link_count;
    return true;
}

static void postings_empty(struct postings *postings)
{
    if (postings->size)
        memset(postings->head, 0, postings->size * sizeof *postings->head);
    postings->used = postings->link_count = 0;
}

static void postings_clear(struct postings *postings)
{
    free(postings->hash);
    free(postings->head);
    free(postings->links);
}

/* ---- drawing ---- */

/* Draws `wanted` of the distinct documents, each set as likely (Knuth's selection sampling): increasing. */
static void draw(uint32_t *out, size_t wanted, const uint32_t *distinct, size_t count, uint64_t seed)
{
    size_t drawn = 0;
    for (size_t i = 0; i < count && drawn < wanted; i++)
        if (twin__random_below(&seed, count - i) < wanted - drawn)
            out[drawn++] = distinct[i];
}

/* ---- one batch: a pass over the collection ---- */

static bool was_found(const struct audit *audit, uint32_t a, uint32_t b)
{
    size_t low = 0, high = audit->match_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const twin_match *match = &audit->matches[middle];
        if (match->a < a || (match->a == a && match->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < audit->match_count && audit->matches[low].a == a && audit->matches[low].b == b;
}

static double similarity_of(const struct audit *audit, size_t common, size_t size_a, size_t size_b)
{
    size_t smaller = size_a < size_b ? size_a : size_b;
    return (double)common / (double)(audit->options.measure == TWIN_JACCARD ? size_a + size_b - common : smaller);
}

static size_t count_common(const struct audit *audit, struct auditor *auditor, twin_set set)
{
    const struct postings *postings = &audit->postings;
    size_t touched = 0;
    for (size_t i = 0; i < set.count; i++)
        for (uint32_t link = postings->head[place_of(postings, set.items[i])]; link;
             link = postings->links[link - 1].next) {
            uint32_t sample = postings->links[link - 1].sample;
            if (auditor->common[sample]++ == 0)
                auditor->touched[touched++] = sample;
        }
    return touched;
}

static void judge(const struct audit *audit, struct auditor *auditor, uint32_t document, twin_set set)
{
    size_t touched = count_common(audit, auditor, set);
    for (size_t i = 0; i < touched; i++) {
        uint32_t sample = auditor->touched[i], other = audit->samples[sample];
        double similarity = similarity_of(audit, auditor->common[sample], audit->sizes[sample], set.count);
        auditor->common[sample] = 0;
        /* A pair of two drawn documents is met twice: it counts from its first. */
        bool counts = other != document && (!audit->is_sampled[document] || other < document);
        if (!counts || similarity < audit->options.threshold)
            continue;
        uint32_t a = other < document ? other : document, b = other < document ? document : other;
        auditor->similar++;
        auditor->found += was_found(audit, a, b);
    }
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

/* As many of the drawn documents, from samples[0] on, as postings of moderate size hold; at least one. */
enum { MOST_POSTINGS = 1 << 23 };

static twin_status fill_postings(struct audit *audit, size_t left, twin_error *error)
{
    twin_scratch *scratch = &audit->auditors[0].scratch;
    postings_empty(&audit->postings);
    audit->sample_count = 0;
    while (audit->sample_count < left && audit->postings.link_count < MOST_POSTINGS) {
        uint32_t sample = (uint32_t)audit->sample_count;
        twin_set set;
        twin_status status = twin_collection_set(&set, audit->collection, scratch, audit->samples[sample], error);
        if (status != TWIN_OK)
            return status;
        for (size_t i = 0; i < set.count; i++)
            if (!postings_add(&audit->postings, set.items[i], sample))
                return twin__fail_memory(error);
        audit->sizes[audit->sample_count++] = set.count;
    }
    return TWIN_OK;
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
    *low = fmax(0, middle - reach);
    *high = fmin(1, middle + reach);
}

static void sum_up(twin_audit *out, const struct audit *audit, size_t drawn)
{
    uint64_t told = 0;
    *out = (twin_audit){ .documents = drawn };
    for (int i = 0; i < audit->options.exec.workers; i++) {
        out->similar += audit->auditors[i].similar;
        out->found += audit->auditors[i].found;
    }
    for (size_t i = 0; i < audit->match_count; i++)
        told += audit->is_sampled[audit->matches[i].a] || audit->is_sampled[audit->matches[i].b];
    out->wrong = told - out->found;
    out->recall = out->similar ? (double)out->found / (double)out->similar : 1;
    wilson(&out->low, &out->high, out->found, out->similar);
}

static twin_status make_auditors(struct audit *audit, size_t drawn)
{
    audit->auditors = calloc((size_t)audit->options.exec.workers, sizeof *audit->auditors);
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        audit->auditors[i].common = calloc(drawn + 1, sizeof(uint32_t));
        audit->auditors[i].touched = calloc(drawn + 1, sizeof(uint32_t));
        if (!audit->auditors[i].common || !audit->auditors[i].touched)
            return TWIN_ENOMEM;
    }
    return audit->auditors ? TWIN_OK : TWIN_ENOMEM;
}

static void free_auditors(struct audit *audit)
{
    for (int i = 0; audit->auditors && i < audit->options.exec.workers; i++) {
        twin_scratch_clear(&audit->auditors[i].scratch);
        free(audit->auditors[i].common);
        free(audit->auditors[i].touched);
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
    audit.sizes = calloc(drawn + 1, sizeof *audit.sizes);
    twin_status status = make_auditors(&audit, drawn);
    if (!samples || !is_sampled || !audit.sizes || status != TWIN_OK) {
        status = twin__fail_memory(error);
        goto done;
    }
    draw(samples, drawn, audit.distinct, audit.distinct_count, options.seed);
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
    free(audit.sizes);
    return status;
}

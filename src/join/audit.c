/* audit.c — a run measures its own recall: documents are drawn, and all others held against them. */
#include "join/audit_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/exec.h"
#include "base/random.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "join/matches.h"
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

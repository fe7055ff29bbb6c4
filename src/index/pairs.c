/* pairs.c — all similar pairs of an index: the signatures go into memory, the sets stay in the file. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "index/index_private.h"
#include "kernels/sort.h"

/* A set with something in it. */
struct member {
    uint64_t set, size, first;
};

struct pairing {
    twin_index *index;
    struct twin__seat *seats;
    twin_exec exec;
    double threshold;
    size_t slots, least;
    struct member *members;
    uint32_t *signatures, *numbers;
    size_t count, member_capacity, signature_capacity;

    struct worker {
        uint64_t *pairs; /* two places among the members as one number */
        size_t count, capacity;
        bool no_memory;
        twin_items held; /* the set of the member `holding` */
        uint64_t holding;
    } * workers;
    uint64_t *pairs;
    double *similarities;
    size_t pair_count;

    struct told {
        uint64_t a, b; /* documents */
        double similarity;
    } * told;
    size_t told_count, told_capacity;

    struct twin__first_failure failure;
    atomic_size_t done;
    twin_progress progress;
};

/* ---- the sets ---- */

static bool room_for_member(struct pairing *pairing)
{
    return twin__array_grow(&pairing->members, &pairing->member_capacity, pairing->count, 1,
                            sizeof *pairing->members) &&
           twin__array_grow(&pairing->signatures, &pairing->signature_capacity, pairing->count * pairing->slots,
                            pairing->slots, sizeof *pairing->signatures);
}

static twin_status take_member(struct pairing *pairing, MDB_val key, MDB_val value, twin_error *error)
{
    struct twin__set set;
    uint64_t number;
    if (!room_for_member(pairing))
        return twin__fail_memory(error);
    if (!twin__key_number(&number, key) ||
        !twin__set_decode(&set, pairing->signatures + pairing->count * pairing->slots, pairing->slots,
                          twin__bytes_of(value)))
        return twin__fail_damaged(error, pairing->index, "a signature does not fit its checksum");
    if (set.size == 0)
        return TWIN_OK;
    if (pairing->count == UINT32_MAX)
        return twin__fail(error, TWIN_ELIMIT, "%s: has more sets than can be paired", pairing->index->path);
    pairing->members[pairing->count++] = (struct member){ number, set.size, set.first };
    return TWIN_OK;
}

static twin_status load_members(struct pairing *pairing, twin_error *error)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(pairing->seats[0].view->txn, pairing->index->tables[TWIN__SETS], &cursor);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, pairing->index, code);
    twin_status status = TWIN_OK;
    code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    for (; code == MDB_SUCCESS && status == TWIN_OK; code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))
        status = take_member(pairing, key, value, error);
    mdb_cursor_close(cursor);
    if (status == TWIN_OK && code != MDB_NOTFOUND)
        return twin__fail_lmdb(error, pairing->index, code);
    pairing->numbers = malloc((pairing->count + 1) * sizeof *pairing->numbers);
    if (!pairing->numbers)
        return twin__fail_memory(error);
    for (size_t i = 0; i < pairing->count; i++)
        pairing->numbers[i] = (uint32_t)i;
    return status;
}

/* ---- candidates ---- */

static void take_pair(void *context, uint32_t a, uint32_t b, int number)
{
    struct pairing *pairing = context;
    struct worker *worker = &pairing->workers[number];
    size_t slots = pairing->slots;
    if (twin_minhash_agreement(pairing->signatures + a * slots, pairing->signatures + b * slots, slots) <
        pairing->least)
        return;
    if (!twin__array_grow(&worker->pairs, &worker->capacity, worker->count, 1, sizeof *worker->pairs))
        worker->no_memory = true;
    else
        worker->pairs[worker->count++] = (uint64_t)a << 32 | b;
}

static twin_status find_candidates(struct pairing *pairing, twin_error *error)
{
    twin_signatures signatures = { pairing->signatures, pairing->slots, pairing->numbers, pairing->count };
    twin_band_options bands = { .plan = pairing->index->options.scheme.plan };
    twin_status status = twin_bands_pairs(signatures, bands, pairing->exec, take_pair, pairing, pairing->progress);
    for (int i = 0; i < pairing->exec.workers && status == TWIN_OK; i++) {
        status = pairing->workers[i].no_memory ? TWIN_ENOMEM : TWIN_OK;
        pairing->pair_count += pairing->workers[i].count;
    }
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    pairing->pairs = malloc((pairing->pair_count + 1) * sizeof *pairing->pairs);
    pairing->similarities = malloc((pairing->pair_count + 1) * sizeof *pairing->similarities);
    uint64_t *spare = malloc((pairing->pair_count + 1) * sizeof *spare);
    if (pairing->pairs && pairing->similarities && spare) {
        size_t count = 0;
        for (int i = 0; i < pairing->exec.workers; i++) {
            const struct worker *worker = &pairing->workers[i];
            if (worker->count)
                memcpy(pairing->pairs + count, worker->pairs, worker->count * sizeof *worker->pairs);
            count += worker->count;
        }
        twin__sort(pairing->pairs, spare, count);
    } else
        status = twin__fail_memory(error);
    free(spare);
    return status;
}

/* ---- exact similarities ---- */

/* Pairs come by their first set, which is held until another comes. */
static twin_status hold(struct pairing *pairing, struct worker *worker, twin_index_view *view, uint32_t place,
                        twin_error *error)
{
    const struct member *member = &pairing->members[place];
    twin_set set;
    if (worker->held.count && worker->holding == member->set)
        return TWIN_OK;
    twin_status status = twin__view_items(&set, view, member->set, member->size, error);
    if (status != TWIN_OK)
        return status;
    worker->held.count = 0;
    if (twin_items_reserve(&worker->held, set.count + 1) != TWIN_OK)
        return twin__fail_memory(error);
    memcpy(worker->held.items, set.items, set.count * sizeof *set.items);
    worker->held.count = set.count;
    worker->holding = member->set;
    return TWIN_OK;
}

static twin_status check_pair(struct pairing *pairing, size_t i, int number, twin_error *error)
{
    struct worker *worker = &pairing->workers[number];
    twin_index_view *view = pairing->seats[number].view;
    uint32_t a = (uint32_t)(pairing->pairs[i] >> 32), b = (uint32_t)pairing->pairs[i];
    if (pairing->index->options.keep == TWIN_KEEP_NONE) {
        size_t slots = pairing->slots;
        pairing->similarities[i] =
            (double)twin_minhash_agreement(pairing->signatures + a * slots, pairing->signatures + b * slots, slots) /
            (double)slots;
        return TWIN_OK;
    }
    twin_set other;
    twin_status status = hold(pairing, worker, view, a, error);
    if (status == TWIN_OK)
        status = twin__view_items(&other, view, pairing->members[b].set, pairing->members[b].size, error);
    if (status == TWIN_OK)
        pairing->similarities[i] = twin_set_similarity_at_least((twin_set){ worker->held.items, worker->held.count },
                                                                other, TWIN_JACCARD, pairing->threshold);
    return status;
}

static void check_pairs(void *context, size_t begin, size_t end, int worker)
{
    struct pairing *pairing = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (check_pair(pairing, i, worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&pairing->failure, i, &error);
            return;
        }
    }
    size_t done = atomic_fetch_add(&pairing->done, end - begin) + end - begin;
    if (pairing->progress.report)
        pairing->progress.report(pairing->progress.context, &twin__stage_verifying, done, pairing->pair_count);
}

/* ---- what is told ---- */

static twin_status keep_told(struct pairing *pairing, uint64_t a, uint64_t b, double similarity, twin_error *error)
{
    if (!twin__array_grow(&pairing->told, &pairing->told_capacity, pairing->told_count, 1, sizeof *pairing->told))
        return twin__fail_memory(error);
    pairing->told[pairing->told_count++] = (struct told){ a < b ? a : b, a < b ? b : a, similarity };
    return TWIN_OK;
}

static twin_status take_similar(struct pairing *pairing, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < pairing->pair_count && status == TWIN_OK; i++)
        if (pairing->similarities[i] >= 0)
            status = keep_told(pairing, pairing->members[pairing->pairs[i] >> 32].first,
                               pairing->members[(uint32_t)pairing->pairs[i]].first, pairing->similarities[i], error);
    return status;
}

static twin_status take_copies(struct pairing *pairing, MDB_cursor *cursor, const struct member *member,
                               twin_error *error)
{
    MDB_val key = twin__number_key(&member->set), value;
    twin_status status = TWIN_OK;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY);
    for (; code == MDB_SUCCESS && status == TWIN_OK; code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP)) {
        uint32_t label;
        uint64_t document;
        if (!twin__member_decode(&label, &document, value))
            return twin__fail_damaged(error, pairing->index, "a member of a set is not what it should be");
        if (document != member->first)
            status = keep_told(pairing, member->first, document, 1, error);
    }
    return status != TWIN_OK || code == MDB_NOTFOUND ? status : twin__fail_lmdb(error, pairing->index, code);
}

static twin_status take_all_copies(struct pairing *pairing, twin_error *error)
{
    MDB_cursor *cursor;
    int code = mdb_cursor_open(pairing->seats[0].view->txn, pairing->index->tables[TWIN__MEMBERS], &cursor);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, pairing->index, code);
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < pairing->count && status == TWIN_OK; i++)
        status = take_copies(pairing, cursor, &pairing->members[i], error);
    mdb_cursor_close(cursor);
    return status;
}

static int by_documents(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static twin_status tell_all(struct pairing *pairing, twin_index_pair_visit *visit, void *context, twin_error *error)
{
    twin_index_view *view = pairing->seats[0].view;
    if (pairing->told_count)
        qsort(pairing->told, pairing->told_count, sizeof *pairing->told, by_documents);
    for (size_t i = 0; i < pairing->told_count; i++) {
        struct told told = pairing->told[i];
        struct twin__document a, b;
        twin_status status = twin__view_document(&a, NULL, view, told.a, error);
        if (status == TWIN_OK)
            status = twin__view_document(&b, NULL, view, told.b, error);
        if (status != TWIN_OK)
            return status;
        twin_index_entry first = twin__entry_of(told.a, &a, 0), second = twin__entry_of(told.b, &b, 0);
        if (!visit(context, &first, &second, told.similarity))
            return TWIN_ESTOPPED;
    }
    return TWIN_OK;
}

static twin_status find_pairs(struct pairing *pairing, twin_copies copies, twin_error *error)
{
    twin_status status = load_members(pairing, error);
    if (status == TWIN_OK)
        status = find_candidates(pairing, error);
    if (status != TWIN_OK)
        return status;
    twin_exec_for(pairing->exec, pairing->pair_count, 64, check_pairs, pairing);
    status = twin__first_failure(error, &pairing->failure);
    if (status == TWIN_OK)
        status = take_similar(pairing, error);
    return status == TWIN_OK && copies != TWIN_COPIES_NONE ? take_all_copies(pairing, error) : status;
}

static void clear_pairing(struct pairing *pairing)
{
    for (int i = 0; pairing->workers && i < pairing->exec.workers; i++) {
        free(pairing->workers[i].pairs);
        twin_items_clear(&pairing->workers[i].held);
    }
    free(pairing->workers);
    free(pairing->members);
    free(pairing->signatures);
    free(pairing->numbers);
    free(pairing->pairs);
    free(pairing->similarities);
    free(pairing->told);
}

twin_status twin_index_pairs(twin_index *index, double threshold, twin_copies copies, twin_exec exec,
                             twin_index_pair_visit *visit, void *context, twin_progress progress, twin_error *error)
{
    if (!(threshold >= 0 && threshold <= 1) || copies == TWIN_COPIES_ALL)
        return twin__fail_status(error, TWIN_EINVAL);
    struct pairing pairing = { .index = index,
                               .exec = exec,
                               .threshold = threshold > 0 ? threshold : index->options.scheme.threshold,
                               .slots = index->options.scheme.minhash.slots,
                               .failure = TWIN__NO_FAILURE,
                               .progress = progress };
    pairing.least = twin__index_least_equal(&index->options, pairing.threshold);
    pairing.workers = calloc((size_t)exec.workers, sizeof *pairing.workers);
    twin_status status =
        pairing.workers ? twin__seats_create(&pairing.seats, exec.workers, index, error) : twin__fail_memory(error);
    if (status == TWIN_OK) {
        status = find_pairs(&pairing, copies, error);
        if (status == TWIN_OK)
            status = tell_all(&pairing, visit, context, error);
        twin__seats_free(pairing.seats, exec.workers);
    }
    clear_pairing(&pairing);
    return status;
}

/* postings.c — what is looked up by hash: posting lists in sorted runs, merged as they grow.
 *
 * A hash belongs anywhere, so a tree would rewrite a page for every band of every document. Instead each batch is
 * written as a run: a list for each band, and one for the digests by which copies are found, of eight-byte entries,
 * the hash in the high half and the set's number (less the run's first) in the low, sorted. A run absorbs the runs
 * before it that are not twice its size, so n sets are in about log2(n / batch) runs, each entry has been copied that
 * often, in order, and a query searches each list of each run once. Runs follow each other by the numbers of their
 * sets. The entry of a removed set stays until its run is written again: a set that no longer exists is skipped. The
 * ids of documents are in runs of their own, of one list each. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "index/postings.h"
#include "kernels/sort.h"

/* Keys of lists: the list in the low 17 bits, the run's first number above them. */
enum { LIST_BITS = 17, BLOCK = TWIN__INDEX_LIST_BLOCK };
static const uint64_t MOST_NUMBERS = (uint64_t)1 << (64 - LIST_BITS);

static const struct {
    enum twin__index_table runs, lists, records;
} kinds[] = {
    [TWIN__INDEX_POSTINGS_OF_SETS] = { TWIN__INDEX_RUNS, TWIN__INDEX_BANDS, TWIN__INDEX_SETS },
    [TWIN__INDEX_POSTINGS_OF_IDS] = { TWIN__INDEX_ID_RUNS, TWIN__INDEX_IDS, TWIN__INDEX_DOCUMENTS },
};

size_t twin__index_list_count(const twin_index_options *options, enum twin__index_postings kind)
{
    return kind == TWIN__INDEX_POSTINGS_OF_SETS ? twin__index_bands(options) + 1 : 1;
}

uint32_t twin__index_band_hash(const twin_index_options *options, const uint32_t *signature, size_t band)
{
    size_t rows = options->scheme.plan.rows, segments = twin__index_segments(options);
    if (band < segments)
        return signature[band];
    if (options->by_edits)
        return twin__index_tree_label(signature + segments + (band - segments) * rows);
    uint64_t key = 0; /* of a band as if it were the only one: each has lists of its own */
    twin_band_keys(&key, signature + band * rows, (twin_plan){ .bands = 1, .rows = rows });
    return (uint32_t)(key >> 32);
}

/* The first labels of the path stand in the high bits, so that entries with a common path follow each other. */
uint32_t twin__index_tree_label(const uint32_t *slots)
{
    uint32_t label = 0;
    for (size_t level = 0; level < TWIN__INDEX_LEVELS; level++)
        label = label << 8 | (uint32_t)(twin__mix(slots[level]) >> 56);
    return label;
}

/* ---- reading ---- */

size_t twin__index_list_blocks(uint64_t entries, unsigned version)
{
    return version >= TWIN__INDEX_VERSION_SEEDED ? entries / BLOCK + (entries % BLOCK > 0) : 1;
}

/* A list of `entries` entries whose key is `key`, without its place. */
static struct twin__index_list list_of(const twin_index *index, uint64_t entries, uint64_t key)
{
    bool seeded = index->version >= TWIN__INDEX_VERSION_SEEDED;
    return (struct twin__index_list){ .count = entries, .block = seeded ? BLOCK : entries, .seed = seeded ? key : 0 };
}

twin_status twin__index_list_get(struct twin__index_list *out, const twin_index *index, twin__store_txn *txn,
                                 enum twin__index_postings kind, struct twin__index_run run, size_t list,
                                 twin_error *error)
{
    struct twin__bytes value;
    uint64_t key = run.first << LIST_BITS | list;
    twin_status status = twin__store_get(&value, txn, kinds[kind].lists, key, error);
    if (status != TWIN_OK)
        return status;
    size_t blocks = twin__index_list_blocks(run.entries, index->version);
    if (!value.at || value.length != (run.entries + blocks) * sizeof(uint64_t))
        return twin__index_fail_damaged(error, index, "a list of a run is missing or has the wrong length");
    *out = list_of(index, run.entries, key);
    out->entries = value.at;
    return TWIN_OK;
}

/* The checksum of a block of a list. */
static uint64_t check_of(struct twin__index_list list, size_t block)
{
    size_t first = block * list.block, count = list.count - first < list.block ? list.count - first : list.block;
    uint64_t seed = list.seed + block * 0x9E3779B97F4A7C15;
    return XXH3_64bits_withSeed((const char *)list.entries + first * sizeof(uint64_t), count * sizeof(uint64_t),
                                seed);
}

static bool block_is_whole(struct twin__index_list list, size_t block)
{
    atomic_uchar *checked = list.checked ? &list.checked[block / 8] : NULL;
    unsigned char bit = (unsigned char)(1u << block % 8);
    if (checked && atomic_load_explicit(checked, memory_order_relaxed) & bit)
        return true;
    if (twin__index_list_entry(list, list.count + block) != check_of(list, block))
        return false;
    if (checked)
        atomic_fetch_or_explicit(checked, bit, memory_order_relaxed);
    return true;
}

/* The blocks of the entries first .. last, of which some may not exist. */
static bool entries_are_whole(struct twin__index_list list, size_t first, size_t last)
{
    last = last < list.count ? last : list.count - 1;
    for (size_t block = first / list.block; block <= last / list.block; block++)
        if (!block_is_whole(list, block))
            return false;
    return true;
}

bool twin__index_list_is_whole(struct twin__index_list list)
{
    return list.count == 0 || entries_are_whole(list, 0, list.count - 1);
}

twin_status twin__index_lists_verify(const twin_index *index, const struct twin__index_lists *lists,
                                     twin_error *error)
{
    for (size_t i = 0; i < lists->run_count * lists->stride; i++)
        if (!twin__index_list_is_whole(lists->lists[i]))
            return twin__index_fail_damaged(error, index, "a list does not fit its checksum");
    return TWIN_OK;
}

static twin_status list_runs(struct twin__index_run **list, size_t *count, const twin_index *index,
                             struct twin__store_cursor *cursor, twin_error *error)
{
    size_t capacity = 0;
    struct twin__store_record record;
    twin_status status = twin__store_move(&record, cursor, TWIN__STORE_FIRST, error);
    for (; status == TWIN_OK && record.value.at;
         status = twin__store_move(&record, cursor, TWIN__STORE_NEXT, error)) {
        if (!TWIN__ARRAY_GROW(list, &capacity, *count, 1))
            return twin__fail_memory(error);
        struct twin__index_run *run = &(*list)[*count];
        if (!twin__index_run_decode(run, record.key, record.value) || (*count && run->first < run[-1].end) ||
            run->end > MOST_NUMBERS)
            return twin__index_fail_damaged(error, index, "its list of runs is not what it should be");
        ++*count;
    }
    return status;
}

twin_status twin__index_runs_read(struct twin__index_run **out, size_t *count, const twin_index *index,
                                  twin__store_txn *txn, enum twin__index_postings kind, twin_error *error)
{
    struct twin__store_cursor cursor;
    *out = NULL;
    *count = 0;
    twin_status status = twin__store_cursor_open(&cursor, txn, kinds[kind].runs, error);
    if (status == TWIN_OK)
        status = list_runs(out, count, index, &cursor, error);
    twin__store_cursor_close(&cursor);
    if (status != TWIN_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

void twin__index_lists_clear(struct twin__index_lists *lists)
{
    free(lists->runs);
    free(lists->lists);
    *lists = (struct twin__index_lists){ 0 };
}

twin_status twin__index_lists_get(struct twin__index_lists *out, const twin_index *index, twin__store_txn *txn,
                                  enum twin__index_postings kind, size_t first, size_t count, twin_error *error)
{
    *out = (struct twin__index_lists){ .stride = count };
    twin_status status = twin__index_runs_read(&out->runs, &out->run_count, index, txn, kind, error);
    if (status != TWIN_OK)
        return status;
    out->lists = malloc((out->run_count * count + 1) * sizeof *out->lists);
    if (!out->lists)
        return twin__fail_memory(error);
    for (size_t i = 0; i < out->run_count * count && status == TWIN_OK; i++)
        status =
            twin__index_list_get(&out->lists[i], index, txn, kind, out->runs[i / count], first + i % count, error);
    return status;
}

static size_t lower_bound(struct twin__index_list list, size_t low, size_t high, uint32_t hash)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (twin__index_list_entry(list, middle) >> 32 < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Hashes are spread evenly, so the position is near n·hash/2^32: off by at most half a root of n on average, and by
 * eight times that almost never. Where it is not near, the whole list is searched. */
size_t twin__index_list_find(struct twin__index_list list, uint32_t hash)
{
    size_t n = list.count, near = 4, place = (size_t)((uint64_t)hash * n >> 32);
    while (near * near < 16 * n)
        near *= 2;
    size_t low = place > near ? place - near : 0, high = n - place > near ? place + near : n;
    bool inside = (low == 0 || twin__index_list_entry(list, low - 1) >> 32 < hash) &&
                  (high == n || twin__index_list_entry(list, high) >> 32 >= hash);
    return inside ? lower_bound(list, low, high, hash) : lower_bound(list, 0, n, hash);
}

/* In steps that double until one goes too far: many sorted hashes are found in one walk. */
size_t twin__index_list_find_from(struct twin__index_list list, size_t from, uint32_t hash)
{
    size_t low = from, step = 8;
    while (step < list.count - low && twin__index_list_entry(list, low + step) >> 32 < hash) {
        low += step;
        step *= 2;
    }
    return lower_bound(list, low, step < list.count - low ? low + step : list.count, hash);
}

static bool is_before(struct twin__index_list list, size_t position, uint32_t hash)
{
    return twin__index_list_entry(list, position) >> 32 < hash;
}

/* The search reads entries of blocks that nobody has verified, and may be misled by one that is damaged. But the list
 * was written in order: if the entries at the place that was found, and those next to it, are as they were written,
 * and stand to both sides of the hashes, then it is the right place. */
bool twin__index_list_range(size_t *begin, size_t *end, struct twin__index_list list, uint32_t least, uint32_t most)
{
    *begin = *end = 0;
    if (list.count == 0)
        return true;
    *begin = twin__index_list_find(list, least);
    *end = most == UINT32_MAX ? list.count : twin__index_list_find_from(list, *begin, most + 1);
    return entries_are_whole(list, *begin ? *begin - 1 : 0, *end) &&
           (*begin == 0 || is_before(list, *begin - 1, least)) &&
           (*begin == list.count || !is_before(list, *begin, least)) &&
           (*end == list.count || twin__index_list_entry(list, *end) >> 32 > most);
}

bool twin__index_list_search(size_t *begin, size_t *end, struct twin__index_list list, uint32_t hash)
{
    return twin__index_list_range(begin, end, list, hash, hash);
}

/* ---- merging ---- */

/* Runs, and new postings after them, that become one. */
struct merge {
    enum twin__index_postings kind;
    const struct twin__index_run *runs;
    size_t run_count;
    const struct twin__index_new_posting *postings;
    size_t posting_count;
    struct twin__index_run out;
    bool clears;         /* some entries are dead */
    unsigned char *live; /* then a bit for each number of the runs: whether it is there */
    uint64_t *entries, *spare;
    size_t count;
};

static bool is_live(const struct merge *merge, uint64_t number)
{
    return !merge->clears || merge->live[number / 8] >> number % 8 & 1;
}

static twin_status mark_live(struct merge *merge, struct twin__index_writing *writing)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record = { 0 };
    twin_error *error = writing->error;
    twin_status status = twin__store_cursor_open(&cursor, writing->txn, kinds[merge->kind].records, error);
    if (status == TWIN_OK)
        status = twin__store_seek(&record, &cursor, merge->out.first, TWIN__STORE_AT_OR_AFTER, error);
    while (status == TWIN_OK && record.value.at && record.key < merge->out.end) {
        uint64_t number = record.key - merge->out.first;
        merge->live[number / 8] = (unsigned char)(merge->live[number / 8] | 1u << number % 8);
        status = twin__store_move(&record, &cursor, TWIN__STORE_NEXT, error);
    }
    twin__store_cursor_close(&cursor);
    return status;
}

static uint32_t hash_in(const twin_index_options *options, const struct twin__index_new_posting *posting, size_t list)
{
    return posting->signature && list < twin__index_bands(options)
               ? twin__index_band_hash(options, posting->signature, list)
               : posting->hash;
}

/* Copies the entries of a list out of the runs: writing to a transaction moves what was read from it. */
static twin_status gather_list(struct merge *merge, struct twin__index_writing *writing, size_t list)
{
    merge->count = 0;
    for (size_t i = 0; i < merge->run_count; i++) {
        struct twin__index_list from = { 0 };
        uint64_t shift = merge->runs[i].first - merge->out.first;
        twin_status status = twin__index_list_get(&from, writing->index, writing->txn, merge->kind, merge->runs[i],
                                                  list, writing->error);
        if (status != TWIN_OK)
            return status;
        /* Or the merged list would get a good checksum over damaged entries. */
        if (!twin__index_list_is_whole(from))
            return twin__index_fail_damaged(writing->error, writing->index, "a list does not fit its checksum");
        for (size_t j = 0; j < from.count; j++) {
            uint64_t entry = twin__index_list_entry(from, j);
            if ((entry & UINT32_MAX) >= merge->runs[i].end - merge->runs[i].first)
                return twin__index_fail_damaged(writing->error, writing->index,
                                                "a list names a number outside its run");
            if (is_live(merge, (entry & UINT32_MAX) + shift))
                merge->entries[merge->count++] = entry + shift;
        }
    }
    for (size_t i = 0; i < merge->posting_count; i++) {
        const struct twin__index_new_posting *posting = &merge->postings[i];
        merge->entries[merge->count++] =
            (uint64_t)hash_in(&writing->index->options, posting, list) << 32 | (posting->number - merge->out.first);
    }
    return TWIN_OK;
}

static twin_status put_list(const struct merge *merge, struct twin__index_writing *writing, size_t list)
{
    uint64_t key = merge->out.first << LIST_BITS | list;
    size_t blocks = twin__index_list_blocks(merge->count, writing->index->version);
    size_t length = merge->count * sizeof(uint64_t);
    void *room;
    twin_status status = twin__store_reserve(&room, writing->txn, kinds[merge->kind].lists, key,
                                             length + blocks * sizeof(uint64_t), TWIN__STORE_SET, writing->error);
    if (status != TWIN_OK)
        return status;
    struct twin__index_list written = list_of(writing->index, merge->count, key);
    written.entries = merge->entries;
    memcpy(room, merge->entries, length);
    for (size_t block = 0; block < blocks; block++)
        twin__put8((char *)room + length + block * sizeof(uint64_t), check_of(written, block));
    return TWIN_OK;
}

static twin_status merge_list(struct merge *merge, struct twin__index_writing *writing, size_t list)
{
    twin_status status = gather_list(merge, writing, list);
    for (size_t i = 0; i < merge->run_count && status == TWIN_OK; i++)
        status = twin__store_delete(writing->txn, kinds[merge->kind].lists, merge->runs[i].first << LIST_BITS | list,
                                    NULL, writing->error);
    if (status != TWIN_OK || merge->count == 0)
        return status;
    twin__sort(merge->entries, merge->count, merge->spare,
               merge->count); /* no number comes twice, so not by hash alone */
    return put_list(merge, writing, list);
}

static twin_status put_run(struct twin__index_writing *writing, enum twin__index_postings kind,
                           const struct twin__index_run *run)
{
    unsigned char record[TWIN__INDEX_RUN_BYTES];
    twin__index_run_encode(record, run);
    return twin__store_put(writing->txn, kinds[kind].runs, run->first, (struct twin__bytes){ record, sizeof record },
                           TWIN__STORE_SET, writing->error);
}

static twin_status merge_lists(struct merge *merge, struct twin__index_writing *writing)
{
    size_t lists = twin__index_list_count(&writing->index->options, merge->kind);
    twin_status status = merge->clears ? mark_live(merge, writing) : TWIN_OK;
    for (size_t list = 0; list < lists && status == TWIN_OK; list++)
        status = merge_list(merge, writing, list);
    for (size_t i = 0; i < merge->run_count && status == TWIN_OK; i++) {
        status =
            twin__store_delete(writing->txn, kinds[merge->kind].runs, merge->runs[i].first, NULL, writing->error);
        if (merge->kind == TWIN__INDEX_POSTINGS_OF_SETS)
            writing->counts.dead -= merge->runs[i].dead;
    }
    merge->out.entries = merge->count;
    return status == TWIN_OK && merge->count ? put_run(writing, merge->kind, &merge->out) : status;
}

static twin_status merge_runs(struct twin__index_writing *writing, enum twin__index_postings kind,
                              const struct twin__index_run *runs, size_t run_count,
                              const struct twin__index_new_posting *postings, size_t posting_count)
{
    struct merge merge = {
        .kind = kind, .runs = runs, .run_count = run_count, .postings = postings, .posting_count = posting_count
    };
    size_t room = posting_count;
    for (size_t i = 0; i < run_count; i++) {
        room += runs[i].entries;
        merge.clears |= runs[i].dead > 0;
    }
    merge.out.first = run_count ? runs[0].first : postings[0].number;
    merge.out.end = posting_count ? postings[posting_count - 1].number + 1 : runs[run_count - 1].end;
    merge.entries = malloc((room + 1) * sizeof(uint64_t));
    merge.spare = malloc((room + 1) * sizeof(uint64_t));
    merge.live = merge.clears ? calloc((merge.out.end - merge.out.first) / 8 + 1, 1) : NULL;
    twin_status status = merge.entries && merge.spare && (merge.live || !merge.clears)
                             ? merge_lists(&merge, writing)
                             : twin__fail_memory(writing->error);
    free(merge.entries);
    free(merge.spare);
    free(merge.live);
    return status;
}

/* ---- changes ---- */

/* Numbers of a run are 32 bits, and so is LMDB's length of a list with its checksums. */
static bool fits(uint64_t first, uint64_t end, uint64_t entries)
{
    return end - first <= (uint64_t)UINT32_MAX + 1 &&
           entries + twin__index_list_blocks(entries, TWIN__INDEX_VERSION) <= UINT32_MAX / sizeof(uint64_t);
}

static uint64_t live_entries(struct twin__index_run run)
{
    return run.entries - run.dead;
}

twin_status twin__index_runs_append(struct twin__index_writing *writing, enum twin__index_postings kind,
                                    const struct twin__index_new_posting *postings, size_t count)
{
    struct twin__index_run *runs;
    size_t run_count;
    if (count == 0)
        return TWIN_OK;
    uint64_t end = postings[count - 1].number + 1;
    if (end > MOST_NUMBERS || !fits(postings[0].number, end, count))
        return twin__fail(writing->error, TWIN_ELIMIT, "%s: more documents than an index can hold",
                          writing->index->path);
    twin_status status = twin__index_runs_read(&runs, &run_count, writing->index, writing->txn, kind, writing->error);
    if (status != TWIN_OK)
        return status;
    size_t first = run_count, total = count;
    for (; first > 0 && live_entries(runs[first - 1]) < 2 * total &&
           fits(runs[first - 1].first, end, total + live_entries(runs[first - 1]));
         first--)
        total += live_entries(runs[first - 1]);
    status = merge_runs(writing, kind, run_count ? runs + first : NULL, run_count - first, postings, count);
    free(runs);
    return status;
}

static twin_status find_run(struct twin__index_run *out, struct twin__index_writing *writing,
                            enum twin__index_postings kind, uint64_t number)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record = { 0 };
    twin_status status = twin__store_cursor_open(&cursor, writing->txn, kinds[kind].runs, writing->error);
    if (status == TWIN_OK)
        status = twin__store_seek(&record, &cursor, number, TWIN__STORE_AT_OR_BEFORE, writing->error);
    bool good = status == TWIN_OK && record.value.at && twin__index_run_decode(out, record.key, record.value) &&
                number < out->end && out->dead < out->entries;
    twin__store_cursor_close(&cursor);
    return good || status != TWIN_OK
               ? status
               : twin__index_fail_damaged(writing->error, writing->index, "a set or an id is in no run");
}

twin_status twin__index_runs_mark_removed(struct twin__index_writing *writing, enum twin__index_postings kind,
                                          uint64_t number)
{
    struct twin__index_run run = { 0 };
    twin_status status = find_run(&run, writing, kind, number);
    if (status != TWIN_OK)
        return status;
    run.dead++;
    writing->counts.dead += kind == TWIN__INDEX_POSTINGS_OF_SETS;
    return 2 * run.dead > run.entries ? merge_runs(writing, kind, &run, 1, NULL, 0) : put_run(writing, kind, &run);
}

/* Runs that do not fit into one stay separate. */
twin_status twin__index_runs_merge_all(struct twin__index_writing *writing, enum twin__index_postings kind)
{
    struct twin__index_run *runs;
    size_t count, first = 0;
    uint64_t total = 0;
    twin_status status = twin__index_runs_read(&runs, &count, writing->index, writing->txn, kind, writing->error);
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        total += live_entries(runs[i]);
        if (i + 1 < count && fits(runs[first].first, runs[i + 1].end, total + live_entries(runs[i + 1])))
            continue;
        status = merge_runs(writing, kind, runs + first, i + 1 - first, NULL, 0);
        first = i + 1;
        total = 0;
    }
    free(runs);
    return status;
}

/* bucket_pairs.c — the pairs of a bucket that may have enough equal slots.
 *
 * Most pairs of a bucket of some size share a band by chance, and have far too few equal slots to be similar. To find
 * that out from two signatures takes two random accesses to memory of half a kilobyte each, for every pair. Here one
 * byte of each slot is copied first, for a tile of documents at a time, and rows of bytes are compared within the cache:
 * equal slots have equal bytes, so a pair with too few equal bytes has too few equal slots. The few others are left to
 * the caller, who compares the slots themselves.
 *
 * The bits of equal bytes also show whether two documents may share an earlier band. Where they do, the rows of that band
 * are compared, so that a pair is counted in one band only. */
#include "lsh/bucket_pairs.h"

#include <string.h>

#include "base/file.h"
#include "kernels/kernels.h"
#include "lsh/banding.h"

/* Documents of a tile: with 128 slots it takes a third of a first cache. */
enum { TILE = 128, WORD = 64, MOST_SLOTS = 1024, MOST_WORDS = MOST_SLOTS / WORD, MOST_ROWS = WORD / 2 };

/* A worker's room. */
struct room {
    uint8_t *columns, *rows; /* two tiles */
    uint64_t *equal;         /* of a row and the columns */
    uint32_t *counts;
};

struct bucket_search {
    const struct twin__bucket_rule *rule;
    struct twin__bucket bucket;
    struct twin__bucket_visits visits;
    size_t words, least_bytes;
    uint64_t far; /* pairs that were not visited */
    struct room room;
    uint64_t starts[MOST_WORDS + 1]; /* the first rows of earlier bands */
};

static size_t words_of(const struct twin__bucket_rule *rule)
{
    return (rule->signatures.slots + WORD - 1) / WORD;
}

bool twin__bucket_pairs_apply(const struct twin__bucket_rule *rule)
{
    return rule->least > 0 && rule->signatures.slots <= MOST_SLOTS && rule->plan.rows <= MOST_ROWS;
}

size_t twin__bucket_pairs_room(const struct twin__bucket_rule *rule)
{
    size_t words = words_of(rule);
    return TILE * (2 * words * WORD + words * sizeof(uint64_t) + sizeof(uint32_t));
}

static struct room cut_room(void *bytes, size_t words)
{
    uint64_t *equal = bytes;
    uint8_t *columns = (uint8_t *)(equal + TILE * words), *rows = columns + TILE * words * WORD;
    return (struct room){ columns, rows, equal, (uint32_t *)(void *)(rows + TILE * words * WORD) };
}

/* From a file it is read to `room`: to map the pages around it, and give them back, takes longer. */
static const uint32_t *read_signature(uint32_t room[MOST_SLOTS], const struct twin__bucket_rule *rule,
                                      uint32_t document)
{
    size_t bytes = rule->signatures.slots * sizeof *room;
    if (rule->spill && twin__read_at(rule->spill->fd, room, bytes, (uint64_t)document * bytes) == (ssize_t)bytes)
        return room;
    return twin__signature_row(rule->signatures, document);
}

/* One byte of each slot; those beyond the last slot are the same in all. */
static void pack(uint8_t *out, const struct bucket_search *search, const uint64_t *keys, size_t count)
{
    size_t slots = search->rule->signatures.slots, width = search->words * WORD;
    twin__spill_touch(search->rule->spill, count * TWIN__SPILL_AROUND); /* when rows are compared */
    for (size_t i = 0; i < count; i++, out += width) {
        uint32_t room[MOST_SLOTS];
        const uint32_t *signature = read_signature(room, search->rule, (uint32_t)keys[i]);
        for (size_t k = 0; k < slots; k++)
            out[k] = (uint8_t)signature[k];
        memset(out + slots, 0, width - slots);
    }
}

static void mark_starts(struct bucket_search *search)
{
    for (size_t band = 0; band < search->bucket.band; band++) {
        size_t slot = band * search->rule->plan.rows;
        search->starts[slot / WORD] |= (uint64_t)1 << slot % WORD;
    }
}

/* Leaves a bit where `rows` bits in a row begin. x[words] is 0. */
static inline void find_runs(uint64_t *x, size_t words, size_t rows)
{
    for (size_t length = 1, more; length < rows; length += more) {
        more = length < rows - length ? length : rows - length;
        for (size_t w = 0; w < words; w++)
            x[w] &= x[w] >> more | x[w + 1] << (WORD - more);
    }
}

/* Whether the rows of an earlier band that begins in one of these words are equal. */
static bool rows_are_equal(const struct bucket_search *search, const uint64_t *runs, uint32_t a, uint32_t b)
{
    size_t bytes = search->rule->plan.rows * sizeof(uint32_t);
    for (size_t word = 0; word < search->words; word++)
        for (uint64_t starts = runs[word] & search->starts[word]; starts; starts &= starts - 1) {
            size_t slot = word * WORD + (size_t)__builtin_ctzll(starts);
            if (memcmp(twin__signature_row(search->rule->signatures, a) + slot,
                       twin__signature_row(search->rule->signatures, b) + slot, bytes) == 0)
                return true;
        }
    return false;
}

static inline bool share_earlier(const struct bucket_search *search, const uint64_t *equal, size_t words, uint32_t a,
                                 uint32_t b)
{
    uint64_t runs[MOST_WORDS + 1], any = 0;
    for (size_t w = 0; w < words; w++)
        runs[w] = equal[w];
    runs[words] = 0;
    find_runs(runs, words, search->rule->plan.rows);
    for (size_t w = 0; w < words; w++)
        any |= runs[w] & search->starts[w];
    return any && rows_are_equal(search, runs, a, b);
}

/* Visits or counts the pairs of a document and the columns, whose keys are given and whose bytes were compared. */
static inline void visit_pairs(struct bucket_search *search, size_t words, uint32_t document, const uint64_t *keys,
                               size_t count)
{
    const struct twin__bucket_visits *visits = &search->visits;
    const uint64_t *equal = search->room.equal;
    const uint32_t *within = search->rule->within;
    for (size_t i = 0; i < count; i++, equal += words) {
        uint32_t other = (uint32_t)keys[i];
        if ((within && within[other] != within[document]) || share_earlier(search, equal, words, other, document))
            continue;
        if (search->room.counts[i] >= search->least_bytes)
            visits->near(visits->context, other, document, visits->worker);
        else
            search->far++;
    }
}

static void visit_row(struct bucket_search *search, const uint8_t *row, uint32_t document, const uint64_t *keys,
                      size_t count)
{
    enum { USUAL = 2 }; /* words of 128 slots: unrolled, it takes half as long */
    twin__kernels()->equal_bytes(search->room.equal, search->room.counts, row, search->room.columns, search->words,
                                 count);
    if (search->words == USUAL)
        visit_pairs(search, USUAL, document, keys, count);
    else
        visit_pairs(search, search->words, document, keys, count);
}

/* Visits the pairs of a tile of rows with the columns before it. */
static void visit_tile(struct bucket_search *search, size_t begin, size_t count)
{
    const struct twin__bucket *bucket = &search->bucket;
    size_t width = search->words * WORD, end = bucket->split ? bucket->split : begin;
    pack(search->room.rows, search, bucket->keys + begin, count);
    for (size_t first = 0; first < end; first += TILE) {
        size_t columns = end - first < TILE ? end - first : TILE;
        pack(search->room.columns, search, bucket->keys + first, columns);
        for (size_t i = 0; i < count; i++)
            visit_row(search, search->room.rows + i * width, (uint32_t)bucket->keys[begin + i], bucket->keys + first,
                      columns);
    }
    if (bucket->split)
        return;
    memcpy(search->room.columns, search->room.rows, count * width);
    for (size_t i = 1; i < count; i++)
        visit_row(search, search->room.rows + i * width, (uint32_t)bucket->keys[begin + i], bucket->keys + begin, i);
}

uint64_t twin__bucket_pairs(const struct twin__bucket_rule *rule, struct twin__bucket bucket, void *room,
                            struct twin__bucket_visits visits)
{
    size_t words = words_of(rule);
    struct bucket_search search = { .rule = rule,
                                    .bucket = bucket,
                                    .visits = visits,
                                    .words = words,
                                    .least_bytes = rule->least + words * WORD - rule->signatures.slots,
                                    .room = cut_room(room, words) };
    mark_starts(&search);
    for (size_t begin = bucket.split; begin < bucket.count; begin += TILE)
        visit_tile(&search, begin, bucket.count - begin < TILE ? bucket.count - begin : TILE);
    return search.far;
}

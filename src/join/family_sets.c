/* family_sets.c — sets that have much in common, encoded so that it takes little to count how much.
 *
 * A sample of the documents shows which items many of them have. Then each document is fetched once: frequent items
 * become bits, the others are kept as they are until all members are there. Of those, most belong to one document
 * only (dates, addresses, names), and a small table of counters drops them. What remains is numbered, and the members
 * of each number are listed. family_common.c compares. */
#include "join/family_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "join/join_private.h"

/* ---- frequent items ---- */

struct sample {
    uint64_t *items;
    size_t count, capacity;
    size_t sets, longest;
};

/* The sets of some documents spread over the source, one after the other. */
static twin_status draw_sample(struct sample *out, const struct twin__family_source *source, twin_error *error)
{
    enum { SHARE = 8, FEWEST = 16, MOST = 64, MOST_ITEMS = 1 << 20 };
    size_t most = source->count / SHARE < FEWEST ? FEWEST : source->count / SHARE;
    most = most < MOST ? most : MOST;
    most = most < source->count ? most : source->count;
    for (; out->sets < most && out->count < MOST_ITEMS; out->sets++) {
        twin_set set;
        uint32_t document = source->documents[out->sets * source->count / most];
        twin_status status = twin__provider_set(&set, source->provider, document, source->first_worker, error);
        if (status != TWIN_OK)
            return status;
        if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, set.count))
            return twin__fail_memory(error);
        if (set.count)
            memcpy(out->items + out->count, set.items, set.count * sizeof *set.items);
        out->count += set.count;
        out->longest = set.count > out->longest ? set.count : out->longest;
    }
    return TWIN_OK;
}

/* Takes the items that one in sixteen sets of the sample has, and two at least: below that, posting lists are faster
 * than bits. */
static bool choose_frequent(struct twin__frequent_items *out, struct sample *sample)
{
    size_t least = sample->sets / 16 > 2 ? sample->sets / 16 : 2, kept = 0;
    if (!twin__sort_numbers(sample->items, sample->count))
        return false;
    for (size_t begin = 0, end; begin < sample->count; begin = end) {
        for (end = begin + 1; end < sample->count && sample->items[end] == sample->items[begin]; end++)
            ;
        if (end - begin >= least)
            sample->items[kept++] = sample->items[begin];
    }
    return twin__frequent_items_init(out, sample->items, kept);
}

static twin_status find_frequent(struct twin__frequent_items *out, size_t *longest,
                                 const struct twin__family_source *source, twin_error *error)
{
    struct sample sample = { 0 };
    twin_status status = draw_sample(&sample, source, error);
    if (status == TWIN_OK && !choose_frequent(out, &sample))
        status = twin__fail_memory(error);
    free(sample.items);
    *longest = sample.longest;
    return status;
}

twin_status twin__family_frequent(struct twin__frequent_items *out, const struct twin__family_source *source,
                                  twin_error *error)
{
    size_t longest;
    *out = (struct twin__frequent_items){ 0 };
    return find_frequent(out, &longest, source, error);
}

/* ---- encoding ---- */

/* What a worker has encoded of the current documents. */
struct encoder {
    struct twin__item_marks marks;
    uint64_t *rest;
    size_t count, capacity;
};

struct encoding {
    struct twin__family_sets *sets;
    const struct twin__family_source *source;
    struct encoder *encoders;
    size_t *begins; /* per current document: where its rest is */
    int *workers;   /* and whose that is */
    size_t first;
};

static twin_status encode(struct encoding *encoding, size_t i, int worker, twin_error *error)
{
    struct twin__family_sets *sets = encoding->sets;
    struct encoder *encoder = &encoding->encoders[worker];
    size_t member = encoding->first + i;
    twin_set items;
    twin_status status = twin__provider_items(&items, sets->provider, encoding->source->documents[member],
                                              encoding->source->first_worker + worker, error);
    if (status != TWIN_OK)
        return status;
    const twin_items *rest = &encoder->marks.missed;
    if (!twin__frequent_items_divide(sets->bits + member * sets->frequent.words, &encoder->marks, &sets->frequent,
                                     items.items, items.count) ||
        !TWIN__ARRAY_GROW(&encoder->rest, &encoder->capacity, encoder->count, rest->count + 1))
        return twin__fail_memory(error);
    memcpy(encoder->rest + encoder->count, rest->items, rest->count * sizeof *rest->items);
    sets->members[member] =
        (struct twin__family_member){ .size = encoder->marks.found + rest->count, .count = rest->count };
    encoding->begins[i] = encoder->count;
    encoding->workers[i] = worker;
    encoder->count += rest->count;
    return TWIN_OK;
}

static twin_status encode_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct encoding *encoding = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = encode(encoding, i, worker, error);
    return status;
}

/* Moves what the workers have encoded of `count` documents to the family, in the order of documents. */
static bool gather(struct encoding *encoding, size_t count)
{
    struct twin__family_sets *sets = encoding->sets;
    size_t more = 0;
    for (size_t i = 0; i < count; i++)
        more += sets->members[encoding->first + i].count;
    if (!TWIN__ARRAY_GROW(&sets->rest, &sets->rest_capacity, sets->rest_count, more + 1))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct twin__family_member *member = &sets->members[encoding->first + i];
        member->begin = sets->rest_count;
        if (member->count)
            memcpy(sets->rest + sets->rest_count, encoding->encoders[encoding->workers[i]].rest + encoding->begins[i],
                   member->count * sizeof *sets->rest);
        sets->rest_count += member->count;
    }
    for (int i = 0; i < encoding->source->exec.workers; i++)
        encoding->encoders[i].count = 0;
    return true;
}

enum { MOST_AT_A_TIME = 256, SETS_PER_TURN = 8 };

/* Encodes documents, some at a time, until the family is full. */
static twin_status encode_members(struct encoding *encoding, size_t at_a_time, twin_error *error)
{
    struct twin__family_sets *sets = encoding->sets;
    const struct twin__family_source *source = encoding->source;
    while (sets->count < source->count &&
           sets->rest_count + sets->count * sets->frequent.words < source->most_items) {
        size_t more = source->count - sets->count < at_a_time ? source->count - sets->count : at_a_time;
        if (!TWIN__ARRAY_GROW(&sets->members, &sets->member_capacity, sets->count, more) ||
            !TWIN__ARRAY_GROW(&sets->bits, &sets->bit_capacity, sets->count * sets->frequent.words,
                              more * sets->frequent.words))
            return twin__fail_memory(error);
        encoding->first = sets->count;
        twin_status status = twin__exec_try(source->exec, more, SETS_PER_TURN, encode_some, encoding, error);
        if (status != TWIN_OK)
            return status;
        if (!gather(encoding, more))
            return twin__fail_memory(error);
        sets->count += more;
    }
    return TWIN_OK;
}

static twin_status encode_source(struct twin__family_sets *sets, const struct twin__family_source *source,
                                 size_t longest, twin_error *error)
{
    size_t begins[MOST_AT_A_TIME], at_a_time = source->most_items / (longest + 1);
    int workers[MOST_AT_A_TIME];
    struct encoding encoding = { .sets = sets, .source = source, .begins = begins, .workers = workers };
    encoding.encoders = calloc((size_t)source->exec.workers, sizeof *encoding.encoders);
    if (!encoding.encoders)
        return twin__fail_memory(error);
    at_a_time = at_a_time < MOST_AT_A_TIME ? at_a_time : MOST_AT_A_TIME;
    twin_status status = encode_members(&encoding, at_a_time > 0 ? at_a_time : 1, error);
    for (int i = 0; i < source->exec.workers; i++) {
        twin__item_marks_clear(&encoding.encoders[i].marks);
        free(encoding.encoders[i].rest);
    }
    free(encoding.encoders);
    return status;
}

/* ---- items that members share ---- */

enum { AHEAD = TWIN__ITEMS_AHEAD };

/* Drops items that no other member has, but for some that share a counter by chance. */
static bool drop_single(struct twin__family_sets *sets)
{
    unsigned bits = twin__bits_for(4 * sets->rest_count, 8, 40);
    uint8_t *counters = calloc((size_t)1 << bits, 1);
    if (!counters)
        return false;
    for (size_t i = 0; i < sets->rest_count; i++) {
        if (i + AHEAD < sets->rest_count)
            __builtin_prefetch(&counters[sets->rest[i + AHEAD] >> (64 - bits)], 1);
        uint8_t *counter = &counters[sets->rest[i] >> (64 - bits)];
        *counter = (uint8_t)(*counter | (*counter << 1 & 2) | 1); /* 0, 1, 3 */
    }
    size_t kept = 0;
    for (size_t m = 0; m < sets->count; m++) {
        struct twin__family_member *member = &sets->members[m];
        size_t begin = member->begin, end = begin + member->count;
        member->begin = kept;
        for (size_t i = begin; i < end; i++) {
            sets->rest[kept] = sets->rest[i];
            kept += counters[sets->rest[i] >> (64 - bits)] > 1;
        }
        member->count = kept - member->begin;
    }
    sets->rest_count = kept;
    free(counters);
    return true;
}

static bool number_shared(struct twin__family_sets *sets)
{
    sets->ids = malloc((sets->rest_count + 1) * sizeof *sets->ids);
    if (!sets->ids || !twin__item_numbers_init(&sets->shared, sets->rest_count + sets->rest_count / 2))
        return false;
    for (size_t i = 0; i < sets->rest_count; i++) {
        if (i + AHEAD < sets->rest_count)
            __builtin_prefetch(&sets->shared.slots[sets->rest[i + AHEAD] >> sets->shared.shift]);
        uint32_t number = twin__item_number(&sets->shared, sets->rest[i]);
        if (number == 0)
            return false;
        sets->ids[i] = number - 1;
    }
    free(sets->rest);
    sets->rest = NULL;
    return true;
}

static bool list_postings(struct twin__family_sets *sets)
{
    size_t numbers = sets->shared.count;
    sets->starts = calloc(numbers + 2, sizeof *sets->starts);
    sets->postings = malloc((sets->rest_count + 1) * sizeof *sets->postings);
    if (!sets->starts || !sets->postings)
        return false;
    for (size_t i = 0; i < sets->rest_count; i++)
        sets->starts[sets->ids[i] + 2]++;
    for (size_t n = 2; n < numbers + 2; n++)
        sets->starts[n] += sets->starts[n - 1];
    for (size_t m = 0; m < sets->count; m++) /* starts[n + 1] is where the next of n goes, and in the end its end */
        for (size_t i = 0; i < sets->members[m].count; i++)
            sets->postings[sets->starts[sets->ids[sets->members[m].begin + i] + 1]++] = (uint32_t)m;
    return true;
}

twin_status twin__family_sets_make(struct twin__family_sets *out, const struct twin__family_source *source,
                                   twin_error *error)
{
    size_t longest;
    *out = (struct twin__family_sets){ .provider = source->provider };
    twin_status status = find_frequent(&out->frequent, &longest, source, error);
    if (status == TWIN_OK)
        status = encode_source(out, source, longest, error);
    if (status == TWIN_OK &&
        ((out->count == source->count && !drop_single(out)) || !number_shared(out) || !list_postings(out)))
        status = twin__fail_memory(error);
    return status;
}

void twin__family_sets_clear(struct twin__family_sets *sets)
{
    free(sets->members);
    twin__frequent_items_clear(&sets->frequent);
    twin__item_numbers_clear(&sets->shared);
    free(sets->bits);
    free(sets->rest);
    free(sets->ids);
    free(sets->postings);
    free(sets->starts);
    *sets = (struct twin__family_sets){ 0 };
}

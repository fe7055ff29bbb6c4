/* set_index.c — an index of sets: the first member that is similar to a set, or all of them.
 *
 * Jaccard similarity t of sets of sizes x and y needs n = t/(1+t)·(x+y) common items. With f frequent items of y and
 * the others rare, a member can have n in common with x in two ways only:
 *   - its frequent items nearly suffice: f - t/(1+t)·y, its surplus, is at least t/(1+t)·x less a little, `margin`. Such
 *     members are compared. A bound per block of members passes over all that have too little, and so do the frequent items that any member of a block has: blocks of near-copies of another text
 *     have too few of the set's;
 *   - or at least `margin` rare items of the two are the same. These members are met in the posting lists of the set's
 *     rare items. If b items must be met, all but b - 1 lists are enough, so that the longest are left out.
 * If the set's own frequent items do not suffice either, the second way is the only one, with a larger b.
 *
 * Where a template alone is nearly similar enough, all members are compared: a pass over two bitmaps each. Where it is
 * not, only those that have rare items in common with the set.
 *
 * By containment n is t·x for the smaller set, whatever the larger is. So it is known of each member, before any search,
 * how many of its listed items a set that contains it must have, as it may have all others: `wanted`. Members that want
 * none are compared if the frequent items that any of their block has suffice. A set that may be the smaller one must be
 * met in as many lists as its own frequent items leave to be found. */
#include "join/set_index.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "join/join_private.h"
#include "kernels/kernels.h"
#include "sketch/set.h"

enum { BLOCK = 64 }; /* members */

twin_status twin__set_index_init(struct twin__set_index *out, const struct twin__set_source *source,
                                 twin_measure measure, double threshold, twin_error *error)
{
    double share = measure == TWIN_CONTAINMENT ? threshold : threshold / (1 + threshold);
    *out = (struct twin__set_index){ .measure = measure, .threshold = threshold, .share = share * (1 - 1e-12) };
    return twin__frequent_items_find(&out->frequent, source, error);
}

void twin__set_index_clear(struct twin__set_index *index)
{
    twin__frequent_items_clear(&index->frequent);
    twin__item_numbers_clear(&index->numbers);
    free(index->members);
    free(index->wanted);
    free(index->most_surplus);
    free(index->bits);
    free(index->block_bits);
    free(index->postings);
    free(index->lists);
    free(index->ids);
    *index = (struct twin__set_index){ 0 };
}

size_t twin__set_index_room(const struct twin__set_index *index)
{
    /* With what a few workers mark of members and numbers. */
    enum { PER_FREQUENT = 6, PER_MEMBER = 4, PER_NUMBER = 2 };
    size_t slots = index->numbers.slots ? (size_t)1 << (64 - index->numbers.shift) : 0;
    return PER_FREQUENT * index->frequent.count + (index->frequent.words + PER_MEMBER) * index->count +
           PER_NUMBER * index->numbers.count + slots / 2 + index->id_count / 2 + index->list_count / 2;
}

void twin__index_scratch_clear(struct twin__index_scratch *scratch)
{
    free(scratch->ids);
    free(scratch->hits);
    free(scratch->is_hit);
    free(scratch->met);
    free(scratch->marks);
    free(scratch->found);
    *scratch = (struct twin__index_scratch){ 0 };
}

void twin__index_worker_clear(struct twin__index_worker *worker)
{
    twin__index_scratch_clear(&worker->scratch);
    twin__item_marks_clear(&worker->marks);
    free(worker->bits);
    *worker = (struct twin__index_worker){ 0 };
}

bool twin__index_divide(struct twin__divided_set *out, struct twin__index_worker *worker,
                        const struct twin__frequent_items *frequent, twin_set items)
{
    if (!TWIN__ARRAY_GROW(&worker->bits, &worker->bit_capacity, 0, frequent->words) ||
        !twin__frequent_items_divide(worker->bits, &worker->marks, frequent, items.items, items.count))
        return false;
    size_t found = worker->marks.found, rare = worker->marks.missed.count;
    *out = (struct twin__divided_set){ .size = found + rare,
                                       .frequent = found,
                                       .bits = worker->bits,
                                       .rare = worker->marks.missed.items,
                                       .rare_count = rare,
                                       .listed = rare };
    return true;
}

/* ---- adding ---- */

/* Lists have room for a power of two. A full one moves to the end, where it has room for twice as many. */
static bool add_posting(struct twin__set_index *index, struct twin__set_postings *postings, uint32_t member)
{
    size_t count = postings->count;
    if (count == 0) {
        *postings = (struct twin__set_postings){ 1, member };
        return true;
    }
    if ((count & (count - 1)) == 0) {
        if (index->list_count + 2 * count > UINT32_MAX ||
            !TWIN__ARRAY_GROW(&index->lists, &index->list_capacity, index->list_count, 2 * count))
            return false;
        uint32_t *list = index->lists + index->list_count;
        memcpy(list, count == 1 ? &postings->at : index->lists + postings->at, count * sizeof *list);
        postings->at = (uint32_t)index->list_count;
        index->list_count += 2 * count;
    }
    index->lists[postings->at + count] = member;
    postings->count++;
    return true;
}

static bool add_rare(struct twin__set_index *index, uint32_t member, struct twin__divided_set set)
{
    size_t listed = index->measure == TWIN_CONTAINMENT ? set.listed : set.rare_count;
    if (!twin__item_numbers_reserve(&index->numbers, set.rare_count) ||
        !TWIN__ARRAY_GROW(&index->ids, &index->id_capacity, index->id_count, set.rare_count + 1))
        return false;
    for (size_t i = 0; i < set.rare_count; i++) {
        if (i + TWIN__ITEMS_AHEAD < set.rare_count)
            __builtin_prefetch(&index->numbers.slots[set.rare[i + TWIN__ITEMS_AHEAD] >> index->numbers.shift], 1);
        size_t before = index->numbers.count;
        uint32_t number = twin__item_number(&index->numbers, set.rare[i]);
        if (number == 0 || !TWIN__ARRAY_GROW(&index->postings, &index->posting_capacity, before, 1))
            return false;
        if (number > before)
            index->postings[number - 1] = (struct twin__set_postings){ 0 };
        if (i < listed && !add_posting(index, &index->postings[number - 1], member))
            return false;
        index->ids[index->id_count++] = number - 1;
    }
    return true;
}

/* How many items two sets must have in common. */
static double common_needed(const struct twin__set_index *index, size_t a, size_t b)
{
    bool contained = index->measure == TWIN_CONTAINMENT;
    return index->share * (double)(!contained ? a + b : a < b ? a : b);
}

static uint8_t wanted_of(const struct twin__set_index *index, struct twin__divided_set set)
{
    size_t needed = (size_t)ceil(index->share * (double)set.size),
           unlisted = set.rare_count - set.listed + set.unknown;
    size_t wanted = needed > set.frequent + unlisted ? needed - set.frequent - unlisted : 0;
    return wanted < UINT8_MAX ? (uint8_t)wanted : UINT8_MAX;
}

static double surplus_of(const struct twin__set_index *index, size_t number)
{
    const struct twin__set_member *member = &index->members[number];
    if (index->measure == TWIN_JACCARD)
        return (double)member->frequent - index->share * (double)member->size;
    return index->wanted[number]
               ? -INFINITY
               : (double)member->count + (double)member->unknown - index->share * (double)member->size;
}

static void note_surplus(struct twin__set_index *index, size_t member, double surplus)
{
    if (member % BLOCK == 0 || surplus > index->most_surplus[member / BLOCK])
        index->most_surplus[member / BLOCK] = surplus;
}

static void note_bits(struct twin__set_index *index, size_t member, const uint64_t *bits)
{
    size_t words = index->frequent.words;
    uint64_t *block = index->block_bits + member / BLOCK * words;
    for (size_t i = 0; i < words; i++)
        block[i] = member % BLOCK ? block[i] | bits[i] : bits[i];
}

bool twin__set_index_add(struct twin__set_index *index, uint32_t document, struct twin__divided_set set)
{
    size_t member = index->count, words = index->frequent.words;
    if (set.size > UINT32_MAX || set.rare_count > UINT32_MAX - index->id_count ||
        !TWIN__ARRAY_GROW(&index->wanted, &index->wanted_capacity, member, 1) ||
        !TWIN__ARRAY_GROW(&index->members, &index->member_capacity, member, 1) ||
        !TWIN__ARRAY_GROW(&index->most_surplus, &index->block_capacity, member / BLOCK, 1) ||
        !TWIN__ARRAY_GROW(&index->bits, &index->bit_capacity, member * words, words) ||
        !TWIN__ARRAY_GROW(&index->block_bits, &index->block_bit_capacity, member / BLOCK * words, words))
        return false;
    index->members[member] = (struct twin__set_member){ .document = document,
                                                        .size = (uint32_t)set.size,
                                                        .frequent = (uint32_t)set.frequent,
                                                        .begin = (uint32_t)index->id_count,
                                                        .count = (uint32_t)set.rare_count,
                                                        .unknown = (uint32_t)set.unknown };
    index->wanted[member] = wanted_of(index, set);
    memcpy(index->bits + member * words, set.bits, words * sizeof *set.bits);
    note_bits(index, member, set.bits);
    note_surplus(index, member, surplus_of(index, member));
    index->count++;
    return add_rare(index, (uint32_t)member, set);
}

/* ---- searching ---- */

/* A search. */
struct search {
    const struct twin__set_index *index;
    struct twin__index_scratch *scratch;
    struct twin__index_query query;
    size_t known;                   /* rare items that members have */
    size_t needed;                  /* so many of them a member must have, unless it has the surplus */
    double least_surplus;           /* INFINITY: no surplus will do */
    unsigned least_hits, most_hits; /* members need so many; more than the other are not counted */
    bool is_marked;
};

/* Makes room for `wanted` bytes, those added 0. */
static bool grow_zeroed(void *array, size_t *count, size_t wanted)
{
    size_t capacity = *count;
    uint8_t *bytes;
    if (!twin__array_grow(array, &capacity, 0, wanted, 1))
        return false;
    memcpy(&bytes, array, sizeof bytes);
    memset(bytes + *count, 0, capacity - *count);
    *count = capacity;
    return true;
}

static bool make_room(const struct search *search)
{
    struct twin__index_scratch *scratch = search->scratch;
    size_t members = search->index->count;
    return TWIN__ARRAY_GROW(&scratch->ids, &scratch->id_capacity, 0, search->query.set.rare_count + 1) &&
           TWIN__ARRAY_GROW(&scratch->met, &scratch->met_capacity, 0, members + 1) &&
           grow_zeroed(&scratch->hits, &scratch->hit_count, members + 1) &&
           grow_zeroed(&scratch->is_hit, &scratch->block_count, members / BLOCK + 1) &&
           grow_zeroed(&scratch->marks, &scratch->mark_count, search->index->numbers.count + 1);
}

/* Posting lists by their lengths, roughly. */
enum { CLASSES = 32 };

static unsigned length_class(const struct twin__set_index *index, uint32_t number)
{
    return 31 - (unsigned)__builtin_clz(index->postings[number].count | 1);
}

static void add_known(struct search *search, size_t classes[CLASSES], uint32_t number)
{
    search->scratch->ids[search->known++] = number;
    classes[length_class(search->index, number)]++;
}

/* Of a member the numbers are known; those that it alone has do not count. */
static void number_member(struct search *search, size_t classes[CLASSES])
{
    const uint32_t *ids = search->query.ids;
    for (size_t i = 0; i < search->query.set.rare_count; i++)
        if (search->index->postings[ids[i]].count > 1)
            add_known(search, classes, ids[i]);
}

enum { AT_ONCE = 128 }; /* items whose numbers come from memory at the same time */

/* An item of the set, and a number that it may have. */
struct guess {
    uint64_t item;
    uint32_t number;
};

/* Of the items that may have numbers those that are in their places, which they mostly are; what belongs to these is asked
 * for. */
static size_t guess_numbers(struct guess *out, const struct twin__set_index *index, const uint64_t *items,
                            size_t count)
{
    const struct twin__item_numbers *numbers = &index->numbers;
    uint64_t expected[AT_ONCE];
    size_t expected_count = 0, found = 0;
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&numbers->expects[items[i] >> numbers->shift >> 6]);
    for (size_t i = 0; i < count; i++)
        if (twin__item_is_expected(numbers, items[i])) {
            __builtin_prefetch(&numbers->slots[items[i] >> numbers->shift]);
            expected[expected_count++] = items[i];
        }
    for (size_t i = 0; i < expected_count; i++) {
        uint32_t number = numbers->slots[expected[i] >> numbers->shift];
        __builtin_prefetch(&numbers->items[number - 1]);
        __builtin_prefetch(&index->postings[number - 1]);
        out[found++] = (struct guess){ expected[i], number };
    }
    return found;
}

/* Numbers the rare items that members have, and counts their posting lists by class. */
static void number_rare(struct search *search, size_t classes[CLASSES])
{
    const struct twin__item_numbers *numbers = &search->index->numbers;
    struct twin__divided_set set = search->query.set;
    struct guess guesses[AT_ONCE];
    size_t slot;
    for (size_t begin = 0; begin < set.rare_count && numbers->count; begin += AT_ONCE) {
        size_t count = set.rare_count - begin < AT_ONCE ? set.rare_count - begin : AT_ONCE;
        count = guess_numbers(guesses, search->index, set.rare + begin, count);
        for (size_t i = 0; i < count; i++) {
            uint32_t number = guesses[i].number;
            if (numbers->items[number - 1] != guesses[i].item)
                number = twin__item_find(numbers, guesses[i].item, &slot);
            if (number)
                add_known(search, classes, number - 1);
        }
    }
}

/* How many members of a posting list come before `end`. */
static size_t count_before(const uint32_t *list, size_t count, size_t end)
{
    size_t low = 0;
    if (list[count - 1] < end)
        return count;
    while (count > 0) {
        size_t half = count / 2;
        bool before = list[low + half] < end;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

/* In so many lists a member must be met. */
static unsigned hits_needed(const struct search *search, size_t member)
{
    unsigned least = search->least_hits;
    if (search->index->measure == TWIN_JACCARD)
        return least;
    unsigned wanted = search->index->wanted[member];
    return wanted && wanted < least ? wanted : least;
}

static void walk_list(const struct search *search, uint32_t number)
{
    const struct twin__set_index *index = search->index;
    struct twin__index_scratch *scratch = search->scratch;
    struct twin__set_postings postings = index->postings[number];
    if (postings.count == 0)
        return;
    const uint32_t *list = postings.count == 1 ? &postings.at : index->lists + postings.at;
    for (size_t i = count_before(list, postings.count, search->query.end);
         i-- > 0 && list[i] >= search->query.begin;) {
        uint8_t *hits = &scratch->hits[list[i]];
        scratch->met[scratch->met_count] = list[i];
        scratch->met_count += *hits == 0;
        *hits = (uint8_t)(*hits + (*hits < search->most_hits));
    }
}

static void note_hits(const struct search *search)
{
    struct twin__index_scratch *scratch = search->scratch;
    for (size_t i = 0; i < scratch->met_count; i++) {
        uint32_t member = scratch->met[i];
        if (scratch->hits[member] >= hits_needed(search, member))
            scratch->is_hit[member / BLOCK] = true;
    }
}

/* Walks so many lists of each class. */
static void walk_lists(struct search *search, size_t classes[CLASSES])
{
    for (size_t i = 0; i < search->known; i++) {
        uint32_t number = search->scratch->ids[i];
        size_t *left = &classes[length_class(search->index, number)];
        if (*left > 0) {
            --*left;
            walk_list(search, number);
        }
    }
    note_hits(search);
}

/* By containment: all lists, but for the longest of those that take too long together. */
static void meet_contained(struct search *search, size_t classes[CLASSES])
{
    size_t steps = 0, most = search->query.most_steps;
    bool is_cut = false;
    search->scratch->steps = 0;
    if (search->least_hits == 0) /* all are compared */
        return;
    for (size_t class = 0; class < CLASSES && most; class ++) {
        size_t length = (size_t)2 << class, fit = (most - steps) / length; /* at most so long */
        is_cut |= fit < classes[class];
        classes[class] = fit < classes[class] ? fit : classes[class];
        steps += classes[class] * length;
    }
    search->scratch->cut += is_cut;
    search->scratch->steps = steps;
    walk_lists(search, classes);
}

/* Meets the members that may have enough rare items, through as many lists as are needed, the shorter first. */
static void meet(struct search *search, size_t classes[CLASSES])
{
    enum { SIZE_PER_HIT = 32, MOST_HITS = 16 };
    size_t hits = 1 + (twin__switched_off.hits ? 0 : search->query.set.size / SIZE_PER_HIT);
    if (search->needed > search->known)
        return;
    hits = hits < MOST_HITS ? hits : MOST_HITS;
    hits = hits < search->needed ? hits : search->needed;
    search->least_hits = search->most_hits = (unsigned)hits;
    size_t left = twin__switched_off.short_lists ? search->known : search->known - search->needed + hits;
    for (size_t class = 0; class < CLASSES; class ++) {
        classes[class] = classes[class] < left ? classes[class] : left; /* so many of it are looked at */
        left -= classes[class];
    }
    walk_lists(search, classes);
}

static void mark(struct search *search, uint8_t value)
{
    for (size_t i = 0; i < search->known; i++)
        search->scratch->marks[search->scratch->ids[i]] = value;
    search->is_marked = value;
}

/* The similarity of a member that has at most so many rare items of the set, or -1 if it is below the threshold. */
static double compare_member(struct search *search, size_t number, size_t most_rare)
{
    const struct twin__set_index *index = search->index;
    const struct twin__set_member *member = &index->members[number];
    const struct twin__divided_set *set = &search->query.set;
    size_t rare = member->count < search->known ? member->count : search->known;
    rare = (rare < most_rare ? rare : most_rare) + member->unknown;
    size_t frequent = member->frequent < set->frequent ? member->frequent : set->frequent;
    double needed = common_needed(index, set->size, member->size);
    if ((double)(frequent + rare) < needed)
        return -1;
    size_t words = index->frequent.words;
    size_t common = twin__kernels()->common_bits(set->bits, index->bits + number * words, words);
    search->scratch->compared++;
    if ((double)(common + rare) < needed)
        return -1;
    if (!search->is_marked)
        mark(search, 1);
    for (size_t i = member->begin; i < member->begin + member->count; i++)
        common += search->scratch->marks[index->ids[i]];
    if (member->unknown)
        return (double)(common + member->unknown) < needed ? -1 : TWIN__SIMILARITY_UNKNOWN;
    double similarity = twin__similarity_of_counts(set->size, member->size, common, index->measure);
    return similarity >= index->threshold ? similarity : -1;
}

static bool is_wanted(const struct search *search, size_t number)
{
    const struct twin__index_query *query = &search->query;
    return !query->group || twin__union_find(query->group, search->index->members[number].document) != query->root;
}

/* What may still be compared after so many in vain. */
static void bound_search(struct search *search)
{
    size_t count = search->query.in_vain ? *search->query.in_vain : 0;
    if (count >= TWIN__MOST_IN_VAIN)
        search->least_surplus = INFINITY;
    if (count >= 2 * TWIN__MOST_IN_VAIN)
        search->least_hits = UINT_MAX;
}

/* A member was not similar. Where a template alone nearly reaches the threshold, all members may be compared so. If many
 * were, only those with rare items of the set still are; if as many more, none. */
static void note_in_vain(struct search *search)
{
    uint16_t *count = search->query.in_vain;
    if (!count || *count == 2 * TWIN__MOST_IN_VAIN)
        return;
    ++*count;
    search->scratch->cut += *count == TWIN__MOST_IN_VAIN;
    bound_search(search);
}

/* A similar member pays for comparisons with so many others: what is compared grows with what is found. */
static void note_found(struct search *search)
{
    enum { WORTH = 1024 };
    uint16_t *count = search->query.in_vain;
    if (count && *count < TWIN__MOST_IN_VAIN)
        *count = (uint16_t)(*count > WORTH ? *count - WORTH : 0);
}

/* Compares the members of a block that may be similar. Returns the first that is, or the number of all members. */
static size_t search_block(double *similarity, struct search *search, size_t block)
{
    const struct twin__set_index *index = search->index;
    size_t begin = block * BLOCK > search->query.begin ? block * BLOCK : search->query.begin;
    size_t end = (block + 1) * BLOCK < search->query.end ? (block + 1) * BLOCK : search->query.end;
    size_t most_unmet = index->measure == TWIN_JACCARD ? search->needed - 1 : SIZE_MAX; /* see set_bounds() */
    for (size_t i = begin; i < end; i++) {
        bool is_met = search->scratch->hits[i] >= hits_needed(search, i);
        if (!is_met && (search->least_surplus == INFINITY || surplus_of(index, i) < search->least_surplus))
            continue;
        if (!is_wanted(search, i))
            continue;
        *similarity = compare_member(search, i, is_met ? SIZE_MAX : most_unmet);
        if (*similarity >= 0) {
            note_found(search);
            return i;
        }
        note_in_vain(search);
    }
    return index->count;
}

/* Whether a member of a block that was not met may be similar: it has fewer than `needed` rare items of the set, and of the
 * set's frequent items only those that any member of the block has; a similar one has t·size items of the set. By
 * containment, what its rare items leave to be found. */
static bool has_enough(const struct search *search, size_t block)
{
    const struct twin__set_index *index = search->index;
    size_t words = index->frequent.words;
    if (twin__switched_off.block_bits)
        return true;
    size_t common = twin__kernels()->common_bits(search->query.set.bits, index->block_bits + block * words, words);
    if (index->measure == TWIN_CONTAINMENT)
        return search->least_surplus == -INFINITY || (double)common + index->most_surplus[block] >= 0;
    return (double)(common + search->needed) >= index->threshold * (double)search->query.set.size;
}

/* How many rare items a member must have, unless its frequent items suffice with fewer. The more, the more of
 * the longest lists need not be looked at; the fewer, the fewer members are compared because of their frequent items.
 * So it is as few as leaves lists that are short beside the number of members. Where documents of one long footer
 * differ in rare items only, and most are kept, nearly all members would be compared otherwise. */
static size_t choose_margin(const struct search *search, const size_t classes[CLASSES])
{
    enum { SIZE_PER_MARGIN = 64, MEMBERS_PER_STEP = 16 };
    size_t most = 1 + (twin__switched_off.margin ? 0 : search->query.set.size / SIZE_PER_MARGIN),
           allowed = search->index->count / MEMBERS_PER_STEP;
    size_t steps = 0, taken = 0;
    for (size_t class = 0; class < CLASSES; class ++) {
        size_t length = (size_t)2 << class, fit = (allowed - steps) / length; /* at most so long */
        if (fit < classes[class])
            return search->known - taken - fit < most ? search->known - taken - fit + 1 : most;
        steps += classes[class] * length;
        taken += classes[class];
    }
    return 1;
}

/* What a member must have. */
static void set_bounds(struct search *search, const size_t classes[CLASSES])
{
    const struct twin__set_index *index = search->index;
    double size = (double)search->query.set.size;
    /* Partners have t·size items at least, so the overlap is that or more. */
    double of_rare = ceil(index->threshold * size * (1 - 1e-12)) - (double)search->query.set.frequent;
    search->least_hits = UINT_MAX;
    search->needed = choose_margin(search, classes);
    search->least_surplus = index->share * size - (double)(search->needed - 1) - 1e-6;
    if (of_rare >= (double)search->needed) {
        search->needed = (size_t)of_rare;
        search->least_surplus = INFINITY;
    }
}

static void set_bounds_contained(struct search *search)
{
    struct twin__divided_set set = search->query.set;
    double of_rare = ceil(search->index->share * (double)set.size) - (double)set.frequent;
    search->least_hits = search->most_hits = UINT8_MAX;
    search->least_surplus = -(double)set.frequent;
    if (!search->query.is_largest && of_rare < UINT8_MAX)
        search->least_hits = of_rare > 0 ? (unsigned)of_rare : 0;
    if (search->least_hits == 0)
        search->least_surplus = -INFINITY;
}

/* Finds out which members may be similar; false when out of memory. */
static bool begin_search(struct search *search)
{
    size_t classes[CLASSES] = { 0 };
    if (!make_room(search))
        return false;
    (search->query.ids ? number_member : number_rare)(search, classes);
    if (search->index->measure == TWIN_CONTAINMENT) {
        set_bounds_contained(search);
        meet_contained(search, classes);
        return true;
    }
    set_bounds(search, classes);
    meet(search, classes);
    bound_search(search);
    return true;
}

/* The first member from search->query.begin on that is similar, or the number of all members. */
static size_t next_similar(double *similarity, struct search *search)
{
    const struct twin__set_index *index = search->index;
    size_t found = index->count, end = search->query.end;
    for (size_t block = search->query.begin / BLOCK; block * BLOCK < end && found == index->count; block++)
        if (search->scratch->is_hit[block] ||
            (index->most_surplus[block] >= search->least_surplus && has_enough(search, block)))
            found = search_block(similarity, search, block);
    return found;
}

/* Leaves the scratch as it was. */
static void end_search(struct search *search)
{
    struct twin__index_scratch *scratch = search->scratch;
    if (search->is_marked)
        mark(search, 0);
    for (size_t i = 0; i < scratch->met_count; i++) {
        scratch->hits[scratch->met[i]] = 0;
        scratch->is_hit[scratch->met[i] / BLOCK] = false;
    }
    scratch->met_count = 0;
}

struct twin__index_query twin__set_index_query_member(const struct twin__set_index *index, size_t member)
{
    const struct twin__set_member *known = &index->members[member];
    struct twin__divided_set set = { .size = known->size,
                                     .frequent = known->frequent,
                                     .bits = index->bits + member * index->frequent.words,
                                     .rare_count = known->count };
    return (struct twin__index_query){ .set = set, .end = member, .ids = index->ids + known->begin };
}

/* Whether no member will be compared. */
static bool has_ended(const struct twin__index_query *query)
{
    return query->begin >= query->end || query->set.size == 0 ||
           (query->in_vain && *query->in_vain == 2 * TWIN__MOST_IN_VAIN);
}

bool twin__set_index_first(size_t *out, double *similarity, struct twin__index_scratch *scratch,
                           const struct twin__set_index *index, const struct twin__index_query *query)
{
    struct search search = { .index = index, .scratch = scratch, .query = *query };
    *out = index->count;
    if (has_ended(query))
        return true;
    if (!begin_search(&search))
        return false;
    *out = next_similar(similarity, &search);
    end_search(&search);
    return true;
}

bool twin__set_index_all(struct twin__index_scratch *scratch, const struct twin__set_index *index,
                         const struct twin__index_query *query)
{
    struct search search = { .index = index, .scratch = scratch, .query = *query };
    struct twin__set_found found;
    bool good = true;
    scratch->found_count = 0;
    if (has_ended(query))
        return true;
    if (!begin_search(&search))
        return false;
    while (good && (found.member = next_similar(&found.similarity, &search)) < index->count) {
        good = TWIN__ARRAY_GROW(&scratch->found, &scratch->found_capacity, scratch->found_count, 1);
        if (good)
            scratch->found[scratch->found_count++] = found;
        search.query.begin = found.member + 1;
    }
    end_search(&search);
    return good;
}

/* The first member from `begin` on whose document is not before this one. */
static size_t find_member(const struct twin__set_index *index, size_t begin, uint32_t document)
{
    size_t count = index->count - begin;
    while (count > 0) {
        size_t half = count / 2;
        bool before = index->members[begin + half].document < document;
        begin += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return begin;
}

bool twin__set_index_listed(struct twin__index_scratch *scratch, const struct twin__set_index *index,
                            const struct twin__index_query *query, const uint64_t *documents, size_t count)
{
    struct search search = { .index = index, .scratch = scratch, .query = *query };
    size_t classes[CLASSES] = { 0 }, member = query->begin;
    scratch->found_count = 0;
    if (query->set.size == 0)
        return true;
    if (!make_room(&search) || !TWIN__ARRAY_GROW(&scratch->found, &scratch->found_capacity, 0, count + 1))
        return false;
    (query->ids ? number_member : number_rare)(&search, classes);
    for (size_t i = 0; i < count; i++) {
        member = find_member(index, member, (uint32_t)documents[i]);
        if (member >= query->end)
            break;
        if (index->members[member].document != (uint32_t)documents[i])
            continue;
        double similarity = compare_member(&search, member, SIZE_MAX);
        if (similarity >= 0)
            scratch->found[scratch->found_count++] = (struct twin__set_found){ member, similarity };
    }
    end_search(&search);
    return true;
}

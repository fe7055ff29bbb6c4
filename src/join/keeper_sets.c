/* keeper_sets.c — the sets of documents that stay, searched for the first that is similar to another document.
 *
 * Jaccard similarity t of sets of sizes x and y needs n = t/(1+t)·(x+y) common items. With f frequent items of y and
 * the rest of them r, a member can have n in common with x in two ways only:
 *   - its frequent items nearly suffice: f - t/(1+t)·y, its slack, is at least t/(1+t)·x less a little, `margin`. Such
 *     members are compared. A bound per block of members, and one per region of blocks, passes over all that have
 *     too little. Where these are only a few, the margin is larger, so that some more are;
 *   - or at least `margin` items of the two rests are the same. These members are met in the posting lists of the set's
 *     rest. If b items must be met, all but b - 1 lists are enough, so that the longest are left out.
 * If the set's own frequent items do not suffice either, the second way is the only one, with a larger b.
 *
 * Where a template alone is nearly similar enough, all members are compared: a pass over two bitmaps each. Where it is
 * not, only those that have rare items in common with the set. */
#include "join/keeper_sets.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "join/join_private.h"
#include "kernels/kernels.h"

enum { BLOCK = 64, REGION = 64 * BLOCK }; /* members */

twin_status twin__keeper_sets_init(struct twin__keeper_sets *out, const struct twin__family_source *source,
                                   double threshold, twin_error *error)
{
    *out = (struct twin__keeper_sets){ .threshold = threshold, .share = threshold / (1 + threshold) * (1 - 1e-12) };
    for (size_t i = 0; i < TWIN__KEEPERS_COMPARED; i++)
        out->top_slacks[i] = -INFINITY;
    return twin__family_frequent(&out->frequent, source, error);
}

void twin__keeper_sets_clear(struct twin__keeper_sets *sets)
{
    twin__frequent_items_clear(&sets->frequent);
    twin__item_numbers_clear(&sets->numbers);
    free(sets->members);
    free(sets->most_slack);
    free(sets->region_slack);
    free(sets->bits);
    free(sets->postings);
    free(sets->lists);
    free(sets->ids);
    *sets = (struct twin__keeper_sets){ 0 };
}

size_t twin__keeper_sets_room(const struct twin__keeper_sets *sets)
{
    /* With what a few workers mark of members and numbers. */
    enum { PER_FREQUENT = 6, PER_MEMBER = 4, PER_NUMBER = 2 };
    size_t slots = sets->numbers.slots ? (size_t)1 << (64 - sets->numbers.shift) : 0;
    return PER_FREQUENT * sets->frequent.count + (sets->frequent.words + PER_MEMBER) * sets->count +
           PER_NUMBER * sets->numbers.count + slots / 2 + sets->id_count / 2 + sets->list_count / 2;
}

void twin__keeper_scratch_clear(struct twin__keeper_scratch *scratch)
{
    free(scratch->ids);
    free(scratch->hits);
    free(scratch->is_hit);
    free(scratch->is_region_hit);
    free(scratch->met);
    free(scratch->marks);
    free(scratch->found);
    *scratch = (struct twin__keeper_scratch){ 0 };
}

/* ---- adding ---- */

/* Lists have room for a power of two. A full one moves to the end, where it has room for twice as many. */
static bool add_posting(struct twin__keeper_sets *sets, struct twin__keeper_postings *postings, uint32_t member)
{
    size_t count = postings->count;
    if (count == 0) {
        *postings = (struct twin__keeper_postings){ 1, member };
        return true;
    }
    if ((count & (count - 1)) == 0) {
        if (sets->list_count + 2 * count > UINT32_MAX ||
            !TWIN__ARRAY_GROW(&sets->lists, &sets->list_capacity, sets->list_count, 2 * count))
            return false;
        uint32_t *list = sets->lists + sets->list_count;
        memcpy(list, count == 1 ? &postings->at : sets->lists + postings->at, count * sizeof *list);
        postings->at = (uint32_t)sets->list_count;
        sets->list_count += 2 * count;
    }
    sets->lists[postings->at + count] = member;
    postings->count++;
    return true;
}

static bool add_rest(struct twin__keeper_sets *sets, uint32_t member, struct twin__keeper_set set)
{
    if (!twin__item_numbers_reserve(&sets->numbers, set.rest_count) ||
        !TWIN__ARRAY_GROW(&sets->ids, &sets->id_capacity, sets->id_count, set.rest_count + 1))
        return false;
    for (size_t i = 0; i < set.rest_count; i++) {
        size_t before = sets->numbers.count;
        uint32_t number = twin__item_number(&sets->numbers, set.rest[i]);
        if (number == 0 || !TWIN__ARRAY_GROW(&sets->postings, &sets->posting_capacity, before, 1))
            return false;
        if (number > before)
            sets->postings[number - 1] = (struct twin__keeper_postings){ 0 };
        if (!add_posting(sets, &sets->postings[number - 1], member))
            return false;
        sets->ids[sets->id_count++] = number - 1;
    }
    return true;
}

static double slack_of(const struct twin__keeper_sets *sets, const struct twin__keeper_member *member)
{
    return (double)member->frequent - sets->share * (double)member->size;
}

static void note_slack(struct twin__keeper_sets *sets, size_t member, double slack)
{
    double *top = sets->top_slacks;
    if (member % BLOCK == 0 || slack > sets->most_slack[member / BLOCK])
        sets->most_slack[member / BLOCK] = slack;
    if (member % REGION == 0 || slack > sets->region_slack[member / REGION])
        sets->region_slack[member / REGION] = slack;
    if (slack <= top[0])
        return;
    size_t place = 0;
    for (; place + 1 < TWIN__KEEPERS_COMPARED && top[place + 1] < slack; place++)
        top[place] = top[place + 1];
    top[place] = slack;
}

bool twin__keeper_sets_add(struct twin__keeper_sets *sets, uint32_t document, struct twin__keeper_set set)
{
    size_t member = sets->count, words = sets->frequent.words;
    if (set.size > UINT32_MAX || set.rest_count > UINT32_MAX - sets->id_count ||
        !TWIN__ARRAY_GROW(&sets->members, &sets->member_capacity, member, 1) ||
        !TWIN__ARRAY_GROW(&sets->most_slack, &sets->block_capacity, member / BLOCK, 1) ||
        !TWIN__ARRAY_GROW(&sets->region_slack, &sets->region_capacity, member / REGION, 1) ||
        !TWIN__ARRAY_GROW(&sets->bits, &sets->bit_capacity, member * words, words))
        return false;
    sets->members[member] = (struct twin__keeper_member){ .document = document,
                                                          .size = (uint32_t)set.size,
                                                          .frequent = (uint32_t)set.frequent,
                                                          .begin = (uint32_t)sets->id_count,
                                                          .count = (uint32_t)set.rest_count };
    memcpy(sets->bits + member * words, set.bits, words * sizeof *set.bits);
    note_slack(sets, member, slack_of(sets, &sets->members[member]));
    sets->count++;
    return add_rest(sets, (uint32_t)member, set);
}

/* ---- searching ---- */

/* A search. */
struct search {
    const struct twin__keeper_sets *sets;
    struct twin__keeper_scratch *scratch;
    struct twin__keeper_set set;
    struct twin__keeper_apart apart; /* .group is NULL: all members are wanted */
    size_t from;
    size_t known;       /* items of the rest that members have */
    size_t needed;      /* so many of them a member must have, unless it has the slack */
    double least_slack; /* INFINITY: no slack will do */
    unsigned least_hits;
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
    struct twin__keeper_scratch *scratch = search->scratch;
    size_t members = search->sets->count;
    return TWIN__ARRAY_GROW(&scratch->ids, &scratch->id_capacity, 0, search->set.rest_count + 1) &&
           TWIN__ARRAY_GROW(&scratch->met, &scratch->met_capacity, 0, members + 1) &&
           grow_zeroed(&scratch->hits, &scratch->hit_count, members + 1) &&
           grow_zeroed(&scratch->is_hit, &scratch->block_count, members / BLOCK + 1) &&
           grow_zeroed(&scratch->is_region_hit, &scratch->region_count, members / REGION + 1) &&
           grow_zeroed(&scratch->marks, &scratch->mark_count, search->sets->numbers.count + 1);
}

/* Posting lists by their lengths, roughly. */
enum { CLASSES = 32 };

static unsigned class_of(const struct twin__keeper_sets *sets, uint32_t number)
{
    return 31 - (unsigned)__builtin_clz(sets->postings[number].count);
}

/* Numbers the items of the rest that members have, and counts their posting lists by class. */
static void number_rest(struct search *search, size_t classes[CLASSES])
{
    const struct twin__item_numbers *numbers = &search->sets->numbers;
    struct twin__keeper_set set = search->set;
    size_t slot;
    for (size_t i = 0; i < set.rest_count && numbers->count; i++) {
        if (i + TWIN__ITEMS_AHEAD < set.rest_count)
            __builtin_prefetch(&numbers->slots[set.rest[i + TWIN__ITEMS_AHEAD] >> numbers->shift]);
        uint32_t number = twin__item_find(numbers, set.rest[i], &slot);
        if (number == 0)
            continue;
        search->scratch->ids[search->known++] = number - 1;
        classes[class_of(search->sets, number - 1)]++;
    }
}

static void walk_list(const struct search *search, uint32_t number)
{
    const struct twin__keeper_sets *sets = search->sets;
    struct twin__keeper_scratch *scratch = search->scratch;
    struct twin__keeper_postings postings = sets->postings[number];
    const uint32_t *list = postings.count == 1 ? &postings.at : sets->lists + postings.at;
    for (size_t i = postings.count; i-- > 0 && list[i] >= search->from;) {
        uint8_t *hits = &scratch->hits[list[i]];
        scratch->met[scratch->met_count] = list[i];
        scratch->met_count += *hits == 0;
        if (*hits < search->least_hits && ++*hits == search->least_hits)
            scratch->is_hit[list[i] / BLOCK] = scratch->is_region_hit[list[i] / REGION] = true;
    }
}

/* Meets the members that may have enough of the rest, through as many lists as are needed, the shorter first. */
static void meet(struct search *search, size_t classes[CLASSES])
{
    enum { SIZE_PER_HIT = 32, MOST_HITS = 16 };
    size_t hits = 1 + search->set.size / SIZE_PER_HIT;
    if (search->needed > search->known)
        return;
    hits = hits < MOST_HITS ? hits : MOST_HITS;
    hits = hits < search->needed ? hits : search->needed;
    search->least_hits = (unsigned)hits;
    for (size_t class = 0, left = search->known - search->needed + hits; class < CLASSES; class ++) {
        classes[class] = classes[class] < left ? classes[class] : left; /* so many of it are looked at */
        left -= classes[class];
    }
    for (size_t i = 0; i < search->known; i++) {
        uint32_t number = search->scratch->ids[i];
        size_t *left = &classes[class_of(search->sets, number)];
        if (*left > 0) {
            --*left;
            walk_list(search, number);
        }
    }
}

static void mark(struct search *search, uint8_t value)
{
    for (size_t i = 0; i < search->known; i++)
        search->scratch->marks[search->scratch->ids[i]] = value;
    search->is_marked = value;
}

/* The similarity of a member, or -1 if it is below the threshold. */
static double compare(struct search *search, size_t number)
{
    const struct twin__keeper_sets *sets = search->sets;
    const struct twin__keeper_member *member = &sets->members[number];
    const struct twin__keeper_set *set = &search->set;
    size_t rest = member->count < search->known ? member->count : search->known;
    size_t frequent = member->frequent < set->frequent ? member->frequent : set->frequent;
    double needed = sets->share * (double)(set->size + member->size);
    if ((double)(frequent + rest) < needed)
        return -1;
    size_t words = sets->frequent.words;
    size_t common = twin__kernels()->common_bits(set->bits, sets->bits + number * words, words);
    search->scratch->compared++;
    if ((double)(common + rest) < needed)
        return -1;
    if (!search->is_marked)
        mark(search, 1);
    for (size_t i = member->begin; i < member->begin + member->count; i++)
        common += search->scratch->marks[sets->ids[i]];
    double similarity = (double)common / (double)(set->size + member->size - common);
    return similarity >= sets->threshold ? similarity : -1;
}

static bool is_wanted(const struct search *search, size_t number)
{
    struct twin__keeper_apart apart = search->apart;
    return !apart.group || twin__union_find(apart.group, search->sets->members[number].document) != apart.root;
}

/* Compares the members of a block that may be similar. Returns the first that is, or the number of all members. */
static size_t search_block(double *similarity, struct search *search, size_t block)
{
    const struct twin__keeper_sets *sets = search->sets;
    size_t end = (block + 1) * BLOCK < sets->count ? (block + 1) * BLOCK : sets->count;
    for (size_t i = block * BLOCK > search->from ? block * BLOCK : search->from; i < end; i++) {
        bool is_met = search->scratch->hits[i] >= search->least_hits;
        if (!is_met && (search->least_slack == INFINITY || slack_of(sets, &sets->members[i]) < search->least_slack))
            continue;
        if (!is_wanted(search, i))
            continue;
        *similarity = compare(search, i);
        if (*similarity >= 0)
            return i;
    }
    return sets->count;
}

/* The same for the blocks of a region. */
static size_t search_region(double *similarity, struct search *search, size_t region)
{
    const struct twin__keeper_sets *sets = search->sets;
    size_t end = (region + 1) * REGION < sets->count ? (region + 1) * REGION : sets->count, found = sets->count;
    size_t begin = region * REGION > search->from ? region * REGION : search->from;
    for (size_t block = begin / BLOCK; block * BLOCK < end && found == sets->count; block++)
        if (search->scratch->is_hit[block] || sets->most_slack[block] >= search->least_slack)
            found = search_block(similarity, search, block);
    return found;
}

/* How many items of the rest a member must have, unless its frequent items suffice with fewer. The more, the more of
 * the longest lists need not be looked at; the fewer, the fewer members are compared because of their frequent items.
 * So it is as few as leaves lists that are short beside the number of members. Where documents of one long footer
 * differ in the rest only, and most stay, nearly all members would be compared otherwise. */
static size_t choose_margin(const struct search *search, const size_t classes[CLASSES])
{
    enum { SIZE_PER_MARGIN = 64, MEMBERS_PER_STEP = 16 };
    size_t most = 1 + search->set.size / SIZE_PER_MARGIN, allowed = search->sets->count / MEMBERS_PER_STEP;
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
    const struct twin__keeper_sets *sets = search->sets;
    double size = (double)search->set.size, most = sets->top_slacks[0];
    /* Partners have t·size items at least, so the overlap is that or more. */
    double of_rest = ceil(sets->threshold * size * (1 - 1e-12)) - (double)search->set.frequent;
    size_t margin = choose_margin(search, classes);
    search->least_hits = UINT_MAX;
    search->needed = margin;
    search->least_slack = sets->share * size - (double)(margin - 1) - 1e-6;
    if (most < search->least_slack) { /* few members have as much: compare those that have more than the others */
        search->least_slack = nextafter(most, INFINITY);
        search->needed = (size_t)fmin(ceil(sets->share * size - most - 1e-6), size + 1);
    }
    if (of_rest >= (double)search->needed) {
        search->needed = (size_t)of_rest;
        search->least_slack = INFINITY;
    }
}

/* Finds out which members may be similar; false when out of memory. */
static bool begin_search(struct search *search)
{
    size_t classes[CLASSES] = { 0 };
    if (!make_room(search))
        return false;
    number_rest(search, classes);
    set_bounds(search, classes);
    meet(search, classes);
    return true;
}

/* The first member from search->from on that is similar, or the number of all members. */
static size_t next_similar(double *similarity, struct search *search)
{
    const struct twin__keeper_sets *sets = search->sets;
    size_t found = sets->count;
    for (size_t region = search->from / REGION; region * REGION < sets->count && found == sets->count; region++)
        if (search->scratch->is_region_hit[region] || sets->region_slack[region] >= search->least_slack)
            found = search_region(similarity, search, region);
    return found;
}

/* Leaves the scratch as it was. */
static void end_search(struct search *search)
{
    struct twin__keeper_scratch *scratch = search->scratch;
    if (search->is_marked)
        mark(search, 0);
    for (size_t i = 0; i < scratch->met_count; i++) {
        scratch->hits[scratch->met[i]] = 0;
        scratch->is_hit[scratch->met[i] / BLOCK] = scratch->is_region_hit[scratch->met[i] / REGION] = false;
    }
    scratch->met_count = 0;
}

bool twin__keeper_sets_find(size_t *out, double *similarity, struct twin__keeper_scratch *scratch,
                            const struct twin__keeper_sets *sets, struct twin__keeper_set set, size_t from)
{
    struct search search = { .sets = sets, .scratch = scratch, .set = set, .from = from };
    *out = sets->count;
    if (from >= sets->count || set.size == 0)
        return true;
    if (!begin_search(&search))
        return false;
    *out = next_similar(similarity, &search);
    end_search(&search);
    return true;
}

bool twin__keeper_sets_find_all(struct twin__keeper_scratch *scratch, const struct twin__keeper_sets *sets,
                                struct twin__keeper_set set, struct twin__keeper_apart apart)
{
    struct search search = { .sets = sets, .scratch = scratch, .set = set, .apart = apart };
    struct twin__keeper_found found;
    bool good = true;
    scratch->found_count = 0;
    if (sets->count == 0 || set.size == 0)
        return true;
    if (!begin_search(&search))
        return false;
    while (good && (found.member = next_similar(&found.similarity, &search)) < sets->count) {
        good = TWIN__ARRAY_GROW(&scratch->found, &scratch->found_capacity, scratch->found_count, 1);
        if (good)
            scratch->found[scratch->found_count++] = found;
        search.from = found.member + 1;
    }
    end_search(&search);
    return good;
}

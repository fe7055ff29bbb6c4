/* forest_query.c — the entries of a forest that share the longest beginnings of labels with a query.
 *
 * A query has a cursor in each tree of each run, where its labels would be. All cursors climb together: from rows
 * that share as many labels as possible to those that share fewer, until there are enough candidates or enough work
 * was done. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lsh/forest_private.h"

enum { DEFAULT_MOST = 10 };

enum { CURSORS, FOUND, SEEN, ROWS };

/* The state of a query in one tree of one run: rows begin .. end-1 were examined, and the next ones on both sides share
 * this many labels with it; -1 past the ends. */
struct cursor {
    const uint8_t *rows, *labels;
    size_t count, begin, end;
    int before, after;
};

struct found {
    twin__forest_candidate candidate;
    uint32_t group;
};

struct search {
    const twin__forest *forest;
    struct cursor *cursors;
    size_t cursor_count;
    struct found *found;
    size_t found_count;
    uint32_t *seen; /* groups found, plus one, by open addressing */
    size_t seen_mask, work;
};

void twin__forest_scratch_clear(twin__forest_scratch *scratch)
{
    for (size_t i = 0; scratch && i < sizeof scratch->room / sizeof scratch->room[0]; i++)
        free(scratch->room[i]);
    if (scratch)
        *scratch = (twin__forest_scratch){ 0 };
}

static void *room_for(twin__forest_scratch *scratch, int which, size_t bytes)
{
    if (scratch->bytes[which] < bytes) {
        free(scratch->room[which]);
        scratch->room[which] = malloc(bytes);
        scratch->bytes[which] = scratch->room[which] ? bytes : 0;
    }
    return scratch->room[which];
}

static int shared(const uint8_t *x, const uint8_t *y, size_t depth)
{
    size_t i = 0;
    uint64_t a, b;
    for (; i + 8 <= depth; i += 8) {
        memcpy(&a, x + i, 8);
        memcpy(&b, y + i, 8);
        if (a != b)
            break;
    }
    while (i < depth && x[i] == y[i])
        i++;
    return (int)i;
}

static void look_before(struct cursor *cursor, const twin__forest *forest)
{
    cursor->before = cursor->begin == 0 ? -1
                                        : shared(cursor->rows + (cursor->begin - 1) * forest->stride, cursor->labels,
                                                 forest->options.depth);
}

static void look_after(struct cursor *cursor, const twin__forest *forest)
{
    cursor->after = cursor->end == cursor->count
                        ? -1
                        : shared(cursor->rows + cursor->end * forest->stride, cursor->labels, forest->options.depth);
}

/* Moves `begin` of each tree's cursor past those of the next `count` rows that are below the query. The binary searches
 * of the trees are interleaved, so that their cache misses overlap. */
static void find_places(struct cursor *cursors, const twin__forest *forest, size_t count)
{
    const size_t trees = forest->options.trees, stride = forest->stride, depth = forest->options.depth;
    while (count > 0) {
        size_t half = (count + 1) / 2, next = (count - half + 1) / 2;
        for (size_t tree = 0; tree < trees; tree++) {
            struct cursor *cursor = &cursors[tree];
            bool below = memcmp(cursor->rows + (cursor->begin + half - 1) * stride, cursor->labels, depth) < 0;
            cursor->begin += below ? half : 0;
            if (next > 0)
                __builtin_prefetch(cursor->rows + (cursor->begin + next - 1) * stride);
        }
        count -= half;
    }
}

/* From marks to rows: each cursor at the beginning of the block, or of the last rows when no mark is above. */
static void enter_blocks(struct cursor *cursors, const twin__forest *forest, const struct twin__forest_run *run)
{
    const size_t last = run->count - (TWIN__FOREST_MARK_EVERY - 1);
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        struct cursor *cursor = &cursors[tree];
        size_t begin = cursor->begin * TWIN__FOREST_MARK_EVERY;
        cursor->rows = twin__forest_tree(forest, run, tree);
        cursor->begin = begin < last ? begin : last;
        __builtin_prefetch(cursor->rows + (cursor->begin + TWIN__FOREST_MARK_EVERY / 2 - 1) * forest->stride);
    }
}

static void place_cursors(struct search *search, const struct twin__forest_run *run, const uint8_t *rows)
{
    const twin__forest *forest = search->forest;
    struct cursor *cursors = search->cursors + search->cursor_count;
    if (run->count == 0)
        return;
    for (size_t tree = 0; tree < forest->options.trees; tree++)
        cursors[tree] = (struct cursor){ .rows = run->mark_count ? twin__forest_marks(forest, run, tree)
                                                                 : twin__forest_tree(forest, run, tree),
                                         .labels = rows + tree * forest->stride,
                                         .count = run->count };
    if (run->mark_count > 0) {
        find_places(cursors, forest, run->mark_count);
        enter_blocks(cursors, forest, run);
    }
    find_places(cursors, forest, run->mark_count > 0 ? TWIN__FOREST_MARK_EVERY - 1 : run->count);
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        cursors[tree].end = cursors[tree].begin;
        look_before(&cursors[tree], forest);
        look_after(&cursors[tree], forest);
    }
    search->cursor_count += forest->options.trees;
}

static twin_status begin_search(struct search *search, const twin__forest *forest, twin__forest_scratch *scratch,
                                const uint32_t *labels, twin__forest_query_options options)
{
    const size_t trees = forest->options.trees, work = twin__forest_work(options);
    size_t slots = 64;
    while (slots < 2 * work && slots < 2 * forest->used[TWIN__FOREST_GROUPS])
        slots *= 2;
    *search = (struct search){ .forest = forest, .seen_mask = slots - 1, .work = work };
    search->cursors = room_for(scratch, CURSORS, (forest->run_count + 1) * trees * sizeof(struct cursor));
    search->found = room_for(scratch, FOUND, (slots / 2 + 1) * sizeof(struct found));
    search->seen = room_for(scratch, SEEN, slots * sizeof(uint32_t));
    uint8_t *rows = room_for(scratch, ROWS, trees * forest->stride);
    if (!search->cursors || !search->found || !search->seen || !rows)
        return TWIN_ENOMEM;
    memset(search->seen, 0, slots * sizeof(uint32_t));
    twin__forest_write_labels(rows, forest, labels);
    place_cursors(search, &forest->fresh, rows);
    for (size_t i = 0; i < forest->run_count; i++)
        place_cursors(search, &forest->runs[i], rows);
    return TWIN_OK;
}

/* Records a row's group if it is new. The group is only prefetched; settle() reads it later. */
static void visit(struct search *search, const uint8_t *row, int level)
{
    uint32_t group = twin__forest_group_of(search->forest, row);
    search->work--;
    size_t at = twin__mix(group) & search->seen_mask;
    for (; search->seen[at] != 0; at = (at + 1) & search->seen_mask)
        if (search->seen[at] == group + 1)
            return;
    search->seen[at] = group + 1;
    search->found[search->found_count++] = (struct found){ { .level = (uint32_t)level }, group };
    __builtin_prefetch(&search->forest->groups[group].first);
}

/* Drops dead groups among those found from number `from` on, and prefetches the first members of the others. */
static void settle(struct search *search, size_t from)
{
    size_t kept = from;
    for (size_t i = from; i < search->found_count; i++) {
        const struct twin__forest_group *group = &search->forest->groups[search->found[i].group];
        if (group->count == 0)
            continue;
        search->found[kept] = search->found[i];
        search->found[kept++].candidate.copies = group->count;
        __builtin_prefetch(&search->forest->members[group->first].id);
    }
    search->found_count = kept;
}

/* Examines all rows that share `level` labels, in every tree, until the work limit is reached. */
static void climb(struct search *search, int level)
{
    const size_t stride = search->forest->stride, from = search->found_count;
    for (size_t i = 0; i < search->cursor_count; i++) {
        struct cursor *cursor = &search->cursors[i];
        while (cursor->before == level && search->work > 0) {
            visit(search, cursor->rows + --cursor->begin * stride, level);
            look_before(cursor, search->forest);
        }
        while (cursor->after == level && search->work > 0) {
            visit(search, cursor->rows + cursor->end++ * stride, level);
            look_after(cursor, search->forest);
        }
    }
    settle(search, from);
}

static int deepest(const struct search *search)
{
    int level = -1;
    for (size_t i = 0; i < search->cursor_count; i++) {
        const struct cursor *cursor = &search->cursors[i];
        level = cursor->before > level ? cursor->before : level;
        level = cursor->after > level ? cursor->after : level;
    }
    return level;
}

static void name_found(struct search *search)
{
    const twin__forest *forest = search->forest;
    for (size_t i = 0; i < search->found_count; i++)
        search->found[i].candidate.id = forest->members[forest->groups[search->found[i].group].first].id;
}

static int by_level_and_id(const void *x, const void *y)
{
    const twin__forest_candidate *a = &((const struct found *)x)->candidate,
                                 *b = &((const struct found *)y)->candidate;
    if (a->level != b->level)
        return a->level > b->level ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Moves the `wanted` first of the order to the front, in any order (Hoare's selection): of a template group there may be
 * thousands more than are wanted. */
static void select_first(struct found *items, size_t count, size_t wanted)
{
    while (count > wanted && wanted > 0) {
        struct found pivot = items[count / 2];
        size_t i = 0, j = count - 1;
        for (;; i++, j--) {
            while (by_level_and_id(&items[i], &pivot) < 0)
                i++;
            while (by_level_and_id(&items[j], &pivot) > 0)
                j--;
            if (i >= j)
                break;
            struct found item = items[i];
            items[i] = items[j];
            items[j] = item;
        }
        size_t front = i > 0 ? i : 1; /* none of these comes after any of the others */
        if (front > wanted)
            count = front;
        else {
            items += front;
            count -= front;
            wanted -= front;
        }
    }
}

size_t twin__forest_work(twin__forest_query_options options)
{
    if (options.most == 0)
        options.most = DEFAULT_MOST;
    return options.most > (SIZE_MAX - 1024) / 64 ? SIZE_MAX : 64 * options.most + 1024;
}

twin_status twin__forest_query(twin__forest_candidate *out, size_t *count, const twin__forest *forest,
                               twin__forest_scratch *scratch, const uint32_t *labels,
                               twin__forest_query_options options)
{
    if (!out || !count || !forest || !scratch || !labels)
        return twin__fail_null(NULL, !out       ? "out"
                                     : !count   ? "count"
                                     : !forest  ? "forest"
                                     : !scratch ? "scratch"
                                                : "labels");
    struct search search;
    *count = 0;
    if (options.lowest > forest->options.depth)
        return twin__fail(NULL, TWIN_EINVAL, "lowest must be 0 to %zu, not %zu", forest->options.depth,
                          options.lowest);
    if (options.most == 0)
        options.most = DEFAULT_MOST;
    twin_status status = begin_search(&search, forest, scratch, labels, options);
    if (status != TWIN_OK)
        return status;

    int lowest = options.lowest ? (int)options.lowest : 1;
    for (int level = deepest(&search); level >= lowest && search.found_count < options.most && search.work > 0;
         level = deepest(&search))
        climb(&search, level);

    name_found(&search);
    *count = search.found_count < options.most ? search.found_count : options.most;
    select_first(search.found, search.found_count, *count);
    qsort(search.found, *count, sizeof search.found[0], by_level_and_id);
    for (size_t i = 0; i < *count; i++)
        out[i] = search.found[i].candidate;
    return TWIN_OK;
}

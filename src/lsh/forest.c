/* forest.c — LSH forest.
 *
 * A tree is a sorted array of rows, each the label bytes of an entry and the number of its group (the entries that
 * are equal in all labels), big-endian so that rows compare as bytes:
 *
 *     label 1 … label depth | group, 4 bytes
 *
 * All trees together are stored as a few sorted runs, like the levels of a log-structured merge tree: a small one that
 * takes new rows in place, and larger ones that are merged when two are of similar size. Removed groups stay in their
 * run, without members, until it is merged. */
#include <twinsift/forest.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/hash.h>

#include "base/error.h"
#include "base/random.h"

enum {
    GROUP_BYTES = 4,
    FRESH_ROWS = 256, /* rows of the run that takes new ones: moving half of them costs about as much as the
                         search */
    MARK_EVERY = 64,  /* rows of a block of a packed run; a block is half a page */
    RUN_RATIO = 4,    /* a run is at least this many times larger than the next */
    MAX_RUNS = 24,    /* 256 · 4^23 rows exceed the numbers available for them */
    NONE = -1,
    DEFAULT_TREES = 8, /* which with the depth makes 128 labels, those of a default signature */
    DEFAULT_DEPTH = 16,
    DEFAULT_MOST = 10,
};

/* Entries with the same labels, a list in the order of adding. A group without members is dead; when no run holds it
 * any more it is free, and `first` is the next free one. */
struct group {
    twin_digest digest; /* of the labels */
    uint32_t first, last, count;
};

struct member {
    uint64_t id;
    uint32_t group, previous, next; /* next is also the list of free ones */
};

/* Rows of all trees: those of tree t begin at rows + t · capacity · stride. Marks are copies of the last row of each
 * whole block of MARK_EVERY, ordered in the same way: a search among them stays in the cache, and touches the rows of
 * one block only. The run that takes new rows has none. */
struct run {
    uint8_t *rows;
    size_t count, capacity;
    uint8_t *marks; /* after the rows */
    size_t mark_count;
};

/* Open addressing; a slot is the number of a group or member plus one. */
struct index {
    uint32_t *slots;
    size_t mask, used;
};

enum which { GROUPS, MEMBERS };

struct twin_forest {
    twin_forest_options options;
    size_t stride; /* bytes of a row */
    struct group *groups;
    struct member *members;
    size_t used[2], capacity[2], available[2]; /* of groups and members; those on the free list */
    uint32_t free_list[2];
    struct index index[2];
    size_t dead; /* groups without members that runs still hold */
    struct run fresh, runs[MAX_RUNS];
    size_t run_count;
    uint8_t row[]; /* the row being added, all trees */
};

/* The index. */

static twin_digest key_of(const twin_forest *forest, enum which which, uint32_t number)
{
    if (which == GROUPS)
        return forest->groups[number].digest;
    uint64_t id = forest->members[number].id;
    return (twin_digest){ twin__mix(id ^ forest->options.seed), id };
}

/* The slot where a key is, or where it belongs. */
static size_t find_slot(const twin_forest *forest, enum which which, twin_digest key)
{
    const struct index *index = &forest->index[which];
    size_t at = key.low & index->mask;
    for (; index->slots[at] != 0; at = (at + 1) & index->mask) {
        twin_digest there = key_of(forest, which, index->slots[at] - 1);
        if (there.low == key.low && there.high == key.high)
            break;
    }
    return at;
}

static int64_t look_up(const twin_forest *forest, enum which which, twin_digest key)
{
    return (int64_t)forest->index[which].slots[find_slot(forest, which, key)] - 1;
}

static void index_put(twin_forest *forest, enum which which, uint32_t number)
{
    forest->index[which].slots[find_slot(forest, which, key_of(forest, which, number))] = number + 1;
    forest->index[which].used++;
}

/* Removes a number, and moves its successors back so that no search ends too early. */
static void index_drop(twin_forest *forest, enum which which, uint32_t number)
{
    struct index *index = &forest->index[which];
    size_t hole = find_slot(forest, which, key_of(forest, which, number));
    for (size_t at = (hole + 1) & index->mask; index->slots[at] != 0; at = (at + 1) & index->mask) {
        size_t home = key_of(forest, which, index->slots[at] - 1).low & index->mask;
        if (((at - home) & index->mask) >= ((at - hole) & index->mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = 0;
    index->used--;
}

/* Makes room for one more. */
static twin_status index_grow(twin_forest *forest, enum which which)
{
    struct index *index = &forest->index[which], old = *index;
    if (4 * (old.used + 1) <= 3 * old.mask)
        return TWIN_OK;
    size_t size = old.slots ? 2 * (old.mask + 1) : 64;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return TWIN_ENOMEM;
    *index = (struct index){ slots, size - 1, 0 };
    for (size_t at = 0; old.slots && at <= old.mask; at++)
        if (old.slots[at] != 0)
            index_put(forest, which, old.slots[at] - 1);
    free(old.slots);
    return TWIN_OK;
}

/* Groups and members. */

static twin_status grow(twin_forest *forest, enum which which)
{
    if (forest->available[which] > 0 || forest->used[which] < forest->capacity[which])
        return TWIN_OK;
    size_t capacity = 64 + forest->capacity[which] + forest->capacity[which] / 2;
    if (capacity > UINT32_MAX - 1)
        return TWIN_ELIMIT;
    void *old = which == GROUPS ? (void *)forest->groups : (void *)forest->members;
    void *grown = realloc(old, capacity * (which == GROUPS ? sizeof(struct group) : sizeof(struct member)));
    if (!grown)
        return TWIN_ENOMEM;
    if (which == GROUPS)
        forest->groups = grown;
    else
        forest->members = grown;
    forest->capacity[which] = capacity;
    return TWIN_OK;
}

/* A number that is not in use; there is room. */
static uint32_t take_number(twin_forest *forest, enum which which)
{
    if (forest->available[which] == 0)
        return (uint32_t)forest->used[which]++;
    uint32_t number = forest->free_list[which];
    forest->free_list[which] = which == GROUPS ? forest->groups[number].first : forest->members[number].next;
    forest->available[which]--;
    return number;
}

static void give_back(twin_forest *forest, enum which which, uint32_t number)
{
    index_drop(forest, which, number);
    *(which == GROUPS ? &forest->groups[number].first : &forest->members[number].next) = forest->free_list[which];
    forest->free_list[which] = number;
    forest->available[which]++;
}

static void join_group(twin_forest *forest, uint32_t group, uint32_t member)
{
    struct group *g = &forest->groups[group];
    forest->members[member].group = group;
    forest->members[member].previous = g->last;
    forest->members[member].next = UINT32_MAX;
    if (g->count == 0)
        g->first = member;
    else
        forest->members[g->last].next = member;
    g->last = member;
    g->count++;
}

static void leave_group(twin_forest *forest, uint32_t member)
{
    const struct member *m = &forest->members[member];
    struct group *g = &forest->groups[m->group];
    if (g->first == member)
        g->first = m->next;
    else
        forest->members[m->previous].next = m->next;
    if (g->last == member)
        g->last = m->previous;
    else
        forest->members[m->next].previous = m->previous;
    g->count--;
}

/* Rows and runs. */

static uint32_t group_of(const twin_forest *forest, const uint8_t *row)
{
    const uint8_t *p = row + forest->options.depth;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void set_group(const twin_forest *forest, uint8_t *row, uint32_t group)
{
    uint8_t *p = row + forest->options.depth;
    p[0] = (uint8_t)(group >> 24);
    p[1] = (uint8_t)(group >> 16);
    p[2] = (uint8_t)(group >> 8);
    p[3] = (uint8_t)group;
}

static uint8_t *tree_of(const twin_forest *forest, const struct run *run, size_t tree)
{
    return run->rows + tree * run->capacity * forest->stride;
}

/* The first of `count` rows that is not below the `bytes` first bytes of `row`. */
static size_t lower_bound(const uint8_t *rows, size_t count, size_t stride, const uint8_t *row, size_t bytes)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (memcmp(rows + (low + half) * stride, row, bytes) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static uint8_t *marks_of(const twin_forest *forest, const struct run *run, size_t tree)
{
    return run->marks + tree * run->mark_count * forest->stride;
}

static size_t run_bytes(const twin_forest *forest, const struct run *run)
{
    return (run->capacity + run->mark_count) * forest->options.trees * forest->stride;
}

static bool alive(const twin_forest *forest, const uint8_t *row)
{
    return forest->groups[group_of(forest, row)].count > 0;
}

static size_t count_alive(const twin_forest *forest, const struct run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++)
        count += alive(forest, run->rows + i * forest->stride);
    return count;
}

static void release_dead(twin_forest *forest, const struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const uint8_t *row = run->rows + i * forest->stride;
        if (!alive(forest, row)) {
            give_back(forest, GROUPS, group_of(forest, row));
            forest->dead--;
        }
    }
}

static void merge_tree(uint8_t *out, const twin_forest *forest, const struct run *x, const struct run *y, size_t tree)
{
    const size_t stride = forest->stride;
    const uint8_t *p = tree_of(forest, x, tree), *p_end = p + x->count * stride;
    const uint8_t *q = tree_of(forest, y, tree), *q_end = q + y->count * stride;
    while (p < p_end || q < q_end) {
        bool take_p = q == q_end || (p < p_end && memcmp(p, q, stride) < 0);
        const uint8_t *row = take_p ? p : q;
        p += take_p ? stride : 0;
        q += take_p ? 0 : stride;
        if (alive(forest, row)) {
            memcpy(out, row, stride);
            out += stride;
        }
    }
}

static void set_marks(const twin_forest *forest, const struct run *run, size_t tree)
{
    const size_t stride = forest->stride;
    const uint8_t *row = tree_of(forest, run, tree) + (MARK_EVERY - 1) * stride;
    uint8_t *mark = marks_of(forest, run, tree);
    for (size_t i = 0; i < run->mark_count; i++, mark += stride, row += MARK_EVERY * stride)
        memcpy(mark, row, stride);
}

/* Merges two runs into a new one without dead groups, whose numbers become free. The old runs are unchanged. */
static twin_status merge(struct run *out, twin_forest *forest, const struct run *x, const struct run *y)
{
    size_t count = count_alive(forest, x) + count_alive(forest, y);
    struct run merged = { .count = count, .capacity = count, .mark_count = count / MARK_EVERY };
    merged.rows = malloc(run_bytes(forest, &merged) + 1);
    if (!merged.rows)
        return TWIN_ENOMEM;
    merged.marks = merged.rows + count * forest->options.trees * forest->stride;
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        merge_tree(tree_of(forest, &merged, tree), forest, x, y, tree);
        set_marks(forest, &merged, tree);
    }
    release_dead(forest, x);
    release_dead(forest, y);
    *out = merged;
    return TWIN_OK;
}

/* Merges the last two runs. */
static twin_status merge_last(twin_forest *forest)
{
    struct run merged, *x = &forest->runs[forest->run_count - 2], *y = x + 1;
    twin_status status = merge(&merged, forest, x, y);
    if (status != TWIN_OK)
        return status;
    free(x->rows);
    free(y->rows);
    *x = merged;
    forest->run_count--;
    return TWIN_OK;
}

/* Empties the fresh run into the others. */
static twin_status flush(twin_forest *forest)
{
    struct run merged;
    const struct run nothing = { .rows = forest->row };
    if (forest->fresh.count == 0)
        return TWIN_OK;
    if (forest->run_count == MAX_RUNS && merge_last(forest) != TWIN_OK)
        return TWIN_ENOMEM;
    twin_status status = merge(&merged, forest, &forest->fresh, &nothing);
    if (status != TWIN_OK)
        return status;
    forest->fresh.count = 0;
    forest->runs[forest->run_count++] = merged;
    /* If this runs out of memory, the runs are still valid. */
    while (forest->run_count >= 2 &&
           forest->runs[forest->run_count - 2].count < RUN_RATIO * forest->runs[forest->run_count - 1].count)
        if (merge_last(forest) != TWIN_OK)
            break;
    return TWIN_OK;
}

twin_status twin_forest_pack(twin_forest *forest)
{
    if (!forest)
        return twin__fail_null(NULL, "forest");
    const struct run nothing = { .rows = forest->row };
    twin_status status = flush(forest);
    while (status == TWIN_OK && forest->run_count >= 2)
        status = merge_last(forest);
    if (status != TWIN_OK || forest->dead == 0)
        return status;
    struct run merged; /* one run, with dead groups that no merge has dropped */
    status = merge(&merged, forest, &forest->runs[0], &nothing);
    if (status != TWIN_OK)
        return status;
    free(forest->runs[0].rows);
    forest->runs[0] = merged;
    return TWIN_OK;
}

/* Adding and removing. */

twin_status twin_forest_create(twin_forest **out, twin_forest_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    if (options.trees > TWIN_FOREST_MAX_TREES)
        return twin__fail(NULL, TWIN_EINVAL, "trees must be 1 to %d, not %zu", (int)TWIN_FOREST_MAX_TREES,
                          options.trees);
    if (options.depth > TWIN_FOREST_MAX_DEPTH)
        return twin__fail(NULL, TWIN_EINVAL, "depth must be 1 to %d, not %zu", (int)TWIN_FOREST_MAX_DEPTH,
                          options.depth);
    if (options.trees == 0)
        options.trees = DEFAULT_TREES;
    if (options.depth == 0)
        options.depth = DEFAULT_DEPTH;
    size_t stride = options.depth + GROUP_BYTES;
    twin_forest *forest = calloc(1, sizeof *forest + options.trees * stride);
    if (!forest)
        return TWIN_ENOMEM;
    forest->options = options;
    forest->stride = stride;
    forest->fresh = (struct run){ .rows = malloc(FRESH_ROWS * options.trees * stride), .capacity = FRESH_ROWS };
    if (!forest->fresh.rows || index_grow(forest, GROUPS) != TWIN_OK || index_grow(forest, MEMBERS) != TWIN_OK) {
        twin_forest_free(forest);
        return TWIN_ENOMEM;
    }
    *out = forest;
    return TWIN_OK;
}

void twin_forest_free(twin_forest *forest)
{
    if (!forest)
        return;
    for (size_t i = 0; i < forest->run_count; i++)
        free(forest->runs[i].rows);
    free(forest->fresh.rows);
    free(forest->index[GROUPS].slots);
    free(forest->index[MEMBERS].slots);
    free(forest->groups);
    free(forest->members);
    free(forest);
}

/* The label bytes of a vector, as rows of `stride` bytes, one for each tree. Position and label are hashed together, so
 * labels that collide at one position do not at another. */
static void write_labels(uint8_t *rows, const twin_forest *forest, const uint32_t *labels)
{
    const uint64_t seed = twin__mix(forest->options.seed + 1);
    for (size_t tree = 0, place = 0; tree < forest->options.trees; tree++, rows += forest->stride)
        for (size_t level = 0; level < forest->options.depth; level++, place++)
            rows[level] = (uint8_t)(twin__mix(((uint64_t)place << 32 | labels[place]) ^ seed) >> 56);
}

static void insert_rows(twin_forest *forest, uint32_t group)
{
    const size_t stride = forest->stride;
    struct run *fresh = &forest->fresh;
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        uint8_t *row = forest->row + tree * stride, *rows = tree_of(forest, fresh, tree);
        set_group(forest, row, group);
        size_t at = lower_bound(rows, fresh->count, stride, row, stride);
        memmove(rows + (at + 1) * stride, rows + at * stride, (fresh->count - at) * stride);
        memcpy(rows + at * stride, row, stride);
    }
    fresh->count++;
}

static twin_status make_room(twin_forest *forest)
{
    twin_status status = grow(forest, MEMBERS);
    if (status == TWIN_OK)
        status = index_grow(forest, MEMBERS);
    if (status == TWIN_OK)
        status = grow(forest, GROUPS);
    if (status == TWIN_OK)
        status = index_grow(forest, GROUPS);
    if (status == TWIN_OK && forest->fresh.count == FRESH_ROWS)
        status = flush(forest);
    return status;
}

static twin_digest id_key(const twin_forest *forest, uint64_t id)
{
    return (twin_digest){ twin__mix(id ^ forest->options.seed), id };
}

static uint32_t new_group(twin_forest *forest, twin_digest digest, const uint32_t *labels)
{
    uint32_t group = take_number(forest, GROUPS);
    forest->groups[group] = (struct group){ .digest = digest };
    index_put(forest, GROUPS, group);
    write_labels(forest->row, forest, labels);
    insert_rows(forest, group);
    return group;
}

twin_status twin_forest_add(twin_forest *forest, uint64_t id, const uint32_t *labels)
{
    if (!forest || !labels)
        return twin__fail_null(NULL, forest ? "labels" : "forest");
    if (look_up(forest, MEMBERS, id_key(forest, id)) != NONE)
        return twin__fail(NULL, TWIN_EINVAL, "id %llu is in the forest already", (unsigned long long)id);
    twin_status status = make_room(forest);
    if (status != TWIN_OK)
        return status;

    twin_digest digest = twin_hash_digest(twin_hash_member(TWIN_HASH_XXH3, forest->options.seed), labels,
                                          forest->options.trees * forest->options.depth * sizeof labels[0]);
    int64_t found = look_up(forest, GROUPS, digest);
    uint32_t group = found != NONE ? (uint32_t)found : new_group(forest, digest, labels);
    if (found != NONE && forest->groups[group].count == 0)
        forest->dead--; /* its rows are still there */

    uint32_t member = take_number(forest, MEMBERS);
    forest->members[member].id = id;
    index_put(forest, MEMBERS, member);
    join_group(forest, group, member);
    return TWIN_OK;
}

twin_status twin_forest_remove(twin_forest *forest, uint64_t id)
{
    if (!forest)
        return twin__fail_null(NULL, "forest");
    int64_t found = look_up(forest, MEMBERS, id_key(forest, id));
    if (found == NONE)
        return twin__fail(NULL, TWIN_EINVAL, "id %llu is not in the forest", (unsigned long long)id);
    uint32_t member = (uint32_t)found, group = forest->members[member].group;
    leave_group(forest, member);
    give_back(forest, MEMBERS, member);
    if (forest->groups[group].count > 0)
        return TWIN_OK;
    forest->dead++;
    /* Half of the rows are dead: pack. When out of memory, they stay. */
    if (forest->dead > FRESH_ROWS && 2 * forest->dead > forest->used[GROUPS] - forest->available[GROUPS])
        (void)twin_forest_pack(forest);
    return TWIN_OK;
}

size_t twin_forest_count(const twin_forest *forest)
{
    return forest ? forest->used[MEMBERS] - forest->available[MEMBERS] : 0;
}

size_t twin_forest_distinct(const twin_forest *forest)
{
    return forest ? forest->used[GROUPS] - forest->available[GROUPS] - forest->dead : 0;
}

size_t twin_forest_bytes(const twin_forest *forest)
{
    if (!forest)
        return 0;
    const size_t trees = forest->options.trees, stride = forest->stride;
    size_t bytes = sizeof *forest + trees * stride + run_bytes(forest, &forest->fresh);
    for (size_t i = 0; i < forest->run_count; i++)
        bytes += run_bytes(forest, &forest->runs[i]);
    bytes += forest->capacity[GROUPS] * sizeof(struct group) + forest->capacity[MEMBERS] * sizeof(struct member);
    return bytes + (forest->index[GROUPS].mask + forest->index[MEMBERS].mask + 2) * sizeof(uint32_t);
}

size_t twin_forest_copies(uint64_t *out, const twin_forest *forest, uint64_t id, size_t most)
{
    int64_t found = forest && (out || most == 0) ? look_up(forest, MEMBERS, id_key(forest, id)) : NONE;
    if (found == NONE)
        return 0;
    const struct group *group = &forest->groups[forest->members[found].group];
    uint32_t member = group->first;
    for (size_t i = 0; i < most && i < group->count; i++, member = forest->members[member].next)
        out[i] = forest->members[member].id;
    return group->count;
}

/* Queries. */

enum { CURSORS, FOUND, SEEN, ROWS };

/* The state of a query in one tree of one run: rows begin .. end-1 were examined, and the next ones on both sides share
 * this many labels with it; -1 past the ends. */
struct cursor {
    const uint8_t *rows, *labels;
    size_t count, begin, end;
    int before, after;
};

struct found {
    twin_forest_candidate candidate;
    uint32_t group;
};

struct search {
    const twin_forest *forest;
    struct cursor *cursors;
    size_t cursor_count;
    struct found *found;
    size_t found_count;
    uint32_t *seen; /* groups found, plus one, by open addressing */
    size_t seen_mask, work;
};

void twin_forest_scratch_clear(twin_forest_scratch *scratch)
{
    for (size_t i = 0; scratch && i < sizeof scratch->room / sizeof scratch->room[0]; i++)
        free(scratch->room[i]);
    if (scratch)
        *scratch = (twin_forest_scratch){ 0 };
}

static void *room_for(twin_forest_scratch *scratch, int which, size_t bytes)
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

static void look_before(struct cursor *cursor, const twin_forest *forest)
{
    cursor->before = cursor->begin == 0 ? -1
                                        : shared(cursor->rows + (cursor->begin - 1) * forest->stride, cursor->labels,
                                                 forest->options.depth);
}

static void look_after(struct cursor *cursor, const twin_forest *forest)
{
    cursor->after = cursor->end == cursor->count
                        ? -1
                        : shared(cursor->rows + cursor->end * forest->stride, cursor->labels, forest->options.depth);
}

/* Moves `begin` of each tree's cursor past those of the next `count` rows that are below the query. The binary searches
 * of the trees are interleaved, so that their cache misses overlap. */
static void find_places(struct cursor *cursors, const twin_forest *forest, size_t count)
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
static void enter_blocks(struct cursor *cursors, const twin_forest *forest, const struct run *run)
{
    const size_t last = run->count - (MARK_EVERY - 1);
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        struct cursor *cursor = &cursors[tree];
        size_t begin = cursor->begin * MARK_EVERY;
        cursor->rows = tree_of(forest, run, tree);
        cursor->begin = begin < last ? begin : last;
        __builtin_prefetch(cursor->rows + (cursor->begin + MARK_EVERY / 2 - 1) * forest->stride);
    }
}

static void place_cursors(struct search *search, const struct run *run, const uint8_t *rows)
{
    const twin_forest *forest = search->forest;
    struct cursor *cursors = search->cursors + search->cursor_count;
    if (run->count == 0)
        return;
    for (size_t tree = 0; tree < forest->options.trees; tree++)
        cursors[tree] =
            (struct cursor){ .rows = run->mark_count ? marks_of(forest, run, tree) : tree_of(forest, run, tree),
                             .labels = rows + tree * forest->stride,
                             .count = run->count };
    if (run->mark_count > 0) {
        find_places(cursors, forest, run->mark_count);
        enter_blocks(cursors, forest, run);
    }
    find_places(cursors, forest, run->mark_count > 0 ? MARK_EVERY - 1 : run->count);
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        cursors[tree].end = cursors[tree].begin;
        look_before(&cursors[tree], forest);
        look_after(&cursors[tree], forest);
    }
    search->cursor_count += forest->options.trees;
}

static twin_status begin_search(struct search *search, const twin_forest *forest, twin_forest_scratch *scratch,
                                const uint32_t *labels, twin_forest_query_options ask)
{
    const size_t trees = forest->options.trees, work = twin_forest_work(ask);
    size_t slots = 64;
    while (slots < 2 * work && slots < 2 * forest->used[GROUPS])
        slots *= 2;
    *search = (struct search){ .forest = forest, .seen_mask = slots - 1, .work = work };
    search->cursors = room_for(scratch, CURSORS, (forest->run_count + 1) * trees * sizeof(struct cursor));
    search->found = room_for(scratch, FOUND, (slots / 2 + 1) * sizeof(struct found));
    search->seen = room_for(scratch, SEEN, slots * sizeof(uint32_t));
    uint8_t *rows = room_for(scratch, ROWS, trees * forest->stride);
    if (!search->cursors || !search->found || !search->seen || !rows)
        return TWIN_ENOMEM;
    memset(search->seen, 0, slots * sizeof(uint32_t));
    write_labels(rows, forest, labels);
    place_cursors(search, &forest->fresh, rows);
    for (size_t i = 0; i < forest->run_count; i++)
        place_cursors(search, &forest->runs[i], rows);
    return TWIN_OK;
}

/* Records a row's group if it is new. The group is only prefetched; settle() reads it later. */
static void visit(struct search *search, const uint8_t *row, int level)
{
    uint32_t group = group_of(search->forest, row);
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
        const struct group *group = &search->forest->groups[search->found[i].group];
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
    const twin_forest *forest = search->forest;
    for (size_t i = 0; i < search->found_count; i++)
        search->found[i].candidate.id = forest->members[forest->groups[search->found[i].group].first].id;
}

static int by_level_and_id(const void *x, const void *y)
{
    const twin_forest_candidate *a = &((const struct found *)x)->candidate,
                                *b = &((const struct found *)y)->candidate;
    if (a->level != b->level)
        return a->level > b->level ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

size_t twin_forest_work(twin_forest_query_options ask)
{
    if (ask.most == 0)
        ask.most = DEFAULT_MOST;
    return ask.most > (SIZE_MAX - 1024) / 64 ? SIZE_MAX : 64 * ask.most + 1024;
}

twin_status twin_forest_query(twin_forest_candidate *out, size_t *count, const twin_forest *forest,
                              twin_forest_scratch *scratch, const uint32_t *labels, twin_forest_query_options ask)
{
    if (!out || !count || !forest || !scratch || !labels)
        return twin__fail_null(NULL, !out       ? "out"
                                     : !count   ? "count"
                                     : !forest  ? "forest"
                                     : !scratch ? "scratch"
                                                : "labels");
    struct search search;
    *count = 0;
    if (ask.lowest > forest->options.depth)
        return twin__fail(NULL, TWIN_EINVAL, "lowest must be 0 to %zu, not %zu", forest->options.depth, ask.lowest);
    if (ask.most == 0)
        ask.most = DEFAULT_MOST;
    twin_status status = begin_search(&search, forest, scratch, labels, ask);
    if (status != TWIN_OK)
        return status;

    int lowest = ask.lowest ? (int)ask.lowest : 1;
    for (int level = deepest(&search); level >= lowest && search.found_count < ask.most && search.work > 0;
         level = deepest(&search))
        climb(&search, level);

    name_found(&search);
    qsort(search.found, search.found_count, sizeof search.found[0], by_level_and_id);
    *count = search.found_count < ask.most ? search.found_count : ask.most;
    for (size_t i = 0; i < *count; i++)
        out[i] = search.found[i].candidate;
    return TWIN_OK;
}

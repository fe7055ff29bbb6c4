/* forest.c — LSH forest.
 *
 * A tree is a sorted array of rows, each the label bytes of an entry and the number of its group (the entries that
 * are equal in all labels), big-endian so that rows compare as bytes:
 *
 *     label 1 … label depth | group, 4 bytes
 *
 * All trees together are stored as a few sorted runs, like the levels of a log-structured merge tree: a small one that
 * takes new rows in place, and larger ones that are merged when two are of similar size. Removed groups stay in their
 * run, without members, until it is merged. forest_groups.c keeps groups and members, forest_query.c searches. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "lsh/forest_private.h"

enum {
    GROUP_BYTES = 4,
    FRESH_ROWS = 256, /* rows of the run that takes new ones: moving half of them costs about as much as the
                         search */
    RUN_RATIO = 4,    /* a run is at least this many times larger than the next */
    NONE = -1,
    DEFAULT_TREES = 8, /* which with the depth makes 128 labels, those of a default signature */
    DEFAULT_DEPTH = 16,
};

/* ---- rows and runs ---- */

static void set_group(const twin__forest *forest, uint8_t *row, uint32_t group)
{
    uint8_t *p = row + forest->options.depth;
    p[0] = (uint8_t)(group >> 24);
    p[1] = (uint8_t)(group >> 16);
    p[2] = (uint8_t)(group >> 8);
    p[3] = (uint8_t)group;
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

static size_t run_bytes(const twin__forest *forest, const struct twin__forest_run *run)
{
    return (run->capacity + run->mark_count) * forest->options.trees * forest->stride;
}

static bool alive(const twin__forest *forest, const uint8_t *row)
{
    return forest->groups[twin__forest_group_of(forest, row)].count > 0;
}

static size_t count_alive(const twin__forest *forest, const struct twin__forest_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++)
        count += alive(forest, run->rows + i * forest->stride);
    return count;
}

static void release_dead(twin__forest *forest, const struct twin__forest_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const uint8_t *row = run->rows + i * forest->stride;
        if (!alive(forest, row)) {
            twin__forest_give_back(forest, TWIN__FOREST_GROUPS, twin__forest_group_of(forest, row));
            forest->dead--;
        }
    }
}

static twin_status merge_tree(uint8_t *out, const twin__forest *forest, const struct twin__forest_run *x,
                              const struct twin__forest_run *y, size_t tree)
{
    const size_t stride = forest->stride;
    const uint8_t *p = twin__forest_tree(forest, x, tree), *p_end = p + x->count * stride;
    const uint8_t *q = twin__forest_tree(forest, y, tree), *q_end = q + y->count * stride;
    twin_status status = TWIN_OK;
    for (size_t i = 0; (p < p_end || q < q_end) && status == TWIN_OK; i++) {
        bool take_p = q == q_end || (p < p_end && memcmp(p, q, stride) < 0);
        const uint8_t *row = take_p ? p : q;
        p += take_p ? stride : 0;
        q += take_p ? 0 : stride;
        if (alive(forest, row)) {
            memcpy(out, row, stride);
            out += stride;
        }
        status = twin__poll_at(i);
    }
    return status;
}

static void set_marks(const twin__forest *forest, const struct twin__forest_run *run, size_t tree)
{
    const size_t stride = forest->stride;
    const uint8_t *row = twin__forest_tree(forest, run, tree) + (TWIN__FOREST_MARK_EVERY - 1) * stride;
    uint8_t *mark = twin__forest_marks(forest, run, tree);
    for (size_t i = 0; i < run->mark_count; i++, mark += stride, row += TWIN__FOREST_MARK_EVERY * stride)
        memcpy(mark, row, stride);
}

/* Merges two runs into a new one without dead groups, whose numbers become free. The old runs are unchanged. */
static twin_status merge(struct twin__forest_run *out, twin__forest *forest, const struct twin__forest_run *x,
                         const struct twin__forest_run *y)
{
    size_t count = count_alive(forest, x) + count_alive(forest, y);
    struct twin__forest_run merged = { .count = count,
                                       .capacity = count,
                                       .mark_count = count / TWIN__FOREST_MARK_EVERY };
    merged.rows = malloc(run_bytes(forest, &merged) + 1);
    if (!merged.rows)
        return TWIN_ENOMEM;
    merged.marks = merged.rows + count * forest->options.trees * forest->stride;
    twin_status status = TWIN_OK;
    for (size_t tree = 0; tree < forest->options.trees && status == TWIN_OK; tree++) {
        status = merge_tree(twin__forest_tree(forest, &merged, tree), forest, x, y, tree);
        if (status == TWIN_OK)
            set_marks(forest, &merged, tree);
    }
    if (status != TWIN_OK) {
        free(merged.rows);
        return status;
    }
    release_dead(forest, x);
    release_dead(forest, y);
    *out = merged;
    return TWIN_OK;
}

/* Merges the last two runs. */
static twin_status merge_last(twin__forest *forest)
{
    struct twin__forest_run merged, *x = &forest->runs[forest->run_count - 2], *y = x + 1;
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
static twin_status flush(twin__forest *forest)
{
    struct twin__forest_run merged;
    const struct twin__forest_run nothing = { .rows = forest->row };
    if (forest->fresh.count == 0)
        return TWIN_OK;
    twin_status status = forest->run_count == TWIN__FOREST_MAX_RUNS ? merge_last(forest) : TWIN_OK;
    if (status == TWIN_OK)
        status = merge(&merged, forest, &forest->fresh, &nothing);
    if (status != TWIN_OK)
        return status;
    forest->fresh.count = 0;
    forest->runs[forest->run_count++] = merged;
    /* If this fails, the runs are still valid. */
    while (forest->run_count >= 2 &&
           forest->runs[forest->run_count - 2].count < RUN_RATIO * forest->runs[forest->run_count - 1].count)
        if (merge_last(forest) != TWIN_OK)
            break;
    return TWIN_OK;
}

twin_status twin__forest_pack(twin__forest *forest)
{
    if (!forest)
        return twin__fail_null(NULL, "forest");
    const struct twin__forest_run nothing = { .rows = forest->row };
    twin_status status = flush(forest);
    while (status == TWIN_OK && forest->run_count >= 2)
        status = merge_last(forest);
    if (status != TWIN_OK || forest->dead == 0)
        return status;
    struct twin__forest_run merged; /* one run, with dead groups that no merge has dropped */
    status = merge(&merged, forest, &forest->runs[0], &nothing);
    if (status != TWIN_OK)
        return status;
    free(forest->runs[0].rows);
    forest->runs[0] = merged;
    return TWIN_OK;
}

/* ---- adding and removing ---- */

twin_status twin__forest_create(twin__forest **out, twin__forest_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    if (options.trees > TWIN__FOREST_MAX_TREES)
        return twin__fail(NULL, TWIN_EINVAL, "trees must be 1 to %d, not %zu", (int)TWIN__FOREST_MAX_TREES,
                          options.trees);
    if (options.depth > TWIN__FOREST_MAX_DEPTH)
        return twin__fail(NULL, TWIN_EINVAL, "depth must be 1 to %d, not %zu", (int)TWIN__FOREST_MAX_DEPTH,
                          options.depth);
    if (options.trees == 0)
        options.trees = DEFAULT_TREES;
    if (options.depth == 0)
        options.depth = DEFAULT_DEPTH;
    size_t stride = options.depth + GROUP_BYTES;
    twin__forest *forest = calloc(1, sizeof *forest + options.trees * stride);
    if (!forest)
        return TWIN_ENOMEM;
    forest->options = options;
    forest->stride = stride;
    forest->fresh =
        (struct twin__forest_run){ .rows = malloc(FRESH_ROWS * options.trees * stride), .capacity = FRESH_ROWS };
    if (!forest->fresh.rows || twin__forest_index_grow(forest, TWIN__FOREST_GROUPS) != TWIN_OK ||
        twin__forest_index_grow(forest, TWIN__FOREST_MEMBERS) != TWIN_OK) {
        twin__forest_free(forest);
        return TWIN_ENOMEM;
    }
    *out = forest;
    return TWIN_OK;
}

void twin__forest_free(twin__forest *forest)
{
    if (!forest)
        return;
    for (size_t i = 0; i < forest->run_count; i++)
        free(forest->runs[i].rows);
    free(forest->fresh.rows);
    free(forest->index[TWIN__FOREST_GROUPS].slots);
    free(forest->index[TWIN__FOREST_MEMBERS].slots);
    free(forest->groups);
    free(forest->members);
    free(forest);
}

static void insert_rows(twin__forest *forest, uint32_t group)
{
    const size_t stride = forest->stride;
    struct twin__forest_run *fresh = &forest->fresh;
    for (size_t tree = 0; tree < forest->options.trees; tree++) {
        uint8_t *row = forest->row + tree * stride, *rows = twin__forest_tree(forest, fresh, tree);
        set_group(forest, row, group);
        size_t at = lower_bound(rows, fresh->count, stride, row, stride);
        memmove(rows + (at + 1) * stride, rows + at * stride, (fresh->count - at) * stride);
        memcpy(rows + at * stride, row, stride);
    }
    fresh->count++;
}

static twin_status make_room_for_entry(twin__forest *forest)
{
    twin_status status = twin__forest_grow(forest, TWIN__FOREST_MEMBERS);
    if (status == TWIN_OK)
        status = twin__forest_index_grow(forest, TWIN__FOREST_MEMBERS);
    if (status == TWIN_OK)
        status = twin__forest_grow(forest, TWIN__FOREST_GROUPS);
    if (status == TWIN_OK)
        status = twin__forest_index_grow(forest, TWIN__FOREST_GROUPS);
    if (status == TWIN_OK && forest->fresh.count == FRESH_ROWS)
        status = flush(forest);
    return status;
}

static uint32_t new_group(twin__forest *forest, twin_digest digest, const uint32_t *labels)
{
    uint32_t group = twin__forest_take(forest, TWIN__FOREST_GROUPS);
    forest->groups[group] = (struct twin__forest_group){ .digest = digest };
    twin__forest_index_put(forest, TWIN__FOREST_GROUPS, group);
    twin__forest_write_labels(forest->row, forest, labels);
    insert_rows(forest, group);
    return group;
}

twin_status twin__forest_add(twin__forest *forest, uint64_t id, const uint32_t *labels)
{
    if (!forest || !labels)
        return twin__fail_null(NULL, forest ? "labels" : "forest");
    if (twin__forest_look_up(forest, TWIN__FOREST_MEMBERS, twin__forest_id_key(forest, id)) != NONE)
        return twin__fail(NULL, TWIN_EINVAL, "id %llu is in the forest already", (unsigned long long)id);
    twin_status status = make_room_for_entry(forest);
    if (status != TWIN_OK)
        return status;

    twin_digest digest = twin_hash_digest(twin_hash_member(TWIN_HASH_XXH3, forest->options.seed), labels,
                                          forest->options.trees * forest->options.depth * sizeof labels[0]);
    int64_t found = twin__forest_look_up(forest, TWIN__FOREST_GROUPS, digest);
    uint32_t group = found != NONE ? (uint32_t)found : new_group(forest, digest, labels);
    if (found != NONE && forest->groups[group].count == 0)
        forest->dead--; /* its rows are still there */

    uint32_t member = twin__forest_take(forest, TWIN__FOREST_MEMBERS);
    forest->members[member].id = id;
    twin__forest_index_put(forest, TWIN__FOREST_MEMBERS, member);
    twin__forest_join(forest, group, member);
    return TWIN_OK;
}

twin_status twin__forest_remove(twin__forest *forest, uint64_t id)
{
    if (!forest)
        return twin__fail_null(NULL, "forest");
    int64_t found = twin__forest_look_up(forest, TWIN__FOREST_MEMBERS, twin__forest_id_key(forest, id));
    if (found == NONE)
        return twin__fail(NULL, TWIN_EINVAL, "id %llu is not in the forest", (unsigned long long)id);
    uint32_t member = (uint32_t)found, group = forest->members[member].group;
    twin__forest_leave(forest, member);
    twin__forest_give_back(forest, TWIN__FOREST_MEMBERS, member);
    if (forest->groups[group].count > 0)
        return TWIN_OK;
    forest->dead++;
    /* Half of the rows are dead: pack. When out of memory, they stay. */
    if (forest->dead > FRESH_ROWS &&
        2 * forest->dead > forest->used[TWIN__FOREST_GROUPS] - forest->available[TWIN__FOREST_GROUPS])
        (void)twin__forest_pack(forest);
    return TWIN_OK;
}

size_t twin__forest_count(const twin__forest *forest)
{
    return forest ? forest->used[TWIN__FOREST_MEMBERS] - forest->available[TWIN__FOREST_MEMBERS] : 0;
}

size_t twin__forest_distinct(const twin__forest *forest)
{
    return forest ? forest->used[TWIN__FOREST_GROUPS] - forest->available[TWIN__FOREST_GROUPS] - forest->dead : 0;
}

size_t twin__forest_bytes(const twin__forest *forest)
{
    if (!forest)
        return 0;
    const size_t trees = forest->options.trees, stride = forest->stride;
    size_t bytes = sizeof *forest + trees * stride + run_bytes(forest, &forest->fresh);
    for (size_t i = 0; i < forest->run_count; i++)
        bytes += run_bytes(forest, &forest->runs[i]);
    bytes += forest->capacity[TWIN__FOREST_GROUPS] * sizeof(struct twin__forest_group) +
             forest->capacity[TWIN__FOREST_MEMBERS] * sizeof(struct twin__forest_member);
    return bytes + (forest->index[TWIN__FOREST_GROUPS].mask + forest->index[TWIN__FOREST_MEMBERS].mask + 2) *
                       sizeof(uint32_t);
}

size_t twin__forest_copies(uint64_t *out, const twin__forest *forest, uint64_t id, size_t most)
{
    int64_t found = forest && (out || most == 0)
                        ? twin__forest_look_up(forest, TWIN__FOREST_MEMBERS, twin__forest_id_key(forest, id))
                        : NONE;
    if (found == NONE)
        return 0;
    const struct twin__forest_group *group = &forest->groups[forest->members[found].group];
    uint32_t member = group->first;
    for (size_t i = 0; i < most && i < group->count; i++, member = forest->members[member].next)
        out[i] = forest->members[member].id;
    return group->count;
}

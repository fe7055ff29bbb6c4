/* tiles.c — all pairs of short texts that are near, by comparing all that their lengths allow.
 *
 * Patterns of like length are put side by side into a tile (kernels.h), 64 of them up to 8 characters, 8 of them up
 * to 64, and each text whose length allows it is compared with a whole tile at a time. Where the tile says that one
 * is near, the characters that both have in common are counted. A worker takes a tile at a time; pairs are numbers,
 * so that sorting them makes the result the same, whichever worker found them. */
#include "edit_join/edit_join_private.h"
#include "edit_join/short_texts.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

enum {
    MOST_ROWS = 8 * EDIT_TILE + 1, /* no more symbols than bits, and the row of those that are missing */
    TEXTS_AT_A_TIME = 512,         /* compared by one call of the kernel */
};

/* The width of the lane for a pattern. */
static int lane_bytes_for(size_t length)
{
    return length <= 8 ? 1 : length <= 16 ? 2 : length <= 32 ? 4 : 8;
}

struct tile_worker {
    uint16_t *row_of;
    uint8_t masks[MOST_ROWS * EDIT_TILE] __attribute__((aligned(EDIT_TILE)));
    uint8_t full[EDIT_TILE], limits[EDIT_TILE];
    size_t first, lanes;              /* patterns of the tile */
    uint16_t lengths[EDIT_TILE];      /* of them */
    uint64_t allowed;                 /* lanes whose lengths allow texts of the length in hand */
    uint64_t within[TEXTS_AT_A_TIME]; /* what the kernel found */
    struct edit_tile tile;
    struct twin__edit_pairs pairs;
    bool failed;
};

struct comparison {
    const struct twin__short_texts *patterns;
    size_t middle;                         /* of which those before this one are compared */
    const struct twin__short_texts *texts; /* the same, of which those after the pattern are wanted, or others */
    twin_edit_join_options options;
    size_t *begins; /* the first pattern of each tile */
    size_t tile_count;
    struct tile_worker *workers;
};

/* ---- a tile ---- */

static void lane_put(uint8_t *lanes, size_t lane, int lane_bytes, uint64_t value)
{
    switch (lane_bytes) { /* in the byte order of the machine */
    case 1: lanes[lane] = (uint8_t)value; break;
    case 2: memcpy(lanes + 2 * lane, &(uint16_t){ (uint16_t)value }, 2); break;
    case 4: memcpy(lanes + 4 * lane, &(uint32_t){ (uint32_t)value }, 4); break;
    default: memcpy(lanes + 8 * lane, &value, 8);
    }
}

static uint64_t lane_get(const uint8_t *lanes, size_t lane, int lane_bytes)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (lane_bytes) {
    case 1: return lanes[lane];
    case 2: memcpy(&two, lanes + 2 * lane, 2); return two;
    case 4: memcpy(&four, lanes + 4 * lane, 4); return four;
    default: memcpy(&eight, lanes + 8 * lane, 8); return eight;
    }
}

static size_t length_of(const struct twin__short_texts *texts, size_t i)
{
    size_t length = 0;
    while (texts->begin[length + 1] <= i)
        length++;
    return length;
}

static void set_lane(struct tile_worker *worker, size_t lane, const uint32_t *pattern, uint16_t *rows)
{
    int bytes = worker->tile.lane_bytes;
    size_t length = worker->lengths[lane];
    for (size_t i = 0; i < length; i++) {
        uint16_t *row = &worker->row_of[pattern[i]];
        if (!*row) {
            *row = (*rows)++;
            memset(worker->masks + (size_t)*row * EDIT_TILE, 0, EDIT_TILE);
        }
        uint8_t *lanes = worker->masks + (size_t)*row * EDIT_TILE;
        lane_put(lanes, lane, bytes, lane_get(lanes, lane, bytes) | (uint64_t)1 << i);
    }
    lane_put(worker->full, lane, bytes, length == 64 ? UINT64_MAX : ((uint64_t)1 << length) - 1);
}

static void begin_tile(struct tile_worker *worker, const struct comparison *comparison, size_t number)
{
    const struct twin__short_texts *patterns = comparison->patterns;
    uint16_t rows = 1;
    worker->first = comparison->begins[number];
    worker->lanes = comparison->begins[number + 1] - worker->first;
    worker->tile =
        (struct edit_tile){ .lane_bytes = lane_bytes_for(length_of(patterns, worker->first + worker->lanes - 1)),
                            .replaces = comparison->options.edits != TWIN_EDIT_FAR,
                            .row_of = worker->row_of,
                            .masks = worker->masks,
                            .full = worker->full,
                            .limits = worker->limits };
    memset(worker->masks, 0, EDIT_TILE);
    memset(worker->full, 0, sizeof worker->full);
    for (size_t lane = 0; lane < worker->lanes; lane++) {
        size_t length = length_of(patterns, worker->first + lane);
        worker->lengths[lane] = (uint16_t)length;
        set_lane(worker, lane, twin__short_text(patterns, worker->first + lane, length), &rows);
    }
}

static void end_tile(struct tile_worker *worker, const struct twin__short_texts *patterns)
{
    for (size_t lane = 0; lane < worker->lanes; lane++) {
        const uint32_t *pattern = twin__short_text(patterns, worker->first + lane, worker->lengths[lane]);
        for (size_t i = 0; i < worker->lengths[lane]; i++)
            worker->row_of[pattern[i]] = 0;
    }
}

/* ---- its comparison ---- */

/* The most edits, or insertions and deletions when replacements are not counted, of two near texts of n and m
 * characters. */
static size_t most_for(twin_edit_join_options options, size_t n, size_t m)
{
    return options.edits != TWIN_EDIT_FAR ? options.edits : twin__edit_most_indels(options.ratio, n + m);
}

static bool lengths_allow(twin_edit_join_options options, size_t n, size_t m)
{
    return twin__edit_join_reach(options, n < m ? n : m) >= (n < m ? m : n);
}

/* The limits of the lanes for texts of n characters; false when none is allowed. */
static bool set_limits(struct tile_worker *worker, twin_edit_join_options options, size_t n)
{
    worker->allowed = 0;
    for (size_t lane = 0; lane < (size_t)EDIT_TILE / (size_t)worker->tile.lane_bytes; lane++)
        lane_put(worker->limits, lane, worker->tile.lane_bytes, lane < worker->lanes ? 0 : EDIT_NO_LANE);
    for (size_t lane = 0; lane < worker->lanes; lane++) {
        size_t m = worker->lengths[lane], most = most_for(options, n, m);
        if (!lengths_allow(options, n, m) || most + m < n)
            continue;
        size_t limit = worker->tile.replaces ? most + m - n : (most + m - n) / 2;
        lane_put(worker->limits, lane, worker->tile.lane_bytes, limit < 127 ? limit : 127);
        worker->allowed |= (uint64_t)1 << lane;
    }
    return worker->allowed != 0;
}

static size_t count_indels(const struct tile_worker *worker, size_t lane, const uint32_t *text, size_t n)
{
    const int bytes = worker->tile.lane_bytes;
    uint64_t flat = lane_get(worker->full, lane, bytes);
    for (size_t j = 0; j < n; j++) {
        uint64_t equal = lane_get(worker->masks + (size_t)worker->row_of[text[j]] * EDIT_TILE, lane, bytes);
        flat = (flat + (flat & equal)) | (flat & ~equal);
    }
    flat &= lane_get(worker->full, lane, bytes);
    return n - worker->lengths[lane] + 2 * (size_t)__builtin_popcountll(flat);
}

/* Text number i of n characters is near the patterns of these lanes. */
static void add_pairs(struct tile_worker *worker, const struct comparison *comparison, uint64_t lanes, size_t i,
                      size_t n)
{
    const struct twin__short_texts *texts = comparison->texts;
    const uint32_t *text = twin__short_text(texts, i, n);
    for (; lanes; lanes &= lanes - 1) {
        size_t lane = (size_t)__builtin_ctzll(lanes), pattern = worker->first + lane;
        if (comparison->texts == comparison->patterns && i <= pattern)
            continue;
        size_t indels = count_indels(worker, lane, text, n);
        if (twin__edit_ratio_of(indels, n + worker->lengths[lane]) < comparison->options.ratio)
            continue;
        uint64_t pair = twin__packed_pair(comparison->patterns->documents[pattern], texts->documents[i], indels);
        if (twin__edit_pairs_add(&worker->pairs, pair) != TWIN_OK)
            worker->failed = true;
    }
}

/* Compares the tile with texts begin .. end-1, all of n characters. */
static void compare_run(struct tile_worker *worker, const struct comparison *comparison, size_t begin, size_t end,
                        size_t n)
{
    size_t lanes = (size_t)__builtin_popcountll(worker->allowed);
    for (size_t i = begin; i < end; i += TEXTS_AT_A_TIME) {
        size_t count = end - i < TEXTS_AT_A_TIME ? end - i : TEXTS_AT_A_TIME;
        twin__kernels()->edit_tile(worker->within, &worker->tile, twin__short_text(comparison->texts, i, n), n,
                                   count);
        for (size_t t = 0; t < count; t++)
            if (worker->within[t] & worker->allowed)
                add_pairs(worker, comparison, worker->within[t] & worker->allowed, i + t, n);
        worker->pairs.compared += lanes * count;
    }
}

static void compare_tile(void *context, size_t begin, size_t end, int number)
{
    struct comparison *comparison = context;
    const struct twin__short_texts *texts = comparison->texts;
    struct tile_worker *worker = &comparison->workers[number];
    const bool is_between = texts != comparison->patterns;
    for (size_t tile = begin; tile < end && !worker->failed; tile++) {
        begin_tile(worker, comparison, tile);
        for (size_t n = 0; n <= TWIN__EDIT64; n++) {
            size_t from = is_between || texts->begin[n] > worker->first + 1 ? texts->begin[n] : worker->first + 1;
            if (from < texts->begin[n + 1] && set_limits(worker, comparison->options, n))
                compare_run(worker, comparison, from, texts->begin[n + 1], n);
        }
        end_tile(worker, comparison->patterns);
    }
}

/* ---- all tiles ---- */

static twin_status cut_into_tiles(struct comparison *comparison)
{
    const struct twin__short_texts *patterns = comparison->patterns;
    const size_t count = comparison->middle;
    comparison->begins = malloc((count + 1) * sizeof *comparison->begins);
    if (!comparison->begins)
        return TWIN_ENOMEM;
    for (size_t at = 0; at < count;) {
        size_t lanes = EDIT_TILE;
        comparison->begins[comparison->tile_count++] = at;
        /* As many as fit; where longer ones follow, it may be better to end before them. */
        while (lanes > 8 && at + 1 < count) {
            size_t last = at + lanes < count ? at + lanes - 1 : count - 1;
            if ((size_t)EDIT_TILE / (size_t)lane_bytes_for(length_of(patterns, last)) >= lanes)
                break;
            lanes /= 2;
        }
        at = at + lanes < count ? at + lanes : count;
    }
    comparison->begins[comparison->tile_count] = count;
    return TWIN_OK;
}

static twin_status make_workers(struct comparison *comparison, int count, struct twin__edit_spill *spill)
{
    comparison->workers = aligned_alloc(EDIT_TILE, (size_t)count * sizeof *comparison->workers);
    if (!comparison->workers)
        return TWIN_ENOMEM;
    memset(comparison->workers, 0, (size_t)count * sizeof *comparison->workers);
    for (int i = 0; i < count; i++) {
        comparison->workers[i].pairs.spill = spill;
        comparison->workers[i].row_of = calloc(TWIN__EDIT_CHARACTERS, sizeof(uint16_t));
        if (!comparison->workers[i].row_of)
            return TWIN_ENOMEM;
    }
    return TWIN_OK;
}

static twin_status collect(struct twin__edit_pairs *out, const struct comparison *comparison, int workers)
{
    out->count = 0;
    for (int i = 0; i < workers; i++)
        if (comparison->workers[i].failed || twin__edit_pairs_move(out, &comparison->workers[i].pairs) != TWIN_OK)
            return TWIN_ENOMEM;
    return TWIN_OK;
}

twin_status twin__tiles_compare(struct twin__edit_pairs *out, const struct twin__short_texts *patterns, size_t middle,
                                const struct twin__short_texts *texts, twin_edit_join_options options)
{
    struct comparison comparison = { .patterns = patterns, .middle = middle, .texts = texts, .options = options };
    twin_status status = cut_into_tiles(&comparison);
    if (status == TWIN_OK)
        status = make_workers(&comparison, options.exec.workers, out->spill);
    if (status == TWIN_OK) {
        twin_exec_for(options.exec, comparison.tile_count, 1, compare_tile, &comparison);
        status = collect(out, &comparison, options.exec.workers);
    }
    for (int i = 0; comparison.workers && i < options.exec.workers; i++) {
        free(comparison.workers[i].row_of);
        free(comparison.workers[i].pairs.items);
    }
    free(comparison.workers);
    free(comparison.begins);
    return status;
}

/* ---- cost ---- */

/* Looks (edit_join_private.h) per column of a tile, and per comparison of a tile. Their ratios are those that bench_edit
 * shows. */
static const double EDIT_COLUMN = 7, INDEL_COLUMN = 3.5, PER_TEXT = 6;

double twin__tiles_cost(const size_t firsts[TWIN__EDIT64 + 1], const size_t counts[TWIN__EDIT64 + 1], bool is_between,
                        twin_edit_join_options options)
{
    const double column = options.edits != TWIN_EDIT_FAR ? EDIT_COLUMN : INDEL_COLUMN;
    double sum = 0;
    for (size_t m = 0; m <= TWIN__EDIT64; m++) {
        double tiles = (double)firsts[m] * lane_bytes_for(m) / EDIT_TILE;
        for (size_t n = is_between ? 0 : m; n <= TWIN__EDIT64; n++)
            if (lengths_allow(options, n, m))
                sum +=
                    (n == m && !is_between ? 0.5 : 1) * tiles * (double)counts[n] * ((double)n * column + PER_TEXT);
    }
    return sum;
}

/* test_kernels_edit.c — every variant finds the patterns that the textbook's table finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "scale.h"

enum { LONGEST = 64, LETTERS = 4, TEXTS = 7 };

/* The distance with and without replacements, and nothing clever. */
static size_t slow_distance(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool replaces)
{
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t across = corner + (a[i - 1] == b[j - 1] ? 0 : replaces ? 1 : 2);
            size_t best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = best < across ? best : across;
        }
    }
    return row[m];
}

static void draw(uint32_t *out, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)twin__random_below(state, LETTERS + 1); /* the last one is in no pattern */
}

struct world {
    struct edit_tile tile;
    uint8_t masks[(LETTERS + 1) * EDIT_TILE], full[EDIT_TILE], limits[EDIT_TILE];
    uint32_t patterns[EDIT_TILE][LONGEST];
    size_t lengths[EDIT_TILE], lanes;
};

static const uint16_t row_of[LETTERS + 1] = { 3, 1, 4, 2, 0 };

/* Sets bit i of a lane, whose bytes are in the order of the machine. */
static void set_bit(uint8_t *lanes, size_t lane, int lane_bytes, size_t i)
{
    bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    size_t byte = is_big ? (size_t)lane_bytes - 1 - i / 8 : i / 8;
    lanes[lane * (size_t)lane_bytes + byte] |= (uint8_t)(1 << i % 8);
}

/* Where the lowest byte of a lane is. */
static size_t lowest_of(size_t lane, int lane_bytes)
{
    return (lane + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) * (size_t)lane_bytes -
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Patterns of all lengths that the lanes have room for, the empty one too; the last lane has none. */
static void world_make(struct world *world, int lane_bytes, bool replaces, uint64_t *state)
{
    memset(world, 0, sizeof *world);
    world->tile = (struct edit_tile){ lane_bytes, replaces, row_of, world->masks, world->full, world->limits };
    world->lanes = EDIT_TILE / (size_t)lane_bytes - 1;
    world->limits[lowest_of(world->lanes, lane_bytes)] = EDIT_NO_LANE;
    for (size_t lane = 0; lane < world->lanes; lane++) {
        size_t length = lane == 1 ? 8 * (size_t)lane_bytes : twin__random_below(state, 8 * (uint64_t)lane_bytes + 1);
        world->lengths[lane] = length;
        for (size_t i = 0; i < length; i++) {
            uint32_t symbol = world->patterns[lane][i] = (uint32_t)twin__random_below(state, LETTERS);
            set_bit(world->masks + row_of[symbol] * EDIT_TILE, lane, lane_bytes, i);
            set_bit(world->full, lane, lane_bytes, i);
        }
    }
}

/* The edits that the limit of a lane allows; negative: none. */
static int64_t allowed(const struct world *world, size_t lane, size_t n)
{
    int64_t limit = world->limits[lowest_of(lane, world->tile.lane_bytes)];
    return (int64_t)n - (int64_t)world->lengths[lane] + (world->tile.replaces ? 1 : 2) * limit;
}

static void check(struct world *world, size_t n, size_t count, uint64_t *state)
{
    uint32_t texts[TEXTS * LONGEST];
    uint64_t within[TEXTS];
    draw(texts, n * count, state);
    for (size_t lane = 0; lane < world->lanes; lane++)
        world->limits[lowest_of(lane, world->tile.lane_bytes)] =
            (uint8_t)twin__random_below(state, world->lengths[lane] + 2);
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        twin__kernels()->edit_tile(within, &world->tile, texts, n, count);
        for (size_t t = 0; t < count; t++)
            for (size_t lane = 0; lane <= world->lanes; lane++) {
                size_t distance = lane == world->lanes ? 0
                                                       : slow_distance(world->patterns[lane], world->lengths[lane],
                                                                       texts + t * n, n, world->tile.replaces);
                bool expected = lane < world->lanes && (int64_t)distance <= allowed(world, lane, n);
                assert_int_equal(within[t] >> lane & 1, expected);
            }
    }
}

static void every_level_finds_what_the_table_finds(void **unused)
{
    (void)unused;
    static struct world world;
    static const int widths[] = { 1, 2, 4, 8 };
    uint64_t state = 5;
    for (size_t w = 0; w < 4; w++)
        for (int replaces = 0; replaces < 2; replaces++) {
            world_make(&world, widths[w], replaces, &state);
            for (size_t n = 0; n <= LONGEST; n += QUICK ? 7 : 1)
                check(&world, n, 1 + n % TEXTS, &state);
        }
    twin_cpu_use(twin__cpu_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_finds_what_the_table_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

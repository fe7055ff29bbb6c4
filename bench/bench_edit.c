/* bench_edit.c — edit distance of one pair, compared with edlib; and of one short text with many.
 *
 *     cmake --preset release && cmake --build --preset release --target bench_edit && build/release/bench_edit
 *
 * edlib is loaded if it is installed (Debian: libedlib1, header libedlib-dev); nothing else needs it. Times are the
 * best of several passes of thread time, over pairs of random 26-letter strings with mixed edits. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <twinsift/edit.h>
#include <twinsift/exec.h>

#include "base/random.h"
#include "cpu_seconds.h"
#include "edit/edit.h"
#include "kernels/kernels.h"

#if __has_include(<edlib.h>)
#include <edlib.h>
#define HAVE_EDLIB 1
#endif

enum { PAIRS = 16, PASSES = 7, LONGEST = 10000 };

static char originals[PAIRS][LONGEST], others[PAIRS][LONGEST * 2];
static size_t other_lengths[PAIRS];

static char letter(uint64_t *state)
{
    return (char)('a' + twin__random_below(state, 26));
}

static size_t edit(char *s, size_t n, size_t edits, uint64_t *state)
{
    for (size_t e = 0; e < edits; e++) {
        size_t at = (size_t)twin__random_below(state, n);
        switch (twin__random_below(state, 3)) {
        case 0: s[at] = letter(state); break;
        case 1:
            memmove(s + at + 1, s + at, n++ - at);
            s[at] = letter(state);
            break;
        default: memmove(s + at, s + at + 1, --n - at); break;
        }
    }
    return n;
}

static void make_pairs(size_t n, double rate)
{
    uint64_t state = n + (uint64_t)(rate * 1000);
    for (size_t p = 0; p < PAIRS; p++) {
        for (size_t i = 0; i < n; i++) {
            originals[p][i] = letter(&state);
            others[p][i] = rate < 0 ? letter(&state) : originals[p][i];
        }
        other_lengths[p] = rate < 0 ? n : edit(others[p], n, (size_t)(rate * (double)n), &state);
    }
}

typedef size_t measure(void *context, const char *a, size_t n, const char *b, size_t m, size_t cut);

static size_t ours(void *scratch, const char *a, size_t n, const char *b, size_t m, size_t cut)
{
    size_t distance;
    twin__edit_distance(&distance, scratch, (twin_text){ a, n }, (twin_text){ b, m }, TWIN_EDIT_BYTES, cut);
    return distance;
}

static size_t indels(void *scratch, const char *a, size_t n, const char *b, size_t m, size_t cut)
{
    size_t distance;
    twin__edit_indel(&distance, scratch, (twin_text){ a, n }, (twin_text){ b, m }, TWIN_EDIT_BYTES, cut);
    return distance;
}

static size_t spans(void *scratch, const char *a, size_t n, const char *b, size_t m, size_t cut)
{
    static twin_edit_spans out;
    twin__edit_align(&out, scratch, (twin_text){ a, n }, (twin_text){ b, m }, TWIN_EDIT_BYTES, cut);
    return out.distance;
}

#ifdef HAVE_EDLIB
static EdlibAlignResult (*edlib_align)(const char *, int, const char *, int, EdlibAlignConfig);
static void (*edlib_free)(EdlibAlignResult);

static bool load_edlib(void)
{
    void *library = dlopen("libedlib.so.1", RTLD_NOW);
    if (!library)
        return false;
    *(void **)&edlib_align = dlsym(library, "edlibAlign");
    *(void **)&edlib_free = dlsym(library, "edlibFreeAlignResult");
    return edlib_align && edlib_free;
}

static size_t theirs(void *unused, const char *a, size_t n, const char *b, size_t m, size_t cut)
{
    (void)unused;
    EdlibAlignConfig config = { cut == SIZE_MAX ? -1 : (int)cut, EDLIB_MODE_NW, EDLIB_TASK_DISTANCE, NULL, 0 };
    EdlibAlignResult result = edlib_align(a, (int)n, b, (int)m, config);
    size_t distance = result.editDistance < 0 ? TWIN_EDIT_FAR : (size_t)result.editDistance;
    edlib_free(result);
    return distance;
}
#else
static bool load_edlib(void)
{
    return false;
}
static measure *const theirs = NULL;
#endif

/* Microseconds per pair, and the sum of the distances to compare. */
static double time_of(size_t *sum, measure *f, void *context, size_t n, size_t cut)
{
    double best = 1e300;
    for (int pass = 0; pass < PASSES; pass++) {
        double start = cpu_seconds();
        *sum = 0;
        for (size_t p = 0; p < PAIRS; p++)
            *sum += f(context, originals[p], n, others[p], other_lengths[p], cut);
        double taken = 1e6 * (cpu_seconds() - start) / PAIRS;
        best = taken < best ? taken : best;
    }
    return best;
}

/* One line: our distance, indels and spans, and edlib's distance. False when the two distances differ. */
static bool compare(twin_edit_scratch *scratch, bool with_edlib, size_t n, double rate, double share)
{
    size_t cut = share < 1 ? (size_t)(share * (double)n) : SIZE_MAX, sum, other = 0, ignored;
    double us = time_of(&sum, ours, scratch, n, cut), them = 0;
    if (with_edlib)
        them = time_of(&other, theirs, NULL, n, cut);
    double indel = time_of(&ignored, indels, scratch, n, cut), span = time_of(&ignored, spans, scratch, n, cut);
    char edits[16] = "unrelated";
    if (rate >= 0)
        snprintf(edits, sizeof edits, "%.0f%%", 100 * rate);
    printf("%zu\t%s\t%.0f%%\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", n, edits, 100 * share, us, them, them / us, indel,
           span);
    return !with_edlib || sum == other;
}

/* ---- short texts: one text with a tile of patterns */

enum { TILE_TEXTS = 20000, LETTERS = 26 };

struct tile {
    uint16_t row_of[LETTERS];
    uint8_t masks[(LETTERS + 1) * EDIT_TILE] __attribute__((aligned(EDIT_TILE)));
    uint8_t full[EDIT_TILE], limits[EDIT_TILE];
};

/* Patterns of n letters, as many as fit, of which 2 may be edited. */
static struct edit_tile make_tile(struct tile *tile, size_t n, bool replaces, uint64_t *seed)
{
    int bytes = n <= 8 ? 1 : n <= 16 ? 2 : n <= 32 ? 4 : 8;
    memset(tile, 0, sizeof *tile);
    for (size_t c = 0; c < LETTERS; c++)
        tile->row_of[c] = (uint16_t)(c + 1);
    for (size_t lane = 0; lane < (size_t)(EDIT_TILE / bytes); lane++) {
        tile->limits[lane * (size_t)bytes] = 2;
        for (size_t i = 0; i < n; i++) {
            size_t at = lane * (size_t)bytes + i / 8; /* little-endian: the benchmark is for such machines */
            tile->masks[(1 + twin__random_below(seed, LETTERS)) * EDIT_TILE + at] |= (uint8_t)(1 << i % 8);
            tile->full[at] |= (uint8_t)(1 << i % 8);
        }
    }
    return (struct edit_tile){ bytes, replaces, tile->row_of, tile->masks, tile->full, tile->limits };
}

/* Nanoseconds per pair of texts of n letters. */
static double time_of_tile(size_t n, bool replaces)
{
    static struct tile room;
    static uint32_t texts[TILE_TEXTS * 64];
    static uint64_t within[TILE_TEXTS];
    uint64_t seed = 1;
    double best = 1e300;
    struct edit_tile tile = make_tile(&room, n, replaces, &seed);
    for (size_t i = 0; i < TILE_TEXTS * n; i++)
        texts[i] = (uint32_t)twin__random_below(&seed, LETTERS);
    for (int pass = 0; pass < PASSES; pass++) {
        double start = cpu_seconds();
        twin__kernels()->edit_tile(within, &tile, texts, n, TILE_TEXTS);
        double taken = 1e9 * (cpu_seconds() - start) * tile.lane_bytes / EDIT_TILE / TILE_TEXTS;
        best = taken < best ? taken : best;
    }
    return best;
}

static void measure_tiles(void)
{
    static const size_t lengths[] = { 7, 14, 30, 60 };
    printf("\nshort texts: ns per pair\nlength\tlevel\tedits\tindels\n");
    for (size_t l = 0; l < 4; l++)
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            twin_cpu_use(level);
            printf("%zu\t%s\t%.2f\t%.2f\n", lengths[l], twin_name_of(TWIN_NAMES_CPU, level),
                   time_of_tile(lengths[l], true), time_of_tile(lengths[l], false));
        }
}

int main(void)
{
    static const size_t lengths[] = { 1000, 5000, 10000 };
    static const double rates[] = { 0.01, 0.02, 0.05, 0.1, -1 }, cuts[] = { 0.02, 0.2, 1 };
    twin_edit_scratch scratch = { 0 };
    bool with_edlib = load_edlib(), same = true;
    printf("length\tedits\tcut-off\tours us\tedlib us\tratio\tindel us\tspans us\n");
    for (size_t l = 0; l < 3; l++)
        for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
            make_pairs(lengths[l], rates[r]);
            for (size_t c = 0; c < 3; c++)
                same &= compare(&scratch, with_edlib, lengths[l], rates[r], cuts[c]);
        }
    twin__edit_scratch_clear(&scratch);
    measure_tiles();
    if (!same)
        printf("error: edlib found different distances\n");
    return same ? 0 : 1;
}

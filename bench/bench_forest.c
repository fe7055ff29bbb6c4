/* bench_forest.c — hash vectors per second, compared with tan(); building and querying forests of 10,000 to 1,000,000
 * entries.
 *
 *     cmake --preset release && cmake --build --preset release --target bench_forest && build/release/bench_forest
 *
 * Entries come in families of ten. Labels agree with probability 0.87 within a family, as for texts 1 % apart, and with
 * 0.31 between families: about what the default embedding gives (docs/decisions/0041-embedding.md). A query is another
 * member of a family. Times are thread time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "edit/embed.h"
#include "lsh/forest.h"

#include "base/random.h"
#include "cpu_seconds.h"

enum { TREES = 10, DEPTH = 24, LABELS = TREES * DEPTH, ASKED = 20, QUERIES = 5000, ROUNDS = 3, FAMILY = 10 };

/* The cost of twin__embed_vector() if it computed a tangent per gram of each window. */
static double tangents(const uint64_t *grams, size_t count, size_t functions)
{
    const double pi = 3.14159265358979323846;
    double sum = 0;
    for (uint64_t f = 0; f < functions; f++)
        for (size_t i = 0; i < count; i++) {
            double u = ((double)(twin__mix(grams[i] ^ f) >> 12) + 0.5) * 0x1p-52;
            sum += floor(tan(pi * (u - 0.5)));
        }
    return sum;
}

static int time_vectors(size_t n)
{
    enum { TEXTS = 50 };
    uint64_t state = n;
    char *text = malloc(n);
    uint64_t *grams = malloc(n * sizeof *grams);
    uint32_t vector[LABELS];
    twin__embed_options options = twin__embed_options_for(TWIN__EMBED_DEFAULT, n, LABELS, 1);
    twin__embed_scratch scratch = { 0 };
    twin__embedder *embedder = NULL;
    int failed = !text || !grams || twin__embedder_create(&embedder, options) != TWIN_OK;
    if (failed)
        goto done;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)('a' + twin__random_below(&state, 26));
        grams[i] = twin__random_next(&state);
    }
    double start = cpu_seconds();
    for (int i = 0; i < TEXTS; i++)
        twin__embed_vector(vector, embedder, &scratch, (twin_text){ text, n });
    double table = (cpu_seconds() - start) / TEXTS;
    start = cpu_seconds();
    volatile double kept = tangents(grams, options.grams.window - options.grams.q_low + 1, LABELS);
    (void)kept;
    double tangent = cpu_seconds() - start;
    printf("%zu\t%d\t%.0f\t%.0f\t%.1f\n", n, LABELS, 1 / table, 1 / tangent, tangent / table);
done:
    twin__embedder_free(embedder);
    twin__embed_scratch_clear(&scratch);
    free(grams);
    free(text);
    return failed;
}

/* Labels of member number `member` of a family: nine in ten are the family's, the others are its own. A label is one
 * of a few that are common to all, as a bucket of a projection is. */
static void draw_labels(uint32_t *out, uint64_t family, uint64_t member)
{
    uint64_t own = twin__mix(family + 1), other = twin__mix((family + 1) * FAMILY * 2 + member) | 1;
    for (size_t i = 0; i < LABELS; i++) {
        uint64_t a = twin__random_next(&own), b = twin__random_next(&other);
        uint64_t chosen = b % 100 < 90 ? a : twin__mix(b);
        /* Probabilities 1/2, 1/8, 3/16, 3/32, 3/64, …: their squares sum to 0.3125. */
        uint64_t coin = chosen >> 8;
        out[i] = coin & 1 ? 0 : (uint32_t)(1 + __builtin_ctzll((coin >> 1) | 1ull << 40) + (coin >> 50) % 2);
    }
}

/* Seconds per query, best of several rounds, and how many family members each finds. */
static double time_queries(double *family_found, const twin__forest *forest, size_t entries)
{
    twin__forest_scratch scratch = { 0 };
    uint32_t labels[LABELS];
    twin__forest_candidate found[ASKED];
    size_t family = 0, count;
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double asking = 0;
        family = 0;
        for (size_t q = 0; q < QUERIES; q++) {
            uint64_t sought = twin__mix(q) % (entries / FAMILY);
            draw_labels(labels, sought, FAMILY);
            double start = cpu_seconds();
            twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ ASKED, 0 });
            asking += cpu_seconds() - start;
            for (size_t i = 0; i < count; i++)
                family += found[i].id / FAMILY == sought;
        }
        best = asking < best ? asking : best;
    }
    *family_found = (double)family / QUERIES / FAMILY;
    twin__forest_scratch_clear(&scratch);
    return best / QUERIES;
}

static int time_forest(size_t entries)
{
    twin__forest *forest;
    uint32_t labels[LABELS];
    if (twin__forest_create(&forest, (twin__forest_options){ TREES, DEPTH, 1 }) != TWIN_OK)
        return 1;
    double drawing = cpu_seconds();
    for (size_t i = 0; i < entries; i++)
        draw_labels(labels, i / FAMILY, i % FAMILY);
    drawing = cpu_seconds() - drawing;

    double start = cpu_seconds();
    for (size_t i = 0; i < entries; i++) {
        draw_labels(labels, i / FAMILY, i % FAMILY);
        if (twin__forest_add(forest, i, labels) != TWIN_OK)
            return 1;
    }
    double building = cpu_seconds() - start - drawing, family;
    double as_built = time_queries(&family, forest, entries);
    if (twin__forest_pack(forest) != TWIN_OK)
        return 1;
    double packed = time_queries(&family, forest, entries);
    printf("%zu\t%.0f\t%.1f\t%.1f\t%.0f\t%.2f\n", entries, (double)entries / building, 1e6 * as_built, 1e6 * packed,
           (double)twin__forest_bytes(forest) / (double)entries, family);
    twin__forest_free(forest);
    return 0;
}

int main(void)
{
    static const size_t lengths[] = { 1000, 5000, 10000 }, sizes[] = { 10000, 100000, 1000000 };
    int bad = 0;
    printf("length\tlabels\tvectors/s\twith tan/s\tratio\n");
    for (size_t i = 0; i < 3; i++)
        bad |= time_vectors(lengths[i]);
    printf("entries\tadds/s\tquery us\tpacked us\tbytes/entry\tfamily found\n");
    for (size_t i = 0; i < 3; i++)
        bad |= time_forest(sizes[i]);
    return bad;
}

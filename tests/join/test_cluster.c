/* test_cluster.c — groups against brute force on random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/similar.h>

#include "random_unit.h"

#include "join/join_private.h"

enum { DOCUMENTS = 24, MATCHES = 40, GRAPHS = 3000 };

struct graph {
    size_t documents, count;
    twin_match matches[MATCHES];
    double similarity[DOCUMENTS][DOCUMENTS]; /* 0: no match */
    uint32_t order[DOCUMENTS];
};

/* Sparse enough that some graphs fall apart and some do not; matches in no order, none twice. */
static void draw(struct graph *graph, uint64_t *seed)
{
    memset(graph, 0, sizeof *graph);
    graph->documents = 1 + twin__random_below(seed, DOCUMENTS);
    size_t tries = twin__random_below(seed, MATCHES + 1);
    for (size_t t = 0; t < tries; t++) {
        uint32_t a = (uint32_t)twin__random_below(seed, graph->documents);
        uint32_t b = (uint32_t)twin__random_below(seed, graph->documents);
        if (a >= b || graph->similarity[a][b] > 0)
            continue;
        double similarity = .5 + random_unit(seed) / 2;
        graph->similarity[a][b] = graph->similarity[b][a] = similarity;
        graph->matches[graph->count++] = (twin_match){ a, b, similarity };
    }
    for (uint32_t i = 0; i < graph->documents; i++) {
        uint32_t j = (uint32_t)twin__random_below(seed, i + 1);
        graph->order[i] = graph->order[j];
        graph->order[j] = i;
    }
}

static void components_are_what_chains_reach(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct graph graph;
    for (int g = 0; g < GRAPHS; g++) {
        draw(&graph, &seed);
        uint32_t group[DOCUMENTS], slow[DOCUMENTS];
        assert_int_equal(twin__cluster_components(group, graph.documents, graph.matches, graph.count), TWIN_OK);
        /* The smallest number spreads along matches until nothing changes. */
        for (uint32_t i = 0; i < graph.documents; i++)
            slow[i] = i;
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t a = 0; a < graph.documents; a++)
                for (size_t b = 0; b < graph.documents; b++)
                    if (graph.similarity[a][b] > 0 && slow[b] < slow[a]) {
                        slow[a] = slow[b];
                        changed = true;
                    }
        }
        assert_memory_equal(group, slow, graph.documents * sizeof slow[0]);
    }
}

/* The header's words, with a matrix. */
static void slow_keepers(uint32_t *keeper, double *similarity, const struct graph *graph, const uint32_t *order)
{
    bool decided[DOCUMENTS] = { false };
    for (size_t i = 0; i < graph->documents; i++) {
        uint32_t stays = order ? order[i] : (uint32_t)i;
        if (decided[stays])
            continue;
        decided[stays] = true;
        keeper[stays] = stays;
        similarity[stays] = 1;
        for (size_t goes = 0; goes < graph->documents; goes++)
            if (!decided[goes] && graph->similarity[stays][goes] > 0) {
                decided[goes] = true;
                keeper[goes] = stays;
                similarity[goes] = graph->similarity[stays][goes];
            }
    }
}

static void keepers_are_what_the_header_says(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct graph graph;
    for (int g = 0; g < GRAPHS; g++) {
        draw(&graph, &seed);
        const uint32_t *order = g % 2 ? graph.order : NULL;
        uint32_t keeper[DOCUMENTS], expected[DOCUMENTS], alone[DOCUMENTS];
        double similarity[DOCUMENTS], wanted[DOCUMENTS];
        slow_keepers(expected, wanted, &graph, order);
        assert_int_equal(
            twin__cluster_keepers(keeper, similarity, graph.documents, graph.matches, graph.count, order), TWIN_OK);
        assert_int_equal(twin__cluster_keepers(alone, NULL, graph.documents, graph.matches, graph.count, order),
                         TWIN_OK);
        assert_memory_equal(keeper, expected, graph.documents * sizeof keeper[0]);
        assert_memory_equal(alone, expected, graph.documents * sizeof keeper[0]);
        assert_memory_equal(similarity, wanted, graph.documents * sizeof similarity[0]);
    }
}

static void a_friend_of_a_friend_stays(void **state)
{
    (void)state;
    static const twin_match chain[] = { { 1, 2, .9 }, { 0, 1, .8 } };
    static const uint32_t middle_first[] = { 1, 0, 2 };
    uint32_t group[3], keeper[3];
    double similarity[3];

    assert_int_equal(twin__cluster_components(group, 3, chain, 2), TWIN_OK);
    assert_memory_equal(group, ((uint32_t[]){ 0, 0, 0 }), sizeof group);

    assert_int_equal(twin__cluster_keepers(keeper, similarity, 3, chain, 2, NULL), TWIN_OK);
    assert_memory_equal(keeper, ((uint32_t[]){ 0, 0, 2 }), sizeof keeper);
    assert_true(similarity[0] == 1 && similarity[1] == .8 && similarity[2] == 1);

    assert_int_equal(twin__cluster_keepers(keeper, similarity, 3, chain, 2, middle_first), TWIN_OK);
    assert_memory_equal(keeper, ((uint32_t[]){ 1, 1, 1 }), sizeof keeper);
    assert_true(similarity[0] == .8 && similarity[1] == 1 && similarity[2] == .9);
}

/* A chain given from its far end is the worst case for a union-find that links by number. */
static void a_long_chain_is_one_group(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    twin_match *matches = malloc(LONG * sizeof *matches);
    uint32_t *group = malloc(LONG * sizeof *group);
    assert_true(matches && group);
    for (uint32_t i = 0; i + 1 < LONG; i++)
        matches[i] = (twin_match){ LONG - 2 - i, LONG - 1 - i, .9 };
    assert_int_equal(twin__cluster_components(group, LONG, matches, LONG - 1), TWIN_OK);
    for (size_t i = 0; i < LONG; i++)
        assert_int_equal(group[i], 0);
    /* Kept, dropped, kept, dropped: each is dropped by the one before, if that stayed. */
    assert_int_equal(twin__cluster_keepers(group, NULL, LONG, matches, LONG - 1, NULL), TWIN_OK);
    for (size_t i = 0; i < LONG; i++)
        assert_int_equal(group[i], i - i % 2);
    free(matches);
    free(group);
}

/* What twin_cluster_each() reports, as text. */
struct listing {
    char text[200];
    int members;
    int most; /* stops after so many */
};

static bool list_member(void *context, twin_member member)
{
    struct listing *listing = context;
    size_t length = strlen(listing->text);
    snprintf(listing->text + length, sizeof listing->text - length, "%u:%u:%g ", (unsigned)member.group,
             (unsigned)member.document, member.similarity);
    return ++listing->members < listing->most;
}

static void groups_are_listed_with_their_keeper_first(void **state)
{
    (void)state;
    static const uint32_t keeper[] = { 0, 5, 2, 0, 4, 5, 0, 5 };
    static const double similarity[] = { 1, .5, 1, .75, 1, 1, 1, .25 };
    struct listing all = { .most = 100 }, some = { .most = 2 }, none = { .most = 100 };
    assert_int_equal(twin_cluster_each(keeper, similarity, 8, list_member, &all), TWIN_OK);
    assert_string_equal(all.text, "0:0:1 0:3:0.75 0:6:1 5:5:1 5:1:0.5 5:7:0.25 ");
    assert_int_equal(twin_cluster_each(keeper, similarity, 8, list_member, &some), TWIN_ESTOPPED);
    assert_string_equal(some.text, "0:0:1 0:3:0.75 ");
    assert_int_equal(twin_cluster_each(NULL, NULL, 0, list_member, &none), TWIN_OK);
    assert_int_equal(twin_cluster_each(keeper, similarity, 5, list_member, &none), TWIN_EINVAL);
    assert_int_equal(none.members, 0);
}

static void documents_that_are_not_there_are_refused(void **state)
{
    (void)state;
    static const twin_match high[] = { { 0, 1, 1 }, { 1, 3, 1 } };
    static const uint32_t twice[] = { 0, 1, 1 }, beyond[] = { 0, 1, 3 };
    uint32_t out[3];
    assert_int_equal(twin__cluster_components(out, 3, high, 2), TWIN_EINVAL);
    assert_int_equal(twin__cluster_keepers(out, NULL, 3, high, 2, NULL), TWIN_EINVAL);
    assert_int_equal(twin__cluster_keepers(out, NULL, 3, high, 1, twice), TWIN_EINVAL);
    assert_int_equal(twin__cluster_keepers(out, NULL, 3, high, 1, beyond), TWIN_EINVAL);
    assert_int_equal(twin__cluster_components(out, (size_t)UINT32_MAX + 1, high, 1), TWIN_ELIMIT);
    assert_int_equal(twin__cluster_keepers(out, NULL, (size_t)UINT32_MAX + 1, high, 1, NULL), TWIN_ELIMIT);
}

static void nothing_is_fine(void **state)
{
    (void)state;
    uint32_t out[2] = { 9, 9 };
    assert_int_equal(twin__cluster_components(NULL, 0, NULL, 0), TWIN_OK);
    assert_int_equal(twin__cluster_keepers(NULL, NULL, 0, NULL, 0, NULL), TWIN_OK);
    assert_int_equal(twin__cluster_components(out, 2, NULL, 0), TWIN_OK);
    assert_true(out[0] == 0 && out[1] == 1);
    assert_int_equal(twin__cluster_keepers(out, NULL, 2, NULL, 0, NULL), TWIN_OK);
    assert_true(out[0] == 0 && out[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_what_chains_reach),
        cmocka_unit_test(keepers_are_what_the_header_says),
        cmocka_unit_test(a_friend_of_a_friend_stays),
        cmocka_unit_test(a_long_chain_is_one_group),
        cmocka_unit_test(groups_are_listed_with_their_keeper_first),
        cmocka_unit_test(documents_that_are_not_there_are_refused),
        cmocka_unit_test(nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

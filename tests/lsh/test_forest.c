/* test_forest.c — forest queries against a scan of all entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "edit/embed.h"
#include "lsh/forest.h"
#include <cmocka.h>
#include <pthread.h>

#include "base/random.h"
#include "base/stages.h"
#include "scale.h"

enum { STEPS = QUICK ? 60000 : 200000, COPIES = QUICK ? 20000 : 100000 };
enum { TREES = 3, DEPTH = 11, LABELS = TREES * DEPTH, SLOTS = 8000, KINDS = 6000 };

/* The model: all vectors in a plain array, and in which order they came. */
struct model {
    bool present;
    uint64_t order;
    size_t kind; /* equal kinds have equal labels, and different ones different labels */
    uint32_t labels[LABELS];
};

static struct model model[SLOTS];

static size_t shared(const uint32_t *x, const uint32_t *y)
{
    size_t best = 0;
    for (size_t tree = 0; tree < TREES; tree++) {
        size_t level = 0;
        while (level < DEPTH && x[tree * DEPTH + level] == y[tree * DEPTH + level])
            level++;
        best = level > best ? level : best;
    }
    return best;
}

/* One of few vectors, so that copies happen. Labels below 3 have different bytes in every place of a forest with
 * seed 5: a test sees to it. Returns the kind. */
static size_t draw_labels(uint32_t *labels, uint64_t *state)
{
    size_t kind = (size_t)twin__random_below(state, KINDS);
    uint64_t own = twin__mix(kind + 1);
    for (size_t i = 0; i < LABELS; i++)
        labels[i] = (uint32_t)twin__random_below(&own, 3);
    return kind;
}

/* The candidates a query must find, by comparing everything: firsts of their kind, in any order. */
static size_t expect(twin__forest_candidate *out, const uint32_t *labels, size_t lowest)
{
    static size_t firsts[KINDS];
    static uint32_t copies[KINDS];
    memset(copies, 0, sizeof copies);
    for (size_t id = 0; id < SLOTS; id++) {
        size_t kind = model[id].kind;
        if (model[id].present && (copies[kind]++ == 0 || model[id].order < model[firsts[kind]].order))
            firsts[kind] = id;
    }
    size_t count = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t id = firsts[kind];
        if (copies[kind] > 0 && shared(model[id].labels, labels) >= lowest)
            out[count++] = (twin__forest_candidate){ id, (uint32_t)shared(model[id].labels, labels), copies[kind] };
    }
    return count;
}

static int by_level_and_id(const void *x, const void *y)
{
    const twin__forest_candidate *a = x, *b = y;
    if (a->level != b->level)
        return a->level > b->level ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void check_query(const twin__forest *forest, twin__forest_scratch *scratch, uint64_t *state)
{
    static twin__forest_candidate found[SLOTS], expected[SLOTS];
    uint32_t labels[LABELS];
    draw_labels(labels, state);
    labels[twin__random_below(state, LABELS)] = 1;
    twin__forest_query_options options = { 1 + (size_t)twin__random_below(state, 40),
                                           (size_t)twin__random_below(state, 6) };
    size_t count, all = expect(expected, labels, 0);
    assert_int_equal(twin__forest_distinct(forest), all);
    all = expect(expected, labels, options.lowest ? options.lowest : 1);
    qsort(expected, all, sizeof expected[0], by_level_and_id);
    assert_int_equal(twin__forest_query(found, &count, forest, scratch, labels, options), TWIN_OK);
    assert_int_equal(count, all < options.most ? all : options.most);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].id, expected[i].id);
        assert_int_equal(found[i].level, expected[i].level);
        assert_int_equal(found[i].copies, expected[i].copies);
    }
}

static twin__forest *make(size_t trees, size_t depth)
{
    twin__forest *forest;
    assert_int_equal(twin__forest_create(&forest, (twin__forest_options){ trees, depth, 5 }), TWIN_OK);
    return forest;
}

/* Adds, removes and queries at random; the forest grows to several runs, shrinks, and merges many times over. No query
 * comes near its bound of work of 1,088 rows: with 40 asked for and a third of the entries lost at each level, the last
 * level looked at holds a few hundred. */
static void forest_does_what_the_model_does(void **state_unused)
{
    (void)state_unused;
    uint64_t state = 1, order = 0;
    size_t present = 0;
    twin__forest *forest = make(TREES, DEPTH);
    twin__forest_scratch scratch = { 0 };
    memset(model, 0, sizeof model);
    for (int step = 0; step < STEPS; step++) {
        size_t id = (size_t)twin__random_below(&state, SLOTS);
        bool shrinking = step / (STEPS / 6) % 2;
        bool add = twin__random_below(&state, 4) != 0 ? !shrinking : shrinking;
        if (add) {
            uint32_t labels[LABELS];
            size_t kind = draw_labels(labels, &state);
            assert_int_equal(twin__forest_add(forest, id, labels), model[id].present ? TWIN_EINVAL : TWIN_OK);
            if (!model[id].present) {
                model[id] = (struct model){ .present = true, .order = order, .kind = kind };
                order++;
                memcpy(model[id].labels, labels, sizeof labels);
                present++;
            }
        } else {
            assert_int_equal(twin__forest_remove(forest, id), model[id].present ? TWIN_OK : TWIN_EINVAL);
            present -= model[id].present;
            model[id].present = false;
        }
        if (step % (STEPS / 8) == 0)
            assert_int_equal(twin__forest_pack(forest), TWIN_OK);
        if (step % (STEPS / 500) == 0)
            check_query(forest, &scratch, &state);
        assert_int_equal(twin__forest_count(forest), present);
    }
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
}

static uint32_t one_tree_label(size_t i)
{
    return (uint32_t)(i * 2654435761u);
}

/* The model takes labels as they are, the forest one byte of their hash: the test above is fair if the few labels it
 * uses never share that byte. Two entries that differ in one label only would be found at full depth then. */
static void the_models_labels_have_different_bytes(void **state_unused)
{
    (void)state_unused;
    twin__forest_scratch scratch = { 0 };
    for (size_t place = 0; place < LABELS; place++) {
        twin__forest *forest = make(TREES, DEPTH);
        for (uint32_t value = 0; value < 3; value++) {
            uint32_t labels[LABELS];
            for (size_t i = 0; i < LABELS; i++)
                labels[i] = i / DEPTH == place / DEPTH ? 0 : one_tree_label(value * LABELS + i);
            labels[place] = value;
            assert_int_equal(twin__forest_add(forest, value, labels), TWIN_OK);
            twin__forest_candidate found[3];
            size_t count;
            assert_int_equal(
                twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ 3, DEPTH }),
                TWIN_OK);
            assert_int_equal(count, 1);
        }
        twin__forest_free(forest);
    }
    twin__forest_scratch_clear(&scratch);
}

/* A hundred thousand copies are one candidate, take one row, and can all be listed and removed. */
static void copies_fold_into_one(void **state_unused)
{
    (void)state_unused;
    enum { WIDE = 8 * 16 };
    uint32_t labels[WIDE] = { 7, 8, 9 }, other[WIDE] = { 7, 8, 10 };
    twin__forest *forest = make(8, 16);
    twin__forest_scratch scratch = { 0 };
    twin__forest_candidate found[4];
    uint64_t ids[10];
    size_t count;
    for (uint64_t id = 0; id < COPIES; id++)
        assert_int_equal(twin__forest_add(forest, 3 * id, labels), TWIN_OK);
    assert_int_equal(twin__forest_add(forest, 1, other), TWIN_OK);
    assert_int_equal(twin__forest_distinct(forest), 2);
    assert_int_equal(
        twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ 4, 0 }), TWIN_OK);
    assert_int_equal(count, 2);
    assert_int_equal(found[0].id, 0);
    assert_int_equal(found[0].copies, COPIES);
    assert_int_equal(twin__forest_copies(ids, forest, 30, 10), COPIES);
    assert_int_equal(ids[9], 27);
    assert_int_equal(twin__forest_copies(ids, forest, 2, 10), 0);

    for (uint64_t id = 0; id < COPIES; id++)
        assert_int_equal(twin__forest_remove(forest, 3 * id), TWIN_OK);
    assert_int_equal(
        twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ 4, 0 }), TWIN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(found[0].id, 1);
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
}

/* Entries made to share all but the last label of every tree: a query examines only some of them, and still returns
 * as many as requested. With room for all, it returns all. */
static void a_crowd_costs_no_more_than_the_bound(void **state_unused)
{
    (void)state_unused;
    enum { CROWD = 20000, DEEP = 8, ASKED = 10 };
    uint32_t labels[2 * DEEP] = { 0 };
    twin__forest *forest = make(2, DEEP);
    twin__forest_scratch scratch = { 0 };
    static twin__forest_candidate found[CROWD];
    size_t count;
    for (uint32_t id = 0; id < CROWD; id++) {
        labels[DEEP - 1] = labels[2 * DEEP - 1] = id + 1;
        assert_int_equal(twin__forest_add(forest, id, labels), TWIN_OK);
    }
    labels[DEEP - 1] = labels[2 * DEEP - 1] = 0;
    twin__forest_query_options options = { ASKED, 0 };
    assert_int_equal(twin__forest_query(found, &count, forest, &scratch, labels, options), TWIN_OK);
    assert_int_equal(count, ASKED);
    assert_true(twin__forest_work(options) < CROWD);
    /* What it may have seen bounds what it needed room for. */
    assert_true(scratch.bytes[1] < 64 * twin__forest_work(options));

    assert_int_equal(
        twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ CROWD, 0 }),
        TWIN_OK);
    assert_int_equal(count, CROWD);
    for (size_t i = 1; i < count; i++)
        assert_true(found[i - 1].level > found[i].level ||
                    (found[i - 1].level == found[i].level && found[i - 1].id < found[i].id));
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
}

/* The same entries in any order of adding give the same answers. */
static void answers_do_not_depend_on_the_order_of_adding(void **state_unused)
{
    (void)state_unused;
    enum { ENTRIES = 3000, ASKED = 15 };
    uint64_t state = 3;
    static uint32_t vectors[ENTRIES][LABELS];
    twin__forest *forward = make(TREES, DEPTH), *backward = make(TREES, DEPTH);
    twin__forest_scratch scratch = { 0 };
    for (size_t i = 0; i < ENTRIES; i++)
        for (size_t k = 0; k < LABELS; k++)
            vectors[i][k] = (uint32_t)twin__random_below(&state, 4);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(twin__forest_add(forward, i, vectors[i]), TWIN_OK);
        assert_int_equal(twin__forest_add(backward, ENTRIES - 1 - i, vectors[ENTRIES - 1 - i]), TWIN_OK);
    }
    assert_int_equal(twin__forest_pack(backward), TWIN_OK);
    for (size_t i = 0; i < ENTRIES; i += 7) {
        twin__forest_candidate x[ASKED], y[ASKED];
        size_t n, m;
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        twin__forest_query_options options = { ASKED, 0 };
        assert_int_equal(twin__forest_query(x, &n, forward, &scratch, vectors[i], options), TWIN_OK);
        assert_int_equal(twin__forest_query(y, &m, backward, &scratch, vectors[i], options), TWIN_OK);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, sizeof x);
        assert_int_equal(x[0].id, i);
        assert_int_equal(x[0].level, DEPTH);
    }
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forward);
    twin__forest_free(backward);
}

/* Packed runs are searched by blocks of 64: where one more row begins a block, every entry is still found. */
static void entries_at_the_ends_of_blocks_are_found(void **state_unused)
{
    (void)state_unused;
    enum { MOST = 200, WIDE = 2 * 8 };
    twin__forest_scratch scratch = { 0 };
    for (size_t entries = 1; entries <= MOST; entries++) {
        twin__forest *forest = make(2, WIDE / 2);
        uint32_t labels[WIDE];
        for (size_t i = 0; i < entries; i++) {
            for (size_t k = 0; k < WIDE; k++)
                labels[k] = one_tree_label(i * WIDE + k);
            assert_int_equal(twin__forest_add(forest, i, labels), TWIN_OK);
        }
        assert_int_equal(twin__forest_pack(forest), TWIN_OK);
        for (size_t i = 0; i < entries; i++) {
            twin__forest_candidate found;
            size_t count;
            for (size_t k = 0; k < WIDE; k++)
                labels[k] = one_tree_label(i * WIDE + k);
            assert_int_equal(
                twin__forest_query(&found, &count, forest, &scratch, labels, (twin__forest_query_options){ 1, 0 }),
                TWIN_OK);
            assert_int_equal(count, 1);
            assert_int_equal(found.id, i);
            assert_int_equal(found.level, WIDE / 2);
        }
        twin__forest_free(forest);
    }
    twin__forest_scratch_clear(&scratch);
}

struct asker {
    const twin__forest *forest;
    uint64_t sum;
};

static void *ask_much(void *arg)
{
    struct asker *asker = arg;
    uint64_t state = 9;
    twin__forest_scratch scratch = { 0 };
    for (int i = 0; i < 300; i++) {
        twin__forest_candidate found[8];
        uint32_t labels[LABELS];
        size_t count;
        draw_labels(labels, &state);
        twin__forest_query(found, &count, asker->forest, &scratch, labels, (twin__forest_query_options){ 8, 0 });
        for (size_t k = 0; k < count; k++)
            asker->sum = twin__mix(asker->sum + found[k].id + found[k].level);
    }
    twin__forest_scratch_clear(&scratch);
    return NULL;
}

static void threads_may_ask_at_once(void **state_unused)
{
    (void)state_unused;
    uint64_t state = 4;
    twin__forest *forest = make(TREES, DEPTH);
    for (uint64_t id = 0; id < 2000; id++) {
        uint32_t labels[LABELS];
        draw_labels(labels, &state);
        assert_int_equal(twin__forest_add(forest, id, labels), TWIN_OK);
    }
    struct asker askers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        askers[i] = (struct asker){ forest, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, ask_much, &askers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].sum, askers[0].sum);
    }
    assert_true(askers[0].sum != 0);
    twin__forest_free(forest);
}

static char letter(uint64_t *state)
{
    return (char)('a' + twin__random_below(state, 26));
}

/* A small form of an experiment of Sokolov 2007: strings 10 to 240 edits from a centre; of the 16 candidates at most
 * one in fifty may be further than half way. (The full experiment finds 1.000 in every cell, so 0.98 has room.) */
static void near_strings_come_first(void **state_unused)
{
    (void)state_unused;
    enum { N = 1000, STRINGS = 231, L = 4, K = 30, FORESTS = 5 };
    static char strings[STRINGS + 1][N];
    static uint32_t vector[L * K];
    uint64_t state = 6;
    for (size_t i = 0; i < N; i++)
        strings[STRINGS][i] = letter(&state);
    for (size_t s = 0; s < STRINGS; s++) {
        memcpy(strings[s], strings[STRINGS], N);
        for (size_t e = 0; e < 10 + s; e++) {
            size_t at = (size_t)twin__random_below(&state, N);
            uint64_t kind = twin__random_below(&state, 3);
            if (kind == 0)
                memmove(strings[s] + at + 1, strings[s] + at, N - at - 1);
            else if (kind == 1)
                memmove(strings[s] + at, strings[s] + at + 1, N - at - 1);
            strings[s][kind == 1 ? N - 1 : at] = letter(&state);
        }
    }
    twin__embed_scratch room = { 0 };
    twin__forest_scratch scratch = { 0 };
    size_t near = 0, seen = 0;
    for (uint64_t seed = 0; seed < FORESTS; seed++) {
        twin__embedder *embedder;
        twin__forest *forest = make(L, K);
        assert_int_equal(
            twin__embedder_create(&embedder, twin__embed_options_for(TWIN__EMBED_DEFAULT, N, L * K, seed)), TWIN_OK);
        for (size_t s = 0; s <= STRINGS; s++) {
            assert_int_equal(twin__embed_vector(vector, embedder, &room, (twin_text){ strings[s], N }), TWIN_OK);
            if (s < STRINGS)
                assert_int_equal(twin__forest_add(forest, s, vector), TWIN_OK);
        }
        twin__forest_candidate found[4 * L];
        size_t count;
        assert_int_equal(
            twin__forest_query(found, &count, forest, &scratch, vector, (twin__forest_query_options){ 4 * L, 0 }),
            TWIN_OK);
        for (size_t i = 0; i < count; i++)
            near += found[i].id + 10 <= 126;
        seen += count;
        twin__embedder_free(embedder);
        twin__forest_free(forest);
    }
    assert_int_equal(seen, FORESTS * 4 * L);
    assert_true(50 * (seen - near) <= seen);
    twin__embed_scratch_clear(&room);
    twin__forest_scratch_clear(&scratch);
}

static void wrong_options_are_refused(void **state_unused)
{
    (void)state_unused;
    static const twin__forest_options bad[] = { { 257, 5, 0 }, { 5, 1025, 0 } };
    twin__forest *forest;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(twin__forest_create(&forest, bad[i]), TWIN_EINVAL);
        assert_null(forest);
    }
    forest = make(1, 4);
    twin__forest_scratch scratch = { 0 };
    uint32_t labels[4] = { 0 };
    twin__forest_candidate found;
    size_t count;
    assert_int_equal(
        twin__forest_query(&found, &count, forest, &scratch, labels, (twin__forest_query_options){ 1, 5 }),
        TWIN_EINVAL);
    assert_int_equal(
        twin__forest_query(&found, &count, forest, &scratch, labels, (twin__forest_query_options){ 1, 4 }), TWIN_OK);
    assert_int_equal(count, 0);
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
    twin__forest_free(NULL);
}

static bool refuse(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)context, (void)stage, (void)done, (void)total;
    return false;
}

/* Adds until that is refused; nothing is packed either. */
static twin_status add_until_stopped(void *context)
{
    twin__forest *forest = context;
    uint32_t labels[4] = { 0 };
    twin_status status = TWIN_OK;
    assert_int_equal(twin__report(&twin__stage_pairing, 0, 0), TWIN_ESTOPPED);
    for (uint64_t id = 0; id < 100000 && status == TWIN_OK; id++) {
        labels[0] = (uint32_t)id;
        status = twin__forest_add(forest, id, labels);
    }
    assert_int_equal(twin__forest_pack(forest), TWIN_ESTOPPED);
    return status;
}

/* What was added before is there, and more can be. */
static void building_can_be_stopped(void **state)
{
    (void)state;
    twin__forest *forest;
    assert_int_equal(twin__forest_create(&forest, (twin__forest_options){ 2, 2, 1 }), TWIN_OK);
    assert_int_equal(twin_progress_watch((twin_progress){ refuse, NULL }, add_until_stopped, forest), TWIN_ESTOPPED);
    size_t added = twin__forest_count(forest);
    assert_in_range(added, 1, 99999);
    for (uint32_t id = 0; id < added + 1000; id++) {
        uint32_t labels[4] = { id };
        if (id >= added)
            assert_int_equal(twin__forest_add(forest, id, labels), TWIN_OK);
        uint64_t same;
        assert_int_equal(twin__forest_copies(&same, forest, id, 1), 1);
        assert_int_equal(same, id);
    }
    assert_int_equal(twin__forest_pack(forest), TWIN_OK);
    twin__forest_free(forest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forest_does_what_the_model_does),
        cmocka_unit_test(the_models_labels_have_different_bytes),
        cmocka_unit_test(copies_fold_into_one),
        cmocka_unit_test(a_crowd_costs_no_more_than_the_bound),
        cmocka_unit_test(answers_do_not_depend_on_the_order_of_adding),
        cmocka_unit_test(entries_at_the_ends_of_blocks_are_found),
        cmocka_unit_test(threads_may_ask_at_once),
        cmocka_unit_test(building_can_be_stopped),
        cmocka_unit_test(near_strings_come_first),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

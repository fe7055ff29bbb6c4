/* test_edit_between.c — texts of one collection that are near to texts of another, against an exhaustive comparison. */
#include "edit_world.h"

#include "collection/contents.h"
#include "join/similar_private.h"

static twin_similar *between(const struct world *first, const struct world *second, twin_edit_join_options options)
{
    twin_similar *similar;
    twin_error error;
    twin_status status = twin_edit_join_between(&similar, first->collection, second->collection, options, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    return similar;
}

/* Every match is true, to the last bit of its ratio, and in its place. */
static void check_between(struct score *score, const struct world *first, const struct world *second,
                          const twin_similar *similar, twin_edit_join_options options)
{
    const twin_match *matches;
    size_t count = twin__similar_matches(&matches, similar), at = 0;
    for (size_t a = 0; a < first->texts.count; a++)
        for (size_t b = 0; b < second->texts.count; b++) {
            double ratio = slow_ratio(first->texts.items[a], second->texts.items[b], options);
            bool found = at < count && matches[at].a == a && matches[at].b == first->texts.count + b;
            if (ratio < 0 || is_copy(&first->texts, a) || is_copy(&second->texts, b)) {
                assert_false(found);
                continue;
            }
            score->near++;
            score->found += found;
            if (found)
                assert_true(matches[at].similarity == ratio);
            at += found;
        }
    assert_int_equal(at, count);
    assert_int_equal(twin_similar_count(similar).similar, count);
}

static void check_both_ways(struct score *score, const struct world *first, const struct world *second,
                            twin_edit_join_options options)
{
    twin_similar *similar = between(first, second, options), *other = between(second, first, options);
    check_between(score, first, second, similar, options);
    check_between(score, second, first, other, options);
    twin_similar_free(similar);
    twin_similar_free(other);
}

/* Half of the texts of the second are edited from those of the first. */
static void make_worlds(struct world *first, struct world *second, size_t counts[2], size_t least, size_t most,
                        size_t letters, uint64_t seed)
{
    struct texts all = { 0 };
    draw_texts(&all, counts[0] + counts[1], least, most, letters, seed);
    for (size_t i = 0; i < all.count; i++) {
        struct world *side = twin__random_below(&seed, counts[0] + counts[1]) < counts[0] ? first : second;
        add_text(&side->texts, all.items[i]);
    }
    add_text(&first->texts, all.items[0]); /* at least one each, and a pair of equal texts */
    add_text(&second->texts, all.items[0]);
    texts_clear(&all);
    world_read(first, serial);
    world_read(second, serial);
}

static void short_texts_are_all_found_and_no_other(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const struct {
        size_t counts[2], least, most, letters;
    } kinds[] = {
        { { 150, 20 }, 0, 14, 2 }, { { 10, 200 }, 3, 30, 3 }, { { 1, 300 }, 4, 9, 3 }, { { 80, 80 }, 5, 64, 20 }
    };
    static const size_t edits[] = { 0, 1, 2, 4, 9 };
    struct score score = { 0 };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        static struct world first, second;
        size_t counts[2] = { kinds[k].counts[0], kinds[k].counts[1] };
        make_worlds(&first, &second, counts, kinds[k].least, kinds[k].most, kinds[k].letters, 71 + k);
        for (size_t e = 0; e < COUNT(edits); e++)
            check_both_ways(&score, &first, &second, near_options(0, edits[e], serial));
        check_both_ways(&score, &first, &second, near_options(.8, TWIN_EDIT_FAR, serial));
        check_both_ways(&score, &first, &second, near_options(.3, TWIN_EDIT_FAR, serial));
        check_both_ways(&score, &first, &second, near_options(.85, 3, serial));
        world_end(&first);
        world_end(&second);
    }
    assert_true(score.near > 10000);
    assert_int_equal(score.found, score.near);
}

static void nearly_all_long_texts_are_found_and_no_other(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const struct {
        size_t counts[2], least, most, letters;
    } kinds[] = { { { 60, 20 }, 20, 200, 4 }, { { 15, 70 }, 60, 120, 3 }, { { 40, 40 }, 5, 600, 10 } };
    struct score score = { 0 };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        static struct world first, second;
        size_t counts[2] = { kinds[k].counts[0], kinds[k].counts[1] };
        make_worlds(&first, &second, counts, kinds[k].least, kinds[k].most, kinds[k].letters, 31 + k);
        check_both_ways(&score, &first, &second, near_options(.8, TWIN_EDIT_FAR, serial));
        check_both_ways(&score, &first, &second, near_options(.95, TWIN_EDIT_FAR, serial));
        check_both_ways(&score, &first, &second, near_options(0, 3, serial));
        check_both_ways(&score, &first, &second, near_options(0, 12, serial));
        world_end(&first);
        world_end(&second);
    }
    assert_true(score.near > 200);
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.found * 100 >= score.near * 99);
}

/* At .75 a text of 40 letters may be near to one of 66, which is too long to be compared with all. */
static void no_short_text_is_missed_among_long_ones(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world first, second;
    make_worlds(&first, &second, (size_t[]){ 400, 150 }, 30, 110, 3, 6);
    twin_edit_join_options options = near_options(.75, TWIN_EDIT_FAR, serial);
    for (size_t turn = 0; turn < 2; turn++) {
        const struct world *one = turn ? &second : &first, *other = turn ? &first : &second;
        twin_similar *similar = between(one, other, options);
        const twin_match *matches;
        size_t count = twin__similar_matches(&matches, similar), at = 0, near = 0, mixed[2] = { 0 };
        for (size_t a = 0; a < one->texts.count; a++)
            for (size_t b = 0; b < other->texts.count; b++) {
                const char *text = one->texts.items[a], *near_to = other->texts.items[b];
                bool found = at < count && matches[at].a == a && matches[at].b == one->texts.count + b;
                bool is_long = strlen(text) > 64, other_is_long = strlen(near_to) > 64;
                at += found;
                mixed[is_long] += found && is_long != other_is_long;
                if (is_long || other_is_long || is_copy(&one->texts, a) || is_copy(&other->texts, b))
                    continue;
                assert_int_equal(found, slow_ratio(text, near_to, options) >= 0);
                near += found;
            }
        assert_int_equal(at, count);
        assert_true(near > 100);
        assert_true(mixed[0] > 0 && mixed[1] > 0);
        twin_similar_free(similar);
    }
    world_end(&first);
    world_end(&second);
}

static size_t by_length(uint32_t *out, const struct world *world, uint32_t offset)
{
    const uint32_t *distinct;
    size_t count = twin__collection_distinct(&distinct, world->collection), at = 0;
    for (size_t length = 0; at < count; length++)
        for (size_t i = 0; i < count; i++)
            if (twin_collection_entry_of(world->collection, distinct[i]).size == length)
                out[at++] = offset + distinct[i];
    return count;
}

/* By what near texts share alone, however long it takes. */
static twin_similar *between_by_keys(const struct world *first, const struct world *second,
                                     twin_edit_join_options options)
{
    static uint32_t documents[4000];
    twin_similar *similar = calloc(1, sizeof *similar);
    struct twin__provider provider;
    assert_non_null(similar);
    assert_int_equal(twin__edit_join_complete(&options, first->collection, NULL), TWIN_OK);
    assert_int_equal(twin__collection_provider(&provider, first->collection, second->collection, 1), TWIN_OK);
    size_t middle = by_length(documents, first, 0);
    size_t count = middle + by_length(documents + middle, second, provider.split);
    twin_edit_scratch scratch = { 0 };
    struct twin__edit_pairs pairs = { 0 };
    struct twin__edit_class class = { .documents = documents,
                                      .middle = middle,
                                      .count = count,
                                      .is_between = true,
                                      .provider = &provider,
                                      .options = options,
                                      .scratch = &scratch,
                                      .similar = similar,
                                      .pairs = &pairs };
    bool done;
    assert_int_equal(twin__edit_join_by_keys(&done, &class, (double)INFINITY, NULL), TWIN_OK);
    assert_true(done);
    assert_int_equal(twin__edit_pairs_sort(&pairs), TWIN_OK);
    assert_int_equal(twin__edit_pairs_unpack(&similar->matches, &pairs, &provider, first->collection), TWIN_OK);
    similar->counts.similar = similar->matches.count;
    free(pairs.items);
    twin__collection_provider_clear(&provider);
    twin__edit_scratch_clear(&scratch);
    return similar;
}

/* Short and long ones, few on either side: segments and deletions, whichever has fewer candidates. */
static void keys_miss_none_between_two(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const size_t lengths[][2] = { { 6, 14 }, { 9, 30 }, { 70, 90 } };
    size_t near = 0;
    for (size_t k = 0; k < COUNT(lengths); k++)
        for (size_t edits = 0; edits <= 4; edits++) {
            static struct world first, second;
            struct score score = { 0 };
            make_worlds(&first, &second, (size_t[]){ k == 2 ? 60 : 200, k == 2 ? 20 : 40 }, lengths[k][0] + edits,
                        lengths[k][1] + edits, 3, 5 + edits);
            twin_edit_join_options options = near_options(0, edits, serial);
            twin_similar *similar = between_by_keys(&first, &second, options);
            check_between(&score, &first, &second, similar, options);
            twin_similar_free(similar);
            similar = between_by_keys(&second, &first, options);
            check_between(&score, &second, &first, similar, options);
            twin_similar_free(similar);
            assert_int_equal(score.found, score.near);
            near += score.near;
            world_end(&first);
            world_end(&second);
        }
    assert_true(near > 500);
}

/* Of each text of the second, the most similar of the first; of equally similar ones, the earlier. */
static void the_top_are_the_most_similar_of_the_second(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world first, second;
    make_worlds(&first, &second, (size_t[]){ 200, 40 }, 3, 12, 3, 9);
    twin_edit_join_options options = near_options(.5, TWIN_EDIT_FAR, serial);
    twin_similar *all = between(&first, &second, options);
    options.top = 2;
    twin_similar *top = between(&first, &second, options);
    const twin_match *every, *kept;
    size_t count = twin__similar_matches(&every, all), most = twin__similar_matches(&kept, top), at = 0;
    assert_true(count > 300);
    for (size_t i = 0; i < count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < count; j++)
            better += every[j].b == every[i].b && (every[j].similarity > every[i].similarity ||
                                                   (j < i && every[j].similarity == every[i].similarity));
        if (better >= 2)
            continue;
        assert_true(at < most && kept[at].a == every[i].a && kept[at].b == every[i].b);
        at++;
    }
    assert_int_equal(at, most);
    twin_similar_free(all);
    twin_similar_free(top);
    world_end(&first);
    world_end(&second);
}

struct seen_pairs {
    twin_match items[4000];
    size_t count;
};

static bool see(void *context, twin_match match)
{
    struct seen_pairs *seen = context;
    assert_true(seen->count < COUNT(seen->items));
    seen->items[seen->count++] = match;
    return true;
}

/* With all copies every pair of documents is visited; and the same from a file. */
static void copies_and_files_give_every_pair_of_documents(void **state)
{
    (void)state;
    static struct world first, second;
    static struct seen_pairs seen, again;
    make_worlds(&first, &second, (size_t[]){ 60, 60 }, 1, 4, 2, 3);
    twin_edit_join_options options = near_options(0, 1, serial);
    twin_similar *similar = between(&first, &second, options);
    seen.count = again.count = 0;
    assert_int_equal(twin_similar_each(similar, TWIN_COPIES_ALL, see, &seen), TWIN_OK);
    size_t at = 0;
    for (size_t a = 0; a < first.texts.count; a++)
        for (size_t b = 0; b < second.texts.count; b++)
            if (slow_ratio(first.texts.items[a], second.texts.items[b], options) >= 0) {
                assert_true(at < seen.count && seen.items[at].a == a && seen.items[at].b == b);
                at++;
            }
    assert_int_equal(at, seen.count);
    twin_similar_free(similar);
    options.spill_after = 10;
    similar = between(&first, &second, options);
    assert_int_equal(twin_similar_each(similar, TWIN_COPIES_ALL, see, &again), TWIN_OK);
    assert_int_equal(again.count, seen.count);
    for (size_t i = 0; i < seen.count; i++)
        assert_true(again.items[i].a == seen.items[i].a && again.items[i].b == seen.items[i].b &&
                    again.items[i].similarity == seen.items[i].similarity);
    twin_similar_free(similar);
    world_end(&first);
    world_end(&second);
}

static void the_answer_is_the_same_whoever_runs_it(void **state)
{
    (void)state;
    static struct world first, second;
    make_worlds(&first, &second, (size_t[]){ 150, 50 }, 3, 300, 4, 21);
    for (size_t kind = 0; kind < 2; kind++) {
        twin_edit_join_options options = near_options(kind ? 0 : .8, kind ? 3 : TWIN_EDIT_FAR, serial);
        twin_similar *reference = between(&first, &second, options);
        options.exec = (twin_exec){ TWIN_EXEC_PTHREADS, 4 };
        expect_same(reference, between(&first, &second, options));
        twin_similar_free(reference);
    }
    world_end(&first);
    world_end(&second);
}

static void an_empty_side_has_no_pairs(void **state)
{
    (void)state;
    static struct world first, second;
    add_text(&first.texts, "abc");
    world_read(&first, serial);
    world_read(&second, serial);
    twin_similar *similar = between(&first, &second, near_options(0, 9, serial));
    assert_int_equal(twin_similar_count(similar).similar, 0);
    twin_similar_free(similar);
    similar = between(&second, &first, near_options(0, 9, serial));
    assert_int_equal(twin_similar_count(similar).similar, 0);
    twin_similar_free(similar);
    assert_int_equal(twin_edit_join_between(&similar, first.collection, NULL, near_options(0, 1, serial), NULL),
                     TWIN_EINVAL);
    world_end(&first);
    world_end(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_are_all_found_and_no_other),
        cmocka_unit_test(no_short_text_is_missed_among_long_ones),
        cmocka_unit_test(nearly_all_long_texts_are_found_and_no_other),
        cmocka_unit_test(keys_miss_none_between_two),
        cmocka_unit_test(the_top_are_the_most_similar_of_the_second),
        cmocka_unit_test(copies_and_files_give_every_pair_of_documents),
        cmocka_unit_test(the_answer_is_the_same_whoever_runs_it),
        cmocka_unit_test(an_empty_side_has_no_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

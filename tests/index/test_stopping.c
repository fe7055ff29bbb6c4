/* test_stopping.c — every long call ends with TWIN_ESTOPPED at whichever report its progress says so, and leaves what was
 * there as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <twinsift/twinsift.h>

#include "base/random.h"
#include "scale.h"

enum { TEXTS = QUICK ? 200 : 500, WORDS = 60, ROOM = WORDS * 10, SLOTS = 128 };

static struct world {
    char folder[64], index[96], stream[96];
    char *bytes;
    twin_memory_document documents[TEXTS];
    twin_index_document indexed[TEXTS];
    twin_text texts[TEXTS];
    char ids[TEXTS][16];
    twin_input *input;
    twin_collection *collection, *as_texts;
    twin_exec exec;
} world;

struct stop {
    unsigned at, calls; /* one at a time */
    bool said;
};

static bool stop_at(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    struct stop *stop = context;
    assert_non_null(stage->name);
    assert_true(total == 0 || done <= total);
    assert_false(stop->said); /* it is not asked again */
    stop->said = ++stop->calls == stop->at;
    return !stop->said;
}

typedef twin_status long_call(twin_progress progress);

/* Stops the call at its first report, its second, …, until it has fewer. */
static void check(const char *name, long_call *call)
{
    unsigned at = 1, stopped = 0;
    for (int workers = 1; workers <= 2; workers++) {
        world.exec = (twin_exec){ workers == 1 ? TWIN_EXEC_SERIAL : TWIN_EXEC_PTHREADS, workers };
        for (at = 1;; at += 1 + at / 2) {
            struct stop stop = { .at = at };
            twin_status status = call((twin_progress){ stop_at, &stop });
            if (status != (stop.said ? TWIN_ESTOPPED : TWIN_OK))
                fail_msg("%s, report %u: %s", name, at, twin_status_text(status));
            if (!stop.said)
                break;
            stopped++;
        }
    }
    if (stopped == 0)
        fail_msg("%s never reports", name);
    assert_int_equal(call((twin_progress){ 0 }), TWIN_OK);
}

/* ---- the calls */

static bool take_all(void *context, const char *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return true;
}

static twin_status read_stream(twin_progress progress)
{
    return twin_input_stream(world.stream, take_all, NULL, progress, NULL);
}

static twin_status read_as(bool texts, twin_progress progress)
{
    twin_collection *collection;
    twin_collection_options options = { .texts = texts, .exec = world.exec, .progress = progress };
    twin_error error = { 0 };
    twin_status status = twin_collection_read(&collection, world.input, options, &error);
    assert_true((collection != NULL) == (status == TWIN_OK));
    assert_true(status == TWIN_OK || (error.status == status && error.message[0]));
    twin_collection_free(collection);
    return status;
}

static twin_status read_sets(twin_progress progress)
{
    return read_as(false, progress);
}

static twin_status read_texts(twin_progress progress)
{
    return read_as(true, progress);
}

static twin_status sign_many(twin_progress progress)
{
    twin_signer *signer;
    uint32_t *signatures = malloc(sizeof(uint32_t) * SLOTS * TEXTS);
    assert_int_equal(twin_signer_create(&signer, NULL, NULL), TWIN_OK);
    twin_signer_many_options options = { .exec = world.exec, .progress = progress };
    twin_status status = twin_signer_many(signatures, NULL, signer, world.texts, TEXTS, options);
    free(signatures);
    twin_signer_free(signer);
    return status;
}

static twin_similar_options search_with(twin_progress progress)
{
    return (twin_similar_options){ .exec = world.exec, .progress = progress };
}

static twin_status end_similar(twin_similar *similar, twin_status status)
{
    assert_true((similar != NULL) == (status == TWIN_OK));
    twin_similar_free(similar);
    return status;
}

static twin_status find_similar(twin_progress progress)
{
    twin_similar *similar;
    twin_status status = twin_similar_find(&similar, world.collection, search_with(progress), NULL);
    return end_similar(similar, status);
}

static twin_status find_contained(twin_progress progress)
{
    twin_similar *similar;
    twin_similar_options options = search_with(progress);
    options.measure = TWIN_CONTAINMENT;
    options.threshold = 0.8;
    twin_status status = twin_similar_find(&similar, world.collection, options, NULL);
    return end_similar(similar, status);
}

static twin_status find_between(twin_progress progress)
{
    twin_similar *similar;
    twin_status status =
        twin_similar_between(&similar, world.collection, world.collection, search_with(progress), NULL);
    return end_similar(similar, status);
}

static twin_status drop(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return TWIN_OK;
}

static twin_status find_candidates(twin_progress progress)
{
    return twin_dedup_write_candidates(world.collection, search_with(progress), (twin_part){ 0 },
                                       (twin_sink){ .write = drop }, NULL);
}

static twin_status find_by_edits(twin_progress progress)
{
    twin_similar *similar;
    twin_edit_join_options options = { .ratio = 0.8, .exec = world.exec, .progress = progress };
    twin_status status = twin_edit_join_find(&similar, world.as_texts, options, NULL);
    return end_similar(similar, status);
}

static twin_status dedup_as(bool chain, twin_preference preference, twin_progress progress)
{
    twin_dedup *dedup;
    twin_dedup_options options = { .search = search_with(progress), .chain = chain, .preference = preference };
    twin_status status = twin_dedup_find(&dedup, world.collection, options, NULL);
    assert_true((dedup != NULL) == (status == TWIN_OK));
    twin_dedup_free(dedup);
    return status;
}

static twin_status dedup_first(twin_progress progress)
{
    return dedup_as(false, TWIN_PREFER_FIRST, progress);
}

static twin_status dedup_longest(twin_progress progress)
{
    return dedup_as(false, TWIN_PREFER_LONGEST, progress);
}

static twin_status dedup_chains(twin_progress progress)
{
    return dedup_as(true, TWIN_PREFER_FIRST, progress);
}

static twin_status audit(twin_progress progress)
{
    twin_similar *similar;
    twin_audit result;
    assert_int_equal(twin_similar_find(&similar, world.collection, search_with((twin_progress){ 0 }), NULL), TWIN_OK);
    twin_audit_options options = { .documents = 20, .exec = world.exec, .progress = progress };
    twin_status status = twin_audit_run(&result, world.collection, similar, options, NULL);
    twin_similar_free(similar);
    return status;
}

/* ---- an index */

static void create_index(void)
{
    twin_index_options options = { .keep = TWIN_KEEP_SETS };
    assert_int_equal(twin_index_create(world.index, options, true, NULL), TWIN_OK);
}

static twin_index *open_index(void)
{
    twin_index *index;
    assert_int_equal(twin_index_open(&index, world.index, TWIN_INDEX_WRITE, NULL), TWIN_OK);
    return index;
}

static uint64_t count_documents(twin_index *index)
{
    twin_index_view *view;
    twin_index_info info;
    assert_int_equal(twin_index_view_create(&view, index, NULL), TWIN_OK);
    assert_int_equal(twin_index_describe(&info, view, NULL), TWIN_OK);
    assert_int_equal(twin_index_check(view, (twin_progress){ 0 }, NULL), TWIN_OK);
    twin_index_view_free(view);
    return info.documents;
}

/* A call that was told to stop when it had committed returns TWIN_ESTOPPED, too, so there are all or none. */
static twin_status add_to_index(twin_progress progress)
{
    create_index();
    twin_index *index = open_index();
    twin_index_add_options options = { .exec = world.exec, .progress = progress };
    twin_status status = twin_index_add(NULL, index, world.indexed, TEXTS, options, NULL);
    uint64_t documents = count_documents(index);
    assert_true(documents == TEXTS || (documents == 0 && status != TWIN_OK));
    twin_index_close(index);
    return status;
}

static twin_status add_input_to_index(twin_progress progress)
{
    create_index();
    twin_index *index = open_index();
    twin_index_add_options options = { .exec = world.exec, .batch_documents = 200, .progress = progress };
    twin_status status = twin_index_add_input(NULL, index, world.input, options, NULL);
    uint64_t documents = count_documents(index);
    assert_true(status == TWIN_OK ? documents == TEXTS : documents <= TEXTS);
    twin_index_close(index);
    return status;
}

static twin_status query_index(twin_progress progress)
{
    static twin_index_answer answers[TEXTS];
    twin_index *index = open_index();
    twin_index_query_many_options options = { .exec = world.exec, .progress = progress };
    twin_status status = twin_index_query_many(answers, index, options, world.texts, TEXTS, NULL);
    for (size_t i = 0; i < TEXTS; i++)
        twin_index_answer_clear(&answers[i]);
    twin_index_close(index);
    return status;
}

static bool take_answer(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer)
{
    (void)context, (void)id, (void)id_is_number, (void)answer;
    return true;
}

static twin_status query_input(twin_progress progress)
{
    twin_index *index = open_index();
    twin_index_query_input_options options = { .exec = world.exec, .answer = take_answer, .progress = progress };
    twin_status status = twin_index_query_input(NULL, index, world.input, options, NULL);
    twin_index_close(index);
    return status;
}

static bool take_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    (void)context, (void)a, (void)b, (void)similarity;
    return true;
}

static twin_status pair_index(twin_progress progress)
{
    twin_index *index = open_index();
    twin_index_pairs_options options = { .exec = world.exec, .progress = progress };
    twin_status status = twin_index_pairs(index, options, take_pair, NULL, NULL);
    twin_index_close(index);
    return status;
}

static twin_status check_index(twin_progress progress)
{
    twin_index *index = open_index();
    twin_index_view *view;
    assert_int_equal(twin_index_view_create(&view, index, NULL), TWIN_OK);
    twin_status status = twin_index_check(view, progress, NULL);
    twin_index_view_free(view);
    twin_index_close(index);
    return status;
}

static twin_status compact_index(twin_progress progress)
{
    twin_status status = twin_index_compact(world.index, progress, NULL);
    twin_index *index = open_index();
    assert_int_equal(count_documents(index), TEXTS);
    twin_index_close(index);
    return status;
}

/* ---- */

static void long_calls_can_be_stopped_at_every_report(void **unused)
{
    (void)unused;
    check("twin_input_stream", read_stream);
    check("twin_collection_read", read_sets);
    check("twin_collection_read, texts", read_texts);
    check("twin_signer_many", sign_many);
    check("twin_similar_find", find_similar);
    check("twin_similar_find, containment", find_contained);
    check("twin_similar_between", find_between);
    check("twin_dedup_write_candidates", find_candidates);
    check("twin_edit_join_find", find_by_edits);
    check("twin_dedup_find", dedup_first);
    check("twin_dedup_find, longest", dedup_longest);
    check("twin_dedup_find, chains", dedup_chains);
    check("twin_audit_run", audit);
}

static void an_index_is_left_whole(void **unused)
{
    (void)unused;
    check("twin_index_add", add_to_index);
    check("twin_index_add_input", add_input_to_index);
    check("twin_index_query_input", query_input);
    check("twin_index_query_many", query_index);
    check("twin_index_pairs", pair_index);
    check("twin_index_check", check_index);
    check("twin_index_compact", compact_index);
}

/* ---- the world */

static size_t put_word(char *out, uint64_t number)
{
    size_t length = 0;
    for (uint64_t left = twin__mix(number) % 100000; left > 0 || length < 3; left /= 20)
        out[length++] = (char)('a' + left % 20);
    out[length++] = ' ';
    return length;
}

/* Half of them are pages of one template. */
static void write_texts(void)
{
    uint64_t seed = 3;
    world.bytes = malloc((size_t)TEXTS * ROOM);
    for (size_t i = 0; i < TEXTS; i++) {
        char *out = world.bytes + i * ROOM;
        size_t length = 0;
        for (size_t word = 0; word < WORDS; word++)
            length +=
                put_word(out + length, i % 2 && twin__random_below(&seed, 20) ? word : twin__random_next(&seed));
        world.texts[i] = (twin_text){ out, length };
        int id = snprintf(world.ids[i], sizeof world.ids[i], "t%zu", i);
        world.documents[i] = (twin_memory_document){ .text = world.texts[i], .id = { world.ids[i], (size_t)id } };
        world.indexed[i] = (twin_index_document){ .text = world.texts[i], .id = { world.ids[i], (size_t)id } };
    }
}

static int set_up(void **unused)
{
    (void)unused;
    strcpy(world.folder, "/tmp/stopping.XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    snprintf(world.index, sizeof world.index, "%s/i.twin", world.folder);
    snprintf(world.stream, sizeof world.stream, "%s/lines", world.folder);
    FILE *file = fopen(world.stream, "w");
    assert_non_null(file);
    for (int i = 0; i < 100000; i++)
        fputs("a line of a list\n", file);
    fclose(file);
    write_texts();
    twin_input_options options = { .chunk_bytes = 1 };
    assert_int_equal(twin_input_from_texts(&world.input, world.documents, TEXTS, options, NULL), TWIN_OK);
    twin_collection_options reading = { .set_sizes = true };
    assert_int_equal(twin_collection_read(&world.collection, world.input, reading, NULL), TWIN_OK);
    reading = (twin_collection_options){ .texts = true };
    assert_int_equal(twin_collection_read(&world.as_texts, world.input, reading, NULL), TWIN_OK);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    char lock[112];
    snprintf(lock, sizeof lock, "%s-lock", world.index);
    twin_collection_free(world.collection);
    twin_collection_free(world.as_texts);
    twin_input_free(world.input);
    unlink(lock);
    unlink(world.index);
    unlink(world.stream);
    rmdir(world.folder);
    free(world.bytes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_calls_can_be_stopped_at_every_report),
        cmocka_unit_test(an_index_is_left_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

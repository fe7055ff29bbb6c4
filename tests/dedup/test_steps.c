/* test_steps.c — dedup step by step, through files and in parts, decides as it does at once.
 *
 * The collection has unrelated texts, small groups of near-copies, and two crowds: near-copies of one text, and texts
 * of one template that are not similar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/dedup.h>

#include "base/random.h"
#include "corpus.h"
#include "file_streams.h"
#include "scale.h"

enum { WORDS = 60, TEXT_ROOM = WORDS * 8, UNRELATED = 300, GROUPS = 60, CROWD = QUICK ? 100 : 300, MOST = 1500 };

struct world {
    twin_memory_document documents[MOST];
    char texts[MOST][TEXT_ROOM];
    size_t count;
    twin_input *input;
    twin_collection *collection;
};

/* The words of `base`, `edits` of them replaced, and `more` at the end. */
static void add_text(struct world *world, uint64_t base, size_t edits, size_t more, uint64_t *seed)
{
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = base * WORDS + i;
    for (; edits > 0; edits--)
        words[twin__random_below(seed, WORDS)] = 1000000 + twin__random_below(seed, 900000);
    char *text = world->texts[world->count];
    size_t length = 0;
    for (size_t i = 0; i < WORDS - 5 + more; i++)
        length += (size_t)snprintf(text + length, TEXT_ROOM - length, "%llx ", (unsigned long long)words[i]);
    world->documents[world->count++] = (twin_memory_document){ .text = { text, length } };
}

static twin_collection_options options_of(size_t memory)
{
    twin_collection_options options = plain_options("word:1");
    options.scheme.threshold = .7;
    options.ids_may_repeat = true;
    options.memory_bytes = memory;
    return options;
}

static struct world *world_begin(uint64_t seed, size_t memory)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    for (size_t i = 0; i < UNRELATED; i++)
        add_text(world, 10 + i, 0, 5, &seed);
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t k = 0; k < 1 + i % 4; k++)
            add_text(world, 1000 + i, k * 3, k % 5, &seed);
    for (size_t i = 0; i < CROWD; i++)
        add_text(world, 0, 2 + i % 4, i % 5, &seed);
    for (size_t i = 0; i < CROWD; i++)
        add_text(world, 1, 12, i % 3, &seed);
    assert_int_equal(twin_input_from_texts(&world->input, world->documents, world->count,
                                           (twin_input_options){ .chunk_bytes = 64 }, NULL),
                     TWIN_OK);
    world->collection = read_collection(world->input, options_of(memory));
    return world;
}

static void world_end(struct world *world)
{
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    free(world);
}

/* ---- steps through files in memory ---- */

struct bytes {
    char *at;
    size_t length;
};

static FILE *open_bytes(const struct bytes *bytes)
{
    FILE *file = fmemopen(bytes->at, bytes->length, "rb");
    assert_non_null(file);
    return file;
}

static twin_status drop(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
    return TWIN_OK;
}
static const twin_sink nowhere = { .write = drop };

static struct bytes write_candidates(const twin_collection *collection, twin_part part)
{
    struct bytes bytes;
    FILE *file = open_memstream(&bytes.at, &bytes.length);
    assert_int_equal(
        twin_dedup_write_candidates(collection, (twin_similar_options){ 0 }, part, file_sink(file), NULL), TWIN_OK);
    fclose(file);
    return bytes;
}

enum { MOST_PARTS = 5 };

/* The files of parts, last part first. */
static twin_saved_files open_parts(twin_source out[MOST_PARTS], const struct bytes *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[count - 1 - i] = file_source(open_bytes(&parts[i]));
    return (twin_saved_files){ out, count, NULL };
}

static void close_parts(twin_saved_files saved)
{
    for (size_t i = 0; i < saved.count; i++)
        fclose(saved.sources[i].context);
}

static struct bytes write_matches(const twin_collection *collection, const struct bytes *candidates, size_t count,
                                  const twin_dedup_options *rule, twin_part part)
{
    struct bytes bytes;
    twin_source files[MOST_PARTS];
    FILE *file = open_memstream(&bytes.at, &bytes.length);
    twin_saved_files saved = open_parts(files, candidates, count);
    assert_int_equal(twin_dedup_write_matches(collection, saved, rule, part, file_sink(file), NULL), TWIN_OK);
    close_parts(saved);
    fclose(file);
    return bytes;
}

static twin_dedup *decide(const twin_collection *collection, const struct bytes *parts, size_t count)
{
    twin_source files[MOST_PARTS];
    twin_saved_files saved = open_parts(files, parts, count);
    twin_dedup *dedup;
    assert_int_equal(twin_dedup_decide(&dedup, collection, saved, &(twin_dedup_options){ 0 }, NULL), TWIN_OK);
    close_parts(saved);
    return dedup;
}

static void free_parts(struct bytes *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(parts[i].at);
}

static twin_dedup *find_in_steps(const twin_collection *collection, const twin_dedup_options *rule, uint32_t bands,
                                 uint32_t joins)
{
    struct bytes candidates[MOST_PARTS], matches[MOST_PARTS];
    for (uint32_t i = 0; i < bands; i++)
        candidates[i] = write_candidates(collection, (twin_part){ i, bands });
    for (uint32_t i = 0; i < joins; i++)
        matches[i] = write_matches(collection, candidates, bands, rule, (twin_part){ i, joins });
    twin_dedup *dedup = decide(collection, matches, joins);
    free_parts(candidates, bands);
    free_parts(matches, joins);
    return dedup;
}

/* ---- tests ---- */

static void assert_same(const twin_dedup *a, const twin_dedup *b)
{
    size_t documents = twin_dedup_count(a).documents;
    assert_int_equal(twin_dedup_count(b).documents, documents);
    for (size_t i = 0; i < documents; i++) {
        assert_int_equal(twin_dedup_keepers(a)[i], twin_dedup_keepers(b)[i]);
        assert_true(twin_dedup_similarities(a)[i] == twin_dedup_similarities(b)[i]);
    }
}

static void steps_decide_as_one_call(void **state)
{
    (void)state;
    const struct {
        twin_preference preference;
        bool chain;
        uint32_t bands, joins;
    } cases[] = { { TWIN_PREFER_FIRST, false, 1, 1 },
                  { TWIN_PREFER_FIRST, false, 3, 4 },
                  { TWIN_PREFER_LONGEST, false, 2, 5 },
                  { TWIN_PREFER_FIRST, true, 5, 2 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world *world = world_begin(i + 1, 0);
        twin_dedup_options rule = { .preference = cases[i].preference, .chain = cases[i].chain };
        twin_dedup *once, *steps;
        assert_int_equal(twin_dedup_find(&once, world->collection, rule, NULL), TWIN_OK);
        assert_true(twin_dedup_count(once).search.template_groups > 0);
        assert_true(twin_dedup_count(once).near_copies > CROWD / 2);
        steps = find_in_steps(world->collection, &rule, cases[i].bands, cases[i].joins);
        assert_same(once, steps);
        twin_dedup_free(once);
        twin_dedup_free(steps);
        world_end(world);
    }
}

static void a_collection_in_files_decides_as_one_in_memory(void **state)
{
    (void)state;
    struct world *memory = world_begin(7, 0), *files = world_begin(7, 1000);
    twin_dedup *a, *b;
    twin_dedup_options rule = { .preference = TWIN_PREFER_LONGEST };
    assert_int_equal(twin_dedup_find(&a, memory->collection, rule, NULL), TWIN_OK);
    assert_int_equal(twin_dedup_find(&b, files->collection, rule, NULL), TWIN_OK);
    assert_same(a, b);
    for (uint32_t i = 0; i < memory->count; i++) {
        twin_text x = twin_collection_entry_of(memory->collection, i).id;
        twin_text y = twin_collection_entry_of(files->collection, i).id;
        assert_int_equal(x.length, y.length);
        assert_memory_equal(x.bytes, y.bytes, x.length);
    }
    twin_dedup_free(a);
    twin_dedup_free(b);
    world_end(memory);
    world_end(files);
}

static struct bytes write_collection(const twin_collection *collection)
{
    struct bytes bytes;
    FILE *file = open_memstream(&bytes.at, &bytes.length);
    assert_int_equal(twin_collection_write(collection, (twin_text){ "a note", 6 }, file_sink(file), NULL), TWIN_OK);
    fclose(file);
    return bytes;
}

static twin_status load(twin_collection **out, const struct world *world, const struct bytes *bytes, size_t memory)
{
    FILE *file = open_bytes(bytes);
    twin_status status =
        twin_collection_load(out, world->input, (twin_saved_files){ (twin_source[]){ file_source(file) }, 1, NULL },
                             options_of(memory), NULL);
    fclose(file);
    return status;
}

static void a_collection_that_was_written_is_the_same(void **state)
{
    (void)state;
    for (size_t memory = 0; memory <= 1000; memory += 1000) {
        struct world *world = world_begin(9, memory);
        struct bytes bytes = write_collection(world->collection), again;
        twin_collection *loaded;
        assert_int_equal(load(&loaded, world, &bytes, memory), TWIN_OK);
        again = write_collection(loaded);
        assert_int_equal(bytes.length, again.length);
        assert_memory_equal(bytes.at, again.at, bytes.length);
        for (size_t i = 0; i < world->count; i++)
            assert_int_equal(twin_collection_firsts(loaded)[i], twin_collection_firsts(world->collection)[i]);
        twin_buffer note = { 0 };
        FILE *file = open_bytes(&bytes);
        assert_int_equal(twin_collection_read_note(&note, file_source(file), NULL), TWIN_OK);
        assert_int_equal(note.length, 6);
        assert_memory_equal(note.bytes, "a note", 6);
        fclose(file);
        twin_buffer_clear(&note);
        twin_collection_free(loaded);
        free(bytes.at);
        free(again.at);
        world_end(world);
    }
}

static void damage_is_noticed(void **state)
{
    (void)state;
    struct world *world = world_begin(11, 0);
    struct bytes collection = write_collection(world->collection);
    struct bytes candidates = write_candidates(world->collection, (twin_part){ 0 });
    twin_dedup_options rule = { 0 };
    struct bytes matches = write_matches(world->collection, &candidates, 1, &rule, (twin_part){ 0 });
    uint64_t seed = 1;
    for (int i = 0; i < (QUICK ? 60 : 300); i++) {
        struct bytes *bytes = i % 3 == 0 ? &collection : i % 3 == 1 ? &candidates : &matches;
        size_t at = i < 100 ? (size_t)i : twin__random_below(&seed, bytes->length);
        char flip = (char)(1 << twin__random_below(&seed, 8));
        bytes->at[at] = (char)(bytes->at[at] ^ flip);
        FILE *file = open_bytes(bytes);
        twin_source source = file_source(file);
        twin_saved_files saved = { &source, 1, NULL };
        twin_collection *loaded;
        twin_dedup *dedup;
        twin_status status =
            i % 3 == 0   ? twin_collection_load(&loaded, world->input, saved, options_of(0), NULL)
            : i % 3 == 1 ? twin_dedup_write_matches(world->collection, saved, &rule, (twin_part){ 0 }, nowhere, NULL)
                         : twin_dedup_decide(&dedup, world->collection, saved, &rule, NULL);
        assert_true(status == TWIN_EFORMAT || status == TWIN_EINVAL);
        fclose(file);
        bytes->at[at] = (char)(bytes->at[at] ^ flip);
    }
    free(collection.at);
    free(candidates.at);
    free(matches.at);
    world_end(world);
}

static void assert_refused(const char *words, const twin_collection *collection, const struct bytes *parts,
                           size_t count)
{
    twin_source files[MOST_PARTS];
    twin_saved_files saved = open_parts(files, parts, count);
    size_t failed;
    twin_error error;
    saved.failed = &failed;
    assert_int_equal(
        twin_dedup_write_matches(collection, saved, &(twin_dedup_options){ 0 }, (twin_part){ 0 }, nowhere, &error),
        TWIN_EINVAL);
    assert_true(failed <= count);
    assert_non_null(strstr(error.message, words));
    close_parts(saved);
}

static void parts_must_be_whole_and_of_the_collection(void **state)
{
    (void)state;
    struct world *world = world_begin(13, 0), *other = world_begin(14, 0);
    struct bytes parts[] = { write_candidates(world->collection, (twin_part){ 0, 2 }),
                             write_candidates(world->collection, (twin_part){ 1, 2 }) };
    struct bytes twice[] = { parts[0], parts[0] };
    struct bytes mixed[] = { parts[0], write_candidates(world->collection, (twin_part){ 1, 3 }) };
    assert_refused("part 2 of 2 is missing", world->collection, parts, 1);
    assert_refused("no file was given", world->collection, parts, 0);
    assert_refused("given twice", world->collection, twice, 2);
    assert_refused("one of 2 parts", world->collection, mixed, 2);
    assert_refused("other signatures", other->collection, parts, 2);
    free_parts(parts, 2);
    free(mixed[1].at);
    world_end(world);
    world_end(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_decide_as_one_call),
        cmocka_unit_test(a_collection_in_files_decides_as_one_in_memory),
        cmocka_unit_test(a_collection_that_was_written_is_the_same),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(parts_must_be_whole_and_of_the_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

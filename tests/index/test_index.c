/* test_index.c — what an index does, case by case. */
#include "index_frame.h"

/* ---- short texts ---- */

enum { SHORT_TEXTS = 1 << 19 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of half a million texts shorter than a shingle, about four pairs agree in 35 bits of their hashes (n² / 2^36);
 * writes one of these. */
static void draw_colliding_texts(char texts[2][8], twin_hash hash)
{
    uint64_t *keys = malloc(SHORT_TEXTS * sizeof *keys);
    assert_non_null(keys);
    for (unsigned i = 0; i < SHORT_TEXTS; i++) {
        snprintf(texts[0], 8, "%x", i);
        keys[i] = twin_hash_bytes(hash, texts[0], strlen(texts[0])) >> 29 << 29 | i;
    }
    qsort(keys, SHORT_TEXTS, sizeof *keys, by_number);
    size_t i = 1;
    while (i < SHORT_TEXTS && keys[i] >> 29 != keys[i - 1] >> 29)
        i++;
    assert_true(i < SHORT_TEXTS);
    for (size_t k = 0; k < 2; k++)
        snprintf(texts[k], 8, "%x", (unsigned)(keys[i - k] & (SHORT_TEXTS - 1)));
    free(keys);
}

static void short_texts_match_their_copies_alone(void **state)
{
    (void)state;
    twin_index_options options = { .scheme = twin_scheme_default() };
    char texts[2][8];
    draw_colliding_texts(texts, options.scheme.shingle.hash);
    for (twin_keep keep = TWIN_KEEP_SETS; keep <= TWIN_KEEP_TEXT; keep++) {
        twin_index_view *view;
        twin_index_answer answer = { 0 };
        options.keep = keep;
        GOOD(twin_index_create(path, options, false, &error));
        twin_index *index = open_index(TWIN_INDEX_WRITE);
        twin_index_document documents[4] = { 0 };
        static const char *const ids[] = { "a", "b", "a again", "empty" };
        for (size_t i = 0; i < 4; i++) {
            documents[i].id = (twin_text){ ids[i], strlen(ids[i]) };
            documents[i].text = (twin_text){ texts[i % 2], i < 3 ? strlen(texts[i % 2]) : 0 };
        }
        twin_index_change change = { 0 };
        GOOD(twin_index_add(&change, index, documents, 4, (twin_index_add_options){ .exec = serial }, &error));
        assert_int_equal(change.too_short, 1);
        check_index(index);
        GOOD(twin_index_view_create(&view, index, &error));
        static const size_t expected[] = { 2, 1, 2, 0 };
        for (size_t i = 0; i < 4; i++) {
            twin_index_query_options query = { .threshold = 0.5 }; /* one of two items collides: 1/3 */
            GOOD(twin_index_query(&answer, view, query, documents[i].text, &error));
            assert_int_equal(answer.count, expected[i]);
        }
        twin_index_answer_clear(&answer);
        twin_index_view_free(view);
        twin_index_close(index);
        remove_with_lock_file(path);
    }
}

/* ---- copies ---- */

static void copies_share_one_entry(void **state)
{
    (void)state;
    enum { COPIES = QUICK ? 2000 : 20000 };
    static char ids[COPIES][16];
    static twin_index_document documents[COPIES];
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    for (size_t i = 0; i < COPIES; i++) {
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        documents[i] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) },
                                              .text = { "five words of a text", 20 },
                                              .label = i == COPIES / 2 };
    }
    GOOD(twin_index_add(NULL, index, documents, COPIES, (twin_index_add_options){ .exec = two_threads }, &error));
    twin_index_view *view;
    twin_index_info info;
    twin_index_answer answer = { 0 };
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_describe(&info, view, &error));
    assert_int_equal(info.documents, COPIES);
    assert_int_equal(info.sets, 1);
    assert_int_equal(info.largest_bucket, 1);
    GOOD(twin_index_query(&answer, view, (twin_index_query_options){ .per_label = true }, documents[0].text, &error));
    assert_int_equal(answer.count, 2);
    assert_int_equal(answer.entries[0].document, 0);
    assert_int_equal(answer.entries[1].document, COPIES / 2);
    GOOD(twin_index_query(&answer, view, (twin_index_query_options){ .top = 3 }, documents[0].text, &error));
    assert_int_equal(answer.count, 3);
    twin_index_view_free(view);

    /* The first goes, and the next becomes the first; all go, and nothing is left. */
    GOOD(twin_index_remove(NULL, NULL, index, &documents[0].id, 1, &error));
    check_index(index);
    static twin_text all[COPIES];
    for (size_t i = 0; i < COPIES; i++)
        all[i] = documents[i].id;
    GOOD(twin_index_remove(NULL, NULL, index, all, COPIES, &error));
    check_index(index);
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_describe(&info, view, &error));
    assert_int_equal(info.documents + info.sets + info.runs, 0);
    twin_index_view_free(view);
    twin_index_answer_clear(&answer);
    twin_index_close(index);
}

/* ---- the map ---- */

static void the_map_grows_by_itself(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    shrink_map(index);
    add_words(index, 0, 1000);
    assert_true(twin__store_map(index->store) > 1 << 20);
    check_index(index);
    assert_int_equal(documents_in(index), 1000);
    twin_index_close(index);
}

static void under_a_view_the_map_stays_and_so_does_the_index(void **state)
{
    (void)state;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    add_words(index, 0, 10);
    shrink_map(index);
    twin_index_view *view;
    twin_index_document document = { .id = { "x", 1 }, .text = { "y", 1 } };
    GOOD(twin_index_view_create(&view, index, &error));
    static char long_text[4 << 20];
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = i % 8 ? (char)('a' + (i >> (i % 8 * 3)) % 26) : ' ';
    twin_index_document large = { .id = { "large", 5 }, .text = { long_text, sizeof long_text } };
    BAD(TWIN_EBUSY, "views of it were open",
        twin_index_add(NULL, index, &large, 1, (twin_index_add_options){ .exec = serial }, &error));
    GOOD(twin_index_check(view, (twin_progress){ 0 }, &error));
    twin_index_view_free(view);
    assert_int_equal(documents_in(index), 10);
    GOOD(twin_index_add(NULL, index, &large, 1, (twin_index_add_options){ .exec = serial }, &error));
    GOOD(twin_index_add(NULL, index, &document, 1, (twin_index_add_options){ .exec = serial }, &error));
    assert_int_equal(documents_in(index), 12);
    check_index(index);
    twin_index_close(index);
}

/* ---- what is kept ---- */

static void texts_of_one_set_are_kept_apart(void **state)
{
    (void)state;
    static const char *const texts[] = { "one two three", "three two one two three" };
    twin_keep keeps[] = { TWIN_KEEP_TEXT, TWIN_KEEP_SETS };
    for (size_t k = 0; k < 2; k++) {
        GOOD(twin_index_create(path, options_for(keeps[k]), true, &error));
        twin_index *index = open_index(TWIN_INDEX_WRITE);
        for (size_t i = 0; i < 2; i++)
            GOOD(twin_index_add(
                NULL, index,
                &(twin_index_document){ .id = { i ? "b" : "a", 1 }, .text = { texts[i], strlen(texts[i]) } }, 1,
                (twin_index_add_options){ .exec = serial }, &error));
        twin_index_view *view;
        twin_index_answer answer = { 0 };
        GOOD(twin_index_view_create(&view, index, &error));
        assert_int_equal(view->counts.sets, keeps[k] == TWIN_KEEP_TEXT ? 2 : 1);
        GOOD(twin_index_query(&answer, view, (twin_index_query_options){ 0 }, (twin_text){ texts[0], 13 }, &error));
        assert_int_equal(answer.count, 2);
        for (size_t i = 0; i < 2; i++) {
            twin_text text;
            assert_true(answer.entries[i].similarity == 1);
            if (keeps[k] == TWIN_KEEP_SETS)
                continue;
            GOOD(twin_index_text(&text, view, answer.entries[i], &error));
            assert_int_equal(text.length, strlen(texts[i]));
            assert_memory_equal(text.bytes, texts[i], text.length);
        }
        twin_index_answer_clear(&answer);
        twin_index_view_free(view);
        check_index(index);
        twin_index_close(index);
    }
}

/* Enough sets for many blocks, and for a batch that goes to the disk while it is written, of which every second, then
 * all but a few, are removed; one is larger than a block. */
static void what_is_kept_of_removed_sets_goes(void **state)
{
    (void)state;
    enum { TEXTS = QUICK ? 2000 : 8000, LETTERS = 400, LARGE = 50000, STEP = 10, ALL = 9 * TEXTS + LARGE };
    for (int keep = TWIN_KEEP_SETS; keep <= TWIN_KEEP_TEXT; keep++) {
        GOOD(twin_index_create(path, options_for((twin_keep)keep), true, &error));
        twin_index *index = open_index(TWIN_INDEX_WRITE);
        twin_index_document *documents = calloc(TEXTS, sizeof *documents);
        twin_text *gone = calloc(TEXTS, sizeof *gone);
        char(*ids)[8] = calloc(TEXTS, sizeof *ids), *letters = malloc(ALL);
        assert_true(documents && gone && ids && letters);
        uint64_t random = 21;
        for (size_t i = 0; i < ALL; i++)
            letters[i] = (char)('a' + twin__random_below(&random, 26));
        for (size_t i = 0; i < TEXTS; i++) {
            snprintf(ids[i], sizeof ids[i], "%zu", i);
            documents[i] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) },
                                                  .text = { letters + 9 * i, i == STEP ? LARGE / 2 : LETTERS } };
        }
        GOOD(twin_index_add(NULL, index, documents, TEXTS, (twin_index_add_options){ .exec = two_threads }, &error));
        check_index(index);
        for (size_t step = 2; step <= STEP; step += STEP - 2) {
            size_t count = 0;
            for (size_t i = 0; i < TEXTS; i++)
                if (i % step && (step == 2 || i % 2 == 0))
                    gone[count++] = documents[i].id;
            GOOD(twin_index_remove(NULL, NULL, index, gone, count, &error));
            check_index(index);
            assert_int_equal(documents_in(index), TEXTS / step);
        }
        twin_index_close(index);
        GOOD(twin_index_compact(path, (twin_progress){ 0 }, &error));
        index = open_index(TWIN_INDEX_READ);
        check_index(index);
        twin_index_info info;
        twin_index_view *view;
        GOOD(twin_index_view_create(&view, index, &error));
        GOOD(twin_index_describe(&info, view, &error));
        /* At most 33 bits per item, or one byte per letter; blocks end in whole pages, and the large one has its
         * own. */
        assert_true(info.kept_bytes <= (TEXTS / STEP * LETTERS + LARGE / 2) * 33 / 8 * 11 / 10 + 65536);
        twin_index_view_free(view);
        twin_index_close(index);
        free(documents);
        free(gone);
        free(ids);
        free(letters);
    }
}

/* ---- ids ---- */

/* An id may come twice in a batch, and again in later ones, until its entries lie in many runs; the last one counts. */
static void the_last_of_an_id_counts(void **state)
{
    (void)state;
    enum { ROUNDS = 40, NAMES = 17, BATCH = 25 };
    char ids[NAMES][8], texts[BATCH][64], last[NAMES][64];
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_TEXT), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    uint64_t random = 11;
    for (int round = 0; round < ROUNDS; round++) {
        twin_index_document documents[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            size_t which = round == 0 && i < NAMES ? i : twin__random_below(&random, NAMES);
            snprintf(ids[which], sizeof ids[which], "id %zu", which);
            snprintf(texts[i], sizeof texts[i], "text %d of %zu", (int)twin__random_below(&random, 1000), which);
            strcpy(last[which], texts[i]);
            documents[i] = (twin_index_document){ .id = { ids[which], strlen(ids[which]) },
                                                  .text = { texts[i], strlen(texts[i]) } };
        }
        GOOD(twin_index_add(NULL, index, documents, BATCH, (twin_index_add_options){ .exec = serial }, &error));
        check_index(index);
        assert_int_equal(documents_in(index), NAMES);
    }
    twin_index_view *view;
    GOOD(twin_index_view_create(&view, index, &error));
    for (size_t i = 0; i < NAMES; i++) {
        twin_index_entry entry;
        twin_text text;
        bool found;
        GOOD(twin_index_find(&entry, &found, view, (twin_text){ ids[i], strlen(ids[i]) }, &error));
        assert_true(found);
        GOOD(twin_index_text(&text, view, entry, &error));
        assert_int_equal(text.length, strlen(last[i]));
        assert_memory_equal(text.bytes, last[i], text.length);
    }
    twin_index_view_free(view);
    twin_index_close(index);
}

/* ---- many questions ---- */

static void many_questions_are_answered_as_one_by_one(void **state)
{
    (void)state;
    enum { TEXTS = 60 };
    char texts[TEXTS][32];
    twin_text asked[TEXTS];
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(texts[i], sizeof texts[i], "alike and alike but %zu", i / 3);
        asked[i] = (twin_text){ texts[i], strlen(texts[i]) };
        twin_index_document document = { .id = asked[i], .text = asked[i] };
        GOOD(twin_index_add(NULL, index, &document, 1, (twin_index_add_options){ .exec = serial }, &error));
    }
    twin_index_view *view;
    twin_index_answer one = { 0 }, many[TEXTS] = { 0 };
    GOOD(twin_index_query_many(many, index, (twin_index_query_many_options){ .exec = two_threads }, asked, TEXTS,
                               &error));
    GOOD(twin_index_view_create(&view, index, &error));
    for (size_t i = 0; i < TEXTS; i++) {
        GOOD(twin_index_query(&one, view, (twin_index_query_options){ 0 }, asked[i], &error));
        assert_true(one.count > 0);
        assert_int_equal(many[i].count, one.count);
        for (size_t j = 0; j < one.count; j++) {
            assert_int_equal(many[i].entries[j].document, one.entries[j].document);
            assert_true(many[i].entries[j].similarity == one.entries[j].similarity);
        }
        twin_index_answer_clear(&many[i]);
    }
    /* A failure is reported for the first query. */
    twin_error error = { 0 };
    assert_int_equal(
        twin_index_query_many(many, index,
                              (twin_index_query_many_options){ .query = { .threshold = 2 }, .exec = two_threads },
                              asked, TEXTS, &error),
        TWIN_EINVAL);
    twin_index_answer_clear(&one);
    twin_index_view_free(view);
    twin_index_close(index);
}

/* ---- opening ---- */

static void what_was_fixed_is_read_back(void **state)
{
    (void)state;
    const twin_text words[] = { { "un", 2 }, { "deux", 4 } };
    twin_index_options given = { .scheme.normal = TWIN_NORMAL_CHECK,
                                 .scheme.shingle = { .kind = TWIN_SHINGLE_STOP,
                                                     .width = 3,
                                                     .hash = { TWIN_HASH_SIP, 0, { 11, 12 } },
                                                     .stop_words = words,
                                                     .stop_word_count = 2 },
                                 .scheme.minhash = { .sketch = TWIN_SKETCH_CLASSIC, .slots = 60, .seed = 9 },
                                 .scheme.threshold = 0.7,
                                 .scheme.plan = { 12, 5 },
                                 .keep = TWIN_KEEP_TEXT };
    GOOD(twin_index_create(path, given, true, &error));
    twin_index *index = open_index(TWIN_INDEX_READ);
    twin_index_options back = twin_index_options_of(index);
    assert_int_equal(back.scheme.normal, given.scheme.normal);
    assert_int_equal(back.scheme.shingle.kind, given.scheme.shingle.kind);
    assert_int_equal(back.scheme.shingle.width, 3);
    assert_int_equal(back.scheme.shingle.hash.family, TWIN_HASH_SIP);
    assert_true(back.scheme.shingle.hash.key[0] == 11 && back.scheme.shingle.hash.key[1] == 12);
    assert_int_equal(back.scheme.shingle.stop_word_count, 2);
    assert_memory_equal(back.scheme.shingle.stop_words[1].bytes, "deux", 4);
    assert_int_equal(back.scheme.minhash.sketch, TWIN_SKETCH_CLASSIC);
    assert_int_equal(back.scheme.minhash.slots, 60);
    assert_int_equal(back.scheme.minhash.seed, 9);
    assert_true(back.scheme.threshold == 0.7 && back.scheme.plan.bands == 12 && back.scheme.plan.rows == 5);
    assert_int_equal(back.keep, TWIN_KEEP_TEXT);
    struct stat stat_of;
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 077, 0); /* a secret key lies in it */
    twin_index_document document = { .id = { "a", 1 }, .text = { "un b c", 6 } };
    BAD(TWIN_EINVAL, "reading only",
        twin_index_add(NULL, index, &document, 1, (twin_index_add_options){ .exec = serial }, &error));
    BAD(TWIN_EINVAL, "already exists", twin_index_create(path, given, false, &error));
    twin_index_close(index);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    twin_index_options options = options_for(TWIN_KEEP_SETS);
    options.scheme.threshold = 1.5;
    BAD(TWIN_EINVAL, "threshold", twin_index_create(path, options, true, &error));
    options = options_for(TWIN_KEEP_SETS);
    options.scheme.plan = (twin_plan){ 30, 5 };
    BAD(TWIN_EINVAL, "do not fit into 128", twin_index_create(path, options, true, &error));
    options = options_for(TWIN_KEEP_SETS);
    options.scheme.measure = TWIN_CONTAINMENT;
    BAD(TWIN_EINVAL, "Jaccard similarity only", twin_index_create(path, options, true, &error));
    options = options_for(TWIN_KEEP_TEXT);
    options.format = TWIN_INPUT_SETS;
    BAD(TWIN_EINVAL, "no text", twin_index_create(path, options, true, &error));
    twin_index *index;
    BAD(TWIN_EIO, "could not be opened", twin_index_open(&index, other_path, TWIN_INDEX_READ, &error));
    BAD(TWIN_EFORMAT, "is not a file", twin_index_open(&index, folder, TWIN_INDEX_READ, &error));
}

/* ---- batches ---- */

/* Whatever the limits, a batch has at most as many documents as requested, all of them arrive, and in order. Pieces of
 * an input and batches end at unlike places, so most batches end inside a draft. */
static void batches_of_any_size_hold_all_documents(void **state)
{
    (void)state;
    enum { DOCUMENTS = 300 };
    static const size_t batches[] = { 1, 2, 3, 7, 64, 299, 300, 301, 0 }, pieces[] = { 1, 50, 1000, 0 };
    char lines_path[128];
    snprintf(lines_path, sizeof lines_path, "%s.jsonl", other_path);
    FILE *file = fopen(lines_path, "w");
    assert_non_null(file);
    for (int i = 0; i < DOCUMENTS; i++)
        fprintf(file, i % 10 ? "{\"id\":\"d%d\",\"text\":\"t%d\"}\n" : "{\"id\":\"d%d\",\"text\":\"%d\"}\n", i, i);
    fclose(file);
    const char *paths[] = { lines_path };
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b += QUICK ? 3 : 1)
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            twin_input *input;
            twin_index_change change = { 0 };
            GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
            GOOD(twin_input_open(&input, paths, 1, (twin_input_options){ .chunk_bytes = pieces[p] }, &error));
            twin_index *index = open_index(TWIN_INDEX_WRITE);
            twin_index_add_options feed = { .batch_documents = batches[b], .exec = p % 2 ? two_threads : serial };
            GOOD(twin_index_add_input(&change, index, input, feed, &error));
            assert_int_equal(change.added, DOCUMENTS);
            if (batches[b])
                assert_true(change.batches >= (DOCUMENTS + batches[b] - 1) / batches[b]);
            check_index(index);
            twin_index_view *view;
            GOOD(twin_index_view_create(&view, index, &error));
            for (uint64_t i = 0; i < DOCUMENTS; i++) {
                char id[16];
                twin_index_entry entry;
                bool found;
                snprintf(id, sizeof id, "d%d", (int)i);
                GOOD(twin_index_find(&entry, &found, view, (twin_text){ id, strlen(id) }, &error));
                assert_true(found && entry.document == i);
            }
            twin_index_view_free(view);
            twin_index_close(index);
            twin_input_free(input);
        }
    unlink(lines_path);
}

/* ---- rows ---- */

static void rows_are_sets_as_they_are(void **state)
{
    (void)state;
    twin_index_options options = { .format = TWIN_INPUT_SETS,
                                   .scheme.minhash = { .slots = 128, .seed = 1 },
                                   .scheme.threshold = 0.5 };
    FILE *file = fopen(other_path, "w");
    assert_non_null(file);
    for (int set = 0; set < 10; set++)
        for (int i = 0; i < 40; i++)
            fprintf(file, "s%d\te%d\n", set, set / 2 * 1000 + i + set % 2 * 5);
    fclose(file);
    twin_input *input;
    const char *paths[] = { other_path };
    GOOD(twin_index_create(path, options, true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin_input_open(&input, paths, 1, (twin_input_options){ .format = TWIN_INPUT_SETS }, &error));
    twin_index_change change = { 0 };
    GOOD(twin_index_add_input(&change, index, input, (twin_index_add_options){ .exec = two_threads }, &error));
    twin_input_free(input);
    assert_int_equal(change.added, 10);
    check_index(index);

    /* s2 and s3 share 35 of 45 elements. */
    twin_index_view *view;
    twin_index_answer answer = { 0 };
    twin_index_entry entry;
    bool found;
    twin_set set;
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_find(&entry, &found, view, (twin_text){ "s2", 2 }, &error));
    assert_true(found && entry.set_size == 40);
    GOOD(twin_index_set(&set, view, entry, &error));
    uint64_t items[40];
    memcpy(items, set.items, sizeof items);
    GOOD(twin_index_query_items(&answer, view, (twin_index_query_options){ 0 }, items, 40, &error));
    assert_int_equal(answer.count, 2);
    assert_memory_equal(answer.entries[1].id.bytes, "s3", 2);
    assert_true(answer.entries[1].similarity == 35.0 / 45);
    BAD(TWIN_EINVAL, "an index of sets",
        twin_index_query(&answer, view, (twin_index_query_options){ 0 }, (twin_text){ "a", 1 }, &error));
    twin_text text;
    BAD(TWIN_EUNSUPPORTED, "without texts", twin_index_text(&text, view, entry, &error));
    twin_index_answer_clear(&answer);
    twin_index_view_free(view);
    twin_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_match_their_copies_alone),
        cmocka_unit_test(copies_share_one_entry),
        cmocka_unit_test(texts_of_one_set_are_kept_apart),
        cmocka_unit_test(what_is_kept_of_removed_sets_goes),
        cmocka_unit_test(the_last_of_an_id_counts),
        cmocka_unit_test(many_questions_are_answered_as_one_by_one),
        cmocka_unit_test(the_map_grows_by_itself),
        cmocka_unit_test(under_a_view_the_map_stays_and_so_does_the_index),
        cmocka_unit_test(what_was_fixed_is_read_back),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(batches_of_any_size_hold_all_documents),
        cmocka_unit_test(rows_are_sets_as_they_are),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

/* test_index_edits.c — an index by edit distance against a list of texts and the textbook's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/index.h>
#include <unistd.h>

#include "base/random.h"
#include "scale.h"

enum { MOST = 600, LONGEST = 400 };

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

/* What the index should hold. A text of length zero: there is none with this number. */
static struct world {
    char path[64], lock[80];
    twin_index *index;
    char texts[MOST][LONGEST + 1];
    bool is_there[MOST];
    size_t count;
} world;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

REFERENCE static size_t slow_distance(const char *a, const char *b, size_t replacing)
{
    static size_t rows[2][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *up = rows[(i - 1) % 2], *row = rows[i % 2];
        row[0] = i;
        for (size_t j = 1; j <= m; j++)
            row[j] = smaller(smaller(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : replacing));
    }
    return rows[n % 2][m];
}

static double slow_ratio(const char *a, const char *b)
{
    size_t total = strlen(a) + strlen(b);
    return (double)(total - slow_distance(a, b, 2)) / (double)total;
}

/* ---- the index ---- */

static void begin(size_t edits, size_t slots)
{
    world.count = 0;
    memset(world.is_there, 0, sizeof world.is_there);
    strcpy(world.path, "/tmp/twinsift-edits-XXXXXX");
    int fd = mkstemp(world.path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(world.lock, sizeof world.lock, "%s-lock", world.path);
    twin_index_options options = { .by_edits = true, .edits = edits };
    options.scheme.minhash.slots = slots;
    twin_error error = { 0 };
    twin_status status = twin_index_create(world.path, options, true, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    assert_int_equal(twin_index_open(&world.index, world.path, TWIN_INDEX_WRITE, NULL), TWIN_OK);
}

static void reopen(void)
{
    twin_index_close(world.index);
    assert_int_equal(twin_index_open(&world.index, world.path, TWIN_INDEX_WRITE, NULL), TWIN_OK);
}

static void end(void)
{
    twin_index_close(world.index);
    unlink(world.path);
    unlink(world.lock);
}

static void check_file(void)
{
    twin_index_view *view;
    twin_error error = { 0 };
    assert_int_equal(twin_index_view_create(&view, world.index, &error), TWIN_OK);
    twin_status status = twin_index_check(view, (twin_progress){ 0 }, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    twin_index_view_free(view);
}

/* Adds texts first .. last-1, or replaces them. */
static void add(size_t first, size_t last)
{
    static twin_index_document documents[MOST];
    static char ids[MOST][8];
    for (size_t i = first; i < last; i++) {
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        documents[i - first] = (twin_index_document){ .id = { ids[i], strlen(ids[i]) },
                                                      .text = { world.texts[i], strlen(world.texts[i]) } };
        world.is_there[i] = true;
    }
    twin_error error = { 0 };
    assert_int_equal(twin_index_add(NULL, world.index, documents, last - first,
                                    (twin_index_add_options){ .exec = serial }, &error),
                     TWIN_OK);
    world.count = last > world.count ? last : world.count;
}

static void remove_text(size_t i)
{
    char id[24];
    snprintf(id, sizeof id, "%zu", i);
    twin_text name = { id, strlen(id) };
    assert_int_equal(twin_index_remove(NULL, NULL, world.index, &name, 1, NULL), TWIN_OK);
    world.is_there[i] = false;
}

static void draw(char *text, size_t least, size_t most, size_t letters, uint64_t *seed)
{
    size_t length = least + twin__random_below(seed, most - least + 1);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + twin__random_below(seed, letters));
    text[length] = '\0';
}

static void edit(char *text, size_t edits, size_t letters, uint64_t *seed)
{
    for (size_t i = 0; i < edits; i++) {
        size_t length = strlen(text), kind = twin__random_below(seed, 3), at = twin__random_below(seed, length + 1);
        char letter = (char)('a' + twin__random_below(seed, letters));
        if (kind == 0 && length < LONGEST) {
            memmove(text + at + 1, text + at, length - at + 1);
            text[at] = letter;
        } else if (kind == 1 && at < length && length > 1) {
            memmove(text + at, text + at + 1, length - at);
        } else if (at < length) {
            text[at] = letter;
        }
    }
}

/* Half of the texts are new, half edited from an earlier one. */
static void draw_texts(size_t count, size_t least, size_t most, size_t letters, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || twin__random_below(&seed, 2) == 0) {
            draw(world.texts[i], least, most, letters, &seed);
        } else {
            strcpy(world.texts[i], world.texts[twin__random_below(&seed, i)]);
            edit(world.texts[i], twin__random_below(&seed, 5), letters, &seed);
        }
    }
}

/* ---- answers ---- */

struct score {
    size_t near, found;
};

/* Every answer is true, and none is there twice; counts how many are near and how many were found. */
static void query(struct score *score, twin_index_view *view, twin_index_query_options options, const char *text)
{
    static twin_index_answer answer;
    bool seen[MOST] = { false };
    twin_error error = { 0 };
    twin_status status = twin_index_query(&answer, view, options, (twin_text){ text, strlen(text) }, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    for (size_t i = 0; i < answer.count; i++) {
        char id[24];
        snprintf(id, sizeof id, "%.*s", (int)answer.entries[i].id.length, answer.entries[i].id.bytes);
        size_t number = (size_t)strtoul(id, NULL, 10);
        assert_true(world.is_there[number] && !seen[number]);
        assert_true(answer.entries[i].similarity == slow_ratio(text, world.texts[number]));
        assert_true(i == 0 || answer.entries[i].similarity <= answer.entries[i - 1].similarity);
        seen[number] = true;
    }
    size_t near = 0;
    for (size_t i = 0; i < world.count; i++) {
        if (!world.is_there[i])
            continue;
        bool is_near = (options.threshold == 0 || slow_ratio(text, world.texts[i]) >= options.threshold) &&
                       (!options.limit_edits || slow_distance(text, world.texts[i], 1) <= options.edits);
        near += is_near;
        score->found += is_near && seen[i];
        assert_true(is_near || !seen[i]);
    }
    score->near += near;
    twin_index_answer_clear(&answer);
}

static twin_index_query_options within(size_t edits)
{
    return (twin_index_query_options){ .limit_edits = true, .edits = edits };
}

static void query_all(struct score *score, twin_index_query_options options, size_t step, size_t letters)
{
    twin_index_view *view;
    uint64_t seed = 17;
    assert_int_equal(twin_index_view_create(&view, world.index, NULL), TWIN_OK);
    for (size_t i = 0; i < world.count; i += step) {
        char text[LONGEST + 8];
        strcpy(text, world.texts[i]);
        edit(text, twin__random_below(&seed, 4), letters, &seed);
        if (*text)
            query(score, view, options, text);
    }
    twin_index_view_free(view);
}

static void all_within_the_edits_of_the_index_are_found(void **state)
{
    (void)state;
    static const struct {
        size_t least, most, letters;
    } kinds[] = { { 1, 5, 2 }, { 3, 12, 3 }, { 8, 40, 8 }, { 60, 90, 2 } };
    struct score score = { 0 };
    for (size_t edits = 0; edits <= TWIN_INDEX_MOST_EDITS; edits++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            size_t count = QUICK ? 80 : 180;
            begin(edits, 8);
            draw_texts(count, kinds[k].least, kinds[k].most, kinds[k].letters, 5 + edits);
            add(0, count / 3);
            add(count / 3, count / 2);
            add(count / 2, count); /* several runs */
            for (size_t less = 0; less <= edits; less++)
                query_all(&score, within(less), 5, kinds[k].letters);
            check_file();
            end();
        }
    assert_true(score.near > 2000);
    assert_int_equal(score.found, score.near);
}

/* Without a limit, matches are those within the edits of the index. */
static void the_edits_of_the_index_are_the_default(void **state)
{
    (void)state;
    begin(2, 0);
    strcpy(world.texts[0], "kitten");
    strcpy(world.texts[1], "mitten");
    strcpy(world.texts[2], "mittens");
    strcpy(world.texts[3], "sitting");
    strcpy(world.texts[4], "");
    add(0, 5);
    twin_index_view *view;
    twin_index_answer answer = { 0 };
    assert_int_equal(twin_index_view_create(&view, world.index, NULL), TWIN_OK);
    assert_int_equal(
        twin_index_query(&answer, view, (twin_index_query_options){ 0 }, (twin_text){ "KITTEN", 6 }, NULL), TWIN_OK);
    assert_int_equal(answer.count, 3); /* sitting is three edits away */
    assert_memory_equal(answer.entries[1].id.bytes, "1", 1);
    twin_index_query_options top = { .limit_edits = true, .edits = 2, .top = 1 };
    assert_int_equal(twin_index_query(&answer, view, top, (twin_text){ "sitten", 6 }, NULL), TWIN_OK);
    assert_int_equal(answer.count, 1);
    assert_int_equal(twin_index_query(&answer, view, top, (twin_text){ "", 0 }, NULL), TWIN_OK);
    assert_int_equal(answer.count, 0);
    twin_index_answer_clear(&answer);
    twin_index_view_free(view);
    end();
}

/* Added, replaced and removed in any order, and read again from the file. */
static void changes_are_seen(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct score score = { 0 };
    begin(2, 8);
    draw_texts(MOST, 4, 14, 4, 9);
    add(0, 100);
    for (int round = 0; round < (QUICK ? 4 : 12); round++) {
        size_t first = twin__random_below(&seed, MOST - 40), last = first + 1 + twin__random_below(&seed, 40);
        for (size_t i = first; i < last; i += 2)
            edit(world.texts[i], 2, 4, &seed); /* other texts for ids that may be there */
        for (size_t i = 0; i < first; i++)
            if (i >= world.count)
                world.is_there[i] = false;
        add(first, last);
        for (int i = 0; i < 10; i++) {
            size_t number = twin__random_below(&seed, world.count);
            if (world.is_there[number])
                remove_text(number);
        }
        if (round % 4 == 1)
            reopen();
        if (round % 6 == 5) {
            twin_index_close(world.index);
            assert_int_equal(twin_index_compact(world.path, (twin_progress){ 0 }, NULL), TWIN_OK);
            assert_int_equal(twin_index_open(&world.index, world.path, TWIN_INDEX_WRITE, NULL), TWIN_OK);
        }
        query_all(&score, within(2), 7, 4);
        check_file();
    }
    assert_true(score.near > (QUICK ? 100 : 500));
    assert_int_equal(score.found, score.near);
    end();
}

/* Beyond the edits of the index short texts are all compared, in each view anew; of texts about as long as what is short,
 * a forest proposes those that are longer. */
static void short_texts_are_found_within_any_edits(void **state)
{
    (void)state;
    static const struct {
        size_t least, most, letters;
        double ratio;
    } kinds[] = { { 1, 12, 3, .5 }, { 10, 40, 4, .75 }, { 30, 45, 20, .8 } };
    struct score score = { 0 };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t count = QUICK ? 90 : 300;
        begin(1, 8);
        draw_texts(count, kinds[k].least, kinds[k].most, kinds[k].letters, 21 + k);
        add(0, count / 2);
        query_all(&score, (twin_index_query_options){ .threshold = kinds[k].ratio }, 5, kinds[k].letters);
        for (size_t i = 0; i < count / 2; i += 9)
            remove_text(i);
        add(count / 2, count);
        query_all(&score, (twin_index_query_options){ .threshold = kinds[k].ratio }, 3, kinds[k].letters);
        query_all(&score, within(3), 3, kinds[k].letters);
        twin_index_query_options both = { .limit_edits = true, .edits = 6, .threshold = .6 };
        query_all(&score, both, 3, kinds[k].letters);
        end();
    }
    assert_true(score.near > (QUICK ? 1000 : 10000));
    assert_int_equal(score.found, score.near);

    begin(1, 0);
    draw_texts(QUICK ? 100 : 300, 55, 75, 20, 6);
    add(0, QUICK ? 100 : 300);
    score = (struct score){ 0 };
    query_all(&score, (twin_index_query_options){ .threshold = .85 }, 2, 20);
    end();
    print_message("about 64 characters: found %zu of %zu\n", score.found, score.near);
    assert_true(score.found * 100 >= score.near * 99);
}

/* ---- the audit */

static bool go_on(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer)
{
    (void)id;
    (void)id_is_number;
    *(size_t *)context += answer->count;
    return true;
}

/* It counts what there is, in the first queries only; and what the index does not find by itself is missed. */
static void queries_are_audited(void **state)
{
    (void)state;
    char path[] = "/tmp/twinsift-audit-XXXXXX.txt";
    begin(1, 8);
    draw_texts(200, 100, 200, 4, 31);
    add(0, 200);
    int fd = mkstemps(path, 4);
    FILE *file = fdopen(fd, "w");
    struct score score = { 0 };
    twin_index_view *view;
    twin_index_query_options options = { .threshold = .85 };
    assert_int_equal(twin_index_view_create(&view, world.index, NULL), TWIN_OK);
    for (size_t i = 0; i < 40; i++) {
        fprintf(file, "%s\n", world.texts[5 * i]);
        if (i < 30)
            query(&score, view, options, world.texts[5 * i]);
    }
    twin_index_view_free(view);
    fclose(file);

    const char *paths[] = { path };
    twin_input *input;
    twin_audit audit;
    twin_error error = { 0 };
    size_t answers = 0;
    assert_int_equal(twin_input_open(&input, paths, 1, (twin_input_options){ .as = TWIN_INPUT_AS_LINES }, &error),
                     TWIN_OK);
    twin_index_query_input_options many = { .query = options,
                                            .exec = { TWIN_EXEC_PTHREADS, 2 },
                                            .answer = go_on,
                                            .context = &answers,
                                            .audited = 30,
                                            .audit = &audit };
    assert_int_equal(twin_index_query_input(NULL, world.index, input, many, &error), TWIN_OK);
    twin_input_free(input);
    assert_int_equal(audit.documents, 30);
    assert_int_equal(audit.similar, score.near);
    assert_int_equal(audit.found, score.found);
    assert_int_equal(audit.wrong, 0);
    assert_true(audit.recall == (double)score.found / (double)score.near);
    assert_true(answers > score.found);
    many.audit = NULL;
    assert_int_equal(twin_index_query_input(NULL, world.index, NULL, many, &error), TWIN_EINVAL);
    unlink(path);
    end();
}

/* Beyond the edits of the index a forest proposes candidates: nearly all at a ratio of 0.9, and none that is false. */
static void nearly_all_long_texts_at_a_ratio_are_found(void **state)
{
    (void)state;
    struct score score = { 0 };
    begin(1, 0);
    draw_texts(QUICK ? 100 : 300, 100, 390, 20, 4);
    uint64_t seed = 8;
    for (size_t i = 0; i < 300; i++)
        edit(world.texts[i], twin__random_below(&seed, 12), 20, &seed);
    add(0, QUICK ? 100 : 300);
    query_all(&score, (twin_index_query_options){ .threshold = .9 }, 2, 20);
    query_all(&score, within(12), 3, 20);
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.near > (QUICK ? 60 : 300));
    assert_true(score.found * 100 >= score.near * 99);
    end();
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    twin_error error = { 0 };
    twin_index_options bad[] = {
        { .by_edits = true, .edits = TWIN_INDEX_MOST_EDITS + 1 },
        { .by_edits = true, .format = TWIN_INPUT_SETS },
        { .by_edits = true, .scheme.shingle.kind = TWIN_SHINGLE_WORD },
        { .by_edits = true, .scheme.minhash.slots = 3 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(twin_index_create("/tmp/twinsift-never", bad[i], false, &error), TWIN_EINVAL);
    begin(2, 8);
    assert_int_equal(
        twin_index_pairs(world.index, (twin_index_pairs_options){ 0 }, (twin_index_pair_visit *)abort, NULL, &error),
        TWIN_EINVAL);
    assert_non_null(strstr(error.message, "edit distance"));
    twin_index_options options = twin_index_options_of(world.index);
    assert_true(options.by_edits && options.edits == 2 && options.keep == TWIN_KEEP_TEXT);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_within_the_edits_of_the_index_are_found),
        cmocka_unit_test(the_edits_of_the_index_are_the_default),
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(short_texts_are_found_within_any_edits),
        cmocka_unit_test(queries_are_audited),
        cmocka_unit_test(nearly_all_long_texts_at_a_ratio_are_found),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

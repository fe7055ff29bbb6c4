/* test_collection.c — documents and sets are read into signatures; copies, repeats and problems are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "collection/contents.h"
#include "corpus.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_input_options documents = { .format = TWIN_INPUT_DOCUMENTS };
static const twin_input_options rows = { .format = TWIN_INPUT_SETS };

/* ---- documents ---- */

enum { DOCUMENTS = 200, MOST_TEXT = 400 };

struct texts {
    char text[DOCUMENTS][MOST_TEXT];
};

static void draw_texts(struct texts *texts, uint64_t seed)
{
    static const char *const some[] = {
        "a", "bb", "ccc", "to", "be", "or", "not", "\xC3\xA9t\xC3\xA9", "word", "end"
    };
    for (size_t d = 0; d < DOCUMENTS; d++) {
        size_t words = twin__random_below(&seed, 40), length = 0;
        texts->text[d][0] = 0;
        for (size_t w = 0; w < words; w++)
            length += (size_t)snprintf(texts->text[d] + length, MOST_TEXT - length, "%s%s", w ? " " : "",
                                       some[twin__random_below(&seed, COUNT(some))]);
    }
}

static void write_lines(struct corpus *corpus, const struct texts *texts)
{
    FILE *file = fopen(corpus_path(corpus, "texts.jsonl"), "wb");
    assert_non_null(file);
    for (size_t d = 0; d < DOCUMENTS; d++)
        fprintf(file, "{\"id\":\"d%zu\",\"text\":\"%s\"}\n", d, texts->text[d]);
    assert_int_equal(fclose(file), 0);
}

/* What shingling and signing one text alone gives. */
static void check_document(const twin_collection *collection, uint32_t d, const char *text,
                           twin_collection_options options, twin_scratch *scratch)
{
    uint32_t signature[128];
    char id[20];
    twin_items items = { 0 }, spare = { 0 };
    twin_shingler *shingler;
    twin_minhash *hasher;
    twin_set expected, got;
    snprintf(id, sizeof id, "d%u", d);
    assert_text(twin_collection_entry_of(collection, d).id, id);
    assert_int_equal(twin__shingler_create(&shingler, options.scheme.shingle), TWIN_OK);
    assert_int_equal(twin__minhash_create(&hasher, options.scheme.minhash), TWIN_OK);
    assert_int_equal(twin__shingle_text(&items, shingler, (twin_text){ text, strlen(text) }), TWIN_OK);
    twin__minhash_sign(signature, hasher, items.items, items.count);
    assert_memory_equal(twin__collection_signatures(collection) + d * 128, signature, sizeof signature);
    assert_int_equal(twin__set_make(&expected, &items, &spare), TWIN_OK);
    assert_int_equal(twin__collection_set(&got, collection, scratch, d, NULL), TWIN_OK);
    assert_int_equal(got.count, expected.count);
    if (got.count)
        assert_memory_equal(got.items, expected.items, got.count * sizeof *got.items);
    twin__shingler_free(shingler);
    twin__minhash_free(hasher);
    twin__items_clear(&items);
    twin__items_clear(&spare);
}

static void documents_are_signed_whoever_reads_them(void **state)
{
    (void)state;
    static struct texts texts;
    struct corpus corpus;
    uint64_t bytes = 0;
    corpus_begin(&corpus);
    draw_texts(&texts, 1);
    write_lines(&corpus, &texts);
    for (size_t d = 0; d < DOCUMENTS; d++)
        bytes += strlen(texts.text[d]);
    for (int e = 0; e < EXECS; e++) {
        twin_collection_options options = plain_options("word:2");
        twin_input_options in_pieces = { .chunk_bytes = e % 2 ? 100 : 1500 };
        twin_scratch scratch = { 0 };
        if (!exec_number(&options.exec, e))
            continue;
        twin_input *input = open_input(corpus_path(&corpus, "texts.jsonl"), in_pieces);
        twin_collection *collection = read_collection(input, options);
        twin_collection_counts counts = twin_collection_count(collection);
        assert_int_equal(counts.documents, DOCUMENTS);
        assert_int_equal(counts.problems, 0);
        assert_int_equal(counts.bytes, bytes);
        assert_int_equal(twin__collection_slots(collection), 128);
        for (uint32_t d = 0; d < DOCUMENTS; d++)
            check_document(collection, d, texts.text[d], options, &scratch);
        twin__scratch_clear(&scratch);
        twin_collection_free(collection);
        twin_input_free(input);
    }
    corpus_end(&corpus);
}

/* ---- copies ---- */

/* ---- documents as they are read ---- */

struct examined {
    twin_exec exec;
    _Atomic uint64_t count, offsets, lengths; /* sums */
    twin_status answer;
};

static twin_status examine(void *context, const twin_document *document, int worker, twin_error *error)
{
    struct examined *examined = context;
    (void)error;
    assert_true(worker >= 0 && worker < (examined->exec.workers ? examined->exec.workers : 1));
    examined->count++;
    examined->offsets += document->position.offset;
    examined->lengths += document->text.length;
    return examined->answer;
}

/* Each document that is added is shown once, at the position that it has in the collection. */
static void documents_can_be_examined_while_they_are_read(void **state)
{
    (void)state;
    struct corpus corpus;
    static struct texts texts;
    draw_texts(&texts, 12);
    corpus_begin(&corpus);
    write_lines(&corpus, &texts);
    twin_input *input = open_input(corpus.path, (twin_input_options){ .chunk_bytes = 500 });
    for (int number = 0; number < EXECS; number++) {
        struct examined examined = { .answer = TWIN_OK };
        twin_collection_options options = plain_options("char:9");
        if (!exec_number(&examined.exec, number))
            continue;
        options.exec = examined.exec;
        options.on_document = examine;
        options.context = &examined;
        twin_collection *collection = read_collection(input, options);
        uint64_t offsets = 0, count = twin_collection_count(collection).documents;
        for (uint32_t d = 0; d < count; d++)
            offsets += twin_collection_entry_of(collection, d).position.offset;
        assert_int_equal(examined.count, count);
        assert_int_equal(examined.offsets, offsets);
        assert_int_equal(examined.lengths, twin_collection_count(collection).bytes);
        twin_collection_free(collection);
        examined.answer = TWIN_ESTOPPED;
        assert_int_equal(twin_collection_read(&collection, input, options, NULL), TWIN_ESTOPPED);
    }
    twin_input_free(input);
    corpus_end(&corpus);
}

static void equal_sets_are_copies(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    corpus_write(&corpus, "c.jsonl",
                 "{\"id\":\"0\",\"text\":\"a\"}\n"        /* too short */
                 "{\"id\":\"1\",\"text\":\"abab\"}\n"     /* {ab, ba} */
                 "{\"id\":\"2\",\"text\":\"xyz\"}\n"      /* {xy, yz} */
                 "{\"id\":\"3\",\"text\":\"ababab\"}\n"   /* the set of 1 */
                 "{\"id\":\"4\",\"text\":\"a\"}\n"        /* too short, but a copy of 0 */
                 "{\"id\":\"5\",\"text\":\"  XYZ\\n\"}\n" /* the text of 2, once folded */
                 "{\"id\":\"6\",\"text\":\"baba\"}\n"     /* the set of 1 */
                 "{\"id\":\"7\",\"text\":\"ababab\"}\n"   /* the text of 3 */
                 "{\"id\":\"8\",\"text\":\"aba\"}\n"      /* the set of 1 */
                 "{\"id\":\"9\",\"text\":\"ab\"}\n"       /* {ab} */
                 "{\"id\":\"10\",\"text\":\"\"}\n"        /* empty */
                 "{\"id\":\"11\",\"text\":\"b\"}\n"       /* too short, and not a copy of 0 */
                 "{\"id\":\"12\",\"text\":\" \"}\n");     /* empty: not a copy of 10 */
    static const uint32_t firsts[] = { 0, 1, 2, 1, 0, 2, 1, 1, 1, 9, 10, 11, 12 }, distinct[] = { 0, 1, 2, 9, 11 };
    for (int e = 0; e < EXECS; e++) {
        twin_collection_options options = plain_options("char:2");
        if (!exec_number(&options.exec, e))
            continue;
        twin_input *input = open_input(corpus_path(&corpus, "c.jsonl"), (twin_input_options){ .chunk_bytes = 40 });
        /* One slot, too: signatures then meet by chance, and sets decide. */
        for (int slots = 1; slots <= 128; slots += 127) {
            options.scheme.minhash.slots = (size_t)slots;
            twin_collection *collection = read_collection(input, options);
            twin_collection_counts counts = twin_collection_count(collection);
            const uint32_t *list;
            assert_int_equal(counts.documents, COUNT(firsts));
            assert_int_equal(counts.too_short, 5);
            assert_int_equal(counts.copies, 6);
            assert_memory_equal(twin_collection_firsts(collection), firsts, sizeof firsts);
            assert_int_equal(twin__collection_distinct(&list, collection), COUNT(distinct));
            assert_memory_equal(list, distinct, sizeof distinct);
            twin_collection_free(collection);
        }
        twin_input_free(input);
    }
    corpus_end(&corpus);
}

/* ---- trouble ---- */

static void read_lines(twin_input **input, twin_collection **collection, struct corpus *corpus, const char *lines,
                       size_t piece, twin_exec exec)
{
    twin_collection_options options = plain_options("char:2");
    options.exec = exec;
    *input = open_input(corpus_write(corpus, "t.jsonl", lines), (twin_input_options){ .chunk_bytes = piece });
    *collection = read_collection(*input, options);
}

static const char troubled[] = "{\"id\":\"a\",\"text\":\"one text\"}\n"
                               "not json\n"
                               "{\"id\":\"b\",\"text\":\"two texts\"}\n"
                               "{\"id\":\"a\",\"text\":\"two texts again\"}\n" /* a repeats */
                               "\n"
                               "{\"id\":\"c\"}\n"               /* no text */
                               "{\"id\":[],\"text\":\"x\"}\n"   /* bad id */
                               "{\"id\":\"a\",\"text\":\"\"}\n" /* a again, and too short */
                               "{\"text\":\"named by its line\"}\n"
                               "{\"id\":7,\"text\":\"two texts again\"}\n";

static void trouble_is_named_and_left_out(void **state)
{
    (void)state;
    static const struct {
        twin_problem_kind kind;
        uint64_t line;
    } expected[] = { { TWIN_PROBLEM_BROKEN, 2 },
                     { TWIN_PROBLEM_REPEATED_ID, 4 },
                     { TWIN_PROBLEM_NO_TEXT, 6 },
                     { TWIN_PROBLEM_BAD_ID, 7 },
                     { TWIN_PROBLEM_REPEATED_ID, 8 } };
    static const char *const ids[] = { "a", "b", "9", "7" };
    struct corpus corpus;
    corpus_begin(&corpus);
    for (int e = 0; e < EXECS; e++)
        for (size_t piece = 10; piece < 1000; piece *= 3) {
            twin_input *input;
            twin_collection *collection;
            twin_exec exec;
            if (!exec_number(&exec, e))
                continue;
            read_lines(&input, &collection, &corpus, troubled, piece, exec);
            const twin_problem *problems;
            assert_int_equal(twin_collection_problems(&problems, collection), COUNT(expected));
            for (size_t i = 0; i < COUNT(expected); i++) {
                assert_int_equal(problems[i].kind, expected[i].kind);
                assert_int_equal(problems[i].position.line, expected[i].line);
            }
            assert_non_null(strstr(problems[1].message, "the id \"a\" repeats that of "));
            assert_int_equal(twin_collection_count(collection).documents, COUNT(ids));
            assert_int_equal(twin_collection_count(collection).problems, COUNT(expected));
            assert_int_equal(twin_collection_count(collection).too_short, 0);
            for (uint32_t d = 0; d < COUNT(ids); d++) {
                twin_collection_entry entry = twin_collection_entry_of(collection, d);
                assert_text(entry.id, ids[d]);
                assert_int_equal(entry.id_is_number, d == 3);
                /* What was dropped is nobody's first. */
                assert_int_equal(twin_collection_firsts(collection)[d], d);
            }
            twin_collection_free(collection);
            twin_input_free(input);
        }
    corpus_end(&corpus);
}

/* Half of the lines are bad, the other half repeat two ids, so nearly all are problems of one kind or the other. */
static void only_the_first_problems_are_kept(void **state)
{
    (void)state;
    enum { LINES = 1000 };
    char lines[LINES * 32];
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length +=
            (size_t)sprintf(lines + length, i % 2 ? "{\"id\":\"%d\",\"text\":\"one\"}\n" : "{\"id\":%d}\n", i % 4);
    struct corpus corpus;
    corpus_begin(&corpus);
    twin_input *input =
        open_input(corpus_write(&corpus, "a.jsonl", lines), (twin_input_options){ .chunk_bytes = 100 });
    for (int e = 0; e < EXECS; e++) {
        twin_collection_options options = plain_options("char:2");
        if (!exec_number(&options.exec, e))
            continue;
        twin_collection *collection = read_collection(input, options);
        const twin_problem *problems;
        assert_int_equal(twin_collection_count(collection).documents, 2);
        assert_int_equal(twin_collection_count(collection).problems, LINES - 2);
        assert_int_equal(twin_collection_problems(&problems, collection), TWIN_PROBLEMS_KEPT);
        uint64_t expected = 1;
        for (size_t i = 0; i < TWIN_PROBLEMS_KEPT; i++, expected++) {
            expected += expected == 2 || expected == 4; /* the two documents that are good */
            assert_int_equal(problems[i].position.line, expected);
            assert_int_equal(problems[i].kind, expected % 2 ? TWIN_PROBLEM_NO_TEXT : TWIN_PROBLEM_REPEATED_ID);
        }
        twin_collection_free(collection);
    }
    twin_input_free(input);
    corpus_end(&corpus);
}

static void strict_ends_at_the_first_problem(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *sentence;
        uint64_t line;
    } cases[] = {
        { "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\"}\nnot json\n{\"id\":\"c\",\"text\":\"one\"}\n",
          ":2:1: ", 2 },
        { "{\"id\":\"a\",\"text\":\"one\"}\n\n{\"id\":\"b\",\"text\":\"one\"}\n{\"id\":\"a\",\"text\":\"two\"}\n",
          ":4:1: the id \"a\" repeats that of ", 4 },
    };
    struct corpus corpus;
    corpus_begin(&corpus);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int e = 0; e < EXECS; e++)
            for (size_t piece = 5; piece < 1000; piece *= 4) {
                twin_collection_options options = plain_options("char:2");
                twin_collection *collection;
                twin_error error;
                if (!exec_number(&options.exec, e))
                    continue;
                options.strict = true;
                twin_input *input = open_input(corpus_write(&corpus, "s.jsonl", cases[c].lines),
                                               (twin_input_options){ .chunk_bytes = piece });
                assert_int_equal(twin_collection_read(&collection, input, options, &error), TWIN_EFORMAT);
                assert_null(collection);
                assert_int_equal(error.status, TWIN_EFORMAT);
                assert_int_equal(error.line, cases[c].line);
                assert_non_null(strstr(error.message, cases[c].sentence));
                assert_int_equal(twin_collection_read(&collection, input, options, NULL), TWIN_EFORMAT);
                twin_input_free(input);
            }
    corpus_end(&corpus);
}

/* ---- what does not stay as it was ---- */

static void expect_set(const twin_collection *collection, uint32_t document, twin_status expected)
{
    twin_scratch scratch = { 0 };
    twin_error error = { 0 };
    twin_set set;
    assert_int_equal(twin__collection_set(&set, collection, &scratch, document, &error), expected);
    assert_int_equal(error.status, expected);
    if (expected != TWIN_OK)
        assert_true(strlen(error.message) > 0);
    assert_int_equal(twin__collection_set(&set, collection, &scratch, document, NULL), expected);
    twin__scratch_clear(&scratch);
}

static void a_line_that_changed_is_noticed(void **state)
{
    (void)state;
    static const char before[] =
        "{\"id\":\"a\",\"text\":\"the first text\"}\n{\"id\":\"b\",\"text\":\"the other one\"}\n";
    static const char after[] =
        "{\"id\":\"a\",\"text\":\"the first text\"}\n{\"id\":\"b\",\"text\":\"the other two\"}\n";
    static const char broken[] =
        "{\"id\":\"a\",\"text\":\"the first text\"}\n{\"id\":\"b\",\"tex_\":\"the other one\"}\n";
    static const char shorter[] = "{\"id\":\"a\",\"text\":\"the first text\"}\n{\"id\"";
    struct corpus corpus;
    corpus_begin(&corpus);
    twin_input *input;
    twin_collection *collection;
    read_lines(&input, &collection, &corpus, before, 0, (twin_exec){ TWIN_EXEC_SERIAL, 1 });
    expect_set(collection, 1, TWIN_OK);
    corpus_write(&corpus, "t.jsonl", after);
    expect_set(collection, 0, TWIN_OK);
    expect_set(collection, 1, TWIN_EFORMAT);
    corpus_write(&corpus, "t.jsonl", broken);
    expect_set(collection, 1, TWIN_EFORMAT);
    corpus_write(&corpus, "t.jsonl", before);
    expect_set(collection, 1, TWIN_OK);
    corpus_write(&corpus, "t.jsonl", shorter);
    expect_set(collection, 0, TWIN_OK);
    expect_set(collection, 1, TWIN_EIO); /* the place itself is gone */
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

static void a_file_that_changed_is_noticed(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    corpus_write(&corpus, "a.txt", "the first text");
    corpus_write(&corpus, "b.txt", "the other one");
    corpus_write(&corpus, "c.txt", "one more");
    twin_input *input = open_input(corpus.folder, documents);
    twin_collection *collection = read_collection(input, plain_options("char:3"));
    assert_int_equal(twin_collection_count(collection).documents, 3);
    assert_text(twin_collection_entry_of(collection, 1).id, "b.txt");
    for (uint32_t d = 0; d < 3; d++)
        expect_set(collection, d, TWIN_OK);
    corpus_write(&corpus, "b.txt", "the other two");
    assert_int_equal(unlink(corpus_path(&corpus, "c.txt")), 0);
    expect_set(collection, 0, TWIN_OK);
    expect_set(collection, 1, TWIN_EFORMAT);
    expect_set(collection, 2, TWIN_EFORMAT);
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

/* ---- rows ---- */

enum { SETS = 30, ELEMENTS = 40 };

/* Rows in random order, some twice; sets 0 and 1 are equal. has[s][e] is the truth. */
static void write_rows(struct corpus *corpus, bool has[SETS][ELEMENTS], uint64_t seed)
{
    FILE *file = fopen(corpus_path(corpus, "rows.tsv"), "wb");
    assert_non_null(file);
    for (size_t s = 0; s < SETS; s++)
        fprintf(file, "s%zu\te0\t5\n", s); /* so that the sets are numbered in their order */
    memset(has, 0, SETS * ELEMENTS);
    for (size_t s = 0; s < SETS; s++)
        has[s][0] = true;
    for (int row = 0; row < 600; row++) {
        size_t s = twin__random_below(&seed, SETS), e = twin__random_below(&seed, ELEMENTS);
        for (size_t other = s; other <= (s == 0 ? 1 : s); other++) {
            if (s == 1)
                break;
            has[other][e] = true;
            fprintf(file, "s%zu\te%zu\t%d\n", other, e, row);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void check_rows(const twin_collection *collection, bool has[SETS][ELEMENTS])
{
    twin_scratch scratch = { 0 };
    assert_int_equal(twin_collection_count(collection).documents, SETS);
    assert_int_equal(twin_collection_count(collection).too_short, 0);
    assert_int_equal(twin_collection_count(collection).problems, 0);
    for (uint32_t s = 0; s < SETS; s++) {
        char name[20];
        twin_set set;
        size_t count = 0;
        snprintf(name, sizeof name, "s%u", s);
        assert_text(twin_collection_entry_of(collection, s).id, name);
        assert_int_equal(twin__collection_set(&set, collection, &scratch, s, NULL), TWIN_OK);
        for (size_t e = 0; e < ELEMENTS; e++) {
            snprintf(name, sizeof name, "e%zu", e);
            uint64_t hash = twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, 0), name, strlen(name));
            assert_int_equal(twin_set_common(set, (twin_set){ &hash, 1 }), has[s][e]);
            count += has[s][e];
        }
        assert_int_equal(set.count, count);
        uint32_t first = 0;
        while (memcmp(has[first], has[s], ELEMENTS) != 0)
            first++;
        assert_int_equal(twin_collection_firsts(collection)[s], first);
    }
    assert_int_equal(twin_collection_firsts(collection)[1], 0);
    twin__scratch_clear(&scratch);
}

static void rows_are_gathered_into_sets(void **state)
{
    (void)state;
    bool has[SETS][ELEMENTS];
    struct corpus corpus;
    uint32_t *signatures = malloc(SETS * 128 * sizeof *signatures);
    assert_non_null(signatures);
    corpus_begin(&corpus);
    write_rows(&corpus, has, 2);
    for (int e = 0; e < EXECS; e++) {
        twin_collection_options options = plain_options("char:9");
        twin_input_options in_pieces = { .format = TWIN_INPUT_SETS, .chunk_bytes = e % 2 ? 50 : 2000 };
        if (!exec_number(&options.exec, e))
            continue;
        twin_input *input = open_input(corpus_path(&corpus, "rows.tsv"), in_pieces);
        twin_collection *collection = read_collection(input, options);
        check_rows(collection, has);
        if (e == 0)
            memcpy(signatures, twin__collection_signatures(collection), SETS * 128 * sizeof *signatures);
        assert_memory_equal(signatures, twin__collection_signatures(collection), SETS * 128 * sizeof *signatures);
        twin_collection_free(collection);
        twin_input_free(input);
    }
    free(signatures);
    corpus_end(&corpus);
}

static void many_names_keep_their_numbers(void **state)
{
    (void)state;
    enum { NAMES = 20000 };
    struct corpus corpus;
    corpus_begin(&corpus);
    FILE *file = fopen(corpus_path(&corpus, "rows.tsv"), "wb");
    assert_non_null(file);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < NAMES; i++)
            fprintf(file, "%d\t%d\n", i, i + round);
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_input(corpus_path(&corpus, "rows.tsv"), rows);
    twin_collection *collection = read_collection(input, plain_options("char:9"));
    assert_int_equal(twin_collection_count(collection).documents, NAMES);
    assert_int_equal(twin_collection_count(collection).copies, 0);
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[20];
        twin_set set;
        snprintf(name, sizeof name, "%u", i);
        assert_text(twin_collection_entry_of(collection, i).id, name);
        assert_int_equal(twin__collection_set(&set, collection, NULL, i, NULL), TWIN_OK);
        assert_int_equal(set.count, 2);
    }
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

static void bad_rows_are_left_out(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    twin_input *input = open_input(corpus_write(&corpus, "r.tsv", "a\tx\n\ty\nb\t\nno separator\na\tz\n"), rows);
    twin_collection *collection = read_collection(input, plain_options("char:9"));
    const twin_problem *problems;
    twin_set set;
    assert_int_equal(twin_collection_count(collection).documents, 1);
    assert_int_equal(twin_collection_problems(&problems, collection), 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(problems[i].position.line, i + 2);
    assert_int_equal(twin__collection_set(&set, collection, NULL, 0, NULL), TWIN_OK);
    assert_int_equal(set.count, 2);
    twin_collection_free(collection);

    twin_collection_options strict = plain_options("char:9");
    strict.strict = true;
    twin_error error;
    assert_int_equal(twin_collection_read(&collection, input, strict, &error), TWIN_EFORMAT);
    assert_int_equal(error.line, 2);
    twin_input_free(input);
    corpus_end(&corpus);
}

/* ---- the rest ---- */

static void nothing_is_a_collection_too(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    static const char *const inputs[] = { "", "\n\n", "{\"text\":\"\"}\n" };
    for (int format = 0; format < 2; format++)
        for (size_t i = 0; i < (format ? 2 : COUNT(inputs)); i++) {
            twin_collection_options options = plain_options("word:3");
            options.exec = (twin_exec){ TWIN_EXEC_PTHREADS, 2 };
            twin_input *input = open_input(corpus_write(&corpus, "n.jsonl", inputs[i]), format ? rows : documents);
            twin_collection *collection = read_collection(input, options);
            const uint32_t *list;
            assert_int_equal(twin_collection_count(collection).documents, i == 2);
            assert_int_equal(twin_collection_count(collection).too_short, i == 2);
            assert_int_equal(twin__collection_distinct(&list, collection), 0);
            twin_collection_free(collection);
            twin_input_free(input);
        }
    twin_collection_free(NULL);
    corpus_end(&corpus);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    twin_input *input = open_input(corpus_write(&corpus, "o.jsonl", "{\"text\":\"a b c\"}\n"), documents);
    for (int wrong = 0; wrong < 2; wrong++) {
        twin_collection_options options = plain_options("word:3");
        twin_collection *collection;
        twin_error error;
        if (wrong)
            options.scheme.minhash.slots = TWIN_MINHASH_MAX_SLOTS + 1;
        else
            options.scheme.shingle.width = TWIN_SHINGLE_MAX_WIDTH + 1;
        assert_int_equal(twin_collection_read(&collection, input, options, &error), TWIN_EINVAL);
        assert_null(collection);
        assert_true(error.status == TWIN_EINVAL && strlen(error.message) > 0);
    }
    twin_input_free(input);
    corpus_end(&corpus);
}

static void ill_formed_text_is_counted(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    corpus_write(&corpus, "a.txt", "good \xFF\xFE bad");
    corpus_write(&corpus, "b.txt", "good \xEF\xBF\xBD\xEF\xBF\xBD bad");
    twin_input *input = open_input(corpus.folder, documents);
    twin_collection *collection = read_collection(input, plain_options("char:3"));
    assert_int_equal(twin_collection_count(collection).replaced, 2);
    assert_int_equal(twin_collection_count(collection).copies, 1);
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_signed_whoever_reads_them),
        cmocka_unit_test(documents_can_be_examined_while_they_are_read),
        cmocka_unit_test(equal_sets_are_copies),
        cmocka_unit_test(trouble_is_named_and_left_out),
        cmocka_unit_test(only_the_first_problems_are_kept),
        cmocka_unit_test(strict_ends_at_the_first_problem),
        cmocka_unit_test(a_line_that_changed_is_noticed),
        cmocka_unit_test(a_file_that_changed_is_noticed),
        cmocka_unit_test(rows_are_gathered_into_sets),
        cmocka_unit_test(many_names_keep_their_numbers),
        cmocka_unit_test(bad_rows_are_left_out),
        cmocka_unit_test(nothing_is_a_collection_too),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(ill_formed_text_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_input.c — where documents come from: files of lines and of rows. */
#include "mixed_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "input/documents.h"
#include "scale.h"

enum { HUGE_LINE = (QUICK ? 10 : 100) << 20 };

/* ---- lines ---- */

static void lines_become_documents_and_problems_in_their_order(void **unused)
{
    (void)unused;
    const char *path = path_of("m.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    struct seen *s = log.seen;
    assert_int_equal(log.lines, 11);
    assert_int_equal(log.count, 9);
    assert_string_equal(s[0].id, "a");
    assert_string_equal(s[0].text, "first");
    assert_string_equal(s[0].record, "{\"id\":\"a\",\"text\":\"first\"}");
    assert_int_equal(s[0].position.offset, 3);
    assert_int_equal(s[0].position.line, 1);
    assert_int_equal(s[0].position.length, 25);
    assert_false(s[1].has_id);
    assert_int_equal(s[1].position.line, 3);
    assert_string_equal(s[1].record, "{\"text\":\"no id\"}");
    assert_string_equal(s[2].id, "17");
    assert_true(s[2].is_number);
    assert_string_equal(s[2].text, "seven\nteen");
    assert_int_equal(s[3].kind, TWIN_PROBLEM_NO_TEXT);
    assert_string_equal(s[3].message, "no field \"text\"");
    assert_int_equal(s[4].kind, TWIN_PROBLEM_BAD_ID);
    assert_int_equal(s[5].kind, TWIN_PROBLEM_BROKEN);
    assert_string_equal(s[5].message, "the line ends inside a string");
    assert_int_equal(s[5].column, 22);
    assert_int_equal(s[5].position.line, 8);
    assert_false(s[6].has_id);
    assert_int_equal(s[7].column, 27);
    assert_true(s[8].has_id);
    assert_int_equal(s[8].text_length, 2);
    assert_memory_equal(s[8].text, "\0!", 2);
    assert_int_equal(s[8].position.line, 11);
    clear_log(&log);
    twin_input_free(input);
}

static void fields_may_have_other_names(void **unused)
{
    (void)unused;
    const char *path = path_of("f.ndjson");
    const char lines[] = "{\"key\":\"k\",\"body\":\"b\",\"id\":{},\"text\":1}\n{\"text\":\"t\"}\n{\"body\":null}\n";
    write_file(path, lines, sizeof lines - 1);
    twin_input_options options = { .id_field = "key", .text_field = "body" };
    twin_input *input = open_one(path, options);
    struct log log = read_all(input);
    assert_int_equal(log.count, 3);
    assert_string_equal(log.seen[0].id, "k");
    assert_string_equal(log.seen[0].text, "b");
    assert_string_equal(log.seen[1].message, "no field \"body\"");
    assert_string_equal(log.seen[2].message, "the field \"body\" is not a string");
    clear_log(&log);
    twin_input_free(input);
}

static void check_every_piece_size(const char *path, size_t size, twin_input_options options)
{
    twin_input *whole = open_one(path, options);
    struct log expected = read_all(whole);
    check_fetching(whole, &expected);
    for (size_t chunk_bytes = 1; chunk_bytes <= 200; chunk_bytes++) {
        options.chunk_bytes = chunk_bytes;
        twin_input *input = open_one(path, options);
        uint64_t sum = 0;
        for (size_t i = 0; i < twin_input_chunks(input); i++) {
            assert_true(twin_input_chunk_of(input, i).size <= chunk_bytes);
            sum += twin_input_chunk_of(input, i).size;
        }
        assert_int_equal(sum, size);
        struct log log = read_all(input);
        check_same_logs(&log, &expected);
        clear_log(&log);
        twin_input_free(input);
    }
    clear_log(&expected);
    twin_input_free(whole);
}

static const char some_rows[] = "u1\tm1\n"
                                "u1\tm2\t5\t881250949\r\n"
                                "\n"
                                "u2\tm1\t\n"
                                "no separator\n"
                                "\tm1\n"
                                "u3\t\n"
                                "u3\t\t4\n"
                                "u3\tm\r\r\n"
                                "   \r\n"
                                "u4\tthe last";

static void pieces_of_every_size_give_the_same(void **unused)
{
    (void)unused;
    const char *path = path_of("m.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    check_every_piece_size(path, sizeof mixed - 1 - 3, documents);
    write_file(path, mixed + 3, sizeof mixed - 1 - 3);
    check_every_piece_size(path, sizeof mixed - 1 - 3, documents);
    write_file(path, "\n\n\r\n\n", 5);
    check_every_piece_size(path, 5, documents);
    write_file(path, some_rows, sizeof some_rows - 1);
    check_every_piece_size(path, sizeof some_rows - 1, rows);
}

/* Lines of 0 to 60 bytes, half of them objects: every place of a cut in every place of a line. */
static void random_lines_are_the_same_in_pieces_of_every_size(void **unused)
{
    (void)unused;
    char lines[4000];
    uint64_t state = 5;
    for (int round = 0; round < (QUICK ? 3 : 20); round++) {
        size_t length = 0;
        while (length < sizeof lines - 200) {
            int width = (int)twin__random_below(&state, 40);
            const char *end = twin__random_below(&state, 4) ? "\n" : "\r\n";
            if (twin__random_below(&state, 2))
                length += (size_t)sprintf(lines + length, "{\"text\":\"%.*s\"}%s", width,
                                          "\\ttttttttttttttttttttttttttttttttttttttttttt", end);
            else
                length += (size_t)sprintf(lines + length, "%*s%s", width, width % 3 ? "" : "x", end);
        }
        length -= twin__random_below(&state, 3); /* often no newline at the end */
        const char *path = path_of("r.jsonl");
        write_file(path, lines, length);
        check_every_piece_size(path, length, documents);
    }
}

static void empty_files_have_no_pieces(void **unused)
{
    (void)unused;
    const char *paths[] = { path_of("a.jsonl"), path_of("b.jsonl"), path_of("c.jsonl"), path_of("d.jsonl") };
    write_file(paths[0], "", 0);
    write_file(paths[1], "{\"text\":\"x\"}\n", 13);
    write_file(paths[2], "\xEF\xBB\xBF", 3);
    write_file(paths[3], "{\"text\":\"y\"}\n", 13);
    twin_input *input = open_all(paths, 4, documents);
    assert_int_equal(twin_input_chunks(input), 2);
    assert_int_equal(twin_input_chunk_of(input, 0).source, 1);
    assert_int_equal(twin_input_chunk_of(input, 1).source, 3);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[1].text, "y");
    clear_log(&log);
    twin_input_free(input);
}

static void no_input_is_refused(void **unused)
{
    (void)unused;
    twin_input *input;
    twin_error error = { 0 };
    assert_int_equal(twin_input_open(&input, NULL, 0, documents, &error), TWIN_EINVAL);
    assert_null(input);
    assert_string_equal(error.message, "no input was given");
}

static void several_inputs_name_and_describe_their_lines(void **unused)
{
    (void)unused;
    const char *paths[] = { path_of("a.jsonl"), path_of("b.jsonl") };
    write_file(paths[0], "{\"text\":\"x\"}\n", 13);
    write_file(paths[1], "\n{\"text\":\"y\"}\n", 14);
    twin_input *input = open_all(paths, 2, documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.seen[1].position.source, 1);

    twin_read_buffers reading = { 0 };
    twin_document got;
    char expected[600];
    assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[1].position, NULL), TWIN_OK);
    int length = snprintf(expected, sizeof expected, "%s:2", paths[1]);
    assert_int_equal(got.id.length, length);
    assert_memory_equal(got.id.bytes, expected, length);
    twin__read_buffers_clear(&reading);

    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 7), TWIN_OK);
    length = snprintf(expected, sizeof expected, "%s:2:7", paths[1]);
    assert_int_equal(words.length, length);
    assert_string_equal(words.bytes, expected);
    twin_position elsewhere = { .source = 2 };
    assert_int_equal(twin_input_describe(&words, input, elsewhere, 0), TWIN_EINVAL);
    assert_int_equal(twin__input_fetch(&got, input, &reading, elsewhere, NULL), TWIN_EFORMAT);
    elsewhere = (twin_position){ .source = 1, .offset = 5, .length = UINT32_MAX };
    assert_int_equal(twin__input_fetch(&got, input, &reading, elsewhere, NULL), TWIN_EFORMAT);
    twin_buffer_clear(&words);

    assert_int_equal(twin_input_sources(input), 2);
    assert_string_equal(twin_input_name(input, 1), paths[1]);
    clear_log(&log);
    twin_input_free(input);
}

static void rows_are_a_set_and_an_element(void **unused)
{
    (void)unused;
    const char *path = path_of("u.data");
    write_file(path, some_rows, sizeof some_rows - 1);
    twin_input *input = open_one(path, rows);
    struct log log = read_all(input);
    struct seen *s = log.seen;
    assert_int_equal(log.count, 9);
    assert_int_equal(log.lines, 11);
    assert_string_equal(s[0].id, "u1");
    assert_string_equal(s[0].text, "m1");
    assert_string_equal(s[1].text, "m2");
    assert_string_equal(s[1].record, "u1\tm2\t5\t881250949");
    assert_string_equal(s[2].text, "m1");
    assert_string_equal(s[3].message, "no tab in the row");
    assert_string_equal(s[4].message, "an empty name of a set");
    assert_string_equal(s[5].message, "an empty element");
    assert_string_equal(s[6].message, "an empty element");
    assert_int_equal(s[6].kind, TWIN_PROBLEM_BROKEN);
    assert_int_equal(s[6].column, 4);
    assert_string_equal(s[7].text, "m\r"); /* only one belongs to the line end */
    assert_string_equal(s[8].text, "the last");
    clear_log(&log);
    twin_input_free(input);

    write_file(path, "a,b,c\nx\ty\n", 10);
    input = open_one(path, (twin_input_options){ .format = TWIN_INPUT_SETS, .separator = ',' });
    log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[0].text, "b");
    assert_string_equal(log.seen[1].message, "no ',' in the row");
    clear_log(&log);
    twin_input_free(input);
}

/* Five lines, of which those of more than ten bytes are too long, wherever the pieces are cut. */
static void a_line_past_the_limit_is_a_problem(void **unused)
{
    (void)unused;
    const char lines[] =
        "a\t34567890\na\t345678901\na\t34567890\r\na\t345678901\r\nb\tabcdefghijklmnopqrstuvwxyz\nc\td";
    const char *path = path_of("rows");
    write_file(path, lines, sizeof lines - 1);
    for (size_t chunk_bytes = 1; chunk_bytes < 100; chunk_bytes++) {
        twin_input *input = open_one(
            path, (twin_input_options){ .format = TWIN_INPUT_SETS, .max_bytes = 10, .chunk_bytes = chunk_bytes });
        struct log log = read_all(input);
        assert_int_equal(log.count, 6);
        assert_int_equal(log.lines, 6);
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(log.seen[i].is_problem, i == 1 || i == 3 || i == 4);
            assert_int_equal(log.seen[i].position.line, i + 1);
            if (log.seen[i].is_problem)
                assert_int_equal(log.seen[i].kind, TWIN_PROBLEM_TOO_LONG);
        }
        assert_string_equal(log.seen[1].message, "longer than 10 bytes");
        clear_log(&log);
        twin_input_free(input);
    }
}

/* A line longer than what is read at a time, over the limit: found too long without being read to its end. */
static void a_line_far_past_the_limit_is_not_kept(void **unused)
{
    (void)unused;
    const char *path = path_of("long.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"text\":\"before\"}\n", file);
    for (int i = 0; i < 8 << 20; i++)
        putc('x', file);
    fputs("\n{\"text\":\"behind\"}\n", file);
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_one(path, (twin_input_options){ .max_bytes = 100000, .chunk_bytes = 1000 });
    struct log log = read_all(input);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.seen[1].kind, TWIN_PROBLEM_TOO_LONG);
    assert_int_equal(log.seen[2].position.line, 3);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 0), TWIN_OK);
    assert_non_null(strstr(words.bytes, "long.jsonl:2"));
    twin_buffer_clear(&words);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static void a_huge_line_is_read_and_its_room_given_back(void **unused)
{
    (void)unused;
    const char *path = path_of("huge.jsonl");
    char *lines = malloc(HUGE_LINE + 100);
    assert_non_null(lines);
    size_t length = (size_t)sprintf(lines, "{\"text\":\"a\"}\n{\"text\":\"");
    memset(lines + length, 'z', HUGE_LINE);
    lines[length + HUGE_LINE / 2] = '\\'; /* must be unescaped, so that a second buffer grows */
    lines[length + HUGE_LINE / 2 + 1] = 'n';
    length += HUGE_LINE;
    length += (size_t)sprintf(lines + length, "\"}\n{\"text\":\"b\"}\n");
    write_file(path, lines, length);

    twin_input *input = open_one(path, documents);
    struct log log = { 0 };
    twin_read_buffers reading = { 0 };
    for (size_t piece = 0; piece < twin_input_chunks(input); piece++) {
        assert_int_equal(twin__input_read(NULL, input, &reading, piece, visitor_of(&log), NULL), TWIN_OK);
        assert_true(reading.block.capacity + reading.text.capacity <= 8 << 20);
    }
    assert_int_equal(log.count, 3);
    assert_int_equal(log.seen[1].text_length, HUGE_LINE - 1);
    assert_int_equal(log.seen[1].text[HUGE_LINE / 2], '\n');
    assert_string_equal(log.seen[2].text, "b");
    clear_log(&log);
    twin__read_buffers_clear(&reading);
    twin_input_free(input);
    free(lines);
}

static bool stop(void *context, const twin_document *document)
{
    (void)document;
    return --*(int *)context > 0;
}

static bool no_problem(void *context, const twin_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->message);
    return false;
}

static void a_visitor_may_stop(void **unused)
{
    (void)unused;
    const char *path = path_of("s.jsonl");
    write_file(path, "{\"text\":\"x\"}\n{\"text\":\"x\"}\n{\"text\":\"x\"}\n", 39);
    twin_input *input = open_one(path, documents);
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    int left = 2;
    twin_visitor visitor = { stop, no_problem, &left };
    assert_int_equal(twin__input_read(NULL, input, &reading, 0, visitor, &error), TWIN_ESTOPPED);
    assert_int_equal(left, 0);
    twin__read_buffers_clear(&reading);
    twin_input_free(input);
}

static void a_file_knows_what_others_did_to_it(void **unused)
{
    (void)unused;
    const char *path = path_of("t.jsonl");
    const struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_UNCHANGED);
    assert_int_equal(truncate(path, sizeof mixed + 40), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_GROWN);
    assert_int_equal(truncate(path, sizeof mixed - 2), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_CHANGED);
    assert_int_equal(truncate(path, sizeof mixed - 1), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_CHANGED);
    assert_int_equal(twin_input_change_of(input, 1), TWIN_INPUT_UNCHANGED); /* there is none */
    assert_int_equal(twin_input_change_of(NULL, 0), TWIN_INPUT_UNCHANGED);
    twin_input_free(input);
}

static void a_file_cut_short_behind_our_back_is_an_error(void **unused)
{
    (void)unused;
    const char *path = path_of("t.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    assert_int_equal(truncate(path, 40), 0);
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    twin_document got;
    struct log none = { 0 };
    assert_int_equal(twin__input_read(NULL, input, &reading, 0, visitor_of(&none), &error), TWIN_EIO);
    assert_non_null(strstr(error.message, "became shorter"));
    assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[8].position, &error), TWIN_EIO);

    /* Other bytes of the same length: the place is there, the document is not. */
    char other[sizeof mixed];
    memset(other, '\n', sizeof other);
    write_file(path, other, sizeof mixed - 1);
    assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[0].position, &error), TWIN_EFORMAT);
    twin__read_buffers_clear(&reading);
    clear_log(&log);
    twin_input_free(input);
}

/* ---- lines of text ---- */

static const twin_input_options texts = { .as = TWIN_INPUT_AS_LINES };

static void each_line_of_text_is_a_document(void **unused)
{
    (void)unused;
    static const char names[] = "\xEF\xBB\xBF[Anna]\n\n \t\r\n{\"text\":\r\nBZh Karenina\r\r\n  the last";
    const char *path = path_of("names.txt");
    write_file(path, names, sizeof names - 1);
    twin_input *input = open_one(path, texts);
    struct log log = read_all(input);
    static const char *const expected[] = { "[Anna]", "{\"text\":", "BZh Karenina\r", "  the last" };
    static const uint64_t lines[] = { 1, 4, 5, 6 };
    assert_int_equal(log.count, 4);
    for (size_t i = 0; i < log.count; i++) {
        assert_false(log.seen[i].is_problem || log.seen[i].has_id);
        assert_string_equal(log.seen[i].text, expected[i]);
        assert_string_equal(log.seen[i].record, expected[i]);
        assert_int_equal(log.seen[i].position.line, lines[i]);
    }
    clear_log(&log);
    twin_input_free(input);
    check_every_piece_size(path, sizeof names - 1 - 3, texts);
}

static void packed_lines_of_text_are_those_of_the_plain_file(void **unused)
{
    (void)unused;
    static char lines[5000];
    static unsigned char packed[6000];
    uint64_t state = 11;
    for (size_t i = 0; i < sizeof lines; i++) {
        uint64_t number = twin__random_next(&state);
        lines[i] = number % 9 ? (char)('a' + number % 23) : '\n';
    }
    write_file(path_of("plain"), lines, sizeof lines);
    write_file(path_of("packed.gz"), packed, gzip(packed, sizeof packed, lines, sizeof lines));
    twin_input *plain = open_one(path_of("plain"), texts), *unpacked = open_one(path_of("packed.gz"), texts);
    struct log first = read_all(plain), second = read_all(unpacked);
    assert_true(first.count > 100);
    check_same_logs(&second, &first);
    check_fetching(unpacked, &second);
    clear_log(&first);
    clear_log(&second);
    twin_input_free(plain);
    twin_input_free(unpacked);
}

/* ---- sequences ---- */

static const twin_input_options sequences = { .as = TWIN_INPUT_AS_FASTA };

static void sequences_of_several_lines_are_documents(void **unused)
{
    (void)unused;
    static const char fasta[] =
        "; a comment\n>s1 the first\nACGT\n ac gt\r\n\n>s2\r\nTT>TT\n>\nGG\n> s4 x\n>s5\nA\n>\n";
    static const char *const ids[] = { "s1", "s2", "", "s4", "s5", "" };
    static const char *const expected[] = { "ACGTacgt", "TT>TT", "GG", "", "A", "" };
    static const uint64_t lines[] = { 2, 6, 8, 10, 11, 13 };
    const char *path = path_of("genes.fasta");
    write_file(path, fasta, sizeof fasta - 1);
    twin_input *input = open_one(path, documents); /* by its name */
    struct log log = read_all(input);
    assert_int_equal(log.count, 6);
    for (size_t i = 0; i < log.count; i++) {
        assert_false(log.seen[i].is_problem);
        assert_true(log.seen[i].has_id == (*ids[i] != '\0'));
        assert_string_equal(log.seen[i].id, ids[i]);
        assert_string_equal(log.seen[i].text, expected[i]);
        assert_int_equal(log.seen[i].position.line, lines[i]);
    }
    assert_string_equal(log.seen[0].record, ">s1 the first\nACGT\n ac gt\r\n");
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
    check_every_piece_size(path, sizeof fasta - 1, sequences);
    write_file(path, "ACGT\n>s\nA", 9);
    input = open_one(path, sequences);
    log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_true(log.seen[0].is_problem);
    assert_string_equal(log.seen[0].message, "a sequence begins with '>' and its name");
    assert_string_equal(log.seen[1].text, "A");
    clear_log(&log);
    twin_input_free(input);
}

/* ---- what is no input ---- */

static void what_is_no_input_is_refused_with_advice(void **unused)
{
    (void)unused;
    write_file(path_of("letter.txt"), "Dear all,\n", 10);
    write_file(path_of("picture.png"), "\x89PNG\0\0", 6);
    make_folder("folder");
    check_refused(path_of("picture.png"), documents, TWIN_EINVAL, "is not text: it has a NUL byte; extract its text");
    check_refused(path_of("missing.jsonl"), documents, TWIN_EIO, "missing.jsonl cannot be opened");
    check_refused(path_of("folder"), rows, TWIN_EINVAL, "is a folder");
    check_refused(path_of("letter.txt"), (twin_input_options){ .format = TWIN_INPUT_SETS, .separator = '\n' },
                  TWIN_EINVAL, "line end");
    write_file(path_of("not.jsonl.gz"), mixed, sizeof mixed - 1);
    check_refused(path_of("not.jsonl.gz"), documents, TWIN_EFORMAT, "is not gzip data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(lines_become_documents_and_problems_in_their_order),
        IN_A_FOLDER(fields_may_have_other_names),
        IN_A_FOLDER(pieces_of_every_size_give_the_same),
        IN_A_FOLDER(random_lines_are_the_same_in_pieces_of_every_size),
        IN_A_FOLDER(empty_files_have_no_pieces),
        IN_A_FOLDER(no_input_is_refused),
        IN_A_FOLDER(several_inputs_name_and_describe_their_lines),
        IN_A_FOLDER(rows_are_a_set_and_an_element),
        IN_A_FOLDER(a_line_past_the_limit_is_a_problem),
        IN_A_FOLDER(a_line_far_past_the_limit_is_not_kept),
        IN_A_FOLDER(a_huge_line_is_read_and_its_room_given_back),
        IN_A_FOLDER(a_visitor_may_stop),
        IN_A_FOLDER(a_file_knows_what_others_did_to_it),
        IN_A_FOLDER(a_file_cut_short_behind_our_back_is_an_error),
        IN_A_FOLDER(each_line_of_text_is_a_document),
        IN_A_FOLDER(sequences_of_several_lines_are_documents),
        IN_A_FOLDER(packed_lines_of_text_are_those_of_the_plain_file),
        IN_A_FOLDER(what_is_no_input_is_refused_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

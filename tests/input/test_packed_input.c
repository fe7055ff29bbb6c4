/* test_packed_input.c — compressed inputs hold what was compressed, and damaged, endless or forbidden ones are refused. */
#include "mixed_lines.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/random.h"
#include "scale.h"

static struct packer {
    size_t (*pack)(unsigned char *out, size_t room, const void *bytes, size_t length);
    const char *name, *word;
} const packers[] = { { gzip, "p.jsonl.gz", "gzip" }, { zstd, "p.jsonl.zst", "zstd" } };

/* In one part, in two, and with an empty one between them. */
static void packed_files_give_what_they_hold(void **unused)
{
    (void)unused;
    struct log expected = log_of_mixed();
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1);
        write_file(path, packed, size);
        check_log_of(path, &expected);

        size = packers[p].pack(packed, sizeof packed, mixed, 50);
        size += packers[p].pack(packed + size, sizeof packed - size, "", 0);
        size += packers[p].pack(packed + size, sizeof packed - size, mixed + 50, sizeof mixed - 1 - 50);
        write_file(path, packed, size);
        check_log_of(path, &expected);

        write_file(path_of("packed.jsonl"), packed, size); /* the bytes decide, not the name */
        check_log_of(path_of("packed.jsonl"), &expected);
    }
    clear_log(&expected);
}

static void packed_files_cut_anywhere_are_refused(void **unused)
{
    (void)unused;
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1);
        for (size_t length = 0; length < size; length++) {
            char words[64];
            snprintf(words, sizeof words, "ends early after %zu bytes", length);
            write_file(path, packed, length);
            check_refused(path, documents, TWIN_EFORMAT, length < (p ? 4 : 2) ? "though its name ends in" : words);
        }
    }
}

/* gzip keeps its checksum in the eight last bytes, zstd in the four last. */
static void damaged_files_are_refused(void **unused)
{
    (void)unused;
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1), check = size - (p ? 4 : 8);
        packed[check] ^= 1;
        write_file(path, packed, size);
        check_refused(path, documents, TWIN_EFORMAT, "the checksum does not match");
        packed[check] ^= 1;

        memcpy(packed + size, "garbage", sizeof "garbage");
        write_file(path, packed, size + sizeof "garbage");
        check_refused(path, documents, TWIN_EFORMAT, "something else behind");
        packed[size / 2] ^= 0x55;
        write_file(path, packed, size);
        check_refused(path, documents, TWIN_EFORMAT, packers[p].word);
    }
}

/* More than the rooms in which it is unpacked, and text of which a little makes a lot. */
static void large_packed_files_are_unpacked_whole(void **unused)
{
    (void)unused;
    size_t length = 0, room = 3 << 20;
    char *lines = malloc(room);
    unsigned char *packed = malloc(room);
    assert_non_null(lines);
    assert_non_null(packed);
    for (uint64_t state = 3; length < room - 200000;)
        length += (size_t)sprintf(lines + length, "{\"text\":\"%016llx%*s\"}\n",
                                  (unsigned long long)twin__random_next(&state),
                                  (int)twin__random_below(&state, length < room / 2 ? 10 : 100000), "");
    write_file(path_of("big.jsonl"), lines, length);
    twin_input *input = open_one(path_of("big.jsonl"), documents);
    struct log expected = read_all(input);
    twin_input_free(input);
    for (int p = 0; p < 2; p++) {
        write_file(path_of(packers[p].name), packed, packers[p].pack(packed, room, lines, length));
        check_log_of(path_of(packers[p].name), &expected);

        /* From memory to a file at the start, on the way, and not at all. */
        for (size_t memory = 1; memory < 2 * room; memory *= 100) {
            input = open_one(path_of(packers[p].name), (twin_input_options){ .memory_bytes = memory });
            struct log log = read_all(input);
            check_same_logs(&expected, &log);
            clear_log(&log);
            twin_input_free(input);
        }
    }
    clear_log(&expected);
    free(lines);
    free(packed);
}

/* What fits into memory needs no temporary folder. */
static void small_packed_files_stay_in_memory(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    write_file(path, packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1));
    twin_input_free(open_one(path, (twin_input_options){ .temp_folder = "/nowhere/at/all" }));
}

static void what_unpacks_to_too_much_is_refused(void **unused)
{
    (void)unused;
    enum { LENGTH = 100000 };
    unsigned char packed[4096];
    char *lines = malloc(LENGTH);
    assert_non_null(lines);
    memset(lines, '\n', LENGTH);
    for (int p = 0; p < 2; p++) {
        const char *path = path_of(packers[p].name);
        write_file(path, packed, packers[p].pack(packed, sizeof packed, lines, LENGTH));
        twin_input_free(open_one(path, (twin_input_options){ .max_unpacked_bytes = LENGTH }));
        check_refused(path, (twin_input_options){ .max_unpacked_bytes = LENGTH - 1 }, TWIN_ELIMIT,
                      "become more than 99999; --max-unpacked-bytes allows more");
    }
    free(lines);
}

/* 1.5 GB of zeros in 46 KB, of which one is enough to see that it is no text; with a first line, the ratio decides. */
static void bombs_stop_at_a_ratio(void **unused)
{
    (void)unused;
    enum { MEBIBYTE = 1 << 20, BLOCKS = QUICK ? 10 : 1500 };
    const char *path = path_of("bomb.jsonl.zst");
    ZSTD_CCtx *context = ZSTD_createCCtx();
    char *zeros = calloc(1, MEBIBYTE), *room = malloc(MEBIBYTE);
    assert_true(context && zeros && room);
    for (int text = 0; text < 2; text++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        for (int i = 0; i < BLOCKS; i++) {
            zeros[0] = zeros[1] = (char)(text && i == 0 ? '{' : '\0');
            ZSTD_inBuffer in = { zeros, MEBIBYTE, 0 };
            ZSTD_outBuffer out = { room, MEBIBYTE, 0 };
            ZSTD_compressStream2(context, &out, &in, i + 1 < BLOCKS ? ZSTD_e_continue : ZSTD_e_end);
            assert_int_equal(in.pos, in.size);
            fwrite(room, 1, out.pos, file);
        }
        assert_int_equal(fclose(file), 0);
        if (!text)
            check_refused(path, documents, TWIN_EFORMAT, "is not text: it begins with NUL bytes");
        else if (!QUICK) /* most of its one line is dropped at once */
            check_refused(path, (twin_input_options){ .max_bytes = 1000 }, TWIN_ELIMIT,
                          "compressed bytes become more than 1073741824; --max-unpacked-bytes allows more");
    }
    free(zeros);
    free(room);
    ZSTD_freeCCtx(context);
}

/* A frame drawn by hand: magic, descriptor, window 2^(10 + byte/8), then one empty last block. */
static void zstd_windows_go_up_to_128_mebibytes(void **unused)
{
    (void)unused;
    unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00 };
    const char *path = path_of("w.jsonl.zst");
    write_file(path, frame, sizeof frame);
    twin_input *input = open_one(path, documents);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_input_free(input);
    frame[5] = 18 << 3;
    write_file(path, frame, sizeof frame);
    check_refused(path, documents, TWIN_EUNSUPPORTED, "window over 128 MiB");
}

static bool note_progress(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    assert_string_equal(stage->name, "unpacking");
    assert_string_equal(stage->unit, "B");
    assert_true(done <= total);
    *(uint64_t *)context = done;
    return true;
}

static void unpacking_tells_how_far_it_is(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    size_t size = gzip(packed, sizeof packed, mixed, sizeof mixed - 1);
    write_file(path, packed, size);
    uint64_t done = 0;
    twin_input_free(open_one(path, (twin_input_options){ .progress = { note_progress, &done } }));
    assert_int_equal(done, size);
}

static void trouble_with_the_temporary_folder_names_it(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    write_file(path, packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1));
    check_refused(path, (twin_input_options){ .temp_folder = "/nowhere/at/all", .memory_bytes = 1 }, TWIN_EIO,
                  "/nowhere/at/all");

    /* As a full disk would, a limit on the size of files refuses a write half way. */
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ 100, before.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    twin_input *input;
    twin_error error = { 0 };
    twin_status status = twin_input_open(&input, &path, 1, (twin_input_options){ .temp_folder = base }, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, TWIN_EIO);
    assert_non_null(strstr(error.message, "after 100 bytes"));
    assert_non_null(strstr(error.message, base));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(packed_files_give_what_they_hold),
        IN_A_FOLDER(packed_files_cut_anywhere_are_refused),
        IN_A_FOLDER(damaged_files_are_refused),
        IN_A_FOLDER(large_packed_files_are_unpacked_whole),
        IN_A_FOLDER(small_packed_files_stay_in_memory),
        IN_A_FOLDER(what_unpacks_to_too_much_is_refused),
        IN_A_FOLDER(bombs_stop_at_a_ratio),
        IN_A_FOLDER(zstd_windows_go_up_to_128_mebibytes),
        IN_A_FOLDER(unpacking_tells_how_far_it_is),
        IN_A_FOLDER(trouble_with_the_temporary_folder_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

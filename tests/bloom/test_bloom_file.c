/* test_bloom_file.c — filter files: what was written is read back, and damaged files are refused. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <twinsift/bloom.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloom/bloom_private.h"
#include "families.h"

enum { HEADER = 128 };

/* In memory where possible: saving waits for the disk, which takes half a minute for all of this. */
static char in_memory[] = "/dev/shm/twinsift-bloom-XXXXXX", on_disk[] = "/tmp/twinsift-bloom-XXXXXX", *folder;

static char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state_unused)
{
    (void)state_unused;
    folder = mkdtemp(in_memory);
    if (!folder)
        folder = mkdtemp(on_disk);
    return folder ? 0 : -1;
}

static int remove_folder(void **state_unused)
{
    (void)state_unused;
    unlink(path_of("filter"));
    unlink(path_of("other"));
    unlink(path_of("link"));
    return rmdir(folder); /* fails, and so does the group, if anything was left behind */
}

/* ---- small tools ---- */

static bool add(twin_bloom *bloom, unsigned i)
{
    char item[32];
    return twin_bloom_add(bloom, item, (size_t)snprintf(item, sizeof item, "item %u", i));
}

static uint32_t count(const twin_bloom *bloom, unsigned i)
{
    char item[32];
    return twin_bloom_count(bloom, item, (size_t)snprintf(item, sizeof item, "item %u", i));
}

static twin_bloom *make(twin_bloom_options options, unsigned items)
{
    twin_bloom *bloom;
    options.hash.family = present_family(options.hash.family);
    assert_int_equal(twin_bloom_create(&bloom, options), TWIN_OK);
    for (unsigned i = 0; i < items; i++)
        for (unsigned times = 0; times <= i % 4; times++)
            add(bloom, i);
    return bloom;
}

/* A filter of 40 items, and its file. */
static void write_small(unsigned cell_bits)
{
    twin_error error;
    twin_bloom *bloom = make((twin_bloom_options){ 40, .01, .cell_bits = cell_bits }, 40);
    assert_int_equal(twin_bloom_save(bloom, path_of("filter"), true, &error), TWIN_OK);
    twin_bloom_free(bloom);
}

static void write_counting(void)
{
    write_small(4);
}

/* A filter of three layers, 10 + 20 + 40 planned, and its file. */
static void write_growing(void)
{
    twin_error error;
    twin_bloom *bloom = make((twin_bloom_options){ 10, .1, .grows = true }, 50);
    assert_int_equal(twin_bloom_save(bloom, path_of("filter"), true, &error), TWIN_OK);
    twin_bloom_free(bloom);
}

static size_t load(uint8_t *out, size_t room, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(out, 1, room, file);
    fclose(file);
    return length;
}

static void store(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static twin_status open_as(twin_bloom_access access, twin_bloom **out, const char *name, twin_error *error)
{
    *error = (twin_error){ 0 };
    return twin_bloom_open(out, path_of(name), (twin_bloom_open_options){ .access = access }, error);
}

/* Every way in refuses the file, with a sentence that names it. */
static twin_status refused(const char *name)
{
    twin_bloom *bloom;
    twin_bloom_info info;
    twin_error error;
    twin_status status = open_as(TWIN_BLOOM_READ, &bloom, name, &error);
    assert_true(status != TWIN_OK);
    assert_null(bloom);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, name));
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &bloom, name, &error), status);
    assert_null(bloom);
    assert_int_equal(twin_bloom_inspect(&info, path_of(name), &error), status);
    return status;
}

static void must_open(const char *name)
{
    twin_bloom *bloom;
    twin_error error;
    assert_int_equal(open_as(TWIN_BLOOM_READ, &bloom, name, &error), TWIN_OK);
    twin_bloom_free(bloom);
}

/* ---- writing and reading ---- */

static const twin_bloom_options kinds[] = {
    { .items = 400, .rate = .01 },
    { .items = 400, .rate = .001, .hash.seed = 77 },
    { .items = 400, .rate = .01, .cell_bits = 4 },
    { .items = 400, .rate = .001, .cell_bits = 8, .hash.family = TWIN_HASH_FARM },
    { .items = 400, .rate = .01, .cell_bits = 16, .hash.family = TWIN_HASH_JENKINS },
    { .items = 400, .cells = 1024, .functions = 3 },
    { .items = 400, .rate = .01, .hash = { TWIN_HASH_SIP, 0, { 11, 12 } } },
    { .items = 900000, .rate = .01 }, /* over a MiB: two checksums */
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void assert_same(const twin_bloom_info *a, const twin_bloom_info *b)
{
    assert_int_equal(a->shape.layout, b->shape.layout);
    assert_int_equal(a->shape.cell_bits, b->shape.cell_bits);
    assert_int_equal(a->shape.functions, b->shape.functions);
    assert_int_equal(a->shape.cells, b->shape.cells);
    assert_int_equal(a->family, b->family);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->planned_items, b->planned_items);
    assert_true(a->planned_rate == b->planned_rate);
    assert_int_equal(a->added, b->added);
    assert_int_equal(a->fresh, b->fresh);
    assert_int_equal(a->removed, b->removed);
    assert_int_equal(a->marked, b->marked);
    assert_true(a->rate == b->rate && a->items == b->items);
}

static void what_is_written_is_read(void **state_unused)
{
    (void)state_unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (int access = TWIN_BLOOM_READ; access <= TWIN_BLOOM_WRITE; access++)
            for (int trust = 0; trust < 2; trust++) {
                twin_error error;
                twin_bloom *bloom = make(kinds[kind], 300), *read;
                if (bloom->shape.cell_bits > 1)
                    assert_true(twin_bloom_remove(bloom, "item 3", 6));
                assert_int_equal(twin_bloom_save(bloom, path_of("filter"), true, &error), TWIN_OK);
                twin_hash hash = kinds[kind].hash;
                hash.family = present_family(hash.family);
                twin_bloom_open_options options = { .access = (twin_bloom_access)access,
                                                    .hash = &hash,
                                                    .trust = trust };
                assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_OK);

                twin_bloom_info a, b, c;
                twin_bloom_describe(&a, bloom);
                twin_bloom_describe(&b, read);
                assert_int_equal(twin_bloom_inspect(&c, path_of("filter"), &error), TWIN_OK);
                assert_same(&a, &b);
                assert_same(&a, &c);
                assert_memory_equal(bloom->words, read->words, twin_bloom_bytes(a.shape));
                for (unsigned i = 0; i < 600; i++)
                    assert_int_equal(count(bloom, i), count(read, i));
                twin_bloom_free(bloom);
                twin_bloom_free(read);
            }
}

static void the_same_filter_gives_the_same_bytes(void **state_unused)
{
    (void)state_unused;
    static uint8_t a[1 << 16], b[1 << 16];
    write_small(8);
    size_t length = load(a, sizeof a, path_of("filter"));
    write_small(8);
    assert_int_equal(load(b, sizeof b, path_of("filter")), length);
    assert_int_equal(length, HEADER + 512 + 8);
    assert_memory_equal(a, b, length);
}

static void an_existing_file_is_replaced_only_on_request(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *bloom = make(kinds[0], 10);
    store(path_of("other"), "mine", 4);
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), false, &error), TWIN_EINVAL);
    uint8_t bytes[8];
    assert_int_equal(load(bytes, sizeof bytes, path_of("other")), 4);
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), true, &error), TWIN_EINVAL); /* it is not a filter */
    assert_int_equal(load(bytes, sizeof bytes, path_of("other")), 4);
    unlink(path_of("other"));
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), false, &error), TWIN_OK);
    must_open("other");
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), false, &error), TWIN_EINVAL);
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), true, &error), TWIN_OK);
    must_open("other");

    store(path_of("empty"), "", 0);
    assert_int_equal(twin_bloom_save(bloom, path_of("empty"), true, &error), TWIN_OK);
    must_open("empty");
    struct stat about;
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0); /* has no bytes, as a device has none */
    assert_int_equal(twin_bloom_save(bloom, path_of("pipe"), true, &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "is not a filter"));
    assert_int_equal(stat(path_of("pipe"), &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    unlink(path_of("pipe"));
    unlink(path_of("empty"));

    assert_int_equal(twin_bloom_save(bloom, "/nowhere/at/all", false, &error), TWIN_EIO);
    assert_int_equal(error.status, TWIN_EIO);
    assert_non_null(strstr(error.message, "/nowhere/at/all"));
    twin_bloom_free(bloom);
}

static void commits_keep_changes_mode_and_links(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *bloom, *reader;
    struct stat before, after;
    write_small(4);
    assert_int_equal(chmod(path_of("filter"), 0640), 0);
    unlink(path_of("link"));
    assert_int_equal(symlink("filter", path_of("link")), 0);
    assert_int_equal(stat(path_of("filter"), &before), 0);

    assert_int_equal(open_as(TWIN_BLOOM_READ, &reader, "filter", &error), TWIN_OK);
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &bloom, "link", &error), TWIN_OK);
    for (unsigned round = 1; round <= 3; round++) {
        add(bloom, 1000);
        assert_int_equal(twin_bloom_commit(bloom, &error), TWIN_OK);
        twin_bloom *now;
        assert_int_equal(open_as(TWIN_BLOOM_READ, &now, "filter", &error), TWIN_OK);
        assert_true(count(now, 1000) >= round);
        twin_bloom_free(now);
    }
    twin_bloom_free(bloom);

    assert_int_equal(count(reader, 1000), 0); /* which opened it before */
    twin_bloom_free(reader);
    assert_int_equal(stat(path_of("filter"), &after), 0);
    assert_int_equal(before.st_mode, after.st_mode);
    assert_int_equal(lstat(path_of("link"), &after), 0);
    assert_true(S_ISLNK(after.st_mode));
}

static void what_is_not_committed_is_not_kept(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *bloom;
    static uint8_t a[1 << 12], b[1 << 12];
    write_small(4);
    size_t length = load(a, sizeof a, path_of("filter"));
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &bloom, "filter", &error), TWIN_OK);
    add(bloom, 1000);
    twin_bloom_free(bloom);
    assert_int_equal(load(b, sizeof b, path_of("filter")), length);
    assert_memory_equal(a, b, length);
}

static void there_is_one_writer_at_a_time(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *first, *second, *reader;
    write_small(1);
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &first, "filter", &error), TWIN_OK);
    for (int round = 0; round < 3; round++) { /* before, between and after commits */
        assert_int_equal(open_as(TWIN_BLOOM_WRITE, &second, "filter", &error), TWIN_EBUSY);
        assert_non_null(strstr(error.message, "is being written"));
        assert_int_equal(twin_bloom_save(first, path_of("filter"), true, &error), TWIN_EBUSY);
        assert_int_equal(open_as(TWIN_BLOOM_READ, &reader, "filter", &error), TWIN_OK);
        twin_bloom_free(reader);
        assert_int_equal(twin_bloom_commit(first, &error), TWIN_OK);
    }
    twin_bloom_free(first);
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &second, "filter", &error), TWIN_OK);
    twin_bloom_free(second);
}

/* Whether there is a file beside the filter. Who is killed in the moment between link and rename leaves one, which the next
 * writer removes. */
static bool something_is_left(void)
{
    glob_t left;
    bool found = glob(path_of("filter?*"), 0, NULL, &left) == 0;
    globfree(&left);
    return found;
}

/* A writer that commits without pause is killed at odd moments, or ended by a signal, which waits for that moment to
 * pass: the file is whole each time, and nothing that was acknowledged is missing. */
static void a_killed_writer_leaves_a_whole_file(void **state_unused)
{
    (void)state_unused;
    write_small(16);
    unsigned acknowledged = 0;
    for (unsigned round = 0; round < 25; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            twin_bloom *bloom;
            twin_error error;
            if (open_as(TWIN_BLOOM_WRITE, &bloom, "filter", &error) != TWIN_OK)
                _exit(1);
            do
                add(bloom, 5000);
            while (twin_bloom_commit(bloom, &error) == TWIN_OK && write(pipes[1], ".", 1) == 1);
            _exit(1);
        }
        close(pipes[1]);
        usleep(2000 + 700 * round);
        kill(child, round % 2 ? SIGTERM : SIGKILL);
        waitpid(child, NULL, 0);
        assert_true(round % 2 == 0 || !something_is_left());
        unlink(path_of("filter.twinsift-new"));
        char dots[4096];
        for (ssize_t got; (got = read(pipes[0], dots, sizeof dots)) > 0;)
            acknowledged += (unsigned)got;
        close(pipes[0]);

        twin_bloom *bloom;
        twin_error error;
        assert_int_equal(open_as(TWIN_BLOOM_READ, &bloom, "filter", &error), TWIN_OK);
        assert_true(count(bloom, 5000) >= (acknowledged < 65535 ? acknowledged : 65535));
        twin_bloom_free(bloom);
    }

    twin_bloom *bloom;
    twin_error error;
    store(path_of("filter.twinsift-new"), "cut", 3);
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &bloom, "filter", &error), TWIN_OK);
    assert_int_equal(twin_bloom_commit(bloom, &error), TWIN_OK);
    twin_bloom_free(bloom);
    assert_false(something_is_left());
}

/* ---- refusing ---- */

static void a_growing_filter_is_written_and_read(void **state_unused)
{
    (void)state_unused;
    twin_bloom *bloom;
    twin_error error;
    write_growing();
    assert_int_equal(open_as(TWIN_BLOOM_WRITE, &bloom, "filter", &error), TWIN_OK);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(count(bloom, i), 1);
    for (unsigned i = 50; i < 100; i++) /* past the third layer */
        add(bloom, i);
    assert_int_equal(twin_bloom_commit(bloom, &error), TWIN_OK);
    twin_bloom_info before, after;
    twin_bloom_describe(&before, bloom);
    twin_bloom_free(bloom);
    assert_int_equal(twin_bloom_inspect(&after, path_of("filter"), &error), TWIN_OK);
    assert_int_equal(after.layers, 4);
    assert_int_equal(after.fresh, before.fresh);
    assert_int_equal(open_as(TWIN_BLOOM_READ, &bloom, "filter", &error), TWIN_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(count(bloom, i), 1);
    twin_bloom_free(bloom);
}

static void a_file_cut_anywhere_is_refused(void **state_unused)
{
    (void)state_unused;
    static uint8_t bytes[1 << 12];
    for (unsigned bits = 1; bits <= 64; bits *= 4) { /* 1, 4, 16, and one that grows */
        if (bits <= 16)
            write_small(bits);
        else
            write_growing();
        size_t length = load(bytes, sizeof bytes, path_of("filter"));
        for (size_t cut = 0; cut < length; cut++) {
            store(path_of("other"), bytes, cut);
            assert_int_equal(refused("other"), TWIN_EFORMAT);
        }
        memset(bytes + length, 0, 16);
        store(path_of("other"), bytes, length + 1);
        assert_int_equal(refused("other"), TWIN_EFORMAT);
        store(path_of("other"), bytes, length);
        must_open("other");
    }
}

/* Whether the byte is one of the four after the magic of a header. */
static bool is_in_version(const uint8_t *bytes, size_t at)
{
    return at >= 8 && memcmp(bytes + at / 4 * 4 - 8, "TWBLOOM\n", 8) == 0;
}

static void a_bit_flipped_anywhere_is_refused(void **state_unused)
{
    (void)state_unused;
    static uint8_t bytes[1 << 12];
    static void (*const write[])(void) = { write_counting, write_growing };
    for (int kind = 0; kind < 2; kind++) {
        write[kind]();
        size_t length = load(bytes, sizeof bytes, path_of("filter"));
        assert_true(length < sizeof bytes);
        for (size_t bit = 0; bit < length * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            store(path_of("other"), bytes, length);
            twin_status status = refused("other");
            /* A flipped version may be one of the future. */
            assert_true(status == TWIN_EFORMAT || (status == TWIN_EUNSUPPORTED && is_in_version(bytes, bit / 8)));
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        }
    }
}

static void damage_to_the_cells_has_a_place(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *bloom = make(kinds[KINDS - 1], 100), *read;
    assert_int_equal(twin_bloom_save(bloom, path_of("other"), true, &error), TWIN_OK);
    uint64_t body = twin_bloom_bytes(bloom->shape);
    twin_bloom_free(bloom);
    assert_true(body > 1 << 20);

    int file = open(path_of("other"), O_RDWR);
    assert_int_equal(pwrite(file, "x", 1, (off_t)(HEADER + body - 1)), 1);
    assert_int_equal(open_as(TWIN_BLOOM_READ, &read, "other", &error), TWIN_EFORMAT);
    assert_int_equal(error.offset, HEADER + (1 << 20)); /* the second MiB */
    assert_non_null(strstr(error.message, "checksum"));

    /* Trust opens it at once all the same. */
    twin_bloom_open_options options = { .trust = true };
    assert_int_equal(twin_bloom_open(&read, path_of("other"), options, &error), TWIN_OK);
    twin_bloom_free(read);

    assert_int_equal(ftruncate(file, (off_t)(HEADER + body)), 0);
    assert_int_equal(twin_bloom_open(&read, path_of("other"), options, &error), TWIN_EFORMAT);
    assert_int_equal(error.offset, HEADER + body);
    close(file);
}

static void foreign_files_are_refused(void **state_unused)
{
    (void)state_unused;
    static const char zeros[1000];
    store(path_of("other"), "", 0);
    assert_int_equal(refused("other"), TWIN_EFORMAT);
    store(path_of("other"), "hello, world\n", 13);
    assert_int_equal(refused("other"), TWIN_EFORMAT);
    store(path_of("other"), zeros, sizeof zeros);
    assert_int_equal(refused("other"), TWIN_EFORMAT);

    twin_bloom *bloom;
    twin_error error;
    twin_bloom_open_options options = { 0 };
    assert_int_equal(twin_bloom_open(&bloom, folder, options, &error), TWIN_EFORMAT); /* a folder */
    assert_int_equal(twin_bloom_open(&bloom, "/dev/null", options, &error), TWIN_EFORMAT);
    unlink(path_of("other"));
    assert_int_equal(refused("other"), TWIN_EIO);
    assert_int_equal(mkfifo(path_of("other"), 0600), 0);
    assert_int_equal(refused("other"), TWIN_EFORMAT); /* and does not wait */
    unlink(path_of("other"));
    assert_int_equal(twin_bloom_open(&bloom, path_of("other"), options, NULL), TWIN_EIO);
}

static void a_newer_version_is_told_apart(void **state_unused)
{
    (void)state_unused;
    static uint8_t bytes[1 << 12];
    twin_bloom *bloom;
    twin_error error;
    write_small(1);
    size_t length = load(bytes, sizeof bytes, path_of("filter"));
    bytes[8] = 3;
    store(path_of("other"), bytes, length);
    assert_int_equal(refused("other"), TWIN_EUNSUPPORTED);
    open_as(TWIN_BLOOM_READ, &bloom, "other", &error);
    assert_non_null(strstr(error.message, "version 3"));
}

static void another_hash_or_key_is_refused(void **state_unused)
{
    (void)state_unused;
    twin_error error;
    twin_bloom *bloom = make(kinds[6], 20), *read;
    twin_hash right = kinds[6].hash, wrong = right, plain = { 0 };
    assert_int_equal(twin_bloom_save(bloom, path_of("filter"), true, &error), TWIN_OK);

    assert_int_equal(open_as(TWIN_BLOOM_READ, &read, "filter", &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "no key"));
    wrong.key[1] ^= (uint64_t)1 << 63;
    twin_bloom_open_options options = { .hash = &wrong };
    assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "another key"));
    options.hash = &plain;
    assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_EINVAL);
    options.hash = &right;
    assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_OK);
    assert_int_equal(count(read, 3), 1);
    twin_bloom_free(read);
    twin_bloom_free(bloom);

    write_small(1);
    assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_EINVAL); /* not keyed */
    plain.seed = 1;
    options.hash = &plain;
    assert_int_equal(twin_bloom_open(&read, path_of("filter"), options, &error), TWIN_EINVAL); /* another seed */
}

/* Nowhere in the file: neither as it is in memory nor the other way round. */
static void the_key_is_not_in_the_file(void **state_unused)
{
    (void)state_unused;
    static uint8_t bytes[1 << 12];
    twin_error error;
    twin_bloom_options keyed = kinds[6];
    keyed.hash = twin_hash_member(TWIN_HASH_SIP, 4711);
    twin_bloom *bloom = make(keyed, 20);
    assert_int_equal(twin_bloom_save(bloom, path_of("filter"), true, &error), TWIN_OK);
    twin_bloom_free(bloom);
    size_t length = load(bytes, sizeof bytes, path_of("filter"));
    for (int i = 0; i < 2; i++) {
        uint64_t half = keyed.hash.key[i], turned = __builtin_bswap64(half), seed = 4711;
        assert_null(memmem(bytes, length, &half, 8));
        assert_null(memmem(bytes, length, &turned, 8));
        assert_null(memmem(bytes, length, &seed, 8));
    }
}

/* ---- golden files ---- */

/* What tests/golden/README.md says is in them: item i, from 0 to 39, i % 4 + 1 times; and not much else. */
static void has_golden_items(const twin_bloom *bloom, unsigned cell_bits)
{
    unsigned others = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t times = count(bloom, i);
        if (i < 40)
            assert_true(times >= (cell_bits == 1 ? 1 : i % 4 + 1));
        else
            others += times > 0;
    }
    assert_true(others < 30); /* 1 % of 960 */
}

static void golden_files_are_read(void **state_unused)
{
    (void)state_unused;
    static const struct {
        const char *name;
        unsigned cell_bits;
        twin_bloom_layout layout;
        twin_hash_family family;
        uint64_t seed;
    } golden[] = {
        { "blocks.bloom", 1, TWIN_BLOOM_BLOCKS, TWIN_HASH_XXH3, 0 },
        { "classic.bloom", 1, TWIN_BLOOM_CLASSIC, TWIN_HASH_XXH3, 7 },
        { "count4.bloom", 4, TWIN_BLOOM_BLOCKS, TWIN_HASH_XXH3, 0 },
        { "count8.bloom", 8, TWIN_BLOOM_CLASSIC, TWIN_HASH_FARM, 0 },
        { "count16.bloom", 16, TWIN_BLOOM_BLOCKS, TWIN_HASH_JENKINS, 0 },
        { "keyed.bloom", 1, TWIN_BLOOM_BLOCKS, TWIN_HASH_SIP, 0 },
    };
    twin_hash key = { TWIN_HASH_SIP, 0, { 0x3736353433323130, 0x6665646362613938 } }; /* "0123456789abcdef" */
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s/../golden/%s", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__,
                 golden[i].name);
        twin_bloom *bloom;
        twin_error error;
        twin_bloom_info info;
        twin_bloom_open_options options = { .hash = golden[i].family == TWIN_HASH_SIP ? &key : NULL };
        if (twin_hash_available(golden[i].family) != TWIN_OK) {
            assert_int_equal(twin_bloom_open(&bloom, path, options, &error), TWIN_EUNSUPPORTED);
            continue;
        }
        assert_int_equal(twin_bloom_open(&bloom, path, options, &error), TWIN_OK);
        twin_bloom_describe(&info, bloom);
        assert_int_equal(info.shape.cell_bits, golden[i].cell_bits);
        assert_int_equal(info.shape.layout, golden[i].layout);
        assert_int_equal(info.family, golden[i].family);
        assert_int_equal(info.seed, golden[i].seed);
        assert_int_equal(info.planned_items, 40);
        assert_int_equal(info.added, 100);

        has_golden_items(bloom, golden[i].cell_bits);

        /* And what is written today is the same to the byte. */
        twin_bloom_options made = { 40, info.planned_rate, .cell_bits = golden[i].cell_bits,
                                    .layout = golden[i].layout,
                                    .hash = { golden[i].family, golden[i].seed, { key.key[0], key.key[1] } } };
        twin_bloom *again = make(made, 40);
        assert_memory_equal(again->words, bloom->words, twin_bloom_bytes(info.shape));
        assert_int_equal(twin_bloom_save(again, path_of("filter"), true, &error), TWIN_OK);
        static uint8_t old[1 << 12], new[1 << 12];
        size_t length = load(old, sizeof old, path);
        assert_int_equal(load(new, sizeof new, path_of("filter")), length);
        assert_memory_equal(old, new, length);
        twin_bloom_free(again);
        twin_bloom_free(bloom);
    }
}

static void the_golden_filter_that_grows_is_read(void **state_unused)
{
    (void)state_unused;
    static uint8_t old[1 << 12], new[1 << 12];
    char path[4096];
    twin_bloom *bloom, *again = make((twin_bloom_options){ 10, .1, .grows = true }, 40);
    twin_error error;
    snprintf(path, sizeof path, "%.*s/../golden/grows.bloom", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
    assert_int_equal(twin_bloom_open(&bloom, path, (twin_bloom_open_options){ 0 }, &error), TWIN_OK);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(count(bloom, i), 1);
    assert_int_equal(twin_bloom_save(again, path_of("filter"), true, &error), TWIN_OK);
    size_t length = load(old, sizeof old, path);
    assert_int_equal(load(new, sizeof new, path_of("filter")), length);
    assert_memory_equal(old, new, length);
    twin_bloom_free(again);
    twin_bloom_free(bloom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_same_filter_gives_the_same_bytes),
        cmocka_unit_test(an_existing_file_is_replaced_only_on_request),
        cmocka_unit_test(commits_keep_changes_mode_and_links),
        cmocka_unit_test(what_is_not_committed_is_not_kept),
        cmocka_unit_test(there_is_one_writer_at_a_time),
        cmocka_unit_test(a_killed_writer_leaves_a_whole_file),
        cmocka_unit_test(a_growing_filter_is_written_and_read),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_bit_flipped_anywhere_is_refused),
        cmocka_unit_test(damage_to_the_cells_has_a_place),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(a_newer_version_is_told_apart),
        cmocka_unit_test(another_hash_or_key_is_refused),
        cmocka_unit_test(the_key_is_not_in_the_file),
        cmocka_unit_test(golden_files_are_read),
        cmocka_unit_test(the_golden_filter_that_grows_is_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

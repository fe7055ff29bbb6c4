/* cmd_bloom.c — twinsift bloom: Bloom and counting filters in a file. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "twinsift bloom keeps what was seen before in a small file that is sure of what it has not seen.\n"
    "\n"
    "usage: twinsift bloom create FILE --items N --rate P [OPTION]...   make an empty filter\n"
    "       twinsift bloom add FILE [INPUT]...                          add items\n"
    "       twinsift bloom has FILE [INPUT]...                          print the items that may be in\n"
    "       twinsift bloom count FILE [INPUT]...                        print COUNT<TAB>ITEM\n"
    "       twinsift bloom remove FILE [INPUT]...                       remove items from a counting filter\n"
    "       twinsift bloom merge OUT FILE...                            all that is in any of equal filters\n"
    "       twinsift bloom info FILE...                                 tell size, fill and rate; check the file\n"
    "\n"
    "Items are the lines of the inputs, or of standard input (also as -). An item that was added is always\n"
    "found; one that was not is found with the rate of false positives the filter was planned for, or more\n"
    "often when it holds more items than planned.\n"
    "\n"
    "create:\n"
    "  --items N           distinct items planned for (K, M, G: thousand, million, thousand million)\n"
    "  --rate P            false positives when it holds them, 1e-12 to 0.5 (0.01)\n"
    "  --counting BITS     a counting filter with cells of 4, 8 or 16 bits\n"
    "  --layout NAME       blocks (one cache line an item) or classic (fewer bits below 0.3 %); default by rate\n"
    "  --hash NAME         xxh3, farm, jenkins, or sip with a secret key for hostile input (xxh3)\n"
    "  --seed N            which hash of the family (0)\n"
    "merge:\n"
    "  --intersect         only what is in all of them\n"
    "create, merge:\n"
    "  --force             replace a file that exists\n"
    "add:\n"
    "  --print-new         print the items that were new\n"
    "has:\n"
    "  -v, --invert        print the items that are surely not in instead\n"
    "all:\n"
    "  --key-file KEY      the secret of a sip filter: 16 bytes, or 32 hexadecimal digits; never in the filter\n"
    "  -0, --null          items end with a NUL byte, not with a line\n"
    "  --json              JSON, one object a line\n"
    "  -q, --quiet         nothing on standard error but trouble\n"
    "  -h, --help          this text\n"
    "\n"
    "A filter of N items at 1 % takes 1.26 N bytes, at 0.1 % 1.80 N; counting, 4, 8 or 16 times that.\n"
    "add, remove and merge replace the file as a whole when they are done: readers are not disturbed, and an\n"
    "interrupted run leaves it as it was. One process may change a file at a time.\n"
    "\n"
    "Exit status: has: 0 all may be in, 1 not all; remove: 0 done, 1 some were not in; else 0; 2 trouble.\n"
    "\n"
    "examples:\n"
    "  twinsift bloom create trusted.bloom --items 100M --rate 0.01\n"
    "  twinsift bloom add trusted.bloom addresses.txt\n"
    "  echo ann@example.org | twinsift bloom has trusted.bloom && echo trusted\n"
    "  twinsift bloom add seen.bloom --print-new < urls > new-urls\n"
    "  twinsift bloom create senders.bloom --items 1M --counting 8 && twinsift bloom add senders.bloom < senders\n"
    "  head -c 16 /dev/urandom > key && twinsift bloom create s.bloom --items 1M --hash sip --key-file key\n";

enum { ITEMS = OPTION_OWN, RATE, COUNTING, LAYOUT, HASH, SEED, KEY_FILE, FORCE, INTERSECT, PRINT_NEW, JSON };

static const struct option table[] = {
    { "items", required_argument, NULL, ITEMS },
    { "rate", required_argument, NULL, RATE },
    { "counting", required_argument, NULL, COUNTING },
    { "layout", required_argument, NULL, LAYOUT },
    { "hash", required_argument, NULL, HASH },
    { "seed", required_argument, NULL, SEED },
    { "key-file", required_argument, NULL, KEY_FILE },
    { "force", no_argument, NULL, FORCE },
    { "intersect", no_argument, NULL, INTERSECT },
    { "print-new", no_argument, NULL, PRINT_NEW },
    { "invert", no_argument, NULL, 'v' },
    { "null", no_argument, NULL, '0' },
    { "json", no_argument, NULL, JSON },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { 0 },
};

struct request {
    twin_bloom_options options; /* create */
    const char *key_file;
    bool seed_given, force, intersect, print_new, invert, json, quiet;
    char separator;
    char **names; /* what is not an option: the filter, then inputs */
    int count;
};

/* ---- options ---- */

static bool read_bits(unsigned *out, const char *value)
{
    static const char *const names[] = { "4", "8", "16" };
    size_t place;
    if (!read_choice(&place, "--counting", value, names, 3))
        return false;
    *out = 4u << place;
    return true;
}

static bool read_layout(twin_bloom_layout *out, const char *value)
{
    static const char *const names[] = { "auto", "blocks", "classic" };
    size_t place;
    if (!read_choice(&place, "--layout", value, names, 3))
        return false;
    *out = (twin_bloom_layout)place;
    return true;
}

static bool read_family(twin_hash_family *out, const char *value)
{
    static const char *const names[] = { "xxh3", "farm", "jenkins", "sip" };
    size_t place;
    if (!read_choice(&place, "--hash", value, names, 4))
        return false;
    *out = (twin_hash_family)place;
    twin_status status = twin_hash_available(*out);
    if (status != TWIN_OK)
        fail("--hash: %s", twin_error_last(status));
    return status == TWIN_OK;
}

static bool read_option(struct request *out, int option, const char *value)
{
    twin_bloom_options *options = &out->options;
    switch (option) {
    case ITEMS: return read_count(&options->items, "--items", value, 1, UINT64_MAX);
    case RATE: return read_fraction(&options->rate, "--rate", value);
    case COUNTING: return read_bits(&options->cell_bits, value);
    case LAYOUT: return read_layout(&options->layout, value);
    case HASH: return read_family(&options->hash.family, value);
    case SEED: out->seed_given = true; return read_seed(&options->hash.seed, "--seed", value);
    case KEY_FILE: out->key_file = value; return true;
    case FORCE: return out->force = true;
    case INTERSECT: return out->intersect = true;
    case PRINT_NEW: return out->print_new = true;
    case JSON: return out->json = true;
    case 'v': return out->invert = true;
    case 'q': return out->quiet = true;
    case '0': out->separator = '\0'; return true;
    default: return false;
    }
}

/* Sixteen bytes, or as many written as hexadecimal digits with or without a line end. */
static bool parse_key(uint64_t key[2], const char *text, size_t length)
{
    unsigned char bytes[16];
    if (length == 33 && text[32] == '\n')
        length--;
    if (length != 16 && length != 32)
        return false;
    for (size_t i = 0; i < 16; i++) {
        char digits[3] = { length == 16 ? '0' : text[2 * i], length == 16 ? '0' : text[2 * i + 1], 0 }, *end;
        bytes[i] = length == 16 ? (unsigned char)text[i] : (unsigned char)strtoul(digits, &end, 16);
        if (length == 32 && strspn(digits, "0123456789abcdefABCDEF") != 2)
            return false;
    }
    key[0] = key[1] = 0;
    for (size_t i = 0; i < 16; i++)
        key[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
    return true;
}

static bool read_key(uint64_t key[2], const char *path)
{
    char text[64];
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail("%s: could not be opened: %s", path, strerror(errno)), false;
    size_t length = fread(text, 1, sizeof text, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return fail("%s: could not be read", path), false;
    if (!parse_key(key, text, length))
        return fail("%s: is not a key: 16 bytes, or 32 hexadecimal digits", path), false;
    return true;
}

/* ---- opening and keeping ---- */

static twin_bloom *open_filter(const struct request *request, const char *path, twin_bloom_access access)
{
    twin_bloom *bloom = NULL;
    twin_error error = { 0 };
    twin_hash hash = { .family = TWIN_HASH_SIP };
    if (request->key_file && !read_key(hash.key, request->key_file))
        return NULL;
    twin_bloom_open_options options = { .access = access, .hash = request->key_file ? &hash : NULL };
    twin_status status = twin_bloom_open(&bloom, path, options, &error);
    if (status == TWIN_EINVAL && !request->key_file)
        fail("%s; --key-file gives it", error.message);
    else if (status == TWIN_EINVAL)
        fail("%s", error.message);
    else if (status != TWIN_OK)
        fail_status(path, status, &error);
    return bloom;
}

static void warn_past_plan(const struct request *request, const char *path, const twin_bloom_info *info)
{
    if (info->past_plan && !request->quiet)
        warn("%s: holds about %.0f items and was planned for %" PRIu64
             ": false positives are now %.3g %%, not %.3g %%; make a larger one",
             path, info->items, info->planned_items, info->rate * 100, info->planned_rate * 100);
    if (info->saturated > 0 && !request->quiet)
        warn("%s: full counters: %" PRIu64 "; a count of %u means that or more", path, info->saturated,
             (1u << info->shape.cell_bits) - 1);
}

/* ---- items from lines ---- */

enum { BLOCK = 1 << 20, BATCH = 4096 };

/* What is done with a batch of items; false stops. */
struct work {
    const struct request *request;
    twin_bloom *bloom;
    bool (*batch)(struct work *work, const twin_text *items, size_t count);
    twin_progress progress;
    twin_stage stage;
    uint64_t lines, hits;             /* items so far; those that were new, found or removed */
    uint64_t bytes_done, bytes_total; /* total: 0 when an input is no file */
    bool answers[BATCH];
    twin_text items[BATCH];
};

static bool finish_batch(struct work *work, size_t count)
{
    if (count > 0 && !work->batch(work, work->items, count))
        return false;
    work->lines += count;
    if (work->progress.report) {
        double share = work->bytes_total ? (double)work->bytes_done / (double)work->bytes_total : 0;
        work->progress.report(work->progress.context, &work->stage, work->lines,
                              share > 0 ? (uint64_t)((double)work->lines / share) : 0);
    }
    return true;
}

/* Does the whole items of a block and tells how many bytes they took. */
static bool do_block(size_t *taken, struct work *work, const char *block, size_t length)
{
    size_t count = 0;
    const char *at = block, *end = block + length, *stop;
    while ((stop = memchr(at, work->request->separator, (size_t)(end - at))) != NULL) {
        work->items[count++] = (twin_text){ at, (size_t)(stop - at) };
        at = stop + 1;
        if (count == BATCH) {
            if (!finish_batch(work, count))
                return false;
            count = 0;
        }
    }
    *taken = (size_t)(at - block);
    return finish_batch(work, count);
}

/* Reads a file to its end. An item that a block cuts in two moves to the front of the next. */
static bool do_file(struct work *work, char **block, size_t *room, int file, const char *name)
{
    size_t held = 0, taken;
    for (;;) {
        if (held == *room) { /* one item fills it all */
            char *larger = realloc(*block, *room * 2);
            if (!larger)
                return fail("%s: an item is too long for memory", name), false;
            *block = larger;
            *room *= 2;
        }
        ssize_t got = read(file, *block + held, *room - held);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail("%s: could not be read: %s", name, strerror(errno)), false;
        if (got == 0)
            break;
        held += (size_t)got;
        work->bytes_done += (uint64_t)got;
        if (!do_block(&taken, work, *block, held))
            return false;
        memmove(*block, *block + taken, held - taken);
        held -= taken;
    }
    work->items[0] = (twin_text){ *block, held }; /* a last line without a line end */
    return finish_batch(work, held > 0);
}

static bool is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* The bytes of all inputs, or 0 when one has no size to tell. */
static uint64_t total_size(char **names, int count)
{
    uint64_t total = 0;
    for (int i = 0; i < count; i++) {
        struct stat stat_of;
        bool known = is_standard_input(names[i]) ? fstat(STDIN_FILENO, &stat_of) == 0 : stat(names[i], &stat_of) == 0;
        if (!known || !S_ISREG(stat_of.st_mode))
            return 0;
        total += (uint64_t)stat_of.st_size;
    }
    return total;
}

static bool do_inputs(struct work *work)
{
    static char *standard[] = { "-" };
    int count = work->request->count - 1;
    char **names = count > 0 ? work->request->names + 1 : standard;
    size_t room = BLOCK;
    char *block = malloc(room);
    bool good = block != NULL || (fail("memory ran out"), false);
    count = count > 0 ? count : 1;
    work->bytes_total = total_size(names, count);
    work->progress = progress_begin(work->request->quiet);
    for (int i = 0; good && i < count; i++) {
        bool standard_input = is_standard_input(names[i]);
        const char *name = standard_input ? "standard input" : names[i];
        int file = standard_input ? STDIN_FILENO : open(names[i], O_RDONLY | O_CLOEXEC);
        good = file >= 0 || (fail("%s: could not be opened: %s", name, strerror(errno)), false);
        good = good && do_file(work, &block, &room, file, name);
        if (file > STDIN_FILENO)
            close(file);
    }
    progress_end();
    free(block);
    return good;
}

static bool put_item(const struct request *request, twin_text item)
{
    if (request->json) {
        fputs("{\"item\":", stdout);
        escape_json(stdout, item.bytes, item.length);
        fputs("}\n", stdout);
    } else {
        fwrite_unlocked(item.bytes, 1, item.length, stdout);
        putc_unlocked(request->separator, stdout);
    }
    return !ferror(stdout);
}

/* Prints the items whose answer is `wanted`; false when standard output is gone, which main() will tell. */
static bool put_items(const struct work *work, const twin_text *items, size_t count, bool wanted)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        if (work->answers[i] == wanted)
            good = put_item(work->request, items[i]);
    return good;
}

/* ---- the commands ---- */

static int create(struct request *request)
{
    twin_hash *hash = &request->options.hash;
    if (request->count != 1)
        return fail("create makes one filter: twinsift bloom create FILE --items N");
    if (request->options.items == 0)
        return fail("how many items? --items N");
    if (hash->family == TWIN_HASH_SIP && (!request->key_file || request->seed_given))
        return fail("a sip filter is made with --key-file, and without --seed");
    if (hash->family != TWIN_HASH_SIP && request->key_file)
        return fail("--key-file goes with --hash sip only");
    if (request->key_file && !read_key(hash->key, request->key_file))
        return EXIT_ERROR;

    twin_bloom *bloom = NULL;
    twin_error error = { 0 };
    const char *path = request->names[0];
    twin_status status = twin_bloom_create(&bloom, request->options);
    if (status == TWIN_EINVAL)
        return fail("--rate: %g cannot be planned for, only 1e-12 to 0.5", request->options.rate);
    if (status == TWIN_ELIMIT)
        return fail("--items: %" PRIu64 " items at a rate of %g are more than a filter can hold",
                    request->options.items, request->options.rate);
    if (status == TWIN_OK)
        status = twin_bloom_save(bloom, path, request->force, &error);
    twin_bloom_free(bloom);
    if (status == TWIN_EINVAL)
        return fail("%s; --force replaces it", error.message);
    return status == TWIN_OK ? EXIT_DONE : fail_status(path, status, &error);
}

static bool add_batch(struct work *work, const twin_text *items, size_t count)
{
    work->hits += twin_bloom_add_many(work->answers, work->bloom, items, count);
    return !work->request->print_new || put_items(work, items, count, true);
}

static bool has_batch(struct work *work, const twin_text *items, size_t count)
{
    work->hits += twin_bloom_may_contain_many(work->answers, work->bloom, items, count);
    return put_items(work, items, count, !work->request->invert);
}

static bool count_batch(struct work *work, const twin_text *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t times = twin_bloom_count(work->bloom, items[i].bytes, items[i].length);
        if (work->request->json) {
            printf("{\"count\":%" PRIu32 ",\"item\":", times);
            escape_json(stdout, items[i].bytes, items[i].length);
            fputs("}\n", stdout);
        } else {
            printf("%" PRIu32 "\t", times);
            put_item(work->request, items[i]);
        }
    }
    return !ferror(stdout);
}

static bool remove_batch(struct work *work, const twin_text *items, size_t count)
{
    enum { NAMED = 10 }; /* the rest is counted */
    for (size_t i = 0; i < count; i++) {
        bool removed = twin_bloom_remove(work->bloom, items[i].bytes, items[i].length);
        work->hits += removed;
        if (!removed && !work->request->quiet && work->lines + i - work->hits < NAMED)
            warn("\"%.*s\" is not in, and was not removed", items[i].length < 200 ? (int)items[i].length : 200,
                 items[i].bytes);
    }
    return true;
}

/* Says what add or remove did, on standard error for people and on standard output for programs. */
static void tell_change(const struct work *work, const char *what, const twin_bloom_info *info)
{
    const struct request *request = work->request;
    if (request->json && !request->print_new)
        printf(
            "{\"items\":%" PRIu64 ",\"%s\":%" PRIu64 ",\"held\":%.0f,\"fill\":%.6g,\"rate\":%.6g,\"past_plan\":%s}\n",
            work->lines, what, work->hits, info->items, info->fill, info->rate, info->past_plan ? "true" : "false");
    else if (!request->quiet)
        fprintf(stderr, "%" PRIu64 " items, %" PRIu64 " %s\n", work->lines, work->hits, what);
    warn_past_plan(request, request->names[0], info);
}

static int change(struct request *request, bool adding)
{
    static struct work work;
    twin_error error = { 0 };
    const char *path = request->names[0];
    work = (struct work){ .request = request,
                          .batch = adding ? add_batch : remove_batch,
                          .stage = { adding ? "adding items" : "removing items", "lines" } };
    work.bloom = open_filter(request, path, TWIN_BLOOM_WRITE);
    if (!work.bloom)
        return EXIT_ERROR;

    int result = EXIT_ERROR;
    twin_bloom_info info;
    if (!adding && twin_bloom_shape_of(work.bloom).cell_bits == 1) {
        fail("%s: is not a counting filter: nothing can be removed from it", path);
    } else if (do_inputs(&work)) {
        twin_status status = twin_bloom_commit(work.bloom, &error);
        twin_bloom_describe(&info, work.bloom);
        if (status == TWIN_OK)
            tell_change(&work, adding ? "new" : "removed", &info);
        result = status != TWIN_OK                   ? fail_status(path, status, &error)
                 : adding || work.hits == work.lines ? EXIT_DONE
                                                     : EXIT_NO;
    }
    twin_bloom_free(work.bloom);
    return result;
}

static int ask(struct request *request, bool counting)
{
    static struct work work;
    work = (struct work){ .request = request,
                          .batch = counting ? count_batch : has_batch,
                          .stage = { "querying items", "lines" } };
    work.bloom = open_filter(request, request->names[0], TWIN_BLOOM_READ);
    if (!work.bloom)
        return EXIT_ERROR;
    bool good = do_inputs(&work);
    twin_bloom_free(work.bloom);
    if (!good)
        return EXIT_ERROR;
    return counting || work.hits == work.lines ? EXIT_DONE : EXIT_NO;
}

static bool merge_in(twin_bloom *into, const struct request *request, int number)
{
    const char *path = request->names[number];
    twin_bloom *other = open_filter(request, path, TWIN_BLOOM_READ);
    if (!other)
        return false;
    twin_status status =
        request->intersect ? twin_bloom_intersect(NULL, into, other) : twin_bloom_unite(NULL, into, other);
    twin_bloom_free(other);
    if (status != TWIN_OK)
        fail("%s: differs from %s in shape or hash; twinsift bloom info shows both", path, request->names[1]);
    return status == TWIN_OK;
}

static int merge(struct request *request)
{
    if (request->count < 2)
        return fail("merge what? twinsift bloom merge OUT FILE...");
    twin_bloom *first = open_filter(request, request->names[1], TWIN_BLOOM_READ), *merged = NULL;
    if (!first)
        return EXIT_ERROR;
    twin_error error = { 0 };
    twin_status status = twin_bloom_copy(&merged, first);
    twin_bloom_free(first);
    if (status != TWIN_OK)
        return fail_status(request->names[1], status, NULL);

    bool good = true;
    for (int i = 2; good && i < request->count; i++)
        good = merge_in(merged, request, i);
    if (good) {
        twin_bloom_info info;
        status = twin_bloom_save(merged, request->names[0], request->force, &error);
        twin_bloom_describe(&info, merged);
        good = status == TWIN_OK;
        if (status == TWIN_EINVAL)
            fail("%s; --force replaces it", error.message);
        else if (status != TWIN_OK)
            fail_status(request->names[0], status, &error);
        else if (!request->quiet)
            fprintf(stderr, "about %.0f items, false positives %.3g %%\n", info.items, info.rate * 100);
        if (good)
            warn_past_plan(request, request->names[0], &info);
    }
    twin_bloom_free(merged);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static void print_info_json(const char *path, const twin_bloom_info *info)
{
    fputs("{\"file\":", stdout);
    escape_json(stdout, path, strlen(path));
    printf(",\"layout\":\"%s\",\"cell_bits\":%u,\"functions\":%u,\"cells\":%" PRIu64 ",\"bytes\":%" PRIu64
           ",\"hash\":\"%s\",\"seed\":%" PRIu64 ",\"planned_items\":%" PRIu64
           ",\"planned_rate\":%.9g,\"added\":%" PRIu64 ",\"new\":%" PRIu64 ",\"removed\":%" PRIu64
           ",\"marked\":%" PRIu64 ",\"saturated\":%" PRIu64
           ",\"items\":%.0f,\"fill\":%.6g,\"rate\":%.6g,\"past_plan\":%s}\n",
           twin_bloom_layout_name(info->shape.layout), info->shape.cell_bits, info->shape.functions,
           info->shape.cells, info->bytes, twin_hash_family_name(info->family), info->seed, info->planned_items,
           info->planned_rate, info->added, info->fresh, info->removed, info->marked, info->saturated, info->items,
           info->fill, info->rate, info->past_plan ? "true" : "false");
}

static void print_info(const char *path, const twin_bloom_info *info)
{
    bool counting = info->shape.cell_bits > 1;
    printf("%s\n", path);
    printf("  layout           %s, %u functions\n", twin_bloom_layout_name(info->shape.layout),
           info->shape.functions);
    printf("  cells            %" PRIu64 " of %u bit%s, %" PRIu64 " bytes\n", info->shape.cells,
           info->shape.cell_bits, counting ? "s" : "", info->bytes);
    if (info->family == TWIN_HASH_SIP)
        printf("  hash             sip, keyed\n");
    else
        printf("  hash             %s, seed %" PRIu64 "\n", twin_hash_family_name(info->family), info->seed);
    printf("  planned          %" PRIu64 " items, false positives %.3g %%\n", info->planned_items,
           info->planned_rate * 100);
    printf("  added            %" PRIu64 ", of which %" PRIu64 " were new\n", info->added, info->fresh);
    if (counting)
        printf("  removed          %" PRIu64 "\n  full counters    %" PRIu64 "\n", info->removed, info->saturated);
    printf("  holds            about %.0f items%s\n", info->items, info->past_plan ? ", more than planned" : "");
    printf("  fill             %.1f %%\n", info->fill * 100);
    printf("  false positives  %.3g %% now\n", info->rate * 100);
}

static int tell_info(struct request *request)
{
    for (int i = 0; i < request->count; i++) {
        twin_bloom_info info;
        twin_error error = { 0 };
        twin_status status = twin_bloom_inspect(&info, request->names[i], &error);
        if (status != TWIN_OK)
            return fail_status(request->names[i], status, &error);
        if (request->json)
            print_info_json(request->names[i], &info);
        else
            print_info(request->names[i], &info);
    }
    return EXIT_DONE;
}

static int add_items(struct request *request)
{
    return change(request, true);
}

static int remove_items(struct request *request)
{
    return change(request, false);
}

static int has_items(struct request *request)
{
    return ask(request, false);
}

static int count_items(struct request *request)
{
    return ask(request, true);
}

static const struct {
    const char *name, *full_name;
    int (*run)(struct request *request);
} verbs[] = {
    { "create", "twinsift bloom create", create },       { "add", "twinsift bloom add", add_items },
    { "has", "twinsift bloom has", has_items },          { "count", "twinsift bloom count", count_items },
    { "remove", "twinsift bloom remove", remove_items }, { "merge", "twinsift bloom merge", merge },
    { "info", "twinsift bloom info", tell_info },
};

int cmd_bloom(int argc, char **argv)
{
    struct request request = { .options.rate = 0.01, .separator = '\n' };
    for (int option; (option = next_option(argc, argv, table)) != -1;) {
        if (option == OPTION_HELP)
            return fputs(help, stdout), EXIT_DONE;
        if (!read_option(&request, option, optarg))
            return EXIT_ERROR;
    }
    if (optind == argc)
        return fail("do what? create, add, has, count, remove, merge or info; --help tells more");
    const char *verb = argv[optind];
    request.names = argv + optind + 1;
    request.count = argc - optind - 1;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verb, verbs[i].name) == 0) {
            messages_from(verbs[i].full_name);
            return request.count > 0 ? verbs[i].run(&request) : fail("which file? --help tells more");
        }
    return fail("there is no \"%s\"; it is create, add, has, count, remove, merge or info", verb);
}

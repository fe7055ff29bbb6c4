/* bloom_items.c — items from lines, in batches.
 *
 * Inputs are read in blocks of a megabyte. The lines of a block go to the command in batches, so that the filter can
 * fetch the cache lines of many items at once. */
#include "bloom_file.h"

#include "support/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

static bool finish_batch(struct item_work *work, size_t count)
{
    if (count > 0 && !work->batch(work, work->texts, count))
        return false;
    work->items += count;
    if (work->progress.report) {
        double share = work->bytes_total ? (double)work->bytes_done / (double)work->bytes_total : 0;
        work->progress.report(work->progress.context, &work->stage, work->items,
                              share > 0 ? (uint64_t)((double)work->items / share) : 0);
    }
    return true;
}

/* Works on the whole items of a block; *taken becomes the bytes they took. */
static bool take_block(size_t *taken, struct item_work *work, const char *block, size_t length)
{
    size_t count = 0;
    const char *at = block, *end = block + length, *stop;
    while ((stop = memchr(at, work->shared->separator, (size_t)(end - at))) != NULL) {
        work->texts[count++] = (twin_text){ at, (size_t)(stop - at) };
        at = stop + 1;
        if (count == ITEMS_BATCH) {
            if (!finish_batch(work, count))
                return false;
            count = 0;
        }
    }
    *taken = (size_t)(at - block);
    return finish_batch(work, count);
}

/* Reads a file to its end. An item that does not end in the block moves to the front of the next. */
static bool take_file(struct item_work *work, char **block, size_t *room, int file, const char *name)
{
    size_t held = 0, taken;
    for (;;) {
        if (held == *room) { /* one item fills the block */
            char *larger = realloc(*block, *room * 2);
            if (!larger) {
                fail("%s: an item is too long for memory", name);
                return false;
            }
            *block = larger;
            *room *= 2;
        }
        ssize_t got = read(file, *block + held, *room - held);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            fail("%s: could not be read: %s", name, strerror(errno));
            return false;
        }
        if (got == 0)
            break;
        held += (size_t)got;
        work->bytes_done += (uint64_t)got;
        if (!take_block(&taken, work, *block, held))
            return false;
        memmove(*block, *block + taken, held - taken);
        held -= taken;
    }
    work->texts[0] = (twin_text){ *block, held }; /* a last line without a line end */
    return finish_batch(work, held > 0);
}

static bool is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* The bytes of all inputs, or 0 when one is not a regular file. */
static uint64_t total_size(const char *const *names, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        bool known = is_standard_input(names[i]) ? fstat(STDIN_FILENO, &status) == 0 : stat(names[i], &status) == 0;
        if (!known || !S_ISREG(status.st_mode))
            return 0;
        total += (uint64_t)status.st_size;
    }
    return total;
}

static bool take_input(struct item_work *work, char **block, size_t *room, const char *name)
{
    bool standard = is_standard_input(name);
    int file = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        fail("%s: could not be opened: %s", name, strerror(errno));
        return false;
    }
    bool good = take_file(work, block, room, file, standard ? "standard input" : name);
    if (!standard)
        close(file);
    return good;
}

bool work_on_items(struct item_work *work)
{
    static const char *const standard[] = { "-" };
    size_t count = work->shared->base.count - 1, room = BLOCK;
    const char *const *names = count ? work->shared->base.arguments + 1 : standard;
    char *block = malloc(room);
    bool good = block != NULL;
    if (!good)
        fail_status(bloom_path(work->shared), TWIN_ENOMEM, NULL);
    count = count ? count : 1;
    work->bytes_total = total_size(names, count);
    work->progress = progress_begin(work->shared->quiet);
    for (size_t i = 0; good && i < count; i++)
        good = take_input(work, &block, &room, names[i]);
    progress_end();
    free(block);
    return good;
}

/* Items are printed as they came, so that they can be read again. */
void print_item(const struct shared_options *shared, twin_text item, const uint32_t *count)
{
    if (shared->json) {
        struct record record = record_begin(stdout, true);
        if (count)
            record_count(&record, "count", *count);
        record_text(&record, "item", item);
        record_end(&record);
        return;
    }
    if (count)
        printf("%" PRIu32 "\t", *count);
    fwrite_unlocked(item.bytes, 1, item.length, stdout);
    putc_unlocked(shared->separator, stdout);
}

bool print_items(const struct item_work *work, const twin_text *items, size_t count, bool wanted)
{
    for (size_t i = 0; i < count && !ferror(stdout); i++)
        if (work->answers[i] == wanted)
            print_item(work->shared, items[i], NULL);
    return !ferror(stdout);
}

/* For people on standard error, for programs on standard output. */
void print_item_change(const struct item_work *work, const char *what, bool as_json)
{
    const struct shared_options *shared = work->shared;
    twin_bloom_info info;
    twin_bloom_describe(&info, work->bloom);
    if (as_json) {
        struct record record = record_begin(stdout, true);
        record_count(&record, "items", work->items);
        record_count(&record, what, work->hits);
        record_fixed(&record, "held", info.items, 0);
        record_number(&record, "fill", info.fill, 6);
        record_number(&record, "rate", info.rate, 6);
        record_flag(&record, "past_plan", info.past_plan);
        record_end(&record);
    } else if (!shared->quiet)
        fprintf(stderr, "%" PRIu64 " item%s, %" PRIu64 " %s\n", work->items, plural(work->items), work->hits, what);
    warn_past_plan(shared, bloom_path(shared), &info);
}

/* bloom_items.c — items from lines, in batches.
 *
 * Inputs are read as they come, in blocks. The lines of a block go to the command in batches, so that the filter can
 * fetch the cache lines of many items at once. A line that does not end in its block is kept until it does. */
#include "bloom_file.h"

#include "support/interrupt.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An input being read. */
struct reading {
    struct item_work *work;
    twin_buffer rest; /* the beginning of an item that has not ended yet */
    bool no_memory;
};

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

/* An item without its end. Lines may end in CR LF; what ends with a NUL byte is as it is. */
static twin_text item_of(const struct item_work *work, const char *begin, const char *end)
{
    bool has_return = work->shared->separator == '\n' && end > begin && end[-1] == '\r';
    return (twin_text){ begin, (size_t)(end - begin) - has_return };
}

/* Works on the whole items of a block; *taken becomes the bytes they took. */
static bool take_items(size_t *taken, struct item_work *work, const char *block, size_t length)
{
    size_t count = 0;
    const char *at = block, *end = block + length, *stop;
    while ((stop = memchr(at, work->shared->separator, (size_t)(end - at))) != NULL) {
        work->texts[count++] = item_of(work, at, stop);
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

static bool keep_rest(struct reading *reading, const char *bytes, size_t length)
{
    reading->no_memory = twin_buffer_append(&reading->rest, bytes, length) != TWIN_OK;
    return !reading->no_memory;
}

static bool take_rest(struct reading *reading)
{
    struct item_work *work = reading->work;
    work->texts[0] = item_of(work, reading->rest.bytes, reading->rest.bytes + reading->rest.length);
    bool good = finish_batch(work, 1);
    reading->rest.length = 0;
    return good;
}

static bool take_block(void *context, const char *bytes, size_t length)
{
    struct reading *reading = context;
    size_t taken = 0;
    if (reading->rest.length) { /* its end comes first */
        const char *stop = memchr(bytes, reading->work->shared->separator, length);
        size_t part = stop ? (size_t)(stop - bytes) : length;
        if (!keep_rest(reading, bytes, part))
            return false;
        if (!stop)
            return true;
        if (!take_rest(reading))
            return false;
        bytes += part + 1;
        length -= part + 1;
    }
    return take_items(&taken, reading->work, bytes, length) && keep_rest(reading, bytes + taken, length - taken);
}

/* The bytes of all inputs, or 0 when one is not a regular file. */
static uint64_t total_size(const char *const *names, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        bool known = is_standard(names[i]) ? fstat(STDIN_FILENO, &status) == 0 : stat(names[i], &status) == 0;
        if (!known || !S_ISREG(status.st_mode))
            return 0;
        total += (uint64_t)status.st_size;
    }
    return total;
}

/* The library reports the bytes of one input; the progress shown is that of items, over all inputs. */
static bool count_bytes(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)total;
    struct item_work *work = context;
    work->bytes_done = work->bytes_before + done;
    return !interrupted();
}

static bool take_input(struct item_work *work, const char *name)
{
    struct reading reading = { .work = work };
    twin_error error = { 0 };
    work->bytes_before = work->bytes_done;
    twin_status status = twin_input_stream(name, take_block, &reading, (twin_progress){ count_bytes, work }, &error);
    if (reading.no_memory)
        fail("%s: an item is too long for memory", name);
    else if (status != TWIN_OK && status != TWIN_ESTOPPED) /* the command has reported why it stopped */
        fail_status(name, status, &error);
    bool good =
        status == TWIN_OK && (reading.rest.length == 0 || take_rest(&reading)); /* a last line without an end */
    twin_buffer_clear(&reading.rest);
    return good;
}

bool work_on_items(struct item_work *work)
{
    static const char *const standard[] = { "-" };
    size_t count = work->shared->base.count - 1;
    const char *const *names = count ? work->shared->base.arguments + 1 : standard;
    count = count ? count : 1;
    bool good = !overwrites_input("-", names, count);
    work->bytes_total = total_size(names, count);
    work->progress = progress_begin(work->shared->quiet);
    for (size_t i = 0; good && i < count; i++)
        good = take_input(work, names[i]);
    progress_end();
    if (good && work->items == 0 && !work->shared->quiet)
        warn("there are no items in the input");
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

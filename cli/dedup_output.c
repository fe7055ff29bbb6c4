/* dedup_output.c — what twinsift dedup writes: kept records and groups. Every output is staged: written, next to its final
 * name. All of them get their names at the end, so that a run that fails changes nothing.
 *
 * Documents are numbered in the order of the input, so the records of one input are consecutive and their offsets
 * increase. They are read in blocks, without parsing, and written in order. While one worker writes, others read ahead,
 * into blocks that are free. The worker that has read the next block writes it, and then all that are ready after it. */
#include "dedup.h"

#include "support/messages.h"
#include "support/output_file.h"
#include "support/paths.h"
#include "support/record.h"
#include "support/results.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Documents begin .. end - 1 are those of one input. */
struct range {
    uint32_t source;
    size_t begin, end;
};

/* Whether the document is one of those that are written. */
static bool is_written(const struct dedup_result *result, size_t document)
{
    return (twin_dedup_keepers(result->dedup)[document] == document) != result->of_dropped;
}

/* ---- records, copied from the input to the output */

enum { BLOCK_BYTES = 1 << 20, LINE_END_BYTES = 2, BLOCKS_PER_WORKER = 2 };

struct block {
    twin_buffer bytes; /* of the input, then of the output */
    twin_status status;
    twin_error error;
    bool is_ready; /* has been read, and not been written */
};

struct copying {
    FILE *out;
    const struct dedup_result *result;
    uint32_t source;
    const struct range *ranges; /* of the blocks */
    struct block *blocks;       /* used in turn */
    size_t block_count;
    pthread_mutex_t lock; /* of what follows, and of what is ready */
    pthread_cond_t freed; /* a block has been written */
    size_t next;          /* the first item that has not been written */
    bool is_writing;      /* a worker is, without the lock */
    bool failed;
    int write_error; /* errno of the write that failed; 0: none has */
};

/* ---- dividing ---- */

static uint64_t record_end_offset(const struct dedup_result *result, size_t document)
{
    twin_position position = twin_collection_entry_of(result->collection, (uint32_t)document).position;
    return position.offset + position.length;
}

/* The documents of the next block: it begins and ends with one that is written, and is no longer than it need be. */
static struct range next_block(const struct dedup_result *result, struct range range)
{
    while (range.begin < range.end && !is_written(result, range.begin))
        range.begin++;
    if (range.begin == range.end)
        return range;
    uint64_t from = twin_collection_entry_of(result->collection, (uint32_t)range.begin).position.offset;
    size_t last = range.begin;
    for (size_t i = range.begin + 1; i < range.end && record_end_offset(result, i) - from <= BLOCK_BYTES; i++)
        if (is_written(result, i))
            last = i;
    return (struct range){ range.source, range.begin, last + 1 };
}

/* NULL when out of memory. */
static struct range *divide(size_t *count, const struct dedup_result *result, struct range range)
{
    size_t capacity = 16;
    struct range *ranges = malloc(capacity * sizeof *ranges);
    *count = 0;
    if (!ranges)
        return NULL;
    while (range.begin < range.end) {
        struct range next = next_block(result, range);
        range.begin = next.end;
        if (next.begin == next.end)
            break;
        if (*count == capacity) {
            struct range *more = realloc(ranges, 2 * capacity * sizeof *ranges);
            if (!more) {
                free(ranges);
                return NULL;
            }
            ranges = more;
            capacity *= 2;
        }
        ranges[(*count)++] = next;
    }
    return ranges;
}

/* About how many bytes the records of those that are written have. */
static uint64_t record_bytes(const struct dedup_result *result, struct range range)
{
    uint64_t bytes = 0;
    for (size_t i = range.begin; i < range.end; i++)
        if (is_written(result, i))
            bytes += twin_collection_entry_of(result->collection, (uint32_t)i).position.length + LINE_END_BYTES;
    return bytes;
}

/* ---- copying ---- */

static void report_writing(const struct dedup_result *result, size_t done)
{
    static const twin_stage writing = { "writing", "documents" };
    twin_progress progress = result->run ? result->run->progress : (twin_progress){ 0 };
    if (progress.report)
        progress.report(progress.context, &writing, done, twin_dedup_count(result->dedup).documents);
}

/* The length of the record at `at` with its line end, which a last line may lack. */
static size_t whole_length(const twin_buffer *bytes, size_t at, size_t length)
{
    size_t end = at + length;
    if (end + 1 < bytes->length && bytes->bytes[end] == '\r' && bytes->bytes[end + 1] == '\n')
        return length + 2;
    return end < bytes->length && bytes->bytes[end] == '\n' ? length + 1 : length;
}

/* Leaves those records in the block that are written, each with a line end. */
static twin_status keep_records(struct block *block, const struct copying *copying, struct range range)
{
    const struct dedup_result *result = copying->result;
    twin_buffer *bytes = &block->bytes;
    uint64_t from = twin_collection_entry_of(result->collection, (uint32_t)range.begin).position.offset;
    size_t kept = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        twin_position position = twin_collection_entry_of(result->collection, (uint32_t)i).position;
        size_t at = (size_t)(position.offset - from);
        if (!is_written(result, i))
            continue;
        if (at + position.length > bytes->length) {
            snprintf(block->error.message, sizeof block->error.message, "%s became shorter while it was read",
                     twin_input_name(result->input, copying->source));
            return TWIN_EIO;
        }
        size_t length = whole_length(bytes, at, position.length);
        memmove(bytes->bytes + kept, bytes->bytes + at, length);
        kept += length;
        if (length == position.length)
            bytes->bytes[kept++] = '\n';
    }
    bytes->length = kept;
    return TWIN_OK;
}

static void read_block(struct block *block, const struct copying *copying, size_t item)
{
    const struct dedup_result *result = copying->result;
    struct range range = copying->ranges[item];
    uint64_t from = twin_collection_entry_of(result->collection, (uint32_t)range.begin).position.offset;
    uint64_t to = record_end_offset(result, range.end - 1) + LINE_END_BYTES;
    block->error = (twin_error){ 0 };
    block->status = twin_input_bytes(&block->bytes, result->input, copying->source, from, to, &block->error);
    if (block->status == TWIN_OK)
        block->status = twin_buffer_reserve(&block->bytes, 1); /* for a line end */
    if (block->status == TWIN_OK)
        block->status = keep_records(block, copying, range);
}

static void write_block(const struct block *block, struct copying *copying, size_t item)
{
    if (block->status != TWIN_OK) {
        copying->failed = true;
        fail_status("the input", block->status, &block->error);
        return;
    }
    errno = 0;
    if (fwrite(block->bytes.bytes, 1, block->bytes.length, copying->out) < block->bytes.length)
        copying->write_error = errno ? errno : EIO;
    report_writing(copying->result, copying->ranges[item].end);
}

/* Writes all blocks that are next. One worker at a time does, and without the lock, which it has before and after. */
static void write_ready(struct copying *copying)
{
    copying->is_writing = true;
    for (;;) {
        size_t item = copying->next;
        struct block *block = &copying->blocks[item % copying->block_count];
        bool stopped = copying->failed || copying->write_error;
        if (!block->is_ready)
            break;
        pthread_mutex_unlock(&copying->lock);
        if (!stopped)
            write_block(block, copying, item);
        pthread_mutex_lock(&copying->lock);
        block->is_ready = false;
        copying->next = item + 1;
        pthread_cond_broadcast(&copying->freed);
    }
    copying->is_writing = false;
}

/* Items are taken in increasing order, so the one that is next has always been taken, and no worker waits for a block
 * that nobody will write. */
static void copy_blocks(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    struct copying *copying = context;
    for (size_t item = begin; item < end; item++) {
        struct block *block = &copying->blocks[item % copying->block_count];
        pthread_mutex_lock(&copying->lock);
        while (item >= copying->next + copying->block_count)
            pthread_cond_wait(&copying->freed, &copying->lock);
        pthread_mutex_unlock(&copying->lock);
        read_block(block, copying, item);
        pthread_mutex_lock(&copying->lock);
        block->is_ready = true;
        if (!copying->is_writing)
            write_ready(copying);
        pthread_mutex_unlock(&copying->lock);
    }
}

/* Writes the records byte for byte, each with a line end. On false the error has been reported. */
static bool write_records(FILE *out, const struct dedup_result *result, struct range range)
{
    twin_exec exec = result->exec;
    struct copying copying = { .out = out,
                               .result = result,
                               .source = range.source,
                               .block_count = exec.workers > 1 ? (size_t)exec.workers * BLOCKS_PER_WORKER : 1,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .freed = PTHREAD_COND_INITIALIZER };
    size_t count;
    struct range *ranges = divide(&count, result, range);
    copying.ranges = ranges;
    copying.blocks = calloc(copying.block_count, sizeof *copying.blocks);
    if (ranges && copying.blocks)
        twin_exec_for(exec, count, 1, copy_blocks, &copying);
    else
        copying.failed = !refuse_status("the output", TWIN_ENOMEM, NULL);
    for (size_t i = 0; copying.blocks && i < copying.block_count; i++)
        twin_buffer_clear(&copying.blocks[i].bytes);
    free(copying.blocks);
    free(ranges);
    pthread_cond_destroy(&copying.freed);
    pthread_mutex_destroy(&copying.lock);
    if (copying.write_error)
        errno = copying.write_error; /* whoever closes the output reports it, in this thread */
    return !copying.failed;
}

/* ---- outputs */

static struct range range_of(const struct dedup_result *result, uint32_t source, size_t begin)
{
    size_t documents = twin_collection_count(result->collection).documents, end = begin;
    while (end < documents && twin_collection_entry_of(result->collection, (uint32_t)end).position.source == source)
        end++;
    return (struct range){ source, begin, end };
}

/* ---- one input ---- */

static bool write_ids(FILE *out, const struct dedup_result *result, struct range range)
{
    for (size_t i = range.begin; i < range.end; i++)
        if (is_written(result, i)) {
            struct record record = record_begin(out, false);
            record_text(&record, "id", twin_collection_entry_of(result->collection, (uint32_t)i).id);
            record_end(&record);
        }
    return true;
}

/* Lines have positions with a length; files in folders and sets have none. */
static bool has_records(const struct dedup_result *result, struct range range)
{
    return range.begin < range.end && twin_input_format_of(result->input) == TWIN_INPUT_DOCUMENTS &&
           twin_collection_entry_of(result->collection, (uint32_t)range.begin).position.line > 0;
}

/* The header of a table; nothing for JSON lines. */
static bool take_header(twin_buffer *header, const twin_input *input, uint32_t source)
{
    twin_error error = { 0 };
    twin_status status = twin_input_header(header, input, source, &error);
    if (status != TWIN_OK)
        fail_status("the input", status, &error);
    return status == TWIN_OK;
}

/* `is_written` becomes true if there is one. */
static bool write_header(bool *is_written, FILE *out, const struct dedup_result *result, uint32_t source)
{
    twin_buffer header = { 0 };
    bool good = take_header(&header, result->input, source);
    if (good && header.length) {
        fwrite(header.bytes, 1, header.length, out);
        if (header.bytes[header.length - 1] != '\n')
            putc('\n', out);
        *is_written = true;
    }
    twin_buffer_clear(&header);
    return good;
}

/* Records come below the header of their table, unless `has_header`. All that there is of a table without documents is
 * its header. */
static bool write_range(FILE *out, const struct dedup_result *result, struct range range, bool *has_header)
{
    bool is_empty = range.begin == range.end;
    if (!is_empty && !has_records(result, range))
        return write_ids(out, result, range);
    return (*has_header || write_header(has_header, out, result, range.source)) &&
           (is_empty || write_records(out, result, range));
}

/* Records are copied after all has been read: they must be those that were compared. What was added to a file since it
 * was opened does no harm. */
static bool inputs_are_as_read(const struct dedup_result *result)
{
    const twin_input *input = result->input;
    for (uint32_t source = 0; source < twin_input_sources(input); source++) {
        const char *name = twin_input_name(input, source);
        twin_input_change change = twin_input_change_of(input, source);
        if (change == TWIN_INPUT_CHANGED)
            return refuse(
                "%s: was changed while it was read, and records of two versions would be mixed; run it again", name);
        if (change == TWIN_INPUT_GROWN && !result->quiet)
            warn("%s: has grown while it was read; what was added is not in the output", name);
    }
    return true;
}

/* ---- one output ---- */

/* Without the line end, which a file that has nothing else may lack. */
static size_t columns_length(const twin_buffer *header)
{
    size_t length = header->length;
    while (length > 0 && (header->bytes[length - 1] == '\n' || header->bytes[length - 1] == '\r'))
        length--;
    return length;
}

/* Whether the header above all records is that of this source too. */
static bool has_header(const twin_input *input, uint32_t source, const twin_buffer *first)
{
    twin_buffer header = { 0 };
    bool good = take_header(&header, input, source);
    size_t length = columns_length(&header);
    bool same = length == columns_length(first) && (length == 0 || memcmp(header.bytes, first->bytes, length) == 0);
    if (good && !same)
        fail("%s: %s the inputs before it; write each to a file of its own, with -o FOLDER/",
             twin_input_name(input, source),
             header.length && first->length ? "has other columns than" : "is of another format than");
    twin_buffer_clear(&header);
    return good && same;
}

bool tables_have_one_header(const twin_input *input)
{
    twin_buffer first = { 0 }, header = { 0 };
    bool good = true;
    for (uint32_t source = 0; good && source < twin_input_sources(input); source++) {
        good = take_header(first.length ? &header : &first, input, source);
        if (good && header.length)
            good = has_header(input, source, &first);
        header.length = 0;
    }
    twin_buffer_clear(&first);
    twin_buffer_clear(&header);
    return good;
}

/* Whether all inputs with records have the same header, or none: before anything is written. */
static bool records_are_alike(const struct dedup_result *result)
{
    struct range range = { 0 };
    twin_buffer first = { 0 };
    bool good = true, is_known = false;
    uint32_t sources = (uint32_t)twin_input_sources(result->input);
    for (uint32_t source = 0; sources > 1 && good && source < sources; source++) {
        range = range_of(result, source, range.end);
        if (!has_records(result, range))
            continue;
        good = is_known ? has_header(result->input, source, &first) : take_header(&first, result->input, source);
        is_known = true;
    }
    twin_buffer_clear(&first);
    return good;
}

static bool write_all(FILE *out, const struct dedup_result *result)
{
    struct range range = { 0 };
    bool has_documents = twin_collection_count(result->collection).documents > 0, has_header = false;
    bool good = records_are_alike(result);
    for (uint32_t source = 0; good && source < twin_input_sources(result->input); source++) {
        range = range_of(result, source, range.end);
        if (range.begin < range.end || !has_documents)
            good = write_range(out, result, range, &has_header);
    }
    return good && inputs_are_as_read(result);
}

static bool stage_one(struct dedup_output *out, const struct dedup_result *result, const char *path)
{
    struct range all = { .end = twin_collection_count(result->collection).documents };
    return output_file_open_large(&out->file, path, record_bytes(result, all)) && write_all(out->file.file, result) &&
           output_file_close(&out->file);
}

/* ---- one output per input ---- */

/* A folder whose files are read as lines or tables has no documents of its own: each of those files has an output. */
static bool is_folder_of_files(const struct dedup_result *result, struct range range)
{
    return range.begin == range.end && is_folder(twin_input_name(result->input, range.source));
}

/* Makes the folders that an output is in. */
static bool make_folders(struct dedup_output *output, char *path)
{
    bool good = true;
    for (char *slash = strchr(path + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = !is_folder(path) && mkdir(path, 0777) == 0;
        if (made && !output->made)
            output->made = (size_t)(slash - path);
        good = made || is_folder(path);
        if (!good)
            fail("%s: cannot be created: %s", path, strerror(errno));
        *slash = '/';
    }
    return good;
}

/* Removes the folders that were made for an output, if they are empty. */
static void remove_folders(const struct dedup_output *output, char *path)
{
    char *slash = output->made ? strrchr(path, '/') : NULL;
    for (; slash && (size_t)(slash - path) >= output->made; slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

/* The same folders are names too, in the folders above them. */
static bool sync_folders(const struct dedup_output *output, char *path)
{
    bool good = true;
    char *slash = output->made ? strrchr(path, '/') : NULL;
    for (; good && slash && (size_t)(slash - path) >= output->made; slash = strrchr(path, '/')) {
        *slash = '\0';
        good = output_folder_sync(path);
    }
    return good;
}

static bool stage_each(struct dedup_outputs *out, const struct dedup_result *result)
{
    struct range range = { 0 };
    bool good = true;
    for (size_t i = 0; good && i < twin_input_sources(result->input); i++) {
        bool has_header = false;
        range = range_of(result, (uint32_t)i, range.end);
        if ((result->part.of && i % result->part.of != result->part.number) || is_folder_of_files(result, range))
            continue;
        struct output_file *file = &out->items[i].file;
        good = make_folders(&out->items[i], out->names[i]) &&
               output_file_open_large(file, out->names[i], record_bytes(result, range)) &&
               write_range(file->file, result, range, &has_header) && output_file_close(file);
    }
    return good && inputs_are_as_read(result);
}

/* ---- groups ---- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void remark_repeated_ids(const twin_collection *collection)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    size_t count = twin_collection_count(collection).documents, repeated = 0;
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    if (!hashes)
        return; /* a remark that cannot be made is no failure */
    for (size_t i = 0; i < count; i++) {
        twin_text id = twin_collection_entry_of(collection, (uint32_t)i).id;
        hashes[i] = twin_hash_bytes(plain, id.bytes, id.length);
    }
    qsort(hashes, count, sizeof *hashes, by_number);
    for (size_t i = 1; i < count; i++)
        repeated += hashes[i] == hashes[i - 1];
    free(hashes);
    if (repeated)
        warn("%zu document%s an id that another document has, so that groups do not say which is meant; if ids are "
             "unique in each file only, use --id-from path-and-line",
             repeated, repeated == 1 ? " has" : "s have");
}

static void write_group(FILE *out, const struct dedup_result *result, const twin_dedup_group *group)
{
    struct record record = record_begin(out, true);
    record_document(&record, "kept", result->collection, group->keeper);
    record_list(&record, "dropped");
    for (size_t i = 0; i < group->count; i++) {
        record_object(&record, NULL);
        record_document(&record, "id", result->collection, group->dropped[i]);
        record_fixed(&record, "similarity", twin_dedup_similarities(result->dedup)[group->dropped[i]], 4);
        record_object_end(&record);
    }
    record_list_end(&record);
    record_end(&record);
}

static void write_known(FILE *out, const struct dedup_result *result, uint32_t document)
{
    const struct known_match *match = &result->known->matches[document];
    struct record record = record_begin(out, true);
    record_id(&record, "kept", known_id(result->known, match), match->id_is_number);
    record_string(&record, "in", match->file);
    record_list(&record, "dropped");
    record_object(&record, NULL);
    record_document(&record, "id", result->collection, document);
    record_fixed(&record, "similarity", match->similarity, 4);
    record_object_end(&record);
    record_list_end(&record);
    record_end(&record);
}

static bool stage_groups(struct output_file *output, const struct dedup_result *result, const char *path)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, result->dedup);
    if (!output_file_open(output, path))
        return false;
    for (size_t i = 0; i < count && !ferror(output->file); i++)
        write_group(output->file, result, &groups[i]);
    for (size_t i = 0; i < result->known->count; i++)
        if (result->known->matches[i].file)
            write_known(output->file, result, (uint32_t)i);
    return output_file_close(output);
}

/* ---- all outputs ---- */

static void clear_outputs(struct dedup_outputs *outputs)
{
    for (size_t i = 0; outputs->names && i < outputs->kept; i++)
        free(outputs->names[i]);
    free(outputs->names);
    free(outputs->items);
    *outputs = (struct dedup_outputs){ 0 };
}

static bool stage_kept(struct dedup_outputs *out, const struct dedup_result *result, const char *path)
{
    if (out->names)
        return stage_each(out, result);
    return !path || is_standard(path) || stage_one(&out->items[0], result, path);
}

static bool stage_dropped(struct dedup_output *out, const struct dedup_result *result, const char *path)
{
    struct dedup_result dropped = *result;
    dropped.of_dropped = true;
    dropped.quiet = true; /* remarks are made with those that are kept */
    return stage_one(out, &dropped, path);
}

bool dedup_outputs_stage(struct dedup_outputs *out, const struct dedup_result *result, struct dedup_targets targets)
{
    const char *kept = targets.kept;
    bool is_standard_output = kept && is_standard(kept), to_folder = kept && names_folder(kept);
    *out = (struct dedup_outputs){ .kept = to_folder ? twin_input_sources(result->input) : 1 };
    out->count = out->kept + (targets.dropped != NULL);
    out->standard = is_standard_output ? result : NULL;
    out->items = calloc(out->count + 1, sizeof *out->items);
    out->names = to_folder ? names_in_folder(kept, result->input) : NULL;
    if (!out->items || (to_folder && !out->names)) {
        clear_outputs(out);
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    }
    bool good = (!targets.groups || stage_groups(&out->items[out->count].file, result, targets.groups)) &&
                stage_kept(out, result, kept) &&
                (!targets.dropped || stage_dropped(&out->items[out->kept], result, targets.dropped));
    if (!good)
        dedup_outputs_abandon(out);
    return good;
}

bool dedup_outputs_finish(struct dedup_outputs *outputs)
{
    size_t count = outputs->count + 1;
    struct output_file **files = calloc(count, sizeof(struct output_file *));
    bool good = files || refuse_status("the output", TWIN_ENOMEM, NULL);
    for (size_t i = 0; good && i < count; i++)
        files[i] = &outputs->items[i].file;
    if (good && outputs->standard)
        good = write_all(stdout, outputs->standard) && fflush(stdout) == 0 && output_is_good();
    good = good && output_files_finish(files, count);
    for (size_t i = 0; good && outputs->names && i < outputs->kept; i++)
        good = sync_folders(&outputs->items[i], outputs->names[i]);
    free(files);
    if (good)
        clear_outputs(outputs);
    else
        dedup_outputs_abandon(outputs);
    return good;
}

void dedup_outputs_abandon(struct dedup_outputs *outputs)
{
    for (size_t i = 0; outputs->items && i <= outputs->count; i++)
        if (outputs->items[i].file.given)
            output_file_abandon(&outputs->items[i].file);
    for (size_t i = outputs->kept; outputs->names && i-- > 0;)
        remove_folders(&outputs->items[i], outputs->names[i]);
    clear_outputs(outputs);
}

bool write_dedup_outputs(const struct dedup_result *result, struct dedup_targets targets)
{
    struct dedup_outputs outputs;
    return dedup_outputs_stage(&outputs, result, targets) && dedup_outputs_finish(&outputs);
}

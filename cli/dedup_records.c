/* dedup_records.c — the records that are written, of documents kept or dropped, are copied from the input to the output.
 *
 * Documents are numbered in the order of the input, so the records of one input are consecutive and their offsets
 * increase. They are read in blocks, without parsing, and written in order. While one worker writes, others read ahead,
 * into blocks that are free. Whoever has read the block that is next writes it, and then all that are ready after it. */
#include "dedup_output.h"

#include "support/messages.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    const struct dedup_range *ranges; /* of the blocks */
    struct block *blocks;             /* used in turn */
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
    twin_position position = twin_collection_position(result->collection, (uint32_t)document);
    return position.offset + position.length;
}

/* The documents of the next block: it begins and ends with one that is written, and is no longer than it need be. */
static struct dedup_range next_block(const struct dedup_result *result, struct dedup_range range)
{
    while (range.begin < range.end && !dedup_is_chosen(result, range.begin))
        range.begin++;
    if (range.begin == range.end)
        return range;
    uint64_t from = twin_collection_position(result->collection, (uint32_t)range.begin).offset;
    size_t last = range.begin;
    for (size_t i = range.begin + 1; i < range.end && record_end_offset(result, i) - from <= BLOCK_BYTES; i++)
        if (dedup_is_chosen(result, i))
            last = i;
    return (struct dedup_range){ range.source, range.begin, last + 1 };
}

/* NULL when out of memory. */
static struct dedup_range *divide(size_t *count, const struct dedup_result *result, struct dedup_range range)
{
    size_t capacity = 16;
    struct dedup_range *ranges = malloc(capacity * sizeof *ranges);
    *count = 0;
    if (!ranges)
        return NULL;
    while (range.begin < range.end) {
        struct dedup_range next = next_block(result, range);
        range.begin = next.end;
        if (next.begin == next.end)
            break;
        if (*count == capacity) {
            struct dedup_range *more = realloc(ranges, 2 * capacity * sizeof *ranges);
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

uint64_t dedup_record_bytes(const struct dedup_result *result, struct dedup_range range)
{
    uint64_t bytes = 0;
    for (size_t i = range.begin; i < range.end; i++)
        if (dedup_is_chosen(result, i))
            bytes += twin_collection_position(result->collection, (uint32_t)i).length + LINE_END_BYTES;
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
static twin_status keep_records(struct block *block, const struct copying *copying, struct dedup_range range)
{
    const struct dedup_result *result = copying->result;
    twin_buffer *bytes = &block->bytes;
    uint64_t from = twin_collection_position(result->collection, (uint32_t)range.begin).offset;
    size_t kept = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        twin_position position = twin_collection_position(result->collection, (uint32_t)i);
        size_t at = (size_t)(position.offset - from);
        if (!dedup_is_chosen(result, i))
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
    struct dedup_range range = copying->ranges[item];
    uint64_t from = twin_collection_position(result->collection, (uint32_t)range.begin).offset;
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

bool write_dedup_records(FILE *out, const struct dedup_result *result, struct dedup_range range)
{
    twin_exec exec = result->exec;
    struct copying copying = { .out = out,
                               .result = result,
                               .source = range.source,
                               .block_count = exec.workers > 1 ? (size_t)exec.workers * BLOCKS_PER_WORKER : 1,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .freed = PTHREAD_COND_INITIALIZER };
    size_t count;
    struct dedup_range *ranges = divide(&count, result, range);
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

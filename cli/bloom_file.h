/* bloom_file.h — what the verbs of twinsift bloom share: filters in files, and items from lines. */
#ifndef TWIN_BLOOM_FILE_H
#define TWIN_BLOOM_FILE_H

#include "support/messages.h"
#include "support/record.h"
#include "support/shared_options.h"

#include <stdio.h>

#define BLOOM_TAKES "key-file null json quiet"

/* Seed 0, as filters always had. */
#define BLOOM_DEFAULTS                                                                                               \
    {                                                                                                                \
        .separator = '\n'                                                                                            \
    }

/* The filter is the first argument. */
const char *bloom_path(const struct shared_options *shared);

/* Opens a filter, with the key of --key-file. NULL: the error has been reported. */
twin_bloom *open_filter(const struct shared_options *shared, const char *path, twin_bloom_access how);

/* Writes a new filter to the first argument; an existing one is replaced only with --force. On false the error has been
 * reported. */
bool save_filter(const twin_bloom *bloom, const struct shared_options *shared);

/* Warns if a filter holds more than was planned, or has full counters. */
void warn_past_plan(const struct shared_options *shared, const char *path, const twin_bloom_info *info);

/* ---- items.c: the lines of the inputs */

enum { ITEMS_BATCH = 4096 };

/* What is done with batches of items. */
struct item_work {
    const struct shared_options *shared;
    twin_bloom *bloom;
    bool (*batch)(struct item_work *work, const twin_text *items, size_t count); /* false stops */
    twin_stage stage;
    const void *request;  /* the command's own */
    uint64_t items, hits; /* so far; those that were new, found or removed */
    bool answers[ITEMS_BATCH];

    twin_progress progress;
    uint64_t bytes_done, bytes_before,
        bytes_total; /* of all inputs, and of those before this one; total 0: not known */
    twin_text texts[ITEMS_BATCH];
};

/* Calls `batch` with the items of the arguments after the filter, or of standard input. On false the error has been
 * reported, or standard output is gone. */
bool work_on_items(struct item_work *work);

/* Prints the items whose answer is `wanted`; false when standard output is gone. */
bool print_items(const struct item_work *work, const twin_text *items, size_t count, bool wanted);

/* Prints one item, after its count unless that is NULL. */
void print_item(const struct shared_options *shared, twin_text item, const uint32_t *count);

/* Prints what add or remove did: the number of items, and of those that were `what`. */
void print_item_change(const struct item_work *work, const char *what, bool as_json);

#endif

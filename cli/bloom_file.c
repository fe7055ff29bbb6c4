/* bloom_file.c — filters in files, and their keys. */
#include "bloom_file.h"
#include "support/keys.h"
#include "support/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *bloom_path(const struct shared_options *shared)
{
    return shared->base.arguments[0];
}

twin_bloom *open_filter(const struct shared_options *shared, const char *path, twin_bloom_access how)
{
    twin_bloom *bloom = NULL;
    twin_error error = { 0 };
    twin_hash hash = { .family = TWIN_HASH_SIP };
    if (shared->key_file && !read_key(hash.key, shared->key_file))
        return NULL;
    twin_bloom_open_options options = { .access = how, .hash = shared->key_file ? &hash : NULL };
    twin_status status = twin_bloom_open(&bloom, path, options, &error);
    if (status == TWIN_EINVAL && !shared->key_file)
        fail("%s; --key-file gives it", error.message);
    else if (status == TWIN_EINVAL)
        fail("%s", error.message);
    else if (status == TWIN_EIO && how != TWIN_BLOOM_READ && is_missing(path))
        fail("%s; 'twinsift bloom create' creates a filter", error.message);
    else if (status != TWIN_OK)
        fail_status(path, status, &error);
    return bloom;
}

bool save_filter(const twin_bloom *bloom, const struct shared_options *shared)
{
    twin_error error = { 0 };
    twin_status status = twin_bloom_save(bloom, bloom_path(shared), shared->force, &error);
    if (status == TWIN_EINVAL && !shared->force)
        fail("%s; --force replaces it", error.message);
    else if (status != TWIN_OK)
        fail_status(bloom_path(shared), status, &error);
    return status == TWIN_OK;
}

void warn_past_plan(const struct shared_options *shared, const char *path, const twin_bloom_info *info)
{
    if (info->past_plan && info->rate > info->planned_rate && !shared->quiet)
        warn("%s: holds about %.0f item%s and was planned for %" PRIu64
             ": false positives are now %.3g %%, not %.3g %%; create a larger one",
             path, info->items, plural((uint64_t)(info->items + 0.5)), info->planned_items, info->rate * 100,
             info->planned_rate * 100);
    if (info->saturated > 0 && !shared->quiet)
        warn("%s: full counters: %" PRIu64 "; a count of %u means that or more", path, info->saturated,
             (1u << info->shape.cell_bits) - 1);
}

/* bloom_file.c — filters in files, and their keys. */
#include "bloom_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *bloom_path(const struct shared_options *shared)
{
    return shared->base.arguments[0];
}

/* Sixteen bytes, or 32 hexadecimal digits with or without a line end. */
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

bool read_key(uint64_t key[2], const char *path)
{
    char text[64];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail("%s: could not be opened: %s", path, strerror(errno));
        return false;
    }
    size_t length = fread(text, 1, sizeof text, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    bool good = !failed && parse_key(key, text, length);
    if (failed)
        fail("%s: could not be read", path);
    else if (!good)
        fail("%s: is not a key: 16 bytes, or 32 hexadecimal digits", path);
    return good;
}

twin_bloom *open_filter(const struct shared_options *shared, const char *path, twin_bloom_access access)
{
    twin_bloom *bloom = NULL;
    twin_error error = { 0 };
    twin_hash hash = { .family = TWIN_HASH_SIP };
    if (shared->key_file && !read_key(hash.key, shared->key_file))
        return NULL;
    twin_bloom_open_options options = { .access = access, .hash = shared->key_file ? &hash : NULL };
    twin_status status = twin_bloom_open(&bloom, path, options, &error);
    if (status == TWIN_EINVAL && !shared->key_file)
        fail("%s; --key-file gives it", error.message);
    else if (status == TWIN_EINVAL)
        fail("%s", error.message);
    else if (status != TWIN_OK)
        fail_status(path, status, &error);
    return bloom;
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

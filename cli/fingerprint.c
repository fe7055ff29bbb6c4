/* fingerprint.c — a number for the state of files, and one for what is in them. */
#include "fingerprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twinsift/hash.h>
#include <unistd.h>

#include "support/walk.h"

void fingerprint_add(uint64_t *number, const void *bytes, size_t length)
{
    twin_hash hash = { .family = TWIN_HASH_XXH3, .seed = *number };
    *number = twin_hash_bytes(hash, bytes, length);
}

static void add_facts(uint64_t *number, const struct stat *known)
{
    const uint64_t facts[] = { known->st_ino, (uint64_t)known->st_size, (uint64_t)known->st_mtim.tv_sec,
                               (uint64_t)known->st_mtim.tv_nsec };
    fingerprint_add(number, facts, sizeof facts);
}

struct state {
    uint64_t *number;
    int reason; /* errno of what could not be read */
};

static bool add_entry(void *context, const struct walk_entry *entry)
{
    struct state *state = context;
    fingerprint_add(state->number, entry->path, strlen(entry->path));
    if (entry->reason)
        state->reason = entry->reason;
    else
        add_facts(state->number, entry->known);
    return true;
}

/* A file in a folder may change without the folder's own time changing. */
static bool add_folder(uint64_t *number, const char *name)
{
    struct state state = { .number = number };
    if (!walk(name, add_entry, &state))
        state.reason = ENOMEM;
    errno = state.reason;
    return state.reason == 0;
}

bool fingerprint_add_file(uint64_t *number, const char *name)
{
    struct stat known;
    fingerprint_add(number, name, strlen(name));
    if (stat(name, &known) != 0)
        return false;
    if (S_ISDIR(known.st_mode))
        return add_folder(number, name);
    add_facts(number, &known);
    return true;
}

static uint64_t count_lines(const char *bytes, size_t length)
{
    uint64_t lines = 0;
    for (const char *end = bytes + length; (bytes = memchr(bytes, '\n', (size_t)(end - bytes))); bytes++)
        lines++;
    return lines;
}

/* Fills the block, unless the file ends before. -1 and errno on failure. */
static ssize_t read_block(int file, char *out, size_t length, uint64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(file, out + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

bool fingerprint_contents(struct contents *out, int file, uint64_t most)
{
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    *out = (struct contents){ 0 };
    ssize_t got = block ? 1 : -1;
    while (got > 0 && out->bytes < most) {
        uint64_t left = most - out->bytes;
        got = read_block(file, block, left < BLOCK ? (size_t)left : BLOCK, out->bytes);
        if (got <= 0)
            break;
        fingerprint_add(&out->checksum, block, (size_t)got);
        out->lines += count_lines(block, (size_t)got);
        out->bytes += (size_t)got;
    }
    free(block);
    return got >= 0;
}

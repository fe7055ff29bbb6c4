/* memory.c — how much memory a command may use. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

/* The number after `word` at the beginning of a line of a file of the system; UINT64_MAX when there is none. */
static uint64_t read_number(const char *path, const char *word)
{
    char line[256];
    size_t length = strlen(word);
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && number == UINT64_MAX && fgets(line, sizeof line, file)) {
        uint64_t found = strncmp(line, word, length) == 0 ? strtoull(line + length, NULL, 10) : 0;
        if (found > 0)
            number = found;
    }
    if (file)
        fclose(file);
    return number;
}

/* What a line of /proc/meminfo says, and what the control group allows, which in a container may be less. */
static uint64_t allowed_memory(const char *word)
{
    uint64_t available = read_number("/proc/meminfo", word);
    uint64_t allowed = read_number("/sys/fs/cgroup/memory.max", "");
    if (available != UINT64_MAX)
        available *= 1024;
    return available < allowed ? available : allowed;
}

static uint64_t free_memory(void)
{
    return allowed_memory("MemAvailable:");
}

uint64_t machine_memory(void)
{
    return allowed_memory("MemTotal:");
}

static const uint64_t others = 32 << 20; /* the program, and what its threads read at a time */

size_t collection_memory(const struct shared_options *shared)
{
    if (shared->input.format == TWIN_INPUT_SETS)
        return 0;
    uint64_t memory = shared->memory ? shared->memory : free_memory();
    return memory == UINT64_MAX ? 0 : (size_t)((memory > 2 * others ? memory - others : others) / 2);
}

/* Buffers of reading are freed before the search begins. */
twin_similar_options search_within_memory(const struct shared_options *shared, twin_exec exec, twin_progress progress)
{
    const uint64_t program = 8 << 20;
    uint64_t taken = collection_memory(shared) + program;
    twin_similar_options search = { .exec = exec, .progress = progress, .temp_folder = temp_folder(shared) };
    if (shared->memory)
        search.memory_bytes = (size_t)(shared->memory > taken ? shared->memory - taken : program);
    return search;
}

size_t chunk_memory(const struct shared_options *shared)
{
    enum { LEAST = 1 << 14, MOST = 1 << 20 };
    const uint64_t kept_per_byte = 64; /* of signatures and the like, from records of ten bytes */
    twin_exec exec;
    if (!shared->memory || !make_exec(&exec, shared))
        return 0;
    uint64_t room = shared->memory / 16 > others / 2 ? shared->memory / 16 : others / 2;
    uint64_t bytes = room / kept_per_byte / (uint64_t)exec.workers;
    bytes = bytes > LEAST ? bytes : LEAST;
    return bytes < MOST ? (size_t)bytes : MOST;
}

/* memory.c — how much memory a command may use. */
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>

/* A number of a file of the system, after `format`; UINT64_MAX when it is not there. */
static uint64_t read_number(const char *path, const char *format)
{
    char line[256];
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &number) == 1)
            break;
    if (file)
        fclose(file);
    return number;
}

/* What the machine has left, and what the control group allows, which in a container may be less. */
static uint64_t free_memory(void)
{
    uint64_t available = read_number("/proc/meminfo", "MemAvailable: %" SCNu64);
    uint64_t allowed = read_number("/sys/fs/cgroup/memory.max", "%" SCNu64);
    if (available != UINT64_MAX)
        available *= 1024;
    return available < allowed ? available : allowed;
}

size_t collection_memory(const struct shared_options *shared)
{
    if (shared->input.format == TWIN_INPUT_SETS)
        return 0;
    const uint64_t others = 32 << 20; /* the program, and what its threads read at a time */
    uint64_t memory = shared->memory ? shared->memory : free_memory();
    return memory == UINT64_MAX ? 0 : (size_t)((memory > 2 * others ? memory - others : others) / 2);
}

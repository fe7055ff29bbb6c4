/* names.c — the names of enumerators. Headers of later rooms have the enumerations, whose numbers never change. */
#include <twinsift/names.h>

#include <string.h>

#include "base/error.h"

enum { MOST = 6 };

static const struct {
    const char *what, *names[MOST + 1];
} tables[] = {
    [TWIN_NAMES_EXECUTOR] = { "executor", { "serial", "pthreads", "openmp" } },
    [TWIN_NAMES_CPU] = { "level", { "scalar", "avx2", "avx512", "neon" } },
    [TWIN_NAMES_HASH_FAMILY] = { "hash family", { "xxh3", "farm", "jenkins", "sip" } },
    [TWIN_NAMES_NORMAL] = { "normalisation", { "fold", "check", "bytes" } },
    [TWIN_NAMES_SHINGLE_KIND] = { "kind of shingle", { "auto", "char", "byte", "word", "stop", "kmer" } },
    [TWIN_NAMES_SKETCH] = { "sketch", { "fast", "classic" } },
    [TWIN_NAMES_MEASURE] = { "measure", { "jaccard", "containment" } },
    [TWIN_NAMES_KEEP] = { "way to keep documents", { "sets", "text", "none" } },
    [TWIN_NAMES_BLOOM_LAYOUT] = { "layout", { "auto", "blocks", "classic" } },
    [TWIN_NAMES_MAIL_REASON] = { "reason", { "nothing", "content", "sender", "lookalike" } },
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *twin_name_of(twin_names names, int value)
{
    if ((unsigned)names >= TABLES || (unsigned)value >= MOST || !tables[names].names[value])
        return "";
    return tables[names].names[value];
}

int twin_value_of(twin_names names, const char *name)
{
    if ((unsigned)names >= TABLES)
        twin__fail(NULL, TWIN_EINVAL, "unknown names %d", (int)names);
    else if (!name)
        twin__fail_null(NULL, "name");
    else {
        for (int i = 0; tables[names].names[i]; i++)
            if (strcmp(name, tables[names].names[i]) == 0)
                return i;
        twin__fail(NULL, TWIN_EINVAL, "there is no %s \"%s\"", tables[names].what, name);
    }
    return -1;
}

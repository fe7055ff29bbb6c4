/* cmd_index_compact.c — twinsift index compact: write an index again without what was removed. */
#include "commands.h"
#include "compact.h"
#include "index_file.h"

static int run(void *context)
{
    const struct shared_options *shared = context;
    return compact_file(shared, index_path(shared), twin_index_compact);
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_compact = {
    .name = "twinsift index compact",
    .summary = "rewrite the index without unused space",
    .usage = "[OPTION]... FILE",
    .about = "The file is replaced when the new one is complete. Processes that read it keep the old one until they "
             "open it again. No process may be writing it.",
    .shared = INDEX_TAKES,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error; the index is unchanged",
    .examples = "twinsift index compact news.twin",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

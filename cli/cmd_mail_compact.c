/* cmd_mail_compact.c — twinsift mail compact: write a model again without the room of what was replaced. */
#include "commands.h"
#include "compact.h"
#include "mail_model.h"

#include <stddef.h>

struct request {
    struct mail_request mail;
};

static int run(void *context)
{
    const struct request *request = context;
    return compact_file(&request->mail.shared, mail_path(&request->mail), twin_mail_compact);
}

static const struct option_row options[] = { MAIL_MODEL_ROW(struct request), { 0 } };
static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_compact = {
    .name = "twinsift mail compact",
    .summary = "rewrite the model without unused space",
    .usage = "[OPTION]...",
    .about = "The file is replaced when the new one is complete. Processes that read it keep the old one until they "
             "open it again. No process may be learning.",
    .shared = "wait json quiet",
    .options = options,
    .status = "0  done\n2  error; the model is unchanged",
    .examples = "twinsift mail compact",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* cmd_completion.c — twinsift completion: scripts that complete commands and options in a shell. */
#include "commands.h"
#include "support/messages.h"
#include "support/shared_options.h"

static int run(void *context)
{
    const struct shared_options *shared = context;
    const char *shell = shared->base.arguments[0];
    if (word_number("bash zsh fish", shell) < 0)
        return fail("\"%s\" is not one of bash, zsh, fish", shell);
    completion_print(shared->base.program, shell);
    return EXIT_DONE;
}

static const struct shared_options defaults;

const struct command command_completion = {
    .name = "twinsift completion",
    .summary = "print a completion script for a shell",
    .usage = "bash | zsh | fish",
    .about = "Installed packages have these scripts in the places where the shells look for them.",
    .shared = "",
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "source <(twinsift completion bash)\n"
                "twinsift completion zsh > ~/.zfunc/_twinsift\n"
                "twinsift completion fish > ~/.config/fish/completions/twinsift.fish",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
    .hidden = true,
};

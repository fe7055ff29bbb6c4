/* main.c — the table of commands.
 *
 * main() puts the process in order (standard files, signals, limits) and gives the table to support/command.c, which
 * finds the command, reads its options and runs it. */
#include "commands.h"
#include "support/interrupt.h"
#include "support/mapped.h"
#include "support/messages.h"
#include "support/progress.h"
#include "support/results.h"
#include "support/shared_options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_pairs,         &command_dedup,
    &command_sign,          &command_band,
    &command_join,          &command_filter,
    &command_contamination, &command_show,
    &command_plan,          &command_serve,
    &command_index_create,  &command_index_add,
    &command_index_remove,  &command_index_query,
    &command_index_pairs,   &command_index_info,
    &command_index_check,   &command_index_export,
    &command_index_compact, &command_bloom_create,
    &command_bloom_add,     &command_bloom_has,
    &command_bloom_count,   &command_bloom_remove,
    &command_bloom_merge,   &command_bloom_info,
    &command_mail_learn,    &command_mail_check,
    &command_mail_correct,  &command_mail_forget,
    &command_mail_info,     &command_mail_compact,
    &command_mail_export,   &command_mail_import,
    &command_mail_eval,     &command_mail_milter,
    &command_completion,    NULL,
};

static const struct command_group groups[] = {
    { "index", "keep an index of documents in a file and query it for near-duplicates",
      "Any number of processes may read an index while one writes. Documents are written in batches, each as a whole "
      "or not at all; a run that is killed, or a full disk, leaves the batches before it. FILE-lock, next to the "
      "index, "
      "is shared by the processes that have it open.",
      "0  done; query: a match was found\n"
      "1  query: no match; remove: some ids were not in the index\n"
      "2  error",
      "twinsift index create news.twin --keep text\n"
      "twinsift index add news.twin 2025.jsonl.zst 2026.jsonl.zst\n"
      "twinsift index query news.twin --top 3 today.jsonl\n"
      "echo '{\"text\":\"the text of an article\"}' | twinsift index query news.twin - && echo seen\n"
      "twinsift index remove news.twin article-17 article-18" },
    { "bloom", "Bloom and counting filters in a file",
      "An item that was added is always found. One that was not is found with a small probability, the "
      "false-positive rate, which is chosen when the filter is created.\n\n"
      "Items are the lines of the inputs; - or no input is standard input. A filter of N items "
      "takes "
      "1.26 N bytes at a rate of 1 %, 1.80 N at 0.1 %; a counting filter 4, 8 or 16 times that. add, remove and "
      "merge "
      "replace the file as a whole: readers are not disturbed, and an interrupted run leaves it as it was. One "
      "process "
      "may change a file at a time.",
      "0  done; has: every item may be in the filter\n"
      "1  has: some item is not in it; remove: some item was not in it\n"
      "2  error",
      "twinsift bloom create trusted.bloom --items 100M --rate 0.01\n"
      "twinsift bloom add trusted.bloom addresses.txt\n"
      "echo ann@example.org | twinsift bloom has trusted.bloom && echo trusted\n"
      "twinsift bloom add seen.bloom --print-new < urls > new-urls" },
    { "mail", "a mail filter that learns",
      "A model learns messages with labels, such as spam and ham, and says which label a new message would get, by "
      "its "
      "words and bytes, its sender, and the messages it looks like. It keeps the beginnings of texts, to show them "
      "in explanations, unless it is made without. Any number of processes may "
      "check while one learns; what is learnt is written as a whole or not at all.",
      "0  done; check: spam\n"
      "1  check: not spam\n"
      "2  check: unsure; else an error\n"
      "3  check: an error",
      "twinsift mail learn --as ham ~/Maildir\n"
      "twinsift mail learn --as spam ~/Maildir/.Junk\n"
      "twinsift mail check --explain message.eml\n"
      "twinsift mail correct --as ham message.eml" },
    { 0 },
};

/* TWINSIFT_CPU is for measurements: results do not depend on it. */
static bool choose_cpu(void)
{
    const char *name = getenv("TWINSIFT_CPU");
    if (!name || !*name)
        return true;
    int level = twin_value_of(TWIN_NAMES_CPU, name);
    if (level < 0)
        return refuse("TWINSIFT_CPU: \"%s\" is not one of scalar, avx2, avx512, neon", name);
    if (twin_cpu_use((twin_cpu)level) == TWIN_OK)
        return true;
    return refuse("TWINSIFT_CPU: this machine cannot run %s, at best %s", name,
                  twin_name_of(TWIN_NAMES_CPU, twin_cpu_level()));
}

/* Those of main(), as they were given: reading options puts them into another order. */
static char **given_arguments;

static bool prepare(const struct command *command)
{
    if (!choose_cpu())
        return false;
    return command != &command_serve || command_serve_is_here() || serve_program_enter(given_arguments);
}

static const struct program program = {
    .name = "twinsift",
    .about =
        "twinsift finds near-duplicate documents and overlapping sets with MinHash and locality-sensitive hashing "
        "(LSH), and verifies every pair it reports.",
    .commands = commands,
    .groups = groups,
    .shared = shared_option_rows,
    .prepare = prepare,
    .notes = "See 'twinsift COMMAND --help', or 'man twinsift'. 'twinsift completion bash', zsh or fish prints a "
             "completion script.\n\n"
             "Exit status: 0 done or yes, 1 no, 2 error (message on standard error), 3 documents were skipped "
             "(--fail-on-skipped). 'mail check' has its own; see its --help.\n\n"
             "Environment: TWINSIFT_THREADS is the default of --threads. TWINSIFT_CPU=scalar, avx2, avx512 or neon "
             "selects the "
             "instruction set; results do not depend on it. TMPDIR is where compressed and piped input is unpacked. "
             "NO_COLOR turns colours off.",
};

/* A file opened later must not become standard output because the caller closed that. Opened the wrong way round,
 * so that using one still fails. */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Each file of lines stays open, and a folder may hold thousands: the limit of the shell is meant for programs that use
 * select(). */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static char **copy_arguments(int argc, char **argv)
{
    size_t bytes = ((size_t)argc + 1) * sizeof *argv;
    char **copy = malloc(bytes);
    return copy ? memcpy(copy, argv, bytes) : NULL;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL); /* when a reader such as head leaves, end quietly */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error, not the end */
    interrupt_watch();
    hold_standard_files();
    allow_many_files();
    watch_mapped_files("twinsift");
    given_arguments = copy_arguments(argc, argv);
    if (!given_arguments)
        return fail_status("twinsift", TWIN_ENOMEM, NULL);
    int status = program_run(&program, argc, argv);
    free(given_arguments);
    progress_end();
    return interrupt_end(close_output(status));
}

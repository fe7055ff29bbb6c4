/* cmd_serve.c — twinsift serve: the options of the server, which is in serve.c. */
#include "commands.h"
#include "serve.h"
#include "support/messages.h"
#include "support/shared_options.h"

#include <stddef.h>

struct request {
    struct shared_options shared; /* --color, which every command takes */
    struct serve_options serve;
};

#define AT(field) OPTION_AT(struct request, serve.field)

bool command_serve_is_here(void)
{
    return serve_available();
}

static int run(void *context)
{
    struct request *request = context;
    return serve_run(&request->serve);
}

static const struct option_row options[] = {
    { "model", 'm', OPTIONS_INPUT, "PATH",
      "a mail model, which is created when something is learnt; or a folder of models NAME.twin", &option_text,
      AT(model) },
    { "index", 0, OPTIONS_INPUT, "FILE",
      "an index of documents, under the file's name without .twin, or NAME=FILE; may be given several times",
      &option_list, AT(indexes) },
    { "spamd", 0, OPTIONS_OUTPUT, "WHERE",
      "also speak SpamAssassin's protocol there, for spamc, Exim and others: ADDRESS:PORT of loopback, or unix:PATH",
      &option_text, AT(spamd) },
    { "spamd-tell", 0, OPTIONS_OUTPUT, NULL, "with --spamd: whoever can connect may also teach the model (TELL)",
      &option_flag, AT(spamd_tell) },
    { "demo", 0, OPTIONS_INPUT, NULL,
      "serve copies of the samples that come with twinsift: articles, and mail; what is learnt is dropped at the end",
      &option_flag, AT(demo) },
    { "http", 0, OPTIONS_OUTPUT, "WHERE",
      "where the page and HTTP are: ADDRESS:PORT, with [ ] around an IPv6 address, or unix:PATH (default: "
      "127.0.0.1:8377, or the socket that systemd hands over); elsewhere than on loopback only with --token-file",
      &option_text, AT(http) },
    { "host", 0, OPTIONS_OUTPUT, "NAME",
      "a name under which browsers and programs address the server, such as that of a proxy; may be given several "
      "times (localhost and loopback addresses always count)",
      &option_list, AT(hosts) },
    { "token-file", 0, OPTIONS_OUTPUT, "FILE",
      "the token without which nothing is changed: 16 characters or more, in a file for its owner only (default: one "
      "that is drawn and printed at the start)",
      &option_text, AT(token_file) },
    { "threads", 0, OPTIONS_SEARCH, "N",
      "threads for mail, and as many for indexes (default: four per processor, at least eight)", &option_count,
      AT(threads), .least = 1, .most = 256 },
    { "connections", 0, OPTIONS_SEARCH, "N", "the most connections at once", &option_count, AT(connections),
      .least = 1, .most = 65536 },
    { "max-body", 0, OPTIONS_SEARCH, "BYTES", "the longest request", &option_count, AT(max_body), .least = 1024,
      .most = 1000000000 },
    { "timeout", 0, OPTIONS_SEARCH, "SECONDS",
      "how long a client may take to send a request's head, its body, and to take the answer, each", &option_count,
      AT(timeout), .least = 1, .most = 3600 },
    { 0 },
};

static const struct request defaults = { .serve = { .connections = 4096, .max_body = 10000000, .timeout = 30 } };

const struct command command_serve = {
    .name = "twinsift serve",
    .summary = "a web page to try it, and an HTTP server over mail models and indexes",
    .usage = "[--model PATH] [--index FILE]... [OPTION]...\n--demo [OPTION]...",
    .about =
        "The page shows why a message is called spam, finds near-duplicates, and shows how the method works on your "
        "own texts. Programs use HTTP and JSON; see 'man twinsift-serve'.\n\n"
        "Questions are answered to everyone who can reach the server, changes need a token. What is learnt is on the "
        "disk when it is acknowledged. Changes that other processes make to models and indexes are noticed within a "
        "second. SIGTERM ends the server after the requests it has begun, SIGHUP makes it open its files again.",
    .options = options,
    .status = "0  ended by SIGTERM or SIGINT\n"
              "2  error",
    .examples = "twinsift serve --demo\n"
                "twinsift serve --model ~/.local/share/twinsift/mail.twin --index news.twin\n"
                "twinsift serve --index news.twin --http unix:/run/twinsift/http --token-file token",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

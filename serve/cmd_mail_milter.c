/* cmd_mail_milter.c — twinsift mail milter: judges mail while a mail server receives it. */
#include "commands.h"
#include "mail_model.h"
#include "milter.h"
#include "support/keys.h"
#include "support/messages.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct mail_request mail;
    struct milter_options milter;
    bool verify;
};

#define AT(field) OPTION_AT(struct request, field)

/* ---- --verify */

struct verifying {
    struct seal seal;
    bool is_ours;
};

static bool verify_message(void *context, twin_text raw, twin_text path)
{
    (void)path;
    struct verifying *work = context;
    twin_message_reader *reader = NULL;
    const twin_message *message;
    twin_status status = twin_message_reader_create(&reader, (twin_message_options){ 0 });
    if (status == TWIN_OK)
        status = twin_message_read(&message, reader, raw);
    if (status == TWIN_OK)
        work->is_ours = seal_holds(raw, &work->seal, message->id);
    twin_message_reader_free(reader);
    return status == TWIN_OK || refuse_status("the message", status, NULL);
}

static int verify(struct request *request, struct seal seal)
{
    struct verifying work = { .seal = seal };
    if (!seal.is_keyed)
        return fail("--verify needs the --key-file of the milter");
    int64_t count = mail_each_raw(&request->mail, 0, verify_message, &work);
    if (count < 0)
        return EXIT_ERROR;
    if (count > 1)
        return fail("--verify takes one message");
    return work.is_ours ? EXIT_YES : EXIT_NO;
}

/* ---- the command */

/* The name of the host, which may be written to `own_name`, and the key. */
static bool prepare_seal(struct request *request, char *own_name, size_t room)
{
    struct seal *seal = &request->milter.seal;
    seal->is_keyed = request->mail.key_file;
    if (seal->is_keyed && !read_key(seal->key, request->mail.key_file))
        return false;
    if (!seal->host && gethostname(own_name, room) != 0)
        return refuse("the host has no name; give one with --host-name");
    if (!seal->host)
        seal->host = own_name;
    if (strlen(seal->host) > SEAL_HOST_BYTES || strpbrk(seal->host, " \t;=\r\n"))
        return refuse("--host-name %s: not the name of a host", seal->host);
    return true;
}

static int run(void *context)
{
    struct request *request = context;
    char own_name[SEAL_HOST_BYTES + 1] = "";
    if (!prepare_seal(request, own_name, sizeof own_name - 1))
        return EXIT_ERROR;
    if (request->verify)
        return verify(request, request->milter.seal);
    if (!request->milter.listen)
        return fail("--listen is missing: ADDRESS:PORT or unix:PATH");
    request->milter.model = mail_path(&request->mail);
    request->milter.quiet = request->mail.shared.quiet;
    return milter_run(&request->milter);
}

static const struct option_row options[] = {
    MAIL_MODEL_ROW(struct request),
    { "listen", 'l', OPTIONS_INPUT, "WHERE",
      "ADDRESS:PORT, with [ ] around an IPv6 address, or unix:PATH, a socket for its owner and group", &option_text,
      AT(milter.listen) },
    { "trust", 0, OPTIONS_MATCHING, "FILE",
      "a filter, created by 'twinsift bloom', of addresses and domains whose mail is good; SIGHUP reads it again",
      &option_text, AT(milter.trusted) },
    { "spam", 0, OPTIONS_MATCHING, "ACTION",
      "what is done with spam: mark it by headers only, quarantine it (Postfix holds it), or reject it",
      &option_choice, AT(milter.action), .choices = "mark quarantine reject" },
    { "above", 0, OPTIONS_MATCHING, "P",
      "quarantine or reject only spam with a score of P or more; other spam is marked", &option_fraction,
      AT(milter.above) },
    { "fail", 0, OPTIONS_MATCHING, "HOW",
      "a message that cannot be judged, for want of a model for instance: accept it without headers, or have the "
      "sender try again later (tempfail)",
      &option_choice, AT(milter.failure), .choices = "accept tempfail" },
    { "host-name", 0, OPTIONS_OUTPUT, "NAME", "the name of this host in the headers (default: that of the system)",
      &option_text, AT(milter.seal.host) },
    { "key-file", 0, OPTIONS_OUTPUT, "FILE",
      "a secret key, 16 bytes or 32 hexadecimal digits: headers carry a digest that nobody else can make",
      &option_text, AT(mail.key_file) },
    { "verify", 0, OPTIONS_OUTPUT, NULL,
      "serve nothing, but exit with 0 if the message on standard input has a header of the milter with this key and "
      "host name, and with 1 if it has none or a forged one",
      &option_flag, AT(verify) },
    { 0 },
};

static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_milter = {
    .name = "twinsift mail milter",
    .summary = "judge mail while Postfix or Sendmail receives it",
    .usage = "[OPTION]... --listen WHERE\n[OPTION]... --verify --key-file FILE < MESSAGE",
    .about =
        "Each message is judged with its envelope. The headers X-Spam-Flag, X-Spam-Score and X-Twinsift are "
        "added, and those of these names that it had are removed. Mail of users who have logged in is not judged. "
        "What other processes learn is noticed within a second. It runs until SIGTERM and writes a line for each "
        "message on standard error, without its content.",
    .shared = "quiet",
    .options = options,
    .status = "0  done; --verify: the header is genuine\n"
              "1  --verify: it is not, or there is none\n"
              "2  error",
    .examples = "twinsift mail milter -m /var/lib/twinsift/mail.twin --listen 127.0.0.1:8892\n"
                "twinsift mail milter --listen unix:/run/twinsift/milter --spam reject --above 0.999\n"
                "twinsift mail milter --verify --key-file /etc/twinsift/key < message.eml",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

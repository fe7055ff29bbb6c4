/* mail_model.h — what the verbs of mail share: the model, the messages, and what is said about them. */
#ifndef TWIN_MAIL_MODEL_H
#define TWIN_MAIL_MODEL_H

#include "support/inputs.h"

/* What a request of mail begins with. */
struct mail_request {
    struct shared_options shared;
    const char *model;    /* NULL: the default */
    const char *key_file; /* of a model that is created; NULL: a random key */
};

#define MAIL_TAKES "strict hidden max-unpacked-bytes json quiet"

#define MAIL_DEFAULTS                                                                                                \
    {                                                                                                                \
        .shared = {.executor = TWIN_EXEC_PTHREADS, .input = { .format = TWIN_INPUT_MAIL } }                          \
    }

/* What a PATH is, for --help. */
#define ABOUT_MAIL_PATH                                                                                              \
    "A PATH is a message (.eml), an mbox file, a Maildir, or a folder of these; - is a message or an mbox on "       \
    "standard input, which is also read if no path is given. "

/* The row of --model in a request whose member `mail` is a struct mail_request. */
#define MAIL_MODEL_ROW(request)                                                                                      \
    {                                                                                                                \
        "model", 'm', OPTIONS_INPUT, "FILE",                                                                         \
            "the model (default: $XDG_DATA_HOME/twinsift/mail.twin, or the same in ~/.local/share)", &option_text,   \
            OPTION_AT(request, mail.model)                                                                           \
    }

/* The same of --key-file, where models are created. */
#define MAIL_KEY_ROW(request)                                                                                        \
    {                                                                                                                \
        "key-file", 0, OPTIONS_INPUT, "FILE",                                                                        \
            "for a new model: the secret key, 16 bytes or 32 hexadecimal digits, needed to exchange sketches with "  \
            "other sites (default: a random key)",                                                                   \
            &option_text, OPTION_AT(request, mail.key_file)                                                          \
    }

/* Reads the key that was requested, if any, into `key`, and has the options refer to it. On false the error has been
 * reported. */
bool mail_key(twin_mail_options *out, uint64_t key[2], const struct mail_request *request);

/* Opens the model. If there is none and `create` is not NULL, creates it with those options, and its folder. NULL: the
 * error has been reported. */
twin_mail *mail_open(const struct mail_request *request, twin_mail_access access, const twin_mail_options *create);

/* The path of the model. */
const char *mail_path(const struct mail_request *request);

/* Called with each message; false, after reporting an error, stops. `path` is where it was read. */
typedef bool mail_visit(void *context, const twin_message *message, twin_text path);

/* Reads the messages that the arguments from `first` on name, or standard input if there are none. Returns how many
 * were read; on a negative number the error has been reported. */
int64_t mail_each(struct mail_request *request, size_t first, mail_visit *visit, void *context);

/* The same with the bytes of each message, which live until the visit ends. */
typedef bool mail_visit_raw(void *context, twin_text raw, twin_text path);
int64_t mail_each_raw(struct mail_request *request, size_t first, mail_visit_raw *visit, void *context);

/* Seconds since 1970. */
int64_t mail_now(void);

/* "2026-01-31". Returns `out`. */
enum { MAIL_DAY_ROOM = 32 };
const char *mail_day(char out[MAIL_DAY_ROOM], int64_t time);

/* ---- mail_bulk.c: many messages checked by several threads, with results in the order of the messages */

/* Called with each verdict in turn, by the thread that began; `mail` knows what it refers to. False, after reporting
 * an error, stops. */
typedef bool mail_bulk_visit(void *context, twin_mail *mail, const twin_mail_verdict *verdict, twin_text path);

/* Checks the messages that the arguments name. On false the error has been reported. */
bool mail_check_bulk(struct mail_request *request, twin_mail *mail, twin_mail_check_options options, twin_exec exec,
                     mail_bulk_visit *visit, void *context);

/* ---- mail_explain.c: a verdict in words: which evidence spoke, how strongly, and what in the message did */

/* Prints the evidence below a verdict, and the nearest known message beside this one, if its text is kept. */
void explain_verdict(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict, bool color);

#endif

/* cmd_mail_share.c — twinsift mail export and import: what sites with the same key exchange.
 *
 * Sketches are one block of bytes that the library makes and reads; the file may be compressed, by its name when it is
 * written, by its contents when it is read. */
#include "commands.h"
#include "mail_model.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/record.h"
#include "support/results.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    struct mail_request mail;
    bool sketches, weights;
};

#define AT(field) OPTION_AT(struct request, field)

/* ---- export */

static int run_export(void *context)
{
    const struct request *request = context;
    const struct shared_options *shared = &request->mail.shared;
    if (!request->sketches)
        return fail("--sketches is missing: it is all that can be exported");
    twin_mail *mail = mail_open(&request->mail, TWIN_MAIL_READ, NULL);
    if (!mail)
        return EXIT_ERROR;
    twin_buffer out = { 0 };
    twin_error error = { 0 };
    twin_mail_export_options options = { .weights = request->weights };
    twin_status status = twin_mail_export(&out, mail, options, &error);
    const char *model = mail_path(&request->mail);
    bool good =
        status == TWIN_OK && !(shared->output && overwrites_input(shared->output, &model, 1)) && results_open(shared);
    if (status != TWIN_OK)
        fail_status(model, status, &error);
    if (good) {
        fwrite(out.bytes, 1, out.length, results());
        good = output_is_good();
    }
    twin_buffer_clear(&out);
    twin_mail_close(mail);
    return good ? EXIT_DONE : EXIT_ERROR;
}

/* ---- import */

struct file {
    twin_buffer bytes;
    bool no_memory;
};

static bool take_block(void *context, const char *block, size_t length)
{
    struct file *file = context;
    file->no_memory = twin_buffer_append(&file->bytes, block, length) != TWIN_OK;
    return !file->no_memory;
}

static void free_files(twin_buffer *files, size_t count)
{
    for (size_t i = 0; files && i < count; i++)
        twin_buffer_clear(&files[i]);
    free(files);
}

static bool read_file(twin_buffer *out, const char *path)
{
    struct file file = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_input_stream(path, take_block, &file, (twin_progress){ 0 }, &error);
    status = file.no_memory ? TWIN_ENOMEM : status;
    *out = file.bytes;
    return status == TWIN_OK || refuse_status(path, status, &error);
}

/* The files of all arguments; NULL: the error has been reported. */
static twin_buffer *read_files(const struct request_base *base)
{
    twin_buffer *files = calloc(base->count, sizeof *files);
    bool good = files || refuse_status("the sketches", TWIN_ENOMEM, NULL);
    for (size_t i = 0; i < base->count && good; i++)
        good = read_file(&files[i], base->arguments[i]);
    if (good)
        return files;
    free_files(files, base->count);
    return NULL;
}

static bool import(twin_mail_imported *sum, twin_mail *mail, const twin_buffer *files,
                   const struct request_base *base)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < base->count && status == TWIN_OK; i++) {
        twin_error error = { 0 };
        twin_mail_imported counts = { 0 };
        twin_text bytes = { files[i].bytes ? files[i].bytes : "", files[i].length };
        status = twin_mail_import(&counts, mail, bytes, &error);
        if (status != TWIN_OK)
            fail_status(base->arguments[i], status, &error);
        sum->messages += counts.messages;
        sum->known += counts.known;
        sum->left_out += counts.left_out;
        sum->weights |= counts.weights;
    }
    return status == TWIN_OK;
}

/* Whether a new model with these options could import them: or it would be left behind empty, with a key that fits
 * nobody's sketches. */
static bool can_import(const twin_mail_options *options, const twin_buffer *files, const struct request_base *base)
{
    twin_mail *trial;
    twin_mail_imported unused = { 0 };
    if (!options->key)
        return refuse("there is no model yet; create it with the key of the sketches: --key-file");
    twin_status status = twin_mail_create_in_memory(&trial, *options);
    if (status != TWIN_OK)
        return refuse_status("mail", status, NULL);
    bool good = import(&unused, trial, files, base);
    twin_mail_close(trial);
    return good;
}

static void print_imported(const struct shared_options *shared, const twin_mail_imported *sum)
{
    if (shared->json) {
        struct record record = record_begin(stdout, true);
        record_count(&record, "imported", sum->messages);
        record_count(&record, "known", sum->known);
        record_count(&record, "left_out", sum->left_out);
        record_flag(&record, "weights", sum->weights);
        record_end(&record);
    } else if (!shared->quiet) {
        fprintf(stderr, "%" PRIu64 " imported, %" PRIu64 " known already", sum->messages, sum->known);
        if (sum->left_out)
            fprintf(stderr, ", %" PRIu64 " left out: the model is full", sum->left_out);
        fprintf(stderr, "%s\n", sum->weights ? "; weights taken" : "");
    }
}

static int run_import(void *context)
{
    const struct request *request = context;
    const struct shared_options *shared = &request->mail.shared;
    twin_mail_imported sum = { 0 };
    twin_error error = { 0 };
    uint64_t key[2];
    twin_mail_options options = { 0 };
    if (!mail_key(&options, key, &request->mail))
        return EXIT_ERROR;
    twin_buffer *files = read_files(&shared->base);
    twin_mail *mail = NULL;
    if (files && (!is_missing(mail_path(&request->mail)) || can_import(&options, files, &shared->base)))
        mail = mail_open(&request->mail, TWIN_MAIL_WRITE, &options);
    bool good = mail && import(&sum, mail, files, &shared->base);
    free_files(files, shared->base.count);
    twin_status status = good ? twin_mail_commit(mail, &error) : TWIN_OK;
    if (status != TWIN_OK)
        fail_status(mail_path(&request->mail), status, &error);
    good = good && status == TWIN_OK;
    if (good)
        print_imported(shared, &sum);
    twin_mail_close(mail);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct option_row export_options[] = {
    MAIL_MODEL_ROW(struct request),
    { "sketches", 0, OPTIONS_OUTPUT, NULL, "write labels, hashes of messages and senders, and signatures; no text",
      &option_flag, AT(sketches) },
    { "weights", 0, OPTIONS_OUTPUT, NULL, "also write the weights of the content classifiers, for a new site",
      &option_flag, AT(weights) },
    { 0 },
};
static const struct option_row import_options[] = { MAIL_MODEL_ROW(struct request),
                                                    MAIL_KEY_ROW(struct request),
                                                    { 0 } };

static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_export = {
    .name = "twinsift mail export",
    .summary = "write sketches of what was learnt, for sites with the same key",
    .usage = "[OPTION]... --sketches",
    .about = "Sites that create their models with the same key can exchange what they have learnt without sending "
             "any text. Imported messages are not exported again. Anyone who has the key and the sketches can test "
             "whether a given address or message is among them. Without the key they reveal how many messages were "
             "learnt under each label and when, and which of them are similar.",
    .shared = "output no-sync quiet",
    .options = export_options,
    .status = "0  done\n2  error",
    .examples = "twinsift mail export --sketches -o site-a.sketches\n"
                "twinsift mail export --sketches --weights -o site-a.sketches.zst",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_export,
};

const struct command command_mail_import = {
    .name = "twinsift mail import",
    .summary = "learn from sketches of another site",
    .usage = "[OPTION]... FILE...",
    .about = "The messages of the sketches count as lookalikes and for their senders. Messages learnt here and the "
             "content classifiers are not changed; only a model that has learnt nothing takes weights. The model is "
             "created, with the key of --key-file, if it does not exist. - is standard input.",
    .shared = "json quiet",
    .options = import_options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; the model is unchanged",
    .examples = "twinsift mail import site-a.sketches\n"
                "twinsift mail import -m new.twin --key-file key site-a.sketches.zst",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_import,
};

/* mail.c — a mail model as its users see it.
 *
 * The model is loaded into memory when a handle is opened, and again when another process has written to the file. What
 * is learnt changes the model in memory and is queued; a commit writes the changed parts in one transaction. If another
 * process has written meanwhile, its state is loaded first and the queue is done again on top of it. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "mail/mail_private.h"

enum { FEW_CHECKS = 16 }; /* for which most of the model stays in the file */

twin_status twin__mail_prepare(struct twin__mail_item *out, twin_mail *mail, const twin_message *message,
                               twin_error *error)
{
    twin_hash hash = { .seed = mail->model.key[0] };
    twin_digest digest = twin_hash_digest(hash, message->raw.bytes, message->raw.length);
    if (!mail->prepared || digest.low != mail->digest.low || digest.high != mail->digest.high) {
        mail->prepared = false;
        mail->model.judged_at = 0; /* a verdict on the same message with other headers is another one */
        twin_status status = twin__model_prepare(&mail->item, &mail->model, message);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
        mail->digest = digest;
        mail->prepared = true;
    }
    *out = mail->item;
    return TWIN_OK;
}

static twin_status draw_key(uint64_t out[2], const uint64_t *wanted, twin_error *error)
{
    if (wanted) {
        memcpy(out, wanted, 2 * sizeof *out);
        return TWIN_OK;
    }
    if (getrandom(out, 2 * sizeof *out, 0) == (ssize_t)(2 * sizeof *out))
        return TWIN_OK;
    return twin__fail(error, TWIN_EIO, "the system gives no random numbers for the key: %m");
}

/* ---- opening, closing */

static twin_status write_empty(twin__store_txn *txn, void *context, twin_error *error)
{
    struct twin__mail_saved nothing = { 0 };
    return twin__mail_save(txn, context, &nothing, error);
}

twin_status twin_mail_create(const char *path, twin_mail_options options, bool replace, twin_error *error)
{
    if (!path)
        return twin__fail_null(error, "path");
    uint64_t key[2];
    twin_status status = draw_key(key, options.key, error);
    if (status != TWIN_OK)
        return status;
    struct twin__model *model = calloc(1, sizeof *model); /* 25 KB are much for a stack */
    if (!model)
        return twin__fail_memory(error);
    status = twin__model_init(model, options, key);
    if (status != TWIN_OK)
        twin__fail_status(error, status);
    else
        status = twin__store_create(path, &twin__mail_schema,
                                    (struct twin__store_create_options){ .replace = replace, .secret = true },
                                    write_empty, model, error);
    twin__model_clear(model);
    free(model);
    return status;
}

twin_status twin_mail_create_in_memory(twin_mail **out, twin_mail_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    uint64_t key[2];
    twin_status status = draw_key(key, options.key, NULL);
    if (status != TWIN_OK)
        return status;
    twin_mail *mail = calloc(1, sizeof *mail);
    if (!mail)
        return twin__fail_memory(NULL);
    mail->use = TWIN__MAIL_FOR_LEARNING;
    options.without_texts = true;
    status = twin__model_init(&mail->model, options, key);
    if (status != TWIN_OK) {
        twin_mail_close(mail);
        return twin__fail_status(NULL, status);
    }
    *out = mail;
    return TWIN_OK;
}

static void give_back(struct twin__model *model)
{
    model->label_count = 0;
    model->remembered = (struct twin__remembered){ 0 };
    model->texts = (struct twin__mail_texts){ 0 };
    model->hasher = NULL;
}

void twin_mail_close(twin_mail *mail)
{
    if (!mail)
        return;
    if (mail->borrowed)
        give_back(&mail->model);
    twin__model_clear(&mail->model);
    twin__mail_saved_clear(&mail->saved);
    twin__mail_queue_clear(&mail->queue);
    twin__store_close(mail->store);
    free(mail);
}

twin_status twin__mail_reload(twin_mail *mail, twin__store_txn *txn, uint64_t number, twin_error *error)
{
    if (!mail->stale && mail->saved.transaction == number)
        return TWIN_OK;
    struct {
        struct twin__model model;
        struct twin__mail_saved saved;
    } *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return twin__fail_memory(error);
    twin_status status = twin__mail_load(&fresh->model, &fresh->saved, txn, number, mail->use, mail->store, error);
    if (status == TWIN_OK && mail->use == TWIN__MAIL_FOR_FEW_CHECKS && fresh->saved.version < 4) {
        mail->use = TWIN__MAIL_FOR_CHECKS; /* old files have another form than what is lent */
        twin__model_clear(&fresh->model);
        twin__mail_saved_clear(&fresh->saved);
        status = twin__mail_load(&fresh->model, &fresh->saved, txn, number, mail->use, mail->store, error);
    }
    if (status == TWIN_OK) {
        twin__model_clear(&mail->model);
        twin__mail_saved_clear(&mail->saved);
        mail->prepared = false;
        mail->model = fresh->model;
        mail->saved = fresh->saved;
        mail->stale = false;
    } else {
        twin__model_clear(&fresh->model);
        twin__mail_saved_clear(&fresh->saved);
    }
    free(fresh);
    return status;
}

/* Brings the model up to date, unless there is something to commit. If most of it is in the file, the transaction that reads
 * it is handed out when `reading` is not NULL. */
static twin_status refresh_for(twin__store_txn **reading, twin_mail *mail, twin_error *error)
{
    twin__store_txn *txn;
    mail->is_lent = false; /* whoever uses it has been given back everything */
    if (!mail->store || (mail->queue.count && !mail->stale))
        return TWIN_OK;
    twin_status status = twin__store_begin_read(&txn, mail->store, error);
    if (status != TWIN_OK)
        return status;
    bool again = mail->stale;
    status = twin__mail_reload(mail, txn, twin__store_number(txn), error);
    if (reading && status == TWIN_OK && mail->use == TWIN__MAIL_FOR_FEW_CHECKS)
        *reading = txn;
    else
        twin__store_end_read(txn);
    if (status == TWIN_OK && again) {
        status = twin__mail_queue_replay(&mail->queue, &mail->model, error);
        mail->stale = status != TWIN_OK;
    }
    return status;
}

twin_status twin__mail_refresh(twin_mail *mail, twin_error *error)
{
    if (mail->use == TWIN__MAIL_FOR_FEW_CHECKS) {
        mail->use = TWIN__MAIL_FOR_CHECKS;
        mail->stale = true;
    }
    return refresh_for(NULL, mail, error);
}

twin_status twin__mail_open(twin_mail **out, const char *path, enum twin__store_access access, twin_error *error)
{
    twin_mail *mail = calloc(1, sizeof *mail);
    *out = NULL;
    if (!mail)
        return twin__fail_memory(error);
    mail->use = access == TWIN__STORE_READ ? TWIN__MAIL_FOR_FEW_CHECKS : TWIN__MAIL_FOR_LEARNING;
    twin_status status = twin__store_open(&mail->store, path, &twin__mail_schema, access, error);
    if (status == TWIN_OK) {
        mail->stale = true;
        status = refresh_for(NULL, mail, error);
    }
    if (status != TWIN_OK) {
        twin_mail_close(mail);
        return status;
    }
    *out = mail;
    return TWIN_OK;
}

twin_status twin_mail_open(twin_mail **out, const char *path, twin_mail_access access, twin_error *error)
{
    if (!out || !path)
        return twin__fail_null(error, out ? "path" : "out");
    *out = NULL;
    if (access != TWIN_MAIL_READ && access != TWIN_MAIL_WRITE)
        return twin__fail(error, TWIN_EINVAL, "unknown access %d", (int)access);
    return twin__mail_open(out, path, access == TWIN_MAIL_WRITE ? TWIN__STORE_WRITE : TWIN__STORE_READ, error);
}

/* ---- learning */

static twin_status check_arguments(const twin_mail *mail, const twin_message *message, twin_error *error)
{
    return mail && message ? TWIN_OK : twin__fail_null(error, mail ? "message" : "mail");
}

static twin_status change(twin_mail_effect *out, twin_mail *mail, enum twin__mail_act act,
                          const twin_message *message, const char *label, int64_t time, twin_error *error)
{
    struct twin__mail_item item;
    twin_mail_effect effect = TWIN_MAIL_UNKNOWN;
    twin_status status = check_arguments(mail, message, error);
    if (status == TWIN_OK && !label)
        return twin__fail_null(error, "label");
    if (status == TWIN_OK && mail->use != TWIN__MAIL_FOR_LEARNING)
        return twin__fail(error, TWIN_EINVAL, "the model was opened for reading");
    if (status == TWIN_OK)
        status = twin__mail_refresh(mail, error);
    if (status != TWIN_OK)
        return status;
    status = twin__mail_prepare(&item, mail, message, error);
    if (status != TWIN_OK)
        return status;
    if (!mail->model.options.without_texts) {
        item.subject = message->subject;
        item.text = message->text;
        if (item.text.length > TWIN__MAIL_TEXT_BYTES + 4) /* the last character whole */
            item.text.length = TWIN__MAIL_TEXT_BYTES + 4;
    }
    status = twin__mail_act(&effect, &mail->model, act, &item, label, time, error);
    bool changed = effect != TWIN_MAIL_KNOWN && effect != TWIN_MAIL_UNKNOWN;
    if (status == TWIN_OK && changed && mail->store) {
        status = twin__mail_queue_add(&mail->queue, act, &item, label, time);
        if (status != TWIN_OK)
            twin__fail_status(error, status);
    }
    if (!mail->store)
        mail->model.remembered.touched_count = 0; /* there is nothing to write */
    if (status == TWIN_ENOMEM)
        mail->stale = mail->store != NULL;
    if (out)
        *out = effect;
    return status;
}

twin_status twin_mail_learn(twin_mail_effect *out, twin_mail *mail, const twin_message *message, const char *label,
                            int64_t time, twin_error *error)
{
    return change(out, mail, TWIN__MAIL_LEARN, message, label, time, error);
}

twin_status twin_mail_correct(twin_mail_effect *out, twin_mail *mail, const twin_message *message, const char *label,
                              int64_t time, twin_error *error)
{
    return change(out, mail, TWIN__MAIL_CORRECT, message, label, time, error);
}

twin_status twin_mail_forget(twin_mail_effect *out, twin_mail *mail, const twin_message *message, twin_error *error)
{
    return change(out, mail, TWIN__MAIL_FORGET, message, "", 0, error);
}

/* ---- committing */

static twin_status write_changes(twin__store_txn *txn, void *context, twin_error *error)
{
    twin_mail *mail = context;
    uint64_t before = twin__store_number(txn) - 1;
    mail->writing = before + 1;
    if (mail->saved.transaction != before || mail->stale) {
        mail->stale = true;
        twin_status status = twin__mail_reload(mail, txn, before, error);
        if (status == TWIN_OK)
            status = twin__mail_queue_replay(&mail->queue, &mail->model, error);
        mail->stale = status != TWIN_OK;
        if (status != TWIN_OK)
            return status;
    }
    return twin__mail_save(txn, &mail->model, &mail->saved, error);
}

twin_status twin_mail_commit(twin_mail *mail, twin_error *error)
{
    if (!mail)
        return twin__fail_null(error, "mail");
    if (!mail->store || (mail->queue.count == 0 && !mail->stale))
        return TWIN_OK;
    twin_status status = twin__store_transact(mail->store, write_changes, mail, error);
    if (status != TWIN_OK)
        return status;
    twin__mail_queue_empty(&mail->queue);
    if (twin__mail_saved_update(&mail->saved, &mail->model, mail->writing) != TWIN_OK)
        mail->stale = true; /* what is in the file is known again after loading it */
    return TWIN_OK;
}

/* ---- checking */

static bool is_trusted(const twin_bloom *trusted, const twin_message *message)
{
    for (size_t i = 0; trusted && i < message->address_count; i++) {
        const twin_message_address *from = &message->addresses[i];
        if (from->role == TWIN_MESSAGE_FROM)
            return twin_bloom_may_contain(trusted, from->address.bytes, from->address.length) ||
                   (from->domain.length && twin_bloom_may_contain(trusted, from->domain.bytes, from->domain.length));
    }
    return false;
}

twin_status twin__mail_load_for_checks(twin_mail *mail, twin_error *error)
{
    twin_status status = twin__mail_refresh(mail, error);
    if (status == TWIN_OK && twin__model_make_filters(&mail->model) != TWIN_OK)
        return twin__fail_memory(error);
    return status;
}

/* `reading`: the transaction in which the file lends what it needs; NULL: all of the model is in memory. */
static twin_status check(twin_mail_verdict *out, twin_mail *mail, const twin_message *message,
                         twin_mail_check_options options, twin__store_txn *reading, twin_error *error)
{
    struct twin__mail_item item;
    struct twin__mail_loan loan = { 0 };
    twin_status status = twin__check_reserved(error, options.reserved, "a check");
    if (status == TWIN_OK)
        status = twin__mail_prepare(&item, mail, message, error);
    if (status == TWIN_OK && reading)
        status = twin__mail_lend(&loan, &mail->model, &item, &mail->saved, reading, mail->store, error);
    bool trusted = is_trusted(options.trusted, message);
    if (status == TWIN_OK && options.method == TWIN_MAIL_ALL && !trusted)
        *out = *twin__model_judge_once(&mail->model, &item);
    else if (status == TWIN_OK)
        twin__model_judge(out, NULL, &mail->model, &item, options.method, trusted);
    if (reading) {
        twin__mail_take_back(&loan, &mail->model);
        if (status == TWIN_OK)
            status = loan.status;
        mail->prepared = mail->prepared && status == TWIN_OK; /* a verdict on what is damaged is none */
    }
    return status;
}

twin_status twin_mail_check(twin_mail_verdict *out, twin_mail *mail, const twin_message *message,
                            twin_mail_check_options options, twin_error *error)
{
    if (!out)
        return twin__fail_null(error, "out");
    twin_status status = check_arguments(mail, message, error);
    twin__store_txn *reading = NULL;
    if (status == TWIN_OK)
        status = ++mail->checks > FEW_CHECKS ? twin__mail_load_for_checks(mail, error)
                                             : refresh_for(&reading, mail, error);
    if (status == TWIN_OK)
        status = check(out, mail, message, options, reading, error);
    if (reading)
        twin__store_end_read(reading);
    return status;
}

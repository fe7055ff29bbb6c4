/* mail_upkeep.c — a model for several threads, and its file without free pages. */
#include <stdlib.h>

#include "base/error.h"
#include "base/stages.h"
#include "mail/mail_private.h"

twin_status twin_mail_borrow(twin_mail **out, twin_mail *mail, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    *out = NULL;
    /* Loading a newer commit would free what earlier borrowers use. */
    twin_status status = mail->is_lent ? TWIN_OK : twin__mail_load_for_checks(mail, error);
    if (status != TWIN_OK)
        return status;
    twin_mail *borrower = calloc(1, sizeof *borrower);
    if (!borrower)
        return twin__fail_memory(error);
    borrower->borrowed = true;
    borrower->lent = mail->store;
    borrower->saved.transaction = mail->saved.transaction;
    borrower->use = TWIN__MAIL_FOR_CHECKS;
    borrower->model = mail->model;
    borrower->model.maker = NULL;
    status = twin__feature_maker_create(&borrower->model.maker, mail->model.key);
    if (status != TWIN_OK) {
        twin_mail_close(borrower);
        return twin__fail_status(error, status);
    }
    mail->is_lent = true;
    *out = borrower;
    return TWIN_OK;
}

twin_status twin_mail_has_newer(bool *out, twin_mail *mail, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    *out = false;
    twin__store *store = mail->borrowed ? mail->lent : mail->store;
    if (!store)
        return TWIN_OK;
    twin__store_txn *txn;
    twin_status status = twin__store_begin_read(&txn, store, error);
    if (status != TWIN_OK)
        return status;
    *out = twin__store_number(txn) != mail->saved.transaction;
    twin__store_end_read(txn);
    return TWIN_OK;
}

/* Nothing has changed but the number of the transaction, which the state has. */
static twin_status touch(twin__store_txn *txn, void *context, twin_error *error)
{
    const twin_mail *mail = context;
    return twin__mail_save(txn, &mail->model, &mail->saved, error);
}

static twin_status compact(const char *path, twin_error *error)
{
    twin_mail *mail;
    twin_status status = twin__mail_open(&mail, path, TWIN__STORE_COMPACT, error);
    if (status == TWIN_OK)
        status = twin__store_compact(mail->store, touch, mail, error);
    twin_mail_close(mail);
    return status;
}

twin_status twin_mail_compact(const char *path, twin_progress progress, twin_error *error)
{
    if (!path)
        return twin__fail_null(error, "path");
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_compacting);
    return twin__watch_end(&watch, compact(path, error), error);
}

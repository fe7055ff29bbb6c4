/* mail_private.h — a handle of a model, as the files of this room see it. */
#ifndef TWIN_MAIL_PRIVATE_H
#define TWIN_MAIL_PRIVATE_H

#include "mail/mail_file.h"
#include "mail/mail_queue.h"
#include "mail/model.h"

struct twin_mail {
    twin__store *store; /* NULL: in memory */
    bool borrowed;      /* all of the model but its maker of features is of another handle */
    twin__store *lent;  /* that of the other handle, from which texts are read; NULL: it is in memory */
    bool is_lent;       /* others have borrowed it, and it stays as it is until it is used itself */
    enum twin__mail_use use;
    bool stale; /* a failed call has left the model half changed: load it again */
    struct twin__model model;
    struct twin__mail_saved saved;
    struct twin__mail_queue queue;
    uint64_t writing; /* number of the last transaction that was begun for writing */

    /* The message that was last prepared, for one that is checked and then learnt. */
    struct twin__mail_item item;
    twin_digest digest; /* of its bytes */
    bool prepared;
    uint64_t checks;
};

/* Takes from a message what the model learns or judges by, unless it is the one that was last prepared. It is valid until
 * the next is prepared. */
twin_status twin__mail_prepare(struct twin__mail_item *out, twin_mail *mail, const twin_message *message,
                               twin_error *error);

/* Opens a model. */
twin_status twin__mail_open(twin_mail **out, const char *path, enum twin__store_access access, twin_error *error);

/* Loads the state that a transaction sees, unless it is the one in memory. */
twin_status twin__mail_reload(twin_mail *mail, twin__store_txn *txn, uint64_t number, twin_error *error);

/* Brings the model up to date, unless there is something to commit. */
twin_status twin__mail_refresh(twin_mail *mail, twin_error *error);

/* The same for many checks: everything that they need is in memory. */
twin_status twin__mail_load_for_checks(twin_mail *mail, twin_error *error);

#endif

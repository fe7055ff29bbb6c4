/* mail_file.h — a mail model in a store; mail_file.c draws its tables. */
#ifndef TWIN_MAIL_FILE_H
#define TWIN_MAIL_FILE_H

#include "mail/model.h"
#include "store/store.h"

extern const struct twin__store_schema twin__mail_schema;

/* What of a model is in the file, as of some transaction. {0}: nothing. */
struct twin__mail_saved {
    uint64_t transaction;
    uint64_t first, next; /* numbers of messages */
    struct twin__mail_saved_examples {
        uint64_t *numbers; /* increasing */
        size_t count;
    } examples[TWIN_MAIL_MAX_LABELS];
};
void twin__mail_saved_clear(struct twin__mail_saved *saved);

/* Writes what differs from `saved`. It may be called again, when the transaction is repeated. */
twin_status twin__mail_save(twin__store_txn *txn, const struct twin__model *model,
                            const struct twin__mail_saved *saved, twin_error *error);

/* Once the transaction is committed: all of the model is saved. */
twin_status twin__mail_saved_update(struct twin__mail_saved *saved, struct twin__model *model, uint64_t transaction);

/* Loads the model as transaction `number` left it, with what only learning needs if `to_learn`. Clear both also after a
 * failure. */
twin_status twin__mail_load(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                            uint64_t number, bool to_learn, const twin__store *store, twin_error *error);

/* Fills in the sizes. */
twin_status twin__mail_file_sizes(twin_mail_info *out, twin__store *store, twin_error *error);

#endif

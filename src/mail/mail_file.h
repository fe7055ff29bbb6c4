/* mail_file.h — a mail model in a store; mail_file.c draws its tables. */
#ifndef TWIN_MAIL_FILE_H
#define TWIN_MAIL_FILE_H

#include "mail/model.h"
#include "store/store.h"

extern const struct twin__store_schema twin__mail_schema;

enum { TWIN__MAIL_LEARNERS = 2 * TWIN__JUDGES }; /* of a label: linear.h and margin.h, for each judge */

/* What of a model is in the file, as of some transaction. {0}: nothing. */
struct twin__mail_saved {
    uint64_t transaction;
    uint32_t version;     /* of the format */
    uint64_t first, next; /* numbers of messages */
    struct twin__mail_saved_weights {
        float *values;    /* a copy; NULL: there are none in the file, or nothing is to be saved */
        uint32_t changes; /* records of changes that follow the parts */
        size_t bytes;     /* of these */
    } weights[TWIN_MAIL_MAX_LABELS][TWIN__MAIL_LEARNERS];
    struct twin__mail_saved_examples {
        uint64_t *numbers; /* increasing */
        size_t count;
    } examples[TWIN_MAIL_MAX_LABELS][TWIN__JUDGES];
};
int twin__mail_learners(uint32_t version); /* whose weights are in a file of this version */
void twin__mail_saved_clear(struct twin__mail_saved *saved);

/* Writes what differs from `saved`. It may be called again, when the transaction is repeated. */
twin_status twin__mail_save(twin__store_txn *txn, const struct twin__model *model,
                            const struct twin__mail_saved *saved, twin_error *error);

/* Once the transaction is committed: all of the model is saved. After a failure it must be loaded again. */
twin_status twin__mail_saved_update(struct twin__mail_saved *saved, struct twin__model *model, uint64_t transaction);

/* How much of a model is loaded. */
enum twin__mail_use {
    TWIN__MAIL_FOR_FEW_CHECKS, /* labels and thresholds; what else a message needs is lent */
    TWIN__MAIL_FOR_CHECKS,
    TWIN__MAIL_FOR_LEARNING,
};

/* Loads the model as transaction `number` left it. Clear both also after a failure. */
twin_status twin__mail_load(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                            uint64_t number, enum twin__mail_use use, const twin__store *store, twin_error *error);

/* Where messages are read in a file: file_messages.c. */
struct twin__mail_reading {
    twin__store_txn *txn;
    const twin__store *store;
    uint32_t version;
    uint64_t next; /* number of a message */
    struct {
        uint64_t number; /* plus 1; 0: none */
        const unsigned char *entries;
    } last[TWIN__MAIL_COLUMNS + 2]; /* value of each column, and of those that earlier programs wrote */
};

/* What one check needs of the file. Begin with {0}. */
struct twin__mail_loan {
    struct twin__mail_lender lender;
    struct twin__mail_reading reading;
    const void *(*blocks)[TWIN__MAIL_COLUMNS]; /* from the first on; NULL: was not needed yet */
    uint64_t first;
    struct twin__mail_record last[TWIN__MAIL_BLOCK]; /* of the last block, if it had to be copied */
    uint32_t *places;                                /* of the item, as numbers among those that it has */
    twin_status status;                              /* of what was needed so far */
    twin_error *error;
};

/* Lends to a model loaded for few checks what is in the file for one item, which is changed to fit, until it is taken back:
 * also after a failure, and before the transaction ends. Then the status is that of the loan. */
twin_status twin__mail_lend(struct twin__mail_loan *loan, struct twin__model *model, struct twin__mail_item *item,
                            struct twin__mail_saved *saved, twin__store_txn *txn, const twin__store *store,
                            twin_error *error);
void twin__mail_take_back(struct twin__mail_loan *loan, struct twin__model *model);

/* Appends the beginning of a message's text; nothing if it was not kept. */
twin_status twin__mail_load_text(twin_buffer *out, uint64_t number, twin__store_txn *txn, const twin__store *store,
                                 twin_error *error);

/* Fills in the sizes; `keeps_texts` is filled in. */
twin_status twin__mail_file_sizes(twin_mail_info *out, const struct twin__remembered *remembered, twin__store *store,
                                  twin_error *error);

#endif

/* file_thresholds.c — the thresholds of labels in a store, except the first of them, which is in the state. Models of earlier
 * programs have none, and those programs may add labels without; later ones had another number behind them. */
#include <string.h>

#include "mail/file_private.h"

enum { META = TWIN__MAIL_META, CHECK_BYTES = TWIN__MAIL_CHECK_BYTES, THRESHOLDS = 16 };

twin_status twin__mail_save_thresholds(twin__store_txn *txn, const struct twin__model *model, twin_error *error)
{
    unsigned char value[CHECK_BYTES + TWIN_MAIL_MAX_LABELS * THRESHOLDS] = { 0 }, *at = value + CHECK_BYTES;
    for (unsigned i = 0; i < model->label_count; i++, at += THRESHOLDS) {
        memcpy(at, &model->labels[i].thresholds.below, 8);
        memcpy(at + 8, &model->labels[i].thresholds.usual, 8);
    }
    struct twin__bytes bytes = { value, (size_t)(at - value) };
    twin__mail_put_check(value, bytes.length, 0);
    return twin__store_put(txn, META, TWIN__MAIL_META_THRESHOLDS, bytes, TWIN__STORE_SET, error);
}

twin_status twin__mail_load_thresholds(struct twin__model *out, twin__store_txn *txn, const twin__store *store,
                                       twin_error *error)
{
    struct twin__bytes value;
    twin_status status = twin__store_get(&value, txn, META, TWIN__MAIL_META_THRESHOLDS, error);
    if (status != TWIN_OK || !value.at)
        return status;
    if (!twin__mail_check_fits(value, 0) || (value.length - CHECK_BYTES) % THRESHOLDS != 0)
        return twin__store_fail_damaged(error, store, "its thresholds");
    const unsigned char *at = (const unsigned char *)value.at + CHECK_BYTES;
    unsigned count = (unsigned)((value.length - CHECK_BYTES) / THRESHOLDS);
    for (unsigned i = 0; i < count && i < out->label_count; i++, at += THRESHOLDS) {
        struct twin__thresholds *t = &out->labels[i].thresholds;
        memcpy(&t->below, at, 8);
        memcpy(&t->usual, at + 8, 8);
        *t = twin__thresholds_within(*t);
    }
    return TWIN_OK;
}

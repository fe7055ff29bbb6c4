/* file_private.h — what the files that write and read a model share; mail_file.c draws its tables. */
#ifndef TWIN_MAIL_FILE_PRIVATE_H
#define TWIN_MAIL_FILE_PRIVATE_H

#include "mail/mail_file.h"

enum {
    TWIN__MAIL_META,
    TWIN__MAIL_MESSAGES,
    TWIN__MAIL_SIGNATURES,
    TWIN__MAIL_WEIGHTS,
    TWIN__MAIL_EXAMPLES,
    TWIN__MAIL_REHEARSAL
};

/* The records of META. */
enum { TWIN__MAIL_META_FORMAT, TWIN__MAIL_META_TEXTS, TWIN__MAIL_META_STATE, TWIN__MAIL_META_THRESHOLDS };

enum { TWIN__MAIL_CHECK_BYTES = 8 };

/* The check that a value begins with: of the rest of it, seeded with its key. Puts it there; whether it fits. */
void twin__mail_put_check(void *value, size_t length, uint64_t key);
bool twin__mail_check_fits(struct twin__bytes value, uint64_t key);

/* ---- file_messages.c; see also mail_file.h */

/* Writes the messages that were added or removed since `saved`, and deletes those that have expired. */
twin_status twin__mail_save_messages(twin__store_txn *txn, const struct twin__remembered *remembered,
                                     const struct twin__mail_saved *saved, twin_error *error);

/* Loads the messages up to reading.next, into a model that has labels and the first number; or lends them for an item. */
twin_status twin__mail_load_messages(struct twin__model *out, struct twin__mail_reading reading, twin_error *error);
twin_status twin__mail_lend_messages(struct twin__mail_loan *loan, struct twin__model *model,
                                     const struct twin__mail_item *item, struct twin__mail_reading reading,
                                     twin_error *error);

/* The bytes of the pages of the records; the others of their table are of texts. */
uint64_t twin__mail_record_bytes(const struct twin__remembered *remembered);

/* ---- file_features.c: places of features, as their distances */

/* At most three bytes for each. Returns where they end. */
unsigned char *twin__mail_put_places(unsigned char *at, const uint32_t *places, uint32_t count);

/* Reads a place, which is *next or more; *next becomes the one after it. False when it is none, or ends too early. */
static inline bool twin__mail_get_place(uint32_t *next, const unsigned char **at, const unsigned char *end)
{
    uint32_t gap = 0;
    unsigned shift = 0;
    do {
        if (*at == end || shift > 21)
            return false;
        gap |= (uint32_t)(**at & 0x7f) << shift;
        shift += 7;
    } while (*(*at)++ & 0x80);
    *next += gap + 1;
    return *next <= TWIN__FEATURE_PLACES;
}

/* The same for many. Moves *at behind them. */
bool twin__mail_get_places(const unsigned char **at, const unsigned char *end, uint32_t *places, uint32_t count);

/* The most bytes that features take. `places`: those of all blocks. Returns where they end. */
size_t twin__mail_features_room(const uint32_t counts[TWIN__FEATURE_BLOCKS]);
unsigned char *twin__mail_put_features(unsigned char *at, const uint32_t *places,
                                       const uint32_t counts[TWIN__FEATURE_BLOCKS]);

/* `places` has room for all blocks when they are full. In old versions what is seen is not told apart. False when they are
 * damaged. */
bool twin__mail_get_features(struct twin__features *out, uint32_t *places, const unsigned char **at,
                             const unsigned char *end, uint32_t version);

/* ---- file_weights.c */

twin_status twin__mail_save_weights(twin__store_txn *txn, unsigned label, const struct twin__mail_label *known,
                                    const struct twin__mail_saved *saved, twin_error *error);

/* How many records of changes follow the weights of each learner once they are saved. */
void twin__mail_count_changes(uint32_t out[TWIN__MAIL_LEARNERS], unsigned label, const struct twin__mail_label *known,
                              const struct twin__mail_saved *saved);

/* Increasing; NULL: all. */
struct twin__mail_places {
    const uint32_t *places;
    size_t count;
};

/* The weights of these places, one after the other. Into *saved, which has the numbers of records of changes, goes how long
 * these are. */
twin_status twin__mail_load_weights(const struct twin__mail_label *known, unsigned label,
                                    struct twin__mail_places wanted, struct twin__mail_saved *saved,
                                    twin__store_txn *txn, const twin__store *store, twin_error *error);

/* What is saved becomes what the learners know. */
twin_status twin__mail_note_weights(struct twin__mail_saved *saved, unsigned label,
                                    const struct twin__mail_label *known);

/* ---- file_examples.c */

twin_status twin__mail_save_examples(twin__store_txn *txn, unsigned label, const struct twin__mail_label *known,
                                     const struct twin__mail_saved_examples saved[TWIN__JUDGES], twin_error *error);
twin_status twin__mail_load_examples(struct twin__model *out, uint32_t version, twin__store_txn *txn,
                                     const twin__store *store, twin_error *error);

/* ---- file_thresholds.c */

twin_status twin__mail_save_thresholds(twin__store_txn *txn, const struct twin__model *model, twin_error *error);

/* Into labels that have been loaded. */
twin_status twin__mail_load_thresholds(struct twin__model *out, twin__store_txn *txn, const twin__store *store,
                                       twin_error *error);

/* ---- file_texts.c */

twin_status twin__mail_save_texts(twin__store_txn *txn, const struct twin__model *model,
                                  const struct twin__mail_saved *saved, twin_error *error);

#endif

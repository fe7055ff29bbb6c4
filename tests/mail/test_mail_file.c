/* test_mail_file.c — a model whose records do not say what they should is refused with a sentence, though checks fit;
 * and wrong arguments are refused.
 *
 * Each case changes one record of a small model through the store, and gives it a check that fits where it has one. The
 * offsets are those that mail_file.c draws. */
#include "model_frame.h"

#include "base/bytes.h"
#include "mail/file_private.h"

static const char raw[] = "From: ann@example.org\nSubject: minutes\n\nThe minutes of the meeting on Tuesday.\n";

static void make_model(void)
{
    twin_mail *mail;
    const twin_message *message;
    twin_error error = { 0 };
    assert_int_equal(twin_mail_create(path, (twin_mail_options){ .key = key }, true, &error), TWIN_OK);
    assert_int_equal(twin_mail_open(&mail, path, TWIN_MAIL_WRITE, &error), TWIN_OK);
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ raw, sizeof raw - 1 }), TWIN_OK);
    assert_int_equal(twin_mail_learn(NULL, mail, message, "ham", 1000, &error), TWIN_OK);
    assert_int_equal(twin_mail_commit(mail, &error), TWIN_OK);
    twin_mail_close(mail);
}

/* ---- one changed record ---- */

enum { FORMAT_CHECK = 56, STATE_HEAD = 56, STATE_LABEL = 24 + TWIN_MAIL_LABEL_BYTES + 1 + 16 };

/* How a value ends, or begins, with its check. */
enum check { NO_CHECK, CHECK_AT_56, CHECK_LAST, CHECK_FIRST };

struct change {
    const char *words; /* that the sentence has */
    twin_status status;
    unsigned table;
    uint64_t key;
    size_t at; /* where these bytes go */
    const void *bytes;
    size_t length;
    size_t cut; /* bytes that are missing at the end */
    enum check check;
};

static uint64_t hash_of(const unsigned char *bytes, size_t length)
{
    return twin_hash_bytes((twin_hash){ .family = TWIN_HASH_XXH3 }, bytes, length);
}

static void make_check(unsigned char *value, size_t length, const struct change *change)
{
    switch (change->check) {
    case NO_CHECK: break;
    case CHECK_AT_56: twin__put8(value + FORMAT_CHECK, hash_of(value, FORMAT_CHECK)); break;
    case CHECK_LAST: twin__put8(value + length - 8, hash_of(value, length - 8)); break;
    case CHECK_FIRST: twin__mail_put_check(value, length, change->table == TWIN__MAIL_META ? 0 : change->key); break;
    }
}

static twin_status change_record(twin__store_txn *txn, const struct change *change, twin_error *error)
{
    struct twin__bytes value;
    unsigned char copy[1 << 14];
    twin_status status = twin__store_get(&value, txn, change->table, change->key, error);
    if (status != TWIN_OK)
        return status;
    assert_true(value.at && value.length <= sizeof copy && value.length > change->cut);
    memcpy(copy, value.at, value.length);
    size_t length = value.length - change->cut;
    assert_true(change->at + change->length <= length);
    memcpy(copy + change->at, change->bytes, change->length);
    make_check(copy, length, change);
    return twin__store_put(txn, change->table, change->key, (struct twin__bytes){ copy, length }, TWIN__STORE_SET,
                           error);
}

/* The state has the number of the transaction, which is another now. */
static twin_status write_change(twin__store_txn *txn, void *context, twin_error *error)
{
    const uint64_t number = twin__store_number(txn);
    const struct change renumber = { .table = TWIN__MAIL_META,
                                     .key = TWIN__MAIL_META_STATE,
                                     .bytes = &number,
                                     .length = sizeof number,
                                     .check = CHECK_LAST };
    twin_status status = change_record(txn, &renumber, error);
    return status == TWIN_OK ? change_record(txn, context, error) : status;
}

/* A small model with one record changed. */
static void make_changed_model(struct change change)
{
    twin__store *store;
    twin_error error = { 0 };
    make_model();
    assert_int_equal(twin__store_open(&store, path, &twin__mail_schema, TWIN__STORE_WRITE, &error), TWIN_OK);
    assert_int_equal(twin__store_transact(store, write_change, &change, &error), TWIN_OK);
    twin__store_close(store);
}

static void expect_opening(struct change change)
{
    twin_mail *mail = NULL;
    twin_error error = { 0 };
    make_changed_model(change);
    twin_status status = twin_mail_open(&mail, path, TWIN_MAIL_WRITE, &error);
    if (status != change.status || !strstr(error.message, change.words))
        fail_msg("%d \"%s\", not %d \"%s\"", status, error.message, change.status, change.words);
    twin_mail_close(mail);
}

static void records_that_are_wrong_are_refused(void **unused)
{
    (void)unused;
    static const uint32_t newer = 99, places = 3;
    static const uint64_t zero = 0, many = 1000;
    static const char unended[] = { 'x' };
    static const uint64_t records = (uint64_t)1 << 63;
    const size_t second = STATE_HEAD + STATE_LABEL;
    const struct change changes[] = {
        { "", TWIN_OK, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 0, "", 0, 0, NO_CHECK }, /* as it was */
        { "is not a mail model", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 0, "x", 1, 0, CHECK_AT_56 },
        { "by a newer version", TWIN_EUNSUPPORTED, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 8, &newer, 4, 0,
          CHECK_AT_56 },
        { "its parameters", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 12, &places, 4, 0, CHECK_AT_56 },
        { "its parameters", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 40, &many, 8, 0, NO_CHECK },
        { "gives other values", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_FORMAT, 48, &zero, 8, 0, CHECK_AT_56 },
        { "its state", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_STATE, 32, &many, 8, 0, CHECK_LAST },
        { "its state", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_STATE, 8, &many, 8, 0, CHECK_LAST },
        { "its state", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_STATE, 24, &many, 8, 0, NO_CHECK },
        { "a label", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_STATE, STATE_HEAD + 24 + TWIN_MAIL_LABEL_BYTES,
          unended, 1, 0, CHECK_LAST },
        { "a label", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_STATE, second + 24, "spam", 5, 0, CHECK_LAST },
        { "its thresholds", TWIN_EFORMAT, TWIN__MAIL_META, TWIN__MAIL_META_THRESHOLDS, 8, &zero, 8, 1, CHECK_FIRST },
        { "a message", TWIN_EFORMAT, TWIN__MAIL_MESSAGES, records, 8 + offsetof(struct twin__mail_record, label),
          &newer, 2, 0, CHECK_FIRST },
        { "a block of messages", TWIN_EFORMAT, TWIN__MAIL_MESSAGES, records, 8, &many, 8, 0, NO_CHECK },
        { "a block of messages", TWIN_EFORMAT, TWIN__MAIL_SIGNATURES, 0, 8, &many, 8, 4, CHECK_FIRST },
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        expect_opening(changes[i]);
}

/* ---- few checks ---- */

static twin_status check_text(twin_mail *mail, const char *text, twin_error *error)
{
    twin_mail_verdict verdict;
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ text, strlen(text) }), TWIN_OK);
    return twin_mail_check(&verdict, mail, message, (twin_mail_check_options){ 0 }, error);
}

/* The rest of a signature is only read for a message whose head agrees. */
static void a_check_refuses_what_it_needs_and_is_damaged(void **unused)
{
    (void)unused;
    static const uint64_t other = 1;
    const uint64_t heads = (uint64_t)1 << 62;
    static const char stranger[] =
        "From: bob@example.net\nSubject: rowing\n\nBoats leave at noon from another place.\n";
    twin_mail *mail;
    twin_error error = { 0 };
    make_changed_model((struct change){ .table = TWIN__MAIL_SIGNATURES, .at = 20, .bytes = &other, .length = 8 });
    assert_int_equal(twin_mail_open(&mail, path, TWIN_MAIL_READ, &error), TWIN_OK);
    assert_int_equal(check_text(mail, stranger, &error), TWIN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(check_text(mail, raw, &error), TWIN_EFORMAT);
        assert_non_null(strstr(error.message, "is damaged: a block of messages"));
    }
    assert_int_equal(check_text(mail, stranger, &error), TWIN_OK);
    twin_mail_close(mail);
    make_changed_model(
        (struct change){ .table = TWIN__MAIL_SIGNATURES, .key = heads, .at = 9, .bytes = &other, .length = 8 });
    assert_int_equal(twin_mail_open(&mail, path, TWIN_MAIL_READ, &error), TWIN_OK);
    assert_int_equal(check_text(mail, stranger, &error), TWIN_EFORMAT);
    twin_mail_close(mail);
}

/* ---- arguments ---- */

static void wrong_arguments_are_refused(void **unused)
{
    (void)unused;
    twin_mail *mail;
    twin_mail_info info;
    twin_mail_word word;
    twin_mail_known known;
    twin_buffer text = { 0 };
    size_t count = 1;
    assert_int_equal(twin_mail_create(NULL, (twin_mail_options){ 0 }, false, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_create_in_memory(NULL, (twin_mail_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_mail_open(&mail, path, (twin_mail_access)9, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_compact(NULL, (twin_progress){ 0 }, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_commit(NULL, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_describe(&info, NULL, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_create_in_memory(&mail, (twin_mail_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_mail_explain(&word, &count, mail, "spam", NULL, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_explain(&word, NULL, mail, "spam", NULL, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_learn(NULL, mail, NULL, "spam", 0, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_known_at(&known, mail, 0, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_text_of(&text, NULL), TWIN_EINVAL);
    assert_string_equal(twin_name_of(TWIN_NAMES_MAIL_REASON, 9), "");
    twin_mail_close(mail);
    twin_mail_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_are_wrong_are_refused),
        cmocka_unit_test(a_check_refuses_what_it_needs_and_is_damaged),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

/* test_index_damage.c — damaged, foreign and newer files are refused. */
#include "index_frame.h"

/* ---- damage ---- */

/* An index with something in all its parts, and room that was freed. */
static char *make_example(size_t *size)
{
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    for (size_t i = 0; i < 5; i++)
        add_words(index, 7 * i, 20);
    for (size_t i = 0; i < 30; i++) {
        char id[16];
        sprintf(id, "%zu", i);
        GOOD(twin_index_remove(NULL, NULL, index, &(twin_text){ id, strlen(id) }, 1, &error));
    }
    check_index(index);
    twin_index_close(index);
    return read_whole(size, path);
}

/* Opens what may be damaged: true when it is refused with a sentence, else it must be whole. */
static bool is_refused(uint64_t documents, bool thoroughly)
{
    twin_index *index;
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    twin_status status = twin_index_open(&index, path, TWIN_INDEX_READ, &error);
    if (status == TWIN_OK)
        status = twin_index_view_create(&view, index, &error);
    if (status == TWIN_OK)
        assert_int_equal(view->counts.documents, documents);
    if (status == TWIN_OK && thoroughly)
        status = twin_index_check(view, (twin_progress){ 0 }, &error);
    if (status != TWIN_OK) {
        assert_int_equal(status, TWIN_EFORMAT);
        assert_non_null(strstr(error.message, path));
    }
    twin_index_view_free(view);
    twin_index_close(index);
    return status != TWIN_OK;
}

enum { LEFT = 18 }; /* documents of the example: 0 .. 47 without 0 .. 29 */

/* Where only free pages were cut off nothing is lost, and the index is whole. */
static void a_file_cut_at_any_page_is_refused_or_whole(void **state)
{
    (void)state;
    size_t size, cuts = 0, refused = 0;
    char *bytes = make_example(&size);
    for (size_t length = 0; length < size; length += 2048, cuts++) {
        write_whole(path, bytes, length);
        refused += is_refused(LEFT, true);
    }
    assert_true(refused > cuts / 2);
    free(bytes);
}

/* Some bits of the meta pages mean nothing to a reader (statistics, the older of the two); then the index is whole. */
static void a_bit_flipped_in_the_meta_pages_is_refused_or_harmless(void **state)
{
    (void)state;
    enum { META = 152 };
    size_t size, refused = 0;
    char *bytes = make_example(&size);
    for (size_t bit = 0; bit < 2 * META * 8; bit++) {
        size_t at = bit / 8 % META + (bit / 8 < META ? 0 : 4096);
        bytes[at] = (char)(bytes[at] ^ 1 << bit % 8);
        write_whole(path, bytes, size);
        refused += is_refused(LEFT, bit % (QUICK ? 50 : 5) == 0);
        bytes[at] = (char)(bytes[at] ^ 1 << bit % 8);
    }
    assert_true(refused > META * 8 / 2);
    free(bytes);
}

/* Flips a bit in the middle of a value wherever it lies, also in old copies of its page. */
static void flip_value(char *bytes, size_t size, const char *value, size_t length)
{
    size_t found = 0;
    for (char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), value, length)) != NULL; found++)
        at[length / 2] ^= 4;
    assert_true(found > 0);
}

/* LMDB's pages have no checksum, but what lies in them has. */
static void a_bit_flipped_in_a_record_is_found(void **state)
{
    (void)state;
    const enum twin__index_table tables[] = { TWIN__INDEX_DOCUMENTS, TWIN__INDEX_SETS, TWIN__INDEX_KEPT,
                                              TWIN__INDEX_BANDS };
    for (size_t i = 0; i < 4; i++) {
        size_t size;
        char *bytes = make_example(&size);
        twin_index *index = open_index(TWIN_INDEX_READ);
        twin_index_view *view;
        struct twin__store_cursor cursor;
        struct twin__store_record last;
        GOOD(twin_index_view_create(&view, index, &error));
        GOOD(twin__store_cursor_open(&cursor, view->txn, tables[i], &error));
        GOOD(twin__store_seek(&last, &cursor, UINT64_MAX, TWIN__STORE_AT_OR_BEFORE, &error));
        flip_value(bytes, size, last.value.at, last.value.length);
        twin__store_cursor_close(&cursor);
        twin_index_view_free(view);
        twin_index_close(index);

        write_whole(path, bytes, size);
        index = open_index(TWIN_INDEX_READ);
        GOOD(twin_index_view_create(&view, index, &error));
        BAD(TWIN_EFORMAT, "is damaged", twin_index_check(view, (twin_progress){ 0 }, &error));
        twin_index_view_free(view);
        twin_index_close(index);
        free(bytes);
    }
}

/* Two blocks of kept sets, each in a page of its own, change places: both are what they were, but not where. */
static bool ignore_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    (void)context, (void)a, (void)b, (void)similarity;
    return true;
}

/* Members have no checksum of their own: their number tells, and what the documents say. */
static void a_member_that_has_another_set_is_noticed(void **state)
{
    (void)state;
    static const char *const texts[] = { "one text of some words", "another with other letters",
                                         "one text of some words" };
    twin_index_document documents[3];
    enum { LABEL = 0x51525354 };
    for (size_t i = 0; i < 3; i++)
        documents[i] =
            (twin_index_document){ .id = { &"abc"[i], 1 }, .text = { texts[i], strlen(texts[i]) }, .label = LABEL };
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin_index_add(NULL, index, documents, 3, (twin_index_add_options){ .exec = serial }, &error));
    twin_index_close(index);

    size_t size, changed = 0;
    char *bytes = read_whole(&size, path);
    for (size_t i = 0; i + 12 <= size; i++)
        if (memcmp(bytes + i, "QRST\0\0\0\0\0\0\0\2", 12) == 0) { /* the third becomes a member that the second is */
            bytes[i + 11] = 1;
            changed++;
        }
    assert_true(changed > 0);
    write_whole(path, bytes, size);
    free(bytes);
    index = open_index(TWIN_INDEX_READ);
    BAD(TWIN_EFORMAT, "is damaged",
        twin_index_pairs(index, (twin_index_pairs_options){ .exec = serial }, ignore_pair, NULL, &error));
    twin_index_close(index);
}

static void kept_sets_that_changed_places_are_noticed(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    size_t size, pages[2];
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    add_words(index, 0, 5);
    add_words(index, 5, 5);
    twin_index_close(index);
    char *bytes = read_whole(&size, path), page[PAGE];
    index = open_index(TWIN_INDEX_READ);
    twin_index_view *view;
    twin_index_entry entry;
    twin_set set;
    bool found;
    GOOD(twin_index_view_create(&view, index, &error));
    for (uint64_t i = 0; i < 2; i++) {
        struct twin__bytes block;
        GOOD(twin__store_get(&block, view->txn, TWIN__INDEX_KEPT, 5 * i, &error));
        assert_in_range(block.length, PAGE / 2, PAGE - 16);
        const char *at = memmem(bytes, size, block.at, block.length);
        pages[i] = (size_t)(at - bytes) / PAGE;
    }
    twin_index_view_free(view);
    twin_index_close(index);
    memcpy(page, bytes + pages[0] * PAGE, PAGE);
    memcpy(bytes + pages[0] * PAGE + 16, bytes + pages[1] * PAGE + 16, PAGE - 16);
    memcpy(bytes + pages[1] * PAGE + 16, page + 16, PAGE - 16);
    write_whole(path, bytes, size);
    index = open_index(TWIN_INDEX_READ);
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_find(&entry, &found, view, (twin_text){ "0", 1 }, &error));
    assert_true(found);
    BAD(TWIN_EFORMAT, "a block of kept sets does not fit", twin_index_set(&set, view, entry, &error));
    twin_index_view_free(view);
    twin_index_close(index);
    free(bytes);
}

struct format_change {
    size_t at;
    char value;
};

static twin_status write_format(twin__store_txn *txn, void *context, twin_error *error)
{
    const struct format_change *change = context;
    struct twin__bytes old;
    char record[256];
    assert_int_equal(twin__store_get(&old, txn, TWIN__INDEX_META, TWIN__INDEX_META_FORMAT, error), TWIN_OK);
    assert_true(old.at && old.length <= sizeof record);
    memcpy(record, old.at, old.length);
    record[change->at] = change->value;
    return twin__store_put(txn, TWIN__INDEX_META, TWIN__INDEX_META_FORMAT, (struct twin__bytes){ record, old.length },
                           TWIN__STORE_SET, error);
}

static void change_format(size_t at, char value)
{
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin__store_transact(index->store, write_format, &(struct format_change){ at, value }, &error));
    twin_index_close(index);
}

static void another_version_and_other_parameters_are_refused(void **state)
{
    (void)state;
    twin_index *index;
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    change_format(8, TWIN__INDEX_VERSION + 1);
    BAD(TWIN_EFORMAT, "newer version", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    change_format(24, 2); /* the width of a shingle */
    BAD(TWIN_EFORMAT, "checksum", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
    GOOD(twin_index_create(path, options_for(TWIN_KEEP_SETS), true, &error));
    change_format(0, 'X');
    BAD(TWIN_EFORMAT, "is not an index of twinsift", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
}

static twin_status write_nothing(twin__store_txn *txn, void *context, twin_error *error)
{
    (void)txn, (void)context, (void)error;
    return TWIN_OK;
}

/* Files of other programs are in test_store.c; here those of another kind, and those that are none. */
static void files_of_others_are_refused(void **state)
{
    (void)state;
    static const struct twin__store_table tables[] = { { "meta", TWIN__STORE_NAMES },
                                                       { "mails", TWIN__STORE_NUMBERS } };
    static const struct twin__store_schema schema = { "a model", tables, 2, NULL };
    twin_index *index;
    struct twin__store_create_options options = { 0 };
    unlink(path);
    GOOD(twin__store_create(path, &schema, options, write_nothing, NULL, &error));
    BAD(TWIN_EFORMAT, "is not an index of twinsift", twin_index_open(&index, path, TWIN_INDEX_WRITE, &error));
    unlink(path);
    GOOD(twin__store_create(path, &twin__index_schema, options, write_nothing, NULL, &error));
    BAD(TWIN_EFORMAT, "is not an index of twinsift", twin_index_open(&index, path, TWIN_INDEX_WRITE, &error));
    write_whole(path, "", 0);
    BAD(TWIN_EFORMAT, "is empty", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
    char page[8192];
    memset(page, 'x', sizeof page);
    write_whole(path, page, sizeof page);
    BAD(TWIN_EFORMAT, "is not an index", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
    write_whole(path, page, 100);
    BAD(TWIN_EFORMAT, "too short", twin_index_open(&index, path, TWIN_INDEX_READ, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_at_any_page_is_refused_or_whole),
        cmocka_unit_test(a_bit_flipped_in_the_meta_pages_is_refused_or_harmless),
        cmocka_unit_test(a_bit_flipped_in_a_record_is_found),
        cmocka_unit_test(a_member_that_has_another_set_is_noticed),
        cmocka_unit_test(kept_sets_that_changed_places_are_noticed),
        cmocka_unit_test(another_version_and_other_parameters_are_refused),
        cmocka_unit_test(files_of_others_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

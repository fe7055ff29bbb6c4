/* test_index_check.c — a check finds parts of an index that contradict each other, though every checksum fits;
 * queries and pairs notice what they meet of it.
 *
 * Each case changes one record of a small index by the functions that write records, so that no page and no checksum is
 * wrong, and names the sentence that must follow. */
#include "index_frame.h"

#include "index/writer.h"

/* Documents 0 and 1 share set 0; 2 and 3 have sets 1 and 2; 4 is empty and has set 3. */
static const char *const texts[] = { "one two three four five six seven", "one two three four five six seven",
                                     "eight nine ten eleven twelve thirteen", "alpha beta gamma delta epsilon zeta",
                                     "" };
enum { DOCUMENTS = sizeof texts / sizeof texts[0], SHARED = 0, SECOND = 1, THIRD = 2, EMPTY = 3 };

static void fill(twin_keep keep)
{
    static const char *const ids[DOCUMENTS] = { "a", "b", "c", "d", "e" };
    twin_index_document documents[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++)
        documents[i] =
            (twin_index_document){ .id = { ids[i], 1 }, .text = { texts[i], strlen(texts[i]) }, .label = 7 };
    GOOD(twin_index_create(path, options_for(keep), true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin_index_add(NULL, index, documents, DOCUMENTS, (twin_index_add_options){ .exec = serial }, &error));
    check_index(index);
    twin_index_close(index);
}

/* ---- changes of one record ---- */

typedef twin_status spoil(struct twin__index_writer *writer);

static twin_status change_document(struct twin__index_writer *writer, uint64_t number,
                                   struct twin__index_document_record changed)
{
    return twin__index_writer_put_document(writer, number, &changed, TWIN__STORE_SET);
}

static struct twin__index_document_record document_at(struct twin__index_writer *writer, uint64_t number)
{
    struct twin__index_document_record document;
    assert_int_equal(twin__index_writer_get_document(&document, NULL, writer, number), TWIN_OK);
    return document;
}

static twin_status set_of_another(struct twin__index_writer *writer)
{
    struct twin__index_document_record document = document_at(writer, 0);
    document.set = SECOND;
    return change_document(writer, 0, document);
}

static twin_status another_label(struct twin__index_writer *writer)
{
    struct twin__index_document_record document = document_at(writer, 2);
    document.label++;
    return change_document(writer, 2, document);
}

static twin_status another_id(struct twin__index_writer *writer)
{
    struct twin__index_document_record document = document_at(writer, 2);
    document.id = (twin_text){ "x", 1 };
    return change_document(writer, 2, document);
}

static twin_status number_never_given(struct twin__index_writer *writer)
{
    struct twin__index_document_record document = document_at(writer, 3);
    twin_status status = change_document(writer, writer->writing->counts.next_document + 3, document);
    return status == TWIN_OK ? twin__index_writer_delete_record(writer, TWIN__INDEX_DOCUMENTS, 3) : status;
}

/* The record of a set, whose signature is in writer->signature. */
static struct twin__index_set_record set_at(struct twin__index_writer *writer, uint64_t number)
{
    struct twin__index_set_record set;
    assert_int_equal(twin__index_writer_get_set(&set, NULL, writer, number), TWIN_OK);
    return set;
}

static twin_status change_set(struct twin__index_writer *writer, uint64_t number,
                              struct twin__index_set_record changed)
{
    return twin__index_writer_put_set(writer, number, &changed, writer->signature, TWIN__STORE_SET);
}

static twin_status more_members(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SHARED);
    set.members++;
    return change_set(writer, SHARED, set);
}

static twin_status first_is_later(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SECOND);
    set.first++;
    return change_set(writer, SECOND, set);
}

static twin_status first_is_of_another(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, THIRD);
    set.first = 0;
    return change_set(writer, THIRD, set);
}

static twin_status larger(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SECOND);
    set.size++;
    return change_set(writer, SECOND, set);
}

static twin_status another_digest(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SECOND);
    set.digest.low ^= (uint64_t)1 << 40; /* the upper half is in a list */
    return change_set(writer, SECOND, set);
}

static twin_status another_signature(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SECOND);
    writer->signature[0] ^= 1;
    return change_set(writer, SECOND, set);
}

static twin_status set_is_elsewhere(struct twin__index_writer *writer)
{
    struct twin__index_set_record set = set_at(writer, SECOND);
    twin_status status = change_set(writer, writer->writing->counts.next_set + 2, set);
    return status == TWIN_OK ? twin__index_writer_delete_record(writer, TWIN__INDEX_SETS, SECOND) : status;
}

static twin_status another_is_empty(struct twin__index_writer *writer)
{
    writer->writing->counts.empty_set = SECOND + 1;
    return TWIN_OK;
}

static twin_status more_too_short(struct twin__index_writer *writer)
{
    writer->writing->counts.too_short++;
    return TWIN_OK;
}

static twin_status more_dead(struct twin__index_writer *writer)
{
    writer->writing->counts.dead++;
    return TWIN_OK;
}

static twin_status write_spoilt(struct twin__index_writing *writing, void *context)
{
    spoil *const *change = context;
    struct twin__index_writer writer;
    twin_status status = twin__index_writer_open(&writer, writing);
    if (status == TWIN_OK)
        status = (*change)(&writer);
    twin__index_writer_close(&writer);
    return status;
}

static twin_index_view *view_of_spoilt(twin_index **index, twin_keep keep, spoil *change)
{
    twin_index_view *view;
    fill(keep);
    *index = open_index(TWIN_INDEX_WRITE);
    GOOD(twin__index_transact(*index, write_spoilt, &change, &error));
    GOOD(twin_index_view_create(&view, *index, &error));
    return view;
}

/* ---- checks ---- */

static void contradictions_are_found(void **state_unused)
{
    (void)state_unused;
    static const struct {
        spoil *change;
        twin_keep keep;
        const char *words;
    } cases[] = {
        { set_of_another, TWIN_KEEP_SETS, "a document is not among the members of its set" },
        { another_label, TWIN_KEEP_SETS, "a document is not among the members of its set" },
        { another_id, TWIN_KEEP_SETS, "a number is in a list with another hash" },
        { number_never_given, TWIN_KEEP_SETS, "a document has a number that was never given" },
        { more_members, TWIN_KEEP_SETS, "a set has another number of documents than it says" },
        { first_is_later, TWIN_KEEP_SETS, "the first document of a set is not its first" },
        { first_is_of_another, TWIN_KEEP_SETS, "the first document of a set has another set" },
        { larger, TWIN_KEEP_SETS, "a set does not fit its checksum" },
        { larger, TWIN_KEEP_TEXT, "what is kept of a set is not that set" },
        { another_digest, TWIN_KEEP_SETS, "what is kept of a set is not that set" },
        { another_digest, TWIN_KEEP_TEXT, "what is kept of a set is not that set" },
        { another_digest, TWIN_KEEP_NONE, "a number is in a list with another hash" },
        { another_signature, TWIN_KEEP_SETS, "a signature is not that of its set" },
        { another_signature, TWIN_KEEP_NONE, "a number is in a list with another hash" },
        { set_is_elsewhere, TWIN_KEEP_SETS, "a document has a set that is not there" },
        { another_is_empty, TWIN_KEEP_SETS, "the empty set has another number than it should" },
        { more_too_short, TWIN_KEEP_SETS, "its counts are not what they should be" },
        { more_dead, TWIN_KEEP_SETS, "its bands hold another number of sets than there are" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twin_index *index;
        twin_index_view *view = view_of_spoilt(&index, cases[i].keep, cases[i].change);
        BAD(TWIN_EFORMAT, cases[i].words, twin_index_check(view, (twin_progress){ 0 }, &error));
        twin_index_view_free(view);
        twin_index_close(index);
    }
}

/* ---- queries and pairs ---- */

static bool count_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    (void)a, (void)b, (void)similarity;
    ++*(int *)context;
    return true;
}

static void queries_and_pairs_notice_what_they_meet(void **state_unused)
{
    (void)state_unused;
    static const struct {
        spoil *change;
        const char *of_query, *of_pairs;
    } cases[] = {
        { set_of_another, "a set has a member that belongs to another",
          "a document has another set than its members say" },
        { more_members, "a set has another number of documents than it says",
          "a set has another number of documents than it says" },
    };
    const twin_text text = { texts[0], strlen(texts[0]) };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twin_index *index;
        twin_index_answer answer = { 0 };
        int pairs = 0;
        twin_index_view *view = view_of_spoilt(&index, TWIN_KEEP_SETS, cases[i].change);
        BAD(TWIN_EFORMAT, cases[i].of_query,
            twin_index_query(&answer, view, (twin_index_query_options){ 0 }, text, &error));
        BAD(TWIN_EFORMAT, cases[i].of_pairs,
            twin_index_pairs(index, (twin_index_pairs_options){ .exec = serial }, count_pair, &pairs, &error));
        assert_int_equal(pairs, 0);
        twin_index_answer_clear(&answer);
        twin_index_view_free(view);
        twin_index_close(index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(contradictions_are_found, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(queries_and_pairs_notice_what_they_meet, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

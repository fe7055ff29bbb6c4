/* test_mail_sketches.c — sites that exchange sketches: what one has seen, the other recognises. */
#include <stdio.h>
#include <stdlib.h>
#include <twinsift/hash.h>
#include <twinsift/mail.h>
#include <unistd.h>

#include "base/random.h"
#include "message_frame.h"

static const uint64_t key[2] = { 11, 22 }, other_key[2] = { 33, 44 };

/* Messages of one kind are almost equal: 40 words, of which one is drawn for each. */
static const twin_message *message_of(const char *kind, uint64_t number)
{
    static char text[2048];
    uint64_t state = (unsigned char)kind[0];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "From: %s%d@%s.example\nSubject: news of %s\nMessage-ID: <%s%d@x.example>\n\n", kind,
                                (int)(number % 3), kind, kind, kind, (int)number);
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d ", kind, (int)(twin__random_next(&state) % 1000));
    n += (size_t)snprintf(text + n, sizeof text - n, "number%d\n", (int)number);
    return read_bytes(text, n);
}

static twin_mail *make(const uint64_t *with)
{
    twin_mail *mail;
    assert_int_equal(twin_mail_create_in_memory(&mail, (twin_mail_options){ .key = with }), TWIN_OK);
    return mail;
}

static twin_mail_effect learn(twin_mail *mail, const char *kind, uint64_t number, const char *label)
{
    twin_mail_effect effect;
    assert_int_equal(twin_mail_learn(&effect, mail, message_of(kind, number), label, 1000, NULL), TWIN_OK);
    return effect;
}

static const char *label_of(twin_mail *mail, const char *kind, uint64_t number)
{
    twin_mail_verdict verdict;
    assert_int_equal(twin_mail_check(&verdict, mail, message_of(kind, number), (twin_mail_check_options){ 0 }, NULL),
                     TWIN_OK);
    return verdict.label ? verdict.label : "unsure";
}

static twin_text export(twin_buffer *out, twin_mail *mail, bool weights)
{
    out->length = 0;
    assert_int_equal(twin_mail_export(out, mail, (twin_mail_export_options){ .weights = weights }, NULL), TWIN_OK);
    return (twin_text){ out->bytes, out->length };
}

/* A site with spam and good mail of its own. */
static twin_mail *make_site(void)
{
    twin_mail *site = make(key);
    for (uint64_t i = 0; i < 20; i++) {
        learn(site, "pills", i, "spam");
        learn(site, "meeting", i, "ham");
    }
    return site;
}

static void a_campaign_that_one_site_has_seen_is_known_to_both(void **unused)
{
    (void)unused;
    twin_mail *a = make_site(), *b = make_site();
    for (uint64_t i = 0; i < 20; i++)
        learn(a, "watches", i, "spam");
    assert_string_not_equal(label_of(b, "watches", 100), "spam");
    twin_buffer out = { 0 };
    twin_mail_imported counts;
    assert_int_equal(twin_mail_import(&counts, b, export(&out, a, false), NULL), TWIN_OK);
    assert_int_equal(counts.messages, 20);
    assert_int_equal(counts.known, 40);
    assert_int_equal(counts.left_out, 0);
    assert_false(counts.weights);
    assert_string_equal(label_of(b, "watches", 100), "spam");
    assert_string_equal(label_of(b, "meeting", 100), "ham");

    /* Once more changes nothing, and what was imported is not sent on. */
    assert_int_equal(twin_mail_import(&counts, b, export(&out, a, false), NULL), TWIN_OK);
    assert_int_equal(counts.messages, 0);
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, b, NULL), TWIN_OK);
    assert_int_equal(info.imported, 20);
    assert_int_equal(info.messages, 60);
    assert_int_equal(twin_mail_import(&counts, a, export(&out, b, false), NULL), TWIN_OK);
    assert_int_equal(counts.known, 40);
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(b);
}

/* What is learnt here counts more than what was imported: it is learnt as new, under the label given here. */
static void what_was_imported_can_be_learnt(void **unused)
{
    (void)unused;
    twin_mail *a = make(key), *b = make_site();
    twin_buffer out = { 0 };
    learn(a, "club", 1, "spam");
    learn(a, "meeting", 1, "spam"); /* which b has learnt as ham */
    assert_int_equal(twin_mail_import(NULL, b, export(&out, a, false), NULL), TWIN_OK);
    assert_string_equal(label_of(b, "meeting", 1), "ham");
    assert_int_equal(learn(b, "club", 1, "ham"), TWIN_MAIL_LEARNT);
    assert_string_equal(label_of(b, "club", 1), "ham");
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, b, NULL), TWIN_OK);
    assert_int_equal(info.imported, 0);
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(b);
}

static void a_new_site_begins_with_the_weights_of_another(void **unused)
{
    (void)unused;
    twin_mail *a = make_site(), *fresh = make(key), *b = make_site();
    twin_buffer out = { 0 };
    twin_mail_imported counts;
    twin_text sketches = export(&out, a, true);
    assert_int_equal(twin_mail_import(&counts, fresh, sketches, NULL), TWIN_OK);
    assert_true(counts.weights);
    for (uint64_t i = 50; i < 60; i++) {
        twin_mail_verdict x, y;
        const twin_mail_check_options content = { .method = TWIN_MAIL_CONTENT };
        assert_int_equal(twin_mail_check(&x, a, message_of("pills", i), content, NULL), TWIN_OK);
        assert_int_equal(twin_mail_check(&y, fresh, message_of("pills", i), content, NULL), TWIN_OK);
        assert_true(x.log_odds >= y.log_odds && x.log_odds <= y.log_odds);
        assert_string_equal(y.label, "spam");
    }
    assert_int_equal(twin_mail_import(&counts, b, sketches, NULL), TWIN_OK);
    assert_false(counts.weights); /* b has learnt something itself */
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(b);
    twin_mail_close(fresh);
}

static void a_full_model_takes_the_newest_that_fit(void **unused)
{
    (void)unused;
    twin_mail *a = make_site(), *small;
    assert_int_equal(twin_mail_create_in_memory(&small, (twin_mail_options){ .keep_messages = 15, .key = key }),
                     TWIN_OK);
    learn(small, "club", 1, "ham");
    twin_buffer out = { 0 };
    twin_mail_imported counts;
    assert_int_equal(twin_mail_import(&counts, small, export(&out, a, false), NULL), TWIN_OK);
    assert_int_equal(counts.messages, 14);
    assert_int_equal(counts.left_out, 26);
    assert_string_equal(label_of(small, "club", 1), "ham");
    assert_string_equal(label_of(small, "pills", 19), "spam"); /* itself */
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(small);
}

static void foreign_and_damaged_sketches_are_refused(void **unused)
{
    (void)unused;
    twin_mail *a = make_site(), *stranger = make(other_key), *b = make(key);
    twin_buffer out = { 0 };
    twin_error error = { 0 };
    twin_text good = export(&out, a, true);
    assert_int_equal(twin_mail_import(NULL, stranger, good, &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "another key"));
    for (size_t cut = 0; cut < good.length; cut += 1 + cut / 3)
        assert_int_equal(twin_mail_import(NULL, b, (twin_text){ good.bytes, cut }, NULL), TWIN_EFORMAT);
    for (size_t at = 40; at < good.length; at += 1 + at / 3) {
        out.bytes[at] ^= 4;
        assert_int_equal(twin_mail_import(NULL, b, good, NULL), TWIN_EFORMAT);
        out.bytes[at] ^= 4;
    }
    out.bytes[8] = 9;
    assert_int_equal(twin_mail_import(NULL, b, good, &error), TWIN_EUNSUPPORTED);
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, b, NULL), TWIN_OK);
    assert_int_equal(info.messages, 0);
    assert_int_equal(twin_mail_import(NULL, NULL, good, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_export(NULL, a, (twin_mail_export_options){ 0 }, NULL), TWIN_EINVAL);
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(b);
    twin_mail_close(stranger);
}

/* Two processes: what is imported is done again on top of what the other has committed meanwhile. */
static void an_import_is_committed_after_another_learner(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/twinsift-sketches-XXXXXX", path[64], lock[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model", folder);
    snprintf(lock, sizeof lock, "%s-lock", path);
    assert_int_equal(twin_mail_create(path, (twin_mail_options){ .key = key }, false, NULL), TWIN_OK);
    twin_mail *a = make_site(), *one, *two;
    assert_int_equal(twin_mail_open(&one, path, TWIN_MAIL_WRITE, NULL), TWIN_OK);
    assert_int_equal(twin_mail_open(&two, path, TWIN_MAIL_WRITE, NULL), TWIN_OK);
    twin_buffer out = { 0 };
    twin_mail_imported counts;
    assert_int_equal(twin_mail_import(&counts, one, export(&out, a, true), NULL), TWIN_OK);
    assert_true(counts.weights);
    learn(two, "pills", 3, "spam"); /* one that is also imported */
    learn(two, "club", 3, "ham");
    assert_int_equal(twin_mail_commit(two, NULL), TWIN_OK);
    assert_int_equal(twin_mail_commit(one, NULL), TWIN_OK);
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, two, NULL), TWIN_OK);
    assert_int_equal(info.messages, 41);
    assert_int_equal(info.imported, 39);
    twin_buffer_clear(&out);
    twin_mail_close(a);
    twin_mail_close(one);
    twin_mail_close(two);
    unlink(path);
    unlink(lock);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_campaign_that_one_site_has_seen_is_known_to_both),
        cmocka_unit_test(what_was_imported_can_be_learnt),
        cmocka_unit_test(a_new_site_begins_with_the_weights_of_another),
        cmocka_unit_test(a_full_model_takes_the_newest_that_fit),
        cmocka_unit_test(foreign_and_damaged_sketches_are_refused),
        cmocka_unit_test(an_import_is_committed_after_another_learner),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

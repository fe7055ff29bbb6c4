/* test_readers.c — readers of several threads find what one finds. */
#include <twinsift/message.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/exec.h>
#include <twinsift/hash.h>

enum { MESSAGES = 400, WORKERS = 4 };

static const char *const charsets[] = { "utf-8", "iso-8859-1", "koi8-r", "iso-2022-jp", "gb2312", "no-such" };

/* A message that needs all libraries: encoded words, a character set, HTML, links. */
static size_t make(char out[1024], size_t number)
{
    return (size_t)snprintf(out, 1024,
                            "From: =?%s?q?N=61me%zu?= <user%zu@mail.example.co.uk>\n"
                            "Date: Mon, %02zu Jan 2024 10:00:00 +0100\n"
                            "Content-Type: multipart/mixed; boundary=\"b%zu\"\n\n"
                            "--b%zu\nContent-Type: text/html; charset=%s\n\n"
                            "<p style='color:#%06zx'>caf\xe9 &eacute; <a href='http://h%zu.example.com/'>x</a><b>\n"
                            "--b%zu\nContent-Type: image/gif\nContent-Transfer-Encoding: base64\n\nR0lG%04zu\n",
                            charsets[number % 6], number, number, number % 28 + 1, number, number,
                            charsets[number / 6 % 6], number * 41 % 0xffffff, number, number, number);
}

struct run {
    twin_message_reader *readers[WORKERS];
    uint64_t digests[MESSAGES];
    bool failed[WORKERS];
};

static uint64_t add(uint64_t sum, twin_text text)
{
    return sum * 31 + twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, 1), text.bytes ? text.bytes : "", text.length);
}

static uint64_t digest_of(const twin_message *message)
{
    uint64_t sum = message->flags * 1000003u + (uint64_t)message->date;
    sum = add(sum, message->text);
    sum = add(sum, message->hidden);
    sum = add(sum, message->folded);
    for (size_t i = 0; i < message->address_count; i++)
        sum = add(add(sum, message->addresses[i].name), message->addresses[i].registered);
    for (size_t i = 0; i < message->link_count; i++)
        sum = add(sum, message->links[i].registered);
    for (size_t i = 0; i < message->part_count; i++)
        sum = add(sum, (twin_text){ (const char *)message->parts[i].digest, sizeof message->parts[i].digest });
    return sum;
}

static void read_some(void *context, size_t begin, size_t end, int worker)
{
    struct run *run = context;
    twin_message_reader **reader = &run->readers[worker];
    if (!*reader) /* the first of all readers may be made by several threads at once */
        run->failed[worker] |= twin_message_reader_create(reader, (twin_message_options){ 0 }) != TWIN_OK;
    for (size_t i = begin; i < end && !run->failed[worker]; i++) {
        char text[1024];
        const twin_message *message;
        twin_text raw = { text, make(text, i) };
        if (twin_message_read(&message, *reader, raw) != TWIN_OK)
            run->failed[worker] = true;
        else
            run->digests[i] = digest_of(message);
    }
}

static void read_with(struct run *run, twin_executor kind, int workers)
{
    twin_exec exec;
    *run = (struct run){ 0 };
    assert_int_equal(twin_exec_make(&exec, kind, workers), TWIN_OK);
    twin_exec_for(exec, MESSAGES, 10, read_some, run);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_false(run->failed[i]);
        twin_message_reader_free(run->readers[i]);
    }
}

static void threads_read_what_one_reads(void **state_unused)
{
    (void)state_unused;
    static struct run one, several;
    read_with(&several, TWIN_EXEC_PTHREADS, WORKERS);
    read_with(&one, TWIN_EXEC_SERIAL, 1);
    assert_memory_equal(one.digests, several.digests, sizeof one.digests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_read_what_one_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

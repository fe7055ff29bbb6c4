/* message_frame.h — the frame of tests that read messages: a reader that all of them share. */
#ifndef TEST_MESSAGE_FRAME_H
#define TEST_MESSAGE_FRAME_H

#include <twinsift/message.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static twin_message_reader *reader;

static inline const twin_message *read_bytes(const char *bytes, size_t length)
{
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ bytes, length }), TWIN_OK);
    return message;
}

static inline const twin_message *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static inline void assert_text(twin_text text, const char *wanted)
{
    if (text.length != strlen(wanted) || (text.length > 0 && memcmp(text.bytes, wanted, text.length) != 0))
        fail_msg("\"%.*s\", not \"%s\"", (int)text.length, text.bytes, wanted);
}

/* For cmocka_run_group_tests(). */
static inline int create_reader(void **state_unused)
{
    (void)state_unused;
    return twin_message_reader_create(&reader, (twin_message_options){ 0 });
}

static inline int free_reader(void **state_unused)
{
    (void)state_unused;
    twin_message_reader_free(reader);
    return 0;
}

#endif

/* test_checked_stream.c — streams with a magic and a checksum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/checked_stream.h"
#include "file_streams.h"

static const char MAGIC[] = "TESTING1";

/* A stream of a number, a real number and a text. */
static size_t write_example(char **bytes)
{
    size_t length;
    struct twin__checked_stream stream;
    FILE *file = open_memstream(bytes, &length);
    assert_non_null(file);
    twin__checked_write(&stream, file_sink(file), MAGIC, NULL);
    assert_int_equal(twin__checked_number(&stream, 0x0102030405060708), 0x0102030405060708);
    assert_true(twin__checked_real(&stream, -0.125) == -0.125);
    twin__checked_put_text(&stream, (twin_text){ "twins", 5 });
    assert_int_equal(twin__checked_close(&stream, TWIN_OK), TWIN_OK);
    fclose(file);
    return length;
}

static twin_status read_example(const char *bytes, size_t length, twin_error *error)
{
    FILE *file = fmemopen((void *)(uintptr_t)bytes, length, "rb");
    struct twin__checked_stream stream;
    twin_buffer text = { 0 };
    assert_non_null(file);
    twin__checked_read(&stream, file_source(file), MAGIC, error);
    uint64_t number = twin__checked_number(&stream, 1);
    double real = twin__checked_real(&stream, 1);
    twin__checked_get_text(&text, &stream, 100);
    twin_status status = twin__checked_close(&stream, TWIN_OK);
    if (status == TWIN_OK) {
        assert_int_equal(number, 0x0102030405060708);
        assert_true(real == -0.125);
        assert_int_equal(text.length, 5);
        assert_memory_equal(text.bytes, "twins", 5);
    }
    twin_buffer_clear(&text);
    fclose(file);
    return status;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    char *bytes;
    size_t length = write_example(&bytes);
    assert_int_equal(length, 8 + 8 + 8 + 8 + 5 + 8);
    assert_int_equal((unsigned char)bytes[8], 8); /* the low byte first */
    assert_int_equal(read_example(bytes, length, NULL), TWIN_OK);
    free(bytes);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    char *bytes;
    size_t length = write_example(&bytes);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(read_example(bytes, length, NULL), TWIN_EFORMAT);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    free(bytes);
}

static void every_other_length_is_noticed(void **state)
{
    (void)state;
    char *bytes;
    size_t length = write_example(&bytes);
    twin_error error;
    for (size_t shorter = 1; shorter < length; shorter++)
        assert_int_equal(read_example(bytes, shorter, NULL), TWIN_EFORMAT);
    char *longer = calloc(1, length + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, length);
    assert_int_equal(read_example(longer, length + 1, &error), TWIN_EFORMAT);
    assert_non_null(strstr(error.message, "follows the end"));
    free(longer);
    free(bytes);
}

static void after_a_failure_zeros_are_read_and_the_first_one_counts(void **state)
{
    (void)state;
    char bytes[] = "TESTING1\1\0\0\0\0\0\0\0\2";
    FILE *file = fmemopen(bytes, sizeof bytes - 1, "rb");
    assert_non_null(file);
    twin_error error;
    struct twin__checked_stream stream;
    twin__checked_read(&stream, file_source(file), MAGIC, &error);
    assert_int_equal(twin__checked_number(&stream, 0), 1);
    assert_int_equal(twin__checked_number(&stream, 7), 0);
    assert_true(twin__checked_real(&stream, 7) == 0);
    assert_int_equal(twin__checked_fail(&stream, "a second failure"), TWIN_EFORMAT);
    assert_non_null(strstr(error.message, "damaged at byte 16: the file ends too early"));
    assert_int_equal(twin__checked_close(&stream, TWIN_OK), TWIN_EFORMAT);
    fclose(file);
}

static void a_failure_of_the_caller_is_returned(void **state)
{
    (void)state;
    char *bytes;
    size_t length = write_example(&bytes);
    FILE *file = fmemopen(bytes, length, "rb");
    assert_non_null(file);
    struct twin__checked_stream stream;
    twin__checked_read(&stream, file_source(file), MAGIC, NULL);
    assert_int_equal(twin__checked_close(&stream, TWIN_ESTOPPED), TWIN_ESTOPPED);
    assert_int_equal(stream.status, TWIN_OK); /* the checksum, which does not come here, was not looked for */
    fclose(file);
    free(bytes);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        print_message("there is no /dev/full here: skipped\n");
        skip();
    }
    setvbuf(full, NULL, _IONBF, 0);
    twin_error error;
    struct twin__checked_stream stream;
    twin__checked_write(&stream, file_sink(full), MAGIC, &error);
    twin__checked_put_text(&stream, (twin_text){ "twins", 5 });
    assert_int_equal(twin__checked_close(&stream, TWIN_OK), TWIN_EIO);
    assert_non_null(strstr(error.message, "No space left"));
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_other_length_is_noticed),
        cmocka_unit_test(after_a_failure_zeros_are_read_and_the_first_one_counts),
        cmocka_unit_test(a_failure_of_the_caller_is_returned),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

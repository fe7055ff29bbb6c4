/* test_buffer.c — a buffer grows, keeps its contents, and refuses impossible sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/text.h>

static void what_is_appended_stays(void **unused)
{
    (void)unused;
    twin_buffer buffer = { 0 };
    for (size_t i = 0; i < 10000; i++) {
        char byte = (char)(i * 31);
        assert_int_equal(twin_buffer_append(&buffer, &byte, 1), TWIN_OK);
    }
    assert_int_equal(buffer.length, 10000);
    for (size_t i = 0; i < buffer.length; i++)
        assert_int_equal(buffer.bytes[i], (char)(i * 31));
    twin_buffer_clear(&buffer);
    assert_null(buffer.bytes);
    assert_int_equal(buffer.length + buffer.capacity, 0);
}

/* A million bytes one by one: growing by doubling moves the block some twenty times, by a constant a million. */
static void growing_costs_few_moves(void **unused)
{
    (void)unused;
    twin_buffer buffer = { 0 };
    size_t moves = 0, capacity = 0;
    for (size_t i = 0; i < 1000000; i++) {
        assert_int_equal(twin_buffer_append(&buffer, "x", 1), TWIN_OK);
        moves += buffer.capacity != capacity;
        capacity = buffer.capacity;
    }
    assert_true(moves <= 20);
    twin_buffer_clear(&buffer);
}

static void nothing_is_appended_to_nothing(void **unused)
{
    (void)unused;
    twin_buffer buffer = { 0 };
    assert_int_equal(twin_buffer_append(&buffer, NULL, 0), TWIN_OK);
    assert_int_equal(buffer.length, 0);
    twin_buffer_clear(&buffer);
}

static void more_than_there_can_be_is_refused(void **unused)
{
    (void)unused;
    twin_buffer buffer = { 0 };
    assert_int_equal(twin_buffer_append(&buffer, "kept", 4), TWIN_OK);
    assert_int_equal(twin_buffer_reserve(&buffer, SIZE_MAX), TWIN_ENOMEM);
    assert_int_equal(twin_buffer_reserve(&buffer, SIZE_MAX - 4), TWIN_ENOMEM);
    assert_int_equal(twin_buffer_reserve(&buffer, PTRDIFF_MAX), TWIN_ENOMEM);
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.bytes, "kept", 4);
    twin_buffer_clear(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_stays),
        cmocka_unit_test(growing_costs_few_moves),
        cmocka_unit_test(nothing_is_appended_to_nothing),
        cmocka_unit_test(more_than_there_can_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

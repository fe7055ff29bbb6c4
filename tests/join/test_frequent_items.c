/* test_frequent_items.c — documents divided into frequent items and others, beside counting item by item. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "join/items.h"
#include "kernels/kernels.h"

enum { MOST = 3000 };

struct document {
    uint64_t items[MOST];
    size_t count;
    struct twin__item_marks marks;
    uint64_t *bits;
};

/* Kind 0: mixed; 1: small numbers, all of one bin; 2: the ends of the range. */
static uint64_t draw(uint64_t *state, int kind, size_t range)
{
    uint64_t number = twin__random_next(state) % range;
    if (kind == 1)
        return number;
    if (kind == 2)
        return number % 2 ? UINT64_MAX - number / 2 : number / 2;
    return (number + 1) * 0x9E3779B97F4A7C15u;
}

static bool is_among(uint64_t item, const uint64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == item)
            return true;
    return false;
}

/* Different items. */
static size_t draw_frequent(uint64_t *out, uint64_t *state, int kind, size_t wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < wanted; i++) {
        uint64_t item = draw(state, kind, 2 * wanted);
        out[count] = item;
        count += !is_among(item, out, count);
    }
    return count;
}

static bool is_frequent(const struct twin__frequent_items *frequent, uint64_t item)
{
    size_t bin = item >> frequent->bins.shift;
    return is_among(item, frequent->bins.items + bin * BIN_ROOM, frequent->bins.held[bin]);
}

/* Checks one document, and returns how many of its items are frequent. */
static size_t check_document(const struct twin__frequent_items *frequent, const struct document *document)
{
    static uint64_t seen[MOST];
    size_t found = 0, others = 0, different = 0;
    for (size_t i = 0; i < document->count; i++) {
        uint64_t item = document->items[i];
        if (is_among(item, seen, different))
            continue;
        seen[different++] = item;
        bool is_other = is_among(item, document->marks.missed.items, document->marks.missed.count);
        assert_int_equal(is_other, !is_frequent(frequent, item));
        found += !is_other;
        others += is_other;
    }
    assert_int_equal(document->marks.found, found);
    assert_int_equal(document->marks.missed.count, others);
    for (size_t i = 1; i < others; i++)
        assert_true(document->marks.missed.items[i - 1] < document->marks.missed.items[i]);
    return found;
}

static size_t common_frequent(const struct twin__frequent_items *frequent, const struct document documents[2])
{
    size_t common = 0;
    for (size_t i = 0; i < documents[0].count; i++)
        if (is_frequent(frequent, documents[0].items[i]) && !is_among(documents[0].items[i], documents[0].items, i))
            common += is_among(documents[0].items[i], documents[1].items, documents[1].count);
    return common;
}

static void check(struct document documents[2], uint64_t *state, int kind, size_t count)
{
    static uint64_t items[MOST];
    size_t range = 3 * count + 1, wanted = draw_frequent(items, state, kind, count);
    struct twin__frequent_items frequent;
    assert_true(twin__frequent_items_init(&frequent, items, wanted));
    assert_true(frequent.count <= wanted);
    if (kind == 0)
        assert_int_equal(frequent.count, wanted); /* none is without a bin */
    for (int d = 0; d < 2; d++) {
        struct document *document = &documents[d];
        document->bits = realloc(document->bits, frequent.words * sizeof *document->bits);
        assert_non_null(document->bits);
        document->count = count + count / 2;
        for (size_t i = 0; i < document->count; i++)
            document->items[i] = draw(state, kind, range);
        assert_true(twin__frequent_items_divide(document->bits, &document->marks, &frequent, document->items,
                                                document->count));
        size_t found = check_document(&frequent, document);
        assert_int_equal(twin__kernels()->common_bits(document->bits, document->bits, frequent.words), found);
    }
    assert_int_equal(twin__kernels()->common_bits(documents[0].bits, documents[1].bits, frequent.words),
                     common_frequent(&frequent, documents));
    twin__frequent_items_clear(&frequent);
}

static void bits_and_rest_are_those_of_the_items(void **unused)
{
    (void)unused;
    static const size_t counts[] = { 0, 1, 8, 31, 33, 63, 64, 65, 128, 700, 1000 };
    struct document *documents = calloc(2, sizeof *documents);
    assert_non_null(documents);
    uint64_t state = 7;
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check(documents, &state, kind, counts[i]);
    for (int d = 0; d < 2; d++) {
        twin__item_marks_clear(&documents[d].marks);
        free(documents[d].bits);
    }
    free(documents);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bits_and_rest_are_those_of_the_items) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

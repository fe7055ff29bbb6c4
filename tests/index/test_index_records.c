/* test_index_records.c — what is kept of sets, blocks of them, and posting lists come back as they went in. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "index_frame.h"

#include "sketch/set.h"

/* ---- records ---- */

static void sets_of_all_sizes_come_back(void **state_unused)
{
    (void)state_unused;
    static const unsigned widths[] = { 64, 35 };
    uint64_t state = 5;
    twin_items items = { 0 }, spare = { 0 }, back = { 0 };
    twin_buffer record = { 0 };
    for (size_t n = 1; n < 300000; n = n < 70 || n == 255 ? n + 1 : n * 3 / 2 > 255 && n < 255 ? 255 : n * 3 / 2)
        for (int kind = 0; kind < 8; kind++) {
            /* Spread, small, large, and crowded numbers; whole, and cut after repeats were dropped. */
            unsigned bits = widths[kind % 2];
            assert_int_equal(twin__items_reserve(&items, n), TWIN_OK);
            for (size_t i = 0; i < n; i++)
                items.items[i] = kind / 2 == 0   ? twin__random_next(&state)
                                 : kind / 2 == 1 ? i
                                 : kind / 2 == 2 ? UINT64_MAX - 3 * i
                                                 : (uint64_t)i << 28;
            items.count = n;
            twin_set set;
            assert_int_equal(twin__set_make(&set, &items, &spare), TWIN_OK);
            assert_int_equal(set.count, n);
            for (size_t i = 0; i < n; i++)
                items.items[i] &= UINT64_MAX << (64 - bits);
            record.length = 0;
            twin_digest digest;
            assert_int_equal(twin__index_items_encode(&record, &digest, set, bits), TWIN_OK);
            assert_int_equal(
                twin__index_items_decode(&back, n, bits, (struct twin__bytes){ record.bytes, record.length }),
                TWIN_OK);
            assert_int_equal(back.count, n);
            assert_memory_equal(back.items, set.items, n * sizeof *set.items);
            record.bytes[twin__random_below(&state, record.length)] ^= 1;
            assert_int_equal(
                twin__index_items_decode(&back, n, bits, (struct twin__bytes){ record.bytes, record.length }),
                TWIN_EFORMAT);
        }
    twin__items_clear(&items);
    twin__items_clear(&spare);
    twin__items_clear(&back);
    twin_buffer_clear(&record);
}

static void blocks_give_back_what_lies_in_them(void **state_unused)
{
    (void)state_unused;
    enum { MANY = 300 };
    static char bytes[MANY * MANY];
    struct twin__index_kept kept[MANY], back;
    struct twin__index_block block;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 >> 3);
    for (size_t count = 1; count <= MANY; count += count < 5 ? 1 : 59) {
        for (size_t i = 0; i < count; i++) /* every third number is missing */
            kept[i] = (struct twin__index_kept){ 1000 + i * 3 / 2, { bytes + i * MANY, i * 7 % MANY } };
        size_t length = twin__index_block_bytes(kept, count);
        char *record = malloc(length);
        assert_non_null(record);
        twin__index_block_encode(record, 990, kept, count, TWIN__INDEX_VERSION);
        assert_true(
            twin__index_block_decode(&block, 990, (struct twin__bytes){ record, length }, TWIN__INDEX_VERSION));
        assert_int_equal(block.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(twin__index_block_find(&block, kept[i].set), i);
            assert_true(twin__index_block_get(&back, &block, i));
            assert_int_equal(back.set, kept[i].set);
            assert_int_equal(back.bytes.length, kept[i].bytes.length);
            assert_memory_equal(back.bytes.at, kept[i].bytes.at, back.bytes.length);
        }
        assert_int_equal(twin__index_block_find(&block, 999), count);
        assert_int_equal(twin__index_block_find(&block, 1002), count);
        assert_int_equal(twin__index_block_find(&block, UINT64_MAX), count);
        for (size_t cut = 0; cut < length; cut++) /* cut short: refused, or what is missing is noticed */
            if (twin__index_block_decode(&block, 990, (struct twin__bytes){ record, cut }, TWIN__INDEX_VERSION))
                assert_false(twin__index_block_get(&back, &block, count - 1) && kept[count - 1].bytes.length);
        record[5] ^= 1;
        assert_false(
            twin__index_block_decode(&block, 990, (struct twin__bytes){ record, length }, TWIN__INDEX_VERSION));
        free(record);
    }
}

static void a_band_is_searched_right_wherever_its_hashes_lie(void **state_unused)
{
    (void)state_unused;
    enum { N = 3000 };
    static uint64_t entries[N], spare[N];
    uint64_t state = 6;
    for (int kind = 0; kind < 3; kind++)
        for (size_t n = 0; n <= N; n = n ? n * 3 : 1) {
            for (size_t i = 0; i < n; i++) /* spread, crowded, all equal */
                entries[i] = (kind == 0   ? twin__random_next(&state) >> 32
                              : kind == 1 ? twin__random_below(&state, 50)
                                          : 77)
                             << 32;
            for (size_t i = 1; i < n; i++) /* slowly, but independently */
                for (size_t j = i; j > 0 && entries[j - 1] > entries[j]; j--) {
                    spare[0] = entries[j];
                    entries[j] = entries[j - 1];
                    entries[j - 1] = spare[0];
                }
            for (int ask = 0; ask < 200; ask++) {
                uint32_t hash = ask % 2 ? (uint32_t)twin__random_next(&state) : (uint32_t)ask / 2;
                if (n && ask % 3 == 0)
                    hash = (uint32_t)(entries[twin__random_below(&state, n)] >> 32);
                size_t place = 0;
                while (place < n && entries[place] >> 32 < hash)
                    place++;
                struct twin__index_list list = { .entries = entries, .count = n };
                assert_int_equal(twin__index_list_find(list, hash), place);
                size_t from = place ? twin__random_below(&state, place + 1) : 0;
                assert_int_equal(twin__index_list_find_from(list, from, hash), place);
            }
        }
}

/* Every search finds exactly its entries, or says that the list is damaged, wherever a bit of it is flipped. */
static void a_damaged_list_never_hides_an_entry(void **state)
{
    (void)state;
    enum { N = 1500, HASHES = 300, BLOCKS = N / TWIN__INDEX_LIST_BLOCK + 1, FLIPS = QUICK ? 300 : 3000 };
    static uint64_t bytes[N + BLOCKS];
    uint64_t random = 8, noticed = 0;
    for (size_t i = 0; i < N; i++) /* each hash five times, spread over all numbers */
        bytes[i] = (uint64_t)(i / 5 * (UINT32_MAX / HASHES)) << 32 | i;
    struct twin__index_list list = { bytes, N, TWIN__INDEX_LIST_BLOCK, 99, NULL };
    for (size_t block = 0; block < BLOCKS; block++) {
        size_t first = block * list.block, count = N - first < list.block ? N - first : list.block;
        bytes[N + block] = XXH3_64bits_withSeed(bytes + first, 8 * count, list.seed + block * 0x9E3779B97F4A7C15);
    }
    assert_true(twin__index_list_is_whole(list));
    for (size_t flip = 0; flip < FLIPS; flip++) {
        size_t bit = twin__random_below(&random, 64 * (N + BLOCKS));
        bytes[bit / 64] ^= (uint64_t)1 << bit % 64;
        assert_false(twin__index_list_is_whole(list));
        for (size_t i = 0; i < HASHES; i++) {
            size_t begin, end;
            uint32_t hash = (uint32_t)(i * (UINT32_MAX / HASHES));
            if (twin__index_list_search(&begin, &end, list, hash)) {
                assert_int_equal(begin, 5 * i);
                assert_int_equal(end, 5 * i + 5);
            } else
                noticed++;
        }
        bytes[bit / 64] ^= (uint64_t)1 << bit % 64;
    }
    assert_true(noticed > FLIPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_all_sizes_come_back),
        cmocka_unit_test(blocks_give_back_what_lies_in_them),
        cmocka_unit_test(a_band_is_searched_right_wherever_its_hashes_lie),
        cmocka_unit_test(a_damaged_list_never_hides_an_entry),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

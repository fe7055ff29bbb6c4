/* bloom_items.h — numbered items, and filters of them. */
#ifndef TEST_BLOOM_ITEMS_H
#define TEST_BLOOM_ITEMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/bloom.h>

#include <cmocka.h>

#include "base/random.h"
#include "bloom/bloom_private.h"
#include "families.h"
#include "scale.h"

/* Everything that is checked statistically is fixed by its seeds; a test that passes once passes always. */
enum { SCALE = QUICK ? 20 : 2, ITEM_BYTES = 20 };

/* The item numbered i, 20 bytes like an address; no two are equal. */
struct item {
    char bytes[ITEM_BYTES];
};

static struct item item(uint64_t i)
{
    struct item item;
    uint64_t mixed = twin__mix(i + 77);
    memcpy(item.bytes, &i, 8);
    memcpy(item.bytes + 8, &mixed, 8);
    memcpy(item.bytes + 16, "user", 4);
    return item;
}

static inline bool add(twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_add(bloom, it.bytes, ITEM_BYTES);
}

static inline bool has(const twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_may_contain(bloom, it.bytes, ITEM_BYTES);
}

static inline uint32_t count(const twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_count(bloom, it.bytes, ITEM_BYTES);
}

static inline bool take_out(twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_remove(bloom, it.bytes, ITEM_BYTES);
}

static inline twin_bloom *make(twin_bloom_options options)
{
    twin_bloom *bloom;
    options.hash.family = present_family(options.hash.family);
    assert_int_equal(twin_bloom_create(&bloom, options), TWIN_OK);
    return bloom;
}

static inline twin_bloom_info describe(const twin_bloom *bloom)
{
    twin_bloom_info info;
    twin_bloom_describe(&info, bloom);
    return info;
}

/* Filters of every kind. */
static const twin_bloom_options kinds[] = {
    { .items = 3000, .rate = .01 },
    { .items = 3000, .rate = .001 },
    { .items = 3000, .rate = .01, .cell_bits = 4 },
    { .items = 3000, .rate = .001, .cell_bits = 4 },
    { .items = 3000, .rate = .01, .cell_bits = 8 },
    { .items = 3000, .rate = .001, .cell_bits = 8 },
    { .items = 3000, .rate = .01, .cell_bits = 16 },
    { .items = 3000, .rate = .001, .cell_bits = 16 },
    { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_FARM, .seed = 5 } },
    { .items = 3000, .rate = .001, .hash = { .family = TWIN_HASH_JENKINS, .seed = 6 } },
    { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_SIP, .key = { 7, 8 } } },
    { .items = 3000, .rate = .001, .hash = { .family = TWIN_HASH_SIP, .key = { 9, 10 } } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The share of `probes` absent items, numbered from 10^12 up, that the filter confirms. */
static inline double observed_rate(const twin_bloom *bloom, uint64_t probes)
{
    enum { BATCH = 1000 };
    static struct item items[BATCH];
    static twin_text texts[BATCH];
    bool found[BATCH];
    uint64_t hits = 0;
    for (uint64_t done = 0; done < probes; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) {
            items[i] = item(1000000000000u + done + i);
            texts[i] = (twin_text){ items[i].bytes, ITEM_BYTES };
        }
        hits += twin_bloom_may_contain_many(found, bloom, texts, BATCH);
    }
    return (double)hits / (double)probes;
}

#endif

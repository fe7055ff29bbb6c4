/* bench_bloom.c — nanoseconds per add, hit and miss, and false-positive rate, compared with Debian's libbloom.
 *
 *     bench_bloom [ITEMS...]     default 100000 10000000 100000000; all at 1 %
 *
 * Items are 20 random bytes, generated in chunks outside the measured time, which is the thread's CPU time. Adds are
 * timed once. Queries are the least of ten passes, and the filters take turns at every pass, so that other load affects
 * them equally; a turn begins with unmeasured queries, because the others have evicted this filter from the cache.
 * libbloom is loaded at run time; where it is missing, the output says so. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/bloom.h>

#include "base/random.h"
#include "cpu_seconds.h"

#if defined(__has_include)
#if __has_include(<bloom.h>)
#include <bloom.h>
#define HAVE_LIBBLOOM 1
#endif
#endif

enum { ITEM = 20, CHUNK = 16384, PASSES = 10, MOST_CONTENDERS = 16 };

static const uint64_t QUERIES = 1000000; /* per pass */

/* One filter under test; `ask` and `add` process a chunk and return how many items were found, or new. */
struct contender {
    const char *name;
    void *filter;
    uint64_t bytes;
    size_t (*add)(void *filter, const twin_text *items, size_t count);
    size_t (*ask)(void *filter, const twin_text *items, size_t count);
    void (*release)(void *filter);
    double add_ns, hit_ns, miss_ns;
    uint64_t false_positives, lost;
};

/* Times `work` over the items begin .. begin+count-1 and counts its answers. */
static double measure(size_t *answers, struct contender *contender,
                      size_t (*work)(void *filter, const twin_text *items, size_t count), uint64_t begin,
                      uint64_t count)
{
    static char bytes[CHUNK * ITEM + 8];
    static twin_text items[CHUNK];
    double spent = 0;
    *answers = 0;
    for (uint64_t done = 0; done < count; done += CHUNK) {
        size_t n = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < n; i++) {
            uint64_t state = begin + done + i, words[3];
            for (int j = 0; j < 3; j++)
                words[j] = j == 0 ? twin__mix(state) : twin__random_next(&state);
            memcpy(bytes + i * ITEM, words, ITEM);
            items[i] = (twin_text){ bytes + i * ITEM, ITEM };
        }
        double start = cpu_seconds();
        *answers += work(contender->filter, items, n);
        spent += 1e9 * (cpu_seconds() - start);
    }
    return spent / (double)count;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void ask_all(struct contender *contender, uint64_t items, uint64_t pass)
{
    uint64_t hits = items < QUERIES ? items : QUERIES;
    uint64_t begin = twin__random_below(&(uint64_t){ pass }, items - hits + 1);
    size_t found;
    measure(&found, contender, contender->ask, begin, hits);
    contender->hit_ns = smaller(contender->hit_ns, measure(&found, contender, contender->ask, begin, hits));
    contender->lost += hits - found;
    begin = ((uint64_t)1 << 40) + pass * QUERIES;
    contender->miss_ns = smaller(contender->miss_ns, measure(&found, contender, contender->ask, begin, QUERIES));
    contender->false_positives += found;
}

static double rate_of(const struct contender *contender)
{
    return (double)contender->false_positives / (double)(PASSES * QUERIES);
}

static void print_row(const struct contender *contender, uint64_t items)
{
    printf("%11llu  %-24s %8.1f %8.1f %8.1f   %7.4f %%  %9.2f%s\n", (unsigned long long)items, contender->name,
           contender->add_ns, contender->hit_ns, contender->miss_ns, rate_of(contender) * 100,
           (double)contender->bytes / 1e6, contender->lost ? "  LOST ITEMS" : "");
}

static void compare(const struct contender *ours, const struct contender *lib)
{
    printf("             %-24s %6.1f x %6.1f x %6.1f x   %7.3f of its rate\n", "faster than libbloom",
           lib->add_ns / ours->add_ns, lib->hit_ns / ours->hit_ns, lib->miss_ns / ours->miss_ns,
           rate_of(ours) / rate_of(lib));
}

/* ---- ours ---- */

static size_t add_single(void *filter, const twin_text *items, size_t count)
{
    size_t news = 0;
    for (size_t i = 0; i < count; i++)
        news += twin_bloom_add(filter, items[i].bytes, items[i].length);
    return news;
}

static size_t ask_single(void *filter, const twin_text *items, size_t count)
{
    size_t hits = 0;
    for (size_t i = 0; i < count; i++)
        hits += twin_bloom_may_contain(filter, items[i].bytes, items[i].length);
    return hits;
}

static size_t add_batched(void *filter, const twin_text *items, size_t count)
{
    return twin_bloom_add_many(NULL, filter, items, count);
}

static size_t add_shared(void *filter, const twin_text *items, size_t count)
{
    return twin_bloom_add_shared(NULL, filter, items, count);
}

static size_t ask_batched(void *filter, const twin_text *items, size_t count)
{
    static bool found[CHUNK];
    return twin_bloom_may_contain_many(found, filter, items, count);
}

static void release(void *filter)
{
    twin_bloom_free(filter);
}

static struct contender ours(const char *name, twin_bloom_options options, bool batched, bool shared)
{
    twin_bloom *bloom;
    if (twin_bloom_create(&bloom, options) != TWIN_OK) {
        fprintf(stderr, "bench_bloom: out of memory for %s\n", name);
        exit(2);
    }
    return (struct contender){ .name = name,
                               .filter = bloom,
                               .bytes = twin_bloom_bytes(twin_bloom_shape_of(bloom)),
                               .add = shared    ? add_shared
                                      : batched ? add_batched
                                                : add_single,
                               .ask = batched ? ask_batched : ask_single,
                               .release = release };
}

/* ---- libbloom ---- */

#if defined(HAVE_LIBBLOOM)
static int (*lib_init)(struct bloom *bloom, int entries, double error);
static int (*lib_add)(struct bloom *bloom, const void *bytes, int length);
static int (*lib_check)(struct bloom *bloom, const void *bytes, int length);
static void (*lib_free)(struct bloom *bloom);

static bool load_libbloom(void)
{
    void *library = dlopen("libbloom.so.1", RTLD_NOW);
    if (!library)
        return false;
    *(void **)&lib_init = dlsym(library, "bloom_init");
    *(void **)&lib_add = dlsym(library, "bloom_add");
    *(void **)&lib_check = dlsym(library, "bloom_check");
    *(void **)&lib_free = dlsym(library, "bloom_free");
    return lib_init && lib_add && lib_check && lib_free;
}

static size_t add_lib(void *filter, const twin_text *items, size_t count)
{
    size_t old = 0;
    for (size_t i = 0; i < count; i++)
        old += (size_t)lib_add(filter, items[i].bytes, (int)items[i].length);
    return count - old;
}

static size_t ask_lib(void *filter, const twin_text *items, size_t count)
{
    size_t hits = 0;
    for (size_t i = 0; i < count; i++)
        hits += (size_t)lib_check(filter, items[i].bytes, (int)items[i].length);
    return hits;
}

static void release_lib(void *filter)
{
    lib_free(filter);
}

static bool make_lib(struct contender *out, uint64_t items, double rate)
{
    static struct bloom bloom;
    if (!load_libbloom() || items > INT32_MAX || lib_init(&bloom, (int)items, rate) != 0)
        return false;
    *out = (struct contender){ .name = "libbloom 1.6",
                               .filter = &bloom,
                               .bytes = (uint64_t)bloom.bytes,
                               .add = add_lib,
                               .ask = ask_lib,
                               .release = release_lib };
    return true;
}
#else
static bool make_lib(struct contender *out, uint64_t items, double rate)
{
    (void)out;
    (void)items;
    (void)rate;
    return false;
}
#endif

static void bench(uint64_t items)
{
    twin_bloom_options blocks = { .items = items, .rate = .01 }, classic = blocks, counting = blocks, keyed = blocks;
    classic.layout = TWIN_BLOOM_CLASSIC;
    counting.cell_bits = 4;
    keyed.hash = twin_hash_member(TWIN_HASH_SIP, 1);
    struct contender all[MOST_CONTENDERS];
    size_t count = 0, answers;
    all[count++] = ours("blocks", blocks, false, false);
    all[count++] = ours("blocks, batched", blocks, true, false);
    all[count++] = ours("blocks, shared", blocks, true, true);
    all[count++] = ours("blocks, sip", keyed, false, false);
    all[count++] = ours("classic", classic, false, false);
    all[count++] = ours("classic, batched", classic, true, false);
    all[count++] = ours("counting 4 bits", counting, false, false);
    all[count++] = ours("counting 4, batched", counting, true, false);
    bool have_lib = make_lib(&all[count], items, blocks.rate);
    count += have_lib;
    for (size_t i = 0; i < count; i++) {
        all[i].hit_ns = all[i].miss_ns = INFINITY;
        all[i].add_ns = measure(&answers, &all[i], all[i].add, 0, items);
    }
    for (uint64_t pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < count; i++)
            ask_all(&all[i], items, pass);
    for (size_t i = 0; i < count; i++) {
        print_row(&all[i], items);
        if (i < 2 && have_lib)
            compare(&all[i], &all[count - 1]);
        all[i].release(all[i].filter);
    }
    if (!have_lib)
        printf("             libbloom is not installed; skipped\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    printf("      items  filter                    add ns   hit ns  miss ns   false positives     MB\n");
    static const uint64_t usual[] = { 100000, 10000000, 100000000 };
    for (size_t i = 0; argc == 1 && i < sizeof usual / sizeof usual[0]; i++)
        bench(usual[i]);
    for (int i = 1; i < argc; i++)
        bench(strtoull(argv[i], NULL, 10));
    return 0;
}

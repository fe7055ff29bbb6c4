/* bench_sign.c — throughput of signing text in memory, on one thread, against reading and hashing it.
 *
 * The text is 8 MB of English-like documents of 2 KB, already normalised. Each step runs over all of it RUNS times, and
 * the least CPU time counts, since other load can only add to it. */
#include <inttypes.h>
#include <time.h>
#include <twinsift/twinsift.h>

#include "english.h"

#include "kernels/kernels.h"
#include "sketch/hash.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

enum { DOCUMENTS = 4096, BYTES = 2000, ROOM = 2 * BYTES, RUNS = 5, SLOTS = 128, WIDTH = 9 };

struct bench {
    char *texts; /* ROOM bytes per document */
    size_t length[DOCUMENTS];
    size_t bytes; /* in all */
    twin_shingler *characters, *words;
    twin_minhash *fast, *classic;
    twin_items items, spare;
    twin_items ready[2];                 /* the hashes of all documents, by characters and by words */
    size_t ready_from[2][DOCUMENTS + 1]; /* where those of a document begin */
    size_t document;                     /* the one that is being signed */
    twin_buffer folded;
    char copied[ROOM];
    uint32_t signature[SLOTS];
    uint64_t seen; /* depends on every result, so that none can be optimised away */
};

enum { CHARACTERS, WORDS }; /* of `ready` */

typedef void step(struct bench *bench, twin_text text);

static void check(twin_status status)
{
    if (status == TWIN_OK)
        return;
    fprintf(stderr, "bench_sign: %s\n", twin_status_text(status));
    exit(2);
}

/* ---- the steps */

static void read_bytes(struct bench *bench, twin_text text)
{
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof word <= text.length; i += sizeof word) {
        memcpy(&word, text.bytes + i, sizeof word);
        sum += word;
    }
    bench->seen += sum;
}

static void copy_bytes(struct bench *bench, twin_text text)
{
    memcpy(bench->copied, text.bytes, text.length);
    bench->seen += (unsigned char)bench->copied[text.length / 2];
}

static void normalise(struct bench *bench, twin_text text)
{
    check(twin_text_normalise(&bench->folded, NULL, text, TWIN_NORMAL_FOLD));
    bench->seen += bench->folded.length;
}

static void hash_windows(struct bench *bench, twin_text text)
{
    check(twin__items_reserve(&bench->items, text.length));
    size_t count = text.length - WIDTH + 1;
    twin__hash_windows(bench->items.items, twin_hash_member(TWIN_HASH_XXH3, 1), text.bytes, WIDTH, count);
    bench->seen += bench->items.items[count / 2];
}

static void make_set(struct bench *bench, twin_text text)
{
    twin_set set;
    check(twin__shingle_text(&bench->items, bench->characters, text));
    check(twin__set_make(&set, &bench->items, &bench->spare));
    bench->items.count = 0;
    bench->seen += set.count;
}

static void sign(struct bench *bench, const twin_shingler *shingler, const twin_minhash *hasher, twin_text text)
{
    check(twin__shingle_text(&bench->items, shingler, text));
    twin__minhash_sign(bench->signature, hasher, bench->items.items, bench->items.count);
    bench->seen += bench->signature[0];
}

static void sign_fast(struct bench *bench, twin_text text)
{
    sign(bench, bench->characters, bench->fast, text);
}

static void sign_classic(struct bench *bench, twin_text text)
{
    sign(bench, bench->characters, bench->classic, text);
}

static void sign_words(struct bench *bench, twin_text text)
{
    sign(bench, bench->words, bench->fast, text);
}

static void sign_ready(struct bench *bench, int kind)
{
    size_t from = bench->ready_from[kind][bench->document], end = bench->ready_from[kind][bench->document + 1];
    twin__minhash_sign(bench->signature, bench->fast, bench->ready[kind].items + from, end - from);
    bench->seen += bench->signature[0];
}

static void sign_ready_characters(struct bench *bench, twin_text text)
{
    (void)text;
    sign_ready(bench, CHARACTERS);
}

static void sign_ready_words(struct bench *bench, twin_text text)
{
    (void)text;
    sign_ready(bench, WORDS);
}

static void normalise_and_sign(struct bench *bench, twin_text text)
{
    normalise(bench, text);
    sign_fast(bench, (twin_text){ bench->folded.bytes, bench->folded.length });
}

/* ---- the clock */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Runs a step over all documents and prints its row; returns the least seconds. */
static double measure(struct bench *bench, const char *name, const char *level, step *run)
{
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double begin = cpu_seconds();
        for (size_t d = 0; d < DOCUMENTS; d++) {
            bench->document = d;
            run(bench, (twin_text){ bench->texts + d * ROOM, bench->length[d] });
        }
        double taken = cpu_seconds() - begin;
        least = taken < least ? taken : least;
    }
    printf("%-34s %-8s %10.0f %10.3f %10.0f\n", name, level, (double)bench->bytes / least / 1e6,
           least * 1e9 / (double)bench->bytes, DOCUMENTS / least / 1e3);
    return least;
}

/* Measures at every level the machine has; seconds[level] is 0 where it has none. */
static void measure_levels(double seconds[TWIN_CPU_LEVELS], struct bench *bench, const char *name, step *run)
{
    for (int level = 0; level < TWIN_CPU_LEVELS; level++) {
        seconds[level] = 0;
        if (twin_cpu_use((twin_cpu)level) == TWIN_OK)
            seconds[level] = measure(bench, name, twin_name_of(TWIN_NAMES_CPU, level), run);
    }
    check(twin_cpu_use(twin__cpu_best()));
}

/* ---- the text and the rest */

static void write_texts(struct bench *bench)
{
    struct english *english = english_create(1);
    struct tokens tokens = { 0 };
    uint64_t state = 2;
    bench->texts = allocated(malloc((size_t)DOCUMENTS * ROOM));
    for (size_t d = 0; d < DOCUMENTS; d++) {
        char *text = bench->texts + d * ROOM, *p = text;
        tokens.count = 0;
        write_body(&tokens, english, &state, BYTES, false);
        for (size_t i = 0; i < tokens.count; i++) {
            token one = tokens.items[i];
            memcpy(p, english->words[one & WORD].bytes, LONGEST_WORD);
            p += english->words[one & WORD].length;
            if (one & (COMMA | FULL_STOP))
                *p++ = one & COMMA ? ',' : '.';
            *p++ = ' ';
        }
        bench->length[d] = (size_t)(p - 1 - text);
        bench->bytes += bench->length[d];
    }
    free(tokens.items);
    free(english);
}

/* Keeps the hashes of the shingles of each document. */
static void hash_shingles(struct bench *bench, int kind, const twin_shingler *shingler)
{
    twin_items *ready = &bench->ready[kind];
    for (size_t d = 0; d < DOCUMENTS; d++) {
        check(twin__shingle_text(&bench->items, shingler, (twin_text){ bench->texts + d * ROOM, bench->length[d] }));
        check(twin__items_reserve(ready, bench->items.count));
        memcpy(ready->items + ready->count, bench->items.items, bench->items.count * sizeof *ready->items);
        ready->count += bench->items.count;
        bench->ready_from[kind][d + 1] = ready->count;
    }
}

static void prepare(struct bench *bench)
{
    twin_shingle_options shingle = { .hash = twin_hash_member(TWIN_HASH_XXH3, 1) };
    check(twin_shingle_parse(&shingle, "char:9"));
    check(twin__shingler_create(&bench->characters, shingle));
    check(twin_shingle_parse(&shingle, "word:5"));
    check(twin__shingler_create(&bench->words, shingle));
    twin_minhash_options minhash = { .sketch = TWIN_SKETCH_FAST, .slots = SLOTS, .seed = 1 };
    check(twin__minhash_create(&bench->fast, minhash));
    minhash.sketch = TWIN_SKETCH_CLASSIC;
    check(twin__minhash_create(&bench->classic, minhash));
    write_texts(bench);
    hash_shingles(bench, CHARACTERS, bench->characters);
    hash_shingles(bench, WORDS, bench->words);
}

static void clear(struct bench *bench)
{
    free(bench->texts);
    twin__shingler_free(bench->characters);
    twin__shingler_free(bench->words);
    twin__minhash_free(bench->fast);
    twin__minhash_free(bench->classic);
    twin__items_clear(&bench->items);
    twin__items_clear(&bench->spare);
    twin__items_clear(&bench->ready[CHARACTERS]);
    twin__items_clear(&bench->ready[WORDS]);
    twin_buffer_clear(&bench->folded);
}

static void judge(const char *what, double ratio, const char *wanted, bool reached)
{
    printf("%-43s %10.2f   wanted %s: %s\n", what, ratio, wanted, reached ? "reached" : "MISSED");
}

int main(void)
{
    static struct bench bench;
    double fast[TWIN_CPU_LEVELS], classic[TWIN_CPU_LEVELS], words[TWIN_CPU_LEVELS], ready[TWIN_CPU_LEVELS];
    twin_cpu best = twin__cpu_best();
    prepare(&bench);
    printf("%.1f MB of text, %d slots, one thread, least CPU time of %d\n\n", (double)bench.bytes / 1e6, SLOTS, RUNS);
    printf("%-34s %-8s %10s %10s %10s\n", "step", "level", "MB/s", "ns/byte", "1,000/s");
    measure(&bench, "read: sum of words", "", read_bytes);
    measure(&bench, "read: copy", "", copy_bytes);
    double hashing = measure(&bench, "hash every window of 9 bytes", "", hash_windows);
    measure_levels(fast, &bench, "char:9, fast sketch", sign_fast);
    measure_levels(classic, &bench, "char:9, classic", sign_classic);
    measure_levels(words, &bench, "word:5, fast sketch", sign_words);
    measure_levels(ready, &bench, "hashes of char:9, fast sketch", sign_ready_characters);
    measure_levels(ready, &bench, "hashes of word:5, fast sketch", sign_ready_words);
    measure(&bench, "char:9, sorted set", twin_name_of(TWIN_NAMES_CPU, best), make_set);
    measure(&bench, "normalise", twin_name_of(TWIN_NAMES_CPU, best), normalise);
    measure(&bench, "normalise, char:9, fast sketch", twin_name_of(TWIN_NAMES_CPU, best), normalise_and_sign);

    printf("\n");
    double gain = classic[best] / fast[best], price = fast[best] / hashing;
    judge("fast sketch, speed relative to classic", gain, ">= 3", gain >= 3);
    judge("fast sketch, time relative to hashing", price, "<= 2.5", price <= 2.5);
    double rate = (double)bench.bytes / fast[best] / 1e6;
    judge("fast sketch, MB/s per core", rate, ">= 500", rate >= 500);
    rate = (double)bench.bytes / words[best] / 1e6;
    judge("word:5, fast sketch, MB/s per core", rate, ">= 700", rate >= 700);
    fprintf(stderr, "%s", bench.seen == 0 ? "nothing was computed\n" : "");
    clear(&bench);
    return 0;
}

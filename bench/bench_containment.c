/* bench_containment.c — what a plain inverted index takes to find all pairs by containment: the yardstick for
 * twinsift pairs --measure containment.
 *
 *     cmake --preset release && cmake --build --preset release --target bench_containment twinsift
 *     build/release/bench_containment FILE.jsonl 0.9
 *     time build/release/twinsift pairs --threads 1 --copies none --measure containment --threshold 0.9 FILE.jsonl | wc -l
 *
 * All shingles are numbered, each has the list of its documents, and for each document the common shingles with all
 * earlier ones are counted. Prints how many pairs of distinct documents reach the threshold, which are as many as
 * twinsift prints, and the thread time of reading and of counting. Sets are in memory. */
#include <stdio.h>
#include <stdlib.h>

#include <twinsift/collection.h>

#include "cpu_seconds.h"

#include "collection/contents.h"

struct index {
    size_t documents, items; /* items: of all documents */
    size_t *begins;          /* of each document among ids */
    uint32_t *ids;           /* first the hashes' numbers, document after document */
    uint64_t *table;         /* hashes, by their leading bits; 0: empty */
    uint32_t *numbers;       /* of them */
    unsigned bits;
    uint32_t distinct;
};

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fputs("bench_containment: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static void check(twin_status status, const twin_error *error)
{
    if (status == TWIN_OK)
        return;
    fprintf(stderr, "bench_containment: %s\n", error->message);
    exit(2);
}

static uint32_t number_of(struct index *index, uint64_t hash)
{
    size_t mask = ((size_t)1 << index->bits) - 1, at = hash >> (64 - index->bits);
    hash += hash == 0;
    while (index->table[at] && index->table[at] != hash)
        at = (at + 1) & mask;
    if (!index->table[at]) {
        index->table[at] = hash;
        index->numbers[at] = index->distinct++;
    }
    return index->numbers[at];
}

/* Reads all sets and numbers their shingles. */
static void load(struct index *out, const twin_collection *collection)
{
    const uint32_t *distinct;
    twin_scratch scratch = { 0 };
    twin_error error = { 0 };
    *out = (struct index){ .documents = twin__collection_distinct(&distinct, collection), .bits = 10 };
    for (size_t i = 0; i < out->documents; i++)
        out->items += twin_collection_entry_of(collection, distinct[i]).size;
    while ((size_t)1 << out->bits < 2 * out->items)
        out->bits++;
    out->begins = room(out->documents + 1, sizeof *out->begins);
    out->ids = room(out->items, sizeof *out->ids);
    out->table = room((size_t)1 << out->bits, sizeof *out->table);
    out->numbers = room((size_t)1 << out->bits, sizeof *out->numbers);
    size_t at = 0;
    for (size_t i = 0; i < out->documents; i++) {
        twin_set set;
        check(twin__collection_set(&set, collection, &scratch, distinct[i], &error), &error);
        out->begins[i] = at;
        for (size_t j = 0; j < set.count; j++)
            out->ids[at++] = number_of(out, set.items[j]);
    }
    out->begins[out->documents] = at;
    twin__scratch_clear(&scratch);
}

/* Counts the pairs of each document with earlier ones, through the lists, which grow as it goes. */
static size_t count_pairs(const struct index *index, double threshold)
{
    size_t *starts = room(index->distinct + 1, sizeof *starts), pairs = 0;
    uint32_t *lengths = room(index->distinct, sizeof *lengths), *lists = room(index->items, sizeof *lists);
    uint32_t *common = room(index->documents, sizeof *common);
    for (size_t i = 0; i < index->items; i++)
        starts[index->ids[i] + 1]++;
    for (size_t i = 0; i < index->distinct; i++)
        starts[i + 1] += starts[i];
    for (size_t d = 0; d < index->documents; d++) {
        size_t size = index->begins[d + 1] - index->begins[d];
        for (size_t i = index->begins[d]; i < index->begins[d + 1]; i++) {
            uint32_t id = index->ids[i];
            for (uint32_t j = 0; j < lengths[id]; j++)
                common[lists[starts[id] + j]]++;
            lists[starts[id] + lengths[id]++] = (uint32_t)d;
        }
        for (size_t e = 0; e < d; e++) {
            size_t other = index->begins[e + 1] - index->begins[e];
            pairs += (double)common[e] / (double)(size < other ? size : other) >= threshold;
            common[e] = 0;
        }
        common[d] = 0;
    }
    free(starts);
    free(lengths);
    free(lists);
    free(common);
    return pairs;
}

int main(int argc, char **argv)
{
    twin_input *input;
    twin_collection *collection;
    twin_error error = { 0 };
    struct index index;
    if (argc != 3) {
        fputs("usage: bench_containment FILE.jsonl THRESHOLD\n", stderr);
        return 2;
    }
    double begun = cpu_seconds(), threshold = strtod(argv[2], NULL);
    check(twin_input_open(&input, (const char *const *)&argv[1], 1, (twin_input_options){ 0 }, &error), &error);
    twin_collection_options options = { .scheme = { .measure = TWIN_CONTAINMENT, .threshold = threshold },
                                        .exec = { TWIN_EXEC_SERIAL, 1 },
                                        .set_sizes = true };
    check(twin_collection_read(&collection, input, options, &error), &error);
    load(&index, collection);
    double loaded = cpu_seconds();
    size_t pairs = count_pairs(&index, threshold);
    printf("documents %zu, shingles %zu (%zu different), pairs %zu; reading %.2f s, counting %.2f s\n",
           index.documents, index.items, (size_t)index.distinct, pairs, loaded - begun, cpu_seconds() - loaded);
    free(index.begins);
    free(index.ids);
    free(index.table);
    free(index.numbers);
    twin_collection_free(collection);
    twin_input_free(input);
    return 0;
}

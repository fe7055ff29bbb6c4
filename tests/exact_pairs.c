/* exact_pairs.c — all similar pairs of a small collection, by exhaustive comparison: the ground truth for tests.
 *
 *     exact_pairs FILE.jsonl char|word WIDTH THRESHOLD [containment]
 *
 * By Jaccard similarity, or by containment of the smaller set in the larger.
 * It shares no code with the library: its own reader, good for what twinsift-generate writes; shingles kept as the
 * strings they are; no signatures, no bands. For each document it counts the shingles it has in common with every
 * earlier one. Prints pairs as twinsift pairs --copies all does, in the same order. */
#include <stdint.h>

#include "slow_reader.h"

struct string {
    const char *bytes;
    size_t length;
};

struct document {
    char *id, *text;
    uint32_t *set; /* the numbers of its shingles, each once */
    size_t count;
};

/* Every different shingle has a number: its place in `all`. */
struct shingles {
    struct string *all;
    uint32_t *last; /* the last document that had it, counted from 1 */
    size_t count, capacity;
    uint32_t *table; /* numbers plus one by the string's hash; 0 is an empty place */
    size_t slots;    /* a power of two, at least twice the count */
};

/* ---- reading */

static size_t read_documents(struct document **out, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        broken("the file cannot be opened");
    struct document *documents = NULL;
    char *line = NULL;
    size_t count = 0, room = 0;
    while (getline(&line, &room, file) > 0) {
        documents = allocated(realloc(documents, (count + 1) * sizeof *documents));
        documents[count] =
            (struct document){ .id = read_field(line, "{\"id\": \""), .text = read_field(line, "\", \"text\": \"") };
        normalise(documents[count++].text);
    }
    free(line);
    fclose(file);
    *out = documents;
    return count;
}

/* ---- shingles */

/* FNV-1a; the strings decide, so a weak hash only takes longer. */
static uint64_t hash(struct string string)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < string.length; i++)
        h = (h ^ (unsigned char)string.bytes[i]) * 0x100000001B3u;
    return h ^ h >> 29;
}

/* The place in the table that has the string, or where it would go. */
static uint32_t *find_place(const struct shingles *shingles, struct string string)
{
    for (size_t i = hash(string);; i++) {
        uint32_t *place = &shingles->table[i & (shingles->slots - 1)];
        if (*place == 0)
            return place;
        struct string other = shingles->all[*place - 1];
        if (other.length == string.length && memcmp(other.bytes, string.bytes, string.length) == 0)
            return place;
    }
}

static void grow(struct shingles *shingles)
{
    shingles->capacity = shingles->capacity ? 2 * shingles->capacity : 1024;
    shingles->all = allocated(realloc(shingles->all, shingles->capacity * sizeof *shingles->all));
    shingles->last = allocated(realloc(shingles->last, shingles->capacity * sizeof *shingles->last));
    shingles->slots = 2 * shingles->capacity;
    free(shingles->table);
    shingles->table = allocated(calloc(shingles->slots, sizeof *shingles->table));
    for (size_t i = 0; i < shingles->count; i++)
        *find_place(shingles, shingles->all[i]) = (uint32_t)i + 1;
}

static uint32_t number_of(struct shingles *shingles, struct string string)
{
    if (shingles->count == shingles->capacity)
        grow(shingles);
    uint32_t *place = find_place(shingles, string);
    if (*place == 0) {
        shingles->all[shingles->count] = string;
        shingles->last[shingles->count] = 0;
        *place = (uint32_t)++shingles->count;
    }
    return *place - 1;
}

/* A unit is a character, or a word; here the next one begins. NULL past the last. */
static const char *next_unit(const char *p, bool words)
{
    if (words) {
        p = strchr(p, ' ');
        return p ? p + 1 : NULL;
    }
    do
        p++;
    while ((*p & 0xC0) == 0x80);
    return *p ? p : NULL;
}

/* Where the unit at p ends. */
static const char *unit_end(const char *p, bool words)
{
    const char *next = next_unit(p, words);
    return next ? next - words : p + strlen(p);
}

static void make_set(struct document *document, struct shingles *shingles, uint32_t stamp, bool words, size_t width)
{
    const char *first = document->text, *last = first;
    document->set = allocated(calloc(strlen(first) + 1, sizeof *document->set));
    if (*first == '\0')
        return;
    for (size_t i = 1; i < width && last; i++)
        last = next_unit(last, words);
    for (; last; first = next_unit(first, words), last = next_unit(last, words)) {
        uint32_t number = number_of(shingles, (struct string){ first, (size_t)(unit_end(last, words) - first) });
        if (shingles->last[number] == stamp)
            continue;
        shingles->last[number] = stamp;
        document->set[document->count++] = number;
    }
    if (document->count == 0) /* shorter than one shingle: it is one as a whole */
        document->set[document->count++] =
            number_of(shingles, (struct string){ document->text, strlen(document->text) });
}

/* ---- pairs */

/* The documents that have a shingle, in order. */
struct postings {
    uint32_t *items;
    uint32_t count, capacity;
};

static void add_posting(struct postings *postings, uint32_t document)
{
    if (postings->count == postings->capacity) {
        postings->capacity = postings->capacity ? 2 * postings->capacity : 2;
        postings->items = allocated(realloc(postings->items, postings->capacity * sizeof *postings->items));
    }
    postings->items[postings->count++] = document;
}

/* A pair as it is printed: later by b than by a. */
struct pair {
    uint32_t a, b;
    double similarity;
};

static int by_order(const void *left, const void *right)
{
    const struct pair *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Which part of both sets, or of the smaller, is common. */
static double similarity_of(const struct document *a, const struct document *b, size_t common, bool contained)
{
    size_t smaller = a->count < b->count ? a->count : b->count;
    return (double)common / (double)(contained ? smaller : a->count + b->count - common);
}

static size_t compare_all(struct pair **out, const struct document *documents, size_t count, size_t shingles,
                          double threshold, bool contained)
{
    struct postings *postings = allocated(calloc(shingles + 1, sizeof *postings));
    uint32_t *common = allocated(calloc(count + 1, sizeof *common));
    struct pair *pairs = NULL;
    size_t found = 0;
    for (uint32_t b = 0; b < count; b++) {
        memset(common, 0, count * sizeof *common);
        for (size_t i = 0; i < documents[b].count; i++) {
            struct postings *list = &postings[documents[b].set[i]];
            for (uint32_t j = 0; j < list->count; j++)
                common[list->items[j]]++;
            add_posting(list, b);
        }
        for (uint32_t a = 0; a < b; a++) {
            if (common[a] == 0)
                continue;
            double similarity = similarity_of(&documents[a], &documents[b], common[a], contained);
            if (similarity < threshold)
                continue;
            pairs = allocated(realloc(pairs, (found + 1) * sizeof *pairs));
            pairs[found++] = (struct pair){ a, b, similarity };
        }
    }
    for (size_t i = 0; i < shingles; i++)
        free(postings[i].items);
    free(postings);
    free(common);
    if (found)
        qsort(pairs, found, sizeof *pairs, by_order);
    *out = pairs;
    return found;
}

int main(int argc, char **argv)
{
    bool contained = argc == 6 && strcmp(argv[5], "containment") == 0;
    if (argc != 5 && !contained)
        broken("usage: exact_pairs FILE.jsonl char|word WIDTH THRESHOLD [containment]");
    bool words = strcmp(argv[2], "word") == 0;
    size_t width = strtoul(argv[3], NULL, 10);
    double threshold = strtod(argv[4], NULL);
    struct document *documents;
    size_t count = read_documents(&documents, argv[1]);
    struct shingles shingles = { 0 };
    for (size_t i = 0; i < count; i++)
        make_set(&documents[i], &shingles, (uint32_t)i + 1, words, width);

    struct pair *pairs;
    size_t found = compare_all(&pairs, documents, count, shingles.count, threshold, contained);
    for (size_t i = 0; i < found; i++)
        printf("%s\t%s\t%.4f\n", documents[pairs[i].a].id, documents[pairs[i].b].id, pairs[i].similarity);

    free(pairs);
    for (size_t i = 0; i < count; i++) {
        free(documents[i].id);
        free(documents[i].text);
        free(documents[i].set);
    }
    free(documents);
    free(shingles.all);
    free(shingles.last);
    free(shingles.table);
    return 0;
}

/* gold.c — ground truth: all pairs of texts with at least a given indel ratio.
 *
 * An insertion or deletion changes one letter of a text's bag of letters, and at most three entries of its bag of
 * letter pairs. Texts whose bags differ by more than the cut-off allows are skipped without a comparison, and no pair
 * is lost. The result is cached in a file. */
#include "edit/edit.h"
#include "support/usage.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { LETTERS = 48 /* 36, and room for whole vectors */, PAIRS = 36 * 36, LINE = 256 };

struct bag {
    uint8_t letters[LETTERS], pairs[PAIRS]; /* counts, capped at 255: capping only makes bags more similar */
};

struct search {
    const twin_text *texts;
    const struct bag *bags;
    size_t count;
    double at_least;
    struct scored_pairs *found; /* per worker */
    twin_edit_scratch *scratch; /* per worker */
};

static void count_up(uint8_t *count)
{
    if (*count < UINT8_MAX)
        ++*count;
}

/* Of a letter or a digit. */
static unsigned number_of(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a') : 26 + (unsigned)(c - '0');
}

static void fill_bag(struct bag *out, twin_text text)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < text.length; i++) {
        unsigned now = number_of(text.bytes[i]);
        count_up(&out->letters[now]);
        if (i > 0)
            count_up(&out->pairs[number_of(text.bytes[i - 1]) * 36 + now]);
    }
}

static unsigned difference(const uint8_t *a, const uint8_t *b, size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (unsigned)abs(a[i] - b[i]);
    return sum;
}

static bool may_match(const struct search *s, size_t a, size_t b)
{
    double both = (double)(s->texts[a].length + s->texts[b].length), most = (1 - s->at_least) * both + 1e-9;
    double longer = (double)(s->texts[a].length > s->texts[b].length ? s->texts[a].length : s->texts[b].length);
    if (2 * longer - both > most || both == 0)
        return false;
    return difference(s->bags[a].letters, s->bags[b].letters, LETTERS) <= most &&
           difference(s->bags[a].pairs, s->bags[b].pairs, PAIRS) <= 3 * most;
}

static void compare_some(void *context, size_t begin, size_t end, int worker)
{
    const struct search *s = context;
    for (size_t a = begin; a < end; a++)
        for (size_t b = a + 1; b < s->count; b++) {
            double ratio;
            if (!may_match(s, a, b))
                continue;
            expect(
                twin__edit_ratio(&ratio, &s->scratch[worker], s->texts[a], s->texts[b], TWIN_EDIT_BYTES, s->at_least),
                "indel ratio", NULL);
            if (ratio >= s->at_least)
                scored_add(&s->found[worker], (uint32_t)a, (uint32_t)b, (float)ratio);
        }
}

static void compare_all(struct scored_pairs *out, const struct lab *lab, const twin_text *texts, size_t count,
                        double at_least)
{
    size_t workers = (size_t)lab->exec.workers;
    struct bag *bags = need(count, sizeof *bags);
    struct search s = {
        texts, bags, count, at_least, need(workers, sizeof *s.found), need(workers, sizeof *s.scratch)
    };
    for (size_t i = 0; i < count; i++)
        fill_bag(&bags[i], texts[i]);
    twin_exec_for(lab->exec, count, 16, compare_some, &s);
    for (size_t w = 0; w < workers; w++)
        twin__edit_scratch_clear(&s.scratch[w]);
    scored_gather(out, s.found, workers);
    free(s.scratch);
    free(bags);
}

static uint64_t checksum(const twin_text *texts, size_t count, double at_least)
{
    twin_hash hash = { .family = TWIN_HASH_XXH3 };
    hash.seed = (uint64_t)(at_least * 1e6);
    for (size_t i = 0; i < count; i++)
        hash.seed = twin_hash_bytes(hash, texts[i].bytes, texts[i].length);
    return hash.seed;
}

/* Parses a line of the cache; false when it is malformed. */
static bool load_pair(struct scored_pairs *out, const char *line)
{
    char *at;
    unsigned long a = strtoul(line, &at, 10), b = strtoul(at, &at, 10);
    float ratio = strtof(at, &at);
    if (*at != '\n' || a >= b || b > UINT32_MAX)
        return false;
    scored_add(out, (uint32_t)a, (uint32_t)b, ratio);
    return true;
}

/* Loads the cache if it was made from the same texts and is complete. */
static bool load(struct scored_pairs *out, double *taken, const char *path, uint64_t sum)
{
    char line[LINE] = "", *at = line;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool good = fgets(line, sizeof line, file) && line[0] == '#' && strtoull(line + 1, &at, 16) == sum;
    unsigned long long pairs = strtoull(at, &at, 10);
    *taken = strtod(at, &at);
    while (good && fgets(line, sizeof line, file))
        good = load_pair(out, line);
    good = good && out->count == pairs;
    if (!good)
        out->count = 0;
    fclose(file);
    return good;
}

static void store(const struct scored_pairs *pairs, double taken, const struct lab *lab, const char *name,
                  uint64_t sum)
{
    char path[PATH_ROOM];
    FILE *file = file_create(path, lab, name, ".tsv");
    fprintf(file, "# %llx %zu %.3f\n", (unsigned long long)sum, pairs->count, taken);
    for (size_t i = 0; i < pairs->count; i++)
        fprintf(file, "%u\t%u\t%.6f\n", pairs->pairs[i].a, pairs->pairs[i].b, pairs->pairs[i].score);
    file_close(file, path);
}

void gold_pairs(struct scored_pairs *out, double *taken, const struct lab *lab, const char *name,
                const twin_text *texts, size_t count, size_t n, double at_least)
{
    char path[PATH_ROOM];
    twin_text *cut = need(count, sizeof *cut);
    for (size_t i = 0; i < count; i++)
        cut[i] = text_cut(texts[i], n);
    uint64_t sum = checksum(cut, count, at_least);
    *out = (struct scored_pairs){ 0 };
    snprintf(path, sizeof path, "%s/%s.tsv", lab->out, name);
    if (!load(out, taken, path, sum)) {
        double start = seconds();
        compare_all(out, lab, cut, count, at_least);
        *taken = seconds() - start;
        store(out, *taken, lab, name, sum);
    }
    free(cut);
}

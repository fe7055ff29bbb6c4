/* exact_edit_pairs.c — all pairs of texts with at least an indel ratio, by exhaustive comparison: the ground truth
 * for tests.
 *
 *     exact_edit_pairs FILE.jsonl RATIO
 *
 * It shares no code with the library: its own reader, good for lines {"id": "…", "text": "…"} of ASCII, and a longest
 * common subsequence of its own (Allison, Dix 1986: a row of the table as the bits of long numbers), which main()
 * first holds against the textbook table. Texts are sorted by length; a pair is passed over when its lengths, or the
 * counts of its characters, already show that it is too far apart. Prints pairs as twinsift pairs --copies all does,
 * in that order. */
#include <stdint.h>

#include "slow_reader.h"

enum { ALPHABET = 128 };

struct document {
    char *id, *text;
    uint32_t number, length;
    uint16_t counts[ALPHABET];
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
        struct document *d = &documents[count];
        *d = (struct document){ .id = read_field(line, "{\"id\": \""),
                                .text = read_field(line, "\", \"text\": \""),
                                .number = (uint32_t)count++ };
        normalise(d->text);
        d->length = (uint32_t)strlen(d->text);
        if (d->length > UINT16_MAX)
            broken("a text is too long to count its characters");
        for (uint32_t i = 0; i < d->length; i++) {
            if ((unsigned char)d->text[i] >= ALPHABET)
                broken("a text is not ASCII");
            d->counts[(unsigned char)d->text[i]]++;
        }
    }
    free(line);
    fclose(file);
    *out = documents;
    return count;
}

/* ---- the longest common subsequence */

/* The bits of each character's places in a text. */
struct places {
    uint64_t *bits; /* `words` for each character */
    size_t words;
};

static void find_places(struct places *places, const char *text, size_t length)
{
    places->words = length / 64 + 1;
    places->bits = allocated(realloc(places->bits, ALPHABET * places->words * sizeof *places->bits));
    memset(places->bits, 0, ALPHABET * places->words * sizeof *places->bits);
    for (size_t i = 0; i < length; i++)
        places->bits[(unsigned char)text[i] * places->words + i / 64] |= (uint64_t)1 << i % 64;
}

/* V' = (V + (V & M)) | (V & ~M) for each character of the text, M being its places; at the end the zeros of V count. */
static size_t common(uint64_t *row, const struct places *places, size_t length, const char *text)
{
    memset(row, 0xFF, places->words * sizeof *row);
    for (const char *p = text; *p; p++) {
        const uint64_t *mask = places->bits + (unsigned char)*p * places->words;
        uint64_t carry = 0;
        for (size_t w = 0; w < places->words; w++) {
            uint64_t both = row[w] & mask[w], sum;
            bool over = __builtin_add_overflow(row[w], both, &sum);
            over |= __builtin_add_overflow(sum, carry, &sum);
            row[w] = sum | (row[w] & ~mask[w]);
            carry = over;
        }
    }
    size_t zeros = 0;
    for (size_t i = 0; i < length; i++)
        zeros += !(row[i / 64] >> i % 64 & 1);
    return zeros;
}

static size_t textbook(const char *a, const char *b)
{
    enum { MOST = 400 };
    static uint16_t table[MOST + 1][MOST + 1];
    size_t n = strlen(a), m = strlen(b);
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            uint16_t up = table[i - 1][j], left = table[i][j - 1];
            table[i][j] = a[i - 1] == b[j - 1] ? (uint16_t)(table[i - 1][j - 1] + 1) : up > left ? up : left;
        }
    return table[n][m];
}

/* Two thousand random pairs of up to 400 characters, of 2 to 17 letters. */
static void check_common(void)
{
    uint64_t state = 1, row[8];
    struct places places = { 0 };
    for (int round = 0; round < 2000; round++) {
        char texts[2][401];
        size_t lengths[2];
        for (int t = 0; t < 2; t++) {
            lengths[t] = (state >> 33) % 401;
            for (size_t i = 0; i < lengths[t]; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                texts[t][i] = (char)('a' + (state >> 40) % (2 + (unsigned)round % 16));
            }
            texts[t][lengths[t]] = '\0';
            state = state * 6364136223846793005u + 1442695040888963407u;
        }
        find_places(&places, texts[0], lengths[0]);
        if (common(row, &places, lengths[0], texts[1]) != textbook(texts[0], texts[1]))
            broken("its own common subsequence is wrong");
    }
    free(places.bits);
}

/* ---- pairs */

struct pair {
    const struct document *a, *b;
    double ratio;
};

static int by_length(const void *left, const void *right)
{
    const struct document *x = left, *y = right;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int by_order(const void *left, const void *right)
{
    const struct pair *x = left, *y = right;
    if (x->a != y->a)
        return x->a->number < y->a->number ? -1 : 1;
    return x->b->number < y->b->number ? -1 : x->b != y->b;
}

/* The indels there must be, by the counts of characters. */
static unsigned least_indels(const struct document *a, const struct document *b)
{
    unsigned sum = 0;
    for (size_t c = 0; c < ALPHABET; c++)
        sum += (unsigned)abs(a->counts[c] - b->counts[c]);
    return sum;
}

static double ratio_of(size_t indels, size_t total)
{
    return total ? (double)(total - indels) / (double)total : 1;
}

static size_t compare_all(struct pair **out, const struct document *documents, size_t count, double ratio)
{
    struct places places = { 0 };
    struct pair *pairs = NULL;
    size_t found = 0, longest = count ? documents[count - 1].length : 0;
    uint64_t *row = allocated(malloc((longest / 64 + 1) * sizeof *row));
    for (size_t i = 0; i < count; i++) {
        const struct document *x = &documents[i];
        bool placed = false;
        for (size_t j = i + 1; j < count; j++) {
            const struct document *y = &documents[j];
            size_t total = x->length + y->length;
            if (ratio_of(y->length - x->length, total) < ratio)
                break;
            if (ratio_of(least_indels(x, y), total) < ratio)
                continue;
            if (!placed)
                find_places(&places, x->text, x->length);
            placed = true;
            double exact = ratio_of(total - 2 * common(row, &places, x->length, y->text), total);
            if (exact < ratio)
                continue;
            pairs = allocated(realloc(pairs, (found + 1) * sizeof *pairs));
            bool first = x->number < y->number;
            pairs[found++] = (struct pair){ first ? x : y, first ? y : x, exact };
        }
    }
    free(places.bits);
    free(row);
    if (found)
        qsort(pairs, found, sizeof *pairs, by_order);
    *out = pairs;
    return found;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        broken("usage: exact_edit_pairs FILE.jsonl RATIO");
    check_common();
    struct document *documents;
    size_t count = read_documents(&documents, argv[1]);
    if (count)
        qsort(documents, count, sizeof *documents, by_length);
    struct pair *pairs;
    size_t found = compare_all(&pairs, documents, count, strtod(argv[2], NULL));
    for (size_t i = 0; i < found; i++)
        printf("%s\t%s\t%.4f\n", pairs[i].a->id, pairs[i].b->id, pairs[i].ratio);
    free(pairs);
    for (size_t i = 0; i < count; i++) {
        free(documents[i].id);
        free(documents[i].text);
    }
    free(documents);
    return 0;
}

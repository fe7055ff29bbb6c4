/* poison.c — writes documents that attack a hash that is public: xxh3 with seed 1, which was the default of every
 * index.
 *
 *     poison bands 64 | 35    20 unrelated documents with 45 characters in common that own the slots of the first band, of
 *                             signatures of whole hashes (pairs) or of their leading 35 bits (an index that keeps sets)
 *     poison bits             two documents without a common word whose words agree in the leading 35 bits of their hashes
 *
 * Both are found by trial: of many random shingles the ones with the least values in a slot, and of many random words
 * those whose hashes agree. Against another seed, or a key, neither does any harm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>

#include "base/random.h"

#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

enum { SLOTS = 128, ROWS = 5, WIDTH = 9, TRIED = 1 << 17, GROUP = 1 << 10 };

static const twin_hash public = { .family = TWIN_HASH_XXH3, .seed = 1 };

static void random_letters(char *out, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (char)('a' + twin__random_below(random, 26));
}

/* ---- bands ---- */

static char shingles[TRIED][WIDTH];
static uint64_t items[TRIED];

/* The one of items first .. end-1 that gives `slot` its least value. */
static size_t owner_of(const twin_minhash *hasher, size_t slot, uint32_t least, size_t first, size_t end)
{
    uint32_t signature[SLOTS];
    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;
        twin__minhash_sign(signature, hasher, items + first, middle - first);
        if (signature[slot] == least)
            end = middle;
        else
            first = middle;
    }
    return first;
}

/* Each of the documents is mostly its own. */
static void write_documents(const char *poison, size_t length)
{
    uint64_t random = 3;
    for (int i = 0; i < 20; i++) {
        char text[1500];
        random_letters(text, sizeof text, &random);
        printf("{\"id\":%d,\"text\":\"%.*s %.*s\"}\n", i, (int)sizeof text, text, (int)length, poison);
    }
}

static int poison_bands(unsigned bits)
{
    char poison[ROWS * WIDTH];
    uint32_t least[SLOTS];
    uint64_t random = 5;
    twin_minhash *hasher;
    if (twin__minhash_create(&hasher, (twin_minhash_options){ .slots = SLOTS, .seed = 1 }) != TWIN_OK)
        return 1;
    for (size_t i = 0; i < TRIED; i++) {
        random_letters(shingles[i], WIDTH, &random);
        items[i] = twin_hash_bytes(public, shingles[i], WIDTH) & UINT64_MAX << (64 - bits);
    }
    twin__minhash_sign(least, hasher, items, TRIED);
    for (size_t slot = 0; slot < ROWS; slot++)
        memcpy(poison + slot * WIDTH, shingles[owner_of(hasher, slot, least[slot], 0, TRIED)], WIDTH);
    twin__minhash_free(hasher);
    write_documents(poison, sizeof poison);
    return 0;
}

/* ---- bits ---- */

enum { WORDS = 1 << 21, WORD = 8, KEPT_BITS = 35 };

struct word {
    uint64_t hash;
    char letters[WORD];
};
static struct word words[WORDS];

static int by_hash(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void write_side(char id, size_t side)
{
    printf("{\"id\":\"%c\",\"text\":\"", id);
    for (size_t i = 0; i + 1 < WORDS; i++) {
        bool agree = words[i].hash >> (64 - KEPT_BITS) == words[i + 1].hash >> (64 - KEPT_BITS);
        if (!agree || words[i].hash == words[i + 1].hash)
            continue;
        printf("%.*s ", WORD, words[i + side].letters);
        i++;
    }
    puts("\"}");
}

static int poison_bits(void)
{
    uint64_t random = 9;
    twin_shingler *shingler;
    twin_items hashes = { 0 };
    twin_shingle_options options = { .kind = TWIN_SHINGLE_WORD, .width = 1, .hash = public };
    if (twin__shingler_create(&shingler, options) != TWIN_OK)
        return 1;
    for (size_t i = 0; i < WORDS; i++) {
        random_letters(words[i].letters, WORD, &random);
        hashes.count = 0;
        if (twin__shingle_text(&hashes, shingler, (twin_text){ words[i].letters, WORD }) != TWIN_OK ||
            hashes.count != 1)
            return 1;
        words[i].hash = hashes.items[0];
    }
    twin__shingler_free(shingler);
    twin__items_clear(&hashes);
    qsort(words, WORDS, sizeof *words, by_hash);
    write_side('A', 0);
    write_side('B', 1);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "bands") == 0)
        return poison_bands(strcmp(argv[2], "35") == 0 ? 35 : 64);
    if (argc == 2 && strcmp(argv[1], "bits") == 0)
        return poison_bits();
    fprintf(stderr, "usage: poison bands 64|35, poison bits\n");
    return 2;
}

/* lookalike.c — signatures of messages, and the nearest ones.
 *
 * A signature has 128 slots of one byte: the low byte of a MinHash slot. The first 112 are of the words. Unequal slots agree by
 * chance once in 256, which the similarity makes up for. The last 16 are of the structure of HTML: of every five elements that
 * begin one after the other, whatever is in them. So the same template with other words and links is known. The nearest messages are found by comparing with all that are remembered: no candidate is
 * missed, nothing but the signatures has to be stored, and 100,000 take about a millisecond. When only close ones matter,
 * the first 16 slots, which lie apart, decide first; that reads an eighth of the memory. */
#include "mail/remembered.h"

#include <string.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "sketch/minhash.h"

/* Almost equal: what two reports of one campaign look like. */
static const double COPY = 0.9;

/* Of 16 slots so many agree. A message of similarity .8 passes with probability .999 (binomial), one of .3 with .026. Of the
 * structure: one of .95 passes with .96, one of .6 with .02. */
enum { NEAR_HEAD = 8, ALIKE_SHAPE = 14 };

/* Elements in a row; so many different ones tell a template from a page of paragraphs. */
enum { NO_SHAPE = 0xff, ROW = 5, LEAST_ROWS = 16, WORD_SLOTS = TWIN__MAIL_HEAD + TWIN__MAIL_TAIL };

struct twin__mail_signature twin__mail_sign(const twin_minhash *hasher, const struct twin__features *features)
{
    struct twin__mail_signature out;
    uint64_t items[512];
    uint32_t slots[TWIN__MAIL_SLOTS], part[TWIN__MAIL_SLOTS];
    memset(slots, 0xff, sizeof slots); /* the signature of the empty set; that of a union is the least of each slot */
    for (int b = TWIN__SEEN_WORDS; b <= TWIN__OTHER_WORDS; b++)
        for (uint32_t done = 0; done < features->counts[b];) {
            uint32_t count = 0;
            while (count < 512 && done < features->counts[b])
                items[count++] = features->places[b][done++];
            twin__minhash_sign(part, hasher, items, count);
            twin__minhash_merge(slots, part, TWIN__MAIL_SLOTS);
        }
    for (int i = 0; i < TWIN__MAIL_SLOTS; i++)
        out.slots[i] = (uint8_t)slots[i];
    return out;
}

/* Whether there are many different rows. */
static bool has_shape(const uint64_t *rows, size_t count)
{
    uint64_t seen[LEAST_ROWS];
    size_t different = 0;
    for (size_t i = 0; i < count && different < LEAST_ROWS; i++) {
        size_t k = 0;
        while (k < different && seen[k] != rows[i])
            k++;
        if (k == different)
            seen[different++] = rows[i];
    }
    return different == LEAST_ROWS;
}

void twin__mail_sign_shape(struct twin__mail_signature *out, const twin_minhash *hasher, const uint64_t *elements,
                           size_t count)
{
    uint64_t rows[512];
    uint32_t slots[TWIN__MAIL_SLOTS];
    size_t most = sizeof rows / sizeof rows[0], wanted = count >= ROW ? count - ROW + 1 : 0;
    size_t made = wanted < most ? wanted : most;
    for (size_t i = 0; i < made; i++) {
        rows[i] = 0;
        for (size_t k = 0; k < ROW; k++)
            rows[i] = twin__mix(rows[i] ^ elements[i + k]);
    }
    memset(out->slots + WORD_SLOTS, NO_SHAPE, TWIN__MAIL_SHAPE);
    if (!has_shape(rows, made))
        return;
    twin__minhash_sign(slots, hasher, rows, made);
    for (int i = WORD_SLOTS; i < TWIN__MAIL_SLOTS; i++)
        out->slots[i] = (uint8_t)slots[i];
}

static unsigned agreement(const uint8_t *a, const uint8_t *b, unsigned count)
{
    return (unsigned)twin__kernels()->agree_bytes(a, b, count);
}

/* The share of equal items, given how many slots agree. */
static double similarity_of(unsigned equal)
{
    double share = (double)equal / WORD_SLOTS, chance = 1 / 256.0;
    return share > chance ? (share - chance) / (1 - chance) : 0;
}

double twin__mail_similarity(const struct twin__mail_signature *a, const struct twin__mail_signature *b)
{
    return similarity_of(agreement(a->slots, b->slots, WORD_SLOTS));
}

/* Puts a message among the nearest. The latest come first among equals, because numbers are visited from the latest. */
static void insert(struct twin__neighbours *out, uint64_t number, double similarity)
{
    out->copies += similarity >= COPY;
    uint32_t i = out->count;
    if (i == TWIN__MAIL_NEIGHBOURS && out->similarities[i - 1] >= similarity)
        return;
    if (i == TWIN__MAIL_NEIGHBOURS)
        i--;
    else
        out->count++;
    for (; i > 0 && out->similarities[i - 1] < similarity; i--) {
        out->similarities[i] = out->similarities[i - 1];
        out->numbers[i] = out->numbers[i - 1];
    }
    out->similarities[i] = similarity;
    out->numbers[i] = number;
}

/* ---- the nearest */

enum {
    PART = 1024, /* heads that are compared at a time; of what is lent a block */
    /* Messages whose heads agree that are compared as a whole, the latest first: a million copies take no more time. 20
     * copies count as much as any number. */
    MOST_COMPARED = 4096,
};

/* What is looked for. */
struct search {
    const struct twin__mail_signature *signature;
    unsigned least; /* slots of the head that agree */
    size_t left;    /* messages that may still be compared */
    bool has_shape;
};

/* Counts a message with the structure that is looked for; the latest come first. */
static void count_alike(struct twin__neighbours *out, const struct twin__remembered *r, uint64_t number,
                        const struct search *search)
{
    const struct twin__mail_record *record = twin__remembered_at(r, number);
    struct twin__neighbours *of = &out[record->label];
    if (record->flags & TWIN__MAIL_REMOVED)
        return;
    if (of->alike++ == 0) {
        struct twin__mail_signature known = twin__remembered_signature(r, number);
        of->alike_number = number;
        of->alike_similarity = twin__mail_similarity(&known, search->signature);
    }
}

/* Compares a message whose head agrees. */
static void compare(struct twin__neighbours *out, const struct twin__remembered *r, uint64_t number,
                    struct search *search)
{
    const struct twin__mail_record *record = twin__remembered_at(r, number);
    const uint8_t *slots = search->signature->slots;
    if (record->flags & TWIN__MAIL_REMOVED)
        return;
    unsigned equal =
        agreement(twin__remembered_entry(r, TWIN__MAIL_HEADS, number), slots, TWIN__MAIL_HEAD) +
        agreement(twin__remembered_entry(r, TWIN__MAIL_TAILS, number), slots + TWIN__MAIL_HEAD, TWIN__MAIL_TAIL);
    insert(&out[record->label], number, similarity_of(equal));
    search->left--;
}

/* Where the messages before `end` begin whose entries follow each other. */
static uint64_t begin_of_part(const struct twin__remembered *r, uint64_t end)
{
    uint64_t most = r->lender ? (end - 1) % TWIN__MAIL_BLOCK + 1 : PART;
    return end - r->first < most ? r->first : end - most;
}

static void find_heads(struct twin__neighbours *out, const struct twin__remembered *r, struct search *search)
{
    uint32_t found[PART];
    for (uint64_t begin, end = r->first + r->count; end > r->first && search->left; end = begin) {
        begin = begin_of_part(r, end);
        size_t count = twin__kernels()->near_heads(found, twin__remembered_entry(r, TWIN__MAIL_HEADS, begin),
                                                   (size_t)(end - begin), search->signature->slots, search->least);
        while (count > 0 && search->left)
            compare(out, r, begin + found[--count], search);
    }
}

static void find_alike(struct twin__neighbours *out, const struct twin__remembered *r, const struct search *search)
{
    uint32_t found[PART];
    for (uint64_t begin, end = r->first + r->count; end > r->first && search->has_shape; end = begin) {
        begin = begin_of_part(r, end);
        size_t count =
            twin__kernels()->near_heads(found, twin__remembered_entry(r, TWIN__MAIL_SHAPES, begin),
                                        (size_t)(end - begin), search->signature->slots + WORD_SLOTS, ALIKE_SHAPE);
        while (count > 0)
            count_alike(out, r, begin + found[--count], search);
    }
}

void twin__remembered_nearest(struct twin__neighbours out[TWIN__MAIL_MAX_LABELS],
                              const struct twin__remembered *remembered, const struct twin__mail_signature *signature,
                              bool near)
{
    uint8_t none[TWIN__MAIL_SHAPE];
    memset(none, NO_SHAPE, sizeof none);
    bool has_shape = memcmp(signature->slots + WORD_SLOTS, none, sizeof none) != 0;
    struct search search = { signature, near ? NEAR_HEAD : 0, near ? MOST_COMPARED : SIZE_MAX, has_shape && near };
    memset(out, 0, TWIN__MAIL_MAX_LABELS * sizeof *out);
    find_heads(out, remembered, &search);
    find_alike(out, remembered, &search);
}

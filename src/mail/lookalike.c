/* lookalike.c — signatures of messages, and the nearest ones.
 *
 * A signature has 128 slots of one byte: the low byte of a MinHash slot. Unequal slots agree by chance once in 256, which
 * the similarity makes up for. The nearest messages are found by comparing with all that are remembered: no candidate is
 * missed, nothing but the signatures has to be stored, and 100,000 take about a millisecond. When only close ones matter,
 * the first 16 slots, which lie apart, decide first; that reads an eighth of the memory. */
#include "mail/remembered.h"

#include <string.h>

#include "kernels/kernels.h"
#include "sketch/minhash.h"

/* Almost equal: what two reports of one campaign look like. */
static const double COPY = 0.9;

/* Of 16 slots so many agree. A message of similarity .8 passes with probability .999 (binomial), one of .3 with .026. */
enum { NEAR_HEAD = 8 };

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

static unsigned agreement(const uint8_t *a, const uint8_t *b, unsigned count)
{
    return (unsigned)twin__kernels()->agree_bytes(a, b, count);
}

/* The share of equal items, given how many slots agree. */
static double similarity_of(unsigned equal)
{
    double share = (double)equal / TWIN__MAIL_SLOTS, chance = 1 / 256.0;
    return share > chance ? (share - chance) / (1 - chance) : 0;
}

double twin__mail_similarity(const struct twin__mail_signature *a, const struct twin__mail_signature *b)
{
    return similarity_of(agreement(a->slots, b->slots, TWIN__MAIL_SLOTS));
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
    PART = 1024, /* heads that are compared at a time */
    /* Messages whose heads agree that are compared as a whole, the latest first: a million copies take no more time. 20
     * copies count as much as any number. */
    MOST_COMPARED = 4096,
};

/* What is looked for. */
struct search {
    const struct twin__mail_signature *signature;
    unsigned least; /* slots of the head that agree */
    size_t left;    /* messages that may still be compared */
};

static void find_in_memory(struct twin__neighbours *out, const struct twin__remembered *r, struct search *search)
{
    uint32_t found[PART];
    const uint8_t *slots = search->signature->slots;
    const uint8_t(*heads)[TWIN__MAIL_HEAD] = (const uint8_t(*)[TWIN__MAIL_HEAD])r->heads;
    for (size_t end = r->start + r->count; end > r->start && search->left;) {
        size_t left = end - r->start, begin = end - (left < PART ? left : PART);
        size_t count = twin__kernels()->near_heads(found, heads + begin, end - begin, slots, search->least);
        while (count > 0 && search->left) {
            size_t i = begin + found[--count];
            const struct twin__mail_record *record = &r->records[i];
            if (record->flags & TWIN__MAIL_REMOVED)
                continue;
            unsigned equal = agreement(r->heads[i], slots, TWIN__MAIL_HEAD) +
                             agreement(r->tails[i], slots + TWIN__MAIL_HEAD, TWIN__MAIL_SLOTS - TWIN__MAIL_HEAD);
            insert(&out[record->label], r->first + (i - r->start), similarity_of(equal));
            search->left--;
        }
        end = begin;
    }
}

/* The same for the signatures of one block, of the messages `begin` to `end`, that were lent. */
static void find_in_block(struct twin__neighbours *out, const struct twin__remembered *r, uint64_t begin,
                          uint64_t end, struct search *search)
{
    uint8_t heads[TWIN__MAIL_BLOCK][TWIN__MAIL_HEAD];
    uint32_t found[TWIN__MAIL_BLOCK];
    const uint8_t *slots = search->signature->slots;
    const unsigned char *block = r->lent[begin / TWIN__MAIL_BLOCK - r->first / TWIN__MAIL_BLOCK].signatures;
    block += begin % TWIN__MAIL_BLOCK * TWIN__MAIL_SLOTS;
    for (size_t i = 0; i < end - begin; i++)
        memcpy(heads[i], block + i * TWIN__MAIL_SLOTS, TWIN__MAIL_HEAD);
    size_t count = twin__kernels()->near_heads(found, (const uint8_t(*)[TWIN__MAIL_HEAD])heads, (size_t)(end - begin),
                                               slots, search->least);
    while (count > 0 && search->left) {
        uint64_t number = begin + found[--count];
        const struct twin__mail_record *record = twin__remembered_at(r, number);
        const unsigned char *known = block + found[count] * (size_t)TWIN__MAIL_SLOTS;
        if (record->flags & TWIN__MAIL_REMOVED)
            continue;
        insert(&out[record->label], number, similarity_of(agreement(known, slots, TWIN__MAIL_SLOTS)));
        search->left--;
    }
}

static void find_lent(struct twin__neighbours *out, const struct twin__remembered *r, struct search *search)
{
    for (uint64_t end = r->first + r->count; end > r->first && search->left;) {
        uint64_t begin = (end - 1) / TWIN__MAIL_BLOCK * TWIN__MAIL_BLOCK;
        begin = begin < r->first ? r->first : begin;
        find_in_block(out, r, begin, end, search);
        end = begin;
    }
}

void twin__remembered_nearest(struct twin__neighbours out[TWIN__MAIL_MAX_LABELS],
                              const struct twin__remembered *remembered, const struct twin__mail_signature *signature,
                              bool near)
{
    struct search search = { signature, near ? NEAR_HEAD : 0, near ? MOST_COMPARED : SIZE_MAX };
    memset(out, 0, TWIN__MAIL_MAX_LABELS * sizeof *out);
    if (remembered->lent)
        find_lent(out, remembered, &search);
    else
        find_in_memory(out, remembered, &search);
}

/* file_loan.c — what one check needs of a model's file, read where it is.
 *
 * A process that judges one message would spend most of its time on loading a model that it uses a thousandth of. Instead
 * records and signatures stay in the file, and are looked at there when they are needed, and of the weights those of the message are taken: the places that it has are
 * numbered, and its features and the learners have these numbers in their stead. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/file_private.h"

/* The judge looks at the first places of a table to see how full it is. */
enum { WORD_BITS = 64, WORDS = TWIN__FEATURE_PLACES / WORD_BITS, FIRST_PLACES = TWIN__MAIL_LOOKED_AT + 1 };

/* The places that are wanted, as bits, and how many there are before each word. */
struct numbering {
    uint64_t bits[WORDS];
    uint32_t before[WORDS];
};

static void want(struct numbering *n, const struct twin__features *features)
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (uint32_t i = 0; i < features->counts[b]; i++) {
            uint32_t place = features->places[b][i];
            n->bits[place / WORD_BITS] |= (uint64_t)1 << place % WORD_BITS;
        }
}

/* Writes the places in order. Returns how many. */
static size_t list_wanted(uint32_t *out, struct numbering *n)
{
    size_t count = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        n->before[w] = (uint32_t)count;
        for (uint64_t left = n->bits[w]; left; left &= left - 1)
            out[count++] = w * WORD_BITS + (uint32_t)__builtin_ctzll(left);
    }
    return count;
}

/* Features with numbers for places, which go to *at. */
static void renumber(struct twin__features *features, uint32_t **at, const struct numbering *n)
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        const uint32_t *places = features->places[b];
        features->places[b] = *at;
        for (uint32_t i = 0; i < features->counts[b]; i++) {
            uint64_t bits = n->bits[places[i] / WORD_BITS], below = ((uint64_t)1 << places[i] % WORD_BITS) - 1;
            *(*at)++ = n->before[places[i] / WORD_BITS] + (uint32_t)__builtin_popcountll(bits & below);
        }
    }
}

static twin_status lend_weights(struct twin__model *model, struct twin__mail_places wanted,
                                struct twin__mail_saved *saved, twin__store_txn *txn, const twin__store *store,
                                twin_error *error)
{
    twin_status status = TWIN_OK;
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++) {
        struct twin__mail_label *label = &model->labels[i];
        if (!twin__label_learns(label))
            continue;
        for (int by = 0; by < TWIN__JUDGES; by++) {
            struct twin__content *content = &label->content[by];
            content->cells = calloc(wanted.count, sizeof *content->cells);
            content->margin.weights = calloc(wanted.count, sizeof *content->margin.weights);
            if (!content->cells || !content->margin.weights)
                status = twin__fail_memory(error);
        }
        if (status == TWIN_OK)
            status = twin__mail_load_weights(label, i, wanted, saved, txn, store, error);
    }
    return status;
}

twin_status twin__mail_lend(struct twin__mail_loan *loan, struct twin__model *model, struct twin__mail_item *item,
                            struct twin__mail_saved *saved, twin__store_txn *txn, const twin__store *store,
                            twin_error *error)
{
    size_t total = twin__features_total(item->features.counts) + twin__features_total(item->opening.counts);
    struct numbering *n = calloc(1, sizeof *n);
    uint32_t *wanted = malloc((total + WORD_BITS + FIRST_PLACES) * sizeof *wanted);
    loan->places = malloc((total + 1) * sizeof *loan->places);
    twin_status status = n && wanted && loan->places ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__mail_lend_messages(
            loan, model, item,
            (struct twin__mail_reading){ .txn = txn, .store = store, .version = saved->version, .next = saved->next },
            error);
    if (status == TWIN_OK) {
        uint32_t *at = loan->places;
        memset(n->bits, 0xff, (FIRST_PLACES + WORD_BITS - 1) / WORD_BITS * sizeof n->bits[0]);
        want(n, &item->features);
        want(n, &item->opening);
        struct twin__mail_places places = { wanted, list_wanted(wanted, n) };
        renumber(&item->features, &at, n);
        renumber(&item->opening, &at, n);
        status = lend_weights(model, places, saved, txn, store, error);
    }
    free(n);
    free(wanted);
    return status;
}

void twin__mail_take_back(struct twin__mail_loan *loan, struct twin__model *model)
{
    for (unsigned i = 0; i < model->label_count; i++)
        for (int by = 0; by < TWIN__JUDGES; by++) {
            struct twin__content *content = &model->labels[i].content[by];
            free(content->cells);
            free(content->margin.weights);
            content->cells = NULL;
            content->margin.weights = NULL;
        }
    model->remembered.lender = NULL;
    model->remembered.count = 0;
    free(loan->blocks);
    free(loan->places);
}

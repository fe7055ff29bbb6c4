/* made_mail.h — a model and messages made up of features, for tests of what is learnt and judged. */
#ifndef TEST_MADE_MAIL_H
#define TEST_MADE_MAIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/random.h"
#include "mail/model.h"

/* Messages of two kinds: a third of the words is of the kind, a third of all mail, a third its own */

enum { WORDS = 60, OF_THE_KIND = 20, SPAM = 0, HAM = 1 };

struct message {
    uint32_t words[WORDS], windows[WORDS];
    struct twin__mail_item item;
};

/* A message of which all is seen. */
static inline struct twin__features seen_features(const uint32_t *words, const uint32_t *windows, uint32_t count)
{
    return (struct twin__features){ .places = { [TWIN__SEEN_WORDS] = words, [TWIN__SEEN_WINDOWS] = windows },
                                    .counts = { [TWIN__SEEN_WORDS] = count, [TWIN__SEEN_WINDOWS] = count } };
}

static inline int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Of one number and kind all copies have the same words but the last, and each is another message. The first places, from
 * which a model learns what a usual place was taught, have no words. */
static inline void make(struct message *out, const struct twin__model *model, uint64_t number, unsigned kind,
                        uint64_t copy)
{
    uint64_t state = 2 * number + kind;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t place = TWIN__MAIL_LOOKED_AT + (uint32_t)twin__random_below(&state, OF_THE_KIND) + 1 + 100 * i;
        if (i % 3 == 1)
            place += 6000 * (kind + 1);
        if (i % 3 == 2)
            place = 20000 + (uint32_t)(twin__mix(number * WORDS + i) % 100000);
        out->words[i] = place;
        out->windows[i] = place + TWIN__FEATURE_PLACES / 2;
    }
    out->words[WORDS - 1] += (uint32_t)copy;
    qsort(out->words, WORDS, sizeof out->words[0], by_place);
    qsort(out->windows, WORDS, sizeof out->windows[0], by_place);
    out->item = (struct twin__mail_item){ .id = twin__mix(number * 1000 + kind * 100 + copy),
                                          .features = seen_features(out->words, out->windows, WORDS) };
    out->item.signature = twin__mail_sign(model->hasher, &out->item.features);
}

static inline void learn_copy(struct twin__model *model, uint64_t number, unsigned kind, uint64_t copy,
                              unsigned label)
{
    struct message m;
    twin_mail_effect effect;
    make(&m, model, number, kind, copy);
    assert_int_equal(twin__model_learn(&effect, model, &m.item, label, 1000, false), TWIN_OK);
}

static inline void learn(struct twin__model *model, uint64_t number, unsigned kind, unsigned label)
{
    learn_copy(model, number, kind, 0, label);
}

/* A model that knows both labels and no message. */
static inline void begin(struct twin__model *model)
{
    const uint64_t key[2] = { 3, 4 };
    unsigned label;
    assert_int_equal(twin__model_init(model, (twin_mail_options){ .without_texts = true }, key), TWIN_OK);
    assert_int_equal(twin__model_add_label(&label, model, TWIN_MAIL_GOOD, NULL), TWIN_OK); /* adds both */
    assert_true(label == HAM && twin__model_label(model, TWIN_MAIL_SPAM) == SPAM);
}

static inline double score(struct twin__model *model, uint64_t number, unsigned kind, uint64_t copy)
{
    struct message m;
    twin_mail_verdict verdict;
    make(&m, model, number, kind, copy);
    twin__model_judge(&verdict, NULL, model, &m.item, TWIN_MAIL_ALL, false);
    return verdict.log_odds;
}

#endif

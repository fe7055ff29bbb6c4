/* model.h — what a mail model knows, in memory. */
#ifndef TWIN_MAIL_MODEL_H
#define TWIN_MAIL_MODEL_H

#include <twinsift/mail.h>

#include "mail/content.h"
#include "mail/rehearsal.h"
#include "mail/remembered.h"
#include "mail/texts.h"
#include "mail/thresholds.h"
#include "sketch/minhash.h"

/* A label. Good mail, what none of the other labels fits, has no classifier. */
struct twin__mail_label {
    char name[TWIN_MAIL_LABEL_BYTES + 1];
    struct twin__content content[TWIN__JUDGES]; /* cells NULL: no classifier */
    struct twin__thresholds thresholds;
    uint64_t messages;    /* remembered */
    twin_bloom *senders;  /* counts addresses and domains; NULL: none yet */
    uint64_t sender_room; /* items it was planned for */
    struct twin__rehearsal rehearsal;
};

/* What the learners of a label say. */
struct twin__label_score {
    struct twin__content_score by[TWIN__JUDGES];
};
struct twin__label_score twin__label_score(const struct twin__mail_label *label,
                                           const struct twin__features *features);
bool twin__label_learns(const struct twin__mail_label *label); /* whether it has a classifier: all but good mail */

/* The learners of what is seen know what those of all features know, who were taught before there were two. */
void twin__label_copy(struct twin__mail_label *label);

/* How often a sender's address and domain were learnt under each label. */
struct twin__sender_counts {
    uint32_t address[TWIN_MAIL_MAX_LABELS], domain[TWIN_MAIL_MAX_LABELS];
};

struct twin__model {
    twin_mail_options options; /* complete; `key` is NULL */
    uint64_t key[2];
    struct twin__mail_label labels[TWIN_MAIL_MAX_LABELS];
    unsigned label_count;
    struct twin__remembered remembered;
    struct twin__sender_counts lent_senders; /* of the item for which a file lends what is remembered */
    struct twin__mail_texts texts;           /* that are not in the file yet */
    uint64_t learnt;                         /* since it was created */
    bool filtered;                           /* the filters of senders are made */
    bool without_weights;                    /* labels have no tables of weights until a file lends them */
    unsigned streak_label;                   /* of the last message learnt */
    uint64_t streak;                         /* so many in a row had it */
    twin__feature_maker *maker;
    twin_minhash *hasher;

    /* The verdict on the message that was last checked, for when it is learnt next; void after `judged_at` changes. */
    twin_mail_verdict judged;
    struct twin__label_score judged_scores[TWIN_MAIL_MAX_LABELS];
    uint64_t judged_id, judged_at, changes;
};

/* Makes an empty model; clear it also after a failure. */
twin_status twin__model_init(struct twin__model *model, twin_mail_options options, const uint64_t key[2]);
void twin__model_clear(struct twin__model *model);

/* The number of a label; UINT_MAX: there is none. Adding: TWIN_EINVAL when it is not a name, TWIN_ELIMIT when there are
 * too many. */
unsigned twin__model_label(const struct twin__model *model, const char *name);
twin_status twin__model_add_label(unsigned *out, struct twin__model *model, const char *name, twin_error *error);

bool twin__model_is_label(const char *name);

/* What the model takes from a message. Features and texts are borrowed. */
struct twin__mail_item {
    uint64_t id, address, domain;
    twin_text subject, text; /* empty: they are not kept */
    struct twin__mail_signature signature;
    struct twin__features features, opening; /* of all of it; with the beginning of its text only, if it is long */
};

/* It lives until the model prepares the next. */
twin_status twin__model_prepare(struct twin__mail_item *out, struct twin__model *model, const twin_message *message);

/* Adds a record to what is remembered, with its label's counts. */
twin_status twin__model_remember(struct twin__model *model, const struct twin__mail_record *record,
                                 const struct twin__mail_signature *signature);

twin_status twin__model_learn(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item,
                              unsigned label, int64_t time, bool correct);
/* Remembers a message that another model has learnt. TWIN_MAIL_KNOWN: it is remembered here, whatever its label, or too old. */
twin_status twin__model_import(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item,
                               unsigned label, int64_t time);

/* What the learners of a label know. */
struct twin__mail_weights {
    double threshold;
    uint64_t taught[2];
    struct twin__linear_cell cells[TWIN__FEATURE_PLACES];
    float margin[TWIN__FEATURE_PLACES];
};

/* Begins with what another model knows, unless this one has learnt anything. */
void twin__model_adopt(struct twin__model *model, unsigned label, const struct twin__mail_weights *weights);

twin_status twin__model_forget(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item);

/* ---- trust.c */

/* How far the label of a message is believed that was judged before it was learnt: 0.1 .. 1, for the classifier of each
 * label. Returns the least of these. */
double twin__model_trust(double out[TWIN_MAIL_MAX_LABELS], const struct twin__model *model,
                         const twin_mail_verdict *verdict, unsigned label);

/* The same for one classifier: `share` of all labels are wrong, and the log odds `against` this one are given. */
double twin__trust_of(double share, double against);

/* ---- verdict.c */

/* So many of the first places are looked at to see how many are taken. */
enum { TWIN__MAIL_LOOKED_AT = 512 };

/* Whether the model has this step; all have all but for experiments. */
bool twin__has_step(const struct twin__model *model, twin_mail_step step);

/* scores[label], unless it is NULL: what the learners of the label said. */
void twin__model_judge(twin_mail_verdict *out, struct twin__label_score *scores, const struct twin__model *model,
                       const struct twin__mail_item *item, twin_mail_method method, bool trusted);

/* The same with all evidence, kept in the model for twin__model_learn(). */
const twin_mail_verdict *twin__model_judge_once(struct twin__model *model, const struct twin__mail_item *item);

/* Moves the thresholds after a message was judged and its label is known. */
void twin__model_move_thresholds(struct twin__model *model, const twin_mail_verdict *verdict, unsigned label);

/* ---- senders.c */

void twin__model_count_sender(struct twin__sender_counts *out, const struct twin__model *model,
                              const struct twin__mail_item *item);

/* The same of some records, to which it adds. */
void twin__senders_count(struct twin__sender_counts *out, const struct twin__mail_record *records, size_t count,
                         const struct twin__mail_item *item);

/* Makes the filters that count senders, so that counting need not visit every message. Learning does so by itself. */
twin_status twin__model_make_filters(struct twin__model *model);

/* Makes the filter of a label, if there is none or it has no room for one message more. */
twin_status twin__senders_plan(struct twin__model *model, unsigned number);

/* Adds the sender of a message to the filter of its label, which there must be; removes it, if there is one. */
void twin__senders_add(struct twin__mail_label *label, const struct twin__mail_record *record);
void twin__senders_remove(struct twin__mail_label *label, const struct twin__mail_record *record);

#endif

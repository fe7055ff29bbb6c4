/* evidence.c — what speaks for a label: content, sender, lookalikes, and their sum, its score. The steps are those of the table in
 * verdict.c, which names them.
 *
 * Content carries the score. Learning the weights of the evidence online was measured and is no better than fixed ones,
 * and a lookalike as an equal voter makes the rare errors more frequent, since near-copies of newsletters carry both
 * labels. So a lookalike counts where it is almost equal to the message: more with two or more reports than with one,
 * and not where as many copies have another label. A sender counts a little. */
#include "mail/verdict.h"

#include <math.h>
#include <string.h>

static const double SENDER_WEIGHT = 0.15;               /* of the log ratio of counts */
static const double ONE_REPORT = 0.34, MOST_COPIES = 3; /* log odds of lookalikes: one, many */
static const double SHAPE = 0.25;                       /* of what as many copies say: the same structure of HTML */
static const double ALIKE = 0.7, COPY = 0.9; /* from where a lookalike counts; almost equal, as in lookalike.c */

/* How far all features may say something else than what is seen: log odds. The share of lessons with another label than the
 * one before from which mail is taught as it comes. Measured by twinsift-lab mail-folders and mail-long: without a bound two
 * folders are told apart by the hosts that their messages came through, with 1 everywhere a stream loses half of its lead. */
static const double BOUND_IN_FOLDERS = 1, BOUND_AS_IT_COMES = 2, BOUND_MOST = 4, LONG = 10000, MIXED = 0.1;

/* Of what all messages have so much is taken off the grounds. Measured by twinsift-lab mail-growth and mail-enron: with 1.5 .8 %
 * of unknown good mail is lost instead of .5, and .5 % more of the spam is caught. So much more is taken off while there is
 * nothing but spam among the last lessons, and in proportion from this share on: after 1,896 spam messages in a row 8 to 12 % of
 * the good mail of others is lost without, .0 to .4 with it. */
static const double CONSTANT = 1.6, FLOOD = 2.5, FLOODED = 0.95;

/* Messages of a side: too few for a ratio; as many as halve what is left of it. Measured: 50 to 200 are much alike. */
static const double FEW = 5, MANY = 75;

/* ---- sender */

static void weigh_sender(twin_mail_evidence *out, const struct twin__sender_counts *counts,
                         const struct twin__model *model, unsigned label, twin_mail_method method)
{
    bool has_senders = twin__has_step(model, TWIN_MAIL_SENDERS);
    twin_mail_sender *s = &out->senders;
    for (unsigned i = 0; i < model->label_count; i++) {
        *(i == label ? &s->address : &s->address_others) += counts->address[i];
        *(i == label ? &s->domain : &s->domain_others) += counts->domain[i];
    }
    /* The rule of Martins and Jesus 2015, and the trap of a service that sends good mail and, twice, what was marked as spam. */
    if (method == TWIN_MAIL_SENDER)
        out->sender = (s->address >= 2 && s->address > s->address_others ? 3 : 0) +
                      log((1.0 + s->address) / (1.0 + s->address_others));
    else if (has_senders)
        out->sender = SENDER_WEIGHT * (log((1.0 + s->address) / (1.0 + s->address_others)) +
                                       0.5 * log((1.0 + s->domain) / (1.0 + s->domain_others)));
}

/* ---- lookalikes */

/* The nearest of the label, and of all others. */
static void find_nearest(twin_mail_evidence *out, const struct twin__neighbours *near, unsigned count, unsigned label)
{
    for (unsigned i = 0; i < count; i++) {
        twin_mail_lookalike *best = i == label ? &out->nearest : &out->nearest_other;
        best->copies += near[i].copies;
        best->alike += near[i].alike;
        if (near[i].count && near[i].similarities[0] > best->similarity) {
            best->similarity = near[i].similarities[0];
            best->number = near[i].numbers[0];
        }
        if (near[i].alike && near[i].alike_similarity > best->similarity) {
            best->similarity = near[i].alike_similarity;
            best->number = near[i].alike_number;
        }
    }
}

/* The mean similarity of the nearest few of the label, and of all others, of which those of the nearest label count. */
static double mean_of(const struct twin__neighbours *near)
{
    double sum = 0;
    for (uint32_t i = 0; i < near->count; i++)
        sum += near->similarities[i];
    return near->count ? sum / near->count : 0;
}

static double compare_means(const struct twin__neighbours *near, unsigned count, unsigned label)
{
    double other = 0;
    for (unsigned i = 0; i < count; i++)
        if (i != label)
            other = fmax(other, mean_of(&near[i]));
    return mean_of(&near[label]) - other;
}

/* One report of a copy may be a mistake and counts half. Of several each counts less than the one before; what is only alike,
 * less than one. */
static double weigh_copies(const twin_mail_lookalike *nearest, bool doubts_one)
{
    if (nearest->copies == 1)
        return doubts_one ? ONE_REPORT : log(2);
    if (nearest->copies)
        return fmin(log(1 + (double)nearest->copies), MOST_COPIES);
    return ONE_REPORT * fmin(fmax((nearest->similarity - ALIKE) / (COPY - ALIKE), 0), 1);
}

/* The same template says less than the same words: whoever sends mail to many has one. */
static double weigh_shape(uint32_t alike)
{
    return SHAPE * fmin(log(1 + (double)alike), MOST_COPIES);
}

static void weigh_lookalikes(twin_mail_evidence *out, const struct twin__neighbours *near,
                             const struct twin__model *model, unsigned label, twin_mail_method method)
{
    bool doubts_one = twin__has_step(model, TWIN_MAIL_ONE_REPORT);
    find_nearest(out, near, model->label_count, label);
    if (method == TWIN_MAIL_LOOKALIKE)
        out->lookalike = 10 * compare_means(near, model->label_count, label);
    else if (twin__has_step(model, TWIN_MAIL_COPIES))
        out->lookalike = weigh_copies(&out->nearest, doubts_one) - weigh_copies(&out->nearest_other, doubts_one);
    if (method == TWIN_MAIL_ALL && twin__has_step(model, TWIN_MAIL_STRUCTURE))
        out->lookalike += weigh_shape(out->nearest.alike) - weigh_shape(out->nearest_other.alike);
}

/* ---- content */

/* What the learners add to every score because more messages of one side were taught than of the other: after 200 and 20,
 * log odds of about 2, as many as those of the counts. That says how a mailbox was taught, not what will come to it, and
 * is taken off. Learners that learn from errors forget it: the less frequent side having some hundred messages, little is
 * left of it. */
static double skew_of(const struct twin__model *model, const struct twin__margin *taught)
{
    if (!twin__has_step(model, TWIN_MAIL_SKEW))
        return 0;
    double own = (double)taught->taught[1], others = (double)taught->taught[0];
    return log((own + FEW) / (others + FEW)) * MANY / (MANY + fmin(own, others));
}

/* What was taught lately: the share of lessons with another label than the one before, and of spam. */
struct lately {
    double changes, spam;
};

static struct lately lately_of(const struct twin__model *model)
{
    enum { LAST = 512 };
    const struct twin__remembered *r = &model->remembered;
    unsigned label = twin__model_label(model, TWIN_MAIL_SPAM);
    uint64_t end = r->first + r->count, begin = r->count > LAST ? end - LAST : r->first, changes = 0, spam = 0;
    for (uint64_t n = begin; n < end; n++) {
        changes += n > begin && twin__remembered_at(r, n)->label != twin__remembered_at(r, n - 1)->label;
        spam += twin__remembered_at(r, n)->label == label;
    }
    return (struct lately){ end - begin > 1 ? (double)changes / (double)(end - begin - 1) : 0,
                            (double)spam / fmax((double)(end - begin), 1) };
}

/* How far all features may say something else than what is seen. Where messages are taught as they come, what is not seen is
 * worth what it says, the more the longer it was taught; where they are taught folder by folder, it tells how folders were
 * filled. That is known by how often the label changed among the last lessons. */
static double bound_of(const struct twin__model *model, double share)
{
    if (!twin__has_step(model, TWIN_MAIL_BOUND))
        return INFINITY;
    double as_it_comes = fmin(BOUND_AS_IT_COMES + (double)model->learnt / LONG, BOUND_MOST);
    return BOUND_IN_FOLDERS + (as_it_comes - BOUND_IN_FOLDERS) * fmin(1, share / MIXED);
}

static double together(const struct twin__label_score *score, double bound)
{
    double seen = score->by[TWIN__BY_SEEN].both, all = score->by[TWIN__BY_ALL].both;
    return seen + fmin(fmax(all - seen, -bound), bound);
}

/* What a person would accept as a reason: what is seen says more than what all messages have, which both learners agree on. After
 * a folder of spam much looks like it: then the grounds are less, as long as there is little else among the last lessons. */
static double grounds_of(const struct twin__findings *found, const struct twin__label_score *score, double rest)
{
    const struct twin__content_score *seen = &score->by[TWIN__BY_SEEN], *all = &score->by[TWIN__BY_ALL];
    return seen->both - CONSTANT * fmax(fmin(seen->always, all->always), 0) + rest - found->flood;
}

/* While nothing else was taught every message looks like the only ones there are: that is no reason to call it so. What was
 * taught counts also when its messages have expired: a flood of one label does not make the filter unsure. */
static double content_of(struct twin__label_score *out, const struct twin__model *model,
                         const struct twin__mail_item *item, unsigned label, double bound)
{
    const struct twin__mail_label *known = &model->labels[label];
    if (!twin__label_learns(known))
        return 0;
    *out = twin__label_score(known, &item->features);
    double both = together(out, bound);
    if (!known->content[TWIN__BY_ALL].margin.taught[0])
        return fmin(both, 0);
    return both - skew_of(model, &known->content[TWIN__BY_ALL].margin);
}

static double combine(const twin_mail_evidence *e, twin_mail_method method)
{
    switch (method) {
    case TWIN_MAIL_CONTENT: return e->content;
    case TWIN_MAIL_SENDER: return e->sender;
    case TWIN_MAIL_LOOKALIKE: return e->lookalike;
    case TWIN_MAIL_ALL: break;
    }
    return e->content + e->sender + e->lookalike;
}

/* ---- together */

void twin__find_evidence(struct twin__findings *out, const struct twin__model *model,
                         const struct twin__mail_item *item, twin_mail_method method)
{
    memset(out->scores, 0, sizeof out->scores);
    memset(out->near, 0, sizeof out->near);
    if (method == TWIN_MAIL_ALL || method == TWIN_MAIL_LOOKALIKE)
        twin__remembered_nearest(out->near, &model->remembered, &item->signature, method == TWIN_MAIL_ALL);
    struct lately lately = lately_of(model);
    out->bound = bound_of(model, lately.changes);
    out->flood = FLOOD * fmax((lately.spam - FLOODED) / (1 - FLOODED), 0);
    twin__model_count_sender(&out->senders, model, item);
}

void twin__weigh_evidence(twin_mail_evidence *out, const struct twin__model *model,
                          const struct twin__mail_item *item, unsigned label, struct twin__findings *found,
                          twin_mail_method method)
{
    const struct twin__mail_label *known = &model->labels[label];
    bool by_rule = method == TWIN_MAIL_SENDER || method == TWIN_MAIL_LOOKALIKE; /* these have fixed thresholds */
    *out = (twin_mail_evidence){ .label = known->name, .messages = known->messages };
    /* Other labels than spam are folders, and how mail came is what folders are made by: a list, a recipient. */
    double bound = strcmp(known->name, TWIN_MAIL_SPAM) == 0 ? found->bound : INFINITY;
    out->content = content_of(&found->scores[label], model, item, label, bound);
    weigh_sender(out, &found->senders, model, label, method);
    weigh_lookalikes(out, found->near, model, label, method);
    out->score = combine(out, method);
    out->above = method == TWIN_MAIL_SENDER ? 3 : by_rule ? 0 : known->thresholds.above;
    out->below = by_rule ? 0 : known->thresholds.below;
    out->grounds = grounds_of(found, &found->scores[label], out->sender + out->lookalike);
}

double twin__weigh_opening(const twin_mail_evidence *evidence, const struct twin__model *model,
                           const struct twin__mail_item *item, unsigned label, double bound)
{
    const struct twin__mail_label *known = &model->labels[label];
    const struct twin__label_score opening = twin__label_score(known, &item->opening);
    return evidence->score - evidence->content - skew_of(model, &known->content[TWIN__BY_ALL].margin) +
           together(&opening, bound);
}

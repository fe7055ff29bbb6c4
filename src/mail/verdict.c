/* verdict.c — from evidence to a verdict.
 *
 * Content carries the score. Learning the weights of the evidence online was measured and is no better than fixed ones,
 * and a lookalike as an equal voter makes the rare errors more frequent, since near-copies of newsletters carry both
 * labels. So a lookalike counts where it is almost equal to the message: more with two or more reports than with one,
 * and not where as many copies have another label. A sender counts a little. A message that was learnt itself gets its
 * label, whatever its score.
 *
 * What the scores are compared with is learnt too: thresholds.c. */
#include "mail/model.h"

#include <math.h>
#include <string.h>

/* The log odds of spam of mail from those who are trusted, at most. */
static const double TRUSTED = -2;

static const double SENDER_WEIGHT = 0.15;               /* of the log ratio of counts */
static const double ONE_REPORT = 0.34, MOST_COPIES = 3; /* log odds of lookalikes: one, many */
static const double ALIKE = 0.7, COPY = 0.9; /* from where a lookalike counts; almost equal, as in lookalike.c */

/* Spam with as many good words added as it needs has a low score and is still spam. Where what speaks for spam is more than
 * this share of what speaks against it, a message is not called good. */
static const double CONTESTED = 0.85;

/* Nor where its beginning alone has a score above this: what was added behind it is not what it is sent for. */
static const double OPENING = 0.25;

/* How far all features may say something else than what is seen: log odds. The share of lessons with another label than the
 * one before from which mail is taught as it comes. Measured by twinsift-lab mail-folders and mail-long: without a bound two
 * folders are told apart by the hosts that their messages came through, with 1 everywhere a stream loses half of its lead. */
static const double BOUND_IN_FOLDERS = 1, BOUND_AS_IT_COMES = 2, BOUND_MOST = 4, LONG = 10000, MIXED = 0.1;

/* By how much the best label leads the second, and where another label than spam is likely. Measured by mail-labels. */
static const double LEAD = 1, LIKELY = 0;

/* A label other than ham needs grounds that a person would accept: what is seen, sender and lookalikes say at least so much for
 * it, once what all messages have is taken off, and a little more. Measured by mail-growth: 53 and 94 % of unknown good mail are
 * called spam without, .6 % with it. */
static const double GROUNDS = 0.7, CONSTANT = 1.3;

/* Messages of a side: too few for a ratio; as many as halve what is left of it. Measured: 50 to 200 are much alike. */
static const double FEW = 5, MANY = 75;

static const char *const method_names[] = {
    [TWIN_MAIL_ALL] = "all",
    [TWIN_MAIL_CONTENT] = "content",
    [TWIN_MAIL_SENDER] = "sender",
    [TWIN_MAIL_LOOKALIKE] = "lookalike",
};

const char *twin_mail_method_name(twin_mail_method method)
{
    return (unsigned)method < sizeof method_names / sizeof method_names[0] ? method_names[method] : "";
}

static const char *const reason_names[] = {
    [TWIN_MAIL_BY_NOTHING] = "nothing",
    [TWIN_MAIL_BY_CONTENT] = "content",
    [TWIN_MAIL_BY_SENDER] = "sender",
    [TWIN_MAIL_BY_LOOKALIKE] = "lookalike",
};

const char *twin_mail_reason_name(twin_mail_reason reason)
{
    return (unsigned)reason < sizeof reason_names / sizeof reason_names[0] ? reason_names[reason] : "";
}

/* ---- evidence of one label */

static void weigh_sender(twin_mail_evidence *out, const struct twin__sender_counts *counts, unsigned labels,
                         unsigned label, twin_mail_method method)
{
    twin_mail_sender *s = &out->senders;
    for (unsigned i = 0; i < labels; i++) {
        *(i == label ? &s->address : &s->address_others) += counts->address[i];
        *(i == label ? &s->domain : &s->domain_others) += counts->domain[i];
    }
    /* The rule of Martins and Jesus 2015, and the trap of a service that sends good mail and, twice, what was marked as spam. */
    if (method == TWIN_MAIL_SENDER)
        out->sender = (s->address >= 2 && s->address > s->address_others ? 3 : 0) +
                      log((1.0 + s->address) / (1.0 + s->address_others));
    else
        out->sender = SENDER_WEIGHT * (log((1.0 + s->address) / (1.0 + s->address_others)) +
                                       0.5 * log((1.0 + s->domain) / (1.0 + s->domain_others)));
}

/* The nearest of the label, and of all others. */
static void find_nearest(twin_mail_evidence *out, const struct twin__neighbours *near, unsigned count, unsigned label)
{
    for (unsigned i = 0; i < count; i++) {
        twin_mail_lookalike *best = i == label ? &out->nearest : &out->nearest_other;
        best->copies += near[i].copies;
        if (near[i].count && near[i].similarities[0] > best->similarity) {
            best->similarity = near[i].similarities[0];
            best->number = near[i].numbers[0];
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
static double weigh_copies(const twin_mail_lookalike *nearest)
{
    if (nearest->copies == 1)
        return ONE_REPORT;
    if (nearest->copies)
        return fmin(log(1 + (double)nearest->copies), MOST_COPIES);
    return ONE_REPORT * fmin(fmax((nearest->similarity - ALIKE) / (COPY - ALIKE), 0), 1);
}

static void weigh_lookalikes(twin_mail_evidence *out, const struct twin__neighbours *near, unsigned labels,
                             unsigned label, twin_mail_method method)
{
    find_nearest(out, near, labels, label);
    if (method == TWIN_MAIL_LOOKALIKE)
        out->lookalike = 10 * compare_means(near, labels, label);
    else
        out->lookalike = weigh_copies(&out->nearest) - weigh_copies(&out->nearest_other);
}

/* What the learners add to every score because more messages of one side were taught than of the other: after 200 and 20,
 * log odds of about 2, as many as those of the counts. That says how a mailbox was taught, not what will come to it, and
 * is taken off. Learners that learn from errors forget it: the less frequent side having some hundred messages, little is
 * left of it. */
static double skew_of(const struct twin__margin *taught)
{
    double own = (double)taught->taught[1], others = (double)taught->taught[0];
    return log((own + FEW) / (others + FEW)) * MANY / (MANY + fmin(own, others));
}

/* How far all features may say something else than what is seen. Where messages are taught as they come, what is not seen is
 * worth what it says, the more the longer it was taught; where they are taught folder by folder, it tells how folders were
 * filled. That is known by how often the label changed among the last lessons. */
static double bound_of(const struct twin__model *model)
{
    enum { LAST = 512 };
    const struct twin__remembered *r = &model->remembered;
    uint64_t end = r->first + r->count, begin = r->count > LAST ? end - LAST : r->first, changes = 0;
    for (uint64_t n = begin + 1; n < end; n++)
        changes += twin__remembered_at(r, n)->label != twin__remembered_at(r, n - 1)->label;
    double share = end - begin > 1 ? (double)changes / (double)(end - begin - 1) : 0;
    double as_it_comes = fmin(BOUND_AS_IT_COMES + (double)model->learnt / LONG, BOUND_MOST);
    return BOUND_IN_FOLDERS + (as_it_comes - BOUND_IN_FOLDERS) * fmin(1, share / MIXED);
}

static double together(const struct twin__label_score *score, double bound)
{
    double seen = score->by[TWIN__BY_SEEN].both, all = score->by[TWIN__BY_ALL].both;
    return seen + fmin(fmax(all - seen, -bound), bound);
}

/* What is seen says more than what all messages have. */
static double grounds_of(const struct twin__label_score *score)
{
    const struct twin__content_score *seen = &score->by[TWIN__BY_SEEN];
    return seen->both - CONSTANT * fmax(seen->always, 0);
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
    return known->content[TWIN__BY_ALL].margin.taught[0] ? both - skew_of(&known->content[TWIN__BY_ALL].margin)
                                                         : fmin(both, 0);
}

/* Whether a message that seems good may be spam to which good words were added. */
static bool is_contested(const twin_mail_evidence *e, const struct twin__mail_label *label,
                         const struct twin__mail_item *item, double bound)
{
    if (twin__content_contested(&label->content[TWIN__BY_ALL], &item->features) > CONTESTED)
        return true;
    const struct twin__label_score opening = twin__label_score(label, &item->opening);
    return item->opening.counts[TWIN__SEEN_WORDS] &&
           e->score - e->content - skew_of(&label->content[TWIN__BY_ALL].margin) + together(&opening, bound) >
               OPENING;
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

/* What all labels are judged by. */
struct findings {
    struct twin__neighbours near[TWIN__MAIL_MAX_LABELS];
    struct twin__sender_counts senders;
    struct twin__label_score scores[TWIN_MAIL_MAX_LABELS];
    double bound;
};

/* These have fixed thresholds. */
static bool is_rule(twin_mail_method method)
{
    return method == TWIN_MAIL_SENDER || method == TWIN_MAIL_LOOKALIKE;
}

static void weigh(twin_mail_evidence *out, const struct twin__model *model, const struct twin__mail_item *item,
                  unsigned label, struct findings *found, twin_mail_method method)
{
    const struct twin__mail_label *known = &model->labels[label];
    *out = (twin_mail_evidence){ .label = known->name, .messages = known->messages };
    out->content = content_of(&found->scores[label], model, item, label, found->bound);
    weigh_sender(out, &found->senders, model->label_count, label, method);
    weigh_lookalikes(out, found->near, model->label_count, label, method);
    out->score = combine(out, method);
    bool by_rule = is_rule(method);
    out->above = method == TWIN_MAIL_SENDER ? 3 : by_rule ? 0 : known->thresholds.above;
    out->below = by_rule ? 0 : known->thresholds.below;
    out->is_contested = !by_rule && twin__label_learns(known) && out->score < out->below &&
                        is_contested(out, known, item, found->bound);
    out->grounds = grounds_of(&found->scores[label]) + out->sender + out->lookalike;
    out->is_unfounded = !by_rule && out->score > out->above && !(out->grounds > GROUNDS);
}

/* ---- the verdict */

static twin_mail_reason reason_of(const twin_mail_evidence *e, twin_mail_method method)
{
    if (method != TWIN_MAIL_ALL)
        return method == TWIN_MAIL_CONTENT  ? TWIN_MAIL_BY_CONTENT
               : method == TWIN_MAIL_SENDER ? TWIN_MAIL_BY_SENDER
                                            : TWIN_MAIL_BY_LOOKALIKE;
    double sign = e->score < 0 ? -1 : 1;
    double content = sign * e->content, sender = sign * e->sender, copies = sign * e->lookalike;
    if (e->senders.trusted)
        return TWIN_MAIL_BY_SENDER;
    if (content >= sender && content >= copies && content > 0)
        return TWIN_MAIL_BY_CONTENT;
    if (copies >= sender && copies > 0)
        return TWIN_MAIL_BY_LOOKALIKE;
    return sender > 0 ? TWIN_MAIL_BY_SENDER : TWIN_MAIL_BY_NOTHING;
}

/* The labels that have evidence: spam first, good only if there is no other. */
static void gather(twin_mail_verdict *out, const struct twin__model *model, const struct twin__mail_item *item,
                   struct findings *found, twin_mail_method method)
{
    for (int spam = 1; spam >= 0; spam--)
        for (unsigned i = 0; i < model->label_count; i++) {
            const struct twin__mail_label *label = &model->labels[i];
            if ((strcmp(label->name, TWIN_MAIL_SPAM) == 0) == spam && strcmp(label->name, TWIN_MAIL_GOOD) != 0)
                weigh(&out->evidence[out->count++], model, item, i, found, method);
        }
}

/* The label with the greatest score, and by how much it leads. Of a model of spam and good mail that is spam. */
static const twin_mail_evidence *find_best(double *lead, const twin_mail_verdict *verdict)
{
    const twin_mail_evidence *best = &verdict->evidence[0];
    double second = -INFINITY;
    for (size_t i = 1; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        second = fmax(second, fmin(e->score, best->score));
        best = e->score > best->score ? e : best;
    }
    *lead = best->score - second;
    return best;
}

/* Whether the best label is given. Spam keeps what it promises of good mail; another is more likely than not, and clearly more
 * than the second. A message of a few words gets none for its content alone: its sender or a message it looks like must speak
 * for it, too. */
static bool is_given(const twin_mail_evidence *best, double lead, bool is_brief)
{
    bool is_spam = strcmp(best->label, TWIN_MAIL_SPAM) == 0;
    bool is_supported = !is_brief || best->sender > 0 || best->lookalike > 0;
    bool is_enough = is_spam ? best->score > best->above && !best->is_unfounded
                             : best->score > fmin(best->above, LIKELY) && best->grounds > 0;
    return is_enough && is_supported && lead > LEAD;
}

/* Whether none of the labels fits, and there are examples of some: without, everything is good. */
static bool none_fits(const twin_mail_verdict *verdict)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        if (!(e->score < e->below) || e->is_contested)
            return false;
        messages += e->messages;
    }
    return messages > 0;
}

static double probability(double log_odds)
{
    return 1 / (1 + exp(-log_odds));
}

/* A message that was learnt itself gets its label, and a score that does not contradict it. The log odds stay what the
 * evidence says: a label may be wrong. */
static void follow_label(twin_mail_verdict *out, const twin_mail_evidence *shown, const char *label)
{
    out->label = label;
    out->reason = TWIN_MAIL_BY_LOOKALIKE;
    out->score = probability(strcmp(label, shown->label) == 0 ? fmax(out->log_odds, shown->above)
                                                              : fmin(out->log_odds, shown->below));
}

void twin__model_judge(twin_mail_verdict *out, struct twin__label_score *scores, const struct twin__model *model,
                       const struct twin__mail_item *item, twin_mail_method method, bool trusted)
{
    struct findings found;
    memset(out, 0, sizeof *out);
    out->score = 0.5;
    out->threshold = twin__thresholds_first().above;
    out->is_brief = item->is_brief;
    if (method == TWIN_MAIL_ALL || method == TWIN_MAIL_LOOKALIKE)
        twin__remembered_nearest(found.near, &model->remembered, &item->signature, method == TWIN_MAIL_ALL);
    else
        memset(found.near, 0, sizeof found.near);
    memset(found.scores, 0, sizeof found.scores);
    found.bound = bound_of(model);
    twin__model_count_sender(&found.senders, model, item);
    gather(out, model, item, &found, method);
    if (scores)
        memcpy(scores, found.scores, model->label_count * sizeof *scores);
    for (size_t i = 0; i < out->count && trusted; i++) {
        out->evidence[i].senders.trusted = true;
        if (strcmp(out->evidence[i].label, TWIN_MAIL_SPAM) == 0)
            out->evidence[i].score = fmin(out->evidence[i].score, TRUSTED);
    }
    if (out->count == 0)
        return;

    double lead;
    const twin_mail_evidence *best = find_best(&lead, out);
    unsigned good = twin__model_label(model, TWIN_MAIL_GOOD);
    if (is_given(best, lead, item->is_brief))
        out->label = best->label;
    else if (good < model->label_count && none_fits(out))
        out->label = model->labels[good].name;
    /* A score is that of spam, where there is spam and no other label is given. */
    const twin_mail_evidence *shown = strcmp(out->evidence[0].label, TWIN_MAIL_SPAM) == 0 ? &out->evidence[0] : best;
    out->best = best->label;
    out->log_odds = shown->score;
    out->score = probability(shown->score);
    out->threshold = shown->above;
    out->reason = reason_of(out->label ? best : shown, method);
    uint64_t same = twin__remembered_find(&model->remembered, item->id);
    if (method == TWIN_MAIL_ALL && same != UINT64_MAX && !trusted)
        follow_label(out, shown, model->labels[twin__remembered_at(&model->remembered, same)->label].name);
}

const twin_mail_verdict *twin__model_judge_once(struct twin__model *model, const struct twin__mail_item *item)
{
    if (model->judged_id != item->id || model->judged_at != model->changes + 1)
        twin__model_judge(&model->judged, model->judged_scores, model, item, TWIN_MAIL_ALL, false);
    model->judged_id = item->id;
    model->judged_at = model->changes + 1; /* 0: never */
    return &model->judged;
}

void twin__model_move_thresholds(struct twin__model *model, const twin_mail_verdict *verdict, unsigned label)
{
    for (size_t i = 0; i < verdict->count; i++) {
        unsigned number = twin__model_label(model, verdict->evidence[i].label);
        struct twin__mail_label *known = &model->labels[number];
        bool positive = number == label;
        /* As long as only one side is known a score means nothing. */
        if (known->messages && model->remembered.live > known->messages)
            twin__thresholds_move(&known->thresholds, verdict->evidence[i].score, positive,
                                  known->content[TWIN__BY_ALL].margin.taught[positive]);
    }
}

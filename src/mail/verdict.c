/* verdict.c — from evidence to a verdict, by a table of steps.
 *
 * The table is the whole of the judge, in order: what is done when a message is learnt, what makes up a score, and the rules
 * by which scores become a verdict, of which the first that applies decides. Each has one sentence and one figure, and can be
 * left out of a model in memory: twinsift-lab mail-steps measures what each is worth. docs/mail.md has the same table.
 *
 * What scores are compared with is learnt, too: thresholds.c. */
#include "mail/verdict.h"

#include <math.h>
#include <string.h>

/* The log odds of spam of mail from those who are trusted, at most. */
static const double TRUSTED = -2;

/* From what score on another label than spam is likely, and how much more it takes for the share that is unknown. Measured by
 * twinsift-lab mail-labels. */
static const double LIKELY = 0.1, UNKNOWN_IN_FOLDERS = 4;

/* Of mail that is like what was learnt more than this is known of how it came: nine tenths have .6 and more; of mail of others
 * .3 to .5, and nothing where all that was learnt has no headers. */
static const double FAMILIAR = 0.5;

/* Messages learnt, after which it is known how much of one is known. */
static const double ESTABLISHED = 1000, ESTABLISHED_IN_FOLDERS = 200;

/* ---- the steps */

static const twin_mail_step_info steps[TWIN_MAIL_STEPS] = {
    /* while messages are learnt */
    [TWIN_MAIL_REHEARSAL] = { "rehearsal",
                              "After 8 messages of one label in a row, each further one teaches 2 of other labels "
                              "again.",
                              2 },
    [TWIN_MAIL_INTRODUCTION] = { "introduction",
                                 "A label that comes late is first taught up to 512 messages of each other label, as "
                                 "what it is not.",
                                 512 },
    [TWIN_MAIL_DOUBT] = { "doubt",
                          "A lesson that all evidence contradicts counts for the probability that its label is "
                          "right, .1 at least.",
                          0.1 },
    /* what makes up the score of a label */
    [TWIN_MAIL_BOUND] = { "bound",
                          "How a message came moves what its text says by at most 2 to 4 log odds, and 1 where "
                          "folders are learnt.",
                          4 },
    [TWIN_MAIL_SKEW] = { "skew",
                         "Odds that come only from how many of each label were taught are taken off; 75 of the rarer "
                         "halve that.",
                         75 },
    [TWIN_MAIL_SENDERS] = { "senders",
                            "The log ratio of how often the sender was learnt counts .15, and half of that for its "
                            "domain.",
                            0.15 },
    [TWIN_MAIL_COPIES] = { "copies", "Almost equal messages count log(1 + how many), at most 3.", 3 },
    [TWIN_MAIL_ONE_REPORT] = { "one report", "A single almost equal message may be a mistake and counts .34.", 0.34 },
    [TWIN_MAIL_STRUCTURE] = { "structure",
                              "Messages with the same structure of HTML count .25 of what as many copies do.", 0.25 },
    /* the verdict: the first that applies */
    [TWIN_MAIL_NOTHING] = { "nothing", "Nothing was learnt yet: unsure.", 0 },
    [TWIN_MAIL_LEARNT_ITSELF] = { "learnt", "The message was learnt itself: it has its label.", 0 },
    [TWIN_MAIL_BETWEEN] = { "between",
                            "The best score is between what a label is given above and what it is not below: unsure.",
                            0 },
    [TWIN_MAIL_RIVAL] = { "rival", "The best label leads the second by less than 1: unsure.", 1 },
    [TWIN_MAIL_GROUNDS] = { "grounds",
                            "What is seen, sender and lookalikes say no more for spam than 1.6 times what all "
                            "messages have: unsure.",
                            1.6 },
    [TWIN_MAIL_UNKNOWN_WORDS] = { "unknown",
                                  "Less than half of how it came is known, and grounds are less than 6 times what is "
                                  "missing; other labels have less than 4 times what is unknown: unsure.",
                                  6 },
    [TWIN_MAIL_OPENING] = { "opening",
                            "It seems good, but its headers and first 50 words have a score above .25: unsure.",
                            0.25 },
    [TWIN_MAIL_ABOVE] = { "above", "The best score is above its threshold: the label is given.", 0 },
    [TWIN_MAIL_BELOW] = { "below", "No score is above the second threshold of its label: the message is good.", 0 },
};

const twin_mail_step_info *twin_mail_step_about(twin_mail_step step)
{
    return (unsigned)step < TWIN_MAIL_STEPS ? &steps[step] : NULL;
}

bool twin__has_step(const struct twin__model *model, twin_mail_step step)
{
    return !(model->options.without >> step & 1);
}

/* ---- the rules */

/* What the rules look at. */
struct judged {
    const struct twin__model *model;
    const struct twin__mail_item *item;
    const struct twin__findings *found;
    twin_mail_method method;
    bool trusted;
    const twin_mail_verdict *verdict;
    const twin_mail_evidence *best; /* the label with the greatest score */
    double lead;                    /* of its score */
    uint64_t same;                  /* the number of the message, if it was learnt itself */
    double known;                   /* the share that is known of how it came */
    bool is_above, is_below;
};

static bool by_scores(const struct judged *j)
{
    return !j->trusted && (j->method == TWIN_MAIL_ALL || j->method == TWIN_MAIL_CONTENT);
}

static bool is_nothing(const struct judged *j)
{
    return j->verdict->count == 0;
}

static bool is_learnt_itself(const struct judged *j)
{
    return j->same != UINT64_MAX;
}

static bool is_between(const struct judged *j)
{
    return !j->is_above && !j->is_below;
}

static bool has_rival(const struct judged *j)
{
    return j->is_above && !(j->lead > steps[TWIN_MAIL_RIVAL].figure);
}

static bool is_spam(const twin_mail_evidence *e)
{
    return strcmp(e->label, TWIN_MAIL_SPAM) == 0;
}

static bool has_no_grounds(const struct judged *j)
{
    return j->is_above && by_scores(j) && is_spam(j->best) && !(j->best->grounds > 0);
}

/* Where headers and hosts are strange, words that all mail has are all that scores rest on. */
static bool is_unknown(const struct judged *j)
{
    double learnt = (double)j->model->learnt;
    if (!j->is_above || !by_scores(j))
        return false;
    if (!is_spam(j->best))
        return !(j->best->score >
                 LIKELY + UNKNOWN_IN_FOLDERS * (1 - j->verdict->known) * fmin(learnt / ESTABLISHED_IN_FOLDERS, 1));
    double missing = fmax(FAMILIAR - j->known, 0) * fmin(learnt / ESTABLISHED, 1);
    return missing > 0 && !(j->best->grounds > steps[TWIN_MAIL_UNKNOWN_WORDS].figure * missing);
}

/* What was added behind its beginning is not what a message is sent for. */
static bool is_opened(const struct judged *j)
{
    if (!j->is_below || !by_scores(j) || !j->item->opening.counts[TWIN__SEEN_WORDS])
        return false;
    for (size_t i = 0; i < j->verdict->count; i++) {
        const twin_mail_evidence *e = &j->verdict->evidence[i];
        unsigned label = twin__model_label(j->model, e->label);
        if (twin__label_learns(&j->model->labels[label]) &&
            twin__weigh_opening(e, j->model, j->item, label, j->found->bound) > steps[TWIN_MAIL_OPENING].figure)
            return true;
    }
    return false;
}

static bool is_above(const struct judged *j)
{
    return j->is_above;
}

static bool is_below(const struct judged *j)
{
    return j->is_below;
}

static const struct {
    twin_mail_step step;
    bool (*applies)(const struct judged *judged);
} rules[] = {
    { TWIN_MAIL_NOTHING, is_nothing },     { TWIN_MAIL_LEARNT_ITSELF, is_learnt_itself },
    { TWIN_MAIL_BETWEEN, is_between },     { TWIN_MAIL_RIVAL, has_rival },
    { TWIN_MAIL_GROUNDS, has_no_grounds }, { TWIN_MAIL_UNKNOWN_WORDS, is_unknown },
    { TWIN_MAIL_OPENING, is_opened },      { TWIN_MAIL_ABOVE, is_above },
    { TWIN_MAIL_BELOW, is_below },
};

/* The first rule that applies; the last two cannot both fail to. */
static twin_mail_step decide(const struct judged *j)
{
    size_t i = 0;
    while (!(twin__has_step(j->model, rules[i].step) && rules[i].applies(j)))
        i++;
    return rules[i].step;
}

/* ---- the verdict */

/* The labels that have evidence: spam first, good only if there is no other. */
static void gather(twin_mail_verdict *out, struct twin__findings *found, const struct twin__model *model,
                   const struct twin__mail_item *item, twin_mail_method method, bool trusted)
{
    for (int spam = 1; spam >= 0; spam--)
        for (unsigned i = 0; i < model->label_count; i++) {
            const struct twin__mail_label *label = &model->labels[i];
            if ((strcmp(label->name, TWIN_MAIL_SPAM) == 0) == spam && strcmp(label->name, TWIN_MAIL_GOOD) != 0)
                twin__weigh_evidence(&out->evidence[out->count++], model, item, i, found, method);
        }
    for (size_t i = 0; i < out->count && trusted; i++) {
        twin_mail_evidence *e = &out->evidence[i];
        e->senders.trusted = true;
        e->score = is_spam(e) ? fmin(e->score, TRUSTED) : e->score;
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

/* Whether none of the labels fits, and there are examples of some: without, everything is good. */
static bool none_fits(const twin_mail_verdict *verdict)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        if (!(e->score < e->below))
            return false;
        messages += e->messages;
    }
    return messages > 0;
}

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

static double probability(double log_odds)
{
    return 1 / (1 + exp(-log_odds));
}

/* A message that was learnt itself has a score that does not contradict its label. The log odds stay what the evidence says: a
 * label may be wrong. */
static double score_of(const struct judged *j, const char *label)
{
    const twin_mail_evidence *best = j->best;
    if (!is_learnt_itself(j))
        return probability(best->score);
    for (size_t i = 0; i < j->verdict->count; i++)
        if (strcmp(j->verdict->evidence[i].label, label) == 0)
            best = &j->verdict->evidence[i];
    return probability(strcmp(best->label, label) == 0 ? fmax(best->score, best->above)
                                                       : fmin(best->score, best->below));
}

/* Fills in what the scores say: label, reason, step. */
static void conclude(twin_mail_verdict *out, struct judged *j)
{
    const struct twin__model *model = j->model;
    const twin_mail_evidence *best = j->best = find_best(&j->lead, out);
    unsigned good = twin__model_label(model, TWIN_MAIL_GOOD);
    /* Spam keeps what it promises of good mail; another label is more likely than not. */
    j->is_above = best->score > (is_spam(best) || !by_scores(j) ? best->above : fmin(best->above, LIKELY));
    j->is_below = !j->is_above && good < model->label_count && none_fits(out);
    out->step = decide(j);
    if (out->step == TWIN_MAIL_LEARNT_ITSELF)
        out->label = model->labels[twin__remembered_at(&model->remembered, j->same)->label].name;
    else if (out->step == TWIN_MAIL_ABOVE)
        out->label = best->label;
    else if (out->step == TWIN_MAIL_BELOW)
        out->label = model->labels[good].name;
    const twin_mail_evidence *spam = is_spam(&out->evidence[0]) ? &out->evidence[0] : best;
    out->best = best->label;
    out->score = score_of(j, out->label);
    out->log_odds = spam->score;
    out->threshold = spam->above;
    out->reason = is_learnt_itself(j) ? TWIN_MAIL_BY_LOOKALIKE : reason_of(best, j->method);
}

/* ---- what is known of a message */

/* How much a usual place was taught: the median of some. It is 0 as long as most places were taught nothing. */
static float usual_squares(const struct twin__linear_cell *cells)
{
    enum { SOME = 127 };
    float sorted[SOME];
    for (int i = 0; i < SOME; i++) {
        int k = i;
        for (; k > 0 && sorted[k - 1] > cells[i + 1].squares; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = cells[i + 1].squares;
    }
    return sorted[SOME / 2];
}

/* The share of the words of each block that were taught more than a usual place. Words share places, so that some pass for known
 * by chance: as many as there are such places, of which a few are looked at. */
static void find_known(double out[TWIN__FEATURE_BLOCKS], const struct twin__model *model,
                       const struct twin__features *features)
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        out[b] = 0;
    for (unsigned i = 0; i < model->label_count; i++) {
        const struct twin__linear_cell *cells = model->labels[i].content[TWIN__BY_ALL].cells;
        if (!twin__label_learns(&model->labels[i]))
            continue;
        float least = usual_squares(cells);
        unsigned taught = 0;
        for (unsigned place = 1; place <= TWIN__MAIL_LOOKED_AT; place++)
            taught += cells[place].squares > least;
        double strange = 1 - fmin((double)taught / TWIN__MAIL_LOOKED_AT, 0.9);
        for (int b = TWIN__SEEN_WORDS; b <= TWIN__OTHER_WORDS; b++) {
            unsigned unknown = 0;
            for (uint32_t k = 0; k < features->counts[b]; k++)
                unknown += !(cells[features->places[b][k]].squares > least);
            out[b] = fmax(out[b], 1 - unknown / fmax(features->counts[b], 1) / strange);
        }
    }
}

void twin__model_judge(twin_mail_verdict *out, struct twin__label_score *scores, const struct twin__model *model,
                       const struct twin__mail_item *item, twin_mail_method method, bool trusted)
{
    struct twin__findings found;
    double known[TWIN__FEATURE_BLOCKS];
    memset(out, 0, sizeof *out);
    out->score = 0.5;
    out->threshold = twin__thresholds_first().above;
    out->step = TWIN_MAIL_NOTHING;
    find_known(known, model, &item->features);
    out->known = fmin(known[TWIN__SEEN_WORDS], known[TWIN__OTHER_WORDS]);
    twin__find_evidence(&found, model, item, method);
    gather(out, &found, model, item, method, trusted);
    if (scores)
        memcpy(scores, found.scores, model->label_count * sizeof *scores);
    struct judged judged = { model, item, &found, method, trusted, out, NULL, 0, UINT64_MAX, known[TWIN__OTHER_WORDS],
                             false, false };
    if (method == TWIN_MAIL_ALL && !trusted)
        judged.same = twin__remembered_find(&model->remembered, item->id);
    if (out->count)
        conclude(out, &judged);
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

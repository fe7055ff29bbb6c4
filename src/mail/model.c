/* model.c — learning and forgetting.
 *
 * A message is first prepared: its features, signature and hashes are all that the model uses of it. Learning judges it
 * with what is known so far, which moves the thresholds and shows how accurate the model is; then every classifier
 * learns whether it has its label, and a record of it is added. A correction takes the old record away, so that a message
 * counts once, and teaches the classifiers until the verdict is right. */
#include "mail/model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "mail/fields.h"
#include "sketch/minhash.h"

enum {
    DEFAULT_MESSAGES = 100000,
    MOST_STEPS = 16, /* of a correction */
    STEPS_MORE = 3,  /* after the verdict is right */
    LONG_STREAK = 8, /* messages of one label in a row, after which others are taught again */
    REHEARSALS = 2,
    SECONDS_PER_DAY = 86400,
};

twin_status twin__model_init(struct twin__model *model, twin_mail_options options, const uint64_t key[2])
{
    memset(model, 0, sizeof *model);
    model->options = options;
    memcpy(model->key, key, sizeof model->key);
    model->options.key = NULL;
    if (!model->options.keep_messages)
        model->options.keep_messages = DEFAULT_MESSAGES;
    twin_status status = twin__check_reserved(NULL, options.reserved, "a model");
    if (status == TWIN_OK)
        status = twin__feature_maker_create(&model->maker, key);
    if (status == TWIN_OK)
        status = twin__minhash_create(
            &model->hasher, (twin_minhash_options){ .slots = TWIN__MAIL_SLOTS, .seed = twin__mix(key[0]) ^ key[1] });
    return status;
}

static void clear_content(struct twin__mail_label *label)
{
    for (int by = 0; by < TWIN__JUDGES; by++)
        twin__content_clear(&label->content[by]);
}

void twin__model_clear(struct twin__model *model)
{
    for (unsigned i = 0; i < model->label_count; i++) {
        clear_content(&model->labels[i]);
        twin_bloom_free(model->labels[i].senders);
        twin__rehearsal_clear(&model->labels[i].rehearsal);
    }
    twin__remembered_clear(&model->remembered);
    twin__mail_texts_clear(&model->texts);
    twin__feature_maker_free(model->maker);
    twin__minhash_free(model->hasher);
    memset(model, 0, sizeof *model);
}

/* ---- labels */

unsigned twin__model_label(const struct twin__model *model, const char *name)
{
    for (unsigned i = 0; i < model->label_count; i++)
        if (strcmp(model->labels[i].name, name) == 0)
            return i;
    return UINT_MAX;
}

bool twin__model_is_label(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!twin__is_letter_or_digit(name[i]) && !strchr("-_.", name[i]))
            return false;
    return length >= 1 && length <= TWIN_MAIL_LABEL_BYTES && strcmp(name, "unsure") != 0;
}

static twin_status append_label(unsigned *out, struct twin__model *model, const char *name, twin_error *error)
{
    if (model->label_count == TWIN_MAIL_MAX_LABELS)
        return twin__fail(error, TWIN_ELIMIT, "the model has %d labels already, which is the most",
                          TWIN_MAIL_MAX_LABELS);
    struct twin__mail_label *label = &model->labels[model->label_count];
    *label = (struct twin__mail_label){ .thresholds = twin__thresholds_first() };
    memcpy(label->name, name, strlen(name) + 1);
    twin_status status = TWIN_OK;
    bool has_weights = twin__label_learns(label) && !model->without_weights;
    for (int by = 0; by < TWIN__JUDGES && has_weights && status == TWIN_OK; by++)
        status = twin__content_init(&label->content[by]);
    if (status != TWIN_OK) {
        clear_content(label);
        return twin__fail_memory(error);
    }
    *out = model->label_count++;
    return TWIN_OK;
}

/* Spam and good mail come together, so that the classifier of spam learns from what comes first, whichever it is. */
twin_status twin__model_add_label(unsigned *out, struct twin__model *model, const char *name, twin_error *error)
{
    *out = twin__model_label(model, name);
    if (*out != UINT_MAX)
        return TWIN_OK;
    if (!twin__model_is_label(name))
        return twin__fail(error, TWIN_EINVAL,
                          "\"%.80s\" is not a label: use up to %d letters, digits and -_. (but not \"unsure\")", name,
                          TWIN_MAIL_LABEL_BYTES);
    bool spam = strcmp(name, TWIN_MAIL_SPAM) == 0, good = strcmp(name, TWIN_MAIL_GOOD) == 0;
    if (!spam && !good)
        return append_label(out, model, name, error);
    twin_status status = append_label(out, model, TWIN_MAIL_SPAM, error);
    if (status == TWIN_OK)
        status = append_label(out, model, TWIN_MAIL_GOOD, error);
    *out -= spam && status == TWIN_OK;
    return status;
}

/* What the learners of a label are shown of a message. */
static void show(struct twin__features out[TWIN__JUDGES], const struct twin__features *features)
{
    out[TWIN__BY_ALL] = *features;
    out[TWIN__BY_SEEN] = twin__features_seen(*features);
}

struct twin__label_score twin__label_score(const struct twin__mail_label *label,
                                           const struct twin__features *features)
{
    struct twin__features shown[TWIN__JUDGES];
    struct twin__label_score score;
    show(shown, features);
    for (int by = 0; by < TWIN__JUDGES; by++)
        score.by[by] = twin__content_score(&label->content[by], &shown[by]);
    return score;
}

bool twin__label_learns(const struct twin__mail_label *label)
{
    return strcmp(label->name, TWIN_MAIL_GOOD) != 0;
}

void twin__label_copy(struct twin__mail_label *label)
{
    const struct twin__content *all = &label->content[TWIN__BY_ALL];
    struct twin__content *seen = &label->content[TWIN__BY_SEEN];
    memcpy(seen->cells, all->cells, TWIN__FEATURE_PLACES * sizeof *all->cells);
    memcpy(seen->margin.weights, all->margin.weights, TWIN__FEATURE_PLACES * sizeof *all->margin.weights);
    memcpy(seen->margin.taught, all->margin.taught, sizeof all->margin.taught);
}

/* ---- from a message to what the model uses of it */

static uint64_t chain(const struct twin__model *model, uint64_t so_far, const char *what, twin_text text)
{
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { model->key[0], model->key[1] } };
    uint64_t parts[3] = { so_far, twin_hash_bytes(hash, what, strlen(what)),
                          twin_hash_bytes(hash, text.bytes, text.length) };
    return twin_hash_bytes(hash, parts, sizeof parts);
}

static bool is_header(twin_text name, const char *wanted)
{
    size_t length = strlen(wanted), same = 0;
    while (name.length == length && same < length && twin__lower(name.bytes[same]) == twin__lower(wanted[same]))
        same++;
    return same == length;
}

/* What identifies a message, whatever hosts and programs on its way add to its headers. */
static uint64_t identify(const struct twin__model *model, const twin_message *message)
{
    static const char *const names[] = { "Message-ID", "Date", "From", "To", "Subject" };
    uint64_t id = 1;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t i = 0; i < message->header_count; i++) {
            twin_text name = message->headers[i].name;
            if (is_header(name, names[n])) {
                id = chain(model, id, names[n], message->headers[i].value);
                break;
            }
        }
    twin_text body = { message->raw.bytes + message->header_length, message->raw.length - message->header_length };
    return chain(model, id, "body", body);
}

/* Never 0, which means that there is none. */
static uint64_t sender_hash(const struct twin__model *model, const char *what, twin_text text)
{
    return text.length ? chain(model, 0, what, text) | 1 : 0;
}

twin_status twin__model_prepare(struct twin__mail_item *out, struct twin__model *model, const twin_message *message)
{
    *out = (struct twin__mail_item){ .id = identify(model, message) };
    for (size_t i = 0; i < message->address_count; i++)
        if (message->addresses[i].role == TWIN_MESSAGE_FROM) {
            const twin_message_address *from = &message->addresses[i];
            out->address = sender_hash(model, "address", from->address);
            out->domain = sender_hash(model, "domain", from->registered.length ? from->registered : from->domain);
            break;
        }
    twin_status status = twin__features_make(&out->features, &out->opening, model->maker, message);
    if (status == TWIN_OK)
        out->signature = twin__mail_sign(model->hasher, &out->features);
    if (status == TWIN_OK)
        twin__mail_sign_shape(&out->signature, model->hasher, message->elements, message->element_count);
    return status;
}

/* ---- records */

twin_status twin__model_remember(struct twin__model *model, const struct twin__mail_record *record,
                                 const struct twin__mail_signature *signature)
{
    struct twin__mail_label *label = &model->labels[record->label];
    bool removed = record->flags & TWIN__MAIL_REMOVED;
    twin_status status = removed || !model->filtered ? TWIN_OK : twin__senders_plan(model, record->label);
    if (status == TWIN_OK)
        status = twin__remembered_add(&model->remembered, record, signature);
    if (status != TWIN_OK || removed)
        return status;
    if (model->filtered)
        twin__senders_add(label, record);
    label->messages++;
    return TWIN_OK;
}

static void uncount(struct twin__model *model, const struct twin__mail_record *record)
{
    struct twin__mail_label *label = &model->labels[record->label];
    if (record->flags & TWIN__MAIL_REMOVED)
        return;
    twin__senders_remove(label, record);
    label->messages--;
}

static twin_status forget_number(struct twin__model *model, uint64_t number)
{
    struct twin__mail_record was = *twin__remembered_at(&model->remembered, number);
    if (twin__remembered_remove(&model->remembered, number) != TWIN_OK)
        return TWIN_ENOMEM;
    uncount(model, &was);
    twin__rehearsal_drop(&model->labels[was.label].rehearsal, number);
    for (unsigned i = 0; i < model->label_count; i++)
        for (int by = 0; by < TWIN__JUDGES && twin__label_learns(&model->labels[i]); by++)
            twin__margin_forget(&model->labels[i].content[by].margin, number);
    return TWIN_OK;
}

/* Whether the oldest is older than what is kept. The clock may have been ahead when it was learnt: then one that was learnt after
 * it, and is old, says so. A few of these are looked at. */
static bool is_old(const struct twin__model *model, uint32_t now)
{
    const struct twin__remembered *r = &model->remembered;
    uint64_t days = model->options.keep_days, seconds = days * SECONDS_PER_DAY;
    uint32_t time = twin__remembered_at(r, r->first)->time;
    if (days == 0 || days > UINT32_MAX / SECONDS_PER_DAY) /* longer than times can tell */
        return false;
    if (time <= now)
        return time + seconds < now;
    for (uint64_t step = 1; step < r->count; step *= 2) {
        const struct twin__mail_record *later = twin__remembered_at(r, r->first + step);
        if (!(later->flags & TWIN__MAIL_IMPORTED) && later->time + seconds < now)
            return true;
    }
    return false;
}

/* Drops the oldest: more than are kept, older than are kept, and what was forgotten. Numbers of what was forgotten stay used,
 * so that these are bounded, too: a message that is corrected every day would use one each time. Of what is old a few go at each
 * lesson: by a clock that is years ahead everything is. */
static void expire(struct twin__model *model, uint32_t now)
{
    enum { MOST_AGED = 2 };
    struct twin__remembered *r = &model->remembered;
    int aged = 0;
    while (r->count) {
        const struct twin__mail_record *oldest = twin__remembered_at(r, r->first);
        bool many = r->live > model->options.keep_messages || r->count / 2 > model->options.keep_messages;
        bool counts = !many && !(oldest->flags & TWIN__MAIL_REMOVED);
        if (counts && (aged++ == MOST_AGED || !is_old(model, now)))
            return;
        uncount(model, oldest);
        twin__remembered_drop_first(r);
    }
}

/* ---- learning */

/* What is known of a lesson, by label. */
struct lesson {
    const struct twin__label_score *scores; /* what the learners say of it; NULL: not known */
    const double *trust;                    /* how far its label is believed; NULL: it is */
};

static twin_status teach(struct twin__model *model, const struct twin__features *features, uint64_t number,
                         unsigned label, struct lesson lesson)
{
    struct twin__features shown[TWIN__JUDGES];
    twin_status status = TWIN_OK;
    show(shown, features);
    for (unsigned i = 0; i < model->label_count; i++) {
        struct twin__mail_label *known = &model->labels[i];
        if (!twin__label_learns(known))
            continue;
        struct twin__label_score score = lesson.scores ? lesson.scores[i] : twin__label_score(known, features);
        for (int by = 0; by < TWIN__JUDGES && status == TWIN_OK; by++)
            status = twin__content_learn(&known->content[by], number, &shown[by], score.by[by], i == label,
                                         lesson.trust ? lesson.trust[i] : 1);
    }
    return status;
}

/* Counts a message that is learnt; what is rehearsed was counted before. */
static void count_lesson(struct twin__model *model, unsigned label)
{
    for (unsigned i = 0; i < model->label_count; i++)
        for (int by = 0; by < TWIN__JUDGES; by++)
            model->labels[i].content[by].margin.taught[i == label]++;
}

static twin_status teach_label(struct twin__mail_label *label, const struct twin__rehearsed *message, bool positive)
{
    struct twin__features shown[TWIN__JUDGES], features = twin__rehearsed_features(message);
    twin_status status = TWIN_OK;
    show(shown, &features);
    for (int by = 0; by < TWIN__JUDGES && twin__label_learns(label) && status == TWIN_OK; by++)
        status = twin__content_rehearse(&label->content[by], message->number, &shown[by], positive);
    return status;
}

static twin_status teach_again(struct twin__model *model, const struct twin__rehearsed *message, unsigned label)
{
    twin_status status = TWIN_OK;
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++)
        status = teach_label(&model->labels[i], message, i == label);
    return status;
}

/* A label that comes late is taught what is not of it, as far as that is kept: else it would learn only from what comes
 * after. */
static twin_status introduce(struct twin__model *model, unsigned label)
{
    struct twin__mail_label *known = &model->labels[label];
    uint64_t *others = &known->content[TWIN__BY_ALL].margin.taught[0];
    twin_status status = TWIN_OK;
    if (!twin__has_step(model, TWIN_MAIL_INTRODUCTION) || !twin__label_learns(known) ||
        known->content[TWIN__BY_ALL].margin.taught[1] || *others)
        return TWIN_OK;
    for (unsigned i = 0; i < model->label_count; i++) {
        struct twin__rehearsed **slots = model->labels[i].rehearsal.slots;
        for (size_t k = 0; k < TWIN__REHEARSED && slots && i != label && status == TWIN_OK; k++)
            if (slots[k])
                status = teach_label(known, slots[k], false);
        *others += i == label ? 0 : model->labels[i].messages;
    }
    known->content[TWIN__BY_SEEN].margin.taught[0] = *others;
    return status;
}

/* After many messages of one label, teaches some of the others again for each further one. */
static twin_status rehearse(struct twin__model *model, uint64_t number, unsigned label)
{
    model->streak = model->streak_label == label ? model->streak + 1 : 1;
    model->streak_label = label;
    const unsigned labels = model->label_count;
    if (model->streak <= LONG_STREAK || labels < 2 || !twin__has_step(model, TWIN_MAIL_REHEARSAL))
        return TWIN_OK;
    twin_status status = TWIN_OK;
    for (uint64_t i = 0; i < REHEARSALS && status == TWIN_OK; i++) {
        uint64_t random = twin__mix(number * REHEARSALS + i + 1);
        unsigned other = (label + 1 + (unsigned)(random % (labels - 1))) % labels;
        const struct twin__rehearsed *message = twin__rehearsal_draw(&model->labels[other].rehearsal, random >> 32);
        if (!message)
            continue;
        status = teach_again(model, message, other);
    }
    return status;
}

static bool is_called(const twin_mail_verdict *verdict, const struct twin__model *model, unsigned label)
{
    return verdict->label && strcmp(verdict->label, model->labels[label].name) == 0;
}

/* Teaches again until the content alone says so, and a little more, for near-copies; but does not fight a model that is
 * sure of the opposite for ever. */
static twin_status insist(struct twin__model *model, const struct twin__mail_item *item, uint64_t number,
                          unsigned label)
{
    twin_status status = TWIN_OK;
    int more = STEPS_MORE;
    for (int step = 0; step < MOST_STEPS && more && status == TWIN_OK; step++) {
        twin_mail_verdict verdict;
        twin__model_judge(&verdict, NULL, model, item, TWIN_MAIL_CONTENT, false);
        more -= is_called(&verdict, model, label);
        status = teach(model, &item->features, number, label, (struct lesson){ 0 });
    }
    return status;
}

/* Adds the record of a message that is new, or new under this label. */
static twin_status remember(struct twin__model *model, const struct twin__mail_item *item, unsigned label,
                            uint32_t now, const twin_mail_verdict *verdict)
{
    struct twin__mail_record record = { .id = item->id,
                                        .address = item->address,
                                        .domain = item->domain,
                                        .time = now,
                                        .label = (uint16_t)label,
                                        .score = verdict ? (float)verdict->log_odds : NAN };
    if (verdict && verdict->label)
        record.verdict = twin__model_label(model, verdict->label) + 1;
    return twin__model_remember(model, &record, &item->signature);
}

twin_status twin__model_learn(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item,
                              unsigned label, int64_t time, bool correct)
{
    uint32_t now = time < 0 ? 0 : time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
    uint64_t known = twin__remembered_find(&model->remembered, item->id);
    bool is_imported =
        known != UINT64_MAX && twin__remembered_at(&model->remembered, known)->flags & TWIN__MAIL_IMPORTED;
    bool is_new = known == UINT64_MAX || is_imported; /* the learners have not seen what was imported */
    bool is_same = !is_new && twin__remembered_at(&model->remembered, known)->label == label;
    *out = TWIN_MAIL_KNOWN;
    if (is_same && !correct)
        return TWIN_OK;
    const twin_mail_verdict verdict = *twin__model_judge_once(model, item);
    if (is_same && is_called(&verdict, model, label))
        return TWIN_OK;
    model->changes++;
    double trust[TWIN_MAIL_MAX_LABELS];
    correct = correct || !is_new;
    bool believed = correct || !twin__has_step(model, TWIN_MAIL_DOUBT) ||
                    twin__model_trust(trust, model, &verdict, label) >= TWIN__BELIEVED;
    bool doubts = !correct && twin__has_step(model, TWIN_MAIL_DOUBT);
    const struct lesson lesson = { known == UINT64_MAX ? model->judged_scores : NULL, doubts ? trust : NULL };

    twin_status status = twin__model_make_filters(model);
    if (status == TWIN_OK && known != UINT64_MAX)
        status = forget_number(model, known);
    if (is_new)
        twin__model_move_thresholds(model, &verdict, label);
    uint64_t number = model->remembered.first + model->remembered.count;
    if (status == TWIN_OK)
        status = remember(model, item, label, now, is_new ? &verdict : NULL);
    if (status == TWIN_OK && !model->options.without_texts)
        status = twin__mail_texts_add(&model->texts, number, item->subject, item->text);
    if (status == TWIN_OK)
        status = introduce(model, label);
    if (status == TWIN_OK)
        status = teach(model, &item->features, number, label, lesson);
    if (status == TWIN_OK)
        count_lesson(model, label);
    if (status == TWIN_OK && believed)
        status = twin__rehearsal_add(&model->labels[label].rehearsal, number, &item->features);
    if (status == TWIN_OK)
        status = rehearse(model, number, label);
    if (status == TWIN_OK && correct)
        status = insist(model, item, number, label);
    if (status != TWIN_OK)
        return status;
    expire(model, now);
    model->learnt++;
    *out = correct ? TWIN_MAIL_CORRECTED : TWIN_MAIL_LEARNT;
    return TWIN_OK;
}

/* ---- what another model has learnt */

twin_status twin__model_import(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item,
                               unsigned label, int64_t time)
{
    struct twin__mail_record record = { .id = item->id,
                                        .address = item->address,
                                        .domain = item->domain,
                                        .time = (uint32_t)time,
                                        .label = (uint16_t)label,
                                        .flags = TWIN__MAIL_IMPORTED,
                                        .score = NAN };
    *out = TWIN_MAIL_KNOWN;
    if (twin__remembered_find(&model->remembered, item->id) != UINT64_MAX)
        return TWIN_OK;
    twin_status status = twin__model_make_filters(model);
    if (status == TWIN_OK)
        status = twin__model_remember(model, &record, &item->signature);
    if (status != TWIN_OK)
        return status;
    model->changes++;
    *out = TWIN_MAIL_LEARNT;
    return TWIN_OK;
}

void twin__model_adopt(struct twin__model *model, unsigned label, const struct twin__mail_weights *weights)
{
    struct twin__mail_label *known = &model->labels[label];
    struct twin__content *content = &known->content[TWIN__BY_ALL];
    if (model->learnt || !content->cells)
        return;
    known->thresholds = twin__thresholds_within((struct twin__thresholds){ .above = weights->threshold });
    memcpy(content->cells, weights->cells, sizeof weights->cells);
    memcpy(content->margin.weights, weights->margin, sizeof weights->margin);
    memcpy(content->margin.taught, weights->taught, sizeof weights->taught);
    twin__label_copy(known);
    model->changes++;
}

twin_status twin__model_forget(twin_mail_effect *out, struct twin__model *model, const struct twin__mail_item *item)
{
    uint64_t known = twin__remembered_find(&model->remembered, item->id);
    *out = known == UINT64_MAX ? TWIN_MAIL_UNKNOWN : TWIN_MAIL_FORGOTTEN;
    model->changes++;
    return known == UINT64_MAX ? TWIN_OK : forget_number(model, known);
}

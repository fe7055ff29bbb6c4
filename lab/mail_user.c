/* mail_user.c — people who use a mail filter: what they learn, what is judged, and how well. */
#include "mail_user.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages, and a model that learns and judges them */

void mails_add(struct mails *out, const struct mail_line *line)
{
    if ((out->count & (out->count + 1)) == 0) { /* room for 1, 3, 7 .. */
        out->lines = realloc(out->lines, 2 * (out->count + 1) * sizeof(void *));
        if (!out->lines)
            die("out of memory");
    }
    out->lines[out->count++] = line;
}

void mails_clear(struct mails *mails)
{
    free(mails->lines);
    *mails = (struct mails){ 0 };
}

/* Appends messages of a kind, in their order, from number `begin` of these on, `count` at most. */
void mails_take(struct mails *out, const struct mail_corpus *from, enum kind kind, size_t begin, size_t count)
{
    size_t seen = 0;
    for (size_t i = 0; i < from->count && count; i++) {
        const struct mail_line *line = &from->lines[i];
        bool is_wanted = kind == BOTH || line->is_spam == (kind == SPAM);
        if (!is_wanted || seen++ < begin)
            continue;
        mails_add(out, line);
        count--;
    }
}

/* As many of each kind at equal distances. */
void mails_sample(struct mails *out, const struct mail_corpus *from, size_t each)
{
    size_t counts[2] = { 0 }, taken[2] = { 0 }, seen[2] = { 0 };
    for (size_t i = 0; i < from->count; i++)
        counts[from->lines[i].is_spam]++;
    for (size_t i = 0; i < from->count; i++) {
        int spam = from->lines[i].is_spam;
        if (taken[spam] * counts[spam] <= seen[spam] * each && taken[spam] < each) {
            mails_add(out, &from->lines[i]);
            taken[spam]++;
        }
        seen[spam]++;
    }
}

void mails_append(struct mails *out, const struct mails *more)
{
    for (size_t i = 0; i < more->count; i++)
        mails_add(out, more->lines[i]);
}

void mails_shuffle(struct mails *mails, uint64_t seed)
{
    for (size_t i = mails->count; i > 1; i--) {
        size_t other = (size_t)draw_below(&seed, i);
        const struct mail_line *line = mails->lines[i - 1];
        mails->lines[i - 1] = mails->lines[other];
        mails->lines[other] = line;
    }
}

void user_begin(struct user *out, const struct lab *lab, uint64_t without)
{
    uint64_t key[2] = { seed_of(lab->seed, 1), seed_of(lab->seed, 2) };
    *out = (struct user){ 0 };
    expect(twin_mail_create_in_memory(&out->mail, (twin_mail_options){ .key = key, .without = without }), "model",
           NULL);
    expect(twin_message_reader_create(&out->reader, (twin_message_options){ 0 }), "reader", NULL);
}

void user_end(struct user *user)
{
    twin_mail_close(user->mail);
    twin_message_reader_free(user->reader);
    twin_buffer_clear(&user->raw);
}

const twin_message *user_read(struct user *user, const struct mail_line *line)
{
    const twin_message *message;
    if (!mail_file_read(&user->raw, line->path))
        die("%s: could not be read", line->path);
    expect(twin_message_read(&message, user->reader, (twin_text){ user->raw.bytes, user->raw.length }), "message",
           NULL);
    return message;
}

static const char *mail_label_of(const struct mail_line *line)
{
    return line->label ? line->label : line->is_spam ? TWIN_MAIL_SPAM : TWIN_MAIL_GOOD;
}

void user_learn(struct user *user, const struct mails *mails)
{
    for (size_t i = 0; i < mails->count; i++)
        expect(twin_mail_learn(NULL, user->mail, user_read(user, mails->lines[i]), mail_label_of(mails->lines[i]),
                               user->time++, NULL),
               "learn", NULL);
}

/* ---- what is judged */

struct figures figures_begin(const struct mails *mails)
{
    return (struct figures){ .judgements = need(mails->count + 1, sizeof(twin__mail_judgement)) };
}

void figures_count(struct figures *out, const struct mail_line *line, int verdict, double score)
{
    out->called[line->counts_as_spam][verdict]++;
    out->judgements[out->count++] = (twin__mail_judgement){ score, line->counts_as_spam, verdict == 2 };
}

static void user_judge_one(struct figures *out, struct user *user, const struct mail_line *line,
                           const twin_message *message)
{
    twin_mail_verdict verdict;
    expect(twin_mail_check(&verdict, user->mail, message, (twin_mail_check_options){ 0 }, NULL), "check", NULL);
    bool spam = verdict.label && strcmp(verdict.label, TWIN_MAIL_SPAM) == 0;
    figures_count(out, line, !verdict.label ? 1 : spam ? 2 : 0, verdict.log_odds);
}

void figures_end(struct figures *figures)
{
    twin__mail_measures measures;
    expect(twin__mail_measure(&measures, figures->judgements, figures->count, (twin__mail_measure_options){ 0 }),
           "measures", NULL);
    figures->area = measures.good && measures.spam ? measures.roca.percent : NAN;
    free(figures->judgements);
}

struct figures user_judge(struct user *user, const struct mails *mails)
{
    struct figures out = figures_begin(mails);
    for (size_t i = 0; i < mails->count; i++)
        user_judge_one(&out, user, mails->lines[i], user_read(user, mails->lines[i]));
    figures_end(&out);
    return out;
}

double figures_percent(const struct figures *f, enum kind kind, int verdict)
{
    const uint64_t *called = f->called[kind];
    uint64_t all = called[0] + called[1] + called[2];
    return all ? 100 * (double)called[verdict] / (double)all : NAN;
}

void figures_row(struct table *table, const char *learnt, const char *judged, const char *filter,
                 const struct figures *f)
{
    const double values[] = { figures_percent(f, GOOD, 2), figures_percent(f, GOOD, 1), figures_percent(f, SPAM, 2),
                              figures_percent(f, SPAM, 0), f->area };
    char cells[5][16];
    for (int i = 0; i < 5; i++)
        if (isnan(values[i]))
            snprintf(cells[i], sizeof cells[i], "–");
        else
            snprintf(cells[i], sizeof cells[i], i < 4 ? "%.2f" : "%.3f", values[i]);
    table_row(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", learnt, judged, filter, cells[0], cells[1], cells[2], cells[3],
              cells[4]);
}

/* ---- corpora */

bool corpora_read(struct corpora *out, struct lab *lab)
{
    char path[PATH_ROOM];
    *out = (struct corpora){ 0 };
    if (!mail_read_trec(&out->trec, lab, 0, true))
        return false;
    if (!mail_read_folder(&out->spamassassin, lab, "spamassassin") ||
        !mail_read_folder(&out->enron_all, lab, "enron-spam") || !data_find(path, lab, "enron-raw-ham"))
        return false;
    if (!mail_corpus_add_labelled(&out->raw, path, TWIN_MAIL_GOOD))
        die("%s: could not be read", path);
    for (int i = 0; i < ENRON_PARTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "enron-spam/enron%d", i + 1);
        if (!mail_read_folder(&out->enron[i], lab, name))
            return false;
    }
    return true;
}

void corpora_clear(struct corpora *corpora)
{
    mail_corpus_clear(&corpora->trec);
    mail_corpus_clear(&corpora->spamassassin);
    mail_corpus_clear(&corpora->enron_all);
    mail_corpus_clear(&corpora->raw);
    for (int i = 0; i < ENRON_PARTS; i++)
        mail_corpus_clear(&corpora->enron[i]);
}

struct figures user_play(struct user *user, const struct mails *mails)
{
    struct figures out = figures_begin(mails);
    for (size_t i = 0; i < mails->count; i++) {
        const struct mail_line *line = mails->lines[i];
        const twin_message *message = user_read(user, line);
        user_judge_one(&out, user, line, message);
        expect(twin_mail_learn(NULL, user->mail, message, mail_label_of(line), user->time++, NULL), "learn", NULL);
    }
    figures_end(&out);
    return out;
}

bool mail_folder_read(struct mail_corpus *out, struct lab *lab, const char *name, const char *label)
{
    char path[PATH_ROOM];
    *out = (struct mail_corpus){ 0 };
    if (!data_find(path, lab, name))
        return false;
    if (!mail_corpus_add_labelled(out, path, label))
        die("%s: could not be read", path);
    return true;
}

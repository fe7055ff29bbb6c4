/* exp_mail_steps.c — mail-steps: what each step of the judge is worth.
 *
 * Each is left out in turn, and the filter is used in the ways for which steps were made: streams, other people's mail, spam
 * from everywhere, two folders, several folders, wrong labels, good words added to spam, and very short mail. A step that
 * changes nothing for the better in its row has no reason to be there. */
#include "mail_user.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 3, STREAM = 5000, SAMPLE = 1000, ATTACKED = 500, PADDING = 100, MOST_WORDS = 20000, FOLDER = 200 };

/* What all rows are made of. */
struct material {
    struct corpora c;
    struct mail_corpus folders[3], good, spam;
    struct mails trec, spamassassin, other, raw, more_spam, enron, attacked, first, next;
    char *words[MOST_WORDS]; /* of good mail that is learnt */
    size_t word_count;
};

/* ---- material */

static void split_words(struct material *m, twin_text text)
{
    for (size_t i = 0; i < text.length && m->word_count < MOST_WORDS;) {
        size_t begin = i;
        while (i < text.length && text.bytes[i] != ' ' && text.bytes[i] != '\n')
            i++;
        if (i - begin >= 3 && i - begin <= 15)
            m->words[m->word_count++] = strndup(text.bytes + begin, i - begin);
        i += i == begin;
    }
}

static void take_words(struct material *m, const struct lab *lab)
{
    struct user user;
    user_begin(&user, lab, 0);
    for (size_t i = 0; i < m->enron.count && m->word_count < MOST_WORDS; i += 5)
        if (!m->enron.lines[i]->is_spam)
            split_words(m, user_read(&user, m->enron.lines[i])->text);
    user_end(&user);
}

static bool material_read(struct material *m, struct lab *lab)
{
    static const char *const folders[] = { "enron-raw-ham/farmer-d", "enron-raw-ham/beck-s",
                                           "enron-raw-ham/lokay-m" };
    static const char *const labels[] = { "first", "second", "third" };
    size_t share = lab->quick ? 4 : 1;
    if (!corpora_read(&m->c, lab) || !mail_folder_read(&m->good, lab, "spamassassin/easy-ham-1", TWIN_MAIL_GOOD) ||
        !mail_folder_read(&m->spam, lab, "spamassassin/spam-2", TWIN_MAIL_SPAM))
        return false;
    for (int i = 0; i < 3; i++)
        if (!mail_folder_read(&m->folders[i], lab, folders[i], labels[i]))
            return false;
    mails_take(&m->trec, &m->c.trec, BOTH, 0, STREAM / share);
    mails_take(&m->spamassassin, &m->c.spamassassin, BOTH, 0, m->c.spamassassin.count / share);
    mails_sample(&m->other, &m->c.spamassassin, SAMPLE / share);
    mails_sample(&m->raw, &m->c.raw, 2 * SAMPLE / share);
    mails_take(&m->more_spam, &m->c.enron[4], SPAM, 0, 3 * SAMPLE / share);
    mails_take(&m->enron, &m->c.enron[0], BOTH, 0, m->c.enron[0].count / share);
    mails_take(&m->attacked, &m->c.enron[1], SPAM, 0, ATTACKED / share);
    mails_take(&m->first, &m->good, BOTH, 0, 1000);
    mails_take(&m->first, &m->spam, BOTH, 0, 600);
    mails_take(&m->next, &m->good, BOTH, 1000, 1000);
    mails_take(&m->next, &m->spam, BOTH, 600, 600);
    take_words(m, lab);
    return true;
}

static void material_clear(struct material *m)
{
    struct mails *lists[] = { &m->trec,  &m->spamassassin, &m->other, &m->raw, &m->more_spam,
                              &m->enron, &m->attacked,     &m->first, &m->next };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        mails_clear(lists[i]);
    for (int i = 0; i < 3; i++)
        mail_corpus_clear(&m->folders[i]);
    for (size_t i = 0; i < m->word_count; i++)
        free(m->words[i]);
    mail_corpus_clear(&m->good);
    mail_corpus_clear(&m->spam);
    corpora_clear(&m->c);
}

/* ---- what a filter without some steps does */

struct worth {
    double trec, spamassassin, wrong; /* 1−ROCA% */
    double caught;                    /* of SpamAssassin's spam, % */
    double lost, caught_elsewhere;    /* SpamAssassin after trec, % */
    double flooded;                   /* good Enron mail lost after trec and much other spam, % */
    double brief;                     /* of few words, the same */
    double folders, folders_called;   /* 1−ROCA%; of 600 spam messages, called good */
    double right, unsure;             /* of three folders, % */
    double front, end;                /* spam with good words called good, % */
};

static bool is_spam(struct user *user, const twin_message *message, bool *good)
{
    twin_mail_verdict v;
    expect(twin_mail_check(&v, user->mail, message, (twin_mail_check_options){ 0 }, NULL), "check", NULL);
    *good = v.label && strcmp(v.label, TWIN_MAIL_GOOD) == 0;
    return v.label && strcmp(v.label, TWIN_MAIL_SPAM) == 0;
}

/* Streams, then mail of others, then spam without end. */
static void try_streams(struct worth *out, const struct lab *lab, const struct material *m, uint64_t without)
{
    struct user user;
    uint64_t brief = 0, lost = 0;
    user_begin(&user, lab, without);
    out->trec = user_play(&user, &m->trec).area;
    struct figures other = user_judge(&user, &m->other);
    out->lost = figures_percent(&other, GOOD, 2);
    out->caught_elsewhere = figures_percent(&other, SPAM, 2);
    user_learn(&user, &m->more_spam);
    struct figures raw = user_judge(&user, &m->raw);
    out->flooded = figures_percent(&raw, GOOD, 2);
    for (size_t i = 0; i < m->c.raw.count; i++) {
        bool good;
        const twin_message *message = user_read(&user, &m->c.raw.lines[i]);
        if (message->text.length > 40)
            continue;
        brief++;
        lost += is_spam(&user, message, &good);
    }
    out->brief = 100 * (double)lost / fmax(1, (double)brief);
    user_end(&user);
    user_begin(&user, lab, without);
    struct figures spamassassin = user_play(&user, &m->spamassassin);
    out->spamassassin = spamassassin.area;
    out->caught = figures_percent(&spamassassin, SPAM, 2);
    user_end(&user);
}

/* One label in twenty is wrong, those of the same messages in each row. */
static void try_wrong_labels(struct worth *out, const struct lab *lab, const struct material *m, uint64_t without)
{
    struct user user;
    struct mails wrong = { 0 };
    struct mail_line *lines = need(m->spamassassin.count + 1, sizeof *lines);
    uint64_t seed = seed_of(lab->seed, 11);
    for (size_t i = 0; i < m->spamassassin.count; i++) {
        lines[i] = *m->spamassassin.lines[i];
        lines[i].is_spam ^= draw_below(&seed, 20) == 0;
        mails_add(&wrong, &lines[i]);
    }
    user_begin(&user, lab, without);
    out->wrong = user_play(&user, &wrong).area;
    user_end(&user);
    mails_clear(&wrong);
    free(lines);
}

static void try_folders(struct worth *out, const struct lab *lab, const struct material *m, uint64_t without)
{
    struct user user;
    uint64_t right = 0, decided = 0, all = 0;
    user_begin(&user, lab, without);
    user_learn(&user, &m->first);
    struct figures next = user_judge(&user, &m->next);
    out->folders = next.area;
    out->folders_called = (double)next.called[SPAM][0];
    user_end(&user);
    user_begin(&user, lab, without);
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 3; i++) {
            struct mails mails = { 0 };
            mails_take(&mails, &m->folders[i], BOTH, half ? FOLDER : 0, FOLDER);
            for (size_t k = 0; k < mails.count && half; k++) {
                twin_mail_verdict v;
                expect(twin_mail_check(&v, user.mail, user_read(&user, mails.lines[k]),
                                       (twin_mail_check_options){ 0 }, NULL),
                       "check", NULL);
                all++;
                decided += v.label != NULL;
                right += v.label && strcmp(v.label, mails.lines[k]->label) == 0;
            }
            if (!half)
                user_learn(&user, &mails);
            mails_clear(&mails);
        }
    out->right = 100 * (double)right / fmax(1, (double)decided);
    out->unsure = 100 * (double)(all - decided) / fmax(1, (double)all);
    user_end(&user);
}

/* The message with words of good mail at its end, or before its text. */
static void pad(twin_buffer *out, const struct material *m, twin_text raw, bool front, uint64_t *seed)
{
    const char *body = memmem(raw.bytes, raw.length, "\n\n", 2);
    size_t head = body ? (size_t)(body + 2 - raw.bytes) : raw.length;
    out->length = 0;
    expect(twin_buffer_append(out, raw.bytes, front ? head : raw.length), "message", NULL);
    for (int i = 0; i < PADDING; i++) {
        const char *word = m->words[draw_below(seed, m->word_count)];
        expect(twin_buffer_append(out, word, strlen(word)), "message", NULL);
        expect(twin_buffer_append(out, i % 12 == 11 ? "\n" : " ", 1), "message", NULL);
    }
    expect(twin_buffer_append(out, raw.bytes + head, front ? raw.length - head : 0), "message", NULL);
}

static void try_good_words(struct worth *out, const struct lab *lab, const struct material *m, uint64_t without)
{
    struct user user;
    twin_buffer padded = { 0 };
    uint64_t seed = seed_of(lab->seed, 12), called[2] = { 0 };
    user_begin(&user, lab, without);
    user_learn(&user, &m->enron);
    for (int front = 0; front < 2; front++)
        for (size_t i = 0; i < m->attacked.count && m->word_count; i++) {
            const twin_message *message = user_read(&user, m->attacked.lines[i]);
            bool good;
            pad(&padded, m, message->raw, front, &seed);
            expect(twin_message_read(&message, user.reader, (twin_text){ padded.bytes, padded.length }), "message",
                   NULL);
            (void)is_spam(&user, message, &good);
            called[front] += good;
        }
    out->end = 100 * (double)called[0] / fmax(1, (double)m->attacked.count);
    out->front = 100 * (double)called[1] / fmax(1, (double)m->attacked.count);
    twin_buffer_clear(&padded);
    user_end(&user);
}

/* ---- the experiment */

struct rows {
    struct lab *lab;
    const struct material *material;
    int steps[TWIN_MAIL_STEPS + 1]; /* -1: none is left out */
    struct worth worth[TWIN_MAIL_STEPS + 1];
    size_t count, done;
};

static void try_rows(void *context, size_t begin, size_t end, int worker)
{
    struct rows *rows = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint64_t without = rows->steps[i] < 0 ? 0 : (uint64_t)1 << rows->steps[i];
        struct worth *out = &rows->worth[i];
        try_streams(out, rows->lab, rows->material, without);
        try_wrong_labels(out, rows->lab, rows->material, without);
        try_folders(out, rows->lab, rows->material, without);
        try_good_words(out, rows->lab, rows->material, without);
        progress(rows->lab, __atomic_add_fetch(&rows->done, 1, __ATOMIC_RELAXED), rows->count);
    }
}

static void print_row(struct table *table, int step, const struct worth *w)
{
    table_row(table, "%s\t%.4f\t%.3f\t%.1f\t%.3f\t%.2f\t%.1f\t%.2f\t%.2f\t%.3f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f",
              step < 0 ? "none" : twin_mail_step_about((twin_mail_step)step)->name, w->trec, w->spamassassin,
              w->caught, w->wrong, w->lost, w->caught_elsewhere, w->flooded, w->brief, w->folders, w->folders_called,
              w->right, w->unsure, w->end, w->front);
}

void exp_mail_steps(struct lab *lab)
{
    /* The others are the verdicts themselves. */
    static const int tried[] = { -1,
                                 TWIN_MAIL_REHEARSAL,
                                 TWIN_MAIL_INTRODUCTION,
                                 TWIN_MAIL_DOUBT,
                                 TWIN_MAIL_BOUND,
                                 TWIN_MAIL_SKEW,
                                 TWIN_MAIL_SENDERS,
                                 TWIN_MAIL_COPIES,
                                 TWIN_MAIL_ONE_REPORT,
                                 TWIN_MAIL_STRUCTURE,
                                 TWIN_MAIL_RIVAL,
                                 TWIN_MAIL_GROUNDS,
                                 TWIN_MAIL_UNKNOWN_WORDS,
                                 TWIN_MAIL_OPENING };
    struct material *material = need(1, sizeof *material);
    struct table table;
    struct rows rows = { .lab = lab, .material = material, .count = sizeof tried / sizeof tried[0] };
    if (!material_read(material, lab))
        return;
    memcpy(rows.steps, tried, sizeof tried);
    twin_exec_for(lab->exec, rows.count, 1, try_rows, &rows);
    table_begin(&table, "mail-steps",
                "without\ttrec 1-ROCA%\tSA 1-ROCA%\tcaught\twrong labels\telsewhere lost\tcaught\tflooded "
                "lost\tbrief lost\tfolders 1-ROCA%\tcalled good\tlabels right\tunsure\twords behind\tbefore");
    for (size_t i = 0; i < rows.count; i++)
        print_row(&table, rows.steps[i], &rows.worth[i]);
    table_end(lab, &table);
    const struct worth *all = &rows.worth[0];
    claim(lab, all->front <= 15 && all->end <= 15,
          "with 100 good words %.1f and %.1f %% of the spam is called good (wanted: 15)", all->end, all->front);
    material_clear(material);
    free(material);
}

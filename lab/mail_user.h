/* mail_user.h — people who use a mail filter: what they learn, what is judged, and how well. */
#ifndef TWIN_LAB_MAIL_USER_H
#define TWIN_LAB_MAIL_USER_H

#include "mail.h"

/* Messages, in an order; end with mails_clear(). */
struct mails {
    const struct mail_line **lines;
    size_t count;
};

void mails_add(struct mails *out, const struct mail_line *line);
void mails_append(struct mails *out, const struct mails *more);
void mails_clear(struct mails *mails);
void mails_shuffle(struct mails *mails, uint64_t seed);

/* Appends messages of a kind, in their order, from number `begin` of these on, `count` at most; or as many of each kind at
 * equal distances. */
enum kind { GOOD, SPAM, BOTH };
void mails_take(struct mails *out, const struct mail_corpus *from, enum kind kind, size_t begin, size_t count);
void mails_sample(struct mails *out, const struct mail_corpus *from, size_t each);

/* A model that learns and judges, without the steps whose bits are set; end with user_end(). */
struct user {
    twin_mail *mail;
    twin_message_reader *reader;
    twin_buffer raw;
    int64_t time;
};

void user_begin(struct user *out, const struct lab *lab, uint64_t without);
void user_end(struct user *user);

/* It lives until the next is read. */
const twin_message *user_read(struct user *user, const struct mail_line *line);
void user_learn(struct user *user, const struct mails *mails);

/* How messages are called. */
struct figures {
    uint64_t called[2][3]; /* good mail and spam: called good, unsure, spam */
    twin__mail_judgement *judgements;
    size_t count;
    double area; /* 1−ROCA%; NaN: only one kind of mail was judged */
};

/* Judges messages; with user_play() each is then learnt. */
struct figures user_judge(struct user *user, const struct mails *mails);
struct figures user_play(struct user *user, const struct mails *mails);

/* Begins figures of these messages; counts one that is called good (0), unsure (1) or spam (2); computes the area. */
struct figures figures_begin(const struct mails *mails);
void figures_count(struct figures *out, const struct mail_line *line, int verdict, double score);
void figures_end(struct figures *figures);

/* bogofilter, where it is installed, after it has learnt these; false: it is not. End with bogofilter_end(). */
struct bogofilter {
    char folder[64]; /* of its words */
};
bool bogofilter_begin(struct bogofilter *out, const struct mails *learnt);
struct figures bogofilter_judge(struct bogofilter *bogofilter, const struct mails *mails);
void bogofilter_end(struct bogofilter *bogofilter);

/* Of good mail or spam, what was called good (0), unsure (1) or spam (2). */
double figures_percent(const struct figures *f, enum kind kind, int verdict);

#define COLUMNS "learnt\tjudged\tfilter\tgood lost %\tgood unsure %\tspam caught %\tspam called good %\t1-ROCA%"

void figures_row(struct table *table, const char *learnt, const char *judged, const char *filter,
                 const struct figures *f);

enum { ENRON_PARTS = 6 };

/* All that there is; end with corpora_clear(). False: something is missing, which is reported. */
struct corpora {
    struct mail_corpus trec, spamassassin, enron[ENRON_PARTS], enron_all, raw;
};

bool corpora_read(struct corpora *out, struct lab *lab);
void corpora_clear(struct corpora *corpora);

/* A folder of DATA with one label. */
bool mail_folder_read(struct mail_corpus *out, struct lab *lab, const char *name, const char *label);

#endif

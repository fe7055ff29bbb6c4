/* exp_mail_share.c — mail-share: two sites that exchange sketches of what they have learnt.
 *
 * The closing idea of Sokolov 2007: sites share the hash vectors of spam, not the mail. The messages of trec07p go to
 * two sites in turn. Each judges its own, learns them, and now and then sends sketches to the other, which remembers
 * their signatures and senders. Both share a key; no text is exchanged. The same is done without the exchange. */
#include "mail.h"
#include "mail/mail_measures.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 2, MESSAGES = 10000, QUICK = 2000, EXCHANGE = 250 };

struct sites {
    twin_mail *mail[SITES];
    bool shared;
    twin__mail_judgement *all, *lookalikes; /* by all evidence; by lookalikes alone */
    size_t count;
    uint64_t caught; /* spam with an almost equal message that was learnt as spam */
};

static twin_mail_verdict judge(twin_mail *mail, const twin_message *message, twin_mail_method method)
{
    twin_mail_verdict verdict;
    expect(twin_mail_check(&verdict, mail, message, (twin_mail_check_options){ .method = method }, NULL), "check",
           NULL);
    return verdict;
}

static bool is_spam(const twin_mail_verdict *verdict)
{
    return verdict->label && strcmp(verdict->label, TWIN_MAIL_SPAM) == 0;
}

static void play(struct sites *sites, twin_mail *mail, const twin_message *message, bool spam, size_t number)
{
    twin_mail_verdict alike = judge(mail, message, TWIN_MAIL_LOOKALIKE), all = judge(mail, message, TWIN_MAIL_ALL);
    sites->all[sites->count] = (twin__mail_judgement){ all.log_odds, spam, is_spam(&all) };
    sites->lookalikes[sites->count++] = (twin__mail_judgement){ alike.log_odds, spam, is_spam(&alike) };
    sites->caught += spam && alike.count && alike.evidence[0].nearest.copies > 0;
    expect(twin_mail_learn(NULL, mail, message, spam ? TWIN_MAIL_SPAM : TWIN_MAIL_GOOD, (int64_t)number, NULL),
           "learn", NULL);
}

static void exchange(struct sites *sites)
{
    twin_buffer sketches[SITES] = { 0 };
    for (int i = 0; i < SITES; i++)
        expect(twin_mail_export(&sketches[i], sites->mail[i], (twin_mail_export_options){ 0 }, NULL), "export", NULL);
    for (int i = 0; i < SITES; i++) {
        const twin_buffer *from = &sketches[SITES - 1 - i];
        expect(twin_mail_import(NULL, sites->mail[i], (twin_text){ from->bytes, from->length }, NULL), "import",
               NULL);
    }
    for (int i = 0; i < SITES; i++)
        twin_buffer_clear(&sketches[i]);
}

static void run_sites(struct sites *sites, const struct lab *lab, const struct mail_corpus *corpus)
{
    uint64_t key[2] = { seed_of(lab->seed, 2101), seed_of(lab->seed, 2102) };
    twin_message_reader *reader;
    twin_buffer raw = { 0 };
    expect(twin_message_reader_create(&reader, (twin_message_options){ 0 }), "reader", NULL);
    for (int i = 0; i < SITES; i++)
        expect(twin_mail_create_in_memory(&sites->mail[i], (twin_mail_options){ .key = key }), "model", NULL);
    sites->all = need(corpus->count + 1, sizeof *sites->all);
    sites->lookalikes = need(corpus->count + 1, sizeof *sites->lookalikes);
    for (size_t i = 0; i < corpus->count; i++) {
        const twin_message *message;
        if (!mail_file_read(&raw, corpus->lines[i].path))
            die("%s: could not be read", corpus->lines[i].path);
        expect(twin_message_read(&message, reader, (twin_text){ raw.bytes, raw.length }), "message", NULL);
        play(sites, sites->mail[i % SITES], message, corpus->lines[i].is_spam, i);
        if (sites->shared && i % EXCHANGE == EXCHANGE - 1)
            exchange(sites);
        progress(lab, i + sites->shared * corpus->count, 2 * corpus->count);
    }
    twin_message_reader_free(reader);
    twin_buffer_clear(&raw);
}

static void clear_sites(struct sites *sites)
{
    for (int i = 0; i < SITES; i++)
        twin_mail_close(sites->mail[i]);
    free(sites->all);
    free(sites->lookalikes);
}

static twin__mail_measures measure(const twin__mail_judgement *judgements, size_t count)
{
    twin__mail_measures out;
    expect(twin__mail_measure(&out, judgements, count, (twin__mail_measure_options){ 100, 1 }), "measures", NULL);
    return out;
}

static void rows(struct table *table, const char *name, const struct sites *sites, twin__mail_measures out[2])
{
    const char *const methods[2] = { "lookalike", "all" };
    out[0] = measure(sites->lookalikes, sites->count);
    out[1] = measure(sites->all, sites->count);
    double caught = out[0].spam ? 100 * (double)sites->caught / (double)out[0].spam : 0;
    for (int i = 0; i < 2; i++)
        table_row(table, "%s\t%s\t%.2f\t%.4f\t%.4f–%.4f\t%.2f\t%.2f", name, methods[i], caught, out[i].roca.percent,
                  out[i].roca.low, out[i].roca.high, out[i].sm_at[0], out[i].sm_at[1]);
}

void exp_mail_share(struct lab *lab)
{
    struct sites alone = { .shared = false }, shared = { .shared = true };
    struct mail_corpus corpus;
    struct table table;
    twin__mail_measures before[2], after[2];
    if (!mail_read_trec(&corpus, lab, lab->quick ? QUICK : MESSAGES, false))
        return;
    run_sites(&alone, lab, &corpus);
    run_sites(&shared, lab, &corpus);
    table_begin(&table, "mail-share",
                "sites\tevidence\tspam with a known copy %\t1-ROCA%\t95 %\tmissed at 0.1 %\tat 1 %");
    rows(&table, "alone", &alone, before);
    rows(&table, "exchange", &shared, after);
    table_end(lab, &table);
    claim(lab, shared.caught > alone.caught, "spam of which a site knows a copy: %llu alone, %llu with the exchange",
          (unsigned long long)alone.caught, (unsigned long long)shared.caught);
    claim(lab, after[0].roca.percent < before[0].roca.percent, "1-ROCA%% of lookalikes falls from %.4f to %.4f",
          before[0].roca.percent, after[0].roca.percent);
    claim(lab, after[1].roca.percent <= 1.5 * before[1].roca.percent,
          "with all evidence it is %.4f and %.4f: weights are not exchanged, and content decides",
          before[1].roca.percent, after[1].roca.percent);
    clear_sites(&alone);
    clear_sites(&shared);
    mail_corpus_clear(&corpus);
}

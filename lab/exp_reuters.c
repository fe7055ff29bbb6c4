/* exp_reuters.c — reuters-duplicates: texts that agree in whole hash vectors (Sokolov 2007).
 *
 * Two texts are duplicates when the first K labels agree in at least one of L trees. Three parts: texts cut or padded
 * to n as the paper describes; a reading of the paper that counts copies only; and the defaults of twinsift, which pad
 * nothing and compare texts of similar length. */
#include "edit/embed.h"
#include "label_keys.h"

#include <stdlib.h>
#include <string.h>

/* The last length is that of the longest text, to which all are padded: n = 0 in the paper. */
enum { LENGTHS = 8, TEXTS = 21578, WHOLE = 0 };
static const size_t lengths[LENGTHS] = { 100, 150, 250, 500, 750, 1000, 2000, WHOLE };

/* The counts of duplicates in Sokolov 2007, with one tree and with five. */
static const unsigned reference[2][DEPTHS][LENGTHS] = {
    { { 21347, 21334, 21281, 21224, 21206, 21213, 21275, 21458 },
      { 20310, 20183, 19761, 19312, 19259, 19271, 19898, 21442 },
      { 8715, 7780, 5670, 5450, 7507, 10244, 15595, 20725 },
      { 409, 379, 806, 2124, 3273, 4721, 11109, 19199 },
      { 371, 350, 329, 553, 1504, 1875, 4280, 17533 },
      { 371, 349, 325, 376, 990, 1444, 3409, 15227 },
      { 370, 346, 322, 305, 268, 271, 584, 4960 },
      { 370, 346, 322, 305, 267, 262, 479, 4823 },
      { 369, 346, 322, 305, 267, 261, 264, 2748 } },
    { { 20709, 20637, 19326, 21207, 20860, 21015, 21034, 21575 },
      { 19531, 19185, 19439, 19676, 19094, 20157, 20384, 21453 },
      { 15513, 14532, 11858, 9593, 10393, 12436, 16536, 20658 },
      { 973, 1251, 2418, 4552, 6442, 8407, 14815, 20664 },
      { 689, 629, 615, 1832, 3168, 3769, 7238, 17401 },
      { 674, 600, 523, 672, 1459, 2245, 4266, 14372 },
      { 666, 595, 513, 487, 462, 505, 1592, 6497 },
      { 662, 592, 513, 474, 437, 447, 1253, 5625 },
      { 661, 591, 511, 467, 429, 422, 591, 3499 } },
};

/* Pairs of texts that are identical after cutting, counted over the whole collection (0: not known). */
static const size_t identical_pairs[LENGTHS] = { 465, 445, 410, 374, 0, 330, 0, 0 };

/* ---- cut and padded, as in Sokolov 2007 */

struct padded {
    const twin_text *texts;
    size_t count, n;
    twin__embedder *embedder;
    struct keys *keys;
};

static void pad(char *out, twin_text text, size_t n)
{
    size_t length = text.length < n ? text.length : n;
    memcpy(out, text.bytes, length);
    memset(out + length, '_', n - length);
}

static void fold_padded(void *context, size_t begin, size_t end, int worker)
{
    const struct padded *p = context;
    twin__embed_scratch scratch = { 0 };
    char *text = need(p->n, 1);
    uint32_t *labels = need(TREES * DEEPEST, sizeof *labels);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        pad(text, p->texts[i], p->n);
        expect(twin__embed_vector(labels, p->embedder, &scratch, (twin_text){ text, p->n }), "vector", NULL);
        fold_labels(&p->keys[i], labels, 0);
    }
    twin__embed_scratch_clear(&scratch);
    free(text);
    free(labels);
}

/* A count of one tree (mean, least and most of five), and of all five trees together. */
struct spread {
    double mean, least, most, united;
};

static void add_tree(struct spread *out, size_t tree, size_t found)
{
    double value = (double)found;
    out->mean += value / TREES;
    out->least = tree == 0 || value < out->least ? value : out->least;
    out->most = value > out->most ? value : out->most;
}

/* What the trees find at one depth. */
struct tally {
    struct spread texts, copies; /* texts that share a key with another text, and with an earlier one */
    double pairs;                /* of one tree, mean of five */
    size_t first_pairs;          /* of the first tree */
};

static void add_marks(struct marks to, struct marks from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to.shared[i] |= from.shared[i];
        to.copy[i] |= from.copy[i];
    }
}

static struct tally tally_of(const struct padded *p, size_t depth)
{
    struct tally out = { .pairs = 0 };
    struct entry *entries = need(p->count, sizeof *entries);
    struct marks all = need_marks(p->count);
    for (size_t t = 0; t < TREES; t++) {
        struct marks one = need_marks(p->count);
        for (size_t i = 0; i < p->count; i++)
            entries[i] = (struct entry){ p->keys[i].at[t][depth], (uint32_t)i };
        size_t pairs = mark_runs(one, entries, p->count);
        add_tree(&out.texts, t, count_marks(one.shared, p->count));
        add_tree(&out.copies, t, count_marks(one.copy, p->count));
        out.pairs += (double)pairs / TREES;
        out.first_pairs = t == 0 ? pairs : out.first_pairs;
        add_marks(all, one, p->count);
        free_marks(one);
    }
    out.texts.united = (double)count_marks(all.shared, p->count);
    out.copies.united = (double)count_marks(all.copy, p->count);
    free(entries);
    free_marks(all);
    return out;
}

static size_t length_of(const struct reuters *reuters, size_t count, size_t length)
{
    size_t longest = lengths[length];
    for (size_t i = 0; i < count && lengths[length] == WHOLE; i++)
        longest = reuters->texts[i].length > longest ? reuters->texts[i].length : longest;
    return longest;
}

/* All depths at one length, with functions drawn from part `part` of the seed. */
static void tally_length(struct tally out[DEPTHS], const struct lab *lab, const struct reuters *reuters, size_t count,
                         size_t length, uint64_t part)
{
    struct padded p = { reuters->texts, count, length_of(reuters, count, length), NULL, need(count, sizeof *p.keys) };
    expect(twin__embedder_create(&p.embedder, twin__embed_options_for(TWIN__EMBED_PAPER, p.n, TREES * DEEPEST,
                                                                      seed_of(lab->seed, part + length))),
           "embedder", NULL);
    twin_exec_for(lab->exec, count, 64, fold_padded, &p);
    for (size_t d = 0; d < DEPTHS; d++)
        out[d] = tally_of(&p, d);
    twin__embedder_free(p.embedder);
    free(p.keys);
}

/* A row per K, with the reference next to each n. */
static void print_counts(struct lab *lab, const char *name, double (*counts)[LENGTHS], bool five)
{
    struct table table;
    table_begin(&table, name,
                "K\tn=100\treference\t150\treference\t250\treference\t500\treference\t750\treference\t1000\treference"
                "\t2000\treference\twhole\treference");
    for (size_t d = 0; d < DEPTHS; d++) {
        char line[512];
        int used = snprintf(line, sizeof line, "%zu", depths[d]);
        for (size_t l = 0; l < LENGTHS; l++) {
            char printed[16] = "–"; /* the reference is for the whole collection */
            if (!lab->quick)
                snprintf(printed, sizeof printed, "%u", reference[five][d][l]);
            used += snprintf(line + used, sizeof line - (size_t)used, "\t%.0f\t%s", counts[d][l], printed);
        }
        table_row(&table, "%s", line);
    }
    table_end(lab, &table);
}

/* K = 200 must find every identical pair, and few more. */
static void claim_identical(struct lab *lab, size_t length, struct identical same, const struct tally *deep)
{
    size_t n = lengths[length];
    if (!lab->quick && identical_pairs[length] > 0)
        claim(lab, same.pairs == identical_pairs[length],
              "n = %zu: %zu pairs of identical texts (%zu expected), in %zu texts", n, same.pairs,
              identical_pairs[length], same.texts);
    claim(lab,
          deep->first_pairs >= same.pairs && (n > 500 || (double)deep->first_pairs < 1.05 * (double)same.pairs + 2),
          "n = %zu: K = 200, L = 1 finds %zu pairs, of which %zu are identical", n, deep->first_pairs, same.pairs);
}

/* As the paper describes it: letters and digits only, counting texts that have a duplicate. */
static void run_texts(struct lab *lab, const struct reuters *reuters, size_t count)
{
    double counts[2][DEPTHS][LENGTHS];
    struct table table;
    table_begin(&table, "reuters-duplicates", "L\tK\tn\treference\ttexts\tleast\tmost\tpairs\tidentical texts");
    for (size_t l = 0; l < LENGTHS; l++) {
        struct tally tallies[DEPTHS];
        struct identical same = count_identical(reuters->texts, count, length_of(reuters, count, l));
        tally_length(tallies, lab, reuters, count, l, 5000);
        for (size_t d = 0; d < DEPTHS; d++) {
            const struct spread *t = &tallies[d].texts;
            counts[0][d][l] = t->mean;
            counts[1][d][l] = t->united;
            table_row(&table, "1\t%zu\t%zu\t%u\t%.1f\t%.0f\t%.0f\t%.1f\t%zu", depths[d], lengths[l],
                      reference[0][d][l], t->mean, t->least, t->most, tallies[d].pairs, same.texts);
            table_row(&table, "5\t%zu\t%zu\t%u\t%.0f\t–\t–\t–\t%zu", depths[d], lengths[l], reference[1][d][l],
                      t->united, same.texts);
        }
        if (lengths[l] != WHOLE)
            claim_identical(lab, l, same, &tallies[DEPTHS - 1]);
        progress(lab, l + 1, 3 * LENGTHS + 1);
    }
    table_write_only(lab, &table);
    say(lab,
        "Letters and digits only; texts that have a duplicate, L = 1 (mean of five trees). Reference: Sokolov 2007.");
    print_counts(lab, "reuters-duplicates-L1", counts[0], false);
    say(lab, "The same, L = %d:", (int)TREES);
    print_counts(lab, "reuters-duplicates-L5", counts[1], true);
}

/* ---- copies: the reading that comes closest to the reference */

/* The paper's counts at K = 200 as a share of the true copies, from n = 100 to 1,000, where padding adds almost no
 * false ones. */
struct shares {
    double least, most;
};

static void add_share(struct shares *out, double share)
{
    out->least = out->least == 0 || share < out->least ? share : out->least;
    out->most = share > out->most ? share : out->most;
}

/* One half of the paper's table for one form of the texts: texts that share a key with an earlier one. */
static struct shares run_copies(struct lab *lab, struct table *table, enum reuters_form form, size_t count, bool five)
{
    struct reuters reuters;
    struct shares shares = { 0 };
    double counts[DEPTHS][LENGTHS];
    const char *name = form == REUTERS_WORDS ? "words of letters and digits" : "words of letters";
    if (!reuters_read(&reuters, lab, form))
        return shares;
    for (size_t l = 0; l < LENGTHS; l++) {
        struct tally tallies[DEPTHS];
        struct identical same = count_identical(reuters.texts, count, length_of(&reuters, count, l));
        tally_length(tallies, lab, &reuters, count, l, five ? 5300 : 5200);
        for (size_t d = 0; d < DEPTHS; d++) {
            const struct spread *c = &tallies[d].copies;
            counts[d][l] = five ? c->united : c->mean;
            table_row(table, "%s\t%d\t%zu\t%zu\t%u\t%.1f\t%.0f\t%.0f\t%zu", name, five ? TREES : 1, depths[d],
                      lengths[l], reference[five][d][l], counts[d][l], five ? c->united : c->least,
                      five ? c->united : c->most, same.copies);
        }
        if (lengths[l] != WHOLE && lengths[l] <= 1000)
            add_share(&shares, reference[five][DEPTHS - 1][l] / (double)same.copies);
        progress(lab, (five ? 2 : 1) * LENGTHS + l + 1, 3 * LENGTHS + 1);
    }
    say(lab, "Texts that have an earlier duplicate, %s separated by spaces, L = %d%s:", name, five ? TREES : 1,
        five ? "" : " (mean of five trees)");
    print_counts(lab, five ? "reuters-duplicates-copies-L5" : "reuters-duplicates-copies-L1", counts, five);
    reuters_clear(&reuters);
    return shares;
}

static void plot_copies(struct lab *lab)
{
    static const size_t drawn[] = { 5, 10, 50, 200 };
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'n'\nset ylabel 'copies found, L = 1'\nset logscale xy\nset key above horizontal maxcols 4\n"
          "set datafile missing NaN\nset xtics (100, 150, 250, 500, 750, 1000, 2000)\nplot [90:2200] ",
          script);
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        fprintf(script,
                "'reuters-duplicates-copies.tsv' skip 1 using ($2==1 && $3==%zu ? $4 : NaN):6:7:8 with yerrorlines "
                "ls %zu title 'K = %zu', ",
                drawn[i], i + 2, drawn[i]);
        if (!lab->quick)
            fprintf(script,
                    "'' skip 1 using ($2==1 && $3==%zu ? $4 : NaN):5 with linespoints ls %zu pt 2 dt '-' %s, ",
                    drawn[i], i + 2, i == 0 ? "title 'Sokolov 2007 (dashed)'" : "notitle");
    }
    fputs("'' skip 1 using ($2==1 && $3==200 ? $4 : NaN):9 with lines ls 1 title 'identical copies'\n", script);
    plot_end(lab, script, "reuters-duplicates",
             "Texts of Reuters-21578 that share K labels with an earlier one, as words of letters and digits, cut or "
             "padded to n; bars show the least and most of five trees.");
}

static void compare_copies(struct lab *lab, size_t count)
{
    struct table table;
    table_begin(&table, "reuters-duplicates-copies",
                "texts\tL\tK\tn\treference\tcopies\tleast\tmost\tidentical copies");
    struct shares one = run_copies(lab, &table, REUTERS_WORDS, count, false);
    struct shares five = run_copies(lab, &table, REUTERS_LETTERS, count, true);
    table_write_only(lab, &table);
    if (!lab->quick)
        claim(lab, one.least > 0.76 && one.most < 0.84 && five.least > 0.76 && five.most < 0.84,
              "K = 200, n = 100 … 1000: the reference counts four fifths of the identical copies, %.3f to %.3f of "
              "those with digits (L = 1) and %.3f to %.3f of those without (L = 5)",
              one.least, one.most, five.least, five.most);
    plot_copies(lab);
}

void exp_reuters_duplicates(struct lab *lab)
{
    struct reuters reuters;
    if (!reuters_read(&reuters, lab, REUTERS_JOINED))
        return;
    size_t count = lab->quick && reuters.count > 2000 ? 2000 : reuters.count;
    say(lab,
        "%zu texts in lower case, cut or padded to n, parameters of Sokolov 2007; two texts are duplicates when the "
        "first K labels agree in one of L trees.",
        count);
    claim(lab, reuters.count == TEXTS, "%zu texts in the collection (%d)", reuters.count, (int)TEXTS);
    run_texts(lab, &reuters, count);
    compare_copies(lab, lab->quick && count > 500 ? 500 : count);
    run_classes(lab, &reuters, count);
    reuters_clear(&reuters);
}

/* exp_forest_order.c — forest-order: how far the order in which an LSH forest returns strings is from the true one.
 *
 * Repeats an experiment of Sokolov 2007 (forests.h): the generalised Kendall distance between S, or what filters by
 * level leave of it, and the strings sorted by their true edit distance. */
#include "edit/embed.h"
#include "forests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER_ROWS = 9, LISTS = 2, FILTERS = 4 };
static const size_t order_trees[ORDER_ROWS] = { 1, 2, 4, 6, 8, 10, 12, 16, 20 };
static const size_t list_sizes[LISTS] = { 50, 200 };
static const char *const filters[FILTERS] = { "all", "deepest only", "around average", "from average on" };

/* What a filter leaves of S is compared with two lists: equally many of the truly nearest strings, and all of S in its
 * true order. Distances are shares of the maximum; the first is also printed as the sum of penalties that Sokolov 2007
 * uses, which favours short lists. */
enum { MEASURES = 3, PENALTIES = 2 };
static const char *const measures[MEASURES] = { "the nearest", "S, sorted", "the nearest, in penalties" };
struct verdict {
    double distance[MEASURES], kept;
};

struct order {
    const struct lab *lab;
    twin__embed_preset preset;
    enum reading reading;
    const char *name;
    const struct strings *strings;
    size_t embeddings; /* for each of two sets of strings */
    struct verdict (*verdicts)[ORDER_ROWS][LISTS][FILTERS];
};

/* Ranks of the elements of two lists; an element is the j-th occurrence of a distance. */
struct ranks {
    unsigned first[MOST * 2], second[MOST * 2]; /* in either list; UINT_MAX: absent */
    size_t count;
};

/* Two lists of distances. */
struct lists {
    const unsigned *found, *truth;
    size_t found_count, truth_count;
};

static void rank_both(struct ranks *out, struct lists lists)
{
    static const unsigned absent = ~0u;
    unsigned last[2][FURTHEST + 1] = { { 0 } };
    struct {
        unsigned edits, occurrence;
    } names[MOST * 2];
    out->count = 0;
    for (unsigned list = 0; list < 2; list++)
        for (unsigned i = 0; i < (list ? lists.truth_count : lists.found_count); i++) {
            unsigned edits = list ? lists.truth[i] : lists.found[i], occurrence = last[list][edits]++;
            size_t at = 0;
            while (at < out->count && (names[at].edits != edits || names[at].occurrence != occurrence))
                at++;
            if (at == out->count) {
                names[at].edits = edits;
                names[at].occurrence = occurrence;
                out->first[at] = out->second[at] = absent;
                out->count++;
            }
            (list ? out->second : out->first)[at] = i;
        }
}

/* The generalised Kendall distance (Fagin, Kumar, Sivakumar 2003). An element that a list lacks ranks behind all that
 * it has; between two elements that it lacks no order is implied. */
static double kendall(struct lists lists)
{
    struct ranks ranks;
    size_t swapped = 0;
    rank_both(&ranks, lists);
    for (size_t i = 0; i < ranks.count; i++)
        for (size_t j = 0; j < i; j++) {
            unsigned a = ranks.first[i], b = ranks.first[j], c = ranks.second[i], d = ranks.second[j];
            swapped += (a < b && c > d) || (a > b && c < d);
        }
    return (double)swapped;
}

/* Whether a filter keeps a level. */
static bool keeps(size_t filter, unsigned level, unsigned deepest, double average)
{
    switch (filter) {
    case 1: return level == deepest;
    case 2: return level >= floor(average) && level <= ceil(average);
    case 3: return level >= average;
    default: return true;
    }
}

static int compare_edits(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static void judge(struct verdict *out, const struct answer *answer, size_t size, const unsigned *truth)
{
    unsigned list[MOST], sorted[MOST];
    double average = 0;
    size = size < answer->count ? size : answer->count;
    for (size_t i = 0; i < size; i++) {
        average += answer->found[i].level / (double)size;
        sorted[i] = answer->found[i].edits;
    }
    qsort(sorted, size, sizeof *sorted, compare_edits);
    for (size_t f = 0; f < FILTERS; f++) {
        size_t count = 0;
        for (size_t i = 0; i < size; i++)
            if (keeps(f, answer->found[i].level, answer->found[0].level, average))
                list[count++] = answer->found[i].edits;
        double all = (double)size, left = (double)count;
        out[f].kept = left;
        out[f].distance[PENALTIES] = kendall((struct lists){ list, truth, count, count });
        out[f].distance[0] = out[f].distance[PENALTIES] / fmax(1, left * left);
        out[f].distance[1] = kendall((struct lists){ list, sorted, count, size }) / fmax(1, all * (all - 1) / 2);
    }
}

static void measure_order(void *context, size_t begin, size_t end, int worker)
{
    const struct order *o = context;
    struct vectors *vectors = need(1, sizeof *vectors);
    struct answer *answer = need(1, sizeof *answer);
    unsigned *truth = need(STRINGS, sizeof *truth);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct strings *strings = &o->strings[i / o->embeddings];
        memcpy(truth, strings->edits, sizeof strings->edits);
        qsort(truth, STRINGS, sizeof *truth, compare_edits);
        make_vectors(vectors, strings, o->preset, DEPTH, seed_of(o->lab->seed, 4300000 + i));
        for (size_t r = 0; r < ORDER_ROWS; r++) {
            if (o->reading == ONE_TREE)
                climb(answer, vectors, r, MOST); /* independent of L: each row uses another tree */
            else
                query_forest(answer, vectors, 0, order_trees[r], MOST);
            for (size_t l = 0; l < LISTS; l++)
                judge(o->verdicts[i][r][l], answer, list_sizes[l], truth);
        }
        free(vectors->labels);
    }
    free(vectors);
    free(answer);
    free(truth);
}

/* The mean over all embeddings, its standard error, and how many strings the filter left. */
struct average {
    double mean, error, kept;
};

static struct average average_of(const struct order *o, size_t row, size_t list, size_t filter, size_t measure)
{
    struct average out = { 0 };
    double count = (double)(2 * o->embeddings), squares = 0;
    for (size_t i = 0; i < 2 * o->embeddings; i++) {
        const struct verdict *v = &o->verdicts[i][row][list][filter];
        out.mean += v->distance[measure] / count;
        squares += v->distance[measure] * v->distance[measure];
        out.kept += v->kept / count;
    }
    out.error = sqrt(fmax(0, squares / count - out.mean * out.mean) / (count - 1));
    return out;
}

static void plot_order(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    for (size_t m = 0; m < PENALTIES; m++) {
        if (m > 0)
            plot_lower(script);
        fprintf(script,
                "set datafile missing NaN\nset ylabel 'distance to %s'\nset xlabel '%s'\n%s\nplot [0.5:20.5][0:%s] ",
                measures[m], m ? "L, number of trees" : "", m ? "unset key" : "set key top right maxrows 3",
                m ? "0.6" : "1.4");
        for (size_t f = 0; f < FILTERS; f++)
            fprintf(script,
                    "'forest-order.tsv' skip 1 using (strcol(1) eq 'paper' && $2==50 && strcol(4) eq '%s' ? $3 : "
                    "NaN):%zu:%zu with yerrorlines ls %zu title '%s', ",
                    filters[f], 6 + 2 * m, 7 + 2 * m, f + 2, filters[f]);
        fprintf(script,
                "'' skip 1 using (strcol(1) eq 'paper, one tree' && $2==50 && strcol(4) eq 'all' ? $3 : NaN):%zu:%zu "
                "with yerrorlines ls 2 dt '-' pt 6 title 'all, one tree', '' skip 1 using (strcol(1) eq 'default' && "
                "$2==50 && strcol(4) eq 'all' ? $3 : NaN):%zu:%zu with yerrorlines ls 1 pt 6 ps 0.6 title 'all, "
                "default parameters'\n",
                6 + 2 * m, 7 + 2 * m, 6 + 2 * m, 7 + 2 * m);
    }
    plot_end(lab, script, "forest-order",
             "Generalised Kendall distance with the parameters of Sokolov 2007, |S| = 50: from what a filter leaves "
             "of S to as many truly nearest strings (above), and to S in its true order (below).");
}

static void claim_order(struct lab *lab, const struct order *o)
{
    for (size_t l = 0; l < LISTS; l++) {
        struct average first = average_of(o, 0, l, 0, 0), last = average_of(o, ORDER_ROWS - 1, l, 0, 0);
        if (o->reading == ONE_TREE)
            say(lab, "%s, |S| = %zu: the distance to the nearest with L = 1 and 20 is %.3f and %.3f.", o->name,
                list_sizes[l], first.mean, last.mean);
        else
            claim(lab, last.mean < first.mean,
                  "%s, |S| = %zu: the distance to the nearest falls with L, from %.3f to %.3f", o->name,
                  list_sizes[l], first.mean, last.mean);
    }
    double means[MEASURES][FILTERS] = { { 0 } };
    for (size_t i = 0; i < MEASURES * FILTERS * ORDER_ROWS * LISTS; i++) {
        size_t m = i % MEASURES, f = i / MEASURES % FILTERS, r = i / MEASURES / FILTERS % ORDER_ROWS;
        means[m][f] += average_of(o, r, i / MEASURES / FILTERS / ORDER_ROWS, f, m).mean / (ORDER_ROWS * LISTS);
    }
    for (size_t m = 0; m < MEASURES; m++) {
        int digits = m == PENALTIES ? 0 : 3;
        say(lab,
            "%s, distance to %s, mean over all L and |S|: all %.*f, deepest only %.*f, around average %.*f, from "
            "average on %.*f.",
            o->name, measures[m], digits, means[m][0], digits, means[m][1], digits, means[m][2], digits, means[m][3]);
    }
    const double *sorted = means[1], *penalties = means[PENALTIES];
    claim(lab, sorted[1] < sorted[0] && sorted[1] < sorted[2] && sorted[1] < sorted[3],
          "%s: against S in its true order \"deepest only\" wins, as in the reference; \"around average\" %s",
          o->name, sorted[2] < sorted[0] ? "beats \"all\" too" : "does not beat \"all\", unlike there");
    claim(lab, penalties[1] < penalties[0] && penalties[1] < penalties[3] && penalties[2] < penalties[0],
          "%s: in penalties \"deepest only\" wins, and \"around average\" beats \"all\"", o->name);
}

/* Measures, tabulates and claims. */
static void run_order(struct lab *lab, struct table *table, struct order *o)
{
    o->embeddings = lab->quick ? 2 : 25;
    o->verdicts = need(2 * o->embeddings, sizeof *o->verdicts);
    twin_exec_for(lab->exec, 2 * o->embeddings, 1, measure_order, o);
    for (size_t l = 0; l < LISTS; l++)
        for (size_t r = 0; r < ORDER_ROWS; r++)
            for (size_t f = 0; f < FILTERS; f++) {
                struct average nearest = average_of(o, r, l, f, 0), sorted = average_of(o, r, l, f, 1),
                               penalties = average_of(o, r, l, f, PENALTIES);
                table_row(table, "%s\t%zu\t%zu\t%s\t%.1f\t%.4f\t%.4f\t%.4f\t%.4f\t%.1f\t%.1f", o->name, list_sizes[l],
                          order_trees[r], filters[f], nearest.kept, nearest.mean, nearest.error, sorted.mean,
                          sorted.error, penalties.mean, penalties.error);
            }
    claim_order(lab, o);
    free(o->verdicts);
}

void exp_forest_order(struct lab *lab)
{
    struct strings *strings = need(2, sizeof *strings);
    struct table table;
    struct order runs[] = {
        { .preset = TWIN__EMBED_PAPER, .reading = ONE_TREE, .name = "paper, one tree" },
        { .preset = TWIN__EMBED_PAPER, .reading = DISTINCT, .name = "paper" },
        { .preset = TWIN__EMBED_DEFAULT, .reading = DISTINCT, .name = "default" },
    };
    for (size_t s = 0; s < 2; s++)
        draw_strings(&strings[s], KEEP_BY_PAIRS, seed_of(lab->seed, 4400 + s));
    table_begin(
        &table, "forest-order",
        "parameters\t|S|\tL\tfilter\tkept\tto the nearest\tstandard error\tto S, sorted\tstandard error\tpenalties\t"
        "standard error");
    say(lab,
        "The order in which a forest returns strings, against the true order. Reference (Sokolov 2007): the distance "
        "falls slightly with L; \"deepest only\" and \"around average\" win.");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        runs[i].lab = lab;
        runs[i].strings = strings;
        run_order(lab, &table, &runs[i]);
        progress(lab, i + 1, sizeof runs / sizeof runs[0]);
    }
    table_write_only(lab, &table);
    plot_order(lab);
    free(strings);
}

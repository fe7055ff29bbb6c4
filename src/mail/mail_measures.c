/* mail_measures.c — hm%, sm%, lam%, 1−ROCA%, and the spam missed at a given loss of good mail.
 *
 * Everything follows from the judgements sorted by falling score and cut into steps of equal scores. A resample of the
 * bootstrap draws good mail and spam separately, with replacement; only how often each message is drawn matters, so
 * the order is computed once. */
#include "mail/mail_measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"

static const double levels[TWIN__MAIL_LEVELS] = { 0.1, 1, 5, 10 };

double twin__mail_level(size_t number)
{
    return number < TWIN__MAIL_LEVELS ? levels[number] : 0;
}

static int by_falling_score(const void *a, const void *b)
{
    const twin__mail_judgement *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* The end of the step of equal scores that begins at `i`. */
static size_t step_end(const twin__mail_judgement *sorted, size_t count, size_t i)
{
    double score = sorted[i].score;
    while (i < count && !(sorted[i].score < score))
        i++;
    return i;
}

/* The area above the ROC curve in percent; message i counts `times[i]` times, or once when that is NULL. */
static double area_above(const twin__mail_judgement *sorted, const uint32_t *times, size_t count)
{
    double good = 0, spam = 0, area = 0; /* counts so far; of (good, spam) pairs in the wrong order */
    for (size_t i = 0; i < count;) {
        double step_good = 0, step_spam = 0;
        for (size_t end = step_end(sorted, count, i); i < end; i++)
            *(sorted[i].is_spam ? &step_spam : &step_good) += times ? times[i] : 1;
        area += step_spam * (good + step_good / 2);
        good += step_good;
        spam += step_spam;
    }
    return good > 0 && spam > 0 ? 100 * area / (good * spam) : NAN;
}

/* ---- the spam missed at a level */

struct point {
    double good, spam; /* messages at or above a threshold */
};

/* The last point that loses no more than `allowed` good messages, and the one after it. */
static bool points_around(struct point *last, struct point *next, const twin__mail_judgement *sorted, size_t count,
                          double allowed)
{
    *last = *next = (struct point){ 0, 0 };
    for (size_t i = 0; i < count;) {
        for (size_t end = step_end(sorted, count, i); i < end; i++)
            *(sorted[i].is_spam ? &next->spam : &next->good) += 1;
        if (next->good > allowed + 1e-9) /* 0.1 % of 2000 is 2 */
            return true;
        *last = *next;
    }
    return false;
}

static void measure_levels(twin__mail_measures *out, const twin__mail_judgement *sorted, size_t count)
{
    double spam = (double)out->spam;
    for (size_t i = 0; i < TWIN__MAIL_LEVELS; i++) {
        struct point last, next;
        double allowed = levels[i] / 100 * (double)out->good;
        bool more = points_around(&last, &next, sorted, count, allowed);
        double between =
            more ? last.spam + (allowed - last.good) / (next.good - last.good) * (next.spam - last.spam) : last.spam;
        bool defined = out->good && out->spam;
        out->sm_at[i] = defined ? 100 * (spam - last.spam) / spam : NAN;
        out->sm_between[i] = defined ? 100 * (spam - between) / spam : NAN;
    }
}

/* ---- rates */

/* Wilson's interval of k of n. */
static twin__mail_rate wilson(uint64_t k, uint64_t n)
{
    const double z = 1.959964; /* the 97.5 % quantile of the normal distribution */
    if (n == 0)
        return (twin__mail_rate){ NAN, NAN, NAN };
    double m = (double)n, p = (double)k / m, wide = 1 + z * z / m;
    double middle = (p + z * z / (2 * m)) / wide, half = z * sqrt(p * (1 - p) / m + z * z / (4 * m * m)) / wide;
    return (twin__mail_rate){ 100 * p, 100 * fmax(0, middle - half), 100 * fmin(1, middle + half) };
}

/* The logit of k of n, at least half a message away from none and from all. */
static double logit_of(uint64_t k, uint64_t n)
{
    double p = n > 1 ? fmin(fmax((double)k, 0.5), (double)n - 0.5) / (double)n : 0.5;
    return log(p / (1 - p));
}

static void count_verdicts(twin__mail_measures *out, const twin__mail_judgement *judgements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (judgements[i].is_spam) {
            out->spam++;
            out->spam_missed += !judgements[i].called_spam;
        } else {
            out->good++;
            out->good_lost += judgements[i].called_spam;
        }
    }
    out->hm = wilson(out->good_lost, out->good);
    out->sm = wilson(out->spam_missed, out->spam);
    double mean = (logit_of(out->good_lost, out->good) + logit_of(out->spam_missed, out->spam)) / 2;
    out->lam = out->good && out->spam ? 100 / (1 + exp(-mean)) : NAN;
}

/* ---- the interval of 1−ROCA% */

struct bootstrap {
    uint32_t *times;    /* how often each message of the sorted list is drawn */
    size_t *members[2]; /* the good messages, and the spam */
    size_t counts[2];
    double *areas;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void draw(struct bootstrap *b, const twin__mail_judgement *sorted, size_t count,
                 twin__mail_measure_options options)
{
    uint64_t state = options.seed;
    for (size_t i = 0; i < count; i++)
        b->members[sorted[i].is_spam][b->counts[sorted[i].is_spam]++] = i;
    for (size_t r = 0; r < options.resamples; r++) {
        memset(b->times, 0, count * sizeof *b->times);
        for (int kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < b->counts[kind]; i++)
                b->times[b->members[kind][twin__random_below(&state, b->counts[kind])]]++;
        b->areas[r] = area_above(sorted, b->times, count);
    }
    qsort(b->areas, options.resamples, sizeof *b->areas, by_value);
}

static twin_status measure_interval(twin__mail_rate *out, const twin__mail_judgement *sorted, size_t count,
                                    twin__mail_measure_options options)
{
    struct bootstrap b = { .times = malloc((count + 1) * sizeof *b.times),
                           .members = { malloc((count + 1) * sizeof(size_t)), malloc((count + 1) * sizeof(size_t)) },
                           .areas = malloc((options.resamples + 1) * sizeof *b.areas) };
    twin_status status = TWIN_ENOMEM;
    if (b.times && b.members[0] && b.members[1] && b.areas) {
        draw(&b, sorted, count, options);
        double last = (double)(options.resamples - 1);
        out->low = b.areas[(size_t)floor(0.025 * last)];
        out->high = b.areas[(size_t)ceil(0.975 * last)];
        status = TWIN_OK;
    }
    free(b.times);
    free(b.members[0]);
    free(b.members[1]);
    free(b.areas);
    return status;
}

twin_status twin__mail_measure(twin__mail_measures *out, const twin__mail_judgement *judgements, size_t count,
                               twin__mail_measure_options options)
{
    if (!out || (!judgements && count))
        return twin__fail_null(NULL, out ? "judgements" : "out");
    *out = (twin__mail_measures){ 0 };
    for (size_t i = 0; i < count; i++)
        if (isnan(judgements[i].score))
            return twin__fail(NULL, TWIN_EINVAL, "the score of judgement %zu is not a number", i);
    twin__mail_judgement *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return twin__fail_memory(NULL);
    if (count)
        memcpy(sorted, judgements, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_falling_score);

    twin_status status = TWIN_OK;
    count_verdicts(out, sorted, count);
    out->roca = (twin__mail_rate){ area_above(sorted, NULL, count), NAN, NAN };
    measure_levels(out, sorted, count);
    for (size_t i = 0; i < count; i = step_end(sorted, count, i))
        out->distinct_scores++;
    if (options.resamples && out->good && out->spam)
        status = measure_interval(&out->roca, sorted, count, options);
    free(sorted);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(NULL, status);
}

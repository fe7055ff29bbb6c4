/* thresholds.c — running quantiles of scores.
 *
 * A label is given above a threshold that about one message of other labels in a thousand exceeds: it rises by a step when
 * one was above it, and falls by a small part of the step when one was not. Steps get smaller as messages add up, because
 * a threshold that moves on by half a unit at each rare error is at the mercy of the last few. In the same way about one
 * message of the label in two hundred is below the other threshold.
 *
 * Labels can be wrong, and then no quantile is right: with one label in twenty wrong, one good message in seven may be spam,
 * and a threshold above all of these would catch nothing. So a message that scores higher than the median of the label's
 * own does not count: whatever it is, no threshold that lets half of the label's messages through would spare it. For the
 * same reason the threshold stays below that median, within fixed bounds. */
#include "mail/thresholds.h"

#include <math.h>

static const double ABOVE_FIRST = 2.5, ABOVE_LEAST = 2, ABOVE_MOST = 4; /* usual: 2.5 to 4 */
static const double BELOW_LEAST = -1.5, BELOW_MOST = -1;                /* the first is the most */

static const double OTHERS_ABOVE = 0.00125, OWN_BELOW = 0.005; /* the shares aimed at */

static const double ABOVE_STEP = 0.5, BELOW_STEP = 0.3, LEAST_STEP = 0.05, USUAL_STEP = 0.05;

struct twin__thresholds twin__thresholds_first(void)
{
    return (struct twin__thresholds){ ABOVE_FIRST, BELOW_MOST, ABOVE_MOST };
}

static double clamp(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

struct twin__thresholds twin__thresholds_within(struct twin__thresholds t)
{
    t.usual = !(t.usual > 0) ? ABOVE_MOST : clamp(t.usual, ABOVE_FIRST, ABOVE_MOST);
    t.above = clamp(t.above, ABOVE_LEAST, t.usual);
    t.below = clamp(t.below, BELOW_LEAST, BELOW_MOST);
    return t;
}

/* The step after so many messages, of which a share was expected to be on the wrong side. */
static double step_after(double first, uint64_t earlier, double share)
{
    return fmax(first / sqrt(1 + share * (double)earlier), LEAST_STEP);
}

void twin__thresholds_move(struct twin__thresholds *t, double score, bool positive, uint64_t earlier)
{
    if (positive) {
        double step = step_after(BELOW_STEP, earlier, OWN_BELOW);
        t->below += score < t->below ? -step : step * OWN_BELOW;
        t->usual += score > t->usual ? USUAL_STEP : -USUAL_STEP;
    } else {
        double step = step_after(ABOVE_STEP, earlier, OTHERS_ABOVE);
        if (!(score > t->above))
            t->above -= step * OTHERS_ABOVE;
        else if (score <= t->usual)
            t->above += step;
    }
    *t = twin__thresholds_within(*t);
}

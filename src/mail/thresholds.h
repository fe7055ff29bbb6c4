/* thresholds.h — what the score of a label is compared with: learnt from the scores that messages had before their labels
 * were known. */
#ifndef TWIN_MAIL_THRESHOLDS_H
#define TWIN_MAIL_THRESHOLDS_H

#include <stdbool.h>
#include <stdint.h>

/* Log odds. */
struct twin__thresholds {
    double above; /* the label is given to what is above */
    double below; /* what is below is not of the label; it is unsure between */
    double usual; /* the median of the label's own messages */
};

/* Those of a label that nothing is known of. */
struct twin__thresholds twin__thresholds_first(void);

/* The same within their bounds; `below` and `usual` may be 0, which is none. */
struct twin__thresholds twin__thresholds_within(struct twin__thresholds thresholds);

/* Learns that a message with this score is of the label, or is not. `earlier`: how many of its side were before it. */
void twin__thresholds_move(struct twin__thresholds *thresholds, double score, bool positive, uint64_t earlier);

#endif

/* margin.h — the second voter: a relaxed online support vector machine (Sculley and Wachman 2007).
 *
 * It remembers the hard ones among the last messages taught, those whose margin was below 1, and at each new hard one
 * adjusts how much each of them counts. It learns faster than linear.h from few messages, and resists wrong labels,
 * because no message can count for more than TWIN__MARGIN_COST. */
#ifndef TWIN_MAIL_MARGIN_H
#define TWIN_MAIL_MARGIN_H

#include "mail/features.h"

/* 3 to 100 are better where all labels are right, and ruinous where 5 % are wrong. */
#define TWIN__MARGIN_COST 0.5

/* The remembered messages are among the last so many of the class, and of the rest. */
enum { TWIN__MARGIN_WINDOW = 1000 };

/* A remembered message. */
struct twin__margin_example {
    uint64_t number; /* of the message */
    uint64_t turn;   /* how many of its side had been taught before it */
    float alpha;     /* how much it counts: 0 .. TWIN__MARGIN_COST */
    uint8_t calm;    /* passes in a row in which it did not move: 0 .. 5 */
    bool positive;
    bool stored; /* as it is: for the caller */
    uint32_t counts[TWIN__FEATURE_BLOCKS];
    uint32_t places[]; /* of the blocks, one after the other */
};

/* `weights` has TWIN__FEATURE_PLACES of them. Begin with zeros and weights of zero. */
struct twin__margin {
    float *weights;
    struct twin__margin_example **examples; /* by number, increasing */
    size_t count, capacity;
    uint64_t taught[2]; /* messages of the rest, and of the class, each counted once, by the caller */
};
void twin__margin_clear(struct twin__margin *margin);

/* Positive for the class; beyond ±1 it is sure. */
double twin__margin_score(const struct twin__margin *margin, const struct twin__features *features);

/* Learns that message `number` is of the class, or is not; `score` is the one it has. TWIN_ENOMEM leaves the voter as it
 * was. */
twin_status twin__margin_learn(struct twin__margin *margin, uint64_t number, const struct twin__features *features,
                               double score, bool positive);

/* The same for a message that is taught again, which adjusts that message only. */
twin_status twin__margin_rehearse(struct twin__margin *margin, uint64_t number, const struct twin__features *features,
                                  double score, bool positive);

/* Takes back what a message counts for, if it is remembered. */
void twin__margin_forget(struct twin__margin *margin, uint64_t number);

/* Remembers an example that was stored. */
twin_status twin__margin_restore(struct twin__margin *margin, const struct twin__margin_example *head,
                                 const struct twin__features *features);

#endif

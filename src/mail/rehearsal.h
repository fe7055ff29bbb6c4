/* rehearsal.h — messages of each label whose features are kept, to be taught again.
 *
 * Folders are learnt one after the other: all spam, then all good mail. An online learner that sees one label for long
 * learns nothing of it after the first few, and forgets the other. So while one label is taught for long, messages of the
 * others that were kept here are taught in between. */
#ifndef TWIN_MAIL_REHEARSAL_H
#define TWIN_MAIL_REHEARSAL_H

#include "mail/features.h"

enum { TWIN__REHEARSED = 512 }; /* messages per label */

struct twin__rehearsed {
    uint64_t number; /* of the message */
    size_t room;     /* for places */
    uint32_t counts[TWIN__FEATURE_BLOCKS];
    uint32_t places[]; /* of the blocks, one after the other */
};

/* Begin with {0}. */
struct twin__rehearsal {
    struct twin__rehearsed **slots; /* NULL: empty */
    size_t count;
    bool changed[TWIN__REHEARSED]; /* since the caller cleared it */
};
void twin__rehearsal_clear(struct twin__rehearsal *rehearsal);

/* Keeps a message, in the place of another when there are many: old ones go at random. Drops it. */
twin_status twin__rehearsal_add(struct twin__rehearsal *rehearsal, uint64_t number,
                                const struct twin__features *features);
void twin__rehearsal_drop(struct twin__rehearsal *rehearsal, uint64_t number);

/* One of the messages, chosen by a random number; NULL: there is none. */
const struct twin__rehearsed *twin__rehearsal_draw(const struct twin__rehearsal *rehearsal, uint64_t random);

/* Its features. */
struct twin__features twin__rehearsed_features(const struct twin__rehearsed *message);

#endif

/* features.h — a message as hashed features, for the learners.
 *
 * There are words and windows. Words are names and words of headers, words of the text, addresses, hosts, links, parts;
 * windows are every four bytes at the start of the message as it was received. Both come in two blocks: of what a person
 * sees, who reads the message, and of everything else, which is how it came. A feature is a place in a table of weights,
 * given by a keyed hash, so that a sender cannot choose which features share a place. Each occurs once per message. */
#ifndef TWIN_MAIL_FEATURES_H
#define TWIN_MAIL_FEATURES_H

#include <math.h>
#include <twinsift/hash.h>
#include <twinsift/message.h>

/* Places in a table of weights. 2^18 reach 1-ROCA% .0112 on the first 10,000 messages of trec07p, 2^20 .0110, 2^16 .0116. */
enum { TWIN__FEATURE_BITS = 18, TWIN__FEATURE_PLACES = 1 << TWIN__FEATURE_BITS };

/* The blocks. Words, and windows, are scaled to length 1. */
enum { TWIN__SEEN_WORDS, TWIN__OTHER_WORDS, TWIN__SEEN_WINDOWS, TWIN__OTHER_WINDOWS, TWIN__FEATURE_BLOCKS };

/* A unit that every message has takes up what all messages have in common; it is not listed. No feature has its place. */
enum { TWIN__FEATURE_ALWAYS = 0 };

/* Borrowed: the places of each block in increasing order. */
struct twin__features {
    const uint32_t *places[TWIN__FEATURE_BLOCKS];
    uint32_t counts[TWIN__FEATURE_BLOCKS];
};

static inline size_t twin__features_total(const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    size_t total = 0;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        total += counts[b];
    return total;
}

/* The blocks of a message when their places are one after the other. */
static inline struct twin__features twin__features_at(const uint32_t *places,
                                                      const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    struct twin__features features;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        features.places[b] = places;
        features.counts[b] = counts[b];
        places += counts[b];
    }
    return features;
}

/* What a feature of a block counts: 1 / √n, n being the number of words, or of windows. */
static inline double twin__feature_scale(const struct twin__features *features, int block)
{
    uint32_t count = features->counts[block & ~1] + features->counts[block | 1];
    return count ? 1 / sqrt(count) : 0;
}

/* What a person sees of it. */
static inline struct twin__features twin__features_seen(struct twin__features features)
{
    features.counts[TWIN__OTHER_WORDS] = features.counts[TWIN__OTHER_WINDOWS] = 0;
    return features;
}

typedef struct twin__feature_maker twin__feature_maker;

/* Creates a maker for a secret key; release it with twin__feature_maker_free(). One thread uses it at a time. */
twin_status twin__feature_maker_create(twin__feature_maker **out, const uint64_t key[2]);
void twin__feature_maker_free(twin__feature_maker *maker);

/* The features of a message, and of the same with only the beginning of its text, both until the maker is used again. The
 * second has no words if the text is no longer than that. */
twin_status twin__features_make(struct twin__features *out, struct twin__features *opening,
                                twin__feature_maker *maker, const twin_message *message);

/* Calls `visit` for each word of the message that is seen, or for each other one, repeats included, with its place and where it was found: "body", "link", the
 * name of a header. For explanations. */
typedef void twin__feature_visit(void *context, uint32_t place, twin_text kind, twin_text word);
twin_status twin__features_name(twin__feature_maker *maker, const twin_message *message, bool seen,
                                twin__feature_visit *visit, void *context);

#endif

/* features.h — a message as two blocks of hashed features, for the learners.
 *
 * Block 0 holds words: names and words of headers, words of the text, addresses, hosts, links, parts. Block 1 holds
 * windows: every four bytes at the start of the message as it was received. A feature is a place in a table of weights,
 * given by a keyed hash, so that a sender cannot choose which features share a place. Each occurs once per message. */
#ifndef TWIN_MAIL_FEATURES_H
#define TWIN_MAIL_FEATURES_H

#include <twinsift/hash.h>
#include <twinsift/message.h>

/* Places in a table of weights. 2^18 reach 1-ROCA% .0112 on the first 10,000 messages of trec07p, 2^20 .0110, 2^16 .0116. */
enum { TWIN__FEATURE_BITS = 18, TWIN__FEATURE_PLACES = 1 << TWIN__FEATURE_BITS, TWIN__FEATURE_BLOCKS = 2 };

/* Borrowed: the places of each block in increasing order. */
struct twin__features {
    const uint32_t *places[TWIN__FEATURE_BLOCKS];
    uint32_t counts[TWIN__FEATURE_BLOCKS];
};

typedef struct twin__feature_maker twin__feature_maker;

/* Creates a maker for a secret key; release it with twin__feature_maker_free(). One thread uses it at a time. */
twin_status twin__feature_maker_create(twin__feature_maker **out, const uint64_t key[2]);
void twin__feature_maker_free(twin__feature_maker *maker);

/* The features of a message, and of the same with only the beginning of its text, both until the maker is used again. The
 * second has no words if the text is no longer than that. */
twin_status twin__features_make(struct twin__features *out, struct twin__features *opening,
                                twin__feature_maker *maker, const twin_message *message);

/* Calls `visit` for each word of the message, repeats included, with its place and where it was found: "body", "link", the
 * name of a header. For explanations. */
typedef void twin__feature_visit(void *context, uint32_t place, twin_text kind, twin_text word);
twin_status twin__features_name(twin__feature_maker *maker, const twin_message *message, twin__feature_visit *visit,
                                void *context);

#endif

/* remembered.h — the messages a model has learnt: what they were called, when, from whom, and what they look like.
 *
 * Messages are numbered in the order in which they were learnt. The oldest expire first. Of a message there are keyed
 * hashes and a signature, no text. */
#ifndef TWIN_MAIL_REMEMBERED_H
#define TWIN_MAIL_REMEMBERED_H

#include <twinsift/scheme.h>

#include "mail/features.h"
#include "sketch/minhash.h"

enum {
    TWIN__MAIL_SLOTS = 128, /* of a signature; a slot is one byte */
    TWIN__MAIL_HEAD = 16,   /* slots that are compared first */
    TWIN__MAIL_SHAPE = 16,  /* the last slots: of the structure of HTML; the others are of words */
    TWIN__MAIL_TAIL = TWIN__MAIL_SLOTS - TWIN__MAIL_HEAD - TWIN__MAIL_SHAPE,
    TWIN__MAIL_BLOCK = 256, /* messages that a file keeps together: those of numbers with the same number / 256 */
    TWIN__MAIL_MAX_LABELS = 32,
    TWIN__MAIL_REMOVED = 1 << 0,  /* a flag of a record: forgotten */
    TWIN__MAIL_IMPORTED = 1 << 1, /* another model has learnt it */
};

/* As in the file, in the machine's byte order. */
struct twin__mail_record {
    uint64_t id;              /* keyed hash of what identifies the message */
    uint64_t address, domain; /* keyed hashes of the sender's; 0: none */
    uint32_t time;            /* when it was learnt, in seconds since 1970 */
    uint16_t label, flags;
    float score;      /* log odds of spam before it was learnt; NaN: it was not judged */
    uint32_t verdict; /* what it was called before it was learnt: a label plus 1, or 0 for unsure */
};

struct twin__mail_signature {
    uint8_t slots[TWIN__MAIL_SLOTS];
};

/* What is known of messages, by what it is needed for: who they are, the three parts of their signatures. */
enum twin__mail_column {
    TWIN__MAIL_RECORDS,
    TWIN__MAIL_HEADS,
    TWIN__MAIL_TAILS,
    TWIN__MAIL_SHAPES,
    TWIN__MAIL_COLUMNS,
};

/* Whoever has columns that are lent. */
struct twin__mail_lender {
    /* The entries of messages TWIN__MAIL_BLOCK · block and so on, from the first that is remembered; never NULL. */
    const void *(*get)(struct twin__mail_lender *lender, enum twin__mail_column column, uint64_t block);
};

/* Begin with {0}. Record and signature of message `first` are at [start]. One that is lent has nothing of its own, and no table
 * of ids: for a few checks it is less work to visit all records where they are. Of the columns a block is asked for when it is
 * needed. */
struct twin__remembered {
    struct twin__mail_record *records;
    uint8_t (*heads)[TWIN__MAIL_HEAD];
    uint8_t (*tails)[TWIN__MAIL_TAIL];
    uint8_t (*shapes)[TWIN__MAIL_SHAPE];
    struct twin__mail_lender *lender; /* NULL: they are its own */
    size_t start, count, capacity;
    uint64_t first; /* number of the oldest */
    uint64_t live;  /* that are not removed */
    uint32_t *map;  /* by id: the low half of a number plus 1; 0: empty */
    size_t map_size, map_used;
    uint64_t *touched; /* numbers of messages removed since the caller set touched_count to 0 */
    size_t touched_count, touched_capacity;
};
void twin__remembered_clear(struct twin__remembered *remembered);

/* Whether there is a message with a number: it was learnt, has not expired and was not removed. */
bool twin__remembered_has(const struct twin__remembered *remembered, uint64_t number);

/* The message with a number, which must be first .. first + count - 1. */
static inline size_t twin__remembered_place(const struct twin__remembered *r, uint64_t number)
{
    return r->start + (size_t)(number - r->first);
}
/* The entry of a message in a column: the entries of its block follow each other. */
const void *twin__remembered_entry(const struct twin__remembered *r, enum twin__mail_column column, uint64_t number);

static inline const struct twin__mail_record *twin__remembered_at(const struct twin__remembered *r, uint64_t number)
{
    return r->lender ? twin__remembered_entry(r, TWIN__MAIL_RECORDS, number)
                     : &r->records[twin__remembered_place(r, number)];
}

/* The messages from a number on whose records follow each other in memory: how many there are, and the first record. */
static inline const struct twin__mail_record *twin__remembered_run(size_t *count, const struct twin__remembered *r,
                                                                   uint64_t number)
{
    uint64_t left = r->first + r->count - number, in_block = TWIN__MAIL_BLOCK - number % TWIN__MAIL_BLOCK;
    *count = (size_t)(r->lender && in_block < left ? in_block : left);
    return twin__remembered_at(r, number);
}
struct twin__mail_signature twin__remembered_signature(const struct twin__remembered *remembered, uint64_t number);

/* Makes room for so many in one that is empty. */
twin_status twin__remembered_reserve(struct twin__remembered *remembered, size_t count);

/* Adds a message at the end. TWIN_ENOMEM leaves everything as it was. */
twin_status twin__remembered_add(struct twin__remembered *remembered, const struct twin__mail_record *record,
                                 const struct twin__mail_signature *signature);

/* The number of the message with an id; UINT64_MAX: there is none, or it was removed. */
uint64_t twin__remembered_find(const struct twin__remembered *remembered, uint64_t id);

/* Forgets a message; the number stays used. Drops the oldest one. */
twin_status twin__remembered_remove(struct twin__remembered *remembered, uint64_t number);
void twin__remembered_drop_first(struct twin__remembered *remembered);

/* ---- lookalikes */

/* The signature of a message: of its words, and of the elements of its HTML, if these are enough to be told from others. The
 * hasher has TWIN__MAIL_SLOTS slots. */
struct twin__mail_signature twin__mail_sign(const twin_minhash *hasher, const struct twin__features *features);
void twin__mail_sign_shape(struct twin__mail_signature *out, const twin_minhash *hasher, const uint64_t *elements,
                           size_t count);

/* The share of equal words that two signatures show: 0 .. 1. */
double twin__mail_similarity(const struct twin__mail_signature *a, const struct twin__mail_signature *b);

enum { TWIN__MAIL_NEIGHBOURS = 5 };

/* The nearest messages of a label. */
struct twin__neighbours {
    uint64_t numbers[TWIN__MAIL_NEIGHBOURS]; /* the nearest first; of equals the latest first */
    double similarities[TWIN__MAIL_NEIGHBOURS];
    uint32_t count;
    uint32_t copies;       /* messages that are almost equal: reports of the same */
    uint32_t alike;        /* messages with almost the same structure of HTML */
    uint64_t alike_number; /* the latest of these, and how similar its words are */
    double alike_similarity;
};

/* The nearest messages of each label, out[label]. With `near` only those that look much alike are found, at a fraction
 * of the time, and of thousands of them the latest. */
void twin__remembered_nearest(struct twin__neighbours out[TWIN__MAIL_MAX_LABELS],
                              const struct twin__remembered *remembered, const struct twin__mail_signature *signature,
                              bool near);

#endif

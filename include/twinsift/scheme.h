/* scheme.h — how a document becomes a signature, and which signatures become candidates.
 *
 * A scheme is one plain value: normalisation, shingle rule, hash, sketch, measure, threshold, bands and rows. Two
 * signatures can be compared only if they were made by equal schemes, so everything that signs documents, in memory,
 * in an index or on another machine, carries its scheme along. It can be written as a line of text and read back. */
#ifndef TWINSIFT_SCHEME_H
#define TWINSIFT_SCHEME_H

#include <twinsift/minhash.h>
#include <twinsift/plan.h>
#include <twinsift/shingle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros are completed by twin_scheme_complete(). Stop words are borrowed. */
typedef struct twin_scheme {
    twin_normal normal;
    twin_shingle_options shingle; /* width 0: 9 for CHAR and AUTO, 4 for BYTE, 3 for WORD and STOP */
    twin_minhash_options minhash; /* slots 0: 128; as many as needed, up to 1,024, for a threshold below 0.053 */
    twin_measure measure;         /* what the threshold is a threshold of */
    double threshold;             /* in (0, 1]; 0: 0.8 */
    twin_plan plan;               /* bands 0: planned */
    bool multiset;                /* each occurrence of a shingle counts, as an item of its own: see set.h */
    uint64_t reserved[TWIN_RESERVED];
} twin_scheme;

/* The scheme that `twinsift pairs` uses by default, complete: folded text, auto:9, xxh3, 128 slots of the fast sketch,
 * a Jaccard similarity of 0.8, seed 1. */
TWIN_API twin_scheme twin_scheme_default(void);

/* Draws everything random in the scheme from `seed`: the hash, of the family that is set, and the sketch. */
TWIN_API void twin_scheme_seed(twin_scheme *scheme, uint64_t seed);

/* The same from a secret key of 128 random bits, for hostile input: the hash becomes sip under this key, and the seed
 * of the sketch is drawn from it. Whoever does not know the key cannot make documents that collide. */
TWIN_API void twin_scheme_key(twin_scheme *scheme, const uint64_t key[2]);

/* Fills in what is zero and checks the rest; TWIN_EINVAL and a sentence when a value is out of range.
 *
 * The plan is the one with the most rows that still makes a pair at the threshold a candidate with probability
 * TWIN_SCHEME_RECALL; with too few slots, the one that comes nearest. Containment of t does not bound the Jaccard
 * similarity, since a small set may be part of a large one: pairs are found without bands (similar.h). For single
 * queries one row per band finds the lowest similarities that the slots can find. */
TWIN_API twin_status twin_scheme_complete(twin_scheme *scheme, twin_error *error);
#define TWIN_SCHEME_RECALL 0.999

/* The probability that a pair at the threshold becomes a candidate, for a complete scheme. Containment: that of a set
 * wholly contained in one of the same size, which is an upper bound. */
TWIN_API double twin_scheme_recall(const twin_scheme *scheme);

/* Whether two complete schemes are the same in all parts, stop words and keys included. */
TWIN_API bool twin_scheme_equal(const twin_scheme *a, const twin_scheme *b);

/* Appends the scheme, complete, as one line of KEY=VALUE separated by blanks, without a line end:
 *
 *     normal=fold shingle=auto:9 hash=xxh3:1 sketch=fast slots=128 seed=1 measure=jaccard threshold=0.8 bands=25 rows=5
 *
 * and " multiset=yes" if it is one. Equal schemes give equal bytes. docs/format.md draws it. The secret key of sip is part of the line. */
TWIN_API twin_status twin_scheme_write(twin_buffer *out, const twin_scheme *scheme);

/* Reads such a line, with keys in any order; those left out are zero and completed. Stop words are stored in `words`,
 * which must outlive the scheme; begin it with {0} and end it with twin_buffer_clear(). TWIN_EFORMAT and a sentence
 * with the offset when the line is not a scheme. */
TWIN_API twin_status twin_scheme_read(twin_scheme *out, twin_buffer *words, twin_text line, twin_error *error);

/* "jaccard", "containment"; "fold", "check", "bytes". From a name: TWIN_EINVAL when there is no such value. */
TWIN_API const char *twin_measure_name(twin_measure measure);
TWIN_API twin_status twin_measure_from_name(twin_measure *out, const char *name);
TWIN_API const char *twin_normal_name(twin_normal normal);
TWIN_API twin_status twin_normal_from_name(twin_normal *out, const char *name);

#ifdef __cplusplus
}
#endif
#endif

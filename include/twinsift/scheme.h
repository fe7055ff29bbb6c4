/* scheme.h — how a document becomes a signature, and which signatures become candidates.
 *
 * A scheme is one plain value: normalisation, shingle rule, hash, sketch, measure, threshold, bands and rows. Two
 * signatures can be compared only if they were made by equal schemes, so everything that signs documents, in memory,
 * in an index or on another machine, carries its scheme along. It can be written as a line of text and read back. */
#ifndef TWINSIFT_SCHEME_H
#define TWINSIFT_SCHEME_H

#include <twinsift/hash.h>
#include <twinsift/plan.h>
#include <twinsift/set.h>
#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shingles
 *
 * A shingle (n-gram) is a window of consecutive characters, bytes or words; a text is represented by the hashes of its
 * shingles. A text that has no such window, because it is shorter or has no stop word, is one shingle as a whole, so
 * that it is similar to its copies and to nothing else; only a text without characters or words has none. */

enum { TWIN_SHINGLE_MAX_WIDTH = 1024, TWIN_SHINGLE_MAX_KMER = 32 };

typedef enum twin_shingle_kind {
    TWIN_SHINGLE_AUTO, /* the default: every window of characters that count for `width`: Han and kana for three,
                          Hangul syllables, Thai, Lao, Khmer and Burmese for one and a half, all others for one. The
                          same as CHAR for text without such characters */
    TWIN_SHINGLE_CHAR, /* every window of `width` Unicode characters */
    TWIN_SHINGLE_BYTE, /* every window of `width` bytes */
    TWIN_SHINGLE_WORD, /* every window of `width` words; words are separated by white space */
    TWIN_SHINGLE_STOP, /* each stop word with the width-1 words that follow it */
    TWIN_SHINGLE_KMER, /* of DNA, every window of `width` letters A, C, G and T, up to TWIN_SHINGLE_MAX_KMER, or its reverse
                          complement, which is the same shingle. Other letters, such as N, are in none */
} twin_shingle_kind;

typedef struct twin_shingle_options {
    twin_shingle_kind kind;
    size_t
        width; /* 1 .. TWIN_SHINGLE_MAX_WIDTH; 0: 9 for CHAR and AUTO, 4 for BYTE, 3 for WORD and STOP, 21 for KMER */
    twin_hash hash;
    const twin_text *stop_words; /* NULL: the hundred commonest English words; only for kind STOP. None is empty */
    size_t stop_word_count;
    uint64_t reserved[TWIN_RESERVED];
} twin_shingle_options;

/* Reads "auto", "auto:9", "char:9", "byte:4", "word:3" or "stop:3" into kind and width, and leaves the rest of `out`
 * alone. */
TWIN_API twin_status twin_shingle_parse(twin_shingle_options *out, const char *rule);

/* ---- signatures
 *
 * A signature is k numbers, its slots. Two sets of Jaccard similarity J agree on about J·k of them; the
 * estimate is unbiased and its variance is at most J(1-J)/k. The signature of a union is the slot-wise
 * minimum, so parts of a set can be signed separately (signer.h signs). */

enum { TWIN_MINHASH_MAX_SLOTS = 65536, TWIN_MINHASH_DEFAULT_SLOTS = 128 };

typedef enum twin_sketch {
    TWIN_SKETCH_FAST,    /* fast similarity sketching: each item is assigned to one or two slots */
    TWIN_SKETCH_CLASSIC, /* k hash functions: each item competes for every slot */
} twin_sketch;

typedef struct twin_minhash_options {
    twin_sketch sketch;
    size_t slots;  /* k, up to TWIN_MINHASH_MAX_SLOTS; 0: 128, which keeps the standard error below 0.045 */
    uint64_t seed; /* the same seed gives the same signature on every machine */
    uint64_t reserved[TWIN_RESERVED];
} twin_minhash_options;

/* The number of slots in which two signatures agree; divided by `slots` it estimates J. */
TWIN_API size_t twin_minhash_agreement(const uint32_t *a, const uint32_t *b, size_t slots);

/* ---- schemes */

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
 * of the sketch is drawn from it. Without the key nobody can make documents that collide. */
TWIN_API void twin_scheme_key(twin_scheme *scheme, const uint64_t key[2]);

/* Fills in what is zero and checks the rest; TWIN_EINVAL and a sentence when a value is out of range.
 *
 * The plan is the one with the most rows that still makes a pair at the threshold a candidate with probability
 * TWIN_SCHEME_RECALL; with too few slots, the one that comes nearest. Containment of t does not bound the Jaccard
 * similarity, since a small set may be part of a large one: pairs are found without bands (similar.h). For single
 * queries one row per band finds the lowest similarities that the slots can find. */
TWIN_API twin_status twin_scheme_complete(twin_scheme *scheme, twin_error *error);
#define TWIN_SCHEME_RECALL 0.999

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

#ifdef __cplusplus
}
#endif
#endif

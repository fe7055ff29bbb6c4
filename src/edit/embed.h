/* embed.h — embeddings of edit distance into vectors and sets.
 *
 * Comparing all texts by edit distance is too slow, so texts are mapped to vectors or sets that can be looked up. Three
 * ways, all based on the q-grams (q consecutive bytes) around a position of the text:
 *
 * - the q-gram distance D(x, y) of two texts, deterministic, with bounds implied by the edit distance;
 * - hash vectors: each number is a random projection of the q-grams in one random window, and the more similar two
 *   texts are, the more likely they agree on it. A forest (forest.h) looks them up;
 * - sets of (window, coarse position) features after Bar-Yossef et al. 2004, for minhash.h.
 *
 * A symbol is a byte. In UTF-8 one edited character changes up to four bytes, which is accurate enough for
 * candidates; edit.h then counts characters.
 *
 * All of them depend on positions, so they compare texts of similar length: see twin__embed_length_classes(). */
#ifndef TWIN_EDIT_EMBED_H
#define TWIN_EDIT_EMBED_H

#include <twinsift/text.h>

/* The q-grams of a window: all of q_low .. q_high bytes within `window` bytes. Zeros: chosen by the call
 * they are given to. */
typedef struct twin__embed_grams {
    size_t window;        /* w */
    size_t q_low, q_high; /* 1 <= q_low <= q_high <= window */
} twin__embed_grams;

/* The parameters for which Sokolov 2007 proves his bounds: q_low = 2w/3, and a few more lengths. */
twin__embed_grams twin__embed_paper_grams(size_t window);

/* D(x, y): over all windows that both texts have and all q, the mean number of q-grams in which they differ, counted
 * in both. With twin__embed_paper_grams(√n), k edits lead to at most 2k(w² + n + 1)/(n - w + 1). TWIN_EINVAL when a
 * text has no window. Zeros stand for twin__embed_paper_grams(√n) of the shorter text. Linear in the length for each
 * q. */
twin_status twin__embed_distance(double *out, twin_text x, twin_text y, twin__embed_grams grams);

/* Hash vectors. h(x) = ⌊(Σ φ(gram) + b) / r⌋ over the grams of one window, where φ gives each gram a standard Cauchy
 * number and b is uniform in [0, r). Numbers are fixed-point, so one seed gives one vector on every machine. */

typedef enum twin__embed_preset {
    TWIN__EMBED_DEFAULT, /* short q-grams: far better, see docs/decisions/0041-embedding.md */
    TWIN__EMBED_PAPER,   /* as published: w = n^(2/3), r = w, twin__embed_paper_grams(w) */
} twin__embed_preset;

/* Zeros: for texts of 64 bytes or a little more, the numbers of TWIN__EMBED_DEFAULT, 128 functions. */
typedef struct twin__embed_options {
    size_t length; /* n: windows are within the first n bytes, and shorter texts have no vector */
    twin__embed_grams grams;
    uint32_t bucket;  /* r: windows whose distance is below this are likely to agree */
    size_t functions; /* numbers in a vector */
    uint64_t seed;    /* keep it secret if texts may be constructed to collide */
} twin__embed_options;

/* Options for texts of `length` bytes or a little more. */
twin__embed_options twin__embed_options_for(twin__embed_preset preset, size_t length, size_t functions,
                                            uint64_t seed);

/* An embedder is immutable once created, so threads may share it. */
typedef struct twin__embedder twin__embedder;

twin_status twin__embedder_create(twin__embedder **out, twin__embed_options options);
void twin__embedder_free(twin__embedder *embedder);

/* Scratch memory of one thread; begin with {0}, keep it from call to call, end with twin__embed_scratch_clear(). */
typedef struct twin__embed_scratch {
    void *room;
    size_t bytes;
} twin__embed_scratch;
void twin__embed_scratch_clear(twin__embed_scratch *scratch);

/* Writes the vector of `text` into `out`, which has room for `functions` numbers; only their
 * equality has a meaning. TWIN_EINVAL when the text is shorter than the options' length. */
twin_status twin__embed_vector(uint32_t *out, const twin__embedder *embedder, twin__embed_scratch *scratch,
                               twin_text text);

/* The probability that two windows whose gram counts have l1 distance `distance` agree on a number:
 * (2/π)·atan(t) - ln(1 + t²)/(πt), t = bucket/distance. 1 at distance 0. */
double twin__embed_collision(double distance, double bucket);

/* Features. */

/* Zeros: a window of 8, a step of 64. */
typedef struct twin__embed_cells {
    size_t window; /* B bytes of the text … */
    size_t step;   /* … and the number of the step-sized interval in which they begin */
    uint64_t seed;
} twin__embed_cells;

/* For texts of `length` bytes and up to `edits` edits: window ⌈n^(2/3)/k^(1/3)⌉, step ⌈n/window⌉. Then k edits change
 * at most 4k·window features, and the bound is useful up to k ≈ 0.35·√n. */
twin__embed_cells twin__embed_cells_for(size_t length, size_t edits, uint64_t seed);

/* Writes the features of `text`, one for each window and so max(0, length - window + 1) in number, to `out`, and
 * returns their number. Sign them with twin__minhash_sign(). */
size_t twin__embed_features(uint64_t *out, twin__embed_cells cells, twin_text text);

/* Length classes. Texts are compared within a class, and every two texts of which the longer has at most `ratio`
 * times the bytes of the shorter share one. */

typedef struct twin__embed_class {
    size_t number;            /* from 0 on */
    size_t shortest, longest; /* texts of these lengths are in it; `shortest` serves as the options' length */
} twin__embed_class;

enum { TWIN__EMBED_MAX_CLASSES = 2 };

/* Writes the classes of a text of `length` bytes, by number, and returns their number: one or two, and none
 * for the empty text. 1 <= ratio <= 16; none otherwise. */
size_t twin__embed_length_classes(twin__embed_class out[TWIN__EMBED_MAX_CLASSES], size_t length, double ratio);

#endif

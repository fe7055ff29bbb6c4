/* embed.c — embeddings of edit distance.
 *
 * Three parts: the q-gram distance D of two texts, computed with names for substrings so that it is exact; hash
 * vectors, which sum Cauchy numbers (Datar et al. 2004) of the q-grams in a window as fixed-point integers; and
 * features after Bar-Yossef et al. 2004. Length classes at the end say which texts to compare. */
#include "edit/embed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"

#define PI 3.14159265358979323846

enum {
    QUANTILES = 65536, /* of the Cauchy distribution */
    UNITS = 256,       /* of a fixed-point number in 1 */
    MAX_LENGTH = 1 << 30,
    DEFAULT_LENGTH = 64,
    DEFAULT_FUNCTIONS = 128, /* the labels of a default forest */
    DEFAULT_WINDOW = 8,
    DEFAULT_STEP = 64,
};

static bool valid_grams(twin__embed_grams grams)
{
    return grams.q_low >= 1 && grams.q_low <= grams.q_high && grams.q_high <= grams.window;
}

static twin_status fail_grams(twin__embed_grams grams)
{
    return twin__fail(NULL, TWIN_EINVAL, "q-grams of %zu to %zu bytes do not fit into a window of %zu", grams.q_low,
                      grams.q_high, grams.window);
}

static size_t lesser(size_t x, size_t y)
{
    return x < y ? x : y;
}

twin__embed_grams twin__embed_paper_grams(size_t window)
{
    if (window < 2)
        return (twin__embed_grams){ window, window, window };
    size_t q_low = (2 * window + 2) / 3;
    double spread = (sqrt(57 + 16 * (double)(window - q_low)) - 7) / 2;
    return (twin__embed_grams){ window, q_low, lesser(window, q_low + (spread > 0 ? (size_t)spread : 0)) };
}

/* ---- the q-gram distance ----
 *
 * Both texts are in one array of names, y after x. Names of substrings of 2, 4, 8, … bytes are made from pairs of names
 * half as long, and those of q bytes from two that overlap: equal names mean equal bytes, with certainty. */

struct naming {
    uint64_t *keys;   /* pairs of names plus one; 0: free */
    uint32_t *values; /* their names */
    size_t mask;
    size_t n; /* bytes of each text */
};

static uint32_t name_pair(struct naming *naming, uint32_t *next, uint64_t key)
{
    size_t at = twin__mix(key) & naming->mask;
    while (naming->keys[at] != 0 && naming->keys[at] != key)
        at = (at + 1) & naming->mask;
    if (naming->keys[at] == 0) {
        naming->keys[at] = key;
        naming->values[at] = (*next)++;
    }
    return naming->values[at];
}

/* Names the substrings of `length` bytes in both texts, given the names of those of `known` bytes, length <=
 * 2·known. */
static void name_runs(uint32_t *out, struct naming *naming, const uint32_t *names, size_t known, size_t length)
{
    uint32_t next = 0;
    memset(naming->keys, 0, (naming->mask + 1) * sizeof naming->keys[0]);
    for (size_t text = 0; text < 2; text++)
        for (size_t i = text * naming->n; i + length <= (text + 1) * naming->n; i++)
            out[i] = name_pair(naming, &next, ((uint64_t)names[i] << 32 | names[i + length - known]) + 1);
}

static int64_t magnitude(int32_t x)
{
    return x < 0 ? -x : x;
}

/* Adds `by` to one count, and returns the change of the sum of magnitudes. */
static int64_t shift(int32_t *count, int32_t by)
{
    int64_t before = magnitude(*count);
    *count += by;
    return magnitude(*count) - before;
}

/* The sum over all windows of the number of grams that are in one text more often than in the other. `counts` is
 * all zero before and after. */
static int64_t sum_windows(int32_t *counts, const uint32_t *names, size_t n, size_t window, size_t q)
{
    const uint32_t *x = names, *y = names + n;
    const size_t grams = window - q + 1;
    int64_t now = 0, sum = 0;
    for (size_t i = 0; i + q <= n; i++) {
        now += shift(&counts[x[i]], 1) + shift(&counts[y[i]], -1);
        if (i + 1 < grams)
            continue;
        sum += now;
        size_t old = i + 1 - grams;
        now += shift(&counts[x[old]], -1) + shift(&counts[y[old]], 1);
    }
    for (size_t i = n - window + 1; i + q <= n; i++)
        counts[x[i]] = counts[y[i]] = 0;
    return sum;
}

static int64_t sum_grams(struct naming *naming, uint32_t *half, uint32_t *whole, int32_t *counts,
                         twin__embed_grams grams)
{
    size_t known = 1;
    int64_t sum = 0;
    for (size_t q = grams.q_low; q <= grams.q_high; q++) {
        for (; 2 * known <= q; known *= 2)
            name_runs(half, naming, half, known, 2 * known);
        name_runs(whole, naming, half, known, q);
        sum += sum_windows(counts, whole, naming->n, grams.window, q);
    }
    return sum;
}

twin_status twin__embed_distance(double *out, twin_text x, twin_text y, twin__embed_grams grams)
{
    size_t n = lesser(x.length, y.length), slots = 16;
    if (!out || (!x.bytes && x.length) || (!y.bytes && y.length))
        return twin__fail_null(NULL, !out ? "out" : !x.bytes && x.length ? "x.bytes" : "y.bytes");
    if (grams.window == 0)
        grams = twin__embed_paper_grams((size_t)sqrt((double)n));
    if (!valid_grams(grams))
        return fail_grams(grams);
    if (n < grams.window)
        return twin__fail(NULL, TWIN_EINVAL, "a text of %zu bytes has no window of %zu", n, grams.window);
    if (n > MAX_LENGTH)
        return twin__fail(NULL, TWIN_ELIMIT, "a text of %zu bytes is too long", n);
    while (slots < 4 * n)
        slots *= 2;

    twin_status status = TWIN_ENOMEM;
    struct naming naming = { malloc(slots * sizeof(uint64_t)), malloc(slots * sizeof(uint32_t)), slots - 1, n };
    uint32_t *half = malloc(2 * n * sizeof *half), *whole = malloc(2 * n * sizeof *whole);
    int32_t *counts = calloc(2 * n, sizeof *counts);
    if (!naming.keys || !naming.values || !half || !whole || !counts)
        goto done;
    for (size_t i = 0; i < n; i++) {
        half[i] = (unsigned char)x.bytes[i];
        half[n + i] = (unsigned char)y.bytes[i];
    }
    int64_t sum = sum_grams(&naming, half, whole, counts, grams);
    *out = (double)sum / ((double)(n - grams.window + 1) * (double)(grams.q_high - grams.q_low + 1));
    status = TWIN_OK;
done:
    free(counts);
    free(whole);
    free(half);
    free(naming.values);
    free(naming.keys);
    return status;
}

/* ---- polynomials ----
 *
 * Modulo 2^61 - 1 at a secret point: two different substrings of q bytes collide for at most q of
 * the 2^61 points, even if they were constructed to. */

#define PRIME (((uint64_t)1 << 61) - 1)

static inline uint64_t reduce(uint64_t x)
{
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

static inline uint64_t times(uint64_t x, uint64_t y)
{
    unsigned __int128 product = (unsigned __int128)x * y;
    return reduce((uint64_t)(product & PRIME) + (uint64_t)(product >> 61));
}

static uint64_t power(uint64_t x, size_t exponent)
{
    uint64_t result = 1;
    for (; exponent > 0; exponent /= 2, x = times(x, x))
        if (exponent % 2)
            result = times(result, x);
    return result;
}

static uint64_t draw_point(uint64_t *state)
{
    return 256 + twin__random_below(state, PRIME - 256);
}

/* ---- hash vectors ---- */

/* One function. Its Cauchy number for a gram is the quantile that the upper half of hash · multiplier names: the
 * hash is uniform, and so is its product with an odd number. */
struct function {
    size_t start; /* of its window */
    uint32_t multiplier;
    uint32_t offset; /* b, in units */
};

struct twin__embedder {
    twin__embed_options options;
    uint64_t point, salt;
    int32_t quantiles[QUANTILES];
    struct function functions[];
};

twin__embed_options twin__embed_options_for(twin__embed_preset preset, size_t length, size_t functions, uint64_t seed)
{
    size_t window = (size_t)lround(pow((double)length, 2.0 / 3));
    twin__embed_options options = { .length = length, .functions = functions, .seed = seed };
    if (preset == TWIN__EMBED_PAPER) {
        options.grams = twin__embed_paper_grams(window);
        options.bucket = (uint32_t)window;
    } else {
        options.grams = (twin__embed_grams){ window, lesser(4, window), lesser(4, window) };
        options.bucket = (uint32_t)(2 * window);
    }
    return options;
}

/* The centres of 65,536 equal shares of probability. No entry is within 10^-6 of where rounding would change it
 * (a test checks it), so the last bit of tan() does not matter. */
static void fill_quantiles(int32_t *out)
{
    for (int i = 0; i < QUANTILES / 2; i++) {
        int32_t value = (int32_t)lround(UNITS * tan(PI * (i + 0.5) / QUANTILES));
        out[QUANTILES / 2 + i] = value;
        out[QUANTILES / 2 - 1 - i] = -value;
    }
}

static void complete_embedding(twin__embed_options *options)
{
    size_t length = options->length ? options->length : DEFAULT_LENGTH;
    twin__embed_options defaults = twin__embed_options_for(TWIN__EMBED_DEFAULT, length, DEFAULT_FUNCTIONS, 0);
    if (options->length == 0)
        options->length = defaults.length;
    if (options->grams.window == 0)
        options->grams = defaults.grams;
    if (options->bucket == 0)
        options->bucket = defaults.bucket;
    if (options->functions == 0)
        options->functions = defaults.functions;
}

static twin_status check_embedding(const twin__embed_options *options)
{
    const size_t most = MAX_LENGTH / sizeof(struct function);
    if (!valid_grams(options->grams))
        return fail_grams(options->grams);
    if (options->length > MAX_LENGTH || options->grams.window > options->length)
        return twin__fail(NULL, TWIN_EINVAL, "length must be %zu to %d, not %zu", options->grams.window,
                          (int)MAX_LENGTH, options->length);
    if (options->bucket > UINT32_MAX / UNITS)
        return twin__fail(NULL, TWIN_EINVAL, "bucket must be 1 to %u, not %u", UINT32_MAX / UNITS, options->bucket);
    if (options->functions > most)
        return twin__fail(NULL, TWIN_EINVAL, "functions must be 1 to %zu, not %zu", most, options->functions);
    return TWIN_OK;
}

twin_status twin__embedder_create(twin__embedder **out, twin__embed_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    complete_embedding(&options);
    twin_status status = check_embedding(&options);
    if (status != TWIN_OK)
        return status;
    twin__embedder *embedder = malloc(sizeof *embedder + options.functions * sizeof embedder->functions[0]);
    if (!embedder)
        return TWIN_ENOMEM;

    uint64_t state = options.seed;
    embedder->options = options;
    embedder->point = draw_point(&state);
    embedder->salt = twin__random_next(&state);
    fill_quantiles(embedder->quantiles);
    for (size_t f = 0; f < options.functions; f++) {
        struct function *function = &embedder->functions[f];
        function->start = (size_t)twin__random_below(&state, options.length - options.grams.window + 1);
        function->multiplier = (uint32_t)twin__random_next(&state) | 1;
        function->offset = (uint32_t)twin__random_below(&state, (uint64_t)options.bucket * UNITS);
    }
    *out = embedder;
    return TWIN_OK;
}

void twin__embedder_free(twin__embedder *embedder)
{
    free(embedder);
}

void twin__embed_scratch_clear(twin__embed_scratch *scratch)
{
    if (!scratch)
        return;
    free(scratch->room);
    *scratch = (twin__embed_scratch){ 0 };
}

static void *room_for(twin__embed_scratch *scratch, size_t bytes)
{
    if (scratch->bytes < bytes) {
        free(scratch->room);
        scratch->room = malloc(bytes);
        scratch->bytes = scratch->room ? bytes : 0;
    }
    return scratch->room;
}

/* Hashes the grams of every q at every position: hashes[(q - q_low)·n + i] is the one that begins at i. `sums` has room
 * for the polynomials of all beginnings of the text. */
static void hash_grams(uint32_t *hashes, uint64_t *sums, const twin__embedder *embedder, const unsigned char *bytes)
{
    const twin__embed_options *options = &embedder->options;
    const size_t n = options->length;
    sums[0] = 0;
    for (size_t i = 0; i < n; i++)
        sums[i + 1] = reduce(times(sums[i], embedder->point) + bytes[i]);
    for (size_t q = options->grams.q_low; q <= options->grams.q_high; q++, hashes += n) {
        uint64_t factor = power(embedder->point, q), salt = embedder->salt + q * 0x9E3779B97F4A7C15u;
        for (size_t i = 0; i + q <= n; i++) {
            uint64_t gram = reduce(sums[i + q] + PRIME - times(sums[i], factor));
            hashes[i] = (uint32_t)(twin__mix(gram + salt) >> 32);
        }
    }
}

static int64_t project(const int32_t *quantiles, const uint32_t *hashes, size_t count, uint32_t multiplier)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += quantiles[(uint32_t)(hashes[i] * multiplier) >> 16];
    return sum;
}

static int64_t divide_down(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

twin_status twin__embed_vector(uint32_t *out, const twin__embedder *embedder, twin__embed_scratch *scratch,
                               twin_text text)
{
    if (!out || !embedder || !scratch || !text.bytes)
        return twin__fail_null(NULL, !out ? "out" : !embedder ? "embedder" : !scratch ? "scratch" : "text.bytes");
    const twin__embed_options *options = &embedder->options;
    const twin__embed_grams grams = options->grams;
    const size_t n = options->length, lengths = grams.q_high - grams.q_low + 1;
    if (text.length < n)
        return twin__fail(NULL, TWIN_EINVAL, "a text of %zu bytes is shorter than the %zu of the options",
                          text.length, n);
    uint64_t *sums = room_for(scratch, (n + 1) * sizeof *sums + lengths * n * sizeof(uint32_t));
    if (!sums)
        return TWIN_ENOMEM;
    uint32_t *hashes = (uint32_t *)(sums + n + 1);
    hash_grams(hashes, sums, embedder, (const unsigned char *)text.bytes);

    for (size_t f = 0; f < options->functions; f++) {
        const struct function *function = &embedder->functions[f];
        int64_t sum = function->offset;
        for (size_t q = grams.q_low; q <= grams.q_high; q++)
            sum += project(embedder->quantiles, hashes + (q - grams.q_low) * n + function->start,
                           grams.window - q + 1, function->multiplier);
        out[f] = (uint32_t)divide_down(sum, (int64_t)options->bucket * UNITS);
    }
    return TWIN_OK;
}

double twin__embed_collision(double distance, double bucket)
{
    if (distance <= 0)
        return 1;
    double t = bucket / distance;
    if (t > 0x1p500) /* whose square is no double */
        return 1;
    return 2 / PI * atan(t) - log1p(t * t) / (PI * t);
}

/* ---- features ---- */

twin__embed_cells twin__embed_cells_for(size_t length, size_t edits, uint64_t seed)
{
    double n = (double)(length ? length : 1), k = (double)(edits ? edits : 1);
    /* Slightly less before rounding up, so that 1000^(2/3) is 100 whatever the last bit of pow() is. */
    double window = ceil(pow(n, 2.0 / 3) / cbrt(k) * (1 - 1e-12));
    size_t whole = window < 1 ? 1 : (size_t)window;
    return (twin__embed_cells){ whole, (length + whole - 1) / whole + (length == 0), seed };
}

size_t twin__embed_features(uint64_t *out, twin__embed_cells cells, twin_text text)
{
    if (cells.window == 0)
        cells.window = DEFAULT_WINDOW;
    if (cells.step == 0)
        cells.step = DEFAULT_STEP;
    if (text.length < cells.window || !out || !text.bytes)
        return 0;
    const unsigned char *bytes = (const unsigned char *)text.bytes;
    const size_t count = text.length - cells.window + 1;
    uint64_t state = cells.seed, hash = 0;
    const uint64_t point = draw_point(&state), salt = twin__random_next(&state);
    const uint64_t first = power(point, cells.window);
    for (size_t i = 0; i < text.length; i++) {
        hash = reduce(times(hash, point) + bytes[i]);
        if (i >= cells.window)
            hash = reduce(hash + PRIME - times(first, bytes[i - cells.window]));
        if (i + 1 >= cells.window) {
            size_t start = i + 1 - cells.window;
            out[start] = twin__mix(hash ^ twin__mix(start / cells.step + salt));
        }
    }
    return count;
}

/* ---- length classes ----
 *
 * Class number c begins at starts c and holds what is at most `ratio` times longer than a text that
 * is still shorter than start c + 1. The starts grow by the ratio, so that this reaches into one more class. */

enum { LEAST_GROWTH = 16 }; /* starts grow by at least a sixteenth: more classes have no use */

static size_t next_start(size_t start, double ratio)
{
    size_t stretched = (size_t)(ratio * (double)start), least = start + start / LEAST_GROWTH + 1;
    return stretched > least ? stretched : least;
}

size_t twin__embed_length_classes(twin__embed_class out[TWIN__EMBED_MAX_CLASSES], size_t length, double ratio)
{
    if (!out || !(ratio >= 1 && ratio <= 16) || length > SIZE_MAX / 64)
        return 0;
    size_t count = 0;
    for (size_t number = 0, start = 1; start <= length; number++) {
        size_t next = next_start(start, ratio), longest = (size_t)(ratio * (double)(next - 1));
        if (length <= longest) {
            assert(count < TWIN__EMBED_MAX_CLASSES);
            out[count++] = (twin__embed_class){ number, start, longest };
        }
        start = next;
    }
    return count;
}

/* near_segments.c — texts within few edits, none missed.
 *
 * A text is cut into one segment more than there may be edits. Each edit spoils one at most, so a text that is near
 * has one of them as it is, moved by no more places than there may be edits. (Pass-Join: Li, Deng, Wang, Feng 2011.)
 *
 * The shorter of two texts, or the one that comes first, is looked up by the longer. The segments stand sorted in one
 * array, each as 32 bits of its hash and the text's place: two that share the bits by chance cost a comparison. */
#include <stdlib.h>
#include <string.h>

#include <twinsift/hash.h>

#include "fail.h"
#include "grow.h"
#include "near_parts.h"
#include "random.h"
#include "similar_parts.h"
#include "sort.h"

/* Texts are kept in memory, and windows grow with the square of the edits. */
enum { MOST_CHARACTERS = 256, MOST_EDITS = 4 };

/* Comparisons for each text of a class, on average, times the characters of the longest: above this the class is a
 * crowd, and a forest is quicker. */
enum { CROWD = 1 << 17 };

struct worker {
    twin_scratch scratch;
    twin_edit_scratch edit;
    uint32_t *asked_by; /* by place: who compared itself with it last, plus one */
    twin_match *matches;
    size_t match_count, match_capacity;
    uint64_t seen, compared;
};

struct segments {
    struct twin__range range;
    twin_near_options options;
    twin_hash hash;
    twin_buffer *texts; /* by place */
    uint64_t *index;
    size_t index_count;
    struct worker *workers;
    struct twin__first_failure failure;
};

/* ---- segments and their keys ---- */

/* Where the characters of a text begin, and where it ends. */
struct characters {
    uint32_t at[MOST_CHARACTERS + 1];
    size_t count;
};

static void find_characters(struct characters *out, const twin_buffer *text)
{
    out->count = 0;
    for (size_t i = 0; i < text->length && out->count < MOST_CHARACTERS; i++)
        if (((unsigned char)text->bytes[i] & 0xC0) != 0x80)
            out->at[out->count++] = (uint32_t)i;
    out->at[out->count] = (uint32_t)text->length;
}

/* Where segment `i` of a text of so many characters begins; the one past the last begins at its end. */
static size_t segment_begin(const struct segments *segments, size_t length, size_t i)
{
    return i * length / (segments->options.edits + 1);
}

/* The key of characters begin .. end-1 as segment `i` of a text of `length`, in the high half. */
static uint64_t key_of(const struct segments *segments, const twin_buffer *text, const struct characters *characters,
                       size_t begin, size_t end, size_t length, size_t i)
{
    uint32_t from = characters->at[begin];
    uint64_t bytes = twin_hash_bytes(segments->hash, text->bytes + from, characters->at[end] - from);
    return twin__mix(bytes ^ twin__mix((uint64_t)length << 32 | i)) & 0xFFFFFFFF00000000u;
}

static size_t lower_bound(const struct segments *segments, uint64_t key)
{
    size_t low = 0, high = segments->index_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segments->index[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the index ---- */

static twin_status load_text(struct segments *segments, struct worker *worker, size_t place, twin_error *error)
{
    twin_text text;
    twin_status status = twin_collection_text(&text, segments->range.collection, &worker->scratch,
                                              segments->range.documents[place], error);
    if (status == TWIN_OK && twin_buffer_append(&segments->texts[place], text.bytes, text.length) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

static void index_text(struct segments *segments, size_t place)
{
    const size_t parts = segments->options.edits + 1;
    struct characters characters;
    find_characters(&characters, &segments->texts[place]);
    for (size_t i = 0; i < parts; i++)
        segments->index[place * parts + i] =
            key_of(segments, &segments->texts[place], &characters, segment_begin(segments, characters.count, i),
                   segment_begin(segments, characters.count, i + 1), characters.count, i) |
            place;
}

static void load_some(void *context, size_t begin, size_t end, int worker)
{
    struct segments *segments = context;
    for (size_t place = begin; place < end; place++) {
        twin_error error = { 0 };
        if (load_text(segments, &segments->workers[worker], place, &error) != TWIN_OK) {
            twin__keep_first_failure(&segments->failure, place, &error);
            return;
        }
        if (place < segments->range.middle)
            index_text(segments, place);
    }
}

static twin_status make_index(struct segments *segments, twin_error *error)
{
    size_t count = segments->range.middle * (segments->options.edits + 1);
    uint64_t *spare = malloc(count * sizeof *spare);
    segments->texts = calloc(segments->range.count, sizeof *segments->texts);
    segments->index = malloc(count * sizeof *segments->index);
    segments->index_count = count;
    twin_status status = spare && segments->texts && segments->index ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        twin_exec_for(segments->options.exec, segments->range.count, 64, load_some, segments);
        status = twin__first_failure(error, &segments->failure);
    }
    if (status == TWIN_OK)
        twin__sort(segments->index, spare, count);
    free(spare);
    return status;
}

/* ---- asking ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

typedef twin_status visitor(struct segments *segments, struct worker *worker, size_t place, const uint64_t *entries,
                            size_t count);

/* Shows the visitor the index entries of all earlier texts that may be near the one at `place`, some more than once.
 *
 * Let segment i begin at `begin` in a text that is `shorter` by so much, and at `at` here. Should it be the first that
 * is left whole, each of the i before it took an edit at least; the rest is left to those behind it. So it has moved
 * by i places at most, seen from the beginning, and by as many as there are segments behind it, seen from the end. Of
 * the segments of a near text one keeps within both. */
static twin_status look_up(struct segments *segments, struct worker *worker, size_t place, visitor *visit)
{
    const size_t edits = segments->options.edits;
    const twin_buffer *text = &segments->texts[place];
    struct characters characters;
    twin_status status = TWIN_OK;
    find_characters(&characters, text);
    for (size_t shorter = 0; shorter <= edits && characters.count > edits + shorter; shorter++)
        for (size_t i = 0; i <= edits; i++) {
            const size_t length = characters.count - shorter, behind = edits - i;
            size_t begin = segment_begin(segments, length, i), size = segment_begin(segments, length, i + 1) - begin;
            size_t first = larger(begin - smaller(begin, i), begin + shorter - smaller(begin + shorter, behind));
            size_t last = smaller(characters.count - size, smaller(begin + i, begin + shorter + behind));
            for (size_t at = first; at <= last && status == TWIN_OK; at++) {
                uint64_t key = key_of(segments, text, &characters, at, at + size, length, i);
                size_t from = lower_bound(segments, key), to = lower_bound(segments, key | place);
                status = visit(segments, worker, place, segments->index + from, to - from);
            }
        }
    return status;
}

static twin_status count_entries(struct segments *segments, struct worker *worker, size_t place,
                                 const uint64_t *entries, size_t count)
{
    (void)segments;
    (void)place;
    (void)entries;
    worker->seen += count;
    return TWIN_OK;
}

static void count_some(void *context, size_t begin, size_t end, int worker)
{
    struct segments *segments = context;
    for (size_t place = begin; place < end; place++)
        (void)look_up(segments, &segments->workers[worker], place, count_entries);
}

static uint64_t count_candidates(struct segments *segments)
{
    uint64_t seen = 0;
    twin_exec_for(segments->options.exec, segments->range.count, 64, count_some, segments);
    for (int i = 0; i < segments->options.exec.workers; i++)
        seen += segments->workers[i].seen;
    return seen;
}

static twin_status compare(struct segments *segments, struct worker *worker, uint32_t place, uint32_t other)
{
    const twin_buffer *a = &segments->texts[place], *b = &segments->texts[other];
    double similarity;
    worker->compared++;
    twin_status status = twin__near_compare(&similarity, &worker->edit, (twin_text){ a->bytes, a->length },
                                            (twin_text){ b->bytes, b->length }, segments->options);
    if (status != TWIN_OK || similarity < 0)
        return status;
    if (!twin__grow(&worker->matches, &worker->match_capacity, worker->match_count, 1, sizeof *worker->matches))
        return TWIN_ENOMEM;
    uint32_t x = segments->range.documents[place], y = segments->range.documents[other];
    worker->matches[worker->match_count++] = (twin_match){ x < y ? x : y, x < y ? y : x, similarity };
    return TWIN_OK;
}

static twin_status compare_entries(struct segments *segments, struct worker *worker, size_t place,
                                   const uint64_t *entries, size_t count)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        uint32_t other = (uint32_t)entries[i];
        if (worker->asked_by[other] == place + 1)
            continue;
        worker->asked_by[other] = (uint32_t)place + 1;
        status = compare(segments, worker, (uint32_t)place, other);
    }
    return status;
}

static void compare_some(void *context, size_t begin, size_t end, int worker)
{
    struct segments *segments = context;
    for (size_t place = begin; place < end; place++) {
        twin_error error = { 0 };
        twin_status status = look_up(segments, &segments->workers[worker], place, compare_entries);
        if (status != TWIN_OK) {
            twin__fail(&error, status, "%s", twin_status_text(status));
            twin__keep_first_failure(&segments->failure, place, &error);
            return;
        }
    }
}

static twin_status compare_candidates(twin_similar *similar, struct segments *segments, twin_error *error)
{
    twin_exec_for(segments->options.exec, segments->range.count, 16, compare_some, segments);
    twin_status status = twin__first_failure(error, &segments->failure);
    for (int w = 0; w < segments->options.exec.workers; w++) {
        const struct worker *worker = &segments->workers[w];
        similar->counts.candidates += worker->seen;
        similar->counts.verified += worker->compared;
        for (size_t i = 0; i < worker->match_count && status == TWIN_OK; i++)
            status =
                twin__keep_match(similar, worker->matches[i].a, worker->matches[i].b, worker->matches[i].similarity);
    }
    return status;
}

/* ---- all of it ---- */

static twin_status make_workers(struct segments *segments)
{
    size_t count = (size_t)segments->options.exec.workers;
    segments->workers = calloc(count, sizeof *segments->workers);
    for (size_t i = 0; segments->workers && i < count; i++) {
        segments->workers[i].asked_by = calloc(segments->range.middle, sizeof(uint32_t));
        if (!segments->workers[i].asked_by)
            return TWIN_ENOMEM;
    }
    return segments->workers ? TWIN_OK : TWIN_ENOMEM;
}

static void segments_clear(struct segments *segments)
{
    for (int i = 0; segments->workers && i < segments->options.exec.workers; i++) {
        twin_scratch_clear(&segments->workers[i].scratch);
        twin_edit_scratch_clear(&segments->workers[i].edit);
        free(segments->workers[i].asked_by);
        free(segments->workers[i].matches);
    }
    for (size_t i = 0; segments->texts && i < segments->range.count; i++)
        twin_buffer_clear(&segments->texts[i]);
    free(segments->workers);
    free(segments->texts);
    free(segments->index);
}

twin_status twin__near_by_segments(bool *done, twin_similar *similar, struct twin__range range,
                                   twin_near_options options, twin_error *error)
{
    *done = false;
    size_t shortest = twin_collection_length(range.collection, range.documents[0]);
    size_t longest = twin_collection_length(range.collection, range.documents[range.count - 1]);
    if (options.edits > MOST_EDITS || shortest <= options.edits || longest > MOST_CHARACTERS)
        return TWIN_OK;
    struct segments segments = { .range = range,
                                 .options = options,
                                 .hash = twin_hash_member(TWIN_HASH_XXH3, options.minhash.seed),
                                 .failure = TWIN__NO_FAILURE };
    twin_status status = make_workers(&segments);
    if (status == TWIN_OK)
        status = make_index(&segments, error);
    if (status == TWIN_OK && count_candidates(&segments) <= CROWD / longest * (uint64_t)range.count) {
        status = compare_candidates(similar, &segments, error);
        *done = true;
    }
    segments_clear(&segments);
    return status == TWIN_ENOMEM ? twin__fail_memory(error) : status;
}

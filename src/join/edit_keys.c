/* edit_keys.c — pairs within few edits, none missed: near texts share a key.
 *
 * There are two kinds of keys. Segments (Pass-Join: Li, Deng, Wang, Feng 2011): a text is cut into one segment more than
 * the edits allowed. Each edit changes one segment at most, so a near text contains one of them unchanged, shifted by no
 * more characters than the edits allowed. Deletions (FastSS: Bocek, Hunt, Stiller 2007): all strings that remain when up
 * to that many characters are deleted. Two near texts have one in common, since an edit deletes a character from
 * either or both. Segments are few, but in a crowd, such as names that end in a serial number, all share one; deletions
 * are many, and shared only by texts within twice the edits. The candidates of both are counted, and the better kind
 * is used.
 *
 * The longer of two texts, or the later of equal lengths, looks up the other. The keys are one sorted array, each 32
 * bits of a hash and the text's position: two that share the bits by chance cost a comparison. */
#include <stdlib.h>
#include <string.h>

#include <twinsift/hash.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "join/edit_join_private.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "kernels/sort.h"

/* Texts are kept in memory, and windows grow with the square of the edits. */
enum { MOST_CHARACTERS = 256, MOST_EDITS = 4 };

/* Comparisons for each text of a class, on average, times the characters of the longest: above this the class is a
 * crowd, and a forest is quicker. */
enum { CROWD = 1 << 17 };

/* Comparisons for each text up to which segments do: to count deletions as well would cost more than it could save. */
enum { FEW = 200 };

/* Deletions of a class, of 8 bytes and as much again while they are sorted. */
enum { MOST_DELETIONS = 1 << 24 };

/* Texts that a worker takes at a time. To load, index or count one takes about as long as any other; to compare one with
 * all it shares a key with may take a thousand times as long, so fewer are taken then. */
enum { TEXTS_AT_A_TIME = 64, COMPARED_AT_A_TIME = 16 };

struct key_worker {
    twin_scratch scratch;
    twin_edit_scratch edit;
    uint32_t *compared_by; /* by position: the last text that was compared with it, plus one */
    twin_match *matches;
    size_t match_count, match_capacity;
    uint64_t seen, compared;
};

struct keys {
    bool by_deletion;
    struct twin__range range;
    twin_edit_join_options options;
    twin_hash hash;
    twin_buffer *texts; /* by position */
    uint64_t *index;
    size_t *begin; /* by position, before the index is sorted: where its keys are; one more for the end */
    size_t index_count;
    struct key_worker *workers;
    struct twin__first_failure failure;
};

/* ---- characters ---- */

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

/* A key is the high half of a number. */
static uint64_t key_of(uint64_t hash)
{
    return twin__mix(hash) & 0xFFFFFFFF00000000u;
}

/* ---- segments ---- */

/* Where segment `i` of a text of `length` characters begins; the one past the last begins at its end. */
static size_t segment_begin(const struct keys *keys, size_t length, size_t i)
{
    return i * length / (keys->options.edits + 1);
}

/* The key of characters begin .. end-1 as segment `i` of a text of `length`. */
static uint64_t segment_key(const struct keys *keys, const twin_buffer *text, const struct characters *characters,
                            size_t begin, size_t end, size_t length, size_t i)
{
    uint32_t from = characters->at[begin];
    uint64_t bytes = twin_hash_bytes(keys->hash, text->bytes + from, characters->at[end] - from);
    return key_of(bytes ^ twin__mix((uint64_t)length << 32 | i));
}

static void index_segments(uint64_t *out, const struct keys *keys, size_t position,
                           const struct characters *characters)
{
    for (size_t i = 0; i <= keys->options.edits; i++)
        out[i] = segment_key(keys, &keys->texts[position], characters, segment_begin(keys, characters->count, i),
                             segment_begin(keys, characters->count, i + 1), characters->count, i) |
                 position;
}

/* ---- deletions ---- */

/* How many ways there are to take up to `edits` out of `length`; MOST_DELETIONS or more: too many. */
static size_t count_deletions(size_t length, size_t edits)
{
    size_t sum = 1, ways = 1;
    for (size_t taken = 1; taken <= edits && taken <= length && sum < MOST_DELETIONS; taken++) {
        ways = ways * (length - taken + 1) / taken;
        sum += ways;
    }
    return sum;
}

/* Hears of the key of each deletion; false ends it. */
struct deleting {
    const struct keys *keys;
    const twin_buffer *text;
    const struct characters *characters;
    bool (*take)(void *context, uint64_t key);
    void *context;
    char left[MOST_CHARACTERS * 4];
};

/* Takes up to `more` characters out from number `from` on, `used` bytes being left of those before. */
static bool delete_from(struct deleting *deleting, size_t from, size_t used, size_t more)
{
    const uint32_t *at = deleting->characters->at;
    const size_t count = deleting->characters->count;
    size_t rest = at[count] - at[from];
    memcpy(deleting->left + used, deleting->text->bytes + at[from], rest);
    if (!deleting->take(deleting->context,
                        key_of(twin_hash_bytes(deleting->keys->hash, deleting->left, used + rest))))
        return false;
    for (size_t i = from; more > 0 && i < count; i++) {
        size_t kept = used + at[i] - at[from];
        memcpy(deleting->left + used, deleting->text->bytes + at[from], at[i] - at[from]);
        if (!delete_from(deleting, i + 1, kept, more - 1))
            return false;
    }
    return true;
}

struct noting {
    uint64_t *out;
    size_t position;
};

static bool note_key(void *context, uint64_t key)
{
    struct noting *noting = context;
    *noting->out++ = key | noting->position;
    return true;
}

static void index_deletions(uint64_t *out, const struct keys *keys, size_t position,
                            const struct characters *characters)
{
    struct noting noting = { out, position };
    struct deleting deleting = {
        .keys = keys, .text = &keys->texts[position], .characters = characters, .take = note_key, .context = &noting
    };
    delete_from(&deleting, 0, 0, keys->options.edits);
}

/* ---- the index ---- */

static size_t lower_bound(const struct keys *keys, uint64_t key)
{
    size_t low = 0, high = keys->index_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys->index[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static twin_status load_text(struct keys *keys, struct key_worker *worker, size_t position, twin_error *error)
{
    twin_text text;
    twin_status status =
        twin_collection_text(&text, keys->range.collection, &worker->scratch, keys->range.documents[position], error);
    if (status == TWIN_OK && twin_buffer_append(&keys->texts[position], text.bytes, text.length) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

static void load_some(void *context, size_t begin, size_t end, int worker)
{
    struct keys *keys = context;
    for (size_t position = begin; position < end; position++) {
        twin_error error = { 0 };
        if (load_text(keys, &keys->workers[worker], position, &error) != TWIN_OK) {
            twin__keep_first_failure(&keys->failure, position, &error);
            return;
        }
    }
}

static twin_status load_texts(struct keys *keys, twin_error *error)
{
    keys->texts = calloc(keys->range.count, sizeof *keys->texts);
    keys->begin = malloc((keys->range.middle + 1) * sizeof *keys->begin);
    if (!keys->texts || !keys->begin)
        return twin__fail_memory(error);
    twin_exec_for(keys->options.exec, keys->range.count, TEXTS_AT_A_TIME, load_some, keys);
    return twin__first_failure(error, &keys->failure);
}

static void index_some(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    struct keys *keys = context;
    for (size_t position = begin; position < end; position++) {
        struct characters characters;
        find_characters(&characters, &keys->texts[position]);
        (keys->by_deletion ? index_deletions : index_segments)(keys->index + keys->begin[position], keys, position,
                                                               &characters);
    }
}

/* Where the keys of each text will be; false when there are too many. */
static bool lay_out(struct keys *keys)
{
    size_t sum = 0;
    for (size_t position = 0; position < keys->range.middle; position++) {
        size_t length = twin_collection_size(keys->range.collection, keys->range.documents[position]);
        keys->begin[position] = sum;
        sum += keys->by_deletion ? count_deletions(length, keys->options.edits) : keys->options.edits + 1;
        if (keys->by_deletion && sum > MOST_DELETIONS)
            return false;
    }
    keys->index_count = sum;
    return true;
}

static twin_status make_index(struct keys *keys, twin_error *error)
{
    free(keys->index);
    keys->index = malloc((keys->index_count + 1) * sizeof *keys->index);
    uint64_t *spare = malloc((keys->index_count + 1) * sizeof *spare);
    if (!spare || !keys->index) {
        free(spare);
        return twin__fail_memory(error);
    }
    twin_exec_for(keys->options.exec, keys->range.middle, TEXTS_AT_A_TIME, index_some, keys);
    twin__sort(keys->index, spare, keys->index_count);
    free(spare);
    return TWIN_OK;
}

/* ---- looking up ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

typedef twin_status visitor(struct keys *keys, struct key_worker *worker, size_t position, const uint64_t *entries,
                            size_t count);

/* Calls `visit` with the entries of a key that belong to earlier texts. */
static twin_status show_entries(struct keys *keys, struct key_worker *worker, size_t position, uint64_t key,
                                visitor *visit)
{
    size_t from = lower_bound(keys, key), to = lower_bound(keys, key | position);
    return visit(keys, worker, position, keys->index + from, to - from);
}

struct key_lookup {
    struct keys *keys;
    struct key_worker *worker;
    size_t position;
    visitor *visit;
    twin_status status;
};

static bool look_up_key(void *context, uint64_t key)
{
    struct key_lookup *lookup = context;
    lookup->status = show_entries(lookup->keys, lookup->worker, lookup->position, key, lookup->visit);
    return lookup->status == TWIN_OK;
}

static twin_status look_up_deletions(struct keys *keys, struct key_worker *worker, size_t position, visitor *visit)
{
    struct characters characters;
    struct key_lookup lookup = { keys, worker, position, visit, TWIN_OK };
    struct deleting deleting = { .keys = keys,
                                 .text = &keys->texts[position],
                                 .characters = &characters,
                                 .take = look_up_key,
                                 .context = &lookup };
    find_characters(&characters, &keys->texts[position]);
    delete_from(&deleting, 0, 0, keys->options.edits);
    return lookup.status;
}

/* Calls `visit` with the index entries of all earlier texts that may be near the one at `position`, some more than once.
 *
 * Let segment i begin at `begin` in a text that is `shorter` by so much, and at `at` here. Should it be the first that
 * is left whole, each of the i before it took an edit at least; the rest is left to those behind it. So it has moved
 * by i characters at most, seen from the beginning, and by as many as there are segments behind it, seen from the end. Of
 * the segments of a near text one keeps within both. */
static twin_status look_up_segments(struct keys *keys, struct key_worker *worker, size_t position, visitor *visit)
{
    const size_t edits = keys->options.edits;
    const twin_buffer *text = &keys->texts[position];
    struct characters characters;
    twin_status status = TWIN_OK;
    find_characters(&characters, text);
    for (size_t shorter = 0; shorter <= edits && characters.count > edits + shorter; shorter++)
        for (size_t i = 0; i <= edits; i++) {
            const size_t length = characters.count - shorter, behind = edits - i;
            size_t begin = segment_begin(keys, length, i), size = segment_begin(keys, length, i + 1) - begin;
            size_t first = larger(begin - smaller(begin, i), begin + shorter - smaller(begin + shorter, behind));
            size_t last = smaller(characters.count - size, smaller(begin + i, begin + shorter + behind));
            for (size_t at = first; at <= last && status == TWIN_OK; at++) {
                uint64_t key = segment_key(keys, text, &characters, at, at + size, length, i);
                status = show_entries(keys, worker, position, key, visit);
            }
        }
    return status;
}

static twin_status look_up(struct keys *keys, struct key_worker *worker, size_t position, visitor *visit)
{
    return (keys->by_deletion ? look_up_deletions : look_up_segments)(keys, worker, position, visit);
}

static twin_status count_entries(struct keys *keys, struct key_worker *worker, size_t position,
                                 const uint64_t *entries, size_t count)
{
    (void)keys;
    (void)position;
    (void)entries;
    worker->seen += count;
    return TWIN_OK;
}

static void count_some(void *context, size_t begin, size_t end, int worker)
{
    struct keys *keys = context;
    for (size_t position = begin; position < end; position++)
        (void)look_up(keys, &keys->workers[worker], position, count_entries);
}

static uint64_t count_candidates(struct keys *keys)
{
    uint64_t seen = 0;
    for (int i = 0; i < keys->options.exec.workers; i++)
        keys->workers[i].seen = 0;
    twin_exec_for(keys->options.exec, keys->range.count, TEXTS_AT_A_TIME, count_some, keys);
    for (int i = 0; i < keys->options.exec.workers; i++)
        seen += keys->workers[i].seen;
    return seen;
}

static twin_status compare(struct keys *keys, struct key_worker *worker, uint32_t position, uint32_t other)
{
    const twin_buffer *a = &keys->texts[position], *b = &keys->texts[other];
    double similarity;
    worker->compared++;
    twin_status status = twin__edit_join_compare(&similarity, &worker->edit, (twin_text){ a->bytes, a->length },
                                                 (twin_text){ b->bytes, b->length }, keys->options);
    if (status != TWIN_OK || similarity < 0)
        return status;
    if (!TWIN__ARRAY_GROW(&worker->matches, &worker->match_capacity, worker->match_count, 1))
        return TWIN_ENOMEM;
    uint32_t x = keys->range.documents[position], y = keys->range.documents[other];
    worker->matches[worker->match_count++] = (twin_match){ x < y ? x : y, x < y ? y : x, similarity };
    return TWIN_OK;
}

static twin_status compare_entries(struct keys *keys, struct key_worker *worker, size_t position,
                                   const uint64_t *entries, size_t count)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        uint32_t other = (uint32_t)entries[i];
        if (worker->compared_by[other] == position + 1)
            continue;
        worker->compared_by[other] = (uint32_t)position + 1;
        status = compare(keys, worker, (uint32_t)position, other);
    }
    return status;
}

static void compare_some(void *context, size_t begin, size_t end, int worker)
{
    struct keys *keys = context;
    for (size_t position = begin; position < end; position++) {
        twin_error error = { 0 };
        twin_status status = look_up(keys, &keys->workers[worker], position, compare_entries);
        if (status != TWIN_OK) {
            twin__fail_status(&error, status);
            twin__keep_first_failure(&keys->failure, position, &error);
            return;
        }
    }
}

static twin_status compare_candidates(twin_similar *similar, struct keys *keys, twin_error *error)
{
    twin_exec_for(keys->options.exec, keys->range.count, COMPARED_AT_A_TIME, compare_some, keys);
    twin_status status = twin__first_failure(error, &keys->failure);
    for (int w = 0; w < keys->options.exec.workers; w++) {
        const struct key_worker *worker = &keys->workers[w];
        similar->counts.candidates += worker->seen;
        similar->counts.verified += worker->compared;
        for (size_t i = 0; i < worker->match_count && status == TWIN_OK; i++)
            status = twin__matches_add(&similar->matches, worker->matches[i]);
    }
    return status;
}

/* ---- all of it ---- */

static twin_status make_workers(struct keys *keys)
{
    size_t count = (size_t)keys->options.exec.workers;
    keys->workers = calloc(count, sizeof *keys->workers);
    for (size_t i = 0; keys->workers && i < count; i++) {
        keys->workers[i].compared_by = calloc(keys->range.middle, sizeof(uint32_t));
        if (!keys->workers[i].compared_by)
            return TWIN_ENOMEM;
    }
    return keys->workers ? TWIN_OK : TWIN_ENOMEM;
}

static void keys_clear(struct keys *keys)
{
    for (int i = 0; keys->workers && i < keys->options.exec.workers; i++) {
        twin_scratch_clear(&keys->workers[i].scratch);
        twin_edit_scratch_clear(&keys->workers[i].edit);
        free(keys->workers[i].compared_by);
        free(keys->workers[i].matches);
    }
    for (size_t i = 0; keys->texts && i < keys->range.count; i++)
        twin_buffer_clear(&keys->texts[i]);
    free(keys->workers);
    free(keys->texts);
    free(keys->begin);
    free(keys->index);
}

/* Indexes the texts by segments or, where these would be shared by too many, by deletions; `candidates` is how many
 * comparisons that makes, at most. */
static twin_status choose_keys(uint64_t *candidates, struct keys *keys, twin_error *error)
{
    lay_out(keys);
    twin_status status = make_index(keys, error);
    if (status != TWIN_OK)
        return status;
    uint64_t by_segments = *candidates = count_candidates(keys);
    keys->by_deletion = by_segments > FEW * (uint64_t)keys->range.count;
    if (!keys->by_deletion)
        return TWIN_OK;
    if (lay_out(keys)) {
        status = make_index(keys, error);
        *candidates = status == TWIN_OK ? count_candidates(keys) : 0;
        if (status != TWIN_OK || *candidates < by_segments)
            return status;
    }
    keys->by_deletion = false;
    lay_out(keys);
    status = make_index(keys, error);
    *candidates = status == TWIN_OK ? count_candidates(keys) : 0;
    return status;
}

twin_status twin__edit_join_by_keys(bool *done, twin_similar *similar, struct twin__range range,
                                    twin_edit_join_options options, twin_error *error)
{
    *done = false;
    size_t shortest = twin_collection_size(range.collection, range.documents[0]);
    size_t longest = twin_collection_size(range.collection, range.documents[range.count - 1]);
    if (options.edits > MOST_EDITS || shortest <= options.edits || longest > MOST_CHARACTERS)
        return TWIN_OK;
    uint64_t candidates = 0;
    struct keys keys = { .range = range,
                         .options = options,
                         .hash = twin_hash_member(TWIN_HASH_XXH3, options.minhash.seed),
                         .failure = TWIN__NO_FAILURE };
    twin_status status = make_workers(&keys);
    if (status == TWIN_OK)
        status = load_texts(&keys, error);
    if (status == TWIN_OK)
        status = choose_keys(&candidates, &keys, error);
    if (status == TWIN_OK && candidates <= CROWD / longest * (uint64_t)range.count) {
        status = compare_candidates(similar, &keys, error);
        *done = true;
    }
    keys_clear(&keys);
    return status == TWIN_ENOMEM ? twin__fail_memory(error) : status;
}

/* keys.c — pairs within few edits, none missed: near texts share a key, and those that share one are compared.
 *
 * There are two kinds of keys. Segments are few, but in a group of similar texts, such as names that end in a serial
 * number, all share one; deletions are many, and shared only by texts within twice the edits. The kind that is cheaper to look up is
 * tried first, and the other too if the candidates are many. A key is 32 bits of a hash: two that are equal by chance
 * cost a comparison. */
#include "edit_join/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit.h"
#include "join/join_private.h"
#include "join/matches.h"

enum { TEXTS_AT_A_TIME = 64 }; /* that a worker loads */

/* ---- texts ---- */

/* A text in which some bytes are not UTF-8: each is a character past the last of Unicode. */
static void divide_ill_formed(struct twin__characters *out, const twin_buffer *text)
{
    uint32_t characters[4 * TWIN__KEY_CHARACTERS], at = 0;
    assert(text->length <= 4 * TWIN__KEY_CHARACTERS);
    out->count = twin__edit_decode(characters, (twin_text){ text->bytes, text->length });
    for (size_t i = 0; i < out->count; i++) {
        uint32_t c = characters[i];
        out->at[i] = at;
        at += c < 0x80 || c > 0x10FFFF ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    out->at[out->count] = at;
}

void twin__key_characters(struct twin__characters *out, const struct twin__keys *keys, size_t position)
{
    out->count = 0;
    if (keys->are_short) { /* four bytes each */
        size_t length = twin__edit_class_length(keys->class, position);
        out->bytes = (const char *)twin__key_short_text(keys, position, length);
        for (; out->count < length; out->count++)
            out->at[out->count] = (uint32_t)(sizeof(uint32_t) * out->count);
        out->at[length] = (uint32_t)(sizeof(uint32_t) * length);
        return;
    }
    const twin_buffer *text = &keys->texts[position];
    out->bytes = text->bytes;
    for (size_t i = 0; i < text->length && out->count < TWIN__KEY_CHARACTERS; i++)
        if (((unsigned char)text->bytes[i] & 0xC0) != 0x80)
            out->at[out->count++] = (uint32_t)i;
    out->at[out->count] = (uint32_t)text->length;
    if (out->count != twin__edit_class_length(keys->class, position))
        divide_ill_formed(out, text);
}

static twin_status load_text(struct twin__keys *keys, size_t position, int worker, twin_error *error)
{
    const struct twin__provider *provider = keys->class->provider;
    struct twin__content text;
    twin_status status = provider->fetch(&text, provider, keys->class->documents[position], worker, error);
    if (status == TWIN_OK && twin_buffer_append(&keys->texts[position], text.bytes, text.size) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

static twin_status load_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__keys *keys = context;
    twin_status status = TWIN_OK;
    for (size_t position = begin; position < end && status == TWIN_OK; position++)
        status = load_text(keys, position, worker, error);
    return status;
}

static twin_status load_texts(struct twin__keys *keys, twin_error *error)
{
    const struct twin__edit_class *class = keys->class;
    if (keys->are_short) {
        size_t first = class->is_between ? class->middle : class->count;
        twin_status status = twin__short_texts_load(&keys->short_texts[0], class->provider, class->documents, first,
                                                    class->options.exec, error);
        return status == TWIN_OK
                   ? twin__short_texts_load(&keys->short_texts[1], class->provider, class->documents + first,
                                            class->count - first, class->options.exec, error)
                   : status;
    }
    keys->texts = calloc(class->count, sizeof *keys->texts);
    if (!keys->texts)
        return twin__fail_memory(error);
    return twin__exec_try(class->options.exec, class->count, TEXTS_AT_A_TIME, load_some, keys, error);
}

/* ---- comparing ---- */

void twin__keys_begin(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position)
{
    if (!keys->are_short)
        return;
    size_t length = twin__edit_class_length(keys->class, position);
    twin__edit64_set(&worker->word, twin__key_short_text(keys, position, length), length);
}

void twin__keys_end(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position)
{
    if (keys->are_short)
        twin__edit64_unset(&worker->word, twin__key_short_text(keys, position, worker->word.length));
}

/* The characters of which two texts that are within the edits differ; TWIN_EDIT_FAR of others. */
static size_t indels_of_short(const struct twin__keys *keys, const struct twin__edit64 *word, size_t other)
{
    size_t n = twin__edit_class_length(keys->class, other), edits = keys->class->options.edits;
    const uint32_t *text = twin__key_short_text(keys, other, n);
    if (edits != TWIN_EDIT_FAR && twin__edit64_distance(word, text, n) > edits)
        return TWIN_EDIT_FAR;
    return twin__edit64_indels(word, text, n);
}

static twin_status indels_of_long(size_t *out, const struct twin__keys *keys, int worker, size_t position,
                                  size_t other)
{
    const twin_edit_join_options *options = &keys->class->options;
    twin_edit_scratch *scratch = &keys->class->scratch[worker];
    twin_text a = { keys->texts[position].bytes, keys->texts[position].length };
    twin_text b = { keys->texts[other].bytes, keys->texts[other].length };
    *out = 0;
    twin_status status = TWIN_OK;
    if (options->edits != TWIN_EDIT_FAR)
        status = twin__edit_distance(out, scratch, a, b, TWIN_EDIT_CHARS, options->edits);
    if (status == TWIN_OK && *out != TWIN_EDIT_FAR) /* an edit is two of these at most */
        status = twin__edit_indel(out, scratch, a, b, TWIN_EDIT_CHARS, 2 * keys->edits);
    return status;
}

twin_status twin__keys_compare(const struct twin__keys *keys, struct twin__key_worker *worker, size_t position,
                               size_t other)
{
    const struct twin__edit_class *class = keys->class;
    size_t indels = 0;
    twin_status status = TWIN_OK;
    worker->pairs.compared++;
    if (keys->are_short)
        indels = indels_of_short(keys, &worker->word, other);
    else
        status = indels_of_long(&indels, keys, worker->number, position, other);
    if (status != TWIN_OK || indels == TWIN_EDIT_FAR)
        return status;
    size_t total = twin__edit_class_length(class, position) + twin__edit_class_length(class, other);
    if (twin__edit_ratio_of(indels, total) < class->options.ratio)
        return TWIN_OK;
    return twin__edit_pairs_add_once(&worker->pairs,
                                     twin__packed_pair(class->documents[position], class->documents[other], indels));
}

/* ---- an index ---- */

twin_status twin__key_index_room(struct twin__key_index *out, struct twin__keys *keys, size_t count)
{
    *out = (struct twin__key_index){ keys, malloc((count + 1) * sizeof *out->entries), count };
    return out->entries ? TWIN_OK : TWIN_ENOMEM;
}

twin_status twin__key_index_sort(struct twin__key_index *index)
{
    return twin__sort_numbers(index->entries, index->count) ? TWIN_OK : TWIN_ENOMEM;
}

/* ---- the choice ---- */

/* Comparisons for each text of a class, on average, times the characters of the longest: above this a class of longer
 * texts is a group of similar ones, and a forest is quicker. */
enum { LARGE_GROUP = 1 << 17 };

/* Comparisons for each text up to which segments do: to count deletions as well would cost more than it could save. */
enum { FEW = 200 };

/* The most edits between near texts of a class: those allowed, or what the ratio of the longest allows. */
static size_t most_edits(const struct twin__edit_class *class)
{
    size_t total =
        twin__edit_class_length(class, class->middle - 1) + twin__edit_class_length(class, class->count - 1);
    size_t indels = twin__edit_most_indels(class->options.ratio, total);
    return indels < class->options.edits ? indels : class->options.edits;
}

struct choice {
    const struct twin__key_kind *kind;
    struct twin__key_index index;
    uint64_t candidates;
};

static twin_status try_kind(struct choice *choice, struct twin__keys *keys, const struct twin__key_kind *kind)
{
    struct choice tried = { .kind = kind };
    twin_status status = kind->make(&tried.index, keys);
    if (status == TWIN_OK)
        tried.candidates = kind->count(&tried.index);
    bool better = status == TWIN_OK && (!choice->kind || tried.candidates < choice->candidates);
    free(better ? choice->index.entries : tried.index.entries);
    if (better)
        *choice = tried;
    return status;
}

/* `worth` is as in twin__edit_join_by_keys(). */
static twin_status choose(struct choice *out, struct twin__keys *keys, double worth)
{
    double by_segments = twin__segments.cost(keys), by_deletions = twin__deletions.cost(keys);
    bool deletions_first = by_deletions <= by_segments;
    if (worth > 0 && (deletions_first ? by_deletions : by_segments) > worth)
        return TWIN_OK;
    twin_status status = try_kind(out, keys, deletions_first ? &twin__deletions : &twin__segments);
    if (status != TWIN_OK || deletions_first || out->candidates <= FEW * (uint64_t)keys->class->count)
        return status;
    double so_far = out->kind->comparison * (double)out->candidates;
    return by_deletions < (worth > 0 && worth < so_far ? worth : so_far) ? try_kind(out, keys, &twin__deletions)
                                                                         : TWIN_OK;
}

static bool is_worth_it(const struct choice *choice, const struct twin__edit_class *class, double worth)
{
    size_t longest = twin__edit_class_longest(class);
    return choice->kind && (worth > 0 ? choice->kind->comparison * (double)choice->candidates <= worth
                                      : choice->candidates <= LARGE_GROUP / longest * (uint64_t) class->count);
}

/* ---- all of it ---- */

static twin_status make_workers(struct twin__keys *keys)
{
    size_t count = (size_t)keys->class->options.exec.workers;
    keys->workers = calloc(count, sizeof *keys->workers);
    for (size_t i = 0; keys->workers && i < count; i++) {
        struct twin__key_worker *worker = &keys->workers[i];
        worker->number = (int)i;
        worker->pairs.spill = keys->class->pairs->spill;
        worker->compared_by = calloc(keys->class->count, sizeof(uint32_t));
        worker->word.row_of = keys->are_short ? calloc(TWIN__EDIT_CHARACTERS, sizeof(uint16_t)) : NULL;
        if (!worker->compared_by || (keys->are_short && !worker->word.row_of))
            return TWIN_ENOMEM;
    }
    return keys->workers ? TWIN_OK : TWIN_ENOMEM;
}

static void keys_clear(struct twin__keys *keys)
{
    for (int i = 0; keys->workers && i < keys->class->options.exec.workers; i++) {
        free(keys->workers[i].compared_by);
        free(keys->workers[i].word.row_of);
        free(keys->workers[i].pairs.items);
    }
    for (size_t i = 0; keys->texts && i < keys->class->count; i++)
        twin_buffer_clear(&keys->texts[i]);
    twin__short_texts_clear(&keys->short_texts[0]);
    twin__short_texts_clear(&keys->short_texts[1]);
    free(keys->workers);
    free(keys->texts);
}

static twin_status compare_candidates(struct twin__keys *keys, const struct choice *choice, twin_error *error)
{
    twin_similar *similar = keys->class->similar;
    struct twin__edit_pairs all = { .spill = keys->class->pairs->spill };
    size_t runs = all.spill ? all.spill->matches->runs->count : 0;
    twin_status status = choice->kind->compare(&choice->index, error);
    for (int w = 0; w < keys->class->options.exec.workers && status == TWIN_OK; w++)
        status = twin__edit_pairs_move(&all, &keys->workers[w].pairs);
    if (status == TWIN_OK)
        status = twin__edit_pairs_sort(&all);
    if (all.spill && all.spill->matches->runs->count > runs)
        all.spill->may_repeat = true;
    similar->counts.candidates += choice->candidates;
    similar->counts.verified += all.compared;
    if (status == TWIN_OK)
        status = twin__edit_pairs_move(keys->class->pairs, &all);
    free(all.items);
    return status;
}

twin_status twin__edit_join_by_keys(bool *done, const struct twin__edit_class *class, double worth, twin_error *error)
{
    *done = false;
    size_t longest = twin__edit_class_longest(class);
    struct choice choice = { 0 };
    struct twin__keys keys = { .class = class,
                               .edits = most_edits(class),
                               .are_short = longest <= TWIN__EDIT64,
                               .hash = twin_hash_member(TWIN_HASH_XXH3, class->options.minhash.seed) };
    if (keys.edits > TWIN__KEY_EDITS || twin__edit_class_shortest(class) <= keys.edits ||
        longest > TWIN__KEY_CHARACTERS || class->provider->count > TWIN__PACKED_DOCUMENTS)
        return TWIN_OK;
    twin_status status = make_workers(&keys);
    if (status == TWIN_OK)
        status = load_texts(&keys, error);
    if (status == TWIN_OK)
        status = choose(&choice, &keys, worth);
    if (status == TWIN_OK && is_worth_it(&choice, class, worth)) {
        status = compare_candidates(&keys, &choice, error);
        *done = true;
    }
    free(choice.index.entries);
    keys_clear(&keys);
    return status == TWIN_ENOMEM ? twin__fail_memory(error) : status;
}

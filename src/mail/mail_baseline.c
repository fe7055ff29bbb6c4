/* mail_baseline.c — two published mail filters: nearest spam by MinHash, and deepest level of an LSH forest.
 *
 * The rule of Martins and Jesus 2015 looks candidates up in bands. Here each known spam message is compared, and counts if
 * it shares a band: the same candidates, without tables. Which bands they used follows from their numbers: with three rows,
 * which is the threshold's formula rounded up, their experiment gives what they report (twinsift-lab mail-enron).
 * Sokolov 2007 takes hash vectors of an embedding of edit distance for labels. MinHash of the letters is better: of the
 * first 10,000 messages of trec07p 82 % of the spam is found at 5 % of good mail lost, by vectors 71 %. */
#include "mail/mail_baseline.h"

#include "edit/embed.h"
#include "lsh/forest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/bloom.h>
#include <twinsift/scheme.h>

#include "base/array.h"
#include "base/error.h"
#include "sketch/minhash.h"
#include "sketch/shingle.h"

enum {
    HASHES = 400,
    TREES = 100,
    DEPTH = 30,
    LETTERS = 1000,
    GRAM = 9,         /* letters of a shingle, as everywhere */
    SENDERS = 100000, /* that the counting filter is planned for */
    SEEN_OFTEN = 2,
};

struct twin__mail_baseline {
    twin__mail_baseline_options options;

    twin_shingler *shingler;
    twin_minhash *hasher;
    twin_items shingles;

    twin_bloom *senders; /* RULE */
    twin_buffer body;    /* in lower case */
    size_t rows;         /* of a band */
    uint32_t *known;     /* signatures of spam, one after the other, and room for that of a message */
    size_t known_count, known_capacity;

    twin__forest *forest; /* FOREST */
    twin__forest_scratch climbing;
    twin__embedder *embedder; /* NULL: labels are MinHash slots */
    twin__embed_scratch embedding;
    uint32_t *labels;
    uint64_t next;
};

/* ---- creating */

/* The fewest rows r for which (1/b)^(1/r), with b = k/r bands, is not below the threshold. */
static size_t choose_rows(size_t hashes, double threshold)
{
    size_t rows = 1;
    while (rows < hashes && pow((double)rows / (double)hashes, 1 / (double)rows) < threshold)
        rows++;
    return rows;
}

static twin_status create_hasher(twin__mail_baseline *filter, twin_shingle_kind kind, twin_sketch sketch,
                                 size_t slots)
{
    twin_status status = twin__shingler_create(
        &filter->shingler, (twin_shingle_options){ .kind = kind, .width = kind == TWIN_SHINGLE_BYTE ? GRAM : 0 });
    return status == TWIN_OK
               ? twin__minhash_create(
                     &filter->hasher,
                     (twin_minhash_options){ .sketch = sketch, .slots = slots, .seed = filter->options.seed })
               : status;
}

static twin_status create_rule(twin__mail_baseline *filter)
{
    const twin__mail_baseline_options *options = &filter->options;
    filter->rows = choose_rows(options->hashes, options->threshold);
    twin_status status = create_hasher(filter, TWIN_SHINGLE_STOP, TWIN_SKETCH_CLASSIC, options->hashes);
    if (status == TWIN_OK)
        status = twin_bloom_create(&filter->senders, (twin_bloom_options){ .items = SENDERS, .cell_bits = 4 });
    if (status == TWIN_OK &&
        !twin__array_grow(&filter->known, &filter->known_capacity, 0, 1, options->hashes * sizeof *filter->known))
        status = twin__fail_memory(NULL);
    return status;
}

static twin_status create_forest(twin__mail_baseline *filter)
{
    const twin__mail_baseline_options *options = &filter->options;
    twin_status status =
        twin__forest_create(&filter->forest, (twin__forest_options){ options->trees, options->depth, options->seed });
    if (status != TWIN_OK)
        return status;
    size_t labels = options->trees * options->depth;
    filter->labels = malloc(labels * sizeof *filter->labels);
    if (!filter->labels)
        return twin__fail_memory(NULL);
    if (!options->by_edits)
        return create_hasher(filter, TWIN_SHINGLE_BYTE, TWIN_SKETCH_FAST, labels);
    return twin__embedder_create(&filter->embedder,
                                 twin__embed_options_for(TWIN__EMBED_DEFAULT, LETTERS, labels, options->seed));
}

twin_status twin__mail_baseline_create(twin__mail_baseline **out, twin__mail_baseline_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    if (options.kind != TWIN__MAIL_RULE && options.kind != TWIN__MAIL_FOREST)
        return twin__fail(NULL, TWIN_EINVAL, "unknown filter %d", (int)options.kind);
    if (!(options.threshold >= 0 && options.threshold <= 1))
        return twin__fail(NULL, TWIN_EINVAL, "the threshold must be 0 to 1");
    twin__mail_baseline *filter = calloc(1, sizeof *filter);
    if (!filter)
        return twin__fail_memory(NULL);
    bool rule = options.kind == TWIN__MAIL_RULE;
    filter->options = options;
    if (!(options.threshold > 0))
        filter->options.threshold = rule ? 0.1 : 0.5;
    filter->options.hashes = options.hashes ? options.hashes : HASHES;
    filter->options.trees = options.trees ? options.trees : TREES;
    filter->options.depth = options.depth ? options.depth : DEPTH;
    twin_status status = rule ? create_rule(filter) : create_forest(filter);
    if (status != TWIN_OK) {
        twin__mail_baseline_free(filter);
        return status;
    }
    *out = filter;
    return TWIN_OK;
}

void twin__mail_baseline_free(twin__mail_baseline *filter)
{
    if (!filter)
        return;
    twin__shingler_free(filter->shingler);
    twin__minhash_free(filter->hasher);
    twin_bloom_free(filter->senders);
    twin__items_clear(&filter->shingles);
    twin_buffer_clear(&filter->body);
    free(filter->known);
    twin__embedder_free(filter->embedder);
    twin__embed_scratch_clear(&filter->embedding);
    twin__forest_free(filter->forest);
    twin__forest_scratch_clear(&filter->climbing);
    free(filter->labels);
    free(filter);
}

/* ---- the rule */

/* The address it is from; empty: none. */
static twin_text sender_of(const twin_message *message)
{
    for (size_t i = 0; i < message->address_count; i++)
        if (message->addresses[i].role == TWIN_MESSAGE_FROM)
            return message->addresses[i].address;
    return (twin_text){ 0 };
}

/* The place after the signatures of known spam, where that of the message is now; NULL: it has no shingles. */
static twin_status sign(uint32_t **out, twin__mail_baseline *filter, const twin_message *message)
{
    twin_status status = twin_text_normalise(&filter->body, NULL, message->text, TWIN_NORMAL_FOLD);
    *out = NULL;
    if (status == TWIN_OK)
        status = twin__shingle_windows(&filter->shingles, filter->shingler,
                                       (twin_text){ filter->body.bytes, filter->body.length });
    if (status != TWIN_OK || filter->shingles.count == 0)
        return status;
    *out = filter->known + filter->known_count * filter->options.hashes;
    twin__minhash_sign(*out, filter->hasher, filter->shingles.items, filter->shingles.count);
    return TWIN_OK;
}

static bool share_band(const uint32_t *a, const uint32_t *b, size_t hashes, size_t rows)
{
    for (size_t i = 0; i + rows <= hashes; i += rows)
        if (memcmp(a + i, b + i, rows * sizeof *a) == 0)
            return true;
    return false;
}

static twin_status judge_by_rule(double *out, twin__mail_baseline *filter, const twin_message *message)
{
    uint32_t *signature;
    size_t hashes = filter->options.hashes, most = 0;
    twin_text sender = sender_of(message);
    twin_status status = sign(&signature, filter, message);
    *out = 1;
    if (status != TWIN_OK || !signature ||
        (sender.length && twin_bloom_count(filter->senders, sender.bytes, sender.length) >= SEEN_OFTEN))
        return status;
    for (size_t i = 0; i < filter->known_count; i++) {
        const uint32_t *other = filter->known + i * hashes;
        size_t equal = twin_minhash_agreement(other, signature, hashes);
        if (equal > most && share_band(other, signature, hashes, filter->rows))
            most = equal;
    }
    *out = (double)most / (double)hashes;
    return TWIN_OK;
}

static twin_status learn_by_rule(twin__mail_baseline *filter, const twin_message *message)
{
    uint32_t *signature;
    size_t bytes = filter->options.hashes * sizeof *signature;
    twin_text sender = sender_of(message);
    twin_status status = sign(&signature, filter, message);
    if (status != TWIN_OK)
        return status;
    /* Room for the next message, so that signing needs none. */
    if (signature && !twin__array_grow(&filter->known, &filter->known_capacity, filter->known_count + 1, 1, bytes))
        return twin__fail_memory(NULL);
    filter->known_count += signature != NULL;
    if (sender.length)
        twin_bloom_add(filter->senders, sender.bytes, sender.length);
    return TWIN_OK;
}

/* ---- the forest */

/* The first thousand letters of subject and text. Bytes of other scripts are letters. */
static size_t take_letters(char out[LETTERS], const twin_message *message)
{
    size_t count = 0;
    for (size_t i = 0; i < message->folded.length && count < LETTERS; i++) {
        unsigned char c = (unsigned char)message->folded.bytes[i];
        if ((c >= 'a' && c <= 'z') || c >= 0x80)
            out[count++] = (char)c;
    }
    return count;
}

static twin_status make_labels(twin__mail_baseline *filter, const twin_message *message)
{
    char letters[LETTERS];
    size_t count = take_letters(letters, message);
    if (filter->embedder) { /* which needs texts of one length */
        memset(letters + count, '#', LETTERS - count);
        return twin__embed_vector(filter->labels, filter->embedder, &filter->embedding,
                                  (twin_text){ letters, LETTERS });
    }
    twin_status status = twin__shingle_text(&filter->shingles, filter->shingler, (twin_text){ letters, count });
    if (status == TWIN_OK)
        twin__minhash_sign(filter->labels, filter->hasher, filter->shingles.items, filter->shingles.count);
    return status;
}

static twin_status judge_by_forest(double *out, twin__mail_baseline *filter, const twin_message *message)
{
    enum { MOST = 4 * TWIN__FOREST_MAX_TREES };
    twin__forest_candidate found[MOST];
    size_t count = 0, sum = 0;
    size_t most = filter->options.by_mean ? 4 * filter->options.trees : 1;
    twin_status status = make_labels(filter, message);
    *out = 0;
    if (status == TWIN_OK)
        status = twin__forest_query(found, &count, filter->forest, &filter->climbing, filter->labels,
                                    (twin__forest_query_options){ .most = most });
    for (size_t i = 0; status == TWIN_OK && i < count; i++)
        sum += found[i].level;
    if (status == TWIN_OK && count)
        *out = (double)sum / (double)count / (double)filter->options.depth;
    return status;
}

static twin_status learn_by_forest(twin__mail_baseline *filter, const twin_message *message)
{
    twin_status status = make_labels(filter, message);
    return status == TWIN_OK ? twin__forest_add(filter->forest, filter->next++, filter->labels) : status;
}

/* ---- either */

twin_status twin__mail_baseline_judge(twin__mail_opinion *out, twin__mail_baseline *filter,
                                      const twin_message *message)
{
    if (!out || !filter || !message)
        return twin__fail_null(NULL, !out ? "out" : !filter ? "filter" : "message");
    bool rule = filter->options.kind == TWIN__MAIL_RULE;
    twin_status status =
        rule ? judge_by_rule(&out->score, filter, message) : judge_by_forest(&out->score, filter, message);
    out->is_spam = out->score >= filter->options.threshold;
    return status;
}

twin_status twin__mail_baseline_learn(twin__mail_baseline *filter, const twin_message *message)
{
    if (!filter || !message)
        return twin__fail_null(NULL, filter ? "message" : "filter");
    return filter->options.kind == TWIN__MAIL_RULE ? learn_by_rule(filter, message)
                                                   : learn_by_forest(filter, message);
}

/* edit_rounds.c — the similar pairs of texts that decide which of them are kept.
 *
 * Among texts of one template all pairs are similar, and to find them all takes quadratic time. But whether a text is
 * kept depends only on the texts kept before it, so texts are taken in rounds. Each takes the first texts in the order
 * of preference, a block, finds the pairs among them, decides which are kept, compares these with all remaining texts,
 * and drops those that are similar. No text of the block is needed after that.
 *
 * A round compares each remaining text with the kept ones of the block. It is worth that where the block shows that
 * the search for all pairs would compare it with more; a block that does not show it is followed by a larger one.
 * Blocks are at most an eighth of the texts, so that all of them together cost about a sixth of the search. When no
 * block of this size is worth a round, or a round has dropped few, all pairs of the remaining texts are found. */
#include "dedup/decision.h"

#include <stdlib.h>

#include "base/error.h"
#include "collection/contents.h"
#include "edit_join/edit_join_private.h"
#include "join/join_private.h"

enum {
    FIRST_BLOCK = 64, /* texts */
    GROWTH = 4,
    SHARE = 8,     /* a block is at most the texts divided by this; so are, of a round, the fewest to be dropped */
    PARTNERS = 16, /* of a text of the block, in it, on average, that make a round worth it */
};

struct rounds {
    struct twin__decision *decision;
    const struct twin__deciding_options *deciding;
    twin_similar_counts *counts;
    uint32_t *texts; /* in the order of their numbers, or of preference: `count` from `begin` on are not decided */
    size_t begin, count;
    uint32_t *places;  /* of each document, if it is of the block */
    uint32_t *keepers; /* of each place of the block */
    bool *dropped;     /* of each document */
    bool is_ordered;   /* the order is that of preference */
};

/* Adds the pairs of `count` texts from `begin` on; with `first`, of one of the first ones and one of the others. */
static twin_status find_part(twin_matches *out, const struct rounds *rounds, size_t begin, size_t count, size_t first,
                             twin_error *error)
{
    twin_edit_join_options options = *rounds->decision->options->by_edits;
    struct twin__edit_part part = { rounds->texts + begin, count, first };
    options.exec = rounds->deciding->search->exec;
    return twin__edit_join_part(out, rounds->counts, rounds->decision->collection, part, &options, error);
}

/* ---- the order ---- */

/* In the order of preference instead of that of numbers. */
static twin_status order_texts(struct rounds *rounds, twin_error *error)
{
    const struct twin__deciding_options *deciding = rounds->deciding;
    const uint32_t *order;
    rounds->is_ordered = true;
    twin_status status = deciding->order(&order, deciding->context, rounds->texts, rounds->count, error);
    if (status != TWIN_OK)
        return status;
    bool *is_text = calloc(rounds->decision->documents + 1, sizeof *is_text);
    if (!is_text)
        return twin__fail_memory(error);
    for (size_t i = 0; i < rounds->count; i++)
        is_text[rounds->texts[i]] = true;
    rounds->count = 0;
    for (size_t i = 0; i < rounds->decision->documents; i++)
        if (is_text[order[i]])
            rounds->texts[rounds->count++] = order[i];
    free(is_text);
    return TWIN_OK;
}

/* ---- a block ---- */

/* Decides which texts of a block are kept; returns how many. */
static twin_status decide_block(size_t *kept, struct rounds *rounds, const twin_matches *found, size_t block,
                                twin_error *error)
{
    twin_matches numbered = { 0 };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < block; i++)
        rounds->places[rounds->texts[rounds->begin + i]] = (uint32_t)i;
    for (size_t i = 0; i < found->count && status == TWIN_OK; i++) {
        const twin_match *match = &found->items[i];
        status = twin__matches_add(
            &numbered, (twin_match){ rounds->places[match->a], rounds->places[match->b], match->similarity });
    }
    if (status == TWIN_OK)
        status = twin__cluster_keepers(rounds->keepers, NULL, block, numbered.items, numbered.count, NULL);
    twin__matches_clear(&numbered);
    *kept = 0;
    for (size_t i = 0; i < block && status == TWIN_OK; i++)
        *kept += rounds->keepers[i] == i;
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* Whether each remaining text has more partners than kept texts to be compared with, going by the block, which has its
 * share of them. */
static bool is_worth_it(const struct rounds *rounds, size_t pairs, size_t kept, size_t block)
{
    double remaining = (double)(rounds->count - block), partners = 2 * (double)pairs / (double)block;
    return partners >= PARTNERS && partners * remaining / (double)block >= 2 * (double)kept;
}

/* Compares the kept texts of a block with the remaining ones; *few becomes whether few of these were dropped. */
static twin_status compare_remaining(bool *few, struct rounds *rounds, size_t kept, size_t block, twin_error *error)
{
    uint32_t *texts = rounds->texts + rounds->begin;
    size_t remaining = rounds->count - block, before = rounds->decision->matches.count, to = block, left = 0;
    for (size_t i = block; i-- > 0;)
        if (rounds->keepers[i] == i)
            texts[--to] = texts[i];
    twin_status status =
        find_part(&rounds->decision->matches, rounds, rounds->begin + to, kept + remaining, kept, error);
    if (status != TWIN_OK)
        return status;
    for (size_t i = before; i < rounds->decision->matches.count; i++) {
        rounds->dropped[rounds->decision->matches.items[i].a] = true;
        rounds->dropped[rounds->decision->matches.items[i].b] = true;
    }
    for (size_t i = block; i < rounds->count; i++)
        if (!rounds->dropped[texts[i]])
            texts[block + left++] = texts[i];
    rounds->begin += block;
    rounds->count = left;
    *few = remaining - left < remaining / SHARE;
    return TWIN_OK;
}

/* One round, if the next block is worth it; *block becomes the size of the one after it. */
static twin_status take_block(size_t *block, struct rounds *rounds, twin_error *error)
{
    twin_matches found = { 0 };
    size_t kept = 0;
    bool few = false;
    twin_status status = find_part(&found, rounds, rounds->begin, *block, 0, error);
    if (status == TWIN_OK)
        status = decide_block(&kept, rounds, &found, *block, error);
    if (status == TWIN_OK && !is_worth_it(rounds, found.count, kept, *block))
        *block *= GROWTH;
    else if (status == TWIN_OK && !rounds->is_ordered) {
        status = order_texts(rounds, error);
        *block = FIRST_BLOCK;
    } else if (status == TWIN_OK) {
        status = twin__matches_move(&rounds->decision->matches, &found) ? TWIN_OK : twin__fail_memory(error);
        if (status == TWIN_OK)
            status = compare_remaining(&few, rounds, kept, *block, error);
        *block = few ? SIZE_MAX : FIRST_BLOCK;
    }
    twin__matches_clear(&found);
    return status;
}

/* ---- all of it ---- */

/* The distinct texts that are not excluded. */
static twin_status rounds_init(struct rounds *rounds, twin_error *error)
{
    const struct twin__decision *decision = rounds->decision;
    const uint32_t *distinct;
    size_t count = twin__collection_distinct(&distinct, decision->collection), documents = decision->documents + 1;
    rounds->is_ordered = rounds->deciding->by_number;
    rounds->texts = malloc((count + 1) * sizeof *rounds->texts);
    rounds->keepers = malloc((count + 1) * sizeof *rounds->keepers);
    rounds->places = malloc(documents * sizeof *rounds->places);
    rounds->dropped = calloc(documents, sizeof *rounds->dropped);
    if (!rounds->texts || !rounds->keepers || !rounds->places || !rounds->dropped)
        return twin__fail_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!decision->is_excluded || !decision->is_excluded[distinct[i]])
            rounds->texts[rounds->count++] = distinct[i];
    return TWIN_OK;
}

twin_status twin__find_edits(struct twin__decision *decision, twin_similar_counts *counts,
                             const struct twin__deciding_options *deciding, twin_error *error)
{
    struct rounds rounds = { .decision = decision, .deciding = deciding, .counts = counts };
    twin_status status = rounds_init(&rounds, error);
    for (size_t block = FIRST_BLOCK; status == TWIN_OK && !deciding->chain && block <= rounds.count / SHARE;)
        status = take_block(&block, &rounds, error);
    if (status == TWIN_OK)
        status = find_part(&decision->matches, &rounds, rounds.begin, rounds.count, 0, error);
    decision->is_ordered = false; /* documents without a match have no order, and no field that counts */
    free(rounds.texts);
    free(rounds.keepers);
    free(rounds.places);
    free(rounds.dropped);
    return status;
}

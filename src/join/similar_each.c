/* similar_each.c — pairs of documents from pairs of distinct ones.
 *
 * A distinct document stands for its copies. For each document in order its partners are gathered, its copies and those that
 * it matches, sorted and visited. Where the copies of both documents of a match are wanted, the match is many pairs: these are
 * listed, sorted, and take the place of the matches. */
#include <stdlib.h>

#include "base/error.h"
#include "collection/contents.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"

/* ---- the documents that each stands for: counted, then placed ---- */

twin_status twin__copies_list(struct twin__copies *out, const uint32_t *firsts, size_t documents)
{
    out->begins = calloc(documents + 2, sizeof *out->begins);
    out->same = malloc((documents + 1) * sizeof *out->same);
    if (!out->begins || !out->same)
        return TWIN_ENOMEM;
    /* Counted two places further on, so that begins[d + 1] is where the next of d goes, and in the end where d + 1
     * begins. */
    for (size_t i = 0; i < documents; i++)
        out->begins[firsts[i] + 2]++;
    for (size_t i = 2; i <= documents; i++)
        out->begins[i] += out->begins[i - 1];
    for (size_t i = 0; i < documents; i++)
        out->same[out->begins[firsts[i] + 1]++] = (uint32_t)i;
    return TWIN_OK;
}

void twin__copies_clear(struct twin__copies *copies)
{
    free(copies->begins);
    free(copies->same);
    *copies = (struct twin__copies){ 0 };
}

/* ---- partners ---- */

struct expansion {
    const twin_similar *similar;
    twin_copies copies;
    const uint32_t *firsts;
    struct twin__copies same;
    twin_matches products; /* pairs of copies of the documents of each match, if they are wanted; with a cursor */
    bool by_products;
    struct twin__match_cursor cursor; /* of matches, or of products; */
    size_t next;                      /* or the number of the next packed pair */
    twin_match ahead;                 /* the match after those of the documents before the one in hand, */
    bool is_ahead;                    /* unless there is none */
    twin_matches partners;            /* of the document in hand */
};

static twin_status add_partner(struct expansion *expansion, uint32_t a, uint32_t b, double similarity)
{
    return b <= a ? TWIN_OK : twin__matches_add(&expansion->partners, (twin_match){ a, b, similarity });
}

/* The other documents with its set. */
static twin_status add_copies(struct expansion *expansion, uint32_t a)
{
    const struct twin__copies *same = &expansion->same;
    uint32_t first = expansion->firsts[a];
    twin_status status = TWIN_OK;
    for (size_t i = same->begins[first]; i < same->begins[first + 1] && status == TWIN_OK; i++)
        status = add_partner(expansion, a, same->same[i], 1);
    return status;
}

/* Its own matches. Documents come in order, and so do the matches. */
static twin_status look_ahead(struct expansion *expansion)
{
    const struct twin__packed_pairs *packed = &expansion->similar->packed;
    if (packed->count == 0 || expansion->by_products)
        return twin__match_cursor_next(&expansion->ahead, &expansion->is_ahead, &expansion->cursor);
    expansion->is_ahead = expansion->next < packed->count;
    if (expansion->is_ahead)
        expansion->ahead = twin__packed_match(packed->items[expansion->next++], expansion->similar->collection);
    return TWIN_OK;
}

static twin_status add_matches(struct expansion *expansion, uint32_t a)
{
    twin_status status = TWIN_OK;
    while (expansion->is_ahead && expansion->ahead.a == a && status == TWIN_OK) {
        status = add_partner(expansion, a, expansion->ahead.b, expansion->ahead.similarity);
        if (status == TWIN_OK)
            status = look_ahead(expansion);
    }
    return status;
}

static twin_status add_partners(struct expansion *expansion, uint32_t a)
{
    expansion->partners.count = 0;
    if (expansion->firsts[a] != a && expansion->copies != TWIN_COPIES_ALL)
        return TWIN_OK;
    twin_status status = expansion->copies == TWIN_COPIES_NONE ? TWIN_OK : add_copies(expansion, a);
    return status == TWIN_OK ? add_matches(expansion, a) : status;
}

twin_status twin__similar_visit_partners(twin_matches *partners, twin_match_visit *visit, void *context)
{
    twin__matches_sort(partners);
    for (size_t i = 0; i < partners->count; i++)
        if (!visit(context, partners->items[i]))
            return TWIN_ESTOPPED;
    partners->count = 0;
    return TWIN_OK;
}

static twin_status visit_all(struct expansion *expansion, size_t documents, twin_match_visit *visit, void *context)
{
    twin_status status = TWIN_OK;
    for (size_t a = 0; a < documents && status == TWIN_OK; a++) {
        status = add_partners(expansion, (uint32_t)a);
        if (status == TWIN_OK)
            status = twin__similar_visit_partners(&expansion->partners, visit, context);
    }
    return status;
}

/* ---- all copies ---- */

static twin_status add_products(twin_matches *out, const struct twin__copies *same, twin_match match)
{
    twin_status status = TWIN_OK;
    for (size_t i = same->begins[match.a]; i < same->begins[match.a + 1]; i++)
        for (size_t j = same->begins[match.b]; j < same->begins[match.b + 1] && status == TWIN_OK; j++) {
            uint32_t x = same->same[i], y = same->same[j];
            status = twin__matches_add(out, (twin_match){ x < y ? x : y, x < y ? y : x, match.similarity });
        }
    return status;
}

/* Lists the pairs of copies, in runs if the matches may be, and goes on with these. */
static twin_status list_products(struct expansion *expansion)
{
    const struct twin__match_runs *runs = expansion->similar->matches.runs;
    twin_matches *products = &expansion->products;
    twin_status status = runs ? twin__match_runs_create(products, runs->most, runs->folder) : TWIN_OK;
    while (status == TWIN_OK && expansion->is_ahead) {
        status = add_products(products, &expansion->same, expansion->ahead);
        if (status == TWIN_OK)
            status = look_ahead(expansion);
    }
    twin__match_cursor_clear(&expansion->cursor);
    if (status == TWIN_OK)
        status = twin__match_runs_failure(NULL, products->runs);
    if (status != TWIN_OK)
        return status;
    twin__matches_sort(products);
    expansion->by_products = true;
    status = twin__match_cursor_init(&expansion->cursor, products);
    return status == TWIN_OK ? look_ahead(expansion) : status;
}

/* ---- all of it ---- */

twin_status twin_similar_each(const twin_similar *similar, twin_copies copies, twin_match_visit *visit, void *context)
{
    if (!similar || !visit)
        return twin__fail_null(NULL, similar ? "visit" : "similar");
    if ((unsigned)copies > TWIN_COPIES_NONE)
        return twin__fail(NULL, TWIN_EINVAL, "unknown choice of copies %d", (int)copies);
    if (similar->other)
        return twin__between_each(similar, copies, visit, context);
    const uint32_t *distinct;
    size_t documents = twin_collection_count(similar->collection).documents;
    bool has_copies = twin__collection_distinct(&distinct, similar->collection) < documents;
    struct expansion expansion = { .similar = similar,
                                   .copies = copies,
                                   .firsts = twin_collection_firsts(similar->collection) };
    twin_status status = twin__copies_list(&expansion.same, expansion.firsts, documents);
    if (status == TWIN_OK)
        status = twin__match_cursor_init(&expansion.cursor, &similar->matches);
    if (status == TWIN_OK)
        status = look_ahead(&expansion);
    if (status == TWIN_OK && copies == TWIN_COPIES_ALL && has_copies)
        status = list_products(&expansion);
    if (status == TWIN_OK)
        status = visit_all(&expansion, documents, visit, context);
    twin__copies_clear(&expansion.same);
    twin__match_cursor_clear(&expansion.cursor);
    twin__matches_clear(&expansion.products);
    twin__matches_clear(&expansion.partners);
    return status;
}

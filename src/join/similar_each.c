/* similar_each.c — pairs of documents from pairs of distinct ones.
 *
 * A distinct document stands for its copies, so one match may be many pairs; they are not stored. For each document
 * in order its partners are gathered, from the list of its copies and the list of its matches, sorted and visited. */
#include <stdlib.h>

#include "base/error.h"
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

/* ---- lists of matches ---- */

/* Lists by document: list d is items[start[d]] .. items[start[d + 1] - 1]. */
struct lists {
    size_t *start;
    twin_match *items;
};

static void lists_clear(struct lists *lists)
{
    free(lists->start);
    free(lists->items);
}

/* Room for lists of `counts[d]` items each, counts[documents] being spare; afterwards start[d] is where d's next
 * item goes, and after filling where its list ends. */
static twin_status lists_init(struct lists *lists, size_t *counts, size_t documents)
{
    size_t total = 0;
    for (size_t d = 0; d <= documents; d++) {
        size_t count = counts[d];
        counts[d] = total;
        total += count;
    }
    lists->start = counts;
    lists->items = malloc((total + 1) * sizeof *lists->items);
    return lists->items ? TWIN_OK : TWIN_ENOMEM;
}

static void lists_add(struct lists *lists, uint32_t list, twin_match item)
{
    lists->items[lists->start[list]++] = item;
}

/* After filling, each start has moved to the end of its list, which is where the next one begins. */
static size_t list_begin(const struct lists *lists, uint32_t list)
{
    return list ? lists->start[list - 1] : 0;
}

static size_t match_count(const twin_similar *similar)
{
    return similar->packed.count ? similar->packed.count : similar->matches.count;
}

static twin_match match_at(const twin_similar *similar, size_t i)
{
    return similar->packed.count ? twin__packed_match(similar->packed.items[i], similar->collection)
                                 : similar->matches.items[i];
}

/* The matches of each distinct document, at both ends. */
static twin_status list_matches(struct lists *out, const twin_similar *similar, size_t documents)
{
    size_t *counts = calloc(documents + 1, sizeof *counts), total = match_count(similar);
    if (!counts)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < total; i++) {
        counts[match_at(similar, i).a]++;
        counts[match_at(similar, i).b]++;
    }
    twin_status status = lists_init(out, counts, documents);
    for (size_t i = 0; i < total && status == TWIN_OK; i++) {
        twin_match match = match_at(similar, i);
        lists_add(out, match.a, match);
        lists_add(out, match.b, (twin_match){ match.b, match.a, match.similarity });
    }
    return status;
}

struct expansion {
    const twin_similar *similar;
    twin_copies copies;
    const uint32_t *firsts;
    struct twin__copies same;
    struct lists matches;             /* at both ends; only if all copies are visited */
    struct twin__match_cursor cursor; /* otherwise, of matches; or the number of the next, if they are packed */
    size_t next;
    twin_match ahead;      /* the match after those of the documents before the one in hand, */
    bool is_ahead;         /* unless there is none */
    twin_matches partners; /* of the document in hand */
};

static twin_status add_partner(struct expansion *expansion, uint32_t a, uint32_t b, double similarity)
{
    twin_matches *partners = &expansion->partners;
    if (b <= a)
        return TWIN_OK;
    return twin__matches_add(partners, (twin_match){ a, b, similarity });
}

/* The documents with the set of `first`, as partners of a. */
static twin_status add_copies(struct expansion *expansion, uint32_t a, uint32_t first, double similarity)
{
    const struct twin__copies *same = &expansion->same;
    twin_status status = TWIN_OK;
    for (size_t i = same->begins[first]; i < same->begins[first + 1] && status == TWIN_OK; i++)
        status = add_partner(expansion, a, same->same[i], similarity);
    return status;
}

/* The copies of all that match the document in hand. */
static twin_status add_all_matches(struct expansion *expansion, uint32_t a)
{
    uint32_t first = expansion->firsts[a];
    twin_status status = TWIN_OK;
    for (size_t i = list_begin(&expansion->matches, first); i < expansion->matches.start[first] && status == TWIN_OK;
         i++)
        status = add_copies(expansion, a, expansion->matches.items[i].b, expansion->matches.items[i].similarity);
    return status;
}

/* Its own matches. Documents come in order, and so do the matches. */
static twin_status look_ahead(struct expansion *expansion)
{
    const twin_similar *similar = expansion->similar;
    if (similar->packed.count == 0)
        return twin__match_cursor_next(&expansion->ahead, &expansion->is_ahead, &expansion->cursor);
    expansion->is_ahead = expansion->next < similar->packed.count;
    if (expansion->is_ahead)
        expansion->ahead = match_at(similar, expansion->next++);
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
    uint32_t first = expansion->firsts[a];
    bool all = expansion->copies == TWIN_COPIES_ALL;
    expansion->partners.count = 0;
    if (first != a && !all)
        return TWIN_OK;
    twin_status status = expansion->copies == TWIN_COPIES_NONE ? TWIN_OK : add_copies(expansion, a, first, 1);
    if (status == TWIN_OK)
        status = all ? add_all_matches(expansion, a) : add_matches(expansion, a);
    return status;
}

static int by_partner(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    return (x->b > y->b) - (x->b < y->b);
}

/* As they are unless there are copies, which is usual. */
static bool are_in_order(const twin_matches *partners)
{
    for (size_t i = 1; i < partners->count; i++)
        if (partners->items[i - 1].b > partners->items[i].b)
            return false;
    return true;
}

twin_status twin__similar_visit_partners(twin_matches *partners, twin_match_visit *visit, void *context)
{
    if (!are_in_order(partners))
        qsort(partners->items, partners->count, sizeof *partners->items, by_partner);
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

static twin_status begin_matches(struct expansion *expansion, size_t documents)
{
    if (expansion->copies == TWIN_COPIES_ALL)
        return list_matches(&expansion->matches, expansion->similar, documents);
    twin_status status = twin__match_cursor_init(&expansion->cursor, &expansion->similar->matches);
    return status == TWIN_OK ? look_ahead(expansion) : status;
}

/* ---- all copies, of more matches than are in memory ---- */

/* The pairs of the copies of two firsts; of one, each with those after it. */
static twin_status add_products(twin_matches *out, const struct twin__copies *same, twin_match match)
{
    twin_status status = TWIN_OK;
    for (size_t i = same->begins[match.a]; i < same->begins[match.a + 1]; i++)
        for (size_t j = match.a == match.b ? i + 1 : same->begins[match.b];
             j < same->begins[match.b + 1] && status == TWIN_OK; j++) {
            uint32_t x = same->same[i], y = same->same[j];
            status = twin__matches_add(out, (twin_match){ x < y ? x : y, x < y ? y : x, match.similarity });
        }
    return status;
}

static twin_status list_products(twin_matches *out, struct expansion *expansion, size_t documents)
{
    twin_status status = twin__match_cursor_init(&expansion->cursor, &expansion->similar->matches);
    if (status == TWIN_OK)
        status = look_ahead(expansion);
    while (status == TWIN_OK && expansion->is_ahead) {
        status = add_products(out, &expansion->same, expansion->ahead);
        if (status == TWIN_OK)
            status = look_ahead(expansion);
    }
    for (uint32_t d = 0; d < documents && status == TWIN_OK; d++)
        if (expansion->firsts[d] == d)
            status = add_products(out, &expansion->same, (twin_match){ d, d, 1 });
    return status;
}

/* Lists all pairs of documents in runs of their own, and visits them in order. */
static twin_status visit_sorted(struct expansion *expansion, size_t documents, twin_match_visit *visit, void *context)
{
    const struct twin__match_runs *runs = expansion->similar->matches.runs;
    twin_matches all = { 0 };
    twin_status status = twin__match_runs_create(&all, runs->most, runs->folder);
    if (status == TWIN_OK)
        status = list_products(&all, expansion, documents);
    if (status == TWIN_OK)
        status = twin__matches_visit_sorted(&all, visit, context);
    twin__matches_clear(&all);
    return status;
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
    size_t documents = twin_collection_count(similar->collection).documents;
    struct expansion expansion = { .similar = similar,
                                   .copies = copies,
                                   .firsts = twin_collection_firsts(similar->collection) };
    twin_status status = twin__copies_list(&expansion.same, expansion.firsts, documents);
    if (status == TWIN_OK && copies == TWIN_COPIES_ALL && similar->matches.runs)
        status = visit_sorted(&expansion, documents, visit, context);
    else if (status == TWIN_OK)
        status = begin_matches(&expansion, documents);
    if (status == TWIN_OK && !(copies == TWIN_COPIES_ALL && similar->matches.runs))
        status = visit_all(&expansion, documents, visit, context);
    twin__copies_clear(&expansion.same);
    lists_clear(&expansion.matches);
    twin__match_cursor_clear(&expansion.cursor);
    twin__matches_clear(&expansion.partners);
    return status;
}

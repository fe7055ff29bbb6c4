/* shards.c — the gate, sketches, edges and groups for engines that move rows themselves.
 *
 * What the join does with a bucket of bands is repeated here on rows: the pairs of a small one pass the gate or not, and the
 * documents of a large one are united (join/groups.c). Sketches have four bits of each slot, so that some pairs pass that
 * signatures would stop, which makes groups larger but never wrong. */
#include <twinsift/shards.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "base/stages.h"
#include "join/candidates.h"
#include "join/items.h"
#include "kernels/sort.h"

enum { HELD = TWIN__LARGE_BUCKET - 1 };

/* ---- the gate and sketches ---- */

static twin_status complete(twin_scheme *out, const twin_scheme *scheme, twin_error *error)
{
    if (!scheme)
        return twin__fail_null(error, "scheme");
    *out = *scheme;
    twin_status status = twin_scheme_complete(out, error);
    if (status == TWIN_OK && out->measure != TWIN_JACCARD)
        status = twin__fail(error, TWIN_EINVAL, "bands find pairs by their Jaccard similarity only");
    return status;
}

size_t twin_shard_gate(const twin_scheme *scheme)
{
    twin_scheme whole;
    return complete(&whole, scheme, NULL) == TWIN_OK ? twin__gate_least(whole.threshold, whole.minhash.slots) : 0;
}

void twin_shard_sketch(unsigned char *out, const uint32_t *signature, const twin_scheme *scheme)
{
    twin_scheme whole;
    if (!out || !signature || complete(&whole, scheme, NULL) != TWIN_OK)
        return;
    size_t slots = whole.minhash.slots;
    for (size_t i = 0; i < slots; i += 2)
        out[i / 2] = (unsigned char)((signature[i] & 15) | (i + 1 < slots ? (signature[i + 1] & 15) << 4 : 0));
}

/* In how many places two sketches differ. */
static size_t count_different(const unsigned char *x, const unsigned char *y, size_t bytes)
{
    const uint64_t LOWEST = 0x1111111111111111;
    size_t count = 0;
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t a = 0, b = 0;
        size_t part = bytes - i < sizeof a ? bytes - i : sizeof a;
        memcpy(&a, x + i, part);
        memcpy(&b, y + i, part);
        uint64_t bits = a ^ b;
        bits |= bits >> 2;
        count += (size_t)__builtin_popcountll((bits | bits >> 1) & LOWEST);
    }
    return count;
}

/* ---- edges ---- */

struct twin_edges {
    twin_edge_visit *visit;
    void *context;
    size_t bytes;    /* of a sketch */
    size_t most;     /* places in which the sketches of a pair may differ */
    uint64_t key;    /* of the rows that are held */
    size_t held;     /* rows; HELD + 1: it is a star */
    bool has_key;    /* of earlier rows, which was no greater */
    bool is_stopped; /* the visit has returned false */
    uint64_t documents[HELD];
    unsigned char sketches[]; /* of HELD rows */
};

twin_status twin_edges_create(twin_edges **out, const twin_scheme *scheme, twin_edge_visit *visit, void *context,
                              twin_error *error)
{
    twin_scheme whole;
    if (!out || !visit)
        return twin__fail_null(error, out ? "visit" : "out");
    *out = NULL;
    twin_status status = complete(&whole, scheme, error);
    if (status != TWIN_OK)
        return status;
    size_t slots = whole.minhash.slots, bytes = (slots + 1) / 2;
    twin_edges *edges = calloc(1, sizeof *edges + HELD * bytes);
    if (!edges)
        return twin__fail_memory(error);
    edges->visit = visit;
    edges->context = context;
    edges->bytes = bytes;
    edges->most = slots - twin__gate_least(whole.threshold, slots);
    *out = edges;
    return TWIN_OK;
}

void twin_edges_free(twin_edges *edges)
{
    free(edges);
}

static void visit(twin_edges *edges, uint64_t a, uint64_t b)
{
    if (a != b && !edges->is_stopped)
        edges->is_stopped = !edges->visit(edges->context, a, b);
}

/* Visits the pairs of a small bucket that pass the gate. A star has been visited. */
static void finish_bucket(twin_edges *edges)
{
    size_t count = edges->held <= HELD ? edges->held : 0;
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (count_different(edges->sketches + i * edges->bytes, edges->sketches + j * edges->bytes,
                                edges->bytes) <= edges->most)
                visit(edges, edges->documents[j], edges->documents[i]);
    edges->held = 0;
}

static void add_row(twin_edges *edges, uint64_t document, const unsigned char *sketch)
{
    if (edges->held < HELD) {
        edges->documents[edges->held] = document;
        memcpy(edges->sketches + edges->held++ * edges->bytes, sketch, edges->bytes);
        return;
    }
    for (size_t i = 1; i < HELD && edges->held == HELD; i++) /* it becomes a star */
        visit(edges, edges->documents[0], edges->documents[i]);
    edges->held = HELD + 1;
    visit(edges, edges->documents[0], document);
}

twin_status twin_edges_add(twin_edges *edges, twin_shard_rows rows, twin_error *error)
{
    if (!edges || (rows.count && (!rows.keys || !rows.documents || !rows.sketches)))
        return twin__fail_null(error, edges ? "rows" : "edges");
    for (size_t i = 0; i < rows.count && !edges->is_stopped; i++) {
        if (edges->has_key && rows.keys[i] < edges->key)
            return twin__fail(error, TWIN_EINVAL, "rows must be sorted by key");
        if (edges->has_key && rows.keys[i] != edges->key)
            finish_bucket(edges);
        edges->key = rows.keys[i];
        edges->has_key = true;
        add_row(edges, rows.documents[i], rows.sketches + i * edges->bytes);
    }
    return edges->is_stopped ? twin__fail_status(error, TWIN_ESTOPPED) : TWIN_OK;
}

twin_status twin_edges_end(twin_edges *edges)
{
    if (!edges)
        return twin__fail_null(NULL, "edges");
    finish_bucket(edges);
    edges->has_key = false;
    return edges->is_stopped ? TWIN_ESTOPPED : TWIN_OK;
}

/* ---- groups ---- */

/* Documents are numbered as they come. A root is the smallest document of its group. */
struct twin_unions {
    struct twin__item_numbers numbers; /* of documents, mixed: the table of numbers goes by leading bits */
    uint32_t *above; /* of each number one in the same group, with a smaller document; itself for the root */
    size_t capacity;
};

twin_status twin_unions_create(twin_unions **out)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = calloc(1, sizeof **out);
    return *out ? TWIN_OK : TWIN_ENOMEM;
}

void twin_unions_free(twin_unions *unions)
{
    if (!unions)
        return;
    twin__item_numbers_clear(&unions->numbers);
    free(unions->above);
    free(unions);
}

static uint64_t document_of(const twin_unions *unions, uint32_t number)
{
    return twin__unmix(unions->numbers.items[number]);
}

static twin_status number_of(uint32_t *out, twin_unions *unions, uint64_t document)
{
    struct twin__item_numbers *numbers = &unions->numbers;
    size_t count = numbers->count;
    if (count > INT32_MAX)
        return twin__fail(NULL, TWIN_ELIMIT, "there are more than 2^31 documents");
    if (!TWIN__ARRAY_GROW(&unions->above, &unions->capacity, count, 1) || !twin__item_numbers_reserve(numbers, 1) ||
        (*out = twin__item_number(numbers, twin__mix(document))) == 0)
        return TWIN_ENOMEM;
    if (--*out == count)
        unions->above[count] = (uint32_t)count;
    return TWIN_OK;
}

twin_status twin_unions_add(twin_unions *unions, const uint64_t *a, const uint64_t *b, size_t count)
{
    if (!unions || (count && (!a || !b)))
        return twin__fail_null(NULL, !unions ? "unions" : !a ? "a" : "b");
    for (size_t i = 0; i < count; i++) {
        uint32_t x = 0, y = 0;
        twin_status status = twin__poll_at(i);
        if (status == TWIN_OK)
            status = number_of(&x, unions, a[i]);
        if (status == TWIN_OK)
            status = number_of(&y, unions, b[i]);
        if (status != TWIN_OK)
            return status;
        x = twin__union_root(unions->above, x);
        y = twin__union_root(unions->above, y);
        if (document_of(unions, x) < document_of(unions, y))
            unions->above[y] = x;
        else
            unions->above[x] = y;
    }
    return TWIN_OK;
}

twin_status twin_unions_list(uint64_t *documents, uint64_t *groups, size_t *count, twin_unions *unions)
{
    if (!unions || !count)
        return twin__fail_null(NULL, unions ? "count" : "unions");
    size_t room = *count, all = unions->numbers.count, slot;
    *count = all;
    if (room == 0 || all == 0)
        return TWIN_OK;
    if (!documents || !groups)
        return twin__fail_null(NULL, documents ? "groups" : "documents");
    if (room < all)
        return twin__fail(NULL, TWIN_EINVAL, "there is room for %zu documents, and there are %zu", room, all);
    for (size_t i = 0; i < all; i++)
        documents[i] = document_of(unions, (uint32_t)i);
    twin__sort(documents, all, groups, all); /* whose room is not used yet */
    for (size_t i = 0; i < all; i++) {
        uint32_t number = twin__item_find(&unions->numbers, twin__mix(documents[i]), &slot) - 1;
        groups[i] = document_of(unions, twin__union_root(unions->above, number));
    }
    return TWIN_OK;
}

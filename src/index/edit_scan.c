/* edit_scan.c — a query compared with all texts of an index by edit distance.
 *
 * Short texts are read once for a view and stay in memory, so that a query takes little for each of them and misses
 * none, however many edits are allowed. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "collection/provider.h"
#include "edit_join/edit_join_private.h"
#include "index/edits.h"
#include "sketch/set.h"

/* Of the characters of short texts, four bytes each. If there are more, none is in memory. */
enum { MOST_CHARACTERS = 1 << 24 };

struct twin__index_short_texts {
    twin_index_view *view;
    struct twin__index_found *sets; /* in the order of their numbers */
    size_t count;
    struct twin__short_texts texts; /* their documents are positions in `sets` */
    struct twin__edit64 query;
    bool too_many;
};

void twin__index_short_texts_free(struct twin__index_short_texts *texts)
{
    if (!texts)
        return;
    twin__short_texts_clear(&texts->texts);
    free(texts->query.row_of);
    free(texts->sets);
    free(texts);
}

/* ---- all sets */

struct list {
    const twin_index_view *view;
    struct twin__index_found *sets;
    size_t count, capacity, longest;
};

static twin_status list_set(void *context, struct twin__store_record record, twin_error *error)
{
    struct list *list = context;
    const twin_index *index = list->view->index;
    struct twin__index_set_record set;
    if (!twin__index_set_decode(&set, NULL, twin__index_slots(&index->options), record.value))
        return twin__index_fail_damaged(error, index, "a signature does not fit its checksum");
    if (set.size == 0 || set.size > list->longest)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&list->sets, &list->capacity, list->count, 1))
        return twin__fail_memory(error);
    list->sets[list->count++] = (struct twin__index_found){ record.key, set.size, set.members };
    return TWIN_OK;
}

twin_status twin__index_list_texts(struct twin__index_found **out, size_t *count, const twin_index_view *view,
                                   size_t longest, twin_error *error)
{
    struct list list = { .view = view, .longest = longest };
    twin_status status = twin__index_each_set(view, list_set, &list, error);
    *out = list.sets;
    *count = list.count;
    return status;
}

/* ---- short texts */

static uint64_t size_of(const struct twin__provider *provider, uint32_t i)
{
    const struct twin__index_short_texts *texts = provider->context;
    return texts->sets[i].size;
}

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t i, int worker,
                         twin_error *error)
{
    const struct twin__index_short_texts *texts = provider->context;
    twin_text text;
    (void)worker;
    twin_status status = twin__poll();
    if (status == TWIN_OK)
        status = twin__index_view_text(&text, texts->view, texts->sets[i].set, error);
    if (status == TWIN_OK)
        *out = (struct twin__content){ text.bytes, text.length };
    return status;
}

/* Positions in the order of length; NULL: out of memory. `characters` becomes the sum of the lengths. */
static uint32_t *order_by_length(size_t *characters, const struct twin__index_short_texts *texts)
{
    size_t next[TWIN__EDIT64 + 2] = { 0 };
    uint32_t *order = malloc((texts->count + 1) * sizeof *order);
    *characters = 0;
    for (size_t i = 0; i < texts->count; i++) {
        next[texts->sets[i].size + 1]++;
        *characters += texts->sets[i].size;
    }
    for (size_t length = 1; length <= TWIN__EDIT64; length++)
        next[length] += next[length - 1];
    for (size_t i = 0; order && i < texts->count; i++)
        order[next[texts->sets[i].size]++] = (uint32_t)i;
    return order;
}

static twin_status load(struct twin__index_short_texts *texts, twin_error *error)
{
    size_t characters;
    texts->too_many = texts->view->counts.sets > MOST_CHARACTERS;
    if (texts->too_many)
        return TWIN_OK;
    twin_status status = twin__index_list_texts(&texts->sets, &texts->count, texts->view, TWIN__EDIT64, error);
    if (status != TWIN_OK)
        return status;
    uint32_t *order = order_by_length(&characters, texts);
    texts->query.row_of = calloc(TWIN__EDIT_CHARACTERS, sizeof *texts->query.row_of);
    texts->too_many = characters > MOST_CHARACTERS;
    struct twin__provider provider = { .count = texts->count, .size = size_of, .fetch = fetch, .context = texts };
    if (!order || !texts->query.row_of)
        status = twin__fail_memory(error);
    else if (!texts->too_many)
        status = twin__short_texts_load(&texts->texts, &provider, order, texts->count,
                                        (twin_exec){ TWIN_EXEC_SERIAL, 1 }, error);
    free(order);
    return status;
}

/* Whether text number i, of n characters, is near to the query. */
static bool is_near(const struct twin__index_short_texts *texts, size_t i, size_t n, twin_edit_join_options near)
{
    const uint32_t *text = twin__short_text(&texts->texts, i, n);
    if (near.edits != TWIN_EDIT_FAR && twin__edit64_distance(&texts->query, text, n) > near.edits)
        return false;
    return twin__edit_ratio_of(twin__edit64_indels(&texts->query, text, n), n + texts->query.length) >= near.ratio;
}

static twin_status scan(twin_index_view *view, const struct twin__index_short_texts *texts,
                        twin_edit_join_options near, twin_error *error)
{
    const size_t m = texts->query.length;
    for (size_t n = 1; n <= TWIN__EDIT64; n++) {
        size_t end = texts->texts.begin[n + 1];
        if (twin__edit_join_reach(near, n < m ? n : m) < (n < m ? m : n))
            continue;
        for (size_t i = texts->texts.begin[n]; i < end; i++) {
            if (!is_near(texts, i, n, near))
                continue;
            if (twin__items_reserve(&view->candidates, 1) != TWIN_OK)
                return twin__fail_memory(error);
            view->candidates.items[view->candidates.count++] = texts->sets[texts->texts.documents[i]].set;
        }
        if (twin__poll() != TWIN_OK)
            return TWIN_ESTOPPED;
    }
    return TWIN_OK;
}

twin_status twin__index_scan(bool *scanned, twin_index_view *view, const struct twin__index_text *query,
                             twin_edit_join_options near, twin_error *error)
{
    struct twin__index_short_texts *texts = view->short_texts;
    *scanned = false;
    if (!texts) {
        texts = calloc(1, sizeof *texts);
        if (!texts)
            return twin__fail_memory(error);
        texts->view = view;
        twin_status status = load(texts, error);
        if (status != TWIN_OK) {
            twin__index_short_texts_free(texts);
            return status;
        }
        view->short_texts = texts;
    }
    if (texts->too_many)
        return TWIN_OK;
    twin__edit64_set(&texts->query, query->characters, query->count);
    twin_status status = scan(view, texts, near, error);
    twin__edit64_unset(&texts->query, query->characters);
    *scanned = status == TWIN_OK;
    return status;
}

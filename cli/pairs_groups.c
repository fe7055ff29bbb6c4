/* pairs_groups.c — twinsift pairs --groups: a line per member, or with --count a line per group. */
#include "pairs_run.h"

#include "dedup.h"
#include "support/record.h"
#include "support/results.h"

#include <stdlib.h>

/* A group: the document that represents it, and how many it has. */
struct group {
    uint32_t document;
    uint64_t count;
};

struct groups {
    struct pairs_run *run;
    struct group *items; /* with --count */
    size_t count;
};

static bool print_member(struct pairs_run *run, twin_member member)
{
    struct record record = record_begin(results(), run->request->shared.json);
    record_document(&record, "group", run->collection, member.group);
    record_document(&record, "id", run->collection, member.document);
    record_fixed(&record, "similarity", member.similarity, 4);
    record_end(&record);
    run->lines++;
    return output_is_good();
}

/* Members of a group follow each other. */
static bool take_member(void *context, twin_member member)
{
    struct groups *groups = context;
    if (!groups->items)
        return print_member(groups->run, member);
    if (member.group == member.document)
        groups->items[groups->count++] = (struct group){ member.document, 0 };
    groups->items[groups->count - 1].count++;
    return true;
}

/* The largest first, of equally large ones the first. */
static int by_count(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

/* The bytes of a text that stand for its group. */
enum { SAMPLE = 200 };

static twin_status print_group(struct pairs_run *run, struct group group, twin_scratch **scratch)
{
    twin_document document;
    twin_status status = twin_collection_document(&document, run->collection, scratch, group.document, NULL);
    if (status != TWIN_OK)
        return status;
    struct record record = record_begin(results(), run->request->shared.json);
    record_count(&record, "count", group.count);
    record_document(&record, "group", run->collection, group.document);
    record_text(&record, "text", (twin_text){ document.text.bytes, excerpt_length(document.text, SAMPLE) });
    record_end(&record);
    run->lines++;
    return TWIN_OK;
}

static twin_status print_counts(struct groups *groups)
{
    twin_scratch *scratch = NULL;
    twin_status status = TWIN_OK;
    if (groups->count)
        qsort(groups->items, groups->count, sizeof *groups->items, by_count);
    for (size_t i = 0; i < groups->count && status == TWIN_OK && output_is_good(); i++)
        status = print_group(groups->run, groups->items[i], &scratch);
    twin_scratch_free(scratch);
    return status;
}

/* What was found by pairs is grouped here; by deduplication, there. */
static twin_status each_member(struct groups *groups, size_t documents)
{
    const struct pairs_run *run = groups->run;
    if (run->dedup)
        return twin_cluster_each(twin_dedup_keepers(run->dedup), twin_dedup_similarities(run->dedup), documents,
                                 take_member, groups);
    uint32_t *keeper = malloc((documents + 1) * sizeof *keeper);
    double *similarity = malloc((documents + 1) * sizeof *similarity);
    twin_status status =
        keeper && similarity ? twin_cluster_documents(keeper, similarity, run->similar) : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin_cluster_each(keeper, similarity, documents, take_member, groups);
    free(keeper);
    free(similarity);
    return status;
}

twin_status print_groups(struct pairs_run *run)
{
    size_t documents = twin_collection_count(run->collection).documents;
    struct groups groups = { .run = run };
    if (run->request->count && !(groups.items = malloc((documents + 1) * sizeof *groups.items)))
        return TWIN_ENOMEM;
    twin_status status = each_member(&groups, documents);
    if (status == TWIN_OK && groups.items)
        status = print_counts(&groups);
    free(groups.items);
    return status;
}

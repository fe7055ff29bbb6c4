/* cmd_index_info.c — twinsift index info: parameters, recall and sizes of an index.
 *
 * Parameters are what the index stores, sizes what is in its tables now; recall follows from bands and rows. */
#include "commands.h"
#include "index_file.h"
#include "support/size.h"

#include <inttypes.h>

static void record_scheme(struct record *record, const twin_index_options *stored)
{
    const twin_scheme *scheme = &stored->scheme;
    bool sets = stored->format == TWIN_INPUT_SETS;
    char rule[64];
    snprintf(rule, sizeof rule, "%s:%zu", twin_name_of(TWIN_NAMES_SHINGLE_KIND, scheme->shingle.kind),
             scheme->shingle.width);
    if (!sets) {
        record_string(record, "shingle", rule);
        record_string(record, "normal", twin_name_of(TWIN_NAMES_NORMAL, scheme->normal));
    }
    record_flag(record, "set_input", sets);
    record_flag(record, "multiset", scheme->multiset);
    record_string(record, "hash", twin_name_of(TWIN_NAMES_HASH_FAMILY, scheme->shingle.hash.family));
    if (scheme->shingle.hash.family != TWIN_HASH_SIP) /* whose key is secret */
        record_count(record, "hash_seed", scheme->shingle.hash.seed);
    record_string(record, "sketch", twin_name_of(TWIN_NAMES_SKETCH, scheme->minhash.sketch));
    record_count(record, "hashes", scheme->minhash.slots);
    record_count(record, "seed", scheme->minhash.seed);
    record_number(record, "threshold", scheme->threshold, 9);
    record_count(record, "bands", scheme->plan.bands);
    record_count(record, "rows", scheme->plan.rows);
    record_string(record, "keep", twin_name_of(TWIN_NAMES_KEEP, stored->keep));
    record_string(record, "measure", stored->by_edits ? "edit" : "jaccard");
    if (stored->by_edits)
        record_count(record, "edits", stored->edits);
}

static void record_sizes(struct record *record, const twin_index_info *info)
{
    record_object(record, "bytes");
    record_count(record, "file", info->bytes);
    record_count(record, "documents", info->document_bytes);
    record_count(record, "signatures", info->signature_bytes);
    record_count(record, "bands", info->band_bytes);
    record_count(record, "kept", info->kept_bytes);
    record_count(record, "free", info->free_bytes);
    record_object_end(record);
}

static void record_recall(struct record *record, twin_plan plan)
{
    record_list(record, "recall");
    for (int i = 0; i <= 20; i++) {
        record_list(record, NULL);
        record_fixed(record, NULL, i / 20.0, 2);
        record_fixed(record, NULL, twin_plan_probability(plan, i / 20.0), 6);
        record_list_end(record);
    }
    record_list_end(record);
}

static void print_info_json(const char *path, const twin_index_options *stored, const twin_index_info *info)
{
    struct record record = record_begin(stdout, true);
    record_string(&record, "file", path);
    record_count(&record, "documents", info->documents);
    record_count(&record, "sets", info->sets);
    record_count(&record, "too_short", info->too_short);
    record_scheme(&record, stored);
    record_sizes(&record, info);
    record_count(&record, "runs", info->runs);
    record_count(&record, "removed_sets", info->removed_sets);
    record_count(&record, "buckets", info->buckets);
    record_count(&record, "largest_bucket", info->largest_bucket);
    record_number(&record, "mean_bucket", info->mean_bucket, 6);
    if (!stored->by_edits)
        record_recall(&record, stored->scheme.plan);
    record_end(&record);
}

static void print_sizes(const twin_index_info *info)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } rows[] = { { "file", info->bytes },
                 { "  documents", info->document_bytes },
                 { "  signatures", info->signature_bytes },
                 { "  bands", info->band_bytes },
                 { "  kept", info->kept_bytes },
                 { "  free", info->free_bytes } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char size[SIZE_ROOM];
        printf("  %-15s  %s", rows[i].name, write_size(size, rows[i].bytes));
        if (info->documents)
            printf(", %.0f bytes per document", (double)rows[i].bytes / (double)info->documents);
        printf("\n");
    }
}

static void print_rule(const twin_index_options *stored)
{
    if (stored->by_edits)
        printf("  measure          edit distance; all texts within %zu edits are found\n"
               "  forest           %zu trees\n",
               stored->edits, stored->scheme.plan.bands);
    else
        printf("  threshold        %g, %zu bands of %zu rows\n", stored->scheme.threshold, stored->scheme.plan.bands,
               stored->scheme.plan.rows);
}

static void print_recall(const twin_index_options *stored)
{
    if (stored->by_edits)
        return;
    printf("  recall          ");
    for (int i = 4; i <= 10; i++)
        printf(" %.4f at %.1f%s", twin_plan_probability(stored->scheme.plan, i / 10.0), i / 10.0,
               i < 10 ? "," : "\n");
}

static void print_info(const char *path, const twin_index_options *stored, const twin_index_info *info)
{
    printf("%s\n", path);
    printf("  documents        %" PRIu64 ", of which %" PRIu64 " have no shingle\n", info->documents,
           info->too_short);
    printf("  different sets   %" PRIu64 "\n", info->sets);
    if (stored->format == TWIN_INPUT_SETS)
        printf("  input            sets\n");
    else
        printf("  shingles         %s:%zu%s, normalisation %s\n",
               twin_name_of(TWIN_NAMES_SHINGLE_KIND, stored->scheme.shingle.kind), stored->scheme.shingle.width,
               stored->scheme.shingle.stop_words ? " with its own stop words" : "",
               twin_name_of(TWIN_NAMES_NORMAL, stored->scheme.normal));
    if (stored->scheme.multiset)
        printf("  multisets        each occurrence counts\n");
    if (stored->scheme.shingle.hash.family == TWIN_HASH_SIP)
        printf("  hash             sip, keyed\n");
    else
        printf("  hash             %s, seed %" PRIu64 "\n",
               twin_name_of(TWIN_NAMES_HASH_FAMILY, stored->scheme.shingle.hash.family),
               stored->scheme.shingle.hash.seed);
    printf("  signature        %zu hashes, %s, seed %" PRIu64 "\n", stored->scheme.minhash.slots,
           twin_name_of(TWIN_NAMES_SKETCH, stored->scheme.minhash.sketch), stored->scheme.minhash.seed);
    print_rule(stored);
    printf("  kept             %s\n", twin_name_of(TWIN_NAMES_KEEP, stored->keep));
    print_sizes(info);
    printf("  buckets          %" PRIu64 ", the largest of %" PRIu64 " sets, on average %.3f\n", info->buckets,
           info->largest_bucket, info->mean_bucket);
    printf("  runs             %" PRIu64 ", with %" PRIu64 " removed sets\n", info->runs, info->removed_sets);
    print_recall(stored);
}

static twin_status show(struct shared_options *shared, const twin_index *index, twin_index_view *view,
                        twin_error *error)
{
    twin_index_info info;
    twin_status status = twin_index_describe(&info, view, error);
    if (status != TWIN_OK)
        return status;
    twin_index_options stored = twin_index_options_of(index);
    if (shared->json)
        print_info_json(index_path(shared), &stored, &info);
    else
        print_info(index_path(shared), &stored, &info);
    return TWIN_OK;
}

static int run(void *context)
{
    return with_view(context, show);
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_info = {
    .name = "twinsift index info",
    .summary = "print parameters, counts, sizes and recall",
    .usage = "[OPTION]... FILE",
    .shared = INDEX_TAKES,
    .checked = INDEX_STORES,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "twinsift index info news.twin",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* cmd_index_ask.c — what an index is asked: query, pairs, info, check, export. */
#include "cmd_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_id(twin_text id, bool is_number)
{
    if (is_number)
        fwrite(id.bytes, 1, id.length, stdout);
    else
        escape_json(stdout, id.bytes, id.length);
}

static double threshold_of(const struct index_request *request)
{
    return index_given(request, "--threshold") ? request->common.threshold : 0;
}

/* Estimates say so. */
static void warn_estimates(const struct index_request *request, const twin_index *index)
{
    twin_index_options fixed = twin_index_options_of(index);
    if (fixed.keep == TWIN_KEEP_NONE && !request->common.quiet)
        warn("%s: keeps no sets, so similarities are estimates from %zu hashes", request->path,
             fixed.scheme.minhash.slots);
}

/* ---- query ---- */

struct asking {
    struct index_naming naming; /* first: problems are told to it */
    struct index_request *request;
    twin_index_view *view; /* for texts to show */
    uint64_t lines;
    bool failed;
};

static bool print_text(struct asking *asking, const twin_index_entry *entry)
{
    twin_text text;
    twin_error error = { 0 };
    twin_status status = twin_index_text(&text, asking->view, *entry, &error);
    if (status != TWIN_OK) {
        fail_status(asking->request->path, status, &error);
        asking->failed = true;
        return false;
    }
    if (asking->request->common.json) {
        fputs(",\"text\":", stdout);
        escape_json(stdout, text.bytes, text.length);
    } else {
        putchar('\t');
        escape_tsv(stdout, text.bytes, text.length);
    }
    return true;
}

static void print_json_match(twin_text id, bool is_number, const twin_index_answer *answer,
                             const twin_index_entry *entry)
{
    fputs("{\"query\":", stdout);
    print_id(id, is_number);
    fputs(",\"id\":", stdout);
    print_id(entry->id, entry->id_is_number);
    printf(",\"similarity\":%.4f,\"label\":%" PRIu32 ",\"time\":%" PRIu64, entry->similarity, entry->label,
           entry->time);
    if (answer->estimated)
        fputs(",\"estimated\":true", stdout);
}

static bool print_answer(void *context, twin_text id, bool is_number, const twin_index_answer *answer)
{
    struct asking *asking = context;
    bool json = asking->request->common.json;
    for (size_t i = 0; i < answer->count; i++) {
        const twin_index_entry *entry = &answer->entries[i];
        if (json)
            print_json_match(id, is_number, answer, entry);
        else {
            escape_tsv(stdout, id.bytes, id.length);
            putchar('\t');
            escape_tsv(stdout, entry->id.bytes, entry->id.length);
            printf("\t%.4f", entry->similarity);
        }
        if (asking->view && !print_text(asking, entry))
            return false;
        fputs(json ? "}\n" : "\n", stdout);
    }
    asking->lines += answer->count;
    return !ferror(stdout);
}

static twin_status ask_input(struct asking *asking, twin_index *index, twin_progress progress, twin_error *error)
{
    struct index_request *request = asking->request;
    twin_index_query_input_options wanted = {
        .question = { .threshold = threshold_of(request), .top = request->top, .per_label = request->per_label },
        .exec = request->common.exec,
        .strict = request->common.strict,
        .answer = print_answer,
        .problem = index_problem,
        .context = asking,
        .progress = progress
    };
    twin_status status = TWIN_OK;
    if (request->show)
        status = twin_index_view_create(&asking->view, index, error);
    if (status == TWIN_OK)
        status = twin_index_query_input(index, asking->naming.input, wanted, error);
    twin_index_view_free(asking->view);
    return status;
}

int index_query(struct index_request *request)
{
    twin_index *index = index_open(request, TWIN_INDEX_READ);
    if (!index)
        return EXIT_ERROR;
    twin_progress progress = progress_begin(request->common.quiet);
    twin_input *input = index_inputs(request, index, progress);
    struct asking asking = { .naming = { request, input }, .request = request };
    bool good = input != NULL;
    if (good && request->show && twin_index_options_of(index).keep != TWIN_KEEP_TEXT) {
        fail("%s: was made to keep no texts, so --show has nothing to show", request->path);
        good = false;
    }
    if (good) {
        twin_error error = { 0 };
        warn_estimates(request, index);
        twin_status status = ask_input(&asking, index, progress, &error);
        progress_end();
        index_problems_end(request);
        good = status == TWIN_OK || (status == TWIN_ESTOPPED && !asking.failed); /* main() tells of lost output */
        if (!good && !asking.failed)
            fail_status(request->path, status, &error);
    }
    progress_end();
    twin_input_free(input);
    twin_index_close(index);
    return !good ? EXIT_ERROR : asking.lines ? EXIT_DONE : EXIT_NO;
}

/* ---- pairs ---- */

static bool print_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    const struct index_request *request = context;
    if (request->common.json) {
        fputs("{\"a\":", stdout);
        print_id(a->id, a->id_is_number);
        fputs(",\"b\":", stdout);
        print_id(b->id, b->id_is_number);
        printf(",\"similarity\":%.4f}\n", similarity);
    } else {
        escape_tsv(stdout, a->id.bytes, a->id.length);
        putchar('\t');
        escape_tsv(stdout, b->id.bytes, b->id.length);
        printf("\t%.4f\n", similarity);
    }
    return !ferror(stdout);
}

int index_pairs(struct index_request *request)
{
    if (request->common.copies == TWIN_COPIES_ALL)
        return fail("--copies all is for twinsift pairs; an index tells first or none");
    twin_index *index = index_open(request, TWIN_INDEX_READ);
    if (!index)
        return EXIT_ERROR;
    twin_error error = { 0 };
    warn_estimates(request, index);
    twin_progress progress = progress_begin(request->common.quiet);
    twin_index_pairs_options options = { .threshold = threshold_of(request),
                                         .copies = request->common.copies,
                                         .exec = request->common.exec,
                                         .progress = progress };
    twin_status status = twin_index_pairs(index, options, print_pair, request, &error);
    progress_end();
    twin_index_close(index);
    return status == TWIN_OK || status == TWIN_ESTOPPED ? EXIT_DONE : fail_status(request->path, status, &error);
}

/* ---- info, check, export: all of them look at one view ---- */

typedef twin_status look(struct index_request *request, const twin_index *index, twin_index_view *view,
                         twin_error *error);

static int with_view(struct index_request *request, look *run)
{
    if (request->count)
        return fail("one index at a time; \"%s\" is too much", request->inputs[0]);
    twin_index *index = index_open(request, TWIN_INDEX_READ);
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    if (!index)
        return EXIT_ERROR;
    twin_status status = twin_index_view_create(&view, index, &error);
    if (status == TWIN_OK)
        status = run(request, index, view, &error);
    progress_end();
    twin_index_view_free(view);
    twin_index_close(index);
    return status == TWIN_OK || status == TWIN_ESTOPPED ? EXIT_DONE : fail_status(request->path, status, &error);
}

static const char *const shingle_names[] = { [TWIN_SHINGLE_CHAR] = "char",
                                             [TWIN_SHINGLE_BYTE] = "byte",
                                             [TWIN_SHINGLE_WORD] = "word",
                                             [TWIN_SHINGLE_STOP] = "stop" };
static const char *const normal_names[] = {
    [TWIN_NORMAL_FOLD] = "fold", [TWIN_NORMAL_CHECK] = "check", [TWIN_NORMAL_BYTES] = "bytes"
};

static void print_info_json(const char *path, const twin_index_options *fixed, const twin_index_info *info)
{
    bool rows = fixed->format == TWIN_INPUT_SETS, secret = fixed->scheme.shingle.hash.family == TWIN_HASH_SIP;
    fputs("{\"file\":", stdout);
    escape_json(stdout, path, strlen(path));
    printf(",\"documents\":%" PRIu64 ",\"sets\":%" PRIu64 ",\"too_short\":%" PRIu64, info->documents, info->sets,
           info->too_short);
    if (!rows)
        printf(",\"shingle\":\"%s:%zu\",\"normal\":\"%s\"", shingle_names[fixed->scheme.shingle.kind],
               fixed->scheme.shingle.width, normal_names[fixed->scheme.normal]);
    printf(",\"rows_input\":%s,\"hash\":\"%s\"", rows ? "true" : "false",
           twin_hash_family_name(fixed->scheme.shingle.hash.family));
    if (!secret)
        printf(",\"hash_seed\":%" PRIu64, fixed->scheme.shingle.hash.seed);
    printf(",\"sketch\":\"%s\",\"hashes\":%zu,\"seed\":%" PRIu64
           ",\"threshold\":%.9g,\"bands\":%zu,\"rows\":%zu,\"keep\":\"%s\"",
           twin_sketch_name(fixed->scheme.minhash.sketch), fixed->scheme.minhash.slots, fixed->scheme.minhash.seed,
           fixed->scheme.threshold, fixed->scheme.plan.bands, fixed->scheme.plan.rows, twin_keep_name(fixed->keep));
    printf(",\"bytes\":{\"file\":%" PRIu64 ",\"documents\":%" PRIu64 ",\"signatures\":%" PRIu64 ",\"bands\":%" PRIu64
           ",\"kept\":%" PRIu64 ",\"free\":%" PRIu64 "}",
           info->bytes, info->document_bytes, info->signature_bytes, info->band_bytes, info->kept_bytes,
           info->free_bytes);
    printf(",\"runs\":%" PRIu64 ",\"removed_sets\":%" PRIu64 ",\"buckets\":%" PRIu64 ",\"largest_bucket\":%" PRIu64
           ",\"mean_bucket\":%.6g,\"recall\":[",
           info->runs, info->removed_sets, info->buckets, info->largest_bucket, info->mean_bucket);
    for (int i = 0; i <= 20; i++)
        printf("%s[%.2f,%.6f]", i ? "," : "", i / 20.0, twin_plan_probability(fixed->scheme.plan, i / 20.0));
    puts("]}");
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
        printf("  %-15s  ", rows[i].name);
        print_size(rows[i].bytes);
        if (info->documents)
            printf(", %.0f bytes a document", (double)rows[i].bytes / (double)info->documents);
        printf("\n");
    }
}

static void print_info(const char *path, const twin_index_options *fixed, const twin_index_info *info)
{
    printf("%s\n", path);
    printf("  documents        %" PRIu64 ", of which %" PRIu64 " are too short to be similar\n", info->documents,
           info->too_short);
    printf("  different sets   %" PRIu64 "\n", info->sets);
    if (fixed->format == TWIN_INPUT_SETS)
        printf("  made of          rows\n");
    else
        printf("  made of          %s:%zu%s, normalised: %s\n", shingle_names[fixed->scheme.shingle.kind],
               fixed->scheme.shingle.width, fixed->scheme.shingle.stop_words ? " with its own stop words" : "",
               normal_names[fixed->scheme.normal]);
    if (fixed->scheme.shingle.hash.family == TWIN_HASH_SIP)
        printf("  hash             sip, keyed\n");
    else
        printf("  hash             %s, seed %" PRIu64 "\n", twin_hash_family_name(fixed->scheme.shingle.hash.family),
               fixed->scheme.shingle.hash.seed);
    printf("  signature        %zu hashes, %s, seed %" PRIu64 "\n", fixed->scheme.minhash.slots,
           twin_sketch_name(fixed->scheme.minhash.sketch), fixed->scheme.minhash.seed);
    printf("  threshold        %g, %zu bands of %zu rows\n", fixed->scheme.threshold, fixed->scheme.plan.bands,
           fixed->scheme.plan.rows);
    printf("  kept             %s\n", twin_keep_name(fixed->keep));
    print_sizes(info);
    printf("  buckets          %" PRIu64 ", the largest of %" PRIu64 " sets, on average %.3f\n", info->buckets,
           info->largest_bucket, info->mean_bucket);
    printf("  runs             %" PRIu64 ", with %" PRIu64 " removed sets\n", info->runs, info->removed_sets);
    printf("  recall          ");
    for (int i = 4; i <= 10; i++)
        printf(" %.4f at %.1f%s", twin_plan_probability(fixed->scheme.plan, i / 10.0), i / 10.0, i < 10 ? "," : "\n");
}

static twin_status tell_info(struct index_request *request, const twin_index *index, twin_index_view *view,
                             twin_error *error)
{
    twin_index_info info;
    twin_status status = twin_index_describe(&info, view, error);
    if (status != TWIN_OK)
        return status;
    twin_index_options fixed = twin_index_options_of(index);
    if (request->common.json)
        print_info_json(request->path, &fixed, &info);
    else
        print_info(request->path, &fixed, &info);
    return TWIN_OK;
}

int index_info(struct index_request *request)
{
    return with_view(request, tell_info);
}

static twin_status check(struct index_request *request, const twin_index *index, twin_index_view *view,
                         twin_error *error)
{
    (void)index;
    twin_index_info info = { 0 };
    twin_status status = twin_index_check(view, progress_begin(request->common.quiet), error);
    if (status == TWIN_OK)
        status = twin_index_describe(&info, view, error);
    progress_end();
    if (status == TWIN_OK && request->common.json)
        printf("{\"good\":true,\"documents\":%" PRIu64 ",\"sets\":%" PRIu64 "}\n", info.documents, info.sets);
    else if (status == TWIN_OK && !request->common.quiet)
        printf("good: %" PRIu64 " documents, %" PRIu64 " different sets\n", info.documents, info.sets);
    return status;
}

int index_check(struct index_request *request)
{
    return with_view(request, check);
}

struct exporting {
    twin_index_view *view;
    size_t slots;
    twin_status status;
    twin_error *error;
};

static bool export_entry(void *context, const twin_index_entry *entry)
{
    struct exporting *exporting = context;
    const uint32_t *signature;
    exporting->status = twin_index_signature(&signature, exporting->view, *entry, exporting->error);
    if (exporting->status != TWIN_OK)
        return false;
    fputs("{\"id\":", stdout);
    print_id(entry->id, entry->id_is_number);
    printf(",\"label\":%" PRIu32 ",\"time\":%" PRIu64 ",\"set\":%" PRIu64 ",\"size\":%" PRIu64 ",\"signature\":[",
           entry->label, entry->time, entry->set, entry->set_size);
    for (size_t i = 0; i < exporting->slots; i++)
        printf(i ? ",%" PRIu32 : "%" PRIu32, signature[i]);
    fputs("]}\n", stdout);
    return !ferror(stdout);
}

static twin_status export(struct index_request *request, const twin_index *index, twin_index_view *view,
                          twin_error *error)
{
    (void)request;
    struct exporting exporting = { view, twin_index_options_of(index).scheme.minhash.slots, TWIN_OK, error };
    twin_status status = twin_index_each(view, export_entry, &exporting, error);
    return exporting.status != TWIN_OK ? exporting.status : status;
}

int index_export(struct index_request *request)
{
    return with_view(request, export);
}

/* cmd_index.c — twinsift index: keep an index on disk. */
#include "cmd_index.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

static const char help[] =
    "twinsift index keeps a collection ready to be asked: what looks like this?\n"
    "\n"
    "usage: twinsift index create FILE [OPTION]...      make an empty index\n"
    "       twinsift index add FILE INPUT...            add documents; an id that exists is replaced\n"
    "       twinsift index remove FILE ID...            remove documents; - reads ids, one a line\n"
    "       twinsift index query FILE INPUT...          print QUERY<TAB>ID<TAB>SIMILARITY, best first\n"
    "       twinsift index pairs FILE                   print all similar pairs of the index\n"
    "       twinsift index info FILE                    tell parameters, recall, sizes, buckets\n"
    "       twinsift index check FILE                   read all of it and check that its parts agree\n"
    "       twinsift index export FILE                  print ids and signatures, one JSON object a line\n"
    "       twinsift index compact FILE                 write it anew without what was removed\n"
    "\n"
    "An INPUT is a folder, a file .jsonl, .jsonl.gz or .jsonl.zst, or - for JSON lines on standard input.\n"
    "\n"
    "create, fixed for good:\n"
    "  --keep WHAT           for exact answers sets, from which no text can be read, or text, a quarter as\n"
    "                        large, which is slower to compare and can be shown; for estimates none (sets)\n"
    "  --threshold T         the least similarity that queries will find, 0 to 1 (0.8)\n"
    "  --shingle RULE        char:N, word:N, stop:N or byte:N (char:9); --stop-words FILE\n"
    "  --raw                 take text as it is: no folding of case, white space or Unicode forms\n"
    "  --sets                the inputs will be lines of set, tab, element\n"
    "  --hashes K, --error E, --bands B, --rows R, --sketch KIND, --seed N: as for twinsift pairs\n"
    "  --hash FAMILY         xxh3, farm, jenkins, or sip with a random key kept in the file (xxh3)\n"
    "  --force               replace a file that exists\n"
    "add:\n"
    "  --batch N             documents in one transaction (20K)\n"
    "  --label N, --time N   numbers that are kept with each document (0)\n"
    "query:\n"
    "  --top N               the N most similar documents only\n"
    "  --per-label           the most similar of each label, or the N most similar of each\n"
    "  --show                the text of what was found too (--keep text)\n"
    "query, pairs:\n"
    "  --threshold T         the least similarity (that of create)\n"
    "pairs:\n"
    "  --copies WHICH        of documents with equal sets print first or none (first)\n"
    "add, query:\n"
    "  --id-field F, --text-field F, --sets=SEPARATOR, --strict: as for twinsift pairs\n"
    "all:\n"
    "  --threads N, --executor WHO\n"
    "  --json                JSON, one object a line\n"
    "  -q, --quiet           no progress and no remarks\n"
    "  -h, --help            this text\n"
    "\n"
    "Many may read an index while one writes. A batch is on the disk when it is done; a run that was\n"
    "killed, or a full disk, leaves the batches before it. FILE-lock beside the index is shared by those\n"
    "who have it open.\n"
    "\n"
    "Exit status: query: 0 found, 1 not; remove: 0 done, 1 some were not there; else 0; 2 trouble.\n"
    "\n"
    "examples:\n"
    "  twinsift index create news.twin --keep text\n"
    "  twinsift index add news.twin 2025.jsonl.zst 2026.jsonl.zst\n"
    "  twinsift index query news.twin --top 3 today.jsonl\n"
    "  echo '{\"text\":\"the text of an article\"}' | twinsift index query news.twin - && echo seen\n"
    "  twinsift index remove news.twin article-17 article-18\n";

enum { KEEP = OPTION_OWN, FORCE, TOP, PER_LABEL, SHOW, LABEL, TIME, BATCH };

static const struct option own[] = {
    { "keep", required_argument, NULL, KEEP },
    { "force", no_argument, NULL, FORCE },
    { "top", required_argument, NULL, TOP },
    { "per-label", no_argument, NULL, PER_LABEL },
    { "show", no_argument, NULL, SHOW },
    { "label", required_argument, NULL, LABEL },
    { "time", required_argument, NULL, TIME },
    { "batch", required_argument, NULL, BATCH },
    { 0 },
};

/* ---- options ---- */

static bool read_keep(twin_keep *out, const char *value)
{
    if (twin_keep_from_name(out, value) == TWIN_OK)
        return true;
    fail("--keep: \"%s\" is not one of sets, text, none", value);
    return false;
}

static bool read_option(struct index_request *out, int option, const char *value)
{
    switch (option) {
    case KEEP: return read_keep(&out->keep, value);
    case FORCE: return out->force = true;
    case TOP: return read_count(&out->top, "--top", value, 1, UINT32_MAX);
    case PER_LABEL: return out->per_label = true;
    case SHOW: return out->show = true;
    case LABEL: return read_count(&out->label, "--label", value, 0, UINT32_MAX);
    case TIME: return read_count(&out->time, "--time", value, 0, UINT64_MAX);
    case BATCH: return read_count(&out->batch, "--batch", value, 1, UINT32_MAX);
    default: return common_option(&out->common, option, value);
    }
}

static void note_given(struct index_request *request, const struct option *table, int option)
{
    for (; table->name; table++)
        if (table->val == option && request->given_count < OPTION_TABLE_ROOM)
            request->given[request->given_count++] = table->name;
}

bool index_given(const struct index_request *request, const char *name)
{
    for (size_t i = 0; i < request->given_count; i++)
        if (strcmp(request->given[i], name + 2) == 0)
            return true;
    return false;
}

/* ---- opening ---- */

/* The first option that contradicts what the file fixed; NULL when none does. */
static const char *contradiction(const struct index_request *request, const twin_index_options *fixed)
{
    const struct common_options *common = &request->common;
    const struct {
        const char *name;
        bool fits;
    } rules[] = {
        { "--shingle", common->shingle.kind == fixed->scheme.shingle.kind &&
                           common->shingle.width == fixed->scheme.shingle.width },
        { "--raw", common->normal == fixed->scheme.normal },
        { "--hash", common->family == fixed->scheme.shingle.hash.family },
        { "--seed", common->seed == fixed->scheme.minhash.seed },
        { "--sketch", common->minhash.sketch == fixed->scheme.minhash.sketch },
        { "--hashes", common->minhash.slots == fixed->scheme.minhash.slots },
        { "--error", common->minhash.slots == fixed->scheme.minhash.slots },
        { "--bands", common->bands == fixed->scheme.plan.bands },
        { "--rows", common->rows == fixed->scheme.plan.rows },
        { "--keep", request->keep == fixed->keep },
        { "--sets", fixed->format == TWIN_INPUT_SETS },
        { "--stop-words", false },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].fits && index_given(request, rules[i].name))
            return rules[i].name;
    return NULL;
}

twin_index *index_open(struct index_request *request, twin_index_access access)
{
    twin_index *index = NULL;
    twin_error error = { 0 };
    twin_status status = twin_index_open(&index, request->path, access, &error);
    if (status != TWIN_OK) {
        fail_status(request->path, status, &error);
        return NULL;
    }
    twin_index_options fixed = twin_index_options_of(index);
    const char *name = contradiction(request, &fixed);
    if (!name)
        return index;
    fail("%s: %s does not fit: it was fixed when the index was created; twinsift index info shows it", request->path,
         name);
    twin_index_close(index);
    return NULL;
}

twin_input *index_inputs(struct index_request *request, const twin_index *index, twin_progress progress)
{
    twin_input_options options = request->common.input;
    twin_input *input = NULL;
    twin_error error = { 0 };
    if (request->count == 0) {
        fail("no input; give a folder, a .jsonl file, or - for standard input");
        return NULL;
    }
    options.format = twin_index_options_of(index).format;
    options.temp_folder = temp_folder();
    options.progress = progress;
    twin_status status = twin_input_open(&input, request->inputs, request->count, options, &error);
    if (status != TWIN_OK)
        fail_status("the input", status, &error);
    return input;
}

/* Bad documents are named, but a file of another kind must not fill the screen. */
enum { MOST_NAMED = 20 };

void index_problem(void *context, const twin_problem *problem)
{
    struct index_naming *naming = context;
    if (naming->request->problems++ < MOST_NAMED)
        warn_problem(naming->input, problem);
}

void index_problems_end(const struct index_request *request)
{
    if (request->problems > MOST_NAMED)
        warn("%" PRIu64 " more documents were skipped", request->problems - MOST_NAMED);
}

/* ---- create ---- */

/* Without a seed the key is secret. */
static bool draw_key(struct index_request *request)
{
    uint64_t *key = request->common.shingle.hash.key;
    if (request->common.family != TWIN_HASH_SIP || index_given(request, "--seed"))
        return true;
    if (getrandom(key, 2 * sizeof *key, 0) == (ssize_t)(2 * sizeof *key))
        return true;
    fail("no random key could be drawn: %s", strerror(errno));
    return false;
}

static bool load_stop_words(struct index_request *request, struct word_list *list)
{
    if (!request->common.stop_words)
        return true;
    if (!word_list_read(list, request->common.stop_words))
        return false;
    request->common.shingle.stop_words = list->words;
    request->common.shingle.stop_word_count = list->count;
    return true;
}

static int create(struct index_request *request)
{
    struct common_options *common = &request->common;
    struct word_list stop_words = { 0 };
    twin_error error = { 0 };
    int result = EXIT_ERROR;
    if (request->count)
        return fail("create makes one index: twinsift index create FILE");
    if (load_stop_words(request, &stop_words) && draw_key(request)) {
        twin_index_options options = { .format = common->input.format,
                                       .scheme.normal = common->normal,
                                       .scheme.shingle = common->shingle,
                                       .scheme.minhash = common->minhash,
                                       .scheme.threshold = common->threshold,
                                       .scheme.plan = { common->bands, common->rows },
                                       .keep = request->keep };
        twin_status status = twin_index_create(request->path, options, request->force, &error);
        if (status == TWIN_OK)
            result = EXIT_DONE;
        else if (status == TWIN_EINVAL && !request->force && strstr(error.message, "exists already"))
            fail("%s; --force replaces it", error.message);
        else
            fail_status(request->path, status, &error);
    }
    word_list_clear(&stop_words);
    return result;
}

/* ---- add, remove, compact ---- */

static void tell_change(const struct index_request *request, const twin_index_change *change)
{
    if (request->common.json)
        printf("{\"added\":%" PRIu64 ",\"replaced\":%" PRIu64 ",\"removed\":%" PRIu64 ",\"too_short\":%" PRIu64
               ",\"skipped\":%" PRIu64 ",\"batches\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n",
               change->added, change->replaced, change->removed, change->too_short, change->problems, change->batches,
               change->bytes);
    else if (!request->common.quiet)
        fprintf(stderr, "%" PRIu64 " added, %" PRIu64 " replaced, %" PRIu64 " removed\n", change->added,
                change->replaced, change->removed);
    if (change->too_short && !request->common.quiet)
        warn("%" PRIu64 " documents are too short for a shingle and will never be similar", change->too_short);
    if (change->repaired && !request->common.quiet)
        warn("%" PRIu64 " stretches of bytes that are not UTF-8 were replaced by U+FFFD", change->repaired);
}

static int add(struct index_request *request)
{
    twin_index *index = index_open(request, TWIN_INDEX_WRITE);
    if (!index)
        return EXIT_ERROR;
    twin_progress progress = progress_begin(request->common.quiet);
    twin_input *input = index_inputs(request, index, progress);
    struct index_naming naming = { request, input };
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    twin_status status = TWIN_EINVAL;
    if (input) {
        twin_index_add_options feed = { .exec = request->common.exec,
                                        .batch_documents = request->batch,
                                        .label = (uint32_t)request->label,
                                        .time = request->time,
                                        .strict = request->common.strict,
                                        .problem = index_problem,
                                        .context = &naming,
                                        .progress = progress };
        status = twin_index_add_input(&change, index, input, feed, &error);
        progress_end();
        index_problems_end(request);
        if (status != TWIN_OK)
            fail_status(request->path, status, &error);
        if (status == TWIN_OK || change.batches)
            tell_change(request, &change);
    }
    progress_end();
    twin_input_free(input);
    twin_index_close(index);
    return status == TWIN_OK ? EXIT_DONE : EXIT_ERROR;
}

/* The ids behind the index, or one a line on standard input. */
static bool list_ids(struct word_list *out, struct index_request *request)
{
    if (request->count == 1 && strcmp(request->inputs[0], "-") == 0)
        return word_list_read(out, "/dev/stdin");
    out->count = request->count;
    out->words = malloc((request->count + 1) * sizeof *out->words);
    if (!out->words) {
        fail("out of memory");
        return false;
    }
    for (size_t i = 0; i < request->count; i++)
        out->words[i] = (twin_text){ request->inputs[i], strlen(request->inputs[i]) };
    return true;
}

static int remove_ids(struct index_request *request)
{
    struct word_list ids = { 0 };
    int result = EXIT_ERROR;
    if (request->count == 0)
        return fail("remove what? twinsift index remove FILE ID...");
    twin_index *index = index_open(request, TWIN_INDEX_WRITE);
    bool *found = NULL;
    if (index && list_ids(&ids, request)) {
        twin_index_change change = { 0 };
        twin_error error = { 0 };
        found = calloc(ids.count + 1, sizeof *found);
        twin_status status =
            found ? twin_index_remove(found, &change, index, ids.words, ids.count, &error) : TWIN_ENOMEM;
        if (status == TWIN_OK) {
            for (size_t i = 0, named = 0; i < ids.count && !request->common.quiet; i++)
                if (!found[i] && named++ < MOST_NAMED)
                    warn("\"%.*s\" is not there", ids.words[i].length < 200 ? (int)ids.words[i].length : 200,
                         ids.words[i].bytes);
            tell_change(request, &change);
            result = change.removed == ids.count ? EXIT_DONE : EXIT_NO;
        } else
            fail_status(request->path, status, &error);
    }
    twin_index_close(index);
    free(found);
    word_list_clear(&ids);
    return result;
}

static int compact(struct index_request *request)
{
    struct stat before, after;
    twin_error error = { 0 };
    bool known = stat(request->path, &before) == 0;
    twin_status status = twin_index_compact(request->path, &error);
    if (status != TWIN_OK)
        return fail_status(request->path, status, &error);
    known = known && stat(request->path, &after) == 0;
    if (known && request->common.json)
        printf("{\"before\":%lld,\"after\":%lld}\n", (long long)before.st_size, (long long)after.st_size);
    else if (known && !request->common.quiet)
        fprintf(stderr, "%.1f MB became %.1f MB\n", (double)before.st_size / 1e6, (double)after.st_size / 1e6);
    return EXIT_DONE;
}

/* ---- the commands ---- */

#define FIXED "shingle raw stop-words sets hashes error bands rows hash sketch seed keep"
#define INPUT "sets id-field text-field strict"
#define ALL "threads executor json quiet help"

static const struct {
    const char *name, *full_name;
    int (*run)(struct index_request *request);
    const char *options; /* that have something to do */
} verbs[] = {
    { "create", "twinsift index create", create, FIXED " threshold force " ALL },
    { "add", "twinsift index add", add, FIXED " " INPUT " batch label time " ALL },
    { "remove", "twinsift index remove", remove_ids, FIXED " " ALL },
    { "query", "twinsift index query", index_query, FIXED " " INPUT " top per-label show threshold " ALL },
    { "pairs", "twinsift index pairs", index_pairs, FIXED " threshold copies " ALL },
    { "info", "twinsift index info", index_info, FIXED " " ALL },
    { "check", "twinsift index check", index_check, FIXED " " ALL },
    { "export", "twinsift index export", index_export, FIXED " " ALL },
    { "compact", "twinsift index compact", compact, ALL },
};

static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static int run_verb(struct index_request *request, size_t verb)
{
    messages_from(verbs[verb].full_name);
    for (size_t i = 0; i < request->given_count; i++)
        if (!is_among(verbs[verb].options, request->given[i]))
            return fail("--%s has nothing to do here; --help tells more", request->given[i]);
    if (!request->path)
        return fail("which file? --help tells more");
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error, not the end */
    return verbs[verb].run(request);
}

int cmd_index(int argc, char **argv)
{
    struct index_request request = { .common = common_defaults() };
    struct option table[OPTION_TABLE_ROOM];
    join_options(table, own);
    for (int option; (option = next_option(argc, argv, table)) != -1;) {
        if (option == OPTION_HELP)
            return fputs(help, stdout), EXIT_DONE;
        if (!read_option(&request, option, optarg))
            return EXIT_ERROR;
        note_given(&request, table, option);
    }
    if (!common_finish(&request.common))
        return EXIT_ERROR;
    if (optind == argc)
        return fail("do what? create, add, remove, query, pairs, info, check, export or compact; --help tells more");
    const char *verb = argv[optind];
    request.path = optind + 1 < argc ? argv[optind + 1] : NULL;
    request.inputs = (const char *const *)argv + optind + 2;
    request.count = optind + 2 < argc ? (size_t)(argc - optind - 2) : 0;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verb, verbs[i].name) == 0)
            return run_verb(&request, i);
    return fail("there is no \"%s\"; it is create, add, remove, query, pairs, info, check, export or compact", verb);
}

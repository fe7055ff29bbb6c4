/* shared_options.c — the options that pairs, dedup and index share. */
#include "shared_options.h"

#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = OPTION_COMMON,
    EXECUTOR,
    SEED,
    SHINGLE,
    HASHES,
    ERROR,
    THRESHOLD,
    BANDS,
    ROWS,
    BUCKETS,
    METHOD,
    TOP,
    HASH,
    MEASURE,
    MAX_EDITS,
    VERIFY,
    SKETCH,
    JSON,
    STATS,
    AUDIT,
    COPIES,
    ID_FIELD,
    TEXT_FIELD,
    SETS,
    RAW,
    STRICT,
    STOP_WORDS,
};

const struct option common_table[] = {
    { "threads", required_argument, NULL, THREADS },
    { "executor", required_argument, NULL, EXECUTOR },
    { "seed", required_argument, NULL, SEED },
    { "shingle", required_argument, NULL, SHINGLE },
    { "hashes", required_argument, NULL, HASHES },
    { "error", required_argument, NULL, ERROR },
    { "threshold", required_argument, NULL, THRESHOLD },
    { "bands", required_argument, NULL, BANDS },
    { "rows", required_argument, NULL, ROWS },
    { "buckets", required_argument, NULL, BUCKETS },
    { "method", required_argument, NULL, METHOD },
    { "top", required_argument, NULL, TOP },
    { "hash", required_argument, NULL, HASH },
    { "measure", required_argument, NULL, MEASURE },
    { "max-edits", required_argument, NULL, MAX_EDITS },
    { "verify", required_argument, NULL, VERIFY },
    { "sketch", required_argument, NULL, SKETCH },
    { "json", no_argument, NULL, JSON },
    { "quiet", no_argument, NULL, 'q' },
    { "stats", no_argument, NULL, STATS },
    { "audit", required_argument, NULL, AUDIT },
    { "copies", required_argument, NULL, COPIES },
    { "id-field", required_argument, NULL, ID_FIELD },
    { "text-field", required_argument, NULL, TEXT_FIELD },
    { "sets", optional_argument, NULL, SETS },
    { "raw", no_argument, NULL, RAW },
    { "strict", no_argument, NULL, STRICT },
    { "stop-words", required_argument, NULL, STOP_WORDS },
    { "help", no_argument, NULL, OPTION_HELP },
    { 0 },
};

const char common_help[] =
    "what a document is:\n"
    "  --id-field F          the field of a JSON line that names the document (id)\n"
    "  --text-field F        the field that holds its text (text)\n"
    "  --sets[=SEPARATOR]    the input is lines of set, separator, element; a tab unless given\n"
    "  --raw                 take text as it is: no folding of case, white space or Unicode forms\n"
    "  --shingle RULE        char:N, word:N, stop:N or byte:N (char:9)\n"
    "  --stop-words FILE     the words that stop:N starts at; a hundred English ones unless given\n"
    "  --strict              end at the first bad document instead of skipping it\n"
    "\n"
    "what is similar:\n"
    "  --threshold T         the least similarity, 0 to 1 (0.8)\n"
    "  --measure M           jaccard; containment, of the smaller in the larger; or edit, the share of\n"
    "                        characters that are in both in the same order (jaccard)\n"
    "  --max-edits N         with --measure edit: at most N characters inserted, deleted or replaced\n"
    "  --verify HOW          exact, estimate or none (exact)\n"
    "  --top M               of each document only its M most similar; with --method forest (10)\n"
    "  --copies WHICH        of documents with equal sets print first, all or none (first)\n"
    "\n"
    "how it is searched:\n"
    "  --hashes K            the slots of a signature (128), or\n"
    "  --error E             the error of an estimate, for K = 1/E\302\262 of them\n"
    "  --method HOW          bands, for all pairs, or forest, for the best of each document (bands)\n"
    "  --bands B --rows R    overrule the plan that follows from the threshold; one gives the other\n"
    "  --buckets N           fold band hashes into so many buckets\n"
    "  --hash FAMILY         xxh3, farm, jenkins or sip (xxh3)\n"
    "  --sketch KIND         fast or classic (fast)\n"
    "  --seed N              one seed gives one answer, on every machine (1)\n"
    "  --threads N           workers (one for each processor)\n"
    "  --executor WHO        serial, pthreads or openmp (pthreads)\n"
    "\n"
    "what is told:\n"
    "  --json                one JSON object a line\n"
    "  --audit N             compare N documents with all others and tell the recall of the run\n"
    "  --stats               tell counts, seconds and memory at the end\n"
    "  -q, --quiet           no progress and no remarks\n"
    "  -h, --help            this text\n";

void join_options(struct option out[OPTION_TABLE_ROOM], const struct option *own)
{
    size_t count = 0;
    for (; own->name && count < OPTION_TABLE_ROOM - 1; own++)
        out[count++] = *own;
    for (const struct option *row = common_table; row->name && count < OPTION_TABLE_ROOM - 1; row++)
        out[count++] = *row;
    out[count] = (struct option){ 0 };
}

struct common_options common_defaults(void)
{
    return (struct common_options){
        .executor = TWIN_EXEC_PTHREADS,
        .seed = 1,
        .shingle = { .kind = TWIN_SHINGLE_CHAR, .width = 9 },
        .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = 128 },
        .threshold = 0.8,
        .max_edits = TWIN_EDIT_FAR,
    };
}

/* The best there can be of one document; and how many when nobody says. */
enum { MOST_TOP = 1000000, DEFAULT_TOP = 10 };

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool read_size(size_t *out, const char *name, const char *value, uint64_t most)
{
    uint64_t number;
    if (!read_count(&number, name, value, 1, most))
        return false;
    *out = (size_t)number;
    return true;
}

static bool read_buckets(uint32_t *out, const char *value)
{
    uint64_t number;
    if (!read_count(&number, "--buckets", value, 1, UINT32_MAX))
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool read_threads(int *out, const char *value)
{
    uint64_t number;
    if (!read_count(&number, "--threads", value, 1, TWIN_EXEC_MAX_WORKERS))
        return false;
    *out = (int)number;
    return true;
}

static bool read_executor(twin_executor *out, const char *value)
{
    if (twin_executor_from_name(out, value) == TWIN_OK)
        return true;
    fail("--executor: \"%s\" is not one of serial, pthreads, openmp", value);
    return false;
}

static bool read_hash(twin_hash_family *out, const char *value)
{
    if (twin_hash_family_from_name(out, value) != TWIN_OK) {
        fail("--hash: \"%s\" is not one of xxh3, farm, jenkins, sip", value);
        return false;
    }
    twin_status status = twin_hash_available(*out);
    if (status != TWIN_OK)
        fail("--hash: %s", twin_error_last(status));
    return status == TWIN_OK;
}

static bool read_sketch(twin_sketch *out, const char *value)
{
    if (twin_sketch_from_name(out, value) == TWIN_OK)
        return true;
    fail("--sketch: \"%s\" is not one of fast, classic", value);
    return false;
}

static bool read_shingle(struct common_options *common, const char *value)
{
    common->shingle_given = true;
    if (twin_shingle_parse(&common->shingle, value) == TWIN_OK)
        return true;
    fail("--shingle: \"%s\" is not char:N, word:N, stop:N or byte:N with N from 1 to %d", value,
         (int)TWIN_SHINGLE_MAX_WIDTH);
    return false;
}

static bool read_verify(twin_verify *out, const char *value)
{
    static const char *const names[] = {
        [TWIN_VERIFY_EXACT] = "exact", [TWIN_VERIFY_ESTIMATE] = "estimate", [TWIN_VERIFY_NONE] = "none"
    };
    size_t choice;
    if (!read_choice(&choice, "--verify", value, names, LENGTH(names)))
        return false;
    *out = (twin_verify)choice;
    return true;
}

static bool read_copies(twin_copies *out, const char *value)
{
    static const char *const names[] = {
        [TWIN_COPIES_FIRST] = "first", [TWIN_COPIES_ALL] = "all", [TWIN_COPIES_NONE] = "none"
    };
    size_t choice;
    if (!read_choice(&choice, "--copies", value, names, LENGTH(names)))
        return false;
    *out = (twin_copies)choice;
    return true;
}

static bool read_method(struct common_options *common, const char *value)
{
    static const char *const names[] = { [TWIN_METHOD_BANDS] = "bands", [TWIN_METHOD_FOREST] = "forest" };
    size_t choice;
    if (!read_choice(&choice, "--method", value, names, LENGTH(names)))
        return false;
    common->method = (twin_method)choice;
    return common->method_given = true;
}

static bool read_measure(struct common_options *common, const char *value)
{
    static const char *const names[] = { [TWIN_JACCARD] = "jaccard", [TWIN_CONTAINMENT] = "containment", "edit" };
    size_t choice;
    if (!read_choice(&choice, "--measure", value, names, LENGTH(names)))
        return false;
    common->edit = choice > TWIN_CONTAINMENT;
    common->measure = common->edit ? TWIN_JACCARD : (twin_measure)choice;
    return true;
}

static bool read_edits(size_t *out, const char *value)
{
    uint64_t number;
    if (!read_count(&number, "--max-edits", value, 0, TWIN_EDIT_MAX_LENGTH))
        return false;
    *out = (size_t)number;
    return true;
}

/* The error whose slots are the most there can be is 1/256. */
static bool read_error(double *out, const char *value)
{
    if (!read_fraction(out, "--error", value))
        return false;
    size_t slots = twin_plan_slots(*out);
    if (slots > 0 && slots <= TWIN_MINHASH_MAX_SLOTS)
        return true;
    fail("--error: %s would need more than %d hashes; the least error is 1/256", value, (int)TWIN_MINHASH_MAX_SLOTS);
    return false;
}

static bool read_sets(twin_input_options *out, const char *value)
{
    out->format = TWIN_INPUT_SETS;
    if (value && strcmp(value, "\\t") == 0)
        value = "\t";
    out->separator = value ? value[0] : '\t';
    if (!value || (strlen(value) == 1 && value[0] != '\n'))
        return true;
    fail("--sets: \"%s\" is not a single byte to part a set from its element", value);
    return false;
}

/* The name of a `what`. */
static bool read_name(const char **out, const char *name, const char *value, const char *what)
{
    *out = value;
    if (*value)
        return true;
    fail("%s: a %s needs a name", name, what);
    return false;
}

bool common_option(struct common_options *common, int option, const char *value)
{
    switch (option) {
    case THREADS: return read_threads(&common->threads, value);
    case EXECUTOR: return read_executor(&common->executor, value);
    case SEED: return read_seed(&common->seed, "--seed", value);
    case SHINGLE: return read_shingle(common, value);
    case HASHES: return read_count(&common->hashes, "--hashes", value, 1, TWIN_MINHASH_MAX_SLOTS);
    case ERROR: return read_error(&common->error, value);
    case THRESHOLD: common->threshold_given = true; return read_fraction(&common->threshold, "--threshold", value);
    case BANDS: return read_size(&common->bands, "--bands", value, TWIN_MINHASH_MAX_SLOTS);
    case ROWS: return read_size(&common->rows, "--rows", value, TWIN_MINHASH_MAX_SLOTS);
    case BUCKETS: return read_buckets(&common->buckets, value);
    case METHOD: return read_method(common, value);
    case TOP: return read_count(&common->top, "--top", value, 1, MOST_TOP);
    case HASH: return read_hash(&common->family, value);
    case MAX_EDITS: return read_edits(&common->max_edits, value);
    case MEASURE: return read_measure(common, value);
    case VERIFY: return read_verify(&common->verify, value);
    case SKETCH: return read_sketch(&common->minhash.sketch, value);
    case JSON: return common->json = true;
    case 'q': return common->quiet = true;
    case STATS: return common->stats = true;
    case AUDIT: return read_count(&common->audit, "--audit", value, 1, UINT32_MAX);
    case COPIES: return read_copies(&common->copies, value);
    case ID_FIELD: return read_name(&common->input.id_field, "--id-field", value, "field");
    case TEXT_FIELD: return read_name(&common->input.text_field, "--text-field", value, "field");
    case SETS: return read_sets(&common->input, value);
    case RAW: common->normal = TWIN_NORMAL_CHECK; return true;
    case STRICT: return common->strict = true;
    case STOP_WORDS: return read_name(&common->stop_words, "--stop-words", value, "file");
    default: return false; /* next_option() has told */
    }
}

/* The same for edits, which are counted on texts and found through a forest. */
static const char *edit_contradiction(const struct common_options *common)
{
    if (!common->edit)
        return common->max_edits != TWIN_EDIT_FAR ? "--max-edits needs --measure edit" : NULL;
    if (common->input.format == TWIN_INPUT_SETS)
        return "--sets: edit distance needs texts, so --measure edit cannot be used";
    if (common->verify != TWIN_VERIFY_EXACT)
        return "--measure edit needs --verify exact, for signatures estimate Jaccard similarity only";
    if (common->top || (common->method_given && common->method == TWIN_METHOD_BANDS))
        return "--measure edit finds all pairs, through a forest: --method bands and --top cannot be used";
    if (common->bands || common->rows || common->buckets)
        return "--measure edit searches a forest, so --bands, --rows and --buckets have nothing to do";
    if (common->shingle_given && common->shingle.kind != TWIN_SHINGLE_CHAR)
        return "--measure edit counts characters, so --shingle must be char:N";
    return NULL;
}

/* The same for a forest of sets. */
static const char *forest_contradiction(const struct common_options *common)
{
    bool forest = common->method == TWIN_METHOD_FOREST;
    if (common->edit)
        return NULL;
    if (common->top && !forest)
        return "--top needs --method forest, for bands find all pairs";
    if (forest && common->measure != TWIN_JACCARD)
        return "--method forest needs --measure jaccard, for a forest finds those with the most equal slots";
    if (forest && common->buckets)
        return "--method forest has no buckets, so --buckets has nothing to do";
    return NULL;
}

/* The first contradiction among the options as a sentence; NULL when there is none. */
static const char *contradiction(const struct common_options *common)
{
    const char *sentence;
    bool sets = common->input.format == TWIN_INPUT_SETS;
    if (common->hashes && common->error > 0)
        return "--hashes and --error exclude each other, for either gives the other";
    if (sets && (common->shingle_given || common->stop_words))
        return "--sets: the rows are sets already, so --shingle and --stop-words have nothing to do";
    if (sets && (common->input.id_field || common->input.text_field))
        return "--sets: rows have no fields, so --id-field and --text-field have nothing to do";
    if (common->measure == TWIN_CONTAINMENT && common->verify != TWIN_VERIFY_EXACT)
        return "--measure containment needs --verify exact, for signatures estimate Jaccard similarity only";
    if (common->audit && common->verify == TWIN_VERIFY_NONE)
        return "--audit asks which pairs reach the threshold, so --verify none cannot be used";
    if (!(common->threshold > 0))
        return "--threshold 0 would make every pair similar; give one above 0";
    if (common->stop_words && common->shingle.kind != TWIN_SHINGLE_STOP)
        return "--stop-words needs --shingle stop:N";
    sentence = edit_contradiction(common);
    return sentence ? sentence : forest_contradiction(common);
}

/* --hashes, or what --error asks, or what --bands and --rows need, or the default. One of --bands and --rows gives
 * the other, as far as the hashes go. */
static bool choose_slots(struct common_options *common)
{
    size_t banded = common->bands * common->rows;
    if (common->hashes)
        common->minhash.slots = (size_t)common->hashes;
    else if (common->error > 0)
        common->minhash.slots = twin_plan_slots(common->error);
    else if (banded > common->minhash.slots && banded <= TWIN_MINHASH_MAX_SLOTS)
        common->minhash.slots = banded;
    if (common->rows && !common->bands)
        common->bands = common->minhash.slots / common->rows;
    else if (common->bands && !common->rows)
        common->rows = common->minhash.slots / common->bands;
    if ((common->rows || common->bands) && !(common->rows && common->bands)) {
        fail("%zu %s do not fit into %zu hashes", common->rows ? common->rows : common->bands,
             common->rows ? "rows" : "bands", common->minhash.slots);
        return false;
    }
    if (banded <= common->minhash.slots)
        return true;
    bool by_choice = common->hashes || common->error > 0;
    fail("%zu bands of %zu rows need %zu hashes, but a signature has %s%zu", common->bands, common->rows, banded,
         by_choice ? "" : "at most ", by_choice ? common->minhash.slots : (size_t)TWIN_MINHASH_MAX_SLOTS);
    return false;
}

bool common_finish(struct common_options *common)
{
    const char *sentence = contradiction(common);
    if (sentence) {
        fail("%s", sentence);
        return false;
    }
    if (!choose_slots(common))
        return false;
    if (twin_exec_make(&common->exec, common->executor, common->threads) != TWIN_OK) {
        fail("--executor: %s is not in this build", twin_executor_name(common->executor));
        return false;
    }
    if (common->normal == TWIN_NORMAL_CHECK && common->shingle.kind == TWIN_SHINGLE_BYTE)
        common->normal = TWIN_NORMAL_BYTES;
    if (common->method == TWIN_METHOD_FOREST && !common->edit && common->top == 0)
        common->top = DEFAULT_TOP;
    common->minhash.seed = common->seed;
    common->shingle.hash = twin_hash_member(common->family, common->seed);
    return true;
}

void print_size(uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double size = (double)bytes;
    size_t power = 0;
    for (; size >= 1024; power++)
        size /= 1024;
    printf("%.*f %s", power ? 2 : 0, size, units[power]);
}

const char *temp_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : NULL;
}

void warn_problem(const twin_input *input, const twin_problem *problem)
{
    twin_buffer position = { 0 };
    const char *what = twin_input_format_of(input) == TWIN_INPUT_SETS ? "row" : "document";
    if (twin_input_describe(&position, input, problem->position, problem->column) == TWIN_OK)
        warn("%s: %s; the %s is skipped", position.bytes, problem->message, what);
    twin_buffer_clear(&position);
}

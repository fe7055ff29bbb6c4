/* search_options.c — from options to a scheme. */
#include "search_options.h"

#include "keys.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>

/* The first contradiction among the options as a sentence; NULL when there is none. */
static const char *contradiction(const struct shared_options *shared)
{
    bool sets = shared->input.format == TWIN_INPUT_SETS;
    bool shingle = option_given(&shared->base, "shingle");
    if (shared->hashes && shared->error > 0)
        return "--hashes and --error exclude each other: each determines the other";
    if (sets && (shingle || shared->stop_words))
        return "--sets: the input consists of sets already, so --shingle and --stop-words do not apply";
    if (sets && (shared->input.id_field || shared->input.text_field))
        return "--sets: lines of sets have no fields, so --id-field and --text-field do not apply";
    if (sets && option_given(&shared->base, "id-from"))
        return "--sets: lines name their sets, so --id-from does not apply";
    if (option_given(&shared->base, "threshold") && !(shared->scheme.threshold > 0))
        return "--threshold 0 would make every pair similar; give one above 0";
    if (shared->key_file && option_given(&shared->base, "seed"))
        return "--key-file and --seed exclude each other";
    if (shared->key_file && option_given(&shared->base, "hash") &&
        shared->scheme.shingle.hash.family != TWIN_HASH_SIP)
        return "--key-file needs --hash sip";
    if (shared->stop_words && shared->scheme.shingle.kind != TWIN_SHINGLE_STOP)
        return "--stop-words needs --shingle stop:N";
    return NULL;
}

/* The slots are those of --hashes, or what --error needs, or what --bands and --rows need, or the default. One of
 * --bands and --rows gives the other, as far as the hashes go. */
static bool choose_slots(struct shared_options *shared)
{
    twin_plan *plan = &shared->scheme.plan;
    size_t banded = plan->bands * plan->rows, *slots = &shared->scheme.minhash.slots;
    if (shared->hashes)
        *slots = (size_t)shared->hashes;
    else if (shared->error > 0)
        *slots = twin_plan_slots(shared->error);
    else if (banded > *slots && banded <= TWIN_MINHASH_MAX_SLOTS)
        *slots = banded;
    if (plan->rows && !plan->bands)
        plan->bands = *slots / plan->rows;
    else if (plan->bands && !plan->rows)
        plan->rows = *slots / plan->bands;
    if ((plan->rows || plan->bands) && !(plan->rows && plan->bands))
        return refuse("%zu %s do not fit into %zu hashes", plan->rows ? plan->rows : plan->bands,
                      plan->rows ? "rows" : "bands", *slots);
    if (banded <= *slots)
        return true;
    bool by_choice = shared->hashes || shared->error > 0;
    return refuse("%zu bands of %zu rows need %zu hashes, but a signature has %s%zu", plan->bands, plan->rows, banded,
                  by_choice ? "" : "at most ", by_choice ? *slots : (size_t)TWIN_MINHASH_MAX_SLOTS);
}

/* Everything random follows from the seed, or from the key. */
static bool choose_hash(struct shared_options *shared)
{
    uint64_t key[2];
    twin_scheme_seed(&shared->scheme, shared->scheme.minhash.seed);
    if (!shared->key_file)
        return true;
    if (!read_key(key, shared->key_file))
        return false;
    twin_scheme_key(&shared->scheme, key);
    return true;
}

bool search_options_finish(struct shared_options *shared)
{
    twin_scheme *scheme = &shared->scheme;
    const char *sentence = contradiction(shared);
    if (sentence)
        return refuse("%s", sentence);
    if (!choose_slots(shared))
        return false;
    scheme->multiset |= shared->input.weights;
    if (scheme->normal == TWIN_NORMAL_CHECK && scheme->shingle.kind == TWIN_SHINGLE_BYTE)
        scheme->normal = TWIN_NORMAL_BYTES; /* bytes are bytes, UTF-8 or not */
    return choose_hash(shared);
}

/* Containment is found without signatures. A few slots remain: those of similar documents are compared by what most
 * of them have, and slots show which are. */
static void leave_bands(twin_scheme *scheme, const struct shared_options *shared)
{
    enum { FEW_SLOTS = 16 };
    static const char *const idle[] = { "bands", "rows", "hashes", "error" };
    for (size_t i = 0; i < sizeof idle / sizeof idle[0] && !shared->quiet; i++)
        if (option_given(&shared->base, idle[i]))
            warn("--%s has no effect: containment is found without signatures, and no pair is missed", idle[i]);
    scheme->minhash.slots = FEW_SLOTS;
    scheme->plan = (twin_plan){ 0 };
}

static void warn_missed(const twin_scheme *scheme, const struct shared_options *shared)
{
    double recall = twin_plan_probability(scheme->plan, scheme->threshold);
    bool by_choice = shared->scheme.plan.bands > 0; /* --bands or --rows, each of which gives the other */
    if (recall >= TWIN_SCHEME_RECALL || shared->quiet)
        return;
    if (by_choice)
        warn("%zu bands of %zu rows find a pair at the threshold with probability %.4f only", scheme->plan.bands,
             scheme->plan.rows, recall);
    else
        warn("%zu hash%s a pair at the threshold with probability %.4f, unless it is in a large group, which is "
             "searched without them; more --hashes would raise it, and --audit measures what is found",
             scheme->minhash.slots, scheme->minhash.slots == 1 ? " finds" : "es find", recall);
}

bool complete_scheme(twin_scheme *out, const struct shared_options *shared, twin_measure measure)
{
    twin_error error = { 0 };
    *out = shared->scheme;
    out->measure = measure;
    bool is_planned = !shared->hashes && !(shared->error > 0) && !shared->scheme.plan.bands;
    if (measure == TWIN_CONTAINMENT)
        leave_bands(out, shared);
    else if (is_planned)
        out->minhash.slots = 0; /* as many as the threshold needs */
    twin_status status = twin_scheme_complete(out, &error);
    if (status != TWIN_OK)
        return refuse_status("the options", status, &error);
    if (measure == TWIN_JACCARD)
        warn_missed(out, shared);
    return true;
}

const char *edit_contradiction(const struct shared_options *shared)
{
    const twin_scheme *scheme = &shared->scheme;
    if (shared->input.format == TWIN_INPUT_SETS)
        return "--sets: edit distance needs texts, so --measure edit cannot be used";
    if (scheme->multiset)
        return "--measure edit compares texts, so --multiset does not apply";
    if (scheme->plan.bands || scheme->plan.rows)
        return "--measure edit searches a forest, so --bands, --rows and --buckets do not apply";
    if (option_given(&shared->base, "shingle") && scheme->shingle.kind != TWIN_SHINGLE_CHAR)
        return "--measure edit counts characters, so --shingle must be char:N";
    return NULL;
}

twin_edit_join_options edit_join_options(const struct shared_options *shared, const twin_scheme *scheme,
                                         size_t max_edits)
{
    bool by_ratio = option_given(&shared->base, "threshold") || max_edits == TWIN_EDIT_FAR;
    return (twin_edit_join_options){ .ratio = by_ratio ? scheme->threshold : 0,
                                     .limit_edits = max_edits != TWIN_EDIT_FAR,
                                     .edits = max_edits,
                                     .grams = option_given(&shared->base, "shingle") ? scheme->shingle.width : 0,
                                     .minhash = scheme->minhash };
}

bool load_stop_words(struct shared_options *shared, struct word_list *list)
{
    *list = (struct word_list){ 0 };
    if (!shared->stop_words)
        return true;
    if (!word_list_read(list, shared->stop_words))
        return false;
    shared->scheme.shingle.stop_words = list->words;
    shared->scheme.shingle.stop_word_count = list->count;
    return true;
}

/* ---- which documents are kept, and what part of the work is done */

/* The words that need no field, and their rules. */
static const char words[] = "first last longest shortest";
static const twin_preference rules[] = { TWIN_PREFER_FIRST, TWIN_PREFER_LAST, TWIN_PREFER_LONGEST,
                                         TWIN_PREFER_SHORTEST };

/* One of these, FIELD:max or FIELD:min. */
static bool read_keep(void *value, const struct option_row *row, const char *text)
{
    struct keep *keep = value;
    int number = word_number(words, text);
    const char *colon = strrchr(text, ':');
    bool most = colon && strcmp(colon, ":max") == 0, least = colon && strcmp(colon, ":min") == 0;
    *keep = (struct keep){ number >= 0 ? rules[number] : most ? TWIN_PREFER_MOST : TWIN_PREFER_LEAST, "" };
    if (number >= 0)
        return true;
    if ((most || least) && colon > text && (size_t)(colon - text) < KEEP_FIELD_ROOM) {
        memcpy(keep->field, text, (size_t)(colon - text));
        return true;
    }
    return refuse("--%s: \"%s\" is not first, last, longest, shortest, FIELD:max or FIELD:min", row->name, text);
}

static void show_keep(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i] == ((const struct keep *)value)->rule)
            word_at(out, words, i);
}

const struct option_kind option_keep = { read_keep, show_keep };

twin_dedup_options keep_rule(const struct keep *keep, bool chain, twin_similar_options search)
{
    return (twin_dedup_options){
        .search = search, .preference = keep->rule, .field = *keep->field ? keep->field : NULL, .chain = chain
    };
}

enum { MOST_PARTS = 100000 };

/* A number from 1 to MOST_PARTS that ends at `stop`. */
static bool scan_part(uint32_t *out, const char **at, char stop)
{
    char *end;
    unsigned long number = strtoul(*at, &end, 10);
    bool good = **at >= '0' && **at <= '9' && *end == stop && number >= 1 && number <= MOST_PARTS;
    *out = (uint32_t)number;
    *at = end + (stop != 0);
    return good;
}

static bool read_part(void *value, const struct option_row *row, const char *text)
{
    twin_part *part = value;
    const char *at = text;
    if (scan_part(&part->number, &at, '/') && scan_part(&part->of, &at, 0) && part->number <= part->of) {
        part->number--;
        return true;
    }
    return refuse("--%s: \"%s\" is not a part such as 2/8, from 1/8 to 8/8", row->name, text);
}

static void show_part(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)value;
    (void)row;
    *out = 0;
}

const struct option_kind option_part = { read_part, show_part };

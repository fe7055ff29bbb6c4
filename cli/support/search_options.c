/* search_options.c — from options to a scheme. */
#include "search_options.h"

#include "messages.h"

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
    if (option_given(&shared->base, "threshold") && !(shared->scheme.threshold > 0))
        return "--threshold 0 would make every pair similar; give one above 0";
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
    if ((plan->rows || plan->bands) && !(plan->rows && plan->bands)) {
        fail("%zu %s do not fit into %zu hashes", plan->rows ? plan->rows : plan->bands,
             plan->rows ? "rows" : "bands", *slots);
        return false;
    }
    if (banded <= *slots)
        return true;
    bool by_choice = shared->hashes || shared->error > 0;
    fail("%zu bands of %zu rows need %zu hashes, but a signature has %s%zu", plan->bands, plan->rows, banded,
         by_choice ? "" : "at most ", by_choice ? *slots : (size_t)TWIN_MINHASH_MAX_SLOTS);
    return false;
}

bool search_options_finish(struct shared_options *shared)
{
    twin_scheme *scheme = &shared->scheme;
    const char *sentence = contradiction(shared);
    if (sentence) {
        fail("%s", sentence);
        return false;
    }
    if (!choose_slots(shared))
        return false;
    if (scheme->normal == TWIN_NORMAL_CHECK && scheme->shingle.kind == TWIN_SHINGLE_BYTE)
        scheme->normal = TWIN_NORMAL_BYTES; /* bytes are bytes, UTF-8 or not */
    twin_scheme_seed(scheme, scheme->minhash.seed);
    return true;
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

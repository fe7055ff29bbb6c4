/* cmd_index_export.c — twinsift index export: ids and signatures as JSON. */
#include "commands.h"
#include "index_file.h"
#include "support/messages.h"
#include "support/results.h"

struct exporting {
    twin_index_view *view;
    size_t slots;
    bool has_documents;
    twin_status status;
    twin_error *error;
};

static bool print_entry(void *context, const twin_index_entry *entry)
{
    struct exporting *exporting = context;
    const uint32_t *signature;
    exporting->has_documents = true;
    exporting->status = twin_index_signature(&signature, exporting->view, *entry, exporting->error);
    if (exporting->status != TWIN_OK)
        return false;
    struct record record = record_begin(results(), true);
    record_id(&record, "id", entry->id, entry->id_is_number);
    record_count(&record, "label", entry->label);
    record_count(&record, "time", entry->time);
    record_count(&record, "set", entry->set);
    record_count(&record, "size", entry->set_size);
    record_list(&record, "signature");
    for (size_t i = 0; i < exporting->slots; i++)
        record_count(&record, NULL, signature[i]);
    record_list_end(&record);
    record_end(&record);
    return output_is_good();
}

static twin_status export(struct shared_options *shared, const twin_index *index, twin_index_view *view,
                          twin_error *error)
{
    struct exporting exporting = { .view = view,
                                   .slots = twin_index_options_of(index).scheme.minhash.slots,
                                   .error = error };
    twin_status status = twin_index_each(view, print_entry, &exporting, error);
    if (status == TWIN_OK && !exporting.has_documents && !shared->quiet)
        warn("%s: has no documents", index_path(shared));
    return exporting.status != TWIN_OK ? exporting.status : status;
}

static int run(void *context)
{
    const struct shared_options *shared = context;
    return results_open(shared) ? with_view(context, export) : EXIT_ERROR;
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_export = {
    .name = "twinsift index export",
    .summary = "print ids and signatures, one JSON object per line",
    .usage = "[OPTION]... FILE",
    .shared = INDEX_TAKES " output no-sync",
    .checked = INDEX_STORES,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "twinsift index export news.twin | gzip > signatures.jsonl.gz",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

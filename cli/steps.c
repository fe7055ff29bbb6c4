/* steps.c — the files of sign, band, join and filter.
 *
 * The library writes and reads them; here arguments are sorted into kinds by their first bytes, and the inputs that the
 * notes in files of signatures name are opened again, so that join and filter can read the documents. */
#include "steps.h"

#include "read_documents.h"
#include "support/inputs.h"
#include "support/memory.h"
#include "support/messages.h"
#include "support/output_file.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8 };

static const struct {
    char magic[MAGIC_BYTES + 1];
    const char *made_by, *what;
} kinds_of[STEP_KINDS] = {
    [STEP_SIGNATURES] = { "TWINSIG1", "sign", "signatures" },
    [STEP_CANDIDATES] = { "TWINCND4", "band", "candidates" },
    [STEP_PAIRS] = { "TWINPRS2", "join", "pairs" },
};

/* Reports what is wrong with a file. */
static void fail_in(const char *name, twin_status status, const twin_error *error)
{
    fail("%s: %s", name, error->status == status ? error->message : twin_status_text(status));
}

/* ---- the note of a file of signatures: KEY=VALUE, each ended by a zero ---- */

static const char *const MAX_UNPACKED = "max-unpacked", *const BYTES = "bytes";

static bool add_item(twin_buffer *out, const char *key, const char *value)
{
    return twin_buffer_append(out, key, strlen(key)) == TWIN_OK && twin_buffer_append(out, "=", 1) == TWIN_OK &&
           twin_buffer_append(out, value, strlen(value) + 1) == TWIN_OK;
}

static bool add_number(twin_buffer *out, const char *key, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return add_item(out, key, text);
}

/* The bytes of each source, unpacked; of a folder, its files. The caller frees them. */
static uint64_t *measure_sources(const twin_input *input)
{
    uint64_t *sizes = calloc(twin_input_sources(input) + 1, sizeof *sizes);
    for (size_t i = 0; sizes && i < twin_input_chunks(input); i++)
        sizes[twin_input_chunk_of(input, i).source] += twin_input_chunk_of(input, i).size;
    return sizes;
}

bool steps_note(twin_buffer *out, const struct shared_options *shared)
{
    const twin_input_options *options = &shared->input;
    bool good = add_number(out, "as", options->as) && add_number(out, "ids", options->ids) &&
                add_number(out, "hidden", options->hidden) &&
                add_number(out, "max-bytes", shared->max_document_bytes) &&
                add_item(out, "id-field", options->id_field ? options->id_field : "") &&
                add_item(out, "text-field", options->text_field ? options->text_field : "");
    for (size_t i = 0; i < shared->include.count && good; i++)
        good = add_item(out, "include", shared->include.items[i]);
    for (size_t i = 0; i < shared->exclude.count && good; i++)
        good = add_item(out, "exclude", shared->exclude.items[i]);
    for (size_t i = 0; i < shared->base.count && good; i++)
        good = add_item(out, "input", shared->base.arguments[i]);
    if (good && options->max_unpacked_bytes)
        good = add_number(out, MAX_UNPACKED, options->max_unpacked_bytes);
    return good;
}

/* "bytes=1234 part-00.jsonl", for each source. */
bool steps_note_sizes(twin_buffer *out, const twin_input *input)
{
    uint64_t *sizes = measure_sources(input);
    bool good = sizes != NULL;
    for (uint32_t i = 0; good && i < twin_input_sources(input); i++) {
        const char *name = twin_input_name(input, i);
        good = add_number(out, BYTES, sizes[i]);
        if (good)
            out->bytes[out->length - 1] = ' '; /* instead of the zero */
        good = good && twin_buffer_append(out, name, strlen(name) + 1) == TWIN_OK;
    }
    free(sizes);
    return good;
}

/* The inputs of all files. */
struct inputs_noted {
    twin_input_options options;
    struct option_texts include, exclude;
    const char **names;
    size_t count, capacity;
    twin_text settings; /* of the first note: all that is not an input */
};

static const char *value_of(const char *item, const char *key)
{
    size_t length = strlen(key);
    return strncmp(item, key, length) == 0 && item[length] == '=' ? item + length + 1 : NULL;
}

static void add_glob(struct option_texts *globs, const char *glob)
{
    if (globs->count < OPTION_MOST_TEXTS)
        globs->items[globs->count++] = glob;
}

static void read_setting(struct inputs_noted *inputs, const char *item)
{
    twin_input_options *options = &inputs->options;
    const char *value;
    if ((value = value_of(item, "as")))
        options->as = (twin_input_as)strtoul(value, NULL, 10);
    else if ((value = value_of(item, "ids")))
        options->ids = (twin_input_ids)strtoul(value, NULL, 10);
    else if ((value = value_of(item, "hidden")))
        options->hidden = *value == '1';
    else if ((value = value_of(item, "max-bytes")))
        options->max_bytes = (uint32_t)strtoul(value, NULL, 10);
    else if ((value = value_of(item, "id-field")))
        options->id_field = *value ? value : NULL;
    else if ((value = value_of(item, "text-field")))
        options->text_field = *value ? value : NULL;
    else if ((value = value_of(item, "include")))
        add_glob(&inputs->include, value);
    else if ((value = value_of(item, "exclude")))
        add_glob(&inputs->exclude, value);
}

static bool add_name(struct inputs_noted *inputs, const char *name)
{
    if (inputs->count == inputs->capacity) {
        inputs->capacity = 2 * inputs->capacity + 16;
        const char **grown = realloc(inputs->names, inputs->capacity * sizeof *grown);
        if (!grown)
            return refuse_status("the inputs", TWIN_ENOMEM, NULL);
        inputs->names = grown;
    }
    inputs->names[inputs->count++] = name;
    return true;
}

/* Of several limits the greatest: what one shard was allowed does not harm the others. */
static void allow_unpacked(twin_input_options *options, const char *limit)
{
    uint64_t bytes = strtoull(limit, NULL, 10);
    if (bytes > options->max_unpacked_bytes)
        options->max_unpacked_bytes = bytes;
}

/* Settings come first, and are the same in all notes; then inputs; then a limit, if one was given; then sizes. */
static bool read_note(struct inputs_noted *inputs, const twin_buffer *note, const char *file)
{
    const char *item = note->length ? note->bytes : "", *end = item + note->length;
    bool good = note->length > 0 && end[-1] == 0, is_named = false;
    size_t settings = 0;
    for (; good && item < end; item += strlen(item) + 1) {
        const char *name = value_of(item, "input"), *limit = value_of(item, MAX_UNPACKED);
        is_named |= name != NULL;
        if (name)
            good = add_name(inputs, name);
        else if (limit)
            allow_unpacked(&inputs->options, limit);
        else if (!value_of(item, BYTES))
            settings = (size_t)(item - note->bytes) + strlen(item) + 1;
    }
    if (!good || !is_named)
        return refuse("%s: was not written by twinsift sign", file);
    if (!inputs->settings.bytes) {
        inputs->settings = (twin_text){ note->bytes, settings };
        for (item = note->bytes; item < note->bytes + settings; item += strlen(item) + 1)
            read_setting(inputs, item);
    } else if (settings != inputs->settings.length || memcmp(note->bytes, inputs->settings.bytes, settings) != 0) {
        return refuse("%s: was signed with other options than the files before it", file);
    }
    return true;
}

/* ---- what was appended since ---- */

/* Compares the sources that a note names with what they are now; `next` is the first that is not yet compared. */
static void remark_noted(const twin_buffer *note, const twin_input *input, const uint64_t *sizes, uint32_t *next)
{
    const char *end = note->bytes + note->length;
    for (const char *item = note->bytes; item < end; item += strlen(item) + 1) {
        const char *value = value_of(item, BYTES);
        if (!value)
            continue;
        char *rest;
        uint64_t before = strtoull(value, &rest, 10);
        const char *name = rest + (*rest == ' ');
        uint32_t source = *next;
        while (source < twin_input_sources(input) && strcmp(twin_input_name(input, source), name) != 0)
            source++;
        if (source == twin_input_sources(input))
            continue; /* a file that a folder has no longer: whatever was kept of it has been missed by now */
        *next = source + 1;
        if (sizes[source] > before)
            warn("%s: has grown since it was signed, by %" PRIu64 " %s%s, which are left out; sign it again, and "
                 "repeat the steps after it",
                 name, sizes[source] - before, is_folder(name) ? "document" : "byte",
                 sizes[source] - before == 1 ? "" : "s");
    }
}

void steps_remark_grown(const struct steps *steps)
{
    uint64_t *sizes = measure_sources(steps->input);
    uint32_t next = 0;
    for (size_t i = 0; sizes && i < steps->of[STEP_SIGNATURES].count; i++)
        remark_noted(&steps->notes[i], steps->input, sizes, &next);
    free(sizes);
}

/* ---- opening ---- */

/* Puts a file among those of its kind. */
static bool add_file(struct steps *steps, const char *name, FILE *file, unsigned kinds)
{
    char magic[MAGIC_BYTES + 1] = "";
    size_t length = fread(magic, 1, MAGIC_BYTES, file), kind = 0;
    rewind(file);
    while (kind < STEP_KINDS && (length < MAGIC_BYTES || strcmp(magic, kinds_of[kind].magic) != 0))
        kind++;
    if (kind == STEP_KINDS || !(kinds & 1U << kind)) {
        fail("%s: %s%s; give files written by %s", name,
             kind == STEP_KINDS ? "was not written by sign, band or join" : "is a file of ",
             kind == STEP_KINDS ? "" : kinds_of[kind].what,
             kinds & 1 << STEP_CANDIDATES ? "sign and band"
             : kinds & 1 << STEP_PAIRS    ? "sign and join"
                                          : "sign");
        fclose(file);
        return false;
    }
    struct step_files *files = &steps->of[kind];
    files->names[files->count] = name;
    files->sources[files->count++] = file_source(file);
    return true;
}

static bool open_files(struct steps *steps, const struct request_base *base, unsigned kinds)
{
    bool good = true;
    for (int kind = 0; kind < STEP_KINDS && good; kind++) {
        steps->of[kind].names = calloc(base->count + 1, sizeof *steps->of[kind].names);
        steps->of[kind].sources = calloc(base->count + 1, sizeof *steps->of[kind].sources);
        good = steps->of[kind].names && steps->of[kind].sources;
    }
    steps->notes = calloc(base->count + 1, sizeof *steps->notes);
    if (!good || !steps->notes)
        return refuse_status("the files", TWIN_ENOMEM, NULL);
    for (size_t i = 0; i < base->count && good; i++) {
        FILE *file = fopen(base->arguments[i], "rbe");
        if (!file)
            fail("%s: cannot be opened: %s", base->arguments[i], strerror(errno));
        good = file && add_file(steps, base->arguments[i], file, kinds);
    }
    for (unsigned kind = 0; kind < STEP_KINDS && good; kind++)
        if (kinds & 1U << kind && steps->of[kind].count == 0) {
            fail("no %s; give the files that twinsift %s made", kinds_of[kind].what, kinds_of[kind].made_by);
            good = false;
        }
    return good;
}

/* Whether the inputs from number `first` on are there; `file` has their signatures. */
static bool inputs_are_there(const struct inputs_noted *inputs, size_t first, const char *file)
{
    for (size_t i = first; i < inputs->count; i++)
        if (access(inputs->names[i], R_OK) != 0)
            return refuse("%s: has the signatures of %s, which cannot be opened: %s%s", file, inputs->names[i],
                          strerror(errno), inputs->names[i][0] == '/' ? "" : "; run all steps in the same folder");
    return true;
}

static bool open_noted_inputs(struct steps *steps, const struct shared_options *shared, twin_progress progress)
{
    struct inputs_noted inputs = { 0 };
    const struct step_files *signatures = &steps->of[STEP_SIGNATURES];
    twin_error error = { 0 };
    bool good = true;
    for (size_t i = 0; i < signatures->count && good; i++) {
        twin_status status = twin_collection_read_note(&steps->notes[i], signatures->sources[i], &error);
        rewind(signatures->sources[i].context);
        good = status == TWIN_OK;
        if (!good)
            fail_in(signatures->names[i], status, &error);
        size_t before = inputs.count;
        good = good && read_note(&inputs, &steps->notes[i], signatures->names[i]) &&
               inputs_are_there(&inputs, before, signatures->names[i]);
    }
    if (good) {
        struct shared_options noted = *shared;
        noted.max_document_bytes = inputs.options.max_bytes;
        noted.input = inputs.options;
        noted.include = inputs.include;
        noted.exclude = inputs.exclude;
        noted.input.temp_folder = shared->input.temp_folder;
        noted.quiet = true; /* what there is to say of the inputs was said when they were signed */
        steps->input = open_named_inputs(&noted, inputs.names, inputs.count, progress);
        good = steps->input != NULL;
    }
    free(inputs.names);
    return good;
}

static bool load_collection(struct steps *steps, const struct shared_options *shared, twin_exec exec)
{
    size_t failed;
    twin_error error = { 0 };
    twin_collection_options options = { .ids_may_repeat = true,
                                        .memory_bytes = collection_memory(shared),
                                        .temp_folder = temp_folder(shared),
                                        .exec = exec };
    twin_status status = twin_collection_load(&steps->collection, steps->input,
                                              steps_saved(steps, STEP_SIGNATURES, &failed), options, &error);
    if (status != TWIN_OK)
        steps_fail(steps, STEP_SIGNATURES, failed, status, &error);
    return status == TWIN_OK;
}

bool steps_open(struct steps *out, const struct shared_options *shared, unsigned kinds, twin_exec exec,
                twin_progress progress)
{
    *out = (struct steps){ 0 };
    bool good = open_files(out, &shared->base, kinds | 1 << STEP_SIGNATURES) &&
                open_noted_inputs(out, shared, progress) && load_collection(out, shared, exec);
    if (good && !shared->quiet)
        remark_no_documents(twin_collection_count(out->collection));
    return good;
}

void steps_clear(struct steps *steps)
{
    twin_collection_free(steps->collection);
    twin_input_free(steps->input);
    for (size_t i = 0; steps->notes && i < steps->of[STEP_SIGNATURES].count; i++)
        twin_buffer_clear(&steps->notes[i]);
    free(steps->notes);
    for (int kind = 0; kind < STEP_KINDS; kind++) {
        for (size_t i = 0; i < steps->of[kind].count; i++)
            fclose(steps->of[kind].sources[i].context);
        free(steps->of[kind].names);
        free(steps->of[kind].sources);
    }
}

twin_saved_files steps_saved(const struct steps *steps, enum step_kind kind, size_t *failed)
{
    *failed = steps->of[kind].count;
    return (twin_saved_files){ steps->of[kind].sources, steps->of[kind].count, failed };
}

void steps_fail(const struct steps *steps, enum step_kind kind, size_t failed, twin_status status,
                const twin_error *error)
{
    const struct step_files *files = &steps->of[kind];
    const char *reason = error->status == status ? error->message : twin_status_text(status);
    if (failed < files->count)
        fail_in(files->names[failed], status, error);
    else if (files->count > 1)
        fail("%s in %s … %s: %s", kinds_of[kind].what, files->names[0], files->names[files->count - 1], reason);
    else
        fail("%s in %s: %s", kinds_of[kind].what, files->names[0], reason);
}

bool steps_output_is_good(const char *output, const struct request_base *base)
{
    if (!output)
        return refuse("give the file to be written: -o FILE");
    return output_is_possible(output) && !overwrites_input(output, base->arguments, base->count);
}

/* Whether a name is an argument; most often it is the one with number `likely`. */
static bool is_argument(const char *name, const struct request_base *base, size_t likely)
{
    bool found = likely < base->count && strcmp(name, base->arguments[likely]) == 0;
    for (size_t i = 0; i < base->count && !found; i++)
        found = strcmp(name, base->arguments[i]) == 0;
    return found;
}

/* An input of a note that is not an argument; NULL: there is none. */
static const char *input_left_out(const twin_buffer *note, const struct request_base *base)
{
    const char *item = note->length ? note->bytes : "", *end = item + note->length;
    size_t number = 0;
    if (note->length == 0 || end[-1] != 0)
        return NULL;
    for (; item < end; item += strlen(item) + 1) {
        const char *name = value_of(item, "input");
        if (name && !is_argument(name, base, number++))
            return name;
    }
    return NULL;
}

bool steps_keep_signatures(const char *output, const struct request_base *base)
{
    struct stat about;
    twin_buffer note = { 0 };
    FILE *file = stat(output, &about) == 0 && S_ISREG(about.st_mode) ? fopen(output, "rbe") : NULL;
    bool is_signed = file && twin_collection_read_note(&note, file_source(file), NULL) == TWIN_OK;
    const char *lost = is_signed ? input_left_out(&note, base) : NULL;
    if (lost)
        fail("%s: has the signatures of %s, which would be lost; give each shard a file of its own, or remove this "
             "one",
             output, lost);
    if (file)
        fclose(file);
    twin_buffer_clear(&note);
    return !lost;
}

/* ---- writing ---- */

/* What is written: some of it for each kind. */
struct step {
    const struct request_base *base; /* unless NULL, the inputs whose signatures may be replaced */
    const twin_collection *collection;
    const twin_buffer *note;
    const twin_similar_options *search;
    twin_part part;
    const struct step_pairs *pairs;
};

static twin_status write_step(twin_sink sink, const struct step *step, twin_error *error)
{
    const struct step_pairs *pairs = step->pairs;
    if (pairs)
        return twin_dedup_write_matches(pairs->collection, pairs->candidates, pairs->rule, pairs->part, sink, error);
    if (step->search)
        return twin_dedup_write_candidates(step->collection, *step->search, step->part, sink, error);
    return twin_collection_write(step->collection, (twin_text){ step->note->bytes, step->note->length }, sink, error);
}

static bool write_whole(const char *path, const struct step *step, twin_error *error)
{
    struct output_file output;
    if (!output_file_open(&output, path))
        return false;
    twin_status status = write_step(file_sink(output.file), step, error);
    progress_clear();
    if (status != TWIN_OK && (step->note || ferror(output.file)))
        fail_in(path, status, error);
    else if (status != TWIN_OK && !(step->pairs && *step->pairs->candidates.failed != SIZE_MAX))
        fail_status("the search", status, error);
    else if (status == TWIN_OK && output_file_close(&output) &&
             (!step->base || steps_keep_signatures(path, step->base)))
        return output_file_finish(&output);
    output_file_abandon(&output);
    return false;
}

bool steps_write_signatures(const char *path, const struct request_base *base, const twin_collection *collection,
                            const twin_buffer *note)
{
    return write_whole(path, &(struct step){ .base = base, .collection = collection, .note = note },
                       &(twin_error){ 0 });
}

bool steps_write_candidates(const char *path, const twin_collection *collection, twin_similar_options search,
                            twin_part part)
{
    return write_whole(path, &(struct step){ .collection = collection, .search = &search, .part = part },
                       &(twin_error){ 0 });
}

bool steps_write_pairs(const char *path, const struct step_pairs *pairs, twin_error *error)
{
    *pairs->candidates.failed = SIZE_MAX; /* the output may be what fails */
    return write_whole(path, &(struct step){ .pairs = pairs }, error);
}

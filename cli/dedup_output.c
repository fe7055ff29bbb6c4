/* dedup_output.c — what twinsift dedup writes: kept records and groups. Every output is staged: written, next to its final
 * name. All of them get their names at the end, so that a run that fails changes nothing. */
#include "dedup_output.h"

#include "support/messages.h"
#include "support/output_file.h"
#include "support/paths.h"
#include "support/record.h"
#include "support/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct dedup_range range_of(const struct dedup_result *result, uint32_t source, size_t begin)
{
    size_t documents = twin_collection_count(result->collection).documents, end = begin;
    while (end < documents && twin_collection_position(result->collection, (uint32_t)end).source == source)
        end++;
    return (struct dedup_range){ source, begin, end };
}

/* ---- one input ---- */

static bool write_ids(FILE *out, const struct dedup_result *result, struct dedup_range range)
{
    for (size_t i = range.begin; i < range.end; i++)
        if (dedup_is_chosen(result, i)) {
            struct record record = record_begin(out, false);
            record_text(&record, "id", twin_collection_id(NULL, result->collection, (uint32_t)i));
            record_end(&record);
        }
    return true;
}

/* Lines have positions with a length; files in folders and sets have none. */
static bool has_records(const struct dedup_result *result, struct dedup_range range)
{
    return range.begin < range.end && twin_input_format_of(result->input) == TWIN_INPUT_DOCUMENTS &&
           twin_collection_position(result->collection, (uint32_t)range.begin).line > 0;
}

/* The header of a table; nothing for JSON lines. */
static bool take_header(twin_buffer *header, const twin_input *input, uint32_t source)
{
    twin_error error = { 0 };
    twin_status status = twin_input_header(header, input, source, &error);
    if (status != TWIN_OK)
        fail_status("the input", status, &error);
    return status == TWIN_OK;
}

/* `is_written` becomes true if there is one. */
static bool write_header(bool *is_written, FILE *out, const struct dedup_result *result, uint32_t source)
{
    twin_buffer header = { 0 };
    bool good = take_header(&header, result->input, source);
    if (good && header.length) {
        fwrite(header.bytes, 1, header.length, out);
        if (header.bytes[header.length - 1] != '\n')
            putc('\n', out);
        *is_written = true;
    }
    twin_buffer_clear(&header);
    return good;
}

/* Records come below the header of their table, unless `has_header`. All that there is of a table without documents is
 * its header. */
static bool write_range(FILE *out, const struct dedup_result *result, struct dedup_range range, bool *has_header)
{
    bool is_empty = range.begin == range.end;
    if (!is_empty && !has_records(result, range))
        return write_ids(out, result, range);
    return (*has_header || write_header(has_header, out, result, range.source)) &&
           (is_empty || write_dedup_records(out, result, range));
}

/* Records are copied after all has been read: they must be those that were compared. What was added to a file since it
 * was opened does no harm. */
static bool inputs_are_as_read(const struct dedup_result *result)
{
    const twin_input *input = result->input;
    for (uint32_t source = 0; source < twin_input_sources(input); source++) {
        const char *name = twin_input_name(input, source);
        twin_input_change change = twin_input_change_of(input, source);
        if (change == TWIN_INPUT_CHANGED)
            return refuse(
                "%s: was changed while it was read, and records of two versions would be mixed; run it again", name);
        if (change == TWIN_INPUT_GROWN && !result->quiet)
            warn("%s: has grown while it was read; what was added is not in the output", name);
    }
    return true;
}

/* ---- one output ---- */

/* Without the line end, which a file that has nothing else may lack. */
static size_t columns_length(const twin_buffer *header)
{
    size_t length = header->length;
    while (length > 0 && (header->bytes[length - 1] == '\n' || header->bytes[length - 1] == '\r'))
        length--;
    return length;
}

/* Whether the header above all records is that of this source too. */
static bool has_header(const twin_input *input, uint32_t source, const twin_buffer *first)
{
    twin_buffer header = { 0 };
    bool good = take_header(&header, input, source);
    size_t length = columns_length(&header);
    bool same = length == columns_length(first) && (length == 0 || memcmp(header.bytes, first->bytes, length) == 0);
    if (good && !same)
        fail("%s: %s the inputs before it; write each to a file of its own, with -o FOLDER/",
             twin_input_name(input, source),
             header.length && first->length ? "has other columns than" : "is of another format than");
    twin_buffer_clear(&header);
    return good && same;
}

bool tables_have_one_header(const twin_input *input)
{
    twin_buffer first = { 0 }, header = { 0 };
    bool good = true;
    for (uint32_t source = 0; good && source < twin_input_sources(input); source++) {
        good = take_header(first.length ? &header : &first, input, source);
        if (good && header.length)
            good = has_header(input, source, &first);
        header.length = 0;
    }
    twin_buffer_clear(&first);
    twin_buffer_clear(&header);
    return good;
}

/* Whether all inputs with records have the same header, or none: before anything is written. */
static bool records_are_alike(const struct dedup_result *result)
{
    struct dedup_range range = { 0 };
    twin_buffer first = { 0 };
    bool good = true, is_known = false;
    uint32_t sources = (uint32_t)twin_input_sources(result->input);
    for (uint32_t source = 0; sources > 1 && good && source < sources; source++) {
        range = range_of(result, source, range.end);
        if (!has_records(result, range))
            continue;
        good = is_known ? has_header(result->input, source, &first) : take_header(&first, result->input, source);
        is_known = true;
    }
    twin_buffer_clear(&first);
    return good;
}

static bool write_all(FILE *out, const struct dedup_result *result)
{
    struct dedup_range range = { 0 };
    bool has_documents = twin_collection_count(result->collection).documents > 0, has_header = false;
    bool good = records_are_alike(result);
    for (uint32_t source = 0; good && source < twin_input_sources(result->input); source++) {
        range = range_of(result, source, range.end);
        if (range.begin < range.end || !has_documents)
            good = write_range(out, result, range, &has_header);
    }
    return good && inputs_are_as_read(result);
}

static bool stage_one(struct dedup_output *out, const struct dedup_result *result, const char *path)
{
    struct dedup_range all = { .end = twin_collection_count(result->collection).documents };
    return output_file_open_large(&out->file, path, dedup_record_bytes(result, all)) &&
           write_all(out->file.file, result) && output_file_close(&out->file);
}

/* ---- one output per input ---- */

/* A folder whose files are read as lines or tables has no documents of its own: each of those files has an output. */
static bool is_folder_of_files(const struct dedup_result *result, struct dedup_range range)
{
    return range.begin == range.end && is_folder(twin_input_name(result->input, range.source));
}

/* Makes the folders that an output is in. */
static bool make_folders(struct dedup_output *output, char *path)
{
    bool good = true;
    for (char *slash = strchr(path + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = !is_folder(path) && mkdir(path, 0777) == 0;
        if (made && !output->made)
            output->made = (size_t)(slash - path);
        good = made || is_folder(path);
        if (!good)
            fail("%s: cannot be created: %s", path, strerror(errno));
        *slash = '/';
    }
    return good;
}

/* Removes the folders that were made for an output, if they are empty. */
static void remove_folders(const struct dedup_output *output, char *path)
{
    char *slash = output->made ? strrchr(path, '/') : NULL;
    for (; slash && (size_t)(slash - path) >= output->made; slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

/* The same folders are names too, in the folders above them. */
static bool sync_folders(const struct dedup_output *output, char *path)
{
    bool good = true;
    char *slash = output->made ? strrchr(path, '/') : NULL;
    for (; good && slash && (size_t)(slash - path) >= output->made; slash = strrchr(path, '/')) {
        *slash = '\0';
        good = output_folder_sync(path);
    }
    return good;
}

static bool stage_each(struct dedup_outputs *out, const struct dedup_result *result)
{
    struct dedup_range range = { 0 };
    bool good = true;
    for (size_t i = 0; good && i < twin_input_sources(result->input); i++) {
        bool has_header = false;
        range = range_of(result, (uint32_t)i, range.end);
        if ((result->part.of && i % result->part.of != result->part.number) || is_folder_of_files(result, range))
            continue;
        struct output_file *file = &out->items[i].file;
        good = make_folders(&out->items[i], out->names[i]) &&
               output_file_open_large(file, out->names[i], dedup_record_bytes(result, range)) &&
               write_range(file->file, result, range, &has_header) && output_file_close(file);
    }
    return good && inputs_are_as_read(result);
}

/* ---- groups ---- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void remark_repeated_ids(const twin_collection *collection)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    size_t count = twin_collection_count(collection).documents, repeated = 0;
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    if (!hashes)
        return; /* a remark that cannot be made is no failure */
    for (size_t i = 0; i < count; i++) {
        twin_text id = twin_collection_id(NULL, collection, (uint32_t)i);
        hashes[i] = twin_hash_bytes(plain, id.bytes, id.length);
    }
    qsort(hashes, count, sizeof *hashes, by_number);
    for (size_t i = 1; i < count; i++)
        repeated += hashes[i] == hashes[i - 1];
    free(hashes);
    if (repeated)
        warn("%zu document%s an id that another document has, so that groups do not say which is meant; if ids are "
             "unique in each file only, use --id-from path-and-line",
             repeated, repeated == 1 ? " has" : "s have");
}

static void write_group(FILE *out, const struct dedup_result *result, const twin_dedup_group *group)
{
    struct record record = record_begin(out, true);
    record_document(&record, "kept", result->collection, group->keeper);
    record_list(&record, "dropped");
    for (size_t i = 0; i < group->count; i++) {
        record_object(&record, NULL);
        record_document(&record, "id", result->collection, group->dropped[i]);
        record_fixed(&record, "similarity", twin_dedup_similarities(result->dedup)[group->dropped[i]], 4);
        record_object_end(&record);
    }
    record_list_end(&record);
    record_end(&record);
}

static void write_known(FILE *out, const struct dedup_result *result, uint32_t document)
{
    const struct known_match *match = &result->known->matches[document];
    struct record record = record_begin(out, true);
    record_id(&record, "kept", known_id(result->known, match), match->id_is_number);
    record_string(&record, "in", match->file);
    record_list(&record, "dropped");
    record_object(&record, NULL);
    record_document(&record, "id", result->collection, document);
    record_fixed(&record, "similarity", match->similarity, 4);
    record_object_end(&record);
    record_list_end(&record);
    record_end(&record);
}

static bool stage_groups(struct output_file *output, const struct dedup_result *result, const char *path)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, result->dedup);
    if (!output_file_open(output, path))
        return false;
    for (size_t i = 0; i < count && !ferror(output->file); i++)
        write_group(output->file, result, &groups[i]);
    for (size_t i = 0; i < result->known->count; i++)
        if (result->known->matches[i].file)
            write_known(output->file, result, (uint32_t)i);
    return output_file_close(output);
}

/* ---- all outputs ---- */

static void clear_outputs(struct dedup_outputs *outputs)
{
    for (size_t i = 0; outputs->names && i < outputs->kept; i++)
        free(outputs->names[i]);
    free(outputs->names);
    free(outputs->items);
    *outputs = (struct dedup_outputs){ 0 };
}

static bool stage_kept(struct dedup_outputs *out, const struct dedup_result *result, const char *path)
{
    if (out->names)
        return stage_each(out, result);
    return !path || is_standard(path) || stage_one(&out->items[0], result, path);
}

static bool stage_dropped(struct dedup_output *out, const struct dedup_result *result, const char *path)
{
    struct dedup_result dropped = *result;
    dropped.of_dropped = true;
    dropped.quiet = true; /* remarks are made with those that are kept */
    return stage_one(out, &dropped, path);
}

bool dedup_outputs_stage(struct dedup_outputs *out, const struct dedup_result *result, struct dedup_targets targets)
{
    const char *kept = targets.kept;
    bool is_standard_output = kept && is_standard(kept), to_folder = kept && names_folder(kept);
    *out = (struct dedup_outputs){ .kept = to_folder ? twin_input_sources(result->input) : 1 };
    out->count = out->kept + (targets.dropped != NULL);
    out->standard = is_standard_output ? result : NULL;
    out->items = calloc(out->count + 1, sizeof *out->items);
    out->names = to_folder ? names_in_folder(kept, result->input) : NULL;
    if (!out->items || (to_folder && !out->names)) {
        clear_outputs(out);
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    }
    bool good = (!targets.groups || stage_groups(&out->items[out->count].file, result, targets.groups)) &&
                stage_kept(out, result, kept) &&
                (!targets.dropped || stage_dropped(&out->items[out->kept], result, targets.dropped));
    if (!good)
        dedup_outputs_abandon(out);
    return good;
}

bool dedup_outputs_finish(struct dedup_outputs *outputs)
{
    size_t count = outputs->count + 1;
    struct output_file **files = calloc(count, sizeof(struct output_file *));
    bool good = files || refuse_status("the output", TWIN_ENOMEM, NULL);
    for (size_t i = 0; good && i < count; i++)
        files[i] = &outputs->items[i].file;
    if (good && outputs->standard)
        good = write_all(stdout, outputs->standard) && fflush(stdout) == 0 && output_is_good();
    good = good && output_files_finish(files, count);
    for (size_t i = 0; good && outputs->names && i < outputs->kept; i++)
        good = sync_folders(&outputs->items[i], outputs->names[i]);
    free(files);
    if (good)
        clear_outputs(outputs);
    else
        dedup_outputs_abandon(outputs);
    return good;
}

void dedup_outputs_abandon(struct dedup_outputs *outputs)
{
    for (size_t i = 0; outputs->items && i <= outputs->count; i++)
        if (outputs->items[i].file.given)
            output_file_abandon(&outputs->items[i].file);
    for (size_t i = outputs->kept; outputs->names && i-- > 0;)
        remove_folders(&outputs->items[i], outputs->names[i]);
    clear_outputs(outputs);
}

bool write_dedup_outputs(const struct dedup_result *result, struct dedup_targets targets)
{
    struct dedup_outputs outputs;
    return dedup_outputs_stage(&outputs, result, targets) && dedup_outputs_finish(&outputs);
}

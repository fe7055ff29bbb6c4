/* dedup_output.c — what twinsift dedup writes: kept records and groups. Every output is staged next to its final name, and
 * all of them get their names at the end: a run that fails changes nothing. */
#include "dedup_output.h"
#include "dedup_paths.h"
#include "dedup_records.h"

#include "support/messages.h"
#include "support/output_file.h"
#include "support/record.h"
#include "support/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
        if (dedup_stays(result, i)) {
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

/* What the records of one output have above them: the header of a table, or nothing. */
struct heading {
    bool is_known;
    twin_buffer header;
};

/* Writes the header of an input above the first records. The records of tables with other columns, or of JSON lines, would
 * not be what it says. */
static bool write_heading(FILE *out, struct heading *heading, const struct dedup_result *result, uint32_t source)
{
    twin_buffer header = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_input_header(&header, result->input, source, &error);
    bool good = status == TWIN_OK;
    if (!good) {
        fail_status("the input", status, &error);
    } else if (!heading->is_known) {
        *heading = (struct heading){ true, header };
        fwrite(header.bytes ? header.bytes : "", 1, header.length, out);
        return true;
    } else if (header.length != heading->header.length ||
               (header.length && memcmp(header.bytes, heading->header.bytes, header.length) != 0)) {
        good = false;
        fail("%s: %s the inputs before it; write each to a file of its own, with -o FOLDER/",
             twin_input_name(result->input, source),
             header.length && heading->header.length ? "has other columns than" : "is of another format than");
    }
    twin_buffer_clear(&header);
    return good;
}

static bool write_range(FILE *out, struct heading *heading, const struct dedup_result *result,
                        struct dedup_range range)
{
    if (!has_records(result, range))
        return write_ids(out, result, range);
    return write_heading(out, heading, result, range.source) && write_dedup_records(out, result, range);
}

/* ---- one output ---- */

static bool write_all(FILE *out, const struct dedup_result *result)
{
    struct dedup_range range = { 0 };
    struct heading heading = { 0 };
    bool good = true;
    for (uint32_t source = 0; good && source < twin_input_sources(result->input); source++) {
        range = range_of(result, source, range.end);
        good = write_range(out, &heading, result, range);
    }
    twin_buffer_clear(&heading.header);
    return good;
}

static bool write_one(const struct dedup_result *result, const char *path)
{
    struct output_file output;
    if (!output_file_open(&output, path))
        return false;
    if (write_all(output.file, result))
        return output_file_finish(&output);
    output_file_abandon(&output);
    return false;
}

/* ---- one output per input ---- */

/* A folder whose files are read as lines or tables has no documents of its own: each of those files has an output. */
static bool is_folder_of_files(const struct dedup_result *result, struct dedup_range range)
{
    struct stat about;
    return range.begin == range.end && stat(twin_input_name(result->input, range.source), &about) == 0 &&
           S_ISDIR(about.st_mode);
}

/* Writes each output; their names come when all are written. */
static bool write_named(const struct dedup_result *result, char *const *names, size_t count)
{
    struct output_file *outputs = calloc(count + 1, sizeof *outputs);
    struct dedup_range range = { 0 };
    bool good = outputs != NULL;
    for (size_t i = 0; good && i < count; i++) {
        struct heading heading = { 0 };
        range = range_of(result, (uint32_t)i, range.end);
        if ((result->part.of && i % result->part.of != result->part.number) || is_folder_of_files(result, range))
            continue;
        good = output_file_open(&outputs[i], names[i]) && write_range(outputs[i].file, &heading, result, range) &&
               output_file_close(&outputs[i]);
        twin_buffer_clear(&heading.header);
    }
    for (size_t i = 0; outputs && i < count; i++)
        if (!outputs[i].path)
            continue;
        else if (good)
            good = output_file_finish(&outputs[i]);
        else
            output_file_abandon(&outputs[i]);
    free(outputs);
    return good;
}

static bool write_each(const struct dedup_result *result, const char *folder)
{
    char **names = names_in_folder(folder, result->input);
    if (!names)
        return fail_status("the output", TWIN_ENOMEM, NULL), false;
    bool good = mkdir(folder, 0777) == 0 || errno == EEXIST;
    if (!good)
        fail("%s: cannot be created: %s", folder, strerror(errno));
    good = good && write_named(result, names, twin_input_sources(result->input));
    free_names(names, result->input);
    return good;
}

bool write_kept(const struct dedup_result *result, const char *path)
{
    if (!path)
        return write_all(stdout, result) && fflush(stdout) == 0 && output_is_good();
    return path[strlen(path) - 1] == '/' ? write_each(result, path) : write_one(result, path);
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

static void record_document(struct record *record, const char *name, const struct dedup_result *result,
                            uint32_t document)
{
    bool is_number;
    twin_text id = twin_collection_id(&is_number, result->collection, document);
    record_id(record, name, id, is_number);
}

static void write_group(FILE *out, const struct dedup_result *result, const twin_dedup_group *group)
{
    struct record record = record_begin(out, true);
    record_document(&record, "kept", result, group->keeper);
    record_list(&record, "dropped");
    for (size_t i = 0; i < group->count; i++) {
        record_object(&record, NULL);
        record_document(&record, "id", result, group->dropped[i]);
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
    record_document(&record, "id", result, document);
    record_fixed(&record, "similarity", match->similarity, 4);
    record_object_end(&record);
    record_list_end(&record);
    record_end(&record);
}

bool write_groups(const struct dedup_result *result, const char *path)
{
    const twin_dedup_group *groups;
    struct output_file output;
    size_t count = twin_dedup_groups(&groups, result->dedup);
    if (!output_file_open(&output, path))
        return false;
    for (size_t i = 0; i < count && !ferror(output.file); i++)
        write_group(output.file, result, &groups[i]);
    for (size_t i = 0; i < result->known->count; i++)
        if (result->known->matches[i].file)
            write_known(output.file, result, (uint32_t)i);
    return output_file_finish(&output);
}

/* dedup_journal.c — INDEX-update-RUN.jsonl, which dedup.h draws.
 *
 * Nothing of it is believed before its last line has been found, and count and checksum there are those of the lines
 * before. The lines that are not documents have the very form in which they are written here. */
#include "dedup.h"

#include "fingerprint.h"
#include "index_file.h"
#include "support/messages.h"
#include "support/overwrite.h"
#include "support/record.h"
#include "support/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, LAST_ROOM = 128 };

#define FIRST_LINE                                                                                                   \
    "{\"twinsift\":\"update\",\"version\":%" PRIu64 ",\"run\":\"%016" PRIx64 "\",\"read\":%" PRIu64 "}\n"
#define OUTPUT_LINE "{\"%s\":\"%s\",\"bytes\":%" PRIu64 ",\"checksum\":\"%016" PRIx64 "\"}\n"
#define LAST_LINE "{\"documents\":%" PRIu64 ",\"outputs\":%" PRIu64 ",\"checksum\":\"%016" PRIx64 "\"}\n"

/* ---- names of outputs ---- */

static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 127 && c != '%' && c != '"' && c != '\\';
}

/* The caller frees it; NULL: out of memory. */
static char *encode_name(const char *name)
{
    char *out = malloc(3 * strlen(name) + 1), *end = out;
    for (; out && *name; name++)
        end += snprintf(end, 4, is_plain((unsigned char)*name) ? "%c" : "%%%02X", (unsigned char)*name);
    if (out)
        *end = '\0';
    return out;
}

static void decode_name(char *name)
{
    char *out = name;
    for (unsigned byte; *name; out++) {
        bool is_code = sscanf(name, "%%%2x", &byte) == 1;
        *out = is_code ? (char)byte : *name;
        name += is_code ? 3 : 1;
    }
    *out = '\0';
}

/* An output as it is seen from the folder of the journal, encoded: what is moved or mounted elsewhere with the index stays
 * known. */
static char *name_from_journal(const char *output, const char *journal)
{
    char *file = canonical_path(output), *folder = canonical_folder(journal);
    char *name = file && folder ? path_from(file, folder) : NULL, *encoded = name ? encode_name(name) : NULL;
    free(file);
    free(folder);
    free(name);
    return encoded;
}

/* The other way round; earlier builds wrote names from the root. */
static char *name_from_root(char *encoded, const char *journal)
{
    char *folder = canonical_folder(journal), *name = NULL;
    decode_name(encoded);
    if (encoded[0] == '/')
        name = strdup(encoded);
    else if (folder && asprintf(&name, "%s/%s", folder, encoded) < 0)
        name = NULL;
    char *whole = name ? canonical_path(name) : NULL;
    free(folder);
    if (!whole) /* its folder is gone */
        return name;
    free(name);
    return whole;
}

/* ---- writing ---- */

/* Whether an output is in the journal: what was written directly, as to a pipe, is not there to be looked at again. */
static bool is_recorded(const struct dedup_output *output)
{
    return output->file.given && output->file.temporary;
}

static bool read_staged(struct contents *out, const struct output_file *file)
{
    int fd = output_file_reopen(file);
    bool good = fd >= 0 && fingerprint_contents(out, fd, UINT64_MAX);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return good || refuse("%s: cannot be read again: %s", file->given, strerror(reason));
}

static bool write_output(FILE *out, const char *journal, const struct dedup_output *output, bool is_groups)
{
    struct contents contents;
    char *name = name_from_journal(output->file.path, journal);
    bool good = name ? read_staged(&contents, &output->file) : refuse_status("the output", TWIN_ENOMEM, NULL);
    if (good)
        fprintf(out, OUTPUT_LINE, is_groups ? "groups" : "output", name, contents.bytes, contents.checksum);
    free(name);
    return good;
}

static bool write_document(FILE *out, const twin_collection *collection, twin_scratch **scratch, uint32_t number)
{
    twin_document document;
    twin_error error = { 0 };
    twin_status status = twin_collection_document(&document, collection, scratch, number, &error);
    if (status != TWIN_OK)
        return refuse_status("the input", status, &error);
    struct record record = record_begin(out, true);
    record_count(&record, "number", number);
    record_document(&record, "id", collection, number);
    record_text(&record, "text", document.text);
    record_end(&record);
    return true;
}

static bool write_documents(uint64_t *count, FILE *out, const struct dedup_result *result)
{
    const uint32_t *keepers = twin_dedup_keepers(result->dedup);
    size_t documents = twin_dedup_count(result->dedup).documents;
    twin_scratch *scratch = NULL;
    bool good = true;
    for (uint32_t i = 0; i < documents && good && !ferror(out); i++)
        if (keepers[i] == i) {
            good = write_document(out, result->collection, &scratch, i);
            ++*count;
        }
    twin_scratch_free(scratch);
    return good;
}

static bool write_lines(FILE *out, const char *path, uint64_t run, const struct dedup_result *result,
                        const struct dedup_outputs *outputs)
{
    uint64_t documents = 0, listed = 0;
    struct contents contents;
    bool good = true;
    fprintf(out, FIRST_LINE, (uint64_t)VERSION, run, (uint64_t)twin_collection_count(result->collection).documents);
    for (size_t i = 0; i <= outputs->count && good; i++)
        if (is_recorded(&outputs->items[i])) {
            good = write_output(out, path, &outputs->items[i], i == outputs->count);
            listed++;
        }
    if (!good || !write_documents(&documents, out, result))
        return false;
    if (fflush(out) != 0 || ferror(out))
        return true; /* closing it reports that */
    if (!fingerprint_contents(&contents, fileno(out), UINT64_MAX))
        return refuse("the file of the update cannot be read again: %s", strerror(errno));
    fprintf(out, LAST_LINE, documents, listed, contents.checksum);
    return true;
}

bool journal_write(struct output_file *out, const char *path, uint64_t run, const struct dedup_result *result,
                   const struct dedup_outputs *outputs)
{
    if (!output_file_open(out, path))
        return false;
    fchmod(fileno(out->file), 0600); /* texts, and perhaps of an index that nobody else may read */
    if (write_lines(out->file, path, run, result, outputs))
        return output_file_close(out);
    output_file_abandon(out);
    return false;
}

/* ---- reading ---- */

/* The last line of a file, which has `bytes` bytes; `begin` becomes where it begins. */
static bool find_last_line(char out[LAST_ROOM + 1], uint64_t *begin, int file, uint64_t bytes)
{
    uint64_t from = bytes > LAST_ROOM ? bytes - LAST_ROOM : 0;
    ssize_t length = pread(file, out, LAST_ROOM, (off_t)from);
    if (length < 2 || out[length - 1] != '\n')
        return false;
    out[length] = '\0';
    const char *before = memrchr(out, '\n', (size_t)length - 1);
    *begin = before ? from + (uint64_t)(before + 1 - out) : from;
    memmove(out, out + (*begin - from), (size_t)length - (*begin - from) + 1);
    return true;
}

/* Whether a line is what would be written of these numbers. */
#define IS_LINE(line, ...)                                                                                           \
    (snprintf(again, sizeof again, __VA_ARGS__) < (int)sizeof again && strcmp(line, again) == 0)

/* Checks the bytes before the last line against it. */
static bool is_whole(struct journal *out, int file, uint64_t bytes)
{
    char last[LAST_ROOM + 1], again[2 * LAST_ROOM];
    uint64_t begin, outputs = 0, checksum = 0;
    struct contents contents;
    if (!find_last_line(last, &begin, file, bytes) ||
        sscanf(last, LAST_LINE, &out->documents, &outputs, &checksum) != 3 ||
        !IS_LINE(last, LAST_LINE, out->documents, outputs, checksum) || !fingerprint_contents(&contents, file, begin))
        return false;
    out->output_count = outputs;
    return contents.checksum == checksum && contents.lines == 1 + outputs + out->documents;
}

static bool read_output(struct journal_output *out, char *line, const char *journal)
{
    static const char output[] = "{\"output\":\"", groups[] = "{\"groups\":\"";
    out->is_groups = strncmp(line, groups, strlen(groups)) == 0;
    if (!out->is_groups && strncmp(line, output, strlen(output)) != 0)
        return false;
    char *name = line + strlen(output), *end = strchr(name, '"');
    if (!end ||
        sscanf(end, "\",\"bytes\":%" SCNu64 ",\"checksum\":\"%" SCNx64 "\"}", &out->bytes, &out->checksum) != 2)
        return false;
    *end = '\0';
    out->name = name_from_root(name, journal);
    return out->name != NULL;
}

/* The lines before the documents. NULL, or what is wrong. */
static const char *read_head(struct journal *out, FILE *file, const char *path)
{
    static const char lines[] = "has lines that no run has written";
    char *line = NULL, again[LAST_ROOM];
    size_t room = 0, read = 0;
    uint64_t version = 0;
    const char *fault = NULL;
    if (getline(&line, &room, file) < 0 || sscanf(line, FIRST_LINE, &version, &out->run, &out->read) != 3 ||
        !IS_LINE(line, FIRST_LINE, version, out->run, out->read))
        fault = lines;
    else if (version > VERSION)
        fault = "was written by a later version of twinsift";
    out->outputs = fault ? NULL : calloc(out->output_count + 1, sizeof *out->outputs);
    while (!fault && out->outputs && read < out->output_count)
        if (getline(&line, &room, file) < 0 || !read_output(&out->outputs[read++], line, path))
            fault = lines;
    free(line);
    return fault ? fault : out->outputs ? NULL : "out of memory";
}

static const char *fault_of(struct journal *out, int fd, const char *path)
{
    struct stat known;
    if (fstat(fd, &known) != 0 || !S_ISREG(known.st_mode))
        return "is not a file of a run of dedup --update";
    if (!is_whole(out, fd, (uint64_t)known.st_size)) {
        out->output_count = 0;
        return "is not a whole file of a run of dedup --update: its last line, with count and checksum, is "
               "missing or does not fit";
    }
    FILE *file = fdopen(dup(fd), "r");
    const char *fault = file ? read_head(out, file, path) : strerror(errno);
    if (file)
        fclose(file);
    return fault;
}

bool journal_read(struct journal *out, const char *path, char fault[JOURNAL_FAULT_ROOM])
{
    *out = (struct journal){ 0 };
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const char *found = fd >= 0 ? fault_of(out, fd, path) : strerror(errno);
    if (fd >= 0)
        close(fd);
    if (found)
        snprintf(fault, JOURNAL_FAULT_ROOM, "%s: %s", path, found);
    return !found;
}

void journal_clear(struct journal *journal)
{
    for (size_t i = 0; journal->outputs && i < journal->output_count; i++)
        free(journal->outputs[i].name);
    free(journal->outputs);
    *journal = (struct journal){ 0 };
}

/* ---- outputs ---- */

static bool is_output_whole(const struct journal_output *output, char fault[JOURNAL_FAULT_ROOM])
{
    struct contents now;
    int fd = open(output->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool readable = fd >= 0 && fingerprint_contents(&now, fd, UINT64_MAX);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (!readable)
        snprintf(fault, JOURNAL_FAULT_ROOM, "%s: is not as the interrupted run left it: %s", output->name,
                 strerror(reason));
    else if (now.bytes != output->bytes)
        snprintf(fault, JOURNAL_FAULT_ROOM,
                 "%s: is not as the interrupted run left it: it has %" PRIu64 " bytes instead of %" PRIu64,
                 output->name, now.bytes, output->bytes);
    else if (now.checksum != output->checksum)
        snprintf(fault, JOURNAL_FAULT_ROOM, "%s: is not as the interrupted run left it: it has other bytes",
                 output->name);
    else
        return true;
    return false;
}

bool journal_outputs_are_whole(const struct journal *journal, bool with_groups, const struct journal_output **wrong,
                               char fault[JOURNAL_FAULT_ROOM])
{
    for (size_t i = 0; i < journal->output_count; i++) {
        *wrong = &journal->outputs[i];
        if ((with_groups || !(*wrong)->is_groups) && !is_output_whole(*wrong, fault))
            return false;
    }
    *wrong = NULL;
    return true;
}

bool journal_has(const struct journal *journal, const struct dedup_outputs *outputs)
{
    struct contents staged;
    size_t next = 0; /* both are in the order of the inputs */
    bool same = true;
    for (size_t i = 0; i < outputs->count && same; i++) {
        if (!is_recorded(&outputs->items[i]))
            continue;
        const struct journal_output *known = &journal->outputs[next];
        char *name = canonical_path(outputs->items[i].file.path);
        same = next++ < journal->output_count && !known->is_groups && name && strcmp(name, known->name) == 0 &&
               read_staged(&staged, &outputs->items[i].file) && staged.bytes == known->bytes &&
               staged.checksum == known->checksum;
        free(name);
    }
    return same && (next == journal->output_count || journal->outputs[next].is_groups);
}

/* ---- documents ---- */

uint32_t *journal_numbers(const struct journal *journal, const char *path)
{
    FILE *file = fopen(path, "re");
    uint32_t *numbers = file ? calloc(journal->documents + 1, sizeof *numbers) : NULL;
    char *line = NULL;
    size_t room = 0;
    uint64_t found = 0;
    while (numbers && found < journal->documents && getline(&line, &room, file) >= 0)
        found += sscanf(line, "{\"number\":%" SCNu32 ",", &numbers[found]) == 1;
    free(line);
    if (file)
        fclose(file);
    if (numbers && found == journal->documents)
        return numbers;
    free(numbers);
    fail("%s: could not be read: %s", path, strerror(errno ? errno : EIO));
    return NULL;
}

bool journal_add(twin_index_change *change, const struct journal *journal, const char *path, const char *index,
                 twin_index_add_options options, double patience)
{
    double end = seconds() + patience;
    twin_index *opened = NULL;
    twin_input *input = NULL;
    twin_error error = { 0 };
    twin_status status;
    do
        status = twin_index_open(&opened, index, TWIN_INDEX_WRITE, &error);
    while (wait_for_lock(status, end));
    if (status == TWIN_OK)
        status = twin_input_open(&input, &path, 1,
                                 (twin_input_options){ .as = TWIN_INPUT_AS_JSONL, .max_bytes = UINT32_MAX }, &error);
    if (status == TWIN_OK)
        status = twin_index_add_input(change, opened, input, options, &error);
    twin_input_free(input);
    twin_index_close(opened);
    if (status != TWIN_OK)
        return refuse_status(index, status, &error);
    uint64_t others = 2 + journal->output_count; /* lines that are no documents */
    return change->problems == others ||
           refuse("%s: %" PRIu64 " of its documents could not be read", path, change->problems - others);
}

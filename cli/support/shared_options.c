/* shared_options.c — the options that several commands take, one row each.
 *
 * First come kinds of values that only one option has; the others are in options.c. Then the table, and the executor,
 * which two options and the environment decide. */
#include "shared_options.h"

#include "memory.h"
#include "messages.h"
#include "output_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of values that only one option has */

static bool read_shingle(void *value, const struct option_row *row, const char *text)
{
    if (twin_shingle_parse(value, text) == TWIN_OK)
        return true;
    return refuse("--%s: \"%s\" is not auto, char:N, word:N, stop:N, byte:N or kmer:N with N from 1 to %d", row->name,
                  text, (int)TWIN_SHINGLE_MAX_WIDTH);
}

static void show_shingle(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    const twin_shingle_options *shingle = value;
    snprintf(out, OPTION_VALUE_ROOM, "%s:%zu", twin_name_of(TWIN_NAMES_SHINGLE_KIND, shingle->kind), shingle->width);
}

static const struct option_kind shingle_rule = { read_shingle, show_shingle };

static bool read_raw(void *value, const struct option_row *row, const char *text)
{
    (void)row, (void)text;
    *(twin_normal *)value = TWIN_NORMAL_CHECK;
    return true;
}

static const struct option_kind raw_text = { read_raw, NULL };

/* Words are divided at blanks. There is no shell, so neither are there quotes: a script is the place for more. */
static bool read_command(void *value, const struct option_row *row, const char *text)
{
    static char words[4096]; /* one command a run */
    struct option_texts *list = value;
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words)
        return refuse("--%s: the command is too long", row->name);
    *list = (struct option_texts){ 0 };
    for (char *at = NULL, *word = strtok_r(words, " \t", &at); word; word = strtok_r(NULL, " \t", &at))
        if (!option_list.read(list, row, word))
            return false;
    return list->count > 0 || refuse("--%s: there is no command", row->name);
}

static const struct option_kind filter_words = { read_command, NULL };

static bool read_sets(void *value, const struct option_row *row, const char *text)
{
    twin_input_options *input = value;
    input->format = TWIN_INPUT_SETS;
    if (text && strcmp(text, "\\t") == 0)
        text = "\t";
    input->separator = text ? text[0] : '\t';
    if (!text || (strlen(text) == 1 && text[0] != '\n'))
        return true;
    return refuse("--%s: \"%s\" is not a single byte that separates a set from its element", row->name, text);
}

static const struct option_kind sets_input = { read_sets, NULL };

static bool read_id_origin(void *value, const struct option_row *row, const char *text)
{
    if (!option_choice.read(value, row, text))
        return false;
    twin_input_ids *ids = value;
    *ids = *ids ? TWIN_IDS_PATH_AND_LINE : TWIN_IDS_FIELD;
    return true;
}

static const struct option_kind id_origin = { read_id_origin, NULL };

static bool read_error(void *value, const struct option_row *row, const char *text)
{
    if (!option_fraction.read(value, row, text))
        return false;
    size_t slots = twin_plan_slots(*(double *)value);
    if (slots > 0 && slots <= TWIN_MINHASH_MAX_SLOTS)
        return true;
    return refuse("--%s: %s would need more than %d hashes; the lowest error is 1/256", row->name, text,
                  (int)TWIN_MINHASH_MAX_SLOTS);
}

static const struct option_kind estimate_error = { read_error, NULL };

/* A family may be left out of a build. */
static bool read_hash(void *value, const struct option_row *row, const char *text)
{
    if (!option_choice.read(value, row, text))
        return false;
    twin_status status = twin_hash_available(*(twin_hash_family *)value);
    if (status != TWIN_OK)
        fail("--%s: %s", row->name, twin_error_last(status));
    return status == TWIN_OK;
}

static void show_choice(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    option_choice.show(out, value, row);
}

static const struct option_kind hash_family = { read_hash, show_choice };

static bool read_null(void *value, const struct option_row *row, const char *text)
{
    (void)row, (void)text;
    *(char *)value = '\0';
    return true;
}

static const struct option_kind null_separator = { read_null, NULL };

/* Holds from here on, also for messages about later options. */
static bool read_color(void *value, const struct option_row *row, const char *text)
{
    if (!option_choice.read(value, row, text))
        return false;
    messages_color(*(enum color *)value);
    return true;
}

static const struct option_kind color_choice = { read_color, show_choice };

static bool read_no_sync(void *value, const struct option_row *row, const char *text)
{
    (void)value, (void)row, (void)text;
    output_files_leave_to_system();
    return true;
}

static const struct option_kind no_sync = { read_no_sync, NULL };

/* "50%": of what the machine has. */
static bool read_share(uint64_t *out, const struct option_row *row, const char *text)
{
    char *end = NULL;
    unsigned long percent = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : 0;
    uint64_t memory = machine_memory();
    if (percent < 1 || percent > 100 || strcmp(end, "%") != 0)
        return refuse("--%s: \"%s\" is not a share from 1%% to 100%%", row->name, text);
    if (memory == UINT64_MAX)
        return refuse("--%s: how much memory there is, is not known; give a size, such as 2G", row->name);
    *out = memory / 100 * percent;
    return *out >= row->least ||
           refuse("--%s: %s of the memory is less than %" PRIu64 "M", row->name, text, row->least / 1000000);
}

static bool read_memory(void *value, const struct option_row *row, const char *text)
{
    return strchr(text, '%') ? read_share(value, row, text) : option_bytes.read(value, row, text);
}

static void show_bytes(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    option_bytes.show(out, value, row);
}

static const struct option_kind memory_size = { read_memory, show_bytes };

/* ---- waiting */

static bool read_wait(void *value, const struct option_row *row, const char *text)
{
    char *end = NULL;
    *(double *)value = text && isdigit((unsigned char)text[0]) ? strtod(text, &end) : HUGE_VAL;
    if (!text || (end && *end == '\0'))
        return true;
    return refuse("--%s: \"%s\" is not a number of seconds", row->name, text);
}

static const struct option_kind patience = { read_wait, NULL };

/* ---- the table */

#define AT(field) OPTION_AT(struct shared_options, field)

const struct option_row shared_option_rows[] = {
    { "id-field", 0, OPTIONS_INPUT, "F",
      "the field or column that holds the id (default: id); a.b is b in the object a", &option_text,
      AT(input.id_field) },
    { "id-from", 0, OPTIONS_INPUT, "WHAT",
      "where ids come from: field, the field or column of --id-field; path-and-line, FILE:LINE, or the path of a "
      "file that is one document",
      &id_origin, AT(input.ids), .choices = "field path-and-line" },
    { "text-field", 0, OPTIONS_INPUT, "F",
      "the field or column that holds the text (default: text); a,b joins both with a line end", &option_text,
      AT(input.text_field) },
    { "sets", 0, OPTIONS_INPUT, "[SEPARATOR]", "inputs are lines of SET, SEPARATOR, ELEMENT (default: a tab)",
      &sets_input, AT(input) },
    { "as", 0, OPTIONS_INPUT, "WHAT",
      "how files are read: auto, by name (.jsonl and .ndjson as JSON lines, .csv and .tsv as tables, .fa and "
      ".fasta as sequences, others as one document each); files, as one document each; jsonl, as JSON lines; lines, "
      "as one document per line; csv or "
      "tsv, as tables; fasta, as sequences; html, as pages, of which the text that is seen is compared",
      &option_choice, AT(input.as), .choices = "auto files jsonl lines csv tsv fasta html" },
    { "hidden", 0, OPTIONS_INPUT, NULL, "also read hidden files and folders in folders", &option_flag,
      AT(input.hidden) },
    { "include", 0, OPTIONS_INPUT, "GLOB",
      "of the files in folders, read only those whose names match, such as '*.txt'; may be given several times",
      &option_list, AT(include) },
    { "exclude", 0, OPTIONS_INPUT, "GLOB",
      "leave out files and folders in folders whose names match; may be given several times", &option_list,
      AT(exclude) },
    { "pre", 0, OPTIONS_INPUT, "COMMAND",
      "read what COMMAND prints for each file, such as 'pdftotext - -': the file is its standard input; {} stands "
      "for "
      "its path, which a command of one word gets as argument",
      &filter_words, AT(pre) },
    { "pre-glob", 0, OPTIONS_INPUT, "GLOB",
      "run the command of --pre only for files whose names match, such as '*.pdf'; may be given several times",
      &option_list, AT(pre_globs) },
    { "raw", 0, OPTIONS_INPUT, NULL, "do not normalise text: keep case, white space and Unicode forms", &raw_text,
      AT(scheme.normal) },
    { "shingle", 0, OPTIONS_INPUT, "RULE", "auto, char:N, word:N, stop:N, byte:N or kmer:N", &shingle_rule,
      AT(scheme.shingle) },
    { "stop-words", 0, OPTIONS_INPUT, "FILE",
      "the stop words of stop:N, one per line (default: the hundred most common English words)", &option_text,
      AT(stop_words) },
    { "multiset", 0, OPTIONS_INPUT, NULL,
      "each occurrence of a shingle, or element, counts: similarity is the sum of the lesser counts by that of the "
      "greater ones",
      &option_flag, AT(scheme.multiset) },
    { "weights", 0, OPTIONS_INPUT, NULL,
      "with --sets: a third column says how often the element is in the set; implies --multiset", &option_flag,
      AT(input.weights) },
    { "strict", 0, OPTIONS_INPUT, NULL, "stop at the first document that cannot be read instead of skipping it",
      &option_flag, AT(strict) },
    { "fail-on-skipped", 0, OPTIONS_INPUT, NULL,
      "exit with status 3 if documents were skipped; the output is complete otherwise", &option_flag,
      AT(fail_on_skipped) },
    { "max-document-bytes", 0, OPTIONS_INPUT, "N", "skip documents of more than N bytes (default: 256M)",
      &option_bytes, AT(max_document_bytes), .least = 1, .most = UINT32_MAX },
    { "max-unpacked-bytes", 0, OPTIONS_INPUT, "N",
      "refuse compressed or piped input of more than N bytes (default: 200 times the compressed size, but at least 1 "
      "GiB; pipes: no limit)",
      &option_bytes, AT(input.max_unpacked_bytes), .least = 1 },
    { "temp", 0, OPTIONS_INPUT, "DIR",
      "the folder for temporary files, such as unpacked or piped input of more than 64 MiB (default: $TMPDIR, or "
      "/tmp)",
      &option_folder, AT(input.temp_folder) },
    { "memory", 0, OPTIONS_SEARCH, "SIZE",
      "use about this much memory, such as 2G, 2GiB or 50%, at least 64M, and files in --temp for the rest (default: "
      "the free memory)",
      &memory_size, AT(memory), .least = 64000000 },
    { "null", '0', OPTIONS_INPUT, NULL, "items end with a NUL byte instead of a line end, in input and output",
      &null_separator, AT(separator) },
    { "threshold", 't', OPTIONS_MATCHING, "T", "the lowest similarity, above 0 and at most 1", &option_fraction,
      AT(scheme.threshold) },
    { "keep", 0, OPTIONS_MATCHING, "WHAT",
      "what to store for verification: sets, the hashes of shingles, exact; text, compressed, exact, smaller but "
      "slower, and can be shown; none, so that similarities are estimates",
      &option_choice, AT(keep), .choices = "sets text none" },
    { "hashes", 0, OPTIONS_SEARCH, "K", "the number of slots of a signature, 1 to 65536 (default: 128)",
      &option_count, AT(hashes), .least = 1, .most = TWIN_MINHASH_MAX_SLOTS },
    { "error", 0, OPTIONS_SEARCH, "E", "the standard error of an estimate, instead of --hashes: K = 1/E\302\262",
      &estimate_error, AT(error) },
    { "bands", 0, OPTIONS_SEARCH, "B", "the number of bands (default: planned)", &option_size, AT(scheme.plan.bands),
      .least = 1, .most = TWIN_MINHASH_MAX_SLOTS },
    { "rows", 0, OPTIONS_SEARCH, "R", "the rows per band (default: planned)", &option_size, AT(scheme.plan.rows),
      .least = 1, .most = TWIN_MINHASH_MAX_SLOTS },
    { "hash", 0, OPTIONS_SEARCH, "FAMILY", "the hash function: xxh3, farm, jenkins, or sip, which is keyed",
      &hash_family, AT(scheme.shingle.hash.family), .choices = "xxh3 farm jenkins sip" },
    { "sketch", 0, OPTIONS_SEARCH, "KIND", "how signatures are computed: fast or classic", &option_choice,
      AT(scheme.minhash.sketch), .choices = "fast classic" },
    { "seed", 0, OPTIONS_SEARCH, "N", "the seed of the hash functions, or random", &option_seed,
      AT(scheme.minhash.seed) },
    { "key-file", 0, OPTIONS_SEARCH, "FILE",
      "a secret key for sip instead of a seed: 16 bytes, or 32 hexadecimal digits", &option_text, AT(key_file) },
    { "threads", 'j', OPTIONS_SEARCH, "N",
      "the number of worker threads (default: $TWINSIFT_THREADS, or one per processor)", &option_count, AT(threads),
      .least = 1, .most = TWIN_EXEC_MAX_WORKERS },
    { "executor", 0, OPTIONS_SEARCH, "HOW", "serial, pthreads or openmp", &option_choice, AT(executor),
      .choices = "serial pthreads openmp" },
    { "wait", 0, OPTIONS_OUTPUT, "[SECONDS]",
      "if the file is in use, wait for it, at most SECONDS seconds (default: without limit)", &patience, AT(wait) },
    { "force", 0, OPTIONS_OUTPUT, NULL, "replace an existing file", &option_flag, AT(force) },
    { "output", 'o', OPTIONS_OUTPUT, "FILE",
      "write to FILE, completely or not at all; compressed if its name ends in .gz or .zst (default: standard "
      "output)",
      &option_text, AT(output) },
    { "no-sync", 0, OPTIONS_OUTPUT, NULL,
      "do not wait until outputs are on the disk; a power cut right after the run may then take them away", &no_sync,
      .offset = 0 },
    { "json", 0, OPTIONS_OUTPUT, NULL, "print JSON, one object per line", &option_flag, AT(json) },
    { "quiet", 'q', OPTIONS_OUTPUT, NULL, "no progress and no remarks", &option_flag, AT(quiet) },
    { "color", 0, OPTIONS_OUTPUT, "WHEN", "colour messages: auto, always or never", &color_choice, AT(color),
      .choices = "auto always never", .everywhere = true },
    { "help", 'h', OPTIONS_OUTPUT, NULL, "print this text", &option_help, .everywhere = true },
    { "version", 'V', OPTIONS_OUTPUT, NULL, "print the version", &option_version, .everywhere = true },
    { 0 },
};

/* ---- executors */

/* TWINSIFT_THREADS, if it is set and not empty. */
static bool threads_from_environment(uint64_t *out)
{
    const char *text = getenv("TWINSIFT_THREADS");
    if (!text || !*text)
        return true;
    if (scan_count(out, text) && *out >= 1 && *out <= TWIN_EXEC_MAX_WORKERS)
        return true;
    fail_count("TWINSIFT_THREADS", text, 1, TWIN_EXEC_MAX_WORKERS);
    return false;
}

bool make_exec(twin_exec *out, const struct shared_options *shared)
{
    uint64_t threads = shared->threads;
    if (threads == 0 && !threads_from_environment(&threads))
        return false;
    if (twin_exec_make(out, shared->executor, (int)threads) == TWIN_OK)
        return true;
    return refuse("--executor: %s is not available in this build",
                  twin_name_of(TWIN_NAMES_EXECUTOR, shared->executor));
}

/* dedup_report.c — what twinsift dedup prints on standard error at the end.
 *
 * For people a summary: counts, the largest groups with the beginning of a text, stages and the audit. For programs
 * (--stats) one JSON object with the same numbers. The HTML page is in dedup_html.c. */
#include "dedup.h"

#include "support/escape.h"
#include "support/messages.h"
#include "support/record.h"
#include "support/size.h"
#include "support/terminal.h"
#include "support/usage.h"

#include <inttypes.h>
#include <unistd.h>

static void print_count(const char *name, uint64_t count, const char *what)
{
    fprintf(stderr, "%-14s %12" PRIu64 "   %s\n", name, count, what);
}

const char *write_kept_share(char *out, size_t room, const twin_dedup_counts *counts)
{
    char size[SIZE_ROOM];
    double share = counts->documents ? (double)counts->kept / (double)counts->documents : 1;
    int used = snprintf(out, room, "%.2f %% of the documents", 100 * share);
    if (counts->bytes > counts->kept_bytes && used > 0 && (size_t)used < room)
        snprintf(out + used, room - (size_t)used, "; saves %s",
                 write_decimal_size(size, (double)(counts->bytes - counts->kept_bytes)));
    return out;
}

/* ---- the largest groups ---- */

size_t largest_groups(const twin_dedup_group *out[LARGEST_GROUPS], const twin_dedup *dedup)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, dedup), listed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = listed < LARGEST_GROUPS ? listed++ : LARGEST_GROUPS - 1;
        if (i >= LARGEST_GROUPS && out[place]->count >= groups[i].count)
            continue; /* smaller than all that are listed */
        for (; place > 0 && out[place - 1]->count < groups[i].count; place--)
            out[place] = out[place - 1];
        out[place] = &groups[i];
    }
    return listed;
}

size_t excerpt_length(twin_text text, size_t most)
{
    if (text.length <= most)
        return text.length;
    while (most > 0 && ((unsigned char)text.bytes[most] & 0xC0) == 0x80)
        most--; /* not in the middle of a character */
    return most;
}

/* How many bytes of a text take at most this many columns. */
static size_t bytes_in_columns(twin_text text, size_t columns)
{
    enum { MOST_BYTES = 4 }; /* of a character */
    size_t length = excerpt_length(text, MOST_BYTES * columns);
    while (text_columns((twin_text){ text.bytes, length }) > columns)
        length = excerpt_length((twin_text){ text.bytes, length }, length - 1);
    return length;
}

/* The columns that are left for an excerpt behind `used`, on the same line of a terminal; the last one is for "…". */
static size_t excerpt_columns(size_t used)
{
    enum { EXCERPT = 60 };
    size_t columns = terminal_columns(STDERR_FILENO), left = columns > used + 1 ? columns - used - 1 : 0;
    return columns == 0 || left > EXCERPT ? EXCERPT : left;
}

/* Prints as much of a text as has room, and returns how many columns that takes. */
static size_t print_excerpt(twin_text text, size_t columns)
{
    twin_text shown = { text.bytes, bytes_in_columns(text, columns) };
    bool is_cut = shown.length < text.length;
    escape_message(stderr, shown.bytes, shown.length);
    fputs(is_cut ? "…" : "", stderr);
    return text_columns(shown) + is_cut;
}

static void print_group(const struct dedup_result *result, const twin_dedup_group *group)
{
    enum { LEAST = 10, MOST_OF_ID = 200 }; /* fewer columns of a text say nothing; ids may have megabytes */
    twin_scratch *scratch = NULL;
    twin_text text;
    int used = fprintf(stderr, "%14zu dropped for ", group->count);
    size_t id = print_excerpt(twin_collection_entry_of(result->collection, group->keeper).id, MOST_OF_ID);
    size_t columns = excerpt_columns((size_t)(used > 0 ? used : 0) + id + sizeof ":");
    if (columns >= LEAST &&
        twin_collection_text(&text, result->collection, &scratch, group->keeper, NULL) == TWIN_OK) {
        fputs(": ", stderr);
        print_excerpt(text, columns);
    }
    fputc('\n', stderr);
    twin_scratch_free(scratch);
}

/* ---- the run ---- */

void end_dedup_stage(struct dedup_run *run, double *since, const char *name, uint64_t bytes)
{
    double now = seconds();
    if (run->stage_count < MOST_DEDUP_STAGES)
        run->stages[run->stage_count++] = (struct dedup_stage){ name, now - *since, bytes };
    *since = now;
}

const char *write_stage_rate(char out[RATE_ROOM], const struct dedup_stage *stage)
{
    char size[SIZE_ROOM];
    out[0] = '\0';
    if (stage->bytes && stage->seconds > 0)
        snprintf(out, RATE_ROOM, "%s/s", write_decimal_size(size, (double)stage->bytes / stage->seconds));
    return out;
}

static void print_audit(const twin_dedup_audit *audit)
{
    fprintf(stderr,
            "audit: %" PRIu64 " kept document%s compared with all others, %" PRIu64 " should have been dropped\n"
            "audit: recall %.4f, 95 %% interval %.4f to %.4f\n",
            audit->documents, plural(audit->documents), audit->missed, audit->recall, audit->low, audit->high);
}

static void print_run(const struct dedup_run *run)
{
    char rate[RATE_ROOM], size[SIZE_ROOM];
    for (size_t i = 0; i < run->stage_count; i++) {
        write_stage_rate(rate, &run->stages[i]);
        fprintf(stderr, "%-14s %10.2f s%s%s\n", run->stages[i].name, run->stages[i].seconds, *rate ? "   " : "",
                rate);
    }
    fprintf(stderr, "%-14s %12s\n", "peak memory", write_decimal_size(size, (double)peak_bytes()));
    if (run->audit)
        print_audit(run->audit);
}

void print_summary(const struct dedup_result *result)
{
    twin_dedup_counts counts = twin_dedup_count(result->dedup);
    twin_collection_counts read = twin_collection_count(result->collection);
    const twin_dedup_group *largest[LARGEST_GROUPS];
    char size[SIZE_ROOM], what[96];
    snprintf(what, sizeof what, "%s of text", write_decimal_size(size, (double)read.bytes));
    print_count("documents", counts.documents, what);
    print_count("  exact copies", counts.exact_copies, "dropped: same set as the one kept");
    print_count("  near copies", counts.near_copies, "dropped: verified similar to the one kept");
    if (result->known->count)
        print_count("  known", counts.excluded, "dropped: similar to a document of --against or --update");
    print_count("  kept", counts.kept, write_kept_share(what, sizeof what, &counts));
    print_count("groups", counts.groups, "kept documents for which others were dropped");
    if (read.too_short)
        print_count("too short", read.too_short, "shorter than one shingle: similar only to equal ones");
    if (counts.without_field)
        print_count("without field", counts.without_field, "do not have the field of --keep: preferred last");
    if (read.problems)
        print_count("skipped", read.problems, "could not be read: left out");
    size_t listed = largest_groups(largest, result->dedup);
    if (listed)
        fputs("largest groups\n", stderr);
    for (size_t i = 0; i < listed; i++)
        print_group(result, largest[i]);
    if (result->run)
        print_run(result->run);
}

/* ---- statistics as JSON ---- */

/* Seconds of each stage, bytes per second where they say something, and the audit. */
static void record_stages(struct record *record, const struct dedup_run *run)
{
    double total = 0;
    record_object(record, "seconds");
    for (size_t i = 0; i < run->stage_count; i++) {
        record_fixed(record, run->stages[i].name, run->stages[i].seconds, 3);
        total += run->stages[i].seconds;
    }
    record_fixed(record, "total", total, 3);
    record_object_end(record);
    record_object(record, "bytes_per_second");
    for (size_t i = 0; i < run->stage_count; i++)
        if (run->stages[i].bytes && run->stages[i].seconds > 0)
            record_fixed(record, run->stages[i].name, (double)run->stages[i].bytes / run->stages[i].seconds, 0);
    record_object_end(record);
    if (!run->audit)
        return;
    record_object(record, "audit");
    record_count(record, "documents", run->audit->documents);
    record_count(record, "missed", run->audit->missed);
    record_fixed(record, "recall", run->audit->recall, 6);
    record_fixed(record, "low", run->audit->low, 6);
    record_fixed(record, "high", run->audit->high, 6);
    record_object_end(record);
}

void print_stats(const struct dedup_result *result)
{
    twin_collection_counts read = twin_collection_count(result->collection);
    twin_dedup_counts counts = twin_dedup_count(result->dedup);
    struct record record = record_begin(stderr, true);
    record_object(&record, "stats");
    record_count(&record, "documents", counts.documents);
    record_count(&record, "bytes", read.bytes);
    record_count(&record, "kept", counts.kept);
    record_count(&record, "exact_copies", counts.exact_copies);
    record_count(&record, "near_copies", counts.near_copies);
    record_count(&record, "known", counts.excluded);
    record_count(&record, "groups", counts.groups);
    record_count(&record, "too_short", read.too_short);
    if (result->run->by_field)
        record_count(&record, "without_field", counts.without_field);
    record_count(&record, "skipped", read.problems);
    record_count(&record, "ill_formed", read.ill_formed);
    record_count(&record, "record_bytes", counts.bytes);
    record_count(&record, "kept_bytes", counts.kept_bytes);
    record_count(&record, "candidates", counts.search.candidates);
    record_count(&record, "verified", counts.search.verified);
    record_count(&record, "incomplete", counts.search.incomplete);
    if (result->run->seed)
        record_count(&record, "seed", *result->run->seed);
    record_stages(&record, result->run);
    record_count(&record, "peak_bytes", peak_bytes());
    record_object_end(&record);
    record_end(&record);
}

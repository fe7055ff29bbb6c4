/* pairs_report.c — what a run of twinsift pairs reports after the pairs: its audit and its statistics.
 *
 * Both go to standard error, as lines for people or, with --json, as objects; the object of the audit follows the
 * pairs, because it is a result. */
#include "pairs_run.h"
#include "support/messages.h"
#include "support/record.h"
#include "support/results.h"
#include "support/size.h"
#include "support/usage.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the audit */

static void print_audit_json(const twin_audit *audit)
{
    struct record record = record_begin(results(), true);
    record_object(&record, "audit");
    record_count(&record, "documents", audit->documents);
    record_count(&record, "similar", audit->similar);
    record_count(&record, "found", audit->found);
    record_count(&record, "wrong", audit->wrong);
    record_fixed(&record, "recall", audit->recall, 6);
    record_fixed(&record, "low", audit->low, 6);
    record_fixed(&record, "high", audit->high, 6);
    record_object_end(&record);
    record_end(&record);
}

void print_audit(const twin_audit *audit, const char *compared, bool json)
{
    fprintf(stderr, "audit: %" PRIu64 " %s, ", audit->documents, compared);
    if (audit->similar == 0)
        fputs("no similar pairs: recall cannot be estimated\n", stderr);
    else
        fprintf(stderr,
                "%" PRIu64 " of %" PRIu64 " similar pair%s found\n"
                "audit: recall %.4f, 95 %% interval %.4f to %.4f\n",
                audit->found, audit->similar, plural(audit->similar), audit->recall, audit->low, audit->high);
    if (audit->wrong)
        fprintf(stderr, "audit: %" PRIu64 " reported pair%s not similar\n", audit->wrong,
                audit->wrong == 1 ? " is" : "s are");
    if (json)
        print_audit_json(audit);
}

/* ---- statistics */

/* Of all that was read. */
static twin_collection_counts count_read(const struct pairs_run *run)
{
    twin_collection_counts counts = twin_collection_count(run->collection), other = twin_collection_count(run->other);
    counts.documents += other.documents;
    counts.bytes += other.bytes;
    counts.too_short += other.too_short;
    counts.copies += other.copies;
    counts.problems += other.problems;
    counts.ill_formed += other.ill_formed;
    return counts;
}

static void record_times(struct record *record, const struct pairs_run *run)
{
    twin_similar_counts pairs = run->counts;
    record_object(record, "seconds");
    record_fixed(record, "opening", run->opened - run->started, 3);
    record_fixed(record, "reading", run->read - run->opened, 3);
    record_fixed(record, "pairing", pairs.pairing_seconds, 3);
    record_fixed(record, "verifying", pairs.verifying_seconds, 3);
    record_fixed(record, "writing", run->written - run->found, 3);
    record_fixed(record, "auditing", run->audited - run->written, 3);
    record_fixed(record, "total", seconds() - run->started, 3);
    record_object_end(record);
}

static void print_stats_json(const struct pairs_run *run)
{
    twin_collection_counts documents = count_read(run);
    twin_similar_counts pairs = run->counts;
    struct record record = record_begin(stderr, true);
    record_object(&record, "stats");
    record_count(&record, "documents", documents.documents);
    record_count(&record, "bytes", documents.bytes);
    record_count(&record, "too_short", documents.too_short);
    record_count(&record, "copies", documents.copies);
    record_count(&record, "skipped", documents.problems);
    record_count(&record, "ill_formed", documents.ill_formed);
    record_count(&record, "bands", run->scheme.plan.bands);
    record_count(&record, "rows", run->scheme.plan.rows);
    if (!run->request->shared.key_file) /* or it would reveal the key */
        record_count(&record, "seed", run->scheme.minhash.seed);
    record_count(&record, "candidates", pairs.candidates);
    record_count(&record, "verified", pairs.verified);
    record_count(&record, "similar", pairs.similar);
    record_count(&record, "lines", run->lines);
    record_count(&record, "template_groups", pairs.template_groups);
    record_count(&record, "largest_template_group", pairs.largest_groups[0]);
    record_count(&record, "incomplete", pairs.incomplete);
    record_times(&record, run);
    record_count(&record, "peak_bytes", peak_bytes());
    record_object_end(&record);
    record_end(&record);
}

static void print_count(const char *name, uint64_t count, const char *what)
{
    fprintf(stderr, "%-12s %12" PRIu64 "   %s\n", name, count, what);
}

static void print_counts(const struct pairs_run *run)
{
    twin_collection_counts documents = count_read(run);
    twin_similar_counts pairs = run->counts;
    bool rows = run->request->shared.input.format == TWIN_INPUT_SETS, edit = by_edits(run);
    char size[SIZE_ROOM], what[96];
    snprintf(what, sizeof what, "%s of %s", write_decimal_size(size, (double)documents.bytes),
             rows ? "rows" : "text");
    print_count(rows ? "sets" : "documents", documents.documents, what);
    print_count("  skipped", documents.problems, rows ? "rows that could not be read" : "could not be read");
    if (!edit)
        print_count("  too short", documents.too_short, "less than one shingle, similar only to equal ones");
    print_count("  copies", documents.copies, edit ? "same text as an earlier one" : "same set as an earlier one");
    snprintf(what, sizeof what, "pairs that share a band: %zu of %zu rows, others in groups", run->scheme.plan.bands,
             run->scheme.plan.rows);
    if (run->request->measure == MEASURE_CONTAINMENT)
        snprintf(what, sizeof what, "pairs with rare shingles in common");
    else if (run->request->method == TWIN_METHOD_FOREST)
        snprintf(what, sizeof what, "pairs near each other in a forest");
    print_count("candidates", pairs.candidates,
                edit ? "pairs of short texts, or that share a key, or are near each other in a forest" : what);
    print_count("  verified", pairs.verified,
                edit ? "pairs whose texts were compared" : "pairs whose sets were compared");
    print_count("  similar", pairs.similar, "distinct pairs at or above the threshold");
    if (pairs.template_groups) {
        snprintf(what, sizeof what, "groups around a template; the largest: %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                 pairs.largest_groups[0], pairs.largest_groups[1], pairs.largest_groups[2]);
        print_count("  groups", pairs.template_groups, what);
    }
    if (pairs.incomplete)
        print_count("  incomplete", pairs.incomplete,
                    "documents whose search ended early, after thousands of others");
    print_count("lines", run->lines, "printed");
    if (!run->request->shared.key_file) /* or it would reveal the key */
        fprintf(stderr, "%-12s %12" PRIu64 "   gives the same output again\n", "seed", run->scheme.minhash.seed);
}

static void print_time(const char *name, double time, double bytes)
{
    char size[SIZE_ROOM];
    fprintf(stderr, "%-12s %12.3f", name, time);
    if (bytes > 0 && time > 0)
        fprintf(stderr, "   %s/s", write_decimal_size(size, bytes / time));
    fputc('\n', stderr);
}

/* Memory per document is meaningful only once the documents outweigh the program. */
enum { MANY_DOCUMENTS = 10000 };

static void print_stats(const struct pairs_run *run)
{
    twin_collection_counts documents = count_read(run);
    twin_similar_counts pairs = run->counts;
    double total = seconds() - run->started, peak = (double)peak_bytes();
    print_counts(run);
    print_time("seconds", total, (double)documents.bytes);
    print_time("  opening", run->opened - run->started, 0);
    print_time("  reading", run->read - run->opened, (double)documents.bytes);
    print_time("  pairing", pairs.pairing_seconds, 0);
    print_time("  verifying", pairs.verifying_seconds, 0);
    print_time("  writing", run->written - run->found, 0);
    if (run->request->audit)
        print_time("  auditing", run->audited - run->written, 0);
    fprintf(stderr, "%-12s %12.1f   MB", "peak memory", peak / 1e6);
    if (documents.documents >= MANY_DOCUMENTS)
        fprintf(stderr, ", %.0f bytes per document", peak / (double)documents.documents);
    fputc('\n', stderr);
}

void print_reports(const struct pairs_run *run)
{
    if (run->request->audit)
        print_audit(&run->audit,
                    run->audit.documents == 1 ? "document compared with all others"
                                              : "documents compared with all others",
                    run->request->shared.json);
    if (run->request->stats && run->request->shared.json)
        print_stats_json(run);
    else if (run->request->stats)
        print_stats(run);
}

/* dedup_report.c — what twinsift dedup says at the end: counts, and the largest groups with the beginning of a text. */
#include "dedup_output.h"

#include "support/escape.h"
#include "support/messages.h"
#include "support/size.h"

#include <inttypes.h>

static void print_count(const char *name, uint64_t count, const char *what)
{
    fprintf(stderr, "%-14s %12" PRIu64 "   %s\n", name, count, what);
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

static void print_group(const struct dedup_result *result, const twin_dedup_group *group)
{
    enum { EXCERPT_BYTES = 60 };
    twin_scratch scratch = { 0 };
    twin_text text, id = twin_collection_id(NULL, result->collection, group->keeper);
    fprintf(stderr, "%14zu dropped for ", group->count);
    escape_message(stderr, id.bytes, id.length);
    if (twin_collection_text(&text, result->collection, &scratch, group->keeper, NULL) == TWIN_OK) {
        size_t length = excerpt_length(text, EXCERPT_BYTES);
        fputs(": ", stderr);
        escape_message(stderr, text.bytes, length);
        fputs(length < text.length ? "…" : "", stderr);
    }
    fputc('\n', stderr);
    twin_scratch_clear(&scratch);
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
    snprintf(what, sizeof what, "%.2f %% of the documents",
             counts.documents ? 100. * (double)counts.kept / (double)counts.documents : 100.);
    print_count("  kept", counts.kept, what);
    print_count("groups", counts.groups, "kept documents for which others were dropped");
    if (read.too_short)
        print_count("too short", read.too_short, "without a shingle: kept");
    if (read.problems)
        print_count("bad records", read.problems, "could not be read: left out");
    size_t listed = largest_groups(largest, result->dedup);
    if (listed)
        fputs("largest groups\n", stderr);
    for (size_t i = 0; i < listed; i++)
        print_group(result, largest[i]);
}

/* pairs_run.h — what the files of twinsift pairs share. */
#ifndef TWIN_PAIRS_RUN_H
#define TWIN_PAIRS_RUN_H

#include "support/search_options.h"

struct pairs_request {
    struct shared_options shared;
    enum measure measure;
    size_t max_edits; /* TWIN_EDIT_FAR: not given */
    twin_verify verify;
    uint64_t top; /* 0: not given */
    twin_copies copies;
    twin_method method;
    size_t buckets; /* 0: one per band hash */
    bool groups, count;
    struct option_texts against;
    uint64_t audit; /* documents to compare with all others; 0: none */
    bool stats;
};

/* A run and its results. */
struct pairs_run {
    const struct pairs_request *request;
    twin_scheme scheme;
    twin_exec exec;
    twin_input *input;
    twin_collection *collection;
    twin_input *other_input; /* of --against */
    twin_collection *other;
    twin_similar *similar;
    twin_dedup *dedup; /* instead, for groups */
    twin_similar_counts counts;
    double started, opened, read, found, written, audited; /* seconds */
    uint64_t lines;
    twin_audit audit;
};

static inline bool by_edits(const struct pairs_run *run)
{
    return run->request->measure == MEASURE_EDIT;
}

/* pairs_groups.c: prints what --groups, and --count, ask for. */
twin_status print_groups(struct pairs_run *run);

/* pairs_report.c: prints what --audit and --stats ask for; and an audit, also of the queries of an index, of documents
 * that were `compared` in some way. */
void print_reports(const struct pairs_run *run);
void print_audit(const twin_audit *audit, const char *compared, bool json);

/* pairs_against.c: pairs of the documents of an input and those of an index, which is the one of --against. Returns
 * the exit status. */
int print_pairs_of_index(const struct pairs_request *request);

#endif

/* route_plan.c — bands and rows from errors that are accepted, and Bloom filters cell by cell. */
#include "server.h"

#include <stdlib.h>

enum { CURVE_STEPS = 100 };

/* ---- bands and rows */

struct wish {
    twin_plan_point reject, accept;
    double threshold, recall;
    uint64_t hashes, bands, rows;
    bool has_reject, has_accept, has_threshold, has_recall, has_hashes, has_bands, has_rows;
};

/* Twice as many steps change the sixth decimal at most. */
static double area(twin_plan plan, double from, double to)
{
    enum { STEPS = 2000 };
    double sum = 0, step = (to - from) / STEPS;
    for (int i = 0; i < STEPS; i++)
        sum += twin_plan_probability(plan, from + (i + 0.5) * step);
    return sum * step;
}

static twin_status make_plan(twin_plan *out, struct wish *wish, twin_error *error)
{
    twin_status status;
    if (wish->has_bands && wish->has_rows) {
        bool fits = wish->bands && wish->rows && wish->bands <= TWIN_MINHASH_MAX_SLOTS &&
                    wish->rows <= TWIN_MINHASH_MAX_SLOTS && wish->bands * wish->rows <= TWIN_MINHASH_MAX_SLOTS;
        *out = (twin_plan){ wish->bands, wish->rows };
        if (!fits)
            snprintf(error->message, sizeof error->message,
                     "bands and rows must be 1 or more, and together 1 to %d hashes", TWIN_MINHASH_MAX_SLOTS);
        return fits ? TWIN_OK : TWIN_EINVAL;
    }
    if (wish->has_reject && wish->has_accept) {
        status = twin_plan_from_errors(out, wish->reject, wish->accept, TWIN_MINHASH_MAX_SLOTS);
    } else {
        wish->accept = (twin_plan_point){ wish->has_threshold ? wish->threshold : 0.8,
                                          wish->has_recall ? wish->recall : TWIN_SCHEME_RECALL };
        status =
            twin_plan_from_slots(out, wish->accept, wish->has_hashes ? wish->hashes : TWIN_MINHASH_DEFAULT_SLOTS);
    }
    if (status != TWIN_OK)
        snprintf(error->message, sizeof error->message, "%s", twin_error_last(status));
    return status;
}

static void record_command(struct record *record, const struct wish *wish, twin_plan plan)
{
    char command[200];
    if (wish->has_reject && wish->has_accept && !wish->has_bands)
        snprintf(command, sizeof command, "twinsift plan --reject %g:%g --accept %g:%g --curve",
                 wish->reject.similarity, wish->reject.probability, wish->accept.similarity,
                 wish->accept.probability);
    else
        snprintf(command, sizeof command, "twinsift plan --bands %zu --rows %zu --threshold %g --curve", plan.bands,
                 plan.rows, wish->has_threshold ? wish->threshold : 0.8);
    record_string(record, "command", command);
}

static void write_plan(struct exchange *exchange, const struct wish *wish, twin_plan plan)
{
    double threshold = wish->has_threshold ? wish->threshold : 0.8;
    struct record record = record_begin(exchange->out, true);
    record_count(&record, "bands", plan.bands);
    record_count(&record, "rows", plan.rows);
    record_count(&record, "hashes", plan.bands * plan.rows);
    record_number(&record, "threshold", threshold, 9);
    record_number(&record, "probability", twin_plan_probability(plan, threshold), 9);
    record_object(&record, "areas");
    record_number(&record, "false_positives", area(plan, 0, threshold), 6);
    record_number(&record, "false_negatives", 1 - threshold - area(plan, threshold, 1), 6);
    record_object_end(&record);
    record_list(&record, "curve");
    for (int i = 0; i <= CURVE_STEPS; i++) {
        record_list(&record, NULL);
        record_fixed(&record, NULL, (double)i / CURVE_STEPS, 2);
        record_number(&record, NULL, twin_plan_probability(plan, (double)i / CURVE_STEPS), 9);
        record_list_end(&record);
    }
    record_list_end(&record);
    record_command(&record, wish, plan);
    record_end(&record);
}

void answer_plan(struct exchange *exchange)
{
    struct wish wish = { 0 };
    twin_plan plan;
    const struct json_field fields[] = {
        { "reject", JSON_POINT, &wish.reject, &wish.has_reject },
        { "accept", JSON_POINT, &wish.accept, &wish.has_accept },
        { "threshold", JSON_NUMBER, &wish.threshold, &wish.has_threshold },
        { "recall", JSON_NUMBER, &wish.recall, &wish.has_recall },
        { "hashes", JSON_COUNT, &wish.hashes, &wish.has_hashes },
        { "bands", JSON_COUNT, &wish.bands, &wish.has_bands },
        { "rows", JSON_COUNT, &wish.rows, &wish.has_rows },
    };
    if (!read_json(exchange, exchange->body, fields, sizeof fields / sizeof fields[0]))
        return;
    bool in_range = !wish.has_threshold || (wish.threshold > 0 && wish.threshold <= 1);
    twin_error error = { 0 };
    twin_status status = in_range ? make_plan(&plan, &wish, &error) : TWIN_EINVAL;
    if (!in_range)
        snprintf(error.message, sizeof error.message, "the threshold must be above 0 and at most 1");
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    else
        write_plan(exchange, &wish, plan);
}

/* ---- Bloom filters */

enum { MOST_CELLS = 4096 };

static void record_cells(struct record *record, const char *name, const twin_bloom *bloom)
{
    record_list(record, name);
    for (uint64_t i = 0; i < twin_bloom_shape_of(bloom).cells; i++)
        if (twin_bloom_cell(bloom, i))
            record_count(record, NULL, i);
    record_list_end(record);
}

struct filter {
    struct json_texts add, ask;
    uint64_t cells, functions;
    bool has_add, has_ask, has_cells, has_functions;
    twin_bloom_options options;
    twin_bloom *bloom;
};

/* An item, and the cells of a filter that has this item only. */
static twin_status record_item(struct record *record, struct filter *filter, twin_text item, bool answer,
                               const char *what)
{
    twin_bloom *alone;
    twin_status status = twin_bloom_create(&alone, filter->options);
    if (status == TWIN_OK)
        twin_bloom_add(alone, item.bytes, item.length);
    record_object(record, NULL);
    record_text(record, "item", item);
    record_flag(record, what, answer);
    if (status == TWIN_OK)
        record_cells(record, "cells", alone);
    record_object_end(record);
    twin_bloom_free(alone);
    return status;
}

static twin_status record_filter(struct record *record, struct filter *filter)
{
    twin_bloom_info info;
    twin_status status = TWIN_OK;
    record_list(record, "added");
    for (size_t i = 0; i < filter->add.count && status == TWIN_OK; i++) {
        twin_text item = filter->add.items[i];
        bool fresh = twin_bloom_add(filter->bloom, item.bytes, item.length);
        status = record_item(record, filter, item, fresh, "new");
    }
    record_list_end(record);
    record_list(record, "asked");
    for (size_t i = 0; i < filter->ask.count && status == TWIN_OK; i++) {
        twin_text item = filter->ask.items[i];
        bool found = twin_bloom_may_contain(filter->bloom, item.bytes, item.length);
        status = record_item(record, filter, item, found, "found");
    }
    record_list_end(record);
    if (status != TWIN_OK)
        return status;
    twin_bloom_describe(&info, filter->bloom);
    record_count(record, "cells", info.shape.cells);
    record_count(record, "functions", info.shape.functions);
    record_cells(record, "marked", filter->bloom);
    record_number(record, "rate", info.rate, 6);
    record_list(record, "rates_by_functions"); /* for as many items */
    for (unsigned k = 1; k <= 16; k++) {
        twin_bloom_shape shape = info.shape;
        shape.functions = k;
        record_number(record, NULL, twin_bloom_expected_rate(shape, (double)filter->add.count), 6);
    }
    record_list_end(record);
    record_list(record, "rates_by_cells");
    for (uint64_t count = 512; count <= MOST_CELLS; count += 512) {
        twin_bloom_shape shape = info.shape;
        shape.cells = count;
        record_number(record, NULL, twin_bloom_expected_rate(shape, (double)filter->add.count), 6);
    }
    record_list_end(record);
    return TWIN_OK;
}

void answer_bloom(struct exchange *exchange)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (!filter) {
        exchange_fail_status(exchange, TWIN_ENOMEM, NULL);
        return;
    }
    const struct json_field fields[] = { { "add", JSON_TEXTS, &filter->add, &filter->has_add },
                                         { "ask", JSON_TEXTS, &filter->ask, &filter->has_ask },
                                         { "cells", JSON_COUNT, &filter->cells, &filter->has_cells },
                                         { "functions", JSON_COUNT, &filter->functions, &filter->has_functions } };
    bool good = read_json(exchange, exchange->body, fields, 4);
    filter->cells = filter->has_cells ? filter->cells : 512;
    filter->functions = filter->has_functions ? filter->functions : 4;
    if (good &&
        (filter->cells < 512 || filter->cells > MOST_CELLS || filter->functions < 1 || filter->functions > 16)) {
        exchange_fail(exchange, 400, "invalid", "a filter has 512 to 4096 cells here, and 1 to 16 functions");
        good = false;
    }
    filter->options = (twin_bloom_options){ .items = filter->add.count + 1,
                                            .cells = filter->cells,
                                            .functions = (unsigned)filter->functions };
    if (good) {
        twin_status status = twin_bloom_create(&filter->bloom, filter->options);
        struct record record = record_begin(exchange->out, true);
        if (status == TWIN_OK)
            status = record_filter(&record, filter);
        record_end(&record);
        if (status != TWIN_OK)
            exchange_fail_status(exchange, status, NULL);
    }
    twin_bloom_free(filter->bloom);
    free(filter);
}

/* routes.c — the table of routes; those about the server itself. */
#include "page.h"
#include "server.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* ---- the page */

static void answer_page(struct exchange *exchange)
{
    const char *name = exchange->names[0] ? exchange->names[0] : "index.html";
    for (const struct page_file *file = page_files; file->name; file++)
        if (strcmp(file->name, name) == 0) {
            exchange->type = file->type;
            fwrite(file->bytes, 1, file->length, exchange->out);
            return;
        }
    exchange_fail(exchange, 404, "route", "there is no such path");
}

/* ---- the server */

static void answer_alive(struct exchange *exchange)
{
    exchange->type = "text/plain";
    fputs("ok\n", exchange->out);
}

static void answer_ready(struct exchange *exchange)
{
    struct server *server = exchange->server;
    if (server->models && !models_ready(server->models))
        exchange_fail(exchange, 503, "model", "a mail model cannot be read");
    else
        answer_alive(exchange);
}

static void write_gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
    fprintf(out, "# HELP twinsift_%s %s\n# TYPE twinsift_%s gauge\ntwinsift_%s %" PRIu64 "\n", name, help, name, name,
            value);
}

static void write_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    fprintf(out, "# HELP twinsift_%s_total %s\n# TYPE twinsift_%s_total counter\ntwinsift_%s_total %" PRIu64 "\n",
            name, help, name, name, value);
}

static void write_models(FILE *out, struct models *models)
{
    struct models_counts counts = models_count(models);
    struct model_use use;
    write_gauge(out, "mail_models_open", "Models in memory.", counts.open);
    write_gauge(out, "mail_changes_waiting", "Changes in the queue of the writer.", counts.waiting);
    write_counter(out, "mail_changes", "Changes that were acknowledged.", counts.changes);
    write_counter(out, "mail_changes_refused", "Changes refused since the queue was full.", counts.refused);
    write_counter(out, "mail_commits", "Commits of the writer.", counts.commits);
    write_counter(out, "mail_loads", "Snapshots that were loaded.", counts.loads);
    write_counter(out, "mail_failures", "Loads and commits that failed.", counts.failures);
    if (models_take(&use, models, NULL, NULL) != TWIN_OK)
        return;
    write_gauge(out, "mail_snapshot_age_seconds", "Since the snapshot of the model was loaded.",
                (uint64_t)((int64_t)time(NULL) > use.loaded ? (int64_t)time(NULL) - use.loaded : 0));
    models_give_back(models, &use);
}

static void write_spamd(FILE *out, struct spamd *spamd)
{
    struct spamd_counts counts = spamd_count(spamd);
    write_gauge(out, "spamd_connections", "Open connections of the protocol of spamd.", counts.connections);
    write_counter(out, "spamd_told", "Changes that were asked for by TELL and acknowledged.", counts.told);
    write_counter(out, "spamd_faults", "Requests that were refused, or could not be answered.", counts.faults);
    write_counter(out, "spamd_timeouts", "Clients that were dropped because they were slow.", counts.timeouts);
}

static void answer_metrics(struct exchange *exchange)
{
    struct server *server = exchange->server;
    struct http_counts counts = http_count(server->http);
    exchange->type = "text/plain; version=0.0.4";
    metrics_write(exchange->out, server->metrics);
    write_gauge(exchange->out, "connections", "Open connections.", counts.connections);
    write_gauge(exchange->out, "requests_active", "Requests that are read, worked on or answered.", counts.active);
    write_gauge(exchange->out, "body_bytes", "Memory of request bodies.", counts.body_bytes);
    if (server->models)
        write_models(exchange->out, server->models);
    if (server->spamd)
        write_spamd(exchange->out, server->spamd);
}

static void record_models(struct record *record, struct server *server)
{
    struct model_use use;
    twin_mail_info info;
    twin_error error = { 0 };
    record_flag(record, "mail", server->models != NULL);
    record_flag(record, "many_models", server->many_models);
    if (!server->models || models_take(&use, server->models, NULL, &error) != TWIN_OK)
        return;
    if (twin_mail_describe(&info, use.mail, &error) == TWIN_OK) {
        record_object(record, "model");
        record_count(record, "messages", info.messages);
        record_count(record, "bytes", use.bytes);
        record_count(record, "loaded", (uint64_t)use.loaded);
        int64_t newest = 0;
        for (size_t i = 0; i < info.count; i++)
            newest = info.labels[i].messages && info.labels[i].newest > newest ? info.labels[i].newest : newest;
        record_count(record, "newest", (uint64_t)newest);
        record_list(record, "labels");
        for (size_t i = 0; i < info.count; i++) {
            record_object(record, NULL);
            record_string(record, "label", info.labels[i].name);
            record_count(record, "messages", info.labels[i].messages);
            record_object_end(record);
        }
        record_list_end(record);
        record_object_end(record);
    }
    models_give_back(server->models, &use);
}

static void record_index(struct record *record, struct server *server, const char *name)
{
    struct index_use use;
    bool found;
    twin_index_info info;
    twin_error error = { 0 };
    record_object(record, NULL);
    record_string(record, "name", name);
    if (indexes_take(&use, &found, server->indexes, name, &error) == TWIN_OK && found) {
        if (twin_index_describe(&info, use.view, &error) == TWIN_OK) {
            record_count(record, "documents", info.documents);
            record_count(record, "bytes", info.bytes);
            record_number(record, "threshold", use.options.scheme.threshold, 6);
            record_string(record, "keep", twin_name_of(TWIN_NAMES_KEEP, use.options.keep));
        }
        indexes_give_back(server->indexes, &use);
    }
    record_object_end(record);
}

static void answer_overview(struct exchange *exchange)
{
    struct server *server = exchange->server;
    struct http_counts counts = http_count(server->http);
    struct record record = record_begin(exchange->out, true);
    record_string(&record, "version", twin_version());
    record_flag(&record, "demo", server->options->demo);
    record_count(&record, "now", (uint64_t)time(NULL));
    record_count(&record, "connections", counts.connections);
    record_models(&record, server);
    record_list(&record, "indexes");
    for (size_t i = 0; i < indexes_count(server->indexes); i++)
        record_index(&record, server, indexes_name(server->indexes, i));
    record_list_end(&record);
    metrics_record(&record, server->metrics);
    record_end(&record);
}

#define ANY_TEXT (CONTENT_JSON | CONTENT_TEXT)

const struct route routes[] = {
    { .name = "mail_check",
      .method = "POST",
      .path = "/v1/mail/check",
      .pool = POOL_MAIL,
      .takes = CONTENT_MAIL | CONTENT_LINES,
      .run = answer_mail_check,
      .line = answer_mail_check_line },
    { .name = "query",
      .method = "POST",
      .path = "/v1/indexes/*/query",
      .pool = POOL_INDEX,
      .takes = ANY_TEXT | CONTENT_LINES,
      .run = answer_query,
      .line = answer_query_line },
    { .name = "mail_learn",
      .method = "POST",
      .path = "/v1/mail/learn",
      .pool = POOL_MAIL,
      .takes = CONTENT_MAIL,
      .changes = true,
      .later = true,
      .run = answer_mail_learn },
    { .name = "mail_correct",
      .method = "POST",
      .path = "/v1/mail/correct",
      .pool = POOL_MAIL,
      .takes = CONTENT_MAIL,
      .changes = true,
      .later = true,
      .run = answer_mail_correct },
    { .name = "mail_forget",
      .method = "POST",
      .path = "/v1/mail/forget",
      .pool = POOL_MAIL,
      .takes = CONTENT_MAIL,
      .changes = true,
      .later = true,
      .run = answer_mail_forget },
    { .name = "mail", .method = "GET", .path = "/v1/mail", .pool = POOL_MAIL, .run = answer_mail_info },
    { .name = "indexes", .method = "GET", .path = "/v1/indexes", .pool = POOL_INDEX, .run = answer_indexes },
    { .name = "index", .method = "GET", .path = "/v1/indexes/*", .pool = POOL_INDEX, .run = answer_index_info },
    { .name = "documents_list",
      .method = "GET",
      .path = "/v1/indexes/*/documents",
      .pool = POOL_INDEX,
      .run = answer_documents_list },
    { .name = "documents_add",
      .method = "POST",
      .path = "/v1/indexes/*/documents",
      .pool = POOL_INDEX,
      .takes = CONTENT_LINES,
      .changes = true,
      .line = answer_documents_line,
      .end = answer_documents_end },
    { .name = "document_get",
      .method = "GET",
      .path = "/v1/indexes/*/documents/**",
      .pool = POOL_INDEX,
      .run = answer_document_get },
    { .name = "document_put",
      .method = "PUT",
      .path = "/v1/indexes/*/documents/**",
      .pool = POOL_INDEX,
      .takes = ANY_TEXT,
      .changes = true,
      .run = answer_document_put },
    { .name = "document_delete",
      .method = "DELETE",
      .path = "/v1/indexes/*/documents/**",
      .pool = POOL_INDEX,
      .changes = true,
      .run = answer_document_delete },
    { .name = "compare",
      .method = "POST",
      .path = "/v1/compare",
      .pool = POOL_HEAVY,
      .takes = CONTENT_JSON,
      .run = answer_compare },
    { .name = "plan",
      .method = "POST",
      .path = "/v1/plan",
      .pool = POOL_HEAVY,
      .takes = CONTENT_JSON,
      .run = answer_plan },
    { .name = "bloom",
      .method = "POST",
      .path = "/v1/bloom",
      .pool = POOL_HEAVY,
      .takes = CONTENT_JSON,
      .run = answer_bloom },
    { .name = "edit",
      .method = "POST",
      .path = "/v1/edit",
      .pool = POOL_HEAVY,
      .takes = CONTENT_JSON,
      .run = answer_edit },
    { .name = "pairs",
      .method = "POST",
      .path = "/v1/pairs",
      .pool = POOL_PAIRS,
      .takes = CONTENT_LINES,
      .line = answer_pairs_line,
      .end = answer_pairs_end },
    { .name = "overview", .method = "GET", .path = "/v1/overview", .pool = POOL_MAIL, .run = answer_overview },
    { .name = "healthz", .method = "GET", .path = "/healthz", .run = answer_alive },
    { .name = "readyz", .method = "GET", .path = "/readyz", .run = answer_ready },
    { .name = "metrics", .method = "GET", .path = "/metrics", .pool = POOL_MAIL, .run = answer_metrics },
    { .name = "page", .method = "GET", .path = "/", .run = answer_page },
    { .name = "page", .method = "GET", .path = "/page/*", .run = answer_page },
    { 0 },
};

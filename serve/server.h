/* server.h — what the routes work on. */
#ifndef TWIN_SERVE_SERVER_H
#define TWIN_SERVE_SERVER_H

#include "http.h"
#include "indexes.h"
#include "metrics.h"
#include "models.h"
#include "serve.h"
#include "spamd.h"

struct server {
    const struct serve_options *options;
    struct models *models; /* NULL: no mail */
    bool many_models;
    struct indexes *indexes;
    struct metrics *metrics;
    struct http *http;
    struct spamd *spamd; /* NULL: it is not spoken */
    const char *command; /* how the demo is called in command lines: its folder; NULL otherwise */
};

extern const struct route routes[]; /* ended by zeros */

/* routes.c and the files of its routes */
void answer_mail_check(struct exchange *exchange);
void answer_mail_check_line(struct exchange *exchange, twin_text line);
void answer_mail_learn(struct exchange *exchange);
void answer_mail_correct(struct exchange *exchange);
void answer_mail_forget(struct exchange *exchange);
void answer_mail_info(struct exchange *exchange);

void answer_indexes(struct exchange *exchange);
void answer_index_info(struct exchange *exchange);
void answer_query(struct exchange *exchange);
void answer_query_line(struct exchange *exchange, twin_text line);
void answer_document_get(struct exchange *exchange);
void answer_document_put(struct exchange *exchange);
void answer_document_delete(struct exchange *exchange);
void answer_documents_line(struct exchange *exchange, twin_text line);
void answer_documents_end(struct exchange *exchange);
void answer_documents_list(struct exchange *exchange);

void answer_compare(struct exchange *exchange);
void answer_plan(struct exchange *exchange);
void answer_bloom(struct exchange *exchange);
void answer_edit(struct exchange *exchange);
void answer_pairs_line(struct exchange *exchange, twin_text line);
void answer_pairs_end(struct exchange *exchange);

/* route_compare.c: the list "differences" of two texts. */
twin_status record_differences(struct record *record, twin_text a, twin_text b);

/* Reads the body, or a line, as a JSON object; on false the answer is the error. */
#include "json_in.h"
bool read_json(struct exchange *exchange, twin_text text, const struct json_field *fields, size_t count);

#endif

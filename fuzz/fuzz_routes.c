/* fuzz_routes.c — any bytes as bodies of the routes that need no model and no index. The first byte chooses the route; of
 * pairs, each line is a document. Every answer is one line of JSON, and no request is the server's fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/server.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

const char *exchange_parameter(const struct exchange *exchange, const char *name)
{
    (void)exchange;
    (void)name;
    return NULL;
}

bool exchange_charge(struct exchange *exchange, size_t bytes)
{
    (void)exchange;
    (void)bytes;
    return true;
}

twin_progress exchange_progress(struct exchange *exchange)
{
    (void)exchange;
    return (twin_progress){ NULL, NULL };
}

void exchange_stopped(struct exchange *exchange)
{
    (void)exchange;
    demand(false);
}

static void each_line(struct exchange *exchange)
{
    const char *at = exchange->body.bytes, *end = at + exchange->body.length;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        exchange->line_number++;
        twin_buffer_clear(&exchange->room);
        exchange->line_begin = (size_t)ftello(exchange->out);
        answer_pairs_line(exchange, (twin_text){ at, (size_t)(line_end - at) });
        at = line_end + 1;
    }
    exchange->line_begin = (size_t)ftello(exchange->out);
    answer_pairs_end(exchange);
}

/* Braces and brackets outside strings are closed in order, and so is each line. */
static void check_json(const char *text, size_t length)
{
    char open[64];
    size_t depth = 0;
    bool quoted = false;
    demand(length == 0 || text[length - 1] == '\n');
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        demand((unsigned char)c >= ' ' || (c == '\n' && depth == 0 && !quoted));
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '{' || c == '[') {
            demand(depth < sizeof open);
            open[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            demand(depth > 0 && open[--depth] == c);
        } else {
            quoted = c == '"';
        }
    }
    demand(depth == 0 && !quoted);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static void (*const answers[])(struct exchange *) = { answer_compare, answer_plan, answer_bloom, answer_edit,
                                                          each_line };
    char *written = NULL;
    size_t length = 0;
    if (size == 0 || size > 20000)
        return 0;
    struct exchange exchange = { .body = { (const char *)data + 1, size - 1 }, .status = 200 };
    exchange.out = open_memstream(&written, &length);
    demand(exchange.out);
    answers[data[0] % (sizeof answers / sizeof answers[0])](&exchange);
    demand(fclose(exchange.out) == 0);
    demand(exchange.status == 200 || (exchange.status >= 400 && exchange.status < 500));
    check_json(written, length);
    if (exchange.free_state)
        exchange.free_state(exchange.state);
    twin_buffer_clear(&exchange.room);
    free(written);
    return 0;
}

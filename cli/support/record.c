/* record.c — results as tab-separated lines or JSON. */
#include "record.h"

#include "escape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct record record_begin(FILE *out, bool json)
{
    if (json)
        fputc('{', out);
    return (struct record){ out, json, true };
}

void record_end(struct record *record)
{
    fputs(record->json ? "}\n" : "\n", record->out);
}

/* What comes before a value: a tab, or a comma and the name. */
static void begin_field(struct record *record, const char *name)
{
    if (!record->first)
        fputc(record->json ? ',' : '\t', record->out);
    if (record->json && name) { /* names are our own: nothing to escape */
        fputc('"', record->out);
        fputs(name, record->out);
        fputs("\":", record->out);
    }
    record->first = false;
}

void record_text(struct record *record, const char *name, twin_text text)
{
    begin_field(record, name);
    if (record->json)
        escape_json(record->out, text.bytes, text.length);
    else
        escape_tsv(record->out, text.bytes, text.length);
}

void record_string(struct record *record, const char *name, const char *string)
{
    record_text(record, name, (twin_text){ string, strlen(string) });
}

void record_id(struct record *record, const char *name, twin_text id, bool is_number)
{
    if (!record->json || !is_number) {
        record_text(record, name, id);
        return;
    }
    begin_field(record, name);
    fwrite(id.bytes, 1, id.length, record->out);
}

void record_document(struct record *record, const char *name, const twin_collection *collection, uint32_t document)
{
    twin_collection_entry entry = twin_collection_entry_of(collection, document);
    record_id(record, name, entry.id, entry.id_is_number);
}

void record_count(struct record *record, const char *name, uint64_t count)
{
    begin_field(record, name);
    fprintf(record->out, "%" PRIu64, count);
}

void record_flag(struct record *record, const char *name, bool flag)
{
    begin_field(record, name);
    fputs(flag ? "true" : "false", record->out);
}

void record_null(struct record *record, const char *name)
{
    begin_field(record, name);
    fputs("null", record->out);
}

void record_fixed(struct record *record, const char *name, double number, int decimals)
{
    if (record->json && !isfinite(number)) {
        record_null(record, name);
        return;
    }
    begin_field(record, name);
    fprintf(record->out, "%.*f", decimals, number);
}

void record_number(struct record *record, const char *name, double number, int digits)
{
    if (record->json && !isfinite(number)) {
        record_null(record, name);
        return;
    }
    begin_field(record, name);
    fprintf(record->out, "%.*g", digits, number);
}

static void open_level(struct record *record, const char *name, char bracket)
{
    begin_field(record, name);
    fputc(bracket, record->out);
    record->first = true;
}

static void close_level(struct record *record, char bracket)
{
    fputc(bracket, record->out);
    record->first = false;
}

void record_object(struct record *record, const char *name)
{
    open_level(record, name, '{');
}

void record_object_end(struct record *record)
{
    close_level(record, '}');
}

void record_list(struct record *record, const char *name)
{
    open_level(record, name, '[');
}

void record_list_end(struct record *record)
{
    close_level(record, ']');
}

/* record.h — one writer of results, as a tab-separated line or as a JSON object per line.
 *
 *     struct record record = record_begin(stdout, json);
 *     record_id(&record, "a", id, is_number);
 *     record_fixed(&record, "similarity", 0.8, 4);
 *     record_end(&record);
 *
 * prints "ID<TAB>0.8000" or {"a":"ID","similarity":0.8000}. Names appear in JSON only; so do lists and objects
 * inside. */
#ifndef TWIN_SUPPORT_RECORD_H
#define TWIN_SUPPORT_RECORD_H

#include <stdio.h>
#include <twinsift/twinsift.h>

struct record {
    FILE *out;
    bool json;
    bool first; /* nothing has been written at this level */
};

struct record record_begin(FILE *out, bool json);
void record_end(struct record *record);

/* Fields; the name is NULL in a list. */
void record_text(struct record *record, const char *name, twin_text text);
void record_string(struct record *record, const char *name, const char *string);
void record_id(struct record *record, const char *name, twin_text id, bool is_number);
void record_document(struct record *record, const char *name, const twin_collection *collection,
                     uint32_t document); /* its id */
void record_count(struct record *record, const char *name, uint64_t count);
void record_flag(struct record *record, const char *name, bool flag);
/* In JSON, what is not finite is null. */
void record_fixed(struct record *record, const char *name, double number, int decimals); /* 0.8000 */
void record_number(struct record *record, const char *name, double number, int digits); /* at most this many digits */
void record_null(struct record *record, const char *name);

/* JSON only: an object or a list as a field. */
void record_object(struct record *record, const char *name);
void record_object_end(struct record *record);
void record_list(struct record *record, const char *name);
void record_list_end(struct record *record);

#endif

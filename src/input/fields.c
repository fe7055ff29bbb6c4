/* fields.c — the fields of a record that a document is made of. */
#include "input/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Splits a name at its dots into steps, of which it takes the first from `steps`. With an empty step, as in "a..b",
 * it is one step: the name as it is. */
static struct twin__field field_of(twin_text name, twin_text *steps)
{
    struct twin__field field = { .name = name, .steps = steps };
    const char *at = name.bytes, *end = name.bytes + name.length;
    for (bool last = false; !last; field.step_count++) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        last = !dot;
        dot = dot ? dot : end;
        if (dot == at) {
            steps[0] = name;
            field.step_count = 1;
            return field;
        }
        steps[field.step_count] = (twin_text){ at, (size_t)(dot - at) };
        at = dot + 1;
    }
    return field;
}

static twin_status add_field(struct twin__fields *fields, twin_text name, twin_error *error)
{
    if (!name.length)
        return twin__fail(error, TWIN_EINVAL, "the name of a field is empty");
    if (fields->count == TWIN__MAX_FIELDS)
        return twin__fail(error, TWIN_EINVAL, "a text can be made of at most %d fields",
                          TWIN__MAX_FIELDS - TWIN__FIELD_TEXT);
    twin_text *steps = fields->steps;
    for (size_t i = 0; i < fields->count; i++)
        steps += fields->items[i].step_count;
    fields->items[fields->count++] = field_of(name, steps);
    return TWIN_OK;
}

twin_status twin__fields_init(struct twin__fields *out, const char *id, const char *texts, twin_error *error)
{
    *out = (struct twin__fields){ 0 };
    out->steps = calloc(strlen(id) + strlen(texts) + 2, sizeof *out->steps);
    if (!out->steps)
        return twin__fail_memory(error);
    twin_status status = add_field(out, (twin_text){ id, strlen(id) }, error);
    for (const char *at = texts; at && status == TWIN_OK;) {
        const char *comma = strchr(at, ',');
        status = add_field(out, (twin_text){ at, comma ? (size_t)(comma - at) : strlen(at) }, error);
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

void twin__fields_clear(struct twin__fields *fields)
{
    free(fields->steps);
    *fields = (struct twin__fields){ 0 };
}

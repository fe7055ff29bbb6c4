/* fields.h — the fields of a record that a document is made of: its id, and one or more texts. */
#ifndef TWIN_INPUT_FIELDS_H
#define TWIN_INPUT_FIELDS_H

#include <string.h>
#include <twinsift/text.h>

static inline bool twin__same_text(twin_text a, twin_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* The id, and at most 16 texts. */
enum { TWIN__FIELD_ID = 0, TWIN__FIELD_TEXT = 1, TWIN__MAX_FIELDS = 17 };

/* "doc.text" is the column of this name, or the member "text" of the object "doc": two steps. */
struct twin__field {
    twin_text name;
    const twin_text *steps;
    size_t step_count;
};

/* Begin with {0}. */
struct twin__fields {
    struct twin__field items[TWIN__MAX_FIELDS]; /* the id, and then the texts in the order in which they are joined */
    size_t count;
    twin_text *steps; /* of all */
};

/* Splits names: that of the id at its dots, those of the texts at commas and then at dots. Borrows both. A name that is
 * empty, and too many: TWIN_EINVAL. */
twin_status twin__fields_init(struct twin__fields *out, const char *id, const char *texts, twin_error *error);
void twin__fields_clear(struct twin__fields *fields);

#endif

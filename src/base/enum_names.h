/* enum_names.h — tables of names. */
#ifndef TWIN_BASE_ENUM_NAMES_H
#define TWIN_BASE_ENUM_NAMES_H

#include <string.h>

#include "base/error.h"

/* The number of `name` in a table of `count`, to be stored in `out` by the caller. -1, and the reason in
 * twin_error_last(), when it is no `what` of the table or one of the two is NULL. */
static inline int twin__enum_from_name(const void *out, const char *what, const char *name, const char *const *names,
                                       int count)
{
    for (int i = 0; out && name && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    if (!out || !name)
        twin__fail_null(NULL, out ? "name" : "out");
    else
        twin__fail(NULL, TWIN_EINVAL, "there is no %s \"%s\"", what, name);
    return -1;
}

#endif

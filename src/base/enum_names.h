/* enum_names.h — tables of names. */
#ifndef TWIN_BASE_ENUM_NAMES_H
#define TWIN_BASE_ENUM_NAMES_H

#include <string.h>

#include "base/error.h"

/* The name of a number; "" when it has none. */
static inline const char *twin__enum_name(int number, const char *const *names, int count)
{
    return number >= 0 && number < count ? names[number] : "";
}

/* The number of `name` in a table of `count`; -1 when it is not there. */
static inline int twin__enum_from_name(const char *name, const char *const *names, int count)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* TWIN_EINVAL for a name that is no `what`, or where there is no room for the answer. */
static inline twin_status twin__fail_name(const void *out, const char *what, const char *name)
{
    if (!out || !name)
        return twin__fail_null(NULL, out ? "name" : "out");
    return twin__fail(NULL, TWIN_EINVAL, "there is no %s \"%s\"", what, name);
}

#endif

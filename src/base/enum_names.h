/* enum_names.h — names of enumeration values. */
#ifndef TWIN_BASE_ENUM_NAMES_H
#define TWIN_BASE_ENUM_NAMES_H

#include <string.h>

/* The number of `name` in a table of `count`; -1 when it is absent. */
static inline int twin__enum_from_name(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

#endif

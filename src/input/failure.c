/* failure.c — failures to open or read one of many files. */
#include "input/failure.h"

#include <errno.h>
#include <string.h>

bool twin__is_our_failure(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

const char *twin__after_name(const char *message, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(message, name, length) != 0)
        return message;
    message += length;
    return message + strspn(message, ": ");
}

/* overwrite.h — outputs that would destroy what is read, or each other. */
#ifndef TWIN_SUPPORT_OVERWRITE_H
#define TWIN_SUPPORT_OVERWRITE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether writing `output` would overwrite what is read: one of these files, or a file in one of these folders. Then the
 * error has been reported. */
bool overwrites_input(const char *output, const char *const *inputs, size_t count);

/* Whether two names are of one file, which need not exist yet, or both standard output, "-". Devices may have two. */
bool is_same_output(const char *a, const char *b);

#endif

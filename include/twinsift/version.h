/* version.h — the version of the headers and of the library. */
#ifndef TWINSIFT_VERSION_H
#define TWINSIFT_VERSION_H

#include <twinsift/status.h>

#define TWINSIFT_VERSION_MAJOR 0
#define TWINSIFT_VERSION_MINOR 1
#define TWINSIFT_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, "0.1.0". */
TWIN_API const char *twin_version(void);

#ifdef __cplusplus
}
#endif
#endif

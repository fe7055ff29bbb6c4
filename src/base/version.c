/* version.c — the version of the library. */
#include <twinsift/version.h>

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *twin_version(void)
{
    return VERSION_TEXT(TWINSIFT_VERSION_MAJOR, TWINSIFT_VERSION_MINOR, TWINSIFT_VERSION_PATCH);
}

// hash_farm.cc — FarmHash has a C++ face; this is its C one.
// Only the Fingerprint functions give the same value on every machine and in every build.
#include <farmhash.h>

#include "sketch/hash_farm.h"

extern "C" uint64_t twin__farm_fingerprint(const char *bytes, size_t length)
{
    return util::Fingerprint64(bytes, length);
}

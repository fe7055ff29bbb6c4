/* families.h — tests of hash families also pass in a build that has not all of them. */
#ifndef TWIN_TESTS_FAMILIES_H
#define TWIN_TESTS_FAMILIES_H

#include <twinsift/hash.h>

/* The family, or the default one when this build has left it out. */
static inline twin_hash_family present_family(twin_hash_family family)
{
    return twin_hash_available(family) == TWIN_EUNSUPPORTED ? TWIN_HASH_XXH3 : family;
}

#endif

/* digester.h — twin_hash_digest() of bytes that come piece by piece. */
#ifndef TWIN_SKETCH_DIGESTER_H
#define TWIN_SKETCH_DIGESTER_H

#include <twinsift/hash.h>

struct twin__digester;

twin_status twin__digester_create(struct twin__digester **out, twin_hash hash);
void twin__digester_free(struct twin__digester *digester);
void twin__digester_add(struct twin__digester *digester, const void *bytes, size_t length);
twin_digest twin__digester_end(const struct twin__digester *digester);

#endif

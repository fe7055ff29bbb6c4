#ifndef TWIN_SKETCH_HASH_FARM_H
#define TWIN_SKETCH_HASH_FARM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
uint64_t twin__farm_fingerprint(const char *bytes, size_t length);
#ifdef __cplusplus
}
#endif
#endif

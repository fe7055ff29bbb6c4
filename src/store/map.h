/* map.h — how much of a store is mapped. */
#ifndef TWIN_STORE_MAP_H
#define TWIN_STORE_MAP_H

#include "store/store.h"

/* The bytes of addresses that are mapped. Setting them is for tests: the map grows by itself. */
size_t twin__store_map(const twin__store *store);
bool twin__store_set_map(twin__store *store, size_t bytes);

#endif

/* page_walk.h — a walk through all trees of a file. */
#ifndef TWIN_STORE_PAGE_WALK_H
#define TWIN_STORE_PAGE_WALK_H

#include "store/page.h"

/* TWIN_OK with what is wrong, if anything, in file->wrong; TWIN_ENOMEM. */
twin_status twin__page_walk(struct twin__page_file *file);

#endif

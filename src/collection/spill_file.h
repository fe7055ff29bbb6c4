/* spill_file.h — an array grows in a temporary file: bytes are only appended; in the end the file is mapped. */
#ifndef TWIN_COLLECTION_SPILL_FILE_H
#define TWIN_COLLECTION_SPILL_FILE_H

#include "base/spill.h"

#define TWIN__NO_SPILL                                                                                               \
    {                                                                                                                \
        .fd = -1                                                                                                     \
    }

/* Makes an unnamed file in the folder. TWIN_EIO and errno when that fails, as in the next two. */
twin_status twin__spill_open(struct twin__spill *spill, const char *folder, size_t most_touched);
void twin__spill_clear(struct twin__spill *spill);

/* Adds to the end. */
twin_status twin__spill_append(struct twin__spill *spill, const void *bytes, size_t length);

/* Nothing will be appended any more: `bytes` becomes the whole array. */
twin_status twin__spill_map(struct twin__spill *spill);

#endif

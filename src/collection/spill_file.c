/* spill_file.c — an array grows in a temporary file. */
#include "collection/spill_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"

enum { WRITTEN_AT_ONCE = 1 << 20 }; /* bytes, in many small pieces */

twin_status twin__spill_open(struct twin__spill *spill, const char *folder, size_t most_touched)
{
    *spill = (struct twin__spill){ .fd = twin__temporary_file(folder), .most_touched = most_touched };
    return spill->fd < 0 ? TWIN_EIO : TWIN_OK;
}

void twin__spill_clear(struct twin__spill *spill)
{
    if (spill->is_mapped)
        munmap(spill->bytes, spill->length);
    else
        free(spill->bytes);
    if (spill->fd >= 0)
        close(spill->fd);
    *spill = (struct twin__spill)TWIN__NO_SPILL;
}

/* What is written at once may become one large page of the system's cache, which is mapped as a whole when any of it is
 * touched; so pieces are no larger than what is mapped around a page in any case. */
static twin_status write_pieces(struct twin__spill *spill, const char *bytes, size_t length)
{
    for (size_t done = 0, piece; done < length; done += piece) {
        piece = length - done < TWIN__SPILL_AROUND ? length - done : TWIN__SPILL_AROUND;
        if (!twin__write_at(spill->fd, bytes + done, piece, spill->in_file))
            return TWIN_EIO;
        spill->in_file += piece;
    }
    return TWIN_OK;
}

static twin_status write_out(struct twin__spill *spill)
{
    twin_status status = write_pieces(spill, spill->bytes, spill->length);
    spill->length = 0;
    return status;
}

twin_status twin__spill_append(struct twin__spill *spill, const void *bytes, size_t length)
{
    if (length == 0)
        return TWIN_OK;
    if (length >= WRITTEN_AT_ONCE) { /* no need of a copy, which would be as large as all that was in memory */
        twin_status status = write_out(spill);
        return status == TWIN_OK ? write_pieces(spill, bytes, length) : status;
    }
    if (!TWIN__ARRAY_GROW(&spill->bytes, &spill->capacity, spill->length, length))
        return TWIN_ENOMEM;
    memcpy(spill->bytes + spill->length, bytes, length);
    spill->length += length;
    return spill->length >= WRITTEN_AT_ONCE ? write_out(spill) : TWIN_OK;
}

twin_status twin__spill_map(struct twin__spill *spill)
{
    twin_status status = write_out(spill);
    free(spill->bytes);
    spill->bytes = NULL;
    spill->capacity = 0;
    if (status != TWIN_OK || spill->in_file == 0)
        return status;
    void *mapped = mmap(NULL, spill->in_file, PROT_READ, MAP_SHARED, spill->fd, 0);
    if (mapped == MAP_FAILED)
        return TWIN_EIO;
    spill->bytes = mapped;
    spill->length = spill->in_file;
    spill->is_mapped = true;
    return TWIN_OK;
}

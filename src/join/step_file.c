/* step_file.c — what the files of the steps have in common. */
#include "join/step_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

enum { MOST_PARTS = 1 << 20 };

void twin__step_put_head(struct twin__checked_stream *stream, uint64_t fingerprint, twin_part part)
{
    twin__checked_put_number(stream, fingerprint);
    twin__checked_put_number(stream, part.number);
    twin__checked_put_number(stream, part.of ? part.of : 1);
}

/* The first file tells how many parts there are. */
static twin_status add_part(struct twin__parts_read *parts, uint64_t number, uint64_t of, twin_error *error)
{
    if (!parts->seen) {
        parts->of = (uint32_t)of;
        parts->seen = calloc(of, sizeof *parts->seen);
        if (!parts->seen)
            return twin__fail_memory(error);
    }
    if (of != parts->of)
        return twin__fail(error, TWIN_EINVAL, "one of %" PRIu64 " parts, while the files before it are of %" PRIu32,
                          of, parts->of);
    if (parts->seen[number])
        return twin__fail(error, TWIN_EINVAL, "part %" PRIu64 " of %" PRIu64 " is there twice", number + 1, of);
    parts->seen[number] = true;
    return TWIN_OK;
}

twin_status twin__step_get_head(struct twin__checked_stream *stream, struct twin__parts_read *parts,
                                uint64_t fingerprint, twin_error *error)
{
    uint64_t found, number = 0, of = 0;
    twin_status status = twin__checked_get_number(stream, &found, error);
    if (status == TWIN_OK)
        status = twin__checked_get_number(stream, &number, error);
    if (status == TWIN_OK)
        status = twin__checked_get_number(stream, &of, error);
    if (status != TWIN_OK)
        return status;
    if (of == 0 || of > MOST_PARTS || number >= of)
        return twin__checked_fail(stream, "there is no such part", error);
    if (found != fingerprint)
        return twin__fail(error, TWIN_EINVAL, "made from other signatures, or from the same in another order");
    return add_part(parts, number, of, error);
}

twin_status twin__step_end(struct twin__parts_read *parts, twin_status status, twin_error *error)
{
    for (uint32_t i = 0; i < parts->of && status == TWIN_OK; i++)
        if (!parts->seen[i])
            status = twin__fail(error, TWIN_EINVAL, "part %" PRIu32 " of %" PRIu32 " is missing", i + 1, parts->of);
    free(parts->seen);
    return status;
}

/* dedup_records.h — the records of one input that are written. */
#ifndef TWIN_DEDUP_RECORDS_H
#define TWIN_DEDUP_RECORDS_H

#include "dedup_output.h"

/* Documents begin .. end - 1 are those of one input. */
struct dedup_range {
    uint32_t source;
    size_t begin, end;
};

/* Whether the document is one of those that are written. */
static inline bool dedup_is_chosen(const struct dedup_result *result, size_t document)
{
    return (twin_dedup_keepers(result->dedup)[document] == document) != result->of_dropped;
}

/* About how many bytes those that are written have. */
uint64_t dedup_record_bytes(const struct dedup_result *result, struct dedup_range range);

/* Writes them byte for byte, each with a line end. On false the error has been reported. */
bool write_dedup_records(FILE *out, const struct dedup_result *result, struct dedup_range range);

#endif

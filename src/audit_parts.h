/* audit_parts.h — what the files of the audit share: audit.c compares sets, audit_near.c texts. */
#ifndef TWIN_AUDIT_PARTS_H
#define TWIN_AUDIT_PARTS_H

#include <twinsift/audit.h>

/* Draws `wanted` of the distinct documents, each as likely as any other: increasing. */
void twin__audit_draw(uint32_t *out, size_t wanted, const uint32_t *distinct, size_t count, uint64_t seed);

/* Whether the pair a < b is among the matches, which are sorted. */
bool twin__audit_found(const twin_match *matches, size_t count, uint32_t a, uint32_t b);

/* Fills in what follows from `similar` and `found`, `told` being the pairs of drawn documents that are rightly among the
 * matches. */
void twin__audit_sum_up(twin_audit *out, uint64_t told, const twin_match *matches, size_t count,
                        const bool *is_sampled);

#endif

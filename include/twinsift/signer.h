/* signer.h — documents become sets and signatures.
 *
 * The one place where text is normalised, cut into shingles, hashed and signed. A signer never changes once created,
 * so threads may share it, each with a scratch of its own. */
#ifndef TWINSIFT_SIGNER_H
#define TWINSIFT_SIGNER_H

#include <twinsift/exec.h>
#include <twinsift/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_signer twin_signer;

/* Creates a signer for the scheme, which is completed (NULL: the default scheme) and copied, stop words included;
 * release it with twin_signer_free(). */
TWIN_API twin_status twin_signer_create(twin_signer **out, const twin_scheme *scheme, twin_error *error);
TWIN_API void twin_signer_free(twin_signer *signer);

/* The scheme, complete; it lives as long as the signer. */
TWIN_API const twin_scheme *twin_signer_scheme(const twin_signer *signer);

/* Signs a text. `signature`, unless NULL, has room for `slots` numbers; `set`, unless NULL, becomes the text's set,
 * which lives until the scratch is used again. Only an empty text has the empty set. Without `set` the hashes
 * are not sorted, which saves half of the time. */
TWIN_API twin_status twin_signer_text(uint32_t *signature, twin_set *set, const twin_signer *signer,
                                      twin_scratch **scratch, twin_text text);

/* What comes before signing: the normalised text, and the hashes of its shingles in the order of the text, repeats and
 * all (for the items of a multiset see twin_item_occurrence()). Both live until the scratch is used again. */
TWIN_API twin_status twin_signer_shingles(twin_text *normalised, const uint64_t **hashes, size_t *count,
                                          const twin_signer *signer, twin_scratch **scratch, twin_text text);

/* The signature of hashes in any order, with any repeats. */
TWIN_API void twin_signer_sign(uint32_t *signature, const twin_signer *signer, const uint64_t *hashes, size_t count);

typedef struct twin_signer_many_options {
    twin_exec exec;
    twin_progress progress; /* reports stage "signing" */
    uint64_t reserved[TWIN_RESERVED];
} twin_signer_many_options;

/* Signs `count` texts: the signature of texts[i] is at signatures + i·slots. `sizes`, unless NULL, gets the number of
 * items of each set; counting them is extra work. */
TWIN_API twin_status twin_signer_many(uint32_t *signatures, uint64_t *sizes, const twin_signer *signer,
                                      const twin_text *texts, size_t count, twin_signer_many_options options);

#ifdef __cplusplus
}
#endif
#endif

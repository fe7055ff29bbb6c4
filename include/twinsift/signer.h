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

/* What one worker needs, and where results are left; begin with {0}, keep it from call to call, end with
 * twin_sign_scratch_clear(). */
typedef struct twin_sign_scratch {
    twin_buffer text; /* the normalised text */
    twin_items items; /* the hashes of its shingles */
    twin_items spare; /* room to sort them */
    bool is_short;    /* the text is shorter than one shingle: it has one item, or none if it is empty */
} twin_sign_scratch;
TWIN_API void twin_sign_scratch_clear(twin_sign_scratch *scratch);

/* Signs a text. `signature`, unless NULL, has room for `slots` numbers; `set`, unless NULL, becomes the text's set,
 * which lives until the scratch is used again. Only an empty text has the empty set. Without `set` the hashes
 * are not sorted, which saves half of the time. */
TWIN_API twin_status twin_signer_text(uint32_t *signature, twin_set *set, const twin_signer *signer,
                                      twin_sign_scratch *scratch, twin_text text);

/* The same for hashes in any order, with any repeats, that are the items of a set, or of a multiset. */
TWIN_API twin_status twin_signer_items(uint32_t *signature, twin_set *set, const twin_signer *signer,
                                       twin_sign_scratch *scratch, twin_set items);

typedef struct twin_signer_many_options {
    twin_exec exec;
    twin_progress progress; /* reports stage "signing" */
    uint64_t reserved[TWIN_RESERVED];
} twin_signer_many_options;

/* Signs `count` texts: the signature of texts[i] is at signatures + i·slots. `sizes`, unless NULL, gets the number of
 * items of each set; counting them is extra work. */
TWIN_API twin_status twin_signer_many(uint32_t *signatures, uint64_t *sizes, const twin_signer *signer,
                                      const twin_text *texts, size_t count, twin_signer_many_options options);

/* The steps on their own, for callers that do something between them: text → scratch->text; text → scratch->text and,
 * in the order of the text, repeats and all, scratch->items (of a multiset in any order, numbered); hashes → signature. `replaced`, unless NULL, is
 * increased by the number of ill-formed byte sequences that became U+FFFD. */
TWIN_API twin_status twin_signer_normalise(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                           twin_text text);
TWIN_API twin_status twin_signer_shingle(twin_sign_scratch *scratch, uint64_t *replaced, const twin_signer *signer,
                                         twin_text text);
/* Text that is normalised already → scratch->items; scratch->text is left alone, and `text` may be it. */
TWIN_API twin_status twin_signer_shingle_normalised(twin_sign_scratch *scratch, const twin_signer *signer,
                                                    twin_text text);
TWIN_API void twin_signer_sign(uint32_t *signature, const twin_signer *signer, const uint64_t *items, size_t count);

#ifdef __cplusplus
}
#endif
#endif

/* names.h — the names of enumerators, as they are in schemes, options and reports. */
#ifndef TWINSIFT_NAMES_H
#define TWINSIFT_NAMES_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The enumerations whose values have names. */
typedef enum twin_names {
    TWIN_NAMES_EXECUTOR,     /* twin_executor: "serial", "pthreads", "openmp" */
    TWIN_NAMES_CPU,          /* twin_cpu: "scalar", "avx2", "avx512", "neon" */
    TWIN_NAMES_HASH_FAMILY,  /* twin_hash_family: "xxh3", "farm", "jenkins", "sip" */
    TWIN_NAMES_NORMAL,       /* twin_normal: "fold", "check", "bytes" */
    TWIN_NAMES_SHINGLE_KIND, /* twin_shingle_kind: "auto", "char", "byte", "word", "stop", "kmer" */
    TWIN_NAMES_SKETCH,       /* twin_sketch: "fast", "classic" */
    TWIN_NAMES_MEASURE,      /* twin_measure: "jaccard", "containment" */
    TWIN_NAMES_KEEP,         /* twin_keep: "sets", "text", "none" */
    TWIN_NAMES_BLOOM_LAYOUT, /* twin_bloom_layout: "auto", "blocks", "classic" */
    TWIN_NAMES_MAIL_REASON,  /* twin_mail_reason: "nothing", "content", "sender", "lookalike" */
} twin_names;

/* The name of a value, which lives for good; "" when there is no such value. */
TWIN_API const char *twin_name_of(twin_names names, int value);

/* The value of a name; -1, and the reason in twin_error_last(TWIN_EINVAL), when there is no such name. */
TWIN_API int twin_value_of(twin_names names, const char *name);

#ifdef __cplusplus
}
#endif
#endif

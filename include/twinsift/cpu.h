/* cpu.h — which instruction set the kernels use.
 *
 * The best level that this machine supports is chosen once. Every level computes the same bits; selecting another is
 * for tests and benchmarks. */
#ifndef TWINSIFT_CPU_H
#define TWINSIFT_CPU_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_cpu {
    TWIN_CPU_SCALAR,
    TWIN_CPU_AVX2,
    TWIN_CPU_AVX512,
    TWIN_CPU_NEON, /* of 64-bit ARM, where the two before it are not */
    TWIN_CPU_LEVELS,
} twin_cpu;

/* The best level of this machine, and the level in use. */
TWIN_API twin_cpu twin_cpu_best(void);
TWIN_API twin_cpu twin_cpu_level(void);

/* Uses `level` from now on, for the whole process; call it before other threads start.
 * TWIN_EUNSUPPORTED when the machine cannot run it. */
TWIN_API twin_status twin_cpu_use(twin_cpu level);

/* "scalar", "avx2", "avx512", "neon". From a name: TWIN_EINVAL when there is no such level. */
TWIN_API const char *twin_cpu_name(twin_cpu level);
TWIN_API twin_status twin_cpu_from_name(twin_cpu *out, const char *name);

#ifdef __cplusplus
}
#endif
#endif

/* cpu.c — the instruction sets of this machine.
 *
 * Queried with CPUID and not through the compiler's run-time library, which not every toolchain has. A vector level
 * counts only if the operating system also saves its registers. */
#include <twinsift/exec.h>

#include <stdatomic.h>

#include "kernels/kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The instruction sets that a file of each level is compiled for, as CMakeLists.txt spells them out. Bits are
 * those of CPUID's leaves 1 and 7 (Intel SDM, volume 2A, CPUID). */
enum {
    LEAF1_ECX = 1 << 23 | 1 << 27,       /* popcnt, osxsave */
    AVX2_EBX = 1 << 3 | 1 << 5 | 1 << 8, /* bmi, avx2, bmi2 */
    AVX512_ECX = 1 << 1,                 /* vbmi */
    AVX_STATE = 6,                       /* XCR0: xmm and ymm */
    AVX512_STATE = 0xE6,                 /* and k, the high halves of zmm, zmm16 to 31 */
};
static const unsigned avx512_ebx = 1u << 16 | 1u << 17 | 1u << 29 | 1u << 30 | 1u << 31; /* f, dq, sha, bw, vl */

static bool has(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

/* The registers that the operating system saves. */
static unsigned saved_state(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static twin_cpu find_best(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has(ecx, LEAF1_ECX) || !has(saved_state(), AVX_STATE))
        return TWIN_CPU_SCALAR;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !has(ebx, AVX2_EBX))
        return TWIN_CPU_SCALAR;
    bool avx512 = has(ebx, avx512_ebx) && has(ecx, AVX512_ECX) && has(saved_state(), AVX512_STATE);
    return avx512 ? TWIN_CPU_AVX512 : TWIN_CPU_AVX2;
}
#else
static twin_cpu find_best(void)
{
#if defined(__aarch64__)
    return TWIN_CPU_NEON; /* part of the architecture */
#else
    return TWIN_CPU_SCALAR;
#endif
}
#endif

/* CPUID is kept: on a virtual machine it traps, which takes tens of microseconds. Two threads may both find it. */
twin_cpu twin__cpu_best(void)
{
    static atomic_int known = -1;
    int best = atomic_load_explicit(&known, memory_order_relaxed);
    if (best < 0) {
        best = find_best();
        atomic_store_explicit(&known, best, memory_order_relaxed);
    }
    return (twin_cpu)best;
}

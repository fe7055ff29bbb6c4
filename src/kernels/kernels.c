/* kernels.c — the table of kernels; the best variants that this machine supports are chosen once. */
#include "kernels/kernels.h"

#include "base/error.h"

/* A row per kernel: its variant of one level. */
#define VARIANTS(level)                                                                                              \
    {                                                                                                                \
        .find_string_end = twin__find_string_end_##level, .fold_ascii = twin__fold_ascii_##level,                    \
        .is_ascii = twin__is_ascii_##level, .blanks = twin__blanks_##level,                                          \
        .xxh3_windows = twin__xxh3_windows_##level, .xxh3_words = twin__xxh3_words_##level,                          \
        .word_windows = twin__word_windows_##level, .sip_windows = twin__sip_windows_##level,                        \
        .sip_texts = twin__sip_texts_##level, .fast_round = twin__fast_round_##level,                                \
        .linear_minima = twin__linear_minima_##level, .agree = twin__agree_##level,                                  \
        .bloom_test = twin__bloom_test_##level, .bloom_has = twin__bloom_has_##level,                                \
        .bloom_add = twin__bloom_add_##level, .sort_bins = twin__sort_bins_##level,                                  \
        .drop_repeats = twin__drop_repeats_##level, .fill_bins = twin__fill_bins_##level,                            \
        .mark_items = twin__mark_items_##level, .common_bits = twin__common_bits_##level,                            \
        .edit_tile = twin__edit_tile_##level, .sum_at = twin__sum_at_##level,                                        \
        .agree_bytes = twin__agree_bytes_##level, .equal_bytes = twin__equal_bytes_##level,                          \
        .near_heads = twin__near_heads_##level, .sha256_blocks = twin__sha256_blocks_##level,                        \
    }

const struct kernels twin__kernels_of[TWIN_CPU_LEVELS] = {
    [TWIN_CPU_SCALAR] = VARIANTS(scalar),
#if defined(__x86_64__)
    [TWIN_CPU_AVX2] = VARIANTS(avx2),
    [TWIN_CPU_AVX512] = VARIANTS(avx512),
#endif
};

const struct kernels *_Atomic twin__kernels_chosen;

/* Choosing twice gives the same answer, so a race does no harm. */
twin_cpu twin_cpu_level(void)
{
    const struct kernels *chosen = atomic_load_explicit(&twin__kernels_chosen, memory_order_relaxed);
    if (!chosen) {
        chosen = &twin__kernels_of[twin_cpu_best()];
        atomic_store_explicit(&twin__kernels_chosen, chosen, memory_order_relaxed);
    }
    return (twin_cpu)(chosen - twin__kernels_of);
}

twin_status twin_cpu_use(twin_cpu level)
{
    if ((unsigned)level >= TWIN_CPU_LEVELS)
        return twin__fail(NULL, TWIN_EINVAL, "unknown level %d", (int)level);
    if (level > twin_cpu_best())
        return twin__fail(NULL, TWIN_EUNSUPPORTED, "this machine cannot run level %s", twin_cpu_name(level));
    atomic_store_explicit(&twin__kernels_chosen, &twin__kernels_of[level], memory_order_relaxed);
    return TWIN_OK;
}

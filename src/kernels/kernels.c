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
#elif defined(__aarch64__)
    [TWIN_CPU_NEON] = {
        .find_string_end = twin__find_string_end_neon, .fold_ascii = twin__fold_ascii_neon,
        .is_ascii = twin__is_ascii_neon, .blanks = twin__blanks_neon,
        .xxh3_windows = twin__xxh3_windows_scalar, .xxh3_words = twin__xxh3_words_neon,
        .word_windows = twin__word_windows_scalar, .sip_windows = twin__sip_windows_scalar,
        .sip_texts = twin__sip_texts_scalar, .fast_round = twin__fast_round_scalar,
        .linear_minima = twin__linear_minima_neon, .agree = twin__agree_neon,
        .bloom_test = twin__bloom_test_scalar, .bloom_has = twin__bloom_has_scalar,
        .bloom_add = twin__bloom_add_scalar, .sort_bins = twin__sort_bins_neon,
        .drop_repeats = twin__drop_repeats_scalar, .fill_bins = twin__fill_bins_neon,
        .mark_items = twin__mark_items_neon, .common_bits = twin__common_bits_neon,
        .edit_tile = twin__edit_tile_scalar, .sum_at = twin__sum_at_scalar,
        .agree_bytes = twin__agree_bytes_neon, .equal_bytes = twin__equal_bytes_neon,
        .near_heads = twin__near_heads_neon, .sha256_blocks = twin__sha256_blocks_scalar,
    },
#endif
};

const struct kernels *_Atomic twin__kernels_chosen;

/* Choosing twice gives the same answer, so a race does no harm. */
twin_cpu twin_cpu_level(void)
{
    const struct kernels *chosen = atomic_load_explicit(&twin__kernels_chosen, memory_order_relaxed);
    if (!chosen) {
        chosen = &twin__kernels_of[twin__cpu_best()];
        atomic_store_explicit(&twin__kernels_chosen, chosen, memory_order_relaxed);
    }
    return (twin_cpu)(chosen - twin__kernels_of);
}

/* Levels of another architecture have no row. */
static bool runs(twin_cpu level)
{
    return level <= twin__cpu_best() && twin__kernels_of[level].agree;
}

twin_cpu twin__next_level(twin_cpu level)
{
    do
        level++;
    while (level < TWIN_CPU_LEVELS && !runs(level));
    return level;
}

twin_status twin_cpu_use(twin_cpu level)
{
    if ((unsigned)level >= TWIN_CPU_LEVELS)
        return twin__fail(NULL, TWIN_EINVAL, "unknown level %d", (int)level);
    if (!runs(level))
        return twin__fail(NULL, TWIN_EUNSUPPORTED, "this machine cannot run level %s",
                          twin_name_of(TWIN_NAMES_CPU, level));
    atomic_store_explicit(&twin__kernels_chosen, &twin__kernels_of[level], memory_order_relaxed);
    return TWIN_OK;
}

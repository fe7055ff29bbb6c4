/* kernels.c — chooses the best variant that this machine supports, once. */
#include "kernels/kernels.h"

#include "base/error.h"

const struct kernels twin__kernels_of[TWIN_CPU_LEVELS] = {
    [TWIN_CPU_SCALAR] = {
        .find_string_end = twin__find_string_end_scalar,
        .fold_ascii = twin__fold_ascii_scalar,
        .blanks = twin__blanks_scalar,
        .xxh3_windows = twin__xxh3_windows_scalar,
        .xxh3_words = twin__xxh3_words_scalar,
        .word_windows = twin__word_windows_scalar,
        .sip_windows = twin__sip_windows_scalar,
        .fast_round = twin__fast_round_scalar,
        .linear_minima = twin__linear_minima_scalar,
        .agree = twin__agree_scalar,
        .bloom_test = twin__bloom_test_scalar,
        .bloom_has = twin__bloom_has_scalar,
        .bloom_add = twin__bloom_add_scalar,
        .sort_bins = twin__sort_bins_scalar,
        .drop_repeats = twin__drop_repeats_scalar,
        .mark_items = twin__mark_items_scalar,
        .common_bits = twin__common_bits_scalar,
        .edit_tile = twin__edit_tile_scalar,
        .sum_at = twin__sum_at_scalar,
        .agree_bytes = twin__agree_bytes_scalar,
        .near_heads = twin__near_heads_scalar,
        .is_ascii = twin__is_ascii_scalar,
    },
#if defined(__x86_64__)
    [TWIN_CPU_AVX2] = {
        .find_string_end = twin__find_string_end_avx2,
        .fold_ascii = twin__fold_ascii_avx2,
        .blanks = twin__blanks_avx2,
        .xxh3_windows = twin__xxh3_windows_avx2,
        .xxh3_words = twin__xxh3_words_avx2,
        .word_windows = twin__word_windows_avx2,
        .sip_windows = twin__sip_windows_avx2,
        .fast_round = twin__fast_round_avx2,
        .linear_minima = twin__linear_minima_avx2,
        .agree = twin__agree_avx2,
        .bloom_test = twin__bloom_test_avx2,
        .bloom_has = twin__bloom_has_avx2,
        .bloom_add = twin__bloom_add_avx2,
        .sort_bins = twin__sort_bins_avx2,
        .drop_repeats = twin__drop_repeats_avx2,
        .mark_items = twin__mark_items_avx2,
        .common_bits = twin__common_bits_avx2,
        .edit_tile = twin__edit_tile_avx2,
        .sum_at = twin__sum_at_avx2,
        .agree_bytes = twin__agree_bytes_avx2,
        .near_heads = twin__near_heads_avx2,
        .is_ascii = twin__is_ascii_avx2,
    },
    [TWIN_CPU_AVX512] = {
        .find_string_end = twin__find_string_end_avx512,
        .fold_ascii = twin__fold_ascii_avx512,
        .blanks = twin__blanks_avx512,
        .xxh3_windows = twin__xxh3_windows_avx512,
        .xxh3_words = twin__xxh3_words_avx512,
        .word_windows = twin__word_windows_avx512,
        .sip_windows = twin__sip_windows_avx512,
        .fast_round = twin__fast_round_avx512,
        .linear_minima = twin__linear_minima_avx512,
        .agree = twin__agree_avx512,
        .bloom_test = twin__bloom_test_avx512,
        .bloom_has = twin__bloom_has_avx512,
        .bloom_add = twin__bloom_add_avx512,
        .sort_bins = twin__sort_bins_avx512,
        .drop_repeats = twin__drop_repeats_avx512,
        .mark_items = twin__mark_items_avx512,
        .common_bits = twin__common_bits_avx512,
        .edit_tile = twin__edit_tile_avx512,
        .sum_at = twin__sum_at_avx512,
        .agree_bytes = twin__agree_bytes_avx512,
        .near_heads = twin__near_heads_avx512,
        .is_ascii = twin__is_ascii_avx512,
    },
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

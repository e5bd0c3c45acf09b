/*
 * The table of kernels that score, best first, and the choice of them when a model is opened.
 * CMakeLists.txt defines DPMF_KERNELS_<SET> for each folder that it compiles; in a browser the
 * compiler says what there is.
 */
#include "kernels/score_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_sets.h"
#include "kernels/set_traits.h"

#ifdef DPMF_KERNELS_AVX512
static const struct score_kernels avx512_kernels = {
    "avx512",   set_prefers_avx512, set_has_avx512,      set_padded_by_16,
    row_stride, kernel_avx512_dot,  kernel_avx512_scores};
#endif

#ifdef DPMF_KERNELS_AVX2
static const struct score_kernels avx2_kernels = {
    "avx2",     set_always,      set_has_avx2,      set_padded_by_8,
    row_stride, kernel_avx2_dot, kernel_avx2_scores};
#endif

#ifdef DPMF_KERNELS_NEON
static const struct score_kernels neon_kernels = {
    "neon",     set_always,      set_always,        set_padded_by_8,
    row_stride, kernel_neon_dot, kernel_neon_scores};
#endif

#ifdef __wasm_simd128__
static const struct score_kernels wasm_kernels = {
    "wasm",     set_always,      set_always,        set_padded_by_8,
    row_stride, kernel_wasm_dot, kernel_wasm_scores};
#endif

static const struct score_kernels ref_kernels = {
    "ref", set_always, set_always, set_padded_by_1, row_stride, kernel_ref_dot, kernel_ref_scores};

static const struct score_kernels *const all[] = {
#ifdef DPMF_KERNELS_AVX512
    &avx512_kernels,
#endif
#ifdef DPMF_KERNELS_AVX2
    &avx2_kernels,
#endif
#ifdef DPMF_KERNELS_NEON
    &neon_kernels,
#endif
#ifdef __wasm_simd128__
    &wasm_kernels,
#endif
    &ref_kernels,
};
enum { ALL = sizeof all / sizeof all[0] };

/* A module in a browser has no environment to ask. */
static const char *asked_for(void) {
#ifdef __wasm__
    return NULL;
#else
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody here sets it */
    return getenv("DPMF_KERNELS");
#endif
}

const struct score_kernels *score_kernels_choose(const char *name) {
    if (!name) name = asked_for();
    const bool any = !name || !*name;
    for (size_t i = 0; i < ALL; i++)
        if ((any ? all[i]->is_preferred() : strcmp(all[i]->name, name) == 0) &&
            all[i]->is_supported())
            return all[i];
    return NULL;
}

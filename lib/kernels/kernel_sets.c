/*
 * The table of kernel sets, best first, and the choice of one when the program starts.
 * CMakeLists.txt defines DPMF_KERNELS_<SET> for each folder that it compiles. A set's block sizes
 * stand beside its kernels, for they were measured together (bench/bench_kernels.c).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_sets.h"
#include "kernels/set_traits.h"

#if defined(DPMF_KERNELS_AVX2) || defined(DPMF_KERNELS_AVX512)
#include <xmmintrin.h>
#endif

/* ---- block sizes ----------------------------------------------------------------------------- */

/* Short rows, up to `wide` columns, take eight lanes: more of them share the work on the resident
 * row. Of longer ones four are better where they and the resident row fit in the first-level cache
 * with room for the next chunk's to arrive; where not even these fit, nothing does, and eight share
 * the work again. Without caches to go by these are taken to be of 32 KiB. */
static uint32_t lanes_up_to(size_t wide, size_t k, const struct host_caches *caches) {
    assert(wide > 0 && k > 0);
    const size_t rows = 5 * row_stride(k) * sizeof(float);
    if (k <= wide) return 8;
    return (caches ? rows <= caches->l1 : k < 2048) ? 4 : 8;
}

static uint32_t lanes(size_t k, const struct host_caches *caches) {
    return lanes_up_to(768, k, caches);
}

/* Rows in registers gain nothing from a batch of users in the second-level cache, and long runs of
 * one user's ratings fill all the lanes. */
static bool is_small(size_t k) { return k <= ROW_SMALL; }

static unsigned denormals_keep(void) { return 0; }
static void denormals_kept(unsigned state) { (void)state; }

/* ---- x86-64 ---------------------------------------------------------------------------------- */

#if defined(DPMF_KERNELS_AVX2) || defined(DPMF_KERNELS_AVX512)

/* Denormals take a hundred cycles each, and decayed rows of unused columns would be full of
 * them. */
static unsigned sse_flush_denormals(void) {
    enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040 };
    unsigned state = _mm_getcsr();
    _mm_setcsr(state | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return state;
}
static void sse_restore_denormals(unsigned state) { _mm_setcsr(state); }

#endif

#ifdef DPMF_KERNELS_AVX2
static const struct kernel_set avx2_set = {
    .name = "avx2",
    .description = "AVX2 with FMA, eight floats at a time",
    .is_preferred = set_always,
    .is_supported = set_has_avx2,
    .padded_k = set_padded_by_8,
    .stride = row_stride,
    .lanes = lanes,
    .user_resident_small = is_small,
    .sgd_tile = kernel_avx2_sgd_tile,
    .dot = kernel_avx2_dot,
    .scores = kernel_avx2_scores,
    .fill = kernel_avx2_fill,
    .diffuse = kernel_avx2_diffuse,
    .push = kernel_avx2_push,
    .exact = &kernel_avx2_exact,
    .gram = kernel_avx2_gram,
    .pull = kernel_avx2_pull,
    .times = kernel_avx2_times,
    .flush_denormals = sse_flush_denormals,
    .restore_denormals = sse_restore_denormals,
};
#endif

#ifdef DPMF_KERNELS_AVX512
/* Twice as much arithmetic a cycle: what rows wait for is the second-level cache, from shorter rows
 * on. AMD's brings eight rows as well as four. Without caches to go by, nothing of the machine
 * counts. */
static uint32_t avx512_lanes(size_t k, const struct host_caches *caches) {
    return lanes_up_to(caches && set_is_amd() ? 768 : 128, k, caches);
}

static const struct kernel_set avx512_set = {
    .name = "avx512",
    .description = "AVX-512, sixteen floats at a time",
    .is_preferred = set_prefers_avx512,
    .is_supported = set_has_avx512,
    .padded_k = set_padded_by_16,
    .stride = row_stride,
    .lanes = avx512_lanes,
    .user_resident_small = is_small,
    .sgd_tile = kernel_avx512_sgd_tile,
    .dot = kernel_avx512_dot,
    .scores = kernel_avx512_scores,
    .fill = kernel_avx512_fill,
    .diffuse = kernel_avx512_diffuse,
    .push = kernel_avx512_push,
    .exact = &kernel_avx512_exact,
    .gram = kernel_avx512_gram,
    .pull = kernel_avx512_pull,
    .times = kernel_avx512_times,
    .flush_denormals = sse_flush_denormals,
    .restore_denormals = sse_restore_denormals,
};
#endif

/* ---- aarch64 --------------------------------------------------------------------------------- */

#ifdef DPMF_KERNELS_NEON
static unsigned fpcr_flush_denormals(void) {
    const uint64_t flush_to_zero = 1u << 24;
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    __asm__ volatile("msr fpcr, %0" : : "r"(state | flush_to_zero));
    return (unsigned)state;
}
static void fpcr_restore_denormals(unsigned state) {
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)state));
}
static const struct kernel_set neon_set = {
    .name = "neon",
    .description = "NEON, four floats at a time",
    .is_preferred = set_always,
    .is_supported = set_always,
    .padded_k = set_padded_by_8,
    .stride = row_stride,
    .lanes = lanes,
    .user_resident_small = is_small,
    .sgd_tile = kernel_neon_sgd_tile,
    .dot = kernel_neon_dot,
    .scores = kernel_neon_scores,
    .fill = kernel_neon_fill,
    .diffuse = kernel_neon_diffuse,
    .push = kernel_neon_push,
    .exact = &kernel_neon_exact,
    .gram = kernel_neon_gram,
    .pull = kernel_neon_pull,
    .times = kernel_neon_times,
    .flush_denormals = fpcr_flush_denormals,
    .restore_denormals = fpcr_restore_denormals,
};
#endif

/* ---- the table ------------------------------------------------------------------------------- */

static const struct kernel_set ref_set = {
    .name = "ref",
    .description = "the reference in plain C, for any machine",
    .is_preferred = set_always,
    .is_supported = set_always,
    .padded_k = set_padded_by_1,
    .stride = row_stride,
    .lanes = lanes,
    .user_resident_small = is_small,
    .sgd_tile = kernel_ref_sgd_tile,
    .dot = kernel_ref_dot,
    .scores = kernel_ref_scores,
    .fill = kernel_ref_fill,
    .diffuse = kernel_ref_diffuse,
    .push = kernel_ref_push,
    .exact = &kernel_ref_exact,
    .gram = kernel_ref_gram,
    .pull = kernel_ref_pull,
    .times = kernel_ref_times,
    .flush_denormals = denormals_keep,
    .restore_denormals = denormals_kept,
};

static const struct kernel_set *const sets[] = {
#ifdef DPMF_KERNELS_AVX512
    &avx512_set,
#endif
#ifdef DPMF_KERNELS_AVX2
    &avx2_set,
#endif
#ifdef DPMF_KERNELS_NEON
    &neon_set,
#endif
    &ref_set,
};
enum { SETS = sizeof sets / sizeof sets[0] };

const struct kernel_set *kernel_set_at(size_t i) { return i < SETS ? sets[i] : NULL; }

static const struct kernel_set *choose(const char *name, bool is_widest) {
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody here sets it */
    if (!name) name = getenv("DPMF_KERNELS");
    const bool any = !name || !*name;
    for (size_t i = 0; i < SETS; i++)
        if ((any ? is_widest || sets[i]->is_preferred() : strcmp(sets[i]->name, name) == 0) &&
            sets[i]->is_supported())
            return sets[i];
    return NULL;
}

const struct kernel_set *kernel_set_choose(const char *name) { return choose(name, false); }

const struct kernel_set *kernel_set_widest(const char *name) { return choose(name, true); }

const struct exact_kernels *kernel_set_exact(void) {
    const struct kernel_set *set = kernel_set_widest(NULL);
    return set ? set->exact : NULL;
}

/*
 * Every kernel set that this machine supports does what the contract says; the chooser finds it;
 * the caches have sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_shapes.h"
#include "kernel_checks.h"
#include "kernels/row_layout.h"
#include "kernels/score_kernels.h"
#include "kernels/set_traits.h"

static void test_sets(void **state) {
    (void)state;
    char message[400];
    for (size_t i = 0; kernel_set_at(i); i++) {
        const struct kernel_set *set = kernel_set_at(i);
        if (!set->is_supported()) {
            print_message("%s: not supported here, not run\n", set->name);
            continue;
        }
        if (kernel_checks_run(set, message, sizeof message) < 0) fail_msg("%s", message);
    }
}

/* The checks find faults: kernels that are wrong in one small thing. */

static const struct kernel_set *real; /* the set that the faulty one is made of */

static double skips_a_column(const struct kernel_step *step, const struct kernel_chunk *chunks,
                             size_t n) {
    struct kernel_step less = *step;
    if (less.k > 1) less.k--;
    return real->sgd_tile(1)(&less, chunks, n);
}
static double swaps_ratings(const struct kernel_step *step, const struct kernel_chunk *chunks,
                            size_t n) {
    double squares = 0;
    for (size_t j = 0; j < n; j++) {
        struct kernel_chunk c = chunks[j];
        if (c.n == 8) {
            c.rating[6] = chunks[j].rating[7];
            c.rating[7] = chunks[j].rating[6];
        }
        squares += real->sgd_tile(1)(step, &c, 1);
    }
    return squares;
}
static double forgets_the_squares(const struct kernel_step *step, const struct kernel_chunk *chunks,
                                  size_t n) {
    return n > 1
               ? real->sgd_tile(1)(step, chunks, 1) + 0 * real->sgd_tile(1)(step, chunks + 1, n - 1)
               : real->sgd_tile(1)(step, chunks, n);
}
static double writes_the_padding(const struct kernel_step *step, const struct kernel_chunk *chunks,
                                 size_t n) {
    double squares = real->sgd_tile(1)(step, chunks, n);
    if (n > 0) step->moving.rows[chunks[0].moving[0] * step->moving.stride + step->k] = 1;
    return squares;
}
static double touches_another_row(const struct kernel_step *step, const struct kernel_chunk *chunks,
                                  size_t n) {
    double squares = real->sgd_tile(1)(step, chunks, n);
    if (n > 0) step->resident.rows[(chunks[0].resident + 1) % 5 * step->resident.stride] += 1e-3f;
    return squares;
}
static kernel_sgd_tile *faulty;
static kernel_sgd_tile *faulty_tile(size_t k) {
    (void)k;
    return faulty;
}

static void test_faults_are_found(void **state) {
    (void)state;
    kernel_sgd_tile *const faults[] = {skips_a_column, swaps_ratings, forgets_the_squares,
                                       writes_the_padding, touches_another_row};
    char message[400];
    real = kernel_set_choose("ref");
    assert_non_null(real);
    struct kernel_set set = *real;
    set.sgd_tile = faulty_tile;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        faulty = faults[i];
        if (kernel_checks_run(&set, message, sizeof message) == 0)
            fail_msg("fault %zu not found", i);
        assert_true(strlen(message) > 5);
    }
}

/* Widest first, whichever set is preferred for training. */
static void test_exact_choice(void **state) {
    (void)state;
    unsetenv("DPMF_KERNELS");
    size_t i = 0;
    while (!kernel_set_at(i)->is_supported()) i++;
    assert_ptr_equal(kernel_set_exact(), kernel_set_at(i)->exact);
    assert_ptr_equal(kernel_set_widest(NULL), kernel_set_at(i));
    assert_ptr_equal(kernel_set_widest("ref"), kernel_set_choose("ref"));
    setenv("DPMF_KERNELS", "", 1);
    assert_ptr_equal(kernel_set_exact(), kernel_set_at(i)->exact);
    for (i = 0; kernel_set_at(i); i++) {
        const struct kernel_set *set = kernel_set_at(i);
        setenv("DPMF_KERNELS", set->name, 1);
        assert_ptr_equal(kernel_set_exact(), set->is_supported() ? set->exact : NULL);
    }
    setenv("DPMF_KERNELS", "cray", 1);
    assert_null(kernel_set_exact());
    unsetenv("DPMF_KERNELS");
}

static void test_choice(void **state) {
    (void)state;
    unsetenv("DPMF_KERNELS");
    const struct kernel_set *best = kernel_set_choose(NULL);
    assert_non_null(best);
    assert_true(best->is_preferred() && best->is_supported());
    for (size_t i = 0; kernel_set_at(i) != best; i++)
        assert_false(kernel_set_at(i)->is_preferred() && kernel_set_at(i)->is_supported());

    size_t n = 0;
    while (kernel_set_at(n)) n++;
    assert_string_equal(kernel_set_at(n - 1)->name, "ref");
    assert_null(kernel_set_at(n + 1));
    for (size_t i = 0; i < n; i++) {
        const struct kernel_set *set = kernel_set_at(i);
        assert_ptr_equal(kernel_set_choose(set->name), set->is_supported() ? set : NULL);
    }
    assert_null(kernel_set_choose("cray"));

    setenv("DPMF_KERNELS", "ref", 1);
    assert_string_equal(kernel_set_choose(NULL)->name, "ref");
    assert_ptr_equal(kernel_set_choose(best->name), best);
    setenv("DPMF_KERNELS", "cray", 1);
    assert_null(kernel_set_choose(NULL));
    setenv("DPMF_KERNELS", "", 1);
    assert_ptr_equal(kernel_set_choose(NULL), best);
    unsetenv("DPMF_KERNELS");
}

#if defined(__x86_64__)
static bool halves(const char *vendor, unsigned signature) {
    struct set_processor p = {.signature = signature};
    memcpy(p.vendor, vendor, sizeof p.vendor);
    return set_halves_vectors(&p);
}

/* By the signatures of one of each: AVX-512 is chosen but where vectors of 64 bytes are halved. */
static void test_halved_vectors(void **state) {
    (void)state;
    assert_true(halves("AuthenticAMD", 0x00a10f11));  /* Zen 4, a server's */
    assert_true(halves("AuthenticAMD", 0x00a60f12));  /* Zen 4, a desktop's */
    assert_false(halves("AuthenticAMD", 0x00b00f21)); /* Zen 5 */
    assert_false(halves("AuthenticAMD", 0x00870f10)); /* Zen 2 */
    assert_false(halves("GenuineIntel", 0x000806f8)); /* Sapphire Rapids */
    assert_false(halves("GenuineIntel", 0x00a10f11));
    const struct kernel_set *set = kernel_set_choose("avx512"), *chosen = kernel_set_choose(NULL);
    if (!set) {
        print_message("this machine has no AVX-512\n");
        return;
    }
    assert_true((chosen == set) == set_prefers_avx512());
    for (size_t k = 1; k <= 4096; k += 15) /* --deterministic: nothing of the machine */
        assert_int_equal(set->lanes(k, NULL), k <= 128 || k >= 2048 ? 8 : 4);
    const struct host_caches caches = {.l1 = 48 << 10, .l2 = 1 << 20, .l3 = 32 << 20};
    assert_int_equal(set->lanes(256, &caches), set_is_amd() ? 8 : 4);
    assert_int_equal(set->lanes(2048, &caches), 4);
}
#endif

/* The table of clients has the same sets, and lays out rows as they do. */
static void test_scoring_alone(void **state) {
    (void)state;
    for (size_t n = 0; kernel_set_at(n); n++) {
        const struct kernel_set *set = kernel_set_at(n);
        const struct score_kernels *scoring = score_kernels_choose(set->name);
        assert_int_equal(scoring != NULL, set->is_supported());
        if (!scoring) continue;
        assert_string_equal(scoring->name, set->name);
        assert_true(scoring->dot == set->dot && scoring->scores == set->scores);
        assert_true(scoring->is_preferred() == set->is_preferred());
        for (size_t k = 1; k < 600; k++) {
            assert_int_equal(scoring->padded_k(k), set->padded_k(k));
            assert_int_equal(scoring->stride(k), set->stride(k));
        }
    }
    assert_null(score_kernels_choose("cray"));
    assert_string_equal(score_kernels_choose(NULL)->name, kernel_set_choose(NULL)->name);
    setenv("DPMF_KERNELS", "ref", 1);
    assert_string_equal(score_kernels_choose(NULL)->name, "ref");
    unsetenv("DPMF_KERNELS");
}

/* valgrind computes with denormals, whatever the processor is told. */
static bool is_under_valgrind(void) {
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}

static void test_denormals(void **state) {
    (void)state;
    const struct kernel_set *set = kernel_set_choose(NULL);
    volatile float small = 1e-38f, third = 1.0f / 3;
    unsigned before = set->flush_denormals();
    set->restore_denormals(before);
    assert_true(small * third > 0); /* restored: denormals are there again */
    if (strcmp(set->name, "ref") == 0 || is_under_valgrind()) return;
    before = set->flush_denormals();
    volatile float product = small * third;
    bool is_zero = product == 0;
    set->restore_denormals(before);
    assert_true(is_zero);
}

/* Whatever the caches are, lanes are from 1 to 8; where they may not matter, they do not. */
static void test_lanes(void **state) {
    (void)state;
    for (size_t i = 0; kernel_set_at(i); i++)
        for (size_t k = 1; k <= KERNEL_K_MAX; k++) {
            const struct kernel_set *set = kernel_set_at(i);
            assert_in_range(set->lanes(k, NULL), 1, KERNEL_LANES);
            for (size_t shape = 0; shape < CACHE_SHAPES; shape++)
                assert_in_range(set->lanes(k, &cache_shapes[shape].caches), 1, KERNEL_LANES);
            if (k <= ROW_SMALL) assert_int_equal(set->lanes(k, NULL), KERNEL_LANES);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_faults_are_found),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_exact_choice),
        cmocka_unit_test(test_scoring_alone),
        cmocka_unit_test(test_denormals),
        cmocka_unit_test(test_lanes),
#if defined(__x86_64__)
        cmocka_unit_test(test_halved_vectors),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

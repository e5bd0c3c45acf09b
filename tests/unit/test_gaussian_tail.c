/*
 * Noise is not cut off: a draw a hundred sigma away comes out as it is. Chance never goes there, so
 * the bytes are written by hand, thousands of them: the sampler is compiled here once more, with a
 * generator that reads them out.
 */
#define secure_stream_refill script_refill
/* NOLINTNEXTLINE(bugprone-suspicious-include): with the generator above */
#include "random/exact_gaussian.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* 255 says yes to every question that the sampler asks; what is not 255 is listed. */
static struct {
    size_t at;                 /* bytes that were handed out */
    size_t zeros[10], n_zeros; /* places of the bytes that are 0 */
} script;

void script_refill(struct secure_stream *stream) {
    memset(stream->output, 255, sizeof stream->output);
    for (size_t i = 0; i < script.n_zeros; i++)
        if (script.zeros[i] >= script.at && script.zeros[i] < script.at + SECURE_STREAM_BLOCK)
            stream->output[script.zeros[i] - script.at] = 0;
    script.at += SECURE_STREAM_BLOCK;
    stream->used = 0;
}

/* The draw with this k, x = 0 and a sign of minus: k times yes, no (0, 255), k(k - 1) times yes,
 * eight zeros for x, yes. */
static int64_t draw_whole(size_t k, uint64_t sigma) {
    struct secure_stream stream = {.used = SECURE_STREAM_BLOCK};
    script.at = 0;
    script.n_zeros = 0;
    script.zeros[script.n_zeros++] = k;
    for (size_t i = 0; i < 8; i++) script.zeros[script.n_zeros++] = k + 2 + k * (k - 1) + i;
    int64_t value = exact_gaussian_rounded(&stream, sigma);
    assert_int_equal(script.at - SECURE_STREAM_BLOCK + stream.used,
                     k + 2 + k * (k - 1) + 8 + k + 2);
    return value;
}

static void test_nothing_is_cut_off(void **state) {
    (void)state;
    assert_true(draw_whole(4, 1000) == -4000);
    assert_true(draw_whole(100, 1000) == -100000);
    assert_true(draw_whole(100, EXACT_GAUSSIAN_SIGMA_MAX) == -(INT64_C(100) << 48));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

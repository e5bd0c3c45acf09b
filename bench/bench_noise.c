/*
 * How fast the noise of a release is drawn on one core: exact Gaussians a second, each from a
 * stream of its own as in a release, for several sigma; the random bytes that a draw takes; and
 * beside it the limit, ChaCha20 blocks a second.
 *
 *     bench_noise
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "random/exact_gaussian.h"

enum { DRAWS = 1 << 20, ROUNDS = 5 };

static double draws_rate(const struct secure_random *random, uint64_t sigma, int64_t *sums) {
    double best = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double started = clock_of_thread();
        exact_gaussian_add(random, round, 0, DRAWS, sigma, sums);
        const double rate = DRAWS / (clock_of_thread() - started);
        if (rate > best) best = rate;
    }
    return best;
}

static double bytes_a_draw(const struct secure_random *random, uint64_t sigma) {
    enum { BLOCK_COUNTER = 12 };
    double bytes = 0;
    struct secure_stream stream;
    for (uint64_t i = 0; i < DRAWS; i++) {
        secure_stream_init(&stream, random, ROUNDS, i);
        exact_gaussian_rounded(&stream, sigma);
        bytes +=
            (double)SECURE_STREAM_BLOCK * (stream.input[BLOCK_COUNTER] - 1.0) + (double)stream.used;
    }
    secure_stream_wipe(&stream);
    return bytes / DRAWS;
}

static double blocks_rate(const struct secure_random *random) {
    struct secure_stream stream;
    secure_stream_init(&stream, random, ROUNDS, 0);
    const double started = clock_of_thread();
    for (int i = 0; i < DRAWS; i++) {
        secure_stream_refill(&stream);
        __asm__ volatile("" : : "r"(&stream) : "memory");
    }
    const double rate = DRAWS / (clock_of_thread() - started);
    secure_stream_wipe(&stream);
    return rate;
}

int main(void) {
    static const uint64_t sigmas[] = {1, 1000, UINT64_C(1) << 28, EXACT_GAUSSIAN_SIGMA_MAX};
    struct secure_random random;
    struct dpmf_error error = {0};
    int64_t *sums = calloc(DRAWS, sizeof *sums);
    if (!sums || secure_random_init(&random, &error) < 0) {
        fprintf(stderr, "bench_noise: no memory or no key\n");
        free(sums);
        return 1;
    }
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        printf("noise   sigma %15" PRIu64 "  %6.2f M draws/s a core  %5.1f bytes a draw\n",
               sigmas[i], draws_rate(&random, sigmas[i], sums) * 1e-6,
               bytes_a_draw(&random, sigmas[i]));
    printf("chacha  %6.2f M blocks/s a core\n", blocks_rate(&random) * 1e-6);
    secure_random_wipe(&random);
    free(sums);
    return 0;
}

/*
 * How fast one thread reads and writes memory, by the size of what it goes over again and again:
 * what fits in a cache shows the cache, what fits in none shows memory. For the paper's first
 * table; a JSON object a line.
 *
 *     bench_bandwidth [ignored] [BYTES...]
 *
 * The best of several rounds: other work on the machine only ever makes them slower.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"

enum { ROUNDS = 7, UNROLL = 8, BYTES_MIN = 4096 };
static const double round_seconds = 0.02;

typedef uint64_t vector __attribute__((vector_size(32)));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx2", "default"), noinline))
#else
#define WIDEST __attribute__((noinline))
#endif

/* Eight sums written out, so that they stay in registers and none waits for the one before. */
WIDEST static uint64_t read_all(const vector *data, size_t n, size_t passes) {
    vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (size_t pass = 0; pass < passes; pass++) {
        for (const vector *at = data; at < data + n; at += UNROLL) {
            s0 += at[0], s1 += at[1], s2 += at[2], s3 += at[3];
            s4 += at[4], s5 += at[5], s6 += at[6], s7 += at[7];
        }
        __asm__ volatile("" : : "r"(data) : "memory");
    }
    const vector sum = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    return sum[0] + sum[1] + sum[2] + sum[3];
}

WIDEST static uint64_t write_all(vector *data, size_t n, size_t passes) {
    for (size_t pass = 0; pass < passes; pass++) {
        const vector value = {pass, pass, pass, pass};
        for (vector *at = data; at < data + n; at += UNROLL) {
            at[0] = value, at[1] = value, at[2] = value, at[3] = value;
            at[4] = value, at[5] = value, at[6] = value, at[7] = value;
        }
        __asm__ volatile("" : : "r"(data) : "memory");
    }
    return passes;
}

static uint64_t go_over(vector *data, size_t n, size_t passes, int is_write) {
    return is_write ? write_all(data, n, passes) : read_all(data, n, passes);
}

/* Bytes a second, of the best round. */
static double speed(vector *data, size_t bytes, int is_write) {
    const size_t n = bytes / sizeof *data;
    size_t passes = 1;
    double best = 0;
    for (int round = 0; round < ROUNDS;) {
        const double started = clock_now();
        const uint64_t kept = go_over(data, n, passes, is_write);
        __asm__ volatile("" : : "r"(kept));
        const double seconds = clock_now() - started;
        if (seconds < round_seconds && passes < SIZE_MAX / 2 / bytes) {
            passes *= 2;
            continue;
        }
        const double found = (double)bytes * (double)passes / seconds;
        if (found > best) best = found;
        round++;
    }
    return best;
}

static int measure(size_t bytes) {
    bytes &= ~(size_t)(sizeof(vector) * UNROLL - 1);
    vector *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        fprintf(stderr, "bench_bandwidth: no memory for %zu bytes\n", bytes);
        return 1;
    }
    madvise(data, bytes, MADV_HUGEPAGE);
    memset(data, 1, bytes);
    printf("{\"bytes\":%zu,\"read\":%.4g,\"write\":%.4g}\n", bytes, speed(data, bytes, 0),
           speed(data, bytes, 1));
    munmap(data, bytes);
    return 0;
}

int main(int argc, char **argv) {
    static const size_t usual[] = {16 << 10, 256 << 10, 8 << 20, 256 << 20};
    int status = 0;
    if (argc <= 2)
        for (size_t i = 0; i < sizeof usual / sizeof *usual && !status; i++)
            status = measure(usual[i]);
    for (int i = 2; i < argc && !status; i++) {
        char *end;
        const unsigned long long bytes = strtoull(argv[i], &end, 10);
        if (*end || bytes < BYTES_MIN || bytes > SIZE_MAX / 4) {
            fprintf(stderr, "bench_bandwidth: %s is not a number of bytes, at least %d\n", argv[i],
                    BYTES_MIN);
            return 2;
        }
        status = measure((size_t)bytes);
    }
    return status;
}

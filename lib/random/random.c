/*
 * Streams of random numbers on top of Philox, and the distributions drawn from them. A stream has a
 * name (seed, purpose, substream) and nothing else decides what it gives: the same numbers in every
 * thread, in every order and, since no function of the system's is used whose last bit may differ,
 * on every machine.
 */
#define _GNU_SOURCE
#include "random/random.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <sys/random.h>

#include "base/error.h"

__extension__ typedef unsigned __int128 wide;

/* The finalizer of SplitMix64: every bit of the input moves half of the output. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Words 0 and 1 of the counter are the position in the stream, 2 and 3 the substream. */
void random_stream_init(struct random_stream *stream, uint64_t seed, uint32_t purpose,
                        uint64_t substream) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = mix(mix(seed + golden) ^ (purpose + UINT64_C(1)) * golden);
    *stream = (struct random_stream){
        .key = {(uint32_t)key, (uint32_t)(key >> 32)},
        .counter = {0, 0, (uint32_t)substream, (uint32_t)(substream >> 32)},
        .used = 4,
    };
}

uint32_t random_u32(struct random_stream *stream) {
    assert(stream->used <= 4);
    if (stream->used == 4) {
        philox4x32(stream->counter, stream->key, stream->block);
        if (++stream->counter[0] == 0) stream->counter[1]++;
        stream->used = 0;
    }
    return stream->block[stream->used++];
}

uint64_t random_u64(struct random_stream *stream) {
    uint64_t low = random_u32(stream);
    return low | (uint64_t)random_u32(stream) << 32;
}

double random_uniform(struct random_stream *stream) {
    return (double)(random_u64(stream) >> 11) * 0x1p-53;
}

/* The middles of 2^52 equal pieces: neither end, and symmetric. */
double random_uniform_open(struct random_stream *stream) {
    return ((double)(random_u64(stream) >> 12) + 0.5) * 0x1p-52;
}

/* Lemire's method: the high half of a product is nearly uniform; what would make it uneven is drawn
 * again, and the division that tells how much that is, is almost never needed. */
uint64_t random_below(struct random_stream *stream, uint64_t n) {
    if (n == 0) return 0;
    wide product = (wide)random_u64(stream) * n;
    if ((uint64_t)product < n) {
        uint64_t uneven = -n % n; /* 2^64 mod n */
        while ((uint64_t)product < uneven) product = (wide)random_u64(stream) * n;
    }
    return (uint64_t)(product >> 64);
}

/* log x for x > 0, by additions, multiplications and one division: the libraries' logarithms
 * differ in their last bit from machine to machine. With x = m 2^e and s = (m - 1) / (m + 1),
 * log m = 2 (s + s^3/3 + s^5/5 + ...), where |s| < 0.172 makes eleven terms enough. */
static double fixed_log(double x) {
    assert(x > 0 && isfinite(x));
    static const double ln2 = 0.693147180559945309417232121458;
    static const double one_over[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                      1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (size_t i = 0; i < sizeof one_over / sizeof one_over[0]; i++) sum = (sum + one_over[i]) * z;
    return exponent * ln2 + 2 * (s + s * sum);
}

/* Marsaglia's polar method: a point in the disc gives two independent Gaussians. */
double random_gaussian(struct random_stream *stream) {
    if (stream->has_spare) {
        stream->has_spare = false;
        return stream->spare;
    }
    double x, y, square;
    do {
        x = 2 * random_uniform_open(stream) - 1;
        y = 2 * random_uniform_open(stream) - 1;
        square = x * x + y * y;
    } while (square >= 1);
    double factor = sqrt(-2 * fixed_log(square) / square);
    stream->spare = y * factor;
    stream->has_spare = true;
    return x * factor;
}

double random_exponential(struct random_stream *stream) {
    return -fixed_log(random_uniform_open(stream));
}

/* Marsaglia and Tsang (2000): with d = shape - 1/3 the density of d (1 + cX)^3 is so near to that
 * of the gamma distribution, X Gaussian and c = 1 / sqrt(9d), that less than one draw in twenty is
 * refused. */
double random_gamma(struct random_stream *stream, double shape) {
    assert(shape >= 1 && isfinite(shape));
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = random_gaussian(stream), root = 1 + c * x;
        double u = random_uniform_open(stream), cube = root * root * root;
        if (root > 0 && fixed_log(u) < x * x / 2 + d * (1 - cube + fixed_log(cube)))
            return d * cube;
    }
}

int random_from_system(void *bytes, size_t n, struct dpmf_error *error) {
    assert(bytes || n == 0);
    uint8_t *at = bytes;
    while (n > 0) {
        ssize_t done = getrandom(at, n < 256 ? n : 256, 0);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            const char *sentence = dpmf_error_sentence(DPMF_ERR_BASE_RANDOM);
            return error_set(error, DPMF_ERR_BASE_RANDOM, "%s", sentence);
        }
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

/*
 * Gaussian noise for rows of factors, and the two motions that samplers give them. All instruction
 * sets make the same numbers, bit for bit: the generator is integer arithmetic, and what follows is
 * a fixed sequence of operations that are rounded the same everywhere. None of them is a fused
 * multiplication, which a processor without it would have to imitate at many times the price.
 *
 * The generator: eight of Blackman and Vigna's xoshiro128+ side by side, whose states follow from a
 * key. Its lowest bits are weak, and nothing depends on them but the last digits of numbers. A
 * stream is named by its key and read from its beginning; two keys have nothing in common.
 */
#ifndef DPMF_KERNELS_NOISE_H
#define DPMF_KERNELS_NOISE_H

#include <stddef.h>
#include <stdint.h>

enum {
    NOISE_LANES = 8,
    NOISE_BLOCK = 16, /* Gaussians are made by so many: columns are rounded up to that */
};

struct noise_stream {
    uint32_t state[4][NOISE_LANES];
};

/* What a stream is for: no two uses may have all of these in common. */
struct noise_key {
    uint64_t seed;
    uint32_t chain, round, purpose;
    uint64_t place;
};

/* The constants of noise_body.h, each as a whole vector, and defined where the compiler of a kernel
 * does not see them: so instructions take them from memory as they are, and a call that moves a row
 * or two need not spread them out first. */
typedef float noise_constant[NOISE_LANES];

struct noise_constants {
    _Alignas(64) uint32_t one[NOISE_LANES];
    uint32_t root_half[NOISE_LANES], most[NOISE_LANES], exponent[NOISE_LANES], sign[NOISE_LANES];
    noise_constant unit, half, two_ln_2, turn;
    noise_constant logarithm[6], sine[4], cosine[4]; /* polynomials, from the constant term on */
    noise_constant decay[3], spread[3];
};

extern const struct noise_constants noise_constants;

void noise_stream_init(struct noise_stream *stream, const struct noise_key *key);

/* Which rows are to be moved, each for a time of its own. Rows are `stride` floats apart, which
 * leaves room for k rounded up to NOISE_BLOCK columns, and so has `precision`; the columns past k
 * are 0 and stay 0. */
struct noise_rows {
    float *rows;
    float *momenta; /* momenta, laid out as the rows; only for pushing */
    size_t stride, k;
    const float *precision; /* by column, 0 or above */
    float precision_max;
    const uint32_t *which; /* the rows, n of them */
    const float *time;
    size_t n;
};

/* How rows with momenta are pushed: see noise_body.h. The arrays have a number a row. */
struct noise_push {
    float drift;         /* d: the part of a force that acts on the position directly */
    float row_shift;     /* (1 + sqrt(d friction)) / d */
    float slip;          /* sqrt(d / friction) */
    const float *keep;   /* e^(-friction time) */
    const float *spread; /* sqrt(1 - keep^2) */
    const float *damp;   /* factors that the momenta are multiplied with first */
    float *energy;       /* sum of the squares of the momenta afterwards */
};

/* n Gaussians, n a multiple of NOISE_BLOCK. */
typedef void noise_fill(float *out, size_t n, struct noise_stream *stream);

/* Moves rows by an exact Ornstein-Uhlenbeck step: column x of precision p, after a time t, is
 *     x e^(-pt/2) + N(0, (1 - e^(-pt)) / p)         (with p = 0: x + N(0, t)) */
typedef void noise_diffuse(const struct noise_rows *rows, struct noise_stream *stream);

typedef void noise_push_rows(const struct noise_rows *rows, const struct noise_push *push,
                             struct noise_stream *stream);

#endif

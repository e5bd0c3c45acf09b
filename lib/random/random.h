/*
 * The counter-based generator, Philox 4x32-10: a pure function of (key, counter), so that who draws
 * what never depends on threads or order. For simulation, splits and samplers; the noise of a
 * release has a generator of its own.
 */
#ifndef DPMF_RANDOM_RANDOM_H
#define DPMF_RANDOM_RANDOM_H

#include "dpmf.h"

/* One block of 4 x 32 random bits. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* A stream of draws: (seed, stream, substream) name it, the position is counted inside. */
struct random_stream {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    int used;
    bool has_spare;
    double spare; /* the second Gaussian of a pair */
};

/* `purpose` keeps different uses of one seed apart: a small constant of the caller's. */
void random_stream_init(struct random_stream *stream, uint64_t seed, uint32_t purpose,
                        uint64_t substream);

uint32_t random_u32(struct random_stream *stream);
uint64_t random_u64(struct random_stream *stream);
double random_uniform(struct random_stream *stream);             /* [0, 1), 53 bits */
double random_uniform_open(struct random_stream *stream);        /* (0, 1) */
uint64_t random_below(struct random_stream *stream, uint64_t n); /* 0 .. n-1, unbiased; n > 0 */
double random_gaussian(struct random_stream *stream);            /* N(0, 1) */
double random_exponential(struct random_stream *stream);         /* mean 1 */
double random_gamma(struct random_stream *stream,
                    double shape); /* mean and variance are the shape, at least 1 */

/* Bytes from the operating system. */
int random_from_system(void *bytes, size_t n, struct dpmf_error *error);

#endif

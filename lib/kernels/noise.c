/*
 * What all kernels of noise share: their constants, and the keys of streams: the first states of
 * the generators, by SplitMix64 from a hash of the key.
 */
#include "kernels/noise.h"

#include <assert.h>

#define ALL(x)                                                                                     \
    { x, x, x, x, x, x, x, x }

/* The polynomials are minimax ones: of -2 ln(1 + z) / z where 1 + z is from sqrt 1/2 to sqrt 2, of
 * sin(pi t / 2) / t and cos(pi t / 2) in terms of t^2, t up to 1. They are exact to 3e-6, 1.2e-6
 * and 7e-6; no test of any length that is run here could tell. The series are those of e^(-z/2) and
 * sqrt((1 - e^-z) / z). */
const struct noise_constants noise_constants = {
    .one = ALL(1),
    .root_half = ALL(0x3f3504f3), /* as a float */
    .most = ALL(31 << 23),        /* exponents stay where a float has them */
    .exponent = ALL(0xff800000),
    .sign = ALL(0x80000000),
    .unit = ALL(1),
    .half = ALL(0.5f),
    .two_ln_2 = ALL(0x1p-23f * 1.38629436f),
    .turn = ALL(0x1p-31f),
    .logarithm = {ALL(-2.00002556f), ALL(0.99970103f), ALL(-0.664517454f), ALL(0.509449266f),
                  ALL(-0.446601406f), ALL(0.28639708f)},
    .sine = {ALL(1.57079514f), ALL(-0.645925962f), ALL(0.0795006504f), ALL(-0.00437101493f)},
    .cosine = {ALL(0.999993295f), ALL(-1.2334845f), ALL(0.252580239f), ALL(-0.0190957353f)},
    .decay = {ALL(1), ALL(-0.5f), ALL(0.125f)},
    .spread = {ALL(1), ALL(-0.25f), ALL(0.0520833333f)},
};

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void noise_stream_init(struct noise_stream *stream, const struct noise_key *key) {
    assert(stream && key);
    const uint64_t words[] = {
        key->seed,
        (uint64_t)key->chain << 32 | key->round,
        (uint64_t)key->purpose,
        key->place,
    };
    uint64_t h = golden;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) h = mix(h ^ mix(words[i] + golden));
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < NOISE_LANES; i += 2) {
            uint64_t word = mix(h += golden);
            stream->state[s][i] = (uint32_t)word;
            stream->state[s][i + 1] = (uint32_t)(word >> 32);
        }
    stream->state[0][0] |= 1; /* never all 0 */
}

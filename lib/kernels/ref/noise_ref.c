/*
 * Noise in plain C: what noise_body.h does with eight at once, operation by operation, so that
 * every instruction set makes the same bits. The loops are over eight lanes or a block's columns,
 * without branches, so that a compiler may do several at once with whatever the machine has.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/kernel_sets.h"

#define STEP_SMALL 0.03125f
#define STEP_SERIES 0.125f

static inline uint32_t rotate(uint32_t x, int n) { return x << n | x >> (32 - n); }

/* Lane i of the generators. */
static inline uint32_t next_bits(struct noise_stream *g, size_t i) {
    uint32_t s0 = g->state[0][i], s1 = g->state[1][i], s2 = g->state[2][i], s3 = g->state[3][i];
    const uint32_t out = s0 + s3, t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    g->state[0][i] = s0;
    g->state[1][i] = s1;
    g->state[2][i] = s2;
    g->state[3][i] = rotate(s3, 11);
    return out;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline float signed_to_float(uint32_t bits) {
    int32_t x;
    memcpy(&x, &bits, sizeof x);
    return (float)x;
}

static inline float radius(uint32_t word) {
    const uint32_t u = bits_of(signed_to_float(word >> 1 | 1));
    const uint32_t exponent = (u - 0x3f3504f3) & 0xff800000;
    const float z = float_of(u - exponent) - 1;
    const float rest = signed_to_float((UINT32_C(31) << 23) - exponent) * (0x1p-23f * 1.38629436f);
    const float z2 = z * z, z3 = z2 * z;
    const float low = (0.99970103f * z + -2.00002556f) * z + rest;
    const float high = (0.28639708f * z + -0.446601406f) * z2 + (0.509449266f * z + -0.664517454f);
    return sqrtf(high * z3 + low);
}

static inline float sine(float w) {
    return ((-0.00437101493f * w + 0.0795006504f) * w + -0.645925962f) * w + 1.57079514f;
}
static inline float cosine(float w) {
    return ((-0.0190957353f * w + 0.252580239f) * w + -1.2334845f) * w + 0.999993295f;
}

/* A block of them, times `scale`. */
static inline void gaussian_block(struct noise_stream *g, float scale, float noise[NOISE_BLOCK]) {
    for (size_t i = 0; i < NOISE_LANES; i++) {
        const uint32_t word = next_bits(g, i), turn = next_bits(g, i);
        const float r = radius(word) * scale, t = signed_to_float(turn << 1) * 0x1p-31f, w = t * t;
        noise[i] = r * (sine(w) * t);
        noise[i + NOISE_LANES] = r * float_of(bits_of(cosine(w)) ^ (turn & 0x80000000));
    }
}

void kernel_ref_fill(float *out, size_t n, struct noise_stream *stream) {
    assert(stream && (out || n == 0));
    for (size_t x = 0; x < n; x += NOISE_BLOCK) gaussian_block(stream, 1, out + x);
}

/* ---- an Ornstein-Uhlenbeck step -------------------------------------------------------------- */

static inline float series_decay(float z) { return (0.125f * z + -0.5f) * z + 1; }
static inline float series_spread(float z) { return (0.0520833333f * z + -0.25f) * z + 1; }

static int halvings_of(float z) {
    int n = 0;
    z = z < 64 ? z : 64;
    while (z > STEP_SMALL) z /= 2, n++;
    return n;
}

static float large_decay(float z, int halvings) {
    float e = series_decay((z < 64 ? z : 64) * (1.0f / (float)(1 << halvings)));
    for (int i = 0; i < halvings; i++) e = e * e;
    return e;
}

static float diffused_far(float x, float p, float time, float root, int halvings, float noise) {
    float z = p * time;
    if (z < STEP_SERIES) return x * series_decay(z) + noise * (root * series_spread(z));
    float e = large_decay(z, halvings), lost = 1 - e * e;
    return x * e + noise * sqrtf(lost / (p > 1e-30f ? p : 1e-30f));
}

/* `quarter` is a quarter of the time, and the noise that of all of it. */
static inline float diffused_near(float x, float p, float quarter, float noise) {
    const float y = p * quarter, q = 1 - y * (1 - y * 0.5f);
    return q * (q * x + noise);
}

static inline float diffused_series(float x, float p, float time, float noise) {
    const float z = p * time;
    return x * series_decay(z) + noise * series_spread(z);
}

static void near_row(const struct noise_rows *rows, float *row, float time,
                     struct noise_stream *stream) {
    const float quarter = 0.25f * time, root = sqrtf(time);
    for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
        const size_t n = rows->k - x < NOISE_BLOCK ? rows->k - x : NOISE_BLOCK;
        float noise[NOISE_BLOCK];
        gaussian_block(stream, root, noise);
        for (size_t y = 0; y < n; y++)
            row[x + y] = diffused_near(row[x + y], rows->precision[x + y], quarter, noise[y]);
    }
}

static void series_row(const struct noise_rows *rows, float *row, float time,
                       struct noise_stream *stream) {
    const float root = sqrtf(time);
    for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
        const size_t n = rows->k - x < NOISE_BLOCK ? rows->k - x : NOISE_BLOCK;
        float noise[NOISE_BLOCK];
        gaussian_block(stream, root, noise);
        for (size_t y = 0; y < n; y++)
            row[x + y] = diffused_series(row[x + y], rows->precision[x + y], time, noise[y]);
    }
}

static void far_row(const struct noise_rows *rows, float *row, float time, int halvings,
                    struct noise_stream *stream) {
    const float root = sqrtf(time);
    for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
        const size_t n = rows->k - x < NOISE_BLOCK ? rows->k - x : NOISE_BLOCK;
        float noise[NOISE_BLOCK];
        gaussian_block(stream, 1, noise);
        for (size_t y = 0; y < n; y++)
            row[x + y] =
                diffused_far(row[x + y], rows->precision[x + y], time, root, halvings, noise[y]);
    }
}

void kernel_ref_diffuse(const struct noise_rows *rows, struct noise_stream *stream) {
    assert(rows && stream);
    for (size_t i = 0; i < rows->n; i++) {
        float *row = rows->rows + (size_t)rows->which[i] * rows->stride;
        const float time = rows->time[i], z = rows->precision_max * time;
        if (z <= STEP_SMALL)
            near_row(rows, row, time, stream);
        else if (z <= STEP_SERIES)
            series_row(rows, row, time, stream);
        else
            far_row(rows, row, time, halvings_of(z), stream);
    }
}

/* ---- rows with momenta ----------------------------------------------------------------------- */

/* One column; @return its momentum */
static inline float pushed(float *row, float *momentum, float precision, float time,
                           const struct noise_push *push, size_t i, float noise) {
    float z = precision * (time * push->drift), decay = series_decay(z < 1 ? z : 1);
    float half = 0.5f * time, q = *row * decay;
    float p = (push->row_shift * q + *momentum) * push->damp[i];
    q = half * p + q;
    float next = p * push->keep[i] + noise * push->spread[i];
    q = push->slip * (next - p) + q;
    q = half * next + q;
    *momentum = -push->row_shift * q + next;
    *row = q * decay;
    return next;
}

void kernel_ref_push(const struct noise_rows *rows, const struct noise_push *push,
                     struct noise_stream *stream) {
    assert(rows && push && stream);
    for (size_t i = 0; i < rows->n; i++) {
        const size_t at = (size_t)rows->which[i] * rows->stride;
        float lane[NOISE_LANES] = {0}, sum = 0;
        for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
            float noise[NOISE_BLOCK];
            gaussian_block(stream, 1, noise);
            for (size_t y = x; y < rows->k && y < x + NOISE_BLOCK; y++) {
                float p = pushed(&rows->rows[at + y], &rows->momenta[at + y], rows->precision[y],
                                 rows->time[i], push, i, noise[y - x]);
                lane[y % NOISE_LANES] = p * p + lane[y % NOISE_LANES];
            }
        }
        for (size_t j = 0; j < NOISE_LANES; j++) sum += lane[j];
        push->energy[i] = sum;
    }
}

/*
 * Noise in plain C, a number at a time: what noise_body.h does with eight at once, operation by
 * operation, so that every instruction set makes the same bits. Fused multiplications are asked for
 * by name.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/kernel_sets.h"

#define STEP_SMALL 0.125f

static uint32_t rotate(uint32_t x, int n) {
    assert(n > 0 && n < 32);
    return x << n | x >> (32 - n);
}

/* Lane i of the generators. */
static uint32_t next_bits(struct noise_stream *g, size_t i) {
    assert(g);
    uint32_t *s0 = &g->state[0][i], *s1 = &g->state[1][i], *s2 = &g->state[2][i],
             *s3 = &g->state[3][i];
    uint32_t out = rotate(*s0 + *s3, 7) + *s0, t = *s1 << 9;
    *s2 ^= *s0;
    *s3 ^= *s1;
    *s1 ^= *s2;
    *s0 ^= *s3;
    *s2 ^= t;
    *s3 = rotate(*s3, 11);
    return out;
}

static float polynomial(const float *c, int n, float x) {
    assert(c && n > 0);
    float sum = c[n - 1];
    for (int i = n - 2; i >= 0; i--) sum = fmaf(sum, x, c[i]);
    return sum;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds towards minus infinity, as a shift of a negative number does on every machine there is. */
static int32_t exponent_of(uint32_t u) {
    int32_t above = (int32_t)(u - 0x3f3504f3);
    return above >= 0 ? above >> 23 : -((-above + 0x7fffff) >> 23);
}

static float radius(uint32_t word) {
    static const float c[] = {-2.00002556f, 0.99970103f,   -0.664517454f,
                              0.509449266f, -0.446601406f, 0.28639708f};
    uint32_t u = bits_of((float)(int32_t)(word >> 1 | 1));
    int32_t exponent = exponent_of(u);
    float z = float_of(u - ((uint32_t)exponent << 23)) - 1;
    float square = fmaf(polynomial(c, 6, z), z, (float)(31 - exponent) * 1.38629436f);
    return sqrtf(square);
}

static void gaussians(struct noise_stream *g, size_t lane, float *a, float *b) {
    static const float sine[] = {1.57079514f, -0.645925962f, 0.0795006504f, -0.00437101493f};
    static const float cosine[] = {0.999993295f, -1.2334845f, 0.252580239f, -0.0190957353f};
    uint32_t word = next_bits(g, lane), turn = next_bits(g, lane);
    int32_t signed_turn;
    memcpy(&signed_turn, &turn, sizeof turn);
    float r = radius(word), t = (float)signed_turn * 0x1p-31f, w = t * t;
    float side = polynomial(cosine, 4, w);
    *a = r * (polynomial(sine, 4, w) * t);
    *b = r * (word & 1 ? -side : side);
}

static void gaussian_block(struct noise_stream *g, float noise[NOISE_BLOCK]) {
    for (size_t i = 0; i < NOISE_LANES; i++) gaussians(g, i, &noise[i], &noise[i + NOISE_LANES]);
}

void kernel_ref_fill(float *out, size_t n, struct noise_stream *stream) {
    assert(stream && (out || n == 0));
    for (size_t x = 0; x < n; x += NOISE_BLOCK) gaussian_block(stream, out + x);
}

/* ---- an Ornstein-Uhlenbeck step -------------------------------------------------------------- */

static float series_decay(float z) {
    static const float c[] = {1, -0.5f, 0.125f};
    return polynomial(c, 3, z);
}
static float series_spread(float z) {
    static const float c[] = {1, -0.25f, 0.0520833333f};
    return polynomial(c, 3, z);
}

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

static float diffused(float x, float p, float time, int halvings, float noise) {
    float z = p * time, root = sqrtf(time);
    if (halvings == 0 || z < STEP_SMALL)
        return fmaf(x, series_decay(z), noise * (root * series_spread(z)));
    float e = large_decay(z, halvings), lost = 1 - e * e;
    return fmaf(x, e, noise * sqrtf(lost / (p > 1e-30f ? p : 1e-30f)));
}

void kernel_ref_diffuse(const struct noise_rows *rows, struct noise_stream *stream) {
    assert(rows && stream);
    for (size_t i = 0; i < rows->n; i++) {
        float *row = rows->rows + (size_t)rows->which[i] * rows->stride;
        const int halvings = halvings_of(rows->precision_max * rows->time[i]);
        for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
            float noise[NOISE_BLOCK];
            gaussian_block(stream, noise);
            for (size_t y = x; y < rows->k && y < x + NOISE_BLOCK; y++)
                row[y] =
                    diffused(row[y], rows->precision[y], rows->time[i], halvings, noise[y - x]);
        }
    }
}

/* ---- rows with momenta ----------------------------------------------------------------------- */

/* One column; @return its momentum */
static float pushed(float *row, float *momentum, float precision, float time,
                    const struct noise_push *push, size_t i, float noise) {
    float z = precision * (time * push->drift), decay = series_decay(z < 1 ? z : 1);
    float half = 0.5f * time, q = *row * decay;
    float p = fmaf(push->row_shift, q, *momentum) * push->damp[i];
    q = fmaf(half, p, q);
    float next = fmaf(p, push->keep[i], noise * push->spread[i]);
    q = fmaf(push->slip, next - p, q);
    q = fmaf(half, next, q);
    *momentum = fmaf(-push->row_shift, q, next);
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
            gaussian_block(stream, noise);
            for (size_t y = x; y < rows->k && y < x + NOISE_BLOCK; y++) {
                float p = pushed(&rows->rows[at + y], &rows->momenta[at + y], rows->precision[y],
                                 rows->time[i], push, i, noise[y - x]);
                lane[y % NOISE_LANES] = fmaf(p, p, lane[y % NOISE_LANES]);
            }
        }
        for (size_t j = 0; j < NOISE_LANES; j++) sum += lane[j];
        push->energy[i] = sum;
    }
}

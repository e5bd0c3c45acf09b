/*
 * Noise in every vector instruction set, in terms of the `eight` and `bits` that kernels/bits_avx.h
 * and its like define: include one of those first. ref/noise_ref.c says the same plainly; the two
 * must agree in every bit, so neither may be simplified alone.
 *
 * Gaussians by Box and Muller: a radius sqrt(-2 ln u) and an angle. The logarithm is that of the
 * mantissa, brought into [sqrt 1/2, sqrt 2), by a polynomial, and the exponent. The angle covers a
 * half turn; the other half is a sign of the cosine, from the topmost bit of the angle's word.
 */
#ifndef DPMF_KERNELS_NOISE_BODY_H
#define DPMF_KERNELS_NOISE_BODY_H

#include <math.h>

#include "kernels/kernel_inline.h"
#include "kernels/noise.h"

struct generator {
    bits s0, s1, s2, s3;
};

INLINE struct generator generator_load(const struct noise_stream *stream) {
    struct generator g = {bits_load(stream->state[0]), bits_load(stream->state[1]),
                          bits_load(stream->state[2]), bits_load(stream->state[3])};
    return g;
}

INLINE void generator_store(struct noise_stream *stream, const struct generator *g) {
    bits_store(stream->state[0], g->s0);
    bits_store(stream->state[1], g->s1);
    bits_store(stream->state[2], g->s2);
    bits_store(stream->state[3], g->s3);
}

INLINE bits next_bits(struct generator *g) {
    bits out = bits_add(g->s0, g->s3), t = bits_left(g->s1, 9);
    g->s2 = bits_xor(g->s2, g->s0);
    g->s3 = bits_xor(g->s3, g->s1);
    g->s1 = bits_xor(g->s1, g->s2);
    g->s0 = bits_xor(g->s0, g->s3);
    g->s2 = bits_xor(g->s2, t);
    g->s3 = bits_rotate(g->s3, 11);
    return out;
}

/* a b + c, rounded twice: not every set has a fused one */
INLINE eight product_plus(eight a, eight b, eight c) { return eight_add(eight_mul(a, b), c); }

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) */
INLINE eight polynomial(const noise_constant *c, const int n, eight x) {
    eight sum = eight_load(c[n - 1]);
    UNROLL for (int i = n - 2; i >= 0; i--) sum = product_plus(sum, x, eight_load(c[i]));
    return sum;
}

/* sqrt(-2 ln u) of the upper 31 bits, u in (0, 1]. */
INLINE eight radius(bits word) {
    const struct noise_constants *c = &noise_constants;
    bits u = float_as_bits(bits_to_float(bits_or(bits_right(word, 1), bits_load(c->one))));
    bits exponent = bits_and(bits_sub(u, bits_load(c->root_half)), bits_load(c->exponent));
    eight z = eight_sub(bits_as_float(bits_sub(u, exponent)), eight_load(c->unit));
    eight whole = bits_to_float(bits_sub(bits_load(c->most), exponent));
    eight rest = eight_mul(whole, eight_load(c->two_ln_2));
    /* the polynomial in pieces that do not wait for each other */
    const noise_constant *l = c->logarithm;
    eight z2 = eight_mul(z, z), z3 = eight_mul(z2, z);
    eight low = product_plus(polynomial(l, 2, z), z, rest);
    eight high = product_plus(polynomial(l + 4, 2, z), z2, polynomial(l + 2, 2, z));
    return eight_sqrt(product_plus(high, z3, low));
}

/* Sixteen of them, times `scale`. */
INLINE void gaussians(struct generator *g, eight scale, eight *a, eight *b) {
    const struct noise_constants *c = &noise_constants;
    bits word = next_bits(g), turn = next_bits(g);
    eight r = eight_mul(radius(word), scale);
    eight t = eight_mul(bits_to_float(bits_left(turn, 1)), eight_load(c->turn));
    eight w = eight_mul(t, t), up = eight_mul(polynomial(c->sine, 4, w), t);
    bits sign = bits_and(turn, bits_load(c->sign));
    eight side = bits_as_float(bits_xor(float_as_bits(polynomial(c->cosine, 4, w)), sign));
    *a = eight_mul(r, up);
    *b = eight_mul(r, side);
}

INLINE void fill_all(float *out, size_t n, struct noise_stream *stream) {
    struct generator g = generator_load(stream);
    for (size_t x = 0; x < n; x += NOISE_BLOCK) {
        eight a, b;
        gaussians(&g, eight_load(noise_constants.unit), &a, &b);
        eight_store(out + x, a);
        eight_store(out + x + NOISE_LANES, b);
    }
    generator_store(stream, &g);
}

/* ---- an Ornstein-Uhlenbeck step -------------------------------------------------------------- */

/* z = p t up to which a column is moved by q = e^(-z/4), taken for 1 - y + y^2/2 with y = z/4: x
 * becomes q (q x + noise sqrt(t)). Decay, q^2, is off by z^3/192 there, and spread, q, by z^2/48 or
 * 2e-5; the variance they leave in place is 1/p but for z^2/32 of it. */
#define STEP_SMALL 0.03125f

/* and up to which their series are taken: they are off by 4e-5 there, and by z^3 / 48 */
#define STEP_SERIES 0.125f

/* e^(-z/2) */
INLINE eight series_decay(eight z) { return polynomial(noise_constants.decay, 3, z); }

/* sqrt((1 - e^-z) / z) */
INLINE eight series_spread(eight z) { return polynomial(noise_constants.spread, 3, z); }

/* How often z is halved before the series is taken: 1 - e^-z must be exact too. */
INLINE int halvings_of(float z) {
    int n = 0;
    z = z < 64 ? z : 64;
    while (z > STEP_SMALL) z /= 2, n++;
    return n;
}

/* The noise of columns past k is 0, so these stay what they are, 0. */
INLINE eight kept_noise(eight noise, size_t x, size_t k) {
    return x + NOISE_LANES <= k ? noise : eight_first(noise, x < k ? (uint32_t)(k - x) : 0);
}

/* `quarter` is t/4, and the noise that of a time t. */
INLINE void diffuse_near(float *row, const float *precision, eight quarter, eight noise) {
    const eight unit = eight_load(noise_constants.unit), half = eight_load(noise_constants.half);
    eight y = eight_mul(eight_load(precision), quarter);
    eight q = eight_sub(unit, eight_mul(y, eight_sub(unit, eight_mul(y, half))));
    eight_store(row, eight_mul(q, product_plus(q, eight_load(row), noise)));
}

/* The same for columns of z up to STEP_SERIES. */
INLINE void diffuse_series(float *row, const float *precision, eight time, eight noise) {
    eight z = eight_mul(eight_load(precision), time);
    eight moved = eight_mul(noise, series_spread(z));
    eight_store(row, product_plus(eight_load(row), series_decay(z), moved));
}

/* Columns of which some have a large z: e^(-z/2) is the 2^halvings-th power of one that the
 * series gives. */
INLINE void diffuse_far(float *row, const float *precision, eight time, eight root, int halvings,
                        eight noise) {
    const eight bound = eight_splat(64); /* e^-32 is nothing */
    eight p = eight_load(precision), z = eight_mul(p, time);
    eight e =
        series_decay(eight_mul(eight_min(z, bound), eight_splat(1.0f / (float)(1 << halvings))));
    for (int i = 0; i < halvings; i++) e = eight_mul(e, e);
    eight lost = eight_sub(eight_splat(1), eight_mul(e, e));
    const eight small = eight_splat(STEP_SERIES);
    eight spread = eight_if_less(z, small, eight_mul(root, series_spread(z)),
                                 eight_sqrt(eight_div(lost, eight_max(p, eight_splat(1e-30f)))));
    eight decay = eight_if_less(z, small, series_decay(z), e);
    eight_store(row, product_plus(eight_load(row), decay, eight_mul(noise, spread)));
}

INLINE void near_block(struct generator *g, const struct noise_rows *rows, float *row, size_t x,
                       eight time, eight root, const bool series, const bool whole) {
    const size_t y = x + NOISE_LANES;
    eight a, b;
    gaussians(g, root, &a, &b);
    if (!whole) {
        a = kept_noise(a, x, rows->k);
        b = kept_noise(b, y, rows->k);
    }
    if (series) {
        diffuse_series(row + x, rows->precision + x, time, a);
        diffuse_series(row + y, rows->precision + y, time, b);
    } else {
        diffuse_near(row + x, rows->precision + x, time, a);
        diffuse_near(row + y, rows->precision + y, time, b);
    }
}

INLINE void near_row(struct generator *g, const struct noise_rows *rows, size_t i,
                     const bool series) {
    const size_t next = i + 1 < rows->n ? i + 1 : i;
    float *row = rows->rows + (size_t)rows->which[i] * rows->stride;
    const float *ahead = rows->rows + (size_t)rows->which[next] * rows->stride;
    const eight time = eight_splat(series ? rows->time[i] : 0.25f * rows->time[i]);
    const eight root = eight_splat(sqrtf(rows->time[i]));
    size_t x = 0;
    for (; x + NOISE_BLOCK <= rows->k; x += NOISE_BLOCK) {
        __builtin_prefetch(ahead + x, 1);
        near_block(g, rows, row, x, time, root, series, true);
    }
    if (x < rows->k) near_block(g, rows, row, x, time, root, series, false);
}

/* Apart, for it is rare, and its constants would be in the way. */
static __attribute__((noinline)) void far_row(struct generator *g, const struct noise_rows *rows,
                                              size_t i, int halvings) {
    float *row = rows->rows + (size_t)rows->which[i] * rows->stride;
    const eight time = eight_splat(rows->time[i]), root = eight_splat(sqrtf(rows->time[i]));
    for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
        const size_t y = x + NOISE_LANES;
        eight a, b;
        gaussians(g, eight_splat(1), &a, &b);
        a = kept_noise(a, x, rows->k);
        b = kept_noise(b, y, rows->k);
        diffuse_far(row + x, rows->precision + x, time, root, halvings, a);
        diffuse_far(row + y, rows->precision + y, time, root, halvings, b);
    }
}

INLINE void diffuse_all(const struct noise_rows *rows, struct noise_stream *stream) {
    struct generator g = generator_load(stream);
    for (size_t i = 0; i < rows->n; i++) {
        const float z = rows->precision_max * rows->time[i];
        if (z <= STEP_SMALL)
            near_row(&g, rows, i, false);
        else if (z <= STEP_SERIES)
            near_row(&g, rows, i, true);
        else {
            struct generator own = g;
            far_row(&own, rows, i, halvings_of(z));
            g = own;
        }
    }
    generator_store(stream, &g);
}

/* ---- rows with momenta ----------------------------------------------------------------------- */

/*
 * The process, for a place q with momentum p under the force f = -grad U(q), is
 *
 *     dq = p dt             + d f dt - c p dt + sqrt(2 d) dW
 *     dp = f dt - g p dt    + c f dt          + sqrt(2 g) dW
 *
 * where c = sqrt(d g) and W is the same in both lines. It leaves exp(-U(q) - p^2/2) invariant: its
 * diffusion matrix ((d, c), (c, g)) is positive semidefinite and the rest is antisymmetric (Ma,
 * Chen and Fox 2015). It is made of three motions, each of which has an exact solution:
 *
 *     forces    dq = d f, dp = (1 + c) f: all forces move (q, p) along one line, so that
 *               s = p - (1 + c)/d q does not change. It is s that is stored: the SGD kernel moves
 *               q, knows nothing of momenta, and yet gives them their kicks. The force of the
 *               prior, -precision * q, is a decay of q.
 *     flight    dq = p
 *     friction  dp = -g p + sqrt(2 g) dW, dq = sqrt(d/g) dp: an Ornstein-Uhlenbeck step of p,
 *               which q slips along with
 *
 * They follow each other as prior/2, flight/2, friction, flight/2, prior/2, so that the error of
 * splitting them is of second order.
 */
struct push_constants {
    eight time, half, row_shift, row_unshift, slip, keep, spread, damp;
};

INLINE void push_eight(float *row, float *momenta, const float *precision,
                       const struct push_constants *c, eight noise, eight *energy) {
    eight decay = series_decay(eight_min(eight_mul(eight_load(precision), c->time),
                                         eight_splat(1))); /* half of the decay */
    eight q = eight_mul(eight_load(row), decay);
    eight p = eight_mul(product_plus(c->row_shift, q, eight_load(momenta)), c->damp);
    q = product_plus(c->half, p, q);
    eight next = product_plus(p, c->keep, eight_mul(noise, c->spread));
    q = product_plus(c->slip, eight_sub(next, p), q);
    q = product_plus(c->half, next, q);
    *energy = product_plus(next, next, *energy);
    eight_store(momenta, product_plus(c->row_unshift, q, next));
    eight_store(row, eight_mul(q, decay));
}

/* The lanes are added in one order everywhere. */
INLINE float lanes_total(eight x) {
    float lane[NOISE_LANES], sum = 0;
    eight_store(lane, x);
    for (int i = 0; i < NOISE_LANES; i++) sum += lane[i];
    return sum;
}

INLINE float push_row(struct generator *g, const struct noise_rows *rows,
                      const struct noise_push *push, size_t i) {
    const size_t at = (size_t)rows->which[i] * rows->stride;
    const float time = rows->time[i];
    const struct push_constants c = {
        .time = eight_splat(time * push->drift),
        .half = eight_splat(0.5f * time),
        .row_shift = eight_splat(push->row_shift),
        .row_unshift = eight_splat(-push->row_shift),
        .slip = eight_splat(push->slip),
        .keep = eight_splat(push->keep[i]),
        .spread = eight_splat(push->spread[i]),
        .damp = eight_splat(push->damp[i]),
    };
    eight energy = eight_splat(0);
    for (size_t x = 0; x < rows->k; x += NOISE_BLOCK) {
        eight a, b;
        const size_t y = x + NOISE_LANES;
        gaussians(g, eight_splat(1), &a, &b);
        a = kept_noise(a, x, rows->k);
        b = kept_noise(b, y, rows->k);
        push_eight(rows->rows + at + x, rows->momenta + at + x, rows->precision + x, &c, a,
                   &energy);
        push_eight(rows->rows + at + y, rows->momenta + at + y, rows->precision + y, &c, b,
                   &energy);
    }
    return lanes_total(energy);
}

INLINE void push_all(const struct noise_rows *rows, const struct noise_push *push,
                     struct noise_stream *stream) {
    struct generator g = generator_load(stream);
    for (size_t i = 0; i < rows->n; i++) push->energy[i] = push_row(&g, rows, push, i);
    generator_store(stream, &g);
}

#endif

/*
 * What every kernel set must do, checked against the contract in double precision. A header without
 * a test framework, so that the same checks run on other machines' kernels under an emulator
 * (tests/kernels/).
 *
 * The rows have norm about 1. A step changes them by about rate * e / sqrt(k) a column; a wrong
 * lane or a wrong coefficient is therefore thousands of times larger than the tolerance, and a
 * missed column is looked for on its own, with rows that are 0 elsewhere.
 */
#ifndef DPMF_TESTS_KERNEL_CHECKS_H
#define DPMF_TESTS_KERNEL_CHECKS_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

struct kernel_checks {
    const struct kernel_set *set;
    char *message;
    size_t size;
    uint64_t random;
};

static int kernel_checks_fail(struct kernel_checks *t, const char *format, ...) {
    va_list arguments;
    int used = snprintf(t->message, t->size, "%s: ", t->set->name);
    va_start(arguments, format);
    if (used > 0 && (size_t)used < t->size)
        vsnprintf(t->message + used, t->size - (size_t)used, format, arguments);
    va_end(arguments);
    return -1;
}

static uint32_t kernel_checks_below(struct kernel_checks *t, uint32_t n) {
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((t->random >> 33) * n) >> 31);
}
static float kernel_checks_uniform(struct kernel_checks *t) { /* -1 .. 1 */
    return (float)kernel_checks_below(t, 1u << 24) / (float)(1 << 23) - 1;
}

/* ---- a side, in single precision for the kernel and in double for the oracle ----------------- */

struct kernel_checks_side {
    struct kernel_side side;
    float *before; /* the rows as they were */
    double *exact, *exact_biases;
    bool *is_used; /* by any chunk; the others must not change by a bit */
    uint32_t n;    /* rows; one more, the spare, follows */
    size_t k, floats;
};

static void kernel_checks_side_free(struct kernel_checks_side *s) {
    free(s->side.rows);
    free(s->side.biases);
    free(s->before);
    free(s->exact);
    free(s->exact_biases);
    free(s->is_used);
}

/* What lies between the rows must be neither read nor written: it is NaN. */
static bool kernel_checks_side_make(struct kernel_checks *t, struct kernel_checks_side *s,
                                    uint32_t n, size_t k) {
    const size_t stride = t->set->stride(k), padded = t->set->padded_k(k), rows = (size_t)n + 1;
    const float scale = sqrtf(3 / (float)k);
    *s =
        (struct kernel_checks_side){.side.stride = stride, .n = n, .k = k, .floats = rows * stride};
    s->side.rows = aligned_alloc(KERNEL_ALIGN, s->floats * sizeof(float));
    s->side.biases = malloc(rows * sizeof(float));
    s->before = malloc(s->floats * sizeof(float));
    s->exact = malloc(rows * k * sizeof(double));
    s->exact_biases = malloc(rows * sizeof(double));
    s->is_used = calloc(rows, sizeof(bool));
    if (!s->side.rows || !s->side.biases || !s->before || !s->exact || !s->exact_biases ||
        !s->is_used)
        return false;
    for (size_t i = 0; i < rows; i++) {
        for (size_t x = 0; x < stride; x++) {
            float value = x < k ? scale * kernel_checks_uniform(t) : x < padded ? 0 : NAN;
            s->side.rows[i * stride + x] = value;
            if (x < k) s->exact[i * k + x] = (double)value;
        }
        s->side.biases[i] = kernel_checks_uniform(t);
        s->exact_biases[i] = (double)s->side.biases[i];
    }
    memcpy(s->before, s->side.rows, s->floats * sizeof(float));
    return true;
}

static int kernel_checks_row(struct kernel_checks *t, const struct kernel_checks_side *s,
                             const char *name, uint32_t i) {
    const size_t stride = s->side.stride, padded = t->set->padded_k(s->k);
    const float *row = s->side.rows + i * stride, *before = s->before + i * stride;
    const double tolerance = 1e-5 / sqrt((double)s->k);
    if (!s->is_used[i])
        return memcmp(row, before, stride * sizeof *row) == 0
                   ? 0
                   : kernel_checks_fail(t, "k %zu: %s row %u changed", s->k, name, i);
    for (size_t x = 0; x < s->k; x++)
        if (!(fabs((double)row[x] - s->exact[i * s->k + x]) <= tolerance))
            return kernel_checks_fail(t, "k %zu: %s row %u column %zu is %.9g, not %.9g (was %.9g)",
                                      s->k, name, i, x, (double)row[x], s->exact[i * s->k + x],
                                      (double)before[x]);
    for (size_t x = s->k; x < padded; x++)
        if (row[x] != 0)
            return kernel_checks_fail(t, "k %zu: %s row %u: padding %zu is %g", s->k, name, i, x,
                                      (double)row[x]);
    if (memcmp(row + padded, before + padded, (stride - padded) * sizeof *row) != 0)
        return kernel_checks_fail(t, "k %zu: %s row %u: written past its end", s->k, name, i);
    return 0;
}

static int kernel_checks_side_compare(struct kernel_checks *t, const struct kernel_checks_side *s,
                                      const char *name) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (kernel_checks_row(t, s, name, i) < 0) return -1;
        if (!(fabs((double)s->side.biases[i] - s->exact_biases[i]) <= 1e-5))
            return kernel_checks_fail(t, "k %zu: %s bias %u is %.9g, not %.9g", s->k, name, i,
                                      (double)s->side.biases[i], s->exact_biases[i]);
    }
    return 0;
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static double kernel_checks_exact_chunk(const struct kernel_step *step,
                                        const struct kernel_chunk *c,
                                        struct kernel_checks_side *resident,
                                        struct kernel_checks_side *moving) {
    const size_t k = resident->k;
    double e[KERNEL_LANES], squares = 0, sum = 0, *a = resident->exact + c->resident * k;
    resident->is_used[c->resident] = true;
    for (uint32_t i = 0; i < c->n; i++) {
        const double *b = moving->exact + c->moving[i] * k;
        moving->is_used[c->moving[i]] = true;
        e[i] = (double)c->rating[i] - (double)step->offset - resident->exact_biases[c->resident] -
               moving->exact_biases[c->moving[i]];
        for (size_t x = 0; x < k; x++) e[i] -= a[x] * b[x];
        squares += e[i] * e[i];
        sum += e[i];
    }
    for (size_t x = 0; x < k; x++) {
        const double old = a[x];
        a[x] *= (double)step->decay[c->n];
        for (uint32_t i = 0; i < c->n; i++) {
            double *b = moving->exact + c->moving[i] * k + x;
            a[x] += (double)step->rate * e[i] * *b;
            *b = (double)step->decay[1] * *b + (double)step->rate * e[i] * old;
        }
    }
    for (uint32_t i = 0; i < c->n; i++) {
        double *bias = &moving->exact_biases[c->moving[i]];
        *bias = (double)step->bias_decay[1] * *bias + (double)step->bias_rate * e[i];
    }
    double *own = &resident->exact_biases[c->resident];
    *own = (double)step->bias_decay[c->n] * *own + (double)step->bias_rate * sum;
    return squares;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static struct kernel_step kernel_checks_step(struct kernel_checks *t,
                                             const struct kernel_checks_side *resident,
                                             const struct kernel_checks_side *moving) {
    struct kernel_step step = {.resident = resident->side,
                               .moving = moving->side,
                               .k = t->set->padded_k(resident->k),
                               .offset = 0.5f,
                               .rate = 0.04f,
                               .bias_rate = 0.03f,
                               .lead = kernel_checks_below(t, KERNEL_AHEAD + 1)};
    for (int i = 0; i <= KERNEL_LANES; i++) {
        step.decay[i] = powf(0.99f, (float)i);
        step.bias_decay[i] = powf(0.97f, (float)i);
    }
    return step;
}

/* Lanes that differ, the unused ones spare; now and then the resident row of the chunk before. */
static void kernel_checks_fill(struct kernel_checks *t, struct kernel_chunk *chunks, size_t n,
                               uint32_t residents, uint32_t movings, uint32_t lanes) {
    memset(chunks, 0, (n + KERNEL_AHEAD) * sizeof *chunks);
    for (size_t j = 0; j < n; j++) {
        struct kernel_chunk *c = &chunks[j];
        bool again = j > 0 && kernel_checks_below(t, 3) == 0;
        c->resident = again ? c[-1].resident : kernel_checks_below(t, residents);
        c->n = lanes ? lanes : 1 + kernel_checks_below(t, KERNEL_LANES);
        uint32_t first = kernel_checks_below(t, movings), apart = 1 + kernel_checks_below(t, 2);
        for (uint32_t i = 0; i < KERNEL_LANES; i++) {
            c->moving[i] = i < c->n ? (first + i * apart) % movings : movings;
            c->rating[i] = i < c->n ? 1.5f * kernel_checks_uniform(t) : 0;
        }
    }
}

/* n chunks of `lanes` lanes, or of any number when that is 0. */
static int kernel_checks_sgd(struct kernel_checks *t, size_t k, size_t n, uint32_t lanes) {
    enum {
        RESIDENTS = 5,
        MOVINGS = 17
    }; /* few, so that rows come again soon; 17: odd and over 2 * 8 */
    struct kernel_checks_side resident = {0}, moving = {0};
    struct kernel_chunk *chunks = malloc((n + KERNEL_AHEAD) * sizeof *chunks);
    int code = -1;
    if (!chunks || !kernel_checks_side_make(t, &resident, RESIDENTS, k) ||
        !kernel_checks_side_make(t, &moving, MOVINGS, k)) {
        kernel_checks_fail(t, "out of memory");
        goto out;
    }
    const struct kernel_step step = kernel_checks_step(t, &resident, &moving);
    kernel_checks_fill(t, chunks, n, RESIDENTS, MOVINGS, lanes);
    double found = t->set->sgd_tile(k)(&step, chunks, n), expected = 0;
    for (size_t j = 0; j < n; j++)
        expected += kernel_checks_exact_chunk(&step, &chunks[j], &resident, &moving);
    if (!(fabs(found - expected) <= 1e-5 * (1 + expected))) {
        kernel_checks_fail(t, "k %zu, %zu chunks: squares %.9g, not %.9g", k, n, found, expected);
        goto out;
    }
    code = kernel_checks_side_compare(t, &resident, "resident");
    if (code == 0) code = kernel_checks_side_compare(t, &moving, "moving");
out:
    free(chunks);
    kernel_checks_side_free(&resident);
    kernel_checks_side_free(&moving);
    return code;
}

/* Every column counts: rows that are 1 in one column and 0 elsewhere have the product 1. */
static int kernel_checks_columns(struct kernel_checks *t, size_t k) {
    struct kernel_checks_side resident = {0}, moving = {0};
    struct kernel_chunk chunks[1 + KERNEL_AHEAD];
    int code = -1;
    if (!kernel_checks_side_make(t, &resident, 1, k) ||
        !kernel_checks_side_make(t, &moving, KERNEL_LANES, k)) {
        kernel_checks_fail(t, "out of memory");
        goto out;
    }
    struct kernel_step step = kernel_checks_step(t, &resident, &moving);
    step.offset = 0;
    for (size_t x = 0; x < k; x++) {
        const uint32_t n = 1 + (uint32_t)x % KERNEL_LANES;
        kernel_checks_fill(t, chunks, 1, 1, KERNEL_LANES, n);
        for (uint32_t i = 0; i <= KERNEL_LANES; i++) {
            if (i < 2)
                memset(resident.side.rows + i * resident.side.stride, 0, step.k * sizeof(float));
            memset(moving.side.rows + i * moving.side.stride, 0, step.k * sizeof(float));
            moving.side.rows[i * moving.side.stride + x] = 1;
            moving.side.biases[i] = 0;
        }
        resident.side.rows[x] = 1;
        resident.side.biases[0] = 0;
        for (uint32_t i = 0; i < n; i++) {
            chunks[0].moving[i] = i;
            chunks[0].rating[i] = 1 + (float)(1u << i);
        }
        double expected = (pow(4, n) - 1) / 3; /* the errors are 1, 2, 4 .. */
        double found = t->set->sgd_tile(k)(&step, chunks, 1);
        if (found != expected) {
            kernel_checks_fail(t, "k %zu, column %zu, %u lanes: squares %g, not %g", k, x, n, found,
                               expected);
            goto out;
        }
    }
    code = 0;
out:
    kernel_checks_side_free(&resident);
    kernel_checks_side_free(&moving);
    return code;
}

/* ---- products -------------------------------------------------------------------------------- */

static int kernel_checks_scores(struct kernel_checks *t, size_t k, uint32_t n) {
    struct kernel_checks_side one = {0}, many = {0};
    float *out = malloc(((size_t)n + 1) * sizeof *out);
    int code = -1;
    if (!out || !kernel_checks_side_make(t, &one, 1, k) ||
        !kernel_checks_side_make(t, &many, n, k)) {
        kernel_checks_fail(t, "out of memory");
        goto out;
    }
    const size_t padded = t->set->padded_k(k), stride = many.side.stride;
    out[n] = -77; /* must not be written */
    t->set->scores(one.side.rows, many.side.rows, stride, many.side.biases, n, padded, out);
    for (uint32_t i = 0; i < n; i++) {
        double exact = 0;
        for (size_t x = 0; x < k; x++) exact += one.exact[x] * many.exact[i * k + x];
        double dot = (double)t->set->dot(one.side.rows, many.side.rows + i * stride, padded);
        if (!(fabs(dot - exact) <= 2e-6) ||
            !(fabs((double)out[i] - exact - many.exact_biases[i]) <= 2e-6)) {
            kernel_checks_fail(t, "k %zu: row %u of %u: dot %.9g, score %.9g, not %.9g + %.9g", k,
                               i, n, dot, (double)out[i], exact, many.exact_biases[i]);
            goto out;
        }
    }
    for (size_t x = 0; n > 0 && x < k; x++) { /* every column counts */
        memset(one.side.rows, 0, padded * sizeof(float));
        one.side.rows[x] = 1;
        t->set->scores(one.side.rows, many.side.rows, stride, many.side.biases, 1, padded, out);
        if (t->set->dot(one.side.rows, many.side.rows, padded) != many.side.rows[x] ||
            out[0] != many.side.biases[0] + many.side.rows[x]) {
            kernel_checks_fail(t, "k %zu: column %zu is not counted", k, x);
            goto out;
        }
    }
    code = n == 0 || out[n] == -77 ? 0 : kernel_checks_fail(t, "%u scores: more were written", n);
out:
    free(out);
    kernel_checks_side_free(&one);
    kernel_checks_side_free(&many);
    return code;
}

/* The sums of n rows' products against doubles; nothing past the result may be written. */
static int kernel_checks_gram(struct kernel_checks *t, size_t k, size_t n) {
    const size_t w = t->set->padded_k(k), line = KERNEL_ALIGN / sizeof(float);
    const size_t cells = (w * w + line) / line * line;
    float *rows = aligned_alloc(KERNEL_ALIGN, ((n + 1) * w + line) / line * KERNEL_ALIGN);
    float *gram = aligned_alloc(KERNEL_ALIGN, cells * sizeof *gram);
    int code = rows && gram ? 0 : kernel_checks_fail(t, "out of memory");
    for (size_t i = 0; code == 0 && i < n * w; i++)
        rows[i] = i % w < k ? kernel_checks_uniform(t) : 0;
    if (code == 0) {
        for (size_t i = 0; i < cells; i++) gram[i] = -77;
        t->set->gram(rows, n, w, gram);
    }
    for (size_t a = 0; code == 0 && a < k; a++)
        for (size_t b = 0; code == 0 && b <= a; b++) {
            double exact = 0;
            for (size_t i = 0; i < n; i++)
                exact += (double)rows[i * w + a] * (double)rows[i * w + b];
            if (!(fabs((double)gram[a * w + b] - exact) <= 1e-6 * (double)(n + 1)))
                code = kernel_checks_fail(t,
                                          "k %zu: product of columns %zu and %zu is %.9g, "
                                          "not %.9g",
                                          k, a, b, (double)gram[a * w + b], exact);
        }
    if (code == 0 && gram[w * w] != -77)
        code = kernel_checks_fail(t, "k %zu: sums of products: written past their end", k);
    free(rows);
    free(gram);
    return code;
}

/* The pull of n rows, with weights and without, with a sum and without, against doubles. */
static int kernel_checks_pull(struct kernel_checks *t, size_t k, uint32_t n) {
    enum { ROWS = 24 };
    const size_t w = t->set->padded_k(k), stride = t->set->stride(k);
    struct kernel_checks_side one = {0}, many = {0};
    int code = -1;
    uint32_t at[ROWS];
    float weights[ROWS], *out = aligned_alloc(KERNEL_ALIGN, (stride + 16) * sizeof *out);
    double *exact = calloc(w, sizeof *exact);
    if (!out || !exact || !kernel_checks_side_make(t, &one, 1, k) ||
        !kernel_checks_side_make(t, &many, ROWS, k)) {
        kernel_checks_fail(t, "out of memory");
        goto out;
    }
    for (uint32_t j = 0; j < ROWS; j++) {
        at[j] = kernel_checks_below(t, ROWS);
        weights[j] = 0.5f + (float)j;
    }
    for (int way = 0; way < 4; way++) {
        const float *given = way & 1 ? weights : NULL, target = (float)(way & 1);
        double total = 0, size = 1;
        for (size_t x = 0; x < w + 1; x++) out[x] = x < k ? 1 : x < w ? 0 : -77;
        for (size_t x = 0; x < w; x++) exact[x] = x < k;
        for (uint32_t j = 0; j < n; j++) {
            const float *row = many.side.rows + at[j] * stride;
            double miss = (double)target, weight = given ? (double)given[j] : 1;
            for (size_t x = 0; x < k; x++) miss -= (double)one.side.rows[x] * (double)row[x];
            for (size_t x = 0; x < k; x++) exact[x] += weight * miss * (double)row[x];
            total += weight * miss * miss;
            size += weight * (fabs(miss) + miss * miss) * (double)k;
        }
        /* asking for rows to come, none to as many as there are, changes nothing */
        const struct kernel_events events = {
            .rows = many.side.rows,
            .stride = stride,
            .at = at,
            .weights = given,
            .n = n,
            .next = at,
            .n_next = ((size_t)way * n + 2) / 3,
        };
        const float got = t->set->pull(one.side.rows, target, &events, w, way & 2 ? out : NULL);
        for (size_t x = 0; x < w && !(way & 2); x++) exact[x] = x < k;
        if (!(fabs((double)got - total) <= 1e-6 * size)) {
            kernel_checks_fail(t, "k %zu: %u rows pull with %.9g, not %.9g", k, n, (double)got,
                               total);
            goto out;
        }
        for (size_t x = 0; x < w; x++)
            if (!(fabs((double)out[x] - exact[x]) <= 1e-6 * size)) {
                kernel_checks_fail(t, "k %zu: column %zu of a pull is %.9g, not %.9g", k, x,
                                   (double)out[x], exact[x]);
                goto out;
            }
        if (out[w] != -77) {
            kernel_checks_fail(t, "k %zu: a pull wrote past its end", k);
            goto out;
        }
    }
    code = 0;
out:
    free(out);
    free(exact);
    kernel_checks_side_free(&one);
    kernel_checks_side_free(&many);
    return code;
}

/* n vectors times a matrix, against doubles. */
static int kernel_checks_times(struct kernel_checks *t, size_t k, size_t n) {
    const size_t w = t->set->padded_k(k), line = KERNEL_ALIGN / sizeof(float);
    const size_t cells = (w * w + line) / line * line;
    const size_t many = (n * w + line) / line * line;
    float *matrix = aligned_alloc(KERNEL_ALIGN, cells * sizeof *matrix);
    float *vectors = aligned_alloc(KERNEL_ALIGN, many * sizeof *vectors);
    float *out = aligned_alloc(KERNEL_ALIGN, many * sizeof *out);
    int code = matrix && vectors && out ? 0 : kernel_checks_fail(t, "out of memory");
    for (size_t a = 0; code == 0 && a < w; a++)
        for (size_t b = 0; b < w; b++)
            matrix[kernel_panel_at(w, a, b)] = a < k && b < k ? kernel_checks_uniform(t) : 0;
    for (size_t i = 0; code == 0 && i < many; i++) {
        vectors[i] = i % w < k ? kernel_checks_uniform(t) : 0;
        out[i] = -77;
    }
    if (code == 0) t->set->times(matrix, vectors, n, w, out);
    for (size_t i = 0; code == 0 && i < n * w; i++) {
        double exact = 0;
        for (size_t c = 0; c < k; c++)
            exact += (double)matrix[kernel_panel_at(w, c, i % w)] * (double)vectors[i / w * w + c];
        if (!(fabs((double)out[i] - exact) <= 1e-6 * (double)(k + 1)))
            code = kernel_checks_fail(t, "k %zu: number %zu of a product is %.9g, not %.9g", k, i,
                                      (double)out[i], exact);
    }
    if (code == 0 && many > n * w && out[n * w] != -77)
        code = kernel_checks_fail(t, "k %zu: a product was written past its end", k);
    free(matrix);
    free(vectors);
    free(out);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int kernel_checks_layout(struct kernel_checks *t) {
    for (size_t k = 1; k <= KERNEL_K_MAX; k++) {
        const size_t padded = t->set->padded_k(k), stride = t->set->stride(k);
        const uint32_t lanes = t->set->lanes(k, NULL);
        if (padded < k || stride < padded || stride % (KERNEL_ALIGN / 4) != 0 ||
            stride % 1024 == 0 || lanes < 1 || lanes > KERNEL_LANES || !t->set->sgd_tile(k))
            return kernel_checks_fail(t, "k %zu: padded %zu, stride %zu, %u lanes", k, padded,
                                      stride, lanes);
    }
    return 0;
}

static int kernel_checks_k(struct kernel_checks *t, size_t k) {
    for (uint32_t lanes = 1; lanes <= KERNEL_LANES; lanes++)
        if (kernel_checks_sgd(t, k, 1 + kernel_checks_below(t, 4), lanes) < 0) return -1;
    if (kernel_checks_sgd(t, k, 0, 0) < 0 || kernel_checks_sgd(t, k, k <= 64 ? 150 : 24, 0) < 0)
        return -1;
    if (k <= 300 && kernel_checks_columns(t, k) < 0) return -1;
    for (uint32_t n = 0; n <= 17; n += k <= 64 ? 1 : 8)
        if (kernel_checks_scores(t, k, n) < 0) return -1;
    for (size_t n = 0; k <= 300 && n <= 9; n += 3)
        if (kernel_checks_gram(t, k, n) < 0) return -1;
    for (uint32_t n = 0; n <= 24; n += k <= 64 ? 1 : 8)
        if (kernel_checks_pull(t, k, n) < 0) return -1;
    for (size_t n = k % 8 + 1; k <= 300 && n <= 20; n += 11)
        if (kernel_checks_times(t, k, n) < 0) return -1;
    return 0;
}

/* Runs all checks of a set that the machine supports. @return 0, or -1 with the first failure in
 * words */
static int kernel_checks_run(const struct kernel_set *set, char *message, size_t size) {
    static const size_t ks[] = {1,   2,    7,    8,    9,    15,   16,   17,  23,  24,
                                25,  31,   32,   33,   48,   63,   64,   65,  100, 127,
                                128, 129,  200,  255,  256,  257,  300,  511, 512, 513,
                                777, 1024, 1025, 2047, 2048, 3000, 4095, 4096};
    struct kernel_checks t = {.set = set, .message = message, .size = size, .random = 11};
    message[0] = 0;
    if (kernel_checks_layout(&t) < 0) return -1;
    unsigned state = set->flush_denormals();
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof ks / sizeof *ks; i++)
        code = kernel_checks_k(&t, ks[i]);
    for (int i = 0; code == 0 && i < 20; i++)
        code = kernel_checks_k(&t, 1 + kernel_checks_below(&t, i < 15 ? 400 : KERNEL_K_MAX));
    set->restore_denormals(state);
    return code;
}

#endif

/*
 * The sweeps of gibbs.h. Most of the time goes into sums of x x^T, so the rows that a row met are
 * gathered, some at a time, into a panel that stays in the first-level cache, and multiplied there
 * in single precision; the panels' sums are added up in double, and so is everything after them.
 * Fed by gibbs_train.c.
 */
#include "sample/gibbs.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/cholesky.h"

enum {
    PANEL_BYTES = 16 << 10, /* half of a first-level cache */
    PANEL_LEAST = 8,        /* rows, however long they are */
    PANEL_MOST = 256,       /* more would lose digits in single precision */
    AT_ONCE = 8,            /* rows that a thread takes */
    COLUMNS_AT_ONCE = 8,    /* columns factored at once */
    ASK_EVERY =
        1 << 25, /* multiplications: hundredths of a second, where a long row may take many */
};

/* A thread's. The bias is the last column. */
struct space {
    float *panel;  /* rows x padded k */
    float *gram;   /* padded k x padded k: of a panel */
    float *sums;   /* sums of a panel's columns, padded k */
    float *pulls;  /* sums of their products with y, padded k */
    float *y;      /* rows */
    double *A, *c; /* (k + 1) x (k + 1), and k + 1 */
    size_t work;   /* since it was last asked whether to stop */
};

struct gibbs {
    const struct kernel_set *kernels;
    struct thread_pool *pool;
    size_t k, padded_k, panel_rows;
    struct space *spaces; /* by thread */
    int n_spaces;

    /* The sweep under way. */
    const struct gibbs_side *side;
    const struct chain_key *key;
    bool (*should_stop)(void *self);
    void *self;
    int (*visit)(const struct gibbs *gibbs, struct space *space, uint64_t row);
    uint64_t first, end; /* rows that are visited */
    double *sums;        /* sums of these rows, in steps */
    _Atomic uint64_t next;
    _Atomic int code;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t rows_of_panel(size_t padded_k) {
    assert(padded_k > 0);
    size_t rows = PANEL_BYTES / (padded_k * sizeof(float));
    return rows < PANEL_LEAST ? PANEL_LEAST : rows > PANEL_MOST ? PANEL_MOST : rows;
}

static size_t whole_lines(size_t floats) {
    const size_t line = KERNEL_ALIGN / sizeof(float);
    return (floats + line - 1) / line * line;
}

static float *floats(size_t n) {
    return aligned_alloc(KERNEL_ALIGN, whole_lines(n) * sizeof(float));
}

static bool make_space(struct space *space, size_t k, size_t padded, size_t rows) {
    assert(k > 0 && padded >= k && rows > 0);
    *space = (struct space){
        .panel = floats(rows * padded),
        .gram = floats(padded * padded),
        .sums = floats(padded),
        .pulls = floats(padded),
        .y = floats(rows),
        .A = memory_alloc((k + 1) * (k + 1), sizeof(double)),
        .c = memory_alloc(k + 1, sizeof(double)),
    };
    return space->panel && space->gram && space->sums && space->pulls && space->y && space->A &&
           space->c;
}

static void free_space(struct space *space) {
    free(space->panel);
    free(space->gram);
    free(space->sums);
    free(space->pulls);
    free(space->y);
    free(space->A);
    free(space->c);
}

uint64_t gibbs_bytes(const struct kernel_set *kernels, size_t k, int threads) {
    const uint64_t padded = kernels->padded_k(k), rows = rows_of_panel((size_t)padded);
    const uint64_t n_floats = rows * (padded + 1) + padded * (padded + 2);
    const uint64_t n_doubles = (uint64_t)(k + 1) * (k + 2);
    return (uint64_t)threads * (n_floats * sizeof(float) + n_doubles * sizeof(double));
}

int gibbs_init(struct gibbs **out, const struct kernel_set *kernels, size_t k,
               struct thread_pool *pool, struct dpmf_error *error) {
    assert(out && kernels && k > 0 && pool);
    struct gibbs *gibbs = memory_alloc_zero(1, sizeof *gibbs);
    *out = NULL;
    if (!gibbs) return error_no_memory(error);
    gibbs->kernels = kernels;
    gibbs->pool = pool;
    gibbs->k = k;
    gibbs->padded_k = kernels->padded_k(k);
    gibbs->panel_rows = rows_of_panel(gibbs->padded_k);
    gibbs->n_spaces = thread_pool_size(pool);
    gibbs->spaces = memory_alloc_zero((size_t)gibbs->n_spaces, sizeof gibbs->spaces[0]);
    bool good = gibbs->spaces != NULL;
    for (int i = 0; good && i < gibbs->n_spaces; i++)
        good = make_space(&gibbs->spaces[i], k, gibbs->padded_k, gibbs->panel_rows);
    if (!good) {
        gibbs_free(gibbs);
        return error_no_memory(error);
    }
    *out = gibbs;
    return 0;
}

size_t gibbs_factors(const struct gibbs *gibbs) { return gibbs->k; }

void gibbs_free(struct gibbs *gibbs) {
    if (!gibbs) return;
    for (int i = 0; gibbs->spaces && i < gibbs->n_spaces; i++) free_space(&gibbs->spaces[i]);
    free(gibbs->spaces);
    free(gibbs);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* After so much more work: 0, or DPMF_ERR_BASE_CANCELLED. */
static int ask(const struct gibbs *gibbs, struct space *space, size_t work) {
    space->work += work;
    if (space->work < ASK_EVERY) return 0;
    space->work = 0;
    return gibbs->should_stop && gibbs->should_stop(gibbs->self) ? DPMF_ERR_BASE_CANCELLED : 0;
}

/* Copies the rows that n ratings are of, and what is left of these. */
static void gather(const struct gibbs *gibbs, const struct space *space, uint64_t first, size_t n) {
    assert(n > 0);
    const struct factor_matrix *other = gibbs->side->other;
    const uint32_t *numbers = gibbs->side->ratings->other + first;
    const float *values = gibbs->side->ratings->value + first;
    const size_t width = gibbs->padded_k;
    for (size_t t = 0; t < n; t++) {
        memcpy(space->panel + t * width, other->rows + numbers[t] * other->stride,
               width * sizeof(float));
        space->y[t] = values[t] - other->biases[numbers[t]];
    }
}

/* Adds a panel of n rows to A, of which the lower triangle is used, and to c; both lack their
 * factor `noise`. */
static void add_panel(const struct gibbs *gibbs, const struct space *space, size_t n) {
    const size_t k = gibbs->k, width = gibbs->padded_k;
    gibbs->kernels->gram(space->panel, n, width, space->gram);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            space->A[a * (k + 1) + b] += (double)space->gram[a * width + b];

    float *sums = space->sums, *pulls = space->pulls;
    double *last = space->A + k * (k + 1), y_sum = 0;
    memset(sums, 0, width * sizeof(float));
    memset(pulls, 0, width * sizeof(float));
    for (size_t t = 0; t < n; t++) {
        const float *row = space->panel + t * width, y = space->y[t];
        for (size_t x = 0; x < width; x++) {
            sums[x] += row[x];
            pulls[x] += y * row[x];
        }
        y_sum += (double)y;
    }
    for (size_t x = 0; x < k; x++) {
        last[x] += (double)sums[x];
        space->c[x] += (double)pulls[x];
    }
    last[k] += (double)n;
    space->c[k] += y_sum;
}

/* What the ratings of a row that are here add to A and c. */
static int add_ratings(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    const struct gibbs_side *side = gibbs->side;
    const size_t w = gibbs->k + 1;
    const uint64_t end = side->ratings->start[row + 1];
    int code = 0;
    memset(space->A, 0, w * w * sizeof(double));
    memset(space->c, 0, w * sizeof(double));
    for (uint64_t first = side->ratings->start[row]; first < end && code == 0;
         first += gibbs->panel_rows) {
        size_t n = (size_t)(end - first < gibbs->panel_rows ? end - first : gibbs->panel_rows);
        gather(gibbs, space, first, n);
        add_panel(gibbs, space, n);
        code = ask(gibbs, space, n * w * w);
    }
    return code;
}

/* The rest of A and c. */
static void add_prior(const struct gibbs *gibbs, const struct space *space) {
    const struct gibbs_side *side = gibbs->side;
    const size_t w = gibbs->k + 1;
    for (size_t a = 0; a < w; a++) {
        for (size_t b = 0; b <= a; b++) space->A[a * w + b] *= side->noise;
        space->A[a * w + a] += a < gibbs->k ? side->precision[a] : side->bias_precision;
        space->c[a] *= side->noise;
    }
}

/* A := its factor. */
static int factor(const struct gibbs *gibbs, struct space *space) {
    const size_t w = gibbs->k + 1;
    int code = 0;
    for (size_t first = 0, end; first < w && code == 0; first = end) {
        end = first + COLUMNS_AT_ONCE < w ? first + COLUMNS_AT_ONCE : w;
        if (cholesky_factor_columns(space->A, w, first, end) < 0) return DPMF_ERR_TRAIN_DIVERGED;
        code = ask(gibbs, space, (end - first) * (w - first) * end);
    }
    return code;
}

/* c := a draw from N(A^-1 c, A^-1). With A = L L^T that is L^-T (L^-1 c + z), z being standard
 * Gaussians. */
static int draw(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    const size_t w = gibbs->k + 1;
    struct random_stream random;
    int code = factor(gibbs, space);
    if (code < 0) return code;
    chain_stream_init(&random, gibbs->key, gibbs->side->purpose, gibbs->side->first_row + row);
    cholesky_solve_lower(space->A, w, space->c);
    for (size_t x = 0; x < w; x++) space->c[x] += random_gaussian(&random);
    cholesky_solve_transposed(space->A, w, space->c);
    return 0;
}

static int keep(const struct gibbs *gibbs, const struct space *space, uint64_t row) {
    struct factor_matrix *own = gibbs->side->own;
    float *to = own->rows + row * own->stride;
    bool finite = true;
    for (size_t x = 0; x < gibbs->k; x++) {
        to[x] = (float)space->c[x];
        finite = finite && isfinite(to[x]);
    }
    own->biases[row] = (float)space->c[gibbs->k];
    return finite && isfinite(own->biases[row]) ? 0 : DPMF_ERR_TRAIN_DIVERGED;
}

static double squares_of(const struct gibbs *gibbs, uint64_t row) {
    assert(row < gibbs->side->own->n);
    const struct rating_side *ratings = gibbs->side->ratings;
    const struct factor_matrix *own = gibbs->side->own, *other = gibbs->side->other;
    const float *u = own->rows + row * own->stride;
    double sum = 0;
    for (uint64_t r = ratings->start[row]; r < ratings->start[row + 1]; r++) {
        const uint32_t j = ratings->other[r];
        const float *v = other->rows + j * other->stride;
        double e = (double)ratings->value[r] - (double)own->biases[row] - (double)other->biases[j] -
                   (double)gibbs->kernels->dot(u, v, gibbs->padded_k);
        sum += e * e;
    }
    return sum;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

static int sweep_row(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    int code = add_ratings(gibbs, space, row);
    if (code < 0) return code;
    add_prior(gibbs, space);
    code = draw(gibbs, space, row);
    if (code == 0) code = keep(gibbs, space, row);
    if (code == 0 && gibbs->side->squares) gibbs->side->squares[row] = squares_of(gibbs, row);
    return code;
}

static void visit_rows(void *self, int worker) {
    struct gibbs *gibbs = self;
    struct space *space = &gibbs->spaces[worker];
    uint64_t first;
    while ((first = atomic_fetch_add(&gibbs->next, AT_ONCE)) < gibbs->end) {
        uint64_t end = first + AT_ONCE < gibbs->end ? first + AT_ONCE : gibbs->end;
        int code = 0;
        for (uint64_t row = first; row < end && code == 0; row++)
            code = gibbs->visit(gibbs, space, row);
        if (code == 0 && gibbs->should_stop && gibbs->should_stop(gibbs->self))
            code = DPMF_ERR_BASE_CANCELLED;
        if (code < 0) {
            atomic_store(&gibbs->code, code);
            atomic_store(&gibbs->next, gibbs->end);
        }
    }
}

/* Visits the rows that gibbs->first and gibbs->end say. */
static int visit_side(struct gibbs *gibbs, const struct gibbs_side *side,
                      int (*visit)(const struct gibbs *, struct space *, uint64_t),
                      bool (*should_stop)(void *self), void *self, struct dpmf_error *error) {
    gibbs->side = side;
    gibbs->visit = visit;
    gibbs->should_stop = should_stop;
    gibbs->self = self;
    atomic_store(&gibbs->next, gibbs->first);
    atomic_store(&gibbs->code, 0);
    thread_pool_run(gibbs->pool, visit_rows, gibbs);
    int code = atomic_load(&gibbs->code);
    if (code == DPMF_ERR_BASE_CANCELLED) return error_set(error, code, "interrupted");
    if (code < 0)
        return error_set(error, code, "a number of the model was not finite in round %u",
                         gibbs->key->round);
    return 0;
}

int gibbs_sweep(struct gibbs *gibbs, const struct gibbs_side *side, const struct chain_key *key,
                bool (*should_stop)(void *self), void *self, struct dpmf_error *error) {
    assert(side->own && side->other && side->ratings && key);
    gibbs->key = key;
    gibbs->first = 0;
    gibbs->end = side->ratings->n;
    return visit_side(gibbs, side, sweep_row, should_stop, self, error);
}

/* ---- in steps -------------------------------------------------------------------------------- */

/* The lower triangle of A, row by row, and c. */
size_t gibbs_sums_size(size_t k) { return (k + 1) * (k + 2) / 2 + k + 1; }

static double *sums_of(const struct gibbs *gibbs, uint64_t row) {
    assert(row < gibbs->side->own->n);
    return gibbs->sums + (row - gibbs->first) * gibbs_sums_size(gibbs->k);
}

static int sum_row(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    const size_t w = gibbs->k + 1;
    double *to = sums_of(gibbs, row);
    int code = add_ratings(gibbs, space, row);
    if (code < 0) return code;
    for (size_t a = 0; a < w; to += ++a) memcpy(to, space->A + a * w, (a + 1) * sizeof(double));
    memcpy(to, space->c, w * sizeof(double));
    return 0;
}

static int draw_row(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    const size_t w = gibbs->k + 1;
    const double *from = sums_of(gibbs, row);
    for (size_t a = 0; a < w; from += ++a) memcpy(space->A + a * w, from, (a + 1) * sizeof(double));
    memcpy(space->c, from, w * sizeof(double));
    add_prior(gibbs, space);
    int code = draw(gibbs, space, row);
    return code < 0 ? code : keep(gibbs, space, row);
}

static int square_row(const struct gibbs *gibbs, struct space *space, uint64_t row) {
    (void)space;
    gibbs->side->squares[row] = squares_of(gibbs, row);
    return 0;
}

int gibbs_sum_rows(struct gibbs *gibbs, const struct gibbs_side *side, uint64_t first, uint64_t n,
                   double *sums, bool (*should_stop)(void *self), void *self,
                   struct dpmf_error *error) {
    assert(sums && first <= side->own->n && n <= side->own->n - first);
    gibbs->first = first;
    gibbs->end = first + n;
    gibbs->sums = sums;
    return visit_side(gibbs, side, sum_row, should_stop, self, error);
}

int gibbs_draw_rows(struct gibbs *gibbs, const struct gibbs_side *side, const struct chain_key *key,
                    uint64_t first, uint64_t n, double *sums, bool (*should_stop)(void *self),
                    void *self, struct dpmf_error *error) {
    assert(sums && key && first <= side->own->n && n <= side->own->n - first);
    gibbs->key = key;
    gibbs->first = first;
    gibbs->end = first + n;
    gibbs->sums = sums;
    return visit_side(gibbs, side, draw_row, should_stop, self, error);
}

int gibbs_square_errors(struct gibbs *gibbs, const struct gibbs_side *side,
                        struct dpmf_error *error) {
    gibbs->first = 0;
    gibbs->end = side->ratings->n;
    return visit_side(gibbs, side, square_row, NULL, NULL, error);
}

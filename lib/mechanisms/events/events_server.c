/*
 * What the curator makes of the noisy sums of `events`: all of it post-processing. With G the sum
 * over users of w z z^T, z a user's row and w its weight in a round (events_user.c), half of the
 * diagonal left out, round t measures
 *
 *     Y_t = G R_t + noise of deviation sigma_t,    R_t (n x K) the directions that users looked
 *     along
 *
 * G is symmetric and of low rank as far as it can be seen. So G = (G R)(R^T G R)^-1 (G R)^T for
 * directions R that catch it (Nystroem), and an earlier round says something about what the last
 * one measured, X = G R_t:
 *
 *     Y_s = X C_s + noise,    C_s = (R_t^T G R_t)^-1 (G R_t)^T R_s
 *
 * where C_s is computed from the last round alone, whose noise has nothing to do with R_s and R_t.
 * Each row of X is then a linear regression with known noise, in all rounds at once: precision H =
 * sum of C_s C_s^T / sigma_s^2. Its prior is N(m_j, tau I): m_j a regression on public features
 * where there are any, as large as a row of this popularity is expected to be, and tau what the
 * squares of the rows of this class of popularity exceed the noise by, never falling with
 * popularity. The posterior means E, without the direction of popularity, give the next directions:
 * the left singular vectors, the strong ones held down a little.
 *
 * In the end v_j = E_j / sqrt(N_j), in coordinates that change nothing for a person at home:
 * centred, along the principal axes, of total variance 1. Everything is in double and in one fixed
 * order; the processes of a cluster compare the bits.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/events/events.h"
#include "numerics/cholesky.h"
#include "numerics/symmetric_eigen.h"
#include "random/random.h"

enum { W_MAX = EVENTS_FACTORS_MAX, TURNS = 2 };

/* The same start in every run: nothing about it is private, and a release can be made again in a
 * test. */
enum { START_SEED = 1, START_PURPOSE = 0x6576656e /* a constant of this file's own */ };

static const double negligible = 1e-6; /* singular values below this part of the largest are none */

/* Noisy popularity of an item that noise hides: a part of the mean or of the noise; and a little
 * for all, of a user's row. */
static const double hidden_mean = 0.2, hidden_noise = 0.3, least_count = 0.05;

struct measured {
    double *Y, *R; /* n x width */
    size_t width;
    double precision;
};

struct events_server {
    struct events_rule rule;
    size_t n;
    double *crowd;      /* the direction of popularity, of length 1 */
    double *size;       /* how large a row is expected to be, mean square 1 */
    size_t *order;      /* items by popularity, the least first */
    size_t n_features;  /* regressors; 0: none */
    double *regressors; /* n x n_features */
    struct measured rounds[EVENTS_ROUNDS];
    size_t n_rounds;
    double *E;    /* n x W_MAX: posterior means */
    double *z;    /* n x W_MAX: least-squares estimates */
    double *mean; /* n x W_MAX: prior means */
    double *tau;  /* n: prior variances */
};

/* ---- popularity ------------------------------------------------------------------------------ */

double events_popularity_snr(const struct events_popularity *popularity, size_t n_items,
                             double mu) {
    double squares = 0;
    for (size_t j = 0; j < n_items; j++) squares += popularity->sums[j] * popularity->sums[j];
    const double excess = squares / (double)n_items - 1 / popularity->precision;
    return fmax(excess, 0) * mu * mu;
}

void events_popularity_read(const struct events_popularity *popularity,
                            const struct events_rule *rule, struct public_model *model) {
    const size_t n = model->n_items;
    const double sigma = 1 / sqrt(popularity->precision);
    double mean = 0, highest = 0, total = 0;
    for (size_t j = 0; j < n; j++) mean += fmax(popularity->sums[j], 0) / (double)n;
    const double hidden = fmin(hidden_mean * mean, hidden_noise * sigma);
    for (size_t j = 0; j < n; j++) {
        const double count = fmax(popularity->sums[j], 0);
        const double trust = count * count / (count * count + sigma * sigma);
        model->counts[j] = trust * count + (1 - trust) * hidden + least_count;
        highest = fmax(highest, model->counts[j]);
        total += model->counts[j];
    }
    for (size_t j = 0; j < n; j++) {
        model->c[j] = log(model->counts[j] * (double)n / total);
        model->weight[j] = pow(model->counts[j] / highest, -rule->scale);
    }
}

/* ---- small matrices -------------------------------------------------------------------------- */

/* out (a x b) = A^T B, of n rows each. */
static void product(const double *A, size_t a, size_t a_stride, const double *B, size_t b,
                    size_t b_stride, size_t n, double *out) {
    memset(out, 0, a * b * sizeof *out);
    for (size_t j = 0; j < n; j++) {
        const double *x = A + j * a_stride, *y = B + j * b_stride;
        for (size_t r = 0; r < a; r++)
            for (size_t c = 0; c < b; c++) out[r * b + c] += x[r] * y[c];
    }
}

/* Takes the direction of popularity out of the columns of X. */
static void project_out(const struct events_server *server, double *X, size_t width,
                        size_t stride) {
    double along[W_MAX] = {0};
    for (size_t j = 0; j < server->n; j++)
        for (size_t a = 0; a < width; a++) along[a] += server->crowd[j] * X[j * stride + a];
    for (size_t j = 0; j < server->n; j++)
        for (size_t a = 0; a < width; a++) X[j * stride + a] -= server->crowd[j] * along[a];
}

/* X := X T for each row of width w, T being w x w' with w' <= w, in place. */
static void map_rows(double *X, size_t n, size_t stride, size_t w, const double *T, size_t to) {
    double x[W_MAX];
    for (size_t j = 0; j < n; j++) {
        memcpy(x, X + j * stride, w * sizeof *x);
        for (size_t c = 0; c < to; c++) {
            double sum = 0;
            for (size_t a = 0; a < w; a++) sum += x[a] * T[a * to + c];
            X[j * stride + c] = sum;
        }
    }
}

/* ---- the start ------------------------------------------------------------------------------- */

static int compare_counts(const void *a, const void *b, void *counts) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const double *N = counts;
    if (N[x] != N[y]) return N[x] < N[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Merge sort: stable by construction, and the same everywhere. */
static void sort_items(size_t *order, size_t *room, size_t n, double *counts) {
    if (n < 2) return;
    const size_t half = n / 2;
    sort_items(order, room, half, counts);
    sort_items(order + half, room, n - half, counts);
    memcpy(room, order, n * sizeof *room);
    for (size_t i = 0, a = 0, b = half; i < n; i++) {
        const bool first = b == n || (a < half && compare_counts(&room[a], &room[b], counts) < 0);
        order[i] = first ? room[a++] : room[b++];
    }
}

static int describe_items(struct events_server *server, const struct public_model *model,
                          struct dpmf_error *error) {
    const size_t n = server->n;
    double length2 = 0;
    size_t *room = memory_alloc(n, sizeof *room);
    if (!room) return error_no_memory(error);
    for (size_t j = 0; j < n; j++) {
        server->order[j] = j;
        server->size[j] = model->counts[j] * model->weight[j];
        length2 += server->size[j] * server->size[j];
    }
    for (size_t j = 0; j < n; j++) {
        server->crowd[j] = server->size[j] / sqrt(length2);
        server->size[j] /= sqrt(length2 / (double)n);
    }
    sort_items(server->order, room, n, model->counts);
    free(room);
    return 0;
}

/* A column of 1 and the features, of mean 0 and variance 1 by popularity, all times the size of a
 * row. */
static int make_regressors(struct events_server *server, const struct catalogue *catalogue,
                           const struct public_model *model, struct dpmf_error *error) {
    const size_t n = server->n, f = catalogue->n_features, p = f + 1;
    double total = 0;
    if (f == 0) return 0;
    server->regressors = memory_alloc(n, p * sizeof(double));
    if (!server->regressors) return error_no_memory(error);
    server->n_features = p;
    for (size_t j = 0; j < n; j++) total += model->counts[j];
    for (size_t a = 0; a < f; a++) {
        double mean = 0, square = 0;
        for (size_t j = 0; j < n; j++)
            mean += model->counts[j] / total * catalogue->features[j * f + a];
        for (size_t j = 0; j < n; j++) {
            const double x = catalogue->features[j * f + a] - mean;
            square += model->counts[j] / total * x * x;
        }
        const double scale = square > negligible * negligible ? 1 / sqrt(square) : 0;
        for (size_t j = 0; j < n; j++)
            server->regressors[j * p + a + 1] =
                server->size[j] * scale * (catalogue->features[j * f + a] - mean);
    }
    for (size_t j = 0; j < n; j++) server->regressors[j * p] = server->size[j];
    return 0;
}

/* The strongest directions of the features into the columns of X, at most `most`. @return how many,
 * or a negative code */
static int take_features(struct events_server *server, double *X, size_t stride, size_t most,
                         struct dpmf_error *error) {
    const size_t n = server->n, p = server->n_features, f = p - 1;
    if (p == 0) return 0;
    assert(p > 1); /* a column of 1 and at least one feature: make_regressors */
    double *G = memory_alloc(f, f * sizeof *G), *vectors = memory_alloc(f, f * sizeof *vectors);
    double *values = memory_alloc(f, sizeof *values), *along = memory_alloc_zero(f, sizeof *along);
    const bool whole = G && vectors && values && along;
    size_t found = 0;
    if (whole) {
        /* Without the direction of popularity, F^T F loses along along^T. */
        for (size_t j = 0; j < n; j++)
            for (size_t a = 0; a < f; a++)
                along[a] += server->crowd[j] * server->regressors[j * p + a + 1];
        product(server->regressors + 1, f, p, server->regressors + 1, f, p, n, G);
        for (size_t a = 0; a < f; a++)
            for (size_t b = 0; b < f; b++) G[a * f + b] -= along[a] * along[b];
        symmetric_eigen(G, f, values, vectors);
        while (found < f && found < most && values[found] > negligible * values[0]) found++;
        /* If the largest is not above 0, it is not above a part of itself either. */
        assert(found == 0 || values[found - 1] > 0);
        for (size_t j = 0; j < n; j++)
            for (size_t c = 0; c < found; c++) {
                double sum = 0;
                for (size_t a = 0; a < f; a++)
                    sum += (server->regressors[j * p + a + 1] - server->crowd[j] * along[a]) *
                           vectors[c * f + a];
                X[j * stride + c] = sum / sqrt(values[c]);
            }
    }
    free(G);
    free(vectors);
    free(values);
    free(along);
    return whole ? (int)found : error_no_memory(error);
}

/* Column c of X becomes orthogonal to those before it and of length 1; twice, for what rounding
 * leaves. */
static void orthogonalise(double *X, size_t n, size_t stride, size_t c) {
    for (int turn = 0; turn < 2; turn++) {
        double length2 = 0;
        for (size_t b = 0; b < c; b++) {
            double along = 0;
            for (size_t j = 0; j < n; j++) along += X[j * stride + b] * X[j * stride + c];
            for (size_t j = 0; j < n; j++) X[j * stride + c] -= along * X[j * stride + b];
        }
        for (size_t j = 0; j < n; j++) length2 += X[j * stride + c] * X[j * stride + c];
        for (size_t j = 0; j < n; j++) X[j * stride + c] /= length2 > 0 ? sqrt(length2) : 1;
    }
}

/* Random columns from `first` on, popular items with more weight. */
static void take_random(struct events_server *server, const struct public_model *model, double *X,
                        size_t stride, size_t first, size_t end) {
    struct random_stream random;
    random_stream_init(&random, START_SEED, START_PURPOSE, 0);
    for (size_t j = 0; j < server->n; j++)
        for (size_t c = first; c < end; c++)
            X[j * stride + c] = random_gaussian(&random) * sqrt(model->counts[j]);
    for (size_t c = first; c < end; c++) {
        project_out(server, X + c, 1, stride);
        orthogonalise(X, server->n, stride, c);
    }
}

static int start(struct events_server *server, struct public_model *model,
                 struct dpmf_error *error) {
    const size_t k = server->rule.factors;
    const int found = take_features(server, server->E, W_MAX,
                                    events_rule_start_width(k, EVENTS_FACTORS_MAX), error);
    if (found < 0) return found;
    const size_t width = events_rule_start_width(k, (size_t)found);
    take_random(server, model, server->E, W_MAX, (size_t)found, width);
    int code = public_model_widen(model, width, error);
    for (size_t j = 0; j < server->n && code == 0; j++)
        memcpy(model->rows + j * model->stride, server->E + j * W_MAX, width * sizeof(double));
    return code;
}

int events_server_init(struct events_server **out, const struct events_rule *rule,
                       const struct catalogue *catalogue, struct public_model *model,
                       struct dpmf_error *error) {
    const size_t n = model->n_items;
    struct events_server *server = memory_alloc_zero(1, sizeof *server);
    *out = server;
    if (!server) return error_no_memory(error);
    server->rule = *rule;
    server->n = n;
    server->crowd = memory_alloc(n, sizeof(double));
    server->size = memory_alloc(n, sizeof(double));
    server->order = memory_alloc(n, sizeof *server->order);
    server->tau = memory_alloc(n, sizeof(double));
    server->E = memory_alloc_zero(n, W_MAX * sizeof(double));
    server->z = memory_alloc_zero(n, W_MAX * sizeof(double));
    server->mean = memory_alloc_zero(n, W_MAX * sizeof(double));
    if (!server->crowd || !server->size || !server->order || !server->tau || !server->E ||
        !server->z || !server->mean)
        return error_no_memory(error);
    int code = describe_items(server, model, error);
    if (code == 0) code = make_regressors(server, catalogue, model, error);
    return code < 0 ? code : start(server, model, error);
}

void events_server_free(struct events_server *server) {
    if (!server) return;
    for (size_t t = 0; t < EVENTS_ROUNDS; t++) {
        free(server->rounds[t].Y);
        free(server->rounds[t].R);
    }
    free(server->crowd);
    free(server->size);
    free(server->order);
    free(server->regressors);
    free(server->E);
    free(server->z);
    free(server->mean);
    free(server->tau);
    free(server);
}

/* ---- a round --------------------------------------------------------------------------------- */

static int keep_round(struct events_server *server, const double *sums, double sigma,
                      const struct public_model *model, struct dpmf_error *error) {
    const size_t n = server->n, w = model->K;
    struct measured *round = &server->rounds[server->n_rounds];
    round->Y = memory_alloc(n, w * sizeof(double));
    round->R = memory_alloc(n, w * sizeof(double));
    if (!round->Y || !round->R) return error_no_memory(error);
    memcpy(round->Y, sums, n * w * sizeof(double));
    for (size_t j = 0; j < n; j++)
        memcpy(round->R + j * w, model->rows + j * model->stride, w * sizeof(double));
    round->width = w;
    round->precision = 1 / (sigma * sigma);
    server->n_rounds++;
    return 0;
}

/* (R^T G R)^-1 of the last round, small eigenvalues held back where noise could have made them. */
static void invert_middle(const struct measured *last, size_t n, double *inverse) {
    const size_t w = last->width;
    double A[W_MAX * W_MAX], values[W_MAX], vectors[W_MAX * W_MAX];
    product(last->R, w, w, last->Y, w, w, n, A);
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b < a; b++)
            A[a * w + b] = A[b * w + a] = (A[a * w + b] + A[b * w + a]) / 2;
    symmetric_eigen(A, w, values, vectors);
    const double noise2 = 2 * (double)w / last->precision;
    for (size_t i = 0; i < w; i++) {
        const double value = fmax(values[i], 0);
        values[i] = value / (value * value + noise2);
    }
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b < w; b++) {
            double sum = 0;
            for (size_t i = 0; i < w; i++)
                sum += vectors[i * w + a] * values[i] * vectors[i * w + b];
            inverse[a * w + b] = sum;
        }
}

/* C_s (w x w_s): what round s says of the last one. */
static void relate(const struct measured *last, const struct measured *round, const double *inverse,
                   size_t n, double *C) {
    const size_t w = last->width, v = round->width;
    double A[W_MAX * W_MAX];
    if (round == last) {
        for (size_t i = 0; i < w * w; i++) C[i] = i % (w + 1) == 0 ? 1 : 0;
        return;
    }
    product(last->Y, w, w, round->R, v, v, n, A);
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b < v; b++) {
            double sum = 0;
            for (size_t i = 0; i < w; i++) sum += inverse[a * w + i] * A[i * v + b];
            C[a * v + b] = sum;
        }
}

/* z := the least-squares estimate of the last round's rows from all rounds, in the coordinates of
 * H's eigenvectors; the precisions there into `precision`. */
static void combine(struct events_server *server, double *precision) {
    const struct measured *last = &server->rounds[server->n_rounds - 1];
    const size_t n = server->n, w = last->width;
    double inverse[W_MAX * W_MAX], C[EVENTS_ROUNDS][W_MAX * W_MAX], H[W_MAX * W_MAX] = {0};
    double vectors[W_MAX * W_MAX], T[W_MAX * W_MAX];
    invert_middle(last, n, inverse);
    for (size_t s = 0; s < server->n_rounds; s++) {
        const struct measured *round = &server->rounds[s];
        relate(last, round, inverse, n, C[s]);
        for (size_t a = 0; a < w; a++)
            for (size_t b = 0; b < w; b++) {
                double sum = 0;
                for (size_t i = 0; i < round->width; i++)
                    sum += C[s][a * round->width + i] * C[s][b * round->width + i];
                H[a * w + b] += round->precision * sum;
            }
    }
    symmetric_eigen(H, w, precision, vectors);
    for (size_t a = 0; a < w; a++) precision[a] = fmax(precision[a], last->precision);
    memset(server->z, 0, n * W_MAX * sizeof(double));
    for (size_t s = 0; s < server->n_rounds; s++) {
        const struct measured *round = &server->rounds[s];
        const size_t v = round->width;
        for (size_t i = 0; i < v; i++)
            for (size_t c = 0; c < w; c++) {
                double sum = 0;
                for (size_t a = 0; a < w; a++) sum += C[s][a * v + i] * vectors[c * w + a];
                T[i * w + c] = round->precision * sum / precision[c];
            }
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < v; i++)
                for (size_t c = 0; c < w; c++)
                    server->z[j * W_MAX + c] += round->Y[j * v + i] * T[i * w + c];
    }
}

/* tau of each class of popularity from what its rows exceed the noise by, never falling with
 * popularity. */
static void fit_variances(struct events_server *server, size_t w, double noise) {
    const size_t n = server->n;
    double least = server->rule.variance_floor * noise;
    for (size_t c = 0; c < EVENTS_CLASSES; c++) {
        const size_t first = n * c / EVENTS_CLASSES, end = n * (c + 1) / EVENTS_CLASSES;
        double squares = 0;
        for (size_t i = first; i < end; i++) {
            const size_t j = server->order[i];
            for (size_t a = 0; a < w; a++) {
                const double x = server->z[j * W_MAX + a] - server->mean[j * W_MAX + a];
                squares += x * x;
            }
        }
        if (end > first) least = fmax(least, squares / (double)((end - first) * w) - noise);
        for (size_t i = first; i < end; i++) server->tau[server->order[i]] = least;
    }
}

/* Prior means: a ridge regression of the rows on the regressors, each row by its precision. */
static int fit_means(struct events_server *server, size_t w, double noise,
                     struct dpmf_error *error) {
    const size_t n = server->n, p = server->n_features;
    double *H = memory_alloc_zero(p, p * sizeof *H), *h = memory_alloc_zero(p, w * sizeof *h);
    double *column = memory_alloc(p, sizeof *column);
    const bool whole = H && h && column;
    for (size_t j = 0; j < n && whole; j++) {
        const double *x = server->regressors + j * p, weight = 1 / (noise + server->tau[j]);
        for (size_t a = 0; a < p; a++) {
            const double y = weight * x[a];
            for (size_t b = 0; b <= a; b++) H[a * p + b] += y * x[b];
            for (size_t c = 0; c < w; c++) h[a * w + c] += y * server->z[j * W_MAX + c];
        }
    }
    for (size_t a = 0; a < p && whole; a++) H[a * p + a] += server->rule.ridge;
    if (whole) {
        /* Positive definite: weights are finite and not negative, and the ridge is positive. */
        const int code = cholesky_factor(H, p);
        assert(code == 0);
        (void)code;
    }
    memset(server->mean, 0, n * W_MAX * sizeof(double));
    for (size_t c = 0; c < w && whole; c++) {
        for (size_t a = 0; a < p; a++) column[a] = h[a * w + c];
        cholesky_solve(H, p, column);
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t a = 0; a < p; a++) sum += server->regressors[j * p + a] * column[a];
            server->mean[j * W_MAX + c] = sum;
        }
    }
    free(H);
    free(h);
    free(column);
    return whole ? 0 : error_no_memory(error);
}

/* E := posterior means, without the direction of popularity. */
static int shrink(struct events_server *server, size_t w, const double *precision,
                  struct dpmf_error *error) {
    double noise = 0;
    int code = 0;
    for (size_t a = 0; a < w; a++) noise += 1 / (precision[a] * (double)w);
    memset(server->mean, 0, server->n * W_MAX * sizeof(double));
    fit_variances(server, w, noise);
    for (int turn = 0; turn < TURNS && server->n_features > 0 && code == 0; turn++) {
        code = fit_means(server, w, noise, error);
        fit_variances(server, w, noise);
    }
    for (size_t j = 0; j < server->n && code == 0; j++)
        for (size_t a = 0; a < w; a++) {
            const size_t i = j * W_MAX + a;
            const double part = precision[a] * server->tau[j];
            server->E[i] = server->mean[i] + part / (part + 1) * (server->z[i] - server->mean[i]);
        }
    if (code == 0) project_out(server, server->E, w, W_MAX);
    return code;
}

/* The next directions: left singular vectors of E, times (value / largest)^-whitening; E in those
 * coordinates. */
static int turn_to_axes(struct events_server *server, size_t w, struct public_model *model,
                        struct dpmf_error *error) {
    const size_t n = server->n, k = server->rule.factors;
    double G[W_MAX * W_MAX], values[W_MAX], vectors[W_MAX * W_MAX], T[W_MAX * W_MAX];
    product(server->E, w, W_MAX, server->E, w, W_MAX, n, G);
    symmetric_eigen(G, w, values, vectors);
    for (size_t a = 0; a < w; a++)
        for (size_t c = 0; c < k; c++) T[a * k + c] = vectors[c * w + a];
    map_rows(server->E, n, W_MAX, w, T, k);
    int code = public_model_widen(model, k, error);
    for (size_t c = 0; c < k && code == 0; c++) {
        const bool counts = values[c] > negligible * negligible * values[0];
        assert(!counts || values[c] > 0); /* as above */
        const double scale =
            counts ? pow(values[c] / values[0], -server->rule.whitening / 2) / sqrt(values[c]) : 0;
        for (size_t j = 0; j < n; j++)
            model->rows[j * model->stride + c] = scale * server->E[j * W_MAX + c];
    }
    return code;
}

int events_server_step(struct events_server *server, double *sums, double sigma,
                       struct public_model *model, struct dpmf_error *error) {
    const size_t w = model->K;
    double precision[W_MAX];
    project_out(server, sums, w, w);
    int code = keep_round(server, sums, sigma, model, error);
    if (code < 0) return code;
    combine(server, precision);
    code = shrink(server, w, precision, error);
    return code < 0 ? code : turn_to_axes(server, w, model, error);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Centred by popularity. @return the total of popularity */
static double centre(struct events_server *server, const struct public_model *model, size_t k) {
    double total = 0, mean[W_MAX] = {0};
    for (size_t j = 0; j < server->n; j++) total += model->counts[j];
    for (size_t j = 0; j < server->n; j++)
        for (size_t a = 0; a < k; a++) {
            server->E[j * W_MAX + a] /= sqrt(model->counts[j]);
            mean[a] += model->counts[j] / total * server->E[j * W_MAX + a];
        }
    for (size_t j = 0; j < server->n; j++)
        for (size_t a = 0; a < k; a++) server->E[j * W_MAX + a] -= mean[a];
    return total;
}

int events_server_finish(struct events_server *server, struct public_model *model,
                         struct dpmf_error *error) {
    const size_t n = server->n, k = server->rule.factors;
    const double total = centre(server, model, k);
    double C[W_MAX * W_MAX] = {0}, values[W_MAX], vectors[W_MAX * W_MAX], T[W_MAX * W_MAX];
    double trace = 0;
    for (size_t j = 0; j < n; j++) {
        const double *v = server->E + j * W_MAX, share = model->counts[j] / total;
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++) C[a * k + b] += share * v[a] * v[b];
    }
    for (size_t a = 0; a < k; a++) trace += C[a * k + a];
    if (!(trace > 0) || !isfinite(trace)) return public_model_widen(model, 0, error);
    symmetric_eigen(C, k, values, vectors);
    for (size_t a = 0; a < k; a++)
        for (size_t c = 0; c < k; c++) T[a * k + c] = vectors[c * k + a] / sqrt(trace);
    map_rows(server->E, n, W_MAX, k, T, k);
    int code = public_model_widen(model, k, error);
    for (size_t j = 0; j < n && code == 0; j++)
        memcpy(model->rows + j * model->stride, server->E + j * W_MAX, k * sizeof(double));
    return code;
}

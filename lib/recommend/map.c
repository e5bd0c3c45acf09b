/*
 * A picture of the items: their vectors along the two directions in which these differ most, the
 * first eigenvectors of their covariance. An item of which little is known has a short vector and
 * so counts little. Each direction has its median in the middle and is scaled by a high quantile,
 * so that a few far items do not press all others together. Large catalogues show their directions
 * by items evenly taken from them. Fed by an open model; feeds the page and whoever draws.
 */
#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "numerics/symmetric_eigen.h"
#include "recommend/user.h"

enum {
    AXES = 2,
    SAMPLE_MAX = 16384, /* items that the directions and their scales are found from */
    ORDER_MAX = 128,    /* largest order of an eigenproblem: a few hundredths of a second */
};

/* So many of the items are nearer to the middle of an axis than the border of the picture is. */
static const double border = 0.99;

struct dpmf_map {
    uint64_t n;
    size_t k;
    double *axis[AXES];  /* k each, divided by its scale */
    double middle[AXES]; /* where the picture's centre is along it */
    double *mean;        /* k */
    double length;       /* root mean square length of the items' vectors */
    float *place;        /* n x AXES */
};

/* Every step-th item. */
struct sample {
    const struct dpmf_model *model;
    size_t n;
    uint64_t step;
};

static struct sample take_sample(const struct dpmf_model *model, uint64_t most) {
    const uint64_t n = model->factors.items.n, step = (n + most - 1) / most;
    return (struct sample){model, (size_t)((n + step - 1) / step), step};
}

static const float *sample_row(const struct sample *sample, size_t i) {
    return model_item_row(sample->model, (uint64_t)i * sample->step);
}

/* ---- directions ------------------------------------------------------------------------------ */

static void find_mean(const struct dpmf_model *model, struct dpmf_map *map) {
    double square = 0;
    for (uint64_t i = 0; i < map->n; i++) {
        const float *v = model_item_row(model, i);
        for (size_t c = 0; c < map->k; c++) map->mean[c] += (double)v[c];
        square += model->item_norms[i] * model->item_norms[i];
    }
    for (size_t c = 0; c < map->k; c++) map->mean[c] /= (double)map->n;
    map->length = sqrt(square / (double)map->n);
}

/* x := the item's vector without the mean. */
static void centre(const struct dpmf_map *map, const float *v, double *x) {
    for (size_t c = 0; c < map->k; c++) x[c] = (double)v[c] - map->mean[c];
}

/* An eigenvector has either sign: the largest part shall be positive. Its length becomes 1, or
 * stays 0. */
static void settle_axis(double *axis, size_t k) {
    double square = 0;
    size_t largest = 0;
    for (size_t c = 0; c < k; c++) {
        square += axis[c] * axis[c];
        if (fabs(axis[c]) > fabs(axis[largest])) largest = c;
    }
    if (!(square > 0)) return;
    const double unit = axis[largest] < 0 ? -sqrt(square) : sqrt(square);
    for (size_t c = 0; c < k; c++) axis[c] /= unit;
}

/* The covariance of the columns, k x k, up to a factor; x is room for a row. */
static void add_columns(const struct dpmf_map *map, const struct sample *sample, double *matrix,
                        double *x) {
    const size_t k = map->k;
    for (size_t i = 0; i < sample->n; i++) {
        centre(map, sample_row(sample, i), x);
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b <= a; b++) matrix[a * k + b] += x[a] * x[b];
    }
}

/* The products of the items, n x n, whose eigenvectors say how the directions are made of them. */
static void add_items(const struct dpmf_map *map, const struct sample *sample, double *matrix,
                      double *x) {
    const size_t n = sample->n;
    for (size_t i = 0; i < n; i++) {
        centre(map, sample_row(sample, i), x);
        for (size_t j = 0; j <= i; j++) {
            const float *v = sample_row(sample, j);
            double sum = 0;
            for (size_t c = 0; c < map->k; c++) sum += x[c] * ((double)v[c] - map->mean[c]);
            matrix[i * n + j] = sum;
        }
    }
}

static void make_whole(double *matrix, size_t n) {
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++) matrix[b * n + a] = matrix[a * n + b];
}

/* The a-th direction out of the a-th eigenvector, which is of columns or of items. */
static void take_axis(struct dpmf_map *map, const struct sample *sample, bool by_items, size_t a,
                      const double *vector) {
    double *axis = map->axis[a];
    for (size_t c = 0; c < map->k && !by_items; c++) axis[c] = vector[c];
    for (size_t i = 0; i < sample->n && by_items; i++) {
        const float *v = sample_row(sample, i);
        for (size_t c = 0; c < map->k; c++) axis[c] += vector[i] * ((double)v[c] - map->mean[c]);
    }
    settle_axis(axis, map->k);
}

static int find_axes(const struct dpmf_model *model, struct dpmf_map *map,
                     struct dpmf_error *error) {
    const bool by_items = map->k > ORDER_MAX;
    const struct sample sample = take_sample(model, by_items ? ORDER_MAX : SAMPLE_MAX);
    const size_t order = by_items ? sample.n : map->k;
    double *matrix = memory_alloc_zero(order * order, sizeof(double));
    double *vectors = memory_alloc(order * order, sizeof(double));
    double *values = memory_alloc(order, sizeof(double)), *x = memory_alloc(map->k, sizeof(double));
    int code = matrix && vectors && values && x ? 0 : error_no_memory(error);
    if (code < 0) goto out;
    if (by_items)
        add_items(map, &sample, matrix, x);
    else
        add_columns(map, &sample, matrix, x);
    make_whole(matrix, order);
    symmetric_eigen(matrix, order, values, vectors);
    for (size_t a = 0; a < AXES && a < order; a++)
        if (values[a] > 0) take_axis(map, &sample, by_items, a, vectors + a * order);
out:
    free(matrix);
    free(vectors);
    free(values);
    free(x);
    return code;
}

/* ---- places ---------------------------------------------------------------------------------- */

static double along(const struct dpmf_map *map, size_t a, const float *v) {
    return model_dot_double(map->axis[a], v, map->k) - map->middle[a];
}

/* Within the picture; never -0, and 0 for what is no number. */
static float clamp(double x) {
    if (isnan(x)) return 0;
    return x < -1 ? -1.0f : x > 1 ? 1.0f : (float)x + 0.0f;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value below which a share of the sample's values is; they are put in order. */
static double quantile(double *values, size_t n, double share) {
    qsort(values, n, sizeof values[0], compare_doubles);
    return values[(size_t)(share * (double)(n - 1))];
}

static int scale_axis(const struct dpmf_model *model, struct dpmf_map *map, size_t a,
                      struct dpmf_error *error) {
    const struct sample sample = take_sample(model, SAMPLE_MAX);
    double *values = memory_alloc(sample.n, sizeof(double));
    if (!values) return error_no_memory(error);
    for (size_t i = 0; i < sample.n; i++) values[i] = along(map, a, sample_row(&sample, i));
    const double middle = quantile(values, sample.n, 0.5);
    for (size_t i = 0; i < sample.n; i++) values[i] = fabs(values[i] - middle);
    double scale = quantile(values, sample.n, border);
    /* Where nearly all items are at one point, the few others decide. */
    if (!(scale > 0)) scale = values[sample.n - 1];
    map->middle[a] = scale > 0 ? middle / scale : 0;
    for (size_t c = 0; c < map->k; c++) map->axis[a][c] = scale > 0 ? map->axis[a][c] / scale : 0;
    free(values);
    return 0;
}

static int find_places(const struct dpmf_model *model, struct dpmf_map *map,
                       struct dpmf_error *error) {
    for (size_t a = 0; a < AXES; a++) {
        int code = scale_axis(model, map, a, error);
        if (code < 0) return code;
        for (uint64_t i = 0; i < map->n; i++)
            map->place[AXES * i + a] = clamp(along(map, a, model_item_row(model, i)));
    }
    return 0;
}

/* ---- the map --------------------------------------------------------------------------------- */

int dpmf_map_make(const struct dpmf_model *model, struct dpmf_map **out, struct dpmf_error *error) {
    int code = arguments_check(error, "model map", model, out);
    if (out) *out = NULL;
    if (code < 0) return code;
    struct dpmf_map *map = memory_alloc_zero(1, sizeof *map);
    if (!map) return error_no_memory(error);
    map->n = model->factors.items.n;
    map->k = model->factors.k;
    map->mean = memory_alloc_zero(map->k, sizeof(double));
    map->place = memory_alloc_zero((size_t)map->n, AXES * sizeof(float));
    for (size_t a = 0; a < AXES; a++) map->axis[a] = memory_alloc_zero(map->k, sizeof(double));
    code = map->mean && map->place && map->axis[0] && map->axis[1] ? 0 : error_no_memory(error);
    if (code == 0 && map->k > 0 && map->n > 0) {
        find_mean(model, map);
        code = find_axes(model, map, error);
        if (code == 0) code = find_places(model, map, error);
    }
    if (code < 0) {
        dpmf_map_free(map);
        return code;
    }
    *out = map;
    return 0;
}

void dpmf_map_free(struct dpmf_map *map) {
    if (!map) return;
    for (size_t a = 0; a < AXES; a++) free(map->axis[a]);
    free(map->mean);
    free(map->place);
    free(map);
}

void dpmf_map_item(const struct dpmf_map *map, uint64_t item, float xy[2]) {
    const bool is_known = map && item < map->n;
    if (!xy) return;
    for (size_t a = 0; a < AXES; a++) xy[a] = is_known ? map->place[AXES * item + a] : 0;
}

/* Where an item would be whose vector points where the user's does and is as long as items' vectors
 * are. */
void dpmf_map_user(const struct dpmf_map *map, const struct dpmf_user *user, float xy[2]) {
    if (!xy) return;
    xy[0] = xy[1] = 0;
    if (!map || !user) return;
    const double *u = user->vector;
    double square = 0;
    if (user->model->factors.k != map->k) return;
    for (size_t c = 0; c < map->k; c++) square += u[c] * u[c];
    if (!(square > 0)) return;
    const double stretch = map->length / sqrt(square);
    for (size_t a = 0; a < AXES; a++) {
        double sum = 0;
        for (size_t c = 0; c < map->k; c++) sum += map->axis[a][c] * u[c];
        xy[a] = clamp(sum * stretch - map->middle[a]);
    }
}

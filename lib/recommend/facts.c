/*
 * Years and kinds of items in scores (facts.h): their columns, which are mostly 0 and never made
 * whole, what vectors do not tell of them, and a person's part. Fed by whoever has a catalogue at
 * home; feeds score.c, explain.c and those who fit people.
 */
#include "recommend/facts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "numerics/exact_arithmetic.h"
#include "numerics/symmetric_eigen.h"
#include "recommend/model.h"

enum {
    KNOT_YEARS = 5,
    TENT_YEARS = 10,
    KNOTS_MOST = 24, /* 115 years: what is older counts as that old */
    KINDS_MOST = 32, /* those that most items have */
    KIND_ITEMS = 3,  /* least items of a kind; with fewer, or below the share, it says nothing */
    OF_ITEM_MOST = 12,
    TENTS_MOST = 2 * TENT_YEARS / KNOT_YEARS, /* that a year can lie in */
    /* The columns of an item that are not 0, and whether its years and its kinds are known, which
     * are two columns more. */
    ROW_MOST = TENTS_MOST + OF_ITEM_MOST + 2,
};

static const double kind_share = 0.003;

/* What the variances of the columns add up to: of years, which vectors know little of, and of
 * kinds. Chosen on made-up tastes and a split of MovieLens 1M (docs/goals.md). */
static const double variances[2] = {2, 1};

/* Directions of C that hold less than this share of its average one tell nothing. */
static const double tiny = 1e-6;

/* A row of the columns as they are, without their zeros. */
struct sparse_row {
    size_t n;
    size_t column[ROW_MOST];
    double value[ROW_MOST];
};

static void put(struct sparse_row *row, size_t column, double value) {
    row->column[row->n] = column;
    row->value[row->n++] = value;
}

static bool has_kinds(const struct facts_space *space, uint64_t item) {
    return space->start[item + 1] > space->start[item];
}

static void put_tents(const struct facts_space *space, size_t age, struct sparse_row *row) {
    for (size_t c = 0; c < space->n_knots; c++) {
        const double away = fabs((double)age - (double)(KNOT_YEARS * c));
        if (away < TENT_YEARS) put(row, c, space->scales[0] * (1 - away / TENT_YEARS));
    }
}

/* Columns `width` and `width` + 1 say what is known. */
static void row_of(const struct facts_space *space, uint64_t item, struct sparse_row *row) {
    row->n = 0;
    if (space->ages[item] != FACTS_NO_AGE) put_tents(space, space->ages[item], row);
    for (uint64_t i = space->start[item]; i < space->start[item + 1]; i++)
        put(row, space->kinds[i], space->scales[1]);
    if (space->ages[item] != FACTS_NO_AGE) put(row, space->width, 1);
    if (has_kinds(space, item)) put(row, space->width + 1, 1);
}

/* Which of the last two columns says whether column c is known. */
static size_t known_of(const struct facts_space *space, size_t c) {
    return c < space->n_knots ? space->width : space->width + 1;
}

/* ---- which columns --------------------------------------------------------------------------- */

/* The newest and the oldest year. All ages are counted from the newest, so it is none that only one
 * item in a thousand is as new as: most likely that is a typing error, and the ages of all others
 * would be the same. Of few items none is stray. */
static int find_years(const struct facts_space *space, const uint16_t *years, unsigned *newest,
                      unsigned *oldest, struct dpmf_error *error) {
    enum { MANY = 20, IN = 1000 };
    uint64_t known = 0, newer = 0;
    uint64_t *of_year = memory_alloc_zero((size_t)UINT16_MAX + 1, sizeof *of_year);
    if (!of_year) return error_no_memory(error);
    *newest = 0;
    *oldest = UINT16_MAX;
    for (uint64_t i = 0; years && i < space->n; i++) {
        if (years[i] == 0) continue;
        of_year[years[i]]++;
        known++;
        if (years[i] > *newest) *newest = years[i];
        if (years[i] < *oldest) *oldest = years[i];
    }
    const uint64_t stray = known < MANY ? 0 : known < 2 * IN ? 1 : known / IN;
    while (*newest > *oldest && (newer += of_year[*newest]) <= stray) (*newest)--;
    free(of_year);
    return 0;
}

static int take_years(struct facts_space *space, const uint16_t *years, struct dpmf_error *error) {
    unsigned newest = 0, oldest = 0;
    space->ages = memory_alloc((size_t)space->n, 1);
    if (!space->ages) return error_no_memory(error);
    int code = find_years(space, years, &newest, &oldest, error);
    if (code < 0) return code;
    const bool differ = newest > oldest;
    const unsigned age_most = KNOT_YEARS * (KNOTS_MOST - 1);
    const unsigned span = !differ ? 0 : newest - oldest < age_most ? newest - oldest : age_most;
    for (uint64_t i = 0; i < space->n; i++) {
        const bool is_known = differ && years[i] > 0;
        const unsigned age = !is_known ? FACTS_NO_AGE : years[i] < newest ? newest - years[i] : 0;
        space->ages[i] = (uint8_t)(is_known && age > span ? span : age);
    }
    space->n_knots = differ ? (span + KNOT_YEARS - 1) / KNOT_YEARS + 1 : 0;
    return 0;
}

/* Numbers the kinds that are columns, the most frequent first; those that are none have
 * KINDS_MOST. @return how many are */
static size_t number_kinds(const struct facts_space *space, uint64_t *frequency, uint8_t *number,
                           size_t n_kinds) {
    const double least = fmax(KIND_ITEMS, kind_share * (double)space->n);
    size_t taken = 0;
    for (size_t kind = 0; kind < n_kinds; kind++) number[kind] = KINDS_MOST;
    while (taken < KINDS_MOST) {
        size_t best = n_kinds;
        for (size_t kind = 0; kind < n_kinds; kind++)
            if (number[kind] == KINDS_MOST && (double)frequency[kind] >= least &&
                frequency[kind] < space->n &&
                (best == n_kinds || frequency[kind] > frequency[best]))
                best = kind;
        if (best == n_kinds) break;
        number[best] = (uint8_t)taken++;
    }
    return taken;
}

static int take_kinds(struct facts_space *space, const struct dpmf_item_facts *facts,
                      struct dpmf_error *error) {
    const size_t n_kinds = (size_t)facts->n_kinds;
    const uint64_t listed = n_kinds > 0 ? facts->kind_start[space->n] : 0;
    int code = 0;
    uint64_t *frequency = memory_alloc_zero(n_kinds + 1, sizeof *frequency);
    uint8_t *number = memory_alloc(n_kinds + 1, 1);
    space->start = memory_alloc_zero((size_t)space->n + 1, sizeof *space->start);
    space->kinds = memory_alloc((size_t)listed + 1, 1);
    if (!frequency || !number || !space->start || !space->kinds) {
        code = error_no_memory(error);
        goto out;
    }
    for (uint64_t i = 0; i < listed; i++) frequency[facts->kinds[i]]++;
    space->width = space->n_knots + number_kinds(space, frequency, number, n_kinds);
    for (uint64_t item = 0, at = 0; item < space->n; item++) {
        const uint64_t first = at;
        for (uint64_t i = n_kinds > 0 ? facts->kind_start[item] : 0;
             n_kinds > 0 && i < facts->kind_start[item + 1] && at - first < OF_ITEM_MOST; i++) {
            const uint8_t kind = number[facts->kinds[i]];
            const uint8_t column = (uint8_t)(space->n_knots + kind);
            if (kind < KINDS_MOST && !memchr(space->kinds + first, column, (size_t)(at - first)))
                space->kinds[at++] = column;
        }
        space->start[item + 1] = at;
    }
out:
    free(frequency);
    free(number);
    return code;
}

/* ---- their covariances ----------------------------------------------------------------------- */

/* Sums over what people chose: of products of the columns, and of columns with vectors. */
struct moments {
    size_t w;      /* columns, with the two that say what is known */
    double *cells; /* w x w */
    double *cross; /* k x w */
};

static const float *vector_of(const struct factors *factors, uint64_t item) {
    return factors->items.rows + item * factors->items.stride;
}

static void sum_moments(const struct facts_space *space, const struct taste_space *taste,
                        const struct factors *factors, const struct moments *moments) {
    const float *counts = factors->item_ids.counts;
    struct sparse_row row;
    double total = 0;
    for (uint64_t i = 0; i < space->n; i++) total += (double)counts[i];
    memset(moments->cells, 0, moments->w * moments->w * sizeof(double));
    memset(moments->cross, 0, (space->k + 1) * moments->w * sizeof(double));
    for (uint64_t i = 0; i < space->n; i++) {
        const double share = (double)counts[i] / total;
        const float *v = vector_of(factors, i);
        row_of(space, i, &row);
        for (size_t a = 0; a < row.n; a++) {
            const double y = share * row.value[a];
            double *cells = moments->cells + row.column[a] * moments->w;
            for (size_t b = 0; b < row.n; b++) cells[row.column[b]] += y * row.value[b];
            for (size_t c = 0; c < space->k; c++)
                moments->cross[c * moments->w + row.column[a]] +=
                    y * ((double)v[c] - taste->mean[c]);
        }
    }
}

static void find_mean(struct facts_space *space, const struct moments *moments) {
    for (size_t a = 0; a < space->width; a++) {
        const size_t known = known_of(space, a);
        const double mass = moments->cells[known * moments->w + known];
        space->mean[a] = mass > 0 ? moments->cells[a * moments->w + known] / mass : 0;
    }
}

/* The covariance of columns a and b, centred where they are known and 0 elsewhere. */
static double covariance(const struct facts_space *space, const struct moments *moments, size_t a,
                         size_t b) {
    const double *cells = moments->cells;
    const size_t w = moments->w, of_a = known_of(space, a), of_b = known_of(space, b);
    return cells[a * w + b] - space->mean[a] * cells[of_a * w + b] -
           space->mean[b] * cells[a * w + of_b] +
           space->mean[a] * space->mean[b] * cells[of_a * w + of_b];
}

/* Scales of years and of kinds with which the variances of each, over what is known, add up to what
 * they should times the share that is known: else the few items with a year would fill the lists,
 * since the tastes for all others are not seen. */
static void find_scales(struct facts_space *space, const struct moments *moments) {
    double variance[2] = {0, 0};
    for (size_t a = 0; a < space->width; a++)
        variance[a >= space->n_knots] += covariance(space, moments, a, a);
    for (size_t part = 0; part < 2; part++) {
        const size_t known = space->width + part;
        const double mass = moments->cells[known * moments->w + known];
        space->scales[part] =
            variance[part] > 0 ? mass * sqrt(variances[part] / variance[part]) : 0;
    }
}

/* B, by the eigenvectors of C; and D, into `matrix`: with T the part of B along eigenvector e and
 * its value l, D = E f f' - sum over e of (l + 2 a little) T T'. */
static void take_vectors_out(struct facts_space *space, const struct taste_space *taste,
                             const struct moments *moments, double *T, double *matrix) {
    const size_t k = space->k, w = space->width;
    double trace = 0;
    for (size_t c = 0; c < k; c++) trace += taste->values[c];
    const double little = k > 0 ? tiny * trace / (double)k : 0;
    memset(space->slopes, 0, k * w * sizeof(double));
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b <= a; b++) matrix[a * w + b] = covariance(space, moments, a, b);
    for (size_t e = 0; e < k && trace > 0; e++) {
        const double *vector = taste->vectors + e * k;
        for (size_t a = 0; a < w; a++) {
            const size_t known = known_of(space, a);
            double sum = 0;
            for (size_t c = 0; c < k; c++)
                sum += vector[c] * (moments->cross[c * moments->w + a] -
                                    space->mean[a] * moments->cross[c * moments->w + known]);
            T[a] = sum / (taste->values[e] + little);
            for (size_t c = 0; c < k; c++) space->slopes[c * w + a] += T[a] * vector[c];
        }
        for (size_t a = 0; a < w; a++)
            for (size_t b = 0; b <= a; b++)
                matrix[a * w + b] -= (taste->values[e] + 2 * little) * T[a] * T[b];
    }
    for (size_t a = 0; a < w; a++)
        for (size_t b = 0; b < a; b++) matrix[b * w + a] = matrix[a * w + b];
}

static int find_space(struct facts_space *space, const struct taste_space *taste,
                      const struct factors *factors, struct dpmf_error *error) {
    const size_t w = space->width, k = space->k;
    struct moments moments = {.w = w + 2};
    int code = 0;
    moments.cells = memory_alloc(moments.w * moments.w, sizeof(double));
    moments.cross = memory_alloc((k + 1) * moments.w, sizeof(double));
    double *matrix = memory_alloc((w + 1) * w, sizeof(double)); /* and a row for T */
    space->mean = memory_alloc_zero(w, sizeof(double));
    space->slopes = memory_alloc(k * w, sizeof(double));
    space->values = memory_alloc(w, sizeof(double));
    space->vectors = memory_alloc(w * w, sizeof(double));
    if (!moments.cells || !moments.cross || !matrix || !space->mean || !space->slopes ||
        !space->values || !space->vectors) {
        code = error_no_memory(error);
        goto out;
    }
    space->scales[0] = space->scales[1] = 1;
    sum_moments(space, taste, factors, &moments);
    find_mean(space, &moments);
    find_scales(space, &moments);
    sum_moments(space, taste, factors, &moments);
    find_mean(space, &moments);
    take_vectors_out(space, taste, &moments, matrix + w * w, matrix);
    symmetric_eigen(matrix, w, space->values, space->vectors);
    for (size_t a = 0; a < w; a++) space->values[a] = space->values[a] > 0 ? space->values[a] : 0;
out:
    free(moments.cells);
    free(moments.cross);
    free(matrix);
    return code;
}

int facts_space_init(struct facts_space *space, const struct dpmf_item_facts *facts,
                     const struct taste_space *taste, const struct factors *factors,
                     struct dpmf_error *error) {
    *space = (struct facts_space){.n = factors->items.n, .k = factors->k};
    int code = take_years(space, facts->years, error);
    if (code == 0) code = take_kinds(space, facts, error);
    if (code == 0 && space->width > 0) code = find_space(space, taste, factors, error);
    return code;
}

void facts_space_free(struct facts_space *space) {
    free(space->ages);
    free(space->start);
    free(space->kinds);
    free(space->mean);
    free(space->slopes);
    free(space->values);
    free(space->vectors);
    *space = (struct facts_space){0};
}

/* ---- a person -------------------------------------------------------------------------------- */

/* d_j. */
static void rest_of(const struct facts_space *space, const struct taste_space *taste,
                    const struct factors *factors, uint64_t item, double *d) {
    const float *v = vector_of(factors, item);
    struct sparse_row row;
    row_of(space, item, &row);
    const bool known[2] = {space->ages[item] != FACTS_NO_AGE, has_kinds(space, item)};
    for (size_t a = 0; a < space->width; a++)
        d[a] = known[a >= space->n_knots] ? -space->mean[a] : 0;
    for (size_t i = 0; i < row.n; i++)
        if (row.column[i] < space->width) d[row.column[i]] += row.value[i];
    for (size_t c = 0; c < space->k; c++) {
        const double x = (double)v[c] - taste->mean[c];
        for (size_t a = 0; a < space->width; a++) d[a] -= space->slopes[c * space->width + a] * x;
    }
}

/* x := (W D + I)^-1 x; `y` has room for as many. */
static void solve(const struct facts_space *space, double W, double *x, double *y) {
    const size_t w = space->width;
    for (size_t r = 0; r < w; r++) {
        double sum = 0;
        for (size_t c = 0; c < w; c++) sum += space->vectors[r * w + c] * x[c];
        y[r] = sum / (W * space->values[r] + 1);
    }
    for (size_t c = 0; c < w; c++) x[c] = 0;
    for (size_t r = 0; r < w; r++)
        for (size_t c = 0; c < w; c++) x[c] += y[r] * space->vectors[r * w + c];
}

static double total_weight(const struct taste_space *taste, const struct dpmf_own_rating *ratings,
                           size_t n) {
    double total = 0;
    for (size_t h = 0; h < n; h++) total += fabs(taste_weight(taste, ratings[h].rating));
    return total;
}

/* x.f_j as it stands in the columns, of an item. */
static double dot_columns(const struct facts_space *space, const double *x, const double average[2],
                          uint64_t item) {
    struct sparse_row row;
    row_of(space, item, &row);
    double sum = -(space->ages[item] != FACTS_NO_AGE ? average[0] : 0) -
                 (has_kinds(space, item) ? average[1] : 0);
    for (size_t i = 0; i < row.n; i++)
        if (row.column[i] < space->width) sum += x[row.column[i]] * row.value[i];
    return sum;
}

void facts_fit(const struct facts_space *space, const struct taste_space *taste,
               const struct factors *factors, const struct dpmf_own_rating *ratings, size_t n,
               double *q, double *d) {
    const size_t w = space->width;
    double known[2] = {0, 0}, v_sum[TASTE_BLOCK_MOST] = {0};
    struct sparse_row row;
    for (size_t a = 0; a < w; a++) q[a] = 0;
    for (size_t h = 0; h < n; h++) {
        const double weight = taste_weight(taste, ratings[h].rating);
        const uint64_t item = ratings[h].item;
        const float *v = vector_of(factors, item);
        row_of(space, item, &row);
        for (size_t i = 0; i < row.n; i++)
            if (row.column[i] < w) q[row.column[i]] += weight * row.value[i];
        known[0] += space->ages[item] != FACTS_NO_AGE ? weight : 0;
        known[1] += has_kinds(space, item) ? weight : 0;
        for (size_t c = 0; c < space->k; c++) v_sum[c] += weight * ((double)v[c] - taste->mean[c]);
    }
    for (size_t a = 0; a < w; a++) q[a] -= known[a >= space->n_knots] * space->mean[a];
    for (size_t c = 0; c < space->k; c++)
        for (size_t a = 0; a < w; a++) q[a] -= space->slopes[c * w + a] * v_sum[c];
    solve(space, total_weight(taste, ratings, n), q, d);
}

void facts_share(const struct facts_space *space, const struct taste_space *taste,
                 const struct factors *factors, const struct dpmf_own_rating *ratings, size_t n,
                 uint64_t item, double *x, double *d, double *shares) {
    double average[2] = {0, 0}, slope[TASTE_BLOCK_MOST] = {0};
    rest_of(space, taste, factors, item, x);
    solve(space, total_weight(taste, ratings, n), x, d);
    for (size_t a = 0; a < space->width; a++) average[a >= space->n_knots] += x[a] * space->mean[a];
    for (size_t c = 0; c < space->k; c++)
        for (size_t a = 0; a < space->width; a++)
            slope[c] += space->slopes[c * space->width + a] * x[a];
    for (size_t h = 0; h < n; h++) {
        const float *v = vector_of(factors, ratings[h].item);
        double sum = dot_columns(space, x, average, ratings[h].item);
        for (size_t c = 0; c < space->k; c++) sum -= slope[c] * ((double)v[c] - taste->mean[c]);
        shares[h] += taste_weight(taste, ratings[h].rating) * sum;
    }
}

double facts_score(const struct facts_space *space, const double *q, double dial,
                   const float *crowd, uint64_t first, uint64_t end, double *out, float *rounded,
                   double *vector) {
    assert(first <= end && end <= space->n);
    double of_age[FACTS_NO_AGE + 1], of_kind[KINDS_MOST], average[2] = {0, 0}, largest = 0;
    for (size_t a = 0; a < space->width; a++) average[a >= space->n_knots] += q[a] * space->mean[a];
    for (size_t age = 0; age < FACTS_NO_AGE; age++) {
        struct sparse_row row = {.n = 0};
        put_tents(space, age, &row);
        of_age[age] = -average[0];
        for (size_t i = 0; i < row.n; i++) of_age[age] += q[row.column[i]] * row.value[i];
    }
    of_age[FACTS_NO_AGE] = 0;
    for (size_t a = space->n_knots; a < space->width; a++)
        of_kind[a - space->n_knots] = q[a] * space->scales[1];
    for (uint64_t item = first; item < end; item++) {
        double told = of_age[space->ages[item]] - (has_kinds(space, item) ? average[1] : 0);
        for (uint64_t i = space->start[item]; i < space->start[item + 1]; i++)
            told += of_kind[space->kinds[i] - space->n_knots];
        out[item] = (double)crowd[item] + dial * told;
        rounded[item] = (float)out[item];
        const double size = fabs((double)rounded[item]);
        if (!(size <= largest)) largest = size;
    }
    for (size_t c = 0; c < space->k; c++) {
        double sum = 0;
        for (size_t a = 0; a < space->width; a++) sum += space->slopes[c * space->width + a] * q[a];
        vector[c] -= dial * sum;
    }
    return largest;
}

/* ---- whoever has a catalogue ----------------------------------------------------------------- */

static int check_facts(const struct dpmf_item_facts *facts, uint64_t n, struct dpmf_error *error) {
    bool is_sound = true;
    for (size_t i = 0; i < sizeof facts->spare / sizeof facts->spare[0]; i++)
        is_sound &= facts->spare[i] == 0;
    if (!is_sound)
        return error_set(error, DPMF_ERR_USAGE_STRUCT,
                         "the facts have fields that this version does not know");
    if (facts->n_kinds == 0) return 0;
    is_sound = facts->n_kinds <= UINT16_MAX && facts->kind_start && facts->kinds &&
               facts->kind_start[0] == 0;
    for (uint64_t i = 0; is_sound && i < n; i++)
        is_sound = facts->kind_start[i] <= facts->kind_start[i + 1];
    for (uint64_t i = 0; is_sound && i < facts->kind_start[n]; i++)
        is_sound = facts->kinds[i] < facts->n_kinds;
    return is_sound ? 0
                    : error_set(error, DPMF_ERR_USAGE_VALUE, "the kinds of items are not in order");
}

int dpmf_model_set_facts(struct dpmf_model *model, const struct dpmf_item_facts *facts,
                         struct dpmf_error *error) {
    int code = arguments_check(error, "model facts", model, facts);
    if (code == 0) code = check_facts(facts, model->factors.items.n, error);
    if (code < 0) return code;
    if (model->kind != MODEL_RELEASE || !model->crowd || model->taste.n_blocks > 1)
        return error_set(error, DPMF_ERR_MODEL_KIND,
                         "years and kinds of items are for releases that have counts and no more "
                         "than 64 factors");
    if (model->facts.width > 0)
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the model has facts about its items already");
    code = facts_space_init(&model->facts, facts, &model->taste, &model->factors, error);
    if (code < 0 || model->facts.width == 0) facts_space_free(&model->facts);
    return code;
}

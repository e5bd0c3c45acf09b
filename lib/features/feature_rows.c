/*
 * The mathematics of feature_rows.h on the rows of a model: matches ids, runs the regression, and
 * writes what follows from it. Fed by solve.c at the end of a training, and by model_features.c.
 */
#include "features/feature_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/feature_regression.h"

enum { FEATURES_LEAST = 3 }; /* rows to learn from */

/* A side of the model beside its table: known rows first, then those that are new. */
struct matching {
    struct factor_matrix *rows;
    struct factor_ids *ids;
    const struct catalogue *table;
    uint32_t k;
    size_t n_known, n;  /* rows of the model; with the new ones */
    uint64_t *of_table; /* by row: its number in the table, UINT64_MAX where it has none */
    double *features, *weights, *values, *left_out, *means;
    bool *described;
    size_t n_values; /* k + 2: a vector, a bias and the logarithm of the count */
};

static const char *id_at(const struct factor_ids *ids, uint64_t i, size_t *length) {
    *length = (size_t)(ids->start[i + 1] - ids->start[i]);
    return ids->bytes + ids->start[i];
}

static uint64_t find(const struct catalogue *table, const struct factor_ids *ids, uint64_t i) {
    size_t length;
    const char *id = id_at(ids, i, &length);
    return factor_ids_find(&table->ids, id, length);
}

struct feature_match feature_rows_match(const struct factor_ids *ids,
                                        const struct catalogue *table) {
    struct feature_match match = {0};
    for (uint64_t i = 0; i < ids->n; i++) match.known += find(table, ids, i) != UINT64_MAX;
    match.unknown = table->ids.n - match.known;
    return match;
}

static int refuse_few(const char *path, uint64_t known, bool of_users, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_ID,
              known == 0 ? "none of these %s has ratings that the model was trained on"
                         : "too few of these %s have ratings that the model was trained on",
              of_users ? "users" : "items");
    error_hint(error, "give features of what has been rated too: what they mean is learned from "
                      "it; ids must be written as in the ratings");
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return DPMF_ERR_INPUT_ID;
}

/* ---- the regression -------------------------------------------------------------------------- */

static void matching_free(struct matching *self) {
    free(self->of_table);
    free(self->features);
    free(self->weights);
    free(self->values);
    free(self->left_out);
    free(self->means);
    free(self->described);
}

static int matching_init(struct matching *self, struct factors *factors, enum feature_side side,
                         const struct catalogue *table, bool with_new, struct dpmf_error *error) {
    const bool of_users = side == FEATURES_OF_USERS;
    *self = (struct matching){.rows = of_users ? &factors->users : &factors->items,
                              .ids = of_users ? &factors->user_ids : &factors->item_ids,
                              .table = table,
                              .k = factors->k};
    self->n_known = (size_t)self->ids->n;
    self->n_values = (size_t)factors->k + 2;
    const struct feature_match match = feature_rows_match(self->ids, table);
    self->n = self->n_known + (with_new ? (size_t)match.unknown : 0);
    const size_t q = table->n_features;
    self->of_table = memory_alloc(self->n, sizeof *self->of_table);
    self->features = memory_alloc_zero(self->n, q * sizeof(double));
    self->weights = memory_alloc_zero(self->n_known, sizeof(double));
    self->values = memory_alloc_zero(self->n, self->n_values * sizeof(double));
    self->left_out = memory_alloc_zero(self->n_known, self->n_values * sizeof(double));
    self->means = memory_alloc_zero(self->n_values, sizeof(double));
    self->described = memory_alloc_zero(self->n, sizeof(bool));
    return self->of_table && self->features && self->weights && self->values && self->left_out &&
                   self->means && self->described
               ? 0
               : error_no_memory(error);
}

static void take_rows(struct matching *self) {
    const struct factor_matrix *rows = self->rows;
    const float *counts = self->ids->counts;
    for (size_t i = 0; i < self->n_known; i++) {
        double *values = self->values + i * self->n_values;
        for (size_t c = 0; c < self->k; c++) values[c] = (double)rows->rows[i * rows->stride + c];
        values[self->k] = (double)rows->biases[i];
        values[self->k + 1] = counts ? log((double)counts[i]) : 0;
        self->weights[i] = counts ? (double)counts[i] : 1;
        self->of_table[i] = find(self->table, self->ids, i);
    }
}

/* Marks the table's rows that the model knows; the others follow its own in their order. */
static int add_new(struct matching *self, struct dpmf_error *error) {
    bool *taken = memory_alloc_zero((size_t)self->table->ids.n, sizeof *taken);
    if (!taken) return error_no_memory(error);
    size_t n = self->n_known;
    for (size_t i = 0; i < self->n_known; i++)
        if (self->of_table[i] != UINT64_MAX) taken[self->of_table[i]] = true;
    for (uint64_t t = 0; n < self->n && t < self->table->ids.n; t++)
        if (!taken[t]) self->of_table[n++] = t;
    free(taken);
    return 0;
}

static int regress(struct matching *self, struct dpmf_error *error) {
    const size_t q = self->table->n_features;
    take_rows(self);
    int code = add_new(self, error);
    if (code < 0) return code;
    for (size_t i = 0; i < self->n; i++) {
        const uint64_t t = self->of_table[i];
        self->described[i] = t != UINT64_MAX;
        if (self->described[i])
            memcpy(self->features + i * q, self->table->features + t * q, q * sizeof(double));
    }
    const struct feature_regression regression = {.n = self->n,
                                                  .n_known = self->n_known,
                                                  .n_features = q,
                                                  .features = self->features,
                                                  .described = self->described,
                                                  .weights = self->weights,
                                                  .n_values = self->n_values,
                                                  .values = self->values,
                                                  .left_out = self->left_out,
                                                  .means = self->means};
    return feature_regression_run(&regression, error);
}

static int match_and_regress(struct matching *self, struct factors *factors, enum feature_side side,
                             const struct catalogue *table, bool with_new, const char *path,
                             struct dpmf_error *error) {
    const bool of_users = side == FEATURES_OF_USERS;
    const struct factor_ids *ids = of_users ? &factors->user_ids : &factors->item_ids;
    const struct feature_match match = feature_rows_match(ids, table);
    *self = (struct matching){0};
    if (match.known < FEATURES_LEAST) return refuse_few(path, match.known, of_users, error);
    int code = matching_init(self, factors, side, table, with_new, error);
    return code < 0 ? code : regress(self, error);
}

/* ---- rows with ratings ----------------------------------------------------------------------- */

static void blend_row(struct matching *self, size_t i, double bias_hold) {
    struct factor_matrix *rows = self->rows;
    const double *left_out = self->left_out + i * self->n_values;
    const double n = (double)self->ids->counts[i];
    const double share = FEATURE_HOLD / (n + FEATURE_HOLD),
                 bias_share = bias_hold / (n + bias_hold);
    for (size_t c = 0; c < self->k; c++)
        rows->rows[i * rows->stride + c] += (float)(share * (left_out[c] - self->means[c]));
    rows->biases[i] += (float)(bias_share * (left_out[self->k] - self->means[self->k]));
}

int feature_rows_blend(struct factors *factors, enum feature_side side,
                       const struct catalogue *table, double bias_hold, const char *path,
                       struct dpmf_error *error) {
    struct matching self;
    const bool of_users = side == FEATURES_OF_USERS;
    if (!(of_users ? factors->user_ids : factors->item_ids).counts)
        return error_set(error, DPMF_ERR_BASE_BUG, "how many ratings each row has is not known");
    int code = match_and_regress(&self, factors, side, table, false, path, error);
    for (size_t i = 0; code == 0 && i < self.n_known; i++)
        if (self.described[i]) blend_row(&self, i, bias_hold);
    matching_free(&self);
    return code;
}

/* ---- rows without ---------------------------------------------------------------------------- */

/* Ids of all rows, old and new, with counts where these are known. */
static int make_ids(const struct matching *self, struct factor_ids *ids, struct dpmf_error *error) {
    uint64_t bytes = self->ids->start[self->n_known];
    for (size_t i = self->n_known; i < self->n; i++) {
        size_t length;
        id_at(&self->table->ids, self->of_table[i], &length);
        bytes += length;
    }
    *ids = (struct factor_ids){.n = self->n};
    ids->bytes = memory_alloc((size_t)bytes, 1);
    ids->start = memory_alloc(self->n + 1, sizeof *ids->start);
    if (self->ids->counts) ids->counts = memory_alloc(self->n, sizeof *ids->counts);
    if (!ids->bytes || !ids->start || (self->ids->counts && !ids->counts))
        return error_no_memory(error);
    memcpy(ids->bytes, self->ids->bytes, (size_t)self->ids->start[self->n_known]);
    memcpy(ids->start, self->ids->start, (self->n_known + 1) * sizeof *ids->start);
    if (ids->counts) memcpy(ids->counts, self->ids->counts, self->n_known * sizeof *ids->counts);
    for (size_t i = self->n_known; i < self->n; i++) {
        size_t length;
        const char *id = id_at(&self->table->ids, self->of_table[i], &length);
        memcpy(ids->bytes + ids->start[i], id, length);
        ids->start[i + 1] = ids->start[i] + length;
        if (ids->counts)
            ids->counts[i] = (float)exp(self->values[i * self->n_values + self->k + 1]);
    }
    return factor_ids_index(ids, error);
}

static void fill_rows(const struct matching *self, struct factor_matrix *rows) {
    const struct factor_matrix *from = self->rows;
    memcpy(rows->rows, from->rows, self->n_known * from->stride * sizeof(float));
    memcpy(rows->biases, from->biases, self->n_known * sizeof(float));
    for (size_t i = self->n_known; i < self->n; i++) {
        const double *values = self->values + i * self->n_values;
        for (size_t c = 0; c < self->k; c++) rows->rows[i * rows->stride + c] = (float)values[c];
        rows->biases[i] = (float)values[self->k];
    }
}

int feature_rows_place(struct factors *factors, enum feature_side side,
                       const struct catalogue *table, uint64_t spare, const char *path,
                       struct dpmf_error *error) {
    struct matching self;
    struct factor_matrix rows = {0};
    struct factor_ids ids = {0};
    int code = match_and_regress(&self, factors, side, table, true, path, error);
    if (code == 0) code = factor_matrix_init(&rows, self.n, self.rows->stride, spare, error);
    if (code == 0) code = make_ids(&self, &ids, error);
    if (code == 0) {
        fill_rows(&self, &rows);
        factor_matrix_free(self.rows);
        factor_ids_free(self.ids);
        *self.rows = rows;
        *self.ids = ids;
    } else {
        factor_matrix_free(&rows);
        factor_ids_free(&ids);
    }
    matching_free(&self);
    return code;
}

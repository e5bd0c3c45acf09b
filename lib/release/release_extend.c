/*
 * dpmf_release_extend: items that are new since a release was made, placed in it by what is
 * publicly known about them. Reads public files alone, a release, a catalogue and a table of
 * features, so that nothing is spent and no ledger is asked. dpmf_release_parent takes the items
 * away again. docs/formats/release.md specifies what is written.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "files/output_file.h"
#include "model/release.h"
#include "numerics/feature_regression.h"
#include "privacy/catalogue.h"
#include "privacy/id_gather.h"
#include "random/random.h"
#include "statement/claim.h"
#include "statement/release_check.h"
#include "statement/statement_extension.h"
#include "statement/statement_words.h"

struct extending {
    struct release parent, release;
    struct statement statement;
    struct statement_figures figures;
    struct catalogue catalogue; /* items of the parent, then the new ones */
    size_t n_known;
    double *values;  /* n x n_values: vector, bias and logarithm of the count */
    double *weights; /* n_known */
    size_t n_values;
    struct dpmf_extend_report *report;
};

static int refuse(struct dpmf_error *error, int code, const char *path, const char *message,
                  const char *hint) {
    error_set_text(error, code, message);
    error_hint_text(error, hint);
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return code;
}

/* ---- what is read ---------------------------------------------------------------------------- */

static int read_parent(struct extending *self, const char *path, struct dpmf_error *error) {
    int code = release_read_checked(path, &self->parent, &self->statement, &self->figures, error);
    if (code < 0) return code;
    if (self->statement.extension.items > 0)
        return refuse(error, DPMF_ERR_USAGE_CONFLICT, path,
                      "this release was extended already, and can be extended only once",
                      "recreate its parent with {:release parent}, and extend that with all items");
    if (self->statement.format == STATEMENT_FORMAT_FIRST)
        return refuse(error, DPMF_ERR_USAGE_CONFLICT, path,
                      "this "
                      "release was made by dpmf 0.1, whose statement has no room for new items",
                      "extend a release that a later version made");
    return 0;
}

static int add_ids(struct id_gather *gather, const struct factor_ids *ids,
                   struct dpmf_error *error) {
    for (uint64_t i = 0; i < ids->n; i++) {
        const size_t length = (size_t)(ids->start[i + 1] - ids->start[i]);
        int64_t number = id_gather_add(gather, ids->bytes + ids->start[i], length, error);
        if (number < 0) return (int)number;
    }
    return 0;
}

/* The items of the parent in their places, then those that are new, in the order of their file. */
static int read_catalogue(struct extending *self, const char *path, const struct dpmf_run *run,
                          struct dpmf_error *error) {
    struct catalogue given;
    struct id_gather gather = {0};
    const struct factor_ids *known = &self->parent.factors.item_ids;
    struct dpmf_extend_report *report = self->report;
    int code = catalogue_read(path, run, &given, error);
    if (code == 0) code = add_ids(&gather, known, error);
    if (code == 0) code = add_ids(&gather, &given.ids, error);
    if (code == 0) {
        report->items = gather.ids.n;
        report->new_items = gather.ids.n - known->n;
        report->known_items = given.ids.n - report->new_items;
        self->n_known = (size_t)known->n;
        code = id_gather_finish(&gather, &self->catalogue.ids, error);
    }
    id_gather_free(&gather);
    catalogue_free(&given);
    if (code < 0 || report->new_items > 0) return code;
    return refuse(error, DPMF_ERR_USAGE_CONFLICT, path,
                  "every item of the catalogue is in the release already",
                  "give a catalogue with items that are new");
}

static size_t count_described(const struct extending *self, size_t first, size_t end) {
    size_t n = 0;
    for (size_t j = first; j < end; j++) n += self->catalogue.described[j];
    return n;
}

static int read_features(struct extending *self, const char *path, const struct dpmf_run *run,
                         struct dpmf_error *error) {
    struct dpmf_extend_report *report = self->report;
    int code = catalogue_read_features(&self->catalogue, path, run, error);
    if (code < 0) return code;
    const size_t n = (size_t)self->catalogue.ids.n;
    const size_t added = count_described(self, self->n_known, n);
    report->features = self->catalogue.n_features;
    report->undescribed = report->new_items - added;
    if (added == 0)
        return refuse(
            error, DPMF_ERR_INPUT_ID, path, "none of the new items has features here",
            "give a row of features to the new items, with their ids as in the catalogue");
    if (count_described(self, 0, self->n_known) < 2)
        return refuse(error, DPMF_ERR_INPUT_ID, path,
                      "too few items of the release have features here to learn from",
                      "give features of the items of the release as well, not only of new ones");
    if (self->catalogue.n_features == 0)
        return refuse(error, DPMF_ERR_INPUT_HEADER, path,
                      "no column of this file says anything about the items",
                      "give a column of numbers, or one of kinds that several items share");
    return 0;
}

/* ---- where the new items lie ----------------------------------------------------------------- */

/* An item that few people rated was published close to what was known before, and says less; and
 * what counts is how well the items are placed that people meet. */
static double weight_of(const struct factor_ids *ids, size_t j) {
    return ids->counts ? (double)ids->counts[j] : 1;
}

static void take_known(struct extending *self) {
    const struct factors *factors = &self->parent.factors;
    const size_t k = factors->k;
    for (size_t j = 0; j < self->n_known; j++) {
        double *values = self->values + j * self->n_values;
        for (size_t a = 0; a < k; a++)
            values[a] = (double)factors->items.rows[j * factors->items.stride + a];
        values[k] = (double)factors->items.biases[j];
        if (factors->item_ids.counts) values[k + 1] = log((double)factors->item_ids.counts[j]);
        self->weights[j] = weight_of(&factors->item_ids, j);
    }
}

static int place_items(struct extending *self, struct dpmf_error *error) {
    const struct factors *factors = &self->parent.factors;
    const size_t n = (size_t)self->catalogue.ids.n;
    self->n_values = factors->k + (factors->item_ids.counts ? 2 : 1);
    self->values = memory_alloc(n, self->n_values * sizeof *self->values);
    self->weights = memory_alloc(self->n_known, sizeof *self->weights);
    if (!self->values || !self->weights) return error_no_memory(error);
    take_known(self);
    const struct feature_regression regression = {.n = n,
                                                  .n_known = self->n_known,
                                                  .n_features = self->catalogue.n_features,
                                                  .features = self->catalogue.features,
                                                  .described = self->catalogue.described,
                                                  .weights = self->weights,
                                                  .n_values = self->n_values,
                                                  .values = self->values};
    return feature_regression_run(&regression, error);
}

/* ---- the release ----------------------------------------------------------------------------- */

/* What is known is copied bit by bit. */
static void fill_rows(struct extending *self) {
    const struct factors *from = &self->parent.factors;
    struct factors *to = &self->release.factors;
    const size_t k = from->k, n = (size_t)self->catalogue.ids.n;
    for (size_t j = 0; j < self->n_known; j++) {
        memcpy(to->items.rows + j * to->items.stride, from->items.rows + j * from->items.stride,
               k * sizeof(float));
        to->items.biases[j] = from->items.biases[j];
        if (to->item_ids.counts) to->item_ids.counts[j] = from->item_ids.counts[j];
    }
    for (size_t j = self->n_known; j < n; j++) {
        const double *values = self->values + j * self->n_values;
        for (size_t a = 0; a < k; a++) to->items.rows[j * to->items.stride + a] = (float)values[a];
        to->items.biases[j] = self->release.ranks ? 0 : (float)values[k];
        if (to->item_ids.counts) to->item_ids.counts[j] = (float)exp(values[k + 1]);
    }
}

static int fill_statement(struct extending *self, struct dpmf_error *error) {
    struct statement *statement = &self->statement;
    struct statement_extension *extension = &statement->extension;
    extension->items = self->report->new_items;
    memcpy(extension->parent_id, statement->id, sizeof extension->parent_id);
    snprintf(extension->version, sizeof extension->version, "%s", dpmf_version());
    int code = release_digest(&self->parent, extension->parent_digest, error);
    if (code == 0) code = random_from_system(statement->id, sizeof statement->id, error);
    if (code < 0) return code;
    statement->format = STATEMENT_FORMAT_EXTENDED;
    statement_id_format(extension->parent_id, self->report->parent);
    statement_id_format(statement->id, self->report->id);
    self->release.statement = statement_json_make(statement, &self->figures);
    return self->release.statement ? 0 : error_no_memory(error);
}

static int fill_release(struct extending *self, struct dpmf_error *error) {
    const struct factors *from = &self->parent.factors;
    struct factors *to = &self->release.factors;
    const size_t n = (size_t)self->catalogue.ids.n;
    self->release = self->parent;
    self->release.statement = NULL;
    self->release.version[0] = '\0';
    to->items = (struct factor_matrix){0};
    to->item_ids = self->catalogue.ids;
    self->catalogue.ids = (struct factor_ids){.n = n};
    int code = factor_matrix_init(&to->items, n, from->items.stride, 0, error);
    if (code == 0 && from->item_ids.counts) {
        to->item_ids.counts = memory_alloc(n, sizeof *to->item_ids.counts);
        if (!to->item_ids.counts) code = error_no_memory(error);
    }
    if (code < 0) return code;
    fill_rows(self);
    return fill_statement(self, error);
}

static enum output_mode mode_of(const struct statement *statement) {
    return claim_of(statement) == DPMF_CLAIM_NOT_PRIVATE ? OUTPUT_PRIVATE : OUTPUT_PUBLIC;
}

static void free_extending(struct extending *self) {
    release_free(&self->parent);
    release_free(&self->release);
    self->catalogue.ids.n = 0;
    catalogue_free(&self->catalogue);
    free(self->values);
    free(self->weights);
    free(self);
}

/* ---- public ---------------------------------------------------------------------------------- */

int dpmf_release_extend(const char *release, const char *catalogue, const char *item_features,
                        const char *output, const struct dpmf_run *run,
                        struct dpmf_extend_report *report, struct dpmf_error *error) {
    struct dpmf_error own_error;
    struct dpmf_run own;
    if (!error) error = &own_error;
    int code = arguments_check(error, "release catalogue item_features output report", release,
                               catalogue, item_features, output, report);
    if (code == 0) code = run_take(&own, run, error);
    if (code == 0) code = output_file_check(output, DPMF_FILE_NONE, own.replace, error);
    if (code < 0) return code;
    *report = (struct dpmf_extend_report){0};
    struct extending *self = memory_alloc_zero(1, sizeof *self);
    if (!self) return error_no_memory(error);
    self->report = report;
    code = read_parent(self, release, error);
    if (code == 0) code = read_catalogue(self, catalogue, &own, error);
    if (code == 0) code = read_features(self, item_features, &own, error);
    if (code == 0) code = place_items(self, error);
    if (code == 0) code = fill_release(self, error);
    if (code == 0) code = output_file_check(output, DPMF_FILE_NONE, own.replace, error);
    if (code == 0) code = release_write(output, &self->release, mode_of(&self->statement), error);
    free_extending(self);
    return code;
}

int dpmf_release_parent(const char *release, const char *output, const struct dpmf_run *run,
                        struct dpmf_error *error) {
    struct dpmf_error own_error;
    struct dpmf_run own;
    struct release parent = {0};
    if (!error) error = &own_error;
    int code = arguments_check(error, "release output", release, output);
    if (code == 0) code = run_take(&own, run, error);
    if (code == 0) code = output_file_check(output, DPMF_FILE_NONE, own.replace, error);
    if (code < 0) return code;
    struct extending *self = memory_alloc_zero(1, sizeof *self);
    if (!self) return error_no_memory(error);
    code = release_read_checked(release, &self->release, &self->statement, &self->figures, error);
    if (code == 0 && self->statement.extension.items == 0)
        code = refuse(error, DPMF_ERR_USAGE_CONFLICT, release, "this release extends no other",
                      "give a release that {:release extend} made");
    if (code == 0)
        code = statement_extension_parent(&self->release, &self->statement, &self->figures, &parent,
                                          error);
    if (code == 0) code = release_write(output, &parent, mode_of(&self->statement), error);
    free(parent.statement);
    free_extending(self);
    return code;
}

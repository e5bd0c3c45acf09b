/*
 * dpmf_model_add_features: users and items without ratings, placed in an open model by what is
 * known about them. Nothing is written, and rows with ratings stay as they are. Fed by tables of
 * features (privacy/item_features.c); the rest of the library then knows the new ones like all
 * others, but for what it says of how sure it is.
 */
#include "base/arguments.h"
#include "base/error.h"
#include "features/feature_rows.h"
#include "recommend/model.h"
#include "recommend/score.h"

#include <stdlib.h>

enum { SPARE_ROWS = 1 }; /* kernels may read a row ahead */

static int check_model(const struct dpmf_model *model, struct dpmf_error *error) {
    int code = 0;
    if (model->kind == MODEL_RELEASE) {
        code = error_set(error, DPMF_ERR_MODEL_KIND,
                         "this is a release, which records what it was extended with");
        error_hint(error, "place new items in it with {:release extend}");
    } else if (model->placed_users > 0 || model->placed_items > 0) {
        code =
            error_set(error, DPMF_ERR_USAGE_CONFLICT, "features were added to this model already");
        error_hint(error, "open it again, and add all of them at once");
    }
    return code;
}

static int place(struct dpmf_model *model, const char *path, enum feature_side side,
                 const struct dpmf_run *run, struct dpmf_features_side *report, uint64_t *placed,
                 struct dpmf_error *error) {
    const bool of_users = side == FEATURES_OF_USERS;
    struct factors *factors = &model->factors;
    struct catalogue table;
    int code = features_read(path, of_users, run, &table, error);
    if (code < 0) return code;
    const struct factor_ids *ids = of_users ? &factors->user_ids : &factors->item_ids;
    const struct feature_match match = feature_rows_match(ids, &table);
    report->columns = table.n_features;
    report->known = match.known;
    report->placed = match.unknown;
    code = feature_rows_place(factors, side, &table, SPARE_ROWS, path, error);
    if (code == 0) *placed = match.unknown;
    catalogue_free(&table);
    return code;
}

/* Builds again what the model keeps about its items. */
static int measure(struct dpmf_model *model, struct dpmf_error *error) {
    free(model->item_norms);
    model->item_norms = NULL;
    score_free(model);
    model->crowd_max = 0;
    int code = model_items_measure(model, error);
    return code < 0 ? code : score_prepare(model, error);
}

int dpmf_model_add_features(struct dpmf_model *model, const char *item_features,
                            const char *user_features, const struct dpmf_run *run,
                            struct dpmf_features_report *report, struct dpmf_error *error) {
    struct dpmf_features_report unwanted;
    struct dpmf_run own;
    int code = arguments_check(error, "model", model);
    if (code == 0) code = run_take(&own, run, error);
    if (code < 0) return code;
    if (!report) report = &unwanted;
    *report = (struct dpmf_features_report){0};
    if (!item_features && !user_features) return 0;
    code = check_model(model, error);
    if (code == 0 && item_features)
        code = place(model, item_features, FEATURES_OF_ITEMS, &own, &report->items,
                     &model->placed_items, error);
    if (code == 0 && user_features)
        code = place(model, user_features, FEATURES_OF_USERS, &own, &report->users,
                     &model->placed_users, error);
    const int measured = model->placed_items > 0 || model->placed_users > 0
                             ? measure(model, code == 0 ? error : NULL)
                             : 0;
    return code < 0 ? code : measured;
}

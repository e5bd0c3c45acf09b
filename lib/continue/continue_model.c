/*
 * Lays out a model for new ratings: reads the checkpoint, refuses what cannot be continued, looks
 * up the store's ids, and adds rows for those that are new. Feeds continue_train.c.
 */
#include "continue/continue_model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/model_checksum.h"
#include "model/release.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/model_ids.h"
#include "train/solver_names.h"

/* ---- the checkpoint -------------------------------------------------------------------------- */

static char *copy_text(const char *text, size_t n) {
    char *copy = memory_alloc(n + 1, 1);
    if (copy) memcpy(copy, text, n), copy[n] = '\0';
    return copy;
}

/* The solver, and how often it was continued, as far as the provenance tells. */
static int read_provenance(struct continue_model *model, const struct safetensors *file,
                           struct dpmf_error *error) {
    const char *text = safetensors_metadata(file, "dpmf.provenance");
    const char *checksum = safetensors_metadata(file, MODEL_CHECKSUM_KEY);
    struct json_reader json;
    char solver[32];
    strcpy(solver, model->state.ranks ? SOLVER_NAME_IALS : SOLVER_NAME_SGD);
    json_reader_init(&json, text ? text : "{}", text ? strlen(text) : 2);
    if (json_next(&json).kind == JSON_OBJECT_BEGIN)
        for (struct json_token key; (key = json_next(&json)).kind == JSON_KEY;) {
            const struct json_token token = json_next(&json);
            int64_t n;
            if (json_equals(&key, "solver") && token.kind == JSON_STRING &&
                token.length < sizeof solver)
                solver[json_unescape(&token, solver)] = '\0';
            else if (json_equals(&key, "continued") && token.kind == JSON_NUMBER &&
                     number_parse_int64(token.text, token.length, &n) == NUMBER_OK && n > 0)
                model->continued = (uint64_t)n;
            else
                json_skip(&json, token);
        }
    model->solver = copy_text(solver, strlen(solver));
    model->checksum = copy_text(checksum ? checksum : "", checksum ? strlen(checksum) : 0);
    return model->solver && model->checksum ? 0 : error_no_memory(error);
}

static int refuse_release(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_MODEL_KIND,
              "this is a release, which cannot be trained further: it has no users, and new "
              "ratings without noise would undo its privacy");
    error_hint(error, "continue a model that was trained without privacy; for new items of a "
                      "release see {:release extend}, for new ratings make another release");
    error_place(error, path, 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

static int refuse_samples(const char *path, struct dpmf_error *error) {
    error_set(
        error, DPMF_ERR_USAGE_CONFLICT,
        "this model is drawn from the posterior of its ratings, which has changed as a whole");
    error_hint(error,
               "train again on all ratings, or continue a model of {solver sgd} or {solver ials}");
    error_place(error, path, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int read_checkpoint(struct continue_model *model, const char *path,
                           const struct continue_layout *layout, struct factors *base,
                           struct dpmf_error *error) {
    struct safetensors *file = NULL;
    int code = safetensors_open(path, &file, error);
    if (code < 0) return code;
    if (release_is_kind(file))
        code = refuse_release(path, error);
    else
        code = checkpoint_read_from(file, layout->kernels->stride, layout->spare, base,
                                    &model->state, error);
    if (code == 0 && model->state.samples > 0) code = refuse_samples(path, error);
    if (code == 0) code = read_provenance(model, file, error);
    safetensors_close(file);
    return code;
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* The row of each id of the store: the model's, or the next after them. @return how many are new */
static uint64_t find_rows(const struct factor_ids *known, const struct factor_ids *given,
                          uint32_t *rows) {
    uint64_t n_new = 0;
    for (uint64_t i = 0; i < given->n; i++) {
        const uint64_t at = factor_ids_find(known, given->bytes + given->start[i],
                                            (size_t)(given->start[i + 1] - given->start[i]));
        rows[i] = (uint32_t)(at == UINT64_MAX ? known->n + n_new++ : at);
    }
    return n_new;
}

/* Those of the model and, after them, those that are new. */
static bool join_ids(const struct factor_ids *known, const struct factor_ids *given,
                     const uint32_t *rows, uint64_t n_new, struct factor_ids *all) {
    uint64_t bytes = known->start[known->n];
    for (uint64_t i = 0; i < given->n; i++)
        if (rows[i] >= known->n) bytes += given->start[i + 1] - given->start[i];
    all->n = known->n + n_new;
    all->bytes = memory_alloc((size_t)bytes + 1, 1);
    all->start = memory_alloc_zero((size_t)all->n + 1, sizeof all->start[0]);
    all->counts = memory_alloc_zero((size_t)all->n + 1, sizeof all->counts[0]);
    if (!all->bytes || !all->start || !all->counts) return false;
    memcpy(all->bytes, known->bytes, (size_t)known->start[known->n]);
    memcpy(all->start, known->start, (size_t)(known->n + 1) * sizeof all->start[0]);
    for (uint64_t i = 0; i < given->n; i++) {
        if (rows[i] < known->n) continue;
        const uint64_t from = given->start[i], n = given->start[i + 1] - from;
        memcpy(all->bytes + all->start[rows[i]], given->bytes + from, (size_t)n);
        all->start[rows[i] + 1] = all->start[rows[i]] + n;
    }
    return true;
}

/* Counts from before, for the rows of both; then those of `all`, with the new ratings. */
static float *join_counts(const struct factor_ids *known, const struct factor_ids *given,
                          const uint32_t *rows, float average, struct factor_ids *all) {
    float *before = memory_alloc_zero((size_t)all->n + 1, sizeof *before);
    for (uint64_t i = 0; before && i < known->n; i++)
        before[i] = known->counts ? known->counts[i] : average;
    for (uint64_t i = 0; before && i < all->n; i++) all->counts[i] = before[i];
    for (uint64_t i = 0; before && i < given->n; i++) all->counts[rows[i]] += given->counts[i];
    return before;
}

struct side {
    const struct factor_ids *known;
    struct factor_ids given; /* the store's */
    struct factor_ids *all;
    uint32_t **rows;
    float **counts;
    uint64_t *n_new;
};

static int join_side(struct side *side, uint64_t n_ratings, struct dpmf_error *error) {
    const uint64_t n = side->known->n;
    const float average = (float)((double)n_ratings / (double)(n > 0 ? n : 1));
    *side->rows = memory_alloc((size_t)side->given.n + 1, sizeof(uint32_t));
    if (!*side->rows) return error_no_memory(error);
    *side->n_new = find_rows(side->known, &side->given, *side->rows);
    if (n + *side->n_new >= UINT32_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "%s",
                         dpmf_error_sentence(DPMF_ERR_INPUT_TOO_MANY));
    if (!join_ids(side->known, &side->given, *side->rows, *side->n_new, side->all))
        return error_no_memory(error);
    *side->counts = join_counts(side->known, &side->given, *side->rows, average, side->all);
    return *side->counts ? factor_ids_index(side->all, error) : error_no_memory(error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int copy_rows(struct factor_matrix *to, const struct factor_matrix *from, uint64_t n,
                     uint64_t spare, struct dpmf_error *error) {
    assert(n >= from->n);
    int code = factor_matrix_init(to, n, from->stride, spare, error);
    if (code < 0) return code;
    memcpy(to->rows, from->rows, (size_t)from->n * from->stride * sizeof(float));
    memcpy(to->biases, from->biases, (size_t)from->n * sizeof(float));
    return 0;
}

/* Takes the rows of the file as they lie where none are added. */
static int take_rows(struct factor_matrix *to, struct factor_matrix *from, uint64_t n,
                     uint64_t spare, struct dpmf_error *error) {
    if (n == from->n && spare == from->spare) {
        *to = *from;
        *from = (struct factor_matrix){0};
        return 0;
    }
    int code = copy_rows(to, from, n, spare, error);
    if (code == 0) factor_matrix_free(from);
    return code;
}

static int copy_both(struct factors *to, const struct factors *from, uint64_t spare,
                     struct dpmf_error *error) {
    int code = copy_rows(&to->users, &from->users, from->users.n, spare, error);
    return code < 0 ? code : copy_rows(&to->items, &from->items, from->items.n, spare, error);
}

/* New rows begin at nothing; where ratings are predicted, items' begin as those of a new run do, so
 * that new users of new items have something to tell them apart by. */
static int lay_out(struct continue_model *model, struct factors *base,
                   const struct continue_layout *layout, struct dpmf_error *error) {
    struct factors *before = &model->before, *now = &model->now;
    const uint64_t n_users = now->user_ids.n, n_items = now->item_ids.n;
    before->k = now->k = base->k;
    before->offset = now->offset = base->offset;
    before->min = now->min = base->min;
    before->max = now->max = base->max;
    int code = take_rows(&now->users, &base->users, n_users, layout->spare, error);
    if (code == 0) code = take_rows(&now->items, &base->items, n_items, layout->spare, error);
    if (code < 0) return code;
    const double unit = factors_unit(base->min, base->max);
    for (uint64_t i = n_items - model->new_items; i < n_items && !model->state.ranks; i++)
        first_rows_fill_one(now->items.rows + i * now->items.stride, i, base->k, unit, layout->seed,
                            FIRST_ROWS_ITEMS);
    return layout->keeps_before ? copy_both(before, now, layout->spare, error) : 0;
}

int continue_model_open(struct continue_model *model, const char *path,
                        const struct dpmf_store *store, const struct continue_layout *layout,
                        struct dpmf_error *error) {
    struct factors base = {0};
    struct learned_pairs given = {0};
    *model = (struct continue_model){0};
    struct side users = {.known = &base.user_ids,
                         .all = &model->now.user_ids,
                         .rows = &model->user_rows,
                         .counts = &model->user_counts,
                         .n_new = &model->new_users};
    struct side items = {.known = &base.item_ids,
                         .all = &model->now.item_ids,
                         .rows = &model->item_rows,
                         .counts = &model->item_counts,
                         .n_new = &model->new_items};
    int code = read_checkpoint(model, path, layout, &base, error);
    model->has_user_counts = base.user_ids.counts != NULL;
    if (code == 0) code = model_ids_fill_users(&users.given, store, &given, error);
    if (code == 0) code = model_ids_count_users(&users.given, store, error);
    if (code == 0) code = model_ids_fill_items(&items.given, store, NULL, error);
    if (code == 0) code = join_side(&users, model->state.n_ratings, error);
    if (code == 0) code = join_side(&items, model->state.n_ratings, error);
    if (code == 0) code = lay_out(model, &base, layout, error);
    if (code == 0) model->learned_share = learned_pairs_share(&base.learned, &given);
    if (code == 0) code = learned_pairs_unite(&base.learned, &given, &model->now.learned, error);
    learned_pairs_free(&given);
    factor_ids_free(&users.given);
    factor_ids_free(&items.given);
    factors_free(&base);
    if (code < 0) continue_model_free(model);
    return code;
}

void continue_model_free(struct continue_model *model) {
    factors_free(&model->before);
    factors_free(&model->now);
    free(model->solver);
    free(model->checksum);
    free(model->user_counts);
    free(model->item_counts);
    free(model->user_rows);
    free(model->item_rows);
    *model = (struct continue_model){0};
}

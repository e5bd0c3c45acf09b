/*
 * dpmf_train: finds the solver that is asked for, checks what all of them have in common, also on
 * all ranks, and hands the ratings to it. Fed by programs and bindings; feeds sgd_train.c and the
 * samplers.
 */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "cluster/user_shares.h"
#include "compare/compare_stores.h"
#include "dpmf_text.h"
#include "features/feature_rows.h"
#include "files/output_file.h"
#include "privacy/catalogue.h"
#include "rank/ials_train.h"
#include "sample/gibbs_train.h"
#include "sample/langevin_train.h"
#include "sample/solver.h"
#include "store/store.h"
#include "train/resume.h"
#include "train/sgd_train.h"

/* ---- what all ranks must have been told ------------------------------------------------------ */

static uint64_t digest_text(uint64_t digest, const char *text) {
    return checksum64_seeded(text ? text : "", text ? strlen(text) + 1 : 0, digest);
}

/* Not of what is each rank's own (kernels, reading ahead) or rank 0's (when to make snapshots). */
static uint64_t digest_options(const struct dpmf_train_options *options, bool has_valid) {
    const double numbers[] = {options->learning_rate,
                              options->decay,
                              options->regularization,
                              options->sampler.step,
                              options->ials.unobserved,
                              options->ials.exponent,
                              options->ials.has_like ? options->ials.like : 0,
                              options->ials.count_weight};
    const uint64_t counts[] = {
        options->factors,          options->epochs,          options->seed,
        options->deterministic,    options->hogwild,         options->sampler.burn_in,
        options->sampler.average,  options->sampler.samples, options->sampler.chains,
        options->ials.has_like,    options->ials.row_steps,  options->patience,
        options->snapshot != NULL, options->resume != NULL,  has_valid,
        options->ials.row_block,   options->averages_first,
    };
    uint64_t digest = checksum64_seeded(numbers, sizeof numbers, sizeof counts);
    digest = checksum64_seeded(counts, sizeof counts, digest);
    digest = digest_text(digest, options->solver);
    digest = digest_text(digest, options->sampler.noise);
    return digest_text(digest, options->tiers);
}

/* Ranks with different numbers of factors would take each other's rows for something else; with
 * different numbers of epochs the last would wait for the first for ever. */
static int check_same(const struct dpmf_cluster *cluster, const struct dpmf_train_options *options,
                      bool has_valid, struct dpmf_error *error) {
    return cluster_check_same(cluster, digest_options(options, has_valid), DPMF_ERR_USAGE_CONFLICT,
                              "the processes of the cluster were given different options",
                              "give all of them the same", error);
}

static int take_options(struct dpmf_train_options *own, const struct dpmf_train_options *options,
                        struct dpmf_error *error) {
    *own = dpmf_train_options_default();
    int code = options_take(own, sizeof *own, options, "train_options", error);
    if (code == 0)
        code = options_check_spare(own->sampler.spare, sizeof own->sampler.spare, "sampler_options",
                                   error);
    if (code == 0)
        code = options_check_spare(own->ials.spare, sizeof own->ials.spare, "ials_options", error);
    return code;
}

/* Counts of events are not ratings, and a validation set holds what the training set holds. */
static int check_events(enum solver solver, const struct dpmf_store *store,
                        const struct dpmf_store *valid, struct dpmf_error *error) {
    const bool events = store_holds_events(store);
    int code = 0;
    if (events && solver != SOLVER_IALS) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "%s predicts ratings, and these are events: counts, without ratings",
                         solver_name(solver));
        error_hint(error, "choose {solver ials}, which learns to rank from events");
        error_place(error, store_path(store), 0, 0);
    } else if (valid && store_holds_events(valid) != events) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         events ? "this holds ratings, and the training set events"
                                : "this holds events, and the training set ratings");
        error_hint(error, "turn the ratings into events first, with {:import} and {like any}");
        error_place(error, store_path(valid), 0, 0);
    }
    return code;
}

/* ---- features -------------------------------------------------------------------------------- */

struct features {
    const struct dpmf_train_options *options;
    const struct dpmf_run *run;
    struct catalogue items, users;
    struct train_finish finish;
};

/* What cannot use them says so. */
static int check_features(enum solver solver, const struct dpmf_train_options *options,
                          const struct dpmf_run *run, struct dpmf_error *error) {
    if (!options->item_features && !options->user_features) return 0;
    if (solver != SOLVER_SGD) {
        int code =
            error_set(error, DPMF_ERR_USAGE_CONFLICT,
                      "%s does not learn from features of items or users", solver_name(solver));
        error_hint(error, "leave them out here: users and items without ratings can be placed in "
                          "its model when it is used; or choose {solver sgd}");
        return code;
    }
    return cluster_check_alone(run->cluster, "features of items or users need a single process",
                               NULL, error);
}

/* A table whose ids are written in another way matches a few by chance, and teaches little. */
static void warn_of_few(const struct features *features, const struct factor_ids *ids,
                        const struct catalogue *table, const char *what) {
    enum { WARNING_MAX = 300 };
    char text[WARNING_MAX];
    const uint64_t known = feature_rows_match(ids, table).known;
    if (!features->run->warn || 2 * known >= ids->n) return;
    dpmf_error_write(text, sizeof text,
                     "only %llu of %llu %ss with ratings have features, and %llu rows of the table "
                     "are of others: are the ids written as in the ratings?",
                     (unsigned long long)known, (unsigned long long)ids->n, what,
                     (unsigned long long)(table->ids.n - known));
    features->run->warn(features->run->warn_self, text);
}

static int blend(void *self, struct factors *factors, const struct checkpoint_state *state,
                 struct dpmf_error *error) {
    const struct features *features = self;
    const struct dpmf_train_options *options = features->options;
    int code = 0;
    if (options->item_features)
        code = feature_rows_blend(factors, FEATURES_OF_ITEMS, &features->items,
                                  state->item_bias_hold, options->item_features, error);
    if (code == 0 && options->item_features)
        warn_of_few(features, &factors->item_ids, &features->items, "item");
    if (code == 0 && options->user_features)
        code = feature_rows_blend(factors, FEATURES_OF_USERS, &features->users,
                                  state->user_bias_hold, options->user_features, error);
    if (code == 0 && options->user_features)
        warn_of_few(features, &factors->user_ids, &features->users, "user");
    return code;
}

/* A hash of a table of features, whose numbers count as far as every build computes them alike;
 * never 0. */
static uint64_t digest_of(const struct catalogue *table) {
    const struct factor_ids *ids = &table->ids;
    const size_t n = (size_t)ids->n, cells = n * table->n_features;
    uint64_t hash = n > 0 ? checksum64_seeded(ids->bytes, (size_t)ids->start[n], n) : 0;
    for (size_t i = 0; i < n; i++)
        hash = checksum64_seeded(&ids->start[i], sizeof ids->start[i], hash);
    for (size_t i = 0; i < cells; i++) {
        const long long rounded = llround(table->features[i] * 1e6);
        hash = checksum64_seeded(&rounded, sizeof rounded, hash);
    }
    return hash != 0 ? hash : 1;
}

/* Before training, which takes longer than to find that a table is bad. */
static int read_features(struct features *features, const struct dpmf_run *run,
                         struct dpmf_error *error) {
    const struct dpmf_train_options *options = features->options;
    int code = 0;
    if (options->item_features)
        code = features_read(options->item_features, false, run, &features->items, error);
    if (code == 0 && options->user_features)
        code = features_read(options->user_features, true, run, &features->users, error);
    features->finish = (struct train_finish){
        .needs_users = options->user_features != NULL, .run = blend, .self = features};
    if (code < 0) return code;
    if (options->item_features) features->finish.digests.items = digest_of(&features->items);
    if (options->user_features) features->finish.digests.users = digest_of(&features->users);
    return 0;
}

static const struct train_finish *finish_of(const struct features *features) {
    return features->options->item_features || features->options->user_features ? &features->finish
                                                                                : NULL;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Before anything is read: hours later, each of them would fail. */
static int check_outputs(const char *output, const struct dpmf_train_options *options,
                         const struct dpmf_run *run, struct dpmf_error *error) {
    int code = output_file_check(output, DPMF_FILE_CHECKPOINT, run->replace, error);
    if (code == 0)
        code = resume_check_unfinished(options->snapshot, options->resume, output, run->replace,
                                       error);
    if (code == 0 && options->sampler.trace)
        code = output_file_check(options->sampler.trace, DPMF_FILE_PLOT, run->replace, error);
    return code;
}

int dpmf_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
               const struct dpmf_train_options *options, const struct dpmf_run *run,
               int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
               struct dpmf_train_report *report, struct dpmf_error *error) {
    struct dpmf_train_report unwanted;
    enum solver solver;
    struct dpmf_train_options own;
    struct dpmf_run own_run;
    int code = arguments_check(error, "store output", store, output);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code == 0) code = take_options(&own, options, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    if (!report) report = &unwanted;
    memset(report, 0, sizeof *report);
    code = solver_find(options->solver, &solver, error);
    if (code == 0) code = solver_check_options(solver, options, error);
    if (code == 0 && store_n_ratings(store) == 0)
        code = error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no ratings to train on");
    if (code == 0) code = check_events(solver, store, valid, error);
    if (code == 0) code = ials_check_like(store, options, error);
    if (code == 0) code = check_features(solver, options, run, error);
    if (code == 0 && cluster_rank(run->cluster) == 0)
        code = check_outputs(output, options, run, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0) code = check_same(run->cluster, options, valid != NULL, error);
    if (code == 0 && valid) code = user_shares_check_same(valid, run->cluster, error);
    if (code == 0 && valid)
        code = compare_held_out(store, valid,
                                solver != SOLVER_IALS    ? COMPARE_PREDICTED
                                : options->ials.has_like ? COMPARE_LIKED
                                                         : COMPARE_RANKED,
                                run, error);
    if (code < 0) return code;
    if (solver == SOLVER_IALS)
        return ials_train(store, valid, output, options, run, on_epoch, self, report, error);
    struct features features = {.options = options, .run = run};
    struct train_run train = {
        .finish = finish_of(&features),
        .whole = store,
        .valid_store = valid,
        .options = options,
        .run = run,
        .on_epoch = on_epoch,
        .on_epoch_self = self,
        .report = report,
    };
    code = read_features(&features, run, error);
    if (code == 0 && (code = train_run_init(&train, error)) == 0) {
        code = solver == SOLVER_SGD     ? sgd_train(&train, output, error)
               : solver == SOLVER_GIBBS ? gibbs_train(&train, output, error)
                                        : langevin_train(&train, solver, output, error);
        train_run_free(&train);
    }
    catalogue_free(&features.items);
    catalogue_free(&features.users);
    return code;
}

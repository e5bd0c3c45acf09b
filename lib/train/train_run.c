/*
 * What every solver's run does alike: its beginning, its validation set, how it reports and is
 * stopped, its end. Fed by solve.c; used by sgd_train.c, train_prepare.c and the samplers.
 */
#define _GNU_SOURCE
#include "train/train_run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "dpmf_text.h"
#include "store/store.h"
#include "train/train_place.h"

int train_run_init(struct train_run *train, struct dpmf_error *error) {
    train->cluster = cluster_of_several(train->run->cluster);
    train->place = train->cluster ? &train_place_ranks : &train_place_alone;
    train->store = train->whole;
    train->users.file = -1;
    return pthread_mutex_init(&train->progress_lock, NULL) == 0 ? 0 : error_no_memory(error);
}

void train_run_free(struct train_run *train) {
    train->place->close(train);
    checkpoint_file_close(&train->resumed);
    valid_set_free(train->valid);
    sgd_epoch_free(train->epoch);
    superblock_stream_free(train->stream);
    thread_pool_free(train->pool);
    tiling_free(train->tiling);
    best_epoch_free(&train->best);
    row_store_close(&train->users);
    factors_free(&train->factors);
    rank_share_close(&train->share);
    free(train->provenance);
    pthread_mutex_destroy(&train->progress_lock);
}

static int check_options(struct train_run *train, struct dpmf_error *error) {
    const struct dpmf_train_options *options = train->options;
    if (options->factors < 1 || options->factors > KERNEL_K_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the number of factors must be 1 to %d",
                         KERNEL_K_MAX);
    if (options->epochs < 1)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there must be at least one epoch");
    train->kernels = kernel_set_choose(options->kernels);
    if (train->kernels) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     options->kernels ? options->kernels : "$DPMF_KERNELS");
}

/* Rows are floats: on scales beyond these their products overflow, or vanish. Private runs have the
 * same limits, on what is declared. Where all ratings are equal there is nothing to learn, on any
 * scale. */
static int check_scale(const struct train_run *train, struct dpmf_error *error) {
    const double widest = 1e18, narrowest = 1e-18;
    struct dpmf_store_info info;
    dpmf_store_info(train->whole, &info);
    const double half = info.max / 2 - info.min / 2;
    if (half == 0 || (half <= widest / 2 && half >= narrowest / 2)) return 0;
    error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
              "the ratings, from %g to %g, are on too %s a scale for a model of floats", info.min,
              info.max, half > 1 ? "wide" : "narrow");
    error_hint(error, "map them to another: {rescale A:B=1:5}, where A and B are its ends");
    error_place(error, store_path(train->whole), 0, 0);
    return DPMF_ERR_INPUT_OUT_OF_RANGE;
}

int train_run_open(struct train_run *train, int code, struct dpmf_error *error) {
    if (code == 0) code = check_options(train, error);
    if (code == 0) code = check_scale(train, error);
    code = train->place->check(train, code, error);
    if (code == 0) code = rank_share_open(&train->share, train->whole, train->cluster, error);
    train->share.may_replace = train->run->replace;
    if (code < 0) return code;
    train->store = rank_share_store(&train->share);
    train->threads = threads_wanted(train->run);
    return 0;
}

static void drop_index(struct factor_ids *ids) {
    free(ids->slots);
    ids->slots = NULL;
    ids->n_slots = 0;
}

int train_run_make_valid_set(struct train_run *train, struct dpmf_error *error) {
    if (!train->valid_store) return 0;
    struct factor_ids *users = &train->factors.user_ids, *items = &train->factors.item_ids;
    int code = factor_ids_index(users, error);
    if (code == 0) code = factor_ids_index(items, error);
    code = cluster_agree(train->cluster, code, error);
    if (code == 0)
        code = valid_set_init(&train->valid, train->valid_store, &train->factors, train->cluster,
                              error);
    drop_index(users);
    drop_index(items);
    return code;
}

bool train_run_should_stop(void *self) {
    struct train_run *train = self;
    if (!train->run->progress) return false;
    if (atomic_load_explicit(&train->stopped, memory_order_relaxed)) return true;
    if (pthread_mutex_trylock(&train->progress_lock) != 0) return false;
    if (train->run->progress(train->run->progress_self, &train->progress))
        atomic_store(&train->stopped, true);
    pthread_mutex_unlock(&train->progress_lock);
    return atomic_load(&train->stopped);
}

int train_run_end_epoch(struct train_run *train, const struct dpmf_epoch *epoch, bool *wanted,
                        struct dpmf_error *error) {
    train->report->train_rmse = epoch->train_rmse;
    train->report->valid_rmse = epoch->valid_rmse;
    *wanted = !train->on_epoch || cluster_rank(train->cluster) > 0 ||
              train->on_epoch(train->on_epoch_self, epoch) == 0;
    return cluster_broadcast(train->cluster, wanted, sizeof *wanted, 0, error);
}

int train_run_take_provenance(struct train_run *train, struct dpmf_json *json,
                              struct dpmf_error *error) {
    assert(!train->provenance);
    dpmf_json_uint(json, "ratings", store_n_ratings(train->whole));
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    train->provenance = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return train->provenance ? 0 : error_no_memory(error);
}

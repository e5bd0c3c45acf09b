/*
 * The solver "gibbs": chains of block Gibbs, each from the prior, a round of which draws all users,
 * all items and the precisions again. All ratings are in memory, by user and by item. Fed by
 * chain_run.c, a round at a time; works through gibbs.c.
 */
#include "sample/gibbs_train.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "sample/chain_run.h"
#include "sample/gibbs.h"
#include "sample/gibbs_ranks.h"
#include "store/store.h"
#include "train/model_ids.h"

enum { PROGRAM_BYTES = 6 << 20 }; /* the program itself, and what the allocator keeps for later */

struct gibbs_run {
    double begun; /* when the run began to prepare */
    struct rating_rows ratings;
    struct precisions precisions;
    struct gibbs *gibbs;
    double *row_squares;                 /* by item: of its errors */
    double *user_squares, *item_squares; /* k + 1 each */
};

/* ---- before the rounds ----------------------------------------------------------------------- */

static int check_options(const struct chain_run *run, struct dpmf_error *error) {
    if (!run->train->options->tiers) return 0;
    int code =
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "gibbs has no tiers: it works on whole rows");
    error_hint(error, "leave {tiers} out");
    return code;
}

static int open_run(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    struct factors *factors = &train->factors;
    gibbs->begun = clock_now();
    int code = train_run_open(train, check_options(run, error), error);
    if (code < 0) return code;
    train->state = (struct checkpoint_state){
        .seed = train->options->seed,
        .n_ratings = store_n_ratings(train->whole),
        .best_valid = NAN,
    };
    train->worst_rmse = INFINITY; /* a conditional that is drawn from exactly goes nowhere */
    code = model_ids_fill_users(&factors->user_ids, train->store,
                                rank_share_learned(&train->share, factors), error);
    if (code == 0) code = model_ids_fill_items(&factors->item_ids, train->store, NULL, error);
    return cluster_agree(train->cluster, code, error);
}

static uint64_t id_bytes(const struct factor_ids *ids) {
    return ids->start[ids->n] + (ids->n + 1) * sizeof ids->start[0];
}

/* What an open store keeps: its items and its index. */
static uint64_t store_bytes(const struct dpmf_store *store) {
    return 20 * store_n_items(store) + 48 * store_n_blocks(store);
}

/* What it takes without samples for a mean: to read the ratings, and then to run. */
static uint64_t needed_bytes(const struct train_run *train) {
    const uint32_t k = train->options->factors;
    const uint64_t users = store_n_users(train->store), items = store_n_items(train->store);
    const uint64_t valid = train->valid_store ? store_n_ratings(train->valid_store) : 0;
    const uint64_t row = (train->kernels->stride(k) + 1) * sizeof(float);
    const uint64_t always = PROGRAM_BYTES + store_bytes(train->store) +
                            2 * id_bytes(&train->factors.user_ids) +
                            3 * id_bytes(&train->factors.item_ids);
    const uint64_t reading = rating_rows_bytes(train->store, true);
    const uint64_t running =
        rating_rows_bytes(train->store, false) + (users + items) * row + items * sizeof(double) +
        gibbs_bytes(train->kernels, k, train->threads) + gibbs_ranks_bytes(train->cluster, k) +
        valid_set_bytes(valid, true) + valid * sizeof(double);
    return always + (reading > running ? reading : running);
}

static int too_little(const struct train_run *train, uint64_t memory, uint64_t enough,
                      struct dpmf_error *error) {
    const uint64_t mebibyte = (uint64_t)1 << 20;
    int code =
        error_set(error, DPMF_ERR_USAGE_MEMORY,
                  "%llu MiB is too little for gibbs, which keeps all ratings in memory%s",
                  (unsigned long long)(memory / mebibyte),
                  train->options->sampler.average ? ", and the samples that it averages over" : "");
    error_hint(error, "give it {memory %lluMiB} or more, or choose {solver sgd} or {solver sgld}",
               (unsigned long long)((enough + mebibyte - 1) / mebibyte));
    return code;
}

/* Whether memory is enough, and for how many samples. */
static int plan(struct chain_run *run, struct dpmf_error *error) {
    const struct train_run *train = run->train;
    const uint64_t memory = train->run->memory ? train->run->memory : host_default_budget();
    const uint64_t needed = needed_bytes(train);
    uint64_t left = memory > needed ? memory - needed : 0;
    if (chain_run_plan(run, &left) < 0) return too_little(train, memory, needed + left, error);
    return needed > memory ? too_little(train, memory, needed, error) : 0;
}

static int make_model(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    struct factors *factors = &train->factors;
    const size_t k = train->options->factors, stride = train->kernels->stride(k);
    struct dpmf_store_info info;
    dpmf_store_info(train->store, &info);
    factors->k = (uint32_t)k;
    factors->min = info.min;
    factors->max = info.max;
    factors->offset = gibbs->ratings.mean;
    int code = factor_matrix_init(&factors->users, info.users, stride, 0, error);
    if (code == 0) code = factor_matrix_init(&factors->items, info.items, stride, 0, error);
    if (code == 0)
        code = precisions_init(&gibbs->precisions, k, factors_unit(info.min, info.max), error);
    if (code < 0) return code;
    train->users = row_store_of(factors->users.rows, info.users, stride);
    run->precisions = &gibbs->precisions;
    gibbs->row_squares = memory_alloc((size_t)info.items, sizeof(double));
    run->user_squares = gibbs->user_squares = memory_alloc(k + 1, sizeof(double));
    run->item_squares = gibbs->item_squares = memory_alloc(k + 1, sizeof(double));
    return gibbs->row_squares && gibbs->user_squares && gibbs->item_squares
               ? 0
               : error_no_memory(error);
}

static int make(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    int code = rating_rows_read(&gibbs->ratings, train->store, train->cluster,
                                store_n_ratings(train->whole), train->run, error);
    if (code == 0) code = cluster_agree(train->cluster, make_model(run, error), error);
    if (code == 0) code = rank_share_describe(&train->share, &train->factors, NULL, error);
    if (code == 0) code = train_run_make_valid_set(train, error);
    if (code == 0) code = thread_pool_init(&train->pool, train->threads, error);
    if (code == 0)
        code =
            gibbs_init(&gibbs->gibbs, train->kernels, train->options->factors, train->pool, error);
    train->report->tiling_seconds = clock_now() - gibbs->begun;
    return cluster_agree(train->cluster, code, error);
}

static void close_run(struct chain_run *run) {
    struct gibbs_run *gibbs = run->self;
    gibbs_free(gibbs->gibbs);
    precisions_free(&gibbs->precisions);
    rating_rows_free(&gibbs->ratings);
    free(gibbs->row_squares);
    free(gibbs->user_squares);
    free(gibbs->item_squares);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int begin(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    const struct chain_key prior = {.seed = run->key.seed, .chain = run->key.chain};
    (void)error;
    if (run->key.round > 1) return 0;
    precisions_begin(&gibbs->precisions);
    precisions_draw_share(&gibbs->precisions, PRECISIONS_USERS, &train->factors.users,
                          rank_share_first_user(&train->share), &prior);
    precisions_draw_rows(&gibbs->precisions, PRECISIONS_ITEMS, &train->factors.items, &prior);
    return 0;
}

static int draw_users(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    const struct gibbs_side side = {
        .ratings = &gibbs->ratings.users,
        .own = &train->factors.users,
        .other = &train->factors.items,
        .precision = gibbs->precisions.users,
        .bias_precision = gibbs->precisions.user_bias,
        .noise = gibbs->precisions.noise,
        .purpose = CHAIN_GIBBS_USERS,
        .first_row = rank_share_first_user(&train->share),
    };
    int code = gibbs_sweep(gibbs->gibbs, &side, &run->key, train_run_should_stop, train, error);
    return cluster_agree(train->cluster, code, error);
}

static int draw_items(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    struct train_run *train = run->train;
    const struct gibbs_side side = {
        .ratings = &gibbs->ratings.items,
        .own = &train->factors.items,
        .other = &train->factors.users,
        .precision = gibbs->precisions.items,
        .bias_precision = gibbs->precisions.item_bias,
        .noise = gibbs->precisions.noise,
        .purpose = CHAIN_GIBBS_ITEMS,
        .squares = gibbs->row_squares,
    };
    return gibbs_ranks_draw_items(gibbs->gibbs, &side, &run->key, train->cluster,
                                  train_run_should_stop, train, error);
}

/* Row by row, in one order. */
static int take_sums(struct chain_run *run, struct dpmf_error *error) {
    struct gibbs_run *gibbs = run->self;
    const struct factors *factors = &run->train->factors;
    const struct dpmf_cluster *cluster = run->train->cluster;
    double sum = 0;
    for (uint64_t j = 0; j < factors->items.n; j++) sum += gibbs->row_squares[j];
    precisions_squares(&factors->users, factors->k, gibbs->user_squares);
    precisions_squares(&factors->items, factors->k, gibbs->item_squares);
    int code = cluster_sum_doubles(cluster, &sum, 1, error);
    run->squared_error = sum;
    return code < 0 ? code
                    : cluster_sum_doubles(cluster, gibbs->user_squares, factors->k + 1, error);
}

static int draw(struct chain_run *run, struct dpmf_error *error) {
    int code = draw_users(run, error);
    if (code == 0) code = draw_items(run, error);
    return code < 0 ? code : take_sums(run, error);
}

static void hint(const struct chain_run *run, struct dpmf_error *error) {
    (void)run;
    error_hint(error, "are there ratings of another scale among these? {:describe} shows them");
}

static int report_ranks(struct chain_run *run, struct dpmf_error *error) {
    return rank_share_report(run->train->cluster, run->bytes_before, run->train->report, error);
}

int gibbs_train(struct train_run *train, const char *output, struct dpmf_error *error) {
    static const struct chain_sampler sampler = {
        .open = open_run,
        .plan = plan,
        .make = make,
        .begin = begin,
        .draw = draw,
        .hint = hint,
        .report = report_ranks,
        .close = close_run,
    };
    struct gibbs_run gibbs = {0};
    struct chain_run run = {
        .train = train,
        .solver = SOLVER_GIBBS,
        .sampler = &sampler,
        .self = &gibbs,
    };
    return chain_run(&run, output, error);
}

/*
 * dpmf_release_make: from a store to a release one can sign. Checks that the promise can be kept,
 * reserves the budget, runs the mechanism, checks the statement's arithmetic, publishes, and
 * commits.
 *
 * Under a cluster all ranks do this together, each with its own users: they check that they were
 * told the same, every step ends in an agreement on how it went, and only rank 0 writes: the
 * ledger, then the release.
 *
 * What reaches the file: the public model, the catalogue, the declared range and the statement.
 * What reaches no file: anything of the ratings' own, their numbers and sizes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "cluster/user_shares.h"
#include "files/output_file.h"
#include "ledger/ledger.h"
#include "ledger/ledger_lock.h"
#include "mechanisms/mechanism.h"
#include "model/release.h"
#include "privacy/distinct_users.h"
#include "random/random.h"
#include "release/release_input.h"
#include "release/release_make.h"
#include "release/release_options.h"
#include "statement/accountant.h"
#include "statement/claim.h"
#include "statement/statement_provenance.h"
#include "store/store.h"

enum publication { NOT_PUBLISHED, MAYBE_PUBLISHED, PUBLISHED };

struct private_run {
    struct dpmf_store *store;
    struct dpmf_store *share; /* this rank's users; NULL until they are known */
    const struct dpmf_cluster *cluster;
    const struct dpmf_release_options *options;
    const struct dpmf_run *run;
    struct dpmf_release_report *report;
    const struct release_watch *watch; /* an audit's; else NULL */
    const struct mechanism *mechanism;
    double mu;                       /* allowed */
    struct posterior_rule posterior; /* rule of a conditional mechanism */
    struct secure_random coins;      /* coins by which it trims */
    uint64_t memory;
    int threads;
    struct thread_pool *pool;
    struct catalogue catalogue;
    struct user_wishes wishes;
    struct about about;
    struct cohort cohort;
    struct private_ratings *ratings;
    struct secure_random random;
    struct statement statement;
    struct public_model model;
    char *ledger; /* its path */
    bool is_reserved;
    enum publication publication; /* maybe, from when writing begins until it has ended well */
    char id[LEDGER_ID_TEXT];
};

/* ---- the run --------------------------------------------------------------------------------- */

static int read_public(struct private_run *self, struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    const struct id_form form = store_id_form(self->store);
    int code = release_input_check_public(self->store, options, error);
    if (code == 0)
        code = catalogue_take(options->catalogue, self->store, self->run, &self->catalogue, error);
    if (code == 0 && options->item_features)
        code = catalogue_read_features(&self->catalogue, options->item_features, self->run, error);
    if (code == 0 && options->user_privacy)
        code = user_wishes_read(options->user_privacy, &form, self->run, &self->wishes, error);
    if (code == 0 && options->about) code = about_read(options->about, &self->about, error);
    return code;
}

/* ---- what all ranks must have been told ------------------------------------------------------ */

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n) {
    return n > 0 ? checksum64_seeded(bytes, n, digest) : digest;
}

static uint64_t digest_ids(uint64_t digest, const struct factor_ids *ids) {
    if (ids->n == 0) return digest;
    digest = digest_add(digest, ids->start, (size_t)(ids->n + 1) * sizeof *ids->start);
    return digest_add(digest, ids->bytes, (size_t)ids->start[ids->n]);
}

/* The promise, the items, their features, the wishes and the declaration. */
static uint64_t digest_public(const struct private_run *self) {
    const struct dpmf_release_options *options = self->options;
    const struct catalogue *catalogue = &self->catalogue;
    const double numbers[] = {options->epsilon, options->delta, options->range_min,
                              options->range_max, (double)catalogue->n_features};
    const int64_t dates[] = {self->cohort.has_since, self->cohort.since, self->cohort.has_before,
                             self->cohort.before, self->cohort.is_complete};
    const uint64_t counts[] = {options->declared_users,    options->research,
                               options->has_insecure_seed, options->insecure_seed,
                               catalogue->from_ratings,    options->user_privacy != NULL};
    uint64_t digest = digest_add(0, numbers, sizeof numbers);
    digest = digest_add(digest, counts, sizeof counts);
    digest = digest_add(digest, dates, sizeof dates);
    digest = digest_add(digest, self->mechanism->name, strlen(self->mechanism->name));
    digest = digest_ids(digest, &catalogue->ids);
    digest = digest_add(digest, catalogue->features,
                        (size_t)catalogue->ids.n * catalogue->n_features * sizeof(double));
    digest = digest_add(digest, &self->about, sizeof self->about);
    digest = digest_ids(digest, &self->wishes.ids);
    return digest_add(digest, self->wishes.epsilon,
                      (size_t)self->wishes.ids.n * sizeof *self->wishes.epsilon);
}

/* A rank with another file of wishes would break a promise; one with another catalogue would add
 * apples to pears. */
static int check_same(struct private_run *self, struct dpmf_error *error) {
    int code = cluster_check_same(
        self->cluster, digest_public(self), DPMF_ERR_PRIVACY_REFUSED,
        "the processes of the cluster were given different options or files",
        "give all of them the same, the catalogue, features and wishes included", error);
    /* What mechanisms make of memory is public, and so must be the same; rank 0's is what
     * counts. */
    return code < 0
               ? code
               : cluster_broadcast(self->cluster, &self->memory, sizeof self->memory, 0, error);
}

static int refuse_conditional(const struct private_run *self, struct dpmf_error *error) {
    if (!self->mechanism->is_conditional) return 0;
    return cluster_check_alone(self->cluster,
                               "the mechanism posterior samples in one process, not in a cluster",
                               "run it without mpirun, or choose another mechanism", error);
}

static int make_coins(struct private_run *self, struct dpmf_error *error) {
    if (self->watch && self->watch->coins) {
        self->coins = *self->watch->coins;
        return 0;
    }
    if (!self->options->has_insecure_seed) return secure_random_init(&self->coins, error);
    secure_random_init_insecure(&self->coins, ~self->options->insecure_seed);
    return 0;
}

/* Totals over all ranks: for the curator's eyes, and for the bound on sums. */
static int add_counts(const struct dpmf_cluster *cluster, struct private_ratings_report *counts,
                      struct dpmf_error *error) {
    uint64_t *const added[] = {
        &counts->users,
        &counts->ratings,
        &counts->not_in_catalogue,
        &counts->out_of_range,
        &counts->users_left_out,
        &counts->users_of_other_periods,
        &counts->users_without_time,
        &counts->firsts,
        &counts->doubtful_firsts,
        &counts->users_with_a_wish,
        &counts->trimmed,
        &counts->users_as_items,
        &counts->users_as_numbered_items,
        &counts->users_as_categories,
        &counts->users_as_numbers,
    };
    enum { N = sizeof added / sizeof added[0], ALL = N + 1 + RANGE_PARTS };
    uint64_t sums[ALL];
    for (size_t i = 0; i < N; i++) sums[i] = *added[i];
    sums[N] = counts->on_disk;
    memcpy(sums + N + 1, counts->in_part, sizeof counts->in_part);
    int code = cluster_all_sum(cluster, sums, ALL, error);
    for (size_t i = 0; i < N; i++) *added[i] = sums[i];
    counts->on_disk = sums[N] > 0;
    memcpy(counts->in_part, sums + N + 1, sizeof counts->in_part);
    return code;
}

/* A wish that matches nobody decides nothing, least of all whether there is a release: that would
 * show who is in the ratings. It is counted, over all ranks, for the curator to see before anything
 * is spent. */
static int count_wishes(struct private_run *self, uint64_t *users_of_id, struct dpmf_error *error) {
    const struct user_wishes *wishes = &self->wishes;
    struct dpmf_release_report *report = self->report;
    int code = cluster_all_sum(self->cluster, users_of_id, (size_t)wishes->ids.n, error);
    if (code < 0) return code;
    report->wishes = wishes->n;
    report->wishes_twice = wishes->n_twice;
    report->wishes_of_nobody = user_wishes_unmatched(wishes, users_of_id);
    report->wishes_above = user_wishes_above(wishes, self->options->epsilon);
    return 0;
}

/* A year or a price is some user's number, too; most users' numbers are suspicious. */
static bool are_numbers_people(const struct private_ratings_report *counts) {
    enum { TOO_FEW = 20 };
    const uint64_t found = counts->users_as_numbers;
    return found >= TOO_FEW && found >= (counts->users + counts->users_left_out + 1) / 2;
}

/* Whether all ratings but stray ones lie within a tenth of the range: it was declared for another
 * scale then, and what is learned of them is lost in noise made for the whole of it. */
static bool is_range_wide(const struct private_ratings_report *counts) {
    enum { FEW = 100 /* chance would leave some of so many elsewhere */ };
    uint64_t all = 0, most = 0;
    for (int part = 0; part < RANGE_PARTS; part++) {
        const uint64_t next = part + 1 < RANGE_PARTS ? counts->in_part[part + 1] : 0;
        if (counts->in_part[part] + next > most) most = counts->in_part[part] + next;
        all += counts->in_part[part];
    }
    return all >= FEW && all - most <= all / 100;
}

static int pack_ratings(struct private_run *self, uint64_t *users_of_id, struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    const bool is_conditional = self->mechanism->is_conditional, ranks = self->mechanism->ranks;
    struct dpmf_release_report *report = self->report;
    struct private_ratings_report counts;
    /* A rank may have no users at all, and so may the world of an audit. */
    const size_t longest = self->watch && self->watch->longest > 1 ? self->watch->longest : 1;
    const struct private_ratings_options packing = {
        .range_min = ranks ? -INFINITY : options->range_min,
        .range_max = ranks ? INFINITY : options->range_max,
        .are_events = ranks,
        .catalogue = &self->catalogue,
        .wishes = options->user_privacy ? &self->wishes : NULL,
        .cohort = &self->cohort,
        .epsilon = options->epsilon,
        .delta = is_conditional ? 0 : options->delta,
        .max_ratings = is_conditional ? options->posterior.max_ratings : 0,
        .coins = &self->coins,
        .toss = ranks,
        .longest = longest,
        .memory = self->memory / 2,
        .threads = self->threads,
        .users_of_id = users_of_id,
    };
    int code = is_conditional || ranks ? make_coins(self, error) : 0;
    /* Each of several processes packs a share, which may have an id once that comes twice. */
    if (code == 0 && self->share != self->store) code = distinct_users_check(self->store, error);
    if (code == 0)
        code =
            private_ratings_build(self->share, &packing, self->run, &self->ratings, &counts, error);
    secure_random_wipe(&self->coins);
    code = cluster_agree(self->cluster, code, error);
    if (code == 0) code = add_counts(self->cluster, &counts, error);
    if (code == 0) code = count_wishes(self, users_of_id, error);
    if (code < 0) return code;
    report->users = counts.users;
    report->ratings = counts.ratings;
    report->not_in_catalogue = counts.not_in_catalogue;
    report->out_of_range = counts.out_of_range;
    report->range_is_wide = is_range_wide(&counts);
    report->users_left_out = counts.users_left_out;
    report->users_of_other_periods = counts.users_of_other_periods;
    report->users_without_time = counts.users_without_time;
    report->times_are_doubtful =
        counts.doubtful_firsts > 0 && counts.doubtful_firsts >= (counts.firsts + 9) / 10;
    report->users_with_a_wish = counts.users_with_a_wish;
    report->trimmed = counts.trimmed;
    report->ratings_on_disk = counts.on_disk;
    report->users_as_items = counts.users_as_items;
    /* Numbers name users and items alike: too many of them are suspicious, not each. */
    if (counts.users_as_numbered_items > counts.items_rated)
        report->users_as_items += counts.users_as_numbered_items;
    report->users_as_categories = counts.users_as_categories;
    if (are_numbers_people(&counts)) report->users_as_categories += counts.users_as_numbers;
    report->catalogue_is_rated_set =
        !self->catalogue.from_ratings && catalogue_is_rated(&self->catalogue, self->store);
    return 0;
}

/* All ranks have room for the counts, or none continues. */
static int count_and_pack(struct private_run *self, struct dpmf_error *error) {
    size_t n = (size_t)self->wishes.ids.n;
    uint64_t *users_of_id = memory_alloc_zero(n, sizeof *users_of_id);
    int code = cluster_agree(self->cluster, users_of_id ? 0 : error_no_memory(error), error);
    if (code == 0) code = pack_ratings(self, users_of_id, error);
    free(users_of_id);
    return code;
}

_Static_assert((int)STATEMENT_LIKED_SEVERAL == (int)STORE_LIKED_SEVERAL &&
                   (int)STATEMENT_LIKED_FROM == (int)STORE_LIKED_FROM,
               "a store and a statement mean the same");

static int begin_statement(struct private_run *self, struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    const struct store_layout *layout = store_layout_of(self->store);
    self->statement = (struct statement){
        .mechanism = self->mechanism->name,
        .epsilon = options->epsilon,
        .delta = self->mechanism->is_conditional ? 0 : options->delta,
        .range_min = options->range_min,
        .range_max = options->range_max,
        .posterior = {.max_ratings = self->posterior.max_ratings,
                      .factors = self->posterior.factors,
                      .rounds = self->posterior.rounds,
                      .kappa = self->posterior.kappa,
                      .rho = self->posterior.rho},
        .items = self->catalogue.ids.n,
        .declared_users = options->declared_users,
        .has_features = options->item_features != NULL,
        .is_personalised = options->user_privacy != NULL,
        .catalogue_from_ratings = self->catalogue.from_ratings,
        .is_queried = layout->is_queried,
        .liked = (enum statement_liked)layout->liked,
        .like = layout->like,
        .is_research = options->research,
        .is_insecure = options->has_insecure_seed,
        .about = self->about,
        .cohort = self->cohort,
    };
    if (!self->mechanism->is_conditional && !self->mechanism->ranks)
        self->statement.rule_version = RESIDUAL_RULE_VERSION;
    statement_build_fill(&self->statement.build);
    self->report->claim = claim_of(&self->statement);
    self->report->assumptions = claim_assumptions(&self->statement);
    int code = random_from_system(self->statement.id, sizeof self->statement.id, error);
    if (code < 0) return code;
    ledger_id_write(self->statement.id, self->id);
    if (options->has_insecure_seed)
        secure_random_init_insecure(&self->random, options->insecure_seed);
    else
        code = secure_random_init(&self->random, error);
    if (self->watch) self->random.draws = self->watch->draws;
    return code;
}

static int run_mechanism(struct private_run *self, struct dpmf_error *error) {
    struct noisy_sum_context sums = {
        .ratings = self->ratings,
        .random = &self->random,
        .pool = self->pool,
        .run = self->run,
        .memory = self->memory / 4,
        .statement = &self->statement,
        .cluster = self->cluster,
        .users = self->report->users,
        .model = &self->model,
        .watch = self->watch ? &self->watch->sums : NULL,
    };
    const struct mechanism_input input = {.sums = &sums,
                                          .catalogue = &self->catalogue,
                                          .mu = self->mu,
                                          .posterior = &self->posterior,
                                          .trace = self->options->posterior.trace,
                                          .report = self->report};
    if (pthread_mutex_init(&sums.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = public_model_init(&self->model, (size_t)self->catalogue.ids.n, error);
    code = cluster_agree(self->cluster, code, error);
    if (code == 0) code = self->mechanism->run(&input, &self->model, error);
    pthread_mutex_destroy(&sums.progress_lock);
    if (code < 0) return code;
    /* The statement must hold before anything is published. */
    code = statement_check(&self->statement, error);
    if (code < 0)
        error_set(error, code = DPMF_ERR_BASE_BUG,
                  "the noisy rounds do not add up to what was promised");
    return code;
}

/* ---- the release ----------------------------------------------------------------------------- */

/* From the standard scale to that of the ratings, whose unit is a quarter of their range:
 * r = middle + unit (b0 + c + a + u.v). */
static int fill_release(const struct private_run *self, struct release *release,
                        struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    const struct public_model *model = &self->model;
    struct factors *factors = &release->factors;
    const bool ranks = self->mechanism->ranks;
    double unit = ranks ? 1 : (options->range_max - options->range_min) / 4;
    factors->k = (uint32_t)model->K;
    factors->min = options->range_min;
    factors->max = options->range_max;
    factors->offset = ranks ? 0 : (options->range_min + options->range_max) / 2 + unit * model->b0;
    release->factor_penalty = ranks ? 1 : model->s2 * unit * unit;
    release->bias_penalty = ranks ? 1 : model->s2 / model->var_a;
    release->ranks = ranks;
    release->taste_weight = model->taste_weight;
    int code =
        factor_matrix_init(&factors->items, model->n_items, model->K > 0 ? model->K : 1, 0, error);
    if (code < 0) return code;
    for (size_t j = 0; j < model->n_items; j++) {
        factors->items.biases[j] = ranks ? 0 : (float)(unit * model->c[j]);
        for (size_t a = 0; a < model->K; a++)
            factors->items.rows[j * factors->items.stride + a] =
                (float)(unit * model->rows[j * model->stride + a]);
    }
    release->statement = statement_to_json(&self->statement);
    return release->statement ? 0 : error_no_memory(error);
}

/* The counts that the first noisy sum gave, relative to their average, which is all that lists need
 * of them: post-processing. A mechanism that asked for none has none to give. */
static int copy_counts(const struct public_model *model, float **counts, struct dpmf_error *error) {
    double sum = 0;
    for (size_t j = 0; j < model->n_items; j++) sum += model->counts[j];
    if (!(sum > 0)) return 0;
    *counts = memory_alloc(model->n_items, sizeof **counts);
    if (!*counts) return error_no_memory(error);
    for (size_t j = 0; j < model->n_items; j++)
        (*counts)[j] = (float)(model->counts[j] / sum * (double)model->n_items);
    return 0;
}

static int write_release(struct private_run *self, const char *output, struct dpmf_error *error) {
    struct release release = {0};
    float *counts = NULL;
    int code = fill_release(self, &release, error);
    if (code == 0) code = copy_counts(&self->model, &counts, error);
    if (code == 0) {
        release.factors.item_ids = self->catalogue.ids;
        release.factors.item_ids.counts = counts;
        const bool is_private = self->report->claim != DPMF_CLAIM_NOT_PRIVATE;
        code = release_write(output, &release, is_private ? OUTPUT_PUBLIC : OUTPUT_PRIVATE, error);
        release.factors.item_ids = (struct factor_ids){0};
    }
    free(counts);
    release_free(&release);
    return code;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static const char *population_of(const struct private_run *self) {
    return self->options->population ? self->options->population : "default";
}

/* A seed's noise is for tests of the program, and what is watched is an audit's: neither is a use
 * of people's ratings to record. */
static bool is_recorded(const struct private_run *self) {
    return !self->options->has_insecure_seed && !self->watch;
}

/* A release over the ledger, or over the file that its lock is on, would make it forget what was
 * spent. */
static int check_claims(const struct private_run *self, const char *output,
                        struct dpmf_error *error) {
    int is_claimed = ledger_lock_claims(self->ledger, output, error);
    if (is_claimed <= 0) return is_claimed;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "the release would overwrite the ledger or its lock");
    error_hint(error,
               "give the release a file of its own: the lock is the ledger's name with .lock");
    error_place(error, output, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* What the ledger knows of the population before this run. */
static int look_at_ledger(struct private_run *self, struct dpmf_error *error) {
    struct dpmf_release_report *report = self->report;
    struct ledger_view view;
    if (!is_recorded(self)) return 0;
    int code = ledger_look(self->ledger, population_of(self), &view, error);
    if (code < 0) return code;
    report->spent = view.population;
    report->is_new_ledger = !view.is_there;
    report->is_new_population = !view.is_known;
    report->other_populations = view.others;
    /* A path that was mistyped would forget what was spent; the user's own ledger is always in one
     * place. */
    if (!view.is_there && self->options->ledger) return ledger_refuse_missing(self->ledger, error);
    return 0;
}

/* Found, and looked at, before anything is read: without a home and without being told there is no
 * place for it, which a run that is recorded refuses. */
static int find_ledger(struct private_run *self, const char *output, struct dpmf_error *error) {
    if (cluster_rank(self->cluster) != 0 || self->watch) return 0;
    int code = ledger_find(self->options->ledger, &self->ledger, error);
    if (code == DPMF_ERR_IO_MISSING && !is_recorded(self)) return 0;
    if (code == DPMF_ERR_IO_MISSING)
        return release_options_refuse(error, "there is no place for the ledger of private releases",
                                      "say where it is with {ledger FILE}");
    if (code == 0) code = check_claims(self, output, error);
    return code < 0 ? code : look_at_ledger(self, error);
}

/* Before the mechanism runs. What is for research alone spends nothing, and is recorded. */
static int reserve(struct private_run *self, struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    const bool may_make = !options->ledger;
    struct ledger_entry entry = {.state = LEDGER_RESEARCH,
                                 .claim = self->report->claim,
                                 .mu = self->mu,
                                 .delta = self->statement.delta,
                                 .epsilon = options->epsilon,
                                 .time = (int64_t)time(NULL),
                                 .cohort = self->cohort};
    const char *population = population_of(self);
    if (!is_recorded(self)) return 0;
    if (strlen(population) > LEDGER_NAME_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the population's name is too long");
    snprintf(entry.population, sizeof entry.population, "%s", population);
    snprintf(entry.id, sizeof entry.id, "%s", self->id);
    if (options->research) {
        int code =
            ledger_record(self->ledger, self->run, may_make, &entry, &self->report->spent, error);
        self->report->spent.name = population;
        return code;
    }
    int code =
        ledger_reserve(self->ledger, self->run, may_make, &entry, &options->ledger_budget, error);
    self->is_reserved = code == 0;
    return code;
}

/* Whether the file is this very release: writing can fail after it is in its place, when the
 * directory is flushed. What cannot be looked at may be published. */
static enum publication look_at_output(const struct private_run *self, const char *output) {
    enum { HEADER_READ = 1 << 20 }; /* the statement, with the id in it, is near the beginning */
    if (self->publication != MAYBE_PUBLISHED) return self->publication;
    FILE *file = fopen(output, "rb");
    if (!file) return errno == ENOENT ? NOT_PUBLISHED : MAYBE_PUBLISHED;
    char *start = memory_alloc(HEADER_READ, 1);
    size_t n = start ? fread(start, 1, HEADER_READ, file) : 0;
    bool is_found = start && memmem(start, n, self->id, strlen(self->id)) != NULL;
    bool is_read = start && !ferror(file);
    free(start);
    fclose(file);
    return is_found ? PUBLISHED : is_read ? NOT_PUBLISHED : MAYBE_PUBLISHED;
}

/* A run that failed is taken for one that made nothing: what is out all the same, and must stay
 * spent, is said in the error, which keeps its code and its place. */
static void tell_published(enum publication publication, const char *output,
                           struct dpmf_error *error) {
    if (!error) return;
    const struct dpmf_error cause = *error;
    char text[DPMF_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s: %.400s",
             publication == PUBLISHED ? "the release is published, but its run could not end"
                                      : "the release may be published",
             cause.message);
    error_set_text(error, cause.code, text);
    error_hint(error,
               "%.300s %s, and its reservation in the ledger counts as spent: do not return it%s",
               output, publication == PUBLISHED ? "is published" : "may be published",
               publication == PUBLISHED ? "" : " unless it is certain that nothing was published");
    error_place(error, cause.file, cause.line, cause.column);
}

/* What was reserved and not published is given back. When even that fails it stays reserved, which
 * is safe. */
static void give_back(const struct private_run *self, const char *output,
                      struct dpmf_error *error) {
    if (!self->is_reserved) return;
    const enum publication publication = look_at_output(self, output);
    if (publication == NOT_PUBLISHED)
        ledger_return(self->ledger, NULL, self->id, NULL);
    else
        tell_published(publication, output, error);
}

/* Before anything is read or reserved: whether the first rank will be able to write it. A release
 * is a file: a pipe would take it, and no one could look whether it did. */
static int check_output(const struct private_run *self, const char *output,
                        struct dpmf_error *error) {
    struct stat status;
    if (cluster_rank(self->cluster) != 0) return 0;
    if (stat(output, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
        int checked = output_file_check(output, DPMF_FILE_CHECKPOINT, self->run->replace, error);
        if (checked < 0 || !self->options->posterior.trace) return checked;
        return output_file_check(self->options->posterior.trace, DPMF_FILE_PLOT, self->run->replace,
                                 error);
    }
    int code = error_set(error, DPMF_ERR_USAGE_VALUE, "a release can only be written to a file");
    error_place(error, output, 0, 0);
    return code;
}

/* The curator has the last word before anything is spent. */
static int ask_curator(const struct private_run *self, struct dpmf_error *error) {
    const struct dpmf_release_options *options = self->options;
    if (!options->before_spending ||
        options->before_spending(options->before_spending_self, self->report) == 0)
        return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* Whether the statement would add up to less than the ledger does: what is declared is published as
 * it is, but whoever holds the ledger knows better. */
static bool declares_less(const struct private_run *self) {
    const double declared = about_spent_before(&self->about), spent = self->report->spent.mu;
    const double rounded = 1e-3; /* as people copy it from dpmf ledger show */
    return !isnan(declared) && declared < spent * (1 - rounded);
}

/* What was refused by the number of users that is declared may be so by the one there is: a refusal
 * would show it, so only the curator learns of it. */
static void look_at_users(const struct private_run *self) {
    const struct dpmf_release_options *options = self->options;
    struct dpmf_release_report *report = self->report;
    const uint64_t users = report->users + report->users_left_out;
    const uint64_t declared = options->declared_users;
    report->declared_users_differ = declared > 0 && (users / 2 > declared || declared / 2 > users);
    if (users == 0 || self->mechanism->is_conditional) return;
    const unsigned known = dpmf_privacy_excess(options->epsilon, options->delta, declared);
    const unsigned there = dpmf_privacy_excess(options->epsilon, options->delta, users);
    report->delta = options->delta;
    report->delta_is_high = there & ~known & DPMF_ASSUMES_DELTA;
}

/* Hours may have passed since the ledger was looked at. */
static int prepare(struct private_run *self, struct dpmf_error *error) {
    if (self->watch) return 0; /* not published, and spends nothing */
    int code = look_at_ledger(self, error);
    if (code == 0) self->report->declares_less_spent = declares_less(self);
    if (code == 0) look_at_users(self);
    if (code == 0) code = ask_curator(self, error);
    return code < 0 ? code : reserve(self, error);
}

struct writing {
    struct private_run *run;
    const char *output;
};

/* Another run may have published under that name meanwhile: of two that began with no release there
 * the second would take the place of the first without a word. Runs with one ledger publish one
 * after the other. */
static int write_reserved(void *self, struct dpmf_error *error) {
    const struct writing *writing = self;
    int code = check_output(writing->run, writing->output, error);
    if (code < 0) return code;
    writing->run->publication = MAYBE_PUBLISHED;
    code = write_release(writing->run, writing->output, error);
    if (code == 0) writing->run->publication = PUBLISHED;
    return code;
}

static int write_and_commit(struct private_run *self, const char *output,
                            struct dpmf_error *error) {
    struct writing writing = {self, output};
    const struct ledger_publication publication = {write_reserved, &writing};
    if (!self->is_reserved) return write_reserved(&writing, error);
    int code = ledger_publish(self->ledger, self->run, self->id, &publication, &self->report->spent,
                              error);
    self->report->spent.name = population_of(self);
    return code;
}

/* Ranks other than the first take part in the mechanism alone, and are told how the rest went. Once
 * the first has published, that a rank was lost afterwards changes nothing. */
static int publish(struct private_run *self, const char *output, struct dpmf_error *error) {
    const bool is_first = cluster_rank(self->cluster) == 0;
    struct dpmf_error lost;
    int code = is_first ? prepare(self, error) : 0;
    code = cluster_agree(self->cluster, code, error);
    if (code == 0) {
        code = run_mechanism(self, error);
        code = cluster_agree(self->cluster, code, error);
    }
    if (code < 0) {
        give_back(self, output, error);
        return code;
    }
    code = is_first ? write_and_commit(self, output, error) : 0;
    if (code < 0) give_back(self, output, error);
    if (!is_first || code < 0) return cluster_agree(self->cluster, code, error);
    cluster_agree(self->cluster, 0, &lost);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void fill_report(struct private_run *self, double started) {
    struct dpmf_release_report *report = self->report;
    const bool is_conditional = self->mechanism->is_conditional;
    report->mu = is_conditional ? self->mu : statement_mu(&self->statement);
    report->epsilon = is_conditional ? self->options->epsilon
                                     : accountant_epsilon(report->mu, self->options->delta);
    report->delta = self->statement.delta;
    report->factors = (uint32_t)self->model.K;
    report->is_popularity_alone =
        self->mechanism->ranks && (self->model.K == 0 || self->model.taste_weight == 0);
    report->noisy_rounds = (uint32_t)self->statement.n_releases;
    report->mechanism = self->mechanism->name;
    report->seconds = clock_now() - started;
    snprintf(report->release_id, sizeof report->release_id, "%s", self->id);
}

int release_make_watched(struct dpmf_store *store, const char *output,
                         const struct dpmf_release_options *options, const struct dpmf_run *run,
                         const struct release_watch *watch, struct dpmf_release_report *report,
                         struct dpmf_error *error) {
    struct dpmf_release_options own;
    struct dpmf_run own_run;
    struct dpmf_release_report unwanted;
    int code = arguments_check(error, "store output", store, output);
    if (code == 0) code = release_options_take(&own, options, error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    own = release_options_settle(&own, store);
    options = &own, run = &own_run;
    struct private_run self = {.store = store,
                               .options = options,
                               .run = run,
                               .cluster = run->cluster,
                               .report = report ? report : &unwanted,
                               .watch = watch};
    double started = clock_now();
    uint64_t first_user;
    memset(self.report, 0, sizeof *self.report);
    self.memory = self.run->memory ? self.run->memory : host_default_budget();
    self.threads = threads_wanted(self.run);
    code = release_options_check(&own, &self.mechanism, &self.mu, error);
    if (code == 0) release_options_range(&own, self.mechanism);
    if (code == 0) code = release_options_check_accepted(&own, self.mechanism, error);
    if (code == 0 && self.mechanism->is_conditional)
        self.posterior = release_options_posterior(&own);
    if (code == 0) code = release_options_cohort(&own, store, &self.cohort, error);
    if (code == 0) code = release_input_check(store, self.mechanism->ranks, error);
    if (code == 0) code = refuse_conditional(&self, error);
    if (code == 0) code = release_input_check_output(store, options, output, error);
    if (code == 0) code = check_output(&self, output, error);
    if (code == 0) code = find_ledger(&self, output, error);
    if (code == 0) code = thread_pool_init(&self.pool, self.threads, error);
    if (code == 0) code = read_public(&self, error);
    code = cluster_agree(self.cluster, code, error);
    if (code == 0) code = check_same(&self, error);
    if (code == 0) code = user_shares_take(store, self.cluster, &self.share, &first_user, error);
    if (code == 0) code = count_and_pack(&self, error);
    if (code == 0) code = cluster_agree(self.cluster, begin_statement(&self, error), error);
    if (code == 0) code = publish(&self, output, error);
    if (code == 0) fill_report(&self, started);
    secure_random_wipe(&self.random);
    public_model_free(&self.model);
    private_ratings_free(self.ratings);
    dpmf_store_close(self.share);
    user_wishes_free(&self.wishes);
    catalogue_free(&self.catalogue);
    thread_pool_free(self.pool);
    free(self.ledger);
    return code;
}

int dpmf_release_make(struct dpmf_store *store, const char *output,
                      const struct dpmf_release_options *options, const struct dpmf_run *run,
                      struct dpmf_release_report *report, struct dpmf_error *error) {
    return release_make_watched(store, output, options, run, NULL, report, error);
}

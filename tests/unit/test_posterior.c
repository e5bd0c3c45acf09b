/*
 * The mechanism `posterior` but for its sampler: that no user's loss can pass epsilon, however they
 * rate and whatever the model predicts; that what is kept of a user, and the weight of it, do not
 * depend on anyone else; what is refused; and what a release says and what the ledger gets to know.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "ledger/ledger.h"
#include "ledger_entries.h"
#include "mechanisms/posterior/posterior_sampler.h"
#include "random/random.h"
#include "statement/accountant.h"
#include "temp_dir.h"

enum { USERS = 40, ITEMS = 120, TAU = 15 };

struct world {
    struct temp_dir dir;
    char ratings[TEMP_PATH_MAX], items[TEMP_PATH_MAX], wishes[TEMP_PATH_MAX], ledger[TEMP_PATH_MAX],
        output[TEMP_PATH_MAX], trace[TEMP_PATH_MAX];
};

/* User u has 2 + 3u % 50 ratings of items that differ from user to user. */
static size_t count_of(int u) { return 2 + (size_t)(7 * u) % 50; }
static int item_of(int u, size_t i) { return (int)((size_t)(u * 13) + i * 7) % ITEMS; }
static int rating_of(int u, size_t i) { return 1 + (int)((size_t)(u * 5) + i * 3) % 5; }

/* Without user `missing`; with rating 0 of user `changed` given to item `other` instead. */
static void write_ratings(const struct world *world, int missing, int changed, int other) {
    FILE *file = fopen(world->ratings, "w");
    assert_non_null(file);
    fputs("user,item,rating\n", file);
    for (int u = 0; u < USERS; u++)
        for (size_t i = 0; u != missing && i < count_of(u); i++)
            fprintf(file, "user%d,%d,%d\n", u, u == changed && i == 0 ? other : item_of(u, i),
                    rating_of(u, i));
    fclose(file);
}

static void write_text(const char *path, const char *text) {
    temp_dir_write(path, text, strlen(text));
}

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    if (!world) return -1;
    temp_dir_make(&world->dir);
    temp_dir_file(&world->dir, "r.csv", world->ratings);
    temp_dir_file(&world->dir, "items.csv", world->items);
    temp_dir_file(&world->dir, "wishes.csv", world->wishes);
    temp_dir_file(&world->dir, "ledger", world->ledger);
    if (dpmf_ledger_init(world->ledger, NULL, NULL) != 0) return -1;
    temp_dir_file(&world->dir, "out.safetensors", world->output);
    temp_dir_file(&world->dir, "trace.svg", world->trace);
    FILE *file = fopen(world->items, "w");
    assert_non_null(file);
    fputs("item\n", file);
    for (int j = ITEMS; j-- > 0;) fprintf(file, "%d\n", j);
    fclose(file);
    write_ratings(world, -1, -1, 0);
    *state = world;
    return 0;
}

static int end_world(void **state) {
    struct world *world = *state;
    temp_dir_remove(&world->dir);
    free(world);
    return 0;
}

static struct dpmf_store *open_ratings(const struct world *world) {
    const struct dpmf_input_options options = {.size = sizeof options, .by_record = true};
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open(world->ratings, &options, NULL, &store, NULL), 0);
    return store;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static const struct posterior_rule rule = {.epsilon = 2,
                                           .range = 4,
                                           .kappa = 1,
                                           .rho = 3,
                                           .max_ratings = TAU,
                                           .factors = 2,
                                           .rounds = 10,
                                           .chains = 1};

static struct posterior_data take_data(const struct world *world, uint64_t key) {
    struct dpmf_store *store = open_ratings(world);
    struct catalogue catalogue;
    struct user_wishes wishes = {0};
    struct secure_random coins;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    struct posterior_data data;
    bool has_wishes = access(world->wishes, F_OK) == 0;
    secure_random_init_insecure(&coins, key);
    assert_int_equal(catalogue_read(world->items, NULL, &catalogue, NULL), 0);
    if (has_wishes)
        assert_int_equal(user_wishes_read(world->wishes, &(struct id_form){.takes_text = true},
                                          NULL, &wishes, NULL),
                         0);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &catalogue,
                                                    .wishes = has_wishes ? &wishes : NULL,
                                                    .epsilon = rule.epsilon,
                                                    .max_ratings = TAU,
                                                    .coins = &coins,
                                                    .memory = 1 << 20,
                                                    .threads = 2};
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    assert_int_equal(posterior_data_build(ratings, ITEMS, &rule, 1 << 20, NULL, &data, NULL), 0);
    private_ratings_free(ratings);
    user_wishes_free(&wishes);
    catalogue_free(&catalogue);
    dpmf_store_close(store);
    return data;
}

static size_t kept(const struct posterior_data *data, size_t u) {
    return data->users.start[u + 1] - data->users.start[u];
}

static void check_same_user(const struct posterior_data *a, size_t u,
                            const struct posterior_data *b, size_t v) {
    size_t n = kept(a, u);
    assert_int_equal(n, kept(b, v));
    assert_memory_equal(a->users.other + a->users.start[u], b->users.other + b->users.start[v],
                        n * sizeof *a->users.other);
    assert_memory_equal(a->users.y + a->users.start[u], b->users.y + b->users.start[v],
                        n * sizeof *a->users.y);
    assert_true(a->weight[u] == b->weight[v]);
}

static void test_kept(void **state) {
    const struct world *world = *state;
    struct posterior_data data = take_data(world, 1), again = take_data(world, 1);
    struct posterior_data other = take_data(world, 2);
    size_t same = 0, trimmed = 0;
    assert_int_equal(data.users.n, USERS);
    for (size_t u = 0; u < USERS; u++) {
        size_t m = count_of((int)u) < TAU ? count_of((int)u) : TAU;
        assert_int_equal(kept(&data, u), m);
        assert_true(data.weight[u] == fmin(rule.rho, TAU / (double)m));
        check_same_user(&data, u, &again, u);
        if (m < count_of((int)u)) {
            trimmed++;
            same +=
                memcmp(data.users.other + data.users.start[u],
                       other.users.other + other.users.start[u], m * sizeof *data.users.other) == 0;
        }
    }
    assert_true(trimmed > 20);
    assert_int_equal(same, 0); /* another key is another choice */

    /* By item it is the same ratings. */
    size_t at = 0;
    for (size_t j = 0; j < ITEMS; j++)
        for (; at < data.items.start[j + 1]; at++) {
            size_t u = data.items.other[at], i = data.users.start[u];
            while (i < data.users.start[u + 1] && data.users.other[i] != j) i++;
            assert_true(i < data.users.start[u + 1]);
            assert_true(data.users.y[i] == data.items.y[at]);
        }
    assert_int_equal(at, data.users.start[USERS]);
    posterior_data_free(&data);
    posterior_data_free(&again);
    posterior_data_free(&other);
}

/* Whoever is missing, all others are as they were. */
static void test_others_do_not_matter(void **state) {
    const struct world *world = *state;
    struct posterior_data all = take_data(world, 1);
    for (int missing = 0; missing < USERS; missing += 3) {
        write_ratings(world, missing, -1, 0);
        struct posterior_data rest = take_data(world, 1);
        assert_int_equal(rest.users.n, USERS - 1);
        for (size_t u = 0; u < USERS; u++)
            if ((int)u != missing) check_same_user(&all, u, &rest, (int)u < missing ? u : u - 1);
        posterior_data_free(&rest);
    }
    write_ratings(world, -1, -1, 0);
    posterior_data_free(&all);
}

/* One rating in the place of another: at most one of those kept is another, and the weight is the
 * same. */
static void test_one_rating(void **state) {
    const struct world *world = *state;
    struct posterior_data all = take_data(world, 1);
    size_t changes = 0;
    for (int changed = 0; changed < USERS; changed++) {
        int other = 0; /* an item that the user has not rated */
        for (size_t i = 0; i < count_of(changed);)
            if (item_of(changed, i++) == other) i = 0, other++;
        write_ratings(world, -1, changed, other);
        struct posterior_data now = take_data(world, 1);
        size_t u = (size_t)changed, missing = 0;
        assert_int_equal(kept(&now, u), kept(&all, u));
        assert_true(now.weight[u] == all.weight[u]);
        for (size_t i = all.users.start[u]; i < all.users.start[u + 1]; i++) {
            size_t k = now.users.start[u];
            while (k < now.users.start[u + 1] && now.users.other[k] != all.users.other[i]) k++;
            missing += k == now.users.start[u + 1];
        }
        assert_true(missing <= 1);
        changes += missing;
        posterior_data_free(&now);
    }
    assert_true(changes > 10);
    write_ratings(world, -1, -1, 0);
    posterior_data_free(&all);
}

/* Over many keys each of a user's ratings is kept equally often: chi-square of a hypergeometric
 * choice, 51 - 1 degrees of freedom, bound at 10 standard deviations above its mean (the keys are
 * fixed). */
static void test_fair_coins(void **state) {
    const struct world *world = *state;
    enum { KEYS = 300 };
    const size_t u = 7, m = count_of(7); /* 51 ratings */
    double times[ITEMS] = {0}, chi = 0, p = TAU / (double)m;
    for (uint64_t key = 0; key < KEYS; key++) {
        struct posterior_data data = take_data(world, 100 + key);
        for (size_t i = data.users.start[u]; i < data.users.start[u + 1]; i++)
            times[data.users.other[i]]++;
        posterior_data_free(&data);
    }
    for (int j = 0; j < ITEMS; j++)
        if (times[j] > 0) chi += pow(times[j] - KEYS * p, 2) / (KEYS * p * (1 - p));
    chi *= (double)(m - 1) / (double)m;
    if (!(chi > 15 && chi < (double)m + 10 * sqrt(2.0 * (double)m))) fail_msg("chi-square %g", chi);
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* Numbers that a model might predict, if someone could choose it. */
static double wild(struct random_stream *stream) {
    switch (random_below(stream, 6)) {
    case 0: return 0;
    case 1: return 1e300;
    case 2: return -1e300;
    case 3: return -INFINITY;
    case 4: return INFINITY;
    default: return 10 * random_gaussian(stream);
    }
}

/* a L_i <= epsilon_i for any user, any settings, any predictions; and it is nearly reached. */
static void test_bound(void **state) {
    struct random_stream stream;
    double nearest = 0;
    (void)state;
    random_stream_init(&stream, 1, 2, 3);
    for (int trial = 0; trial < 20000; trial++) {
        struct posterior_rule any = {.epsilon = exp(8 * random_gaussian(&stream)),
                                     .range = exp(3 * random_gaussian(&stream)),
                                     .max_ratings = 1 + (uint32_t)random_below(&stream, 300),
                                     .rho = 1 + (double)random_below(&stream, 20),
                                     .factors = 3};
        any.kappa = random_below(&stream, 3) == 0 ? 0 : any.range * random_uniform(&stream) * 3;
        struct posterior_target target = posterior_target_make(&any);
        uint64_t m = 1 + random_below(&stream, any.max_ratings);
        double share = random_below(&stream, 2) ? 1 : random_uniform(&stream), loss = 0;
        double w = posterior_weight(&any, m, share);
        bool is_extreme = random_below(&stream, 2);
        assert_true(w <= any.rho);
        for (uint64_t i = 0; i < m; i++) {
            double y = is_extreme ? 2 : 4 * random_uniform(&stream) - 2;
            double p = is_extreme ? -INFINITY : wild(&stream);
            double e = y - fmin(fmax(p, -target.limit), target.limit);
            loss += w * e * e;
        }
        if (!(target.scale * loss <= share * any.epsilon))
            fail_msg("a L = %.17g, epsilon_i = %.17g", target.scale * loss, share * any.epsilon);
        nearest = fmax(nearest, target.scale * loss / (share * any.epsilon));
    }
    assert_true(nearest > 0.999999);
}

/* What a wish does: a B_i is the wish, and who wishes for nothing at all is not there. */
static void test_wishes(void **state) {
    const struct world *world = *state;
    write_text(world->wishes, "user,epsilon\nuser3,0\nuser7,0.5\nuser0,0.5\n");
    struct posterior_data data = take_data(world, 1);
    struct posterior_target target = posterior_target_make(&rule);
    assert_int_equal(data.users.n, USERS - 1);
    for (size_t u = 0; u < data.users.n; u++) {
        int user = u < 3 ? (int)u : (int)u + 1;
        double wish = user == 7 || user == 0 ? 0.5 : rule.epsilon, m = (double)kept(&data, u);
        double most = target.scale * data.weight[u] * m * pow(2 + target.limit, 2);
        assert_true(most <= wish);
        if (m * rule.rho >= TAU || user == 7) assert_true(most > 0.999 * wish);
    }
    unlink(world->wishes);
    posterior_data_free(&data);
}

static void count_warning(void *self, const char *text) {
    (void)text;
    ++*(int *)self;
}

static void test_memory(void **state) {
    const struct world *world = *state;
    struct dpmf_store *store = open_ratings(world);
    struct catalogue catalogue;
    struct secure_random coins;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    struct posterior_data data;
    struct dpmf_error error;
    secure_random_init_insecure(&coins, 1);
    assert_int_equal(catalogue_read(world->items, NULL, &catalogue, NULL), 0);
    struct private_ratings_options options = {.range_min = 1,
                                              .range_max = 5,
                                              .catalogue = &catalogue,
                                              .epsilon = 1,
                                              .coins = &coins,
                                              .max_ratings = TAU + 1,
                                              .memory = 1 << 20,
                                              .threads = 1};
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    /* Trimmed to more than the rule allows: the bound would not hold. */
    assert_int_equal(posterior_data_build(ratings, ITEMS, &rule, 1 << 20, NULL, &data, &error),
                     DPMF_ERR_BASE_BUG);
    private_ratings_free(ratings);
    options.max_ratings = TAU;
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    assert_true(report.trimmed > 0);
    /* Too little memory is the curator's to know, and no reason to refuse: how much it takes is
     * for the ratings to say. */
    int warnings = 0;
    struct dpmf_run run = dpmf_run_default();
    run.warn = count_warning;
    run.warn_self = &warnings;
    assert_int_equal(posterior_data_build(ratings, ITEMS, &rule, 1000, &run, &data, &error), 0);
    assert_int_equal(warnings, 1);
    posterior_data_free(&data);
    assert_int_equal(posterior_data_build(ratings, ITEMS, &rule, 1 << 20, &run, &data, &error), 0);
    assert_int_equal(warnings, 1);
    posterior_data_free(&data);
    /* Where nobody listens, nothing is said. */
    run.warn = NULL;
    for (int i = 0; i < 2; i++) {
        const struct dpmf_run *silent = i == 0 ? NULL : &run;
        assert_int_equal(posterior_data_build(ratings, ITEMS, &rule, 1000, silent, &data, NULL), 0);
        posterior_data_free(&data);
    }
    private_ratings_free(ratings);
    catalogue_free(&catalogue);
    dpmf_store_close(store);
}

/* ---- releases -------------------------------------------------------------------------------- */

static struct dpmf_release_options good_options(const struct world *world) {
    struct dpmf_release_options options = dpmf_release_options_default();
    options.mechanism = "posterior";
    options.epsilon = 2;
    options.range_min = 1;
    options.range_max = 5;
    options.catalogue = world->items;
    options.ledger = world->ledger;
    options.posterior.max_ratings = TAU;
    options.posterior.rounds = 30;
    options.posterior.factors = 3;
    return options;
}

static int make(const struct world *world, const struct dpmf_release_options *options,
                struct dpmf_release_report *report, struct dpmf_error *error) {
    struct dpmf_store *store = open_ratings(world);
    int code = dpmf_release_make(store, world->output, options, NULL, report, error);
    dpmf_store_close(store);
    return code;
}

static int look(void *self, const struct ledger_entry *entry) {
    *(struct ledger_entry *)self = *entry;
    return 0;
}

static void test_release(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_release_report report;
    struct dpmf_statement statement;
    struct dpmf_verification found;
    struct ledger_entry entry;
    struct stat status;
    options.posterior.trace = world->trace;
    assert_int_equal(make(world, &options, &report, NULL), 0);
    assert_true(report.claim == DPMF_CLAIM_CONDITIONAL);
    assert_true(report.epsilon == 2 && report.delta == 0);
    assert_int_equal(report.factors, 3);
    assert_true(report.acceptance > 0.9 && report.acceptance <= 1);
    assert_true(report.rhat > 0.9 && report.ess > 0 && report.chains_text[0] != '\0');
    assert_int_equal(stat(world->trace, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);

    assert_int_equal(dpmf_release_verify(world->output, DPMF_ASSUMES_CONVERGENCE, &found, NULL), 0);
    assert_true(found.claim == DPMF_CLAIM_CONDITIONAL);
    assert_int_equal(dpmf_release_statement(world->output, &statement, NULL), 0);
    assert_true(statement.claim == DPMF_CLAIM_CONDITIONAL);
    assert_true(statement.epsilon == 2 && statement.delta == 0);
    assert_non_null(strstr(statement.json, "\"kind\":\"conditional\""));
    assert_null(strstr(statement.json, "proven"));
    assert_non_null(strstr(statement.text, "CONDITIONAL, NOT PROVEN"));
    assert_null(strstr(statement.text, "is proven"));
    assert_null(strstr(statement.text, "This release is"));
    /* Nothing of how the chains look. */
    assert_null(strstr(statement.json, "R-hat"));
    assert_null(strstr(statement.json, "accept"));
    dpmf_statement_free(&statement);

    assert_int_equal(entries_visit(world->ledger, look, &entry, NULL), 0);
    assert_int_equal(entry.claim, DPMF_CLAIM_CONDITIONAL);
    assert_int_equal(entry.state, LEDGER_COMMITTED);
    assert_true(entry.epsilon == 2 && entry.delta == 0);
    assert_true(entry.mu == accountant_mu_pure(2));
}

static void test_same_seed(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    static char bytes[2][1 << 16];
    size_t n[2];
    options.has_insecure_seed = true;
    options.insecure_seed = 3;
    for (int i = 0; i < 2; i++) {
        struct dpmf_store *store = open_ratings(world);
        struct dpmf_run run = dpmf_run_default();
        run.threads = 1 + 2 * i;
        run.replace = true;
        assert_int_equal(dpmf_release_make(store, world->output, &options, &run, NULL, NULL), 0);
        dpmf_store_close(store);
        FILE *file = fopen(world->output, "rb");
        assert_non_null(file);
        n[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        fclose(file);
    }
    /* The header has a random id and a digest; what comes after it is the same. */
    size_t header =
        8 + (size_t)(unsigned char)bytes[0][0] + 256 * (size_t)(unsigned char)bytes[0][1];
    assert_int_equal(n[0], n[1]);
    assert_true(header < n[0]);
    assert_memory_equal(bytes[0] + header, bytes[1] + header, n[0] - header);
    struct dpmf_verification found;
    assert_int_equal(dpmf_release_verify(world->output, DPMF_ASSUMES_CONVERGENCE, &found, NULL),
                     DPMF_ERR_PRIVACY_NOT_VERIFIED);
}

static void check_refused(const struct world *world, const struct dpmf_release_options *options,
                          int expected, const char *word) {
    struct dpmf_error error = {0};
    unlink(world->output);
    int code = make(world, options, NULL, &error);
    if (code != expected) fail_msg("%d instead of %d: %s", code, expected, error.message);
    if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
    assert_true(code == DPMF_ERR_PRIVACY_REFUSED || code / 100 == -4);
    assert_int_not_equal(access(world->output, F_OK), 0);
    assert_int_equal(make(world, options, NULL, NULL), expected);
}

static void test_refusals(void **state) {
    const struct world *world = *state;
    const double bad_epsilons[] = {0, -1, NAN, INFINITY, 1e300};
    const double bad_kappas[] = {-1e-9, INFINITY, -INFINITY};
    const double bad_rhos[] = {0, 0.99, NAN, INFINITY};
    struct dpmf_release_options options;
    for (size_t i = 0; i < 5; i++) {
        options = good_options(world);
        options.epsilon = bad_epsilons[i];
        check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED, "epsilon");
    }
    for (size_t i = 0; i < 3; i++) {
        options = good_options(world);
        options.posterior.kappa = bad_kappas[i];
        check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED, "kappa");
    }
    for (size_t i = 0; i < 4; i++) {
        options = good_options(world);
        options.posterior.rho = bad_rhos[i];
        check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED, "rho");
    }
    options = good_options(world);
    options.posterior.max_ratings = 0;
    check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED, "how many ratings");

    options = good_options(world);
    options.user_privacy = world->wishes;
    write_text(world->wishes, "user,epsilon\nuser3,nan\n");
    check_refused(world, &options, DPMF_ERR_INPUT_NOT_FINITE, "finite");
    /* Who is not in the ratings decides nothing: a refusal would show who is. */
    write_text(world->wishes, "user,epsilon\nuser3,1\nnobody,0\nx,1\ny,0.5\nuser4,2.5\n");
    struct dpmf_release_report report;
    assert_int_equal(make(world, &options, &report, NULL), 0);
    assert_int_equal(report.wishes_of_nobody, 3);
    assert_int_equal(report.wishes_above, 1);
    struct dpmf_statement statement;
    assert_int_equal(dpmf_release_statement(world->output, &statement, NULL), 0);
    assert_null(strstr(statement.json, "are in the ratings"));
    dpmf_statement_free(&statement);
    unlink(world->wishes);

    options = good_options(world);
    options.item_features = world->items;
    assert_int_equal(make(world, &options, NULL, NULL), DPMF_ERR_USAGE_CONFLICT);
    options = good_options(world);
    options.posterior.chains = 1000;
    assert_int_equal(make(world, &options, NULL, NULL), DPMF_ERR_USAGE_VALUE);
}

/* Everyone left: what is drawn is the prior, and it is a release all the same. */
static void test_nobody(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_release_report report;
    write_text(world->ratings, "user,item,rating\nx,none of them,3\n");
    assert_int_equal(make(world, &options, &report, NULL), 0);
    assert_int_equal(report.users, 0);
    struct dpmf_verification found;
    assert_int_equal(dpmf_release_verify(world->output, DPMF_ASSUMES_CONVERGENCE, &found, NULL), 0);
    write_ratings(world, -1, -1, 0);
}

static int stop_late(void *self, const struct dpmf_progress *progress) {
    int *left = self;
    return strcmp(progress->phase, "sampling") == 0 && --*left <= 0;
}

/* What is interrupted spends nothing and leaves nothing. */
static void test_interrupted(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_store *store = open_ratings(world);
    struct dpmf_run run = dpmf_run_default();
    struct ledger_entry entry;
    int left = 10;
    run.progress = stop_late;
    run.progress_self = &left;
    unlink(world->output);
    assert_int_equal(dpmf_release_make(store, world->output, &options, &run, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_not_equal(access(world->output, F_OK), 0);
    assert_int_equal(entries_visit(world->ledger, look, &entry, NULL), 0);
    assert_int_equal(entry.state, LEDGER_RETURNED);
    dpmf_store_close(store);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_world, end_world)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_kept),       TEST(test_others_do_not_matter),
        TEST(test_one_rating), TEST(test_fair_coins),
        TEST(test_bound),      TEST(test_wishes),
        TEST(test_memory),     TEST(test_release),
        TEST(test_same_seed),  TEST(test_refusals),
        TEST(test_nobody),     TEST(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

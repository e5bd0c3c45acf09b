/*
 * The audit's statistics on made-up guesses and noise, whose truth is known, and dpmf_audit on a
 * small store: what it refuses, what it reports, and that it can be stopped. Whole worlds are in
 * test_audit_worlds.c, the mutants that must be caught in tests/audit.
 *
 * Error rates: what has to do with chance says its own beside it; together below 1e-6.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "audit/audit_bound.h"
#include "audit/audit_noise.h"
#include "random/exact_gaussian.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

/* ---- the bounds ------------------------------------------------------------------------------ */

static const double level = 5e-4;

static void test_tails(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n += 3)
        for (double p = 0.05; p < 1; p += 0.15) {
            double term = pow(1 - p, (double)n), below = 0;
            for (size_t k = 0; k <= n; k++) {
                const double tail = audit_binomial_tail(n, p, (double)k);
                assert_true(tail >= 1 - below - 1e-14 && tail <= (1 - below) * (1 + 1e-5) + 1e-12);
                below += term;
                term *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
            }
        }
    assert_true(audit_binomial_tail(10, 0.5, 11) == 0 && audit_binomial_tail(10, 0.5, 0) == 1);
    assert_true(fabs(audit_binomial_tail(1000000, 0.5, 503000) / 9.99e-10 - 1) < 0.02);
}

/* Counts in which `right` of the guesses of one fraction are right, and the other fractions show
 * nothing. */
static struct audit_count count_of(size_t n, int fraction, size_t right) {
    const size_t shares[AUDIT_FRACTIONS] = {1, 2, 8, 64};
    struct audit_count count = {.n = n};
    for (int f = 0; f < AUDIT_FRACTIONS; f++) count.surest[f] = (n + shares[f] - 1) / shares[f];
    count.right[fraction] = right;
    return count;
}

/* Exactly, without any chance: the guesses of randomised response are Bernoulli, so the probability
 * that a bound is above the truth is a tail of a binomial. This is what 0.1.0 got wrong: it would
 * have printed 1.15 for 0.5. */
static void check_randomised_response(double epsilon, double delta, size_t runs, size_t canaries) {
    const double p = 1 / (1 + exp(-epsilon));
    for (int f = 0; f < AUDIT_FRACTIONS; f++) {
        const size_t r = count_of(runs * canaries, f, 0).surest[f];
        size_t low = 0, high = r + 1; /* the smallest number of right guesses that says too much */
        while (high - low > 1) {
            const size_t middle = (low + high) / 2;
            const struct audit_count count = count_of(runs * canaries, f, middle);
            if (audit_bound_epsilon(&count, runs, canaries, delta, level) > epsilon)
                high = middle;
            else
                low = middle;
        }
        assert_true(high > r ||
                    audit_binomial_tail(r, p, (double)high) <= level / AUDIT_FRACTIONS * 1.001);
    }
}

static void test_epsilon_of_randomised_response(void **state) {
    (void)state;
    for (int pure = 0; pure < 2; pure++)
        for (size_t runs = 1; runs <= 1000; runs *= 10)
            for (size_t canaries = 1; canaries <= 64; canaries *= 8) {
                check_randomised_response(0.5, pure ? 0 : 1e-5, runs, canaries);
                check_randomised_response(2, pure ? 0 : 1e-5, runs, canaries);
            }
}

/* The true probability, by integrating over the threshold, that of the r surest of n guesses of the
 * Gaussian experiment so many are right. */
static double gaussian_tail(size_t n, size_t r, size_t right, double mu) {
    double sum = 0, before = 1;
    if (r == n) return audit_binomial_tail(n, erfc(-mu / 2 / sqrt(2)) / 2, (double)right);
    for (int i = 1; i <= 4000;
         i++) { /* within a step the larger p counts: not less than the truth */
        const double t = 8.0 * i / 4000;
        const double above = erfc((t - mu / 2) / sqrt(2)) / 2,
                     below = erfc((t + mu / 2) / sqrt(2)) / 2;
        const double beyond = audit_binomial_tail(n, above + below, (double)r + 1);
        sum += fmax(0, before - beyond) *
               audit_binomial_tail(r, above / (above + below), (double)right);
        before = beyond;
    }
    return sum;
}

static void test_level_of_mu(void **state) {
    (void)state;
    const size_t sizes[] = {50, 400, 3000};
    for (size_t s = 0; s < 3; s++)
        for (double mu = 0; mu <= 2; mu += 0.5)
            for (int f = 0; f < AUDIT_FRACTIONS; f++) {
                const size_t r = count_of(sizes[s], f, 0).surest[f];
                size_t right = 0;
                while (right <= r) {
                    const struct audit_count count = count_of(sizes[s], f, right);
                    if (audit_bound_excludes_mu(&count, mu, level)) break;
                    right++;
                }
                if (right > r) continue;
                const double tail = gaussian_tail(sizes[s], r, right, mu);
                assert_true(tail <= level / AUDIT_FRACTIONS * 1.02); /* the steps of the integral */
            }
}

static struct audit_count guess(size_t n, double mu, uint64_t number) {
    struct audit_guess guesses[3000];
    struct random_stream random;
    uint64_t seed = 0;
    assert_true(n <= 3000 && random_from_system(&seed, sizeof seed, NULL) == 0);
    random_stream_init(&random, seed, 1, number);
    for (size_t i = 0; i < n; i++) {
        bool is_in = random_u32(&random) & 1;
        double x = random_gaussian(&random) + (is_in ? mu : -mu) / 2;
        guesses[i] = (struct audit_guess){fabs(x), (x > 0) == is_in};
    }
    return audit_count_make(guesses, n);
}

/* The whole procedure, ranks and all, with fresh seeds: 2,000 audits at a level of 0.01 exclude the
 * truth 20 times at most, on average. That they do so more than 60 times has a probability below
 * 1e-12. */
static void test_level_by_trial(void **state) {
    int excluded = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const struct audit_count count = guess(200, 0.5, i);
        excluded += audit_bound_excludes_mu(&count, 0.5, 0.01);
    }
    assert_in_range(excluded, 0, 60);
}

/* mu 1 for 0.268 from 3,000 guesses is 18 standard deviations, 3.7 of which are needed. */
static void test_bounds_have_power(void **state) {
    (void)state;
    const struct audit_count count = guess(3000, 1, 0);
    assert_true(audit_bound_excludes_mu(&count, 0.268, level));
    const double low = audit_bound_mu(&count, level);
    assert_true(low > 0.7 && low < 1.2);
    assert_true(audit_bound_excludes_mu(&count, low - 0.01, level));
    assert_false(audit_bound_excludes_mu(&count, low + 0.01, level));
    const double epsilon = audit_bound_epsilon(&count, 3000, 1, 1e-5, level);
    assert_true(epsilon > 0.4 && epsilon < 4.4); /* mu 1 is 4.38 at 1e-5 */
}

static void test_bounds_of_certainty(void **state) {
    (void)state;
    struct audit_guess guesses[500];
    for (size_t i = 0; i < 500; i++) guesses[i] = (struct audit_guess){(double)i, true};
    struct audit_count count = audit_count_make(guesses, 500);
    double low = audit_bound_mu(&count, level);
    assert_true(low > 3.5 && low < 6); /* Phi(mu/2)^500 is about the level */
    low = audit_bound_epsilon(&count, 500, 1, 1e-5, level);
    assert_true(low > 3 && low < 6);
    for (size_t i = 0; i < 500; i++) guesses[i].is_right = i % 2; /* knows nothing */
    count = audit_count_make(guesses, 500);
    assert_true(audit_bound_mu(&count, level) == 0);
    assert_true(audit_bound_epsilon(&count, 500, 1, 1e-5, level) == 0);
    for (size_t i = 0; i < 500; i++)
        guesses[i] = (struct audit_guess){NAN, false}; /* always wrong */
    count = audit_count_make(guesses, 500);
    assert_true(audit_bound_mu(&count, level) == 0);
    count = audit_count_make(guesses, 0);
    assert_true(audit_bound_mu(&count, level) == 0);
    assert_true(audit_bound_epsilon(&count, 0, 1, 1e-5, level) == 0);
}

/* Which are the surest is what counts, and what is no number is not among them. */
static void test_guesses_are_ranked(void **state) {
    (void)state;
    struct audit_guess guesses[128];
    for (size_t i = 0; i < 128; i++)
        guesses[i] = (struct audit_guess){i % 2 ? NAN : (double)i, i >= 64 && i % 2 == 0};
    const struct audit_count count = audit_count_make(guesses, 128);
    assert_int_equal(count.surest[0], 128);
    assert_int_equal(count.right[0], 32);
    assert_int_equal(count.surest[1], 64);
    assert_int_equal(count.right[1], 32);
    assert_int_equal(count.right[2], 16);
    assert_int_equal(count.right[3], 2);
}

/* ---- the noise ------------------------------------------------------------------------------- */

enum { NOISE_N = 4000, NOISE_ROUNDS = 3, NOISE_RUNS = 20 };

enum fault { HONEST, SMALL, LARGE, LAPLACE, AGAIN, ZEROS };

/* Makes noise that is right, or wrong in one way, and asks. Level: 1e-8 where it is right; each
 * fault is many deviations. */
static bool is_accused(enum fault fault, uint64_t sigma) {
    static struct audit_noise noise;
    static int64_t values[NOISE_N];
    char reason[DPMF_AUDIT_TEXT_MAX] = "";
    memset(&noise, 0, sizeof noise);
    for (int run = 0; run < NOISE_RUNS; run++) {
        struct secure_random random;
        assert_int_equal(secure_random_init(&random, NULL), 0);
        for (uint32_t t = 0; t < NOISE_ROUNDS; t++) {
            memset(values, 0, sizeof values);
            const uint64_t made = fault == SMALL   ? sigma - sigma / 20
                                  : fault == LARGE ? sigma + sigma / 20
                                                   : sigma;
            exact_gaussian_add(&random, fault == AGAIN ? 0 : t, 0, NOISE_N, made, values);
            for (size_t i = 0; i < NOISE_N; i++) {
                if (fault == LAPLACE) values[i] = values[i] * (i % 2 ? 5 : 13) / 10;
                if (fault == ZEROS && i < 2) values[i] = 0;
            }
            assert_true(audit_noise_add(&noise, t, values, NOISE_N, (double)sigma));
        }
        secure_random_wipe(&random);
    }
    const bool is_wrong = audit_noise_is_wrong(&noise, reason, sizeof reason);
    assert_int_equal(is_wrong, reason[0] != '\0');
    audit_noise_free(&noise);
    return is_wrong;
}

static void test_noise(void **state) {
    (void)state;
    assert_false(is_accused(HONEST, 62590000)); /* 2^24 / 0.268 */
    assert_false(is_accused(HONEST, 5));        /* coarse, and still as listed */
    assert_false(is_accused(HONEST, 1));
    assert_true(is_accused(SMALL, 62590000));
    assert_true(is_accused(LARGE, 62590000));
    assert_true(is_accused(LAPLACE, 62590000));
    assert_true(is_accused(AGAIN, 62590000));
    assert_true(is_accused(ZEROS, 62590000));
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct world {
    struct temp_dir dir;
    char items[TEMP_PATH_MAX];
    struct dpmf_store *store;
};

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct triples triples = {0};
    struct random_stream random;
    char path[TEMP_PATH_MAX], text[1024] = "item\n";
    random_stream_init(&random, 29, 1, 0);
    temp_dir_make(&world->dir);
    for (int j = 0; j < 30; j++) {
        char line[16];
        snprintf(line, sizeof line, "i%02d\n", j);
        strcat(text, line);
    }
    temp_dir_file(&world->dir, "items.csv", world->items);
    temp_dir_write(world->items, text, strlen(text));
    for (int u = 0; u < 50; u++)
        for (int j = 0; j < 28; j++) {
            char user[16], item[16];
            if (random_u32(&random) % 3 == 0) continue;
            snprintf(user, sizeof user, "u%02d", u);
            snprintf(item, sizeof item, "i%02d", j);
            triples_add(&triples, triple_make(user, item, 1 + (double)random_below(&random, 5), 0));
        }
    triples_sort(&triples);
    temp_dir_file(&world->dir, "x.dpr", path);
    triples_write(&triples, false, false, path);
    free(triples.at);
    assert_int_equal(store_open_file(path, &world->store, NULL), 0);
    *state = world;
    return 0;
}

static int end_world(void **state) {
    struct world *world = *state;
    dpmf_store_close(world->store);
    temp_dir_remove(&world->dir);
    free(world);
    return 0;
}

/* What an audit is given. */
struct attack {
    struct dpmf_release_options privacy;
    struct dpmf_audit_options audit;
};

static struct attack options_of(const struct world *world) {
    struct attack options = {dpmf_release_options_default(), dpmf_audit_options_default()};
    options.privacy.epsilon = 1;
    options.privacy.range_min = 1;
    options.privacy.range_max = 5;
    options.privacy.catalogue = world->items;
    options.audit.runs = 10;
    return options;
}

/* By chance, 1 time in 1000, guessing alone may accuse. Of the rest only the noise may, with 1e-8.
 */
static void audit_honest(const struct world *world, const struct attack *options,
                         const struct dpmf_run *run, struct dpmf_audit_report *report) {
    int code = dpmf_audit(world->store, &options->privacy, &options->audit, run, report, NULL);
    assert_int_equal(report->findings & ~(unsigned)DPMF_AUDIT_LOSS, 0);
    assert_int_equal(code, report->findings == 0 ? 0 : DPMF_ERR_PRIVACY_ACCUSED);
}

static void test_audit_reports(void **state) {
    const struct world *world = *state;
    struct attack options = options_of(world);
    struct dpmf_audit_report report;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 3;
    options.audit.users = 20;
    for (size_t i = 0; dpmf_mechanism_name(i, NULL); i++) {
        if (dpmf_mechanism_is_conditional(dpmf_mechanism_name(i, NULL))) {
            struct dpmf_error error;
            options.privacy.mechanism = dpmf_mechanism_name(i, NULL);
            assert_int_equal(
                dpmf_audit(world->store, &options.privacy, &options.audit, &run, &report, &error),
                DPMF_ERR_USAGE_VALUE);
            assert_non_null(strstr(error.message, "cannot be audited"));
            continue;
        }
        options.privacy.mechanism = dpmf_mechanism_name(i, NULL);
        if (strcmp(options.privacy.mechanism, "events") == 0)
            options.privacy.range_min = options.privacy.range_max = NAN;
        audit_honest(world, &options, &run, &report);
        assert_int_equal(report.runs_in + report.runs_out, 20);
        assert_int_equal(report.users, 20);
        assert_int_equal(report.users_of_store, 50);
        assert_int_equal(report.items, 30);
        assert_true(report.mu > 0.268 && report.mu < 0.26806);
        assert_true(report.noisy_rounds >= 20 && report.draws == (uint64_t)report.noise_numbers);
        assert_true(report.contributions >= report.noisy_rounds + 20);
        assert_true(report.noise > 0.7 &&
                    report.noise < 1.3); /* at least 800 numbers: 12 deviations */
        assert_int_equal(report.worlds, 5);
        assert_true(report.world_rounds >= 5 && report.world_numbers >= 5 * 30);
        assert_true(report.world_norm > 0.9 && report.world_norm <= 1);
        assert_true(report.mu_canary > 0.2 && report.mu_canary <= report.mu);
        assert_int_equal(report.guesses, 20 * report.canaries);
    }
}

/* With no time there is no verdict; with some there are as many runs as it allows, and never a run
 * too many for it. */
static void test_audit_in_little_time(void **state) {
    const struct world *world = *state;
    struct attack options = options_of(world);
    struct dpmf_audit_report report;
    struct dpmf_error error = {0};
    options.audit.runs = 1000000;
    options.audit.minutes = 1e-9;
    assert_int_equal(
        dpmf_audit(world->store, &options.privacy, &options.audit, NULL, &report, &error),
        DPMF_ERR_USAGE_VALUE);
    assert_non_null(strstr(error.message, "no verdict"));
    options.audit.minutes = 0.05;
    int code = dpmf_audit(world->store, &options.privacy, &options.audit, NULL, &report, NULL);
    if (code == DPMF_ERR_USAGE_VALUE) return; /* a busy machine */
    assert_int_equal(report.findings & ~(unsigned)DPMF_AUDIT_LOSS, 0);
    assert_int_equal(report.worlds, 5);
    assert_true(report.runs_in + report.runs_out < 1000000);
}

static void test_audit_catches_catalogue(void **state) {
    const struct world *world = *state;
    struct attack options = options_of(world);
    struct dpmf_audit_report report;
    struct dpmf_error error = {0};
    options.privacy.catalogue = NULL;
    options.privacy.catalogue_from_ratings = true;
    assert_int_equal(
        dpmf_audit(world->store, &options.privacy, &options.audit, NULL, &report, &error),
        DPMF_ERR_PRIVACY_ACCUSED);
    assert_int_equal(report.findings, DPMF_AUDIT_CATALOGUE);
    assert_int_equal(report.n, 1);
    assert_non_null(strstr(error.message, "list of items"));
}

static int stop_at_once(void *self, const struct dpmf_progress *progress) {
    (void)self;
    return strcmp(progress->phase, "audit") == 0 && progress->done >= 4;
}

static void test_audit_stops(void **state) {
    const struct world *world = *state;
    struct attack options = options_of(world);
    struct dpmf_run run = dpmf_run_default();
    run.progress = stop_at_once;
    run.threads = 2;
    options.audit.runs = 100000;
    assert_int_equal(dpmf_audit(world->store, &options.privacy, &options.audit, &run, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
}

static void check_refused(const struct world *world, const struct attack *options, int code) {
    struct dpmf_error error = {0};
    assert_int_equal(
        dpmf_audit(world->store, &options->privacy, &options->audit, NULL, NULL, &error), code);
    assert_int_equal(error.code, code);
}

static void test_audit_refuses(void **state) {
    const struct world *world = *state;
    struct attack options = options_of(world);
    options.audit.runs = 0;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.audit.users = 0;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.audit.confidence = 1;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.audit.minutes = NAN;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.privacy.catalogue = "-";
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.privacy.catalogue = NULL;
    check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED);
    options = options_of(world);
    options.privacy.range_min = NAN;
    check_refused(world, &options, DPMF_ERR_PRIVACY_REFUSED);
    options = options_of(world);
    options.privacy.mechanism = "none";
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.privacy.catalogue = "/there/is/none";
    check_refused(world, &options, DPMF_ERR_IO_MISSING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_epsilon_of_randomised_response),
        cmocka_unit_test(test_level_of_mu),
        cmocka_unit_test(test_level_by_trial),
        cmocka_unit_test(test_bounds_have_power),
        cmocka_unit_test(test_bounds_of_certainty),
        cmocka_unit_test(test_guesses_are_ranked),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_audit_reports),
        cmocka_unit_test(test_audit_in_little_time),
        cmocka_unit_test(test_audit_catches_catalogue),
        cmocka_unit_test(test_audit_stops),
        cmocka_unit_test(test_audit_refuses),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}

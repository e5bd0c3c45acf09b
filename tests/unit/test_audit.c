/*
 * The audit's statistics on made-up guesses, whose mu is known, and dpmf_audit on a small store: what it refuses, what
 * it reports, and that it can be stopped. The mutants that it must catch are in tests/audit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "privacy/audit_bound.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

/* ---- the bound -------------------------------------------------------------------------------- */

/* n runs of the Gaussian experiment, the hardest there is for its mu. */
static void make_guesses(struct audit_guess *guesses, size_t n, double mu, uint64_t number) {
    struct random_stream random;
    random_stream_init(&random, 23, 1, number);
    for (size_t i = 0; i < n; i++) {
        bool is_in = random_u32(&random) & 1;
        double x = random_gaussian(&random) + (is_in ? mu : -mu) / 2;
        guesses[i] = (struct audit_guess){fabs(x), (x > 0) == is_in};
    }
}

static int count_excluded(double made, double claimed, double confidence, size_t n, int times) {
    struct audit_guess guesses[1024];
    int excluded = 0;
    assert_true(n <= 1024);
    for (int i = 0; i < times; i++) {
        struct audit_bound bound;
        make_guesses(guesses, n, made, (uint64_t)i);
        assert_int_equal(audit_bound_init(&bound, guesses, n, confidence, NULL), 0);
        excluded += audit_bound_excludes(&bound, claimed);
        audit_bound_free(&bound);
    }
    return excluded;
}

static void test_bound_holds(void **state) {
    (void)state;
    /* At the true mu, 1 in 20 is excluded; 400 times that is 20, with a deviation of 4.4. */
    int excluded = count_excluded(0.5, 0.5, 0.95, 100, 400);
    assert_in_range(excluded, 4, 40);
    assert_in_range(count_excluded(2, 2, 0.95, 50, 400), 2, 40);
    /* What tells less than is claimed is accused less often still. */
    assert_true(count_excluded(0.3, 0.5, 0.95, 100, 400) < excluded);
}

static void test_bound_has_power(void **state) {
    (void)state;
    assert_int_equal(count_excluded(1, 0.268, 0.999, 400, 20), 20);
    assert_true(count_excluded(0.536, 0.268, 0.99, 1000, 20) >= 15);
}

static void test_bound_of_certainty(void **state) {
    (void)state;
    struct audit_guess guesses[500];
    struct audit_bound bound;
    for (size_t i = 0; i < 500; i++) guesses[i] = (struct audit_guess){(double)i, true};
    assert_int_equal(audit_bound_init(&bound, guesses, 500, 0.999, NULL), 0);
    double low = audit_bound_mu(&bound);
    assert_true(low > 3.5 && low < 6); /* (1 - 2 Phi(-mu/2))^500 is about 0.001 */
    audit_bound_free(&bound);
    for (size_t i = 0; i < 500; i++) guesses[i].is_right = i % 2; /* knows nothing */
    assert_int_equal(audit_bound_init(&bound, guesses, 500, 0.999, NULL), 0);
    assert_true(audit_bound_mu(&bound) == 0);
    audit_bound_free(&bound);
    for (size_t i = 0; i < 500; i++)
        guesses[i] = (struct audit_guess){NAN, false}; /* always wrong */
    assert_int_equal(audit_bound_init(&bound, guesses, 500, 0.999, NULL), 0);
    assert_true(audit_bound_mu(&bound) == 0);
    audit_bound_free(&bound);
    assert_int_equal(audit_bound_init(&bound, guesses, 0, 0.999, NULL), 0);
    assert_true(audit_bound_mu(&bound) == 0);
    audit_bound_free(&bound);
}

static void test_bound_is_monotone(void **state) {
    (void)state;
    struct audit_guess guesses[200];
    struct audit_bound bound;
    make_guesses(guesses, 200, 1, 7);
    assert_int_equal(audit_bound_init(&bound, guesses, 200, 0.99, NULL), 0);
    double low = audit_bound_mu(&bound);
    assert_true(low > 0 && low < 1.2);
    bool excluded = true;
    for (double mu = 0; mu < 3; mu += 0.1) {
        bool now = audit_bound_excludes(&bound, mu);
        assert_true(excluded || !now);
        if (mu < low - 1e-9) assert_true(now);
        excluded = now;
    }
    audit_bound_free(&bound);
}

/* ---- the whole -------------------------------------------------------------------------------- */

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

static struct dpmf_audit_options options_of(const struct world *world) {
    struct dpmf_audit_options options = dpmf_audit_options_default();
    options.privacy.epsilon = 1;
    options.privacy.range_min = 1;
    options.privacy.range_max = 5;
    options.privacy.catalogue = world->items;
    options.runs = 10;
    return options;
}

/* By chance, 1 time in 1000, guessing alone may accuse. Nothing else may. */
static void audit_honest(const struct world *world, const struct dpmf_audit_options *options,
                         const struct dpmf_run *run, struct dpmf_audit_report *report) {
    int code = dpmf_audit(world->store, options, run, report, NULL);
    assert_int_equal(report->findings & ~(unsigned)DPMF_AUDIT_LOSS, 0);
    assert_int_equal(code, report->findings == 0 ? 0 : DPMF_ERR_PRIVACY_ACCUSED);
}

static void test_audit_reports(void **state) {
    const struct world *world = *state;
    struct dpmf_audit_options options = options_of(world);
    struct dpmf_audit_report report;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 3;
    options.users = 20;
    for (size_t i = 0; dpmf_mechanism_name(i, NULL); i++) {
        if (dpmf_mechanism_is_conditional(dpmf_mechanism_name(i, NULL))) {
            struct dpmf_error error;
            options.privacy.mechanism = dpmf_mechanism_name(i, NULL);
            assert_int_equal(dpmf_audit(world->store, &options, &run, &report, &error),
                             DPMF_ERR_USAGE_VALUE);
            assert_non_null(strstr(error.message, "cannot be audited"));
            continue;
        }
        options.privacy.mechanism = dpmf_mechanism_name(i, NULL);
        audit_honest(world, &options, &run, &report);
        assert_int_equal(report.runs_in + report.runs_out, 20);
        assert_int_equal(report.users, 20);
        assert_int_equal(report.users_of_store, 50);
        assert_int_equal(report.items, 30);
        assert_true(report.mu > 0.268 && report.mu < 0.26806);
        assert_true(report.releases >= 20 && report.draws == (uint64_t)report.noise_numbers);
        assert_true(report.contributions >= report.releases * 25);
        assert_true(report.noise > 0.9 && report.noise < 1.1);
    }
}

static void test_audit_in_little_time(void **state) {
    const struct world *world = *state;
    struct dpmf_audit_options options = options_of(world);
    struct dpmf_audit_report report;
    options.runs = 1000000;
    options.minutes = 1e-4;
    audit_honest(world, &options, NULL, &report);
    assert_true(report.runs_in + report.runs_out >= 1 && report.runs_in + report.runs_out < 100000);
}

static void test_audit_catches_catalogue(void **state) {
    const struct world *world = *state;
    struct dpmf_audit_options options = options_of(world);
    struct dpmf_audit_report report;
    struct dpmf_error error = {0};
    options.privacy.catalogue = NULL;
    options.privacy.catalogue_from_ratings = true;
    assert_int_equal(dpmf_audit(world->store, &options, NULL, &report, &error),
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
    struct dpmf_audit_options options = options_of(world);
    struct dpmf_run run = dpmf_run_default();
    run.progress = stop_at_once;
    run.threads = 2;
    options.runs = 100000;
    assert_int_equal(dpmf_audit(world->store, &options, &run, NULL, NULL), DPMF_ERR_BASE_CANCELLED);
}

static void check_refused(const struct world *world, const struct dpmf_audit_options *options,
                          int code) {
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_audit(world->store, options, NULL, NULL, &error), code);
    assert_int_equal(error.code, code);
}

static void test_audit_refuses(void **state) {
    const struct world *world = *state;
    struct dpmf_audit_options options = options_of(world);
    options.runs = 0;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.users = 0;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.confidence = 1;
    check_refused(world, &options, DPMF_ERR_USAGE_VALUE);
    options = options_of(world);
    options.minutes = NAN;
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
        cmocka_unit_test(test_bound_holds),
        cmocka_unit_test(test_bound_has_power),
        cmocka_unit_test(test_bound_of_certainty),
        cmocka_unit_test(test_bound_is_monotone),
        cmocka_unit_test(test_audit_reports),
        cmocka_unit_test(test_audit_in_little_time),
        cmocka_unit_test(test_audit_catches_catalogue),
        cmocka_unit_test(test_audit_stops),
        cmocka_unit_test(test_audit_refuses),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}

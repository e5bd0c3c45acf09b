/*
 * Releases made through the library's interface: what is refused, what the ledger gets to know,
 * what a wish for more protection changes, and that the file holds what the statement says.
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "ledger/ledger.h"
#include "ledger_entries.h"
#include "privacy/private_ratings.h"
#include "statement/accountant.h"
#include "store/store.h"
#include "temp_dir.h"

struct world {
    struct temp_dir dir;
    char ratings[TEMP_PATH_MAX], items[TEMP_PATH_MAX], ledger[TEMP_PATH_MAX], output[TEMP_PATH_MAX],
        wishes[TEMP_PATH_MAX];
    struct dpmf_store *store;
};

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    if (!world) return -1;
    temp_dir_make(&world->dir);
    temp_dir_file(&world->dir, "x.dpr", world->ratings);
    temp_dir_file(&world->dir, "items.csv", world->items);
    temp_dir_file(&world->dir, "ledger", world->ledger);
    if (dpmf_ledger_init(world->ledger, NULL, NULL) != 0) return -1;
    temp_dir_file(&world->dir, "out.safetensors", world->output);
    temp_dir_file(&world->dir, "wishes.csv", world->wishes);
    synth.users = 400;
    synth.items = 50;
    synth.ratings = 8000;
    synth.catalogue = world->items;
    assert_int_equal(dpmf_synth(world->ratings, &synth, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(world->ratings, NULL, NULL, &world->store, NULL), 0);
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

static struct dpmf_release_options good_options(const struct world *world) {
    struct dpmf_release_options options = dpmf_release_options_default();
    options.epsilon = 1;
    options.range_min = 1;
    options.range_max = 5;
    options.catalogue = world->items;
    options.ledger = world->ledger;
    return options;
}

/* A run that may take the place of the release before. */
static struct dpmf_run again(void) {
    struct dpmf_run run = dpmf_run_default();
    run.replace = true;
    return run;
}

static int count_entry(void *self, const struct ledger_entry *entry) {
    int *counts = self;
    counts[entry->state]++;
    return 0;
}

/* Entries by state. */
static void count_ledger(const struct world *world, int counts[5]) {
    memset(counts, 0, 5 * sizeof *counts);
    assert_int_equal(entries_visit(world->ledger, count_entry, counts, NULL), 0);
}

static void test_a_release(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_release_report report;
    int before[5] = {0}, after[5];
    if (access(world->ledger, F_OK) == 0) count_ledger(world, before);
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, &report, NULL),
                     0);
    count_ledger(world, after);
    assert_int_equal(after[LEDGER_COMMITTED], before[LEDGER_COMMITTED] + 1);
    assert_int_equal(after[LEDGER_RESERVED], before[LEDGER_RESERVED]);
    assert_true(report.mu <= accountant_mu(1, 1e-5));
    assert_true(report.mu > 0.999 * accountant_mu(1, 1e-5));
    assert_true(report.epsilon <= 1 + 1e-9);
    assert_int_equal(report.users, store_n_users(world->store));

    struct dpmf_model *model;
    struct dpmf_model_info info;
    assert_int_equal(dpmf_model_open(world->output, &model, NULL), 0);
    dpmf_model_info(model, &info);
    assert_string_equal(info.kind, "release");
    assert_int_equal(info.users, 0);
    assert_int_equal(info.items, 50);
    assert_int_equal(info.factors, report.factors);
    dpmf_model_close(model);
}

/* A slip of the hand must not cost anyone their ratings, whoever calls. */
static void test_over_its_inputs(void **state) {
    const struct world *world = *state;
    struct dpmf_error error;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_split_options split = dpmf_split_options_default();
    char link_name[TEMP_PATH_MAX], about[TEMP_PATH_MAX];
    const char *input = world->ratings;
    temp_dir_file(&world->dir, "link.dpr", link_name);
    temp_dir_file(&world->dir, "about.txt", about);
    temp_dir_write(about, "controller: x\n", 14);
    assert_int_equal(symlink(world->ratings, link_name), 0);
    options.about = about;
    const char *const outputs[] = {world->ratings, link_name, world->items, about};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        assert_int_equal(dpmf_release_make(world->store, outputs[i], &options, NULL, NULL, &error),
                         DPMF_ERR_USAGE_CONFLICT);
        assert_non_null(strstr(error.message, "written over"));
    }
    assert_int_equal(dpmf_import(&input, 1, link_name, NULL, NULL, NULL, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(
        dpmf_store_split(world->store, link_name, world->output, &split, NULL, NULL, &error),
        DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(
        dpmf_store_split(world->store, world->output, link_name, &split, NULL, NULL, &error),
        DPMF_ERR_USAGE_CONFLICT);
    /* Nothing was lost. */
    struct dpmf_store *again = NULL;
    assert_int_equal(dpmf_store_open(world->ratings, NULL, NULL, &again, NULL), 0);
    dpmf_store_close(again);
}

static void test_refusals(void **state) {
    const struct world *world = *state;
    struct dpmf_error error;
    struct dpmf_release_options options = good_options(world);
    options.catalogue = NULL;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, &error),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_non_null(strstr(error.hint, "{catalogue FILE}"));
    options = good_options(world);
    options.range_max = NAN;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_PRIVACY_REFUSED);
    options = good_options(world);
    options.declared_users = 100000;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_PRIVACY_REFUSED);
    const double bad_epsilons[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        options = good_options(world);
        options.epsilon = bad_epsilons[i];
        assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                         DPMF_ERR_USAGE_VALUE);
    }
    const double bad_deltas[] = {0, 1, -1e-5, NAN};
    for (size_t i = 0; i < 4; i++) {
        options = good_options(world);
        options.delta = bad_deltas[i];
        assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                         DPMF_ERR_USAGE_VALUE);
    }
    options = good_options(world);
    options.range_min = 5;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_USAGE_VALUE);
    options = good_options(world);
    options.range_min = -1e308;
    options.range_max = 1e308;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_USAGE_VALUE);
    options = good_options(world);
    options.catalogue_from_ratings = true;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_USAGE_CONFLICT);
    options = good_options(world);
    options.mechanism = "magic";
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, NULL, NULL, NULL),
                     DPMF_ERR_USAGE_VALUE);
}

/* What could not be published is given back; what is over the budget is not even begun. */
static void test_budget(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    int before[5], after[5];
    const struct dpmf_run run = again();
    options.population = "others";
    options.ledger_budget = (struct dpmf_budget){.mu = 0.35};
    assert_int_equal(dpmf_release_make(world->store, "/no/such/place", &options, NULL, NULL, NULL),
                     DPMF_ERR_IO_MISSING);
    count_ledger(world, before);
    assert_int_equal(before[LEDGER_RESERVED], 0);
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, &run, NULL, NULL), 0);
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, &run, NULL, NULL),
                     DPMF_ERR_PRIVACY_BUDGET);
    count_ledger(world, after);
    assert_int_equal(after[LEDGER_COMMITTED], before[LEDGER_COMMITTED] + 1);
    assert_int_equal(after[LEDGER_RESERVED], 0);
}

/* What is spent so far is reported, before and after; what is for research is recorded; a mistyped
 * path spends nothing. */
static void test_spent_so_far(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_release_report report;
    struct dpmf_error error = {0};
    const struct dpmf_run run = again();
    char other[TEMP_PATH_MAX];
    options.population = "watched";
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(
            dpmf_release_make(world->store, world->output, &options, &run, &report, NULL), 0);
        assert_string_equal(report.spent.name, "watched");
        assert_int_equal(report.spent.committed, i);
        assert_true(report.is_new_population == (i == 1) && !report.is_new_ledger);
        assert_true(report.spent.mu >= report.mu * sqrt(i));
    }
    options.research = true;
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, &run, &report, NULL),
                     0);
    assert_true(report.spent.research == 1 && report.spent.committed == 2);
    options.research = false;
    temp_dir_file(&world->dir, "legder", other);
    options.ledger = other;
    unlink(world->output);
    assert_int_equal(
        dpmf_release_make(world->store, world->output, &options, &run, &report, &error),
        DPMF_ERR_IO_MISSING);
    assert_non_null(strstr(error.hint, "ledger init"));
    assert_int_not_equal(access(other, F_OK), 0);
    assert_int_not_equal(access(world->output, F_OK), 0);
    options.has_insecure_seed = true; /* which no ledger is asked about */
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, &run, &report, NULL),
                     0);
    assert_null(report.spent.name);
}

/* ---- wishes ---------------------------------------------------------------------------------- */

struct scales {
    size_t n_whole, n_less;
    double less;
};

static int note_scale(void *self, int worker, const struct private_user *user,
                      struct dpmf_error *error) {
    struct scales *scales = self;
    (void)worker, (void)error;
    if (user->scale == 1) {
        scales->n_whole++;
    } else {
        scales->n_less++;
        scales->less = user->scale;
    }
    for (size_t i = 1; i < user->n; i++) assert_true(user->row[i] > user->row[i - 1]);
    for (size_t i = 0; i < user->n; i++) assert_true(fabsf(user->y[i]) <= 2);
    return 0;
}

static void test_wishes(void **state) {
    struct world *world = *state;
    static const char text[] = "user,epsilon\n1,0.25\n2,0\n3,7\nnobody,0.1\n";
    struct catalogue catalogue;
    struct user_wishes wishes;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    struct scales scales = {0};
    struct thread_pool *pool;
    temp_dir_write(world->wishes, text, sizeof text - 1);
    assert_int_equal(catalogue_read(world->items, NULL, &catalogue, NULL), 0);
    assert_int_equal(
        user_wishes_read(world->wishes, &(struct id_form){.takes_text = true}, NULL, &wishes, NULL),
        0);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &catalogue,
                                                    .wishes = &wishes,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = 1 << 24,
                                                    .threads = 1};
    assert_int_equal(private_ratings_build(world->store, &options, NULL, &ratings, &report, NULL),
                     0);
    assert_int_equal(report.users_with_a_wish, 3);
    assert_int_equal(report.users_left_out, 1);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    const struct private_visit visit = {note_scale, &scales, NULL, NULL};
    assert_int_equal(private_ratings_visit(ratings, pool, &visit, NULL), 0);
    assert_int_equal(scales.n_less, 1);
    assert_int_equal(scales.n_whole, store_n_users(world->store) - 2);
    /* mu adds up to at most what the wish allows */
    assert_true(scales.less * accountant_mu(1, 1e-5) <= accountant_mu(0.25, 1e-5));
    assert_true(scales.less * accountant_mu(1, 1e-5) > 0.9999 * accountant_mu(0.25, 1e-5));
    thread_pool_free(pool);
    private_ratings_free(ratings);
    user_wishes_free(&wishes);
    catalogue_free(&catalogue);
}

/* ---- before anything is spent ---------------------------------------------------------------- */

struct curator {
    const char *ledger, *output;
    int calls, answer;
    struct dpmf_release_report seen;
};

static int add_one(void *self, const struct ledger_entry *entry) {
    (void)entry;
    ++*(int *)self;
    return 0;
}

static int count_entries(const char *ledger) {
    int n = 0;
    assert_int_equal(entries_visit(ledger, add_one, &n, NULL), 0);
    return n;
}

static int look_at_counts(void *self, const struct dpmf_release_report *report) {
    struct curator *curator = self;
    curator->calls++;
    curator->seen = *report;
    assert_int_equal(count_entries(curator->ledger), 0); /* not touched yet */
    assert_int_not_equal(access(curator->output, F_OK), 0);
    return curator->answer;
}

static void expect_counts(const struct dpmf_release_report *report, uint64_t n_users) {
    assert_int_equal(report->wishes, 5);
    assert_int_equal(report->users_with_a_wish, 3);
    assert_int_equal(report->wishes_of_nobody, 2);
    assert_int_equal(report->wishes_twice, 2);
    assert_int_equal(report->wishes_above, 1);
    assert_int_equal(report->users + report->users_left_out, n_users);
    assert_true(report->not_in_catalogue > 0);
    uint64_t all = report->ratings + report->not_in_catalogue + report->out_of_range;
    assert_true(all > 7900 && all < 8000); /* without those of the user who is left out */
}

/* The curator sees all counts, may end it there, and a wish that matches nobody ends nothing. */
static void test_before_spending(void **state) {
    struct world *world = *state;
    static const char *const mechanisms[] = {"residual", "posterior"};
    static const char text[] = "user,epsilon\n1,0.25\n2,0\n2,0.5\n3,7\nnobody,0.1\nnobody,0\nx,1\n";
    static const char few[] = "item\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    char items[TEMP_PATH_MAX];
    temp_dir_write(world->wishes, text, sizeof text - 1);
    temp_dir_file(&world->dir, "few.csv", items);
    temp_dir_write(items, few, sizeof few - 1);
    for (size_t m = 0; m < 2; m++) {
        char ledger[TEMP_PATH_MAX];
        struct curator curator = {.ledger = ledger, .output = world->output, .answer = 1};
        struct dpmf_run run = dpmf_run_default();
        struct dpmf_release_options options = good_options(world);
        struct dpmf_release_report report;
        temp_dir_file(&world->dir, mechanisms[m], ledger);
        assert_int_equal(dpmf_ledger_init(ledger, NULL, NULL), 0);
        options.before_spending_self = &curator;
        options.mechanism = mechanisms[m];
        options.posterior.rounds = m ? 5 : 0;
        options.catalogue = items;
        options.user_privacy = world->wishes;
        options.ledger = ledger;
        options.before_spending = look_at_counts;
        unlink(world->output);
        assert_int_equal(
            dpmf_release_make(world->store, world->output, &options, &run, &report, NULL),
            DPMF_ERR_BASE_CANCELLED);
        assert_int_equal(count_entries(ledger), 0);
        assert_int_not_equal(access(world->output, F_OK), 0);
        curator.answer = 0;
        assert_int_equal(
            dpmf_release_make(world->store, world->output, &options, &run, &report, NULL), 0);
        assert_int_equal(curator.calls, 2);
        if (m == 0) expect_counts(&curator.seen, 400);
        assert_int_equal(report.wishes_of_nobody, 2);
    }
}

static int stop_at_once(void *self, const struct dpmf_progress *progress) {
    (void)self;
    return strcmp(progress->phase, "private releases") == 0;
}

static void test_interrupted(void **state) {
    const struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_run run = dpmf_run_default();
    int after[5];
    run.progress = stop_at_once;
    unlink(world->output);
    assert_int_equal(dpmf_release_make(world->store, world->output, &options, &run, NULL, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_not_equal(access(world->output, F_OK), 0);
    count_ledger(world, after);
    assert_int_equal(after[LEDGER_RESERVED], 0);
}

/* From the reservation on, no file may become larger than the ledger is then. */
static int limit_files(void *self, const struct dpmf_progress *progress) {
    const struct world *world = self;
    struct stat status;
    struct rlimit limit;
    if (strcmp(progress->phase, "private releases") != 0) return 0;
    assert_int_equal(stat(world->ledger, &status), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = (rlim_t)status.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return 0;
}

/* The ledger cannot be written any more when the release is out: it grows by a letter when
 * "reserved" becomes "committed", and is longer than the release. */
static void test_full_disk_at_commit(void **state) {
    struct world *world = *state;
    struct dpmf_release_options options = good_options(world);
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_error error = {0};
    struct rlimit limit;
    struct stat release, ledger;
    int before[5], after[5];
    for (unsigned i = 0; i < 400; i++) {
        struct ledger_entry entry = {
            .state = LEDGER_RESEARCH, .mu = 0.1, .delta = 1e-5, .epsilon = 1, .time = 1};
        snprintf(entry.population, sizeof entry.population, "others");
        snprintf(entry.id, sizeof entry.id, "%032x", i + 1);
        assert_int_equal(ledger_record(world->ledger, NULL, false, &entry, NULL, NULL), 0);
    }
    count_ledger(world, before);
    unlink(world->output);
    run.progress = limit_files;
    run.progress_self = world;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int code = dpmf_release_make(world->store, world->output, &options, &run, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);

    assert_int_equal(code, DPMF_ERR_IO_NO_SPACE);
    assert_int_equal(stat(world->output, &release), 0);
    assert_int_equal(stat(world->ledger, &ledger), 0);
    assert_true(release.st_size < ledger.st_size);
    count_ledger(world, after);
    assert_int_equal(after[LEDGER_RESERVED], before[LEDGER_RESERVED] + 1);
    assert_int_equal(after[LEDGER_COMMITTED], before[LEDGER_COMMITTED]);
    assert_string_equal(error.file, world->ledger);
    assert_non_null(strstr(error.message, "the release is published"));
    assert_non_null(strstr(error.message, "cannot write"));
    assert_non_null(strstr(error.hint, world->output));
    assert_non_null(strstr(error.hint, "counts as spent: do not return it"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_release),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_spent_so_far),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_before_spending),
        cmocka_unit_test(test_over_its_inputs),
        cmocka_unit_test(test_full_disk_at_commit),
    };
    return cmocka_run_group_tests(tests, make_world, end_world);
}

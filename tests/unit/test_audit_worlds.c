/*
 * Whole worlds, compared: honest ones of every text format, with wishes, any number of threads and
 * ranks, agree to the last digit; and a watched run is never a release. No chance is involved. What
 * must not agree is in tests/audit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "audit/audit_worlds.h"
#include "temp_dir.h"
#include "thread_cluster.h"

enum { USERS = 60, ITEMS = 40, RANKS_MAX = 4 };

/* How a format writes a record; NULL: it has no header. */
struct format {
    const char *name, *header, *record, *mischief;
};

static const struct format formats[] = {
    {"csv", "user,item,rating\n", "%s,%d,%d\n",
     "mallory\nmallory,3\nmallory,4,none\n,,\nmallory,\"3,4,1\nmallory,3\",1\n"},
    {"tsv", "user\titem\trating\n", "%s\t%d\t%d\n", "mallory\nmallory\t3\nmallory\t4\tnone\n"},
    {"movielens", "", "%s::%d::%d::1\n", "mallory::3::4\nmallory::matrix::good\nmallory\n"},
    {"jsonl", "", "{\"user\":\"%s\",\"item\":\"%d\",\"rating\":%d}\n",
     "{\"user\":\"mallory\"}\n{\n[]\n{\"user\":\"mallory\",\"item\":\"3\",\"rating\":\"none\"}\n"},
};

struct place {
    struct temp_dir dir;
    char items[TEMP_PATH_MAX], wishes[TEMP_PATH_MAX], output[TEMP_PATH_MAX], ledger[TEMP_PATH_MAX];
    char without[TEMP_PATH_MAX], with[TEMP_PATH_MAX], alone[TEMP_PATH_MAX];
};

static void write_canary(FILE *file, const struct format *format, int first, int end) {
    for (int j = first; j < end; j++) fprintf(file, format->record, "mallory", j, j % 2 ? 1 : 5);
}

static void write_world(const char *path, const struct format *format, bool others, bool canary) {
    FILE *file = fopen(path, "w");
    unsigned state = 1;
    assert_non_null(file);
    fputs(format->header, file);
    if (canary) {
        fputs(format->mischief, file);
        write_canary(file, format, 0, ITEMS / 2);
    }
    for (int u = 0; u < USERS; u++) {
        for (int j = 0; j < ITEMS - 2; j++) {
            char user[16];
            state = state * 1664525u + 1013904223u;
            if (!others || (state >> 16) % 2) continue;
            snprintf(user, sizeof user, "u%d", u);
            fprintf(file, format->record, user, j, 1 + (int)((state >> 20) % 5));
        }
        if (canary && u % 7 == 0) fputs(format->mischief, file);
    }
    if (canary) write_canary(file, format, ITEMS / 2, ITEMS);
    assert_int_equal(fclose(file), 0);
}

static void write_texts(const struct place *place, const struct format *format) {
    write_world(place->without, format, true, false);
    write_world(place->with, format, true, true);
    write_world(place->alone, format, false, true);
}

static int make_place(void **state) {
    struct place *place = calloc(1, sizeof *place);
    if (!place) return -1;
    temp_dir_make(&place->dir);
    temp_dir_file(&place->dir, "items.csv", place->items);
    temp_dir_file(&place->dir, "wishes.csv", place->wishes);
    temp_dir_file(&place->dir, "out.safetensors", place->output);
    temp_dir_file(&place->dir, "ledger", place->ledger);
    temp_dir_file(&place->dir, "without", place->without);
    temp_dir_file(&place->dir, "with", place->with);
    temp_dir_file(&place->dir, "alone", place->alone);
    FILE *items = fopen(place->items, "w"), *wishes = fopen(place->wishes, "w");
    assert_true(items && wishes);
    fputs("item\n", items);
    for (int j = 0; j < ITEMS; j++) fprintf(items, "%d\n", j);
    fputs("user,epsilon\nmallory,2\nu3,1\nu4,0\n", wishes);
    assert_int_equal(fclose(items) | fclose(wishes), 0);
    *state = place;
    return 0;
}

static int end_place(void **state) {
    struct place *place = *state;
    temp_dir_remove(&place->dir);
    free(place);
    return 0;
}

static struct dpmf_release_options options_of(const struct place *place) {
    struct dpmf_release_options options = dpmf_release_options_default();
    options.epsilon = 4;
    options.range_min = 1;
    options.range_max = 5;
    options.catalogue = place->items;
    options.ledger = place->ledger;
    options.has_insecure_seed = true;
    options.insecure_seed = 7;
    return options;
}

/* ---- comparing ------------------------------------------------------------------------------- */

struct job {
    const struct place *place;
    struct dpmf_release_options options;
    struct dpmf_input_options input;
    int threads;
    double scale;
    struct audit_difference difference[RANKS_MAX];
};

static void compare(void *self, const struct dpmf_cluster *cluster) {
    struct job *job = self;
    struct dpmf_run run = dpmf_run_default();
    run.threads = job->threads;
    run.cluster = cluster;
    const struct audit_setting setting = {&job->input, &job->options, &run, job->place->output};
    struct audit_world without, with, alone;
    assert_int_equal(audit_world_run(&setting, job->place->without, NULL, &without, NULL), 0);
    assert_int_equal(audit_world_run(&setting, job->place->with, &without.transcript, &with, NULL),
                     0);
    assert_int_equal(
        audit_world_run(&setting, job->place->alone, &without.transcript, &alone, NULL), 0);
    assert_int_equal(audit_worlds_compare(&setting, &without, &with, &alone, job->scale,
                                          &job->difference[cluster_rank(cluster)], NULL),
                     0);
    audit_world_free(&without);
    audit_world_free(&with);
    audit_world_free(&alone);
}

static struct job job_of(const struct place *place, const struct format *format) {
    struct job job = {.place = place,
                      .options = options_of(place),
                      .input = dpmf_input_options_default(),
                      .threads = 1,
                      .scale = 1};
    job.input.format = format->name;
    job.input.by_record = true;
    write_texts(place, format);
    return job;
}

static void check_equal(const struct audit_difference *difference) {
    if (difference->findings) print_message("%s\n", difference->reason);
    assert_int_equal(difference->findings, 0);
    assert_true(difference->rounds > 0 && difference->numbers > ITEMS);
    assert_true(difference->norm > 0.1 && difference->norm <= 1);
}

static void test_formats(void **state) {
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct job job = job_of(*state, &formats[f]);
        compare(&job, NULL);
        check_equal(&job.difference[0]);
    }
}

static void test_mechanisms_and_threads(void **state) {
    struct job job = job_of(*state, &formats[0]);
    for (size_t i = 0; dpmf_mechanism_name(i, NULL); i++) {
        job.options.mechanism = dpmf_mechanism_name(i, NULL);
        if (dpmf_mechanism_is_conditional(job.options.mechanism)) continue;
        const bool ranks = strcmp(job.options.mechanism, "events") == 0; /* without a range */
        job.options.range_min = ranks ? NAN : 1;
        job.options.range_max = ranks ? NAN : 5;
        job.threads = 1 + (int)(i % 3);
        compare(&job, NULL);
        check_equal(&job.difference[0]);
    }
}

static void test_ranks(void **state) {
    struct job job = job_of(*state, &formats[0]);
    struct audit_difference one;
    compare(&job, NULL);
    one = job.difference[0];
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++) {
        assert_int_equal(thread_cluster_run(ranks, 60, compare, &job), 0);
        for (int r = 0; r < ranks; r++) {
            check_equal(&job.difference[r]);
            assert_true(job.difference[r].norm == one.norm);
            assert_int_equal(job.difference[r].numbers, one.numbers);
        }
    }
}

/* A wish is kept to the digit, and a smaller one would have been noticed. */
static void test_wishes(void **state) {
    const struct place *place = *state;
    struct job job = job_of(place, &formats[0]);
    compare(&job, NULL);
    const double whole = job.difference[0].norm;
    job.options.user_privacy = place->wishes;
    job.scale = 0.55; /* mu of epsilon 2 by that of epsilon 4, at 1e-5: 0.5415 */
    compare(&job, NULL);
    check_equal(&job.difference[0]);
    assert_true(job.difference[0].norm < 0.55 * whole && job.difference[0].norm > 0.53 * whole);
    job.scale = 0.5;
    compare(&job, NULL);
    assert_int_equal(job.difference[0].findings, DPMF_AUDIT_NORM);
}

/* ---- what differs is found ------------------------------------------------------------------- */

/* Someone else's rating is another in the second world. */
static void test_other_ratings(void **state) {
    const struct place *place = *state;
    struct job job = job_of(place, &formats[0]);
    FILE *file = fopen(place->with, "a");
    assert_non_null(file);
    fputs("u1,0,1\nu1,0,5\nu2,39,1\n", file);
    fclose(file);
    compare(&job, NULL);
    assert_int_equal(job.difference[0].findings, DPMF_AUDIT_WORLDS);
}

static void test_other_catalogue(void **state) {
    const struct place *place = *state;
    struct job job = job_of(place, &formats[0]);
    job.options.catalogue = NULL;
    job.options.catalogue_from_ratings = true;
    compare(&job, NULL);
    assert_int_equal(job.difference[0].findings, DPMF_AUDIT_CATALOGUE);
}

/* The second world ends in an error, and the first did not: whoever caused it decides whether there
 * is a release. */
static void test_one_decides(void **state) {
    const struct place *place = *state;
    struct job job = job_of(place, &formats[0]);
    temp_dir_write(place->with, "user\nmallory\n", 13);
    compare(&job, NULL);
    assert_int_equal(job.difference[0].findings, DPMF_AUDIT_WORLDS);
    assert_non_null(strstr(job.difference[0].reason, "prevents the release"));
}

/* ---- a watched run is no release ------------------------------------------------------------- */

static int see(void *self, const struct noisy_sum_round *round, const int64_t *sums,
               struct dpmf_error *error) {
    (void)round, (void)sums, (void)error;
    ++*(int *)self;
    return 0;
}

static int see_noisy(void *self, const struct noisy_sum_round *round, int64_t *sums,
                     struct dpmf_error *error) {
    return see(self, round, sums, error);
}

static void test_watched_is_marked(void **state) {
    const struct place *place = *state;
    const struct job job = job_of(place, &formats[0]);
    struct dpmf_release_options options = options_of(place);
    struct dpmf_store *store = NULL;
    struct dpmf_statement statement;
    int seen = 0;
    const struct release_watch watch = {.sums = {&seen, see, see_noisy}};
    options.has_insecure_seed = false; /* the operating system's noise, and still */
    assert_int_equal(dpmf_store_open(place->without, &job.input, NULL, &store, NULL), 0);
    assert_int_equal(release_make_watched(store, place->output, &options, NULL, &watch, NULL, NULL),
                     0);
    assert_true(seen >= 2);
    assert_int_equal(dpmf_release_statement(place->output, &statement, NULL), 0);
    assert_true(statement.is_insecure);
    dpmf_statement_free(&statement);
    assert_int_not_equal(access(place->ledger, F_OK), 0);
    assert_int_equal(dpmf_ledger_init(place->ledger, NULL, NULL), 0);
    unlink(place->output);
    assert_int_equal(dpmf_release_make(store, place->output, &options, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_release_statement(place->output, &statement, NULL), 0);
    assert_false(statement.is_insecure);
    dpmf_statement_free(&statement);
    dpmf_store_close(store);
    unlink(place->ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),       cmocka_unit_test(test_mechanisms_and_threads),
        cmocka_unit_test(test_ranks),         cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_other_ratings), cmocka_unit_test(test_other_catalogue),
        cmocka_unit_test(test_one_decides),   cmocka_unit_test(test_watched_is_marked),
    };
    return cmocka_run_group_tests(tests, make_place, end_place);
}

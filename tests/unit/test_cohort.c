/*
 * New users: who takes part in a release follows from each user's own records and the dates, and
 * from nothing else; what cannot be decided leaves a user out; dates and days are what they should
 * be; and what a statement says of it comes back, and nothing else does. The ledger's sums are in
 * test_ledger.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "base/threads.h"
#include "made_release.h"
#include "privacy/private_ratings.h"
#include "statement/statement.h"
#include "store/store.h"
#include "temp_dir.h"

/* ---- days ------------------------------------------------------------------------------------ */

static void test_days(void **state) {
    (void)state;
    char text[DAY_TEXT];
    int32_t day = 0, first = 0, last = 0;
    assert_true(day_parse("1970-01-01", 10, &day));
    assert_int_equal(day, 0);
    assert_true(day_parse("2026-01-01", 10, &day));
    assert_int_equal(day, 20454); /* date -d 2026-01-01 +%s is 1767225600 */
    assert_true(day_parse("0001-01-01", 10, &first) && day_parse("9999-12-31", 10, &last));
    assert_int_equal(last - first + 1, 3652059); /* days of 9999 years */
    for (int32_t d = first; d <= last; d++) {
        day_format(d, text);
        assert_true(day_parse(text, 10, &day));
        assert_int_equal(day, d);
    }
    assert_true(day_has_text(first) && day_has_text(last));
    assert_false(day_has_text(first - 1) || day_has_text(last + 1));
    static const char *const none[] = {"",           "2026-1-01",   "2026-02-29", "1900-02-29",
                                       "2026-00-01", "2026-13-01",  "2026-04-31", "0000-01-01",
                                       "2026/01/01", "2026-01-01 ", "+026-01-01", "2026-01-00"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(day_parse(none[i], strlen(none[i]), &day));
    assert_true(day_parse("2000-02-29", 10, &day));
}

/* ---- periods --------------------------------------------------------------------------------- */

enum { NEW_YEAR = 1767225600 }; /* 2026-01-01, 00:00 UTC */

static struct cohort declare(const char *since, const char *before, bool is_complete) {
    struct cohort cohort;
    assert_null(cohort_declare(since, before, is_complete, &cohort));
    return cohort;
}

static void test_declared(void **state) {
    (void)state;
    struct cohort cohort;
    assert_false(declare(NULL, NULL, false).is_declared);
    assert_true(declare("2026-01-01", NULL, true).is_complete);
    assert_non_null(cohort_declare("2026-01-01", "2026-01-01", false, &cohort)); /* empty */
    assert_non_null(cohort_declare("2026-01-02", "2026-01-01", false, &cohort));
    assert_non_null(cohort_declare("yesterday", NULL, false, &cohort));
    assert_non_null(cohort_declare(NULL, "2026-02-30", false, &cohort));
    assert_non_null(cohort_declare(NULL, NULL, true, &cohort)); /* complete, but of everyone */
    const struct cohort bad[] = {
        {.is_declared = true},
        {.has_since = true},
        {.is_complete = true},
        {.is_declared = true, .has_since = true, .since = INT32_MAX},
        {.is_declared = true, .has_before = true, .since = 1},
        {.is_declared = true, .has_since = true, .has_before = true, .since = 5, .before = 5},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(cohort_is_valid(&bad[i]));
}

static enum cohort_place place(const char *since, const char *before, int64_t a, int64_t b) {
    const struct cohort cohort = declare(since, before, false);
    const int64_t times[] = {a, b};
    return cohort_place_of(&cohort, times, 2);
}

static void test_places(void **state) {
    (void)state;
    const int64_t day = 86400, late = NEW_YEAR + 1000 * day;
    assert_int_equal(place("2026-01-01", NULL, late, NEW_YEAR), COHORT_IN);
    assert_int_equal(place("2026-01-01", NULL, late, NEW_YEAR - 1), COHORT_OUT);
    assert_int_equal(place(NULL, "2026-01-01", late, NEW_YEAR - 1), COHORT_IN);
    assert_int_equal(place(NULL, "2026-01-01", late, NEW_YEAR), COHORT_OUT);
    assert_int_equal(place("2026-01-01", "2026-01-02", late, NEW_YEAR + day - 1), COHORT_IN);
    assert_int_equal(place("2026-01-01", "2026-01-02", late, NEW_YEAR + day), COHORT_OUT);
    assert_int_equal(place("1970-01-01", NULL, 0, late), COHORT_IN);
    assert_int_equal(place("1970-01-01", NULL, -1, late), COHORT_OUT);
    assert_int_equal(place("1969-12-31", "1970-01-01", -1, late), COHORT_IN);
    /* Without a time, or with one that no date has, nobody knows which record is the first. */
    const int64_t beyond[] = {STORE_NO_TIME, INT64_MAX, NEW_YEAR * INT64_C(1000), -62135596801,
                              253402300800};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        assert_int_equal(place("2026-01-01", NULL, late, beyond[i]), COHORT_UNKNOWN);
        assert_int_equal(place(NULL, "2026-01-01", beyond[i], 0), COHORT_UNKNOWN);
    }
    const struct cohort cohort = declare("2026-01-01", NULL, false);
    assert_int_equal(cohort_place_of(&cohort, NULL, 3), COHORT_UNKNOWN);
}

/* ---- one user's records decide about that user ----------------------------------------------- */

enum { USERS = 60, RECORDS = 6, ITEMS = 40 };

/* SplitMix64: the same records in every run. */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

struct person {
    int64_t time[RECORDS];
    int item[RECORDS], rating[RECORDS]; /* some are outside the catalogue or the range */
};

static void make_people(struct person people[USERS]) {
    uint64_t state = 7;
    for (int u = 0; u < USERS; u++) {
        const uint64_t kind = draw(&state) % 6;
        for (int r = 0; r < RECORDS; r++) {
            people[u].item[r] = (int)(draw(&state) % ITEMS) * RECORDS + r; /* all different */
            people[u].rating[r] = 1 + (int)(draw(&state) % 6);             /* 6 is out of range */
            people[u].time[r] =
                NEW_YEAR + (int64_t)(draw(&state) % 1000000) + (kind < 3 ? 0 : -500000);
        }
        if (kind == 5) people[u].time[draw(&state) % RECORDS] = STORE_NO_TIME;
    }
}

struct packed {
    size_t n;
    char user[USERS + 1][64];
    struct private_ratings_report report;
};

static int take_user(void *self, int worker, const struct private_user *user,
                     struct dpmf_error *error) {
    struct packed *packed = self;
    (void)worker;
    (void)error;
    assert_true(packed->n <= USERS);
    snprintf(packed->user[packed->n++], sizeof packed->user[0], "%016llx %016llx %.3g",
             (unsigned long long)checksum64(user->row, user->n * sizeof *user->row),
             (unsigned long long)checksum64(user->y, user->n * sizeof *user->y), user->scale);
    return 0;
}

static int compare_users(const void *a, const void *b) { return strcmp(a, b); }

/* Packs the people, but for those that are left out, as a private run would. */
static void pack(const struct person *people, const bool *is_out, const struct cohort *cohort,
                 const char *shards, struct packed *packed) {
    char *text = malloc(USERS * RECORDS * 64 + 64), *at = text;
    struct catalogue catalogue = {0};
    struct private_ratings *ratings = NULL;
    struct thread_pool *pool = NULL;
    struct dpmf_store *store = NULL;
    const struct dpmf_run run = dpmf_run_default();
    struct dpmf_input_options input = dpmf_input_options_default();
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &catalogue,
                                                    .cohort = cohort,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = 1 << 20,
                                                    .threads = 1};
    const struct private_visit visit = {.visit = take_user, .self = packed};
    assert_non_null(text);
    input.by_record = true;
    at += sprintf(at, "user,item,rating,timestamp\n");
    for (int r = 0; r < RECORDS; r++)
        for (int u = 0; u < USERS; u++) {
            char time[24] = "";
            if (is_out[u]) continue;
            if (people[u].time[r] != STORE_NO_TIME)
                snprintf(time, sizeof time, "%lld", (long long)people[u].time[r]);
            at += sprintf(at, "u%d,i%d,%d,%s\n", u, people[u].item[r], people[u].rating[r], time);
        }
    temp_dir_write("in.csv", text, (size_t)(at - text));
    free(text);
    assert_int_equal(dpmf_store_open("in.csv", &input, NULL, &store, NULL), 0);
    if (shards) {
        struct dpmf_store *whole = store;
        assert_int_equal(dpmf_store_shard(whole, shards, 2, NULL, NULL, NULL), 0);
        dpmf_store_close(whole);
        assert_int_equal(dpmf_store_open(shards, NULL, NULL, &store, NULL), 0);
    }
    memset(packed, 0, sizeof *packed);
    assert_int_equal(catalogue_take("items.csv", store, &run, &catalogue, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, &run, &ratings, &packed->report, NULL),
                     0);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(private_ratings_visit(ratings, pool, &visit, NULL), 0);
    thread_pool_free(pool);
    private_ratings_free(ratings);
    catalogue_free(&catalogue);
    dpmf_store_close(store);
    qsort(packed->user, packed->n, sizeof packed->user[0], compare_users);
}

/* A catalogue without every tenth item. */
static void write_catalogue(void) {
    char text[ITEMS * RECORDS * 8 + 16], *at = text + sprintf(text, "item\n");
    for (int i = 0; i < ITEMS * RECORDS; i++)
        if (i % 10 != 3) at += sprintf(at, "i%d\n", i);
    temp_dir_write("items.csv", text, (size_t)(at - text));
}

static void expect_counts(const struct person *people, const struct cohort *cohort,
                          const struct packed *packed) {
    uint64_t in = 0, out = 0, unknown = 0;
    for (int u = 0; u < USERS; u++) {
        const enum cohort_place where = cohort_place_of(cohort, people[u].time, RECORDS);
        in += where == COHORT_IN;
        out += where == COHORT_OUT;
        unknown += where == COHORT_UNKNOWN;
    }
    assert_true(in > 5 && out > 5 && unknown > 5); /* or it would be no test */
    assert_int_equal(packed->report.users + packed->report.users_left_out, in);
    assert_int_equal(packed->n, packed->report.users);
    assert_int_equal(packed->report.users_of_other_periods, out);
    assert_int_equal(packed->report.users_without_time, unknown);
}

/* Whoever is taken away, everyone else is in the release or not as before, bit for bit. */
static void test_others_do_not_matter(void **state) {
    (void)state;
    static struct person people[USERS];
    static struct packed whole, sharded, without;
    const struct cohort cohort = declare("2026-01-01", "2026-01-11", false);
    struct temp_dir dir, shards = {"shards"};
    char back[TEMP_PATH_MAX];
    bool is_out[USERS] = {false};
    assert_non_null(getcwd(back, sizeof back));
    temp_dir_make(&dir);
    assert_int_equal(chdir(dir.path), 0);
    write_catalogue();
    make_people(people);
    pack(people, is_out, &cohort, NULL, &whole);
    expect_counts(people, &cohort, &whole);
    pack(people, is_out, &cohort, shards.path, &sharded);
    assert_int_equal(sharded.n, whole.n);
    assert_memory_equal(sharded.user, whole.user, sizeof whole.user);
    temp_dir_remove(&shards);
    for (int u = 0; u < USERS; u++) {
        const bool was_in = cohort_place_of(&cohort, people[u].time, RECORDS) == COHORT_IN;
        size_t found = 0;
        is_out[u] = true;
        pack(people, is_out, &cohort, NULL, &without);
        is_out[u] = false;
        for (size_t i = 0; i < whole.n && found < without.n; i++)
            found += strcmp(whole.user[i], without.user[found]) == 0;
        assert_int_equal(found, without.n);
        assert_true(without.n + was_in >= whole.n && without.n <= whole.n);
    }
    assert_int_equal(chdir(back), 0);
    temp_dir_remove(&dir);
}

/* A first record counts although it is of an item outside the catalogue, or out of range. */
static void test_before_anything_is_dropped(void **state) {
    (void)state;
    static struct person people[USERS];
    static struct packed packed;
    const struct cohort cohort = declare("2026-01-01", NULL, false);
    struct temp_dir dir;
    char back[TEMP_PATH_MAX];
    bool is_out[USERS] = {false};
    assert_non_null(getcwd(back, sizeof back));
    temp_dir_make(&dir);
    assert_int_equal(chdir(dir.path), 0);
    write_catalogue();
    make_people(people);
    for (int u = 0; u < USERS; u++) {
        for (int r = 0; r < RECORDS; r++) people[u].time[r] = NEW_YEAR + 5;
        people[u].time[0] = NEW_YEAR - 5;
        people[u].item[0] = 3; /* not in the catalogue */
        if (u % 2) people[u].item[0] = 0, people[u].rating[0] = 6;
    }
    pack(people, is_out, &cohort, NULL, &packed);
    assert_int_equal(packed.report.users_of_other_periods, USERS);
    assert_int_equal(packed.n, 0);
    assert_int_equal(chdir(back), 0);
    temp_dir_remove(&dir);
}

/* ---- statements ------------------------------------------------------------------------------ */

static void test_statement(void **state) {
    (void)state;
    static const char *const dates[][2] = {
        {"2026-01-01", NULL}, {NULL, "2026-07-01"}, {"2026-01-01", "2026-07-01"}};
    for (int i = 0; i < 6; i++) {
        struct statement statement = statement_make(1, 3883, 8, 14), read;
        statement.cohort = declare(dates[i / 2][0], dates[i / 2][1], i % 2);
        char *json = statement_to_json(&statement), *text = statement_to_text(&statement);
        assert_int_equal(statement_check(&statement, NULL), 0);
        assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
        assert_memory_equal(&read.cohort, &statement.cohort, sizeof read.cohort);
        assert_non_null(strstr(text, "not verified by dpmf"));
        for (int j = 0; j < 2; j++)
            if (dates[i / 2][j]) assert_non_null(strstr(text, dates[i / 2][j]));
        assert_int_equal(strstr(text, "add up, whatever their") != NULL, i % 2 == 0);
        assert_int_equal(strstr(text, "The curator declares that every") != NULL, i % 2 == 1);
        /* A promise to everyone, and no more than without dates. */
        assert_non_null(strstr(json, "\"kind\":\"proven\""));
        free(json);
        free(text);
    }
}

/* Another date, another declaration, or other words. */
static void test_changed_statement(void **state) {
    (void)state;
    static const char *const changes[][2] = {
        {"2026-01-01", "2026-13-01"},
        {"2026-01-01", "2026-07-01"}, /* empty */
        {"2026-01-01", "2027-01-01"}, /* the wrong way round */
        {"\"complete_histories\":true", "\"complete_histories\":null"},
        {"\"complete_histories\":true", "\"complete_histories\":false"}, /* the sentence differs */
        {"only if that is true", "as that is true, too"},
        {"first_record_since", "first_record_seince"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct statement statement = statement_make(1, 3883, 8, 14), read;
        statement.cohort = declare("2026-01-01", "2026-07-01", true);
        char *json = statement_to_json(&statement), changed[65536];
        char *at = strstr(json, changes[i][0]);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json, changes[i][1],
                 at + strlen(changes[i][0]));
        assert_int_equal(statement_from_json(changed, strlen(changed), &read, NULL),
                         DPMF_ERR_MODEL_CORRUPT);
        free(json);
    }
    struct statement statement = statement_make(1, 3883, 8, 14);
    statement.cohort = (struct cohort){.is_declared = true};
    assert_int_equal(statement_check(&statement, NULL), DPMF_ERR_PRIVACY_NOT_VERIFIED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_others_do_not_matter),
        cmocka_unit_test(test_before_anything_is_dropped),
        cmocka_unit_test(test_statement),
        cmocka_unit_test(test_changed_statement),
    };
    return cmocka_run_group_tests_name("cohort", tests, NULL, NULL);
}

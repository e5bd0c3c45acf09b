/*
 * Addresses of databases: what is understood, what is refused, and that no refusal shows a part of
 * what was given, which could be a password. Then which columns of a result are which.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "database/database_url.h"
#include "ratings/database_source.h"

static const char *setting(const struct database_url *url, const char *name) {
    for (size_t i = 0; i < url->n_settings; i++)
        if (strcmp(url->setting[i].name, name) == 0) return url->setting[i].value;
    return NULL;
}

static void expect_setting(const struct database_url *url, const char *name, const char *value) {
    const char *found = setting(url, name);
    if (!value) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, value);
}

static void schemes_are_known(void **state) {
    (void)state;
    assert_true(database_url_is("sqlite:a"));
    assert_true(database_url_is("postgres://"));
    assert_true(database_url_is("postgresql://h/d"));
    assert_true(database_url_is("PostgreSQL://h/d"));
    assert_true(database_url_is("SQLITE:a"));
    assert_false(database_url_is("ratings.csv"));
    assert_false(database_url_is("./sqlite:a"));
    assert_false(database_url_is("postgres:/x"));
    assert_false(database_url_is("sqlite"));
    assert_false(database_url_is(""));
}

static void sqlite_is_understood(void **state) {
    (void)state;
    struct database_url url;
    assert_int_equal(
        database_url_parse("sqlite:a%3Fb.db?query=SELECT%20u, i+1 FROM t WHERE n LIKE 'a%25'", &url,
                           NULL),
        0);
    assert_int_equal(url.kind, DATABASE_SQLITE);
    assert_string_equal(url.file, "a?b.db");
    assert_string_equal(url.shown, "a?b.db");
    assert_string_equal(url.query, "SELECT u, i+1 FROM t WHERE n LIKE 'a%'");
    assert_null(url.table);
    database_url_free(&url);
    assert_null(url.space);

    assert_int_equal(database_url_parse("sqlite:/x/y.db?&table=b\xc3\xa4r", &url, NULL), 0);
    assert_string_equal(url.file, "/x/y.db");
    assert_string_equal(url.table, "b\xc3\xa4r");
    database_url_free(&url);

    assert_int_equal(database_url_parse("sqlite:y.db", &url, NULL), 0);
    assert_null(url.query);
    assert_null(url.table);
    database_url_free(&url);
}

static void postgres_is_understood(void **state) {
    (void)state;
    static const struct {
        const char *text, *user, *host, *port, *database, *shown;
    } cases[] = {
        {"postgres://", NULL, NULL, NULL, NULL, "postgres:///"},
        {"postgres:///shop", NULL, NULL, NULL, "shop", "postgres:///shop"},
        {"postgresql://h", NULL, "h", NULL, NULL, "postgres://h/"},
        {"postgres://ann@h:5433/shop", "ann", "h", "5433", "shop", "postgres://h:5433/shop"},
        {"postgres://a%40b@h/s%2fp", "a@b", "h", NULL, "s/p", "postgres://h/s%2fp"},
        {"postgres://[::1]:7/d", NULL, "::1", "7", "d", "postgres://[::1]:7/d"},
        {"postgres://a,b:7,[fe80::1]/d", NULL, "a,b,fe80::1", ",7,", "d",
         "postgres://a,b:7,[fe80::1]/d"},
        {"postgres://%2Frun%2Fpg/d", NULL, "/run/pg", NULL, "d", "postgres://%2Frun%2Fpg/d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct database_url url;
        struct dpmf_error error = {0};
        if (database_url_parse(cases[i].text, &url, &error) != 0)
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_int_equal(url.kind, DATABASE_POSTGRES);
        expect_setting(&url, "user", cases[i].user);
        expect_setting(&url, "host", cases[i].host);
        expect_setting(&url, "port", cases[i].port);
        expect_setting(&url, "dbname", cases[i].database);
        assert_string_equal(url.shown, cases[i].shown);
        database_url_free(&url);
    }
    struct database_url url;
    assert_int_equal(
        database_url_parse("postgres://h/d?sslmode=require&query=SELECT%201&application_name=x",
                           &url, NULL),
        0);
    assert_string_equal(url.query, "SELECT 1");
    expect_setting(&url, "sslmode", "require");
    expect_setting(&url, "application_name", "x");
    database_url_free(&url);
}

/* SECRET stands where a password could: it must be in nothing that is said. */
static void nothing_is_echoed(void **state) {
    (void)state;
    static const char *const refused[] = {
        "postgres://ann:SECRET@h/d?table=t",
        "postgres://:SECRET@h/d?table=t",
        "postgres://ann:SE@SECRET@h/d?table=t",
        "postgres://ann:SE/SECRET@h/d?table=t",
        "postgres://ann:1/SECRET@h/d?table=t",
        "postgres://ann:1?SECRET@h/d?table=t",
        "postgres://ann:1?a=SECRET@h/d",
        "postgres://ann%3aSECRET@h/d?table=t",
        "postgres://ann:SECRET",
        "postgres://h:SECRET/d?table=t",
        "postgres://h/d?table=t&password=SECRET",
        "postgres://h/d?pass%77ord=SECRET&table=t",
        "postgres://h/d?table=t&sslpassword=SECRET",
        "postgres://h/d?table=t&PassWord=SECRET",
        "postgres://h/d?table=t&passwd=SECRET",
        "POSTGRES://ann:SECRET@h/d?table=t",
        "postgres://h/d?user=ann:SECRET&table=t",
        "postgres://h/user=ann password=SECRET?table=t",
        "postgres://h?dbname=PASSWORD%3DSECRET&table=t",
        "postgres://h/d?table=t&SECRET",
        "postgres://h/d?table=t&x=SECRET%",
        "postgres://h/d?table=t&x=%4SECRET",
        "postgres://h/d?table=t&x=%00SECRET",
        "postgres://h/d?table=t&x=%ffSECRET",
        "postgres://h/d?table=t&table=SECRET",
        "postgres://h/d?table=t&query=SECRET",
        "postgres://h/d?sslmode=a&sslmode=SECRET",
        "postgres://h/d?replication=SECRET",
        "postgres://h:123456/SECRET",
        "postgres://h/d?query=%20;%20&x=SECRET",
        "sqlite:?table=SECRET",
        "sqlite:a?tabel=SECRET",
        "sqlite:a?query=SELECT a & SECRET",
        "sqlite:a?query=SELECT 'SECRET%'",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct database_url url;
        struct dpmf_error error = {0};
        if (database_url_parse(refused[i], &url, &error) != DPMF_ERR_USAGE_VALUE)
            fail_msg("not refused: %s", refused[i]);
        assert_null(url.space);
        assert_true(error.message[0] && error.hint[0]);
        assert_null(strstr(error.message, "SECRET"));
        assert_null(strstr(error.hint, "SECRET"));
        assert_string_equal(error.file, "");
        assert_int_equal(database_url_parse(refused[i], &url, NULL), DPMF_ERR_USAGE_VALUE);
    }
}

static void brackets_are_closed(void **state) {
    (void)state;
    static const char *const open[] = {"postgres://[::1/x?table=t", "postgres://[/x",
                                       "postgres://[", "postgres://ann@a,[::1:5432/x",
                                       "postgres://[::1:SECRET/x"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        struct database_url url;
        struct dpmf_error error = {0};
        assert_int_equal(database_url_parse(open[i], &url, &error), DPMF_ERR_USAGE_VALUE);
        assert_string_equal(error.message, "the bracket in the database's address is not closed");
    }
}

static void settings_are_bounded(void **state) {
    (void)state;
    char text[1024] = "postgres://h/d?";
    for (int i = 0; i < DATABASE_SETTINGS_MAX + 2; i++) {
        char one[16];
        snprintf(one, sizeof one, "k%d=v&", i);
        strcat(text, one);
    }
    struct database_url url;
    assert_int_equal(database_url_parse(text, &url, NULL), DPMF_ERR_USAGE_VALUE);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void columns_are_found(void **state) {
    (void)state;
    static const struct {
        bool table;
        const char *listed, *names[6];
        int code, user, item, rating, time;
        bool events, holds_events; /* declared, and found */
    } cases[] = {
        {false, NULL, {"user", "item", "rating"}, 0, 0, 1, 2, -1, false, false},
        {false, NULL, {"rating", "movieId", "User-ID"}, 0, 2, 1, 0, -1, false, false},
        {false, NULL, {"ts", "rating", "item", "user"}, 0, 3, 2, 1, 0, false, false},
        {false, NULL, {"a", "b", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {"a", "b", "rating"}, 0, 0, 1, 2, -1, false, false},
        {false, NULL, {"a", "b", "rating", "timestamp"}, 0, 0, 1, 2, 3, false, false},
        {false, NULL, {"a", "b", "c", "timestamp"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {"user", "b", "rating"}, 0, 0, 1, 2, -1, false, false},
        {false, NULL, {"a", "b", "c", "d"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false,
         NULL,
         {"user", "item", "rating", "d"},
         DPMF_ERR_INPUT_QUERY,
         0,
         0,
         0,
         0,
         false,
         false},
        {false, NULL, {"rating", "b", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {"user", "uid", "rating"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {"time", "b", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {"user", "item"}, 0, 0, 1, -1, -1, false, true},
        {false, NULL, {"a", "b"}, 0, 0, 1, -1, -1, false, true},
        {false, NULL, {"item", "user", "plays"}, 0, 1, 0, 2, -1, false, true},
        {false, NULL, {"a", "b", "count(*)"}, 0, 0, 1, 2, -1, false, true},
        {false, NULL, {"a", "b", "count", "time"}, 0, 0, 1, 2, 3, false, true},
        {false, NULL, {"a", "b", "time"}, 0, 0, 1, -1, 2, false, true},
        {false, NULL, {"a", "b", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, true, false},
        {false, NULL, {"a", "b", "plays"}, 0, 0, 1, 2, -1, true, true},
        {false, NULL, {"a", "b", "rating"}, DPMF_ERR_USAGE_CONFLICT, 0, 0, 0, 0, true, false},
        {false, NULL, {"user", "item", "rating"}, DPMF_ERR_USAGE_CONFLICT, 0, 0, 0, 0, true, false},
        {false,
         NULL,
         {"user", "item", "views", "plays"},
         DPMF_ERR_INPUT_QUERY,
         0,
         0,
         0,
         0,
         false,
         false},
        {false, NULL, {"user"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, NULL, {NULL}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {false, "_,item,user,rating", {"a", "b", "c", "d"}, 0, 2, 1, 3, -1, false, false},
        {false,
         "item,user,rating",
         {"a", "b", "c", "d"},
         DPMF_ERR_INPUT_QUERY,
         0,
         0,
         0,
         0,
         false,
         false},
        {false, "item,user", {"a", "b"}, 0, 1, 0, -1, -1, false, true},
        {false, "item,user,count", {"a", "b", "c"}, 0, 1, 0, 2, -1, false, true},
        {false,
         "item,user,rating",
         {"a", "b", "c"},
         DPMF_ERR_USAGE_CONFLICT,
         0,
         0,
         0,
         0,
         true,
         false},
        {false, "item,rating", {"a", "b"}, DPMF_ERR_USAGE_VALUE, 0, 0, 0, 0, false, false},
        {false,
         "user,item,rating,count",
         {"a", "b", "c", "d"},
         DPMF_ERR_USAGE_VALUE,
         0,
         0,
         0,
         0,
         false,
         false},
        {true, NULL, {"id", "user_id", "x", "item", "plays"}, 0, 1, 3, 4, -1, false, true},
        {true,
         NULL,
         {"id", "user_id", "rating", "item", "plays", "views"},
         0,
         1,
         3,
         2,
         -1,
         false,
         false},
        {true, NULL, {"user_id", "item"}, 0, 0, 1, -1, -1, false, true},
        {true, NULL, {"user_id", "item", "x"}, 0, 0, 1, -1, -1, true, true},
        {true,
         NULL,
         {"user_id", "item", "plays", "views"},
         DPMF_ERR_INPUT_QUERY,
         0,
         0,
         0,
         0,
         false,
         false},
        {true,
         NULL,
         {"user_id", "item", "rating"},
         DPMF_ERR_USAGE_CONFLICT,
         0,
         0,
         0,
         0,
         true,
         false},
        {true, NULL, {"id", "user_id", "x", "item", "rating"}, 0, 1, 3, 4, -1, false, false},
        {true, NULL, {"user_id", "ts", "x", "item", "rating"}, 0, 0, 3, 4, 1, false, false},
        {true,
         NULL,
         {"user_id", "user", "item", "rating"},
         DPMF_ERR_INPUT_QUERY,
         0,
         0,
         0,
         0,
         false,
         false},
        {true, NULL, {"a", "b", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {true, NULL, {"user", "item", "c"}, DPMF_ERR_INPUT_QUERY, 0, 0, 0, 0, false, false},
        {true,
         "user,item,rating",
         {"user", "item", "rating"},
         DPMF_ERR_USAGE_CONFLICT,
         0,
         0,
         0,
         0,
         false,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct database_url url = {.shown = "x", .table = cases[i].table ? "t" : NULL};
        struct dpmf_error error = {0};
        int32_t column[COLUMN_ROLES];
        size_t n = 0;
        while (n < 6 && cases[i].names[n]) n++;
        struct dpmf_input_options options = {.columns = cases[i].listed, .events = cases[i].events};
        bool holds_events;
        int code =
            database_columns_find(&url, &options, cases[i].names, n, column, &holds_events, &error);
        if (code != cases[i].code) fail_msg("case %zu: %d, %s", i, code, error.message);
        assert_int_equal(code < 0, error.hint[0] != '\0');
        if (code < 0) continue;
        assert_int_equal(column[COLUMN_USER], cases[i].user);
        assert_int_equal(column[COLUMN_ITEM], cases[i].item);
        assert_int_equal(column[COLUMN_RATING], cases[i].rating);
        assert_int_equal(column[COLUMN_TIME], cases[i].time);
        assert_int_equal(holds_events, cases[i].holds_events);
    }
}

static void names_are_quoted(void **state) {
    (void)state;
    struct byte_buffer sql = {0};
    assert_true(database_sql_text(&sql, "SELECT "));
    assert_true(database_sql_name(&sql, "a\"; DROP TABLE x; --"));
    assert_true(database_sql_text(&sql, " FROM "));
    assert_true(database_sql_table(&sql, "s.t\"u"));
    assert_string_equal((const char *)sql.bytes,
                        "SELECT \"a\"\"; DROP TABLE x; --\" FROM \"s\".\"t\"\"u\"");
    free(sql.bytes);
}

static void numbers_are_text(void **state) {
    (void)state;
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {4294967295, "4294967295"},
        {4294967296, "4294967296"},
        {-20000000000, "-20000000000"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char room[DATABASE_NUMBER_MAX];
        uint32_t length;
        const char *text = database_number_text(cases[i].number, room, &length);
        assert_int_equal(length, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, length);
    }
}

/* Numbers in runs of all lengths, with records rejected between them and batches that end anywhere:
 * when a batch is taken, each of its records still has its text. */
static void numbers_in_runs_are_text(void **state) {
    (void)state;
    static struct database_numbers numbers;
    static const char *text[RECORD_BATCH][DATABASE_IDS];
    static uint32_t length[RECORD_BATCH][DATABASE_IDS];
    static int64_t meant[RECORD_BATCH][DATABASE_IDS];
    uint32_t coin = 1;
    int64_t id[DATABASE_IDS] = {0, 0};
    int n = 0;
    database_numbers_begin(&numbers);
    for (int row = 0; row < 200000; row++) {
        coin = coin * 1664525 + 1013904223;
        for (int i = 0; i < DATABASE_IDS; i++) {
            if (coin >> (20 + 4 * i) & 15) continue; /* as the row before */
            id[i] = (int64_t)(coin >> 8 & 7) - 3;
        }
        bool is_text = (coin >> 11) % 97 == 0; /* no number at all, of the user */
        for (int i = is_text; i < DATABASE_IDS; i++) {
            text[n][i] = database_number_id(&numbers, n, (enum column_role)i, id[i], &length[n][i]);
            meant[n][i] = id[i];
        }
        if (is_text) text[n][0] = NULL;
        if ((coin >> 16) % 31 == 0) continue; /* rejected */
        if (++n < RECORD_BATCH) continue;
        for (int r = 0; r < n; r++) {
            for (int i = 0; i < DATABASE_IDS; i++) {
                char expected[DATABASE_NUMBER_MAX];
                if (!text[r][i]) continue;
                int digits = snprintf(expected, sizeof expected, "%lld", (long long)meant[r][i]);
                assert_int_equal(length[r][i], digits);
                assert_memory_equal(text[r][i], expected, (size_t)digits);
            }
        }
        n = 0;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_runs_are_text), cmocka_unit_test(schemes_are_known),
        cmocka_unit_test(sqlite_is_understood),     cmocka_unit_test(postgres_is_understood),
        cmocka_unit_test(nothing_is_echoed),        cmocka_unit_test(brackets_are_closed),
        cmocka_unit_test(settings_are_bounded),     cmocka_unit_test(columns_are_found),
        cmocka_unit_test(names_are_quoted),         cmocka_unit_test(numbers_are_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

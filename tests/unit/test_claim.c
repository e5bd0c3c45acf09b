/*
 * What may be claimed: every combination of what decides it, held against a table of our own; the
 * limits, to the bit; and that a statement in the words of 0.1.0 is judged by what it records.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the headers above first */
#include <cmocka.h>

#include "made_release.h"
#include "statement/claim.h"
#include "statement/statement_words.h"

enum {
    CONDITIONAL = 1,
    CATALOGUE = 2,
    DELTA = 4,
    EPSILON = 8,
    RESEARCH = 16,
    SEED = 32,
    QUERY = 64,
    ALL = 128
};

static struct statement make(unsigned parts) {
    struct statement statement = statement_make(1, 4, 0, 0);
    statement.epsilon = parts & EPSILON ? 21 : 20;
    statement.catalogue_from_ratings = parts & CATALOGUE;
    statement.is_research = parts & RESEARCH;
    statement.is_queried = parts & QUERY;
    statement.is_insecure = parts & SEED;
    if (parts & DELTA) statement.declared_users = 100000;
    if (!(parts & CONDITIONAL)) return statement;
    statement.mechanism = "posterior";
    statement.delta = 0;
    statement.n_releases = 0;
    statement.posterior = (struct statement_posterior){100, 10, 200, 1, 1};
    return statement;
}

static const char *expected_kind(unsigned parts) {
    if (parts & (RESEARCH | SEED)) return "not private";
    if (parts & CONDITIONAL) return "conditional";
    return parts == 0 ? "proven" : "partial";
}

static unsigned expected_assumptions(unsigned parts) {
    return (parts & CONDITIONAL ? DPMF_ASSUMES_CONVERGENCE : 0) |
           (parts & CATALOGUE ? DPMF_ASSUMES_CATALOGUE : 0) |
           ((parts & (DELTA | CONDITIONAL)) == DELTA ? DPMF_ASSUMES_DELTA : 0) |
           (parts & EPSILON ? DPMF_ASSUMES_EPSILON : 0) | (parts & QUERY ? DPMF_ASSUMES_QUERY : 0);
}

/* The JSON and the page for people say the same, and name every assumption. */
static void check_words(const struct statement *statement, unsigned parts) {
    char *json = statement_to_json(statement), *text = statement_to_text(statement), line[64];
    assert_true(json != NULL && text != NULL);
    snprintf(line, sizeof line, "\"kind\":\"%s\",\"assumptions\":[", expected_kind(parts));
    assert_non_null(strstr(json, line));
    snprintf(line, sizeof line, "\nkind: %s\n", expected_kind(parts));
    assert_non_null(strstr(text, line));
    assert_int_equal(strstr(text, "\nWhat is promised\n") != NULL, parts == 0);
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1) {
        const bool is_named = expected_assumptions(parts) & bit;
        const char *sentence = NULL, *name = dpmf_assumption_name(bit, &sentence);
        snprintf(line, sizeof line, "{\"name\":\"%s\",\"sentence\":\"that ", name);
        assert_int_equal(strstr(json, line) != NULL, is_named);
        assert_int_equal(strstr(json, sentence) != NULL, is_named);
        snprintf(line, sizeof line, "\n  - %.25s", sentence);
        assert_int_equal(strstr(text, line) != NULL, is_named);
    }
    free(json);
    free(text);
}

static void test_every_combination(void **state) {
    (void)state;
    for (unsigned parts = 0; parts < ALL; parts++) {
        struct statement statement = make(parts), read;
        const char *kind = dpmf_claim_name(claim_of(&statement));
        if (strcmp(kind, expected_kind(parts)) != 0) fail_msg("%#x: %s", parts, kind);
        assert_int_equal(claim_assumptions(&statement), expected_assumptions(parts));
        assert_int_equal(statement_check(&statement, NULL), 0);
        check_words(&statement, parts);
        /* As 0.1.0 wrote it. Its word is kept, and not believed. */
        statement.format = STATEMENT_FORMAT_FIRST;
        char *old = statement_to_json(&statement);
        assert_true(old != NULL && strstr(old, "\"partial\"") == NULL &&
                    strstr(old, "assumptions\"") == NULL);
        assert_int_equal(statement_from_json(old, strlen(old), &read, NULL), 0);
        assert_int_equal(claim_of(&read), claim_of(&statement));
        assert_int_equal(claim_assumptions(&read), expected_assumptions(parts));
        free(old);
    }
}

static void test_limits(void **state) {
    (void)state;
    const double delta = DPMF_DELTA_USUAL_MAX, mu = DPMF_MU_USUAL_MAX;
    assert_int_equal(dpmf_privacy_excess(1, delta, 0), 0);
    assert_int_equal(dpmf_privacy_excess(1, nextafter(delta, 1), 0), DPMF_ASSUMES_DELTA);
    assert_int_equal(dpmf_privacy_excess(1, 1e-5, 99999), 0);
    assert_int_equal(dpmf_privacy_excess(1, 0.5, 2), DPMF_ASSUMES_DELTA);
    assert_int_equal(dpmf_privacy_excess(1, 1e-6, 1000000), DPMF_ASSUMES_DELTA);
    assert_int_equal(dpmf_privacy_excess(20, 1e-5, 0), 0);
    assert_int_equal(dpmf_privacy_excess(20.1, 1e-5, 0), DPMF_ASSUMES_EPSILON);
    /* A budget of 5 at delta 0.4 is not what it seems, and 1 at 0.9 still less. */
    assert_int_equal(dpmf_privacy_excess(5, 0.4, 0), DPMF_ASSUMES_DELTA);
    assert_int_equal(dpmf_privacy_excess(1, 0.95, 0), DPMF_ASSUMES_DELTA | DPMF_ASSUMES_EPSILON);
    assert_int_equal(dpmf_privacy_excess(dpmf_privacy_epsilon(mu * 0.999, 1e-7), 1e-7, 0), 0);
    assert_int_equal(dpmf_privacy_excess(dpmf_privacy_epsilon(mu * 1.001, 1e-7), 1e-7, 0),
                     DPMF_ASSUMES_EPSILON);
    assert_int_equal(dpmf_privacy_excess(20, 0, 0), 0);
    assert_int_equal(dpmf_privacy_excess(nextafter(20, 21), 0, 0), DPMF_ASSUMES_EPSILON);
    /* What is no number is never usual. */
    assert_true(dpmf_privacy_excess(NAN, 0, 0) != 0 && dpmf_privacy_excess(NAN, 1e-5, 0) != 0);
    assert_true(dpmf_privacy_excess(INFINITY, 1e-5, 0) != 0 && dpmf_privacy_excess(1, NAN, 0) != 0);
}

static void test_names(void **state) {
    (void)state;
    assert_null(dpmf_assumption_name(0, NULL));
    assert_null(dpmf_assumption_name(3, NULL));
    assert_null(dpmf_assumption_name(DPMF_ASSUMES_LAST << 1, NULL));
    assert_string_equal(dpmf_claim_name((enum dpmf_claim)77), "not private");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_combination),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}

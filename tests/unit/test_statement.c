/*
 * Statements: JSON comes back as it was and as nothing else, every figure is at least the true one,
 * and arithmetic that does not fit is noticed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "made_release.h"
#include "statement/accountant.h"
#include "statement/events_rule.h"
#include "statement/residual_rule.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"
#include "temp_dir.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

static void check_round_trip(const struct statement *statement) {
    struct statement read;
    struct statement_figures figures, made;
    char *json = statement_to_json(statement);
    assert_non_null(json);
    assert_int_equal(statement_from_json_figures(json, strlen(json), &read, &figures, NULL), 0);
    assert_string_equal(read.version, dpmf_version());
    memset(read.version, 0, sizeof read.version);
    assert_memory_equal(read.id, statement->id, sizeof read.id);
    assert_int_equal(read.n_releases, statement->n_releases);
    for (size_t i = 0; i < read.n_releases; i++) {
        const struct statement_release *a = &read.releases[i], *b = &statement->releases[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->coordinates == b->coordinates && a->sigma == b->sigma &&
                    a->bits == b->bits && a->draws == b->draws);
    }
    assert_true(read.epsilon == statement->epsilon && read.delta == statement->delta);
    assert_true(read.range_min == statement->range_min && read.range_max == statement->range_max);
    assert_true(read.items == statement->items && read.declared_users == statement->declared_users);
    assert_true(read.has_features == statement->has_features &&
                read.is_personalised == statement->is_personalised &&
                read.wishes_show_members == statement->wishes_show_members &&
                read.catalogue_from_ratings == statement->catalogue_from_ratings &&
                read.is_research == statement->is_research &&
                read.is_insecure == statement->is_insecure);
    statement_figures_make(statement, &made);
    assert_memory_equal(&figures, &made, sizeof made);
    assert_int_equal(statement_figures_check(&read, &figures, NULL), 0);
    free(json);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int flags = 0; flags < 32; flags++) {
        struct statement statement = statement_make(1, 3883, 8, 14);
        statement.has_features = flags & 1;
        statement.is_personalised = flags & 2;
        statement.catalogue_from_ratings = flags & 4;
        statement.is_research = flags & 8;
        statement.is_insecure = flags & 16;
        statement.declared_users = flags & 1 ? 6000 : 0;
        check_round_trip(&statement);
    }
    struct statement many = statement_make(10, 20, 2, STATEMENT_RELEASES_MAX - 1);
    assert_int_equal(many.n_releases, STATEMENT_RELEASES_MAX);
    many.range_min = -10;
    check_round_trip(&many);
}

/* Any change of the text is either refused or another statement, never the same one. */
static void test_any_byte_changed(void **state) {
    (void)state;
    static const char replacements[] = "\0 0\"}x\\,\t";
    struct statement statement = statement_make(1, 4, 2, 1), read;
    struct statement_figures figures;
    char *json = statement_to_json(&statement);
    size_t n = strlen(json), n_read = 0;
    for (size_t i = 0; i < n; i++) {
        char kept = json[i];
        for (size_t j = 0; j < sizeof replacements - 1; j++) {
            json[i] = replacements[j];
            if (json[i] == kept) continue;
            if (statement_from_json_figures(json, n, &read, &figures, NULL) != 0) continue;
            n_read++;
            char *again = statement_to_json(&read);
            /* Only a digit of a number, or a letter of a name, of the version or of the build, can
             * have changed. */
            assert_true(memcmp(read.releases, statement.releases, sizeof read.releases) != 0 ||
                        strcmp(again, json) != 0 || strcmp(read.version, dpmf_version()) != 0 ||
                        read.items != statement.items || read.epsilon != statement.epsilon ||
                        memcmp(read.id, statement.id, sizeof read.id) != 0 || read.range_min != 1 ||
                        read.range_max != 5 || read.delta != 1e-5 ||
                        memcmp(&read.build, &statement.build, sizeof read.build) != 0);
            free(again);
        }
        json[i] = kept;
    }
    assert_true(n_read > 0);
    for (size_t length = 0; length < n; length++)
        assert_int_equal(statement_from_json(json, length, &read, NULL), DPMF_ERR_MODEL_CORRUPT);
    free(json);
}

static char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void test_other_words(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"format\":2", "{\"format\":3"},
        {"{\"format\":2", "{\"format\":1"},
        {"{\"format\":2", "{\"format\":0"},
        {"{\"format\":2", "{ \"format\":2"},
        {"{\"format\":2", "{\"format\":2,\"note\":\"ann rated dune\""},
        {"{\"format\":2", "{\"epsilon\":0.5,\"format\":2"},
        {"\"kind\":\"proven\"", "\"kind\":\"partial\""},
        {"\"assumptions\":[]", "\"assumptions\":[\"that ann rated dune\"]"},
        {"\"catalogue_from_ratings\":false", "\"catalogue_from_ratings\":true"},
        {"\"kind\":\"proven\"", "\"kind\":\"sure\""},
        {"\"kind\":\"proven\"", "\"kind\":\"conditional\""},
        {"\"unit\":\"one user", "\"unit\":\"one rating of a user"},
        {"\"mechanism\":\"residual\"", "\"mechanism\":\"posterior\""},
        {"\"epsilon\":1,", "\"epsilon\":1.0,"},
        {"\"epsilon\":1,", "\"epsilon\":1e0,"},
        {"\"epsilon\":1,", "\"epsilon\":\"1\","},
        {"\"epsilon\":1,", "\"epsilon\":null,"},
        {"\"delta\":", "\"epsilon\":1,\"delta\":"},
        {"\"release_id\":\"00", "\"release_id\":\"0G"},
        {"\"release_id\":\"00", "\"release_id\":\"0"},
        {"\"name\":\"round 1\"", "\"name\":\"r\\u006fund 1\""},
        {"\"name\":\"round 1\"", "\"name\":\"u17 rated i4 with 2\""},
        {"\"name\":\"round 1\"", "\"name\":\"round 1 is proven\""},
        {"\"name\":\"round 1\"", "\"name\":\"round 01\""},
        {"\"version\":\"0.1.0\"", "\"version\":\"proven-by-dpmf\""},
        {"\"version\":\"0.1.0\"", "\"version\":\"0.1.0.1\""},
        {"\"commit\":\"", "\"commit\":\"PROVEN by "},
        {"\"compiler\":\"", "\"compiler\":\"verified by "},
        {"\"compiler\":\"", "\"compiler\":\"PROVENBY"},
        {"\"name\":\"round 1\"", "\"name\":\"a name that is longer than can be\""},
        {"\"name\":\"round 1\"", "\"name\":\"a\\u0000b\""},
        {"\"bits\":24", "\"bits\":25"},
        {"\"bits\":24", "\"bits\":024"},
        {"\"sigma\":", "\"sigma\":-"},
        {"\"draws\":", "\"x\":1,\"draws\":"},
        {"\"research\":false", "\"research\":0"},
        {"\"items\":4", "\"items\":18446744073709551616"},
        {"\"declared_users\":null", "\"declared_users\":0"},
        {"the range of ratings", "the range of rating"},
        {"\"group\":[{\"ids\":2", "\"group\":[{\"ids\":3"},
        {"\"version\":\"", "\"version\":\"Ann likes dune "},
        {"ChaCha20, keyed", "ChaCha21, keyed"},
    };
    struct statement statement = statement_make(1, 4, 2, 1), read;
    statement_build_fill(&statement.build);
    char *json = statement_to_json(&statement);
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpmf_error error = {0};
        char *other = replaced(json, cases[i][0], cases[i][1]);
        int code = statement_from_json(other, strlen(other), &read, &error);
        if (code != DPMF_ERR_MODEL_CORRUPT) fail_msg("%s: %d", cases[i][1], code);
        assert_true(error.code == code && error.hint[0]);
        free(other);
    }
    free(json);
}

/* A SHA-256 and nothing else, as a build writes it: what is shorter, longer or in capitals was
 * written by someone else. */
static void test_sources(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 4, 2, 1), read;
    char sources[100], text[120];
    statement_build_fill(&statement.build);
    assert_int_equal(strspn(statement.build.sources, "0123456789abcdef"), 64);
    memset(statement.build.sources, 'e', 64);
    snprintf(sources, sizeof sources, "\"sources\":\"%s\"", statement.build.sources);
    char *json = statement_to_json(&statement);
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    static const struct {
        int n;
        char digit;
    } others[] = {{0, 'e'}, {1, 'e'}, {3, 'a'}, {40, 'e'}, {63, 'e'}, {65, 'e'}, {64, 'E'}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char digits[66] = "";
        memset(digits, others[i].digit, (size_t)others[i].n);
        snprintf(text, sizeof text, "\"sources\":\"%s\"", digits);
        char *other = replaced(json, sources, text);
        int code = statement_from_json(other, strlen(other), &read, NULL);
        if (code != DPMF_ERR_MODEL_CORRUPT) fail_msg("%s: %d", text, code);
        free(other);
    }
    free(json);
}

/* A commit is a hash of git's old or new kind, perhaps with a mark, or unknown. */
static void test_commits(void **state) {
    (void)state;
    static const struct {
        int digits;
        const char *rest;
        bool fits;
    } commits[] = {{40, "", true},           {64, "", true},
                   {40, "+changed", true},   {64, "+changed", true},
                   {0, "unknown", true},     {39, "", false},
                   {41, "", false},          {63, "", false},
                   {65, "", false},          {40, "+change", false},
                   {40, "+changed+", false}, {0, "+changed", false},
                   {40, "G", false},         {0, "unknown+changed", false},
                   {40, "unknown", false}};
    struct statement statement = statement_make(1, 4, 2, 1), read;
    statement_build_fill(&statement.build);
    for (size_t i = 0; i < sizeof commits / sizeof commits[0]; i++) {
        char digits[66] = "", *commit = statement.build.commit;
        memset(digits, 'a', (size_t)commits[i].digits);
        snprintf(commit, sizeof statement.build.commit, "%s%s", digits, commits[i].rest);
        char *json = statement_to_json(&statement);
        int code = statement_from_json(json, strlen(json), &read, NULL);
        if (code != (commits[i].fits ? 0 : DPMF_ERR_MODEL_CORRUPT))
            fail_msg("%s: %d", commit, code);
        if (code == 0) assert_string_equal(read.build.commit, commit);
        free(json);
    }
}

static void test_rule_version(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 4, 2, 1), read;
    char *json = statement_to_json(&statement);
    assert_null(strstr(json, "rule_version")); /* the first rule is not named */
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    assert_int_equal(read.rule_version, 0);
    free(json);
    statement.rule_version = RESIDUAL_RULE_VERSION;
    json = statement_to_json(&statement);
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    assert_int_equal(read.rule_version, RESIDUAL_RULE_VERSION);
    static const char *const others[] = {"0", "1", "5", "2.5", "\"2\"", "null"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[40];
        snprintf(text, sizeof text, "\"rule_version\":%s", others[i]);
        char *other = replaced(json, "\"rule_version\":4", text);
        assert_int_equal(statement_from_json(other, strlen(other), &read, NULL),
                         DPMF_ERR_MODEL_CORRUPT);
        free(other);
    }
    for (uint32_t version = RESIDUAL_RULE_OLDEST; version < RESIDUAL_RULE_VERSION; version++) {
        char text[40];
        snprintf(text, sizeof text, "\"rule_version\":%" PRIu32, version);
        char *earlier = replaced(json, "\"rule_version\":4", text);
        assert_int_equal(statement_from_json(earlier, strlen(earlier), &read, NULL), 0);
        assert_int_equal(read.rule_version, version);
        free(earlier);
    }
    free(json);
    /* Rounds of K factors, which verify holds a statement against. */
    assert_int_equal(residual_rule_rounds(0, 2), 0);
    assert_int_equal(residual_rule_rounds(2, 0), 6);
    assert_int_equal(residual_rule_rounds(2, 2), 10);
    assert_int_equal(residual_rule_rounds(20, 2), 20);
}

/* A statement once spoke of a query or a view alone, then of generated columns too. */
static void test_query_words(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 4, 2, 1), read;
    statement.is_queried = true;
    char *json = statement_to_json(&statement);
    static const char words[] =
        "a query, a view or functions of a database gave them, and dpmf does not know what they do";
    static const char *const older_words[] = {
        "a query, a view or a generated column of a database gave them, and dpmf does not know "
        "what it does",
        "a query or a view of a database gave them, and dpmf does not know what it does",
    };
    assert_non_null(strstr(json, words));
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    assert_int_equal(read.query_words, 0);
    for (int i = 0; i < STATEMENT_OLDER_WORDS; i++) {
        char *older = replaced(json, words, older_words[i]);
        assert_int_equal(statement_from_json(older, strlen(older), &read, NULL), 0);
        assert_true(read.is_queried && read.query_words == i + 1);
        free(older);
    }
    char *other = replaced(json, "a query, a view or functions of", "a table of");
    assert_int_equal(statement_from_json(other, strlen(other), &read, NULL),
                     DPMF_ERR_MODEL_CORRUPT);
    free(other);
    free(json);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void test_figures_are_not_below(void **state) {
    (void)state;
    static const double epsilons[] = {0.1, 0.5, 1, 2, 5, 10, 20};
    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        struct statement statement = statement_make(epsilons[i], 1000, 10, 16);
        struct statement_figures figures;
        double mu2 = 0, mu;
        statement_figures_make(&statement, &figures);
        for (size_t j = 0; j < statement.n_releases; j++) {
            double own = 16777216.0 / (double)statement.releases[j].sigma;
            assert_true(figures.release[j] >= own && figures.release[j] < own * (1 + 1.1e-5));
            mu2 += own * own;
        }
        mu = sqrt(mu2);
        assert_true(figures.mu >= mu && figures.mu < mu * (1 + 1.1e-5));
        assert_true(accountant_delta(mu, figures.exact) <= 1e-5 * (1 + 1e-9));
        assert_true(figures.renyi >= figures.exact);
        for (int g = 0; g < STATEMENT_GROUPS; g++)
            assert_true(accountant_delta((g + 2) * mu, figures.group[g]) <= 1e-5 * (1 + 1e-9));
        assert_true(figures.exact <= epsilons[i] * (1 + 1e-5));
        assert_int_equal(statement_check(&statement, NULL), 0);
    }
    /* privacy of a group of two, known figures */
    struct statement one = statement_make(1, 10, 0, 0);
    struct statement_figures figures;
    statement_figures_make(&one, &figures);
    assert_true(figures.group[0] > 2.1 && figures.group[0] < 2.2);
}

enum broken {
    NO_MECHANISM,
    OTHER_MECHANISM,
    NO_RELEASES,
    NO_RANGE,
    NAN_RANGE,
    EPSILON_ZERO,
    EPSILON_NAN,
    EPSILON_SMALL,
    DELTA_ZERO,
    DELTA_ONE,
    LESS_NOISE,
    NO_NOISE,
    FINER_GRID,
    FEWER_DRAWS,
    MORE_DRAWS,
    NO_COORDINATES,
    NO_NAME,
    BAD_NAME,
    ENDLESS_NAME,
    NUMBER_WITHOUT_DIGITS,
    UNKNOWN_MECHANISM,
    INFINITE_RANGE,
    EPSILON_INFINITE,
    EVENTS_RANGE,
    TOO_MANY_ITEMS,
    TOO_MANY_USERS,
    TOO_MANY_RELEASES,
    TOO_MUCH_NOISE,
    TOO_MANY_COORDINATES,
    BROKEN_COUNT,
};

static void break_statement(struct statement *s, enum broken how) {
    struct statement_release *release = &s->releases[1];
    switch (how) {
    case NO_MECHANISM: s->mechanism = NULL; break;
    case OTHER_MECHANISM: s->mechanism = "posterior"; break;
    case NO_RELEASES: s->n_releases = 0; break;
    case NO_RANGE: s->range_max = s->range_min; break;
    case NAN_RANGE: s->range_min = NAN; break;
    case EPSILON_ZERO: s->epsilon = 0; break;
    case EPSILON_NAN: s->epsilon = NAN; break;
    case EPSILON_SMALL: s->epsilon = 0.999; break;
    case DELTA_ZERO: s->delta = 0; break;
    case DELTA_ONE: s->delta = 1; break;
    case LESS_NOISE: release->sigma -= release->sigma / 1000; break;
    case NO_NOISE: release->sigma = 0; break;
    case FINER_GRID: release->bits = 25; break;
    case FEWER_DRAWS: release->draws--; break;
    case MORE_DRAWS: release->draws++; break;
    case NO_COORDINATES: release->coordinates = release->draws = 0; break;
    case NO_NAME: release->name[0] = '\0'; break;
    case BAD_NAME: snprintf(release->name, sizeof release->name, "ann@example"); break;
    case ENDLESS_NAME: memset(release->name, '1', sizeof release->name); break;
    case NUMBER_WITHOUT_DIGITS: snprintf(release->name, sizeof release->name, "round "); break;
    case UNKNOWN_MECHANISM: s->mechanism = "laplace"; break;
    case INFINITE_RANGE: s->range_max = INFINITY; break;
    case EPSILON_INFINITE: s->epsilon = INFINITY; break;
    case EVENTS_RANGE: s->mechanism = "events"; break;
    case TOO_MANY_ITEMS: s->items = UINT64_MAX; break;
    case TOO_MANY_USERS: s->declared_users = UINT64_MAX; break;
    case TOO_MANY_RELEASES: s->n_releases = STATEMENT_RELEASES_MAX + 1; break;
    case TOO_MUCH_NOISE: release->sigma = UINT64_MAX; break;
    case TOO_MANY_COORDINATES: release->coordinates = release->draws = UINT64_MAX; break;
    case BROKEN_COUNT: break;
    }
}

static void test_broken_statements(void **state) {
    (void)state;
    for (enum broken how = 0; how < BROKEN_COUNT; how++) {
        struct statement statement = statement_make(1, 100, 5, 10);
        struct dpmf_error error = {0};
        assert_int_equal(statement_check(&statement, &error), 0);
        break_statement(&statement, how);
        int code = statement_check(&statement, &error);
        if (code != DPMF_ERR_PRIVACY_NOT_VERIFIED) fail_msg("case %d: %d", (int)how, code);
        assert_true(error.code == code && error.hint[0]);
    }
}

/* Nothing is written of more rounds than there is room for. */
static void test_too_many_rounds(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 100, 5, 10);
    struct statement_figures figures;
    statement.n_releases = STATEMENT_RELEASES_MAX + 1;
    assert_true(isnan(statement_mu(&statement)));
    assert_null(statement_to_json(&statement));
    assert_null(statement_to_text(&statement));
    assert_null(statement_to_registry(&statement));
    statement_figures_make(&statement, &figures);
    assert_true(isnan(figures.mu));
    assert_true(statement_figures_check(&statement, &figures, NULL) < 0);
}

/* A claim that is not below the cost, to the last digit, stands; the next number below it does
 * not. */
static void test_claims_at_the_edge(void **state) {
    (void)state;
    for (uint64_t sigma = 10000000; sigma < 10000400; sigma++) {
        struct statement statement = statement_make(1, 100, 0, 0);
        statement.releases[0].sigma = sigma;
        const double cost = accountant_epsilon(statement_mu(&statement), statement.delta);
        statement.epsilon = cost;
        assert_int_equal(statement_check(&statement, NULL), 0);
        statement.epsilon = cost * (1 - 1e-9);
        assert_int_equal(statement_check(&statement, NULL), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    }
}

static void test_wrong_figures(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 100, 5, 10);
    struct statement_figures figures;
    double *const places[] = {&figures.mu,       &figures.exact,    &figures.renyi,
                              &figures.group[0], &figures.group[2], &figures.release[10]};
    /* The last two are in the seventh digit, which is not printed. */
    static const double factors[] = {0, 0.9999, 1.0001, -1, NAN, INFINITY, 1 + 1e-7, 1 - 1e-12};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t j = 0; j < sizeof factors / sizeof factors[0]; j++) {
            statement_figures_make(&statement, &figures);
            assert_int_equal(statement_figures_check(&statement, &figures, NULL), 0);
            *places[i] *= factors[j];
            assert_int_equal(statement_figures_check(&statement, &figures, NULL),
                             DPMF_ERR_PRIVACY_NOT_VERIFIED);
        }
    }
}

static void test_shapes(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 100, 5, 10);
    assert_int_equal(statement_shape_check(&statement, 100, 5, NULL), 0);
    assert_true(statement_shape_check(&statement, 101, 5, NULL) < 0);
    /* One measured column beside 27 that are made of public features: fewer noisy numbers than the
     * file holds. */
    struct statement wide = statement_make(1, 1000, 28, 5);
    for (size_t i = 1; i < wide.n_releases; i++)
        wide.releases[i].coordinates = wide.releases[i].draws = 1000 * 2 + 30 * 30 + 1;
    assert_int_equal(statement_shape_check(&wide, 1000, 28, NULL), 0);
    wide.mechanism = "dpals";
    assert_true(statement_shape_check(&wide, 1000, 28, NULL) < 0);
    wide.n_releases = 1; /* what stands after the last is not counted */
    wide.releases[0].coordinates = 29 * 1000;
    assert_int_equal(statement_shape_check(&wide, 1000, 28, NULL), 0);
    wide.releases[0].coordinates--;
    assert_true(statement_shape_check(&wide, 1000, 28, NULL) < 0);
    assert_true(statement_shape_check(&statement, 100, 4, NULL) < 0);
    assert_true(statement_shape_check(&statement, 100, 6, NULL) < 0);
    assert_true(statement_shape_check(&statement, UINT64_MAX, 5, NULL) < 0);
    assert_true(statement_shape_check(&statement, 100, UINT32_MAX, NULL) < 0);
    statement.releases[3].coordinates += 100;
    assert_true(statement_shape_check(&statement, 100, 5, NULL) < 0);
    statement.n_releases = 1;
    assert_true(statement_shape_check(&statement, 100, 5, NULL) < 0);

    /* Popularity twice; with factors the rounds, of which the first may be wider, and the vote. */
    struct statement events = {.mechanism = "events", .items = 50, .range_max = 1};
    statement_make_release(&events, "popularity", 50, 0.5);
    statement_make_release(&events, "popularity", 50, 0.5);
    assert_int_equal(statement_shape_check(&events, 50, 0, NULL), 0);
    assert_true(statement_shape_check(&events, 0, 0, NULL) < 0);
    assert_true(statement_shape_check(&events, 50, EVENTS_FACTORS_MAX + 1, NULL) < 0);
    assert_true(statement_shape_check(&events, 50, 3, NULL) < 0);
    for (int t = 0; t < EVENTS_ROUNDS; t++) statement_make_release(&events, "round 1", 50 * 3, 0.5);
    statement_make_release(&events, "vote", EVENTS_WEIGHTS, 0.5);
    assert_int_equal(statement_shape_check(&events, 50, 3, NULL), 0);
    static const struct {
        size_t at;
        uint64_t size;
        bool fits;
    } sizes[] = {{0, 51, false},
                 {2, 50 * 4, true},
                 {2, 50 * 4 + 1, false},
                 {2, 50 * 2, false},
                 {2, 50 * 4096, false},
                 {3, 50 * 4, false},
                 {2 + EVENTS_ROUNDS, EVENTS_WEIGHTS + 1, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct statement other = events;
        other.releases[sizes[i].at].coordinates = sizes[i].size;
        if ((statement_shape_check(&other, 50, 3, NULL) == 0) != sizes[i].fits)
            fail_msg("case %zu", i);
    }

    struct statement biases = statement_make(1, 100, 0, 0);
    assert_int_equal(statement_shape_check(&biases, 100, 0, NULL), 0);
    assert_true(statement_shape_check(&biases, 100, 1, NULL) < 0);
    biases.mechanism = "gram"; /* its shape is not decided by the items and factors */
    biases.releases[0].coordinates = 5050;
    assert_int_equal(statement_shape_check(&biases, 100, 20, NULL), 0);
    biases.releases[0].coordinates = 2000;
    assert_true(statement_shape_check(&biases, 100, 20, NULL) < 0);
}

/* ---- text ------------------------------------------------------------------------------------ */

static char *text_of(struct statement statement) {
    char *text = statement_to_text(&statement);
    assert_non_null(text);
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 80) fail_msg("a line of %zu columns: %.*s", n, (int)n, line);
        assert_true(n == 0 || line[n - 1] != ' ');
        line += n + 1;
    }
    return text;
}

static void expect(const char *text, const char *phrase, bool is_there) {
    if ((strstr(text, phrase) != NULL) != is_there)
        fail_msg("\"%s\" is %s in\n%s", phrase, is_there ? "not" : "", text);
}

static void test_text(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 3883, 8, 14);
    char *text = text_of(statement);
    expect(text, "epsilon = 1      delta = 0.00001", true);
    expect(text, "NOT PRIVATE", false);
    expect(text, "NOT COVERED", false);
    expect(text, "WEAK", false);
    expect(text, "3,883", true);
    expect(text, "2.72 times", true);
    expect(text, "one chance in 100,000", true);
    expect(text, "2 ids   epsilon = 2.16", true);
    free(text);

    statement.is_insecure = true;
    text = text_of(statement);
    expect(text, "NOT PRIVATE. THE NOISE WAS MADE FROM A SEED", true);
    expect(text, "\nWhat is promised", false);
    expect(text, "This release is", false);
    expect(text, "It is proven", false);
    free(text);

    statement.is_insecure = false;
    statement.is_research = true;
    text = text_of(statement);
    expect(text, "NOT PRIVATE. FIGURES OF THE PRIVATE RATINGS WERE SHOWN", true);
    expect(text, "\nWhat is promised", false);
    expect(text, "This release is", false);
    expect(text, "It is proven", false);
    free(text);

    statement.is_research = false;
    statement.catalogue_from_ratings = statement.is_personalised = statement.has_features = true;
    statement.declared_users = 6000;
    text = text_of(statement);
    expect(text, "NOT COVERED: THE LIST OF ITEMS.", true);
    expect(text, "Which items there are", false);
    expect(text, "list of users with smaller epsilons", true);
    expect(text, "and have it", false); /* who may have asked in vain, dpmf cannot know */
    expect(text, "about 6,000 users", true);
    free(text);

    text = text_of(statement_make(20, 3883, 8, 14));
    expect(text, "THIS IS A WEAK PROMISE", true);
    free(text);
    text = text_of(statement_make(100, 3883, 0, 0));
    expect(text, "there is no bound", true);
    free(text);

    /* 0.1.0 never named its build */
    for (uint32_t format = STATEMENT_FORMAT_FIRST; format <= STATEMENT_FORMAT; format++) {
        statement.format = format;
        statement.build.commit[0] = '\0';
        text = text_of(statement);
        expect(text, "The build that made it is not named.", format > STATEMENT_FORMAT_FIRST);
        free(text);
    }
}

/* ---- conditional ----------------------------------------------------------------------------- */

static struct statement conditional_make(double epsilon) {
    struct statement statement = {
        .mechanism = "posterior",
        .epsilon = epsilon,
        .range_min = 1,
        .range_max = 5,
        .items = 40,
        .posterior = {.max_ratings = 100, .factors = 10, .rounds = 200, .kappa = 1, .rho = 1}};
    for (int i = 0; i < STATEMENT_ID_BYTES; i++) statement.id[i] = (uint8_t)(i * 13);
    return statement;
}

static void test_conditional(void **state) {
    (void)state;
    for (int flags = 0; flags < 64; flags++) {
        struct statement statement = conditional_make(flags & 1 ? 250 : 3);
        statement.is_personalised = flags & 2;
        statement.catalogue_from_ratings = flags & 4;
        statement.is_research = flags & 8;
        statement.is_insecure = flags & 16;
        statement.posterior.rho = flags & 32 ? 10 : 1;
        check_round_trip(&statement);
        assert_int_equal(statement_check(&statement, NULL), 0);
        char *json = statement_to_json(&statement);
        bool is_stamped = flags & 24;
        expect(json, "\"kind\":\"conditional\"", !is_stamped);
        expect(json, "\"kind\":\"not private\"", is_stamped);
        expect(json, "proven", false);
        expect(json, "(epsilon, (1 + e^epsilon) * d)", true);
        expect(json, "no finite run", flags & 1);
        expect(json, "\"published\":\"the items of one draw, in single precision\"", true);
        expect(json, "\"added_or_removed\":null", flags & 32);
        free(json);
    }
    struct statement_figures figures;
    struct statement statement = conditional_make(250);
    statement_figures_make(&statement, &figures);
    assert_true(figures.loss_bound == 2500 && figures.loss_scale == 0.1);
    assert_true(figures.replaced == 5 && figures.added == 2.5 && figures.group[0] == 500);
    statement.posterior.rho = 10;
    statement_figures_make(&statement, &figures);
    assert_true(figures.replaced == 50 && figures.added == 0);
    assert_int_equal(statement_shape_check(&statement, 40, 10, NULL), 0);
    assert_true(statement_shape_check(&statement, 40, 9, NULL) < 0);
    assert_true(statement_shape_check(&statement, 41, 10, NULL) < 0);
    for (int i = 0; i < 3; i++) {
        statement.posterior.kappa = 0.5 * i;
        assert_int_equal(statement_check(&statement, NULL), 0);
    }
}

static void test_broken_conditional(void **state) {
    (void)state;
    for (int how = 0; how < 15; how++) {
        struct statement statement = conditional_make(2);
        struct dpmf_error error = {0};
        switch (how) {
        case 0: statement.epsilon = 0; break;
        case 1: statement.epsilon = NAN; break;
        case 2: statement.delta = 1e-5; break;
        case 3: statement.posterior.max_ratings = 0; break;
        case 4: statement.posterior.rounds = 0; break;
        case 5: statement.posterior.factors = 0; break;
        case 6: statement.posterior.kappa = -1; break;
        case 7: statement.posterior.kappa = NAN; break;
        case 8: statement.posterior.rho = 0.5; break;
        case 9: statement.posterior.rho = INFINITY; break;
        case 10: statement_make_release(&statement, "counts", 85, 0.1); break;
        case 11: statement.posterior.kappa = 1e300; break;
        case 12: statement.posterior.kappa = INFINITY; break;
        case 13: statement.epsilon = INFINITY; break;
        case 14: statement.posterior.rho = NAN; break;
        }
        int code = statement_check(&statement, &error);
        if (code != DPMF_ERR_PRIVACY_NOT_VERIFIED) fail_msg("case %d: %d", how, code);
    }
    struct statement statement = conditional_make(2);
    struct statement_figures figures;
    double *const places[] = {&figures.loss_bound, &figures.replaced, &figures.added,
                              &figures.group[1]};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int j = 0; j < 2; j++) {
            statement_figures_make(&statement, &figures);
            assert_int_equal(statement_figures_check(&statement, &figures, NULL), 0);
            *places[i] *= j ? 0.999 : 1.001;
            assert_int_equal(statement_figures_check(&statement, &figures, NULL),
                             DPMF_ERR_PRIVACY_NOT_VERIFIED);
        }
    statement_figures_make(&statement, &figures);
    figures.loss_scale *= 1.001;
    assert_int_equal(statement_figures_check(&statement, &figures, NULL),
                     DPMF_ERR_PRIVACY_NOT_VERIFIED);
}

/* What was declared as spent before, with each kind of release. */
static void test_spent_before(void **state) {
    static const char about[] = "spent before: 3\n";
    (void)state;
    struct statement statement = statement_make(1, 100, 6, 11);
    assert_int_equal(about_parse(about, strlen(about), &statement.about, NULL), 0);
    char *text = text_of(statement);
    expect(text, "it is mu 3.0120 together", true);
    free(text);
    statement.is_insecure = true;
    text = text_of(statement);
    expect(text, "with this one", false);
    expect(text, "has no joint figure with", true);
    free(text);
    statement = conditional_make(2);
    assert_int_equal(about_parse(about, strlen(about), &statement.about, NULL), 0);
    text = text_of(statement); /* 2 Phi^-1(1 / (1 + e^-2)) is 2.3606, and a bound of it is shown */
    expect(text, "at most mu 3.8", true);
    expect(text, "no joint figure", true);
    free(text);
    check_round_trip(&statement);
}

static void test_conditional_text(void **state) {
    (void)state;
    struct statement statement = conditional_make(250);
    char *text = text_of(statement);
    expect(text, "CONDITIONAL, NOT PROVEN", true);
    expect(text, "\nWhat is promised", false);
    expect(text, "This release is", false);
    expect(text, "It is proven", false);
    expect(text, "AT THIS EPSILON THAT SAYS NOTHING", true);
    expect(text, "there is no bound worth naming", true);
    expect(text, "epsilon = 5, which is 2 * rho", true);
    expect(text, "epsilon = 2.5, which is epsilon / tau", true);
    expect(text, "2 ids   epsilon = 500", true);
    expect(text, "That is its claim", true);
    free(text);
    statement = conditional_make(2);
    statement.is_personalised = true;
    statement.posterior.rho = 10;
    text = text_of(statement);
    expect(text, "AT THIS EPSILON THAT SAYS NOTHING", false);
    expect(text, "d would have to be below", true);
    expect(text, "added or removed: no better figure", true);
    expect(text, "dpmf cannot know", true);
    expect(text, "with others in it was refused", false);
    free(text);
    statement.wishes_show_members = true; /* as version 0.1.0 wrote it */
    text = text_of(statement);
    expect(text, "with others in it was refused", true);
    free(text);
    check_round_trip(&statement);
    statement.is_insecure = true;
    text = text_of(statement);
    expect(text, "NOT PRIVATE", true);
    expect(text, "and the seed were secret", true);
    free(text);
}

/* The example of the documents is what the program prints. DPMF_WRITE_EXAMPLES=1 writes it anew. */
static void test_example(void **state) {
    static const char path[] = "docs/privacy/example-statement.txt";
    static const char about[] =
        "controller: Example Library Consortium, 1 Long Street, Exampletown\n"
        "contact: privacy@library.example\n"
        "data: Star ratings of books, by readers who have not opted out\n"
        "period: January 2019 to December 2025\n"
        "intended use: Recommendations in the catalogues of the member libraries\n"
        "date: 2026-03-01\n"
        "erasure: Whoever asks for erasure is left out of every later release. A file that was\n"
        " published cannot be called back; what it says about any one reader is bounded as said\n"
        " above.\n"
        "spent before: 0.26805\n";
    (void)state;
    struct statement statement = statement_make(1, 3883, 6, 11);
    statement.declared_users = 6000;
    statement.has_features = true;
    assert_int_equal(about_parse(about, strlen(about), &statement.about, NULL), 0);
    statement.build = (struct statement_build){.commit = "0123456789abcdef0123456789abcdef01234567",
                                               .compiler = "GNU 12.2.0"};
    memset(statement.build.sources, 'e', sizeof statement.build.sources - 1);
    snprintf(statement.version, sizeof statement.version, "0.1.0");
    char *text = text_of(statement);
    if (getenv("DPMF_WRITE_EXAMPLES")) temp_dir_write(path, text, strlen(text));
    size_t n;
    char *kept = temp_dir_read(path, &n);
    assert_string_equal(text, kept);
    free(kept);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_any_byte_changed),
        cmocka_unit_test(test_other_words),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_commits),
        cmocka_unit_test(test_rule_version),
        cmocka_unit_test(test_query_words),
        cmocka_unit_test(test_figures_are_not_below),
        cmocka_unit_test(test_broken_statements),
        cmocka_unit_test(test_too_many_rounds),
        cmocka_unit_test(test_claims_at_the_edge),
        cmocka_unit_test(test_wrong_figures),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_conditional),
        cmocka_unit_test(test_broken_conditional),
        cmocka_unit_test(test_spent_before),
        cmocka_unit_test(test_conditional_text),
        cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests_name("statement", tests, NULL, NULL);
}

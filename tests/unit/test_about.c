/*
 * Declarations: what a file says is what is kept; names are forgiving and everything else is
 * strict; nothing that is kept can pass for words of dpmf wherever it is shown.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made_release.h"
#include "statement/statement_provenance.h"
#include "temp_dir.h"

static struct about parsed(const char *text) {
    struct about about;
    struct dpmf_error error = {0};
    if (about_parse(text, strlen(text), &about, &error) != 0) fail_msg("%s", error.message);
    return about;
}

static void check_refused(const char *text, size_t n, int64_t line, const char *message,
                          const char *hint) {
    struct about about;
    struct dpmf_error error = {0};
    int code = about_parse(text, n, &about, &error);
    if (code >= 0 || error.code != code || error.line != line || !strstr(error.message, message) ||
        !strstr(error.hint, hint))
        fail_msg("%s: %d, line %d: %s: %s", text, code, (int)error.line, error.message, error.hint);
}

static void test_fields(void **state) {
    (void)state;
    struct about about = parsed("\xef\xbb\xbf# first\n\nController:  Library \r\n"
                                "Intended-Use: to recommend\n  books,\n\tquietly\n"
                                "ERASURE:\n gone\ncontact:\nspent before: 0.5\ndate: 2024-02-29");
    assert_string_equal(about_get(&about, ABOUT_CONTROLLER), "Library");
    assert_string_equal(about_get(&about, ABOUT_INTENDED_USE), "to recommend books, quietly");
    assert_string_equal(about_get(&about, ABOUT_ERASURE), "gone");
    assert_null(about_get(&about, ABOUT_CONTACT)); /* a name without text */
    assert_null(about_get(&about, ABOUT_TITLE));
    assert_true(about_spent_before(&about) == 0.5);
    about = parsed("# nothing\n");
    assert_true(about_is_empty(&about) && isnan(about_spent_before(&about)));
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t line;
        const char *message, *hint;
    } cases[] = {
        {"title: a\ncontoller: b\n", 2, "no field \"contoller\"", "did you mean \"controller\"?"},
        {"epsilon: 0.1\n", 1, "no field \"epsilon\"", "about.md"},
        {"note: proven by dpmf\n", 1, "no field \"note\"", ""},
        {"just words\n", 1, "is not \"name: text\"", ""},
        {" words that continue nothing\n", 1, "is not \"name: text\"", ""},
        {"title: a\n\ntitle: b\n", 3, "twice", ""},
        {"title: a\nTitle: b\n", 2, "twice", ""},
        {"date: 2023-02-29\n", 1, "not a date", ""},
        {"date: 1.3.2026\n", 1, "not a date", ""},
        {"date: 2026-3-1\n", 1, "not a date", ""},
        {"date: 0000-01-01\n", 1, "not a date", ""},
        {"spent_before: none\n", 1, "not a mu", ""},
        {"spent_before: -1\n", 1, "not a mu", ""},
        {"spent_before: inf\n", 1, "not a mu", ""},
        {"spent_before: 1e9\n", 1, "not a mu", ""},
        {"title: \xff\n", 1, "not UTF-8", ""},
        {"title: a\x1b[2Jb\n", 1, "cannot be shown safely", ""},
        {"title: a\rWhat is promised\n", 1, "cannot be shown safely", ""},
        {"title: \xe2\x80\xae txet\n", 1, "cannot be shown safely", ""}, /* U+202E */
        {"title: a\xe2\x80\xa8 b\n", 1, "cannot be shown safely", ""},   /* U+2028 */
        {"title: a\xc2\x9b b\n", 1, "cannot be shown safely", ""},       /* U+009B */
        {"title: a\xef\xbf\xbe b\n", 1, "cannot be shown safely", ""},   /* U+FFFE */
        {"title: a\xe2\x81\xa6 b\n", 1, "cannot be shown safely", ""},   /* U+2066 */
        {"title: a\xf3\xa0\x81\xa1 b\n", 1, "nobody sees", ""},          /* U+E0061 */
        {"title: a\xe2\x80\x8b b\n", 1, "nobody sees", ""},              /* U+200B */
        {"title: a\xc2\xad b\n", 1, "nobody sees", ""},                  /* U+00AD */
        {"title: \xe2\x80\x8dx\n", 1, "nobody sees", ""},                /* a joiner of nothing */
        {"title: a\xef\xb8\x8f\xef\xb8\x8f\n", 1, "nobody sees", ""},    /* two selectors */
        {"title: a\xe2\x80\x8d\xe2\x80\x8d b\n", 1, "nobody sees", ""},  /* two joiners */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_refused(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].message,
                      cases[i].hint);
    check_refused("title: a\0b\n", 11, 1, "cannot be shown safely", "");
    /* What words and pictures need: a heart on fire, and Persian. */
    struct about about;
    static const char good[] = "title: \xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x94\xa5 "
                               "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xb1\n";
    assert_int_equal(about_parse(good, strlen(good), &about, NULL), 0);
}

static void test_limits(void **state) {
    (void)state;
    char text[16384], *at = text;
    struct about about;
    size_t n = (size_t)sprintf(text, "title: ");
    memset(text + n, 'x', ABOUT_VALUE_MAX + 1);
    assert_int_equal(about_parse(text, n + ABOUT_VALUE_MAX, &about, NULL), 0);
    check_refused(text, n + ABOUT_VALUE_MAX + 1, 1, "longer than 2000", "");
    memset(text + n, 'x', 5000);
    check_refused(text, n + 5000, 1, "longer than 2000", "");
    for (int i = 0; i < 5; i++) { /* 10,000 bytes in all */
        at += sprintf(at, "%s: ", about_name((enum about_field)i));
        memset(at, 'y', ABOUT_VALUE_MAX);
        at += ABOUT_VALUE_MAX;
        *at++ = '\n';
    }
    check_refused(text, (size_t)(at - text), 5, "8192", "");
}

static void test_files(void **state) {
    (void)state;
    struct temp_dir dir;
    struct about about;
    struct dpmf_error error = {0};
    temp_dir_make(&dir);
    char path[TEMP_PATH_MAX];
    temp_dir_file(&dir, "about.txt", path);
    assert_int_equal(about_read(path, &about, &error), DPMF_ERR_IO_MISSING);
    FILE *file = fopen(path, "w");
    fputs("title: a\nperoid: b\n", file);
    fclose(file);
    assert_int_equal(about_read(path, &about, &error), DPMF_ERR_INPUT_HEADER);
    assert_int_equal(error.line, 2);
    assert_string_equal(error.file, path);
    assert_string_equal(error.hint, "did you mean \"period\"?");
    file = fopen(path, "w");
    for (int i = 0; i < ABOUT_FILE_MAX; i++) fputs("#\n", file);
    fclose(file);
    assert_int_equal(about_read(path, &about, &error), DPMF_ERR_INPUT_TOO_MANY);
    temp_dir_remove(&dir);
}

/* Between two texts, both of which are there; after the first NULL is the end. */
static const char *after(const char *text, const char *words) {
    const char *at = strstr(text, words);
    if (!at) fail_msg("\"%s\" is not in:\n%s", words, text);
    return at;
}

static void test_statement(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 4, 2, 1), read;
    char long_word[200];
    memset(long_word, 'w', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(about_put(&statement.about, ABOUT_CONTROLLER, "\"L\xc3\xa4nder\" <b>\\o/</b>", 20));
    assert_null(about_put(&statement.about, ABOUT_SPENT_BEFORE, "0.25", 4));
    assert_null(about_put(&statement.about, ABOUT_ERASURE, long_word, sizeof long_word - 1));
    statement_build_fill(&statement.build);

    char *json = statement_to_json(&statement);
    assert_int_equal(statement_from_json(json, strlen(json), &read, NULL), 0);
    assert_string_equal(about_get(&read.about, ABOUT_CONTROLLER), "\"L\xc3\xa4nder\" <b>\\o/</b>");
    assert_string_equal(read.build.sources, dpmf_build_identity().sources);
    after(json, "\"about\":{\"note\":\"declared by the curator, not verified by dpmf\"");
    free(json);

    /* Every line of it, and only those, behind the mark; after everything that dpmf says. */
    char *text = statement_to_text(&read);
    const char *declared = after(text, "\nDeclared by the curator, not verified by dpmf\n");
    assert_true(declared > after(text, "\nFor specialists\n"));
    after(declared, "\n  | Controller: \"L\xc3\xa4nder\"");
    assert_null(strstr(text, "\nwww"));
    after(declared, "\n  | wwwwwwwww");
    after(declared, "with this one it is mu 0.3666 together");
    assert_true(after(text, "\n      mu = 0.26") < after(text, "\n      epsilon = 1 "));
    free(text);
}

/* What a file may not declare, no release may hold either. */
static void test_hostile_statements(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\"note\":\"declared by the curator, not verified by dpmf\"",
         "\"note\":\"proven by dpmf\""},
        {"\"note\":\"declared by the curator, not verified by dpmf\",", ""},
        {"\"title\":\"A title\"", "\"title\":\"A\\u001b[2J title\""},
        {"\"title\":\"A title\"", "\"title\":\"A\\ntitle\""},
        {"\"title\":\"A title\"", "\"title\":\"A\\u202etitle\""},
        {"\"title\":\"A title\"", "\"title\":\"A t\\u0069tle\""},
        {"\"title\":\"A title\"", "\"title\":\"\""},
        {"\"title\":\"A title\"", "\"title\":\"A title\",\"title\":\"B\""},
        {"\"title\":\"A title\"", "\"verified\":\"A title\""},
        {"\"title\":\"A title\"", "\"title\":7"},
        {"\"title\":\"A title\",\"date\":\"2026-03-01\"",
         "\"date\":\"2026-03-01\",\"title\":\"A title\""},
        {"\"date\":\"2026-03-01\"", "\"date\":\"soon\""},
        {"\"compiler\":\"", "\"compiler\":\"\\\\"},
        {"\"epsilon_at\":[{\"delta\":0.00001,", "\"epsilon_at\":[{\"delta\":0.00002,"},
        {"they were chosen on MovieLens", "they were chosen on moonlight"},
    };
    struct statement statement = statement_make(1, 4, 2, 1), read;
    assert_null(about_put(&statement.about, ABOUT_TITLE, "A title", 7));
    assert_null(about_put(&statement.about, ABOUT_DATE, "2026-03-01", 10));
    statement_build_fill(&statement.build);
    char *json = statement_to_json(&statement);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *other = malloc(strlen(json) + 200);
        const char *at = after(json, cases[i][0]);
        sprintf(other, "%.*s%s%s", (int)(at - json), json, cases[i][1], at + strlen(cases[i][0]));
        int code = statement_from_json(other, strlen(other), &read, NULL);
        if (code != DPMF_ERR_MODEL_CORRUPT) fail_msg("%s: %d", cases[i][1], code);
        free(other);
    }
    free(json);
}

static void test_registry(void **state) {
    (void)state;
    struct statement statement = statement_make(1, 4, 2, 1);
    char *yaml = statement_to_registry(&statement), figure[64];
    struct statement_figures figures;
    statement_figures_make(&statement, &figures);
    static const char *const deltas[] = {"1e-5", "1e-6", "1e-7", "1e-9"};
    for (size_t i = 0; i < STATEMENT_DELTAS; i++) {
        char number[DPMF_DOUBLE_TEXT_MAX];
        dpmf_format_double(figures.at_delta[i], number);
        snprintf(figure, sizeof figure, "%s at %s%s", number, i == 0 ? "delta " : "", deltas[i]);
        assert_non_null(strstr(yaml, figure));
    }
    assert_non_null(yaml);
    assert_memory_equal(yaml, "url_slug: --1900\n", 17);
    after(yaml, "publication_date: \"1900-01-01\" # not declared: fill in\n");
    free(yaml);
    assert_null(about_put(&statement.about, ABOUT_TITLE, "What \"we\" like: \\\\o", 19));
    assert_null(about_put(&statement.about, ABOUT_CONTROLLER, "A & B", 5));
    assert_null(about_put(&statement.about, ABOUT_DATE, "2026-03-01", 10));
    yaml = statement_to_registry(&statement);
    assert_memory_equal(yaml, "url_slug: what-we-like-o-a-b-2026\n", 34);
    after(yaml, "    name: \"What \\\"we\\\" like: \\\\o\" # declared by the curator\n");
    after(yaml, "      epsilon: 1\n      delta: 0.00001\n");
    free(yaml);
    statement.epsilon = 1e30;
    statement.delta = 2.5e-9;
    yaml = statement_to_registry(&statement);
    after(yaml, "      epsilon: 1.0e+30\n      delta: 2.5e-9\n"); /* numbers of YAML 1.1 */
    free(yaml);
    statement.is_insecure = true;
    assert_null(statement_to_registry(&statement));
    statement.is_insecure = false;
    statement.is_research = true;
    assert_null(statement_to_registry(&statement));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_statement), cmocka_unit_test(test_hostile_statements),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

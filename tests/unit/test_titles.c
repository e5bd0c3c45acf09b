/*
 * Titles: folded, taken apart, shown as people write them, and searched. All titles are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_client.h"
#include "titles/title_text.h"

/* ---- folding --------------------------------------------------------------------------------- */

static void expect_fold(const char *text, const char *expected) {
    char folded[TITLE_FOLD_ROOM];
    const size_t n = title_fold(text, strlen(text), folded);
    folded[n] = '\0';
    assert_string_equal(folded, expected);
}

static void folds_latin(void **state) {
    (void)state;
    expect_fold("The  Gl\303\266ckner's -- Ca\303\261on!", "the glockners canon");
    expect_fold("\303\206on & Sm\303\270rrebr\303\270d", "aeon and smorrebrod");
    expect_fold("Stra\303\237e\342\200\231s \305\201\303\263d\305\272", "strasses lodz");
    expect_fold("Cafe\314\201", "cafe");                        /* a mark of its own */
    expect_fold("\357\274\241\357\274\242\357\274\221", "ab1"); /* wide forms */
    expect_fold("8\302\275", "81 2");
    expect_fold("Rocket \342\205\243", "rocket iv");
    expect_fold("", "");
    expect_fold("  \t", "");
    expect_fold(" !!! ", "!!!"); /* nothing but symbols: as they are */
}

static void folds_other_alphabets(void **state) {
    (void)state;
    expect_fold("\320\234\320\276\321\201\320\272\320\276\320\262\320\270\321\217", "moskoviya");
    expect_fold("\320\251\320\270", "shchi");
    expect_fold("\316\221\316\270\316\256\316\275\316\261", "athina");
    expect_fold("\343\202\253\343\203\212", "\343\201\213\343\201\252"); /* katakana, hiragana */
    expect_fold("\346\227\245\346\234\254\343\200\201\346\235\261",
                "\346\227\245\346\234\254 \346\235\261");
}

static void folds_initials(void **state) {
    (void)state;
    expect_fold("Q.Z. the Quiet", "qz the quiet");
    expect_fold("Q.Z", "qz");
    expect_fold("J. R. R. Talker", "jrr talker");
    expect_fold("Dr. Nope", "dr nope");
    expect_fold("Plan A. Bees", "plan a bees");
    expect_fold("Version 2.5", "version 2 5");
}

static void folds_bytes_that_are_not_utf8(void **state) {
    (void)state;
    expect_fold("Caf\351 \377", "cafe y");
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void expect_shown(const char *text, const char *expected) {
    char shown[200];
    assert_int_equal(dpmf_title_show(text, strlen(text), shown, sizeof shown), strlen(expected));
    assert_string_equal(shown, expected);
}

static void shows_titles_as_people_write_them(void **state) {
    (void)state;
    expect_shown("Lamp, The (1999)", "The Lamp (1999)");
    expect_shown("Lamp (1999)", "Lamp (1999)");
    expect_shown("Aventure, L' (Adventure, The) (1960)", "L'Aventure (The Adventure) (1960)");
    expect_shown("Lamps, Chairs and Tables", "Lamps, Chairs and Tables");
    expect_shown("Welle, Die", "Die Welle");
    expect_shown("(1999)", "(1999)");
    expect_shown(", The", ", The");
    char small[6];
    assert_int_equal(dpmf_title_show("Lamp, The", 9, small, sizeof small), 8);
    assert_string_equal(small, "The L");
    assert_int_equal(dpmf_title_show("Lamp, The", 9, NULL, 0), 8);
    assert_int_equal(dpmf_title_show(NULL, 9, small, sizeof small), 0);
}

static void finds_years(void **state) {
    (void)state;
    struct title_parts parts;
    assert_int_equal(title_year("1999", 4), 1999);
    assert_int_equal(title_year("1999-2003", 9), 1999);
    assert_int_equal(title_year("1999\342\200\223", 7), 1999);
    assert_int_equal(title_year("19995", 5), 0);
    assert_int_equal(title_year("0999", 4), 0);
    assert_int_equal(title_year("1999 B", 6), 0);
    title_parts_find("Lamp (Cut) (1999) [x]", 21, &parts);
    assert_int_equal(parts.year, 1999);
    assert_int_equal(parts.n_groups, 3);
    assert_int_equal(parts.year_group, 1);
    assert_int_equal(parts.main.n, 4);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Whether two titles have the same key at a level. */
static bool are_same(const char *a, const char *b, enum title_level level) {
    char x[TITLE_KEY_ROOM], y[TITLE_KEY_ROOM];
    struct title_parts first, second;
    title_parts_find(a, strlen(a), &first);
    title_parts_find(b, strlen(b), &second);
    const size_t n = title_key(&first, level, x);
    return n > 0 && n == title_key(&second, level, y) && memcmp(x, y, n) == 0;
}

static void keys_pass_over_what_they_should(void **state) {
    (void)state;
    assert_true(are_same("Lamp, The (1999)", "The Lamp", TITLE_WHOLE));
    assert_true(are_same("Spider-Lamp", "Spiderlamp", TITLE_WHOLE));
    assert_false(are_same("The Lamp", "Lamp", TITLE_WHOLE));
    assert_true(are_same("The Lamp", "Lamp", TITLE_PLAIN));
    assert_true(are_same("Lamp & Chair", "Lamp and Chair", TITLE_WHOLE));
    assert_true(are_same("Lamp + Chair", "Lamp and Chair", TITLE_PLAIN));
    assert_true(are_same("Rocket II", "Rocket 2", TITLE_PLAIN));
    assert_true(are_same("Rocket: Part Two", "Rocket Part II", TITLE_PLAIN));
    assert_true(are_same("Rocket V", "Rocket 5", TITLE_PLAIN));
    assert_false(are_same("V for Lamp", "5 for Lamp", TITLE_PLAIN));
    assert_false(are_same("Rocket I Love", "Rocket 1 Love", TITLE_PLAIN));
    assert_false(are_same("Rocket", "Rocket 2", TITLE_PLAIN));
    assert_false(are_same("Lamp (Director's Cut)", "Lamp", TITLE_PLAIN));
    assert_true(are_same("Lamp (Director's Cut)", "Lamp", TITLE_EDITION));
    assert_true(are_same("Lamp - Remastered 2011", "Lamp", TITLE_EDITION));
    assert_true(are_same("Lamp: Extended Edition", "Lamp", TITLE_EDITION));
    assert_false(are_same("Lamp: A Tale", "Lamp", TITLE_EDITION));
    assert_true(are_same("Lamp: A Tale", "Lamp", TITLE_SUBTITLE));
    assert_true(are_same("The And", "And", TITLE_PLAIN)); /* never empty */
}

/* ---- search ---------------------------------------------------------------------------------- */

static const char *const shelf[] = {
    "Moon Wars (1977)",                                         /* 0 */
    "Moon Wars: The Return",                                    /* 1 */
    "Lamp, The (1999)",                                         /* 2 */
    "Q.Z. the Quiet One (1982)",                                /* 3 */
    "Lamplight",                                                /* 4 */
    "A Long Way to Moonbase",                                   /* 5 */
    "Ca\303\261on de la Lumi\303\250re",                        /* 6 */
    "\320\241\320\276\320\273\321\217\320\275\320\272\320\260", /* 7: solyanka */
    "",                                                         /* 8 */
    "Spiderlamp Returns",                                       /* 9 */
    "The Great Sandcastle (2001)",                              /* 10 */
    "!!!",                                                      /* 11 */
    "Wars of the Moon",                                         /* 12 */
};
enum { SHELF = sizeof shelf / sizeof shelf[0] };

static struct dpmf_titles *make_shelf(const float *popularity) {
    char text[1000];
    size_t n = 0;
    struct dpmf_titles *titles;
    for (size_t i = 0; i < SHELF; i++) {
        memcpy(text + n, shelf[i], strlen(shelf[i]) + 1);
        n += strlen(shelf[i]) + 1;
    }
    assert_int_equal(dpmf_titles_make(text, n, SHELF, popularity, &titles, NULL), 0);
    return titles;
}

static void expect_found(struct dpmf_titles *titles, const char *typed, const char *expected) {
    uint64_t items[SHELF], matches;
    char found[100] = "";
    const int64_t n =
        dpmf_titles_search(titles, typed, strlen(typed), SHELF, items, &matches, NULL, 0, NULL);
    assert_int_equal(n, matches);
    for (int64_t i = 0; i < n; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d", i ? " " : "",
                 (int)items[i]);
    if (strcmp(found, expected) != 0) fail_msg("%s: %s, not %s", typed, found, expected);
}

static void search_forgives(void **state) {
    (void)state;
    struct dpmf_titles *titles = make_shelf(NULL);
    expect_found(titles, "moon wars", "0 1 12");
    expect_found(titles, "moonwars", "0 1 5"); /* the last with two typing errors */
    expect_found(titles, "MOON WA", "0 1 12 5");
    expect_found(titles, "wars moon", "0 12 1");
    expect_found(titles, "the lamp", "2");
    expect_found(titles, "lamp", "2 4 9"); /* whole, begins, holds */
    expect_found(titles, "q.z.", "3");
    expect_found(titles, "qz", "3");
    expect_found(titles, "canon lumiere", "6");
    expect_found(titles, "solyanka", "7");
    expect_found(titles, "\321\201\320\276\320\273\321\217\320\275\320\272\320\260", "7");
    expect_found(titles, "spider lamp", "9");
    expect_found(titles, "grate sandcastle", ""); /* two errors in five letters */
    expect_found(titles, "greta sandcastle", "10");
    expect_found(titles, "great sandcaslte", "10");
    expect_found(titles, "sandcatle", "10");
    expect_found(titles, "teh lamp", "2"); /* a swap, but no other error in three letters */
    expect_found(titles, "hte lamp", "2");
    expect_found(titles, "tha lamp", "");
    expect_found(titles, "zq quiet", ""); /* nor a swap in two */
    expect_found(titles, "1999", "2");
    expect_found(titles, "!!!", "11");
    expect_found(titles, "", "");
    expect_found(titles, " \t ", "");
    expect_found(titles, "zebra", "");
    dpmf_titles_free(titles);
}

/* Numbers are the same as digits, as Roman numerals and as words; one that is met whole comes
 * before a year that begins so. */
static void search_knows_numbers(void **state) {
    static const char text[] = "Moon Wars: Episode V - The Lamp (1980)\0"
                               "Moon Wars: Episode IV - A New Lamp (1977)\0"
                               "The Adventures of Boxer and Cat (2000)\0"
                               "Boxer II (1979)\0"
                               "Boxer (1976)\0"
                               "Dolls 2 (1999)\0"
                               "Dolls (1995)\0"
                               "Four Lamps (1995)\0"
                               "I, Lamp (2004)";
    enum { N = 9 };
    const float popularity[N] = {9, 8, 7, 1, 6, 1, 5, 1, 1};
    static const struct {
        const char *typed;
        uint64_t first;
    } cases[] = {{"moon wars 4", 1}, {"moon wars iv", 1}, {"moon wars four", 1},
                 {"moon wars 5", 0}, {"boxer 2", 3},      {"boxer two", 3},
                 {"boxer ii", 3},    {"boxer 20", 2},     {"dolls two", 5},
                 {"dolls ii", 5},    {"4 lamps", 7},      {"moon wars episode 4", 1},
                 {"i lamp", 8},      {"boxer 2 1979", 3}, {"2 dolls", 5}};
    struct dpmf_titles *titles;
    uint64_t items[N], matches;
    (void)state;
    assert_int_equal(dpmf_titles_make(text, sizeof text, N, popularity, &titles, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *typed = cases[i].typed;
        const int64_t n =
            dpmf_titles_search(titles, typed, strlen(typed), N, items, &matches, NULL, 0, NULL);
        if (n < 1 || items[0] != cases[i].first)
            fail_msg("%s: %d", typed, n < 1 ? -1 : (int)items[0]);
    }
    dpmf_titles_free(titles);
}

static void expect_left_out(struct dpmf_titles *titles, const char *typed, const char *expected,
                            uint64_t first) {
    uint64_t items[SHELF], matches;
    char left_out[20];
    const int64_t n = dpmf_titles_search(titles, typed, strlen(typed), SHELF, items, &matches,
                                         left_out, sizeof left_out, NULL);
    assert_int_equal(n, matches);
    if (strcmp(left_out, expected) != 0) fail_msg("%s: %s, not %s", typed, left_out, expected);
    if (first == SHELF)
        assert_int_equal(n, 0);
    else if (n == 0 || items[0] != first)
        fail_msg("%s: not %d first", typed, (int)first);
}

static void a_word_too_many_is_left_out(void **state) {
    (void)state;
    struct dpmf_titles *titles = make_shelf(NULL);
    expect_left_out(titles, "moon wars", "", 0); /* not where there are titles with all */
    expect_left_out(titles, "teh lamp", "", 2);  /* nor where an error explains it */
    expect_left_out(titles, "moon wars 4", "4", 0);
    expect_left_out(titles, "4 moon wars return", "4", 1);
    expect_left_out(titles, "Gr\303\242te sandcastle", "Gr\303\242te", 10); /* as it was typed */
    expect_left_out(titles, "lamp q-qqq", "", SHELF);                       /* two words */
    expect_left_out(titles, "lamp/qqqq", "qqqq", 2);         /* folded: blanks do not separate it */
    expect_left_out(titles, "qqqqqqqq lamp", "qqqqqqqq", 2); /* no title has it, though long */
    expect_left_out(titles, "solyanka lamp", "lamp", 7);     /* both are known: the shorter */
    expect_left_out(titles, "lamp moon", "moon", 2);         /* as long: the last */
    expect_left_out(titles, "the qqqq", "", SHELF);          /* an article is not enough */
    expect_left_out(titles, "qqqq zzzz", "", SHELF);
    expect_left_out(titles, "qqqq", "", SHELF);
    expect_left_out(titles, "", "", SHELF);
    expect_left_out(titles, "qqqqqqqqqqqqqqqqqq\303\261\303\261 lamp", "qqqqqqqqqqqqqqqqqq", 2);
    dpmf_titles_free(titles);
}

static void popularity_decides_between_equals(void **state) {
    (void)state;
    float popularity[SHELF] = {0};
    popularity[1] = 9;
    popularity[12] = 5;
    struct dpmf_titles *titles = make_shelf(popularity);
    expect_found(titles, "moon wars", "0 1 12"); /* the whole title comes first */
    expect_found(titles, "moon w", "1 0 12 5");
    dpmf_titles_free(titles);
}

static void search_gives_the_best_n(void **state) {
    (void)state;
    struct dpmf_titles *titles = make_shelf(NULL);
    uint64_t items[2], items3[3], matches;
    assert_int_equal(dpmf_titles_search(titles, "moon", 4, 2, items, &matches, NULL, 0, NULL), 2);
    assert_int_equal(items[0], 0);
    assert_int_equal(items[1], 1);
    assert_int_equal(matches, 2); /* those that begin so suffice, and only they are counted */
    assert_int_equal(dpmf_titles_search(titles, "wars", 4, 3, items3, &matches, NULL, 0, NULL), 3);
    assert_int_equal(matches, 3);
    assert_int_equal(dpmf_titles_search(titles, "moon", 4, 0, items, &matches, NULL, 0, NULL), 0);
    assert_int_equal(dpmf_titles_search(NULL, "moon", 4, 2, items, NULL, NULL, 0, NULL),
                     DPMF_ERR_USAGE_NULL);
    dpmf_titles_free(titles);
}

/* The least number of edits to a beginning of the word, plainly: what the bits must give. */
static int plain_errors(const char *typed, const char *word) {
    int d[20][40], best = 99;
    const int n = (int)strlen(typed), m = (int)strlen(word);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int least = d[i - 1][j - 1] + (typed[i - 1] != word[j - 1]);
            if (d[i - 1][j] + 1 < least) least = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < least) least = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1] &&
                d[i - 2][j - 2] + 1 < least)
                least = d[i - 2][j - 2] + 1;
            d[i][j] = least;
        }
    for (int j = 0; j <= m; j++)
        if (d[n][j] < best) best = d[n][j];
    return best;
}

/* Random words of two letters, against a plain table of distances. */
static void typing_errors_are_counted_right(void **state) {
    (void)state;
    enum { WORDS = 60 };
    char text[WORDS * 16], words[WORDS][16];
    uint64_t seed = 7, items[WORDS];
    size_t n = 0;
    struct dpmf_titles *titles;
    for (size_t i = 0; i < WORDS; i++) {
        size_t length = 4 + i % 10;
        for (size_t j = 0; j < length; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            words[i][j] = (char)('a' + (seed >> 60) % 3);
        }
        words[i][length] = '\0';
        memcpy(text + n, words[i], length + 1);
        n += length + 1;
    }
    assert_int_equal(dpmf_titles_make(text, n, WORDS, NULL, &titles, NULL), 0);
    for (size_t i = 0; i < WORDS; i++) {
        const size_t length = strlen(words[i]);
        const int allowed = length < 8 ? 1 : 2;
        bool is_found[WORDS] = {0};
        size_t n_plain = 0; /* from three on, no typing errors are looked for */
        for (size_t j = 0; j < WORDS; j++) n_plain += strstr(words[j], words[i]) != NULL;
        int64_t found =
            dpmf_titles_search(titles, words[i], length, WORDS, items, NULL, NULL, 0, NULL);
        for (int64_t j = 0; j < found; j++) is_found[items[j]] = true;
        for (size_t j = 0; j < WORDS; j++) {
            const bool is_near = n_plain < 3 && plain_errors(words[i], words[j]) <= allowed;
            const bool expected = strstr(words[j], words[i]) != NULL || is_near;
            if (is_found[j] != expected) fail_msg("%s %s", words[i], words[j]);
        }
    }
    dpmf_titles_free(titles);
}

static void refuses_texts_that_are_no_titles(void **state) {
    (void)state;
    struct dpmf_titles *titles;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_titles_make("a\0b", 4, 3, NULL, &titles, &error), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_titles_make("a\0b", 4, 1, NULL, &titles, &error), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_titles_make("ab", 2, 1, NULL, &titles, &error), DPMF_ERR_USAGE_VALUE);
    assert_null(titles);
    assert_int_equal(dpmf_titles_make("", 0, UINT64_MAX, NULL, &titles, &error),
                     DPMF_ERR_INPUT_TOO_MANY);
    assert_int_equal(dpmf_titles_make("", 0, 0, NULL, &titles, &error), 0);
    assert_null(dpmf_titles_title(titles, 0, NULL));
    dpmf_titles_free(titles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_latin),
        cmocka_unit_test(folds_other_alphabets),
        cmocka_unit_test(folds_initials),
        cmocka_unit_test(folds_bytes_that_are_not_utf8),
        cmocka_unit_test(shows_titles_as_people_write_them),
        cmocka_unit_test(finds_years),
        cmocka_unit_test(keys_pass_over_what_they_should),
        cmocka_unit_test(search_knows_numbers),
        cmocka_unit_test(search_forgives),
        cmocka_unit_test(a_word_too_many_is_left_out),
        cmocka_unit_test(popularity_decides_between_equals),
        cmocka_unit_test(search_gives_the_best_n),
        cmocka_unit_test(typing_errors_are_counted_right),
        cmocka_unit_test(refuses_texts_that_are_no_titles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

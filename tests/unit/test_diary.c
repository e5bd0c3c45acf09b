/*
 * Files as services export them: each is recognised, read and matched with a catalogue. The files
 * are those of tests/cli/fixtures/diary; all titles are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "client_make.h"
#include "titles/diary.h"

static const char *const shelf[] = {
    "Salt of Tables by Bob Writer",              /* 0 */
    "Moon Wars: A Tale of Space (1977)",         /* 1 */
    "Lamp, The (1999)",                          /* 2 */
    "Rocket II (1987)",                          /* 3 */
    "Twice Told (2011)",                         /* 4 */
    "Twice Told (2011)",                         /* 5 */
    "Ca\303\261on de la Lumi\303\250re (1995)",  /* 6 */
    "Tea, Sugar & Salt (Director's Cut) (2003)", /* 7 */
    "",                                          /* 8 */
};
static const char *const songs[] = {"The Lamps - Glow", "Caf\303\251 Noir - Steam", "Glow"};
static const char *const artists[] = {"Cafe Noir", "Lamps, The", "Glow"};

enum { SHELF = sizeof shelf / sizeof shelf[0] };

struct bed {
    struct temp_dir dir;
    struct dpmf_model *model;
    struct dpmf_titles *titles;
    struct dpmf_diary *diary;
};

static struct dpmf_titles *make_titles(const char *const *list, size_t n) {
    char text[1000];
    size_t bytes = 0;
    struct dpmf_titles *titles;
    for (size_t i = 0; i < n; i++) {
        memcpy(text + bytes, list[i], strlen(list[i]) + 1);
        bytes += strlen(list[i]) + 1;
    }
    assert_int_equal(dpmf_titles_make(text, bytes, n, NULL, &titles, NULL), 0);
    return titles;
}

static void bed_make(struct bed *bed, const char *const *list, size_t n) {
    temp_dir_make(&bed->dir);
    bed->model = client_open_release(&bed->dir, n, 2, 1, 1, 3);
    bed->titles = make_titles(list, n);
    assert_int_equal(dpmf_diary_new(&bed->diary, NULL), 0);
}

static void bed_free(struct bed *bed) {
    dpmf_diary_free(bed->diary);
    dpmf_titles_free(bed->titles);
    dpmf_model_close(bed->model);
    temp_dir_remove(&bed->dir);
}

static char *read_fixture(const char *name, size_t *n) {
    char path[200];
    snprintf(path, sizeof path, "tests/cli/fixtures/diary/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 16);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return bytes;
}

static void add_fixture(struct bed *bed, const char *name, const char *service) {
    size_t n;
    struct dpmf_error error = {0};
    char *bytes = read_fixture(name, &n);
    assert_string_equal(dpmf_diary_service(bytes, n), service);
    if (dpmf_diary_add(bed->diary, bytes, n, name, &error) != 0) fail_msg("%s", error.message);
    free(bytes);
    assert_int_equal(dpmf_diary_match(bed->diary, bed->model, bed->titles, &error), 0);
}

static struct dpmf_diary_info info_of(const struct bed *bed) {
    struct dpmf_diary_info info;
    dpmf_diary_info(bed->diary, &info);
    return info;
}

static void expect_entry(const struct bed *bed, size_t i, const char *title, enum dpmf_match match,
                         uint64_t item) {
    struct dpmf_diary_entry entry;
    assert_true(dpmf_diary_entry(bed->diary, i, &entry));
    assert_string_equal(entry.title, title);
    if (entry.match != match) fail_msg("%s: match %d", title, (int)entry.match);
    assert_int_equal(entry.item, item);
}

/* Ratings of a diary, as "item:rating item:rating". */
static void expect_ratings(const struct bed *bed, const char *expected) {
    struct dpmf_own_rating ratings[50];
    char text[300] = "";
    const int64_t n = dpmf_diary_ratings(bed->diary, ratings, 50, NULL);
    for (int64_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%g", i ? " " : "",
                 (int)ratings[i].item, ratings[i].rating);
    assert_string_equal(text, expected);
}

/* ---- films ----------------------------------------------------------------------------------- */

static void reads_letterboxd(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "letterboxd.csv", "letterboxd");
    expect_entry(&bed, 0, "The Lamp", DPMF_MATCH_SURE, 2);
    expect_entry(&bed, 1, "Moon Wars", DPMF_MATCH_LIKELY, 1); /* a subtitle is missing */
    expect_entry(&bed, 2, "Tea, Sugar and Salt", DPMF_MATCH_SURE, 7);
    expect_entry(&bed, 3, "Rocket 2", DPMF_MATCH_LIKELY, 3); /* a year earlier */
    expect_entry(&bed, 4, "Twice Told", DPMF_MATCH_UNSURE, UINT64_MAX);
    expect_entry(&bed, 5, "Nobody Knows This", DPMF_MATCH_NONE, UINT64_MAX);
    expect_ratings(&bed, "2:4 1:5 7:1"); /* the newer rating; half a star is the least of 1 to 5 */
    struct dpmf_diary_info info = info_of(&bed);
    assert_int_equal(info.rows, 7);
    assert_int_equal(info.entries, 6);
    assert_int_equal(info.rated, 5);
    assert_int_equal(info.sure, 2);
    assert_int_equal(info.likely, 2);
    assert_int_equal(info.unsure, 1);
    assert_int_equal(info.none, 1);
    struct dpmf_diary_entry entry;
    dpmf_diary_entry(bed.diary, 4, &entry);
    assert_int_equal(entry.n_candidates, 2);
    assert_int_equal(entry.candidates[0] + entry.candidates[1], 9);
    uint8_t seen[2] = {0};
    dpmf_diary_mark(bed.diary, seen);
    assert_int_equal(seen[0], 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7); /* rated or not */
    bed_free(&bed);
}

static void takes_corrections(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "letterboxd.csv", "letterboxd");
    assert_int_equal(dpmf_diary_assign(bed.diary, 4, 5, NULL), 0);
    assert_int_equal(dpmf_diary_assign(bed.diary, 1, UINT64_MAX, NULL), 0);
    assert_int_equal(dpmf_diary_assign(bed.diary, 99, 1, NULL), DPMF_ERR_MODEL_UNKNOWN_ID);
    assert_int_equal(dpmf_diary_assign(bed.diary, 1, SHELF, NULL), DPMF_ERR_MODEL_UNKNOWN_ID);
    expect_entry(&bed, 4, "Twice Told", DPMF_MATCH_CHOSEN, 5);
    expect_ratings(&bed, "2:4 7:1 5:3");
    assert_int_equal(info_of(&bed).none, 2);
    bed_free(&bed);
}

static void reads_imdb(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "imdb.csv", "imdb");
    expect_entry(&bed, 1, "Canyon of Light", DPMF_MATCH_SURE, 6); /* by its original title */
    expect_ratings(&bed, "2:4 6:5");                              /* of ten */
    bed_free(&bed);
}

static void reads_trakt(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "trakt.json", "trakt");
    expect_ratings(&bed, "2:4.5"); /* an episode's rating is not the show's */
    expect_entry(&bed, 1, "Twice Told", DPMF_MATCH_UNSURE, UINT64_MAX);
    add_fixture(&bed, "trakt.csv", "trakt");
    assert_int_equal(info_of(&bed).entries, 3);
    expect_ratings(&bed, "2:5"); /* of the same day: the last */
    bed_free(&bed);
}

static void reads_netflix(void **state) {
    (void)state;
    struct bed bed;
    struct dpmf_diary_entry entry;
    bed_make(&bed, shelf, 5);
    add_fixture(&bed, "netflix.csv", "netflix");
    expect_entry(&bed, 0, "The Lamp", DPMF_MATCH_LIKELY, 2);
    expect_entry(&bed, 1, "Twice Told: Season 1: One", DPMF_MATCH_LIKELY, 4);
    expect_entry(&bed, 2, "Twice Told: Season 1: Two: Again", DPMF_MATCH_LIKELY, 4);
    expect_entry(&bed, 3, "Moon Wars: A New Tale", DPMF_MATCH_UNSURE, UINT64_MAX);
    assert_true(dpmf_diary_entry(bed.diary, 3, &entry));
    assert_int_equal(entry.candidates[0], 1);
    expect_ratings(&bed, ""); /* watched, and not rated */
    bed_free(&bed);
}

/* ---- books ----------------------------------------------------------------------------------- */

static void reads_goodreads(void **state) {
    (void)state;
    struct bed bed;
    struct dpmf_diary_entry entry;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "goodreads.csv", "goodreads");
    assert_int_equal(info_of(&bed).entries, 2);
    assert_int_equal(info_of(&bed).wishes, 1);
    expect_entry(&bed, 0, "The Lamp (Lamplight, #1)", DPMF_MATCH_SURE, 2);
    expect_entry(&bed, 1, "Salt of Tables", DPMF_MATCH_SURE, 0); /* by its author */
    dpmf_diary_entry(bed.diary, 1, &entry);
    assert_true(isnan(entry.rating)); /* 0 is none */
    assert_string_equal(entry.creator, "Bob Writer");
    assert_int_equal(entry.plays, 2);
    expect_ratings(&bed, "2:4");
    bed_free(&bed);
}

static void reads_storygraph(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "storygraph.csv", "storygraph");
    expect_entry(&bed, 0, "The Lamp", DPMF_MATCH_LIKELY, 2); /* no year */
    expect_ratings(&bed, "2:4.25");
    assert_int_equal(info_of(&bed).wishes, 1);
    bed_free(&bed);
}

/* ---- music ----------------------------------------------------------------------------------- */

static void reads_music(void **state) {
    (void)state;
    static const struct {
        const char *file, *service;
        size_t entries;
        uint64_t trifles;
    } cases[] = {{"spotify.json", "spotify", 2, 1},
                 {"lastfm.csv", "lastfm", 2, 0},
                 {"spotify_extended.json", "spotify", 1, 1},
                 {"lastfm_named.csv", "lastfm", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bed bed;
        struct dpmf_diary_entry entry;
        bed_make(&bed, songs, 3);
        add_fixture(&bed, cases[i].file, cases[i].service);
        struct dpmf_diary_info info = info_of(&bed);
        assert_int_equal(info.entries, cases[i].entries);
        assert_int_equal(info.trifles, cases[i].trifles);
        assert_string_equal(info.way, "artist and title");
        expect_entry(&bed, 0, "Glow", DPMF_MATCH_SURE, 0);
        dpmf_diary_entry(bed.diary, 0, &entry);
        assert_int_equal(entry.plays, i < 2 ? 2 : 1);
        dpmf_titles_free(bed.titles); /* a catalogue of artists */
        bed.titles = make_titles(artists, 3);
        assert_int_equal(dpmf_diary_match(bed.diary, bed.model, bed.titles, NULL), 0);
        assert_string_equal(info_of(&bed).way, "artist");
        expect_entry(&bed, 0, "Glow", DPMF_MATCH_LIKELY, 1);
        bed_free(&bed);
    }
}

/* ---- our own, and others --------------------------------------------------------------------- */

static void reads_its_own(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    add_fixture(&bed, "own.csv", "dpmf");
    expect_entry(&bed, 0, "Lamp, The (1999)", DPMF_MATCH_SURE, 2);
    expect_entry(&bed, 1, "Moon Wars (1977)", DPMF_MATCH_LIKELY, 1);
    expect_ratings(&bed, "2:4 1:2"); /* as they are */
    bed_free(&bed);
}

static void counts_bad_rows(void **state) {
    (void)state;
    static const char text[] = "title;year;rating\n\"Lamp, The\";1999;4,5\nX;1999;many\n\n;;3\n";
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    assert_string_equal(dpmf_diary_service(text, sizeof text - 1), "titles");
    assert_int_equal(dpmf_diary_add(bed.diary, text, sizeof text - 1, "t", NULL), 0);
    assert_int_equal(dpmf_diary_match(bed.diary, bed.model, bed.titles, NULL), 0);
    expect_ratings(&bed, "2:4.5");
    struct dpmf_diary_info info = info_of(&bed);
    assert_int_equal(info.bad, 2);
    assert_int_equal(info.first_bad, 3);
    assert_string_equal(info.fault, "the rating is not a number");
    bed_free(&bed);
}

static void refuses(const char *text, const char *name, int expected, int64_t line) {
    struct dpmf_diary *diary;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_diary_new(&diary, NULL), 0);
    assert_int_equal(dpmf_diary_add(diary, text, strlen(text), name, &error), expected);
    assert_int_equal(error.code, expected);
    assert_int_equal(error.line, line);
    dpmf_diary_free(diary);
}

static void refuses_other_files(void **state) {
    (void)state;
    refuses("", "x", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 0);
    refuses("user,item,rating,title\n1,2,3,a\n", "x", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 0);
    refuses("1,2,3\n", "x", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 0);
    refuses("PK\x03\x04", "x.zip", DPMF_ERR_INPUT_COMPRESSED, 0);
    refuses("[{\"a\":1}]", "x", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 0);
    refuses("title,rating\nA,1\n\"B,2\n", "x", DPMF_ERR_INPUT_QUOTE, 3);
    refuses("Date,Name,Year,Letterboxd URI\n2021-01-01,A,1999,u\n", "my/Watchlist.csv",
            DPMF_ERR_INPUT_EMPTY, 0);
    refuses("Profile Name,Start Time,Title,Supplemental Video Type\nA,,X,\nB,,X,\n", "x",
            DPMF_ERR_INPUT_COUNT, 3);
    refuses("[{\"msPlayed\":1,\"artistName\":\"A\"},\n{\"msPlayed\":}]", "x", DPMF_ERR_INPUT_JSON,
            2);
    refuses("[{\"msPlayed\":1,\"artistName\":\"A\"}] x", "x", DPMF_ERR_INPUT_JSON, 1);
}

/* Rows of several people would become one person's history. */
static void refuses_several_people(void **state) {
    (void)state;
    static const char *const columns[] = {"account", "Profile Name", "member", "e-mail",
                                          "reviewer"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "title,rating,%s\nX,4,A\nY,2,B\n", columns[i]);
        refuses(text, "x", DPMF_ERR_INPUT_COUNT, 3);
        snprintf(text, sizeof text, "title,rating,%s\nX,4,A\nY,2,A\n", columns[i]);
        refuses(text, "x", 0, 0);
        snprintf(text, sizeof text, "item,rating,title,%s\n1,4,X,A\n2,2,Y,\n", columns[i]);
        refuses(text, "x", DPMF_ERR_INPUT_COUNT, 3);
    }
    refuses("Profile Name,Start Time,Title,Supplemental Video Type,Device "
            "Type\nA,,X,,TV\nA,,Y,,Phone\n",
            "x", 0, 0);
    refuses(
        "[{\"ms_played\":99999,\"master_metadata_album_artist_name\":\"A\",\"username\":\"a\"},\n"
        "{\"ms_played\":99999,\"master_metadata_album_artist_name\":\"A\",\"username\":\"b\"}]",
        "x", DPMF_ERR_INPUT_COUNT, 2);
}

static void titles_must_be_the_models(void **state) {
    (void)state;
    struct bed bed;
    bed_make(&bed, shelf, SHELF);
    dpmf_titles_free(bed.titles);
    bed.titles = make_titles(songs, 3);
    assert_int_equal(dpmf_diary_match(bed.diary, bed.model, bed.titles, NULL),
                     DPMF_ERR_USAGE_VALUE);
    expect_ratings(&bed, "");
    bed_free(&bed);
}

static void rescales(void **state) {
    (void)state;
    const struct diary_service *imdb = diary_service_find("imdb"),
                               *own = diary_service_find("dpmf");
    assert_true(diary_rescale(imdb, 7, 0.5, 5) == 3.5);
    assert_true(diary_rescale(imdb, 1, 1, 5) == 1);
    assert_true(diary_rescale(imdb, 10, 0, 100) == 100);
    assert_true(diary_rescale(imdb, 1, -10, 10) == -10); /* from end to end */
    assert_true(diary_rescale(own, 7, 1, 5) == 7);
    assert_null(diary_service_find("nobody"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_letterboxd),
        cmocka_unit_test(takes_corrections),
        cmocka_unit_test(reads_imdb),
        cmocka_unit_test(reads_trakt),
        cmocka_unit_test(reads_netflix),
        cmocka_unit_test(reads_goodreads),
        cmocka_unit_test(reads_storygraph),
        cmocka_unit_test(reads_music),
        cmocka_unit_test(reads_its_own),
        cmocka_unit_test(counts_bad_rows),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(refuses_several_people),
        cmocka_unit_test(titles_must_be_the_models),
        cmocka_unit_test(rescales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

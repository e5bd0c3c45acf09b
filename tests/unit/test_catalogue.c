/*
 * Catalogues in the forms people have them, what becomes of their items' features, and users'
 * wishes: every rule of lib/privacy/catalogue.h, and what is wrong with a bad file, at its line
 * and column. The features of MovieLens 1M are checked when they are in $DPMF_DATA or
 * ../shared/data.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>
#include <cmocka.h>

#include "privacy/catalogue.h"
#include "store/store.h"
#include "temp_dir.h"

static int set_up(void **state) {
    struct temp_dir *dir = malloc(sizeof *dir);
    if (!dir) return -1;
    temp_dir_make(dir);
    *state = dir;
    return 0;
}

static int tear_down(void **state) {
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

static const char *write_text(const struct temp_dir *dir, const char *name, const char *text) {
    static char path[4][TEMP_PATH_MAX];
    static unsigned turn;
    char *out = path[turn++ % 4];
    temp_dir_file(dir, name, out);
    temp_dir_write(out, text, strlen(text));
    return out;
}

static const struct id_form any_text = {.takes_text = true};

/* ---- catalogues ------------------------------------------------------------------------------ */

static void assert_ids(const struct factor_ids *ids, const char *expected) {
    char text[1000] = "";
    size_t n = 0;
    for (uint64_t i = 0; i < ids->n; i++) {
        int length = (int)(ids->start[i + 1] - ids->start[i]);
        n += (size_t)snprintf(text + n, sizeof text - n, "[%.*s]", length,
                              ids->bytes + ids->start[i]);
        assert_int_equal(factor_ids_find(ids, ids->bytes + ids->start[i], (size_t)length), i);
    }
    assert_string_equal(text, expected);
}

static void test_forms(void **state) {
    static const struct {
        const char *text, *ids;
    } cases[] = {
        {"b\na\nc\n", "[b][a][c]"},
        {"b\na\nc", "[b][a][c]"},
        {"item\n7\n07\n 7\n", "[7][07][ 7]"},
        {"title,movieId\nx,3\ny,2\n", "[3][2]"},
        {"item_id;x\n\"a;b\";1\n", "[a;b]"},
        {"1::Toy Story (1995)::Animation|Comedy\n2::Jumanji (1995)::Adventure\n", "[1][2]"},
        {"1|Toy Story (1995)|01-Jan-1995||x\n2|User (1995)|01-Jan-1995||x\n", "[1][2]"},
        {"7::The Customer (1995)::Drama\n", "[7]"},
        {"name:token\t item_id:token \tclass:float\nx\t1\ta\ny\t2\tb\n", "[1][2]"},
        {"item,public:user score\n1,2\n", "[1]"},
        {"item\n#1\nUsername\n", "[#1][Username]"},
        {"one two\nthree\n", "[one two][three]"},
        {"caf\xe9\nna\xc3\xafve\n", "[caf\xe9][na\xc3\xafve]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct catalogue catalogue;
        const char *path = write_text(*state, "items", cases[i].text);
        assert_int_equal(catalogue_read(path, NULL, &catalogue, NULL), 0);
        assert_ids(&catalogue.ids, cases[i].ids);
        assert_int_equal(factor_ids_find(&catalogue.ids, "nobody", 6), UINT64_MAX);
        assert_false(catalogue.from_ratings);
        assert_int_equal(catalogue.n_features, 0);
        catalogue_free(&catalogue);
    }
}

/* Enough ids that every array has grown several times. */
static void test_many_ids(void **state) {
    enum { IDS = 20000 };
    char *text = malloc(IDS * 16), id[16];
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < IDS; i++) n += (size_t)sprintf(text + n, "%d\n", i * 7919 % IDS);
    struct catalogue catalogue;
    assert_int_equal(catalogue_read(write_text(*state, "items", text), NULL, &catalogue, NULL), 0);
    assert_int_equal(catalogue.ids.n, IDS);
    for (int i = 0; i < IDS; i++) {
        size_t length = (size_t)sprintf(id, "%d", i * 7919 % IDS);
        assert_int_equal(factor_ids_find(&catalogue.ids, id, length), i);
    }
    catalogue_free(&catalogue);
    free(text);
}

/* Compressed, and from standard input. */
static void test_streams(void **state) {
    char path[TEMP_PATH_MAX];
    struct catalogue catalogue;
    temp_dir_file(*state, "items.gz", path);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, "movieId,title\n5,x\n3,y\n", 22), 22);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(catalogue_read(path, NULL, &catalogue, NULL), 0);
    assert_ids(&catalogue.ids, "[5][3]");
    catalogue_free(&catalogue);

    struct dpmf_error error = {0};
    assert_non_null(freopen(path, "rb", stdin));
    assert_int_equal(catalogue_read("-", NULL, &catalogue, NULL), 0);
    assert_ids(&catalogue.ids, "[5][3]");
    assert_int_equal(catalogue_read_features(&catalogue, "-", NULL, &error), DPMF_ERR_INPUT_ID);
    assert_string_equal(error.file, "<stdin>");
    catalogue_free(&catalogue);
}

static void test_bad_catalogues(void **state) {
    struct catalogue catalogue;
    struct dpmf_error error = {0};
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(catalogue_read("/nowhere/x", NULL, &catalogue, &error), DPMF_ERR_IO_MISSING);
    const char *path = write_text(*state, "empty", "item\n\n");
    assert_int_equal(catalogue_read(path, &run, &catalogue, &error), DPMF_ERR_INPUT_EMPTY);
    assert_string_equal(error.file, path);
    path = write_text(*state, "gap", "item,x\n1,2\n,3\n");
    assert_int_equal(catalogue_read(path, &run, &catalogue, &error), DPMF_ERR_INPUT_ID);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 1);
    assert_null(catalogue.ids.bytes);
    path = write_text(*state, "width", "item\n1\n2,3\n");
    assert_int_equal(catalogue_read(path, &run, &catalogue, &error), DPMF_ERR_INPUT_COLUMNS);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 3);
    path = write_text(*state, "quote", "i1,\"\ni2,\"\n");
    assert_int_equal(catalogue_read(path, &run, &catalogue, &error), DPMF_ERR_INPUT_QUOTE);
    assert_int_equal(error.line, 1);
    assert_int_equal(error.column, 4);
    static const char binary[] = "item\n1\n2\0003\n";
    temp_dir_write(path, binary, sizeof binary - 1);
    assert_int_equal(catalogue_read(path, &run, &catalogue, &error), DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 2);
}

/* What a table says about people is for no catalogue, under whatever names; words in rows are only
 * words. */
static void test_tables_of_people(void **state) {
    static const struct {
        const char *text;
        int64_t line, column; /* 0: a catalogue */
    } cases[] = {
        {"item,user,rating\n1,ann,3\n", 1, 6},
        {"userId\tmovieId\n1\t2\n", 1, 1},
        {"item, stars\n1,3\n", 1, 6},
        {"user,epsilon\nann,0\n", 1, 1},
        {"id;EPS\nann;0\n", 1, 4},
        {"user\nann\n", 1, 1},
        {"item,username\n1,ann\n", 1, 6},
        {"item,RATER\n1,ann\n", 1, 6},
        {"item,e-mail\n1,ann\n", 1, 6},
        {"item,Reviewer Email\n1,ann\n", 1, 6},
        {"item,memberNo\n1,ann\n", 1, 6},
        {"item,account\n1,ann\n", 1, 6},
        {"item,usr\n1,ann\n", 1, 6},
        {"item,usr_id\n1,ann\n", 1, 6},
        {"item,Handle\n1,ann\n", 1, 6},
        {"item,deviceId\n1,ann\n", 1, 6},
        {"item,member\n1,ann\n", 1, 6},
        {"item,customer\n1,ann\n", 1, 6},
        {"item,acct\n1,ann\n", 1, 6},
        {"item,idfa\n1,ann\n", 1, 6},
        {"user:token\titem:token\nann\t1\n", 1, 1},
        {"item:token\trated_by_user:token\n1\tann\n", 1, 12},
        {"username\nann\n", 1, 1},
        {"Email\nann@example.org\n", 1, 1},
        {"# exported from shop\nann\n", 1, 1},
        {"#a,b,c\nann,1,5\nbob,2,5\n", 1, 1},
        {"% items\n1\n", 1, 1},
        {"who,film,grade\nann,1,5\n", 1, 1},
        {"x,film,grade\nann,1,5\n", 1, 1},
        {"ann,1,5\nbob,1,3\n", 1, 1},
        {"ann::1::5\nbob::1::3\n", 1, 1},
        {"ann::Alien (1979)::5\nbob::Alien (1979)::3\n", 1, 1},
        {"item,kind\n1,a\n2,b\n1,c\n", 4, 1},
        {"kind,item\na,1\nb,1\n", 3, 3},
        {"ann\nbob\nann\n", 3, 1},
        {"ann::Alien (1979)::good\nann::Aliens (1986)::good\n", 2, 1},
        {"rating\nscore\n", 0, 0},
        {"item,genre\nuser,rating\n", 0, 0},
        {"item,remembered,usage,mailing\n1,2,3,4\n", 0, 0},
        {"item,handling,devices_sold,contactless\n1,2,3,4\n", 1, 15},
        {"item,handling,minplayers,contactless\n1,2,3,4\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct catalogue catalogue;
        struct dpmf_error error = {0};
        const char *path = write_text(*state, "items", cases[i].text);
        int code = catalogue_read(path, NULL, &catalogue, &error);
        if (code != (cases[i].line ? DPMF_ERR_PRIVACY_REFUSED : 0) || error.line != cases[i].line ||
            error.column != cases[i].column)
            fail_msg("case %zu: code %d at %lld:%lld", i, code, (long long)error.line,
                     (long long)error.column);
        catalogue_free(&catalogue);
    }
}

static struct dpmf_store *open_ratings(const struct temp_dir *dir, const char *ratings) {
    struct dpmf_store *store;
    char path[TEMP_PATH_MAX];
    const char *csv = write_text(dir, "r.csv", ratings);
    temp_dir_file(dir, "r.dpr", path);
    assert_int_equal(dpmf_import(&csv, 1, path, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    return store;
}

static void test_from_store(void **state) {
    struct dpmf_store *store = open_ratings(*state, "u,b,3\nu,a,4\nv,b,1\nv,ab,2\nw,B,2\n");
    struct catalogue catalogue, other;
    struct dpmf_error error = {0};
    assert_int_equal(catalogue_from_store(store, &catalogue, NULL), 0);
    assert_ids(&catalogue.ids, "[B][a][ab][b]");
    assert_true(catalogue.from_ratings);
    assert_true(catalogue_is_rated(&catalogue, store));
    static const struct {
        const char *items;
        bool equals;
    } cases[] = {{"b\nB\nab\na\n", true},
                 {"b\nB\nab\na\nc\n", false},
                 {"b\nB\nab\nc\n", false},
                 {"B\na\nab\nb\nitem\n", true}, /* a header that was sorted into it */
                 {"B\na\nab\nb\nTotal: 4\nc\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = write_text(*state, "items", cases[i].items);
        assert_int_equal(catalogue_read(path, NULL, &other, NULL), 0);
        assert_int_equal(catalogue_is_rated(&other, store), cases[i].equals);
        catalogue_free(&other);
    }
    assert_int_equal(catalogue_read(store_path(store), NULL, &other, &error),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_non_null(strstr(error.hint, "{catalogue-from-ratings}"));
    assert_string_equal(error.file, store_path(store));
    assert_int_equal(catalogue_read_features(&catalogue, store_path(store), NULL, &error),
                     DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    assert_int_equal(
        user_wishes_read(store_path(store), &any_text, NULL, &(struct user_wishes){0}, &error),
        DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    catalogue_free(&catalogue);
    dpmf_store_close(store);
}

/* ---- features -------------------------------------------------------------------------------- */

/* A catalogue of the items 0 .. n-1. */
static void make_catalogue(const struct temp_dir *dir, int n, struct catalogue *catalogue) {
    char *text = malloc((size_t)n * 12 + 1);
    assert_non_null(text);
    size_t length = 0;
    for (int i = 0; i < n; i++) length += (size_t)sprintf(text + length, "%d\n", i);
    assert_int_equal(catalogue_read(write_text(dir, "items", text), NULL, catalogue, NULL), 0);
    free(text);
}

static int read_features(const struct temp_dir *dir, int n, const char *text,
                         struct catalogue *catalogue, struct dpmf_error *error) {
    make_catalogue(dir, n, catalogue);
    return catalogue_read_features(catalogue, write_text(dir, "features", text), NULL, error);
}

static double feature(const struct catalogue *catalogue, size_t item, size_t column) {
    assert_true(item < catalogue->ids.n && column < catalogue->n_features);
    return catalogue->features[item * catalogue->n_features + column];
}

static void assert_standard(const struct catalogue *catalogue) {
    for (size_t c = 0; c < catalogue->n_features; c++) {
        double sum = 0, squares = 0, n = (double)catalogue->ids.n;
        for (size_t i = 0; i < catalogue->ids.n; i++) {
            double x = feature(catalogue, i, c);
            assert_true(isfinite(x));
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / n) < 1e-9);
        assert_true(fabs(squares / n - 1) < 1e-9);
    }
}

static void test_categories(void **state) {
    /* "a" has items 0 to 3 (one of them twice), "b" 0, 1, 2 and 5; "c" is rare; 6 is not known, 7
     * is empty and 8 a row without categories: these are missing. */
    static const char text[] =
        "kind,Item ID,title\n"
        "b | a,0,x\na|b||a,1,y\nb|a,2,z\na,3,\nc,4,x\nb|c,5,x\n99,stranger,x\n"
        ",7,x\n|,8,x\n";
    struct catalogue catalogue;
    assert_int_equal(read_features(*state, 9, text, &catalogue, NULL), 0);
    assert_int_equal(catalogue.n_features, 2);
    assert_standard(&catalogue);
    /* Four of the six known items have each: mean 2/3, variance over all nine (4/9 + 8/9) / 9. */
    double high = (1.0 / 3) / sqrt(4.0 / 27), low = (-2.0 / 3) / sqrt(4.0 / 27);
    static const char has[2][10] = {"111100...", "111001..."};
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < 9; i++) {
            double wanted = has[c][i] == '1' ? high : has[c][i] == '0' ? low : 0;
            assert_true(fabs(feature(&catalogue, i, c) - wanted) < 1e-12);
        }
    catalogue_free(&catalogue);
}

/* 0.3 % of 2,000 items are 6. */
static void test_rare_categories(void **state) {
    char *text = malloc(100000);
    assert_non_null(text);
    for (int count = 5; count <= 6; count++) {
        struct catalogue catalogue;
        size_t n = (size_t)sprintf(text, "item,kind\n");
        for (int i = 0; i < 2000; i++)
            n += (size_t)sprintf(text + n, "%d,%s\n", i, i < count ? "rare" : i < 100 ? "a" : "b");
        assert_int_equal(read_features(*state, 2000, text, &catalogue, NULL), 0);
        assert_int_equal(catalogue.n_features, count == 6 ? 3 : 2);
        assert_standard(&catalogue);
        /* in the order of their bytes: a, b, rare */
        assert_true(feature(&catalogue, 50, 0) > 0 && feature(&catalogue, 500, 1) > 0);
        if (count == 6) assert_true(feature(&catalogue, 0, 2) > 0);
        catalogue_free(&catalogue);
    }
    free(text);
}

static void test_bumps(void **state) {
    enum { N = 101 };
    char text[4000];
    size_t n = (size_t)sprintf(text, "item,year\n");
    for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "%d, %d \n", i, 1900 + i);
    struct catalogue catalogue;
    assert_int_equal(read_features(*state, N, text, &catalogue, NULL), 0);
    assert_int_equal(catalogue.n_features, 6);
    assert_standard(&catalogue);
    /* The quantiles are 1902 and 1998, the bumps 19.2 apart and 14.4 wide. */
    for (size_t k = 0; k < 6; k++) {
        double raw[N], sum = 0, squares = 0;
        for (int i = 0; i < N; i++) {
            double z = (1900 + i - (1902 + 19.2 * (double)k)) / 14.4;
            sum += raw[i] = exp(-z * z / 2);
        }
        for (int i = 0; i < N; i++) squares += (raw[i] - sum / N) * (raw[i] - sum / N);
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(feature(&catalogue, i, k) - (raw[i] - sum / N) / sqrt(squares / N)) <
                        1e-9);
    }
    catalogue_free(&catalogue);
}

static void test_columns_that_become_few(void **state) {
    static const struct {
        const char *text;
        size_t n_features;
    } cases[] = {
        {"item,year\n0,1\n1,2\n2,3\n3,4\n4,\n", 6},
        {"item,public:flag\n0,0\n1,1\n2,1.0\n3,0e0\n4,1\n", 1}, /* two values: one column */
        {"item,public:flag,PUBLIC:same\n0,0,4\n1,1,4\n2,1,4\n3,0,4\n4,1,4\n",
         1},                                                 /* a constant is dropped */
        {"item,year,kind\n0,1,x\n1,2,x\n2,3,x\n3,4,x\n", 6}, /* so is a category of all */
        {"item,year\n0,x\n1,2\n2,x\n3,four\n4,1\n5,x\n", 1}, /* mostly texts: all are */
        {"item,genre\n0,1\n1,2\n2,3\n3,1|2\n4,1\n5,1\n", 1}, /* a list: all are */
        {"item,year,kind\n0,1,a\n1,2,a\n2,,a\n3,,b\n", 1},   /* x has two numbers only */
        {"item,year\n0,-1e308\n1,1e308\n2,0\n3,5\n", 6},
        {"item,year\n0,0\n1,5e-324\n2,1e-323\n3,0\n", 0}, /* no room for bumps between them */
        {"movieId,title,genres\n0,A (1990),a|b\n1,B (1991),b\n2,C (1992),a|b\n3,D,a\n", 8},
        {"movieId,title,genres,length\n0,A (1990),a|b,\n1,B (1991),b,\n2,C (1992),a|b,\n3,D,a,\n",
         2},
        {"genres,title,movieId\na|b,A (1990),0\nb,B (1991),1\na|b,C (1992),2\na,D,3\n", 8},
        {"0::A (1990)::a|b\n1::B (1991)::b\n2::C (1992)::a|b\n3::D::a\n4::E (1990)::(no genres "
         "listed)\n",
         8},
        {"0,\"A, The (1990)\",a\n1,B (1991) ,a\n2,C (1992),b\n3,(1993),b\n4,E,a\n5,F (19x4),b\n",
         8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct catalogue catalogue;
        struct dpmf_error error = {0};
        int code = read_features(*state, 6, cases[i].text, &catalogue, &error);
        if (catalogue.n_features != cases[i].n_features ||
            code != (cases[i].n_features > 0 ? 0 : DPMF_ERR_INPUT_COLUMNS))
            fail_msg("case %zu: code %d %s, %zu features", i, code, error.message,
                     catalogue.n_features);
        assert_standard(&catalogue);
        catalogue_free(&catalogue);
    }
}

/* 250 categories of falling frequency and a number that most items have: the number and the 194
 * most frequent categories are kept. */
static void test_most_frequent_are_kept(void **state) {
    enum { N = 300, CATEGORIES = 250 };
    char *text = malloc(1000000);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "item,year,kind\n");
    for (int i = 0; i < N; i++) {
        n += (size_t)sprintf(text + n, "%d,%d,", i, i);
        for (int c = 0; c < CATEGORIES; c++)
            if (i < N - 1 - c) n += (size_t)sprintf(text + n, "k%03d|", (c * 7) % CATEGORIES);
        n += (size_t)sprintf(text + n, "other\n");
    }
    struct catalogue catalogue;
    assert_int_equal(read_features(*state, N, text, &catalogue, NULL), 0);
    assert_int_equal(catalogue.n_features, 200);
    assert_standard(&catalogue);
    size_t column = 6;
    for (int k = 0; k < CATEGORIES; k++) {
        int c = 0; /* its frequency is N - 1 - c */
        while ((c * 7) % CATEGORIES != k) c++;
        if (c >= 194) continue;
        assert_true(feature(&catalogue, (size_t)(N - 2 - c), column) > 0);
        assert_true(feature(&catalogue, (size_t)(N - 1 - c), column) < 0);
        column++;
    }
    assert_int_equal(column, 200);
    catalogue_free(&catalogue);
    free(text);
}

/* The same rows in another order, and read a second time: the same bits. */
static void test_order_of_rows(void **state) {
    static const char *const texts[] = {
        "item,year,kind\n0,1.5,a\n1,2,b|a\n2,9,b\n3,-4,a\n4,,\n",
        "item,year,kind\n4,,\n2,9,b\n3,-4,a\n1,2,a|b\n9,1,b\n0,1.5,a\n",
    };
    struct catalogue one, two;
    assert_int_equal(read_features(*state, 6, texts[0], &one, NULL), 0);
    assert_int_equal(read_features(*state, 6, texts[1], &two, NULL), 0);
    assert_int_equal(one.n_features, 7);
    assert_int_equal(two.n_features, 7);
    assert_memory_equal(one.features, two.features, 6 * 7 * sizeof(double));
    const char *path = write_text(*state, "again", texts[0]);
    assert_int_equal(catalogue_read_features(&two, path, NULL, NULL), 0);
    assert_memory_equal(one.features, two.features, 6 * 7 * sizeof(double));
    catalogue_free(&one);
    catalogue_free(&two);
}

static void test_bad_features(void **state) {
    static const struct {
        const char *text;
        int code;
        int64_t line, column;
    } cases[] = {
        {"", DPMF_ERR_INPUT_ID, 0, 0},
        {"item,year\n", DPMF_ERR_INPUT_ID, 0, 0},
        {"item,year\nz,1\n", DPMF_ERR_INPUT_ID, 0, 0},
        {"item,year\n1,1\n2,1,5\n", DPMF_ERR_INPUT_COLUMNS, 3, 5},
        {"item,year\n1,1\n2\n", DPMF_ERR_INPUT_COLUMNS, 3, 1},
        {"year,item\n1,1\n2,\n", DPMF_ERR_INPUT_ID, 3, 3},
        {"item,year\n0,1\n1, nan\n2,inf\n", DPMF_ERR_INPUT_NOT_FINITE, 3, 4},
        {"item,year\n0,1\n1,1e400\n", DPMF_ERR_INPUT_NOT_FINITE, 3, 3},
        {"item,year\n0,1\n1,2\n2,3\n3,N/A\n4,1\n5,1\n", DPMF_ERR_INPUT_NUMBER, 5, 3},
        {"item;price\n0;1,5\n1;2,5\n2;3,5\n", DPMF_ERR_INPUT_NUMBER, 2, 3},
        {"item,year\n0,\"1\n", DPMF_ERR_INPUT_QUOTE, 2, 3},
        {"item,year\n0,\"a\n1,b\"\n", DPMF_ERR_INPUT_QUOTE, 2, 3},
        {"user,item,rating\nann,0,3\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"item,year,User-ID\n0,1990,ann\n", DPMF_ERR_PRIVACY_REFUSED, 1, 11},
        {"item,eps\n0,1\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"item,username\n0,ann\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"rater,item,year\nann,0,1\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"user:token\titem:token\nann\t0\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"item,x\n0,ann\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"item,bought by\n0,ann\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"item,stars\n0,5\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"item,timestamp\n0,5\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"item,public:\n0,5\n", DPMF_ERR_PRIVACY_REFUSED, 1, 6},
        {"#item,item,year\n0,0,5\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"item,year\n0,1\n1,2\n0,3\n", DPMF_ERR_PRIVACY_REFUSED, 4, 1},
        {"ann::A (1990)::5\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"# x\nitem,year\n0,1\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"id,x\n0,1\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"0,1990\n1,1991\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"0|A (1990)|01-Jan-1990||x|0|1\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"0::A::a\n", DPMF_ERR_INPUT_HEADER, 1, 0},
        {"0::A (1990)::a\n1::B (1990)\n", DPMF_ERR_INPUT_COLUMNS, 2, 4},
        {"item\n0\n1\n2\n", DPMF_ERR_INPUT_COLUMNS, 0, 0},
        {"item,title\n0,a\n1,a\n2,a\n3,b\n", DPMF_ERR_INPUT_COLUMNS, 0, 0},
        {"item,name\n0,a\n1,a\n2,a\n3,b\n", DPMF_ERR_INPUT_COLUMNS, 0, 0},
        {"item,kind\n0,a\n1,a\n2,b\n3,b\n", DPMF_ERR_INPUT_COLUMNS, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct catalogue catalogue;
        struct dpmf_error error = {0};
        int code = read_features(*state, 4, cases[i].text, &catalogue, &error);
        if (code != cases[i].code || error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("case %zu: code %d %s at %lld:%lld", i, code, error.message,
                     (long long)error.line, (long long)error.column);
        assert_true(error.hint[0] != '\0' && strstr(error.file, "features"));
        assert_null(catalogue.features);
        catalogue_free(&catalogue);
        assert_int_equal(read_features(*state, 4, cases[i].text, &catalogue, NULL), code);
        catalogue_free(&catalogue);
    }
}

/* ---- MovieLens 1M ---------------------------------------------------------------------------- */

static void find_movies(char path[TEMP_PATH_MAX]) {
    const char *data = getenv("DPMF_DATA");
    snprintf(path, TEMP_PATH_MAX, "%s/ml-1m/movies.dat", data ? data : "../shared/data");
}

static void test_movielens(void **state) {
    (void)state;
    char path[TEMP_PATH_MAX];
    struct catalogue catalogue;
    find_movies(path);
    if (access(path, R_OK) != 0) {
        print_message("skipped: MovieLens 1M is not in ../shared/data\n");
        skip();
    }
    assert_int_equal(catalogue_read(path, NULL, &catalogue, NULL), 0);
    assert_int_equal(catalogue.ids.n, 3883);
    assert_int_equal(factor_ids_find(&catalogue.ids, "1", 1), 0);
    assert_int_equal(factor_ids_find(&catalogue.ids, "3952", 4), 3882);
    assert_int_equal(catalogue_read_features(&catalogue, path, NULL, NULL), 0);
    assert_int_equal(catalogue.n_features, 18 + 6);
    assert_standard(&catalogue);
    /* Toy Story (1995): the year's bumps come first, then Action, Adventure, Animation,
     * Children's, Comedy */
    for (size_t k = 0; k < 24; k++) {
        bool has = k == 4 || k == 5 || k == 8 || k == 9 || k == 10;
        assert_true(has == (feature(&catalogue, 0, k) > 0));
    }
    catalogue_free(&catalogue);
}

/* ---- wishes ---------------------------------------------------------------------------------- */

static const struct id_form whole = {.takes_whole = true},
                            either = {.takes_text = true, .takes_whole = true};

static void test_wishes(void **state) {
    static const struct {
        const char *text, *ids;
        double epsilon[4];
        const struct id_form *form; /* NULL: texts */
        uint64_t n, n_twice;        /* 0: as many as ids */
    } cases[] = {
        {"user,epsilon\n", "", {0}, NULL, 0, 0},
        {"user,epsilon\nann,0.5\nbob,0\n", "[ann][bob]", {0.5, 0}, NULL, 0, 0},
        {"Eps,note,user_id\n.5,x,ann\n", "[ann]", {0.5}, NULL, 0, 0},
        {"user, epsilon\nann, 2 \n", "[ann]", {2}, NULL, 0, 0},
        {" user ,EPSILON\nann,2\n", "[ann]", {2}, NULL, 0, 0},
        {"ann,1e-3\nbob,7\n", "[ann][bob]", {0.001, 7}, NULL, 0, 0},
        {"user,0.25\n", "[user]", {0.25}, NULL, 0, 0},
        {"1::3\n2::4\n", "[1][2]", {3, 4}, NULL, 0, 0},
        {"1 3\n2 4\n", "[1][2]", {3, 4}, NULL, 0, 0},
        {"a,1\nb,2\na,3\nb,0.5\nc,-0\n", "[a][b][c]", {1, 0.5, 0}, NULL, 3, 2},
        /* as other programs write tables */
        {"\xEF\xBB\xBFuser,epsilon\r\nann,1\r\n\r\nbob,2", "[ann][bob]", {1, 2}, NULL, 0, 0},
        {"\"user\";\"epsilon\"\n\"a;\"\"b\"\"\";\"0.5\"\n", "[a;\"b\"]", {0.5}, NULL, 0, 0},
        {"user,epsilon\n 0001 ,1\n", "[ 0001 ]", {1}, NULL, 0, 0},
        /* as the ratings spell them */
        {"user,epsilon\n0001,0\n1,2\n+7,3\n", "[1][7]", {0, 3}, &whole, 2, 1},
        {"user,epsilon\n0001,1\nann,0.5\n1,2\n", "[0001][1][ann]", {1, 1, 0.5}, &either, 3, 0},
        {"user,epsilon\n1,2\n0001,1\n0001,0\n", "[1][0001]", {0, 0}, &either, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct user_wishes wishes;
        struct dpmf_error error = {0};
        const char *path = write_text(*state, "wishes", cases[i].text);
        const struct id_form *form = cases[i].form ? cases[i].form : &any_text;
        if (user_wishes_read(path, form, NULL, &wishes, &error) != 0)
            fail_msg("case %zu: %s", i, error.message);
        assert_ids(&wishes.ids, cases[i].ids);
        assert_non_null(wishes.ids.start);
        for (uint64_t u = 0; u < wishes.ids.n; u++) {
            if (wishes.epsilon[u] != cases[i].epsilon[u]) fail_msg("case %zu", i);
            assert_false(signbit(wishes.epsilon[u]));
        }
        assert_int_equal(wishes.n, cases[i].n ? cases[i].n : wishes.ids.n);
        assert_int_equal(wishes.n_twice, cases[i].n_twice);
        user_wishes_free(&wishes);
    }
}

/* A wish is met by any of the ids that it may mean. */
static void test_unmatched_wishes(void **state) {
    struct user_wishes wishes;
    const char *path = write_text(*state, "wishes", "user,epsilon\n0001,1\nann,0.5\nbob,3\n");
    assert_int_equal(user_wishes_read(path, &either, NULL, &wishes, NULL), 0);
    assert_ids(&wishes.ids, "[0001][1][ann][bob]");
    uint64_t users[4] = {0};
    assert_int_equal(user_wishes_unmatched(&wishes, users), 3);
    users[1] = 1;
    assert_int_equal(user_wishes_unmatched(&wishes, users), 2);
    users[0] = 2;
    assert_int_equal(user_wishes_unmatched(&wishes, users), 2);
    users[2] = users[3] = 1;
    assert_int_equal(user_wishes_unmatched(&wishes, users), 0);
    assert_int_equal(user_wishes_above(&wishes, 1), 1);
    assert_int_equal(user_wishes_above(&wishes, 0.1), 3);
    user_wishes_free(&wishes);
}

static void test_bad_wishes(void **state) {
    static const struct {
        const char *text;
        int code;
        int64_t line, column;
        const struct id_form *form; /* NULL: texts */
    } cases[] = {
        {"", DPMF_ERR_INPUT_EMPTY, 0, 0, NULL},
        {"\n\n", DPMF_ERR_INPUT_EMPTY, 0, 0, NULL},
        {"ann,1\nbob\n", DPMF_ERR_INPUT_COLUMNS, 2, 0, NULL},
        {"ann,1\nbob,x\n", DPMF_ERR_INPUT_NUMBER, 2, 5, NULL},
        {"ann,1\nbob,\n", DPMF_ERR_INPUT_NUMBER, 2, 5, NULL},
        {"user,wish\nann,1\n", DPMF_ERR_INPUT_NUMBER, 1, 6, NULL},
        {"ann,1\nbob,-0.1\n", DPMF_ERR_INPUT_OUT_OF_RANGE, 2, 5, NULL},
        {"ann,inf\n", DPMF_ERR_INPUT_NOT_FINITE, 1, 5, NULL},
        {"ann,nan\n", DPMF_ERR_INPUT_NOT_FINITE, 1, 5, NULL},
        {"epsilon,user\n1,ann\n2,\n", DPMF_ERR_INPUT_ID, 3, 3, NULL},
        {"ann,\"1\n", DPMF_ERR_INPUT_QUOTE, 1, 5, NULL},
        /* which column is meant? */
        {"user,eps,epsilon\nann,1,0\n", DPMF_ERR_INPUT_HEADER, 1, 10, NULL},
        {"user,epsilon,user_id\nann,1,0\n", DPMF_ERR_INPUT_HEADER, 1, 14, NULL},
        {"user,Epsilon, epsilon\nann,1,0\n", DPMF_ERR_INPUT_HEADER, 1, 14, NULL},
        {"id,name,epsilon\n1,ann,0\n", DPMF_ERR_INPUT_HEADER, 1, 9, NULL},
        {"ann,0.5,x\n", DPMF_ERR_INPUT_HEADER, 1, 9, NULL},
        /* 0,5 is not 0 */
        {"user,epsilon\nann,0,5\n", DPMF_ERR_INPUT_COLUMNS, 2, 7, NULL},
        {"user,epsilon,note\nann,1,x\nbob,1\n", DPMF_ERR_INPUT_COLUMNS, 3, 0, NULL},
        {"user,epsilon\nann,\"0,5\"\n", DPMF_ERR_INPUT_NUMBER, 2, 5, NULL},
        {"user\repsilon\rann\r1\r", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 1, 5, NULL},
        /* a quote that was never closed does not swallow who follows */
        {"user,epsilon\n\"ann,0\nbob,0\ncid\",1\n", DPMF_ERR_INPUT_QUOTE, 2, 1, NULL},
        {"user,note,epsilon\nu1,\"moved,0\nu2,fine,0\nu3,said\",0\n", DPMF_ERR_INPUT_QUOTE, 2, 4,
         NULL},
        {"\xFF\xFEuser,epsilon\nbob,1\n", DPMF_ERR_INPUT_UNKNOWN_FORMAT, 1, 1, NULL},
        /* no such id can be in such ratings, whoever is */
        {"user,epsilon\n7,1\nann,1\n", DPMF_ERR_INPUT_ID, 3, 1, &whole},
        {"user,epsilon\n7,1\n-3,1\n", DPMF_ERR_INPUT_ID, 3, 1, &whole},
        {"user,epsilon\n7,1\n 8,1\n", DPMF_ERR_INPUT_ID, 3, 1, &whole},
        {"user,epsilon\n9223372036854775808,1\n", DPMF_ERR_INPUT_ID, 2, 1, &whole},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct user_wishes wishes;
        struct dpmf_error error = {0};
        const char *path = write_text(*state, "wishes", cases[i].text);
        const struct id_form *form = cases[i].form ? cases[i].form : &any_text;
        int code = user_wishes_read(path, form, NULL, &wishes, &error);
        if (code != cases[i].code || error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("case %zu: code %d at %lld:%lld", i, code, (long long)error.line,
                     (long long)error.column);
        assert_string_equal(error.file, path);
        assert_true(error.hint[0] != '\0');
        assert_null(wishes.epsilon);
        assert_int_equal(user_wishes_read(path, form, NULL, &wishes, NULL), code);
        /* Whose row it is, is not said. */
        if (strstr(error.message, "ann") || strstr(error.hint, "ann")) fail_msg("case %zu", i);
    }
    char *long_id = malloc(70000);
    assert_non_null(long_id);
    memset(long_id, 'x', 69990);
    memcpy(long_id + 69990, ",1\n", 4);
    struct user_wishes wishes;
    const char *path = write_text(*state, "long", long_id);
    assert_int_equal(user_wishes_read(path, &any_text, NULL, &wishes, NULL),
                     DPMF_ERR_INPUT_ID_TOO_LONG);
    free(long_id);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_forms),
        TEST(test_many_ids),
        TEST(test_streams),
        TEST(test_bad_catalogues),
        TEST(test_tables_of_people),
        TEST(test_from_store),
        TEST(test_categories),
        TEST(test_rare_categories),
        TEST(test_bumps),
        TEST(test_columns_that_become_few),
        TEST(test_most_frequent_are_kept),
        TEST(test_order_of_rows),
        TEST(test_bad_features),
        TEST(test_movielens),
        TEST(test_wishes),
        TEST(test_unmatched_wishes),
        TEST(test_bad_wishes),
    };
    return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}

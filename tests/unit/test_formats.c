/*
 * The readers of ratings text. Every text here is read with chunks of every small size and with one
 * large one: what comes of it must not depend on where chunks end.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>

#include "base/json.h"
#include "ratings/field_text.h"
#include "ratings/formats.h"
#include "read_text.h"
#include "tables/column_names.h"
#include "temp_dir.h"

static const struct dpmf_input_options *options_with(const char *format, const char *columns,
                                                     bool skip) {
    static struct dpmf_input_options options;
    options = dpmf_input_options_default();
    options.format = format;
    options.columns = columns;
    options.skip_bad = skip;
    return &options;
}

static void expect_n(const struct dpmf_input_options *options, const char *text, size_t n,
                     size_t record_max, const char *wanted) {
    struct dpmf_error error;
    char *got = read_text(text, n, options, 0, record_max, &error);
    assert_string_equal(got, wanted);
    free(got);
    for (size_t chunk_size = 1; chunk_size < 40; chunk_size++) {
        got = read_text(text, n, options, chunk_size, record_max, &error);
        assert_string_equal(got, wanted);
        free(got);
    }
}

static void expect(const char *format, const char *columns, const char *text, const char *wanted) {
    expect_n(options_with(format, columns, false), text, strlen(text), 0, wanted);
}

static void expect_skip(const char *format, const char *text, const char *wanted) {
    expect_n(options_with(format, NULL, true), text, strlen(text), 0, wanted);
}

/* Reads and gives the hint of the error. */
static const char *hint_of(const char *text) {
    static struct dpmf_error error;
    free(read_text(text, strlen(text), options_with(NULL, NULL, false), 0, 0, &error));
    return error.hint;
}

/* ---- each format ----------------------------------------------------------------------------- */

static void csv_reads_plain_rows(void **state) {
    (void)state;
    const char *wanted = "1 10 5\n2 20 3.5\nann x y 0.5\n";
    expect(NULL, NULL, "1,10,5\n2,20,3.5\nann,x y,0.5\n", wanted);
    expect(NULL, NULL, "1,10,5\n2,20,3.5\nann,x y,0.5", wanted);
    expect(NULL, NULL, "1,10,5\r\n2,20,3.5\r\nann,x y,0.5\r\n", wanted);
    expect(NULL, NULL, "\n\n1,10,5\n\r\n  \n2,20,3.5\n\nann,x y,0.5\n\n\n", wanted);
    expect(NULL, NULL,
           "\xef\xbb\xbf"
           "1,10,5\n2,20,3.5\nann,x y,0.5\n",
           wanted);
    expect(NULL, NULL, "1;10;5\n2;20;3.5\nann;x y;0.5\n", wanted);
    expect(NULL, NULL, "1,10, 5\n2,20,3.5 \nann,x y,5e-1\n", wanted);
}

static void csv_reads_headers(void **state) {
    (void)state;
    const char *wanted = "1 10 5 7\n2 20 3.5 8\n";
    expect(NULL, NULL, "userId,movieId,rating,timestamp\n1,10,5,7\n2,20,3.5,8\n", wanted);
    expect(NULL, NULL, "TS,Stars,Item_ID,x,USER-id\n7,5,10,,1\n8,3.5,20,zz,2\n", wanted);
    expect(NULL, NULL,
           "\xef\xbb\xbf\"User ID\",\"ISBN\",\"Book-Rating\",date\r\n1,10,5,7\r\n2,20,3.5,8",
           wanted);
    expect(NULL, NULL, "\n\nuser,item,rating,0\n1,10,5,7\n", "1 10 5\n");
    expect(NULL, "item,user,rating,timestamp", "a,b,c,d\n10,1,5,7\n20,2,3.5,8\n", wanted);
    expect(NULL, "_,item,user,rating,timestamp", "0,10,1,5,7\n0,20,2,3.5,8\n", wanted);
    expect(NULL, "user,item,rating,_", "1,10,5,7\n", "1 10 5\n");
}

static void csv_reads_quotes(void **state) {
    (void)state;
    expect(NULL, NULL, "\"a\",\"b\",\"4\"\n", "a b 4\n");
    expect(NULL, NULL, "\"a,\"\"b\"\"\",\"\"\"\",4\n\"c\nd\",e,5\n\"\r\n\",f,1\r\n",
           "a,\"b\" \" 4\nc\nd e 5\n\r\n f 1\n");
    expect(NULL, NULL, "user,item,rating\n1,\"x\n\n\",2\n3,4,x\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:5:5: rating \"x\" is not a number\n");
    expect(NULL, NULL, "1,\"x\ny\",\"bad\"\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:2:4: rating \"bad\" is not a number\n");
    expect(NULL, NULL, "\"x\ny\",\"\",3\n",
           "failed: DPMF_ERR_INPUT_ID t:2:4: the item id is empty\n");
    /* Where bad records are skipped, a record is a line: no quote reaches into the next. */
    expect_skip(NULL, "1,2,3\n\"x\ny\",\"\",3\n4,\"5\",6\n",
                "1 2 3\n4 5 6\nskipped 2, first: DPMF_ERR_INPUT_QUOTE t:2:1: the quote that opens "
                "here is never closed\n");
    expect_skip(NULL, "user,item,rating\n\"evil,2,3\n1,2,3\n4,5,1\n\"6\",7,5\n",
                "1 2 3\n4 5 1\n6 7 5\nskipped 1, first: DPMF_ERR_INPUT_QUOTE t:2:1: the quote that "
                "opens here is never closed\n");
    /* Of the first line nobody knows whether it names the columns. */
    static const char unreadable[] =
        "failed: DPMF_ERR_INPUT_HEADER t:1:1: the first line cannot be read, so that nobody knows "
        "whether it names the columns\n";
    expect_skip(NULL, "item,\"user,rating\n1,2,3\n", unreadable);
    expect_skip("tsv", "item\t\"user\trating\n1\t2\t3\n", unreadable);
    expect_skip("libmf", "1 \"2 3\n1 2 3\n",
                "1 2 3\nskipped 1, first: DPMF_ERR_INPUT_ID t:1:3: item id \"\"2\" is not a whole "
                "number from "
                "0 to 2^63-1\n"); /* which has no header */
}

static void csv_refuses_bad_quotes(void **state) {
    (void)state;
    expect(NULL, NULL, "1,2,3\n4,\"5,3\n6,7,1\n",
           "failed: DPMF_ERR_INPUT_QUOTE t:2:3: the quote that opens here is never closed\n");
    expect_skip(NULL, "1,2,3\n4,\"5,3\n6,7,1\n",
                "1 2 3\n6 7 1\nskipped 1, first: DPMF_ERR_INPUT_QUOTE t:2:3: the quote that opens "
                "here is never closed\n");
    expect(NULL, NULL, "1,2,3\n4,\"5\"x,3\n",
           "failed: DPMF_ERR_INPUT_QUOTE t:2:6: there is text after a closing quote\n");
    expect(
        NULL, NULL, "1,2,3\n4,5\"x,3\n",
        "failed: DPMF_ERR_INPUT_QUOTE t:2:4: there is a quote inside a field that does not begin "
        "with one\n");
    expect_skip(
        NULL, "1,2,3\n4,5\"x,3\n6,\"7\"\"\"8,1\n9,1,\"2\"\n",
        "1 2 3\n9 1 2\nskipped 2, first: DPMF_ERR_INPUT_QUOTE t:2:4: there is a quote inside "
        "a field that does not begin with one\n");
}

/* A decimal comma in columns of another separator would make events of ratings. */
static void commas_of_decimals_are_not_guessed(void **state) {
    static const char *const rows[] = {"1::1193::5,5::0\n2::7::3,5::1\n", "1 2 3,5\n4 5 4,5\n",
                                       "\n1|2|3,5\n", "1;3,5\n2;4,5\n"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int skip = 0; skip < 2; skip++)
            expect_n(options_with(NULL, NULL, skip), rows[i], strlen(rows[i]), 0,
                     "failed: DPMF_ERR_INPUT_UNKNOWN_FORMAT t:1:1: the comma in the first line may "
                     "be that of a decimal number: these may be ratings in columns of another "
                     "separator, or events\n");
    expect("csv", "user,item", "a 1,5\n", "events\na 1 5 1\n");
    expect(NULL, NULL, "1,5\n", "events\n1 5 1\n");
    expect(NULL, NULL, "a b,c d\n", "events\na b c d 1\n");
}

static void csv_refuses_bad_headers(void **state) {
    (void)state;
    expect(NULL, NULL, "userId,movieId,note\n1,2,3\n",
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header lacks rating; it has userId, movieId, "
           "note\n");
    expect(NULL, NULL, "a,b,c\n1,2,3\n",
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header lacks user, item, rating; it has a, b, "
           "c\n");
    expect(NULL, NULL, "\nuser,movie,asin,rating\n1,2,3,4\n",
           "failed: DPMF_ERR_INPUT_HEADER t:2:1: columns 2 and 3 of the header both name the item: "
           "user, movie, asin, rating\n");
    expect_skip(
        NULL, "a,b,c\n1,2,3\n",
        "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header lacks user, item, rating; it has a, "
        "b, c\n");
    assert_non_null(strstr(hint_of("a,b,c\n1,2,3\n"), "{columns}"));
    /* With a number in it, it is a bad record and no header. */
    expect(NULL, NULL, "1,2,abc\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:1:5: rating \"abc\" is not a number\n");
    char wide[4000] = "user,item,rating";
    for (int i = 0; i < 300; i++) strcat(wide, ",x");
    expect("csv", NULL, strcat(wide, "\n"),
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header has 303 columns, more than 256\n");
}

static void csv_refuses_bad_fields(void **state) {
    (void)state;
    expect(NULL, NULL, "1,2,3\n1,2\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:2:4: the row has 2 columns instead of 3\n");
    expect(NULL, NULL, "1,2,3\n1,2,3,4,5\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:2:7: the row has 5 columns instead of 3\n");
    expect(NULL, NULL, "1,2,3\n1,22,\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:2:6: the rating is empty\n");
    expect(NULL, NULL, "1;2;4,5\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:1:5: rating \"4,5\" is not a number\n");
    assert_string_equal(hint_of("1;2;4,5\n"), "write decimals with a point, as in 4.5");
    expect(NULL, NULL, "1,2,NaN\n",
           "failed: DPMF_ERR_INPUT_NOT_FINITE t:1:5: rating \"NaN\" is not finite\n");
    expect(NULL, NULL, "1,2,3\n1,2,-inf\n",
           "failed: DPMF_ERR_INPUT_NOT_FINITE t:2:5: rating \"-inf\" is not finite\n");
    expect(NULL, NULL, "1,2,1e400\n",
           "failed: DPMF_ERR_INPUT_NOT_FINITE t:1:5: rating 1e400 is too large\n");
    expect(NULL, NULL, ",2,3\n", "failed: DPMF_ERR_INPUT_ID t:1:1: the user id is empty\n");
    expect(NULL, NULL, "1,,3\n", "failed: DPMF_ERR_INPUT_ID t:1:3: the item id is empty\n");
    expect(NULL, NULL, "1,2,3,soon\n",
           "failed: DPMF_ERR_INPUT_TIME t:1:7: timestamp \"soon\" is not a time\n");
    expect(
        NULL, NULL, "1,2,3\n1,2,\x1b[31m\xff\xc2\x9b\xc3\xa9\n",
        "failed: DPMF_ERR_INPUT_NUMBER t:2:5: rating \"\\x1b[31m\\xff\\xc2\\x9b\xc3\xa9\" is not a "
        "number\n");
    expect(NULL, NULL, "1,2,3\n1,2,aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:2:5: rating "
           "\"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...\" is not a number\n");
    expect_n(options_with("csv", NULL, false), "1,2,3\n4,5\0z,3\n", 15, 0,
             "failed: DPMF_ERR_INPUT_ID t:2:3: the item id holds a NUL byte\n");
    expect_n(options_with("csv", NULL, false), "1,2,3\n4\0,5,3\n", 14, 0,
             "failed: DPMF_ERR_INPUT_ID t:2:1: the user id holds a NUL byte\n");
    expect_skip(
        NULL, "1,2,x\n1,2,3\nq\n4,5,6\n,,\n",
        "1 2 3\n4 5 6\nskipped 3, first: DPMF_ERR_INPUT_NUMBER t:1:5: rating \"x\" is not a "
        "number\n");
}

static void other_columns_are_read(void **state) {
    (void)state;
    expect(NULL, NULL, "196\t242\t3\t881250949\n1\t2\t5\t9\n", "196 242 3 881250949\n1 2 5 9\n");
    expect("u.data", NULL, "1\t2\t3\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:1:6: the row has 3 columns instead of 4\n");
    expect(NULL, NULL, "user\titem\trating\nx\ty z\t3\n", "x y z 3\n");
    expect(NULL, NULL, "x\t\"y\t\nz\"\t3\n", "x y\t\nz 3\n");
    expect(NULL, NULL, "1::1193::5::978300760\n1::6:1::3::9\r\n",
           "1 1193 5 978300760\n1 6:1 3 9\n");
    expect(NULL, NULL, "1::2::x\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:1:7: rating \"x\" is not a number\n");
    expect(NULL, NULL, "1::2::5\n1::2\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:2:5: the row has 2 columns instead of 3 or 4\n");
    /* A row of three columns says nothing about the others, and there are no headers. */
    expect(NULL, NULL, "m::2::5\n1::2::5::7\n", "m 2 5\n1 2 5 7\n");
    expect_skip("movielens", "alice::matrix::good\n1::2::5::7\n1::2::3::4::5\n",
                "1 2 5 7\nskipped 2, first: DPMF_ERR_INPUT_NUMBER t:1:16: rating \"good\" is not a "
                "number\n");
    expect(NULL, NULL,
           "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\t\"2\t3\t8.8E8\n",
           "1 \"2 3 880000000\n");
}

static void libmf_wants_whole_numbers(void **state) {
    (void)state;
    expect(NULL, NULL, "0 1 3.5\n007\t+2  4 \r\n  9223372036854775807 0 1\n",
           "0 1 3.5\n7 2 4\n9223372036854775807 0 1\n");
    expect(
        NULL, NULL, "-1 2 3\n",
        "failed: DPMF_ERR_INPUT_ID t:1:1: user id \"-1\" is not a whole number from 0 to 2^63-1\n");
    expect(NULL, NULL, "1 9223372036854775808 3\n",
           "failed: DPMF_ERR_INPUT_ID t:1:3: item id \"9223372036854775808\" is not a whole number "
           "from 0 to 2^63-1\n");
    expect(NULL, NULL, "1 2 3\n\n1 2\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:3:4: the row has 2 columns instead of 3\n");
}

static void netflix_blocks_are_read(void **state) {
    (void)state;
    expect(NULL, NULL, "1:\n1488844,3,2005-09-06\n82,5,2005-05-13\n2:\n3:\r\n88,4,\r\n",
           "1488844 1 3 1125964800\n82 1 5 1115942400\n88 3 4\n");
    expect("netflix", NULL, "5,3,2005-09-06\n",
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: the line is outside any block\n");
    expect("netflix", NULL, "1:\n5,3,2005-09-06\n:\n",
           "failed: DPMF_ERR_INPUT_HEADER t:3:1: \":\" does not begin a block\n");
    expect(NULL, NULL, "1:\n5,3\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:2:1: the row has 2 columns\n");
    expect(NULL, NULL, "1:\n5,x,\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:2:3: rating \"x\" is not a number\n");
    expect(NULL, NULL, "1:\n5,3,2005-02-29\n",
           "failed: DPMF_ERR_INPUT_TIME t:2:5: timestamp \"2005-02-29\" is not a time\n");
    expect_skip(NULL, "1:\n5,3,\n:\n6,3,\n2:\n7,3,\n",
                "5 1 3\n7 2 3\nskipped 2, first: DPMF_ERR_INPUT_HEADER t:3:1: \":\" does not "
                "begin a block\n");
}

static void yahoo_blocks_are_read(void **state) {
    (void)state;
    expect(NULL, NULL, "0|2\n56\t90\n57\t10\t12\t10:00:00\n1|0\n2|1\n9 50\n",
           "0 56 90\n0 57 10\n2 9 50\n");
    expect(NULL, NULL, "0|2\n56\t90\n1|1\n9 50\n",
           "failed: DPMF_ERR_INPUT_COUNT t:1:3: the user has 2 ratings by this line, but 1 "
           "follow\n");
    expect(NULL, NULL, "0|1\n56\t90\n1|1\n9 50\n8 10\n",
           "failed: DPMF_ERR_INPUT_COUNT t:3:3: the user has 1 ratings by this line, but 2 "
           "follow\n");
    expect(NULL, NULL, "0|1\n56\tx\n",
           "failed: DPMF_ERR_INPUT_NUMBER t:2:4: rating \"x\" is not a number\n");
    expect("yahoo", NULL, "5 3\n",
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: the line is outside any block\n");
    expect("yahoo", NULL, "a|b\n",
           "failed: DPMF_ERR_INPUT_HEADER t:1:1: \"a|b\" does not begin a block\n");
    expect(NULL, NULL, "0|1\n56\n", "failed: DPMF_ERR_INPUT_COLUMNS t:2:1: the row has 1 column\n");
    expect_skip(NULL, "0|2\n1 1\n1|3\n2 x\n3 3\nz|\n4 4\n5|1\n5 5\n",
                "0 1 1\n1 3 3\n5 5 5\nskipped 5, first: DPMF_ERR_INPUT_COUNT t:1:3: the user has 2 "
                "ratings by this line, but 1 follow\n");
}

static void matrix_market_is_read(void **state) {
    (void)state;
    expect(NULL, NULL,
           "%%MatrixMarket matrix coordinate real general\n% hello\n\n3 4 2\n1 1 5.0\n003 +4 2.5\n",
           "1 1 5\n3 4 2.5\n");
    expect(NULL, NULL, "%%matrixmarket MATRIX Coordinate Integer General\r\n3 4 1\r\n1 1 5\r\n",
           "1 1 5\n");
    static const char *const refused[][2] = {
        {"%%MatrixMarket matrix array real general\n",
         "t:1:23: a dense matrix (array) cannot be read as ratings: every value would be one"},
        {"%%MatrixMarket matrix coordinate complex general\n",
         "t:1:34: complex values are not ratings"},
        {"%%MatrixMarket matrix coordinate real symmetric\n",
         "t:1:39: the matrix must be general: users and items are not the same, so there is no "
         "symmetry"},
        {"%%MatrixMarket matrix coordinate real\n",
         "t:1:1: the first line is not a whole MatrixMarket banner"},
        {"%%MatrixMarket matrix coordinate real general\n% x\n", "t:1:1: the size line is missing"},
        {"%%MatrixMarket matrix coordinate real general\n1 2\n",
         "t:2:1: the size line does not have three numbers"},
        {"%%MatrixMarket matrix coordinate real general\n1 0 3\n",
         "t:2:1: the size line has entries, but no rows or no columns"},
        {"%%MatrixMarket matrix coordinate real general\n1 -2 3\n",
         "t:2:3: the size line has something other than a whole number"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char wanted[300];
        snprintf(wanted, sizeof wanted, "failed: DPMF_ERR_INPUT_HEADER %s\n", refused[i][1]);
        expect(NULL, NULL, refused[i][0], wanted);
    }
#define HEAD "%%MatrixMarket matrix coordinate real general\n3 4 2\n"
    expect(NULL, NULL, HEAD "1 5 1\n1 1 1\n",
           "failed: DPMF_ERR_INPUT_ID t:3:3: column \"5\" is not from 1 to 4, as the size line "
           "says\n");
    expect(
        NULL, NULL, HEAD "0 4 1\n1 1 1\n",
        "failed: DPMF_ERR_INPUT_ID t:3:1: row \"0\" is not from 1 to 3, as the size line says\n");
    expect(NULL, NULL, HEAD "1 4 1\n",
           "failed: DPMF_ERR_INPUT_COUNT t:2:5: the size line has 2 entries, but 1 follow\n");
    expect(NULL, NULL, HEAD "1 4 1\n1 3 1\n1 2 1\n",
           "failed: DPMF_ERR_INPUT_COUNT t:2:5: the size line has 2 entries, but 3 follow\n");
    expect_skip(NULL, HEAD "1 4 1\n",
                "1 4 1\nremark: DPMF_ERR_INPUT_COUNT t:2:5: the size line has 2 entries, but 1 "
                "follow\n");
#undef HEAD
}

static void json_lines_are_read(void **state) {
    (void)state;
    expect(NULL, NULL,
           "{\"user\": 1.50, \"item\": \"x\", \"rating\": 4.5, \"timestamp\": 12}\n\n"
           "{\"asin\":\"B\\u00e9\\n\",\"reviewerID\":\"u\",\"x\":[{\"user\":[]}],\"overall\":\"3\"}"
           "\r\n"
           "{\"u\\u0073er\":1,\"item\":2,\"rating\":3,\"date\":\"2005-09-06\"}\n"
           "{\"user\":1,\"item\":2,\"rating\":3,\"time\":null}",
           "1.5 x 4.5 12\nu B\xc3\xa9\n 3\n1 2 3 1125964800\n1 2 3\n");
    /* One number is one id, however it is written; a string is a string. */
    expect(NULL, NULL,
           "{\"user\":1.0,\"item\":1e3,\"rating\":1}\n{\"user\":-0,\"item\":\"1.0\",\"rating\":2}\n"
           "{\"user\":10e-1,\"item\":9007199254740991.0,\"rating\":3}\n"
           "{\"user\":9007199254740993,\"item\":9007199254740993.0,\"rating\":4}\n"
           "{\"user\":-7.00,\"item\":-12,\"rating\":5}\n",
           "1 1000 1\n0 1.0 2\n1 9007199254740991 3\n9007199254740993 9007199254740993 4\n"
           "-7 -12 5\n");
    static const char *const refused[][2] = {
        {"[]\n", "JSON t:1:1: the line is not a JSON object"},
        {"{\"user\":1,\"uid\":2}\n", "JSON t:1:11: the user is given twice"},
        {"{\"user\":[1],\"item\":2}\n", "JSON t:1:9: the user is neither a string nor a number"},
        {"{\"user\":1,\"item\":2,\"rating\":null}\n",
         "JSON t:1:29: the rating is neither a string nor a number"},
        {"{\"user\":1,\"item\":2,\"rating\":\"x\"}\n",
         "NUMBER t:1:29: rating \"x\" is not a number"},
        {"{\"user\":1,\"item\":2,\"rating\":1e999}\n",
         "NOT_FINITE t:1:29: rating 1e999 is too large"},
        {"{\"user\":\"\",\"item\":2,\"rating\":1}\n", "ID t:1:9: the user id is empty"},
        {"{\"user\":1,\"item\":\"\\u0000\",\"rating\":1}\n",
         "ID t:1:18: the item id holds a NUL byte"},
        {"{\"user\":1,\"item\":2,\"rating\":1,\"ts\":\"x\"}\n",
         "TIME t:1:36: timestamp \"x\" is not a time"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char wanted[300], text[300];
        snprintf(wanted, sizeof wanted, "failed: DPMF_ERR_INPUT_%s\n", refused[i][1]);
        expect("jsonl", NULL, refused[i][0], wanted);
        snprintf(wanted, sizeof wanted, "9 9 1\nskipped 1, first: DPMF_ERR_INPUT_%s\n",
                 refused[i][1]);
        snprintf(text, sizeof text, "%s{\"user\":9,\"item\":9,\"rating\":1}", refused[i][0]);
        expect_skip("jsonl", text, wanted);
    }
    struct dpmf_error error;
    const char *broken = "{\"user\":1,\"item\":2,\"rating\":1}\n{\"user\":1,,}\n";
    free(read_text(broken, strlen(broken), options_with("jsonl", NULL, false), 5, 0, &error));
    assert_int_equal(error.code, DPMF_ERR_INPUT_JSON);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 11);
}

/* ---- what all formats share ------------------------------------------------------------------ */

static void ranges_and_scales_apply(void **state) {
    (void)state;
    struct dpmf_input_options options = dpmf_input_options_default();
    options.rescale = true;
    options.from_max = 100;
    options.to_max = 5;
    expect_n(&options, "1,2,90\n1,3,100\n1,4,0\n", 20, 0, "1 2 4.5\n1 3 5\n1 4 0\n");
    options.has_range = true;
    options.range_min = 1;
    options.range_max = 5;
    expect_n(&options, "1,2,90\n1,3,100\n1,4,0\n", 20, 0,
             "failed: DPMF_ERR_INPUT_OUT_OF_RANGE t:3:5: rating 0 is outside the range 1:5\n");
    options.skip_bad = true;
    expect_n(&options, "1,2,90\n1,3,101\n1,4,0\n", 21, 0,
             "1 2 4.5\nskipped 2, first: DPMF_ERR_INPUT_OUT_OF_RANGE t:2:5: rating 5.05 is outside "
             "the range 1:5\n");
}

static void long_records_are_refused(void **state) {
    (void)state;
    const char *text = "1,2,3\n1,2,0000000000000000000003\n4,5,1\n";
    size_t n = strlen(text);
    expect_n(options_with(NULL, NULL, false), text, n, 26, "1 2 3\n1 2 3\n4 5 1\n");
    expect_n(options_with(NULL, NULL, false), text, n, 25,
             "failed: DPMF_ERR_INPUT_LINE_TOO_LONG t:2:1: the line is longer than 25 bytes\n");
    expect_n(
        options_with(NULL, NULL, true), text, n, 25,
        "1 2 3\n4 5 1\nskipped 1, first: DPMF_ERR_INPUT_LINE_TOO_LONG t:2:1: the line is longer "
        "than 25 bytes\n");
    expect_n(
        options_with(NULL, NULL, true), text, n, 7,
        "1 2 3\n4 5 1\nskipped 1, first: DPMF_ERR_INPUT_LINE_TOO_LONG t:2:1: the line is longer "
        "than 7 bytes\n");
    expect_n(options_with(NULL, NULL, true), "1,2,3\n1,2,0000000", 17, 7,
             "1 2 3\nskipped 1, first: DPMF_ERR_INPUT_LINE_TOO_LONG t:2:1: the line is longer "
             "than 7 bytes\n");
    /* A quote that is not closed within the limit spoils its own line only. */
    expect_n(options_with(NULL, NULL, true), "1,2,3\n\"4,5,1\n1,3,3\n1,4,4\n1,5,5\"\n1,6,1\n", 38,
             12,
             "1 2 3\n1 3 3\n1 4 4\n1 6 1\nskipped 2, first: DPMF_ERR_INPUT_QUOTE t:2:1: the quote "
             "that opens here is never closed\n");
}

static void ids_may_be_64_kib(void **state) {
    (void)state;
    size_t longest = STORE_ID_MAX;
    char *text = malloc(3 * longest);
    for (size_t extra = 0; extra < 2; extra++) {
        size_t n = longest + extra;
        memset(text, 'u', n);
        memcpy(text + n, ",i,3\n", 5);
        struct dpmf_error error;
        char *got = read_text(text, n + 5, options_with(NULL, NULL, false), 0, 0, &error);
        if (extra == 0)
            assert_int_equal(strlen(got), longest + 5);
        else
            assert_string_equal(got,
                                "failed: DPMF_ERR_INPUT_ID_TOO_LONG t:1:1: the user id is 65537 "
                                "bytes long, more than 65536\n");
        free(got);
    }
    free(text);
}

static void a_line_without_end_is_refused(void **state) {
    (void)state;
    size_t n = (size_t)3 << 20;
    char *text = malloc(n);
    memset(text, 'x', n);
    expect_n(options_with(NULL, NULL, false), text, n, 0,
             "failed: DPMF_ERR_INPUT_LINE_TOO_LONG t:1:1: the line is longer than 1 MiB\n");
    memcpy(text, "1,2,3\n", 6);
    memcpy(text + n - 7, "\n4,5,1\n", 7);
    struct dpmf_error error;
    char *got = read_text(text, n, options_with(NULL, NULL, true), 0, 0, &error);
    assert_string_equal(got,
                        "1 2 3\n4 5 1\nskipped 1, first: DPMF_ERR_INPUT_LINE_TOO_LONG t:2:1: the "
                        "line is longer than 1 MiB\n");
    free(got);
    free(text);
}

static void empty_inputs_are_refused(void **state) {
    (void)state;
    static const char *const empty[] = {"", "\n", " \r\n\t\n\n", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        expect(NULL, NULL, empty[i], "failed: DPMF_ERR_INPUT_EMPTY t: the input is empty\n");
        expect("csv", NULL, empty[i], "failed: DPMF_ERR_INPUT_EMPTY t: the input is empty\n");
    }
    expect(NULL, NULL, "user,item,rating\n",
           "failed: DPMF_ERR_INPUT_EMPTY t: the input holds no ratings\n");
    expect_skip(NULL, "user,item,rating",
                "failed: DPMF_ERR_INPUT_EMPTY t: the input holds no ratings\n");
    expect(NULL, NULL, "1:\n2:\n", "failed: DPMF_ERR_INPUT_EMPTY t: the input holds no ratings\n");
}

static void unknown_formats_are_refused(void **state) {
    (void)state;
    const char *wanted =
        "failed: DPMF_ERR_INPUT_UNKNOWN_FORMAT t: the format of the input is not known\n";
    expect(NULL, NULL, "once upon a time there was\n", wanted);
    expect(NULL, NULL,
           "\x7f"
           "ELF,1,2\n",
           wanted);
    expect_n(options_with(NULL, NULL, false), "1,2,\0003\n", 7, 0, wanted);
    expect_n(options_with(NULL, NULL, false),
             "\xff\xfe"
             "1\0,\0",
             6, 0, "failed: DPMF_ERR_INPUT_UNKNOWN_FORMAT t: the input is UTF-16 text\n");
    assert_non_null(strstr(hint_of("once upon a time\n"), "csv, tsv, movielens"));
    expect("xml", NULL, "1,2,3\n", "failed: DPMF_ERR_USAGE_VALUE there is no format \"xml\"\n");
    expect("jsonl", "user,item,rating", "{}\n",
           "failed: DPMF_ERR_USAGE_CONFLICT t: the format jsonl has fixed columns\n");
    expect(
        NULL, "user,item,stars", "1,2,3\n",
        "failed: DPMF_ERR_USAGE_VALUE the list of columns \"user,item,stars\" has a name that is "
        "not one of these\n");
    expect(
        NULL, "user,user,rating", "1,2,3\n",
        "failed: DPMF_ERR_USAGE_VALUE the list of columns \"user,user,rating\" names one of them "
        "twice\n");
    expect(NULL, "user,rating", "1,2\n",
           "failed: DPMF_ERR_USAGE_VALUE the list of columns \"user,rating\" lacks user or item\n");
}

/* ---- sniffing -------------------------------------------------------------------------------- */

static void formats_are_sniffed(void **state) {
    (void)state;
    static const char *const table[][2] = {
        {"196\t242\t3\t881250949\n", "u.data"},
        {"196\t242\t3.5\t881250949\n", "tsv"},
        {"196\t242\t3\n", "tsv"},
        {"user_id\titem_id\trating\n", "tsv"},
        {"user_id:token\titem_id:token\trating:float\n", "inter"},
        {"1::1193::5::978300760\n", "movielens"},
        {"a,b::c::4\n", "movielens"},
        {"a::b,c::d,4\n", "csv"},
        {"1 2 3.5\n", "libmf"},
        {"-1 2 3\n", "libmf"},
        {"  1   2\t3\n", "tsv"},
        {"1:\n", "netflix"},
        {"\n1:\r\n", "netflix"},
        {"0|1234\n", "yahoo"},
        {"%%MatrixMarket matrix\n", "matrixmarket"},
        {"{\"user\":1}\n", "jsonl"},
        {" { }\n", "jsonl"},
        {"{8f-2},x,4\n", "csv"},
        {"1,2,3\n", "csv"},
        {"1;2;3\n", "csv"},
        {"\"a\nb\",c,3\n", "csv"},
        {"a,b\n", "csv"},
        {"0|12|5\n", NULL},
        {"hello\n", NULL},
        {"a b c d\n", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct text_format *format = format_sniff(table[i][0], strlen(table[i][0]), true);
        if (table[i][1] == NULL) {
            assert_null(format);
        } else {
            assert_non_null(format);
            assert_string_equal(format->name, table[i][1]);
        }
    }
}

static void formats_are_listed(void **state) {
    (void)state;
    const char *description, *name;
    size_t n = 0;
    for (; (name = dpmf_format_name(n, &description)) != NULL; n++) {
        struct dpmf_error error;
        assert_true(strlen(description) > 5);
        assert_int_equal(format_check(name, &error), 0);
        bool is_text = strcmp(name, FORMAT_STORE) != 0 && strcmp(name, FORMAT_ARROW) != 0 &&
                       strcmp(name, FORMAT_PARQUET) != 0;
        assert_int_equal(format_find(name) != NULL, is_text);
    }
    assert_int_equal(n, 13);
    assert_null(dpmf_format_name(n, &description));
}

static void column_names_are_known(void **state) {
    (void)state;
    assert_int_equal(column_role_of("User-ID", 7), COLUMN_USER);
    assert_int_equal(column_role_of("unixReviewTime", 14), COLUMN_TIME);
    assert_int_equal(column_role_of("business_id", 11), COLUMN_ITEM);
    assert_int_equal(column_role_of("Book-Rating", 11), COLUMN_RATING);
    assert_int_equal(column_role_of("", 0), COLUMN_OTHER);
    assert_int_equal(column_role_of("user_id_of_something_long", 25), COLUMN_OTHER);
}

/* ---- times ----------------------------------------------------------------------------------- */

static void times_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t time;
    } good[] = {
        {"0", 0},
        {"881250949", 881250949},
        {"-5", -5},
        {"881250949.0", 881250949},
        {"881250949.999", 881250949},
        {"-0.5", -1},
        {"-1.0", -1},
        {"9223372036854775807.9", INT64_MAX},
        {"1.5e9", 1500000000},
        {"8.8E8", 880000000},
        {" 7 ", 7},
        {"1970-01-01", 0},
        {"1969-12-31", -86400},
        {"2000-02-29", 951782400},
        {"2005-09-06", 1125964800},
        {"2005-09-06T12:34:56", 1126010096},
        {"2005-09-06T12:34:56Z", 1126010096},
        {"2005-09-06 12:34:56.789", 1126010096},
        {"2005-09-06 12:34:56+00", 1126010096},
        {"2005-09-06 12:34:56+00:00", 1126010096},
        {"2005-09-06 12:34:56-00", 1126010096},
        {"2005-09-06T12:34:56+02:00", 1126010096 - 7200},
        {"2005-09-06 12:34:56-0330", 1126010096 + 12600},
        {"2005-09-06 12:34:56+05:30", 1126010096 - 19800},
        {"2005-09-06 12:34:56.789+02", 1126010096 - 7200},
        {"2005-09-06 12:34:56.789Z", 1126010096},
        {"2005-09-06 12:34:56+00:19:32", 1126010096 - 1172},
        {"2005-09-06 12:34:56-15:59:59", 1126010096 + 57599},
        {"1970-01-01 00:00:00+15:59", -57540},
        {"1969-12-31 23:59:59.5+00", -1},
        {"0000-01-01 00:00:00+01", -62167222800},
        {"9999-12-31 23:59:59-01", 253402304399},
        {"0000-01-01", -62167219200},
        {"0000-03-01", -62162035200},
        {"9999-12-31T23:59:59Z", 253402300799},
        {"", STORE_NO_TIME},
        {"  ", STORE_NO_TIME},
    };
    static const char *const bad[] = {
        "x",

        "1e400",
        "nan",
        "9223372036854775808",
        "-9223372036854775808",
        "1e19",
        "2005-9-6",
        "2005-13-01",
        "2005-00-01",
        "2005-02-30",
        "1900-02-29",
        "2005-09-06T24:00:00",
        "2005-09-06T12:34",
        "2005-09-06T12:34:56.",
        "2005-09-06x",
        "2005-09-06+02",
        "2005-09-06T12:34:56+",
        "2005-09-06T12:34:56+1",
        "2005-09-06T12:34:56+1:00",
        "2005-09-06T12:34:56+010",
        "2005-09-06T12:34:56+01:0",
        "2005-09-06T12:34:56+01:000",
        "2005-09-06T12:34:56+0100:00",
        "2005-09-06T12:34:56+010000",
        "2005-09-06T12:34:56+01:00:0",
        "2005-09-06T12:34:56+16",
        "2005-09-06T12:34:56-16:00",
        "2005-09-06T12:34:56+99:99",
        "2005-09-06T12:34:56+01:60",
        "2005-09-06T12:34:56+01:00:60",
        "2005-09-06T12:34:56+0x",
        "2005-09-06T12:34:56+-1",
        "2005-09-06T12:34:56 +01",
        "2005-09-06T12:34:56Z+01",
        "2005-09-06T12:34:56+01Z",
        "2005-09-06T12:34:56.+01",
        "2005-09-06T12:34+01",
        "-9223372036854775808.5",
    };
    int64_t time;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(field_time(good[i].text, strlen(good[i].text), &time));
        assert_int_equal(time, good[i].time);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(field_time(bad[i], strlen(bad[i]), &time));
}

/* ---- files ----------------------------------------------------------------------------------- */

static void files_are_opened(void **state) {
    (void)state;
    struct temp_dir dir;
    temp_dir_make(&dir);
    char path[TEMP_PATH_MAX];
    struct dpmf_error error;
    struct source *source = NULL;
    const struct dpmf_input_options *options = options_with(NULL, NULL, false);
    assert_int_equal(source_open(dir.path, options, NULL, &source, &error), DPMF_ERR_IO_DIRECTORY);
    assert_string_equal(error.file, dir.path);
    temp_dir_file(&dir, "none.csv", path);
    assert_int_equal(source_open(path, options, NULL, &source, &error), DPMF_ERR_IO_MISSING);
    assert_string_equal(error.file, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("1,2,3\n", file);
    fclose(file);
    assert_int_equal(source_open(path, options, NULL, &source, &error), 0);
    assert_string_equal(source->format, "csv");
    assert_int_equal(source->total_bytes, 6);
    assert_int_equal(source->bytes_read(source), 6);
    source_close(source);
    source_close(NULL);
    temp_dir_remove(&dir);
}

/* Standard input is a pipe here: no size, no seeking. */
static void standard_input_is_read(void **state) {
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1,2,x\n", 6), 6);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    struct dpmf_error error;
    struct source *source = NULL;
    assert_int_equal(source_open("-", options_with(NULL, NULL, false), NULL, &source, &error), 0);
    assert_int_equal(source->total_bytes, 0);
    static struct record_batch batch;
    batch.take = read_text_take;
    batch.options = options_with(NULL, NULL, false);
    struct read_text_tally tally = {0, {.code = 0}};
    void *chunk = source->ops->chunk_new(source);
    assert_int_equal(read_text_all(source, &batch, chunk, &tally, &error), DPMF_ERR_INPUT_NUMBER);
    assert_string_equal(error.file, "<stdin>");
    assert_int_equal(error.line, 1);
    source->ops->chunk_free(chunk);
    source_close(source);
    if (saved >= 0) dup2(saved, STDIN_FILENO);
    if (saved >= 0) close(saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_reads_plain_rows),
        cmocka_unit_test(csv_reads_headers),
        cmocka_unit_test(csv_reads_quotes),
        cmocka_unit_test(csv_refuses_bad_quotes),
        cmocka_unit_test(commas_of_decimals_are_not_guessed),
        cmocka_unit_test(csv_refuses_bad_headers),
        cmocka_unit_test(csv_refuses_bad_fields),
        cmocka_unit_test(other_columns_are_read),
        cmocka_unit_test(libmf_wants_whole_numbers),
        cmocka_unit_test(netflix_blocks_are_read),
        cmocka_unit_test(yahoo_blocks_are_read),
        cmocka_unit_test(matrix_market_is_read),
        cmocka_unit_test(json_lines_are_read),
        cmocka_unit_test(ranges_and_scales_apply),
        cmocka_unit_test(long_records_are_refused),
        cmocka_unit_test(ids_may_be_64_kib),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(empty_inputs_are_refused),
        cmocka_unit_test(unknown_formats_are_refused),
        cmocka_unit_test(formats_are_sniffed),
        cmocka_unit_test(formats_are_listed),
        cmocka_unit_test(column_names_are_known),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(files_are_opened),
        cmocka_unit_test(standard_input_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

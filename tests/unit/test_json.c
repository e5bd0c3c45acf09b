/*
 * The reader accepts JSON and nothing else, and says where it stops; the writer writes what the
 * reader reads back; the two agree on random texts and damaged ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "random/random.h"

/* One letter a token: { } [ ] k s n t f 0 for null, $ for the end, ! for an error. */
static size_t read_kinds(const char *text, size_t length, char *kinds, size_t max,
                         struct json_token *last) {
    static const char letters[] = "!${}[]ksntf0";
    struct json_reader reader;
    json_reader_init(&reader, text, length);
    size_t n = 0;
    for (;;) {
        *last = json_next(&reader);
        if (n + 1 < max) kinds[n++] = letters[last->kind];
        if (last->kind == JSON_END || last->kind == JSON_ERROR) break;
    }
    kinds[n] = '\0';
    struct json_token again = json_next(&reader); /* asking again changes nothing */
    assert_int_equal(again.kind, last->kind);
    assert_int_equal(again.offset, last->offset);
    return n;
}

static void check_kinds(const char *text, const char *expected) {
    char kinds[256];
    struct json_token last;
    read_kinds(text, strlen(text), kinds, sizeof kinds, &last);
    if (strcmp(kinds, expected) != 0) fail_msg("%s: %s, not %s", text, kinds, expected);
}

static void test_structure(void **state) {
    (void)state;
    check_kinds("1", "n$");
    check_kinds(" null ", "0$");
    check_kinds("{}", "{}$");
    check_kinds("[ ]", "[]$");
    check_kinds("[[],[{}],{}]", "[[][{}]{}]$");
    check_kinds("{\"a\":1,\"b\":[true,false,null,\"x\"],\"c\":{\"d\":-1.5e+10}}",
                "{knk[tf0s]k{kn}}$");
    check_kinds("\t{\r\n\"a\" :\t1 , \"b\" : 2 }\n", "{knkn}$");
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"", 0},
        {"  ", 2},
        {"{", 1},
        {"[", 1},
        {"[1,]", 3},
        {"{\"a\":1,}", 7},
        {"{,}", 1},
        {"[,1]", 1},
        {"[1 2]", 3},
        {"{\"a\" 1}", 5},
        {"{a:1}", 1},
        {"{\"a\":}", 5},
        {"[1}", 2},
        {"{\"a\":1]", 6},
        {"1 2", 2},
        {"{} x", 3},
        {"01", 0},
        {"-01", 1},
        {"-", 1},
        {"+1", 0},
        {".5", 0},
        {"5.", 2},
        {"1e", 2},
        {"1e+", 3},
        {"0x10", 1},
        {"nul", 0},
        {"True", 0},
        {"nan", 0},
        {"Infinity", 0},
        {"\"abc", 0},
        {"\"a\\", 2},
        {"\"\\x\"", 1},
        {"\"\\u12g4\"", 1},
        {"\"\\u123", 1},
        {"\"a\nb\"", 2},
        {"\"\t\"", 1},
        {"'a'", 0},
        {"[\"a\xff\"]", 3},
        {"\"\xc0\x80\"", 1},
        {"\"\xed\xa0\x80\"", 1},
        {"\"\xe2\x82\"", 1},
        {"\"\xf5\x80\x80\x80\"", 1},
        {"// x\n1", 0},
        {"\xef\xbb\xbf{}", 0},
        {"]", 0},
        {"}", 0},
        {",", 0},
        {":", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char kinds[64];
        struct json_token last;
        read_kinds(cases[i].text, strlen(cases[i].text), kinds, sizeof kinds, &last);
        if (last.kind != JSON_ERROR) fail_msg("accepted %s", cases[i].text);
        if (last.offset != cases[i].offset)
            fail_msg("%s: at %zu, not %zu", cases[i].text, last.offset, cases[i].offset);
        assert_non_null(last.fault);
    }
}

static void test_depth(void **state) {
    (void)state;
    char text[400], kinds[512];
    struct json_token last;
    memset(text, '[', 200);
    memset(text + 200, ']', 200);
    read_kinds(text + 200 - JSON_DEPTH_MAX, 2 * JSON_DEPTH_MAX, kinds, sizeof kinds, &last);
    assert_int_equal(last.kind, JSON_END);
    read_kinds(text, 400, kinds, sizeof kinds, &last);
    assert_int_equal(last.kind, JSON_ERROR);
    assert_int_equal(last.offset, JSON_DEPTH_MAX);

    /* Objects and arrays in turns: each level must be remembered for what it is. */
    char turns[1024];
    size_t n = 0;
    for (int i = 0; i < JSON_DEPTH_MAX / 2; i++) n += (size_t)sprintf(turns + n, "[{\"a\":");
    n += (size_t)sprintf(turns + n, "1");
    for (int i = 0; i < JSON_DEPTH_MAX / 2; i++) n += (size_t)sprintf(turns + n, "}]");
    read_kinds(turns, n, kinds, sizeof kinds, &last);
    assert_int_equal(last.kind, JSON_END);
}

static struct json_token first_token(const char *text) {
    struct json_reader reader;
    json_reader_init(&reader, text, strlen(text));
    return json_next(&reader);
}

static void check_unescape(const char *text, const char *expected, size_t n) {
    struct json_token token = first_token(text);
    char out[256];
    assert_int_equal(token.kind, JSON_STRING);
    size_t length = json_unescape(&token, out);
    assert_true(length <= token.length);
    assert_int_equal(length, n);
    assert_memory_equal(out, expected, n);

    char own[256]; /* and in its own place */
    snprintf(own, sizeof own, "%s", text);
    token = first_token(own);
    assert_int_equal(json_unescape(&token, own + 1), n);
    assert_memory_equal(own + 1, expected, n);
}

static void test_unescape(void **state) {
    (void)state;
    check_unescape("\"plain\"", "plain", 5);
    check_unescape("\"\"", "", 0);
    check_unescape("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    check_unescape("\"\\u0041\\u00e9\\u20ac\\u0000x\"", "A\xc3\xa9\xe2\x82\xac\0x", 8);
    check_unescape("\"\\ud83d\\uDE00\"", "\xf0\x9f\x98\x80", 4);
    check_unescape("\"\\ud83d\"", "\xef\xbf\xbd", 3);
    check_unescape("\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    check_unescape("\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4);
    check_unescape("\"\\ud83d\\u0041\"",
                   "\xef\xbf\xbd"
                   "A",
                   4);
    check_unescape("\"\xe2\x82\xac\\n\"", "\xe2\x82\xac\n", 4);
}

static void test_equals(void **state) {
    (void)state;
    struct json_token token = first_token("\"rating\"");
    assert_true(json_equals(&token, "rating"));
    assert_false(json_equals(&token, "ratin"));
    assert_false(json_equals(&token, "ratings"));
    token = first_token("\"r\\u0061ting\"");
    assert_true(json_equals(&token, "rating"));
    assert_false(json_equals(&token, "ratin"));
    assert_false(json_equals(&token, "ratings"));
    assert_false(json_equals(&token, "rxting"));
    token = first_token("\"\\u20ac\"");
    assert_true(json_equals(&token, "\xe2\x82\xac"));
    assert_false(json_equals(&token, "\xe2\x82"));
    assert_false(json_equals(&token, ""));
    char word[300];
    memset(word, 'a', 299);
    word[299] = '\0';
    assert_false(json_equals(&token, word));
}

static void test_tokens_carry_their_text(void **state) {
    (void)state;
    const char *text = " {\"k\" : -12.5e3 }";
    struct json_reader reader;
    json_reader_init(&reader, text, strlen(text));
    assert_int_equal(json_next(&reader).offset, 1);
    struct json_token token = json_next(&reader);
    assert_int_equal(token.kind, JSON_KEY);
    assert_int_equal(token.offset, 2);
    assert_int_equal(token.length, 1);
    assert_ptr_equal(token.text, text + 3);
    token = json_next(&reader);
    assert_int_equal(token.offset, 8);
    assert_int_equal(token.length, 7);
    double value;
    assert_int_equal(number_parse_double(token.text, token.length, &value), NUMBER_OK);
    assert_true(value == -12500);
}

static void test_skip(void **state) {
    (void)state;
    const char *text = "{\"a\":[1,{\"b\":[]},\"x\"],\"c\":2,\"d\":{}}";
    struct json_reader reader;
    json_reader_init(&reader, text, strlen(text));
    json_next(&reader);
    assert_true(json_skip(&reader, json_next(&reader))); /* by its key */
    struct json_token token = json_next(&reader);
    assert_true(json_equals(&token, "c"));
    assert_true(json_skip(&reader, json_next(&reader))); /* by its value */
    token = json_next(&reader);
    assert_true(json_equals(&token, "d"));
    assert_true(json_skip(&reader, json_next(&reader)));
    assert_int_equal(json_next(&reader).kind, JSON_OBJECT_END);
    assert_int_equal(json_next(&reader).kind, JSON_END);

    json_reader_init(&reader, "[1,[2,", 6);
    assert_false(json_skip(&reader, json_next(&reader)));
    json_reader_init(&reader, "{\"a\":x}", 7);
    json_next(&reader);
    assert_false(json_skip(&reader, json_next(&reader)));
    json_reader_init(&reader, text, strlen(text));
    assert_true(json_skip(&reader, json_next(&reader))); /* all of it */
    assert_int_equal(json_next(&reader).kind, JSON_END);
}

/* Every cut of a text is an error; every changed byte is an error or still ends properly. */
static void test_damage(void **state) {
    (void)state;
    const char *text = "{\"a\\u00e9\":[1,-2.5e3,true,null],\"b\":{\"c\":\"\xe2\x82\xac\\n\"}}";
    size_t n = strlen(text);
    char *copy = malloc(n), kinds[256], out[256];
    struct json_token last;
    for (size_t cut = 0; cut < n; cut++) {
        char *short_text =
            malloc(cut ? cut : 1); /* memory of its own, so that reading past it shows */
        memcpy(short_text, text, cut);
        read_kinds(short_text, cut, kinds, sizeof kinds, &last);
        assert_int_equal(last.kind, JSON_ERROR);
        assert_true(last.offset <= cut);
        free(short_text);
    }
    for (size_t at = 0; at < n; at++)
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, text, n);
            copy[at] = (char)byte;
            struct json_reader reader;
            json_reader_init(&reader, copy, n);
            do {
                last = json_next(&reader);
                if (last.kind == JSON_STRING || last.kind == JSON_KEY) json_unescape(&last, out);
            } while (last.kind != JSON_END && last.kind != JSON_ERROR);
        }
    free(copy);
}

/* ---- the writer ------------------------------------------------------------------------------ */

static void check_text(struct dpmf_json *json, const char *expected) {
    size_t length;
    const char *text = dpmf_json_text(json, &length);
    assert_non_null(text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    dpmf_json_free(json);
}

static void test_write(void **state) {
    (void)state;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "s", "a\"b\\c\n\x01/\x7f");
    dpmf_json_string(json, "none", NULL);
    dpmf_json_int(json, "i", INT64_MIN);
    dpmf_json_uint(json, "u", UINT64_MAX);
    dpmf_json_double(json, "d", 0.1);
    dpmf_json_double(json, "nan", NAN);
    dpmf_json_double(json, "inf", -INFINITY);
    dpmf_json_bool(json, "t", true);
    dpmf_json_begin_array(json, "a");
    dpmf_json_bool(json, NULL, false);
    dpmf_json_null(json, NULL);
    dpmf_json_begin_object(json, NULL);
    dpmf_json_end_object(json);
    dpmf_json_begin_array(json, NULL);
    dpmf_json_end_array(json);
    dpmf_json_double(json, NULL, -0.0);
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    check_text(json, "{\"s\":\"a\\\"b\\\\c\\n\\u0001/\x7f\",\"none\":null,"
                     "\"i\":-9223372036854775808,\"u\":18446744073709551615,\"d\":0.1,"
                     "\"nan\":null,\"inf\":null,\"t\":true,\"a\":[false,null,{},[],-0]}");
}

static void test_write_what_is_not_utf8(void **state) {
    (void)state;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_bytes(json, NULL, "a\xff\xe2\x82\xac\xe2\x82\0z", 9);
    check_text(json, "\"a\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\\u0000z\"");
}

enum mistake {
    KEY_IN_ARRAY,
    NO_KEY,
    KEY_AT_TOP,
    TWO_AT_TOP,
    WRONG_END,
    END_TOO_MANY,
    TOO_DEEP,
    N_MISTAKES
};

static void test_mistakes_are_kept(void **state) {
    (void)state;
    for (int mistake = 0; mistake < N_MISTAKES; mistake++) {
        struct dpmf_json *json = dpmf_json_new();
        switch ((enum mistake)mistake) {
        case KEY_IN_ARRAY:
            dpmf_json_begin_array(json, NULL);
            dpmf_json_int(json, "k", 1);
            break;
        case NO_KEY:
            dpmf_json_begin_object(json, NULL);
            dpmf_json_int(json, NULL, 1);
            break;
        case KEY_AT_TOP: dpmf_json_int(json, "k", 1); break;
        case TWO_AT_TOP:
            dpmf_json_int(json, NULL, 1);
            dpmf_json_int(json, NULL, 1);
            break;
        case WRONG_END:
            dpmf_json_begin_array(json, NULL);
            dpmf_json_end_object(json);
            break;
        case END_TOO_MANY: dpmf_json_end_array(json); break;
        case TOO_DEEP:
            for (int i = 0; i < 100; i++) dpmf_json_begin_array(json, NULL);
            break;
        case N_MISTAKES: break;
        }
        assert_null(dpmf_json_text(json, NULL));
        dpmf_json_begin_object(json, NULL); /* and stay */
        dpmf_json_end_object(json);
        assert_null(dpmf_json_text(json, NULL));
        dpmf_json_free(json);
    }
    dpmf_json_free(NULL);
    dpmf_json_int(NULL, NULL, 1);
    assert_null(dpmf_json_text(NULL, NULL));
}

static void test_text_so_far(void **state) {
    (void)state;
    struct dpmf_json *json = dpmf_json_new();
    size_t length;
    assert_string_equal(dpmf_json_text(json, &length), "");
    dpmf_json_begin_array(json, NULL);
    dpmf_json_int(json, NULL, 1);
    assert_string_equal(dpmf_json_text(json, NULL), "[1");
    dpmf_json_int(json, NULL, 2);
    dpmf_json_end_array(json);
    check_text(json, "[1,2]");
}

/* Any bytes, written, read and unescaped: the same, as long as they were UTF-8. */
static void test_strings_round_trip(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 1, 2, 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[64], out[512];
        size_t n = random_below(&stream, 40);
        for (size_t b = 0; b < n; b++) bytes[b] = (char)random_below(&stream, i % 2 ? 128 : 256);
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_bytes(json, NULL, bytes, n);
        size_t length;
        const char *text = dpmf_json_text(json, &length);
        struct json_reader reader;
        json_reader_init(&reader, text, length);
        struct json_token token = json_next(&reader);
        assert_int_equal(token.kind, JSON_STRING);
        assert_int_equal(json_next(&reader).kind, JSON_END);
        size_t back = json_unescape(&token, out);
        if (i % 2) {
            assert_int_equal(back, n);
            assert_memory_equal(out, bytes, n);
        }
        dpmf_json_free(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_unescape),
        cmocka_unit_test(test_equals),
        cmocka_unit_test(test_tokens_carry_their_text),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_what_is_not_utf8),
        cmocka_unit_test(test_mistakes_are_kept),
        cmocka_unit_test(test_text_so_far),
        cmocka_unit_test(test_strings_round_trip),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

/*
 * Which ids a format can hold, and how it spells them: against the readers themselves, so that an
 * id of the wishes means whom the ratings mean by it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "store/id_form.h"
#include "store/store.h"
#include "temp_dir.h"

enum { TEXT_MAX = 64 };

/* "[a][b]", or why not. */
static const char *spell(const struct id_form *form, const char *text, size_t n,
                         char out[4 * TEXT_MAX]) {
    struct id_text ids[ID_SPELLINGS];
    const char *why = NULL;
    int code = 0;
    size_t count = id_form_spell(form, text, n, ids, &code, &why), at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(out + at, 4 * TEXT_MAX - at, "[%.*s]", (int)ids[i].n, ids[i].text);
    if (count > 0) return out;
    assert_true(code < 0 && why);
    return why;
}

static void test_spelling(void **state) {
    (void)state;
    static const struct {
        const char *format, *id, *means;
    } cases[] = {
        {"csv", "0001", "[0001]"},
        {"csv", " ann ", "[ ann ]"},
        {"csv", "a::b\t,|", "[a::b\t,|]"},
        {"csv", "\xff\xfe", "[\xff\xfe]"},
        {"csv", "", "the id is empty"},
        {"csv", "a\nb", "the id holds a line feed"},
        {"movielens", "a:b", "[a:b]"},
        {"movielens", "a::b", "the id holds what separates columns in the ratings"},
        {"u.data", "a\tb", "the id holds what separates columns in the ratings"},
        {"netflix", "a,b", "the id holds what separates columns in the ratings"},
        {"yahoo", "a|b", "the id holds what separates columns in the ratings"},
        {"libmf", "0001", "[1]"},
        {"libmf", "+0", "[0]"},
        {"libmf", "9223372036854775807", "[9223372036854775807]"},
        {"libmf", "9223372036854775808",
         "the ids of the ratings are whole numbers, and this is not one"},
        {"libmf", "1.0", "the ids of the ratings are whole numbers, and this is not one"},
        {"matrixmarket", "007", "[7]"},
        {"matrixmarket", "00",
         "the ids of the ratings are whole numbers from 1, and this is not one"},
        {"jsonl", "0001", "[0001][1]"},
        {"jsonl", "1", "[1]"},
        {"jsonl", "1.0", "[1.0][1]"},
        {"jsonl", "-2e2", "[-2e2][-200]"},
        {"jsonl", "1.5", "[1.5]"},
        {"csv", "1.0", "[1.0]"},
        {"jsonl", "\xff", "the id is not UTF-8, as all ids of the ratings are"},
        {"arrays", "0001", "[0001][1]"},
        {"sqlite", "ann", "[ann]"},
        {"of a later version", "+1", "[+1][1]"},
    };
    char out[4 * TEXT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct id_form form = id_form_of_format(cases[i].format);
        assert_string_equal(spell(&form, cases[i].id, strlen(cases[i].id), out), cases[i].means);
    }
    const struct id_form any = id_form_of_format("csv");
    assert_string_equal(spell(&any, "a\0b", 3, out), "the id holds a NUL byte");
    char *longest = calloc(1, STORE_ID_MAX + 2);
    assert_non_null(longest);
    memset(longest, 'x', STORE_ID_MAX + 1);
    struct id_text ids[ID_SPELLINGS];
    const char *why;
    int code;
    assert_int_equal(id_form_spell(&any, longest, STORE_ID_MAX, ids, &code, &why), 1);
    assert_int_equal(id_form_spell(&any, longest, STORE_ID_MAX + 1, ids, &code, &why), 0);
    assert_int_equal(code, DPMF_ERR_INPUT_ID_TOO_LONG);
    free(longest);
}

/* As a column of numbers in Arrow holds them. */
static void test_signed(void **state) {
    static const char none[] = "the ids of the ratings are whole numbers, and this is not one";
    static const struct id_form form = {.takes_whole = true, .is_signed = true};
    static const char *const cases[][2] = {
        {"7", "[7]"},
        {"-007", "[-7]"},
        {"+0", "[0]"},
        {"-00", "[0]"},
        {"18446744073709551615", "[18446744073709551615]"},
        {"-170141183460469231731687303715884105728", "[-170141183460469231731687303715884105728]"},
        {"1000000000000000000000000000000000000000", none},
        {"ann", none},
        {"1.5", none},
        {"1.0", none},
        {"-", none},
        {" 7", none},
    };
    char out[4 * TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(spell(&form, cases[i][0], strlen(cases[i][0]), out), cases[i][1]);
    const struct id_form csv = id_form_of_format("csv"), libmf = id_form_of_format("libmf");
    struct id_form either = id_form_either(&form, &csv);
    assert_string_equal(spell(&either, "-07", 3, out), "[-07][-7]");
    assert_string_equal(spell(&either, "ann", 3, out), "[ann]");
    either = id_form_either(&libmf, &form);
    assert_string_equal(spell(&either, "-07", 3, out), "[-7]");
    assert_string_equal(spell(&either, "ann", 3, out), none);
}

/* As a column of numbers in a database holds them. */
static void test_64_bits(void **state) {
    static const char none[] =
        "the ids of the ratings are whole numbers of 64 bits, and this is not one";
    static const struct id_form form = {.takes_whole = true, .is_signed = true, .is_64 = true};
    static const char *const cases[][2] = {
        {"-007", "[-7]"},
        {"+9223372036854775807", "[9223372036854775807]"},
        {"09223372036854775808", none},
        {"-9223372036854775808", "[-9223372036854775808]"},
        {"-9223372036854775809", none},
        {"10000000000000000000", none},
        {"7.5", none},
    };
    char out[4 * TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(spell(&form, cases[i][0], strlen(cases[i][0]), out), cases[i][1]);
}

/* A column of SQLite that makes numbers of texts leaves blanks around them out. */
static void blanks_around_numbers(void **state) {
    (void)state;
    static const struct id_form form = {
        .takes_text = true, .takes_whole = true, .is_trimmed = true};
    static const char *const wishes[] = {" 7", "7 ", "\t7", " 007 ", " 7.0", " 7e0 "};
    struct id_text ids[ID_SPELLINGS];
    const char *why;
    int code;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        assert_int_equal(id_form_spell(&form, wishes[i], strlen(wishes[i]), ids, &code, &why), 2);
        assert_int_equal(ids[1].n, 1);
        assert_int_equal(ids[1].text[0], '7');
    }
    assert_int_equal(id_form_spell(&form, " ann", 4, ids, &code, &why), 1);
    assert_int_equal(id_form_spell(&form, " ", 1, ids, &code, &why), 1);
}

/* As a file of RecBole holds them whose header declares ids as floats. */
static void test_floats(void **state) {
    static const char none[] =
        "the ids of the ratings are whole numbers below 2^53, and this is not one";
    static const struct id_form form = {.is_float = true};
    static const char *const cases[][2] = {
        {"7", "[7]"},
        {"7.0", "[7]"},
        {"007.", "[7]"},
        {"70e-1", "[7]"},
        {"+7", "[7]"},
        {"-7.00", "[-7]"},
        {"-0.0", "[0]"},
        {"9007199254740991", "[9007199254740991]"},
        {"9007199254740992", none},
        {"9007199254740993", none},
        {"1e16", none},
        {"1e999999999", none},
        {"7.5", none},
        {"7.00000000000000000000000000000000000000000000000001", none},
        {"nan", none},
        {" 7", none},
        {"0x7", none},
        {"ann", none},
    };
    char out[4 * TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(spell(&form, cases[i][0], strlen(cases[i][0]), out), cases[i][1]);
    const struct id_form csv = id_form_of_format("csv"), libmf = id_form_of_format("libmf"),
                         numbers = {.takes_whole = true, .is_signed = true};
    struct id_form either = id_form_either(&form, &csv);
    assert_string_equal(spell(&either, "7.0", 3, out), "[7.0][7]");
    assert_string_equal(spell(&either, "7", 1, out), "[7]");
    assert_string_equal(spell(&either, "ann", 3, out), "[ann]");
    either = id_form_either(&libmf, &form);
    assert_string_equal(spell(&either, "7.0", 3, out), "[7]");
    assert_string_equal(spell(&either, "9007199254740993", 16, out), "[9007199254740993]");
    either = id_form_either(&form, &numbers);
    assert_string_equal(spell(&either, "-7.0", 4, out), "[-7]");
    assert_string_equal(spell(&either, "-9007199254740993", 17, out), "[-9007199254740993]");
    assert_null(strchr(spell(&either, "ann", 3, out), '['));
}

/* As a blank-padded column of a database holds them. */
static void test_padded(void **state) {
    static const struct id_form form = {.takes_text = true, .is_padded = true};
    char out[4 * TEXT_MAX];
    (void)state;
    assert_string_equal(spell(&form, "ann", 3, out), "[ann]");
    assert_string_equal(spell(&form, "ann  ", 5, out), "[ann]");
    assert_string_equal(spell(&form, " a b ", 5, out), "[ a b]");
    assert_string_equal(spell(&form, "007", 3, out), "[007]");
    assert_string_equal(spell(&form, "   ", 3, out), "the id is empty");
    const struct id_form csv = id_form_of_format("csv"), both = id_form_either(&form, &csv);
    assert_string_equal(spell(&both, "ann ", 4, out), "[ann ]");
}

/* As a column of UUIDs in a database or in Parquet holds them: in small letters. */
static void test_uuids(void **state) {
    static const char none[] = "the ids of the ratings are UUIDs, and this is not one";
    static const char same[] = "[0a0b0c0d-0e0f-1011-abcd-00000000000b]";
    static const struct id_form form = {.is_uuid = true},
                                queried = {.is_uuid = true, .takes_text = true};
    static const char *const cases[][2] = {
        {"0a0b0c0d-0e0f-1011-abcd-00000000000b", same},
        {"0A0B0C0D-0E0F-1011-ABCD-00000000000B", same},
        {"{0a0b0c0D-0e0f-1011-aBcD-00000000000b}", same},
        {"0a0b0c0d0e0f1011ABCD00000000000b", same},
        {"0a0b-0c0d-0e0f-1011-abcd-0000-0000-000b", same},
        {"0a0b0c0d-0e0f-1011-abcd-00000000000", none},
        {"0a0b0c0d-0e0f-1011-abcd-00000000000b0", none},
        {"0a0b0c0d-0e0f-1011-abcd-00000000000b-", none},
        {"-0a0b0c0d-0e0f-1011-abcd-00000000000b", none},
        {"0a0b0c0d--0e0f-1011-abcd-00000000000b", none},
        {"0a0b0c-0d0e0f-1011-abcd-00000000000b", none},
        {"{0a0b0c0d-0e0f-1011-abcd-00000000000b", none},
        {"0a0b0c0d-0e0f-1011-abcd-00000000000g", none},
        {"0a0b0c0d-0e0f-1011-abcd-00000000000b ", none},
        {"{}", none},
        {"{", none},
        {"7", none},
    };
    char out[4 * TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(spell(&form, cases[i][0], strlen(cases[i][0]), out), cases[i][1]);
    assert_string_equal(spell(&queried, "ann", 3, out), "[ann]");
    assert_string_equal(spell(&queried, cases[0][0], strlen(cases[0][0]), out), same);
    assert_string_equal(
        spell(&queried, cases[1][0], strlen(cases[1][0]), out),
        "[0A0B0C0D-0E0F-1011-ABCD-00000000000B][0a0b0c0d-0e0f-1011-abcd-00000000000b]");
    const struct id_form csv = id_form_of_format("csv");
    struct id_form either = id_form_either(&csv, &form);
    assert_string_equal(
        spell(&either, cases[1][0], strlen(cases[1][0]), out),
        "[0A0B0C0D-0E0F-1011-ABCD-00000000000B][0a0b0c0d-0e0f-1011-abcd-00000000000b]");
    either = id_form_either(&form, &form);
    assert_string_equal(spell(&either, "ann", 3, out), none);
}

static void test_either(void **state) {
    (void)state;
    char out[4 * TEXT_MAX];
    const struct id_form csv = id_form_of_format("csv"), libmf = id_form_of_format("libmf"),
                         matrix = id_form_of_format("matrixmarket"),
                         colons = id_form_of_format("movielens");
    struct id_form form = id_form_either(&csv, &libmf);
    assert_string_equal(spell(&form, "0001", 4, out), "[0001][1]");
    assert_string_equal(spell(&form, "ann", 3, out), "[ann]");
    form = id_form_either(&libmf, &matrix);
    assert_string_equal(spell(&form, "00", 2, out), "[0]");
    form = id_form_either(&matrix, &matrix);
    assert_true(form.from_one && !form.takes_text);
    form = id_form_either(&colons, &csv);
    assert_string_equal(spell(&form, "a::b", 4, out), "[a::b]");
    form = id_form_either(&colons, &colons);
    assert_null(strchr(spell(&form, "a::b", 4, out), '['));
}

/* ---- against the readers --------------------------------------------------------------------- */

/* One user's rating, in a text of each format; %s is the id. */
static const struct {
    const char *format, *text;
    bool is_float; /* the header declares so */
} samples[] = {
    {"csv", "user,item,rating\n\"%s\",i,3\n", false},
    {"tsv", "user\titem\trating\n%s\ti\t3\n", false},
    {"movielens", "%s::1::3::4\n", false},
    {"u.data", "%s\t1\t3\t4\n", false},
    {"inter", "user_id:token\titem_id:token\trating:float\n%s\ti\t3\n", false},
    {"inter", "user_id:float\titem_id:float\trating:float\n%s\t2.0\t3\n", true},
    {"netflix", "1:\n%s,3,2005-01-01\n", false},
    {"yahoo", "%s|1\n7\t3\n", false},
    {"libmf", "%s 1 3\n", false},
    {"matrixmarket", "%%%%MatrixMarket matrix coordinate real general\n99 9 1\n%s 1 3\n", false},
    {"jsonl", "{\"user\":\"%s\",\"item\":\"i\",\"rating\":3}\n", false},
};

/* The id that the reader makes of the text, in brackets; "" when it makes none. */
static void read_id(const struct temp_dir *dir, const char *format, const char *text,
                    char out[4 * TEXT_MAX]) {
    struct dpmf_input_options options = dpmf_input_options_default();
    struct dpmf_store *store = NULL;
    struct store_raw raw = {0};
    struct store_space space = {0};
    struct store_block block;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "ratings", path);
    temp_dir_write(path, text, strlen(text));
    options.format = format;
    options.skip_bad = true;
    out[0] = '\0';
    if (dpmf_store_open(path, &options, NULL, &store, NULL) != 0) return;
    if (store_n_users(store) > 0) {
        assert_int_equal(store_block_read(store, 0, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_IDS, &space, &block, NULL), 0);
        assert_int_equal(block.n_users, 1);
        snprintf(out, 4 * TEXT_MAX, "[%.*s]", (int)block.id_start[1], block.id_bytes);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
}

/* What a reader makes of an id is among what the wish of that id means; and an id that could not be
 * in the ratings is none that the reader makes. */
static void test_as_the_readers(void **state) {
    static const char *const ids[] = {
        "1",
        "0001",
        "+7",
        "-3",
        "0",
        "00",
        "99",
        "1.0",
        "1e2",
        "ann",
        "a b",
        " ann",
        "ann ",
        "a:b",
        "a::b",
        "a|b",
        "a,b",
        "a\tb",
        "\xc3\xa9",
        "\xff",
        "user",
        "#",
        "%",
        "a;b",
        "'a'",
        "0x10",
        "nan",
        "9223372036854775808",
        "9223372036854775807",
        "9007199254740993",
        "12.50",
        "00000000000000000000000000000000000042",
    };
    const struct temp_dir *dir = *state;
    for (size_t f = 0; f < sizeof samples / sizeof samples[0]; f++) {
        const struct id_form form = samples[f].is_float ? (struct id_form){.is_float = true}
                                                        : id_form_of_format(samples[f].format);
        size_t n_read = 0;
        for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            char text[256], made[4 * TEXT_MAX], means[4 * TEXT_MAX], asked[4 * TEXT_MAX];
            /* NOLINTNEXTLINE: the formats are the table's */
            snprintf(text, sizeof text, samples[f].text, ids[i]);
            read_id(dir, samples[f].format, text, made);
            snprintf(asked, sizeof asked, "[%s]", ids[i]);
            const char *spelled = spell(&form, ids[i], strlen(ids[i]), means);
            n_read += made[0] != '\0';
            bool is_meant = strstr(spelled, made) != NULL;
            bool is_cut = form.without && strstr(ids[i], form.without); /* then it is another's */
            bool is_cut_quoted = strcmp(samples[f].format, "tsv") == 0 && strchr(ids[i], '\t');
            bool is_cut_blank = !form.takes_text && strpbrk(ids[i], " \t");
            if (made[0] && !is_meant && !is_cut && !is_cut_quoted && !is_cut_blank)
                fail_msg("%s: \"%s\" is read as %s, a wish means %s", samples[f].format, ids[i],
                         made, spelled);
            if (made[0] && spelled[0] != '[' && strcmp(made, asked) == 0)
                fail_msg("%s: \"%s\" can be read, and no wish can be of it", samples[f].format,
                         ids[i]);
        }
        assert_true(n_read >= 5);
    }
}

static int set_up(void **state) {
    static struct temp_dir dir;
    temp_dir_make(&dir);
    *state = &dir;
    return 0;
}

static int tear_down(void **state) {
    temp_dir_remove(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling),       cmocka_unit_test(test_signed),
        cmocka_unit_test(test_64_bits),        cmocka_unit_test(blanks_around_numbers),
        cmocka_unit_test(test_floats),         cmocka_unit_test(test_padded),
        cmocka_unit_test(test_uuids),          cmocka_unit_test(test_either),
        cmocka_unit_test(test_as_the_readers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Schemas and footers of Parquet files: every annotation of a column, what is cut off or encrypted,
 * and footers with each of their bits changed.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "parquet_one.h"

/* ---- schemas --------------------------------------------------------------------------------- */

static const char *described(const struct column *column, int64_t *per_second) {
    static const char *is;
    struct arrow_table *table;
    const struct file file = {.column = *column, .page = ONE_PAGE(longs), .n_rows = 3};
    make_file(&file);
    if (parquet_reader_open(path, LIMIT, false, &table, &error) < 0) return error.message;
    is = table->fields[0].type.described;
    *per_second = table->fields[0].type.per_second;
    arrow_table_release(table);
    return is;
}

static void types(void **state) {
    static const char unusual[] = "of an unusual type";
    static const struct {
        struct column column;
        const char *described;
        int64_t per_second;
    } cases[] = {
        {{.physical = PARQUET_INT32}, "whole numbers", 0},
        {{PARQUET_INT32, .sign = 2, .logical = 10}, "whole numbers", 0},
        {{PARQUET_INT64, .sign = 1, .logical = 10}, "whole numbers", 0},
        {{PARQUET_INT64, .converted = 15}, "whole numbers", 0},
        {{PARQUET_INT64, .converted = 19}, "whole numbers", 0},
        {{PARQUET_INT64, .converted = 99}, "whole numbers", 0},
        {{PARQUET_INT32, .logical = 6}, "dates", 0},
        {{PARQUET_INT64, .logical = 6}, unusual, 0},
        {{PARQUET_INT64, .converted = 7}, unusual, 0},
        {{PARQUET_INT64, .logical = 7}, "times of day", 0},
        {{PARQUET_INT32, .converted = 8}, "times of day", 0},
        {{PARQUET_INT64, .converted = 9}, "times of day", 0},
        {{PARQUET_INT64, .logical = 8, .unit = 1}, "timestamps", 1000},
        {{PARQUET_INT64, .logical = 8, .unit = 2}, "timestamps", 1000000},
        {{PARQUET_INT64, .logical = 8, .unit = 3}, "timestamps", 1000000000},
        {{PARQUET_INT64, .logical = 8, .unit = 4}, unusual, 0},
        {{PARQUET_INT64, .logical = 8}, unusual, 0},
        {{PARQUET_INT32, .logical = 8, .unit = 1}, unusual, 0},
        {{PARQUET_INT64, .converted = 10}, "timestamps", 1000},
        {{PARQUET_INT64, .converted = 11}, "timestamps", 1000000},
        {{PARQUET_INT32, .logical = 11}, "a column of nulls", 0},
        {{PARQUET_INT64, .logical = 11}, unusual, 0},
        {{PARQUET_INT64, .logical = 1}, unusual, 0},
        {{PARQUET_INT64, .logical = 10, .is_union_whole = true}, "whole numbers", 0},
        {{PARQUET_INT64, .logical = 5, .annotated_scale = 2}, "decimal numbers", 0},
        {{.physical = PARQUET_BOOLEAN}, "truth values", 0},
        {{.physical = PARQUET_INT96}, "timestamps", 1},
        {{.physical = PARQUET_BYTE_ARRAY}, "text", 0},
        {{PARQUET_BYTE_ARRAY, .converted = 1}, "text", 0},
        {{PARQUET_BYTE_ARRAY, .converted = 5}, "text", 0},
        {{PARQUET_BYTE_ARRAY, .converted = 20}, "text", 0},
        {{PARQUET_BYTE_ARRAY, .converted = 21}, "text", 0},
        {{PARQUET_BYTE_ARRAY, .converted = 6}, "decimals of any length", 0},
        {{PARQUET_BYTE_ARRAY, .logical = 14}, unusual, 0},
        {{PARQUET_FIXED, 16, .logical = 14}, "text", 0},
        {{PARQUET_FIXED, 15, .logical = 14}, "bytes of a fixed length", 0},
        {{PARQUET_FIXED, 2, .logical = 15}, "real numbers", 0},
        {{PARQUET_FIXED, 4, .logical = 15}, "bytes of a fixed length", 0},
        {{PARQUET_FIXED, 33, .logical = 5}, "bytes of a fixed length", 0},
        {{PARQUET_FIXED, -1, .logical = 5}, "bytes of a fixed length", 0},
        {{PARQUET_FIXED, 12, .converted = 22}, "intervals", 0},
        {{PARQUET_INT32, .repetition = 2}, "a list", 0},
        {{PARQUET_INT32, .repetition = 2, .converted = 2}, "a map", 0},
        {{PARQUET_INT32, .repetition = 2, .converted = 4}, "a list", 0},
        {{PARQUET_INT32, .repetition = 3}, "the schema is damaged", 0},
        {{PARQUET_INT32, .repetition = -1}, "the schema is damaged", 0},
        {{.physical = PARQUET_PHYSICALS}, "the schema is damaged", 0},
        {{.physical = -1}, "the schema is damaged", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t per_second = 0;
        const char *is = described(&cases[i].column, &per_second);
        if (strcmp(is, cases[i].described) != 0 || per_second != cases[i].per_second)
            fail_msg("case %zu: %s", i, is);
    }
}

/* Whole numbers without a sign, by either annotation. */
static void signs(void **state) {
    static const struct {
        struct column column;
        enum arrow_kind kind;
    } cases[] = {
        {{PARQUET_INT32, .logical = 10, .sign = 2}, ARROW_UINT32},
        {{PARQUET_INT64, .logical = 10, .sign = 2}, ARROW_UINT64},
        {{PARQUET_INT64, .logical = 10, .sign = 1}, ARROW_INT64},
        {{PARQUET_INT32, .converted = 12}, ARROW_UINT32},
        {{PARQUET_INT64, .converted = 15}, ARROW_UINT64},
        {{PARQUET_INT32, .converted = 16}, ARROW_INT32},
        {{PARQUET_INT64, .converted = 19}, ARROW_INT64},
        {{PARQUET_INT64, .converted = 23}, ARROW_INT64},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arrow_table *table;
        const struct file file = {.column = cases[i].column, .page = ONE_PAGE(longs), .n_rows = 3};
        make_file(&file);
        assert_int_equal(parquet_reader_open(path, LIMIT, false, &table, &error), 0);
        assert_int_equal(table->fields[0].type.kind, cases[i].kind);
        arrow_table_release(table);
    }
}

/* ---- footers --------------------------------------------------------------------------------- */

static void footers(void **state) {
    (void)state;
    make_file(&long_file);
    memcpy(made.bytes + made.n - 4, "PARE", 4);
    write_made();
    assert_int_equal(read_path(LIMIT, false), DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, "the file is encrypted");
    make_file(&long_file);
    assert_int_equal(read_path(10, false), DPMF_ERR_USAGE_MEMORY);
    assert_string_equal(error.message, "the footer takes 1 MiB, more than a sixteenth of {memory}");
    bytes_put_u32(made.bytes + made.n - 8, (uint32_t)made.n);
    write_made();
    assert_int_equal(read_path(LIMIT, false), DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, "the footer is damaged");
    assert_true(parquet_has_magic("PARE", 4));
    assert_true(parquet_has_magic("PAR1", 4));
    assert_false(parquet_has_magic("PAR1", 3));
    assert_false(parquet_has_magic("PAR2", 4));
}

/* Every byte of a footer, with every bit of it changed: read as it is, or refused. */
static void spoiled_footers(void **state) {
    (void)state;
    make_file(&long_file);
    const struct parquet_made good = made;
    const size_t footer = good.n - 8 - bytes_get_u32(good.bytes + good.n - 8);
    for (size_t i = footer; i < good.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            made.bytes[i] = (uint8_t)(good.bytes[i] ^ 1 << bit);
            write_made();
            const int code = read_path(LIMIT, false);
            assert_true(code == 0 || code == DPMF_ERR_INPUT_PARQUET ||
                        code == DPMF_ERR_USAGE_MEMORY);
            made.bytes[i] = good.bytes[i];
        }
}

static void no_files(void **state) {
    struct arrow_table *table;
    (void)state;
    assert_int_equal(parquet_reader_open("/nonexistent/t.parquet", LIMIT, false, &table, &error),
                     DPMF_ERR_IO_MISSING);
    assert_int_equal(parquet_reader_open(dir.path, LIMIT, false, &table, &error),
                     DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, "a Parquet file cannot be read from a pipe");
}

/* A file that is cut off while it is read. */
static void cut_while_read(void **state) {
    struct arrow_table *table;
    struct arrow_batch *batch;
    (void)state;
    for (int cut = 4; cut < 60; cut++) {
        make_file(&long_file);
        assert_int_equal(parquet_reader_open(path, LIMIT, false, &table, &error), 0);
        assert_int_equal(truncate(path, cut), 0);
        table->chosen[0] = 0;
        int code = table->ops->next(table, &batch, &error);
        if (code == 1) {
            code = batch->load(batch, &error);
            arrow_batch_release(batch);
        }
        arrow_table_release(table);
        if (code == 0) break; /* what is cut off was read before */
        assert_int_equal(code, DPMF_ERR_INPUT_PARQUET);
        assert_string_equal(error.message, "the Parquet file is cut off");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),    cmocka_unit_test(signs),
        cmocka_unit_test(footers),  cmocka_unit_test(spoiled_footers),
        cmocka_unit_test(no_files), cmocka_unit_test(cut_while_read),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

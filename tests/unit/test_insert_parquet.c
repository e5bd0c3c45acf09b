/*
 * Nothing that one person wrote decides how another person's record is read out of a Parquet file:
 * a row of whatever its columns can hold is inserted anywhere, the file has other row groups and
 * pages, some of plain values and some by a dictionary, and everyone else's ratings must stay
 * the same bit for bit, as the reader gives them and as a private run packs them. With
 * DPMF_TEST_LONG there are 100,000 rows.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "insert_made.h"
#include "insert_packed.h"
#include "insert_record.h"
#include "insert_rows.h"
#include "parquet_made.h"
#include "temp_dir.h"

enum {
    UTF8 = 1, /* the older annotations, and one more, as parquet_made.h has them */
    DECIMAL = 6,
    DATE = 7,
    MILLISECONDS = 10,
    MICROSECONDS = 11,
    UNSIGNED_64 = 15,
    PACKED = 60,
    PACKED_LONG = 4200 /* of each table: of a file, of a store and of shards in turn */
};

/* Users, items, ratings and times, of every type that there is for each. */
static const struct parquet_made_column tables[][PARQUET_MADE_COLUMNS] = {
    {{.name = "user", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8},
     {.name = "item", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8},
     {.name = "rating", .physical = PARQUET_DOUBLE},
     {.name = "timestamp", .physical = PARQUET_INT64}},
    {{.name = "user", .physical = PARQUET_INT64},
     {.name = "item", .physical = PARQUET_INT32},
     {.name = "rating", .physical = PARQUET_FLOAT},
     {.name = "timestamp", .physical = PARQUET_INT64, .converted = MILLISECONDS}},
    {{.name = "user", .physical = PARQUET_FIXED, .fixed_bytes = 16, .is_uuid = true},
     {.name = "item", .physical = PARQUET_BYTE_ARRAY},
     {.name = "rating", .physical = PARQUET_INT32, .converted = DECIMAL, .scale = 1},
     {.name = "timestamp", .physical = PARQUET_INT96}},
    {{.name = "user", .physical = PARQUET_DOUBLE},
     {.name = "item", .physical = PARQUET_FLOAT},
     {.name = "rating", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8},
     {.name = "timestamp", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8}},
    {{.name = "user", .physical = PARQUET_INT64, .converted = UNSIGNED_64},
     {.name = "item", .physical = PARQUET_FIXED, .converted = DECIMAL, .fixed_bytes = 5},
     {.name = "rating", .physical = PARQUET_INT64},
     {.name = "timestamp", .physical = PARQUET_INT32, .converted = DATE}},
    {{.name = "user", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8, .is_required = true},
     {.name = "item", .physical = PARQUET_INT64, .is_required = true},
     {.name = "rating", .physical = PARQUET_FLOAT, .is_required = true},
     {.name = "timestamp",
      .physical = PARQUET_INT64,
      .converted = MICROSECONDS,
      .is_required = true}},
    {{.name = "user", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8},
     {.name = "item", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8},
     {.name = "plays", .physical = PARQUET_INT32},
     {.name = "time", .physical = PARQUET_DOUBLE}},
    {{.name = "user", .physical = PARQUET_BYTE_ARRAY, .converted = UTF8, .is_required = true},
     {.name = "item", .physical = PARQUET_INT64}},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- values ---------------------------------------------------------------------------------- */

static void set_bytes(struct parquet_made_value *value, const void *bytes, size_t n) {
    value->n = (uint32_t)n;
    memcpy(value->bytes, bytes, n);
}

/* A whole number in the type of a column. */
static void set_whole(struct parquet_made_value *value, const struct parquet_made_column *column,
                      int64_t whole) {
    const int32_t narrow = (int32_t)whole;
    const float single = (float)whole;
    const double real = (double)whole;
    char text[32];
    switch (column->physical) {
    case PARQUET_INT32: set_bytes(value, &narrow, 4); return;
    case PARQUET_INT64: set_bytes(value, &whole, 8); return;
    case PARQUET_FLOAT: set_bytes(value, &single, 4); return;
    case PARQUET_DOUBLE: set_bytes(value, &real, 8); return;
    case PARQUET_BYTE_ARRAY:
        set_bytes(value, text, (size_t)sprintf(text, "%lld", (long long)whole));
        return;
    default:
        value->n = (uint32_t)(column->physical == PARQUET_INT96 ? 12 : column->fixed_bytes);
        memset(value->bytes, 0, value->n);
        if (column->physical == PARQUET_INT96) bytes_put_u32(value->bytes + 8, 2440588 + 7);
        value->bytes[column->physical == PARQUET_INT96 ? 0 : value->n - 1] = (uint8_t)whole;
    }
}

/* Row i of someone who is not the one who is inserted: three users, a good row each. */
static void make_other(const struct parquet_made_column *column, int role, int i,
                       struct parquet_made_value *value) {
    char text[16];
    memset(value, 0, sizeof *value);
    value->is_null = role == 3 && i % 2 && !column->is_required;
    if (role <= 1 && column->physical == PARQUET_BYTE_ARRAY)
        set_bytes(value, text,
                  (size_t)(role == 0 ? sprintf(text, "base%d", i % 3)
                                     : sprintf(text, "%c", "abc"[i / 2])));
    else
        set_whole(value, column,
                  role == 0   ? 101 + i % 3
                  : role == 1 ? 7 + i / 2
                  : role == 2 ? (column->scale ? 10 : 1) * (1 + i % 5)
                              : 1000 + i);
}

static const uint64_t ends[] = {0,
                                UINT64_MAX,
                                INT64_MAX,
                                (uint64_t)INT64_MIN,
                                INT32_MAX,
                                UINT64_C(0x80000000),
                                UINT64_C(0x7ff0000000000000),
                                UINT64_C(0xfff8000000000000),
                                UINT64_C(0x7f800000),
                                UINT64_C(0x7fc00000),
                                UINT64_C(0x4340000000000000),
                                UINT64_C(0x3fe0000000000000)};

/* Whatever the column can hold. */
static void make_any(const struct parquet_made_column *column, int role, uint64_t *random,
                     struct parquet_made_value *value) {
    char text[INSERT_LINE_MAX];
    memset(value, 0, sizeof *value);
    if (!column->is_required && below(random, 8) == 0) {
        value->is_null = true;
    } else if (below(random, 4) == 0 && role > 0) {
        set_whole(value, column, (int64_t)below(random, 12));
    } else if (column->physical != PARQUET_BYTE_ARRAY) {
        set_whole(value, column, 0);
        for (uint32_t i = 0; i < value->n; i++) value->bytes[i] = (uint8_t)draw(random);
        if (value->n <= 8 && below(random, 2))
            memcpy(value->bytes, &ends[below(random, sizeof ends / sizeof ends[0])], value->n);
    } else if (below(random, 2)) {
        set_bytes(value, text, make_special(random, text));
    } else {
        value->n = (uint32_t)below(random, 40);
        for (uint32_t i = 0; i < value->n; i++) value->bytes[i] = (uint8_t)draw_byte(random);
        if (below(random, 16) == 0) value->zeros = (uint32_t)below(random, 70000);
    }
}

/* The others' rows, with one before the `place`-th, INSERT_LINES + 1: without. */
static void make_table(size_t t, size_t place, uint64_t *random, struct parquet_made_table *table) {
    memcpy(table->column, tables[t], sizeof table->column);
    table->n_columns = table->n_rows = 0;
    while (table->n_columns < PARQUET_MADE_COLUMNS && table->column[table->n_columns].name)
        table->n_columns++;
    for (int i = 0; i <= INSERT_LINES; i++) {
        const bool is_new = (size_t)i == place;
        for (int c = 0; is_new && c < table->n_columns; c++)
            make_any(&table->column[c], c, random, &table->value[table->n_rows][c]);
        table->n_rows += is_new;
        for (int c = 0; i < INSERT_LINES && c < table->n_columns; c++)
            make_other(&table->column[c], c, i, &table->value[table->n_rows][c]);
        table->n_rows += i < INSERT_LINES;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct temp_dir directory;
static char path[40]; /* of a file in memory */
static int file = -1;

/* Writes the table to `path`, cut as `random` says. */
static void write_file(size_t t, size_t place, uint64_t *random) {
    static struct parquet_made_table table;
    static struct parquet_made made;
    make_table(t, place, random, &table);
    parquet_made_file(&made, &table, random);
    assert_int_equal(ftruncate(file, (off_t)made.n), 0);
    assert_int_equal(pwrite(file, made.bytes, made.n, 0), made.n);
}

static void the_reader_reads_each_row_by_itself(void **state) {
    static struct insert_records base, with;
    const clock_t begun = clock();
    const uint64_t n_cases = cases() / TABLES;
    uint64_t own = 0;
    (void)state;
    for (size_t t = 0; t < TABLES; t++) {
        uint64_t random = t;
        write_file(t, INSERT_LINES + 1, &random);
        assert_true(read_rows(path, &base));
        assert_int_equal(base.count, INSERT_LINES);
        for (uint64_t c = 0; c < n_cases; c++) {
            random = (uint64_t)t << 32 | c;
            const size_t place = below(&random, INSERT_LINES + 1);
            write_file(t, place, &random);
            assert_true(read_rows(path, &with));
            insert_expect_others(&base, place, &with);
            own += with.count - base.count;
        }
    }
    assert_true(own > n_cases / 4 && own < n_cases * (TABLES - 1)); /* some parse, some do not */
    tell_speed("Parquet", n_cases * TABLES, begun);
}

/* ---- what a private run sees ----------------------------------------------------------------- */

enum way { BY_FILE, BY_STORE, BY_SHARDS, WAYS };

static void pack_file(enum way way, struct packed *packed) {
    struct dpmf_input_options options = dpmf_input_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct temp_dir shards = {"shards"};
    struct dpmf_store *store = NULL;
    const char *input = path;
    options.by_record = options.skip_bad = true;
    run.threads = 1; /* for a few rows, to begin others would take most of the time */
    if (way == BY_FILE) {
        assert_int_equal(dpmf_store_open(path, &options, &run, &store, NULL), 0);
    } else {
        assert_int_equal(dpmf_import(&input, 1, "out.dpr", &options, &run, NULL, NULL), 0);
        assert_int_equal(dpmf_store_open("out.dpr", NULL, &run, &store, NULL), 0);
    }
    if (way == BY_SHARDS) {
        struct dpmf_store *whole = store;
        assert_int_equal(dpmf_store_shard(whole, shards.path, 2, &run, NULL, NULL), 0);
        dpmf_store_close(whole);
        assert_int_equal(dpmf_store_open(shards.path, NULL, &run, &store, NULL), 0);
    }
    pack(store, packed);
    dpmf_store_close(store);
    if (way == BY_SHARDS) temp_dir_remove(&shards);
}

static void private_runs_see_the_same_of_others(void **state) {
    static struct packed base[WAYS], with;
    const clock_t begun = clock();
    const uint64_t n_cases = is_long() ? PACKED_LONG : PACKED;
    (void)state;
    for (size_t t = 0; t < TABLES; t++) {
        uint64_t random = t;
        for (int way = 0; way < WAYS; way++) {
            write_file(t, INSERT_LINES + 1, &random);
            pack_file((enum way)way, &base[way]);
            assert_int_equal(base[way].n, 3);
        }
        for (uint64_t c = 0; c < n_cases; c++) {
            const enum way way = (enum way)(c % WAYS);
            random = ~((uint64_t)t << 32 | c);
            write_file(t, below(&random, INSERT_LINES + 1), &random);
            pack_file(way, &with);
            expect_others(&base[way], &with);
        }
    }
    tell_speed("private runs of Parquet", n_cases * TABLES, begun);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int enter_directory(void **state) {
    static const char catalogue[] = "item\na\nb\nc\n7\n8\n9\n";
    (void)state;
    /* What is packed is flushed: in memory that takes no time. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    temp_dir_make(&directory);
    file = memfd_create("parquet", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || chdir(directory.path) != 0) return -1;
    temp_dir_write("catalogue", catalogue, strlen(catalogue));
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    close(file);
    temp_dir_remove(&directory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_reads_each_row_by_itself),
        cmocka_unit_test(private_runs_see_the_same_of_others),
    };
    return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}

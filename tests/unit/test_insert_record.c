/*
 * Nothing that one person wrote decides how another person's record is read: lines are made up and
 * inserted anywhere among the records of every layout that a private run accepts, and everyone
 * else's ratings must stay the same bit for bit, as the readers give them (insert_record.h), and as
 * a private run gets them out of a store, out of shards and out of databases. With DPMF_TEST_LONG
 * there are 100,000 lines for each reader.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "insert_made.h"
#include "insert_packed.h"
#include "insert_record.h"
#include "insert_rows.h"
#include "ratings/postgres_copy.h"
#include "temp_dir.h"

enum {
    PACKED = 51,
    PACKED_LONG = 4200 /* of each reader: 100,000 of all, in each of the three ways in turn */
};

/* ---- lines, made up -------------------------------------------------------------------------- */

/* Longer than a record may be, with whatever in it. */
static size_t make_long(uint64_t *state, char *line) {
    size_t n = INSERT_RECORD_MAX - 2 + below(state, 3 * INSERT_RECORD_MAX);
    memset(line, draw_byte(state), n);
    for (size_t i = 0; i < 6; i++) line[below(state, n)] = draw_byte(state);
    return n;
}

/* A good line with some bytes changed, left out or put in. */
static size_t make_mutant(uint64_t *state, const char *good, char *line) {
    size_t n = strlen(good);
    memcpy(line, good, n);
    for (size_t changes = 1 + below(state, 4); changes > 0; changes--) {
        size_t at = below(state, n + 1), way = below(state, 3);
        if (way == 0 && at < n) line[at] = draw_byte(state);
        if (way == 1 && at < n) memmove(line + at, line + at + 1, --n - at);
        if (way == 2) {
            memmove(line + at + 1, line + at, n++ - at);
            line[at] = draw_byte(state);
        }
    }
    return n;
}

static size_t make_line(uint64_t *state, const struct insert_reader *reader, char *line) {
    size_t n;
    switch (below(state, 8)) {
    case 0: return make_special(state, line);
    case 1: return make_long(state, line);
    case 2:
        n = below(state, 40);
        for (size_t i = 0; i < n; i++) line[i] = draw_byte(state);
        return n;
    default: return make_mutant(state, reader->line[below(state, INSERT_LINES)], line);
    }
}

/* ---- readers --------------------------------------------------------------------------------- */

static void readers_read_each_line_by_itself(void **state) {
    (void)state;
    for (size_t r = 0; r < INSERT_READERS; r++) {
        const clock_t begun = clock();
        for (uint64_t c = 0; c < cases(); c++) {
            uint64_t random = r << 32 | c;
            char line[INSERT_LINE_MAX];
            size_t n = make_line(&random, &insert_readers[r], line);
            size_t chunk_size = below(&random, 2) ? 0 : 1 + below(&random, INSERT_RECORD_MAX);
            insert_record_check(&insert_readers[r], below(&random, INSERT_LINES + 1), line, n,
                                chunk_size);
        }
        tell_speed(insert_readers[r].name, cases(), begun);
    }
}

/* ---- what a private run sees ----------------------------------------------------------------- */

enum way { BY_TEXT, BY_STORE, BY_SHARDS, WAYS };

static void pack_text(const struct insert_reader *reader, const struct insert_text *text,
                      enum way way, struct packed *packed) {
    const struct dpmf_input_options options = insert_options(reader);
    const char *input = "in";
    struct dpmf_run run = dpmf_run_default();
    struct temp_dir shards = {"shards"};
    struct dpmf_store *store = NULL;
    run.threads = 1; /* for a few lines, to begin others would take most of the time */
    temp_dir_write(input, text->bytes, text->n);
    if (way != BY_TEXT) {
        assert_int_equal(dpmf_import(&input, 1, "out.dpr", &options, &run, NULL, NULL), 0);
        assert_int_equal(dpmf_store_open("out.dpr", NULL, &run, &store, NULL), 0);
    } else {
        assert_int_equal(dpmf_store_open(input, &options, &run, &store, NULL), 0);
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

/* Whether the line is of someone who is among the others already: they may change their own
 * ratings. */
static bool is_of_another(const struct insert_reader *reader, const char *line, size_t n) {
    static struct insert_records own;
    const struct insert_records *base = insert_base(reader);
    unsigned length = 0, other = 0;
    insert_read_alone(reader, line, n, &own);
    if (own.count == 0) return false;
    const char *id = memchr(own.bytes, ' ', own.n);
    for (int i = 0; i < 3; i++) id = (const char *)memchr(id + 1, ' ', own.n);
    sscanf(own.bytes, "%u", &length);
    for (size_t i = 0; i < base->count; i++) {
        const char *record = base->bytes + base->start[i], *its = record;
        for (int k = 0; k < 4; k++) its = strchr(its, ' ') + 1;
        sscanf(record, "%u", &other);
        if (other == length && memcmp(its, id + 1, length) == 0) return true;
    }
    return false;
}

static void private_runs_see_the_same_of_others(void **state) {
    (void)state;
    static struct insert_text text;
    static struct packed base[WAYS], with;
    const clock_t begun = clock();
    const uint64_t n_cases = is_long() ? PACKED_LONG : PACKED;
    for (size_t r = 0; r < INSERT_READERS; r++) {
        const struct insert_reader *reader = &insert_readers[r];
        insert_text_make(reader, 0, NULL, 0, &text);
        for (int way = 0; way < WAYS; way++) {
            pack_text(reader, &text, (enum way)way, &base[way]);
            assert_true(base[way].n >= 3);
        }
        for (uint64_t c = 0; c < n_cases; c++) {
            uint64_t random = ~(r << 32 | c);
            enum way way = (enum way)(c % WAYS);
            char line[INSERT_LINE_MAX];
            size_t n = make_line(&random, reader, line);
            if (is_of_another(reader, line, n)) continue;
            insert_text_make(reader, below(&random, INSERT_LINES + 1), line, n, &text);
            pack_text(reader, &text, way, &with);
            expect_others(&base[way], &with);
        }
    }
    tell_speed("private runs", n_cases * INSERT_READERS, begun);
}

/* ---- a database ------------------------------------------------------------------------------ */

/* Layouts of ratings, of events with counts, and of events without. */
static const struct {
    const char *columns, *rows[INSERT_LINES];
} tables[] = {
    {"column1 AS user, column2 AS item, column3 AS rating, column4 AS time",
     {"'ann','a',5,10", "2,'a',3,NULL", "'ann','b',-0.0,'2005-09-06'", "'cleo','c','1e0',7",
      "'dan','a',4.5,9", "2,'b',2,1"}},
    {"column1 AS user, column2 AS item, column3 AS plays, column4 AS time",
     {"'ann','a',5,10", "2,'a',3,NULL", "'ann','b',1.0,'2005-09-06'", "'cleo','c','1e0',7",
      "'dan','a',4,9", "2,'b',2,1"}},
    {"column1 AS user, column2 AS item",
     {"'ann','a',5,10", "2,'a',3,NULL", "'ann','b',0,0", "'cleo','c',0,7", "'user','a',4,9",
      "2,'b',2,1"}},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* A value of any type: whatever is in it. */
static size_t make_value(uint64_t *state, char *sql) {
    static const char *const values[] = {"NULL",
                                         "1.5",
                                         "-0.0",
                                         "9e999",
                                         "9223372036854775807",
                                         "'mallory'",
                                         "'n/a'",
                                         "'soon'",
                                         "''",
                                         "zeroblob(70000)",
                                         "3",
                                         "hex(zeroblob(40000))",
                                         "'\"'"};
    char bytes[24], *at = sql;
    size_t n = below(state, sizeof bytes);
    if (below(state, 2)) {
        const char *value = values[below(state, sizeof values / sizeof values[0])];
        return (size_t)sprintf(sql, "%s", value);
    }
    for (size_t i = 0; i < n; i++) bytes[i] = draw_byte(state);
    at += sprintf(at, "CAST(x'");
    for (size_t i = 0; i < n; i++) at += sprintf(at, "%02x", (unsigned)(unsigned char)bytes[i]);
    at += sprintf(at, below(state, 3) ? "' AS TEXT)" : "' AS BLOB)");
    return (size_t)(at - sql);
}

/* The address of a query that returns the rows, with the inserted one before the `place`-th; NULL:
 * without. */
static void make_address(size_t table, size_t place, const char *inserted, char *address) {
    const char *between = "";
    address +=
        sprintf(address, "sqlite:empty.db?query=SELECT %s FROM (VALUES ", tables[table].columns);
    for (size_t i = 0; i <= INSERT_LINES; i++) {
        if (inserted && i == place) {
            address += sprintf(address, "%s(%s)", between, inserted);
            between = ",";
        }
        if (i == INSERT_LINES) break;
        address += sprintf(address, "%s(%s)", between, tables[table].rows[i]);
        between = ",";
    }
    sprintf(address, ")");
}

/* @return false without SQLite */
static bool check_rows(size_t table, uint64_t n_cases) {
    static struct insert_records base, with;
    static char address[8192];
    make_address(table, 0, NULL, address);
    if (!read_rows(address, &base)) return false;
    assert_int_equal(base.count, INSERT_LINES);
    for (uint64_t c = 0; c < n_cases; c++) {
        uint64_t random = c ^ UINT64_C(0xdb) << 56;
        char inserted[1000], *at = inserted;
        size_t place = below(&random, INSERT_LINES + 1);
        for (int i = 0; i < 4; i++) {
            at += make_value(&random, at);
            at += sprintf(at, i < 3 ? "," : "");
        }
        make_address(table, place, inserted, address);
        assert_true(read_rows(address, &with));
        insert_expect_others(&base, place, &with);
    }
    return true;
}

static void rows_are_read_by_themselves(void **state) {
    (void)state;
    const clock_t begun = clock();
    temp_dir_write("empty.db", "", 0);
    for (size_t t = 0; t < TABLES; t++)
        if (!check_rows(t, cases() / TABLES)) skip();
    tell_speed("SQLite", cases(), begun);
}

/* ---- rows as PostgreSQL sends them ----------------------------------------------------------- */

enum { COPY_MAX = 16384 };

struct copy_rows {
    uint8_t bytes[COPY_MAX];
    size_t n;
};

static void put_number(struct copy_rows *rows, uint64_t number, int size) {
    for (int i = size - 1; i >= 0; i--) rows->bytes[rows->n++] = (uint8_t)(number >> (8 * i));
}

static void put_bytes(struct copy_rows *rows, const void *bytes, size_t n) {
    put_number(rows, n, 4);
    memcpy(rows->bytes + rows->n, bytes, n);
    rows->n += n;
}

/* As numeric_send has it, whatever the number is. */
static void put_numeric(struct copy_rows *rows, uint64_t *state) {
    static const uint16_t signs[] = {0, 0, 0x4000, 0xc000, 0xd000, 0xf000};
    const uint16_t sign = signs[below(state, sizeof signs / sizeof signs[0])];
    const size_t n = sign < 0xc000 ? below(state, 6) : 0;
    put_number(rows, 8 + 2 * n, 4);
    put_number(rows, n, 2);
    put_number(rows, below(state, 3) ? below(state, 4) : draw(state), 2);
    put_number(rows, sign, 2);
    put_number(rows, 0, 2);
    for (size_t i = 0; i < n; i++) put_number(rows, below(state, 10000), 2);
}

/* A value of a type, as a server can send it. */
static void put_any(struct copy_rows *rows, enum copy_type type, uint64_t *state) {
    static const int sizes[] = {
        [COPY_INT2] = 2,   [COPY_INT4] = 4, [COPY_INT8] = 8,     [COPY_FLOAT4] = 4,
        [COPY_FLOAT8] = 8, [COPY_DATE] = 4, [COPY_TIMESTAMP] = 8};
    static const uint64_t ends[] = {0,
                                    UINT64_MAX,
                                    INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    INT32_MAX,
                                    UINT64_C(0x7ff0000000000000),
                                    UINT64_C(0x80000000)};
    char text[INSERT_LINE_MAX];
    if (below(state, 8) == 0) {
        put_number(rows, UINT32_MAX, 4); /* NULL */
    } else if (type == COPY_TEXT) {
        const bool is_special = below(state, 4) > 0;
        size_t n = is_special ? make_special(state, text) : below(state, 40);
        if (!is_special) memset(text, 'x', n); /* the same bytes in every run */
        for (size_t i = 0; i < n && below(state, 2); i++)
            text[i] = below(state, 4) ? draw_byte(state) : '\n';
        put_bytes(rows, text, n);
    } else if (type == COPY_NUMERIC) {
        put_numeric(rows, state);
    } else {
        put_number(rows, (uint64_t)sizes[type], 4);
        put_number(rows,
                   below(state, 2) ? ends[below(state, sizeof ends / sizeof ends[0])] : draw(state),
                   sizes[type]);
    }
}

/* A row of someone who is not the one who is inserted. */
static void put_other(struct copy_rows *rows, const struct copy_layout *layout, int i) {
    put_number(rows, layout->n_fields, 2);
    for (int role = 0; role < COLUMN_ROLES; role++) {
        const double rating = i % 5 + 0.5;
        uint64_t bits;
        char text[32];
        if (layout->field[role] < 0) continue;
        memcpy(&bits, &rating, sizeof bits);
        switch (layout->type[role]) {
        case COPY_TEXT:
            sprintf(text,
                    role == COLUMN_RATING ? "%d.5"
                    : role == COLUMN_TIME ? "%d"
                                          : "base%d",
                    i % 5);
            put_bytes(rows, text, strlen(text));
            break;
        case COPY_NUMERIC:
            put_number(rows, 10, 4);
            put_number(rows, UINT64_C(0x10000) << 32, 8);
            put_number(rows, (uint64_t)(i % 5), 2);
            break;
        case COPY_FLOAT8:
            put_number(rows, 8, 4);
            put_number(rows, bits, 8);
            break;
        case COPY_INT4:
            put_number(rows, 4, 4);
            put_number(rows, (uint64_t)(i % 5 + 1), 4);
            break;
        default: put_number(rows, 8, 4); put_number(rows, (uint64_t)(i % 3), 8);
        }
    }
}

/* Ratings of texts and of other types, and events with a count and without. */
static const struct copy_layout copies[] = {
    {4, {0, 1, 2, 3}, {COPY_TEXT, COPY_TEXT, COPY_TEXT, COPY_TEXT}, {1, 2, 3, 4}},
    {4, {0, 1, 2, 3}, {COPY_INT8, COPY_TEXT, COPY_NUMERIC, COPY_TIMESTAMP}, {1, 2, 3, 4}},
    {3, {0, 1, 2, -1}, {COPY_INT4, COPY_INT8, COPY_FLOAT8, COPY_TEXT}, {1, 2, 3, 0}},
    {4, {0, 1, 2, 3}, {COPY_TEXT, COPY_INT4, COPY_INT4, COPY_INT8}, {1, 2, 3, 4}},
    {2, {0, 1, -1, -1}, {COPY_TEXT, COPY_TEXT, COPY_TEXT, COPY_TEXT}, {1, 2, 0, 0}},
};

enum { COPIES = sizeof copies / sizeof copies[0] };

static void read_copy(const struct copy_layout *layout, const struct copy_rows *rows,
                      struct insert_records *out) {
    static struct record_batch batch;
    static struct database_numbers numbers;
    struct dpmf_input_options options = dpmf_input_options_default();
    options.by_record = options.skip_bad = true;
    out->n = out->count = 0;
    batch.take = insert_take;
    batch.self = out;
    batch.options = &options;
    batch.counts = layout == &copies[COPIES - 2] || layout == &copies[COPIES - 1];
    record_batch_begin(&batch);
    postgres_copy_parse(layout, rows->bytes, rows->n, &numbers, &batch);
    assert_int_equal(record_batch_end(&batch), 0);
}

static void check_copies(const struct copy_layout *layout, uint64_t n_cases) {
    static struct insert_records base, with;
    static struct copy_rows rows;
    rows.n = 0;
    for (int i = 0; i < INSERT_LINES; i++) put_other(&rows, layout, i);
    read_copy(layout, &rows, &base);
    assert_int_equal(base.count, INSERT_LINES);
    for (uint64_t c = 0; c < n_cases; c++) {
        uint64_t random = c ^ (uint64_t)layout->n_fields << 56 ^ (uint64_t)layout->type[0] << 48;
        const size_t place = below(&random, INSERT_LINES + 1);
        rows.n = 0;
        for (size_t i = 0; i <= INSERT_LINES; i++) {
            if (i == place) {
                put_number(&rows, layout->n_fields, 2);
                for (int role = 0; role < COLUMN_ROLES; role++)
                    if (layout->field[role] >= 0) put_any(&rows, layout->type[role], &random);
            }
            if (i < INSERT_LINES) put_other(&rows, layout, (int)i);
        }
        read_copy(layout, &rows, &with);
        insert_expect_others(&base, place, &with);
    }
}

static void rows_of_a_server_are_read_by_themselves(void **state) {
    (void)state;
    const clock_t begun = clock();
    for (size_t i = 0; i < COPIES; i++) check_copies(&copies[i], cases() / COPIES);
    tell_speed("PostgreSQL", cases(), begun);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct temp_dir directory;

static const char *const catalogue_text =
    "item\na\nb\nb:c\nc\n\"c\"\"d\"\n\"c,d\"\n7\n8\n9\nrating\n";

static int enter_directory(void **state) {
    (void)state;
    /* What is packed is flushed: in memory that takes no time. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    temp_dir_make(&directory);
    int failed = chdir(directory.path);
    temp_dir_write("catalogue", catalogue_text, strlen(catalogue_text));
    return failed;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_read_each_line_by_itself),
        cmocka_unit_test(private_runs_see_the_same_of_others),
        cmocka_unit_test(rows_are_read_by_themselves),
        cmocka_unit_test(rows_of_a_server_are_read_by_themselves),
    };
    return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}

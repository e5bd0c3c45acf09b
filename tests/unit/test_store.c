/*
 * The store: what is written is read back exactly, for every encoding of values; a file cut at any
 * byte or with any bit flipped is refused; the stream delivers blocks in order and can be left.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "random/random.h"
#include "store/store.h"
#include "store/store_format.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- a made-up set of blocks ----------------------------------------------------------------- */

enum { N_ITEMS = 3000, MAX_RATINGS = 200000 };

struct made_block {
    struct store_block block;
    uint64_t start[STORE_BLOCK_USERS + 1], id_start[STORE_BLOCK_USERS + 1];
    char ids[STORE_BLOCK_USERS * 16];
    uint32_t item[MAX_RATINGS];
    double value[MAX_RATINGS];
    int64_t time[MAX_RATINGS];
};

/* `n_values` distinct values, 0 for real numbers, -1 for real numbers that fit a float. */
static struct made_block *make_block(uint64_t first_user, uint32_t n_users, int n_values,
                                     bool has_times, uint64_t seed) {
    struct made_block *made = calloc(1, sizeof *made);
    assert_non_null(made);
    struct random_stream random;
    random_stream_init(&random, seed, 1, first_user);
    uint64_t n = 0, bytes = 0;
    for (uint32_t u = 0; u < n_users; u++) {
        made->start[u] = n;
        made->id_start[u] = bytes;
        bytes +=
            (uint64_t)sprintf(made->ids + bytes, "u%llu", (unsigned long long)(first_user + u));
        uint64_t count = 1 + random_below(&random, 150), item = 0;
        for (uint64_t r = 0; r < count; r++, n++) {
            item += 1 + random_below(&random, r % 7 == 0 ? 40 : 4);
            made->item[n] = (uint32_t)item - 1;
            double value = random_gaussian(&random) * 1e3;
            if (n_values > 0) value = (double)random_below(&random, (uint64_t)n_values) / 2 - 7;
            if (n_values < 0) value = (double)(float)value;
            made->value[n] = value;
            made->time[n] =
                random_below(&random, 10) == 0 ? STORE_NO_TIME : (int64_t)random_u64(&random);
        }
    }
    made->start[n_users] = n;
    made->id_start[n_users] = bytes;
    made->block = (struct store_block){
        .first_user = first_user,
        .n_users = n_users,
        .n_ratings = n,
        .start = made->start,
        .item = made->item,
        .value = made->value,
        .time = has_times ? made->time : NULL,
        .id_bytes = made->ids,
        .id_start = made->id_start,
    };
    return made;
}

/* A dictionary whose counts are those of the blocks. */
static void write_store(const char *to, struct made_block *const *made, size_t n_blocks,
                        bool has_times) {
    static char ids[N_ITEMS][12];
    static struct store_item items[N_ITEMS];
    for (size_t i = 0; i < N_ITEMS; i++)
        items[i] = (struct store_item){ids[i], (uint32_t)sprintf(ids[i], "item %zu", i), 0};
    struct store_writer *writer;
    struct dpmf_error error = {0};
    assert_int_equal(store_writer_open(&writer, to, has_times, NULL, &error), 0);
    struct store_encoded encoded = {0};
    for (size_t b = 0; b < n_blocks; b++) {
        for (uint64_t r = 0; r < made[b]->block.n_ratings; r++) items[made[b]->item[r]].n_ratings++;
        assert_int_equal(store_block_encode(&made[b]->block, has_times, &encoded, &error), 0);
        assert_int_equal(store_writer_append(writer, &encoded, &error), 0);
    }
    store_encoded_free(&encoded);
    assert_int_equal(store_writer_finish(writer, items, N_ITEMS, &error), 0);
    assert_int_equal(store_writer_commit(writer, NULL, &error), 0);
}

/* What is taken off value32 is 0, or the middle where that is far from 0 for the ratings' range. */
static double expected_base(const struct dpmf_store *store) {
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    double middle = info.min / 2 + info.max / 2, half = info.max / 2 - info.min / 2;
    double base = store_base(store);
    if (fmax(fabs(info.min), fabs(info.max)) <= 128 * half)
        assert_true(base == 0);
    else
        assert_true(fabs(base - middle) <= half + fabs(middle) * 1e-15);
    return base;
}

static void expect_same_block(const struct dpmf_store *store, const struct store_block *got,
                              const struct store_block *made, bool has_times) {
    const double base = expected_base(store);
    assert_int_equal(got->first_user, made->first_user);
    assert_int_equal(got->n_users, made->n_users);
    assert_int_equal(got->n_ratings, made->n_ratings);
    size_t n = (size_t)made->n_ratings, users = (size_t)made->n_users + 1;
    assert_memory_equal(got->start, made->start, users * 8);
    assert_memory_equal(got->item, made->item, n * 4);
    assert_memory_equal(got->value, made->value, n * 8);
    for (size_t r = 0; r < n; r++) assert_true(got->value32[r] == (float)(made->value[r] - base));
    if (has_times)
        assert_memory_equal(got->time, made->time, n * 8);
    else
        assert_null(got->time);
    assert_memory_equal(got->id_start, made->id_start, users * 8);
    assert_memory_equal(got->id_bytes, made->id_bytes, made->id_start[made->n_users]);
}

enum { EVERYTHING = STORE_WANT_VALUE | STORE_WANT_VALUE32 | STORE_WANT_TIME | STORE_WANT_IDS };

static void test_round_trip(void **state) {
    (void)state;
    const int n_values[] = {1, 2, 3, 4, 5, 10, 16, 17, 100, 256, 257, 0, -1};
    for (size_t v = 0; v < sizeof n_values / sizeof n_values[0]; v++) {
        for (int has_times = 0; has_times < 2; has_times++) {
            struct made_block *made[3] = {
                make_block(0, 1024, n_values[v], has_times, 1),
                make_block(1024, 1, n_values[v], has_times, 2),
                make_block(1025, 77, n_values[v], has_times, 3),
            };
            write_store(path, made, 3, has_times);
            struct dpmf_store *store;
            struct dpmf_error error = {0};
            assert_int_equal(store_open_file(path, &store, &error), 0);
            assert_int_equal(store_n_users(store), 1102);
            assert_int_equal(store_n_items(store), N_ITEMS);
            assert_int_equal(store_has_times(store), has_times);
            struct store_raw raw = {0};
            struct store_space space = {0};
            for (uint64_t b = 0; b < 3; b++) {
                struct store_block block;
                assert_int_equal(store_block_read(store, b, &raw, &error), 0);
                assert_int_equal(
                    store_block_decode(store, &raw, EVERYTHING, &space, &block, &error), 0);
                expect_same_block(store, &block, &made[b]->block, has_times);
                free(made[b]);
            }
            struct store_item item = store_item_at(store, 2999);
            assert_memory_equal(item.id, "item 2999", item.id_length);
            free(raw.buffer.bytes);
            store_space_free(&space);
            dpmf_store_close(store);
        }
    }
}

static void test_is_private(void **state) {
    (void)state;
    struct made_block *made = make_block(0, 3, 5, false, 1);
    write_store(path, &made, 1, false);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    free(made);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Opens and reads everything. @return 0 or the first error's code */
static int read_whole(const char *file) {
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    int code = store_open_file(file, &store, &error);
    if (code < 0) {
        assert_int_equal(error.code, code);
        assert_true(error.message[0] && error.hint[0]);
        return code;
    }
    struct store_raw raw = {0};
    struct store_space space = {0};
    for (uint64_t b = 0; b < store_n_blocks(store) && code == 0; b++) {
        struct store_block block;
        code = store_block_read(store, b, &raw, &error);
        if (code == 0) code = store_block_decode(store, &raw, EVERYTHING, &space, &block, &error);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
    return code;
}

/* A store small enough to try every cut and every bit. The dictionary is large, so a file of its
 * own. */
static uint8_t *small_store(size_t *n) {
    struct store_writer *writer;
    struct store_encoded encoded = {0};
    const uint64_t start[] = {0, 2, 3}, id_start[] = {0, 3, 5};
    const uint32_t item[] = {0, 2, 1};
    const double value[] = {1, 4.5, 3};
    const int64_t time[] = {10, STORE_NO_TIME, 30};
    const struct store_block block = {.n_users = 2,
                                      .n_ratings = 3,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .time = time,
                                      .id_bytes = "annbo",
                                      .id_start = id_start};
    const struct store_item items[] = {{"x", 1, 1}, {"yy", 2, 1}, {"zzz", 3, 1}};
    assert_int_equal(store_writer_open(&writer, path, true, NULL, NULL), 0);
    assert_int_equal(store_block_encode(&block, true, &encoded, NULL), 0);
    assert_int_equal(store_writer_append(writer, &encoded, NULL), 0);
    assert_int_equal(store_writer_finish(writer, items, 3, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    store_encoded_free(&encoded);
    assert_int_equal(read_whole(path), 0);
    return (uint8_t *)temp_dir_read(path, n);
}

static void test_cut_anywhere(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = small_store(&n);
    for (size_t cut = 0; cut < n; cut++) {
        temp_dir_write(path, bytes, cut);
        assert_int_not_equal(read_whole(path), 0);
    }
    uint8_t *longer = malloc(n + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, n);
    longer[n] = 0;
    temp_dir_write(path, longer, n + 1);
    assert_int_not_equal(read_whole(path), 0);
    free(longer);
    free(bytes);
}

static void test_any_bit_flipped(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = small_store(&n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        temp_dir_write(path, bytes, n);
        assert_int_not_equal(read_whole(path), 0);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
}

static void test_newer_version(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = small_store(&n);
    bytes_put_u32(bytes + 8, STORE_VERSION + 1);
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write(path, bytes, n);
    assert_int_equal(read_whole(path), DPMF_ERR_STORE_VERSION);
    bytes_put_u32(bytes + 8, STORE_VERSION);
    bytes_put_u32(bytes + 12, STORE_FLAG_HALF); /* of which split is not said */
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write(path, bytes, n);
    assert_int_equal(read_whole(path), DPMF_ERR_STORE_CORRUPT);
    bytes_put_u32(bytes + 12, 16); /* a feature from the future */
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write(path, bytes, n);
    assert_int_equal(read_whole(path), DPMF_ERR_STORE_VERSION);
    free(bytes);
}

/* Hostile files: every checksum right, the contents wrong. Every byte of the payload is replaced
 * and the block's checksum made anew: reading must fail or succeed, never go out of bounds. */
static void test_hostile_payload(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = small_store(&n);
    size_t payload = (size_t)bytes_get_u64(bytes + STORE_HEADER_BYTES + 24);
    uint8_t *block = bytes + STORE_HEADER_BYTES;
    for (size_t i = 0; i < STORE_BLOCK_HEADER + payload; i++) {
        for (int value = 0; value < 256; value += 5) {
            uint8_t old = block[i];
            block[i] = (uint8_t)value;
            bytes_put_u64(block + STORE_BLOCK_HEADER + payload,
                          checksum64(block, STORE_BLOCK_HEADER + payload));
            temp_dir_write(path, bytes, n);
            read_whole(path);
            block[i] = old;
        }
    }
    free(bytes);
}

/* An index that does not say where the block is and what it holds is refused when the store is
 * opened, before anything relies on it. */
static void test_hostile_index(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = small_store(&n);
    uint8_t *entry = bytes + n - STORE_END_BYTES - STORE_CHECKSUM - STORE_INDEX_ENTRY;
    assert_int_equal(bytes_get_u64(entry), STORE_HEADER_BYTES); /* the one block's offset */
    for (size_t at = 0; at < STORE_INDEX_ENTRY; at += 8) {
        const uint64_t right = bytes_get_u64(entry + at);
        const uint64_t wrong[] = {right - 1, right + 1, right + 1000, 0, UINT64_MAX, right};
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            struct dpmf_store *store = NULL;
            bytes_put_u64(entry + at, wrong[i]);
            bytes_put_u64(entry + STORE_INDEX_ENTRY, checksum64(entry, STORE_INDEX_ENTRY));
            temp_dir_write(path, bytes, n);
            const int wanted = wrong[i] == right ? 0 : DPMF_ERR_STORE_CORRUPT;
            const int code = store_open_file(path, &store, NULL);
            if (code != wanted) fail_msg("field %zu, case %zu: %d", at / 8, i, code);
            dpmf_store_close(store);
        }
    }
    free(bytes);
}

static void test_not_a_store(void **state) {
    (void)state;
    temp_dir_write(path, "user,item,rating\n1,2,3\n", 23);
    assert_int_equal(read_whole(path), DPMF_ERR_STORE_NOT_A_STORE);
    temp_dir_write(path, "", 0);
    assert_int_equal(read_whole(path), DPMF_ERR_STORE_NOT_A_STORE);
    assert_int_equal(read_whole("/nonexistent/x.dpr"), DPMF_ERR_IO_MISSING);
    assert_int_equal(read_whole("/tmp"), DPMF_ERR_IO_DIRECTORY);
}

/* ---- visit ----------------------------------------------------------------------------------- */

enum { MANY_BLOCKS = 40 };

static struct dpmf_store *open_many_blocks(void) {
    struct made_block *made[MANY_BLOCKS];
    for (uint32_t b = 0; b < MANY_BLOCKS; b++) made[b] = make_block(b * 50, 50, 5, false, b);
    write_store(path, made, MANY_BLOCKS, false);
    for (size_t b = 0; b < MANY_BLOCKS; b++) free(made[b]);
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    return store;
}

struct visit_check {
    uint64_t next_user, ratings;
};

struct visit_product {
    uint64_t first_user, n_users, n_ratings;
};

static int visit_one(void *self, int worker, const struct store_block *block, void *product,
                     struct dpmf_error *error) {
    (void)self, (void)worker, (void)error;
    *(struct visit_product *)product =
        (struct visit_product){block->first_user, block->n_users, block->n_ratings};
    return 0;
}

static int finish_one(void *self, void *product, struct dpmf_error *error) {
    struct visit_check *check = self;
    struct visit_product *visited = product;
    (void)error;
    assert_int_equal(visited->first_user, check->next_user);
    check->next_user += visited->n_users;
    check->ratings += visited->n_ratings;
    return 0;
}

static int cancel_at_once(void *self, const struct dpmf_progress *progress) {
    (void)self, (void)progress;
    return 1;
}

static void test_visit(void **state) {
    (void)state;
    struct dpmf_store *store = open_many_blocks();
    for (int threads = 1; threads < 5; threads++) {
        struct dpmf_run run = dpmf_run_default();
        run.threads = threads;
        struct visit_product products[16];
        void *pointers[16];
        for (int i = 0; i < 16; i++) pointers[i] = &products[i];
        struct visit_check check = {0};
        struct store_visitor visitor = {.phase = "reading",
                                        .visit = visit_one,
                                        .finish = finish_one,
                                        .self = &check,
                                        .products = pointers,
                                        .n_products = 16};
        assert_int_equal(store_visit(store, &visitor, &run, NULL), 0);
        assert_int_equal(check.ratings, store_n_ratings(store));
        run.progress = cancel_at_once;
        check = (struct visit_check){0};
        assert_int_equal(store_visit(store, &visitor, &run, NULL), DPMF_ERR_BASE_CANCELLED);
    }
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_is_private),
        cmocka_unit_test(test_cut_anywhere),  cmocka_unit_test(test_any_bit_flipped),
        cmocka_unit_test(test_newer_version), cmocka_unit_test(test_hostile_payload),
        cmocka_unit_test(test_hostile_index), cmocka_unit_test(test_not_a_store),
        cmocka_unit_test(test_visit),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

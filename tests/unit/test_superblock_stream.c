/*
 * The stream of superblocks: what is taken is what was put back last, whether in memory or through
 * slots; failed reads and writes reach who takes and who ends; and nobody waits for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>

#include "cache_shapes.h"
#include "store/store.h"
#include "temp_dir.h"
#include "train/superblock_stream.h"

enum { USERS = 300, K = 16, EPOCHS = 3 };

static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

static int make_store(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = USERS;
    options.items = 100;
    options.ratings = 5000;
    return dpmf_synth(path, &options, NULL, NULL, NULL);
}

static int remove_store(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* A stream with all that it stands on. */
struct fixture {
    struct dpmf_store *store;
    struct tiling *tiling;
    size_t stride, n;
    float *rows; /* in memory */
    float biases[USERS + TILING_SPARE_ROWS];
    struct row_store users;
    struct superblock_stream *stream;
};

static void set_up(struct fixture *f, bool streamed, size_t slots) {
    memset(f, 0, sizeof *f);
    const struct kernel_set *kernels = kernel_set_choose("ref");
    const struct tiling_options options = {
        .kernels = kernels,
        .caches = test_caches(),
        .k = K,
        .threads = 1,
        .lanes = 1,
        .memory_whole = streamed ? 0 : 1 << 30,
        .memory_streamed = 1 << 28,
        .memory_build = 1 << 30,
        .slots = slots,
    };
    assert_int_equal(store_open_file(path, &f->store, NULL), 0);
    assert_int_equal(tiling_build(f->store, &options, NULL, &f->tiling, NULL), 0);
    assert_int_equal(tiling_is_streamed(f->tiling), streamed);
    f->n = tiling_n_superblocks(f->tiling);
    assert_true(f->n > slots);
    f->stride = kernels->stride(K);
    f->rows = calloc(USERS + TILING_SPARE_ROWS, f->stride * sizeof(float));
    assert_non_null(f->rows);
    if (streamed)
        assert_int_equal(row_store_open(&f->users, path, USERS, f->stride, NULL), 0);
    else
        f->users = row_store_of(f->rows, USERS, f->stride);
    assert_int_equal(
        superblock_stream_init(&f->stream, f->tiling, &f->users, f->biases, slots, NULL), 0);
}

static void tear_down(struct fixture *f) {
    superblock_stream_free(f->stream);
    row_store_close(&f->users);
    tiling_free(f->tiling);
    dpmf_store_close(f->store);
    free(f->rows);
}

/* Something that depends on what was there before and on which user it is. */
static void change(struct fixture *f, const struct superblock_view *view) {
    uint64_t first, n;
    tiling_superblock_users(f->tiling, view->superblock, &first, &n);
    assert_true((view->chunks == NULL) != (view->packed == NULL));
    for (uint64_t i = 0; i < n; i++) {
        view->biases[i] = view->biases[i] * 3 + (float)(first + i);
        for (size_t x = 0; x < K; x++) {
            float *at = &view->rows[i * f->stride + x];
            *at = *at * 2 + (float)(first + i + x);
        }
    }
}

static void run_epoch(struct fixture *f, uint32_t epoch, size_t first, size_t at_once) {
    struct superblock_view views[8];
    assert_int_equal(superblock_stream_begin(f->stream, epoch, first, NULL), 0);
    for (size_t s = first; s < f->n; s += at_once) {
        size_t m = f->n - s < at_once ? f->n - s : at_once;
        for (size_t i = m; i-- > 0;) { /* the later ones first */
            assert_int_equal(superblock_stream_epochs(f->stream, s + i), epoch);
            assert_int_equal(superblock_stream_take(f->stream, s + i, &views[i], NULL), 0);
            assert_int_equal(views[i].superblock, s + i);
        }
        for (size_t i = 0; i < m; i++) {
            change(f, &views[i]);
            superblock_stream_give_back(f->stream, &views[i]);
        }
    }
    assert_int_equal(superblock_stream_end(f->stream, NULL), 0);
    for (size_t s = 0; s < f->n; s++)
        assert_int_equal(superblock_stream_epochs(f->stream, s), epoch + 1);
}

static void test_same_bits(void **state) {
    (void)state;
    struct fixture memory, disk;
    set_up(&memory, false, 2);
    for (uint32_t e = 0; e < EPOCHS; e++) run_epoch(&memory, e, e == 1 ? 3 : 0, 1);
    for (size_t slots = 2; slots <= 5; slots++) {
        set_up(&disk, true, slots);
        for (uint32_t e = 0; e < EPOCHS; e++) run_epoch(&disk, e, e == 1 ? 3 : 0, slots - 1);
        float *rows = malloc(USERS * disk.stride * sizeof(float));
        assert_non_null(rows);
        assert_ptr_equal(row_store_look(&disk.users, 0, USERS, rows, NULL), rows);
        assert_memory_equal(rows, memory.rows, USERS * disk.stride * sizeof(float));
        assert_memory_equal(disk.biases, memory.biases, USERS * sizeof(float));
        free(rows);
        tear_down(&disk);
    }
    tear_down(&memory);
}

static void test_failed_read(void **state) {
    (void)state;
    struct fixture f;
    struct superblock_view view;
    struct dpmf_error error;
    set_up(&f, true, 2);
    assert_int_equal(ftruncate(f.users.file, 1000), 0);
    assert_int_equal(superblock_stream_begin(f.stream, 0, 0, NULL), 0);
    int code = 0;
    for (size_t s = 0; s < f.n && code == 0; s++) {
        code = superblock_stream_take(f.stream, s, &view, &error);
        if (code == 0) superblock_stream_give_back(f.stream, &view);
    }
    assert_int_equal(code, DPMF_ERR_IO_READ);
    assert_int_equal(error.code, DPMF_ERR_IO_READ);
    assert_int_equal(superblock_stream_end(f.stream, &error), DPMF_ERR_IO_READ);
    tear_down(&f);
}

static void test_failed_write(void **state) {
    (void)state;
    struct fixture f;
    struct superblock_view view;
    struct dpmf_error error;
    set_up(&f, true, 2);
    int full = open("/dev/zero", O_RDONLY); /* can be read, cannot be written */
    assert_true(full >= 0 && dup2(full, f.users.file) >= 0);
    close(full);
    assert_int_equal(superblock_stream_begin(f.stream, 0, 0, NULL), 0);
    int code = 0;
    for (size_t s = 0; s < f.n && code == 0; s++) {
        code = superblock_stream_take(f.stream, s, &view, &error);
        if (code == 0) superblock_stream_give_back(f.stream, &view);
    }
    assert_int_equal(code, DPMF_ERR_IO_WRITE);
    assert_int_equal(superblock_stream_end(f.stream, &error), DPMF_ERR_IO_WRITE);
    tear_down(&f);
}

static void *wait_for_the_last(void *argument) {
    struct fixture *f = argument;
    struct superblock_view view;
    struct dpmf_error error;
    assert_int_equal(superblock_stream_take(f->stream, f->n - 1, &view, &error),
                     DPMF_ERR_BASE_CANCELLED);
    return NULL;
}

/* The last one never comes, for nobody gives anything back. */
static void test_cancel(void **state) {
    (void)state;
    struct fixture f;
    struct superblock_view view;
    pthread_t thread;
    set_up(&f, true, 2);
    assert_int_equal(superblock_stream_begin(f.stream, 0, 0, NULL), 0);
    assert_int_equal(superblock_stream_take(f.stream, 0, &view, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_the_last, &f), 0);
    superblock_stream_cancel(f.stream);
    pthread_join(thread, NULL);
    assert_int_equal(superblock_stream_end(f.stream, NULL), 0);

    /* and in the middle, with everything as it happens to be */
    assert_int_equal(superblock_stream_begin(f.stream, 0, 0, NULL), 0);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_failed_read),
        cmocka_unit_test(test_failed_write),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, make_store, remove_store);
}

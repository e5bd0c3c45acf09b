/*
 * What every user of a store has rated: each is met once, in the store's order and with the ratings
 * that a search for that user alone finds, over many blocks; who takes them may end it; damage is
 * told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint_make.h"
#include "recommend/model.h"
#include "store_triples.h"
#include "temp_dir.h"

enum { ITEMS = 40, PEOPLE = 2500 /* several blocks */, EACH = 3 };

struct fixture {
    struct temp_dir dir;
    struct dpmf_model *model;
    struct dpmf_store *store;
    char path[TEMP_PATH_MAX];
};

/* Every tenth rated one item that the model does not know, every hundredth none that it does. */
static void write_people(const char *path) {
    struct triples triples = {0};
    char user[16], item[16];
    for (int p = 0; p < PEOPLE; p++)
        for (int r = 0; r < EACH; r++) {
            bool is_unknown = (p % 10 == 0 && r == 0) || p % 100 == 0;
            snprintf(user, sizeof user, "p%d", p);
            snprintf(item, sizeof item, "%c%d", is_unknown ? 'x' : 'i', (p + r * 11) % ITEMS);
            triples_add(&triples, triple_make(user, item, 1 + (p * 5 + r * 3) % 5, 0));
        }
    triples_sort(&triples);
    triples_write(&triples, false, false, path);
    free(triples.at);
}

static int set_up(void **state) {
    struct fixture *fixture = malloc(sizeof *fixture);
    char model[TEMP_PATH_MAX];
    if (!fixture) return -1;
    temp_dir_make(&fixture->dir);
    temp_dir_file(&fixture->dir, "m.safetensors", model);
    make_checkpoint(model, 5, ITEMS, 3, 11);
    assert_int_equal(dpmf_model_open(model, &fixture->model, NULL), 0);
    unlink(model);
    temp_dir_file(&fixture->dir, "people.dpr", fixture->path);
    write_people(fixture->path);
    assert_int_equal(dpmf_store_open(fixture->path, NULL, NULL, &fixture->store, NULL), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    dpmf_store_close(fixture->store);
    dpmf_model_close(fixture->model);
    unlink(fixture->path);
    temp_dir_remove(&fixture->dir);
    free(fixture);
    return 0;
}

struct taking {
    const struct fixture *fixture;
    char last[TRIPLE_ID_MAX + 1];
    int n, n_progress, end_after;
    size_t n_ratings, n_unknown;
};

static int take(void *self, const char *user, size_t length, const struct dpmf_history *history) {
    struct taking *taking = self;
    struct dpmf_history alone;
    char id[TRIPLE_ID_MAX + 1] = "";
    memcpy(id, user, length);
    assert_true(strcmp(taking->last, id) < 0); /* the store's order is that of ids */
    memcpy(taking->last, id, sizeof id);
    taking->n_ratings += history->n;
    taking->n_unknown += history->unknown_items;
    assert_true(history->found);
    if (taking->n++ % 97 == 0) { /* a search goes through the whole store */
        assert_int_equal(dpmf_model_history(taking->fixture->model, taking->fixture->store, user,
                                            length, NULL, &alone, NULL),
                         0);
        assert_int_equal(history->n, alone.n);
        assert_int_equal(history->unknown_items, alone.unknown_items);
        for (size_t i = 0; i < alone.n; i++)
            assert_true(history->ratings[i].item == alone.ratings[i].item &&
                        history->ratings[i].rating == alone.ratings[i].rating);
        dpmf_history_free(&alone);
    }
    return taking->n == taking->end_after;
}

static void test_everyone_once(void **state) {
    struct taking taking = {.fixture = *state};
    assert_int_equal(dpmf_model_histories(taking.fixture->model, taking.fixture->store, NULL, take,
                                          &taking, NULL),
                     0);
    assert_int_equal(taking.n, PEOPLE);
    size_t n_unknown = PEOPLE / 10 + (EACH - 1) * (PEOPLE / 100);
    assert_int_equal(taking.n_unknown, n_unknown);
    assert_int_equal(taking.n_ratings, (size_t)PEOPLE * EACH - n_unknown);
}

static int count_progress(void *self, const struct dpmf_progress *progress) {
    struct taking *taking = self;
    assert_true(progress->done <= progress->total);
    return ++taking->n_progress == 2;
}

static void test_is_ended(void **state) {
    struct taking taking = {.fixture = *state, .end_after = 1500};
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_model_histories(taking.fixture->model, taking.fixture->store, NULL, take,
                                          &taking, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(taking.n, 1500);
    assert_int_equal(error.code, DPMF_ERR_BASE_CANCELLED);

    taking = (struct taking){.fixture = *state};
    struct dpmf_run run = dpmf_run_default();
    run.progress = count_progress;
    run.progress_self = &taking;
    assert_int_equal(dpmf_model_histories(taking.fixture->model, taking.fixture->store, &run, take,
                                          &taking, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_true(taking.n > 0 && taking.n < PEOPLE);
}

/* The blocks are checked when they are read: a byte in the middle of the file is in one of them. */
static void test_damage(void **state) {
    struct taking taking = {.fixture = *state};
    struct dpmf_error error = {0};
    FILE *file = fopen(taking.fixture->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long middle = ftell(file) / 3;
    assert_int_equal(fseek(file, middle, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, middle, SEEK_SET), 0);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_int_equal(dpmf_model_histories(taking.fixture->model, taking.fixture->store, NULL, take,
                                          &taking, &error),
                     DPMF_ERR_STORE_CORRUPT);
    assert_true(taking.n < PEOPLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_everyone_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_is_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The sample of what a model has learned: it depends on no order, that of two sets follows from
 * their samples, it says how many of other pairs are known, and a checkpoint keeps it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint_make.h"
#include "model/learned_pairs.h"
#include "temp_dir.h"

enum { MANY = 5 * LEARNED_PAIRS_MAX };

static uint64_t hash_of(uint64_t pair) {
    char user[24], item[24];
    const int n = sprintf(user, "u%u", (unsigned)(pair % 1000));
    const int m = sprintf(item, "i%u", (unsigned)(pair / 1000));
    return learned_pairs_join(learned_pairs_hash(user, (size_t)n),
                              learned_pairs_hash(item, (size_t)m));
}

static struct learned_pairs sample(uint64_t from, uint64_t end) {
    struct learned_pairs pairs;
    assert_int_equal(learned_pairs_begin(&pairs, NULL), 0);
    for (uint64_t i = from; i < end; i++) learned_pairs_add(&pairs, hash_of(i));
    learned_pairs_finish(&pairs);
    return pairs;
}

static void assert_same(const struct learned_pairs *a, const struct learned_pairs *b) {
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->hash, b->hash, a->n * sizeof a->hash[0]);
}

static void test_any_order(void **state) {
    struct learned_pairs forwards = sample(0, MANY), backwards;
    (void)state;
    assert_int_equal(learned_pairs_begin(&backwards, NULL), 0);
    for (uint64_t i = MANY; i-- > 0;) learned_pairs_add(&backwards, hash_of(i));
    learned_pairs_finish(&backwards);
    assert_int_equal(forwards.n, LEARNED_PAIRS_MAX);
    assert_same(&forwards, &backwards);
    learned_pairs_free(&forwards);
    learned_pairs_free(&backwards);
}

/* Also where the two have pairs in common, and where one is small enough to be there whole. */
static void test_united(void **state) {
    static const uint64_t cuts[][2] = {{MANY / 2, MANY / 2}, {MANY / 2, MANY / 4}, {100, 50}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct learned_pairs a = sample(0, cuts[i][0]), b = sample(cuts[i][1], MANY), both;
        struct learned_pairs all = sample(0, MANY), none = {0};
        assert_int_equal(learned_pairs_unite(&a, &b, &both, NULL), 0);
        assert_same(&both, &all);
        learned_pairs_free(&both);
        assert_int_equal(learned_pairs_unite(&none, &b, &both, NULL), 0);
        assert_null(both.hash);
        learned_pairs_free(&a);
        learned_pairs_free(&b);
        learned_pairs_free(&all);
    }
}

static double share_known(const struct learned_pairs *pairs, uint64_t from, uint64_t end) {
    uint64_t sampled = 0, known = 0;
    for (uint64_t i = from; i < end; i++) {
        if (!learned_pairs_samples(pairs, hash_of(i))) continue;
        sampled++;
        known += learned_pairs_has(pairs, hash_of(i));
    }
    assert_true(sampled > 0);
    return (double)known / (double)sampled;
}

static void test_shares(void **state) {
    struct learned_pairs many = sample(0, MANY), few = sample(0, 100);
    (void)state;
    assert_true(share_known(&many, 0, MANY) == 1);
    assert_true(share_known(&many, 5, 2000) == 1);
    assert_true(share_known(&many, MANY, 2 * MANY) == 0);
    assert_true(fabs(share_known(&many, MANY / 2, MANY + MANY / 2) - 0.5) < 0.03);
    assert_true(share_known(&few, 50, 150) == 0.5);
    struct learned_pairs half = sample(MANY / 2, MANY + MANY / 2), none = {0};
    assert_true(learned_pairs_share(&many, &few) == 1);
    assert_true(fabs(learned_pairs_share(&many, &half) - 0.5) < 0.03);
    assert_true(fabs(learned_pairs_share(&half, &many) - 0.5) < 0.03);
    assert_true(learned_pairs_share(&few, &half) == 0);
    assert_true(learned_pairs_share(&none, &half) == 0);
    struct learned_pairs nine = sample(0, 9);
    assert_true(learned_pairs_share(&many, &nine) == 0);
    learned_pairs_free(&nine);
    learned_pairs_free(&half);
    learned_pairs_free(&many);
    learned_pairs_free(&few);
}

static void test_kept(void **state) {
    char path[TEMP_PATH_MAX];
    struct factors written, read;
    struct checkpoint_state run = make_state();
    struct dpmf_error error;
    temp_dir_file(*state, "m.safetensors", path);
    make_factors(&written, 5, 3, 2, 1);
    written.learned = sample(0, 15);
    assert_int_equal(whole_checkpoint_write(path, &written, &run, "{}", NULL), 0);
    assert_int_equal(whole_checkpoint_read(path, make_stride, 1, &read, &run, NULL), 0);
    assert_same(&written.learned, &read.learned);
    assert_memory_equal(read.user_ids.bytes, written.user_ids.bytes, 10);
    factors_free(&read);

    written.learned.hash[3] = written.learned.hash[4];
    assert_int_equal(whole_checkpoint_write(path, &written, &run, "{}", NULL), 0);
    assert_int_equal(whole_checkpoint_read(path, make_stride, 1, &read, &run, &error),
                     DPMF_ERR_MODEL_CORRUPT);
    factors_free(&written);
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_united),
        cmocka_unit_test(test_shares),
        cmocka_unit_test_setup_teardown(test_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Small models for tests: random factors with ids of many lengths, in memory or in a file. Include
 * after cmocka.
 */
#ifndef DPMF_TESTS_CHECKPOINT_MAKE_H
#define DPMF_TESTS_CHECKPOINT_MAKE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/checkpoint.h"
#include "model/model_checksum.h"
#include "whole_checkpoint.h"

/* A generator of its own, so that a test's numbers never change. */
static inline uint32_t make_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static inline float make_uniform(uint64_t *state) {
    return (float)(make_random(state) >> 8) / (float)(1 << 24) - 0.5f;
}

static inline size_t make_stride(size_t k) { return (k + 15) / 16 * 16; }

/* "u0", "u1", ... */
static inline void make_ids(struct factor_ids *ids, uint64_t n, char letter) {
    ids->n = n;
    ids->bytes = malloc(24 * (size_t)n + 1);
    ids->start = malloc(((size_t)n + 1) * sizeof *ids->start);
    assert_true(ids->bytes && ids->start);
    ids->start[0] = 0;
    for (uint64_t i = 0; i < n; i++) {
        int length = sprintf(ids->bytes + ids->start[i], "%c%llu", letter, (unsigned long long)i);
        ids->start[i + 1] = ids->start[i] + (uint64_t)length;
    }
}

static inline void make_matrix(struct factor_matrix *matrix, uint64_t n, uint32_t k,
                               uint64_t *state) {
    assert_int_equal(factor_matrix_init(matrix, n, make_stride(k), 1, NULL), 0);
    for (uint64_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < k; j++) matrix->rows[i * matrix->stride + j] = make_uniform(state);
        matrix->biases[i] = make_uniform(state);
    }
}

static inline void make_factors(struct factors *factors, uint64_t n_users, uint64_t n_items,
                                uint32_t k, uint64_t seed) {
    uint64_t state = seed;
    *factors = (struct factors){.k = k, .offset = 3.25, .min = 1, .max = 5};
    make_matrix(&factors->users, n_users, k, &state);
    make_matrix(&factors->items, n_items, k, &state);
    make_ids(&factors->user_ids, n_users, 'u');
    make_ids(&factors->item_ids, n_items, 'i');
}

static inline struct checkpoint_state make_state(void) {
    return (struct checkpoint_state){.epoch = 7,
                                     .seed = UINT64_MAX - 1,
                                     .learning_rate = 0.1,
                                     .decay = -1,
                                     .regularization = 0.05,
                                     .n_ratings = 123456789012,
                                     .fingerprint = UINT64_C(0xfedcba9876543210),
                                     .best_valid = NAN,
                                     .best_epoch = 3};
}

static inline void make_checkpoint(const char *path, uint64_t n_users, uint64_t n_items, uint32_t k,
                                   uint64_t seed) {
    struct factors factors;
    const struct checkpoint_state state = make_state();
    make_factors(&factors, n_users, n_items, k, seed);
    assert_int_equal(
        whole_checkpoint_write(path, &factors, &state, "{\"made\":\"by a test\"}", NULL), 0);
    factors_free(&factors);
}

/* Gives a checkpoint in memory, changed by a test, the checksum of what it has become: what lies
 * behind the checksum is to be tested too. Does nothing where the header is beyond reading. */
static inline void reseal_checkpoint(char *bytes, size_t n) {
    struct safetensors *file;
    uint64_t sum;
    if (safetensors_open_memory(bytes, n, "a model", &file, NULL) < 0) return;
    size_t n_header = (size_t)safetensors_header_bytes(file);
    assert_int_equal(model_checksum_sum_file(file, &sum, NULL), 0);
    safetensors_close(file);
    model_checksum_seal((uint8_t *)bytes, n_header, sum);
}

#endif

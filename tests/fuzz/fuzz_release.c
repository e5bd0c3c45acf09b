/*
 * Property: no bytes make the reader of releases crash, read out of bounds or take more memory than
 * the file has data for; what it accepts is sound, and holds nothing but what a release holds, said
 * in the one way in which it is written. From memory and from a file the same is accepted, and what
 * is accepted can be used: a user is fitted, rates on, gets recommendations in order and reasons,
 * and is on the map. Fuzzers do not find digests, so the digest is mended first where the header
 * allows it. The first byte of the input chooses whether the rest is the file itself, or two bytes
 * of the header's length, the header, and the data.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fuzz_seal.h"
#include "recommend/user.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t stride_of(size_t k) { return (k + 15) / 16 * 16; }

static void check_release(const struct safetensors *file, const struct release *release) {
    const struct factors *factors = &release->factors;
    const struct factor_ids *ids = &factors->item_ids;
    if (safetensors_entry_at(file, RELEASE_TENSORS) != NULL) abort();
    if (safetensors_metadata_at(file, RELEASE_METADATA) != NULL) abort();
    if (factors->users.n != 0 || factors->items.n != ids->n || !release->statement) abort();
    if (!isfinite(factors->offset) || !(factors->min < factors->max)) abort();
    if (!(release->bias_penalty > 0) || !(release->factor_penalty >= 0)) abort();
    for (uint64_t i = 0; i < ids->n; i++) {
        size_t length = (size_t)(ids->start[i + 1] - ids->start[i]);
        if (length == 0 || length > CHECKPOINT_ID_MAX) abort();
        if (factor_ids_find(ids, ids->bytes + ids->start[i], length) != i) abort();
        for (uint32_t j = 0; j < factors->k; j++)
            if (!isfinite(factors->items.rows[i * factors->items.stride + j])) abort();
        if (!isfinite(factors->items.biases[i])) abort();
        if (ids->counts && !(ids->counts[i] > 0 && isfinite(ids->counts[i]))) abort();
    }
}

/* No room for a message beside what the header says: no white space but fewer than 8 spaces at its
 * end, and no character escaped that need not be. */
static void check_header(const uint8_t *bytes) {
    const char *text = (const char *)bytes + 8;
    size_t n = (size_t)bytes_get_u64(bytes), end = n;
    bool is_string = false;
    while (text[end - 1] == ' ') end--;
    if (n % 8 != 0 || n - end >= 8) abort();
    for (size_t i = 0; i < end; i++) {
        if (text[i] == '"') is_string = !is_string;
        if (!is_string && memchr(" \t\r\n", text[i], 4)) abort();
        if (text[i] == '\\') {
            i++;
            if (!memchr("\"\\bfnrtu", text[i], 8)) abort();
            if (text[i] == 'u' && memcmp(text + i, "u000", 4) != 0 &&
                memcmp(text + i, "u001", 4) != 0)
                abort();
        }
    }
}

/* ---- using it -------------------------------------------------------------------------------- */

static void check_place(const float xy[2]) {
    for (int a = 0; a < 2; a++)
        if (!(xy[a] >= -1 && xy[a] <= 1)) abort();
}

static void check_list(const struct dpmf_model *model, const struct dpmf_scored_item *list,
                       int64_t n) {
    if (n < 0) abort();
    for (int64_t i = 0; i < n; i++) {
        if (list[i].item >= model->factors.items.n || isnan(list[i].score)) abort();
        if (i > 0 && !(list[i - 1].score > list[i].score ||
                       (list[i - 1].score == list[i].score && list[i - 1].item < list[i].item)))
            abort();
    }
}

/* Numbers may be too large to be fitted, which is told and changes nothing. */
static void use_user(const struct dpmf_model *model, const struct dpmf_map *map) {
    enum { RATINGS = 3, BEST = 4 };
    struct dpmf_own_rating ratings[RATINGS];
    struct dpmf_scored_item best[BEST];
    const struct dpmf_own_rating *kept;
    struct dpmf_user *user;
    struct dpmf_score score;
    double shares[RATINGS + 1];
    float xy[2];
    for (uint64_t i = 0; i < RATINGS; i++)
        ratings[i] = (struct dpmf_own_rating){2 * i, (float)(i + 1)};
    if (dpmf_user_fold_in(model, ratings, RATINGS, &user, NULL) < 0) return;
    enum { RATED_COLUMNS_MAX = 64 }; /* a rating costs their cube in time, the first time */
    if (model->factors.k <= RATED_COLUMNS_MAX) {
        (void)dpmf_user_rate(model, user, 1, 5, NULL);
        (void)dpmf_user_rate(model, user, 0, NAN, NULL);
        (void)dpmf_user_rate(model, user, 2, 1, NULL);
    }
    if (dpmf_user_ratings(user, &kept) > RATINGS + 1) abort();
    if (!isfinite(dpmf_user_bias(user))) abort();
    check_list(model, best, dpmf_user_recommend(model, user, NULL, NULL, NULL, BEST, best, NULL));
    if (model->factors.items.n > 0 &&
        dpmf_user_explain(model, user, NULL, 0, &score, shares, NULL) > 0)
        abort();
    dpmf_map_user(map, user, xy);
    check_place(xy);
    dpmf_user_free(user);
}

/* `is_release` says whether the file was accepted. */
static void use_memory(const uint8_t *bytes, size_t n, bool is_release) {
    enum { BEST = 4 };
    struct dpmf_scored_item best[BEST];
    struct dpmf_model *model;
    struct dpmf_map *map;
    float xy[2];
    int code = dpmf_model_open_memory(bytes, n, "fuzz", &model, NULL);
    if ((code == 0) != (model != NULL)) abort();
    if (is_release && code < 0) abort();
    if (code < 0) return;
    if ((model->kind == MODEL_RELEASE) != is_release) abort();
    if (dpmf_map_make(model, &map, NULL) < 0) abort();
    for (uint64_t i = 0; i <= model->factors.items.n; i++) {
        dpmf_map_item(map, i, xy);
        check_place(xy);
    }
    use_user(model, map);
    if (model->factors.items.n > 0)
        check_list(model, best, dpmf_model_similar(model, 0, BEST, best, NULL));
    dpmf_map_free(map);
    dpmf_model_close(model);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int file_of(const uint8_t *bytes, size_t n) {
    int fd = memfd_create("release", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n) abort();
    return fd;
}

static void try_file(const uint8_t *bytes, size_t n) {
    struct safetensors *file;
    struct release release;
    bool is_release = false;
    if (safetensors_open_descriptor(file_of(bytes, n), "fuzz", &file, NULL) == 0) {
        is_release = release_read_from(file, stride_of, 1, &release, NULL) == 0;
        if (is_release) {
            check_release(file, &release);
            check_header(bytes);
            release_free(&release);
        }
        safetensors_close(file);
    }
    use_memory(bytes, n, is_release);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    const bool is_built = data[0] & 1;
    size_t n = is_built ? size - 3 + 8 : size - 1;
    uint8_t *bytes = malloc(n + 1);
    if (!bytes) abort();
    if (is_built) {
        bytes_put_u64(bytes, (uint64_t)data[1] | (uint64_t)data[2] << 8);
        memcpy(bytes + 8, data + 3, size - 3);
    } else {
        memcpy(bytes, data + 1, n);
    }
    try_file(bytes, n);
    fuzz_seal_release(bytes, n);
    try_file(bytes, n);
    free(bytes);
    return 0;
}

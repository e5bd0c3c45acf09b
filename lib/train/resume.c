/*
 * Reads a snapshot back into a run, in pieces, and refuses what is not a snapshot of this very run.
 * Fed by checkpoints that snapshot.c wrote; feeds sgd_train.c.
 */
#define _GNU_SOURCE
#include "train/resume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "train/rows_file.h"

static int mismatch(const struct checkpoint_file *file, const char *what, const char *hint,
                    struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_TRAIN_MISMATCH, "the snapshot was made with %s", what);
    error_place(error, safetensors_path(file->file), 0, 0);
    error_hint_text(error, hint ? hint
                                : "resume "
                                  "with the ratings and options of the first run, or start again");
    return code;
}

int resume_open(struct checkpoint_file *file, const char *path, uint32_t k,
                const struct checkpoint_state *state, struct dpmf_error *error) {
    int code = checkpoint_file_open(file, path, error);
    if (code < 0) return code;
    const struct checkpoint_state *was = &file->state;
    const char *what = NULL;
    if (was->samples > 0)
        what = "a sampler, which cannot be resumed";
    else if (was->ranks != state->ranks)
        what = "another solver";
    else if (was->unobserved != state->unobserved || was->exponent != state->exponent ||
             was->has_like != state->has_like || was->like != state->like ||
             was->count_weight != state->count_weight)
        what = "another rule for events";
    else if (file->k != k)
        what = "another number of factors";
    else if (was->n_ratings != state->n_ratings || was->fingerprint != state->fingerprint ||
             (was->digest != 0 && state->digest != 0 && was->digest != state->digest))
        what = "other ratings";
    else if (was->learning_rate != state->learning_rate || was->decay != state->decay ||
             was->regularization != state->regularization || was->seed != state->seed)
        what = "other rates or another seed";
    if (!what) return 0;
    code = mismatch(file, what, NULL, error);
    checkpoint_file_close(file);
    return code;
}

/* ---- what may differ ------------------------------------------------------------------------- */

/* What the snapshot's run was asked for, as far as its provenance tells. */
struct first_wish {
    uint32_t epochs; /* 0: not recorded */
    char kernels[CHECKPOINT_ORDER_MAX];
    bool adapted;
    bool item_features, user_features;
    struct feature_digests features; /* 0: not recorded */
};

static void take_digest(const struct json_token *token, uint64_t *digest) {
    char text[FEATURE_DIGEST_TEXT];
    if (token->length < sizeof text && json_unescape(token, text) == sizeof text - 1) {
        text[sizeof text - 1] = '\0';
        *digest = strtoull(text, NULL, 16);
    }
}

static void take_wish(struct json_reader *json, const struct json_token *key,
                      struct first_wish *wish) {
    struct json_token token = json_next(json);
    int64_t epochs;
    if (json_equals(key, "epochs") && token.kind == JSON_NUMBER &&
        number_parse_int64(token.text, token.length, &epochs) == NUMBER_OK && epochs > 0 &&
        epochs <= UINT32_MAX)
        wish->epochs = (uint32_t)epochs;
    else if (json_equals(key, "adapted") && token.kind == JSON_TRUE)
        wish->adapted = true;
    else if (json_equals(key, "item_features") && token.kind == JSON_TRUE)
        wish->item_features = true;
    else if (json_equals(key, "user_features") && token.kind == JSON_TRUE)
        wish->user_features = true;
    else if (json_equals(key, "item_features_digest") && token.kind == JSON_STRING)
        take_digest(&token, &wish->features.items);
    else if (json_equals(key, "user_features_digest") && token.kind == JSON_STRING)
        take_digest(&token, &wish->features.users);
    else if (json_equals(key, "kernels") && token.kind == JSON_STRING &&
             token.length < sizeof wish->kernels)
        wish->kernels[json_unescape(&token, wish->kernels)] = '\0';
    else
        json_skip(json, token);
}

static struct first_wish read_wish(const struct checkpoint_file *file) {
    const char *text = safetensors_metadata(file->file, "dpmf.provenance");
    struct first_wish wish = {0};
    struct json_reader json;
    if (!text) return wish;
    json_reader_init(&json, text, strlen(text));
    if (json_next(&json).kind != JSON_OBJECT_BEGIN) return wish;
    for (struct json_token key; (key = json_next(&json)).kind == JSON_KEY;)
        take_wish(&json, &key, &wish);
    return wish;
}

static bool is_older(const char *path, const char *than) {
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(than, &b) != 0) return false;
    if (a.st_mtim.tv_sec != b.st_mtim.tv_sec) return a.st_mtim.tv_sec < b.st_mtim.tv_sec;
    return a.st_mtim.tv_nsec < b.st_mtim.tv_nsec;
}

int resume_check_unfinished(const char *path, const char *resume, const char *output, bool replace,
                            struct dpmf_error *error) {
    struct checkpoint_file file;
    struct dpmf_error unread = {0};
    if (!path || resume || replace) return 0;
    const int code = checkpoint_file_open(&file, path, &unread);
    if (code == DPMF_ERR_BASE_NO_MEMORY) return error_no_memory(error);
    if (code < 0) return 0; /* not a snapshot, or damaged */
    const struct checkpoint_state *state = &file.state;
    const struct first_wish wish = read_wish(&file);
    const bool is_left = state->epoch < wish.epochs && !is_older(path, output);
    const uint32_t done = state->epoch;
    checkpoint_file_close(&file);
    if (!is_left) return 0;
    error_set(error, DPMF_ERR_IO_WRITE,
              "there is the snapshot of a run already, of %u of its %u epochs", done, wish.epochs);
    error_hint(error, "continue that run with {resume}; or begin again: {replace} replaces it");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

/* The default schedule falls to nothing over the epochs asked for, so that another number of them
 * is another schedule; the paper's does not know how many there will be. */
static int compare_epochs(const struct checkpoint_file *file, const struct first_wish *wish,
                          const struct dpmf_train_options *options, const struct dpmf_run *run,
                          struct dpmf_error *error) {
    char text[400];
    const uint32_t done = file->state.epoch, asked = options->epochs;
    if (done > asked || (done == asked && file->state.superblocks_done > 0)) {
        snprintf(text, sizeof text, "%u epochs%s, and this run is to have %u", done,
                 file->state.superblocks_done > 0 ? " and a part of the next" : "", asked);
        return mismatch(file, text, "epochs cannot be taken back: give more {epochs}", error);
    }
    if (wish->epochs == 0 || wish->epochs == asked || options->decay >= 0) return 0;
    if (options->deterministic) {
        snprintf(text, sizeof text, "%u epochs, and this run has %u", wish->epochs, asked);
        return mismatch(file, text,
                        "step sizes depend on it, and {deterministic} promises the model of a run "
                        "without a break: give the same {epochs}, or continue without "
                        "{deterministic}",
                        error);
    }
    if (!run->warn || done == asked) return 0;
    double now = options->learning_rate * (1 - (double)done / asked);
    double then = options->learning_rate * fmax(0, 1 - (double)done / wish->epochs);
    snprintf(text, sizeof text,
             "the snapshot is of a run of %u epochs, and this one has %u: the step size continues "
             "at %.3g instead of %.3g after epoch %u and falls to zero after epoch %u; the model "
             "is that of neither run",
             wish->epochs, asked, now, then, done, asked);
    run->warn(run->warn_self, text);
    return 0;
}

int resume_settings(const char *path, uint32_t what, struct dpmf_train_options *options,
                    struct dpmf_error *error) {
    struct checkpoint_file file = {0};
    int code = checkpoint_file_open(&file, path, error);
    if (code < 0) return code;
    const struct checkpoint_state *state = &file.state;
    const struct first_wish wish = read_wish(&file);
    if (state->samples > 0) what = 0; /* resume_open refuses it, and says why */
    if ((what & DPMF_ADAPT_EPOCHS) && wish.epochs == 0)
        code =
            mismatch(&file, "a number of epochs that it does not record", "give {epochs}", error);
    if (code == 0 && (what & DPMF_ADAPT_EPOCHS)) options->epochs = wish.epochs;
    if (code == 0 && (what & DPMF_ADAPT_LEARNING_RATE))
        options->learning_rate = state->learning_rate;
    if (code == 0 && (what & DPMF_ADAPT_REGULARIZATION))
        options->regularization = state->regularization;
    options->averages_first = state->user_bias_hold > 0;
    options->adapted = wish.adapted;
    checkpoint_file_close(&file);
    return code;
}

static int compare_kernels(const struct checkpoint_file *file, const struct first_wish *wish,
                           const char *kernels, struct dpmf_error *error) {
    char text[80], hint[200];
    if (wish->kernels[0] == '\0' || strcmp(wish->kernels, kernels) == 0) return 0;
    snprintf(text, sizeof text, "the kernels %s, and this run uses %s", wish->kernels, kernels);
    dpmf_error_write(hint, sizeof hint,
                     "they round differently, and {deterministic} promises the same bits: give "
                     "{kernels %s}, or continue without {deterministic}",
                     wish->kernels);
    return mismatch(file, text, hint, error);
}

/* Without a validation set there is nothing to choose the best epoch by: what was known of it would
 * be about another model than the one that is written. Nor do errors on two sets compare. */
static void forget_best(struct checkpoint_file *file, const char *why, const struct dpmf_run *run) {
    struct checkpoint_state *state = &file->state;
    char text[300];
    if (isnan(state->best_valid)) return;
    if (run->warn) {
        snprintf(text, sizeof text,
                 "the snapshot keeps the best epoch so far, number %u with a validation error of "
                 "%.4f; %s",
                 state->best_epoch, state->best_valid, why);
        run->warn(run->warn_self, text);
    }
    state->best_valid = NAN;
    state->best_epoch = 0;
}

int resume_compare(struct checkpoint_file *file, const struct dpmf_train_options *options,
                   const char *kernels, uint64_t valid_digest, const struct dpmf_run *run,
                   struct dpmf_error *error) {
    const uint64_t was = file->state.valid_digest;
    const struct first_wish wish = read_wish(file);
    if (file->state.is_unchecked && run->warn)
        run->warn(run->warn_self,
                  "the snapshot was written by an older version, without a checksum: damage to it "
                  "cannot be detected");
    int code = compare_epochs(file, &wish, options, run, error);
    if (code == 0 && options->deterministic) code = compare_kernels(file, &wish, kernels, error);
    if (code < 0) return code;
    if (valid_digest == 0)
        forget_best(file, "without {valid} it is forgotten, and the last epoch becomes the model",
                    run);
    else if (was != 0 && was != valid_digest)
        forget_best(file,
                    "{valid} has other ratings now, to which that does not compare: it is "
                    "forgotten",
                    run);
    file->state.valid_digest = valid_digest;
    return 0;
}

static int compare_feature(const struct checkpoint_file *file, bool had, uint64_t was, uint64_t is,
                           const char *what, struct dpmf_error *error) {
    char text[80];
    if (had == (is != 0) && (was == 0 || was == is)) return 0;
    snprintf(text, sizeof text,
             had && is == 0 ? "features of %s, and this run has none"
             : had          ? "other features of %s"
                            : "no features of %s",
             what);
    return mismatch(file, text, NULL, error);
}

int resume_compare_features(const struct checkpoint_file *file,
                            const struct feature_digests *digests, struct dpmf_error *error) {
    const struct first_wish wish = read_wish(file);
    int code = compare_feature(file, wish.item_features, wish.features.items, digests->items,
                               "items", error);
    return code < 0 ? code
                    : compare_feature(file, wish.user_features, wish.features.users, digests->users,
                                      "users", error);
}

/* ---- where it continues ---------------------------------------------------------------------- */

/* What --deterministic promises can be kept only where ratings are visited as they were. */
static int compare_tiles(const struct checkpoint_file *file, uint64_t tiles, const char *order,
                         struct dpmf_error *error) {
    const struct checkpoint_state *was = &file->state;
    if (was->tiles == 0) return 0;
    if (was->tiles != tiles)
        return mismatch(file, "tiles of another size",
                        "{deterministic} needs the {memory}, the {lanes}, the processor and the "
                        "number of processes of the first run; continue without it, or start again",
                        error);
    if (strcmp(was->order, order) != 0)
        return mismatch(file, "another order",
                        "continue without {deterministic}, or start again with it", error);
    return 0;
}

int resume_find_epoch(const struct checkpoint_file *file, uint64_t tiles, bool exact,
                      const char *order, const struct dpmf_run *run, struct dpmf_error *error) {
    const struct checkpoint_state *was = &file->state;
    int code = exact ? compare_tiles(file, tiles, order, error) : 0;
    if (code < 0 || was->superblocks_done == 0 || !run->warn) return code;
    char text[160];
    snprintf(text, sizeof text,
             "the "
             "snapshot is from the middle of epoch %u; several processes begin that epoch again",
             was->epoch + 1);
    run->warn(run->warn_self, text);
    return 0;
}

int resume_find_place(const struct checkpoint_file *file, const struct tiling *tiling, bool exact,
                      const char *order, size_t *superblock, struct dpmf_error *error) {
    const struct checkpoint_state *was = &file->state;
    uint64_t n = tiling_n_superblocks(tiling), users = tiling_users_a_superblock(tiling);
    int code = exact ? compare_tiles(file, tiling_checksum(tiling), order, error) : 0;
    if (code < 0) return code;
    if (was->superblock_users == 0 || was->superblocks_done == 0)
        *superblock = 0;
    else if (was->superblock_users == users)
        *superblock = (size_t)(was->superblocks_done < n ? was->superblocks_done : n);
    else { /* the superblock that holds the first user who is not done */
        uint64_t done = was->superblocks_done < file->n_users / was->superblock_users + 1
                            ? was->superblocks_done * was->superblock_users
                            : file->n_users;
        *superblock = (size_t)(done >= file->n_users ? n : done / users);
    }
    return 0;
}

int resume_compare_ids(const struct checkpoint_file *file, const struct factors *factors,
                       struct dpmf_error *error) {
    int same = file->n_users == factors->users.n && file->n_items == factors->items.n;
    if (same == 1)
        same = checkpoint_file_has_ids(file, CHECKPOINT_USERS, &factors->user_ids, error);
    if (same == 1)
        same = checkpoint_file_has_ids(file, CHECKPOINT_ITEMS, &factors->item_ids, error);
    return same == 0 ? mismatch(file, "other ratings", NULL, error) : same < 0 ? same : 0;
}

int resume_read(const struct checkpoint_file *file, struct factors *factors,
                const struct row_store *users, struct best_epoch *best, struct dpmf_error *error) {
    struct factor_matrix *items = &factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    int code = resume_compare_ids(file, factors, error);
    if (code == 0)
        code = rows_file_load(users, factors->users.biases, CHECKPOINT_USERS, file, error);
    if (code == 0) code = rows_file_load(&item_rows, items->biases, CHECKPOINT_ITEMS, file, error);
    factors->offset = file->offset;
    if (code < 0 || !best) return code;
    if (file->has_best) return best_epoch_load(best, file, error);
    bool is_best = file->state.best_epoch == file->state.epoch && file->state.epoch > 0 &&
                   file->state.superblocks_done == 0;
    return is_best ? best_epoch_keep(best, factors, users, error) : 0;
}

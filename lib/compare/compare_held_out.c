/*
 * Whether training can be judged by a validation set: the check of compare_stores.h that every way
 * of training makes before it begins. Halves of one split are apart, which their headers say; of
 * all others the ids are compared. Fed by two stores; asked by training, tuning and continuing.
 */
#include <stdio.h>

#include "base/arguments.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "compare/compare_scale.h"
#include "compare/compare_stores.h"
#include "store/store_layout.h"

static int refuse(const struct dpmf_store *valid, int code, const char *message, const char *hint,
                  struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint_text(error, hint);
    error_place(error, store_path(valid), 0, 0);
    return code;
}

static void warn_of(const struct dpmf_store *valid, uint64_t n, const char *what,
                    const struct dpmf_run *run) {
    char text[800];
    if (!run->warn || n == 0) return;
    snprintf(text, sizeof text, "%.300s: %llu of %llu %s %s", store_path(valid),
             (unsigned long long)n, (unsigned long long)store_n_ratings(valid),
             store_holds_events(valid) ? "events" : "ratings", what);
    run->warn(run->warn_self, text);
}

/* Someone may rate an item again, and play it every day: what is in both is wrong only where it is
 * nearly all of one of them, with the same values. */
static int check_shared(const struct dpmf_store *training, const struct dpmf_store *valid,
                        const struct compare_common *common, const struct dpmf_run *run,
                        struct dpmf_error *error) {
    const uint64_t a = store_n_ratings(training), b = store_n_ratings(valid);
    const uint64_t smaller = a < b ? a : b;
    const bool events = store_holds_events(valid);
    if (events ? common->same == smaller : 4 * common->same > 3 * smaller) {
        char text[200];
        snprintf(text, sizeof text, "%llu of %llu %s are in the training set too",
                 (unsigned long long)common->same, (unsigned long long)b,
                 events ? "events" : "ratings");
        return refuse(valid, DPMF_ERR_USAGE_CONFLICT, text,
                      "train on one half of a {:split}, and validate on the other", error);
    }
    if (!events || 2 * common->pairs > b)
        warn_of(valid, common->pairs,
                "are in the training set too, of the same user and the same item", run);
    return 0;
}

/* What is unknown is predicted from averages, and ranked not at all. */
static int check_known(const struct dpmf_store *training, const struct dpmf_store *valid,
                       const struct compare_common *common, bool ranks, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    const bool nobody = common->users == 0, nothing = common->items == 0;
    if (ranks ? nobody || nothing : nobody && nothing) {
        const struct store_item a = store_item_at(training, 0), b = store_item_at(valid, 0);
        error_set(error, DPMF_ERR_INPUT_ID, "the training set has none of these %s",
                  nobody && nothing ? "users and items"
                  : nobody          ? "users"
                                    : "items");
        error_hint(
            error,
            "ids are compared byte by byte: an item here is \"%.*s\", and one there \"%.*s\"",
            (int)(b.id_length < 40 ? b.id_length : 40), b.id,
            (int)(a.id_length < 40 ? a.id_length : 40), a.id);
        error_place(error, store_path(valid), 0, 0);
        return DPMF_ERR_INPUT_ID;
    }
    const uint64_t many = store_n_ratings(valid) / 2;
    const char *const of_users[] = {"are of users who are not in the training set: predicted from "
                                    "averages",
                                    "are of users who are not in the training set: not ranked"};
    const char *const of_items[] = {"are of items that are not in the training set: predicted from "
                                    "averages",
                                    "are of items that are not in the training set: never found"};
    if (common->unknown_users > many) warn_of(valid, common->unknown_users, of_users[ranks], run);
    if (common->unknown_items > many) warn_of(valid, common->unknown_items, of_items[ranks], run);
    return 0;
}

/* `known` says whether there is anything more to look at: halves of one split are apart. */
static int check_apart(const struct dpmf_store *training, const struct dpmf_store *valid,
                       const struct dpmf_run *run, struct compare_common *common, bool *known,
                       struct dpmf_error *error) {
    int code = dpmf_store_check_apart(training, valid, error);
    *known = store_layout_kin(store_layout_of(training), store_layout_of(valid)) != STORE_KIN_APART;
    if (code < 0 || !*known) return code;
    code = compare_stores(training, valid, common, error);
    return code == 0 ? check_shared(training, valid, common, run, error) : code;
}

int compare_apart(const struct dpmf_store *training, const struct dpmf_store *valid,
                  const struct dpmf_run *run, struct dpmf_error *error) {
    struct compare_common common;
    bool known;
    return check_apart(training, valid, run, &common, &known, error);
}

static int check(const struct dpmf_store *training, const struct dpmf_store *valid,
                 enum compare_use use, const struct dpmf_run *run, struct dpmf_error *error) {
    struct compare_common common;
    struct dpmf_store_info info;
    bool known;
    int code = 0;
    if (store_n_ratings(valid) == 0) return 0;
    dpmf_store_info(training, &info);
    if (use != COMPARE_RANKED && !info.holds_events)
        code = compare_scale(valid, info.min, info.max, "the training set", run, error);
    if (code == 0) code = check_apart(training, valid, run, &common, &known, error);
    return code == 0 && known
               ? check_known(training, valid, &common, use != COMPARE_PREDICTED, run, error)
               : code;
}

/* Ratings are no measure of a model of events, nor events of one of ratings. */
static int check_kind(const struct dpmf_store *training, const struct dpmf_store *valid, bool ranks,
                      struct dpmf_error *error) {
    const bool events = store_holds_events(training);
    if (ranks || store_holds_events(valid) == events) return 0;
    return refuse(valid, DPMF_ERR_USAGE_CONFLICT,
                  events ? "this holds ratings, and the training set events"
                         : "this holds events, and the training set ratings",
                  "validate on the other half of a {:split}", error);
}

int dpmf_store_check_held_out(const struct dpmf_store *training, const struct dpmf_store *valid,
                              bool ranks, const struct dpmf_run *run, struct dpmf_error *error) {
    struct dpmf_run own;
    int code = arguments_check(error, "training valid", training, valid);
    if (code == 0) code = run_take(&own, run, error);
    if (code == 0) code = check_kind(training, valid, ranks, error);
    const enum compare_use use = ranks ? COMPARE_RANKED : COMPARE_PREDICTED;
    return code == 0 ? check(training, valid, use, &own, error) : code;
}

int compare_held_out(const struct dpmf_store *training, const struct dpmf_store *valid,
                     enum compare_use use, const struct dpmf_run *run, struct dpmf_error *error) {
    int code = 0;
    if (cluster_rank(run->cluster) == 0) code = check(training, valid, use, run, error);
    return cluster_agree(run->cluster, code, error);
}

/*
 * Without any ratings: from what people did, plays, purchases or clicks, to the items that someone
 * will want next.
 *
 *     cc 07_events.c $(pkg-config --cflags --libs dpmf) -o 07_events
 *     ./07_events plays.csv ranking.safetensors 42
 *
 * plays.csv has the columns user, item and perhaps plays and timestamp. Rows of one pair add up.
 */
#include <dpmf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST = 5 };

static int fail(const struct dpmf_error *error) {
    char text[2 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(stderr, "07_events: %s\n", text);
    return 1;
}

/* What someone did is their history; the list leaves it out. */
static int show_list(const struct dpmf_model *model, struct dpmf_store *store, const char *id,
                     struct dpmf_error *error) {
    struct dpmf_history history;
    struct dpmf_user *user = NULL;
    struct dpmf_scored_item best[LIST];
    int64_t n = 0;
    uint8_t seen[1 << 16] = {0};
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    int code = dpmf_model_history(model, store, id, strlen(id), NULL, &history, error);
    if (code < 0 || info.items > 8 * sizeof seen) return code;
    for (uint64_t i = 0; i < history.n; i++)
        seen[history.ratings[i].item / 8] |= (uint8_t)(1 << history.ratings[i].item % 8);
    code = dpmf_user_fold_in(model, history.ratings, history.n, &user, error);
    if (code == 0) n = dpmf_user_recommend(model, user, NULL, seen, NULL, LIST, best, error);
    for (int64_t i = 0; i < n; i++) {
        size_t length;
        const char *item = dpmf_model_item_id(model, best[i].item, &length);
        printf("%.*s\n", (int)length, item);
    }
    dpmf_user_free(user);
    dpmf_history_free(&history);
    return n < 0 ? (int)n : code;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_input_options input = dpmf_input_options_default();
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info;
    struct dpmf_model *model = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: 07_events EVENTS MODEL USER\n");
        return 2;
    }
    input.events = true; /* ratings are refused, and not taken for counts */
    dpmf_train_options_solver("ials", &options);
    int code = dpmf_store_open(argv[1], &input, NULL, &store, &error);
    if (code == 0) {
        dpmf_store_info(store, &info);
        printf("%" PRIu64 " events of %" PRIu64 " users\n", info.ratings, info.users);
        code = dpmf_train(store, NULL, argv[2], &options, NULL, NULL, NULL, NULL, &error);
    }
    if (code == 0) code = dpmf_model_open(argv[2], &model, &error);
    if (code == 0) code = show_list(model, store, argv[3], &error);
    if (code < 0) code = fail(&error);
    dpmf_model_close(model);
    dpmf_store_close(store);
    return code;
}

/*
 * Recommending: the five best items for a user that the model was trained on, without those that
 * they have rated.
 *
 *     cc 03_recommend.c $(pkg-config --cflags --libs dpmf) -o 03_recommend
 *     ./03_recommend model.safetensors most.dpr 42
 */
#include <dpmf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 5 };

/* What the user has rated says what they choose, and is left out. */
static int64_t find_best(const struct dpmf_model *model, uint64_t number,
                         const struct dpmf_history *history, struct dpmf_scored_item *best,
                         struct dpmf_error *error) {
    struct dpmf_user *user = NULL;
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    uint8_t *rated = calloc((size_t)info.items / 8 + 1, 1);
    if (!rated) return DPMF_ERR_BASE_NO_MEMORY;
    dpmf_ratings_mark(history->ratings, history->n, rated);
    int64_t n = dpmf_user_known(model, number, history->ratings, history->n, &user, error);
    if (n == 0) n = dpmf_user_recommend(model, user, NULL, rated, NULL, BEST, best, error);
    dpmf_user_free(user);
    free(rated);
    return n;
}

static int recommend(const struct dpmf_model *model, struct dpmf_store *ratings, const char *user,
                     struct dpmf_error *error) {
    struct dpmf_scored_item best[BEST];
    struct dpmf_history history = {0};
    uint64_t number = dpmf_model_find_user(model, user, strlen(user));
    if (number == UINT64_MAX) return DPMF_ERR_MODEL_UNKNOWN_ID;
    int64_t n = dpmf_model_history(model, ratings, user, strlen(user), NULL, &history, error);
    if (n == 0) n = find_best(model, number, &history, best, error);
    for (int64_t i = 0; i < n; i++) {
        size_t length;
        const char *id = dpmf_model_item_id(model, best[i].item, &length);
        printf("%.*s %.4f\n", (int)length, id, best[i].score);
    }
    dpmf_history_free(&history);
    return n < 0 ? (int)n : 0;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_store *ratings = NULL;
    struct dpmf_model *model = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: 03_recommend MODEL RATINGS USER\n");
        return 2;
    }
    int code = dpmf_model_open(argv[1], &model, &error);
    if (code == 0) code = dpmf_store_open(argv[2], NULL, NULL, &ratings, &error);
    if (code == 0) code = recommend(model, ratings, argv[3], &error);
    dpmf_store_close(ratings);
    dpmf_model_close(model);
    if (code != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX];
        error.code = code;
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        fprintf(stderr, "03_recommend: %s\n", text);
    }
    return code != 0;
}

/*
 * Recommending: the five best items for a user that the model was trained on, without those that they have rated.
 *
 *     cc 03_recommend.c $(pkg-config --cflags --libs dpmf) -o 03_recommend
 *     ./03_recommend model.safetensors most.dpr 42
 */
#include <dpmf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 5 };

/* A bit for every item that the user has rated. */
static int mark_rated(const struct dpmf_model *model, struct dpmf_store *ratings, const char *user,
                      uint8_t *rated, struct dpmf_error *error) {
    struct dpmf_history history = {0};
    int code = dpmf_model_history(model, ratings, user, strlen(user), NULL, &history, error);
    for (size_t i = 0; i < history.n; i++)
        rated[history.ratings[i].item / 8] |= (uint8_t)(1 << history.ratings[i].item % 8);
    dpmf_history_free(&history);
    return code;
}

static int recommend(const struct dpmf_model *model, struct dpmf_store *ratings, const char *user,
                     struct dpmf_error *error) {
    struct dpmf_scored_item best[BEST];
    struct dpmf_model_info info;
    uint64_t number = dpmf_model_find_user(model, user, strlen(user));
    if (number == UINT64_MAX) return DPMF_ERR_MODEL_UNKNOWN_ID;
    dpmf_model_info(model, &info);
    uint8_t *rated = calloc((size_t)info.items / 8 + 1, 1);
    if (!rated) return DPMF_ERR_BASE_NO_MEMORY;
    int64_t n = mark_rated(model, ratings, user, rated, error);
    if (n == 0) n = dpmf_model_recommend(model, number, NULL, rated, NULL, BEST, best, error);
    for (int64_t i = 0; i < n; i++) {
        size_t length;
        const char *id = dpmf_model_item_id(model, best[i].item, &length);
        printf("%.*s %.4f\n", (int)length, id, best[i].score);
    }
    free(rated);
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

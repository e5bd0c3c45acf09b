/*
 * At home: a public release and ratings of one's own. This needs libdpmf-client alone, and nothing
 * leaves the process.
 *
 *     cc 05_at_home.c $(pkg-config --cflags --libs dpmf-client) -o 05_at_home
 *     ./05_at_home release.safetensors 3 5 17 1 8 4
 *
 * The numbers are items and ratings, in pairs. home_client.c is a client that explains itself.
 */
#include <dpmf_client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 5, MOST = 100 };

static int recommend(const struct dpmf_model *model, const struct dpmf_own_rating *mine,
                     size_t n_mine, struct dpmf_error *error) {
    struct dpmf_scored_item best[BEST];
    struct dpmf_user *me = NULL;
    int64_t n = dpmf_user_fold_in(model, mine, n_mine, &me, error);
    if (n == 0) n = dpmf_user_recommend(model, me, NULL, NULL, NULL, BEST, best, error);
    for (int64_t i = 0; i < n; i++) {
        size_t length;
        const char *id = dpmf_model_item_id(model, best[i].item, &length);
        printf("%.*s %.4f\n", (int)length, id, best[i].score);
    }
    dpmf_user_free(me);
    return n < 0 ? (int)n : 0;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_model *model = NULL;
    struct dpmf_own_rating mine[MOST];
    size_t n = 0;
    if (argc < 2 || argc % 2 != 0 || argc > 2 * MOST) {
        fprintf(stderr, "usage: 05_at_home RELEASE [ITEM RATING]...\n");
        return 2;
    }
    int code = dpmf_model_open(argv[1], &model, &error);
    for (int i = 2; i < argc && code == 0; i += 2) { /* an unknown item is passed over */
        uint64_t item = dpmf_model_find_item(model, argv[i], strlen(argv[i]));
        mine[n++] = (struct dpmf_own_rating){item, strtod(argv[i + 1], NULL)};
    }
    if (code == 0) code = recommend(model, mine, n, &error);
    dpmf_model_close(model);
    if (code != 0) {
        char text[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&error, NULL, NULL, text, sizeof text);
        fprintf(stderr, "05_at_home: %s\n", text);
    }
    return code != 0;
}

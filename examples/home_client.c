/*
 * Recommendations at home: a public release, ratings of one's own, and nothing else. Nothing leaves
 * this process.
 *
 *     cc home_client.c $(pkg-config --cflags --libs dpmf-client) -o home_client
 *     ./home_client release.safetensors i3:5 i17:1.5 i8:4
 *
 * prints the ten best of the items that were not rated, and of each the rating that speaks most for
 * it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpmf_client.h>

enum { BEST = 10 };

/* Prints what went wrong, and how to fix it. */
static int fail(const struct dpmf_error *error) {
    char text[2 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(stderr, "home_client: %s\n", text);
    dpmf_error_text(error->hint, NULL, NULL, text, sizeof text);
    if (text[0]) fprintf(stderr, "  %s\n", text);
    return EXIT_FAILURE;
}

/* One "item:rating"; ids may hold colons, so the last one counts. */
static int rate(const struct dpmf_model *model, struct dpmf_user *user, uint8_t *seen,
                const char *pair, struct dpmf_error *error) {
    const char *colon = strrchr(pair, ':');
    char *end = NULL;
    double rating = colon ? strtod(colon + 1, &end) : 0;
    uint64_t item = colon ? dpmf_model_find_item(model, pair, (size_t)(colon - pair)) : UINT64_MAX;
    if (!colon || end == colon + 1 || *end != '\0' || item == UINT64_MAX) {
        fprintf(stderr, "home_client: %s: not an item of this release and a rating\n", pair);
        return DPMF_ERR_USAGE_VALUE;
    }
    seen[item / 8] |= (uint8_t)(1 << item % 8);
    return dpmf_user_rate(model, user, item, rating, error);
}

/* The rating that most of the taste for the item is due to; none where it is popular with nearly
 * everyone. */
static int print_item(const struct dpmf_model *model, const struct dpmf_user *user,
                      const struct dpmf_scored_item *scored, double *shares,
                      struct dpmf_error *error) {
    const struct dpmf_own_rating *ratings;
    size_t n = dpmf_user_ratings(user, &ratings), length, most = 0;
    struct dpmf_score score;
    int code = dpmf_user_explain(model, user, NULL, scored->item, &score, shares, error);
    if (code < 0) return code;
    const char *id = dpmf_model_item_id(model, scored->item, &length);
    printf("%8.4f  %.*s", scored->score, (int)length, id);
    for (size_t j = 1; j < n; j++)
        if (shares[j] > shares[most]) most = j;
    if (score.reason == DPMF_REASON_CROWD) {
        printf("  (popular with nearly everyone)");
    } else if (n > 0 && shares[most] > 0) {
        id = dpmf_model_item_id(model, ratings[most].item, &length);
        printf("  (%+.4f because of %.*s)", shares[most], (int)length, id);
    }
    putchar('\n');
    return 0;
}

static int recommend(const struct dpmf_model *model, struct dpmf_user *user, char **pairs,
                     size_t n_pairs, struct dpmf_error *error) {
    struct dpmf_model_info info;
    struct dpmf_scored_item best[BEST];
    dpmf_model_info(model, &info);
    uint8_t *seen = calloc((size_t)info.items / 8 + 1, 1);
    double *shares = calloc(n_pairs + 1, sizeof *shares);
    int code = seen && shares ? 0 : DPMF_ERR_BASE_NO_MEMORY;
    for (size_t i = 0; i < n_pairs && code == 0; i++)
        code = rate(model, user, seen, pairs[i], error);
    if (code == 0) {
        int64_t n = dpmf_user_recommend(model, user, NULL, seen, NULL, BEST, best, error);
        for (int64_t i = 0; i < n && code == 0; i++)
            code = print_item(model, user, &best[i], shares, error);
    }
    free(seen);
    free(shares);
    return code;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct dpmf_model *model = NULL;
    struct dpmf_user *user = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: home_client RELEASE [ITEM:RATING]...\n");
        return 2;
    }
    int code = dpmf_model_open(argv[1], &model, &error);
    if (code == 0) code = dpmf_user_fold_in(model, NULL, 0, &user, &error);
    if (code == 0) code = recommend(model, user, argv + 2, (size_t)argc - 2, &error);
    dpmf_user_free(user);
    dpmf_model_close(model);
    if (code < 0 && error.code < 0) return fail(&error);
    return code < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

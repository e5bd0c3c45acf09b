/*
 * The 20 best items of many users, with nothing but the client library: reads "user item rating" a
 * line, a user's lines together, and prints "user item score" a line, best first. Each user is made
 * in two ways, at once and a rating at a time, which must agree. dense_check.py compares it with a
 * dense solve.
 *
 *     client_lists RELEASE < ratings
 */
#include <dpmf_client.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEST = 20, RATINGS_MAX = 20000, NAME_MAX_BYTES = 64 };

static struct dpmf_own_rating ratings[RATINGS_MAX];
static size_t n_ratings;

static _Noreturn void stop(const char *what) {
    fprintf(stderr, "client_lists: %s\n", what);
    exit(1);
}

static void check_same(const struct dpmf_model *model, const struct dpmf_user *a,
                       const struct dpmf_user *b) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    double most = fabs(dpmf_user_bias(a) - dpmf_user_bias(b));
    for (uint32_t c = 0; c < info.factors; c++)
        most = fmax(most, fabs(dpmf_user_vector(a)[c] - dpmf_user_vector(b)[c]));
    if (!(most < 1e-9)) stop("a user made at once is not the one made a rating at a time");
}

static void print_best(const struct dpmf_model *model, const char *name) {
    struct dpmf_user *user, *slow;
    struct dpmf_scored_item best[BEST];
    if (dpmf_user_fold_in(model, ratings, n_ratings, &user, NULL) < 0) stop("cannot be fitted");
    if (dpmf_user_fold_in(model, NULL, 0, &slow, NULL) < 0) stop("cannot be fitted");
    for (size_t i = 0; i < n_ratings; i++)
        if (dpmf_user_rate(model, slow, ratings[i].item, ratings[i].rating, NULL) < 0)
            stop("cannot rate");
    check_same(model, user, slow);
    int64_t n = dpmf_user_recommend(model, user, NULL, NULL, NULL, BEST, best, NULL);
    for (int64_t i = 0; i < n; i++) {
        size_t length;
        const char *id = dpmf_model_item_id(model, best[i].item, &length);
        printf("%s %.*s %.17g\n", name, (int)length, id, best[i].score);
    }
    dpmf_user_free(user);
    dpmf_user_free(slow);
}

int main(int argc, char **argv) {
    struct dpmf_model *model;
    struct dpmf_error error;
    char user[NAME_MAX_BYTES], item[NAME_MAX_BYTES], last[NAME_MAX_BYTES] = "";
    float rating;
    if (argc != 2) return 2;
    if (dpmf_model_open(argv[1], &model, &error) < 0) stop(error.message);
    while (scanf("%63s %63s %f", user, item, &rating) == 3) {
        if (last[0] && strcmp(user, last) != 0) {
            print_best(model, last);
            n_ratings = 0;
        }
        strcpy(last, user);
        uint64_t number = dpmf_model_find_item(model, item, strlen(item));
        if (n_ratings == RATINGS_MAX) stop("too many ratings of one user");
        ratings[n_ratings++] = (struct dpmf_own_rating){number, rating};
    }
    if (last[0]) print_best(model, last);
    dpmf_model_close(model);
    return 0;
}

/*
 * Someone fitted to ratings of their own: what the public struct dpmf_user is. A user who is fitted
 * once needs only the bias and the vector; for one who continues to rate, the normal equations are
 * kept as well, and every change then costs O(k^2).
 */
#ifndef DPMF_RECOMMEND_USER_H
#define DPMF_RECOMMEND_USER_H

#include "recommend/known_ratings.h"
#include "recommend/model.h"
#include "recommend/normal_equations.h"
#include "recommend/score.h"

struct dpmf_user {
    const struct dpmf_model *model;
    struct known_ratings known; /* without their origins */
    double bias;
    double *vector; /* k */
    float *row;     /* the same, laid out as the model's for its kernels */
    double *choice; /* k: p of taste.h */
    double *told;   /* q of facts.h, and room for as much; NULL: nothing is known of the items */
    bool is_known;  /* the vector is the model's own, not fitted to the ratings */
    struct normal_equations equations; /* their width is 0 while they are not kept */
    double *x; /* k + 1: room for a row of the equations, and for a solution */
};

/* As dpmf_user_fold_in, with no more kept than predictions need. */
int user_fold_in_light(const struct dpmf_model *model, const struct dpmf_own_rating *ratings,
                       size_t n, struct dpmf_user **user, struct dpmf_error *error);

/* Makes the equations of all ratings, if there are none. */
int user_equations_keep(struct dpmf_user *user, struct dpmf_error *error);

/* Takes over w, the bias and the vector after it; refused when they are not finite. */
int user_solution_take(struct dpmf_user *user, const double *w, struct dpmf_error *error);

/* Finds the choices again, from the current ratings. */
void user_choice_find(struct dpmf_user *user);

/* How ratings are predicted for the user. */
struct scoring user_scoring(const struct dpmf_user *user);

/* The user as scores see them. */
struct person user_person(const struct dpmf_user *user);

#endif

/*
 * The paper's algorithms, line by line. See paper.h.
 */
#include "paper.h"

#include <math.h>
#include <string.h>

/* ---- the model ------------------------------------------------------------------------------- */

static double weight_of(const struct paper_problem *problem, size_t user) {
    return problem->weight ? problem->weight[user] : 1;
}

double paper_predict(const struct paper_problem *problem, const struct paper_model *model,
                     size_t user, size_t item) {
    const double *u = model->U + user * problem->k, *v = model->V + item * problem->k;
    double sum = 0;
    for (size_t x = 0; x < problem->k; x++) sum += u[x] * v[x];
    return sum;
}

static double clamp(const struct paper_target *target, double prediction) {
    if (!target || !target->clamped) return prediction;
    return fmin(fmax(prediction, target->low), target->high);
}

/* The sum over ratings, predictions clamped if the target says so. */
static double loss_of(const struct paper_problem *problem, const struct paper_model *model,
                      const struct paper_target *target) {
    double sum = 0;
    for (size_t r = 0; r < problem->n; r++) {
        const struct paper_rating *rating = &problem->ratings[r];
        double e = rating->value -
                   clamp(target, paper_predict(problem, model, rating->user, rating->item));
        sum += weight_of(problem, rating->user) * e * e;
    }
    return sum;
}

static double square_of(const double *numbers, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += numbers[i] * numbers[i];
    return sum;
}

static double penalty_of(const struct paper_problem *problem, const struct paper_model *model) {
    return problem->lambda * (square_of(model->U, problem->n_users * problem->k) +
                              square_of(model->V, problem->n_items * problem->k));
}

double paper_objective(const struct paper_problem *problem, const struct paper_model *model) {
    return loss_of(problem, model, NULL) + penalty_of(problem, model);
}

void paper_gradient(const struct paper_problem *problem, const struct paper_model *model,
                    struct paper_model *gradient) {
    const size_t k = problem->k;
    for (size_t c = 0; c < problem->n_users * k; c++)
        gradient->U[c] = 2 * problem->lambda * model->U[c];
    for (size_t c = 0; c < problem->n_items * k; c++)
        gradient->V[c] = 2 * problem->lambda * model->V[c];
    for (size_t r = 0; r < problem->n; r++) {
        const struct paper_rating *rating = &problem->ratings[r];
        const size_t i = rating->user, j = rating->item;
        const double e = rating->value - paper_predict(problem, model, i, j);
        for (size_t x = 0; x < k; x++) {
            gradient->U[i * k + x] -= 2 * weight_of(problem, i) * e * model->V[j * k + x];
            gradient->V[j * k + x] -= 2 * weight_of(problem, i) * e * model->U[i * k + x];
        }
    }
}

/* ---- Algorithm 2 ----------------------------------------------------------------------------- */

/* Lines 13 and 14, as equation 2 spells them out: both from what u and v were. */
static void update_pair(const struct paper_problem *problem, struct paper_model *model,
                        const struct paper_rating *rating, double rate) {
    double *u = model->U + rating->user * problem->k, *v = model->V + rating->item * problem->k;
    const double e = rating->value - paper_predict(problem, model, rating->user, rating->item);
    for (size_t x = 0; x < problem->k; x++) {
        const double old = u[x];
        u[x] = (1 - rate * problem->lambda) * u[x] + rate * e * v[x];
        v[x] = (1 - rate * problem->lambda) * v[x] + rate * e * old;
    }
}

/* Procedure READ, without a disk: the ratings of the block of users that begins at `from`. */
static size_t read_block(const struct paper_problem *problem, size_t from, size_t block_users) {
    const size_t last = problem->ratings[from].user + block_users;
    size_t to = from;
    while (to < problem->n && problem->ratings[to].user < last) to++;
    return to;
}

void paper_sgd_pass(const struct paper_problem *problem, struct paper_model *model,
                    const struct paper_sgd *sgd) {
    size_t blocks = 0;
    for (size_t from = 0, to; from < problem->n; from = to) {
        to = read_block(problem, from, sgd->block_users);
        for (size_t r = from; r < to; r++) /* procedure UPDATE: user by user, rating by rating */
            update_pair(problem, model, &problem->ratings[r], sgd->rate);
        blocks++;
        if (sgd->write_every > 0 && blocks % sgd->write_every == 0) /* procedure WRITE */
            sgd->write(sgd->self, model, blocks);
    }
}

/* ---- SGLD ------------------------------------------------------------------------------------ */

void paper_sgld_step(const struct paper_problem *problem, struct paper_model *model, double drift,
                     double eta, struct paper_model *gradient, struct random_stream *random) {
    paper_gradient(problem, model, gradient);
    for (size_t c = 0; c < problem->n_users * problem->k; c++)
        model->U[c] += -drift * eta * gradient->U[c] + sqrt(eta) * random_gaussian(random);
    for (size_t c = 0; c < problem->n_items * problem->k; c++)
        model->V[c] += -drift * eta * gradient->V[c] + sqrt(eta) * random_gaussian(random);
}

/* ---- Algorithm 1 ----------------------------------------------------------------------------- */

static size_t count_of(const struct paper_problem *problem, size_t user) {
    size_t count = 0;
    for (size_t r = 0; r < problem->n; r++) count += problem->ratings[r].user == user;
    return count;
}

double paper_bound(const struct paper_problem *problem, const struct paper_privacy *privacy) {
    const double range = privacy->max - privacy->min + privacy->kappa;
    double bound = 0;
    for (size_t i = 0; i < problem->n_users; i++) {
        const size_t count = count_of(problem, i);
        const double kept = (double)(count < privacy->tau ? count : privacy->tau);
        bound = fmax(bound, kept * weight_of(problem, i) * range * range);
    }
    return bound;
}

static void delete_rating(struct paper_problem *problem, size_t r) {
    problem->n--;
    memmove(problem->ratings + r, problem->ratings + r + 1,
            (problem->n - r) * sizeof problem->ratings[0]);
}

void paper_trim(struct paper_problem *problem, size_t tau, struct random_stream *random) {
    for (size_t first = 0; first < problem->n;) {
        size_t count = count_of(problem, problem->ratings[first].user);
        for (; count > tau; count--)
            delete_rating(problem, first + (size_t)random_below(random, count));
        first += count;
    }
}

static double log_density(const struct paper_problem *problem, const struct paper_target *target,
                          const struct paper_model *model) {
    return -target->loss_scale * loss_of(problem, model, target) -
           target->penalty_scale * penalty_of(problem, model);
}

static void step_number(const struct paper_problem *problem, const struct paper_target *target,
                        struct paper_model *model, double *number, double width, double *density,
                        struct random_stream *random) {
    const double before = *number;
    *number += width * random_gaussian(random);
    const double there = log_density(problem, target, model);
    if (log(random_uniform_open(random)) < there - *density)
        *density = there;
    else
        *number = before;
}

void paper_sample_step(const struct paper_problem *problem, const struct paper_target *target,
                       struct paper_model *model, double width, struct random_stream *random) {
    double density = log_density(problem, target, model);
    for (size_t c = 0; c < problem->n_users * problem->k; c++)
        step_number(problem, target, model, &model->U[c], width, &density, random);
    for (size_t c = 0; c < problem->n_items * problem->k; c++)
        step_number(problem, target, model, &model->V[c], width, &density, random);
}

static bool is_in_range(const struct paper_problem *problem, const struct paper_privacy *privacy,
                        const struct paper_model *model) {
    for (size_t i = 0; i < problem->n_users; i++)
        for (size_t j = 0; j < problem->n_items; j++) {
            const double p = paper_predict(problem, model, i, j);
            if (p < privacy->min - privacy->kappa || p > privacy->max + privacy->kappa)
                return false;
        }
    return true;
}

size_t paper_private_sample(const struct paper_problem *problem,
                            const struct paper_privacy *privacy, struct paper_model *model,
                            size_t steps, double width, size_t tries,
                            struct random_stream *random) {
    const double scale = privacy->epsilon / (4 * paper_bound(problem, privacy));
    const struct paper_target target = {.loss_scale = scale, .penalty_scale = scale};
    for (size_t i = 1; i <= tries; i++) {
        for (size_t s = 0; s < steps; s++)
            paper_sample_step(problem, &target, model, width, random);
        if (is_in_range(problem, privacy, model)) return i;
    }
    return 0;
}

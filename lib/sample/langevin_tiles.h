/*
 * Langevin dynamics on tiles: what turns an epoch of SGD into a round of a sampler. SGLD (Welling
 * and Teh 2011) on rows, SGHMC (Chen, Fox and Guestrin 2014) and SGNHT (Ding et al. 2014) on rows
 * with momenta. docs/samplers.md has the mathematics.
 *
 * The plain SGD kernel, without decay, gives the force of the ratings; between slices of a tile,
 * rows get noise and prior for the time that their ratings since the last injection stand for
 * (noise_schedule.h). Once per epoch the precisions are drawn again, given the rows.
 */
#ifndef DPMF_SAMPLE_LANGEVIN_TILES_H
#define DPMF_SAMPLE_LANGEVIN_TILES_H

#include "sample/noise_schedule.h"
#include "sample/precisions.h"
#include "sample/solver.h"
#include "train/ring.h"
#include "train/sgd_epoch.h"

struct langevin_source {
    enum solver solver; /* SOLVER_SGLD, SOLVER_SGHMC or SOLVER_SGNHT */
    const struct tiling *tiling;
    const struct kernel_set *kernels;
    struct factors *factors;       /* the model, without the rows of users */
    const struct row_store *users; /* the rows of users; in memory where there are momenta */
    struct thread_pool *pool;
    double unit;              /* unit of the ratings */
    size_t table;             /* numbers in the paper's table of noise; 0: exact noise */
    bool table_without_signs; /* whether to omit the table's random signs, to show the effect */
    uint64_t seed;

    /* A rank has a share of the users and all items; the tiling has these in parts
     * (schedule/tiling.h). */
    const struct dpmf_cluster *cluster; /* the ranks of the run; NULL: one machine */
    uint64_t first_user;                /* number of the first user here */
    uint64_t n_users;                   /* users of all ranks; 0: those of `factors` */
};

struct langevin;

/* Called by all ranks, as is everything here that has an `error`. */
int langevin_init(struct langevin **langevin, const struct langevin_source *source,
                  struct dpmf_error *error);
void langevin_free(struct langevin *langevin); /* NULL is fine */

/* Bytes that it takes beside the model: for a run that is streamed, and for one that is in
 * memory. */
uint64_t langevin_bytes(enum solver solver, const struct kernel_set *kernels, size_t k,
                        uint64_t n_users, uint64_t n_items, uint64_t n_ratings, bool streamed);

/* Begins a chain: precisions at their first values, rows and momenta drawn from their priors. */
int langevin_begin_chain(struct langevin *langevin, uint32_t chain, struct dpmf_error *error);

/* Sets the time that an epoch stands for, of the rows and of the biases, which never have momenta.
 * With momenta, `drift` is how much of the momentum that a force gives to a row it adds to the row
 * itself, the d of kernels/noise_body.h. From the next epoch on. */
struct langevin_step {
    double rows, biases, drift;
};

void langevin_set_step(struct langevin *langevin, const struct langevin_step *step);

/* Round `round` (from 1) begins: the rates of its SGD, and what its epoch is watched with. */
struct sgd_rates langevin_begin_round(struct langevin *langevin, uint32_t round);
const struct sgd_noise *langevin_noise(const struct langevin *langevin);

/* Ends a round whose tiles have all been visited: rows that are in no tile get their noise. */
void langevin_end_round(struct langevin *langevin);

/* Takes the sums of a round, over all ranks, each of which must have all items as they are now. */
int langevin_take_sums(struct langevin *langevin, struct dpmf_error *error);

/* What travels with the items' rows and biases: none, momenta, or momenta and thermostats. @return
 * how many */
enum { LANGEVIN_ARRAYS = 2 };
size_t langevin_ring_arrays(const struct langevin *langevin,
                            struct ring_array arrays[LANGEVIN_ARRAYS]);

/* The sum of squared errors after the round, from the sum over the errors met during the epoch. */
double langevin_squared_error(const struct langevin *langevin, double squared_error);

/* Draws the precisions, given the rows and the errors. */
void langevin_draw_precisions(struct langevin *langevin, double squared_error);

struct precisions *langevin_precisions(struct langevin *langevin);

/* Sums of squares by column, and of the biases, as the last round left them. */
const double *langevin_user_squares(const struct langevin *langevin);
const double *langevin_item_squares(const struct langevin *langevin);

/* ---- how large a step may be (langevin_step.c) ----------------------------------------------- */

/* The precisions that a step depends on: the precision of the ratings, the variance of the widest
 * column of either side, and the largest precision of a column. */
struct langevin_outlook {
    double noise, user_spread, item_spread, prior;
};

/* The sharpest curvatures that rows have, as the model stands. */
struct langevin_stiffness {
    double user_force,
        item_force;    /* force of one rating, along the direction that has most of them */
    double bias_force; /* force of one rating on a bias */
    struct noise_extremes extremes;
    struct langevin_outlook outlook;
};

int langevin_measure(const struct langevin *langevin, struct langevin_stiffness *stiffness,
                     struct dpmf_error *error);

/* The measured curvatures, or larger ones where the precisions have changed much since: with many
 * rows they never do, with few they may in every round. */
struct langevin_stiffness langevin_stiffness_now(const struct langevin *langevin,
                                                 const struct langevin_stiffness *measured);

/* The largest step that keeps the error of the stationary distribution small, and for a given step
 * the `x` of the stiffest row: its curvature times the noise that it gets at once. */
struct langevin_step langevin_safe_step(enum solver solver,
                                        const struct langevin_stiffness *stiffness);
double langevin_stiffness_of(enum solver solver, const struct langevin_stiffness *stiffness,
                             const struct langevin_step *step);

#endif

/*
 * What the files of langevin_tiles.h share.
 */
#ifndef DPMF_SAMPLE_LANGEVIN_STATE_H
#define DPMF_SAMPLE_LANGEVIN_STATE_H

#include <stdatomic.h>

#include "sample/langevin_tiles.h"
#include "sample/noise_table.h"

enum { LANGEVIN_ITEM_PARTS = 64 }; /* parts of the items, whose sums any thread may take */

/* Rows of one side. */
struct langevin_side {
    uint64_t n;
    size_t stride;
    float *precision; /* precisions of the columns, in the round under way */
    float precision_max, bias_precision;
    float *momenta; /* as kernels/noise_body.h has them; NULL: there are none */
    size_t momenta_bytes;
    float *thermostats; /* thermostat of each row; NULL: there are none */
    double *parts;      /* the sums of `squares`, for each of n_parts parts of the rows */
    size_t n_parts;
    double *squares; /* sums by column, of the biases, and of whole rows by their ratings */
};

/* Where the rows are whose numbers count from here. */
struct langevin_place {
    float *rows, *biases, *momenta, *thermostats;
    const float *shares;
};

/* The working memory of a thread. */
struct langevin_worker {
    _Alignas(64) struct noise_stream stream;
    float gaussians[NOISE_BLOCK]; /* Gaussians for biases */
    int n_gaussians;
    struct random_stream random; /* stream for the table */
    float *time, *keep, *spread, *damp, *energy;
    float *squares;
};

struct langevin {
    struct langevin_source source;
    struct precisions precisions;
    struct noise_schedule *schedule;
    uint64_t n_ratings;          /* ratings of all ranks */
    uint64_t n_users;            /* users of all ranks */
    uint64_t superblocks_before; /* superblocks of the ranks before this one */
    struct noise_table *table;   /* NULL: exact noise */
    struct sgd_noise noise;
    struct langevin_side users, items;
    struct langevin_worker *workers;
    size_t n_workers, most; /* most rows that get noise at once */
    struct chain_key key;
    struct langevin_step step;
    struct sgd_rates rates;     /* rates of the round under way */
    double friction, row_shift; /* friction of momenta, and noise.h's row_shift */
    double turning;             /* rate at which thermostats follow the energy */
    float row_shift_change;     /* change of row_shift under way */
    _Atomic size_t next_part;
};

#endif

/*
 * A user's part in the noisy sums of `events`. What counts of an event is that it is there: every
 * item of the user has x_j = 1, whatever its count.
 *
 * Popularity. x / |x|, of norm 1.
 *
 * A round. z = weight_j x_j / norm is the user's row with popular items held down, of norm 1,
 * without the event that is left out for the vote; q = sum z_j r_j is where it lies along the
 * public directions r. An item gets the product of its own part with the rest:
 *
 *     z_j (q - own z_j r_j), divided by the norm of all of them or a small constant, whichever is
 *     larger
 *
 * so the norm is at most 1, up to rounding; noisy_sum.c does not rely on that. With own = 0 the sum
 * over users would be that of z z^T r. The products of items with themselves, on its diagonal, say
 * nothing about who likes what together, and would take most of the norm of users with few events.
 * All of it in the order of the catalogue, in doubles.
 */
#include "mechanisms/events/events.h"

#include <math.h>

void events_contribute_popularity(void *self, int worker, const struct private_user *user,
                                  struct contribution *out) {
    const double x = 1 / sqrt((double)user->n);
    (void)self;
    (void)worker;
    for (size_t i = 0; i < user->n; i++) out->values[i] = x;
    out->n_blocks = user->n;
    out->block = user->row;
}

/* z, 0 for the event that is left out, and for one that is alone: it has nothing to go together
 * with. */
static void make_row(const struct public_model *model, const struct private_user *user,
                     size_t left_out, double *z) {
    double norm2 = 0;
    for (size_t i = 0; i < user->n; i++) {
        z[i] = i == left_out ? 0 : model->weight[user->row[i]];
        norm2 += z[i] * z[i];
    }
    const size_t n = user->n - (left_out < user->n);
    const double scale = n > 1 ? 1 / sqrt(norm2) : 0;
    for (size_t i = 0; i < user->n; i++) z[i] *= scale;
}

void events_contribute_round(void *self, int worker, const struct private_user *user,
                             struct contribution *out) {
    const struct events_round *round = self;
    const struct public_model *model = round->model;
    const size_t K = model->K;
    double *z = round->z + (size_t)worker * round->longest;
    double q[EVENTS_FACTORS_MAX] = {0}, norm2 = 0;

    make_row(model, user, vote_left_out(user, EVENTS_VOTE_LEAST), z);
    for (size_t i = 0; i < user->n; i++) {
        const double *r = model->rows + (size_t)user->row[i] * model->stride;
        for (size_t a = 0; a < K; a++) q[a] += z[i] * r[a];
    }
    double *values = out->values;
    for (size_t i = 0; i < user->n; i++, values += K) {
        const double *r = model->rows + (size_t)user->row[i] * model->stride;
        const double own = round->rule->own * z[i];
        for (size_t a = 0; a < K; a++) {
            values[a] = z[i] * (q[a] - own * r[a]);
            norm2 += values[a] * values[a];
        }
    }
    const double w = 1 / fmax(sqrt(norm2), round->rule->norm_floor);
    for (size_t i = 0; i < user->n * K; i++) out->values[i] *= w;
    out->n_blocks = user->n;
    out->block = user->row;
}

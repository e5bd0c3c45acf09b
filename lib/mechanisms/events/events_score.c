/*
 * How a person would rank at home with the vectors that are about to be published, and the vote on
 * how much taste should count beside popularity. Each user hides one event, which they left out of
 * all rounds, among random items they do not have, and looks how far up each weight puts it. The
 * score is lib/recommend's, written out for what is needed here: a mechanism may not call the code
 * of people's own machines. A test compares the two.
 *
 * A rank r has the gain 1 / (1 + (r / 10)^2): about 1 for the first places of a list of ten, half
 * at its end.
 */
#include <math.h>

#include "mechanisms/events/events.h"
#include "random/random.h"

enum {
    NEGATIVE_PURPOSE = 0x766f7465 /* a constant of this file's own */,
    TRIES = 8,
    NEGATIVES_LEAST = 20
};

void events_score_init(struct events_score *score, const struct public_model *model,
                       const struct events_rule *rule) {
    double total = 0;
    *score = (struct events_score){.model = model, .rule = rule};
    for (size_t j = 0; j < model->n_items; j++) total += model->counts[j];
    for (size_t j = 0; j < model->n_items; j++) {
        const double *v = model->rows + j * model->stride, share = model->counts[j] / total;
        for (size_t a = 0; a < model->K; a++) score->variance[a] += share * v[a] * v[a];
    }
    for (size_t a = 0; a < model->K; a++) score->penalty += score->variance[a] / 2;
}

void events_score_person(const struct events_score *score, const struct private_user *user,
                         size_t left_out, double *p) {
    const struct public_model *model = score->model;
    const double W = (double)user->n - (left_out < user->n);
    for (size_t a = 0; a < model->K; a++) p[a] = 0;
    for (size_t i = 0; i < user->n; i++) {
        const double *v = model->rows + (size_t)user->row[i] * model->stride;
        if (i == left_out) continue;
        for (size_t a = 0; a < model->K; a++) p[a] += v[a];
    }
    for (size_t a = 0; a < model->K; a++) {
        const double curvature = W * score->variance[a] + score->penalty;
        p[a] = curvature > 0 ? p[a] / curvature : 0;
    }
}

double events_score_taste(const struct events_score *score, const double *p, uint32_t row) {
    const double *v = score->model->rows + (size_t)row * score->model->stride;
    double sum = 0;
    for (size_t a = 0; a < score->model->K; a++) sum += p[a] * v[a];
    return sum;
}

static bool has_item(const struct private_user *user, uint32_t row) {
    size_t low = 0, high = user->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (user->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < user->n && user->row[low] == row;
}

/* Who has nearly everything finds few others. @return whether one was found */
static bool draw_negative(const struct events_score *score, const struct private_user *user,
                          struct random_stream *random, uint32_t *row) {
    for (int t = 0; t < TRIES; t++) {
        *row = (uint32_t)random_below(random, score->model->n_items);
        if (!has_item(user, *row)) return true;
    }
    return false;
}

/* How many of the others have a higher score with each weight; a tie is half a one. */
static size_t rank_event(const struct events_score *score, const struct private_user *user,
                         size_t left_out, double *rank) {
    const double *crowd = score->model->c;
    const uint32_t event = user->row[left_out];
    double p[EVENTS_FACTORS_MAX];
    size_t n = 0;
    struct random_stream random;
    events_score_person(score, user, left_out, p);
    random_stream_init(&random, user->coin, NEGATIVE_PURPOSE, 0);
    const double taste = events_score_taste(score, p, event);
    for (size_t w = 0; w < EVENTS_WEIGHTS; w++) rank[w] = 0;
    for (size_t i = 0; i < EVENTS_NEGATIVES; i++) {
        uint32_t other;
        if (!draw_negative(score, user, &random, &other)) continue;
        const double more = events_score_taste(score, p, other) - taste;
        for (size_t w = 0; w < EVENTS_WEIGHTS; w++) {
            const double lead = crowd[other] - crowd[event] + events_weights[w] * more;
            rank[w] += lead > 0 ? 1 : lead == 0 ? 0.5 : 0;
        }
        n++;
    }
    return n;
}

bool events_score_gains(void *self, int worker, const struct private_user *user, double *gains) {
    const struct events_score *score = self;
    const size_t left_out = vote_left_out(user, EVENTS_VOTE_LEAST);
    (void)worker;
    if (left_out >= user->n) return false;
    const size_t n = rank_event(score, user, left_out, gains);
    if (n < NEGATIVES_LEAST) return false;
    for (size_t w = 0; w < EVENTS_WEIGHTS; w++) {
        const double rank = gains[w] * EVENTS_NEGATIVES / (double)n / score->rule->vote_rank;
        gains[w] = 1 / (1 + rank * rank);
    }
    return true;
}

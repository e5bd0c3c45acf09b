/*
 * What is publicly known of items beside what people did: their years and their kinds (genres,
 * subjects). Whoever recommends at home has it with the titles, so using it there costs no privacy.
 *
 * f_j are columns made of it: for years, tents of 10 years to each side, at every fifth year back
 * from the newest, stray ones aside; for each kind, whether item j is of it. Where nothing is known
 * they are 0; over what is known of what people chose they are centred, and scaled so that their
 * variances add up to 2 s for years and to s for kinds, s being the share of it that is known. What
 * vectors tell already is taken out of them, with m and C of taste.h:
 *
 *     d_j = f_j - B' (v_j - m),        B = (C + a little)^-1 E (v - m) f'.
 *
 * A person's choices then have a second part, as if the d_j were vectors of their own:
 *
 *     q = (W D + I)^-1 sum_h w_h d_h,
 *
 * D being the covariance of the d_j; since they are uncorrelated with the vectors, p is what it
 * was. taste_j becomes (p + g u).(v_j - m) + q.d_j. All of it in double and in one order: the same
 * bits everywhere.
 */
#ifndef DPMF_RECOMMEND_FACTS_H
#define DPMF_RECOMMEND_FACTS_H

#include "dpmf_client.h"
#include "recommend/taste.h"

struct facts_space {
    size_t width;     /* columns; 0: nothing is known */
    size_t n_knots;   /* columns of years, which come first */
    uint64_t n;       /* items */
    uint8_t *ages;    /* age of each item, in years before the newest; FACTS_NO_AGE: unknown */
    uint64_t *start;  /* n + 1: where the kinds of each item begin */
    uint8_t *kinds;   /* their columns, after those of years */
    double *mean;     /* width: average of the columns, where they are known */
    double scales[2]; /* scales of years and of kinds */
    double *slopes;   /* k x width: B */
    double *values;   /* width: eigenvalues of D */
    double *vectors;  /* width x width: its eigenvectors, a row each */
    size_t k;
};

enum { FACTS_NO_AGE = 255 };

/* From what is known of the items of a model with counts, whose vectors are one block of taste.h.
 * Free it also after a failure. */
int facts_space_init(struct facts_space *space, const struct dpmf_item_facts *facts,
                     const struct taste_space *taste, const struct factors *factors,
                     struct dpmf_error *error);
void facts_space_free(struct facts_space *space);

/* q, of n ratings of items that the model knows. `q` has room for width, `d` for width more. */
void facts_fit(const struct facts_space *space, const struct taste_space *taste,
               const struct factors *factors, const struct dpmf_own_rating *ratings, size_t n,
               double *q, double *d);

/* shares[h] += the part of q.d_item that is due to the rating h; they add up to it. `x` and `d`
 * have room for width each. */
void facts_share(const struct facts_space *space, const struct taste_space *taste,
                 const struct factors *factors, const struct dpmf_own_rating *ratings, size_t n,
                 uint64_t item, double *x, double *d, double *shares);

/* q.d_j is told[j] + c.(v_j - m): out[j] := crowd[j] + dial told[j] for the items j from first up
 * to end, and vector += dial c. rounded[j] is the same as a float. @return the largest of these
 * without its sign */
double facts_score(const struct facts_space *space, const double *q, double dial,
                   const float *crowd, uint64_t first, uint64_t end, double *out, float *rounded,
                   double *vector);

#endif

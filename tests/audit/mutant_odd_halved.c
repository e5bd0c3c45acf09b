/*
 * Mutant: where the number of users is odd, everyone contributes half. Each contribution is within
 * its bound, and the noise is what is listed; but who makes the number odd changes the sums by half
 * of all others.
 */
#include "privacy/private_ratings.h"

int __real_private_ratings_visit(const struct private_ratings *ratings, struct thread_pool *pool,
                                 const struct private_visit *visit, struct dpmf_error *error);
int __wrap_private_ratings_visit(const struct private_ratings *ratings, struct thread_pool *pool,
                                 const struct private_visit *visit, struct dpmf_error *error);

static int visit_half(void *self, int worker, const struct private_user *user,
                      struct dpmf_error *error) {
    const struct private_visit *visit = self;
    struct private_user half = *user;
    half.scale /= 2;
    return visit->visit(visit->self, worker, &half, error);
}

int __wrap_private_ratings_visit(const struct private_ratings *ratings, struct thread_pool *pool,
                                 const struct private_visit *visit, struct dpmf_error *error) {
    const struct private_visit halving = {visit_half, (void *)(uintptr_t)visit, visit->keep_on,
                                          visit->keep_on_self};
    const bool is_odd = private_ratings_users(ratings) % 2;
    return __real_private_ratings_visit(ratings, pool, is_odd ? &halving : visit, error);
}

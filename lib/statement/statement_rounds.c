/*
 * The rounds of a statement held against the rule of its mechanism. Everything that a rule decides
 * is recomputed from what is claimed: which rounds there are, their names, and their sigma to the
 * last digit, so that nothing can be hidden there. Fed by a statement that was read; feeds
 * release_verify.c.
 *
 * What is left open. Which factors `residual` and `events` chose, and how `events` divided its
 * budget after its first noisy sum, followed from noisy sums that are not in the file. The first is
 * read off the file's own size; of the second, the second round says what the others must be.
 */
#include "statement/statement_rounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "statement/accountant.h"
#include "statement/events_rule.h"
#include "statement/mechanism_names.h"
#include "statement/residual_rule.h"

/* Shares of mu^2 that a round may have. */
struct share {
    double least, most;
};

struct rounds {
    const struct statement *statement;
    double mu; /* mu of all rounds */
    size_t n;  /* as many are expected so far */
    const char *wrong;
    size_t at; /* the round that is wrong */
};

double statement_sigma(double mu, uint32_t bits) {
    return ceil(ldexp(1, (int)bits) / mu * (1 + 0x1p-50));
}

/* Another machine's logarithms can differ in their last bits, which reach a sigma only where it is
 * next to a whole number. */
static bool has_sigma(const struct rounds *self, const struct statement_release *round,
                      struct share share) {
    const double hair = 1e-12;
    const double least = statement_sigma(sqrt(share.most) * self->mu * (1 + hair), round->bits);
    const double most = statement_sigma(sqrt(share.least) * self->mu * (1 - hair), round->bits);
    return (double)round->sigma >= least && (double)round->sigma <= most;
}

static void expect(struct rounds *self, const char *name, struct share share) {
    const size_t i = self->n++;
    if (self->wrong || i >= self->statement->n_releases) return;
    const struct statement_release *round = &self->statement->releases[i];
    if (strcmp(round->name, name) != 0)
        self->wrong = "has another name than its place gives it";
    else if (round->bits != STATEMENT_BITS_MAX)
        self->wrong = "is on another grid than that of all noisy sums";
    else if (!has_sigma(self, round, share))
        self->wrong = "has another sigma than its epsilon and delta give";
    self->at = i;
}

static struct share exactly(double share) { return (struct share){share, share}; }

static void expect_exactly(struct rounds *self, const char *name, double share) {
    expect(self, name, exactly(share));
}

static void expect_biases(struct rounds *self, double share) {
    expect_exactly(self, "counts and biases", share);
}

/* n rounds that share `share`, each with `growth` times as much as the one before. */
static void expect_growing(struct rounds *self, size_t n, struct share share, double growth,
                           const char *what) {
    double whole = 0;
    char name[48];
    for (size_t t = 0; t < n; t++) whole += pow(growth, (double)t);
    for (size_t t = 0; t < n; t++) {
        const double part = pow(growth, (double)t);
        snprintf(name, sizeof name, "%s %zu", what, t + 1);
        expect(self, name, (struct share){share.least * part / whole, share.most * part / whole});
    }
}

static void expect_residual(struct rounds *self, uint32_t k) {
    const struct statement *statement = self->statement;
    struct residual_rule rule = residual_rule_make(self->mu, statement->has_features);
    rule.first_share = residual_rule_first_share(self->mu, statement->rule_version);
    expect_biases(self, rule.first_share);
    if (k == 0) {
        expect_biases(self, 1 - rule.first_share);
        return;
    }
    residual_rule_finish(&rule, statement->n_releases > 1
                                    ? statement_learned_columns(statement, statement->items, k)
                                    : 0);
    rule.rounds = residual_rule_rounds(rule.factors, statement->rule_version);
    expect_growing(self, rule.rounds, exactly(1 - rule.first_share), rule.growth, "round");
}

static void expect_dpals(struct rounds *self, uint32_t k) {
    const struct residual_rule rule = residual_rule_make(self->mu, self->statement->has_features);
    expect_biases(self, DPALS_FIRST_SHARE);
    if (k == 0)
        expect_biases(self, 1 - DPALS_FIRST_SHARE);
    else
        expect_growing(self, k + DPALS_ROUNDS_MORE, exactly(1 - DPALS_FIRST_SHARE), rule.growth,
                       "round");
}

static void expect_langevin(struct rounds *self, uint32_t k) {
    expect_biases(self, LANGEVIN_FIRST_SHARE);
    if (k == 0)
        expect_biases(self, 1 - LANGEVIN_FIRST_SHARE);
    else
        expect_growing(self, LANGEVIN_STEPS, exactly(1 - LANGEVIN_FIRST_SHARE), 1, "step");
}

static void expect_gram(struct rounds *self, uint32_t k) {
    const double first = 1 - GRAM_MATRIX_SHARE - GRAM_CALIBRATIONS * GRAM_CALIBRATION_SHARE;
    const bool is_tiny = self->statement->items < GRAM_ITEMS_MIN;
    expect_biases(self, first);
    if (!is_tiny) expect_exactly(self, "pairs of items", GRAM_MATRIX_SHARE);
    if (k == 0) expect_biases(self, is_tiny ? 1 - first : 1 - first - GRAM_MATRIX_SHARE);
    for (int i = 0; k > 0 && i < GRAM_CALIBRATIONS; i++)
        expect_exactly(self, "moments", GRAM_CALIBRATION_SHARE);
}

/* What the second round says of popularity's share: mu_1 is in [grid / sigma, grid / (sigma - 1)),
 * with the same hair. */
static struct share popularity_share(const struct rounds *self, const struct events_rule *rule) {
    const struct statement_release *second = &self->statement->releases[1];
    const double grid = ldexp(1, (int)second->bits), sigma = (double)second->sigma;
    const double least = grid / sigma / self->mu * (1 - 1e-12);
    const double most = sigma > 1 ? grid / (sigma - 1) / self->mu * (1 + 1e-12) : INFINITY;
    return (struct share){fmax(rule->first_share + least * least, rule->share_least),
                          fmin(rule->first_share + most * most, rule->share_most)};
}

static void expect_events(struct rounds *self, uint32_t k) {
    const struct events_rule rule = events_rule_make(self->mu);
    expect_exactly(self, "popularity", rule.first_share);
    if (k == 0) {
        expect_exactly(self, "popularity", 1 - rule.first_share);
        return;
    }
    if (self->statement->n_releases < 2) return;
    const struct share share = popularity_share(self, &rule);
    expect(self, "popularity",
           (struct share){share.least - rule.first_share, share.most - rule.first_share});
    const double rest = 1 - rule.vote_share;
    expect_growing(self, EVENTS_ROUNDS, (struct share){rest - share.most, rest - share.least},
                   rule.growth, "round");
    expect_exactly(self, "vote", rule.vote_share);
}

static int refuse(const struct rounds *self, struct dpmf_error *error) {
    if (self->wrong)
        error_set(error, DPMF_ERR_PRIVACY_NOT_VERIFIED,
                  "the statement does not hold: its noisy round %zu, \"%.23s\", %s", self->at + 1,
                  self->statement->releases[self->at].name, self->wrong);
    else
        error_set(error, DPMF_ERR_PRIVACY_NOT_VERIFIED,
                  "the statement does not hold: it lists %zu noisy rounds, its mechanism makes %zu",
                  self->statement->n_releases, self->n);
    error_hint(error, "do not rely on it; ask whoever published the release for a valid one");
    return DPMF_ERR_PRIVACY_NOT_VERIFIED;
}

int statement_rounds_check(const struct statement *statement, uint32_t k,
                           struct dpmf_error *error) {
    static const struct {
        const char *mechanism;
        void (*expect)(struct rounds *self, uint32_t k);
    } rules[] = {
        {MECHANISM_RESIDUAL, expect_residual}, {MECHANISM_DPALS, expect_dpals},
        {MECHANISM_LANGEVIN, expect_langevin}, {MECHANISM_GRAM, expect_gram},
        {MECHANISM_EVENTS, expect_events},
    };
    if (statement_is_conditional(statement)) return 0; /* it lists none */
    struct rounds rounds = {.statement = statement};
    rounds.mu = accountant_mu(statement->epsilon, statement->delta) * MECHANISM_MU_SPENT;
    if (strcmp(statement->mechanism, MECHANISM_BIASES) == 0) expect_biases(&rounds, 1);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(statement->mechanism, rules[i].mechanism) == 0) rules[i].expect(&rounds, k);
    return rounds.wrong || rounds.n != statement->n_releases ? refuse(&rounds, error) : 0;
}

/*
 * The arithmetic of a statement: what its releases cost together, every figure rounded up, and
 * whether what it claims fits. Fed by a mechanism that lists its releases, or by a statement that
 * was read; feeds statement_json.c, statement_text.c and the verification.
 *
 * What is claimed. The releases are Gaussian mechanisms of sensitivity 1 (the grid's norm bound)
 * with noise of sigma / 2^bits, each chosen from public constants and earlier releases alone, so
 * that together they are mu-GDP with mu^2 the sum of (2^bits / sigma)^2; noise that is rounded is
 * post-processing. g ids of one person shift a sum by at most g, so they are g mu-GDP together.
 *
 * A conditional statement lists no releases. What it claims follows from the bound on a user's loss
 * and from the scale that is put on it (posterior_rule.h), for an exact draw; g ids are g
 * epsilon-private together.
 */
#include "statement/statement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "statement/accountant.h"
#include "statement/events_rule.h"
#include "statement/mechanism_names.h"
#include "statement/posterior_rule.h"
#include "statement/residual_rule.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

enum { DIGITS = 6 }; /* digits of a figure */

/* Whole numbers up to here are the same in every reader of JSON. */
static const uint64_t whole_max = UINT64_C(1) << 53;

/* ---- mechanisms ------------------------------------------------------------------------------ */

bool statement_is_conditional(const struct statement *statement) {
    return statement->mechanism && strcmp(statement->mechanism, MECHANISM_POSTERIOR) == 0;
}

bool statement_is_of_events(const struct statement *statement) {
    return statement->mechanism && strcmp(statement->mechanism, MECHANISM_EVENTS) == 0;
}

const char *statement_mechanism_find(const char *name) {
    static const char *const names[] = MECHANISM_NAMES;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return names[i];
    return NULL;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Never below `value`. */
static double round_up(double value) { return dpmf_round_digits(value, DIGITS, true); }

/* 2^bits / sigma, rounded up: the quotient is within half a unit of its last place. */
static double release_mu(const struct statement_release *release) {
    return nextafter(ldexp(1, (int)release->bits) / (double)release->sigma, INFINITY);
}

double statement_mu(const struct statement *statement) {
    double mu[STATEMENT_RELEASES_MAX];
    size_t n = statement->n_releases;
    if (n > STATEMENT_RELEASES_MAX) return NAN;
    for (size_t i = 0; i < n; i++) mu[i] = release_mu(&statement->releases[i]);
    return accountant_compose(mu, n);
}

static struct posterior_rule rule_of(const struct statement *statement) {
    return (struct posterior_rule){.epsilon = statement->epsilon,
                                   .range = statement->range_max - statement->range_min,
                                   .kappa = statement->posterior.kappa,
                                   .rho = statement->posterior.rho,
                                   .max_ratings = statement->posterior.max_ratings,
                                   .factors = statement->posterior.factors,
                                   .rounds = statement->posterior.rounds};
}

/* posterior_rule.h derives what one rating costs. */
static void compute_conditional(const struct statement *statement,
                                struct statement_figures *figures) {
    const struct posterior_rule rule = rule_of(statement);
    const double share = statement->epsilon / statement->posterior.max_ratings;
    *figures = (struct statement_figures){.loss_bound = posterior_bound(&rule),
                                          .loss_scale = rule.epsilon / posterior_bound(&rule),
                                          .replaced = 2 * statement->posterior.rho * share};
    if (statement->posterior.rho == 1) figures->added = share;
    for (int i = 0; i < STATEMENT_GROUPS; i++) figures->group[i] = (i + 2) * statement->epsilon;
}

/* As the accountant gives them. */
static void compute_figures(const struct statement *statement, struct statement_figures *figures) {
    if (statement_is_conditional(statement)) {
        compute_conditional(statement, figures);
        return;
    }
    const double mu = statement_mu(statement), delta = statement->delta;
    *figures = (struct statement_figures){.mu = mu};
    figures->exact = accountant_epsilon(mu, delta);
    figures->renyi = accountant_epsilon_renyi(mu, delta);
    for (int i = 0; i < STATEMENT_GROUPS; i++)
        figures->group[i] = accountant_epsilon(nextafter((i + 2) * mu, INFINITY), delta);
    for (int i = 0; i < STATEMENT_DELTAS; i++)
        figures->at_delta[i] = accountant_epsilon(mu, statement_deltas[i]);
    for (size_t i = 0; i < statement->n_releases && i < STATEMENT_RELEASES_MAX; i++)
        figures->release[i] = release_mu(&statement->releases[i]);
}

void statement_figures_make(const struct statement *statement, struct statement_figures *figures) {
    compute_figures(statement, figures);
    figures->mu = round_up(figures->mu);
    figures->exact = round_up(figures->exact);
    figures->renyi = round_up(figures->renyi);
    for (int i = 0; i < STATEMENT_GROUPS; i++) figures->group[i] = round_up(figures->group[i]);
    for (int i = 0; i < STATEMENT_DELTAS; i++)
        figures->at_delta[i] = round_up(figures->at_delta[i]);
    for (size_t i = 0; i < statement->n_releases && i < STATEMENT_RELEASES_MAX; i++)
        figures->release[i] = round_up(figures->release[i]);
    figures->loss_bound = round_up(figures->loss_bound);
    figures->replaced = round_up(figures->replaced);
    figures->added = round_up(figures->added);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int refuse(struct dpmf_error *error, const char *what) {
    error_set(error, DPMF_ERR_PRIVACY_NOT_VERIFIED, "the statement does not hold: %s", what);
    error_hint(error, "do not rely on it; ask whoever published the release for a valid one");
    return DPMF_ERR_PRIVACY_NOT_VERIFIED;
}

static int refuse_release(struct dpmf_error *error, const struct statement_release *release,
                          const char *what) {
    char text[160];
    snprintf(text, sizeof text, "its noisy round \"%.23s\" %s", release->name, what);
    return refuse(error, text);
}

/* Free text would be a place to say what nobody proved. */
bool statement_round_is_known(const char *name) {
    static const char *const whole[] = {"counts and biases", "pairs of items", "moments",
                                        "popularity", "vote"};
    static const char *const numbered[] = {"round ", "step "};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strcmp(name, whole[i]) == 0) return true;
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        const size_t n = strlen(numbered[i]);
        if (strncmp(name, numbered[i], n) != 0) continue;
        const char *number = name + n;
        const size_t digits = strspn(number, "0123456789");
        return digits >= 1 && digits <= 3 && number[digits] == '\0' && number[0] != '0';
    }
    return false;
}

static int check_release(const struct statement_release *release, struct dpmf_error *error) {
    if (!memchr(release->name, '\0', sizeof release->name) ||
        !statement_round_is_known(release->name))
        return refuse(error, "a noisy round has a name that no mechanism gives");
    if (release->bits > STATEMENT_BITS_MAX)
        return refuse_release(error, release, "is on too fine a grid");
    if (release->sigma < 1 || release->sigma > whole_max)
        return refuse_release(error, release, "has no usable noise");
    if (release->coordinates < 1 || release->coordinates > whole_max)
        return refuse_release(error, release, "has no usable size");
    if (release->draws != release->coordinates)
        return refuse_release(error, release, "took another number of draws than it has numbers");
    return 0;
}

static int check_claim(const struct statement *statement, struct dpmf_error *error) {
    double mu = statement_mu(statement), delta = statement->delta;
    char text[160];
    if (!(statement->epsilon > 0) || !isfinite(statement->epsilon))
        return refuse(error, "epsilon is not above 0");
    if (!(delta > 0) || !(delta < 1)) return refuse(error, "delta is not between 0 and 1");
    if (mu <= accountant_mu(statement->epsilon, delta)) return 0;
    double epsilon = accountant_epsilon(mu, delta);
    if (epsilon <= statement->epsilon) return 0;
    char claimed[DPMF_DOUBLE_TEXT_MAX], made[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(statement->epsilon, claimed);
    dpmf_format_double(round_up(epsilon), made);
    snprintf(text, sizeof text, "it claims epsilon %s, but its noisy rounds cost %s", claimed,
             made);
    return refuse(error, text);
}

/* a B <= epsilon with the public numbers that are listed, and nothing else: whether the draw is
 * one, no file can show. */
static int check_conditional(const struct statement *statement, struct dpmf_error *error) {
    const struct statement_posterior *posterior = &statement->posterior;
    const struct posterior_rule rule = rule_of(statement);
    if (!(statement->epsilon > 0) || !isfinite(statement->epsilon))
        return refuse(error, "epsilon is not above 0");
    if (statement->delta != 0) return refuse(error, "a conditional one has no delta");
    if (statement->n_releases != 0) return refuse(error, "a conditional one lists no noisy rounds");
    if (posterior->max_ratings < 1 || posterior->rounds < 1 || posterior->factors < 1)
        return refuse(error, "its sampler has no bound, no rounds or no factors");
    if (!(posterior->kappa >= 0) || !isfinite(posterior->kappa) || !(posterior->rho >= 1) ||
        !isfinite(posterior->rho))
        return refuse(error, "its loss has no bound");
    if (!isfinite(posterior_bound(&rule)) ||
        !(posterior_scale(&rule) * posterior_bound(&rule) <= statement->epsilon))
        return refuse(error, "its loss is scaled by more than epsilon allows");
    return 0;
}

int statement_check(const struct statement *statement, struct dpmf_error *error) {
    if (!statement->mechanism || !statement_mechanism_find(statement->mechanism))
        return refuse(error, "there is no such mechanism");
    if (!isfinite(statement->range_min) || !isfinite(statement->range_max) ||
        !(statement->range_min < statement->range_max))
        return refuse(error, "its range of ratings is empty");
    if (statement_is_of_events(statement) &&
        (statement->range_min != 0 || statement->range_max != 1))
        return refuse(error, "events have no range of ratings");
    if (statement->items > whole_max || statement->declared_users > whole_max)
        return refuse(error, "it counts more items or users than there can be");
    if (!cohort_is_valid(&statement->cohort))
        return refuse(error, "the period of first records is empty");
    if (statement_is_conditional(statement)) return check_conditional(statement, error);
    if (statement->n_releases < 1 || statement->n_releases > STATEMENT_RELEASES_MAX)
        return refuse(error, "it lists no noisy round, or too many");
    for (size_t i = 0; i < statement->n_releases; i++) {
        int code = check_release(&statement->releases[i], error);
        if (code < 0) return code;
    }
    return check_claim(statement, error);
}

/* The very figure that is written of `made`: there is no slack to hide anything in. */
static bool is_written(double read, double made) {
    return isfinite(read) && read == round_up(made);
}

/* The same of what logarithms went into: another machine's may differ in their last bits, which
 * matters only where they are next to a digit's end. */
static bool fits(double read, double made) {
    const double hair = 1e-11;
    return is_written(read, made) || is_written(read, made * (1 - hair)) ||
           is_written(read, made * (1 + hair));
}

int statement_figures_check(const struct statement *statement,
                            const struct statement_figures *figures, struct dpmf_error *error) {
    struct statement_figures made;
    compute_figures(statement, &made);
    if (statement_is_conditional(statement)) {
        if (!is_written(figures->loss_bound, made.loss_bound) ||
            figures->loss_scale != made.loss_scale)
            return refuse(error, "the bound or the scale of the loss does not fit its settings");
        if (!is_written(figures->replaced, made.replaced) ||
            !is_written(figures->added, made.added))
            return refuse(error, "the epsilon of one rating does not fit its settings");
    }
    for (size_t i = 0; i < statement->n_releases && i < STATEMENT_RELEASES_MAX; i++)
        if (!is_written(figures->release[i], made.release[i]))
            return refuse_release(error, &statement->releases[i],
                                  "has another mu than its noise gives");
    const bool is_proven = !statement_is_conditional(statement);
    if (is_proven && !is_written(figures->mu, made.mu))
        return refuse(error, "mu is not that of its noisy rounds");
    if (is_proven && !fits(figures->exact, made.exact))
        return refuse(error, "the exact epsilon does not fit mu");
    if (is_proven && !fits(figures->renyi, made.renyi))
        return refuse(error, "the Renyi epsilon does not fit mu");
    const bool lists_deltas = is_proven && statement->format != STATEMENT_FORMAT_FIRST;
    for (int i = 0; lists_deltas && i < STATEMENT_DELTAS; i++)
        if (!fits(figures->at_delta[i], made.at_delta[i]))
            return refuse(error, "epsilon at another delta does not fit mu");
    for (int i = 0; i < STATEMENT_GROUPS; i++)
        if (!fits(figures->group[i], made.group[i]))
            return refuse(error, "the epsilon of a group does not fit mu");
    return 0;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Whether rounds of so many columns, `learned` of them measured, have the size that is stated. n is
 * below 2^32 and there are at most 4,096 columns: nothing overflows. */
static bool fits_round(const struct statement *statement, uint64_t n, size_t columns,
                       size_t learned) {
    return statement->releases[1].coordinates ==
           n * (learned + UINT64_C(1)) + residual_moments_n(columns);
}

/* Sizes alone can fit several numbers of columns where there are few items: the number of rounds
 * tells them apart. */
size_t statement_learned_columns(const struct statement *statement, uint64_t n, uint32_t k) {
    const uint32_t version = statement->rule_version;
    const size_t rounds = statement->n_releases - 1;
    for (int is_strict = 1; is_strict >= 0; is_strict--)
        for (size_t K = k < RULE_WIDTH_MAX ? k : RULE_WIDTH_MAX; K > 0; K--) {
            if (K != k && (version < RESIDUAL_RULE_WITH_HOME || K + residual_rule_home(K) != k))
                continue;
            for (size_t learned = 1; learned <= K && learned <= RULE_FACTORS_MAX; learned++)
                if (fits_round(statement, n, K, learned) &&
                    (!is_strict || residual_rule_rounds(learned, version) == rounds))
                    return learned;
        }
    return 0;
}

/* First a release of a count and a sum for each item, and a few scalars. Then, for each round, one
 * of the measured columns; the other columns are made from what is public. Without factors, the
 * first one again. */
static int check_residual(const struct statement *statement, uint64_t n, uint32_t k,
                          struct dpmf_error *error) {
    const uint64_t first = n * BIAS_RELEASE_WIDTH + BIAS_RELEASE_TAIL;
    uint64_t other = first;
    if (k > 0 && statement->n_releases < 2)
        return refuse(error, "it has item vectors, but no noisy round that they could come from");
    if (k > 0 && statement_learned_columns(statement, n, k) > 0)
        other = statement->releases[1].coordinates;
    if (k > 0 && other == first)
        return refuse_release(error, &statement->releases[1],
                              "is not of a size that its items and factors can give");
    for (size_t i = 0; i < statement->n_releases; i++)
        if (statement->releases[i].coordinates != (i == 0 ? first : other))
            return refuse_release(error, &statement->releases[i],
                                  "is not of the size that its items and factors give");
    return 0;
}

/* The size of noisy sum i of `events`: popularity twice; then, with factors, the rounds, the first
 * of which may be wider, and the vote. */
static bool fits_events(const struct statement *statement, size_t i, uint64_t n, uint32_t k) {
    const uint64_t size = statement->releases[i].coordinates;
    const size_t rounds = 2 + EVENTS_ROUNDS;
    if (i < 2) return size == n;
    if (i == rounds) return size == EVENTS_WEIGHTS;
    if (i > 2) return size == n * k;
    return size >= n * k && size <= n * events_rule_start_width(k, EVENTS_FACTORS_MAX) &&
           size % n == 0;
}

static int check_events(const struct statement *statement, uint64_t n, uint32_t k,
                        struct dpmf_error *error) {
    const size_t expected = k > 0 ? 3 + EVENTS_ROUNDS : 2;
    if (k > EVENTS_FACTORS_MAX || n == 0)
        return refuse(error, "no such mechanism makes its factors");
    if (statement->n_releases != expected)
        return refuse(error, "it lists another number of noisy sums than its factors take");
    for (size_t i = 0; i < expected; i++)
        if (!fits_events(statement, i, n, k))
            return refuse_release(error, &statement->releases[i],
                                  "is not of the size that its items and factors give");
    return 0;
}

int statement_shape_check(const struct statement *statement, uint64_t items, uint32_t k,
                          struct dpmf_error *error) {
    uint64_t published = 0;
    if (items >= UINT32_MAX || k > 4096) return refuse(error, "there are too many numbers");
    if (statement->items != items)
        return refuse(error, "it names another number of items than the file holds");
    if (statement_is_conditional(statement))
        return k == statement->posterior.factors
                   ? 0
                   : refuse(error, "it names another number of factors than the file holds");
    if (strcmp(statement->mechanism, MECHANISM_BIASES) == 0 && k > 0)
        return refuse(error, "its mechanism makes no item vectors");
    /* Columns that are made from what is public may be more than those that were measured. */
    if (strcmp(statement->mechanism, MECHANISM_RESIDUAL) == 0 ||
        strcmp(statement->mechanism, MECHANISM_BIASES) == 0)
        return check_residual(statement, items, k, error);
    for (size_t i = 0; i < statement->n_releases; i++)
        published += statement->releases[i].coordinates;
    if (published < items * (k + UINT64_C(1)))
        return refuse(error, "the file holds more numbers than were published with noise");
    return statement_is_of_events(statement) ? check_events(statement, items, k, error) : 0;
}

/*
 * The options of a private run, and what is refused before any data is touched: promises that could
 * not be kept, and things that would have to be taken from the ratings because nobody declared
 * them. Used by release_make.c and the audit, so that what is audited is what is made.
 */
#include "release/release_options.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "dpmf_text.h"
#include "statement/accountant.h"
#include "store/store.h"

/* Vectors are kept in single precision, and squares of ratings are computed. */
static const double largest_rating = 1e18, narrowest_range = 1e-18;

/* Bounds on a conditional release's epsilon: below, its scale is no normal number, and rounding is
 * not what the proof allows for. */
static const double smallest_epsilon = 1e-200, largest_epsilon = 1e9;

/* The least epsilon of a proven release. What delta alone allows is epsilon 0 in every digit that
 * is printed. */
static const double least_proven_epsilon = 1e-6;

void dpmf_release_options_init(struct dpmf_release_options *options, size_t size) {
    const struct dpmf_release_options made = {
        .size = sizeof made,
        .delta = 1e-5,
        .range_min = NAN,
        .range_max = NAN,
        .posterior = {.max_ratings = POSTERIOR_MAX_RATINGS, .kappa = NAN, .rho = 1}};
    options_give(options, size, &made, sizeof made);
}

int release_options_take(struct dpmf_release_options *own,
                         const struct dpmf_release_options *options, struct dpmf_error *error) {
    *own = dpmf_release_options_default();
    int code = options_take(own, sizeof *own, options, "release_options", error);
    if (code < 0) return code;
    return options_check_spare(own->posterior.spare, sizeof own->posterior.spare,
                               "posterior_options", error);
}

const char *dpmf_mechanism_name(size_t i, const char **description) {
    const struct mechanism *mechanism = mechanism_at(i);
    if (mechanism && description) *description = mechanism->description;
    return mechanism ? mechanism->name : NULL;
}

bool dpmf_mechanism_is_conditional(const char *name) {
    const struct mechanism *mechanism = name ? mechanism_find(name) : NULL;
    return mechanism && mechanism->is_conditional;
}

int release_options_refuse(struct dpmf_error *error, const char *message, const char *hint) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED, "%s", message);
    error_hint_text(error, hint);
    return code;
}

/* ---- the goal -------------------------------------------------------------------------------- */

struct dpmf_release_options release_options_settle(const struct dpmf_release_options *options,
                                                   const struct dpmf_store *store) {
    struct dpmf_release_options settled = *options;
    if (!settled.goal && store_holds_events(store)) settled.goal = "ranking";
    return settled;
}

void release_options_range(struct dpmf_release_options *options,
                           const struct mechanism *mechanism) {
    if (mechanism->ranks) options->range_min = 0, options->range_max = 1;
}

static int find_mechanism(const struct dpmf_release_options *options,
                          const struct mechanism **mechanism, struct dpmf_error *error) {
    const char *goal = options->goal;
    const bool ranks = goal && strcmp(goal, "ranking") == 0;
    if (goal && !ranks && strcmp(goal, "rating") != 0)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there is no goal \"%.40s\"", goal);
    *mechanism = mechanism_for(options->mechanism, ranks);
    if (!*mechanism)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there is no mechanism \"%.40s\"",
                         options->mechanism);
    if (!goal || (*mechanism)->ranks == ranks) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "the mechanism \"%s\" is for %s, not for %s",
              (*mechanism)->name, ranks ? "ratings" : "events", ranks ? "events" : "ratings");
    error_hint(error, "leave the {mechanism} out: the goal decides");
    return DPMF_ERR_USAGE_CONFLICT;
}

static int refuse_range(struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "events have no range of ratings");
    error_hint(error, "leave the {rating-range} out");
    return DPMF_ERR_USAGE_CONFLICT;
}

static int check_range(const struct dpmf_release_options *options, bool ranks,
                       struct dpmf_error *error) {
    if (ranks) {
        const bool is_none = isnan(options->range_min) && isnan(options->range_max);
        const bool is_settled = options->range_min == 0 && options->range_max == 1;
        return is_none || is_settled ? 0 : refuse_range(error);
    }
    if (isnan(options->range_min) || isnan(options->range_max))
        return release_options_refuse(
            error,
            "a private release needs the range of ratings to be declared: the smallest and "
            "the largest one given are private",
            "give it with {rating-range}, e.g. {rating-range 1:5}");
    if (!(options->range_min < options->range_max))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the range of ratings needs the lowest first, as 1 to 5");
    if (!(fabs(options->range_min) <= largest_rating && fabs(options->range_max) <= largest_rating))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "ratings must be within %g and %g",
                         -largest_rating, largest_rating);
    if (!(options->range_max - options->range_min >= narrowest_range))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the range of ratings must be at least %g wide", narrowest_range);
    return 0;
}

static int check_declared(const struct dpmf_release_options *options, bool ranks,
                          struct dpmf_error *error) {
    if (!options->catalogue && !options->catalogue_from_ratings)
        return release_options_refuse(
            error, "a private release needs a public catalogue: which items were rated is private",
            "give the list of all items with {catalogue FILE}");
    if (options->catalogue && options->catalogue_from_ratings)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "the catalogue is either given or taken from the ratings");
    return check_range(options, ranks, error);
}

static int check_delta(const struct dpmf_release_options *options, struct dpmf_error *error) {
    if (!(options->delta > 0) || !(options->delta < 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "delta must be between 0 and 1");
    return 0;
}

#define ACCEPT_DELTA "or accept it with {accept-delta}: the release is then partial, not proven"

static int refuse_delta(const struct dpmf_release_options *options, struct dpmf_error *error) {
    const double users = (double)options->declared_users;
    int code;
    if (options->delta > DPMF_DELTA_USUAL_MAX) {
        char delta[DPMF_DOUBLE_TEXT_MAX];
        dpmf_format_double(options->delta, delta); /* all of its digits: it may be hardly above */
        code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "delta %s is above %g: it allows for people whose ratings are published "
                         "outright",
                         delta, DPMF_DELTA_USUAL_MAX);
        error_hint(error, "use a smaller delta, " ACCEPT_DELTA);
        return code;
    }
    code = error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                     "delta %g is not below one in %.0f users: one of them might be exposed "
                     "altogether",
                     options->delta, users);
    error_hint(error, "use a delta below %g, " ACCEPT_DELTA, 1 / users);
    return code;
}

int release_options_check_accepted(const struct dpmf_release_options *options,
                                   const struct mechanism *mechanism, struct dpmf_error *error) {
    const double delta = mechanism->is_conditional ? 0 : options->delta;
    const unsigned excess = dpmf_privacy_excess(options->epsilon, delta, options->declared_users);
    if (excess & DPMF_ASSUMES_DELTA && !options->accept_delta) return refuse_delta(options, error);
    if (!(excess & DPMF_ASSUMES_EPSILON) || options->accept_epsilon) return 0;
    if (delta == 0)
        error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                  "epsilon %g is above %d: guesses about a person may be right nearly always",
                  options->epsilon, DPMF_EPSILON_USUAL_MAX);
    else
        error_set(
            error, DPMF_ERR_PRIVACY_REFUSED,
            "epsilon %g at delta %g is above mu %g, which is epsilon 20 at delta 1e-5: guesses "
            "about a person may be right nearly always",
            options->epsilon, delta, DPMF_MU_USUAL_MAX);
    error_hint(error, "use a smaller epsilon, or accept it with {accept-epsilon}: the release is "
                      "then not proven");
    return DPMF_ERR_PRIVACY_REFUSED;
}

/* ---- the sampler ----------------------------------------------------------------------------- */

static int check_posterior(const struct dpmf_release_options *options, struct dpmf_error *error) {
    if (options->posterior.max_ratings < 1 ||
        options->posterior.max_ratings > POSTERIOR_MAX_RATINGS_MAX)
        return release_options_refuse(
            error,
            options->posterior.max_ratings < 1
                ? "without a bound on how many ratings of a user count, no loss is bounded"
                : "the number of ratings of a user that count is too large",
            "use {max-ratings} with a number from 1 to 16777216, e.g. {max-ratings 100}");
    if (!isnan(options->posterior.kappa) &&
        !(options->posterior.kappa >= 0 && options->posterior.kappa <= largest_rating))
        return release_options_refuse(
            error,
            options->posterior.kappa < 0
                ? "kappa is below 0 or not a number: predictions must reach the whole range"
                : "kappa is not finite, or larger than any rating may be",
            "use {kappa} with a number from 0 to 1e18, in the units of the ratings");
    if (!(options->posterior.rho >= 1 && options->posterior.rho <= POSTERIOR_MAX_RATINGS_MAX))
        return release_options_refuse(error, "rho is not a number from 1 to 16777216",
                                      "use {rho 1}, or leave it out");
    if (options->posterior.factors > POSTERIOR_FACTORS_MAX ||
        options->posterior.rounds > POSTERIOR_ROUNDS_MAX ||
        options->posterior.chains > POSTERIOR_CHAINS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the posterior has at most %d factors, %d rounds and %d chains",
                         POSTERIOR_FACTORS_MAX, POSTERIOR_ROUNDS_MAX, POSTERIOR_CHAINS_MAX);
    if (options->epsilon > largest_epsilon)
        return release_options_refuse(error, "no ledger can account for such a large epsilon",
                                      "use an {epsilon} of at most 1e9");
    if (options->epsilon < smallest_epsilon)
        return release_options_refuse(error, "no arithmetic can keep such a small epsilon",
                                      "use an {epsilon} of at least 1e-200");
    if (options->item_features)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "the mechanism \"posterior\" does not use item features");
    return 0;
}

struct posterior_rule release_options_posterior(const struct dpmf_release_options *options) {
    double range = options->range_max - options->range_min;
    return (struct posterior_rule){
        .epsilon = options->epsilon,
        .range = range,
        .kappa = isnan(options->posterior.kappa) ? range / 4 : options->posterior.kappa,
        .rho = options->posterior.rho,
        .max_ratings = options->posterior.max_ratings,
        .factors = options->posterior.factors > 0 ? options->posterior.factors : POSTERIOR_FACTORS,
        .rounds = options->posterior.rounds > 0 ? options->posterior.rounds : POSTERIOR_ROUNDS,
        .chains = options->posterior.chains > 0 ? options->posterior.chains : POSTERIOR_CHAINS,
    };
}

/* ---- new users ------------------------------------------------------------------------------- */

static int refuse_cohort(struct dpmf_error *error, int code, const char *what, const char *hint) {
    error_set(error, code, "%s", what);
    error_hint_text(error, hint);
    return code;
}

/* Refuses the declaration that histories are complete where a setting of dpmf's own leaves records
 * out, so that it is not dpmf that makes the declaration false. By what was declared alone: whether
 * a record was in fact left out may be one person's doing, and must not decide whether there is a
 * release. So a record that could not be read, and a pair that was repeated, are no reason: what
 * the curator declares has them in its words (cohort.h). */
static int check_complete(const struct dpmf_store *store, struct dpmf_error *error) {
    const struct store_layout *layout = store_layout_of(store);
    const char *why, *hint;
    if (layout->holds_events) {
        why = "repeated events keep their latest time, and likes leave other ratings out: a "
              "user's first record may be missing";
        hint = "leave {complete-histories} out: the ledger then adds releases up in full";
    } else if (layout->has_half || store_layout_is_half(layout)) {
        why = "a half of a split is in it: first records may be in the other half";
        hint = "leave {complete-histories} out, or give the ratings that were split";
    } else if (layout->is_ranged) {
        why = "ratings outside a range were left out on import: a user's first record may be "
              "missing";
        hint = "leave {complete-histories} out, or import the ratings again without a range: that "
               "of the release is enough";
    } else {
        return 0;
    }
    refuse_cohort(error, DPMF_ERR_PRIVACY_REFUSED, why, hint);
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

int release_options_cohort(const struct dpmf_release_options *options,
                           const struct dpmf_store *store, struct cohort *cohort,
                           struct dpmf_error *error) {
    const struct store_layout *layout = store_layout_of(store);
    const char *fault = cohort_declare(options->users_since, options->users_before,
                                       options->complete_histories, cohort);
    if (fault)
        return refuse_cohort(error, DPMF_ERR_USAGE_VALUE, fault,
                             "for example: {users-since 2026-01-01} {users-before 2026-07-01}");
    if (!cohort->is_declared) return 0;
    if (options->catalogue_from_ratings)
        return refuse_cohort(error, DPMF_ERR_USAGE_CONFLICT,
                             "a catalogue made from the ratings would show what users of other "
                             "dates rated",
                             "give a {catalogue} that was not made from the ratings");
    if (store_layout_has_no_times(layout)) {
        refuse_cohort(error, DPMF_ERR_PRIVACY_REFUSED,
                      "these ratings have no times: nobody's first record is known",
                      "give ratings with a column of times, or leave {users-since} and "
                      "{users-before} out");
        error_place(error, store_path(store), 0, 0);
        return DPMF_ERR_PRIVACY_REFUSED;
    }
    return cohort->is_complete ? check_complete(store, error) : 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int release_options_check(const struct dpmf_release_options *options,
                          const struct mechanism **mechanism, double *mu,
                          struct dpmf_error *error) {
    int code = find_mechanism(options, mechanism, error);
    if (code < 0) return code;
    if (!(options->epsilon > 0) || !isfinite(options->epsilon)) {
        if ((*mechanism)->is_conditional)
            return release_options_refuse(error, "epsilon must be a finite number above 0",
                                          "for example: {epsilon 1}");
        return error_set(error, DPMF_ERR_USAGE_VALUE, "epsilon must be a finite number above 0");
    }
    code = check_declared(options, (*mechanism)->ranks, error);
    if (code == 0)
        code = (*mechanism)->is_conditional ? check_posterior(options, error)
                                            : check_delta(options, error);
    if (code < 0) return code;
    if ((*mechanism)->is_conditional) {
        *mu = accountant_mu_pure(options->epsilon);
        return 0;
    }
    if (options->epsilon < least_proven_epsilon)
        return release_options_refuse(error,
                                      "epsilon is below 1e-6: beside delta it would mean nothing",
                                      "use an {epsilon} of at least 0.000001");
    *mu = accountant_mu(options->epsilon, options->delta);
    if (!(*mu > 0))
        return release_options_refuse(error, "no release can keep such a small epsilon and delta",
                                      "use a larger {epsilon} or {delta}");
    return 0;
}

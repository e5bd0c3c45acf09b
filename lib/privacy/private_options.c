/*
 * The options of a private run, and what is refused before any data is touched: promises that could not be kept, and
 * things that would have to be taken from the ratings because nobody declared them. Used by private_train.c and the
 * audit, so that what is audited is what is made.
 */
#include "privacy/private_options.h"

#include <math.h>

#include "base/error.h"
#include "privacy/accountant.h"

/* Vectors are kept in single precision, and squares of ratings are computed. */
static const double largest_rating = 1e18;

struct dpmf_private_options dpmf_private_options_default(void) {
    return (struct dpmf_private_options){.delta = 1e-5, .range_min = NAN, .range_max = NAN};
}

const char *dpmf_mechanism_name(size_t i, const char **description) {
    const struct mechanism *mechanism = mechanism_at(i);
    if (mechanism && description) *description = mechanism->description;
    return mechanism ? mechanism->name : NULL;
}

int private_options_refuse(struct dpmf_error *error, const char *message, const char *hint) {
    int code = error_set(error, DPMF_ERR_PRIVACY_REFUSED, "%s", message);
    error_hint(error, "%s", hint);
    return code;
}

static int check_declared(const struct dpmf_private_options *options, struct dpmf_error *error) {
    if (!options->catalogue && !options->catalogue_from_ratings)
        return private_options_refuse(
            error, "a private release needs a public catalogue: which items were rated is private",
            "give the list of all items with --catalogue FILE");
    if (options->catalogue && options->catalogue_from_ratings)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "the catalogue is either given or taken from the ratings");
    if (isnan(options->range_min) || isnan(options->range_max))
        return private_options_refuse(
            error,
            "a private release needs the range of ratings to be declared: the smallest and "
            "the largest one given are private",
            "give it with --rating-range, e.g. --rating-range 1:5");
    if (!(options->range_min < options->range_max))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the range of ratings must not be empty");
    if (!(fabs(options->range_min) <= largest_rating && fabs(options->range_max) <= largest_rating))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "ratings must be within %g and %g",
                         -largest_rating, largest_rating);
    if (options->declared_users > 0 && options->delta >= 1 / (double)options->declared_users) {
        int code =
            error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                      "delta %g is not below one in %.0f users: one of them might be exposed "
                      "altogether",
                      options->delta, (double)options->declared_users);
        error_hint(error, "use a --delta below %g", 1 / (double)options->declared_users);
        return code;
    }
    return 0;
}

int private_options_check(const struct dpmf_private_options *options,
                          const struct mechanism **mechanism, double *mu,
                          struct dpmf_error *error) {
    if (!(options->epsilon > 0) || !isfinite(options->epsilon))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "epsilon must be above 0");
    if (!(options->delta > 0) || !(options->delta < 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "delta must be between 0 and 1");
    *mechanism = mechanism_find(options->mechanism);
    if (!*mechanism)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there is no mechanism \"%.40s\"",
                         options->mechanism);
    int code = check_declared(options, error);
    if (code < 0) return code;
    *mu = accountant_mu(options->epsilon, options->delta);
    if (!(*mu > 0))
        return private_options_refuse(error, "no release can keep such a small epsilon and delta",
                                      "use a larger --epsilon or --delta");
    return 0;
}

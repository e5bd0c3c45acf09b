/*
 * dpmf train --goal both. A file holds a model of ratings or one that ranks, and a release is made
 * by one mechanism, whose statement is about it alone. So both goals are two runs, and what they
 * need to know of each other is how to share one budget: releases add up as mu^2, so each may spend
 * the epsilon of mu / sqrt(2), and the ledger counts both against one population.
 */
#include "train/command_train_both.h"

#include <math.h>
#include <stdio.h>

#include "cli/shared_options.h"
#include "cli/text.h"
#include "shared/privacy_figures.h"

const char *train_goal_choices(size_t i, const char **description) {
    static const char *const names[] = {"rating", "ranking", "both", NULL};
    return choice_listed(names, i, description);
}

/* The largest epsilon of five digits that two releases may spend each. */
static struct figure half_of(double epsilon, double delta) {
    const double mu = dpmf_privacy_mu(epsilon, delta) / sqrt(2);
    return figures_down(dpmf_privacy_epsilon(nextafter(mu, 0), delta) * (1 - 1e-9));
}

int train_both_explain(const struct invocation *invocation) {
    static const char *const what = "a model predicts ratings or ranks: --goal both takes two runs";
    double delta = dpmf_release_options_default().delta;
    char hint[300];
    if (!command_has(invocation, OPTION_EPSILON))
        return terminal_error_print(STATUS_USAGE,
                                    "run it with --goal rating, and with --goal ranking "
                                    "and another --output",
                                    "%s", what);
    const double epsilon = options_number(invocation, OPTION_EPSILON);
    if (command_has(invocation, OPTION_DELTA)) delta = options_number(invocation, OPTION_DELTA);
    int status = figures_epsilon_check(epsilon);
    if (status == STATUS_DONE && !(delta > 0 && delta < 1))
        status = terminal_error_print(STATUS_USAGE, "for example: --delta 1e-5",
                                      "--delta is a number above 0 and below 1");
    if (status != STATUS_DONE) return status;
    snprintf(hint, sizeof hint,
             "run it with --goal rating, and with --goal ranking and another --output, both with "
             "--epsilon %s and one --population: together they cost at most epsilon %s",
             half_of(epsilon, delta).text, text_double(epsilon).text);
    return terminal_error_print(STATUS_USAGE, hint, "%s", what);
}

/*
 * Figures of privacy as people read them. What is printed is what somebody will quote, so the
 * rounding of the last digit keeps the side that the accountant took. Fed by and feeding the
 * command_privacy_*.c files.
 */
#include "shared/privacy_figures.h"

#include <math.h>
#include <stdio.h>

#include "cli/options.h"
#include "dpmf_text.h"

enum { DIGITS = 5 };

static struct figure round_to(double value, bool up) {
    struct figure figure;
    if (isinf(value))
        snprintf(figure.text, sizeof figure.text, "unbounded");
    else
        snprintf(figure.text, sizeof figure.text, "%.*g", DIGITS,
                 dpmf_round_digits(value, DIGITS, up));
    return figure;
}

struct figure figures_up(double value) {
    return round_to(value, true);
}

struct figure figures_down(double value) {
    return round_to(value, false);
}

struct figure figures_exact(double value) {
    struct figure figure;
    dpmf_format_double(value, figure.text);
    return figure;
}

bool figures_mu_is_sound(double mu) { return mu >= 1e-9 && mu <= 1000; }

int figures_epsilon_check(double epsilon) {
    if (epsilon >= 1e-6 && epsilon <= 1000) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: --epsilon 1",
                                "--epsilon %s is not from 0.000001 to 1000",
                                figures_exact(epsilon).text);
}

int figures_delta_read(const struct invocation *invocation, double *delta) {
    *delta = command_has(invocation, OPTION_DELTA) ? options_number(invocation, OPTION_DELTA)
                                                   : dpmf_release_options_default().delta;
    if (*delta >= 1e-300 && *delta <= 0.5) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: --delta 1e-6",
                                "--delta %s is not from 1e-300 to 0.5",
                                invocation->value[OPTION_DELTA]);
}

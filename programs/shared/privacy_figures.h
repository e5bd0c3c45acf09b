/*
 * Figures of privacy as people read them, rounded against the release, and the checks of --epsilon
 * and --delta: shared by the commands of `dpmf privacy`.
 */
#ifndef DPMF_PROGRAMS_PRIVACY_FIGURES_H
#define DPMF_PROGRAMS_PRIVACY_FIGURES_H

#include "cli/command.h"

/* A short text by value, so that several fit in one printf. */
struct figure {
    char text[32];
};

/* Five digits, the last of them never below (up) or never above (down) the value; "unbounded" for
 * infinity. */
struct figure figures_up(double value);
struct figure figures_down(double value);

/* The shortest text that reads back as the same number. */
struct figure figures_exact(double value);

bool figures_mu_is_sound(double mu);

/* @return 0, or an exit status after printing what is wrong */
int figures_epsilon_check(double epsilon);

/* --delta or its default, checked in the same way. */
int figures_delta_read(const struct invocation *invocation, double *delta);

#endif

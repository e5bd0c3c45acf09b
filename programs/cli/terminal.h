/*
 * Everything the program says that is not data: errors, warnings, notes and the progress line, all
 * on standard error; and what is known about the terminals at both ends.
 */
#ifndef DPMF_PROGRAMS_TERMINAL_H
#define DPMF_PROGRAMS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dpmf.h"

enum { TERMINAL_PHASES_MAX = 16, TERMINAL_PHASE_NAME_MAX = 32 };

struct terminal_phase {
    char name[TERMINAL_PHASE_NAME_MAX];
    double seconds;
};

struct terminal {
    bool quiet, verbose;
    bool draws;    /* a progress line is wanted */
    bool is_drawn; /* and is there now */
    double last_drawn, phase_started;
    size_t n_phases; /* met so far; the last is under way */
    struct terminal_phase phases[TERMINAL_PHASES_MAX];
};

/* Prints "dpmf: error: ..." and, unless it is NULL or "", the hint below it.
 * @return `status` */
int terminal_error_print(int status, const char *hint, const char *format, ...) DPMF_PRINTF(3, 4);

/* Callbacks of struct dpmf_run; `self` is the terminal. The first stops the run after a signal. */
int terminal_progress_show(void *self, const struct dpmf_progress *progress);
void terminal_warning_show(void *self, const char *message);

/* A warning of the program's own. */
void terminal_warning_print(struct terminal *terminal, const char *message);

/* A warning that --quiet does not silence: of what cannot be taken back once it is done. */
void terminal_alert_print(struct terminal *terminal, const char *format, ...) DPMF_PRINTF(2, 3);

/* On a terminal, prints that it waits and gives its user so long to interrupt; elsewhere there is
 * nobody to wait for.
 * @return whether the run is to end */
bool terminal_wait_for_interrupt(struct terminal *terminal, int seconds);

/* Ends the progress line, if there is one, and the phase under way. */
void terminal_progress_end(struct terminal *terminal);

/* With --verbose, prints how long each phase took. */
void terminal_phases_print(struct terminal *terminal);

/* A line for the user on standard error, unless --quiet. */
void terminal_note_print(struct terminal *terminal, const char *format, ...) DPMF_PRINTF(2, 3);

/* Prints text of unknown origin: control bytes are shown, not sent. */
void terminal_text_print(FILE *out, const char *text);

/* Whether file descriptor `fd` is a terminal that takes colours, and the user wants them. */
bool terminal_has_colour(int fd);

/* The width of the terminal behind `fd`, or 80. */
size_t terminal_width(int fd);

/* Whether the user's locale speaks UTF-8. */
bool terminal_is_utf8(void);

/* Where temporary files go: $TMPDIR or /tmp. */
const char *terminal_temporary_directory(void);

/* A clock for durations, in seconds. */
double terminal_clock(void);

#endif

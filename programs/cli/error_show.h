/*
 * The library's errors as the command line shows them: settings as options, and an exit status for
 * each code.
 */
#ifndef DPMF_PROGRAMS_ERROR_SHOW_H
#define DPMF_PROGRAMS_ERROR_SHOW_H

#include "dpmf.h"

/* @return the exit status that goes with a code of the library */
int error_exit_status(int code);

/* Renders a message, a hint or a warning of the library, always terminated by NUL. */
void error_show_text(const char *text, char *out, size_t size);

/* The same for "file:line:column: message". */
void error_show(const struct dpmf_error *error, char *out, size_t size);

#endif

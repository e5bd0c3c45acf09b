/*
 * Filling in a struct dpmf_error. Each function takes NULL for the error and returns the code, so
 * that `return error_set(error, ...)` is the whole of an error path. Without an error object, hint
 * and place cannot know the code and return DPMF_ERR_BASE_BUG: where NULL may come in, return the
 * code that error_set gave.
 */
#ifndef DPMF_BASE_ERROR_H
#define DPMF_BASE_ERROR_H

#include "dpmf.h"

/* Starts a new description: code and message; place and hint are cleared. The format may name
 * settings, as struct dpmf_error describes; braces of the arguments are escaped. */
int error_set(struct dpmf_error *error, int code, const char *format, ...) DPMF_PRINTF(3, 4);

/* Adds the one line that would fix it. @return the error's code */
int error_hint(struct dpmf_error *error, const char *format, ...) DPMF_PRINTF(2, 3);

/* The same two for a text that is ready to be rendered: a constant, or the output of
 * dpmf_error_write. Nothing else may be passed, since the text is neither escaped nor masked. */
int error_set_text(struct dpmf_error *error, int code, const char *text);
int error_hint_text(struct dpmf_error *error, const char *text);

/* Adds the place; `file` NULL keeps the file that is there. @return the error's code */
int error_place(struct dpmf_error *error, const char *file, int64_t line, int64_t column);

/* Describes a failed system call: `doing` completes "cannot ...", e.g. "open". The code is the
 * DPMF_ERR_IO_* (or NO_MEMORY) that fits `errno_value`. */
int error_system(struct dpmf_error *error, int errno_value, const char *doing, const char *path);

int error_no_memory(struct dpmf_error *error);

/* Write a text with *** in place of anything that could be a password, always terminated by NUL.
 * The first treats a file name as one text; the second looks at each word and each quoted part of a
 * message. In a message that was cut, the end of a login may be missing. @return the length of the
 * whole text, as snprintf does */
int error_mask_name(const char *name, char *masked, size_t size);
int error_mask_message(const char *message, bool is_cut, char *masked, size_t size);

#endif

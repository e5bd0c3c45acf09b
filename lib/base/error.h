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

/* The same two with a text that names its settings already: a constant, or what dpmf_error_write
 * wrote. Nothing else: it is neither escaped nor masked. */
int error_set_text(struct dpmf_error *error, int code, const char *text);
int error_hint_text(struct dpmf_error *error, const char *text);

/* Adds where: `file` may be NULL to keep what is there. @return the error's code */
int error_place(struct dpmf_error *error, const char *file, int64_t line, int64_t column);

/* Describes a failed system call: `doing` completes "cannot ...", e.g. "open". The code is the
 * DPMF_ERR_IO_* (or NO_MEMORY) that fits `errno_value`. */
int error_system(struct dpmf_error *error, int errno_value, const char *doing, const char *path);

int error_no_memory(struct dpmf_error *error);

/* Write a text with *** for what could be a password, always ended by NUL: of a file's name, which
 * is one text, and of a message, whose words and quoted parts are looked at one by one. Of a
 * message that was cut, the end of a login may be missing. @return the length of the whole text, as
 * snprintf does */
int error_mask_name(const char *name, char *masked, size_t size);
int error_mask_message(const char *message, bool is_cut, char *masked, size_t size);

#endif

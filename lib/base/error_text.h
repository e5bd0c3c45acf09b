/*
 * Writing the texts of errors and warnings, in which settings are marked: see struct dpmf_error.
 */
#ifndef DPMF_BASE_ERROR_TEXT_H
#define DPMF_BASE_ERROR_TEXT_H

#include <stdarg.h>

#include "dpmf.h"

/* As dpmf_error_write. */
void error_text_write(char *text, size_t size, const char *format, va_list arguments);

/* Removes an incomplete last character, left where `size` cut the text. */
void error_text_trim(char *text, size_t size);

#endif

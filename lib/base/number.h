/*
 * Numbers in text: exact, in the C locale whatever the process has set, and fast for the short
 * decimals that ratings are.
 */
#ifndef DPMF_BASE_NUMBER_H
#define DPMF_BASE_NUMBER_H

#include "dpmf.h"

enum number_result { NUMBER_OK, NUMBER_MALFORMED, NUMBER_NOT_FINITE };

/* The n bytes must be one decimal number, [+-]digits[.digits][e[+-]digits], correctly rounded; as
 * databases write them, .5 and 5. are numbers too.
 * NOT_FINITE for nan, inf and what overflows (1e400). */
enum number_result number_parse_double(const char *text, size_t n, double *value);

/* [+-]digits, all n bytes, within int64. */
enum number_result number_parse_int64(const char *text, size_t n, int64_t *value);

/* A whole number of 0 .. 2^63-1, perhaps with a plus sign and leading zeroes, which are taken off:
 * equal numbers are equal texts.
 * @return whether it is one */
bool number_parse_whole(const char **text, size_t *n, uint64_t *value);

/* Room for the text of a number in its one spelling. */
enum { NUMBER_SPELLED_MAX = 64 };

/* The one spelling of the number that a text stands for: "1" of 1.0, 1e0 and 10e-1, "1.5" of 1.50
 * and 15e-1, "0" of -0, "1e90" of 10e89. Numbers are compared as decimals, so that any two that
 * differ stay two. There is none where the text is no decimal number, has more digits than there is
 * room for, or has this spelling already.
 * @return the length, without NUL, or 0 */
size_t number_respell(const char *text, size_t n, char out[NUMBER_SPELLED_MAX]);

/* The id that a float stands for, in digits: "1" of 1, 1.0, 01 and 1e0, "0" of -0. There is none
 * where the text is no decimal number, or not a whole one below 2^53, from where on one float
 * stands for several whole numbers.
 * @return the length, without NUL, or 0 */
size_t number_spell_float_id(const char *text, size_t n, char out[NUMBER_SPELLED_MAX]);

/* As dpmf_format_double and for int64; no NUL. @return the length (at most DPMF_DOUBLE_TEXT_MAX) */
size_t number_format_double(double value, char *text);
size_t number_format_int64(int64_t value, char *text);

/* The shortest text that reads back as the same float, whether it is read as a float or as a double
 * first: it never lies halfway between two floats. */
size_t number_format_float(float value, char *text);

/* The double that this text reads as: 0.7 of 0.7f, not 0.699999988079071. What is not finite stays
 * as it is. */
double number_widen_float(float value);

/* The same for a rating or a count; but from 2^24 on floats are whole numbers, which stay: a count
 * of 2^53 is none, and would be less by its text. */
double number_widen_rating(float value);

/* The same for the value of a binary16, which is whole from 2^11 on: 0.7 of 0.7001953125. */
double number_widen_half(double value);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      numbers as text and back, as Python writes and reads them.
// Called by: jinja_print, jinja_json, jinja_lex, jinja_filter.
// Threads:   pure; no locale has a say.
// Errors:    false where noted.
// Not here:  arithmetic (jinja_arithmetic.c).
#ifndef JINJA_NUMBER_H
#define JINJA_NUMBER_H

#include "base/slice.h"
#include "jinja/jinja_value.h"

enum { JINJA_NUMBER_MAX = 32 }; // bytes of the longest number, its zero included

// The shortest text that reads back as the same number: "1.5", "1e-05", "inf", "nan".
size_t jinja_float_write(double number, char out[JINJA_NUMBER_MAX]);
// `digits` digits behind the point, at most 40; out must hold 360 bytes.
size_t jinja_float_fixed(double number, int digits, char *out, size_t max);

// Digits with an optional sign, fraction and exponent; nothing else. Correctly rounded.
bool jinja_float_read(struct slice text, double *out);
// Decimal digits with an optional sign. False: something else, or it does not fit.
bool jinja_int_read(struct slice text, int base, int64_t *out);

// Python's round(x, digits): half to even, on the exact decimal value.
double jinja_float_round(double number, int digits);

#endif

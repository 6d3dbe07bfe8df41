// SPDX-License-Identifier: Apache-2.0
//
// snprintf and strtod are exact, but their decimal point is the locale's. So digits and exponent are
// taken out of what %e writes, and strtod gets integers with an exponent, which have no point.
#include "jinja/jinja_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DIGITS_MAX = 17,      // that tell every double apart
    EXPONENT_PLAIN = 16,  // from 1e16 on Python writes exponents
    TEXT_MAX = 2048,      // characters of a number that is read
    FIXED_MAX = 360,      // of the largest double with digits behind its point
};

// Significant digits and the exponent of the first; number is finite and not negative.
static int digits_of(double number, int count, char digits[DIGITS_MAX + 1]) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, number);
    int found = 0;
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9' && found < count) {
            digits[found++] = *at;
        }
    }
    digits[found] = '\0';
    return *at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0;
}

static int shortest(double number, char digits[DIGITS_MAX + 1]) {
    int exponent = 0;
    for (int count = 1; count <= DIGITS_MAX; count++) {
        exponent = digits_of(number, count, digits);
        char text[64];
        snprintf(text, sizeof text, "%se%d", digits, exponent - count + 1);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    return exponent;
}

size_t jinja_float_write(double number, char out[JINJA_NUMBER_MAX]) {
    const char *sign = signbit(number) ? "-" : "";
    if (isnan(number)) {
        return (size_t)snprintf(out, JINJA_NUMBER_MAX, "nan");
    }
    if (isinf(number)) {
        return (size_t)snprintf(out, JINJA_NUMBER_MAX, "%sinf", sign);
    }
    char digits[DIGITS_MAX + 1];
    int exponent = shortest(fabs(number), digits);
    int count = (int)strlen(digits);
    while (count > 1 && digits[count - 1] == '0') {
        digits[--count] = '\0';
    }
    if (exponent < -4 || exponent >= EXPONENT_PLAIN) {
        return (size_t)snprintf(out, JINJA_NUMBER_MAX, "%s%c%s%se%c%02d", sign, digits[0],
                                count > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+',
                                abs(exponent));
    }
    if (exponent < 0) {
        return (size_t)snprintf(out, JINJA_NUMBER_MAX, "%s0.%.*s%s", sign, -exponent - 1, "000",
                                digits);
    }
    if (count <= exponent + 1) {
        return (size_t)snprintf(out, JINJA_NUMBER_MAX, "%s%s%.*s.0", sign, digits,
                                exponent + 1 - count, "0000000000000000");
    }
    return (size_t)snprintf(out, JINJA_NUMBER_MAX, "%s%.*s.%s", sign, exponent + 1, digits,
                            digits + exponent + 1);
}

size_t jinja_float_fixed(double number, int digits, char *out, size_t max) {
    int size = snprintf(out, max, "%.*f", digits, number);
    size_t length = size < 0 || (size_t)size >= max ? 0 : (size_t)size;
    // Whatever stands before the last digits and is no digit is the point.
    if (digits > 0 && length > (size_t)digits && isfinite(number)) {
        size_t point = length - (size_t)digits, begin = point;
        while (begin > 0 && (out[begin - 1] < '0' || out[begin - 1] > '9')) {
            begin--;
        }
        out[begin] = '.';
        memmove(out + begin + 1, out + point, (size_t)digits + 1);
        length = begin + 1 + (size_t)digits;
    }
    return length;
}

bool jinja_float_read(struct slice text, double *out) {
    char plain[TEXT_MAX + 32];
    size_t at = 0, kept = 0, figures = 0;
    long exponent = 0;
    if (text.size == 0 || text.size > TEXT_MAX) {
        return false;
    }
    if (text.data[0] == '-' || text.data[0] == '+') {
        plain[kept++] = text.data[at++];
    }
    for (bool point = false; at < text.size; at++) {
        if (text.data[at] == '.' && !point) {
            point = true;
        } else if (text.data[at] >= '0' && text.data[at] <= '9') {
            plain[kept++] = text.data[at];
            figures++;
            exponent -= point;
        } else {
            break;
        }
    }
    if (figures == 0) {
        return false;
    }
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        bool negative = at + 1 < text.size && text.data[at + 1] == '-';
        at += at + 1 < text.size && (negative || text.data[at + 1] == '+') ? 2 : 1;
        long given = 0;
        size_t begin = at;
        for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
            given = given < 100000 ? 10 * given + (text.data[at] - '0') : given;
        }
        if (at == begin) {
            return false;
        }
        exponent += negative ? -given : given;
    }
    snprintf(plain + kept, sizeof plain - kept, "e%ld", exponent);
    *out = strtod(plain, NULL);
    return at == text.size;
}

static int digit_of(char character) {
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    if (character >= 'a' && character <= 'z') {
        return character - 'a' + 10;
    }
    return character >= 'A' && character <= 'Z' ? character - 'A' + 10 : 99;
}

bool jinja_int_read(struct slice text, int base, int64_t *out) {
    bool negative = text.size > 0 && text.data[0] == '-';
    size_t at = text.size > 0 && (negative || text.data[0] == '+');
    if (at == text.size) {
        return false;
    }
    int64_t number = 0;
    for (; at < text.size; at++) {
        int digit = digit_of(text.data[at]);
        if (digit >= base || __builtin_mul_overflow(number, (int64_t)base, &number) ||
            __builtin_sub_overflow(number, (int64_t)digit, &number)) {
            return false; // kept negative: there is one more of those
        }
    }
    *out = number;
    return negative || !__builtin_sub_overflow((int64_t)0, number, out);
}

double jinja_float_round(double number, int digits) {
    char text[FIXED_MAX];
    if (!isfinite(number) || digits > 22) {
        return number;
    }
    if (digits >= 0) {
        double rounded = number;
        size_t size = jinja_float_fixed(number, digits, text, sizeof text);
        return jinja_float_read(slice_make(text, size), &rounded) ? rounded : number;
    }
    double unit = 1;
    for (int i = 0; i < -digits && i < 308; i++) {
        unit *= 10;
    }
    return rint(number / unit) * unit;
}

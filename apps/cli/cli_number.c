// SPDX-License-Identifier: Apache-2.0
#include "cli_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading -----------------------------------------------------------------------------------
enum cli_number_result cli_number_integer(const char *text, uint64_t *out) {
    uint64_t value = 0;
    enum cli_number_result result = CLI_NUMBER_OK;
    if (!text[0]) return CLI_NUMBER_NONE;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9') return CLI_NUMBER_NONE;
        unsigned digit = (unsigned)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10) result = CLI_NUMBER_OUTSIDE;
        value = value * 10 + digit;
    }
    *out = result == CLI_NUMBER_OK ? value : UINT64_MAX;
    return result;
}

enum cli_number_result cli_number_real(const char *text, double *out) {
    if (!text[0] || text[strspn(text, "0123456789+-.eE")]) return CLI_NUMBER_NONE;
    char *end;
    *out = strtod(text, &end); // the locale is never set: a point is a point
    if (end == text || *end) return CLI_NUMBER_NONE;
    return isfinite(*out) ? CLI_NUMBER_OK : CLI_NUMBER_OUTSIDE;
}

static const struct unit {
    const char *name;
    double bytes;
} units[] = {
    {"", 1},       {"b", 1},        {"k", 0x1p10},   {"m", 0x1p20},   {"g", 0x1p30},
    {"t", 0x1p40}, {"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {"tib", 0x1p40},
    {"kb", 1e3},   {"mb", 1e6},     {"gb", 1e9},     {"tb", 1e12},
};

bool cli_number_is_word(const char *text, const char *word) {
    for (; *word; text++, word++) {
        char lower = *text >= 'A' && *text <= 'Z' ? (char)(*text + ('a' - 'A')) : *text;
        if (lower != *word) return false;
    }
    return !*text;
}

static const struct unit *unit_of(const char *text) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (cli_number_is_word(text, units[i].name)) return &units[i];
    }
    return NULL;
}

enum cli_number_result cli_number_size(const char *text, uint64_t *out) {
    char digits[32] = "";
    size_t length = strspn(text, "0123456789.");
    const struct unit *unit = unit_of(text + length);
    if (length == 0 || length >= sizeof digits || !unit) return CLI_NUMBER_NONE;
    memcpy(digits, text, length);
    // A whole number of bytes is exact beyond the 53 bits of a double.
    if (unit->bytes == 1) return cli_number_integer(digits, out);
    double value;
    if (cli_number_real(digits, &value) == CLI_NUMBER_NONE) return CLI_NUMBER_NONE;
    value *= unit->bytes;
    if (!(value < 0x1p63)) return CLI_NUMBER_OUTSIDE;
    *out = (uint64_t)value;
    return CLI_NUMBER_OK;
}

// ---- writing -----------------------------------------------------------------------------------
const char *cli_number_bound(double value, char text[CLI_NUMBER_TEXT]) {
    if (value >= 0x1p64) { // the largest 64-bit number has no double of its own
        snprintf(text, CLI_NUMBER_TEXT, "%" PRIu64, UINT64_MAX);
    } else {
        snprintf(text, CLI_NUMBER_TEXT, value == floor(value) ? "%.0f" : "%g", value);
    }
    return text;
}

// Three digits that count.
static const char *scaled(double value, double step, const char *const *names, int count,
                          char text[CLI_NUMBER_TEXT]) {
    int i = 0;
    while (value >= step && i + 1 < count)
        value /= step, i++;
    int decimals = i == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, CLI_NUMBER_TEXT, "%.*f%s", decimals, value, names[i]);
    return text;
}

const char *cli_number_bytes(uint64_t bytes, char text[CLI_NUMBER_TEXT]) {
    static const char *const names[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
    return scaled((double)bytes, 1024, names, 5, text);
}

const char *cli_number_peak(uint64_t bytes, char text[CLI_NUMBER_TEXT]) {
    return bytes ? cli_number_bytes(bytes, text) : "unknown";
}

const char *cli_number_short(uint64_t count, char text[CLI_NUMBER_TEXT]) {
    static const char *const names[] = {"", " thousand", " million", " billion", " trillion"};
    return scaled((double)count, 1000, names, 5, text);
}

const char *cli_number_count(uint64_t count, char text[CLI_NUMBER_TEXT]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}

const char *cli_number_rate(double rate, char text[CLI_NUMBER_TEXT]) {
    snprintf(text, CLI_NUMBER_TEXT, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
    return text;
}

const char *cli_number_seconds(double seconds, char text[CLI_NUMBER_TEXT]) {
    if (seconds < 1) {
        snprintf(text, CLI_NUMBER_TEXT, "%.0f ms", seconds * 1e3);
    } else {
        snprintf(text, CLI_NUMBER_TEXT, "%.*f s", seconds < 99.95 ? 1 : 0, seconds);
    }
    return text;
}

const char *cli_number_percent(uint64_t part, uint64_t rest, char text[CLI_NUMBER_TEXT]) {
    double all = (double)part + (double)rest;
    // Rounded down: "100.0 %" is said of nothing less.
    snprintf(text, CLI_NUMBER_TEXT, "%.1f %%", all > 0 ? floor(1e3 * (double)part / all) / 10 : 0);
    return text;
}

// SPDX-License-Identifier: Apache-2.0
#include "jinja/jinja_time.h"

#include <stdio.h>

static const char *const day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};

static bool is_leap(int year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// From 1.
static int day_of_year(const struct jinja_clock *now) {
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return before[now->month - 1] + now->day + (now->month > 2 && is_leap(now->year));
}

// 0 is Sunday. The first day of year 1 was a Monday.
static int day_of_week(const struct jinja_clock *now) {
    int past = now->year - 1;
    return (past + past / 4 - past / 100 + past / 400 + day_of_year(now)) % 7;
}

struct moment {
    const struct jinja_clock *now;
    int weekday, yearday, hour12;
};

static bool is_valid(const struct jinja_clock *now) {
    return now->year >= 1 && now->year <= 9999 && now->month >= 1 && now->month <= 12 &&
           now->day >= 1 && now->day <= 31 && now->hour >= 0 && now->hour <= 23 &&
           now->minute >= 0 && now->minute <= 59 && now->second >= 0 && now->second <= 60;
}

// Numbers: how wide, padded with what, and of what they are made.
static bool number_of(const struct moment *m, char letter, int *number, int *width, char *fill) {
    const struct {
        char letter, fill;
        int width, number;
    } rows[] = {
        {'Y', '0', 1, m->now->year},         {'y', '0', 2, m->now->year % 100},
        {'C', '0', 2, m->now->year / 100},   {'m', '0', 2, m->now->month},
        {'d', '0', 2, m->now->day},          {'e', ' ', 2, m->now->day},
        {'H', '0', 2, m->now->hour},         {'I', '0', 2, m->hour12},
        {'k', ' ', 2, m->now->hour},         {'l', ' ', 2, m->hour12},
        {'M', '0', 2, m->now->minute},       {'S', '0', 2, m->now->second},
        {'j', '0', 3, m->yearday},           {'w', '0', 1, m->weekday},
        {'u', '0', 1, m->weekday == 0 ? 7 : m->weekday},
        {'U', '0', 2, (m->yearday + 6 - m->weekday) / 7},
        {'W', '0', 2, (m->yearday + 6 - (m->weekday + 6) % 7) / 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].letter == letter) {
            *number = rows[i].number;
            *width = rows[i].width;
            *fill = rows[i].fill;
            return true;
        }
    }
    return false;
}

// Conversions that stand for others.
static const struct {
    char letter;
    const char *format;
} composed[] = {{'F', "%Y-%m-%d"}, {'T', "%H:%M:%S"},          {'R', "%H:%M"},
                {'D', "%m/%d/%y"}, {'x', "%m/%d/%y"},          {'X', "%H:%M:%S"},
                {'h', "%b"},       {'c', "%a %b %e %H:%M:%S %Y"}, {'r', "%I:%M:%S %p"}};

static const char *composition(char letter) {
    for (size_t i = 0; i < sizeof composed / sizeof composed[0]; i++) {
        if (composed[i].letter == letter) {
            return composed[i].format;
        }
    }
    return NULL;
}

static bool write_word(const struct moment *m, char letter, struct jinja_text *text) {
    char name[16];
    const char *month = month_names[m->now->month - 1], *day = day_names[m->weekday];
    const struct {
        char letter;
        const char *word;
        int size; // most characters of it
    } words[] = {{'B', month, 15}, {'b', month, 3}, {'A', day, 15}, {'a', day, 3},
                 {'p', m->now->hour < 12 ? "AM" : "PM", 15},
                 {'f', "000000", 15}, {'Z', "", 15}, {'z', "", 15},
                 {'%', "%", 15}, {'n', "\n", 15}, {'t', "\t", 15}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].letter == letter) {
            snprintf(name, sizeof name, "%.*s", words[i].size, words[i].word);
            jinja_text_add_data(text, name);
            return true;
        }
    }
    return false;
}

static bool write_all(const struct moment *m, struct slice format, struct jinja_text *text) {
    for (size_t at = 0; at < format.size; at++) {
        if (format.data[at] != '%') {
            jinja_text_add(text, slice_make(format.data + at, 1), JINJA_DATA);
            continue;
        }
        at++;
        char flag = at < format.size && memchr("-_0", format.data[at], 3) ? format.data[at] : 0;
        at += flag != 0;
        char letter = at < format.size ? format.data[at] : '\0';
        int number, width;
        char fill, digits[16];
        const char *others = composition(letter);
        if (number_of(m, letter, &number, &width, &fill)) {
            fill = (char)(flag == '_' ? ' ' : flag == '0' ? '0' : fill);
            snprintf(digits, sizeof digits, fill == ' ' ? "%*d" : "%0*d", flag == '-' ? 1 : width,
                     number);
            jinja_text_add_data(text, digits);
        } else if (flag != 0 || !(others ? write_all(m, slice_text(others), text)
                                         : write_word(m, letter, text))) {
            return false;
        }
    }
    return true;
}

bool jinja_strftime(struct jinja_run *run, const struct jinja_string *format,
                    const struct jinja_clock *now, struct jinja_value *out) {
    struct jinja_text text = {0};
    if (!is_valid(now)) {
        return jinja_fail(run, "strftime_now: the clock shows no date");
    }
    struct moment m = {now, day_of_week(now), day_of_year(now), (now->hour + 11) % 12 + 1};
    if (!write_all(&m, slice_make(format->data, format->size), &text)) {
        jinja_text_release(&text);
        return jinja_fail(run, "strftime_now: a conversion of '%.*s' is not supported",
                          (int)format->size, format->data);
    }
    return jinja_finish(run, &text, out);
}

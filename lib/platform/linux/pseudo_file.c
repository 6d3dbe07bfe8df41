// SPDX-License-Identifier: Apache-2.0
#include "platform/linux/pseudo_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

static bool read_text(char *text, size_t max, const char *path_format, va_list arguments) {
    char path[LIMIT_PATH];
    int length = vsnprintf(path, sizeof path, path_format, arguments);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    size_t size = 0;
    ssize_t got = 0;
    while (size < max - 1) {
        got = read(descriptor, text + size, max - 1 - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += (size_t)got;
    }
    close(descriptor);
    text[size] = '\0';
    return got >= 0;
}

bool pseudo_file_text(char *text, size_t max, const char *path_format, ...) {
    va_list arguments;
    va_start(arguments, path_format);
    bool found = read_text(text, max, path_format, arguments);
    va_end(arguments);
    return found;
}

// Reads digits at *text and moves it behind them; false if there are none or they do not fit.
static bool take_number(const char **text, uint64_t *value) {
    const char *at = *text;
    uint64_t sum = 0;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *text = at;
    *value = sum;
    return true;
}

bool pseudo_file_number(uint64_t *value, const char *path_format, ...) {
    char text[64];
    va_list arguments;
    va_start(arguments, path_format);
    bool found = read_text(text, sizeof text, path_format, arguments);
    va_end(arguments);
    const char *at = text;
    return found && take_number(&at, value);
}

bool pseudo_file_field(const char *text, const char *key, uint64_t *value) {
    size_t size = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, size) == 0) {
            const char *at = line + size;
            at += strspn(at, " \t");
            return take_number(&at, value);
        }
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : NULL;
    }
    return false;
}

bool pseudo_file_cpus(const char *text, struct cpu_set *set) {
    *set = (struct cpu_set){0};
    const char *at = text;
    uint64_t first, last;
    while (take_number(&at, &first)) {
        last = first;
        if (*at == '-') {
            at++;
            if (!take_number(&at, &last)) return false;
        }
        for (uint64_t cpu = first; cpu <= last && cpu < CPU_COUNT_MAX; cpu++)
            cpu_set_add(set, (uint32_t)cpu);
        if (*at != ',') break;
        at++;
    }
    return *at == '\n' || *at == '\0';
}

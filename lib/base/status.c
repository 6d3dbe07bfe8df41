// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <stdarg.h>
#include <string.h>

#include "base/message.h"

struct status_row {
    locum_status status;
    const char *name;
    const char *sentence;
};

static const struct status_row status_rows[] = {
#define STATUS_ROW(name, code, sentence) {LOCUM_##name, "LOCUM_" #name, sentence},
    LOCUM_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *status_find(locum_status status) {
    static const struct status_row unknown = {LOCUM_OK, "LOCUM_E_UNKNOWN", "an unknown status"};
    for (size_t i = 0; i < sizeof status_rows / sizeof status_rows[0]; i++) {
        if (status_rows[i].status == status) return &status_rows[i];
    }
    return &unknown;
}

const char *locum_status_name(locum_status status) {
    return status_find(status)->name;
}

const char *locum_status_sentence(locum_status status) {
    return status_find(status)->sentence;
}

locum_status status_fail(locum_error *error, locum_status status, const char *format, ...) {
    if (error == NULL) return status;
    va_list arguments;
    va_start(arguments, format);
    message_write(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

// message_write through a variable argument list of our own.
static void STATUS_PRINTF(3, 4) write_text(char *out, size_t max, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message_write(out, max, format, arguments);
    va_end(arguments);
}

locum_status status_prefix(locum_error *error, locum_status status, const char *format, ...) {
    if (error == NULL) return status;
    char below[sizeof error->text];
    char prefix[sizeof error->text];
    memcpy(below, error->text, sizeof below);
    va_list arguments;
    va_start(arguments, format);
    message_write(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    write_text(error->text, sizeof error->text, "%s: %s", prefix, below);
    error->status = status;
    return status;
}

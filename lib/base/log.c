// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>

#include "base/message.h"

void log_write(const struct log_sink *sink, locum_log_level level, const char *format, ...) {
    if (sink == NULL || sink->function == NULL) return;
    char text[LOCUM_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    message_write(text, sizeof text, format, arguments);
    va_end(arguments);
    sink->function(sink->user, level, text);
}

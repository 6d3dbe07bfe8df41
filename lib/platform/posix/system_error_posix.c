// SPDX-License-Identifier: Apache-2.0
#include "platform/system_error.h"

#include <stdio.h>
#include <string.h>

// strerror_r comes in two forms that differ in their result; these two functions take either.
static const char *text_of_int(int result, const char *buffer) {
    return result == 0 ? buffer : "";
}
static const char *text_of_pointer(const char *result, const char *buffer) {
    (void)buffer;
    return result;
}
#define TEXT_OF(result, buffer) \
    _Generic((result), int : text_of_int, char * : text_of_pointer)(result, buffer)

struct system_error system_error_of(int number) {
    struct system_error error;
    char buffer[SYSTEM_ERROR_TEXT_MAX] = "";
    const char *text = TEXT_OF(strerror_r(number, buffer, sizeof buffer), buffer);
    if (text[0] != '\0')
        snprintf(error.text, sizeof error.text, "%s", text);
    else
        snprintf(error.text, sizeof error.text, "error %d", number);
    return error;
}

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how one message of bounded size is written: what is cut and what is cleaned.
// Called by: status and log, for every text that leaves the library.
// Threads:   pure.
// Errors:    none; a format that cannot be rendered gives an empty text.
// Not here:  where the message goes.
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

// Write one line of valid UTF-8 into out[max], max >= 8, terminated. Names in messages come from
// files that may be hostile: control characters and bytes that are not UTF-8 become '?'. What does
// not fit is cut at a character border and ends with "...". Gives the length.
size_t message_write(char *out, size_t max, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif

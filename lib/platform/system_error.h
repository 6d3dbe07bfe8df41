// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the system's words for its error numbers.
// Called by: the files of lib/platform only.
// Threads:   any.
// Errors:    none; an unknown number gives a text with the number.
// Not here:  which status an error becomes (the caller knows what it tried).
#ifndef PLATFORM_SYSTEM_ERROR_H
#define PLATFORM_SYSTEM_ERROR_H

enum { SYSTEM_ERROR_TEXT_MAX = 96 };
struct system_error {
    char text[SYSTEM_ERROR_TEXT_MAX];
};

// By value, so that it can stand in the arguments of a message: system_error_of(number).text
struct system_error system_error_of(int number);

#endif

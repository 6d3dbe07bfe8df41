// SPDX-License-Identifier: Apache-2.0
//
// Owns:      status codes with their text; the error record that travels up with a status.
// Called by: every folder.
// Threads:   pure functions; an error record belongs to its caller.
// Errors:    none.
// Not here:  assertions (check.h), log (log.h).
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <locum/locum.h>

#if defined(__GNUC__)
#define STATUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define STATUS_PRINTF(text, first)
#endif

// Fill *error (may be NULL) and return `status`, so that a failing place reads
//     return status_fail(error, LOCUM_E_FORMAT, "%s: tensor '%s': ...", path, name);
// Text that does not fit is cut at a character border and ends with "...".
locum_status status_fail(locum_error *error, locum_status status, const char *format, ...)
    STATUS_PRINTF(3, 4);

// Put "prefix: " before the text of an error that is on its way up.
locum_status status_prefix(locum_error *error, locum_status status, const char *format, ...)
    STATUS_PRINTF(3, 4);

// Leave the function with the same status when `call` fails.
#define STATUS_TRY(call)                                                                           \
    do {                                                                                           \
        locum_status status_try_ = (call);                                                         \
        if (status_try_ != LOCUM_OK) return status_try_;                                           \
    } while (0)

#endif

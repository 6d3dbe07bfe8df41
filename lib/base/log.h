// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the way of a message to the host's callback.
// Called by: every folder that has something to say; nobody prints.
// Threads:   only the thread that is inside a public call of the sink's handle: the callback then
//            comes one at a time, on the host's own thread. Workers hand what they have to say to
//            that thread.
// Errors:    none; a message that is too long is cut.
// Not here:  errors of a call (status.h).
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/status.h"

struct log_sink {
    locum_log_fn function; // NULL: silence
    void *user;
};

void log_write(const struct log_sink *sink, locum_log_level level, const char *format, ...)
    STATUS_PRINTF(3, 4);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the date and the time of day.
// Called by: engine (chat templates that write the date); the command line.
// Threads:   any.
// Errors:    false: the system cannot say.
// Not here:  measuring (clock.h).
#ifndef PLATFORM_CALENDAR_H
#define PLATFORM_CALENDAR_H

#include <stdbool.h>

struct calendar {
    int year, month, day; // month and day from 1
    int hour, minute, second;
};

bool calendar_now_utc(struct calendar *out);
// In the zone of the process's environment: for programs, a library does not read that.
bool calendar_now_local(struct calendar *out);

#endif

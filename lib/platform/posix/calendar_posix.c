// SPDX-License-Identifier: Apache-2.0
#include "platform/calendar.h"

#include <time.h>

static bool fill(const struct tm *parts, struct calendar *out) {
    if (!parts) return false;
    *out = (struct calendar){parts->tm_year + 1900, parts->tm_mon + 1, parts->tm_mday,
                             parts->tm_hour,        parts->tm_min,     parts->tm_sec};
    return true;
}

bool calendar_now_utc(struct calendar *out) {
    struct tm parts;
    time_t now = time(NULL);
    return fill(gmtime_r(&now, &parts), out);
}

bool calendar_now_local(struct calendar *out) {
    struct tm parts;
    time_t now = time(NULL);
    tzset();
    return fill(localtime_r(&now, &parts), out);
}

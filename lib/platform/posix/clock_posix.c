// SPDX-License-Identifier: Apache-2.0
#include "platform/clock.h"

#include <errno.h>
#include <time.h>

#include "base/check.h"

enum { NS_PER_S = 1000000000 };

uint64_t clock_now_ns(void) {
    struct timespec now;
    int failed = clock_gettime(CLOCK_MONOTONIC, &now);
    LOCUM_ASSERT(!failed);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void clock_sleep_ns(uint64_t ns) {
    struct timespec rest = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}

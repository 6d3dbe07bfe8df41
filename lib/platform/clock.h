// SPDX-License-Identifier: Apache-2.0
//
// Owns:      time that only goes forward.
// Called by: everyone who measures.
// Threads:   any.
// Errors:    none.
// Not here:  dates.
#ifndef PLATFORM_CLOCK_H
#define PLATFORM_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void); // since an arbitrary start
void clock_sleep_ns(uint64_t ns);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how much memory there is, how much of it this process may take and has taken.
// Called by: engine (memory plan, statistics), bench, tests.
// Threads:   pure questions to the system.
// Errors:    LOCUM_E_SYSTEM if the system does not even say how much memory it has.
// Not here:  taking memory (vmem.h), the plan (engine).
#ifndef PLATFORM_MEMORY_H
#define PLATFORM_MEMORY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_NO_LIMIT UINT64_MAX

struct memory_system {
    uint64_t total;
    uint64_t available; // can be taken without swapping, by the kernel's own estimate
    uint64_t limit; // tightest of the container's limits, v1 and v2, whole hierarchy; or NO_LIMIT
    uint64_t
        // what the limits leave: limit - used, reclaimable cache not counted as used
        limit_available;
};
// root: folder that holds proc/ and sys/, "" for the system's own.
locum_status memory_system_read(const char *root, struct memory_system *out, locum_error *error);

// The same for who asks again and again: where the limits stand is found once, asking allocates nothing.
struct memory_watch;
locum_status memory_watch_open(const char *root, struct memory_watch **out, locum_error *error);
void memory_watch_close(struct memory_watch *watch); // NULL is fine
locum_status memory_watch_read(const struct memory_watch *watch, struct memory_system *out,
                               locum_error *error);
// How long processes have waited for memory, in microseconds since the beginning: all of the system, and
// those of this process's own control group. Not told: the kernel does not say.
struct memory_stall {
    bool system_told, group_told;
    uint64_t system_us, group_us;
};
struct memory_stall memory_watch_stall(const struct memory_watch *watch);

struct memory_process {
    uint64_t resident;
    uint64_t
        // of this program; ru_maxrss would also count the parent's memory before exec
        resident_peak;
    uint64_t major_faults;
    uint64_t
        device_read_bytes; // storage reads that this process caused; 0 where it cannot be known
};
locum_status memory_process_read(struct memory_process *out, locum_error *error);

#endif

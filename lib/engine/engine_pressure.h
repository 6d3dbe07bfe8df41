// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how much of its memory for experts the model leaves to others when memory is short.
// Called by: engine_size.
// Threads:   one thread.
// Errors:    none: what the system does not say is no pressure.
// Not here:  changing the pool (store), what the owner of the model wants (engine_size).
//
// Looked at twice a second. Memory is short when processes wait for it (the kernel's pressure stall
// information, of this process's control group or of the system) while next to nothing is available. Then
// an eighth of the pool goes, each time; when all has been calm for ten seconds it grows back, a
// thirty-second of its size every two.
#ifndef ENGINE_ENGINE_PRESSURE_H
#define ENGINE_ENGINE_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

struct engine_pressure {
    struct memory_watch *watch; // NULL: the system does not say
    uint64_t looked_ns;  // 0: never
    uint64_t calm_ns;    // since then, or since the last step of growth less the wait for the next
    uint64_t stalled_us; // as it was at looked_ns
    uint64_t ceiling;    // bytes for experts
};

// root: where proc and sys are; "" but in tests.
void engine_pressure_init(struct engine_pressure *pressure, const char *root, uint64_t most);
void engine_pressure_release(struct engine_pressure *pressure);
// The bytes that experts may have now. slots: what they have; least and most: what the pool can be.
uint64_t engine_pressure_ceiling(struct engine_pressure *pressure, uint64_t now_ns, uint64_t slots,
                                 uint64_t least, uint64_t most);

#endif

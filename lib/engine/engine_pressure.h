// SPDX-License-Identifier: Apache-2.0
//
// Owns:      how much of its memory for experts the model leaves to others when memory is short.
// Called by: engine_size.
// Threads:   one thread.
// Errors:    none: what the system does not say is no pressure.
// Not here:  changing the pool (store), what the owner of the model wants (engine_size).
//
// Looked at twice a second, while the model computes. Memory is short when processes wait for it (the
// kernel's pressure stall information, of the system or of this process's control group) while little is
// left there of what the model left free when it was opened. Then an eighth of the pool goes, each time;
// when all has been calm for ten seconds it grows back, a thirty-second of its size every two.
#ifndef ENGINE_ENGINE_PRESSURE_H
#define ENGINE_ENGINE_PRESSURE_H

#include "platform/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct engine_pressure {
    struct memory_watch *watch; // NULL: the system does not say
    uint64_t spare, limit_spare; // free beside the full pool, in the system and in the control group
    uint64_t looked_ns;          // 0: never
    uint64_t calm_ns;            // since then, or so that the next step of growth comes in time
    struct memory_stall stall;   // as it was at looked_ns
    uint64_t ceiling;            // bytes for experts
};

// root: where proc and sys are; "" but in tests. most: bytes for experts that the model was opened with, and
// has not touched yet.
void engine_pressure_init(struct engine_pressure *pressure, const char *root, uint64_t most);
void engine_pressure_release(struct engine_pressure *pressure);
// The bytes that experts may have now. slots: what they have; least and most: what the pool can be.
uint64_t engine_pressure_ceiling(struct engine_pressure *pressure, uint64_t now_ns, uint64_t slots,
                                 uint64_t least, uint64_t most);

#endif

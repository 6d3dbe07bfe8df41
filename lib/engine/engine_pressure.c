// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_pressure.h"

#include "platform/memory.h"

#define MS UINT64_C(1000000)

enum {
    SHRINK_SHARE = 8,   // of the pool that goes at once
    GROW_SHARE = 32,    // of it that comes back at once
    STALL_PERCENT = 5,  // of the time that processes wait for memory: too much
    TIGHT_SHARE = 16,   // of all memory is available: tight
    ROOMY_SHARE = 8,    // of it, besides what growing takes: enough to grow
    UNTOLD_SHARE = 32,  // tight where the kernel does not say who waits
};
static const uint64_t look_every_ns = 500 * MS, calm_before_growing_ns = 10000 * MS,
                      grow_every_ns = 2000 * MS;

enum state { SHORT, NEITHER, ROOMY };

static bool less_than_share(const struct memory_system *m, uint64_t spare, uint64_t share) {
    if (m->available < spare + m->total / share) return true;
    return m->limit != MEMORY_NO_LIMIT && m->limit_available < spare + m->limit / share;
}

// Since the last look, which was `passed_ns` ago.
static enum state look(struct engine_pressure *p, uint64_t passed_ns, uint64_t growth) {
    struct memory_system memory;
    uint64_t stalled_us = 0;
    if (memory_watch_read(p->watch, &memory, NULL) != LOCUM_OK) return NEITHER;
    bool told = memory_watch_stall(p->watch, &stalled_us);
    uint64_t waited_us = stalled_us - p->stalled_us;
    p->stalled_us = stalled_us;
    if (!told) {
        if (less_than_share(&memory, 0, UNTOLD_SHARE)) return SHORT;
    } else {
        bool waits = waited_us * 1000 > passed_ns / 100 * STALL_PERCENT;
        if (waits && less_than_share(&memory, 0, TIGHT_SHARE)) return SHORT;
        if (waits) return NEITHER;
    }
    return less_than_share(&memory, growth, ROOMY_SHARE) ? NEITHER : ROOMY;
}

void engine_pressure_init(struct engine_pressure *pressure, const char *root, uint64_t most) {
    *pressure = (struct engine_pressure){.ceiling = most};
    memory_watch_open(root, &pressure->watch, NULL); // without it there is no pressure
}

void engine_pressure_release(struct engine_pressure *pressure) {
    memory_watch_close(pressure->watch);
    pressure->watch = NULL;
}

uint64_t engine_pressure_ceiling(struct engine_pressure *p, uint64_t now_ns, uint64_t slots,
                                 uint64_t least, uint64_t most) {
    if (p->watch == NULL) return p->ceiling;
    if (p->looked_ns == 0) {
        p->looked_ns = p->calm_ns = now_ns;
        memory_watch_stall(p->watch, &p->stalled_us);
    }
    if (now_ns - p->looked_ns < look_every_ns) return p->ceiling;
    enum state state = look(p, now_ns - p->looked_ns, most / GROW_SHARE);
    p->looked_ns = now_ns;
    if (state == SHORT) {
        uint64_t smaller = slots - slots / SHRINK_SHARE;
        p->ceiling = smaller < least ? least : smaller;
        p->calm_ns = now_ns;
    } else if (state == NEITHER) {
        p->calm_ns = now_ns;
    } else if (p->ceiling < most && now_ns - p->calm_ns >= calm_before_growing_ns) {
        p->ceiling = p->ceiling + most / GROW_SHARE < most ? p->ceiling + most / GROW_SHARE : most;
        p->calm_ns += grow_every_ns;
    }
    return p->ceiling;
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_pressure.h"

#define MS UINT64_C(1000000)

enum {
    SHRINK_SHARE = 8,  // of the pool that goes at once
    GROW_SHARE = 32,   // of it that comes back at once
    STALL_PERCENT = 5, // of the time that processes wait for memory: too much
    TIGHT_SHARE = 16,  // of all memory is free, or half of what the model left: tight
    ROOMY_SHARE = 8,   // of it, or three quarters of that, besides what growing takes: enough to grow
    SPARE_SHARE = 64,  // of all memory counts as left free in any case
};
static const uint64_t look_every_ns = 500 * MS, calm_before_growing_ns = 10000 * MS,
                      grow_every_ns = 2000 * MS;

enum state { SHORT, NEITHER, ROOMY };

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool is_tight(uint64_t available, uint64_t total, uint64_t spare) {
    return available < at_most(total / TIGHT_SHARE, spare / 2);
}

static bool is_roomy(uint64_t available, uint64_t total, uint64_t spare, uint64_t growth) {
    return available >= growth + at_most(total / ROOMY_SHARE, spare / 4 * 3);
}

static bool waited(bool told, bool told_before, uint64_t now_us, uint64_t before_us,
                   uint64_t passed_ns) {
    if (!told || !told_before || now_us < before_us) return false;
    return (now_us - before_us) * 1000 > passed_ns / 100 * STALL_PERCENT;
}

// Since the last look, which was `passed_ns` ago.
static enum state look(struct engine_pressure *p, uint64_t passed_ns, uint64_t growth) {
    struct memory_system m;
    if (memory_watch_read(p->watch, &m, NULL) != LOCUM_OK) return NEITHER;
    struct memory_stall now = memory_watch_stall(p->watch), *last = &p->stall;
    bool system = waited(now.system_told, last->system_told, now.system_us, last->system_us, passed_ns);
    bool group = waited(now.group_told, last->group_told, now.group_us, last->group_us, passed_ns);
    *last = now;
    bool limited = m.limit != MEMORY_NO_LIMIT;
    if (!now.group_told) group = system; // who waits is not told apart
    bool untold = !now.system_told && !now.group_told; // then what is left has to tell it: half as much
    if (untold) system = group = true;
    bool tight = is_tight(m.available << untold, m.total, p->spare);
    bool limit_tight = limited && is_tight(m.limit_available << untold, m.limit, p->limit_spare);
    if ((tight && system) || (limit_tight && group)) return SHORT;
    bool roomy = is_roomy(m.available, m.total, p->spare, growth) &&
                 (!limited || is_roomy(m.limit_available, m.limit, p->limit_spare, growth));
    bool told_of_waiting = (now.system_told && system) || (now.group_told && group);
    return roomy && !told_of_waiting ? ROOMY : NEITHER;
}

static uint64_t spare_of(uint64_t available, uint64_t total, uint64_t most) {
    uint64_t left = available > most ? available - most : 0, least = total / SPARE_SHARE;
    return left > least ? left : least;
}

void engine_pressure_init(struct engine_pressure *pressure, const char *root, uint64_t most) {
    struct memory_system m;
    *pressure = (struct engine_pressure){.ceiling = most};
    if (memory_watch_open(root, &pressure->watch, NULL) != LOCUM_OK) return;
    if (memory_watch_read(pressure->watch, &m, NULL) != LOCUM_OK) {
        engine_pressure_release(pressure); // without that there is no pressure
        return;
    }
    pressure->spare = spare_of(m.available, m.total, most);
    if (m.limit != MEMORY_NO_LIMIT)
        pressure->limit_spare = spare_of(m.limit_available, m.limit, most);
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
        p->stall = memory_watch_stall(p->watch);
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
        p->ceiling = at_most(p->ceiling + most / GROW_SHARE, most);
        p->calm_ns = now_ns - calm_before_growing_ns + grow_every_ns;
    }
    return p->ceiling;
}

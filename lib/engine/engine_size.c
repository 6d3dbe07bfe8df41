// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_size.h"

#include "base/status.h"
#include "engine/engine_memory.h"
#include "platform/clock.h"

enum { MIB = 1 << 20 };

void engine_size_init(struct engine_size *size, struct store *store, uint64_t budget,
                      uint64_t others, const struct log_sink *log) {
    size->store = store;
    size->budget = budget;
    atomic_store(&size->others, others);
    size->log = log;
    if (store == NULL) return;
    struct store_stats stats;
    store_get_stats(store, &stats);
    size->least = stats.pool_least;
    atomic_store(&size->most, stats.pool_most);
    size->applied = stats.pool_most;
    atomic_store(&size->wanted, stats.pool_most);
    engine_pressure_init(&size->pressure, "", stats.pool_most);
}

void engine_size_release(struct engine_size *size) {
    engine_pressure_release(&size->pressure);
}

locum_status engine_size_want(struct engine_size *size, uint64_t memory, locum_error *error) {
    if (memory == LOCUM_MEMORY_AUTO)
        return status_fail(error, LOCUM_E_ARGUMENT, "a size in bytes is wanted, or all");
    uint64_t others = atomic_load(&size->others), most = atomic_load(&size->most);
    uint64_t least = others + size->least;
    if (memory < least)
        return status_fail(error, LOCUM_E_BUDGET,
                           "%llu bytes are too little: this model needs %llu (%llu for experts)",
                           (unsigned long long)memory, (unsigned long long)least,
                           (unsigned long long)size->least);
    uint64_t slots = memory - others;
    atomic_store(&size->wanted, slots < most ? slots : most);
    return LOCUM_OK;
}

uint64_t engine_size_spare(const struct engine_size *size) {
    uint64_t needed = atomic_load(&size->others) + size->least;
    return size->budget > needed ? size->budget - needed : 0;
}

locum_status engine_size_take(struct engine_size *size, uint64_t bytes, const char *what,
                              locum_error *error) {
    uint64_t spare = engine_size_spare(size);
    if (bytes > spare) {
        char needed[ENGINE_SIZE_TEXT], there[ENGINE_SIZE_TEXT];
        return status_fail(error, LOCUM_E_BUDGET,
                           "%s needs %s, and the budget has %s beside what the model needs", what,
                           engine_size_text(bytes, needed), engine_size_text(spare, there));
    }
    uint64_t others = atomic_fetch_add(&size->others, bytes) + bytes;
    uint64_t slots = size->budget - others;
    if (size->store == NULL || slots >= atomic_load(&size->most)) return LOCUM_OK;
    atomic_store(&size->most, slots);
    if (slots < atomic_load(&size->wanted)) atomic_store(&size->wanted, slots);
    return engine_size_apply(size, error);
}

locum_status engine_size_apply(struct engine_size *size, locum_error *error) {
    if (size->store == NULL) return LOCUM_OK;
    uint64_t wanted = atomic_load(&size->wanted);
    uint64_t left = engine_pressure_ceiling(&size->pressure, clock_now_ns(), size->applied,
                                            size->least, size->most);
    uint64_t bytes = wanted < left ? wanted : left;
    if (bytes == size->applied) return LOCUM_OK;
    STATUS_TRY(store_resize(size->store, bytes, error));
    if (bytes < size->applied && left < wanted)
        log_write(size->log, LOCUM_LOG_NOTICE, "memory is short: %llu MiB for experts, %llu before",
                  (unsigned long long)(bytes / MIB), (unsigned long long)(size->applied / MIB));
    size->gave_way |= left < wanted;
    if (size->gave_way && left >= wanted) {
        log_write(size->log, LOCUM_LOG_NOTICE, "memory is there again: %llu MiB for experts",
                  (unsigned long long)(bytes / MIB));
        size->gave_way = false;
    }
    size->applied = bytes;
    return LOCUM_OK;
}

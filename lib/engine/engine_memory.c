// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_memory.h"

#include "base/limits.h"
#include "exec/exec.h"
#include "platform/memory.h"
#include "session/session.h"

#include <stdio.h>

enum { CONTEXT_DEFAULT = 4096, CHUNK_MIN = 8, LOGIT_ROWS = 4 };
// What `auto` leaves to the rest of the machine: a tenth of what is there, at least this.
#define HEADROOM_MIN (UINT64_C(512) << 20)
// Code and libraries of the process come on top of the budget.
#define PROCESS_BYTES (UINT64_C(32) << 20)

static const uint32_t chunks[] = {512, 256, 128, 64, 32, 16, CHUNK_MIN};

const char *engine_size_text(uint64_t bytes, char text[ENGINE_SIZE_TEXT]) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1024 && unit < 3)
        value /= 1024, unit++;
    if (bytes < 10240) {
        snprintf(text, ENGINE_SIZE_TEXT, "%llu bytes", (unsigned long long)bytes);
    } else {
        snprintf(text, ENGINE_SIZE_TEXT, "%.*f %s",
                 value < 10    ? 2
                 : value < 100 ? 1
                               : 0,
                 value, units[unit]);
    }
    return text;
}

// ---- parts --------------------------------------------------------------------------------------------
static uint32_t logit_rows_of(uint32_t chunk) {
    return chunk > CHUNK_MIN ? LOGIT_ROWS : 1;
}

static uint64_t scratch_of(const struct engine_layout *layout, uint32_t chunk) {
    return exec_workspace_bytes(&layout->model.plan, chunk, logit_rows_of(chunk), layout->threads);
}

struct slot_range {
    uint64_t floor, full;
};

static locum_status slots_of(const struct engine_layout *layout, struct slot_range *out,
                             locum_error *error) {
    *out = (struct slot_range){0, 0};
    if (!engine_layout_has_experts(layout)) return LOCUM_OK;
    struct store_config config = engine_layout_store(layout);
    STATUS_TRY(store_floor(&config, ENGINE_HELD_EXPERTS, &out->floor, error));
    STATUS_TRY(store_full(&config, &out->full, error));
    if (out->full < out->floor) out->full = out->floor; // fewer experts than are held at once
    return LOCUM_OK;
}

static uint64_t kv_of(const struct engine_layout *layout, uint32_t context) {
    return session_pool_bytes(&layout->kv, context);
}

// ---- budget -------------------------------------------------------------------------------------------
static locum_status available(uint64_t *out, locum_error *error) {
    struct memory_system memory;
    STATUS_TRY(memory_system_read("", &memory, error));
    uint64_t bytes =
        memory.available < memory.limit_available ? memory.available : memory.limit_available;
    uint64_t headroom = bytes / 10 > HEADROOM_MIN ? bytes / 10 : HEADROOM_MIN;
    if (headroom > bytes / 2) headroom = bytes / 2; // a small container: half of it
    headroom += PROCESS_BYTES;
    *out = bytes > headroom ? bytes - headroom : 0;
    return LOCUM_OK;
}

static locum_status choose_budget(const locum_options *options, uint64_t all,
                                  locum_memory_plan *out, locum_error *error) {
    out->budget = options->memory;
    if (options->memory == LOCUM_MEMORY_ALL) out->budget = all;
    if (options->memory != LOCUM_MEMORY_AUTO) return LOCUM_OK;
    STATUS_TRY(available(&out->budget, error));
    if (out->budget > all) out->budget = all;
    return LOCUM_OK;
}

static uint32_t largest_context(const struct engine_layout *layout, const locum_memory_plan *plan,
                                uint64_t scratch) {
    uint64_t rest = plan->dense + scratch + plan->slots_floor;
    uint32_t trained = layout->model.params.context, step = EXEC_KV_PAGE_POSITIONS, best = 0;
    for (uint32_t low = 1, high = (trained + step - 1) / step; low <= high;) { // in pages
        uint32_t middle = low + (high - low) / 2, context = middle * step;
        if (rest + kv_of(layout, context) + engine_layout_fixed(layout, context) <= plan->budget) {
            best = context < trained ? context : trained;
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return best;
}

static locum_status refuse(const char *name, const locum_memory_plan *plan, uint64_t scratch,
                           uint64_t fixed, locum_error *error) {
    char budget[ENGINE_SIZE_TEXT], floor[ENGINE_SIZE_TEXT], dense[ENGINE_SIZE_TEXT],
        kv[ENGINE_SIZE_TEXT];
    char work[ENGINE_SIZE_TEXT], slots[ENGINE_SIZE_TEXT], rest[ENGINE_SIZE_TEXT], context[96];
    if (plan->context_max > 0) {
        snprintf(context, sizeof context, "the largest context that fits is %u tokens",
                 plan->context_max);
    } else {
        snprintf(context, sizeof context, "no context fits");
    }
    return status_fail(error, LOCUM_E_BUDGET,
                       "%s: the budget of %s is below the floor of %s = dense weights %s + KV "
                       "cache of %u tokens %s + "
                       "scratch %s + slots %s + fixed %s; %s",
                       name, engine_size_text(plan->budget, budget),
                       engine_size_text(plan->floor, floor), engine_size_text(plan->dense, dense),
                       plan->context, engine_size_text(plan->kv, kv),
                       engine_size_text(scratch, work), engine_size_text(plan->slots_floor, slots),
                       engine_size_text(fixed, rest), context);
}

// ---- the plan -----------------------------------------------------------------------------------------
static locum_status choose_context(const struct engine_layout *layout, const locum_options *options,
                                   locum_memory_plan *out, locum_error *error) {
    uint32_t trained = layout->model.params.context;
    out->context = options->context            ? options->context
                   : trained < CONTEXT_DEFAULT ? trained
                                               : CONTEXT_DEFAULT;
    if (out->context <= LIMIT_CONTEXT) return LOCUM_OK;
    return status_fail(error, LOCUM_E_ARGUMENT, "context is %u; 1 to %d are possible", out->context,
                       LIMIT_CONTEXT);
}

static locum_status check_chunk(const locum_options *options, locum_error *error) {
    if (options->chunk <= LIMIT_CHUNK) return LOCUM_OK;
    return status_fail(error, LOCUM_E_ARGUMENT, "chunk is %u; 1 to %d are possible", options->chunk,
                       LIMIT_CHUNK);
}

// The largest chunk whose scratch stays below an eighth of what dense, KV and fixed leave.
static void choose_chunk(const struct engine_layout *layout, uint64_t left,
                         locum_memory_plan *out) {
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        out->chunk = chunks[i];
        uint64_t scratch = scratch_of(layout, out->chunk);
        if (scratch <= left / 8 && scratch + out->slots_floor <= left) return;
    }
}

locum_status engine_memory_plan(const struct engine_layout *layout, const char *name,
                                const locum_options *options, locum_memory_plan *out,
                                uint32_t *logit_rows, locum_error *error) {
    *out = (locum_memory_plan){.threads = layout->threads, .dense = layout->weights.bytes};
    STATUS_TRY(choose_context(layout, options, out, error));
    STATUS_TRY(check_chunk(options, error));
    struct slot_range slots;
    STATUS_TRY(slots_of(layout, &slots, error));
    uint64_t fixed = engine_layout_fixed(layout, out->context);
    uint64_t least = scratch_of(layout, options->chunk ? options->chunk : CHUNK_MIN);
    uint64_t most = scratch_of(layout, options->chunk ? options->chunk : chunks[0]);
    out->kv = kv_of(layout, out->context);
    out->slots_floor = slots.floor;
    out->experts_total = slots.full;
    out->floor = out->dense + out->kv + fixed + least + slots.floor;
    // Rule of thumb until use has been measured: slots for half of the experts answer most requests.
    uint64_t half = slots.full / 2 > slots.floor ? slots.full / 2 : slots.floor;
    out->recommended = out->dense + out->kv + fixed + most + half;
    STATUS_TRY(
        choose_budget(options, out->dense + out->kv + fixed + most + slots.full, out, error));
    out->context_max = largest_context(layout, out, least);
    if (out->budget < out->floor) return refuse(name, out, least, fixed, error);
    uint64_t left = out->budget - out->dense - out->kv - fixed;
    out->chunk = options->chunk;
    if (!out->chunk) choose_chunk(layout, left, out);
    out->scratch = scratch_of(layout, out->chunk);
    uint64_t rest = left - out->scratch;
    out->slots = rest < slots.full ? rest : slots.full;
    out->fixed = fixed;
    out->streaming = out->slots < slots.full;
    *logit_rows = logit_rows_of(out->chunk);
    return LOCUM_OK;
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_memory.h"

#include "base/limits.h"
#include "exec/exec.h"
#include "platform/memory.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

enum { CONTEXT_DEFAULT = 4096, CHUNK_MIN = 8, LOGIT_ROWS = 4, NAME_SHOWN = 400 };
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
    return exec_workspace_bytes(&layout->model.plan, &layout->kv, chunk, logit_rows_of(chunk),
                                layout->threads);
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
uint64_t engine_memory_auto(uint64_t available, uint64_t limit_available) {
    uint64_t bytes = available < limit_available ? available : limit_available;
    uint64_t headroom = bytes / 10 > HEADROOM_MIN ? bytes / 10 : HEADROOM_MIN;
    if (headroom > bytes / 2) headroom = bytes / 2; // a small container: half of it
    headroom += PROCESS_BYTES;
    return bytes > headroom ? bytes - headroom : 0;
}

static locum_status choose_budget(const locum_options *options, uint64_t all,
                                  locum_memory_plan *out, locum_error *error) {
    out->budget = options->memory;
    if (options->memory == LOCUM_MEMORY_ALL) out->budget = all;
    if (options->memory != LOCUM_MEMORY_AUTO) return LOCUM_OK;
    struct memory_system memory; // read anew for each plan
    STATUS_TRY(memory_system_read("", &memory, error));
    out->budget = engine_memory_auto(memory.available, memory.limit_available);
    if (out->budget > all) out->budget = all;
    return LOCUM_OK;
}

// A step never has more tokens than the context: room for more would be taken from the experts.
static uint32_t chunk_within(uint32_t context, uint32_t chunk) {
    return chunk < context ? chunk : context;
}

// Up to what the model was trained for, or to what was asked for if that is more; 0: none fits.
static uint32_t largest_context(const struct engine_layout *layout, const locum_memory_plan *plan,
                                uint32_t chunk) {
    uint64_t rest = plan->dense + plan->recurrent + plan->slots_floor;
    uint32_t trained = layout->model.params.context, fits = 0;
    uint32_t high = plan->context > trained ? plan->context : trained;
    while (fits < high) {
        uint32_t middle = high - (high - fits) / 2; // above fits
        uint64_t scratch = scratch_of(layout, chunk_within(middle, chunk));
        uint64_t more = scratch + kv_of(layout, middle) + engine_layout_fixed(layout, middle);
        if (rest + more <= plan->budget) {
            fits = middle;
        } else {
            high = middle - 1;
        }
    }
    return fits;
}

// The end of a long path: the arithmetic that follows must not be cut off.
static const char *end_of(const char *name) {
    size_t length = strlen(name);
    return length > NAME_SHOWN ? name + length - NAME_SHOWN : name;
}

static locum_status refuse(const char *name, const locum_memory_plan *plan, locum_error *error) {
    char budget[ENGINE_SIZE_TEXT], floor[ENGINE_SIZE_TEXT], dense[ENGINE_SIZE_TEXT],
        kv[ENGINE_SIZE_TEXT];
    char work[ENGINE_SIZE_TEXT], slots[ENGINE_SIZE_TEXT], rest[ENGINE_SIZE_TEXT], context[96];
    char recurrent[ENGINE_SIZE_TEXT], state[ENGINE_SIZE_TEXT + 32] = "";
    if (plan->recurrent > 0) {
        snprintf(state, sizeof state, " + recurrent state %s",
                 engine_size_text(plan->recurrent, recurrent));
    }
    if (plan->context_max > 0) {
        snprintf(context, sizeof context, "the largest context that fits is %u tokens",
                 plan->context_max);
    } else {
        snprintf(context, sizeof context, "no context fits");
    }
    return status_fail(
        error, LOCUM_E_BUDGET,
        "%s: the budget of %s is below the floor of %s = dense weights %s + KV cache of %u tokens "
        "%s%s + scratch %s + slots %s + fixed %s; %s",
        end_of(name), engine_size_text(plan->budget, budget), engine_size_text(plan->floor, floor),
        engine_size_text(plan->dense, dense), plan->context, engine_size_text(plan->kv, kv), state,
        engine_size_text(plan->scratch, work), engine_size_text(plan->slots_floor, slots),
        engine_size_text(plan->fixed, rest), context);
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

// The largest chunk whose scratch stays below an eighth of what dense, KV and fixed leave, or takes nothing
// from the experts.
static void choose_chunk(const struct engine_layout *layout, uint64_t left,
                         locum_memory_plan *out) {
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        out->chunk = chunk_within(out->context, chunks[i]);
        uint64_t scratch = scratch_of(layout, out->chunk);
        if (scratch + out->experts_total <= left) return;
        if (scratch <= left / 8 && scratch + out->slots_floor <= left) return;
    }
}

// The least of everything; floor is its sum.
static void set_floor(const struct engine_layout *layout, uint32_t chunk,
                      const struct slot_range *slots, locum_memory_plan *out) {
    out->chunk = chunk_within(out->context, chunk);
    out->kv = kv_of(layout, out->context);
    out->fixed = engine_layout_fixed(layout, out->context);
    out->scratch = scratch_of(layout, out->chunk);
    out->slots = out->slots_floor = slots->floor;
    out->experts_total = slots->full;
    out->floor = out->dense + out->kv + out->recurrent + out->fixed + out->scratch + out->slots;
}

locum_status engine_memory_plan(const struct engine_layout *layout, const char *name,
                                const locum_options *options, locum_memory_plan *out,
                                uint32_t *logit_rows, locum_error *error) {
    *out = (locum_memory_plan){
        .threads = layout->threads,
        .dense = layout->weights.bytes,
        .recurrent = session_pool_state_bytes(plan_state_bytes(&layout->model.plan)),
    };
    STATUS_TRY(choose_context(layout, options, out, error));
    STATUS_TRY(check_chunk(options, error));
    struct slot_range slots;
    STATUS_TRY(slots_of(layout, &slots, error));
    uint32_t chunk_min = options->chunk ? options->chunk : CHUNK_MIN;
    uint32_t chunk_max = options->chunk ? options->chunk : chunks[0];
    set_floor(layout, chunk_min, &slots, out);
    uint64_t given = out->dense + out->kv + out->recurrent + out->fixed;
    uint64_t most = scratch_of(layout, chunk_within(out->context, chunk_max));
    // Rule of thumb until use has been measured: slots for half of the experts answer most requests.
    uint64_t half = slots.full / 2 > slots.floor ? slots.full / 2 : slots.floor;
    out->recommended = given + most + half;
    STATUS_TRY(choose_budget(options, given + most + slots.full, out, error));
    out->context_max = largest_context(layout, out, chunk_min);
    if (out->budget < out->floor) return refuse(name, out, error);
    uint64_t left = out->budget - given;
    if (!options->chunk) choose_chunk(layout, left, out);
    out->scratch = scratch_of(layout, out->chunk);
    uint64_t rest = left - out->scratch;
    out->slots = rest < slots.full ? rest : slots.full;
    out->streaming = out->slots < slots.full;
    *logit_rows = logit_rows_of(out->chunk);
    return LOCUM_OK;
}

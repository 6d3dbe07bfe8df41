// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the run of a plan on this machine's processors: workspace, the order of operations, the
//            meeting of routed experts with their slots.
// Called by: session / scheduler (engine).
// Threads:   exec_step is called by one thread at a time; it uses the team.
// Errors:    LOCUM_E_NUMERIC names layer and operation; LOCUM_E_IO comes from the store;
//            LOCUM_E_CANCELLED. After an error the KV rows of the step's tokens and the state of its
//            recurrent layers are undefined, all others are as before; so is a checkpoint that the step
//            was to write.
// Not here:  which tokens, which sequence, sampling.
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "exec/exec_kv.h"
#include "exec/exec_team.h"
#include "exec/exec_weights.h"
#include "kernels/kernels.h"
#include "plan/plan.h"
#include "store/store.h"

#include <stdatomic.h>

// Where an expert was when a step needed it.
enum exec_residency {
    EXEC_READ,     // in storage
    EXEC_RESIDENT, // in memory
    EXEC_AHEAD     // in memory or on its way, because the layer before foresaw it
};

// The routing of one token in one layer, as it was decided. Called when the layer's experts have been
// computed; not for a step that fails there.
typedef void (*exec_trace_fn)(void *user, uint32_t layer, uint32_t token, uint32_t used,
                              const uint32_t *ids, const float *weights, const uint32_t *rank,
                              const enum exec_residency *residency);

// Where the time of steps goes, as worker 0 sees it: from the begin of an operation to the meeting point
// behind it, others' waiting included. The entries of a phase add up to the time in exec_step.
struct exec_time {
    uint64_t calls, ns;
};
enum exec_part { // of the time of EXPERTS operations, over all layers; the rest is sorting and clearing
    EXEC_PART_TAKE,   // talking to the store and waiting for it
    EXEC_PART_IN,     // gate and up
    EXEC_PART_ACT,    // activation and quantising
    EXEC_PART_DOWN,
    EXEC_PART_ADD,
    EXEC_PARTS
};
struct exec_times {
    struct exec_time *op[2]; // by enum store_phase, [plan->n_ops]
    struct exec_time part[2][EXEC_PARTS];
    struct exec_time outside[2]; // of operations: rotation tables, what is done with logits
};

struct exec_config {
    const struct plan *plan;
    const struct kernels_table *kernels;
    struct exec_team *team;
    const struct exec_weights *weights; // loaded
    struct store *store;                // NULL if the plan has no experts
    const struct exec_kv_layout *kv;
    uint32_t chunk;      // most tokens of a step
    uint32_t logit_rows; // rows that the head computes at once, >= 1
    bool look_ahead;     // tell the store what the next layer will probably need
    exec_trace_fn trace; // NULL: none
    void *trace_user;
    struct exec_times *times; // added to; NULL: not measured
};

// Bytes of workspace that exec_create takes, for the memory plan.
uint64_t exec_workspace_bytes(const struct plan *plan, const struct exec_kv_layout *kv,
                              uint32_t chunk, uint32_t logit_rows, uint32_t threads);

struct exec;
locum_status exec_create(const struct exec_config *config, struct exec **out, locum_error *error);
void exec_destroy(struct exec *exec); // NULL is fine

struct exec_batch {
    uint32_t count;            // 1..chunk tokens
    const locum_token *tokens; // ids below the vocabulary
    const uint32_t
        *positions; // of each in its sequence; a sequence's tokens come in ascending order
    const uint32_t *sequence;              // of each: index into sequences; NULL: all 0
    const struct exec_sequence *sequences; // pages must cover every position
    const bool *wants_logits;              // of each; NULL: only the last token
    enum store_phase phase;                // for the store's statistics
};
// One row of logits, of the batch's token `index`; valid during the call.
typedef void (*exec_logits_fn)(void *user, uint32_t index, const float *logits);

locum_status exec_step(struct exec *exec, const struct exec_batch *batch, const atomic_bool *cancel,
                       exec_logits_fn logits, void *user, locum_error *error);

#endif

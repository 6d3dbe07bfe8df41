// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the dense weights in our own memory: which ranges of the files are read, and where each
//            tensor then lies.
// Called by: engine (sizes for the plan), exec_load (fills them), exec (pointers).
// Threads:   read-only after loading. Matrices that are multiplied then lie as the kernels want them
//            (kernels.h), the others as in the file.
// Errors:    LOCUM_E_OUT_OF_MEMORY.
// Not here:  reading (exec_load), experts (store).
//
// Neighbouring tensors are read as one range of whole blocks straight to their place; a tensor starts
// at any multiple of its file's alignment inside the range. The same tensor in two roles is read once.
#ifndef EXEC_EXEC_WEIGHTS_H
#define EXEC_EXEC_WEIGHTS_H

#include "base/arena.h"
#include "plan/plan.h"
#include "platform/file.h"
#include "platform/vmem.h"

struct exec_range {
    uint32_t shard;
    uint64_t offset, bytes; // whole blocks of FILE_BLOCK
    uint64_t place;         // offset in the region
};
struct exec_weights {
    struct exec_range *ranges;
    uint32_t n_ranges;
    uint64_t bytes;     // of the region
    uint64_t *place;    // [plan.n_weights]: offset in the region
    uint32_t *order;    // [plan.n_weights]: weights in ascending place
    bool *multiplied;   // [plan.n_weights]: or another weight at the same place is
    struct vmem region; // after loading
};

// Lay out; reads nothing.
locum_status exec_weights_plan(const struct plan *plan, struct arena *arena,
                               struct exec_weights *out, locum_error *error);
void exec_weights_release(struct exec_weights *weights);

static inline const uint8_t *exec_weights_data(const struct exec_weights *weights, uint32_t index) {
    return weights->region.data + weights->place[index];
}

#endif

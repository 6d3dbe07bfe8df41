// SPDX-License-Identifier: Apache-2.0
//
// Owns:      loading the dense weights: reading them, and rearranging those that are multiplied.
// Called by: engine.
// Threads:   one thread; reads run in the background.
// Errors:    LOCUM_E_IO with file and offset; LOCUM_E_CANCELLED; then nothing is loaded.
// Not here:  where each tensor lies (exec_weights), experts (store).
#ifndef EXEC_EXEC_LOAD_H
#define EXEC_EXEC_LOAD_H

#include "base/log.h"
#include "exec/exec_weights.h"
#include "kernels/kernels.h"

// Weights of `plan` from its files, for the kernels of this table. io_uring: allow it; log (may be
// NULL) is told when it was allowed and is not to be had and the plan has no experts (then the store
// tells it).
// progress(user, done, total), in bytes, may return true to cancel; NULL: none.
locum_status exec_load_weights(struct exec_weights *weights, const struct plan *plan,
                               const struct kernels_table *kernels,
                               struct platform_file *const *files, bool io_uring,
                               const struct log_sink *log,
                               bool (*progress)(void *user, uint64_t done, uint64_t total),
                               void *user, locum_error *error);

#endif

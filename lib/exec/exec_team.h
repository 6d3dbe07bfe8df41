// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the compute threads and how they meet: one team walks a whole plan together.
// Called by: exec; engine creates it.
// Threads:   run is called by one thread, which becomes worker 0.
// Errors:    creation: LOCUM_E_SYSTEM, LOCUM_E_OUT_OF_MEMORY. A worker that meets an error calls
//            exec_team_stop; everybody then leaves at the next meeting point.
// Not here:  what is computed.
//
// All workers execute the same function. Between two calls of exec_team_sync lies a phase. Its work is
// taken in portions (exec_team_take): each worker from a stretch of its own first, so that a core reads
// memory in one run, ahead of itself, then from those of workers that are slower. Waiting spins briefly
// (a phase is often a few microseconds) and then sleeps; with more threads than processors it sleeps at
// once.
#ifndef EXEC_EXEC_TEAM_H
#define EXEC_EXEC_TEAM_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_team;

// threads >= 1, the caller counted. cpus: processors this process may use, for the choice to spin.
locum_status exec_team_create(uint32_t threads, uint32_t cpus, struct exec_team **out,
                              locum_error *error);
void exec_team_destroy(struct exec_team *team); // NULL is fine
uint32_t exec_team_size(const struct exec_team *team);
// Memory of the stacks and of the team itself, for the memory plan.
uint64_t exec_team_bytes(uint32_t threads);

typedef void (*exec_team_fn)(void *user, uint32_t worker);
// Runs function on all workers and returns when all have left it. cancel (may be NULL) is looked at once
// per meeting point.
void exec_team_run(struct exec_team *team, exec_team_fn function, void *user,
                   const atomic_bool *cancel);

// The meeting point: everything written before it by anyone is seen after it by all. false: stop, by the
// same answer for everyone; the worker must leave the function without another sync.
bool exec_team_sync(struct exec_team *team);
// Ends the run at the next sync. The first caller of a run gets true: its error is the one that counts.
bool exec_team_stop(struct exec_team *team);
// After a run: it was ended by `cancel`, not by exec_team_stop.
bool exec_team_cancelled(const struct exec_team *team);

// Take the next portion of 0..total-1 of this phase for `worker`, at most `grain` items. false: none is
// left. A phase has one such loop only, with the same total and grain for all workers.
bool exec_team_take(struct exec_team *team, uint32_t worker, size_t total, size_t grain,
                    size_t *begin, size_t *end);

#endif

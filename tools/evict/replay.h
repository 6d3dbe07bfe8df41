// SPDX-License-Identifier: Apache-2.0
//
// A trace through a cache: the pool, the choice of victims and the policies are those of lib/store.
#ifndef TOOLS_EVICT_REPLAY_H
#define TOOLS_EVICT_REPLAY_H

#include "store/store_policy.h"
#include "route_trace.h"

#define REPLAY_NEVER (UINT64_C(1) << 62) // later than any use

struct replay_policy {
    const struct store_policy *policy;
    bool layered; // a cache of its own for each layer, all as large as the next
    // May be NULL. The expert has lost its slot, for policies that the store does not have.
    void (*evicted)(void *state, uint32_t expert);
    // The state begins with a pointer: when the expert of each row of an answer is needed again.
    bool knows;
};

struct replay_result {
    uint64_t hits, lookups;
    uint64_t victims;
    double step_ns;   // of one layer: what the policy learns, without the choice of victims
    double choice_ns; // of one victim
};

// Answers only, beginning with an empty cache. capacity: in experts; a layer must fit.
struct replay_result replay_run(const struct route_trace *trace, const struct replay_policy *policy,
                                uint32_t capacity);

// The published way to count, of a cache of so many bytes: prompt and answer, a prompt's layer as
// one step, one lookup for each of its experts, victims after the step. Gives hits / lookups.
double replay_published_rate(const struct route_trace *trace, uint64_t bytes);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what an expert is worth that lies in the pool: the policies.
// Called by: store_evict, which asks for the victims; the replay of traces in tools.
// Threads:   the store's one thread.
// Errors:    none.
// Not here:  prompts, what may not be touched, extents (store_evict.h).
//
// A policy keeps some bytes for every expert of the model, in the pool or not, so that what it knows
// of one survives its eviction. It sees every step of an answer and nothing of a prompt. Its
// arithmetic is that of kernels: + - x / of floats and integers, the same on every machine.
#ifndef STORE_STORE_POLICY_H
#define STORE_STORE_POLICY_H

#include <stddef.h>
#include <stdint.h>

// Experts are numbered over all layers.
struct store_shape {
    uint32_t layers;
    uint32_t experts;            // of all layers
    const uint32_t *layer_first; // [layers + 1] the first expert of each layer; then `experts`
};

struct store_policy {
    const char *name;
    size_t (*bytes)(uint32_t layers, uint32_t experts); // of its state
    // state: zeroed. What shape points to lives as long.
    void (*start)(void *state, const struct store_shape *shape);
    // The layer is computed with these of its experts: ids within it.
    void (*step)(void *state, uint32_t layer, const uint32_t *ids, uint32_t count);
    // Least goes first. Below 1 << 63. What is worth `enough` or more may be given as any such number.
    uint64_t (*worth)(void *state, uint32_t expert, uint64_t enough);
    // Before the first step: what earlier runs counted, steps of each layer and of them those that used
    // the expert. NULL: it makes nothing of that.
    void (*learn)(void *state, const uint32_t *steps, const uint32_t *uses);
};

extern const struct store_policy store_policy_lru;   // the least recently used goes first
extern const struct store_policy store_policy_decay; // the least often used, of late
extern const struct store_policy store_policy_next;  // the one needed last: the default

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      everything about a model that is known before memory is taken: its plan, tokenizer (or a
//            host's), where its weights and experts lie, and what each part would cost.
// Called by: engine_memory.c (the memory plan), engine_native.c (loading).
// Threads:   one.
// Errors:    those of model, token, store.
// Not here:  choosing sizes (engine_memory.h).
#ifndef ENGINE_ENGINE_LAYOUT_H
#define ENGINE_ENGINE_LAYOUT_H

#include "engine/engine_file.h"
#include "exec/exec_kv.h"
#include "exec/exec_weights.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "platform/cpu.h"
#include "store/store.h"

struct engine_layout {
    struct arena arena;           // holds all of it but the tokenizer
    struct arena tokenizer_arena; // empty when the host shares one
    struct model model;
    struct exec_weights weights; // planned, not loaded
    struct exec_kv_layout kv;
    struct store_layer *layers;        // [model.plan.layers]
    const struct tokenizer *tokenizer; // NULL: the file has no vocabulary (ids only)
    uint64_t tokenizer_bytes;          // shared or not: the ceiling is one for all
    uint64_t table_bytes;              // of the arena when it was complete, and the tokenizer's
    uint64_t header_bytes;             // of the file's directory, held while loading
    uint32_t shards;
    uint32_t threads, cpus;
    bool verify; // the store compares
    enum kernels_tier tier;
    struct kernels_cpu cpu;
};

locum_status engine_layout_make(const struct locum_file *file, const locum_options *options,
                                struct engine_layout *out, locum_error *error);
void engine_layout_release(struct engine_layout *layout);

bool engine_layout_has_experts(const struct engine_layout *layout);
// What the store is told, but for open files and the size of the pool.
struct store_config engine_layout_store(const struct engine_layout *layout);
// Bytes of all tables, stacks and buffers for sessions of `context` tokens in total.
uint64_t engine_layout_fixed(const struct engine_layout *layout, uint32_t context);

#endif

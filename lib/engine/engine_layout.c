// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_layout.h"

#include "base/limits.h"
#include "engine/engine_tokenizer.h"
#include "exec/exec_team.h"
#include "sample/sample.h"
#include "session/session.h"

#include <string.h>

// Tables of reads in flight, the touched part of their threads' stacks, the allocator's own rounding, the
// host's buffers. For scale: the whole process that runs a two-layer model of 1 MB peaks at 3.1 MB.
enum { FIXED_REST = 384 << 10 };

static locum_status choose_cpu(const locum_options *options, struct engine_layout *out,
                               locum_error *error) {
    struct cpu_features features;
    cpu_features_detect(&features);
    out->cpu = (struct kernels_cpu){.avx2 = features.avx2,
                                    .avxvnni = features.avxvnni,
                                    .avx512 = features.avx512,
                                    .avx512vnni = features.avx512vnni};
    out->tier = kernels_best(&out->cpu);
    const char *name = options->cpu;
    if (!name || strcmp(name, "auto") == 0) return LOCUM_OK;
    if (!kernels_tier_parse(name, &out->tier)) {
        return status_fail(
            error, LOCUM_E_ARGUMENT,
            "cpu '%s' is unknown; known are auto, ref, avx2, avxvnni, avx512 and avx512vnni", name);
    }
    struct kernels_table table;
    if (kernels_init(&table, out->tier, &out->cpu)) return LOCUM_OK;
    return status_fail(error, LOCUM_E_ARGUMENT,
                       "cpu '%s': this processor or this build does not have it", name);
}

static locum_status choose_threads(const locum_options *options, struct engine_layout *out,
                                   locum_error *error) {
    struct cpu_topology *topology = heap_resize(NULL, sizeof *topology);
    if (!topology) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory");
    cpu_topology_read("", NULL, topology);
    out->cpus =
        topology->quota && topology->quota < topology->usable ? topology->quota : topology->usable;
    out->threads = options->threads ? options->threads : topology->threads;
    heap_free(topology);
    if (options->threads > LIMIT_THREADS) {
        return status_fail(error, LOCUM_E_ARGUMENT, "threads is %u; 1 to %d are possible",
                           options->threads, LIMIT_THREADS);
    }
    if (out->cpus == 0) out->cpus = 1; // the system names none that is online: there is this one
    // More threads than processors would take turns and wait for each other at every meeting point.
    if (out->threads > out->cpus) out->threads = out->cpus;
    if (out->threads > LIMIT_THREADS) out->threads = LIMIT_THREADS;
    return LOCUM_OK;
}

static locum_status open_tokenizer(const struct gguf_meta *meta, const locum_options *options,
                                   struct engine_layout *out, locum_error *error) {
    if (options->tokenizer) {
        out->tokenizer = options->tokenizer->tokenizer;
        out->tokenizer_bytes = options->tokenizer->bytes;
        return LOCUM_OK;
    }
    struct slice model;
    STATUS_TRY(
        gguf_meta_string_or(meta, "tokenizer.ggml.model", slice_text("none"), &model, error));
    if (slice_is(model, "none") || slice_is(model, "no_vocab")) return LOCUM_OK; // ids only
    STATUS_TRY(engine_tokenizer_read(meta, &out->tokenizer_arena, &out->tokenizer, error));
    out->tokenizer_bytes = out->tokenizer_arena.bytes;
    return LOCUM_OK;
}

static void fill_segment(struct store_segment *segment, const struct plan_expert_matrix *matrix,
                         uint32_t expert) {
    if (matrix->bytes == 0) return;
    struct plan_place place = matrix->place;
    if (matrix->each) {
        place = matrix->each[expert];
    } else {
        place.offset += expert * matrix->stride;
    }
    *segment = (struct store_segment){place.shard, place.offset, matrix->bytes};
}

static locum_status list_experts(struct engine_layout *out, locum_error *error) {
    const struct plan *plan = &out->model.plan;
    out->layers = arena_array(&out->arena, plan->layers, sizeof *out->layers);
    if (!out->layers)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the table of experts");
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        const struct plan_experts *set = &plan->experts[i];
        struct store_segment *segments =
            arena_array(&out->arena, (size_t)set->experts * STORE_SEGMENTS, sizeof *segments);
        if (!segments)
            return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the table of experts");
        for (uint32_t e = 0; e < set->experts; e++) {
            for (int m = 0; m < PLAN_EXPERT_MATRICES; m++) {
                fill_segment(&segments[e * STORE_SEGMENTS + m], &set->matrix[m], e);
            }
        }
        out->layers[set->layer] = (struct store_layer){set->experts, segments};
    }
    return LOCUM_OK;
}

static locum_status make(const struct locum_file *file, const locum_options *options,
                         struct engine_layout *out, locum_error *error) {
    out->verify = options->verify;
    STATUS_TRY(choose_cpu(options, out, error));
    STATUS_TRY(choose_threads(options, out, error));
    STATUS_TRY(model_build(file->gguf, &out->arena, &out->model, error));
    STATUS_TRY(open_tokenizer(gguf_file_meta(file->gguf), options, out, error));
    STATUS_TRY(exec_weights_plan(&out->model.plan, &out->arena, &out->weights, error));
    STATUS_TRY(exec_kv_layout_make(&out->model.plan, (enum exec_kv_type)options->kv_type,
                                   &out->arena, &out->kv, error));
    STATUS_TRY(list_experts(out, error));
    // Counted here: what an engine adds to the arena must not make its plan another one than
    // locum_file_plan gave.
    out->table_bytes = out->arena.bytes + out->tokenizer_bytes;
    out->header_bytes = gguf_file_memory(file->gguf) + file->arena.bytes;
    out->shards = gguf_file_shard_count(file->gguf);
    return LOCUM_OK;
}

locum_status engine_layout_make(const struct locum_file *file, const locum_options *options,
                                struct engine_layout *out, locum_error *error) {
    *out = (struct engine_layout){0};
    arena_init(&out->arena, 0);
    arena_init(&out->tokenizer_arena, 0);
    locum_status status = make(file, options, out, error);
    if (status != LOCUM_OK) engine_layout_release(out);
    return status;
}

void engine_layout_release(struct engine_layout *layout) {
    exec_weights_release(&layout->weights);
    arena_release(&layout->tokenizer_arena);
    arena_release(&layout->arena);
}

bool engine_layout_has_experts(const struct engine_layout *layout) {
    return layout->model.plan.n_experts > 0;
}

struct store_config engine_layout_store(const struct engine_layout *layout) {
    return (struct store_config){.layers = layout->model.plan.layers,
                                 .layer = layout->layers,
                                 .file_count = layout->shards,
                                 .io_uring = true,
                                 .verify = layout->verify};
}

uint64_t engine_layout_fixed(const struct engine_layout *layout, uint32_t context) {
    return layout->table_bytes + layout->header_bytes + exec_team_bytes(layout->threads) +
           sampler_bytes(layout->model.plan.vocabulary, context) +
           session_bytes(context) + FIXED_REST;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/exec/exec_rig.h"

#include <stdlib.h>
#include <string.h>

#include "platform/cpu.h"

// What must not fail.
static void must(struct rig *rig, locum_status status) {
    if (status != LOCUM_OK) fail_msg("%s", rig->error.text);
}

static void choose_kernels(struct rig *rig) {
    struct cpu_features features;
    cpu_features_detect(&features);
    struct kernels_cpu cpu = {features.avx2, features.avxvnni, features.avx512,
                              features.avx512vnni};
    enum kernels_tier tier = rig->options.ref ? KERNELS_TIER_REF : kernels_best(&cpu);
    assert_true(kernels_init(&rig->kernels, tier, &cpu));
}

static void list_experts(struct rig *rig) {
    const struct plan *plan = &rig->model.plan;
    for (uint32_t i = 0; i < plan->n_experts; i++) {
        const struct plan_experts *set = &plan->experts[i];
        struct store_segment *segments =
            arena_array(&rig->arena, (size_t)set->experts * STORE_SEGMENTS, sizeof *segments);
        assert_non_null(segments);
        for (uint32_t e = 0; e < set->experts; e++) {
            for (int m = 0; m < PLAN_EXPERT_MATRICES; m++) {
                const struct plan_expert_matrix *matrix = &set->matrix[m];
                if (matrix->bytes == 0) continue;
                uint64_t offset = matrix->each ? matrix->each[e].offset
                                               : matrix->place.offset + e * matrix->stride;
                segments[e * STORE_SEGMENTS + (uint32_t)m] =
                    (struct store_segment){0, offset, matrix->bytes};
            }
        }
        rig->layers[set->layer] = (struct store_layer){set->experts, segments};
    }
}

static void make_store(struct rig *rig) {
    if (rig->model.plan.n_experts == 0) return;
    list_experts(rig);
    struct store_config config = {.layers = rig->model.plan.layers,
                                  .layer = rig->layers,
                                  .files = rig->files,
                                  .file_count = 1};
    uint64_t floor, full;
    must(rig, store_floor(&config, 2, &floor, &rig->error));
    must(rig, store_full(&config, &full, &rig->error));
    config.slot_bytes = rig->options.pool == RIG_FLOOR  ? floor
                        : rig->options.pool == RIG_HALF ? (floor + full) / 2
                                                        : full;
    must(rig, store_create(&config, &rig->store, &rig->error));
}

// Pages full of NaN: a row that nobody wrote must not reach a result.
static void make_pages(struct rig *rig) {
    const uint32_t each = RIG_POSITIONS / EXEC_KV_PAGE_POSITIONS;
    must(rig, vmem_alloc(&rig->pages, rig->kv.page_bytes * each * RIG_SEQUENCES, &rig->error));
    memset(rig->pages.data, 0xff, rig->pages.bytes_committed);
    for (uint32_t s = 0; s < RIG_SEQUENCES; s++) {
        // Neighbouring pages of a sequence do not lie beside each other.
        for (uint32_t p = 0; p < each; p++)
            rig->page[s][p] = rig->pages.data + (p * RIG_SEQUENCES + s) * rig->kv.page_bytes;
        rig->sequences[s] = (struct exec_sequence){
            .pages = rig->page[s], .page_count = each, .checkpoint_at = EXEC_NO_CHECKPOINT};
    }
}

static void make_states(struct rig *rig) {
    size_t bytes = (size_t)plan_state_bytes(&rig->model.plan);
    if (bytes == 0) return;
    must(rig, vmem_alloc(&rig->states, 2 * bytes * RIG_SEQUENCES, &rig->error));
    for (uint32_t s = 0; s < RIG_SEQUENCES; s++) {
        float *state = (float *)(void *)(rig->states.data + 2 * s * bytes);
        rig->sequences[s].state = state;
        rig->sequences[s].checkpoint = state + bytes / sizeof *state;
    }
}

void rig_open(struct rig *rig, const struct toy_model *toy, const struct rig_options *options) {
    memset(rig, 0, sizeof *rig);
    rig->options = *options;
    if (rig->options.threads == 0) rig->options.threads = 1;
    if (rig->options.chunk == 0) rig->options.chunk = 64;
    if (rig->options.logit_rows == 0) rig->options.logit_rows = 4;
    arena_init(&rig->arena, 0);
    rig->bytes = toy_encode(toy);
    must(rig, gguf_file_open_bytes(buffer_slice(&rig->bytes), "toy.gguf", &rig->gguf, &rig->error));
    must(rig, model_build(rig->gguf, &rig->arena, &rig->model, &rig->error));
    const struct plan *plan = &rig->model.plan;
    fake_disk_init(&rig->disk, rig->bytes.data, rig->bytes.size);
    must(rig, file_open("toy.gguf", !options->buffered, &rig->disk.methods, &rig->files[0],
                        &rig->error));
    must(rig, exec_weights_plan(plan, &rig->arena, &rig->weights, &rig->error));
    choose_kernels(rig);
    must(rig, exec_load_weights(&rig->weights, plan, &rig->kernels, rig->files, false, NULL,
                                NULL, NULL, &rig->error));
    must(rig, exec_kv_layout_make(plan, options->kv_type, &rig->arena, &rig->kv, &rig->error));
    make_store(rig);
    make_pages(rig);
    make_states(rig);
    must(rig, exec_team_create(rig->options.threads, 2, &rig->team, &rig->error));
    struct exec_config config = {.plan = plan,
                                 .kernels = &rig->kernels,
                                 .team = rig->team,
                                 .weights = &rig->weights,
                                 .store = rig->store,
                                 .kv = &rig->kv,
                                 .chunk = rig->options.chunk,
                                 .logit_rows = rig->options.logit_rows,
                                 .trace = options->trace,
                                 .trace_user = options->trace_user};
    must(rig, exec_create(&config, &rig->exec, &rig->error));
    rig->logits = calloc((size_t)RIG_POSITIONS * plan->vocabulary, sizeof *rig->logits);
    assert_non_null(rig->logits);
}

void rig_close(struct rig *rig) {
    exec_destroy(rig->exec);
    store_destroy(rig->store);
    exec_team_destroy(rig->team);
    exec_weights_release(&rig->weights);
    vmem_release(&rig->pages);
    vmem_release(&rig->states);
    file_close(rig->files[0]);
    gguf_file_close(rig->gguf);
    arena_release(&rig->arena);
    buffer_release(&rig->bytes);
    free(rig->logits);
    memset(rig, 0, sizeof *rig);
}

// ---- steps --------------------------------------------------------------------------------------
struct target { // where the rows of a step go
    struct rig *rig;
    uint32_t first;
};

static void keep_row(void *user, uint32_t index, const float *logits) {
    struct target *target = user;
    struct rig *rig = target->rig;
    uint32_t row = target->first + index, words = rig->model.plan.vocabulary;
    assert_true(row < RIG_POSITIONS && rig->rows < RIG_POSITIONS);
    memcpy(rig->logits + (size_t)row * words, logits, words * sizeof *logits);
    rig->row_of[rig->rows++] = row;
}

static locum_status step_into(struct rig *rig, const struct exec_batch *batch,
                              const atomic_bool *cancel, uint32_t first) {
    struct target target = {rig, first};
    memset(&rig->error, 0, sizeof rig->error);
    return exec_step(rig->exec, batch, cancel, keep_row, &target, &rig->error);
}

locum_status rig_step(struct rig *rig, const struct exec_batch *batch, const atomic_bool *cancel) {
    rig->rows = 0;
    return step_into(rig, batch, cancel, 0);
}

locum_status rig_run(struct rig *rig, uint32_t sequence, const locum_token *tokens, uint32_t first,
                     uint32_t count) {
    uint32_t positions[LIMIT_CHUNK];
    bool wants[LIMIT_CHUNK];
    rig->rows = 0;
    for (uint32_t done = 0; done < count;) {
        uint32_t n = count - done < rig->options.chunk ? count - done : rig->options.chunk;
        for (uint32_t i = 0; i < n; i++)
            positions[i] = first + done + i, wants[i] = true;
        struct exec_batch batch = {.count = n,
                                   .tokens = tokens + done,
                                   .positions = positions,
                                   .sequences = &rig->sequences[sequence],
                                   .wants_logits = wants};
        locum_status status = step_into(rig, &batch, NULL, done);
        if (status != LOCUM_OK) return status;
        done += n;
    }
    return LOCUM_OK;
}

void rig_text(const struct rig *rig, uint32_t seed, locum_token *tokens, uint32_t count) {
    uint32_t state = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        tokens[i] = (locum_token)((state >> 8) % rig->model.plan.vocabulary);
    }
}

uint64_t rig_hash(const struct rig *rig, uint32_t first, uint32_t count) {
    bool came[RIG_POSITIONS] = {false};
    for (uint32_t i = 0; i < rig->rows; i++)
        came[rig->row_of[i]] = true;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t row = first; row < first + count; row++) {
        assert_true(came[row]);
        for (uint32_t i = 0; i < rig->model.plan.vocabulary; i++) {
            uint32_t bits;
            memcpy(&bits, &rig_row(rig, row)[i], sizeof bits);
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

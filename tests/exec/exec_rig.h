// SPDX-License-Identifier: Apache-2.0
//
// A toy model with everything that a step needs and nothing above it: weights and experts read from
// memory through a disk that can fail, KV pages, a team, the store, exec.
#ifndef TESTS_EXEC_EXEC_RIG_H
#define TESTS_EXEC_EXEC_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/exec.h"
#include "exec/exec_load.h"
#include "gguf/gguf_file.h"
#include "model/model.h"
#include "tests/fixtures/toy_model.h"
#include "tests/platform/fake_disk.h"

enum rig_pool { RIG_FULL, RIG_FLOOR, RIG_HALF };

struct rig_options {
    uint32_t threads, chunk, logit_rows; // 0: 1, 64, 4
    enum rig_pool pool;
    bool ref, buffered;
    enum exec_kv_type kv_type;
    exec_trace_fn trace;
    void *trace_user;
};

enum { RIG_POSITIONS = 3328, RIG_SEQUENCES = 4 };

struct rig {
    struct rig_options options;
    struct buffer bytes;
    struct gguf_file *gguf;
    struct arena arena;
    struct model model;
    struct fake_disk disk;
    struct platform_file *files[1];
    struct exec_weights weights;
    struct exec_kv_layout kv;
    struct store_layer layers[LIMIT_LAYERS];
    struct kernels_table kernels;
    struct exec_team *team;
    struct store *store;
    struct exec *exec;
    struct vmem pages; // of all sequences, filled with NaN at first
    uint8_t *page[RIG_SEQUENCES][RIG_POSITIONS / EXEC_KV_PAGE_POSITIONS];
    struct vmem
        states; // of recurrent layers: of each sequence the state, zeros at first, and a checkpoint
    struct exec_sequence sequences[RIG_SEQUENCES];
    float *logits; // [RIG_POSITIONS][vocabulary]: what the last rig_run computed, row = its token
    uint32_t rows; // rows that came, and in which order
    uint32_t row_of[RIG_POSITIONS];
    locum_error error;
};

// The toy is encoded here; it may be changed or released afterwards.
void rig_open(struct rig *rig, const struct toy_model *toy, const struct rig_options *options);
void rig_close(struct rig *rig);

// One step.
locum_status rig_step(struct rig *rig, const struct exec_batch *batch, const atomic_bool *cancel);
// tokens[0..count-1] at positions from `first` on of a sequence, in chunks, all rows wanted.
locum_status rig_run(struct rig *rig, uint32_t sequence, const locum_token *tokens, uint32_t first,
                     uint32_t count);

// The usual text: pseudo-random ids below the vocabulary.
void rig_text(const struct rig *rig, uint32_t seed, locum_token *tokens, uint32_t count);
static inline const float *rig_row(const struct rig *rig, uint32_t row) {
    return rig->logits + (size_t)row * rig->model.plan.vocabulary;
}
// Of the bits of rows first..first+count-1. Rows that did not come are a failure.
uint64_t rig_hash(const struct rig *rig, uint32_t first, uint32_t count);

#endif

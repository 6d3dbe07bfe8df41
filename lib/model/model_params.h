// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the hyper-parameters of a model, read from metadata and checked.
// Called by: the architecture files of this folder; engine (inspect).
// Threads:   pure.
// Errors:    E_FORMAT with the key; E_UNSUPPORTED for settings that are not implemented.
// Not here:  tensors (model_bind.h), what an architecture does with a number.
#ifndef MODEL_MODEL_PARAMS_H
#define MODEL_MODEL_PARAMS_H

#include "base/arena.h"
#include "gguf/gguf_meta.h"
#include "kernels/kernels_rope.h"

#include <stdbool.h>
#include <stdint.h>

struct model_params {
    uint32_t layers;    // of the main pass: prediction blocks at the end are not counted
    uint32_t embedding; // width of the model's state
    uint32_t context;   // trained
    uint32_t *heads, *heads_kv, *ff; // per layer
    uint32_t head_size_k, head_size_v;
    float eps;
    uint32_t experts, experts_used;          // 0: no experts
    uint32_t expert_ff;                      // width of one expert
    uint32_t shared_ff;                      // width of the shared expert, 0: the file does not say
    uint32_t shared_experts;                 // beside the routed ones, 0: the file does not say
    uint32_t dense_layers;                   // at the beginning, without experts
    uint32_t window;                         // 0: none
    float softcap_logits, softcap_attention; // 0: none
    struct kernels_rope rope;                // factors NULL
};

locum_status model_params_read(const struct gguf_meta *meta, struct arena *arena,
                               struct model_params *out, locum_error *error);

#endif

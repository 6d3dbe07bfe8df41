// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what a model file means: its architecture, its hyper-parameters, and the plan built from them.
// Called by: engine (open, inspect).
// Threads:   pure; the result is immutable.
// Errors:    E_UNSUPPORTED names the architecture (with those that are known), the tensor type or the
//            setting; E_FORMAT names the key or tensor with what was expected and found.
// Not here:  reading weights (exec), the memory plan (engine), tokenizers (token).
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "gguf/gguf_file.h"
#include "model/model_params.h"
#include "plan/plan.h"

struct model {
    const char *architecture; // constant text
    struct model_params params;
    struct plan plan;
    uint64_t unknown_tensors; // in the file, but no part of the plan
};

// Everything in *out lives in the arena; the file may be closed afterwards.
locum_status model_build(const struct gguf_file *file, struct arena *arena, struct model *out,
                         locum_error *error);

// Names of the supported architectures, in order; NULL past the end.
const char *model_arch_name(uint32_t index);

#endif

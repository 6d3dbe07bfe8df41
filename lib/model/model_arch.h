// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the list of architectures; each is defined in model_<name>.c.
// Called by: model.c.
// Threads:   constant data.
// Errors:    none.
// Not here:  anything but the names of the rows.
#ifndef MODEL_MODEL_ARCH_H
#define MODEL_MODEL_ARCH_H

struct model_arch;

extern const struct model_arch model_bailingmoe2, model_deepseek2, model_dots1, model_ernie4_5_moe,
    model_gemma3, model_gemma4, model_glm4moe, model_gpt_oss, model_granitemoe, model_hunyuan_moe,
    model_lfm2moe, model_llama, model_llama4, model_minimax_m2, model_olmoe, model_qwen2moe,
    model_qwen3, model_qwen35, model_qwen35moe, model_qwen3moe, model_qwen3next, model_qwen3vlmoe;

#endif

// SPDX-License-Identifier: Apache-2.0
//
// What the two libraries say in different words: upstream llama.cpp, and with -DPEER_IK ik_llama.cpp,
// whose library has most of the names and other signatures. Included by the programs of this folder.
#ifndef PEER_LIBRARY_H
#define PEER_LIBRARY_H

#include "ggml-backend.h"
#include "llama.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// How weights come in: mapped, or read; read ones in an order of the library's own.
enum peer_load { PEER_MAPPED, PEER_READ, PEER_REPACKED };

#ifdef PEER_IK
// Built in: there is nothing to load.
static bool peer_load_backend(const char *path) {
    (void)path;
    return true;
}

static void peer_set_model(struct llama_model_params *p, enum peer_load load, bool flash) {
    p->use_mmap = load == PEER_MAPPED;
    p->repack_tensors = load == PEER_REPACKED;
    p->flash_attn = flash;
}

static void peer_set_context(struct llama_context_params *p, bool flash) {
    p->flash_attn = flash;
}

static int peer_vocabulary(const struct llama_model *model) {
    return llama_n_vocab(model);
}
#else
// path: a libggml-cpu-*.so, or a folder of them, of which the one that fits best is taken.
static bool peer_load_backend(const char *path) {
    const char *ending = path ? strrchr(path, '.') : NULL;
    if (!path) return false;
    if (!ending || strcmp(ending, ".so") != 0) ggml_backend_load_all_from_path(path);
    else ggml_backend_load(path);
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != NULL;
}

static void peer_set_model(struct llama_model_params *p, enum peer_load load, bool flash) {
    (void)flash;
    p->load_mode = load == PEER_MAPPED ? LLAMA_LOAD_MODE_MMAP : LLAMA_LOAD_MODE_NONE;
    p->use_extra_bufts = load == PEER_REPACKED;
}

static void peer_set_context(struct llama_context_params *p, bool flash) {
    p->flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
}

static int peer_vocabulary(const struct llama_model *model) {
    return llama_vocab_n_tokens(llama_model_get_vocab(model));
}
#endif

#endif

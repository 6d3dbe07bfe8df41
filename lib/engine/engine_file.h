// SPDX-License-Identifier: Apache-2.0
//
// Owns:      struct locum_file: a model's directory, and what can be said about it without loading.
// Called by: engine_*.c.
// Threads:   read-only after open.
// Errors:    as in locum.h.
// Not here:  the memory plan (engine_memory.h).
#ifndef ENGINE_ENGINE_FILE_H
#define ENGINE_ENGINE_FILE_H

#include "base/arena.h"
#include "gguf/gguf_file.h"

struct locum_file {
    struct arena arena;
    struct gguf_file *gguf;
    locum_file_info info;
    const char *notice;        // to be told when the model is loaded; NULL: nothing
    const char **type_names;   // of the tensors
    locum_setting *sampling;   // [sampling_count]
    uint32_t sampling_count;   // 0: a setting is out of range, as opening the model will say
    const char *sampling_card; // NULL: none
};

#endif

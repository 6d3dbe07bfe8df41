// SPDX-License-Identifier: Apache-2.0
//
// What may still change. Same rules as locum.h.
#ifndef LOCUM_LOCUM_EXPERIMENTAL_H
#define LOCUM_LOCUM_EXPERIMENTAL_H

#include <locum/locum.h>

#ifdef __cplusplus
extern "C" {
#endif

// An engine without a model: its answers are given. For tests of everything that stands above the engine
// (event handling, rendering, stream parsers, servers). Tokens are bytes: id = value of the byte, 256 ends
// the answer. Each locum_generate gives the next answer, then starts again from the first.
typedef struct locum_script {
    uint32_t struct_size;
    const char *const *answers; // NUL-terminated; may hold any bytes but zero
    uint32_t answer_count;      // >= 1
    uint32_t piece_bytes;       // bytes per token event, >= 1
    uint32_t context;           // tokens; 0: 4096
} locum_script;
LOCUM_API void locum_script_init(locum_script *script);
LOCUM_API locum_status locum_model_open_scripted(const locum_script *script, locum_model **out,
                                                 locum_error *error);

#ifdef __cplusplus
}
#endif
#endif

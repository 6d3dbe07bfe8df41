// SPDX-License-Identifier: Apache-2.0
//
// Owns:      reading a caller's versioned structure into our own, and resolving settings to one value with
//            its source.
// Called by: engine_*.c.
// Threads:   pure.
// Errors:    LOCUM_E_ARGUMENT naming structure or field.
// Not here:  flags and environment (applications).
#ifndef ENGINE_ENGINE_OPTIONS_H
#define ENGINE_ENGINE_OPTIONS_H

#include "base/status.h"
#include "gguf/gguf_meta.h"
#include "sample/sample.h"

// Copy a structure that begins with struct_size into `ours` (bytes of it, holding the defaults). A shorter
// one leaves the rest as it is; a longer one must be zero beyond `bytes`.
locum_status engine_options_read(void *ours, uint32_t bytes, const void *theirs, const char *name,
                                 locum_error *error);

// The same of locum_options, NULL giving the defaults; values that no version has are refused.
locum_status engine_options_of(const locum_options *given, locum_options *out, locum_error *error);

enum engine_source { ENGINE_FROM_DEFAULT, ENGINE_FROM_FILE, ENGINE_FROM_CALLER };
const char *engine_source_name(enum engine_source source); // "default", "file", "given"

// Defaults of sampling: the file's general.sampling.* first, then llama.cpp's.
struct engine_sampling {
    float temperature, top_p, min_p;
    int32_t top_k;
    enum engine_source temperature_source, top_p_source, min_p_source, top_k_source;
};
locum_status engine_sampling_read(const struct gguf_meta *meta, struct engine_sampling *out,
                                  locum_error *error);

// What a request asks for, over those defaults. Out-of-range values are errors that name the field.
locum_status engine_sampling_resolve(const struct engine_sampling *defaults,
                                     const locum_sampling *given, struct sample_settings *out,
                                     locum_error *error);

#endif

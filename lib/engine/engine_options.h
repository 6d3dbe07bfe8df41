// SPDX-License-Identifier: Apache-2.0
//
// Owns:      reading a caller's versioned structure into our own; the names of sources.
// Called by: engine_*.c.
// Threads:   pure.
// Errors:    LOCUM_E_ARGUMENT naming structure or field.
// Not here:  flags and environment (applications), sampling (engine_sampling.h).
#ifndef ENGINE_ENGINE_OPTIONS_H
#define ENGINE_ENGINE_OPTIONS_H

#include "base/status.h"

// Copy a structure that begins with struct_size into `ours` (bytes of it, holding the defaults). A shorter
// one leaves the rest as it is; a longer one must be zero beyond `bytes`.
locum_status engine_options_read(void *ours, uint32_t bytes, const void *theirs, const char *name,
                                 locum_error *error);

// The same of locum_options, NULL giving the defaults; values that no version has are refused.
locum_status engine_options_of(const locum_options *given, locum_options *out, locum_error *error);

// Where a value came from, the strongest last. CARD: what the model's makers recommend.
enum engine_source { ENGINE_FROM_DEFAULT, ENGINE_FROM_CARD, ENGINE_FROM_FILE, ENGINE_FROM_CALLER };
const char *engine_source_name(enum engine_source source); // "default", "card", "file", "given"

#endif

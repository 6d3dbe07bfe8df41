// SPDX-License-Identifier: Apache-2.0
//
// Owns:      locum_file_info: numbers about a model read off its directory, also for models that cannot
//            be run.
// Called by: engine_file.c.
// Threads:   pure.
// Errors:    only LOCUM_E_OUT_OF_MEMORY: what the file does not say stays 0.
// Not here:  rendering for people (applications).
#ifndef ENGINE_ENGINE_DESCRIBE_H
#define ENGINE_ENGINE_DESCRIBE_H

#include "base/arena.h"
#include "gguf/gguf_file.h"

locum_status engine_describe(const struct gguf_file *file, struct arena *arena,
                             locum_file_info *out, locum_error *error);

#endif

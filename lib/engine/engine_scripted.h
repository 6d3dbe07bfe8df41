// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the engine whose answers are given.
// Called by: engine_api.c.
// Threads:   as engine.h.
// Errors:    LOCUM_E_ARGUMENT, LOCUM_E_OUT_OF_MEMORY.
// Not here:  inference.
#ifndef ENGINE_ENGINE_SCRIPTED_H
#define ENGINE_ENGINE_SCRIPTED_H

#include "engine/engine.h"

#include <locum/locum_experimental.h>

locum_status engine_scripted_open(const locum_script *script, struct engine **out,
                                  locum_error *error);

#endif

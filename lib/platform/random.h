// SPDX-License-Identifier: Apache-2.0
//
// Owns:      unpredictable numbers from the system.
// Called by: engine (a seed that the request did not give), file_write (temporary names).
// Threads:   any.
// Errors:    LOCUM_E_SYSTEM.
// Not here:  the random numbers of sampling, which are functions of the seed (lib/sample).
#ifndef PLATFORM_RANDOM_H
#define PLATFORM_RANDOM_H

#include "base/status.h"

#include <stdint.h>

locum_status random_u64(uint64_t *out, locum_error *error);

#endif

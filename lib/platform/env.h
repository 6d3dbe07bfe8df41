// SPDX-License-Identifier: Apache-2.0
//
// Owns:      access to environment variables.
// Called by: the command line only; the library reads no environment.
// Threads:   any, as long as nobody changes the environment.
// Errors:    none.
// Not here:  what a variable means.
#ifndef PLATFORM_ENV_H
#define PLATFORM_ENV_H

// NULL if unset or empty.
const char *env_get(const char *name);

#endif

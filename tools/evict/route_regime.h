// SPDX-License-Identifier: Apache-2.0
//
// Traces of no model, from a seed, for what recorded ones do not show.
#ifndef TOOLS_EVICT_ROUTE_REGIME_H
#define TOOLS_EVICT_ROUTE_REGIME_H

#include <stdbool.h>
#include <stdint.h>

// Writes a trace of 256 tokens, 24 layers, 128 experts, 6 of them used, to standard output.
//   drift  favourites of each layer, a few of which change with every token
//   scan   the same, and every fourth token asks for experts in turn that nobody asks for again
// false: there is no such regime.
bool route_regime_write(const char *name, uint64_t seed);

#endif

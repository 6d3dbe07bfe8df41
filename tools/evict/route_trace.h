// SPDX-License-Identifier: Apache-2.0
//
// A routing trace in memory: what `locum run --trace` writes (docs/statistics.md), and the files of
// bench/traces.
#ifndef TOOLS_EVICT_ROUTE_TRACE_H
#define TOOLS_EVICT_ROUTE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROUTE_LAYERS_MAX = 512, ROUTE_EXPERTS_MAX = 1 << 12 };

// The choice of one token in one layer.
struct route_cell {
    uint32_t layer; // counted among those with experts
    uint32_t first; // into route_trace.expert
    uint32_t count;
    bool answer;    // not the prompt
};

struct route_trace {
    uint32_t layers;                         // with experts
    uint32_t number[ROUTE_LAYERS_MAX];       // of each in the model
    uint64_t expert_bytes[ROUTE_LAYERS_MAX]; // of each
    uint32_t experts;                        // of one layer
    uint32_t used;                           // of them for a token
    struct route_cell *cell;                 // in the order of the file
    size_t cells;
    uint32_t *expert; // [rows] within the layer, strongest of a cell first
    size_t rows;
};

// false, with a sentence on standard error, when the file cannot be read or is no such trace.
bool route_trace_read(struct route_trace *trace, const char *path);
void route_trace_release(struct route_trace *trace);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the trace of experts of a run: how often each was used, and what a cache of each size would
//            have held of the answer's.
// Called by: cli_report.c.
// Threads:   one.
// Errors:    those of the table.
// Not here:  the caches themselves (cli_report_replay.h).
#ifndef CLI_CLI_REPORT_TRACE_H
#define CLI_CLI_REPORT_TRACE_H

#include "cli_report_page.h"
#include "cli_report_table.h"

enum {
    CLI_REPORT_LAYERS = 512,  // as many as the library can run
    CLI_REPORT_EXPERTS = 1024 // in a layer; likewise
};

struct cli_report_trace {
    bool given;
    uint32_t layers, experts;                // of the model; experts in each layer
    uint32_t moe_layers;                     // that have experts
    uint64_t layer_bytes[CLI_REPORT_LAYERS]; // of one expert; 0: a layer without
    uint32_t *uses;                          // [layers * experts]: rows
    uint32_t *last;                          // likewise: cell of the answer that used it last
    uint32_t *lookups;                       // of the answer, for the replay
    size_t lookup_count, room;
};

void cli_report_trace_read(struct cli_report_table *table, struct cli_report_trace *out);
void cli_report_trace_release(struct cli_report_trace *trace);

// All of these also if it was not given.
void cli_report_trace_rows(const struct cli_report_trace *trace,
                           struct cli_report_page *page); // of the table of totals
void cli_report_trace_heat(const struct cli_report_trace *trace, struct cli_report_page *page);
// pool_mib: the room for experts that the run had, 0: not known; hit_rate: of its answer, below 0: not
// known. False: interrupted or no memory, which is told.
int cli_report_trace_curve(const struct cli_report_trace *trace, double pool_mib, double hit_rate,
                           struct cli_report_page *page);

#endif

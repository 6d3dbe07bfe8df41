// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the metrics of a run: totals, and the charts of what changes from token to token.
// Called by: cli_report.c.
// Threads:   one.
// Errors:    those of the table.
// Not here:  single reads (cli_report_reads.h), single operations (cli_report_operations.h).
#ifndef CLI_CLI_REPORT_METRICS_H
#define CLI_CLI_REPORT_METRICS_H

#include "cli_report_page.h"
#include "cli_report_table.h"

// Sums over the steps of a phase.
struct cli_report_sums {
    double tokens, wall_ms, compute_ms, stall_ms, sample_ms, read_bytes, hits, misses;
};

struct cli_report_step {
    struct cli_report_sums sums; // of this step
    int phase;                   // 0 prompt, 1 answer
    double resident_mib, pool_mib, used_mib;
};

struct cli_report_metrics {
    bool given;
    char settings[300];             // as the preamble has them
    struct cli_report_sums sums[2]; // by phase
    double peak_mib;                // resident memory
    struct cli_report_step *steps;
    size_t count, room;
};

void cli_report_metrics_read(struct cli_report_table *table, struct cli_report_metrics *out);
void cli_report_metrics_release(struct cli_report_metrics *metrics);

// All of these also if it was not given.
void cli_report_metrics_rows(const struct cli_report_metrics *metrics,
                             struct cli_report_page *page); // of the table of totals
void cli_report_metrics_charts(const struct cli_report_metrics *metrics,
                               struct cli_report_page *page);
void cli_report_metrics_read_rate(const struct cli_report_metrics *metrics,
                                  struct cli_report_page *page);
double cli_report_metrics_pool_mib(const struct cli_report_metrics *metrics); // 0: not known
double cli_report_metrics_hit_rate(const struct cli_report_metrics *metrics,
                                   int phase); // below 0: none

#endif

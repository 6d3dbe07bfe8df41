// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the trace of reads of a run: how long they took, those of experts that a token waited for
//            apart from those ahead.
// Called by: cli_report.c.
// Threads:   one.
// Errors:    those of the table.
// Not here:  how much was read per second: the trace has no clock (cli_report_metrics.h has).
#ifndef CLI_CLI_REPORT_READS_H
#define CLI_CLI_REPORT_READS_H

#include "cli_report_page.h"
#include "cli_report_table.h"

enum { CLI_REPORT_DEMAND, CLI_REPORT_AHEAD, CLI_REPORT_SORTS };

struct cli_report_reads {
    bool given;
    struct {
        uint64_t *latency_ns; // ascending
        size_t count, room;
        double bytes;
    } sort[CLI_REPORT_SORTS];
};

void cli_report_reads_read(struct cli_report_table *table, struct cli_report_reads *out);
void cli_report_reads_release(struct cli_report_reads *reads);
void cli_report_reads_chart(const struct cli_report_reads *reads, struct cli_report_page *page);

#endif

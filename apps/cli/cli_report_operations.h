// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the trace of operations of a run, added up over the layers.
// Called by: cli_report.c.
// Threads:   one.
// Errors:    those of the table.
// Not here:  time by token (cli_report_metrics.h).
#ifndef CLI_CLI_REPORT_OPERATIONS_H
#define CLI_CLI_REPORT_OPERATIONS_H

#include "cli_report_page.h"
#include "cli_report_table.h"

enum {
    CLI_REPORT_OPERATION_NAME = 64,
    CLI_REPORT_OPERATION_KINDS = 100 // most known: 26
};

struct cli_report_operation {
    char name[CLI_REPORT_OPERATION_NAME];
    double seconds[2]; // by phase: prompt, answer
    bool part;         // of the experts, whose time includes it
};

struct cli_report_operations {
    bool given;
    double seconds[2]; // of all that are no parts
    size_t count;
    struct cli_report_operation operation[CLI_REPORT_OPERATION_KINDS];
};

void cli_report_operations_read(struct cli_report_table *table, struct cli_report_operations *out);
void cli_report_operations_chart(const struct cli_report_operations *operations,
                                 struct cli_report_page *page);

#endif

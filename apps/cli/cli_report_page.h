// SPDX-License-Identifier: Apache-2.0
//
// Owns:      an HTML page that is written front to back and appears whole or not at all: its style, its
//            sections, and the escaping of text from files. The page is well-formed XML as well.
// Called by: cli_report.c, and every cli_report_*.c that shows something.
// Threads:   one.
// Errors:    kept, and told when the page is closed.
// Not here:  charts (cli_report_chart.h).
#ifndef CLI_CLI_REPORT_PAGE_H
#define CLI_CLI_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli_report_table.h"
#include "platform/file_write.h"

struct cli_report_page {
    struct file_write *file;
    locum_status status;
    locum_error error;
    size_t used;
    char bytes[16 << 10];
};

// The status to exit with. title: as text.
int cli_report_page_open(struct cli_report_page *page, const char *path);
int cli_report_page_close(struct cli_report_page *page); // the page appears
void cli_report_page_cancel(struct cli_report_page *page);

void cli_report_page_begin(struct cli_report_page *page, const char *title);
void cli_report_page_end(struct cli_report_page *page);

// As it stands: markup of our own, and numbers.
void cli_report_page_print(struct cli_report_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Text of a file, escaped.
void cli_report_page_text(struct cli_report_page *page, const char *text);

// A section: what is to be seen, and how to read it.
void cli_report_page_section(struct cli_report_page *page, const char *title, const char *help);
void cli_report_page_section_end(struct cli_report_page *page);
// Instead of a chart, when the file was not given that has its numbers.
void cli_report_page_missing(struct cli_report_page *page, enum cli_report_kind kind);
// What the colours of a chart mean: classes and names in turn, NULL-terminated.
void cli_report_page_legend(struct cli_report_page *page, const char *const *entries);
// A number that programs can read as well as people: `shown` in the text, `value` behind it.
void cli_report_page_number(struct cli_report_page *page, const char *id, double value,
                            const char *shown);

#endif

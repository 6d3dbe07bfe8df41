// SPDX-License-Identifier: Apache-2.0
//
// Owns:      reading a CSV file of docs/statistics.md: which of them it is, its preamble, its columns by
//            name, its rows. A file is read once, front to back, so a pipe does as well.
// Called by: cli_report.c (which file is what), the cli_report_*.c of each kind of file.
// Threads:   one.
// Errors:    the first one is told on standard error with file and line, and kept in `status`; after it
//            there are no more rows, and values are 0.
// Not here:  what the columns mean.
#ifndef CLI_CLI_REPORT_TABLE_H
#define CLI_CLI_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_report_kind {
    CLI_REPORT_METRICS,
    CLI_REPORT_TRACE,
    CLI_REPORT_READS,
    CLI_REPORT_OPERATIONS,
    CLI_REPORT_KINDS // none of them
};

enum {
    CLI_REPORT_LINE = 64 << 10, // bytes of a line; the longest that is written has a path in it
    CLI_REPORT_COLUMNS = 64,    // in a file; most known: 20
    CLI_REPORT_ROWS = 8 << 20   // in a file, so that no file fills the memory
};
#define CLI_REPORT_MOST 1e15 // largest number that is believed; sums of them stay exact enough

struct cli_report_table {
    const char *path;
    enum cli_report_kind kind;
    int status;
    uint64_t line;   // number of the last line that was read
    size_t rows;     // read so far
    char model[400]; // as the preamble has it; metrics cut it at 300 bytes
    // The rest is the reader's own.
    FILE *file;
    size_t columns;                   // of the header
    size_t at[CLI_REPORT_COLUMNS];    // where the wanted columns are
    const char *const *wanted;        // their names, NULL-terminated
    char *fields[CLI_REPORT_COLUMNS]; // of the row
    size_t begin, end;                // bytes in `bytes` that are still to be read
    char bytes[CLI_REPORT_LINE + 1];
};

const char *cli_report_kind_flag(enum cli_report_kind kind); // "--metrics"
const char *cli_report_kind_name(enum cli_report_kind kind); // "metrics"

// Reads the first line, by which kind is set. The status is that of opening and reading.
int cli_report_table_open(struct cli_report_table *table, const char *path);
void cli_report_table_close(struct cli_report_table *table);

// Reads on to the header. Each line of the preamble goes to `preamble` (may be NULL) with its "# ".
bool cli_report_table_head(struct cli_report_table *table, const char *const *wanted,
                           void (*preamble)(void *user, const char *line), void *user);
// The number behind the last " name=" of a preamble's line.
bool cli_report_table_named(const char *line, const char *name, uint64_t *out);

// False: the end, or an error (status).
bool cli_report_table_next(struct cli_report_table *table);
// Of the row; column: index in `wanted`.
const char *cli_report_table_text(const struct cli_report_table *table, int column);
uint64_t cli_report_table_count(struct cli_report_table *table, int column, uint64_t most);
double cli_report_table_real(struct cli_report_table *table, int column);

// Room for one more element of an array; block points to the pointer to it.
bool cli_report_table_reserve(struct cli_report_table *table, void *block, size_t count,
                              size_t element, size_t *room);
// An error about the last line.
void cli_report_table_fail(struct cli_report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

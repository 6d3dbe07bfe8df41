// SPDX-License-Identifier: Apache-2.0
#include "cli_report_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli_interrupt.h"
#include "cli_number.h"
#include "cli_output.h"

static const struct {
    const char *first_line, *flag, *name;
} kinds[CLI_REPORT_KINDS] = {
    [CLI_REPORT_METRICS] = {"# locum_metrics v1", "--metrics", "metrics"},
    [CLI_REPORT_TRACE] = {"# route_trace v1", "--trace", "a trace of experts"},
    [CLI_REPORT_READS] = {"# io_trace v1", "--io-trace", "a trace of reads"},
    [CLI_REPORT_OPERATIONS] = {"# op_trace v1", "--op-trace", "a trace of operations"},
};

const char *cli_report_kind_flag(enum cli_report_kind kind) {
    return kinds[kind].flag;
}

const char *cli_report_kind_name(enum cli_report_kind kind) {
    return kinds[kind].name;
}

void cli_report_table_fail(struct cli_report_table *table, const char *format, ...) {
    if (table->status != CLI_EXIT_OK) return;
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_output_error("%s: line %" PRIu64 ": %s", table->path, table->line, text);
    table->status = CLI_EXIT_FILE;
}

// ---- lines -------------------------------------------------------------------------------------
// Fills the buffer behind the bytes that are left. False: there is nothing more.
static bool refill(struct cli_report_table *table) {
    memmove(table->bytes, table->bytes + table->begin, table->end - table->begin);
    table->end -= table->begin;
    table->begin = 0;
    errno = 0;
    size_t got = fread(table->bytes + table->end, 1, CLI_REPORT_LINE - table->end, table->file);
    table->end += got;
    if (cli_interrupt_seen()) {
        table->status = CLI_EXIT_INTERRUPTED;
    } else if (ferror(table->file)) {
        cli_output_error("%s: reading failed: %s", table->path, strerror(errno));
        table->status = CLI_EXIT_FILE;
    }
    return got > 0 && table->status == CLI_EXIT_OK;
}

// The next line, terminated in place; NULL: the end or an error. A first line that is no text belongs to
// a file of another kind: that is no error here.
static char *next_line(struct cli_report_table *table) {
    char *end = NULL;
    size_t seen = 0; // bytes without an end of line
    while (!end) {
        char *from = table->bytes + table->begin + seen;
        end = memchr(from, '\n', table->end - table->begin - seen);
        seen = table->end - table->begin;
        if (!end && seen == CLI_REPORT_LINE) {
            table->line++;
            if (table->line > 1)
                cli_report_table_fail(table, "it has more than %d bytes", CLI_REPORT_LINE);
            return NULL;
        }
        if (!end && !refill(table)) break;
    }
    if (table->status != CLI_EXIT_OK || (!end && seen == 0)) return NULL;
    char *line = table->bytes + table->begin;
    size_t size = end ? (size_t)(end - line) : seen;
    table->begin += end ? size + 1 : size;
    table->line++;
    if (memchr(line, 0, size)) {
        if (table->line > 1) cli_report_table_fail(table, "there is a zero byte in it");
        return NULL;
    }
    if (size > 0 && line[size - 1] == '\r') size--;
    line[size] = 0;
    return line;
}

int cli_report_table_open(struct cli_report_table *table, const char *path) {
    // All but the buffer.
    memset(table, 0, offsetof(struct cli_report_table, bytes));
    table->path = path;
    table->kind = CLI_REPORT_KINDS;
    table->file = fopen(path, "rb");
    if (!table->file) {
        cli_output_error("%s: %s", path, strerror(errno));
        return table->status = CLI_EXIT_FILE;
    }
    const char *line = next_line(table);
    for (int i = 0; line && i < CLI_REPORT_KINDS; i++) {
        if (strcmp(line, kinds[i].first_line) == 0) table->kind = (enum cli_report_kind)i;
    }
    return table->status;
}

void cli_report_table_close(struct cli_report_table *table) {
    if (table->file) fclose(table->file);
    table->file = NULL;
}

// ---- preamble and header -----------------------------------------------------------------------
static const char *last_place(const char *line, const char *word) {
    const char *found = NULL;
    for (const char *at = line; (at = strstr(at, word)); at++)
        found = at;
    return found;
}

bool cli_report_table_named(const char *line, const char *name, uint64_t *out) {
    char word[32], digits[24];
    snprintf(word, sizeof word, " %s=", name);
    const char *at = last_place(line, word);
    if (!at) return false;
    at += strlen(word);
    snprintf(digits, sizeof digits, "%.*s", (int)strcspn(at, " "), at);
    return cli_number_integer(digits, out) == CLI_NUMBER_OK;
}

// A path may hold blanks: the model is what lies before the last " arch=", if that is there.
static void keep_model(struct cli_report_table *table, const char *line) {
    static const char before[] = "# model=";
    if (strncmp(line, before, sizeof before - 1) != 0) return;
    line += sizeof before - 1;
    const char *end = last_place(line, " arch=");
    int size = (int)(end ? (size_t)(end - line) : strlen(line));
    snprintf(table->model, sizeof table->model, "%.*s", size, line);
}

static size_t cut(struct cli_report_table *table, char *line) {
    size_t count = 0;
    for (char *field = line; field; count++) {
        char *comma = strchr(field, ',');
        if (count == CLI_REPORT_COLUMNS) {
            cli_report_table_fail(table, "it has more than %d fields", CLI_REPORT_COLUMNS);
            return 0;
        }
        table->fields[count] = field;
        if (comma) *comma = 0;
        field = comma ? comma + 1 : NULL;
    }
    return count;
}

static void find_columns(struct cli_report_table *table) {
    for (size_t i = 0; table->wanted[i] && table->status == CLI_EXIT_OK; i++) {
        size_t at = 0;
        while (at < table->columns && strcmp(table->fields[at], table->wanted[i]) != 0)
            at++;
        if (at == table->columns)
            cli_report_table_fail(table, "there is no column '%s'", table->wanted[i]);
        table->at[i] = at;
    }
}

bool cli_report_table_head(struct cli_report_table *table, const char *const *wanted,
                           void (*preamble)(void *user, const char *line), void *user) {
    table->wanted = wanted;
    char *line = next_line(table);
    for (; line && line[0] == '#'; line = next_line(table)) {
        keep_model(table, line);
        if (preamble) preamble(user, line);
    }
    if (!line) {
        cli_report_table_fail(table, "the file ends before its header");
        return false;
    }
    table->columns = cut(table, line);
    find_columns(table);
    return table->status == CLI_EXIT_OK;
}

// ---- rows --------------------------------------------------------------------------------------
bool cli_report_table_next(struct cli_report_table *table) {
    char *line = table->status == CLI_EXIT_OK ? next_line(table) : NULL;
    if (!line) return false;
    size_t count = cut(table, line);
    if (count != table->columns)
        cli_report_table_fail(table, "it has %zu fields, the header has %zu", count,
                              table->columns);
    if (table->rows++ == CLI_REPORT_ROWS)
        cli_report_table_fail(table, "there are more than %d rows", CLI_REPORT_ROWS);
    return table->status == CLI_EXIT_OK;
}

const char *cli_report_table_text(const struct cli_report_table *table, int column) {
    return table->fields[table->at[column]];
}

uint64_t cli_report_table_count(struct cli_report_table *table, int column, uint64_t most) {
    uint64_t value;
    const char *text = cli_report_table_text(table, column);
    if (cli_number_integer(text, &value) == CLI_NUMBER_OK && value <= most) return value;
    cli_report_table_fail(table, "%s '%.40s': a whole number from 0 to %" PRIu64 " is possible",
                          table->wanted[column], text, most);
    return 0;
}

double cli_report_table_real(struct cli_report_table *table, int column) {
    double value;
    const char *text = cli_report_table_text(table, column);
    bool number = cli_number_real(text, &value) == CLI_NUMBER_OK;
    if (number && value >= 0 && value <= CLI_REPORT_MOST) return value;
    cli_report_table_fail(table, "%s '%.40s': a number from 0 to %g is possible",
                          table->wanted[column], text, CLI_REPORT_MOST);
    return 0;
}

bool cli_report_table_reserve(struct cli_report_table *table, void *block, size_t count,
                              size_t element, size_t *room) {
    if (table->status != CLI_EXIT_OK) return false;
    if (count < *room) return true;
    size_t larger = *room ? *room * 2 : 1024;
    void *grown = realloc(*(void **)block, larger * element);
    if (!grown) {
        cli_output_error("%s: no memory for its rows", table->path);
        table->status = CLI_EXIT_MEMORY;
        return false;
    }
    *(void **)block = grown;
    *room = larger;
    return true;
}

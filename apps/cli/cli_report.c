// SPDX-License-Identifier: Apache-2.0
//
// locum report: a page from the files that a run wrote. Which file is what is told by its first line. All
// are read before anything is drawn.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_output.h"
#include "cli_report_metrics.h"
#include "cli_report_operations.h"
#include "cli_report_page.h"
#include "cli_report_reads.h"
#include "cli_report_table.h"
#include "cli_report_trace.h"
#include "platform/file.h"
#include "platform/file_write.h"

struct report {
    const char *out;
    struct arena arena;                                // of paths
    struct cli_report_table *tables[CLI_REPORT_KINDS]; // NULL: not given
    struct cli_report_page page;
    struct cli_report_metrics metrics;
    struct cli_report_trace trace;
    struct cli_report_reads reads;
    struct cli_report_operations operations;
};

// ---- finding the files -------------------------------------------------------------------------
static int no_memory(void) {
    cli_output_error("no memory for the report");
    return CLI_EXIT_MEMORY;
}

// Keeps the table if it is one. lenient: a file of another kind is passed over.
static int take(struct report *report, struct cli_report_table *table, bool lenient) {
    if (table->kind == CLI_REPORT_KINDS) {
        if (lenient) return CLI_EXIT_OK;
        cli_output_error("%s: this is no file of --metrics, --trace, --io-trace or --op-trace: its "
                         "first line is none of theirs",
                         table->path);
        return CLI_EXIT_FILE;
    }
    if (report->tables[table->kind])
        return cli_output_usage("report", "'%s' and '%s' are both %s; a report is of one run",
                                report->tables[table->kind]->path, table->path,
                                cli_report_kind_name(table->kind));
    if (file_write_replaces(report->out, table->path))
        return cli_output_usage("report", "-o would replace '%s', which the report is made from",
                                table->path);
    report->tables[table->kind] = table;
    return CLI_EXIT_OK;
}

static int add_file(struct report *report, const char *path, bool lenient) {
    struct cli_report_table *table = malloc(sizeof *table);
    if (!table) return no_memory();
    int status = cli_report_table_open(table, path);
    if (status == CLI_EXIT_OK) status = take(report, table, lenient);
    if (table->kind < CLI_REPORT_KINDS && report->tables[table->kind] == table) return status;
    cli_report_table_close(table);
    free(table);
    return status;
}

static size_t tables_found(const struct report *report) {
    size_t count = 0;
    for (int i = 0; i < CLI_REPORT_KINDS; i++)
        count += report->tables[i] != NULL;
    return count;
}

static int add_folder(struct report *report, const char *folder) {
    locum_error error;
    const char *const *names;
    size_t count, before = tables_found(report);
    if (file_list(folder, &report->arena, &names, &count, &error) != LOCUM_OK) {
        cli_output_error("%s", error.text);
        return CLI_EXIT_FILE;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(folder) + strlen(names[i]) + 2;
        char *path = arena_alloc(&report->arena, size);
        if (!path) return no_memory();
        snprintf(path, size, "%s/%s", folder, names[i]);
        struct file_facts facts; // what cannot be looked at is no file of ours
        if (file_look(path, &facts, NULL) != LOCUM_OK || facts.kind != FILE_REGULAR) continue;
        int status = add_file(report, path, true);
        if (status != CLI_EXIT_OK) return status;
    }
    if (tables_found(report) > before) return CLI_EXIT_OK;
    cli_output_error(
        "%s: no file of --metrics, --trace, --io-trace or --op-trace is in this folder", folder);
    return CLI_EXIT_FILE;
}

static int find(struct report *report, const struct cli_arguments *arguments) {
    int status = CLI_EXIT_OK;
    for (int i = 0; i < arguments->operand_count && status == CLI_EXIT_OK; i++) {
        const char *path = arguments->operands[i];
        struct file_facts facts;
        locum_error error;
        if (file_look(path, &facts, &error) != LOCUM_OK) {
            cli_output_error("%s", error.text);
            return CLI_EXIT_FILE;
        }
        status =
            facts.kind == FILE_FOLDER ? add_folder(report, path) : add_file(report, path, false);
    }
    return status;
}

// ---- reading them ------------------------------------------------------------------------------
static int read_tables(struct report *report) {
    struct cli_report_table *table;
    if ((table = report->tables[CLI_REPORT_METRICS]))
        cli_report_metrics_read(table, &report->metrics);
    if (table && table->status != CLI_EXIT_OK) return table->status;
    if ((table = report->tables[CLI_REPORT_TRACE])) cli_report_trace_read(table, &report->trace);
    if (table && table->status != CLI_EXIT_OK) return table->status;
    if ((table = report->tables[CLI_REPORT_READS])) cli_report_reads_read(table, &report->reads);
    if (table && table->status != CLI_EXIT_OK) return table->status;
    table = report->tables[CLI_REPORT_OPERATIONS];
    if (table) cli_report_operations_read(table, &report->operations);
    return table ? table->status : CLI_EXIT_OK;
}

// The first name of the model; NULL: no file has one. *same: all files name that one.
static const char *model_of(const struct report *report, bool *same) {
    enum { METRICS_CUT = 300 }; // bytes of a long path that all files have
    const char *model = NULL;
    *same = true;
    for (int i = 0; i < CLI_REPORT_KINDS; i++) {
        const struct cli_report_table *table = report->tables[i];
        if (!table || !table->model[0]) continue;
        if (!model) model = table->model;
        *same = *same && strncmp(model, table->model, METRICS_CUT) == 0;
    }
    return model;
}

// ---- the page ----------------------------------------------------------------------------------
static void head(struct report *report) {
    struct cli_report_page *page = &report->page;
    bool same;
    const char *model = model_of(report, &same);
    const char *slash = model ? strrchr(model, '/') : NULL;
    char title[440]; // a name may be as long as the table keeps it
    snprintf(title, sizeof title, "Locum: a run of %s",
             slash   ? slash + 1
             : model ? model
                     : "a model");
    cli_report_page_begin(page, title);
    if (!same) {
        cli_output_warn("the files name different models: they are not of one run");
        cli_report_page_print(page,
                              "<p class=\"missing\">The files name different models: they are "
                              "not of one run.</p>\n");
    }
    cli_report_page_print(page, "<table>\n<tr><th>Model</th><td>");
    cli_report_page_text(page, model ? model : "not named");
    cli_report_page_print(page, "</td></tr>\n");
    cli_report_trace_rows(&report->trace, page);
    cli_report_metrics_rows(&report->metrics, page);
    cli_report_page_print(page, "</table>\n");
    if (!report->metrics.given) cli_report_page_missing(page, CLI_REPORT_METRICS);
}

static void foot(struct report *report) {
    struct cli_report_page *page = &report->page;
    cli_report_page_print(page, "<p class=\"foot\">Made by <code>locum report</code> %s from",
                          locum_version());
    const char *between = " ";
    for (int i = 0; i < CLI_REPORT_KINDS; i++) {
        if (!report->tables[i]) continue;
        cli_report_page_print(page, "%s", between);
        cli_report_page_text(page, report->tables[i]->path);
        between = ", ";
    }
    cli_report_page_print(page, ".</p>\n");
    cli_report_page_end(page);
}

static int write_page(struct report *report) {
    const struct cli_report_metrics *metrics = &report->metrics;
    struct cli_report_page *page = &report->page;
    head(report);
    cli_report_metrics_charts(metrics, page);
    cli_report_trace_heat(&report->trace, page);
    int status = cli_report_trace_curve(&report->trace, cli_report_metrics_pool_mib(metrics),
                                        cli_report_metrics_hit_rate(metrics, 1), page);
    cli_report_reads_chart(&report->reads, page);
    cli_report_metrics_read_rate(metrics, page);
    cli_report_operations_chart(&report->operations, page);
    foot(report);
    return status;
}

static int make(struct report *report, const struct cli_arguments *arguments) {
    int status = find(report, arguments);
    if (status == CLI_EXIT_OK) status = cli_report_page_open(&report->page, report->out);
    if (status != CLI_EXIT_OK) return status;
    status = read_tables(report);
    if (status == CLI_EXIT_OK) status = write_page(report);
    if (status == CLI_EXIT_OK) return cli_report_page_close(&report->page);
    cli_report_page_cancel(&report->page);
    return status;
}

int cli_report(const struct cli_arguments *arguments) {
    const struct cli_value *out = &arguments->flags[CLI_OUT];
    if (!out->given) return cli_output_usage("report", "-o FILE is missing: where the page goes");
    struct report *report = calloc(1, sizeof *report);
    if (!report) return no_memory();
    report->out = out->text;
    arena_init(&report->arena, 0);
    int status = make(report, arguments);
    for (int i = 0; i < CLI_REPORT_KINDS; i++) {
        if (!report->tables[i]) continue;
        cli_report_table_close(report->tables[i]);
        free(report->tables[i]);
    }
    cli_report_metrics_release(&report->metrics);
    cli_report_trace_release(&report->trace);
    cli_report_reads_release(&report->reads);
    arena_release(&report->arena);
    free(report);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli_report_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_interrupt.h"
#include "cli_number.h"
#include "cli_output.h"
#include "cli_report_chart.h"
#include "cli_report_replay.h"

// ---- reading -----------------------------------------------------------------------------------
static const char *const columns[] = {"turn", "phase", "step", "layer", "expert", NULL};
enum { TURN, PHASE, STEP, LAYER, EXPERT };

static void keep_shape(void *user, const char *line) {
    struct cli_report_trace *trace = user;
    uint64_t layers, experts, layer, bytes;
    if (cli_report_table_named(line, "n_layer", &layers) &&
        cli_report_table_named(line, "n_expert", &experts)) {
        trace->layers = layers <= CLI_REPORT_LAYERS ? (uint32_t)layers : 0;
        trace->experts = experts <= CLI_REPORT_EXPERTS ? (uint32_t)experts : 0;
    } else if (cli_report_table_named(line, "layer", &layer) &&
               cli_report_table_named(line, "expert_bytes", &bytes) && layer < CLI_REPORT_LAYERS &&
               bytes > 0 && bytes < (uint64_t)CLI_REPORT_MOST) {
        trace->moe_layers += trace->layer_bytes[layer] == 0;
        trace->layer_bytes[layer] = bytes;
    }
}

static bool open_counts(struct cli_report_table *table, struct cli_report_trace *trace) {
    if (trace->layers == 0 || trace->experts == 0) {
        cli_report_table_fail(
            table, "before it no line has n_layer from 1 to %d and n_expert from 1 to %d",
            CLI_REPORT_LAYERS, CLI_REPORT_EXPERTS);
        return false;
    }
    size_t cells = (size_t)trace->layers * trace->experts;
    trace->uses = calloc(cells, sizeof *trace->uses);
    trace->last = calloc(cells, sizeof *trace->last);
    if (trace->uses && trace->last) return true;
    cli_output_error("%s: no memory for its experts", table->path);
    table->status = CLI_EXIT_MEMORY;
    return false;
}

// What rows have in common that are the choice of one token in one layer.
struct cell {
    uint64_t turn, step;
    uint32_t phase, layer;
};

static bool same_cell(const struct cell *a, const struct cell *b) {
    return a->turn == b->turn && a->step == b->step && a->phase == b->phase && a->layer == b->layer;
}

static void add_row(struct cli_report_table *table, struct cli_report_trace *trace,
                    const struct cell *cell, uint32_t key, uint32_t cells, bool first) {
    trace->uses[key]++;
    if (cell->phase == 0 || trace->last[key] == cells) return; // looked up once in a cell
    trace->last[key] = cells;
    if (!cli_report_table_reserve(table, &trace->lookups, trace->lookup_count,
                                  sizeof *trace->lookups, &trace->room))
        return;
    trace->lookups[trace->lookup_count++] = key | (first ? CLI_REPORT_BATCH : 0);
}

void cli_report_trace_read(struct cli_report_table *table, struct cli_report_trace *out) {
    *out = (struct cli_report_trace){0};
    if (!cli_report_table_head(table, columns, keep_shape, out)) return;
    if (!open_counts(table, out)) return;
    struct cell last = {0};
    uint32_t cells = 0;
    while (cli_report_table_next(table)) {
        struct cell cell = {cli_report_table_count(table, TURN, UINT32_MAX),
                            cli_report_table_count(table, STEP, UINT32_MAX),
                            (uint32_t)cli_report_table_count(table, PHASE, 1),
                            (uint32_t)cli_report_table_count(table, LAYER, out->layers - 1)};
        uint32_t expert = (uint32_t)cli_report_table_count(table, EXPERT, out->experts - 1);
        if (table->status != CLI_EXIT_OK) return;
        if (out->layer_bytes[cell.layer] == 0) {
            cli_report_table_fail(table, "no line '# layer=%u expert_bytes=...' is before it",
                                  cell.layer);
            return;
        }
        bool first = cells == 0 || !same_cell(&cell, &last);
        cells += first;
        last = cell;
        add_row(table, out, &cell, cell.layer * out->experts + expert, cells, first);
    }
    out->given = table->status == CLI_EXIT_OK;
}

void cli_report_trace_release(struct cli_report_trace *trace) {
    free(trace->uses);
    free(trace->last);
    free(trace->lookups);
    *trace = (struct cli_report_trace){0};
}

static double all_bytes(const struct cli_report_trace *trace) {
    double bytes = 0;
    for (uint32_t i = 0; i < trace->layers; i++)
        bytes += (double)trace->layer_bytes[i] * trace->experts;
    return bytes;
}

void cli_report_trace_rows(const struct cli_report_trace *trace, struct cli_report_page *page) {
    char size[CLI_NUMBER_TEXT];
    if (!trace->given || trace->moe_layers == 0) return;
    cli_report_page_print(
        page, "<tr><th>Experts</th><td>%u in each of %u layers, %s together</td></tr>\n",
        trace->experts, trace->moe_layers, cli_number_bytes((uint64_t)all_bytes(trace), size));
}

// ---- heat map ----------------------------------------------------------------------------------
enum { SHADES = 8, DISTINCT_WIDTH = 110 };

static uint32_t shade_of(uint32_t uses, uint32_t most) {
    return (uint32_t)(((uint64_t)uses * SHADES + most - 1) / most); // 0 only for no use
}

static uint32_t most_uses(const struct cli_report_trace *trace) {
    uint32_t most = 0;
    for (size_t i = 0; i < (size_t)trace->layers * trace->experts; i++)
        most = trace->uses[i] > most ? trace->uses[i] : most;
    return most;
}

static void heat_key(struct cli_report_page *page, uint32_t most) {
    cli_report_page_print(page, "<ul class=\"key\">\n<li><svg viewBox=\"0 0 16 12\" "
                                "aria-hidden=\"true\"><path class=\"shade\" d=\"M0 0H16V12H0z\"/>"
                                "</svg>not used</li>\n");
    uint32_t from = 1;
    for (uint32_t shade = 1; shade <= SHADES; shade++) {
        uint32_t to = (uint32_t)((uint64_t)shade * most / SHADES);
        if (to < from) continue; // few uses need few shades
        char range[32];
        snprintf(range, sizeof range, from == to ? "%u" : "%u to %u", from, to);
        cli_report_page_print(
            page,
            "<li><svg viewBox=\"0 0 16 12\" aria-hidden=\"true\"><path "
            "class=\"c1\" fill-opacity=\"%.3f\" d=\"M0 0H16V12H0z\"/></svg>%s</li>\n",
            (double)shade / SHADES, range);
        from = to + 1;
    }
    cli_report_page_print(page, "</ul>\n");
}

// One path for each shade, with a rectangle for each run of experts that have it.
static void heat_cells(struct cli_report_chart *chart, const struct cli_report_trace *trace,
                       uint32_t most) {
    for (uint32_t shade = 1; shade <= SHADES; shade++) {
        cli_report_page_print(chart->page, "<path class=\"c1 cells\" fill-opacity=\"%.3f\" d=\"",
                              (double)shade / SHADES);
        for (uint32_t layer = 0; layer < trace->layers; layer++) {
            const uint32_t *uses = trace->uses + (size_t)layer * trace->experts;
            double top = cli_report_chart_y(chart, layer),
                   under = cli_report_chart_y(chart, layer + 1);
            for (uint32_t i = 0, end; i < trace->experts; i = end) {
                end = i + 1;
                if (shade_of(uses[i], most) != shade) continue;
                while (end < trace->experts && shade_of(uses[end], most) == shade)
                    end++;
                cli_report_page_print(
                    chart->page, "M%.2f %.2fH%.2fV%.2fH%.2fz", cli_report_chart_x(chart, i), top,
                    cli_report_chart_x(chart, end), under, cli_report_chart_x(chart, i));
            }
        }
        cli_report_page_print(chart->page, "\"/>\n");
    }
}

static void distinct_bars(struct cli_report_chart *chart, const struct cli_report_trace *trace) {
    double from = chart->right + 14, width = DISTINCT_WIDTH - 14;
    bool room = trace->layers <= 24; // for a number in each row
    cli_report_page_print(
        chart->page, "<text x=\"%.1f\" y=\"16\">%% used</text>\n<path class=\"c3\" d=\"", from);
    for (uint32_t layer = 0; layer < trace->layers; layer++) {
        double top = cli_report_chart_y(chart, layer), under = cli_report_chart_y(chart, layer + 1);
        double gap = (under - top) * 0.1, used = 0;
        for (uint32_t i = 0; i < trace->experts; i++)
            used += trace->uses[(size_t)layer * trace->experts + i] > 0;
        if (used > 0)
            cli_report_page_print(chart->page, "M%.1f %.2fH%.1fV%.2fH%.1fz", from, top + gap,
                                  from + used / trace->experts * (width - (room ? 46 : 0)),
                                  under - gap, from);
    }
    cli_report_page_print(chart->page, "\"/>\n");
    for (uint32_t layer = 0; room && layer < trace->layers; layer++) {
        double used = 0;
        for (uint32_t i = 0; i < trace->experts; i++)
            used += trace->uses[(size_t)layer * trace->experts + i] > 0;
        cli_report_page_print(chart->page, "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n",
                              from + width, cli_report_chart_y(chart, layer + 0.5) + 5,
                              floor(100 * used / trace->experts));
    }
}

static void heat_chart(const struct cli_report_trace *trace, struct cli_report_page *page) {
    uint32_t most = most_uses(trace);
    struct cli_report_axis x = {.to = trace->experts, .title = "expert", .shift = 0.5};
    struct cli_report_axis y = {.from = trace->layers, .title = "layer", .shift = 0.5};
    struct cli_report_chart chart;
    double height = trace->layers * 22 < 420 ? trace->layers * 22 : 420;
    heat_key(page, most);
    cli_report_chart_begin(&chart, page, "Uses of each expert of each layer", height,
                           DISTINCT_WIDTH, &x, &y);
    cli_report_page_print(page, "<path class=\"shade\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/>\n",
                          chart.left, chart.top, chart.right, chart.bottom, chart.left);
    heat_cells(&chart, trace, most);
    distinct_bars(&chart, trace);
    cli_report_chart_end(&chart);
}

void cli_report_trace_heat(const struct cli_report_trace *trace, struct cli_report_page *page) {
    cli_report_page_section(page, "Which experts are used",
                            "A row is a layer, a column one of its experts; the stronger its "
                            "colour, the more often a token of the "
                            "prompt or the answer used it. Rows with few strong columns need "
                            "little memory. The bars at "
                            "the right are the share of a layer's experts that were used at all.");
    if (!trace->given) {
        cli_report_page_missing(page, CLI_REPORT_TRACE);
    } else if (most_uses(trace) == 0) {
        cli_report_page_print(page, "<p class=\"missing\">No token used an expert.</p>\n");
    } else {
        heat_chart(trace, page);
    }
    cli_report_page_section_end(page);
}

// ---- hit rate by size --------------------------------------------------------------------------
enum { SIZES = 20 }; // 5 % to 100 % of the experts

struct curve {
    uint32_t capacity[SIZES];
    struct cli_report_stretch lru[SIZES], belady[SIZES]; // x, and the hit rate as high; in %
};

static int replay(const struct cli_report_trace *trace, struct curve *curve) {
    struct cli_report_lookups lookups = {trace->lookups, trace->lookup_count,
                                         trace->layers * trace->experts};
    uint32_t all = trace->moe_layers * trace->experts;
    for (uint32_t i = 0; i < SIZES; i++) {
        uint32_t percent = (i + 1) * 100 / SIZES, capacity = (all * percent + 50) / 100;
        uint64_t lru, belady;
        if (cli_interrupt_seen()) return CLI_EXIT_INTERRUPTED;
        if (!cli_report_replay_lru(&lookups, capacity, &lru) ||
            !cli_report_replay_belady(&lookups, capacity, &belady)) {
            cli_output_error("no memory to replay the trace");
            return CLI_EXIT_MEMORY;
        }
        double count = (double)lookups.count;
        curve->capacity[i] = capacity;
        curve->lru[i] =
            (struct cli_report_stretch){.begin = percent, .high = 100 * (double)lru / count};
        curve->belady[i] =
            (struct cli_report_stretch){.begin = percent, .high = 100 * (double)belady / count};
    }
    return CLI_EXIT_OK;
}

static void curve_numbers(const struct cli_report_trace *trace, const struct curve *curve,
                          struct cli_report_page *page) {
    char size[CLI_NUMBER_TEXT];
    cli_report_page_print(
        page, "<details>\n<summary>The numbers</summary>\n<div class=\"wide\"><table>\n<tr>"
              "<th class=\"n\">%% of experts</th><th class=\"n\">experts</th>"
              "<th class=\"n\">memory</th><th class=\"n\">LRU</th>"
              "<th class=\"n\">Belady</th></tr>\n");
    for (int i = 0; i < SIZES; i++) {
        double percent = curve->lru[i].begin;
        cli_report_page_print(
            page,
            "<tr><td class=\"n\">%.0f</td><td class=\"n\">%u</td><td class=\"n\">%s</td>"
            "<td class=\"n\"><data id=\"lru-%.0f\" value=\"%.10g\">%.1f %%</data></td>"
            "<td class=\"n\"><data id=\"belady-%.0f\" value=\"%.10g\">%.1f %%</data></td></tr>\n",
            percent, curve->capacity[i],
            cli_number_bytes((uint64_t)(all_bytes(trace) * percent / 100), size), percent,
            curve->lru[i].high / 100, curve->lru[i].high, percent, curve->belady[i].high / 100,
            curve->belady[i].high);
    }
    cli_report_page_print(page, "</table></div>\n</details>\n");
}

static void curve_chart(const struct cli_report_trace *trace, const struct curve *curve,
                        double pool_mib, double hit_rate, struct cli_report_page *page) {
    static const char *const key[] = {"l c2", "Belady: the most that is possible", "l c1",
                                      "LRU: the one used longest ago gives way", NULL};
    struct cli_report_axis x = {.to = 100, .title = "size of the cache, % of all experts"};
    struct cli_report_axis y = {.to = 100, .title = "% of the answer's lookups"};
    struct cli_report_chart chart;
    cli_report_page_legend(page, key);
    cli_report_chart_begin(&chart, page, "Hit rate by size of the cache", 230, 0, &x, &y);
    cli_report_chart_line(&chart, "l c2", curve->belady, SIZES);
    cli_report_chart_line(&chart, "l c1", curve->lru, SIZES);
    double size = 100 * pool_mib * (1 << 20) / all_bytes(trace);
    if (pool_mib > 0) cli_report_chart_mark(&chart, "l c3 dash", fmin(size, 100));
    if (pool_mib > 0 && hit_rate >= 0)
        cli_report_chart_dot(&chart, "c3", fmin(size, 100), 100 * hit_rate);
    cli_report_chart_end(&chart);
    if (pool_mib == 0) {
        cli_report_page_print(page,
                              "<p class=\"missing\">With a file of <code>--metrics</code> the "
                              "size that the run had is marked.</p>\n");
        return;
    }
    cli_report_page_print(page, "<p>The broken line is the size that this run had, ");
    char text[CLI_NUMBER_TEXT];
    snprintf(text, sizeof text, "%.1f %%", size);
    cli_report_page_number(page, "run-size", size, text);
    cli_report_page_print(
        page, " of all experts%s.</p>\n",
        hit_rate >= 0
            ? "; the point on it, the hit rate of its answer. Experts that were read ahead "
              "in time are hits there, so it may lie above the curves"
            : "");
}

int cli_report_trace_curve(const struct cli_report_trace *trace, double pool_mib, double hit_rate,
                           struct cli_report_page *page) {
    cli_report_page_section(
        page, "What more or less memory for experts would do",
        "The lookups of the answer, replayed with caches of other sizes that begin empty. Where "
        "the curve is steep, more memory helps; where it is flat, it does not. What even the "
        "largest cache misses is the first use of each expert.");
    int status = CLI_EXIT_OK;
    if (!trace->given) {
        cli_report_page_missing(page, CLI_REPORT_TRACE);
    } else if (trace->lookup_count == 0) {
        cli_report_page_print(page, "<p class=\"missing\">The trace has no token of an answer that "
                                    "used an expert.</p>\n");
    } else {
        struct curve curve;
        status = replay(trace, &curve);
        if (status == CLI_EXIT_OK) {
            curve_chart(trace, &curve, pool_mib, hit_rate, page);
            curve_numbers(trace, &curve, page);
        }
    }
    cli_report_page_section_end(page);
    return status;
}

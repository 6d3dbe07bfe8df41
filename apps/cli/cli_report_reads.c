// SPDX-License-Identifier: Apache-2.0
#include "cli_report_reads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli_number.h"
#include "cli_report_chart.h"

static const struct {
    const char *id, *name, *look, *line;
} sorts[CLI_REPORT_SORTS] = {
    [CLI_REPORT_DEMAND] = {"demand", "when needed", "c2", "l c2"},
    [CLI_REPORT_AHEAD] = {"ahead", "ahead", "c1", "l c1"},
};

// ---- reading -----------------------------------------------------------------------------------
static const char *const columns[] = {"spec", "read_bytes", "latency_ns", NULL};
enum { SPEC, BYTES, LATENCY };

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void cli_report_reads_read(struct cli_report_table *table, struct cli_report_reads *out) {
    static const uint64_t most = (uint64_t)CLI_REPORT_MOST;
    *out = (struct cli_report_reads){0};
    if (!cli_report_table_head(table, columns, NULL, NULL)) return;
    while (cli_report_table_next(table)) {
        int i = cli_report_table_count(table, SPEC, 1) ? CLI_REPORT_AHEAD : CLI_REPORT_DEMAND;
        uint64_t latency = cli_report_table_count(table, LATENCY, most);
        double bytes = (double)cli_report_table_count(table, BYTES, most);
        if (!cli_report_table_reserve(table, &out->sort[i].latency_ns, out->sort[i].count,
                                      sizeof latency, &out->sort[i].room))
            return;
        out->sort[i].latency_ns[out->sort[i].count++] = latency;
        out->sort[i].bytes += bytes;
    }
    for (int i = 0; i < CLI_REPORT_SORTS; i++) {
        if (out->sort[i].count > 0)
            qsort(out->sort[i].latency_ns, out->sort[i].count, sizeof(uint64_t), by_size);
    }
    out->given = table->status == 0;
}

void cli_report_reads_release(struct cli_report_reads *reads) {
    for (int i = 0; i < CLI_REPORT_SORTS; i++)
        free(reads->sort[i].latency_ns);
    *reads = (struct cli_report_reads){0};
}

// The least latency that `percent` of the reads do not exceed.
static uint64_t quantile(const struct cli_report_reads *reads, int sort, size_t percent) {
    size_t rank = (reads->sort[sort].count * percent + 99) / 100;
    return reads->sort[sort].latency_ns[rank - 1];
}

// ---- showing -----------------------------------------------------------------------------------
static const char *time_label(double ns, char text[40]) {
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    int i = 0;
    while (i < 3 && ns >= 999.5)
        ns /= 1e3, i++;
    snprintf(text, 40, "%.3g %s", ns, units[i]);
    return text;
}

// Ten bars to a factor of ten.
enum { PER_DECADE = 10, BARS_MOST = 16 * PER_DECADE };

static double decade(uint64_t ns) {
    return log10(ns > 0 ? (double)ns : 1);
}

struct histogram {
    int from, to; // decades
    double most;
    double reads[CLI_REPORT_SORTS][BARS_MOST];
};

static void count_reads(const struct cli_report_reads *reads, struct histogram *h) {
    *h = (struct histogram){.from = BARS_MOST};
    for (int i = 0; i < CLI_REPORT_SORTS; i++) {
        size_t count = reads->sort[i].count;
        if (count == 0) continue;
        h->from = (int)fmin(h->from, floor(decade(reads->sort[i].latency_ns[0])));
        h->to = (int)fmax(h->to, floor(decade(reads->sort[i].latency_ns[count - 1])) + 1);
    }
    for (int i = 0; i < CLI_REPORT_SORTS; i++) {
        for (size_t j = 0; j < reads->sort[i].count; j++) {
            int bar = (int)((decade(reads->sort[i].latency_ns[j]) - h->from) * PER_DECADE);
            h->most = fmax(h->most, ++h->reads[i][bar]);
        }
    }
}

static void draw_bars(struct cli_report_chart *chart, const struct histogram *h, int sort) {
    struct cli_report_stretch bars[BARS_MOST];
    int count = (h->to - h->from) * PER_DECADE;
    for (int i = 0; i < count; i++) {
        // The two sorts stand beside each other.
        double begin = h->from + (i + (sort ? 0.5 : 0.08)) / PER_DECADE;
        bars[i] =
            (struct cli_report_stretch){begin, begin + 0.42 / PER_DECADE, 0, h->reads[sort][i]};
    }
    cli_report_chart_areas(chart, sorts[sort].look, bars, (size_t)count);
}

static void chart_of(const struct cli_report_reads *reads, struct cli_report_page *page) {
    static const char *const key[] = {"c2", "read when needed", "c1",     "read ahead",
                                      "l",  "median",           "l dash", "99 % are faster",
                                      NULL};
    struct histogram h;
    count_reads(reads, &h);
    struct cli_report_axis x = {.from = h.from,
                                .to = h.to,
                                .title = "from asking to taking in",
                                .decades = true,
                                .label = time_label};
    struct cli_report_axis y = {.to = cli_report_chart_round(h.most), .title = "reads"};
    struct cli_report_chart chart;
    cli_report_page_legend(page, key);
    cli_report_chart_begin(&chart, page, "Number of reads by how long they took", 210, 0, &x, &y);
    for (int i = 0; i < CLI_REPORT_SORTS; i++)
        draw_bars(&chart, &h, i);
    for (int i = 0; i < CLI_REPORT_SORTS; i++) {
        if (reads->sort[i].count == 0) continue;
        char look[16];
        snprintf(look, sizeof look, "%s dash", sorts[i].line);
        cli_report_chart_mark(&chart, sorts[i].line, decade(quantile(reads, i, 50)));
        cli_report_chart_mark(&chart, look, decade(quantile(reads, i, 99)));
    }
    cli_report_chart_end(&chart);
}

static void time_cell(struct cli_report_page *page, const char *sort, const char *what,
                      uint64_t ns) {
    char id[32], text[40];
    snprintf(id, sizeof id, "%s-%s", sort, what);
    cli_report_page_print(page, "<td class=\"n\">");
    cli_report_page_number(page, id, (double)ns, time_label((double)ns, text));
    cli_report_page_print(page, "</td>");
}

static void numbers_of(const struct cli_report_reads *reads, struct cli_report_page *page) {
    char count[CLI_NUMBER_TEXT], size[CLI_NUMBER_TEXT];
    cli_report_page_print(
        page, "<div class=\"wide\"><table>\n<tr><th>read</th><th class=\"n\">reads</th><th "
              "class=\"n\">bytes</th><th class=\"n\">median</th><th "
              "class=\"n\">99 %%</th><th class=\"n\">longest</th></tr>\n");
    for (int i = 0; i < CLI_REPORT_SORTS; i++) {
        size_t n = reads->sort[i].count;
        if (n == 0) continue;
        cli_report_page_print(page, "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>",
                              sorts[i].name, cli_number_count(n, count),
                              cli_number_bytes((uint64_t)reads->sort[i].bytes, size));
        time_cell(page, sorts[i].id, "median", quantile(reads, i, 50));
        time_cell(page, sorts[i].id, "p99", quantile(reads, i, 99));
        time_cell(page, sorts[i].id, "longest", reads->sort[i].latency_ns[n - 1]);
        cli_report_page_print(page, "</tr>\n");
    }
    cli_report_page_print(page, "</table></div>\n");
}

void cli_report_reads_chart(const struct cli_report_reads *reads, struct cli_report_page *page) {
    cli_report_page_section(
        page, "How long a read takes",
        "Reads of experts by their time, which grows in tenfold steps to the right. It includes "
        "the "
        "wait until the program looked for it, so what is read ahead may seem slow: only the reads "
        "when needed hold a token up.");
    if (!reads->given) {
        cli_report_page_missing(page, CLI_REPORT_READS);
    } else if (reads->sort[0].count + reads->sort[1].count == 0) {
        cli_report_page_print(page, "<p class=\"missing\">Nothing was read.</p>\n");
    } else {
        chart_of(reads, page);
        numbers_of(reads, page);
    }
    cli_report_page_section_end(page);
}

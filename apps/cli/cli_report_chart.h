// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the frame of a chart in SVG (axes, ticks, units) and what is drawn into it: areas, lines,
//            bars, marks.
// Called by: the cli_report_*.c that show something.
// Threads:   one.
// Errors:    those of the page.
// Not here:  what is shown; colours are classes of the page's style ("c1" to "c4", "l c1" for a line).
#ifndef CLI_CLI_REPORT_CHART_H
#define CLI_CLI_REPORT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "cli_report_page.h"

struct cli_report_axis {
    double from, to;   // at the left or bottom, and at the other end; `from` may be the larger one
    const char *title; // with its unit
    bool decades;      // from and to are logarithms to base 10
    double shift;      // of a tick: 0.5 puts it in the middle of a cell
    const char *(*label)(double value, char text[40]); // of a tick; NULL: the number itself
};

struct cli_report_chart {
    struct cli_report_page *page;
    struct cli_report_axis x, y;
    double left, right, top, bottom; // of the plot, in units of the picture
};

// What a chart draws at each stretch of x.
struct cli_report_stretch {
    double begin, end, low, high;
};

// The next round number: ends an axis that begins at 0.
double cli_report_chart_round(double most);

// told: what the picture shows, for those who cannot see it. height: of the plot; beside: room kept free
// at its right.
void cli_report_chart_begin(struct cli_report_chart *chart, struct cli_report_page *page,
                            const char *told, double height, double beside,
                            const struct cli_report_axis *x, const struct cli_report_axis *y);
void cli_report_chart_end(struct cli_report_chart *chart);
double cli_report_chart_x(const struct cli_report_chart *chart, double value);
double cli_report_chart_y(const struct cli_report_chart *chart, double value);

// From low to high of each stretch.
void cli_report_chart_areas(struct cli_report_chart *chart, const char *look,
                            const struct cli_report_stretch *stretches, size_t count);
// Along high; broken where a stretch does not begin at the end of the one before.
void cli_report_chart_steps(struct cli_report_chart *chart, const char *look,
                            const struct cli_report_stretch *stretches, size_t count);
// Through the points (begin, high).
void cli_report_chart_line(struct cli_report_chart *chart, const char *look,
                           const struct cli_report_stretch *points, size_t count);
// From bottom to top at one x.
void cli_report_chart_mark(struct cli_report_chart *chart, const char *look, double x);
void cli_report_chart_dot(struct cli_report_chart *chart, const char *look, double x, double y);

#endif

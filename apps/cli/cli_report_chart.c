// SPDX-License-Identifier: Apache-2.0
#include "cli_report_chart.h"

#include <math.h>
#include <stdio.h>

// In units of the picture. Room for the labels of a narrow window, whose letters are larger.
static const double width = 640, left = 64, above = 30, below = 54;

// ---- axes --------------------------------------------------------------------------------------
// 1, 2 or 5 times a power of ten, so that there are at most `count` steps.
static double round_step(double range, int count) {
    double least = range / count, power = pow(10, floor(log10(least)));
    const double steps[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && steps[i] * power < least * (1 - 1e-9))
        i++;
    return steps[i] * power;
}

enum { X_TICKS = 6, Y_TICKS = 5 };

double cli_report_chart_round(double most) {
    if (!(most > 0)) return 1;
    double step = round_step(most, Y_TICKS);
    return step * ceil(most / step * (1 - 1e-9));
}

double cli_report_chart_x(const struct cli_report_chart *chart, double value) {
    const struct cli_report_axis *axis = &chart->x;
    return chart->left +
           (value - axis->from) / (axis->to - axis->from) * (chart->right - chart->left);
}

double cli_report_chart_y(const struct cli_report_chart *chart, double value) {
    const struct cli_report_axis *axis = &chart->y;
    return chart->bottom -
           (value - axis->from) / (axis->to - axis->from) * (chart->bottom - chart->top);
}

static const char *tick_label(const struct cli_report_axis *axis, double value, char text[40]) {
    if (axis->label) return axis->label(axis->decades ? pow(10, value) : value, text);
    snprintf(text, 40, "%.6g", value);
    return text;
}

// Calls draw for each tick.
static void each_tick(struct cli_report_chart *chart, const struct cli_report_axis *axis, int count,
                      void (*draw)(struct cli_report_chart *, double at, const char *label)) {
    double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
    double step = round_step(high - low, count);
    if ((axis->decades || axis->shift > 0) && step < 1) step = 1;
    // Counted, not added up: what is added to a large number may be lost.
    for (double i = ceil(low / step - 1e-9); i * step <= high + step * 1e-6 - axis->shift; i++) {
        char text[40];
        double value = i * step;
        if (fabs(value) < step * 1e-6) value = 0;
        draw(chart, value + axis->shift, tick_label(axis, value, text));
    }
}

static void draw_x_tick(struct cli_report_chart *chart, double at, const char *label) {
    double x = cli_report_chart_x(chart, at);
    cli_report_page_print(chart->page,
                          "<path class=\"grid\" d=\"M%.1f %.1fv5\"/>"
                          "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                          x, chart->bottom, x, chart->bottom + 23, label);
}

static void draw_y_tick(struct cli_report_chart *chart, double at, const char *label) {
    double y = cli_report_chart_y(chart, at);
    if (chart->y.shift == 0)
        cli_report_page_print(chart->page, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>",
                              chart->left, y, chart->right);
    cli_report_page_print(chart->page, "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                          chart->left - 7, y + 5, label);
}

void cli_report_chart_begin(struct cli_report_chart *chart, struct cli_report_page *page,
                            const char *told, double height, double beside,
                            const struct cli_report_axis *x, const struct cli_report_axis *y) {
    *chart = (struct cli_report_chart){
        .page = page, .x = *x, .y = *y, .left = left, .right = width - 12 - beside, .top = above};
    chart->bottom = above + height;
    cli_report_page_print(page,
                          "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\" "
                          "xmlns=\"http://www.w3.org/2000/svg\">\n",
                          width, chart->bottom + below, told);
    cli_report_page_print(page, "<text x=\"0\" y=\"16\">%s</text>\n", y->title);
    cli_report_page_print(page, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                          (chart->left + chart->right) / 2, chart->bottom + 46, x->title);
    each_tick(chart, &chart->y, Y_TICKS, draw_y_tick);
    each_tick(chart, &chart->x, X_TICKS, draw_x_tick);
}

void cli_report_chart_end(struct cli_report_chart *chart) {
    cli_report_page_print(chart->page, "</svg>\n");
}

// ---- what is drawn -----------------------------------------------------------------------------
void cli_report_chart_areas(struct cli_report_chart *chart, const char *look,
                            const struct cli_report_stretch *stretches, size_t count) {
    cli_report_page_print(chart->page, "<path class=\"%s\" d=\"", look);
    for (size_t i = 0; i < count; i++) {
        const struct cli_report_stretch *s = &stretches[i];
        if (!(s->high > s->low)) continue;
        cli_report_page_print(
            chart->page, "M%.2f %.2fH%.2fV%.2fH%.2fz", cli_report_chart_x(chart, s->begin),
            cli_report_chart_y(chart, s->high), cli_report_chart_x(chart, s->end),
            cli_report_chart_y(chart, s->low), cli_report_chart_x(chart, s->begin));
    }
    cli_report_page_print(chart->page, "\"/>\n");
}

void cli_report_chart_steps(struct cli_report_chart *chart, const char *look,
                            const struct cli_report_stretch *stretches, size_t count) {
    cli_report_page_print(chart->page, "<path class=\"%s\" d=\"", look);
    for (size_t i = 0; i < count; i++) {
        const struct cli_report_stretch *s = &stretches[i];
        double y = cli_report_chart_y(chart, s->high);
        if (i > 0 && s->begin <= s[-1].end) {
            cli_report_page_print(chart->page, "V%.1f", y);
        } else {
            cli_report_page_print(chart->page, "M%.1f %.1f", cli_report_chart_x(chart, s->begin),
                                  y);
        }
        cli_report_page_print(chart->page, "H%.1f", cli_report_chart_x(chart, s->end));
    }
    cli_report_page_print(chart->page, "\"/>\n");
}

void cli_report_chart_line(struct cli_report_chart *chart, const char *look,
                           const struct cli_report_stretch *points, size_t count) {
    cli_report_page_print(chart->page, "<path class=\"%s\" d=\"", look);
    for (size_t i = 0; i < count; i++)
        cli_report_page_print(chart->page, "%c%.1f %.1f", i ? 'L' : 'M',
                              cli_report_chart_x(chart, points[i].begin),
                              cli_report_chart_y(chart, points[i].high));
    cli_report_page_print(chart->page, "\"/>\n");
}

void cli_report_chart_mark(struct cli_report_chart *chart, const char *look, double x) {
    cli_report_page_print(chart->page, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", look,
                          cli_report_chart_x(chart, x), chart->bottom, chart->top);
}

void cli_report_chart_dot(struct cli_report_chart *chart, const char *look, double x, double y) {
    cli_report_page_print(chart->page, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n",
                          look, cli_report_chart_x(chart, x), cli_report_chart_y(chart, y));
}

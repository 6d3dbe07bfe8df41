// SPDX-License-Identifier: Apache-2.0
#include "cli_report_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_number.h"
#include "cli_report_chart.h"

enum {
    STRETCHES = 400,  // that a chart has at least pixels for
    CHANGES = 100,    // of phase, that are drawn; among more of them nothing could be told apart
    PLOT_HEIGHT = 190 // of a chart
};

// ---- reading -----------------------------------------------------------------------------------
static const char *const columns[] = {
    "phase", "tokens", "wall_ms", "compute_ms",       "stall_ms",  "sample_ms", "read_bytes",
    "hits",  "misses", "rss_mib", "cache_budget_mib", "cache_mib", NULL};
enum { PHASE, TOKENS, WALL, COMPUTE, STALL, SAMPLE, READ, HITS, MISSES, RSS, POOL, USED };

static void keep_settings(void *user, const char *line) {
    struct cli_report_metrics *metrics = user;
    if (strncmp(line, "# threads=", 10) == 0)
        snprintf(metrics->settings, sizeof metrics->settings, "%s", line + 2);
}

static void add(struct cli_report_sums *to, const struct cli_report_sums *from) {
    to->tokens += from->tokens;
    to->wall_ms += from->wall_ms;
    to->compute_ms += from->compute_ms;
    to->stall_ms += from->stall_ms;
    to->sample_ms += from->sample_ms;
    to->read_bytes += from->read_bytes;
    to->hits += from->hits;
    to->misses += from->misses;
}

static void read_step(struct cli_report_table *table, struct cli_report_step *step) {
    static const uint64_t most = (uint64_t)CLI_REPORT_MOST;
    *step = (struct cli_report_step){
        .sums = {.tokens = (double)cli_report_table_count(table, TOKENS, UINT32_MAX),
                 .wall_ms = cli_report_table_real(table, WALL),
                 .compute_ms = cli_report_table_real(table, COMPUTE),
                 .stall_ms = cli_report_table_real(table, STALL),
                 .sample_ms = cli_report_table_real(table, SAMPLE),
                 .read_bytes = (double)cli_report_table_count(table, READ, most),
                 .hits = (double)cli_report_table_count(table, HITS, most),
                 .misses = (double)cli_report_table_count(table, MISSES, most)},
        .phase = (int)cli_report_table_count(table, PHASE, 1),
        .resident_mib = cli_report_table_real(table, RSS),
        .pool_mib = cli_report_table_real(table, POOL),
        .used_mib = cli_report_table_real(table, USED)};
    if (step->sums.tokens == 0) cli_report_table_fail(table, "a step without tokens");
}

void cli_report_metrics_read(struct cli_report_table *table, struct cli_report_metrics *out) {
    *out = (struct cli_report_metrics){0};
    if (!cli_report_table_head(table, columns, keep_settings, out)) return;
    while (cli_report_table_next(table)) {
        if (!cli_report_table_reserve(table, &out->steps, out->count, sizeof *out->steps,
                                      &out->room))
            return;
        struct cli_report_step *step = &out->steps[out->count];
        read_step(table, step);
        if (table->status != 0) return;
        out->count++;
        add(&out->sums[step->phase], &step->sums);
        out->peak_mib = fmax(out->peak_mib, step->resident_mib);
    }
    if (out->count == 0) cli_report_table_fail(table, "there is no row behind the header");
    out->given = out->count > 0;
}

void cli_report_metrics_release(struct cli_report_metrics *metrics) {
    free(metrics->steps);
    *metrics = (struct cli_report_metrics){0};
}

// ---- numbers -----------------------------------------------------------------------------------
static double per_second(double amount, double ms) {
    return ms > 0 ? amount / ms * 1e3 : 0;
}

static double share(const struct cli_report_sums *sums) {
    double all = sums->hits + sums->misses;
    return all > 0 ? sums->hits / all : -1;
}

double cli_report_metrics_hit_rate(const struct cli_report_metrics *metrics, int phase) {
    return share(&metrics->sums[phase]);
}

double cli_report_metrics_pool_mib(const struct cli_report_metrics *metrics) {
    return metrics->given ? metrics->steps[metrics->count - 1].pool_mib : 0;
}

static void speed_row(struct cli_report_page *page, const struct cli_report_sums *sums,
                      const char *name, const char *title) {
    char count[CLI_NUMBER_TEXT], rate[CLI_NUMBER_TEXT], id[32];
    if (sums->tokens == 0) return;
    double speed = per_second(sums->tokens, sums->wall_ms);
    cli_report_page_print(page, "<tr><th>%s</th><td>", title);
    snprintf(id, sizeof id, "%s-tokens", name);
    cli_report_page_number(page, id, sums->tokens, cli_number_count((uint64_t)sums->tokens, count));
    cli_report_page_print(page, " tokens at ");
    snprintf(id, sizeof id, "%s-rate", name);
    cli_report_page_number(page, id, speed, cli_number_rate(speed, rate));
    cli_report_page_print(page, " per second");
    if (sums->wall_ms > 0)
        cli_report_page_print(page, "; of the time %.0f %% computing, %.0f %% waiting for experts",
                              100 * sums->compute_ms / sums->wall_ms,
                              100 * sums->stall_ms / sums->wall_ms);
    cli_report_page_print(page, "</td></tr>\n");
}

static void hit_row(struct cli_report_page *page, const struct cli_report_metrics *metrics) {
    struct cli_report_sums all = metrics->sums[0];
    add(&all, &metrics->sums[1]);
    if (share(&all) < 0) return;
    char text[CLI_NUMBER_TEXT];
    snprintf(text, sizeof text, "%.1f %%", 100 * share(&all));
    cli_report_page_print(page, "<tr><th>Hit rate</th><td>");
    cli_report_page_number(page, "hit-rate", share(&all), text);
    if (share(&metrics->sums[1]) >= 0) {
        snprintf(text, sizeof text, "%.1f %%", 100 * share(&metrics->sums[1]));
        cli_report_page_print(page, ", ");
        cli_report_page_number(page, "answer-hit-rate", share(&metrics->sums[1]), text);
        cli_report_page_print(page, " in the answer");
    }
    cli_report_page_print(page, "</td></tr>\n<tr><th>Read</th><td>");
    cli_report_page_number(page, "read-bytes", all.read_bytes,
                           cli_number_bytes((uint64_t)all.read_bytes, text));
    cli_report_page_print(page, ", %s for each token</td></tr>\n",
                          cli_number_bytes((uint64_t)(all.read_bytes / all.tokens), text));
}

void cli_report_metrics_rows(const struct cli_report_metrics *metrics,
                             struct cli_report_page *page) {
    if (!metrics->given) return;
    char text[CLI_NUMBER_TEXT];
    if (metrics->settings[0]) {
        cli_report_page_print(page, "<tr><th>Settings</th><td>");
        cli_report_page_text(page, metrics->settings);
        cli_report_page_print(page, "</td></tr>\n");
    }
    speed_row(page, &metrics->sums[0], "prompt", "Prompt");
    speed_row(page, &metrics->sums[1], "answer", "Answer");
    hit_row(page, metrics);
    if (metrics->peak_mib == 0) return;
    snprintf(text, sizeof text, "%.1f MiB", metrics->peak_mib);
    cli_report_page_print(page, "<tr><th>Peak memory</th><td>");
    cli_report_page_number(page, "peak-mib", metrics->peak_mib, text);
    cli_report_page_print(page, " resident at the end of a step</td></tr>\n");
}

// ---- stretches of tokens -----------------------------------------------------------------------
// What neighbouring steps have together, so that a chart never has more than it can show.
struct stretch {
    double begin, end; // tokens computed before it and until its end
    struct cli_report_sums sums;
    struct cli_report_sums so_far; // with all before it
    int phase;
    double resident_mib, pool_mib, used_mib; // at its end
};

struct course {
    struct stretch stretches[STRETCHES + 2 * CHANGES + 2];
    size_t count;
    double tokens;
    bool phases; // a stretch is of one phase
    struct cli_report_stretch drawn[STRETCHES + 2 * CHANGES + 2];
};

static void divide(const struct cli_report_metrics *metrics, struct course *course) {
    size_t changes = 0;
    for (size_t i = 1; i < metrics->count; i++)
        changes += metrics->steps[i].phase != metrics->steps[i - 1].phase;
    course->count = 0;
    course->phases = changes <= CHANGES;
    course->tokens = metrics->sums[0].tokens + metrics->sums[1].tokens;
    double least = ceil(course->tokens / STRETCHES), at = 0;
    struct cli_report_sums so_far = {0};
    struct stretch *last = NULL;
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cli_report_step *step = &metrics->steps[i];
        bool change = last && course->phases && last->phase != step->phase;
        if (!last || change || last->end - last->begin >= least) {
            last = &course->stretches[course->count++];
            *last = (struct stretch){.begin = at, .phase = step->phase};
        }
        at += step->sums.tokens;
        add(&last->sums, &step->sums);
        add(&so_far, &step->sums);
        last->end = at;
        last->so_far = so_far;
        last->resident_mib = step->resident_mib;
        last->pool_mib = step->pool_mib;
        last->used_mib = step->used_mib;
    }
}

// Fills `drawn` with a value of each stretch that has one (not below 0), on top of what `below` gives.
static size_t gather(struct course *course, double (*value)(const struct stretch *),
                     double (*below)(const struct stretch *)) {
    size_t count = 0;
    for (size_t i = 0; i < course->count; i++) {
        const struct stretch *s = &course->stretches[i];
        double low = below ? below(s) : 0, own = value(s);
        if (own < 0) continue;
        course->drawn[count++] = (struct cli_report_stretch){s->begin, s->end, low, low + own};
    }
    return count;
}

static double most_of(struct course *course, double (*value)(const struct stretch *)) {
    double most = 0;
    for (size_t i = 0; i < course->count; i++)
        most = fmax(most, value(&course->stretches[i]));
    return most;
}

static void draw_areas(struct cli_report_chart *chart, struct course *course, const char *look,
                       double (*value)(const struct stretch *),
                       double (*below)(const struct stretch *)) {
    size_t count = gather(course, value, below);
    cli_report_chart_areas(chart, look, course->drawn, count);
}

static void draw_steps(struct cli_report_chart *chart, struct course *course, const char *look,
                       double (*value)(const struct stretch *)) {
    size_t count = gather(course, value, NULL);
    cli_report_chart_steps(chart, look, course->drawn, count);
}

// The frame of a chart over tokens, the prompt shaded.
static void begin_chart(struct cli_report_chart *chart, struct cli_report_page *page,
                        struct course *course, const char *told, const char *y_title, double most) {
    struct cli_report_axis x = {.to = course->tokens, .title = "tokens, prompt and answer"};
    struct cli_report_axis y = {.to = cli_report_chart_round(most), .title = y_title};
    cli_report_chart_begin(chart, page, told, PLOT_HEIGHT, 0, &x, &y);
    if (!course->phases) return;
    size_t count = 0;
    for (size_t i = 0; i < course->count; i++) {
        const struct stretch *s = &course->stretches[i];
        if (s->phase == 1) continue;
        course->drawn[count++] = (struct cli_report_stretch){s->begin, s->end, 0, y.to};
    }
    cli_report_chart_areas(chart, "shade", course->drawn, count);
}

// ---- charts ------------------------------------------------------------------------------------
static double compute_ms(const struct stretch *s) {
    return s->sums.compute_ms / s->sums.tokens;
}
static double stall_ms(const struct stretch *s) {
    return s->sums.stall_ms / s->sums.tokens;
}
static double sample_ms(const struct stretch *s) {
    return s->sums.sample_ms / s->sums.tokens;
}
static double below_sample_ms(const struct stretch *s) {
    return compute_ms(s) + stall_ms(s);
}
static double whole_ms(const struct stretch *s) {
    return below_sample_ms(s) + sample_ms(s);
}
static double answer_rate(const struct stretch *s) {
    return s->phase == 1 ? per_second(s->sums.tokens, s->sums.wall_ms) : -1;
}
static double any_rate(const struct stretch *s) {
    return per_second(s->sums.tokens, s->sums.wall_ms);
}
static double hit_percent(const struct stretch *s) {
    return 100 * share(&s->sums);
}
static double hit_percent_so_far(const struct stretch *s) {
    return 100 * share(&s->so_far);
}
static double resident_mib(const struct stretch *s) {
    return s->resident_mib;
}
static double pool_mib(const struct stretch *s) {
    return s->pool_mib;
}
static double used_mib(const struct stretch *s) {
    return s->used_mib;
}
static double read_rate(const struct stretch *s) {
    return per_second(s->sums.read_bytes / (1 << 20), s->sums.wall_ms);
}

static void time_chart(struct cli_report_page *page, struct course *course) {
    static const char *const key[] = {
        "c1", "computing", "c2", "waiting for experts", "c3", "sampling", "shade", "prompt", NULL};
    struct cli_report_chart chart;
    cli_report_page_legend(page, key);
    begin_chart(&chart, page, course, "Time of each token in parts, over the tokens",
                "ms for each token", most_of(course, whole_ms));
    draw_areas(&chart, course, "c1", compute_ms, NULL);
    draw_areas(&chart, course, "c2", stall_ms, compute_ms);
    draw_areas(&chart, course, "c3", sample_ms, below_sample_ms);
    cli_report_chart_end(&chart);
}

static void speed_chart(struct cli_report_page *page, struct course *course) {
    struct cli_report_chart chart;
    double most = most_of(course, answer_rate);
    double (*rate)(const struct stretch *) = most > 0 ? answer_rate : any_rate;
    begin_chart(&chart, page, course, "Tokens per second, over the tokens", "tokens per second",
                most > 0 ? most : most_of(course, any_rate));
    draw_steps(&chart, course, "l c1", rate);
    cli_report_chart_end(&chart);
}

static void hit_chart(struct cli_report_page *page, struct course *course) {
    static const char *const key[] = {"c1 light", "each token", "l c2", "all tokens so far",
                                      "shade",    "prompt",     NULL};
    struct cli_report_chart chart;
    cli_report_page_legend(page, key);
    begin_chart(&chart, page, course, "Hit rate over the tokens", "% of lookups", 100);
    draw_areas(&chart, course, "c1 light", hit_percent, NULL);
    draw_steps(&chart, course, "l c2", hit_percent_so_far);
    cli_report_chart_end(&chart);
}

static void memory_chart(struct cli_report_page *page, struct course *course) {
    static const char *const key[] = {"l c2",      "resident memory of the process",
                                      "l c1 dash", "room for experts",
                                      "c1 light",  "experts in it",
                                      "shade",     "prompt",
                                      NULL};
    struct cli_report_chart chart;
    double most = fmax(most_of(course, resident_mib), most_of(course, pool_mib));
    cli_report_page_legend(page, key);
    begin_chart(&chart, page, course, "Memory over the tokens", "MiB", most);
    draw_areas(&chart, course, "c1 light", used_mib, NULL);
    draw_steps(&chart, course, "l c1 dash", pool_mib);
    draw_steps(&chart, course, "l c2", resident_mib);
    cli_report_chart_end(&chart);
}

static void rate_chart(struct cli_report_page *page, struct course *course) {
    struct cli_report_chart chart;
    begin_chart(&chart, page, course, "Bytes read per second, over the tokens", "MiB per second",
                most_of(course, read_rate));
    draw_areas(&chart, course, "c2", read_rate, NULL);
    cli_report_chart_end(&chart);
}

// ---- sections ----------------------------------------------------------------------------------
struct section {
    const char *title, *help;
    void (*draw)(struct cli_report_page *, struct course *);
    double (*needed)(const struct stretch *); // a value that some stretch must have
};

static const struct section sections[] = {
    {"Where the time of each token goes",
     "Waiting is time in which nothing was left to compute until an expert had been read: more "
     "memory or a faster drive takes that away. Computing it leaves as it is. A chunk of the "
     "prompt counts for each of its tokens alike.",
     time_chart, NULL},
    {"How fast the answer comes",
     "Tokens of the answer per second; of the prompt, if there is no answer. The higher, the "
     "faster. Dips are tokens that had to wait for experts, or another program's work.",
     speed_chart, NULL},
    {"How often an expert was in memory already",
     "Of the experts that a token was to use, those that did not have to be read first. It begins "
     "low, while the memory for experts fills, and should then stay high.",
     hit_chart, hit_percent},
    {"Memory while it ran",
     "What the process held in memory, and the part of it that is kept for experts. A falling "
     "line of room means that memory became short and was given back.",
     memory_chart, NULL},
};
static const struct section read_rate_section = {
    "How much is read from the drive per second",
    "Bytes that arrived during a token, by the time of that token. It stays below what the drive "
    "can do, as reading pauses while nothing has to be read.",
    rate_chart, hit_percent};

static void show(const struct cli_report_metrics *metrics, struct cli_report_page *page,
                 const struct section *section) {
    cli_report_page_section(page, section->title, section->help);
    if (metrics->given) {
        struct course course;
        divide(metrics, &course);
        if (section->needed && gather(&course, section->needed, NULL) == 0) {
            cli_report_page_print(page, "<p class=\"missing\">No token looked up an expert.</p>\n");
        } else {
            section->draw(page, &course);
        }
    } else {
        cli_report_page_missing(page, CLI_REPORT_METRICS);
    }
    cli_report_page_section_end(page);
}

void cli_report_metrics_charts(const struct cli_report_metrics *metrics,
                               struct cli_report_page *page) {
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        show(metrics, page, &sections[i]);
}

void cli_report_metrics_read_rate(const struct cli_report_metrics *metrics,
                                  struct cli_report_page *page) {
    show(metrics, page, &read_rate_section);
}

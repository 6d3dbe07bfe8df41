// SPDX-License-Identifier: Apache-2.0
#include "cli_report_operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli_number.h"

// ---- reading -----------------------------------------------------------------------------------
static const char *const columns[] = {"phase", "operation", "weight", "seconds", NULL};
enum { PHASE, OPERATION, WEIGHT, SECONDS };

static const char *const phases[] = {"prompt", "answer"};

// What a product is for says more than that it is one: "matmul attn_q" of blk.7.attn_q.weight.
static void name_of(const struct cli_report_table *table, char name[CLI_REPORT_OPERATION_NAME]) {
    const char *operation = cli_report_table_text(table, OPERATION);
    const char *weight = cli_report_table_text(table, WEIGHT);
    if (strcmp(operation, "matmul") != 0) weight = "";
    if (strncmp(weight, "blk.", 4) == 0) {
        weight += 4 + strspn(weight + 4, "0123456789");
        weight += *weight == '.';
    }
    const char *end = strstr(weight, ".weight");
    snprintf(name, CLI_REPORT_OPERATION_NAME, "%.30s%s%.*s", operation, weight[0] ? " " : "",
             end && end - weight < 30 ? (int)(end - weight) : 30, weight);
}

static struct cli_report_operation *find(struct cli_report_table *table,
                                         struct cli_report_operations *operations,
                                         const char *name) {
    for (size_t i = 0; i < operations->count; i++) {
        if (strcmp(operations->operation[i].name, name) == 0) return &operations->operation[i];
    }
    if (operations->count == CLI_REPORT_OPERATION_KINDS) {
        cli_report_table_fail(table, "there are more than %d operations",
                              CLI_REPORT_OPERATION_KINDS);
        return NULL;
    }
    struct cli_report_operation *new = &operations->operation[operations->count++];
    snprintf(new->name, sizeof new->name, "%s", name);
    new->part = strncmp(name, "experts.", 8) == 0;
    return new;
}

void cli_report_operations_read(struct cli_report_table *table, struct cli_report_operations *out) {
    *out = (struct cli_report_operations){0};
    if (!cli_report_table_head(table, columns, NULL, NULL)) return;
    while (cli_report_table_next(table)) {
        const char *text = cli_report_table_text(table, PHASE);
        int phase = strcmp(text, phases[1]) == 0;
        double seconds = cli_report_table_real(table, SECONDS);
        if (strcmp(text, phases[phase]) != 0)
            cli_report_table_fail(table, "phase '%.40s': prompt or answer is possible", text);
        char name[CLI_REPORT_OPERATION_NAME];
        name_of(table, name);
        struct cli_report_operation *operation = find(table, out, name);
        if (!operation) return;
        operation->seconds[phase] += seconds;
        if (!operation->part) out->seconds[phase] += seconds;
    }
    out->given = table->status == 0;
}

// ---- showing -----------------------------------------------------------------------------------
// In units of the picture.
enum { ROW = 30, NAMES = 226, BARS = 230, WIDTH = 640, SHOWN_MOST = 16 };

// Indices of the operations by their time in a phase, the longest first, parts behind what they are of.
static size_t order(const struct cli_report_operations *operations, int phase,
                    size_t index[CLI_REPORT_OPERATION_KINDS]) {
    size_t count = 0;
    double experts = 0;
    for (size_t i = 0; i < operations->count; i++) {
        if (strcmp(operations->operation[i].name, "experts") == 0)
            experts = operations->operation[i].seconds[phase];
    }
    for (size_t i = 0; i < operations->count; i++) {
        const struct cli_report_operation *new = &operations->operation[i];
        if (new->seconds[phase] <= 0) continue;
        double rank = new->part ? experts : new->seconds[phase];
        size_t at = count++;
        for (; at > 0; at--) {
            const struct cli_report_operation *other = &operations->operation[index[at - 1]];
            double others = other->part ? experts : other->seconds[phase];
            bool behind =
                others > rank ||
                (others == rank && other->part <= new->part &&
                 (other->part < new->part || other->seconds[phase] >= new->seconds[phase]));
            if (behind) break;
            index[at] = index[at - 1];
        }
        index[at] = i;
    }
    return count;
}

static void bar(struct cli_report_page *page, int row, const char *name, bool part, double seconds,
                double longest, double all) {
    char text[CLI_NUMBER_TEXT];
    int top = row * ROW;
    double share = all > 0 ? 100 * seconds / all : 0;
    cli_report_page_print(page, "<text class=\"e v\" x=\"%d\" y=\"%d\">", NAMES - 8, top + 19);
    cli_report_page_text(page, name);
    cli_report_page_print(page,
                          "</text><path class=\"c1%s\" d=\"M%d %dh%.1fv%dH%dz\"/>"
                          "<text x=\"%.1f\" y=\"%d\">%s, %.1f %%</text>\n",
                          part ? " light" : "", NAMES, top + 4, fmax(1, BARS * seconds / longest),
                          ROW - 8, NAMES, NAMES + 6 + fmax(1, BARS * seconds / longest), top + 19,
                          cli_number_seconds(seconds, text), share);
}

static void bars(const struct cli_report_operations *operations, int phase,
                 struct cli_report_page *page) {
    size_t index[CLI_REPORT_OPERATION_KINDS], count = order(operations, phase, index), rows = count;
    if (count == 0) return;
    if (rows > SHOWN_MOST) rows = SHOWN_MOST + 1; // the last has all the others
    double rest = 0, longest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cli_report_operation *one = &operations->operation[index[i]];
        longest = fmax(longest, one->seconds[phase]);
        if (i >= SHOWN_MOST && !one->part) rest += one->seconds[phase];
    }
    longest = fmax(longest, rest);
    char text[CLI_NUMBER_TEXT];
    cli_report_page_print(page, "<p>%s: ", phase ? "Answer" : "Prompt");
    cli_report_page_number(page, phase ? "answer-seconds" : "prompt-seconds",
                           operations->seconds[phase],
                           cli_number_seconds(operations->seconds[phase], text));
    cli_report_page_print(page,
                          "</p>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\" "
                          "aria-label=\"Seconds of each operation\" "
                          "xmlns=\"http://www.w3.org/2000/svg\">\n",
                          WIDTH, rows * ROW);
    for (size_t i = 0; i < count && i < SHOWN_MOST; i++) {
        const struct cli_report_operation *one = &operations->operation[index[i]];
        bar(page, (int)i, one->name, one->part, one->seconds[phase], longest,
            operations->seconds[phase]);
    }
    if (rows > SHOWN_MOST)
        bar(page, SHOWN_MOST, "all others", false, rest, longest, operations->seconds[phase]);
    cli_report_page_print(page, "</svg>\n");
}

void cli_report_operations_chart(const struct cli_report_operations *operations,
                                 struct cli_report_page *page) {
    cli_report_page_section(
        page, "Which operations take the time",
        "Seconds of each operation over all layers, and its share of the time of the prompt or of "
        "the answer. The light bars are parts of the experts: experts.take is asking and waiting "
        "for them, the others compute. outside is what belongs to no operation.");
    if (!operations->given) {
        cli_report_page_missing(page, CLI_REPORT_OPERATIONS);
    } else if (operations->seconds[0] + operations->seconds[1] <= 0) {
        cli_report_page_print(page, "<p class=\"missing\">No operation took any time.</p>\n");
    } else {
        bars(operations, 0, page);
        bars(operations, 1, page);
    }
    cli_report_page_section_end(page);
}

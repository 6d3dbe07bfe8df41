// SPDX-License-Identifier: Apache-2.0
#include "route_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    unsigned turn, phase, step, layer, slot, expert;
};

static void *grow(void *array, size_t count, size_t size) {
    if ((count & (count - 1)) != 0) return array; // room for the next power of two
    void *larger = realloc(array, (count == 0 ? 1 : 2 * count) * size);
    if (larger == NULL) {
        fprintf(stderr, "no memory for a trace\n");
        exit(1);
    }
    return larger;
}

static void read_preamble(struct route_trace *trace, const char *line) {
    unsigned layer;
    unsigned long long bytes;
    if (sscanf(line, "# layer=%u expert_bytes=%llu", &layer, &bytes) == 2) {
        if (trace->layers == ROUTE_LAYERS_MAX) return;
        trace->number[trace->layers] = layer;
        trace->expert_bytes[trace->layers++] = bytes;
    }
    const char *experts = strstr(line, " n_expert="), *used = strstr(line, " n_expert_used=");
    if (experts != NULL && used != NULL) {
        trace->experts = (uint32_t)strtoul(experts + strlen(" n_expert="), NULL, 10);
        trace->used = (uint32_t)strtoul(used + strlen(" n_expert_used="), NULL, 10);
    }
}

// Index of the layer among those with experts; route_trace.layers if it is not one.
static uint32_t find_layer(const struct route_trace *trace, uint32_t number) {
    uint32_t layer = 0;
    while (layer < trace->layers && trace->number[layer] != number)
        layer++;
    return layer;
}

static bool add_row(struct route_trace *trace, const struct row *row, const struct row *before) {
    uint32_t layer = find_layer(trace, row->layer);
    if (layer == trace->layers || row->expert >= trace->experts) return false;
    bool same = trace->cells > 0 && row->turn == before->turn && row->phase == before->phase &&
                row->step == before->step && row->layer == before->layer;
    if (!same) {
        trace->cell = grow(trace->cell, trace->cells, sizeof *trace->cell);
        trace->cell[trace->cells++] =
            (struct route_cell){layer, (uint32_t)trace->rows, 0, row->phase == 1};
    }
    trace->cell[trace->cells - 1].count++;
    trace->expert = grow(trace->expert, trace->rows, sizeof *trace->expert);
    trace->expert[trace->rows++] = row->expert;
    return true;
}

bool route_trace_read(struct route_trace *trace, const char *path) {
    *trace = (struct route_trace){0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return false;
    }
    char line[1024];
    unsigned long number = 0;
    bool good = true;
    struct row before = {0};
    while (good && fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[0] == '#') read_preamble(trace, line);
        if (line[0] == '#' || line[0] == 't') continue; // the header begins with "turn"
        struct row row = {0};
        good = trace->experts <= ROUTE_EXPERTS_MAX &&
               sscanf(line, "%u,%u,%u,%u,%u,%u", &row.turn, &row.phase, &row.step, &row.layer,
                      &row.slot, &row.expert) == 6 &&
               add_row(trace, &row, &before);
        before = row;
    }
    good = good && trace->rows > 0;
    if (!good) fprintf(stderr, "%s:%lu: no routing trace\n", path, number);
    fclose(file);
    if (!good) route_trace_release(trace);
    return good;
}

void route_trace_release(struct route_trace *trace) {
    free(trace->cell);
    free(trace->expert);
    *trace = (struct route_trace){0};
}

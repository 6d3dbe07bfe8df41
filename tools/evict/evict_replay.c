// SPDX-License-Identifier: Apache-2.0
//
// evict_replay TRACE [MIB]        what each policy would have hit, as one line of JSON
// evict_replay --make NAME SEED   a synthetic trace on standard output
//
// MIB: also the rate that was published with the trace, for a cache of so many MiB (replay.h).
// tools/evict/evict_table.py makes a table of many traces.
#include "baselines.h"
#include "route_regime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t percents[] = {5, 10, 15, 20, 25, 30, 40, 50, 60};

// A policy of its own cache per layer needs room there for all that a token uses, and one more.
static bool fits(const struct route_trace *trace, uint32_t capacity) {
    return capacity / trace->layers >= trace->used;
}

static void print_ratio(const struct route_trace *trace, uint32_t percent, bool first) {
    uint32_t capacity = trace->layers * trace->experts * percent / 100;
    if (capacity < trace->used) return;
    printf("%s{\"percent\": %u, \"slots\": %u, \"hit_rate\": {", first ? "" : ", ", percent,
           capacity);
    struct replay_result last = {0};
    for (size_t i = 0; i < baseline_count; i++) {
        const struct baseline *baseline = &baselines[i];
        printf("%s\"%s\": ", i == 0 ? "" : ", ", baseline->name);
        if (baseline->replay.layered && !fits(trace, capacity)) {
            printf("null");
            continue;
        }
        struct replay_result result = replay_run(trace, &baseline->replay, capacity);
        printf("%.5f", (double)result.hits / (double)result.lookups);
        if (strcmp(baseline->name, "next") == 0) last = result;
    }
    printf("}, \"step_ns\": %.0f, \"choice_ns\": %.0f, \"victims\": %llu}", last.step_ns,
           last.choice_ns, (unsigned long long)last.victims);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--make") == 0) {
        if (route_regime_write(argv[2], strtoull(argv[3], NULL, 10))) return 0;
        fprintf(stderr, "no regime %s: drift or scan\n", argv[2]);
        return 2;
    }
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "evict_replay TRACE [MIB] | evict_replay --make drift|scan SEED\n");
        return 2;
    }
    struct route_trace trace;
    if (!route_trace_read(&trace, argv[1])) return 1;
    size_t answers = 0;
    for (size_t i = 0; i < trace.cells; i++)
        answers += trace.cell[i].answer;
    printf("{\"layers\": %u, \"experts\": %u, \"used\": %u, \"tokens\": %zu, ", trace.layers,
           trace.experts, trace.used, answers / trace.layers);
    if (argc == 3)
        printf("\"published_rate\": %.4f, ",
               replay_published_rate(&trace, strtoull(argv[2], NULL, 10) << 20));
    printf("\"ratios\": [");
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
        print_ratio(&trace, percents[i], i == 0);
    printf("]}\n");
    route_trace_release(&trace);
    return 0;
}

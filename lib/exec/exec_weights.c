// SPDX-License-Identifier: Apache-2.0
#include "exec/exec_weights.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum {
    GAP_MAX = 64 << 10 // tensors this near to each other are read in one go: cheaper than another read
};

struct span { // one weight's bytes
    uint32_t weight, shard;
    uint64_t begin, end;
};

static int span_order(const void *left, const void *right) {
    const struct span *a = left, *b = right;
    if (a->shard != b->shard) return a->shard < b->shard ? -1 : 1;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return a->weight < b->weight ? -1 : a->weight > b->weight;
}

static uint64_t block_down(uint64_t value) {
    return value & ~(uint64_t)(FILE_BLOCK - 1);
}
static uint64_t block_up(uint64_t value) {
    return block_down(value + FILE_BLOCK - 1); // file offsets are far below the limit of 64 bits
}

static void make_ranges(struct exec_weights *w, const struct span *spans, uint32_t count) {
    struct exec_range *range = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct span *s = &spans[i];
        if (!range || range->shard != s->shard ||
            s->begin > range->offset + range->bytes + GAP_MAX) {
            range = &w->ranges[w->n_ranges++];
            *range = (struct exec_range){s->shard, block_down(s->begin), 0, w->bytes};
        }
        uint64_t end = block_up(s->end);
        if (end > range->offset + range->bytes) range->bytes = end - range->offset;
        w->place[s->weight] = range->place + (s->begin - range->offset);
        w->order[i] = s->weight;
        w->bytes = range->place + range->bytes;
    }
}

static void mark_multiplied(const struct plan *plan, struct exec_weights *w) {
    memset(w->multiplied, 0, plan->n_weights * sizeof *w->multiplied);
    for (uint32_t i = 0; i < plan->n_ops; i++) {
        if (plan->ops[i].kind != PLAN_MATMUL) continue;
        for (uint32_t k = 0; k < plan->n_weights; k++)
            w->multiplied[k] |= w->place[k] == w->place[plan->ops[i].weight];
    }
}

locum_status exec_weights_plan(const struct plan *plan, struct arena *arena,
                               struct exec_weights *out, locum_error *error) {
    *out = (struct exec_weights){0};
    struct span *spans = heap_resize(NULL, (size_t)plan->n_weights * sizeof *spans);
    out->ranges = arena_array(arena, plan->n_weights, sizeof *out->ranges);
    out->place = arena_array(arena, plan->n_weights, sizeof *out->place);
    out->order = arena_array(arena, plan->n_weights, sizeof *out->order);
    out->multiplied = arena_array(arena, plan->n_weights, sizeof *out->multiplied);
    if (!spans || !out->ranges || !out->place || !out->order || !out->multiplied) {
        heap_free(spans);
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the table of weights");
    }
    for (uint32_t i = 0; i < plan->n_weights; i++) {
        const struct plan_weight *weight = &plan->weights[i];
        spans[i] = (struct span){i, weight->shard, weight->offset, weight->offset + weight->bytes};
    }
    qsort(spans, plan->n_weights, sizeof *spans, span_order);
    make_ranges(out, spans, plan->n_weights);
    heap_free(spans);
    mark_multiplied(plan, out);
    return LOCUM_OK;
}

void exec_weights_release(struct exec_weights *weights) {
    vmem_release(&weights->region);
}

// SPDX-License-Identifier: Apache-2.0
#include "exec/exec_weights.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum {
    GAP_MAX =
        64 << 10, // tensors this near to each other are read in one go: cheaper than another read
    READ_BYTES = 8 << 20,
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
    out->multiplied = arena_array(arena, plan->n_weights, sizeof *out->multiplied);
    if (!spans || !out->ranges || !out->place || !out->multiplied) {
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

// The last block of a file is short; everything else must be there.
static locum_status read_range(const struct exec_weights *w, const struct exec_range *range,
                               const struct platform_file *file, uint64_t *done,
                               bool (*progress)(void *, uint64_t, uint64_t), void *user,
                               locum_error *error) {
    for (uint64_t at = 0; at < range->bytes;) {
        uint64_t left = range->bytes - at;
        size_t bytes = left < READ_BYTES ? (size_t)left : READ_BYTES;
        uint64_t offset = range->offset + at;
        size_t got;
        STATUS_TRY(file_read(file, w->region.data + range->place + at, bytes, offset, &got, error));
        uint64_t size = file_size(file);
        uint64_t expected = size > offset ? size - offset : 0;
        if (got < bytes && got < expected) {
            return status_fail(
                error, LOCUM_E_IO, "%s: the file has shrunk: it ends at byte %llu, %llu were there",
                file_path(file), (unsigned long long)(offset + got), (unsigned long long)size);
        }
        at += bytes;
        *done += bytes;
        if (progress && progress(user, *done, w->bytes)) {
            return status_fail(error, LOCUM_E_CANCELLED, "loading was cancelled");
        }
    }
    return LOCUM_OK;
}

// Weights at the same place are the same bytes: the first one stands for all.
static bool is_first_at_place(const struct exec_weights *w, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (w->place[i] == w->place[index]) return false;
    return true;
}

static locum_status interleave(struct exec_weights *w, const struct plan *plan,
                               const struct kernels_table *kernels, locum_error *error) {
    uint64_t widest = 0;
    for (uint32_t i = 0; i < plan->n_weights; i++)
        if (w->multiplied[i] && plan->weights[i].row_bytes > widest)
            widest = plan->weights[i].row_bytes;
    uint8_t *scratch = heap_resize(NULL, (size_t)(kernels->lanes * widest));
    if (!scratch) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to load weights");
    for (uint32_t i = 0; i < plan->n_weights; i++) {
        const struct plan_weight *weight = &plan->weights[i];
        if (w->multiplied[i] && is_first_at_place(w, i))
            kernels->interleave(weight->dtype, w->region.data + w->place[i], weight->row_bytes,
                                weight->rows, scratch);
    }
    heap_free(scratch);
    return LOCUM_OK;
}

locum_status exec_weights_load(struct exec_weights *w, const struct plan *plan,
                               const struct kernels_table *kernels,
                               struct platform_file *const *files,
                               bool (*progress)(void *user, uint64_t done, uint64_t total),
                               void *user, locum_error *error) {
    LOCUM_ASSERT(w->region.data == NULL && plan->n_weights > 0);
    STATUS_TRY(vmem_alloc(&w->region, (size_t)w->bytes, error));
    vmem_advise_huge(&w->region);
    uint64_t done = 0;
    for (uint32_t i = 0; i < w->n_ranges; i++) {
        locum_status status =
            read_range(w, &w->ranges[i], files[w->ranges[i].shard], &done, progress, user, error);
        if (status != LOCUM_OK) {
            exec_weights_release(w);
            return status;
        }
    }
    return interleave(w, plan, kernels, error);
}

void exec_weights_release(struct exec_weights *weights) {
    vmem_release(&weights->region);
}

// SPDX-License-Identifier: Apache-2.0
//
// Keys and values go to their pages, then every (token, KV head) walks the pages it can see, block by
// block. A block's result does not depend on who computes it or what else is in the step, and blocks merge
// in ascending order: that is why chunking and threads cannot change a bit.
#include "exec/exec_state.h"

#include <string.h>

static void write_rows(const struct exec *exec, uint8_t *out, const float *in, size_t size) {
    if (exec->config.kv->f32) {
        memcpy(out, in, size * sizeof(float));
    } else {
        exec->config.kernels->to_half((uint16_t *)(void *)out, in, size);
    }
}

bool exec_op_kv_write(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info) {
    (void)info;
    const struct plan *plan = exec->config.plan;
    const struct exec_kv_layout *kv = exec->config.kv;
    uint32_t cache = op->u.attention.cache;
    const struct plan_cache *c = &plan->caches[cache];
    size_t element = kv->f32 ? 4 : 2;
    for (size_t i, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &i, &end);) {
        uint32_t position = exec->batch->positions[i];
        uint8_t *page = exec_sequence_of(exec, i)->pages[position / EXEC_KV_PAGE_POSITIONS];
        size_t row = position % EXEC_KV_PAGE_POSITIONS;
        const float *k = exec_row(exec, op->in, i), *v = exec_row(exec, op->in2, i);
        for (uint32_t h = 0; h < c->heads_kv; h++) {
            write_rows(exec,
                       exec_kv_keys(kv, plan, page, cache, h) + row * c->head_size_k * element,
                       k + (size_t)h * c->head_size_k, c->head_size_k);
            write_rows(exec,
                       exec_kv_values(kv, plan, page, cache, h) + row * c->head_size_v * element,
                       v + (size_t)h * c->head_size_v, c->head_size_v);
        }
    }
    return true;
}

struct running { // softmax state of a group of query heads
    float *m, *l, *o;
};

static struct running running_at(float *scratch, size_t heads) {
    return (struct running){scratch, scratch + heads, scratch + 2 * heads};
}

static void finish(const struct exec *exec, const struct running *r, float *out, size_t heads,
                   size_t size) {
    for (size_t h = 0; h < heads; h++) {
        exec->config.kernels->scale(out + h * size, r->o + h * size, 1.0f / r->l[h], size);
    }
}

// One token, one KV head, all its query heads.
static void attend(struct exec *exec, const struct plan_op *op, size_t token, uint32_t head,
                   float *scratch) {
    const struct plan *plan = exec->config.plan;
    const struct kernels_table *kernels = exec->config.kernels;
    const struct exec_kv_layout *kv = exec->config.kv;
    uint32_t cache = op->u.attention.cache;
    const struct plan_cache *c = &plan->caches[cache];
    size_t group = op->u.attention.heads / c->heads_kv, size_v = c->head_size_v;
    struct running sum = running_at(scratch, group);
    struct running block = running_at(scratch + group * (size_v + 2), group);
    struct kernels_attend a = {
        .q = exec_row(exec, op->in, token) + (size_t)head * group * c->head_size_k,
        .q_stride = c->head_size_k,
        .n_q = group,
        .kv_f32 = kv->f32,
        .head_size_k = c->head_size_k,
        .head_size_v = size_v,
        .scale = op->u.attention.scale,
        .softcap = op->u.attention.softcap,
    };
    uint32_t position = exec->batch->positions[token], window = op->u.attention.window;
    uint32_t from = window && position >= window ? position - window + 1 : 0;
    const struct exec_sequence *sequence = exec_sequence_of(exec, token);
    uint32_t first = from / KERNELS_KV_BLOCK, last = position / KERNELS_KV_BLOCK;
    for (uint32_t b = first; b <= last; b++) {
        struct running *into = b == first ? &sum : &block;
        a.m = into->m, a.l = into->l, a.o = into->o;
        a.lo = b == first ? from % KERNELS_KV_BLOCK : 0;
        a.hi = b == last ? position % KERNELS_KV_BLOCK + 1 : KERNELS_KV_BLOCK;
        a.k = exec_kv_keys(kv, plan, sequence->pages[b], cache, head);
        a.v = exec_kv_values(kv, plan, sequence->pages[b], cache, head);
        kernels->attend_block(&a);
        if (b == first) continue;
        for (size_t h = 0; h < group; h++) {
            kernels->attend_merge(&sum.m[h], &sum.l[h], sum.o + h * size_v, block.m[h], block.l[h],
                                  block.o + h * size_v, size_v);
        }
    }
    finish(exec, &sum, exec_row(exec, op->out, token) + (size_t)head * group * size_v, group,
           size_v);
}

bool exec_op_attention(struct exec *exec, uint32_t worker, const struct plan_op *op,
                       const struct exec_op *info) {
    (void)info;
    uint32_t heads_kv = exec->config.plan->caches[op->u.attention.cache].heads_kv;
    float *scratch = exec->attention + (size_t)worker * exec->attention_floats;
    size_t items = (size_t)exec->rows * heads_kv;
    for (size_t i, end; exec_team_take(exec->config.team, worker, items, 1, &i, &end);) {
        attend(exec, op, i / heads_kv, (uint32_t)(i % heads_kv), scratch);
    }
    return true;
}

locum_status exec_kv_layout_make(const struct plan *plan, bool f32, struct arena *arena,
                                 struct exec_kv_layout *out, locum_error *error) {
    *out = (struct exec_kv_layout){.f32 = f32};
    out->offset = arena_array(arena, plan->n_caches, sizeof *out->offset);
    if (!out->offset)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the KV layout");
    for (uint32_t i = 0; i < plan->n_caches; i++) {
        const struct plan_cache *c = &plan->caches[i];
        out->offset[i] = out->page_bytes;
        // a multiple of 64, as there are 64 positions
        out->page_bytes += (uint64_t)EXEC_KV_PAGE_POSITIONS * c->heads_kv *
                           (c->head_size_k + c->head_size_v) * (f32 ? 4 : 2);
    }
    return LOCUM_OK;
}

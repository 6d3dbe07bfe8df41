// SPDX-License-Identifier: Apache-2.0
//
// Keys and values go to their pages, then every (token, KV head) walks the pages it can see, block by
// block. A block's result does not depend on who computes it or what else is in the step, and blocks merge
// in ascending order: that is why chunking and threads cannot change a bit.
#include "base/limits.h"
#include "exec/exec_state.h"

#include <string.h>

// Keys of all heads of a token, or its values.
static bool write_rows(const struct exec *exec, uint32_t worker, uint8_t *out, const float *in,
                       size_t size, size_t heads, size_t row) {
    enum exec_kv_type type = exec->config.kv->type;
    size_t bytes = exec_kv_row_bytes(type, size);
    for (size_t h = 0; h < heads; h++) {
        uint8_t *to = out + (h * EXEC_KV_PAGE_POSITIONS + row) * bytes;
        if (!exec_kv_store_row(exec->config.kernels, type, to, in + h * size, size,
                               exec->kv_scratch + worker * exec->kv_scratch_bytes))
            return false;
    }
    return true;
}

bool exec_op_kv_write(struct exec *exec, uint32_t worker, const struct plan_op *op,
                      const struct exec_op *info) {
    (void)info;
    const struct plan *plan = exec->config.plan;
    const struct exec_kv_layout *kv = exec->config.kv;
    uint32_t cache = op->u.attention.cache;
    const struct plan_cache *c = &plan->caches[cache];
    for (size_t i, end; exec_team_take(exec->config.team, worker, exec->rows, 1, &i, &end);) {
        uint32_t position = exec->batch->positions[i];
        uint8_t *page = exec_sequence_of(exec, i)->pages[position / EXEC_KV_PAGE_POSITIONS];
        size_t row = position % EXEC_KV_PAGE_POSITIONS;
        uint8_t *keys = exec_kv_keys(kv, plan, page, cache, 0);
        uint8_t *values = exec_kv_values(kv, plan, page, cache, 0);
        if (!write_rows(exec, worker, keys, exec_row(exec, op->in, i), c->head_size_k, c->heads_kv,
                        row) ||
            (!c->values_in_keys && !write_rows(exec, worker, values, exec_row(exec, op->in2, i),
                                               c->head_size_v, c->heads_kv, row))) {
            exec_fail_numeric(exec, op);
            return false;
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

// One token and one KV head with its group of query heads, and the blocks that they see.
struct item {
    const struct plan_op *op;
    const struct plan_cache *cache;
    size_t token;
    uint32_t head;
    size_t group;
    uint32_t from, position; // visible: from..position
    uint32_t first, blocks;
};

static struct item item_at(const struct exec *exec, const struct plan_op *op, size_t index) {
    const struct plan_cache *cache = &exec->config.plan->caches[op->u.attention.cache];
    struct item item = {.op = op,
                        .cache = cache,
                        .token = index / cache->heads_kv,
                        .head = (uint32_t)(index % cache->heads_kv),
                        .group = op->u.attention.heads / cache->heads_kv};
    uint32_t window = op->u.attention.window;
    item.position = exec->batch->positions[item.token];
    item.from = window && item.position >= window ? item.position - window + 1 : 0;
    uint32_t chunk = op->u.attention.chunk;
    if (chunk) item.from = item.position - item.position % chunk;
    item.first = item.from / KERNELS_KV_BLOCK;
    item.blocks = item.position / KERNELS_KV_BLOCK - item.first + 1;
    return item;
}

// Blocks that are quantised are computed with as floats.
static void expand(const struct exec *exec, uint32_t worker, struct kernels_attend *a) {
    float *floats = (float *)(void *)(exec->kv_scratch + worker * exec->kv_scratch_bytes);
    float *values = floats + EXEC_KV_PAGE_POSITIONS * a->head_size_k;
    bool in_keys = a->v == a->k;
    exec_kv_expand(exec->config.kernels, floats, a->k, a->lo, a->hi, a->head_size_k);
    if (!in_keys) exec_kv_expand(exec->config.kernels, values, a->v, a->lo, a->hi, a->head_size_v);
    a->k = floats;
    a->v = in_keys ? floats : values;
    a->kv_f32 = true;
}

// Block number `index` of those that the item sees.
static void attend_block(const struct exec *exec, uint32_t worker, const struct item *item,
                         uint32_t index, struct running into) {
    const struct exec_kv_layout *kv = exec->config.kv;
    const struct plan *plan = exec->config.plan;
    uint32_t b = item->first + index, cache = item->op->u.attention.cache;
    uint8_t *page = exec_sequence_of(exec, item->token)->pages[b];
    bool last = index + 1 == item->blocks;
    struct kernels_attend a = {
        .q = exec_row(exec, item->op->in, item->token) +
             (size_t)item->head * item->group * item->cache->head_size_k,
        .q_stride = item->cache->head_size_k,
        .n_q = item->group,
        .k = exec_kv_keys(kv, plan, page, cache, item->head),
        .v = exec_kv_values(kv, plan, page, cache, item->head),
        .kv_f32 = kv->type == EXEC_KV_F32,
        .head_size_k = item->cache->head_size_k,
        .head_size_v = item->cache->head_size_v,
        .v_stride = item->cache->values_in_keys ? item->cache->head_size_k
                                                : item->cache->head_size_v,
        .lo = index == 0 ? item->from % KERNELS_KV_BLOCK : 0,
        .hi = last ? item->position % KERNELS_KV_BLOCK + 1 : KERNELS_KV_BLOCK,
        .scale = item->op->u.attention.scale,
        .softcap = item->op->u.attention.softcap,
        .m = into.m,
        .l = into.l,
        .o = into.o,
    };
    if (kv->type == EXEC_KV_Q8_0) expand(exec, worker, &a);
    exec->config.kernels->attend_block(&a);
}

// Query head h of the group: the sum takes in a later block.
static void merge(const struct exec *exec, const struct item *item, size_t h, struct running sum,
                  struct running block) {
    size_t size = item->cache->head_size_v;
    exec->config.kernels->attend_merge(&sum.m[h], &sum.l[h], sum.o + h * size, block.m[h],
                                       block.l[h], block.o + h * size, size);
}

static void finish(const struct exec *exec, const struct item *item, size_t h, struct running sum) {
    static const float nothing[LIMIT_HEAD_SIZE];
    size_t size = item->cache->head_size_v, head = (size_t)item->head * item->group + h;
    float *out = exec_row(exec, item->op->out, item->token) + head * size;
    const float *sinks = exec_vector(exec, item->op->weight);
    if (sinks) {
        exec->config.kernels->attend_merge(&sum.m[h], &sum.l[h], sum.o + h * size, sinks[head], 1,
                                           nothing, size);
    }
    exec->config.kernels->scale(out, sum.o + h * size, 1.0f / sum.l[h], size);
}

// ---- many items: each is one worker's -------------------------------------------------------------
static void attend(struct exec *exec, uint32_t worker, const struct item *item) {
    float *scratch = exec->attention + (size_t)worker * exec->attention_floats;
    struct running sum = running_at(scratch, item->group);
    struct running block =
        running_at(scratch + item->group * (item->cache->head_size_v + 2), item->group);
    attend_block(exec, worker, item, 0, sum);
    for (uint32_t b = 1; b < item->blocks; b++) {
        attend_block(exec, worker, item, b, block);
        for (size_t h = 0; h < item->group; h++) merge(exec, item, h, sum, block);
    }
    for (size_t h = 0; h < item->group; h++) finish(exec, item, h, sum);
}

// ---- few items: workers share their blocks ---------------------------------------------------------
// Waves of EXEC_ATTENTION_WAVE blocks a worker: all compute blocks, then each query head merges its own
// in ascending order. What comes out is the same as above, bit for bit.
struct wave {
    size_t items, wide; // blocks of each item
    size_t floats;      // of one block's result
};

// Results of an item: its sum so far, then the blocks of the wave.
static struct running wave_slot(const struct exec *exec, const struct wave *wave,
                                const struct item *item, size_t index, size_t slot) {
    return running_at(exec->attention + (index * (wave->wide + 1) + slot) * wave->floats,
                      item->group);
}

static void wave_blocks(struct exec *exec, uint32_t worker, const struct plan_op *op,
                        const struct wave *wave, uint32_t start) {
    size_t total = wave->items * wave->wide;
    for (size_t i, end; exec_team_take(exec->config.team, worker, total, 1, &i, &end);) {
        struct item item = item_at(exec, op, i / wave->wide);
        uint32_t b = start + (uint32_t)(i % wave->wide);
        if (b < item.blocks)
            attend_block(exec, worker, &item, b,
                         wave_slot(exec, wave, &item, i / wave->wide, b == 0 ? 0 : 1 + b - start));
    }
}

static void wave_merge(struct exec *exec, uint32_t worker, const struct plan_op *op,
                       const struct wave *wave, uint32_t start) {
    size_t group = item_at(exec, op, 0).group, total = wave->items * group;
    for (size_t i, end; exec_team_take(exec->config.team, worker, total, 1, &i, &end);) {
        struct item item = item_at(exec, op, i / group);
        size_t h = i % group;
        struct running sum = wave_slot(exec, wave, &item, i / group, 0);
        for (uint32_t b = start > 0 ? start : 1; b < item.blocks && b < start + wave->wide; b++)
            merge(exec, &item, h, sum, wave_slot(exec, wave, &item, i / group, 1 + b - start));
        if (start < item.blocks && item.blocks <= start + wave->wide) finish(exec, &item, h, sum);
    }
}

static bool attend_together(struct exec *exec, uint32_t worker, const struct plan_op *op,
                            size_t items) {
    size_t workers = exec_team_size(exec->config.team);
    struct wave wave = {items, (workers * EXEC_ATTENTION_WAVE + items - 1) / items, 0};
    uint32_t blocks = 0;
    for (size_t i = 0; i < items; i++) {
        struct item item = item_at(exec, op, i);
        wave.floats = item.group * (item.cache->head_size_v + 2);
        if (item.blocks > blocks) blocks = item.blocks;
    }
    if (wave.wide > blocks) wave.wide = blocks;
    for (uint32_t start = 0; start < blocks; start += (uint32_t)wave.wide) {
        if (start > 0 && !exec_team_sync(exec->config.team)) return false;
        wave_blocks(exec, worker, op, &wave, start);
        if (!exec_team_sync(exec->config.team)) return false;
        wave_merge(exec, worker, op, &wave, start);
    }
    return true;
}

bool exec_op_attention(struct exec *exec, uint32_t worker, const struct plan_op *op,
                       const struct exec_op *info) {
    (void)info;
    size_t items =
        (size_t)exec->rows * exec->config.plan->caches[op->u.attention.cache].heads_kv;
    uint32_t workers = exec_team_size(exec->config.team);
    if (workers > 1 && items < (size_t)EXEC_ATTENTION_FEW * workers)
        return attend_together(exec, worker, op, items);
    for (size_t i, end; exec_team_take(exec->config.team, worker, items, 1, &i, &end);) {
        struct item item = item_at(exec, op, i);
        attend(exec, worker, &item);
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where keys and values lie and how they are stored: the layout of a KV page, and a sequence
//            as exec sees it with what recurrent layers remember.
// Called by: exec (reads and writes pages), session (owns pages and hands them out).
// Threads:   a page is written by one step at a time.
// Errors:    LOCUM_E_UNSUPPORTED when a plan's heads do not fit the type.
// Not here:  which pages a sequence has and when they are given back (session).
//
// A page holds KERNELS_KV_BLOCK positions of all caches of a plan. Per cache: for every KV head a block
// of 64 keys, then for every KV head a block of 64 values; rows of one head are contiguous:
//
//     | cache 0: K head 0 [64][size_k] | K head 1 | ... | V head 0 [64][size_v] | ... | cache 1: ...
//
// Where values are part of keys there are keys only. A row is float16 (nearest even), float32, or blocks of
// Q8_0: 32 int8 behind one float16 scale, quantised by rule 2 (Q32) of kernels.h with the scale rounded to
// float16. What attention computes with is the number that is stored, exactly.
#ifndef EXEC_EXEC_KV_H
#define EXEC_EXEC_KV_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "plan/plan.h"

enum { EXEC_KV_PAGE_POSITIONS = KERNELS_KV_BLOCK };

// In the order of locum_kv_type.
enum exec_kv_type { EXEC_KV_F16, EXEC_KV_F32, EXEC_KV_Q8_0, EXEC_KV_TYPES };
const char *exec_kv_type_name(enum exec_kv_type type);

struct exec_kv_layout {
    enum exec_kv_type type;
    uint64_t page_bytes; // a multiple of 64
    uint64_t *offset;    // [caches]: where a cache starts in a page
};
locum_status exec_kv_layout_make(const struct plan *plan, enum exec_kv_type type,
                                 struct arena *arena, struct exec_kv_layout *out,
                                 locum_error *error);

// Bytes of one row of `size` elements.
size_t exec_kv_row_bytes(enum exec_kv_type type, size_t size);
// Bytes of scratch that one worker needs for any cache of the plan; 0: none. A multiple of 64.
size_t exec_kv_scratch_bytes(const struct plan *plan, enum exec_kv_type type);
// Stores a row. scratch: of the worker, aligned to 64. false: a value is not finite (only where rows are
// quantised; else it is stored and what is computed with it refuses it).
bool exec_kv_store_row(const struct kernels_table *kernels, enum exec_kv_type type, uint8_t *out,
                       const float *in, size_t size, void *scratch);
// Q8_0: rows lo..hi-1 of a block as floats, the other rows are left as they are.
void exec_kv_expand(const struct kernels_table *kernels, float *out, const uint8_t *rows, size_t lo,
                    size_t hi, size_t size);

struct exec_sequence {
    uint8_t *const *pages; // page i holds positions 64*i ..; aligned to 64
    uint32_t page_count;
    // Of recurrent layers, else NULL: plan_state_bytes, aligned to 64. A step carries `state` from its first
    // token to behind its last one; on the way it copies what is there before position `checkpoint_at`
    // (EXEC_NO_CHECKPOINT: none) to `checkpoint`.
    float *state, *checkpoint;
    uint32_t checkpoint_at;
};
#define EXEC_NO_CHECKPOINT UINT32_MAX

// Address of the block of a head's keys (or values) in a page.
static inline uint8_t *exec_kv_keys(const struct exec_kv_layout *layout, const struct plan *plan,
                                    uint8_t *page, uint32_t cache, uint32_t head) {
    return page + layout->offset[cache] +
           (size_t)head * EXEC_KV_PAGE_POSITIONS *
               exec_kv_row_bytes(layout->type, plan->caches[cache].head_size_k);
}
static inline uint8_t *exec_kv_values(const struct exec_kv_layout *layout, const struct plan *plan,
                                      uint8_t *page, uint32_t cache, uint32_t head) {
    const struct plan_cache *c = &plan->caches[cache];
    if (c->values_in_keys) return exec_kv_keys(layout, plan, page, cache, head);
    return page + layout->offset[cache] +
           EXEC_KV_PAGE_POSITIONS *
               (c->heads_kv * exec_kv_row_bytes(layout->type, c->head_size_k) +
                head * exec_kv_row_bytes(layout->type, c->head_size_v));
}

#endif

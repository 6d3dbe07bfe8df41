// SPDX-License-Identifier: Apache-2.0
//
// Owns:      where keys and values lie: the layout of a KV page, and a sequence as exec sees it with what
//            recurrent layers remember.
// Called by: exec (reads and writes pages), session (owns pages and hands them out).
// Threads:   a page is written by one step at a time.
// Errors:    none.
// Not here:  which pages a sequence has and when they are given back (session).
//
// A page holds KERNELS_KV_BLOCK positions of all caches of a plan. Per cache: for every KV head a block
// of 64 keys, then for every KV head a block of 64 values; rows of one head are contiguous:
//
//     | cache 0: K head 0 [64][size_k] | K head 1 | ... | V head 0 [64][size_v] | ... | cache 1: ...
#ifndef EXEC_EXEC_KV_H
#define EXEC_EXEC_KV_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "plan/plan.h"

enum { EXEC_KV_PAGE_POSITIONS = KERNELS_KV_BLOCK };

struct exec_kv_layout {
    bool f32;            // elements are float32, else float16
    uint64_t page_bytes; // a multiple of 64
    uint64_t *offset;    // [caches]: where a cache starts in a page
};
locum_status exec_kv_layout_make(const struct plan *plan, bool f32, struct arena *arena,
                                 struct exec_kv_layout *out, locum_error *error);

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

// Address of row `position % 64` of a head's keys (or values) in its page.
static inline uint8_t *exec_kv_keys(const struct exec_kv_layout *layout, const struct plan *plan,
                                    uint8_t *page, uint32_t cache, uint32_t head) {
    size_t element = layout->f32 ? 4 : 2;
    return page + layout->offset[cache] +
           (size_t)head * EXEC_KV_PAGE_POSITIONS * plan->caches[cache].head_size_k * element;
}
static inline uint8_t *exec_kv_values(const struct exec_kv_layout *layout, const struct plan *plan,
                                      uint8_t *page, uint32_t cache, uint32_t head) {
    size_t element = layout->f32 ? 4 : 2;
    const struct plan_cache *c = &plan->caches[cache];
    return page + layout->offset[cache] +
           EXEC_KV_PAGE_POSITIONS * element *
               ((size_t)c->heads_kv * c->head_size_k + (size_t)head * c->head_size_v);
}

#endif

// SPDX-License-Identifier: Apache-2.0
#include "exec/exec_kv.h"

#include "base/half.h"

#include <string.h>

enum { BLOCK = 32, BLOCK_BYTES = 2 + BLOCK };

static const char *const names[EXEC_KV_TYPES] = {"f16", "f32", "q8_0"};

const char *exec_kv_type_name(enum exec_kv_type type) {
    return names[type];
}

size_t exec_kv_row_bytes(enum exec_kv_type type, size_t size) {
    switch (type) {
    case EXEC_KV_F32: return size * sizeof(float);
    case EXEC_KV_Q8_0: return size / BLOCK * BLOCK_BYTES;
    default: return size * sizeof(uint16_t);
    }
}

// Where a block of keys and one of values are expanded; a row is quantised in the same place.
size_t exec_kv_scratch_bytes(const struct plan *plan, enum exec_kv_type type) {
    size_t most = 0;
    for (uint32_t i = 0; type == EXEC_KV_Q8_0 && i < plan->n_caches; i++) {
        const struct plan_cache *c = &plan->caches[i];
        size_t floats = (size_t)EXEC_KV_PAGE_POSITIONS * (c->head_size_k + c->head_size_v);
        if (floats > most) most = floats;
    }
    return most * sizeof(float);
}

static bool store_q8_0(const struct kernels_table *kernels, uint8_t *out, const float *in,
                       size_t size, void *scratch) {
    if (!kernels->quantise[KERNELS_ACT_Q32](scratch, in, size)) return false;
    const int8_t *q = scratch;
    const float *d = (const float *)(const void *)(q + kernels_q32_scale_offset(size));
    for (size_t b = 0; b < size / BLOCK; b++, out += BLOCK_BYTES) {
        uint16_t scale = half_from_float(d[b]);
        memcpy(out, &scale, sizeof scale);
        memcpy(out + sizeof scale, q + b * BLOCK, BLOCK);
    }
    return true;
}

bool exec_kv_store_row(const struct kernels_table *kernels, enum exec_kv_type type, uint8_t *out,
                       const float *in, size_t size, void *scratch) {
    switch (type) {
    case EXEC_KV_F32: memcpy(out, in, size * sizeof(float)); return true;
    case EXEC_KV_Q8_0: return store_q8_0(kernels, out, in, size, scratch);
    default: kernels->to_half((uint16_t *)(void *)out, in, size); return true;
    }
}

void exec_kv_expand(const struct kernels_table *kernels, float *out, const uint8_t *rows, size_t lo,
                    size_t hi, size_t size) {
    size_t row_bytes = exec_kv_row_bytes(EXEC_KV_Q8_0, size);
    for (size_t row = lo; row < hi; row++)
        kernels->dequantise[DTYPE_Q8_0](out + row * size, rows + row * row_bytes, size);
}

locum_status exec_kv_layout_make(const struct plan *plan, enum exec_kv_type type,
                                 struct arena *arena, struct exec_kv_layout *out,
                                 locum_error *error) {
    *out = (struct exec_kv_layout){.type = type};
    out->offset = arena_array(arena, plan->n_caches, sizeof *out->offset);
    if (!out->offset)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the KV layout");
    for (uint32_t i = 0; i < plan->n_caches; i++) {
        const struct plan_cache *c = &plan->caches[i];
        if (type == EXEC_KV_Q8_0 && (c->head_size_k % BLOCK || c->head_size_v % BLOCK)) {
            return status_fail(error, LOCUM_E_UNSUPPORTED,
                               "a KV cache of type q8_0 needs heads of a multiple of %d numbers; this "
                               "model's have %u and %u: use f16",
                               BLOCK, c->head_size_k, c->head_size_v);
        }
        out->offset[i] = out->page_bytes;
        // a multiple of 64, as there are 64 positions
        uint64_t row = exec_kv_row_bytes(type, c->head_size_k);
        if (!c->values_in_keys) row += exec_kv_row_bytes(type, c->head_size_v);
        out->page_bytes += EXEC_KV_PAGE_POSITIONS * row * c->heads_kv;
    }
    return LOCUM_OK;
}

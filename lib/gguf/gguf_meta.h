// SPDX-License-Identifier: Apache-2.0
//
// Owns:      typed, converting, range-checked access to the metadata of a model file.
// Called by: model (hyper-parameters), token (vocabulary), chat (template), engine.
// Threads:   read-only after open: any.
// Errors:    E_FORMAT with file, key, what was expected and what was found. A value that is there
//            but wrong is always an error, also for the *_or forms: a default never hides a bad
//            file.
// Not here:  element access of one value, texts for people (gguf_value.h).
#ifndef GGUF_META_H
#define GGUF_META_H

#include "gguf/gguf_parse.h"

struct gguf_meta {
    const char *name; // of the file, for messages
    const struct gguf_pair *pairs;
    uint64_t count;
    const struct gguf_index *index;
    const char *architecture; // general.architecture, NUL-terminated; "" when absent
};

// A key that begins with '.' stands for "<architecture>.": ".block_count" ->
// "qwen3moe.block_count". Everything below accepts such keys; messages show the whole key.

// NULL when absent.
const struct gguf_value *gguf_meta_find(const struct gguf_meta *meta, const char *key);

// Required scalars. Any integer type is taken; an array of exactly one element too. Bounds
// inclusive.
locum_status gguf_meta_u32(const struct gguf_meta *meta, const char *key, uint32_t min,
                           uint32_t max, uint32_t *out, locum_error *error);
locum_status gguf_meta_u64(const struct gguf_meta *meta, const char *key, uint64_t min,
                           uint64_t max, uint64_t *out, locum_error *error);
locum_status gguf_meta_i64(const struct gguf_meta *meta, const char *key, int64_t min, int64_t max,
                           int64_t *out, locum_error *error);
// From f32, f64 or any integer; must be finite.
locum_status gguf_meta_f32(const struct gguf_meta *meta, const char *key, float min, float max,
                           float *out, locum_error *error);
// From bool, or an integer 0 or 1.
locum_status gguf_meta_bool(const struct gguf_meta *meta, const char *key, bool *out,
                            locum_error *error);
locum_status gguf_meta_string(const struct gguf_meta *meta, const char *key, struct slice *out,
                              locum_error *error);

// Optional scalars: `fallback` when the key is absent (it need not lie within the bounds).
locum_status gguf_meta_u32_or(const struct gguf_meta *meta, const char *key, uint32_t fallback,
                              uint32_t min, uint32_t max, uint32_t *out, locum_error *error);
locum_status gguf_meta_u64_or(const struct gguf_meta *meta, const char *key, uint64_t fallback,
                              uint64_t min, uint64_t max, uint64_t *out, locum_error *error);
locum_status gguf_meta_i64_or(const struct gguf_meta *meta, const char *key, int64_t fallback,
                              int64_t min, int64_t max, int64_t *out, locum_error *error);
locum_status gguf_meta_f32_or(const struct gguf_meta *meta, const char *key, float fallback,
                              float min, float max, float *out, locum_error *error);
locum_status gguf_meta_bool_or(const struct gguf_meta *meta, const char *key, bool fallback,
                               bool *out, locum_error *error);
locum_status gguf_meta_string_or(const struct gguf_meta *meta, const char *key,
                                 struct slice fallback, struct slice *out, locum_error *error);

// Per-layer numbers ("key or array"): a scalar fills all n, an array must have exactly n elements.
locum_status gguf_meta_u32_each(const struct gguf_meta *meta, const char *key, uint32_t min,
                                uint32_t max, uint32_t n, uint32_t out[], locum_error *error);
locum_status gguf_meta_f32_each(const struct gguf_meta *meta, const char *key, float min, float max,
                                uint32_t n, float out[], locum_error *error);
locum_status gguf_meta_bool_each(const struct gguf_meta *meta, const char *key, uint32_t n,
                                 bool out[], locum_error *error);
locum_status gguf_meta_u32_each_or(const struct gguf_meta *meta, const char *key, uint32_t fallback,
                                   uint32_t min, uint32_t max, uint32_t n, uint32_t out[],
                                   locum_error *error);
locum_status gguf_meta_f32_each_or(const struct gguf_meta *meta, const char *key, float fallback,
                                   float min, float max, uint32_t n, float out[],
                                   locum_error *error);
locum_status gguf_meta_bool_each_or(const struct gguf_meta *meta, const char *key, bool fallback,
                                    uint32_t n, bool out[], locum_error *error);

// Arrays as they are: *out with element strings / any integers / any numbers, n_min..n_max
// elements. Read the elements with gguf_value.h. Optional arrays: gguf_meta_find first.
enum gguf_meta_kind { GGUF_META_INTEGERS, GGUF_META_NUMBERS, GGUF_META_STRINGS };
locum_status gguf_meta_array(const struct gguf_meta *meta, const char *key,
                             enum gguf_meta_kind kind, uint64_t n_min, uint64_t n_max,
                             const struct gguf_value **out, locum_error *error);

#endif

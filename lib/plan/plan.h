// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the plan of a model: an ordered list of operations over named buffers and weights, built
//            once from the hyper-parameters and reused by every step. It is plain data: what runs it is a
//            backend (exec), what builds it is lib/model.
// Called by: model (builds), exec (runs), engine (sizes).
// Threads:   immutable once built.
// Errors:    the builder is sticky: the first error stays, later calls do nothing.
// Not here:  pointers to weights, memory, threads.
//
// A step has n tokens. A buffer of width w is a matrix [n][w] of float32. The plan has two parts: the body
// runs for all n tokens; the head (final norm, output matrix) runs only for the rows whose logits are
// wanted, a few at a time, on buffers of its own.
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "kernels/kernels_rope.h"
#include "kernels/kernels_route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_NONE UINT32_MAX

// Kinds of operation; "in", "in2", "out" are buffers, "w" a weight, "b" an optional bias.
//   EMBED      out = row token of w, times `scale`
//   NORM       out = RMSNorm(in) * w in `groups` equal parts of each row; w NONE: no weight. In place it
//              may stop behind `groups` parts of `size`, and the rest of the row stays
//   MATMUL     out = w in + b
//   HEAD_MATMUL  out = w_h in for each of `heads` heads, with the rows of w that belong to head h, or with
//              their transpose. What is quantised is turned back into float32 first: float arithmetic
//   ROPE       out rotated in place: `heads` heads of head_size, from element `first` of each on; table
//              number `rope`
//   KV_WRITE   in (keys), in2 (values) -> cache `cache` at the tokens' positions; values that are part of
//              their keys have no in2
//   ATTENTION  out = attention of in (queries) over cache `cache`; w NONE or a sink for each head
//   ADD        out += in
//   ACTIVATE   out = act(in, in2), of a gate and an up value: enum plan_act
//   ROUTER     in = router logits -> the step's routing table (expert ids and weights per token)
//   EXPERTS    out = sum over the routed experts of weight * down(act(gate(in), up(in))); their biases,
//              if there are any, are added to what the three matrices give
//   ROW_GATE   out *= sigmoid(w . in), one factor per token
//   GATHER     out (head) = rows of in (body) whose logits are wanted; first operation of the head
//   TEMPER     out *= 1 + scale * ln(1 + floor((position + 1) / span)): more, the further the token is
//   WEIGH      out = in times the weight of the one expert that the token has
//   SCALE      out *= scale, and times w, one number, if there is one
//   SOFTCAP    out = c * tanh(in / c), c = scale
//   PICK       out = parts of `size` of each of `groups` groups of in
//   L2_NORM    each of the first `heads` heads of out divided by its length
//   CONV       out = a causal convolution over time of each of its channels with w, then silu unless it is
//              plain; `state`
//   DELTA_GATES  out = [exp(w * softplus(in + b)) | sigmoid(in2)]: how much of a head's state stays, and the
//              rate at which it takes in
//   DELTA      out = gated delta rule of in = [q heads | k heads | v heads] with the gates in2; `state`
#define PLAN_KIND_LIST(X)                                                                      \
    X(EMBED, "embed")                                                                          \
    X(NORM, "norm")                                                                            \
    X(MATMUL, "matmul") X(HEAD_MATMUL, "head_matmul") X(ROPE, "rope")                          \
    X(KV_WRITE, "kv_write") X(ATTENTION, "attention")                                          \
        X(ADD, "add") X(ACTIVATE, "activate") X(ROUTER, "router") X(EXPERTS, "experts")        \
            X(ROW_GATE, "row_gate") X(GATHER, "gather") X(SCALE, "scale") X(TEMPER, "temper")  \
                X(WEIGH, "weigh") X(SOFTCAP, "softcap") X(PICK, "pick") X(L2_NORM, "l2_norm")  \
                    X(CONV, "conv") X(DELTA_GATES, "delta_gates") X(DELTA, "delta")
enum plan_kind {
#define PLAN_KIND_ENUM(name, text) PLAN_##name,
    PLAN_KIND_LIST(PLAN_KIND_ENUM)
#undef PLAN_KIND_ENUM
        PLAN_KIND_COUNT
};
const char *plan_kind_name(enum plan_kind kind);

// silu(gate) * up, gelu(gate) * up, both clamped: swiglu_oai(gate, up) of kernels/kmath.h, sigmoid(gate) * up,
// gate * up
enum plan_act {
    PLAN_ACT_SILU,
    PLAN_ACT_GELU,
    PLAN_ACT_SWIGLU_OAI,
    PLAN_ACT_SIGMOID,
    PLAN_ACT_PRODUCT
};

// A dense weight: a matrix of `rows` rows of `cols` weights each, cols contiguous; a vector has one row.
struct plan_weight {
    const char *name; // tensor name, for messages
    uint32_t dtype;
    uint64_t cols, rows, row_bytes;
    uint32_t shard;
    uint64_t offset, bytes; // in the shard's file
};

struct plan_place {
    uint32_t shard;
    uint64_t offset;
};

// One of the matrices of all experts of a layer.
struct plan_expert_matrix {
    const char *name;
    uint32_t dtype;
    uint64_t cols, rows, row_bytes;
    uint64_t bytes;                // of one expert
    struct plan_place place;       // expert 0 ...
    uint64_t stride;               // ... and the distance to the next one
    const struct plan_place *each; // [experts] where every expert is a tensor of its own, else NULL
};

enum { PLAN_GATE, PLAN_UP, PLAN_DOWN, PLAN_EXPERT_MATRICES };
// With `fused`, PLAN_GATE holds [gate rows | up rows] (2 * width rows) and PLAN_UP is empty (bytes 0).
struct plan_experts {
    uint32_t layer;
    uint32_t experts, used;
    uint64_t inputs, width; // of the model's state; of one expert
    bool fused;
    struct plan_expert_matrix matrix[PLAN_EXPERT_MATRICES];
    uint32_t bias[PLAN_EXPERT_MATRICES]; // weight with a row for each expert, or PLAN_NONE
    struct kernels_route route; // its pointers are NULL here: the weights below hold them
    uint32_t route_bias;        // weight or PLAN_NONE
    bool weighs_input;          // WEIGH has weighed what comes in: what comes out is just added
    uint32_t scale;             // weight with a factor for each expert's output, or PLAN_NONE
};

struct plan_cache { // of one attention layer
    uint32_t heads_kv, head_size_k, head_size_v;
    bool values_in_keys; // a value is the first head_size_v elements of its key, and not stored again
};

// What a recurrent layer remembers of a sequence: float32, zeros before the first token. Each part is
// carried through the tokens by itself.
struct plan_state {
    uint32_t parts, part_floats;
    uint64_t offset; // in floats, of part 0 in the memory of a sequence
};

struct plan_rope {
    struct kernels_rope rope; // rope.factors is NULL here: the weight below holds them
    bool neox;
    uint32_t factors; // weight or PLAN_NONE
};

struct plan_buffer {
    const char *name;
    uint32_t width; // floats per row
    bool head;      // rows are those of the head, not tokens
};

struct plan_op {
    enum plan_kind kind;
    uint32_t layer; // PLAN_NONE outside of layers
    uint32_t in, in2, out;
    uint32_t weight, bias;
    union {
        struct {
            uint32_t groups;
            uint32_t size; // of a group; 0: they fill the row
            float eps;
        } norm;
        struct {
            uint32_t table, heads, head_size, first;
        } rope;
        struct {
            uint32_t heads;
            uint32_t in_stride, in_size;   // from one head's input to the next; floats of one
            uint32_t out_stride, out_size; // the same of outputs
            // Rows of w for each head, and the first of those used: out_size rows of in_size, or, if
            // transposed, in_size rows of out_size: then out is a chain over the inputs, from +0.
            uint32_t w_stride, w_first;
            bool transposed;
        } head_matmul;
        struct {
            uint32_t cache, heads;
            uint32_t window; // 0: all; else position j is visible to i when i - j < window
            uint32_t chunk;  // 0: all; else j is visible to i when both lie in one part of so many
            float scale, softcap;
        } attention; // KV_WRITE uses cache only
        struct {
            uint32_t set; // plan.experts; also for ROUTER
            enum plan_act act;
        } experts; // ROUTER and WEIGH use set only
        struct {
            float scale;
            uint32_t span;
        } temper;
        struct {
            uint32_t groups, size;
            uint32_t in_first, in_stride; // floats to the first part and from one to the next
            uint32_t out_first, out_stride; // the same where they go
        } pick;
        struct {
            uint32_t heads, head_size;
            float eps;
        } l2;
        struct {
            uint32_t state;
            uint32_t heads, heads_k; // of values (and of the state); of keys and queries
            uint32_t key_size, value_size;
            bool grouped; // neighbouring heads share a key head; else heads h, h + heads_k, ..
            float scale;
            bool plain; // CONV uses this and state only
        } recurrent;
        enum plan_act act;
        float scale;
    } u;
};

struct plan {
    struct plan_weight *weights;
    struct plan_experts *experts;
    struct plan_cache *caches;
    struct plan_state *states;
    struct plan_rope *ropes;
    struct plan_buffer *buffers;
    struct plan_op *ops;
    uint32_t n_weights, n_experts, n_caches, n_states, n_ropes, n_buffers, n_ops;
    uint32_t head_start; // ops from here on are the head
    uint32_t layers, embedding, vocabulary;
    uint32_t logits; // buffer
};

// ---- building -------------------------------------------------------------------------------------
struct plan_builder {
    struct plan plan;
    struct arena *arena; // everything in the plan lives here
    uint32_t capacity[7];
    locum_status status; // sticky
    locum_error *error;
};

void plan_builder_init(struct plan_builder *builder, struct arena *arena, locum_error *error);
// Each returns the index of the new entry (PLAN_NONE after an error). Names must outlive the plan.
uint32_t plan_add_weight(struct plan_builder *builder, const struct plan_weight *weight);
uint32_t plan_add_experts(struct plan_builder *builder, const struct plan_experts *experts);
uint32_t plan_add_cache(struct plan_builder *builder, struct plan_cache cache);
// `offset` is set here: states lie one after the other.
uint32_t plan_add_state(struct plan_builder *builder, struct plan_state state);
uint32_t plan_add_rope(struct plan_builder *builder, const struct plan_rope *rope);
uint32_t plan_add_buffer(struct plan_builder *builder, const char *name, uint64_t width, bool head);
void plan_add_op(struct plan_builder *builder, struct plan_op op);
// From now on operations belong to the head.
void plan_begin_head(struct plan_builder *builder);
// Checks that every operation fits its buffers and weights and hands the plan out.
locum_status plan_finish(struct plan_builder *builder, uint32_t logits, struct plan *out);

// Parts of `size` that `whole` is cut into; the last one may be smaller.
static inline uint64_t plan_parts(uint64_t whole, uint64_t size) {
    return (whole + size - 1) / size;
}

// A plan_op with every reference set to PLAN_NONE.
struct plan_op plan_op_make(enum plan_kind kind, uint32_t layer);

// ---- sizes ----------------------------------------------------------------------------------------
// Elements that a cache stores for one token.
static inline uint64_t plan_cache_row(const struct plan_cache *cache) {
    uint32_t stored = cache->values_in_keys ? 0 : cache->head_size_v;
    return (uint64_t)cache->heads_kv * (cache->head_size_k + stored);
}
// Bytes of KV for one token over all caches, with elements of `element` bytes.
uint64_t plan_kv_bytes_per_token(const struct plan *plan, uint32_t element);
// Bytes of what all recurrent layers remember of a sequence, a multiple of 64.
uint64_t plan_state_bytes(const struct plan *plan);
// Bytes of one expert of a set, over its matrices.
uint64_t plan_expert_bytes(const struct plan_experts *experts);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the words in which an architecture file describes its model: tensors by role with the shape
//            they must have, and the blocks that families share.
// Called by: the model_<architecture>.c files; model.c.
// Threads:   one builder belongs to one thread.
// Errors:    sticky in plan.status: an architecture file may ignore them until the end.
// Not here:  which blocks an architecture has (its own file).
#ifndef MODEL_MODEL_BUILDER_H
#define MODEL_MODEL_BUILDER_H

#include "base/limits.h"
#include "gguf/gguf_file.h"
#include "model/model_params.h"
#include "plan/plan.h"

struct model_builder {
    struct plan_builder plan;
    const struct gguf_file *file;
    const struct gguf_meta *meta;
    const struct model_params *params;
    bool *used; // per tensor of the file
    bool neox;  // form of RoPE of the architecture
    uint32_t x, n,
        t; // buffers of the state's width: what runs through the layers; its normed copy;
           // the output of a block before it is added to x
    const char *output_norm; // role of the last norm, output_norm unless the family says
    float residual_scale, logit_scale; // of a block's output, of the logits; 1 unless the family says
};

// One architecture: a row of the registry in model.c, defined in its own file.
struct model_arch {
    const char *name; // general.architecture
    bool neox;        // pairs of RoPE: (i, i + n/2), else (2i, 2i+1)
    void (*build)(struct model_builder *builder);
};

// ---- tensors --------------------------------------------------------------------------------------
enum model_need { MODEL_REQUIRED, MODEL_OPTIONAL };
// The tensor `name` (printf form) as a weight of `rows` rows of `cols`. Absent and optional: PLAN_NONE.
uint32_t model_matrix(struct model_builder *builder, enum model_need need, uint64_t cols,
                      uint64_t rows, const char *name, ...) __attribute__((format(printf, 5, 6)));
// `depth` matrices of `rows` rows each, one after the other, as one weight of all rows; required.
uint32_t model_matrices(struct model_builder *builder, uint64_t cols, uint64_t rows, uint64_t depth,
                        const char *name, ...) __attribute__((format(printf, 5, 6)));
// An F32 vector.
uint32_t model_vector(struct model_builder *builder, enum model_need need, uint64_t size,
                      const char *name, ...) __attribute__((format(printf, 4, 5)));
// `rows` F32 vectors of `size`, one after the other; required.
uint32_t model_vectors(struct model_builder *builder, uint64_t size, uint64_t rows,
                       const char *name, ...) __attribute__((format(printf, 4, 5)));
bool model_has(const struct model_builder *builder, const char *name, ...)
    __attribute__((format(printf, 2, 3)));

// The routed experts of a layer: stacked, fused or (old files) one tensor per expert.
struct model_routing {
    enum kernels_gating gating; // unless the file has a key for it
    bool normalise;             // likewise
    uint32_t width;             // of one expert, likewise (expert_feed_forward_length)
    bool groups_by_best;        // a group of experts is as good as its best one, not its best two
};
// biases: of the experts' matrices; they are used wherever they are.
uint32_t model_experts(struct model_builder *builder, uint32_t layer, struct model_routing routing,
                       enum model_need biases);

// A buffer of that name and width: the same one for all layers that ask for it.
uint32_t model_buffer(struct model_builder *builder, const char *name, uint64_t width);

// Stop with an error that the architecture file words itself (the file's name is put in front).
void model_fail(struct model_builder *builder, locum_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- blocks ---------------------------------------------------------------------------------------
// Token embedding (times scale unless 1) into x.
void model_embed(struct model_builder *builder, float scale);

// out = in times blk.<layer>.<role>.weight, and its bias where it is (or has to be: biased).
void model_project(struct model_builder *builder, uint32_t layer, const char *role, bool biased,
                   uint32_t in, uint32_t out, uint64_t cols, uint64_t rows);

enum model_qk_norm { MODEL_QK_NORM_NONE, MODEL_QK_NORM_HEAD, MODEL_QK_NORM_ROW };
struct model_attention {
    enum model_qk_norm qk_norm;
    uint32_t rope;      // table, or PLAN_NONE
    uint32_t window;    // 0: none
    uint32_t chunk;     // 0: none; else only the part of so many positions that the token lies in
    uint32_t head_size; // of keys and values; 0: as the metadata say
    float scale;        // of scores; 0: 1 / the root of a head's size
    bool post_norm;     // post_attention_norm on the block's output
    bool biased;        // biases of the four projections are needed, else used if they are there
    bool sinks;         // a logit per head that takes a share of the softmax (attn_sinks)
    // attn_q has rows [query | gate] for each head; the output is multiplied by sigmoid(gate)
    bool gated;
    // RMS norm without weight of each head's value. Without attn_v, the keys' projection is the value.
    bool value_norm;
    bool norm_turned; // qk_norm comes behind RoPE
    bool unit_heads; // RMS norm without weight of each query and key, behind RoPE
    // Queries are multiplied by 1 + scale * ln(1 + floor((position + 1) / span)); span 0: they are not.
    uint32_t temperature_span;
    float temperature_scale;
    // The layer has neither keys nor values of its own: it looks into the cache of an earlier one.
    bool shares_cache;
    uint32_t cache;
};
// Gives the cache that the layer looks into.
uint32_t model_attention(struct model_builder *builder, uint32_t layer, struct model_attention how);

// Latent attention (MLA, DeepSeek-AI, 2024), absorbed: keys and values of all heads come from one compressed
// vector and a rotated part that they share, and that is what the cache holds and attention looks at.
// Each head takes its query into the compressed space (with the matrix that keys would be made with,
// transposed) and what it has seen back out of it. The two matrices come as one (attn_kv_b) or as two
// (attn_k_b, transposed already, and attn_v_b).
struct model_latent {
    uint32_t rope; // table
    uint32_t fixed, rotary, value; // of a head: elements of queries and keys that stay, that turn; of values
    uint32_t rank, query_rank;     // of compressed keys and values; of compressed queries, 0: they are not
    float scale;                   // of scores
};
void model_latent_attention(struct model_builder *builder, uint32_t layer,
                            const struct model_latent *how);

// Which layers have a sliding window: all but the last of each `period`, unless the file says it by a
// period or a list of its own.
locum_status model_windows(struct model_builder *builder, uint32_t period,
                           bool windowed[LIMIT_LAYERS]);
// For families all of which have windows: the file has to say how wide they are.
void model_require_window(struct model_builder *builder);

// Gated delta net: what takes the place of attention in recurrent layers. Projections come as the
// operations want them (attn_qkv, attn_gate) or, in old files, grouped by key heads (ssm_in).
struct model_delta {
    uint32_t heads, heads_k; // of values; of keys and queries
    uint32_t key_size, value_size;
    uint32_t taps; // of the convolution
    // Neighbouring heads share a key head, and their gates lie together (ssm_ba); else heads h,
    // h + heads_k, .. share it (and the file has ssm_alpha, ssm_beta).
    bool grouped;
};
void model_delta_net(struct model_builder *builder, uint32_t layer, const struct model_delta *how);

// A gated short convolution: what takes the place of attention in lfm2moe. shortconv.in_proj gives
// [b | c | u]; the output is shortconv.out_proj of c * conv(b * u), each channel over its last `taps` inputs.
void model_short_conv(struct model_builder *builder, uint32_t layer, uint32_t taps);

struct model_ffn {
    enum plan_act act;
    bool post_norm; // post_ffw_norm on the block's output
    const char *norm; // role of the norm before it; NULL: ffn_norm
};
void model_dense_ffn(struct model_builder *builder, uint32_t layer, struct model_ffn how);
// out = ffn_down<suffix>(act(ffn_gate<suffix> n, ffn_up<suffix> n)), `ff` values inside.
void model_gated_ffn(struct model_builder *builder, uint32_t layer, const char *suffix, uint64_t ff,
                     enum plan_act act, uint32_t out);

struct model_moe {
    struct model_routing routing;
    enum plan_act act;
    const char *norm; // role of the norm before it; NULL: ffn_norm
    bool biased;      // biases of router and experts are needed, else used if they are there
    uint32_t shared_width; // shared expert (ffn_*_shexp); 0: none
    bool shared_ungated;   // it is just added, else times sigmoid(ffn_gate_inp_shexp n)
    // One expert per token, chosen by its logit; the weight multiplies what goes in, not what comes out.
    bool weighs_input;
};
void model_moe(struct model_builder *builder, uint32_t layer, struct model_moe how);
// What most families are, whole: the embedding, layers that attend and then feed forward (the first
// dense_layers without experts), the head.
void model_transformer(struct model_builder *builder, struct model_attention attention,
                       struct model_moe moe);
// The two halves of model_moe. The choice of experts from n, logits times scale; gives the set of experts.
uint32_t model_route(struct model_builder *builder, uint32_t layer, const struct model_moe *how,
                     float scale);
// t = their weighted sum for n.
void model_routed(struct model_builder *builder, uint32_t layer, uint32_t set, enum plan_act act);

// n = RMS norm of x with the weight of that role
void model_pre_norm(struct model_builder *builder, uint32_t layer, const char *role);
// RMS norm of a block's output, in place.
void model_post_norm(struct model_builder *builder, uint32_t layer, const char *role,
                     uint32_t buffer);
// x += t, the block's output
void model_add_block(struct model_builder *builder, uint32_t layer);

// Final norm and output matrix (the token embedding if the file has none), softcap if the file has one.
void model_head(struct model_builder *builder);

// A table for the RoPE of `rope`, with the factors of rope_freqs.weight if `factors` and the file has them.
uint32_t model_rope(struct model_builder *builder, const struct kernels_rope *rope, bool factors);

// ---- operations -----------------------------------------------------------------------------------
// See plan.h. weight and bias may be PLAN_NONE.
void model_op_norm(struct model_builder *builder, uint32_t layer, uint32_t in, uint32_t out,
                   uint32_t weight, uint32_t groups);
void model_op_matmul(struct model_builder *builder, uint32_t layer, uint32_t in, uint32_t out,
                     uint32_t weight, uint32_t bias);
void model_op_add(struct model_builder *builder, uint32_t layer, uint32_t in, uint32_t out);
// Nothing if it would change nothing.
void model_op_scale(struct model_builder *builder, uint32_t layer, uint32_t out, float scale,
                    uint32_t weight);
// gate = act(gate, up)
void model_op_activate(struct model_builder *builder, uint32_t layer, uint32_t gate, uint32_t up,
                       enum plan_act act);
// Nothing if the table is PLAN_NONE.
void model_op_rope(struct model_builder *builder, uint32_t layer, uint32_t buffer, uint32_t heads,
                   uint32_t head_size, uint32_t table);
// `size` floats of each of `groups` groups of in, which begin `stride` floats apart.
void model_op_pick(struct model_builder *builder, uint32_t layer, uint32_t in, uint32_t first,
                   uint32_t stride, uint32_t groups, uint32_t size, uint32_t out,
                   uint32_t out_first);

#endif

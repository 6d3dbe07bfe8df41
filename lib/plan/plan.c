// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "base/check.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "kernels/kernels.h"

#include <string.h>

static const char *const kind_names[] = {
#define PLAN_KIND_NAME(name, text) text,
    PLAN_KIND_LIST(PLAN_KIND_NAME)
#undef PLAN_KIND_NAME
};

const char *plan_kind_name(enum plan_kind kind) {
    return kind < PLAN_KIND_COUNT ? kind_names[kind] : "unknown";
}

struct plan_op plan_op_make(enum plan_kind kind, uint32_t layer) {
    struct plan_op op;
    memset(&op, 0, sizeof op);
    op.kind = kind;
    op.layer = layer;
    op.in = op.in2 = op.out = op.weight = op.bias = PLAN_NONE;
    return op;
}

void plan_builder_init(struct plan_builder *builder, struct arena *arena, locum_error *error) {
    memset(builder, 0, sizeof *builder);
    builder->arena = arena;
    builder->error = error;
    builder->plan.head_start = PLAN_NONE;
    builder->plan.logits = PLAN_NONE;
}

// Lists double; what they leave behind in the arena is at most as large as the final list.
static void *grow(struct plan_builder *builder, void *list, uint32_t count, uint32_t *capacity,
                  size_t item) {
    if (count < *capacity) return list;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    void *larger = arena_array(builder->arena, wanted, item);
    if (!larger) {
        builder->status =
            status_fail(builder->error, LOCUM_E_OUT_OF_MEMORY, "no memory for the plan");
        return NULL;
    }
    if (count) memcpy(larger, list, (size_t)count * item);
    *capacity = wanted;
    return larger;
}

#define PLAN_APPEND(builder, list, counter, slot, value)                              \
    do {                                                                              \
        if ((builder)->status != LOCUM_OK) return PLAN_NONE;                          \
        void *list_ = grow(builder, (builder)->plan.list, (builder)->plan.counter,    \
                           &(builder)->capacity[slot], sizeof *(builder)->plan.list); \
        if (!list_) return PLAN_NONE;                                                 \
        (builder)->plan.list = list_;                                                 \
        (builder)->plan.list[(builder)->plan.counter] = (value);                      \
        return (builder)->plan.counter++;                                             \
    } while (0)

uint32_t plan_add_weight(struct plan_builder *builder, const struct plan_weight *weight) {
    PLAN_APPEND(builder, weights, n_weights, 0, *weight);
}

uint32_t plan_add_experts(struct plan_builder *builder, const struct plan_experts *experts) {
    PLAN_APPEND(builder, experts, n_experts, 1, *experts);
}

uint32_t plan_add_cache(struct plan_builder *builder, struct plan_cache cache) {
    PLAN_APPEND(builder, caches, n_caches, 2, cache);
}

static uint32_t append_state(struct plan_builder *builder, struct plan_state state) {
    PLAN_APPEND(builder, states, n_states, 6, state);
}

uint32_t plan_add_state(struct plan_builder *builder, struct plan_state state) {
    state.offset = plan_state_bytes(&builder->plan) / sizeof(float);
    return append_state(builder, state);
}

uint32_t plan_add_rope(struct plan_builder *builder, const struct plan_rope *rope) {
    PLAN_APPEND(builder, ropes, n_ropes, 3, *rope);
}

uint32_t plan_add_buffer(struct plan_builder *builder, const char *name, uint64_t width,
                         bool head) {
    if (builder->status == LOCUM_OK && (width == 0 || width > LIMIT_VOCABULARY)) {
        builder->status =
            status_fail(builder->error, LOCUM_E_FORMAT,
                        "the model needs a row of %llu values (%s); 1 to %d are possible",
                        (unsigned long long)width, name, LIMIT_VOCABULARY);
    }
    struct plan_buffer buffer = {name, (uint32_t)width, head};
    PLAN_APPEND(builder, buffers, n_buffers, 4, buffer);
}

static uint32_t append_op(struct plan_builder *builder, struct plan_op op) {
    PLAN_APPEND(builder, ops, n_ops, 5, op);
}

void plan_add_op(struct plan_builder *builder, struct plan_op op) {
    if (builder->status == LOCUM_OK && builder->plan.n_ops >= LIMIT_PLAN_OPERATIONS) {
        builder->status =
            status_fail(builder->error, LOCUM_E_UNSUPPORTED,
                        "the model needs more than %d operations", LIMIT_PLAN_OPERATIONS);
    }
    append_op(builder, op);
}

void plan_begin_head(struct plan_builder *builder) {
    builder->plan.head_start = builder->plan.n_ops;
}

// ---- checking ---------------------------------------------------------------------------------------
// The binder has compared every tensor with the shape that the hyper-parameters ask for. What is checked
// here is the builder's own work: a violation is a bug of lib/model, not of a file.

static uint32_t width_of(const struct plan *plan, uint32_t buffer) {
    LOCUM_ASSERT(buffer < plan->n_buffers);
    return plan->buffers[buffer].width;
}

// Rows of float32, or none.
static void check_floats(const struct plan *plan, uint32_t weight, uint64_t size, uint64_t rows) {
    if (weight == PLAN_NONE) return;
    LOCUM_ASSERT(weight < plan->n_weights);
    LOCUM_ASSERT(plan->weights[weight].rows == rows && plan->weights[weight].cols == size);
    LOCUM_ASSERT(plan->weights[weight].dtype == DTYPE_F32);
}

static void check_vector(const struct plan *plan, uint32_t weight, uint64_t size) {
    check_floats(plan, weight, size, 1);
}

static void check_same_width(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(width_of(plan, op->in) == width_of(plan, op->out));
}

static void check_op_matmul(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->weight < plan->n_weights && op->in != op->out);
    LOCUM_ASSERT(plan->weights[op->weight].cols == width_of(plan, op->in));
    LOCUM_ASSERT(plan->weights[op->weight].rows == width_of(plan, op->out));
    check_vector(plan, op->bias, width_of(plan, op->out));
}

static void check_op_attention(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->u.attention.cache < plan->n_caches);
    const struct plan_cache *cache = &plan->caches[op->u.attention.cache];
    if (op->kind == PLAN_KV_WRITE) {
        LOCUM_ASSERT(width_of(plan, op->in) == cache->heads_kv * cache->head_size_k);
        LOCUM_ASSERT(cache->values_in_keys ? cache->head_size_v <= cache->head_size_k
                                           : width_of(plan, op->in2) ==
                                                 cache->heads_kv * cache->head_size_v);
        return;
    }
    LOCUM_ASSERT(op->u.attention.heads % cache->heads_kv == 0);
    LOCUM_ASSERT(width_of(plan, op->in) == op->u.attention.heads * cache->head_size_k);
    LOCUM_ASSERT(width_of(plan, op->out) == op->u.attention.heads * cache->head_size_v);
    check_vector(plan, op->weight, op->u.attention.heads);
}

static void check_op_experts(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->u.experts.set < plan->n_experts);
    const struct plan_experts *set = &plan->experts[op->u.experts.set];
    if (op->kind == PLAN_ROUTER) {
        LOCUM_ASSERT(width_of(plan, op->in) == set->experts);
        return;
    }
    LOCUM_ASSERT(width_of(plan, op->in) == set->inputs && op->in != op->out);
    check_same_width(plan, op);
    for (int i = 0; i < PLAN_EXPERT_MATRICES; i++)
        check_floats(plan, set->bias[i], set->matrix[i].rows, set->experts);
    check_vector(plan, set->scale, set->experts);
}

static void check_op_norm(const struct plan *plan, const struct plan_op *op) {
    uint32_t width = width_of(plan, op->in), groups = op->u.norm.groups, size = op->u.norm.size;
    check_same_width(plan, op);
    LOCUM_ASSERT(groups > 0 && (size > 0 || width % groups == 0));
    LOCUM_ASSERT(size == 0 || (op->in == op->out && (uint64_t)groups * size <= width));
    check_vector(plan, op->weight, size > 0 ? size : width / groups);
}

static void check_op_head_matmul(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->weight < plan->n_weights && op->in != op->out);
    const struct plan_weight *w = &plan->weights[op->weight];
    uint64_t before = op->u.head_matmul.heads - 1;
    uint32_t in = op->u.head_matmul.in_size, out = op->u.head_matmul.out_size;
    uint32_t rows = op->u.head_matmul.transposed ? in : out;
    LOCUM_ASSERT(op->u.head_matmul.heads > 0 && op->bias == PLAN_NONE);
    LOCUM_ASSERT(w->cols == (op->u.head_matmul.transposed ? out : in));
    LOCUM_ASSERT(w->rows == (before + 1) * op->u.head_matmul.w_stride);
    LOCUM_ASSERT(op->u.head_matmul.w_first + rows <= op->u.head_matmul.w_stride);
    LOCUM_ASSERT(before * op->u.head_matmul.in_stride + in <= width_of(plan, op->in));
    LOCUM_ASSERT(before * op->u.head_matmul.out_stride + out <= width_of(plan, op->out));
}

static void check_op_rope(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->u.rope.table < plan->n_ropes);
    LOCUM_ASSERT(width_of(plan, op->out) == op->u.rope.heads * op->u.rope.head_size);
    LOCUM_ASSERT(op->u.rope.first + plan->ropes[op->u.rope.table].rope.n_rot <=
                 op->u.rope.head_size);
}

static void check_op_pick(const struct plan *plan, const struct plan_op *op) {
    uint64_t groups = op->u.pick.groups, size = op->u.pick.size;
    LOCUM_ASSERT(groups > 0 && op->in != op->out);
    LOCUM_ASSERT(op->u.pick.in_first + (groups - 1) * op->u.pick.in_stride + size <=
                 width_of(plan, op->in));
    LOCUM_ASSERT(op->u.pick.out_first + (groups - 1) * op->u.pick.out_stride + size <=
                 width_of(plan, op->out));
}

static void check_state(const struct plan *plan, const struct plan_op *op, uint64_t parts,
                        uint64_t part_floats) {
    LOCUM_ASSERT(op->u.recurrent.state < plan->n_states);
    const struct plan_state *state = &plan->states[op->u.recurrent.state];
    LOCUM_ASSERT(state->parts == parts && state->part_floats == part_floats);
}

static void check_op_conv(const struct plan *plan, const struct plan_op *op) {
    LOCUM_ASSERT(op->weight < plan->n_weights);
    const struct plan_weight *w = &plan->weights[op->weight];
    LOCUM_ASSERT(w->dtype == DTYPE_F32 && w->rows == width_of(plan, op->out));
    LOCUM_ASSERT(w->cols >= 1 && w->cols <= KERNELS_CONV_TAPS_MAX);
    check_state(plan, op, plan_parts(w->rows, KERNELS_CONV_CHANNELS),
                (w->cols - 1) * KERNELS_CONV_CHANNELS);
}

static void check_op_gates(const struct plan *plan, const struct plan_op *op) {
    uint32_t heads = width_of(plan, op->in);
    LOCUM_ASSERT(width_of(plan, op->in2) == heads && width_of(plan, op->out) == 2 * heads);
    LOCUM_ASSERT(op->weight != PLAN_NONE && op->bias != PLAN_NONE);
    check_vector(plan, op->weight, heads);
    check_vector(plan, op->bias, heads);
}

static void check_op_delta(const struct plan *plan, const struct plan_op *op) {
    uint64_t heads = op->u.recurrent.heads, heads_k = op->u.recurrent.heads_k;
    uint64_t key_size = op->u.recurrent.key_size, value_size = op->u.recurrent.value_size;
    LOCUM_ASSERT(heads_k > 0 && heads % heads_k == 0);
    LOCUM_ASSERT(width_of(plan, op->in) == 2 * heads_k * key_size + heads * value_size);
    LOCUM_ASSERT(width_of(plan, op->in2) == 2 * heads);
    LOCUM_ASSERT(width_of(plan, op->out) == heads * value_size);
    check_state(plan, op, heads * plan_parts(value_size, KERNELS_DELTA_COLUMNS),
                key_size * KERNELS_DELTA_COLUMNS);
}

static void check_op(const struct plan *plan, const struct plan_op *op) {
    switch (op->kind) {
    case PLAN_EMBED:
        LOCUM_ASSERT(op->weight < plan->n_weights);
        LOCUM_ASSERT(plan->weights[op->weight].cols == width_of(plan, op->out));
        break;
    case PLAN_NORM:
        check_op_norm(plan, op);
        break;
    case PLAN_MATMUL:
        check_op_matmul(plan, op);
        break;
    case PLAN_ROPE:
        check_op_rope(plan, op);
        break;
    case PLAN_HEAD_MATMUL:
        check_op_head_matmul(plan, op);
        break;
    case PLAN_KV_WRITE:
    case PLAN_ATTENTION:
        check_op_attention(plan, op);
        break;
    case PLAN_TEMPER:
        LOCUM_ASSERT(op->out < plan->n_buffers && op->u.temper.span > 0);
        break;
    case PLAN_WEIGH:
        LOCUM_ASSERT(op->u.experts.set < plan->n_experts && op->in != op->out);
        LOCUM_ASSERT(plan->experts[op->u.experts.set].used == 1);
        check_same_width(plan, op);
        break;
    case PLAN_ADD:
    case PLAN_GATHER:
    case PLAN_SOFTCAP:
        check_same_width(plan, op);
        break;
    case PLAN_SCALE:
        LOCUM_ASSERT(op->out < plan->n_buffers);
        check_vector(plan, op->weight, 1);
        break;
    case PLAN_ACTIVATE:
        check_same_width(plan, op);
        LOCUM_ASSERT(width_of(plan, op->in2) == width_of(plan, op->out));
        break;
    case PLAN_ROUTER:
    case PLAN_EXPERTS:
        check_op_experts(plan, op);
        break;
    case PLAN_ROW_GATE:
        check_vector(plan, op->weight, width_of(plan, op->in));
        break;
    case PLAN_PICK:
        check_op_pick(plan, op);
        break;
    case PLAN_L2_NORM:
        LOCUM_ASSERT((uint64_t)op->u.l2.heads * op->u.l2.head_size <= width_of(plan, op->out));
        break;
    case PLAN_CONV:
        check_op_conv(plan, op);
        break;
    case PLAN_DELTA_GATES:
        check_op_gates(plan, op);
        break;
    case PLAN_DELTA:
        check_op_delta(plan, op);
        break;
    case PLAN_KIND_COUNT:
        LOCUM_ASSERT(!"kind");
    }
}

locum_status plan_finish(struct plan_builder *builder, uint32_t logits, struct plan *out) {
    STATUS_TRY(builder->status);
    struct plan *plan = &builder->plan;
    plan->logits = logits;
    LOCUM_ASSERT(plan->head_start < plan->n_ops && plan->ops[plan->head_start].kind == PLAN_GATHER);
    LOCUM_ASSERT(width_of(plan, logits) == plan->vocabulary);
    for (uint32_t i = 0; i < plan->n_ops; i++)
        check_op(plan, &plan->ops[i]);
    *out = *plan;
    return LOCUM_OK;
}

// ---- sizes ------------------------------------------------------------------------------------------
uint64_t plan_kv_bytes_per_token(const struct plan *plan, uint32_t element) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->n_caches; i++)
        sum += plan_cache_row(&plan->caches[i]) * element;
    return sum;
}

uint64_t plan_state_bytes(const struct plan *plan) {
    uint64_t floats = 0;
    for (uint32_t i = 0; i < plan->n_states; i++)
        floats +=
            ((uint64_t)plan->states[i].parts * plan->states[i].part_floats + 15) & ~UINT64_C(15);
    return floats * sizeof(float);
}

uint64_t plan_expert_bytes(const struct plan_experts *experts) {
    uint64_t sum = 0;
    for (int i = 0; i < PLAN_EXPERT_MATRICES; i++)
        sum += experts->matrix[i].bytes;
    return sum;
}

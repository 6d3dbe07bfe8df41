// SPDX-License-Identifier: Apache-2.0
//
// Binds tensors of a file to roles: every tensor that a plan uses is found here by name, compared with the
// shape that the hyper-parameters ask for, and must have a type that can be computed with.
#include "base/limits.h"
#include "kernels/kernels.h"
#include "model/model_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool failed(const struct model_builder *builder) {
    return builder->plan.status != LOCUM_OK;
}

void model_fail(struct model_builder *builder, locum_status status, const char *format, ...) {
    if (failed(builder)) return;
    char text[LOCUM_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    builder->plan.status =
        status_fail(builder->plan.error, status, "%s: %s", builder->meta->name, text);
}

static const struct gguf_tensor *find(const struct model_builder *builder, const char *format,
                                      va_list arguments, char name[LIMIT_GGUF_NAME]) {
    vsnprintf(name, LIMIT_GGUF_NAME, format, arguments);
    return gguf_file_find(builder->file, name);
}

static const struct gguf_tensor *find_expert(const struct model_builder *builder, uint32_t layer,
                                             const char *role, uint32_t expert,
                                             char name[LIMIT_GGUF_NAME]) {
    snprintf(name, LIMIT_GGUF_NAME, "blk.%u.ffn_%s.%u.weight", layer, role, expert);
    return gguf_file_find(builder->file, name);
}

bool model_has(const struct model_builder *builder, const char *format, ...) {
    char name[LIMIT_GGUF_NAME];
    va_list arguments;
    va_start(arguments, format);
    bool found = find(builder, format, arguments, name) != NULL;
    va_end(arguments);
    return found;
}

static void mark_used(struct model_builder *builder, const struct gguf_tensor *tensor) {
    builder->used[tensor - gguf_file_tensor(builder->file, 0)] = true;
}

// Shape [cols, rows, depth]; missing dimensions are 1 on both sides.
static bool check_shape(struct model_builder *builder, const struct gguf_tensor *tensor,
                        uint64_t cols, uint64_t rows, uint64_t depth) {
    if (tensor->shape[0] == cols && tensor->shape[1] == rows && tensor->shape[2] == depth &&
        tensor->shape[3] == 1) {
        return true;
    }
    model_fail(builder, LOCUM_E_FORMAT,
               "tensor '%s' has the shape [%llu, %llu, %llu, %llu]; the metadata ask for [%llu, "
               "%llu, %llu, 1]",
               tensor->name, (unsigned long long)tensor->shape[0],
               (unsigned long long)tensor->shape[1], (unsigned long long)tensor->shape[2],
               (unsigned long long)tensor->shape[3], (unsigned long long)cols,
               (unsigned long long)rows, (unsigned long long)depth);
    return false;
}

static bool check_type(struct model_builder *builder, const struct gguf_tensor *tensor) {
    if (kernels_act_of(tensor->type) != KERNELS_ACT_NONE) return true;
    model_fail(builder, LOCUM_E_UNSUPPORTED,
               "tensor '%s' has the type %s (number %u), which cannot be computed with",
               tensor->name, dtype_name(tensor->type), tensor->type);
    return false;
}

static void missing(struct model_builder *builder, const char *name) {
    model_fail(builder, LOCUM_E_FORMAT,
               "tensor '%s' is missing; models of the architecture '%s' need it", name,
               builder->meta->architecture);
}

static uint32_t bind(struct model_builder *builder, const struct gguf_tensor *tensor, uint64_t cols,
                     uint64_t rows, uint64_t depth) {
    if (!check_shape(builder, tensor, cols, rows, depth) || !check_type(builder, tensor))
        return PLAN_NONE;
    rows *= depth;
    mark_used(builder, tensor);
    struct plan_weight weight = {
        .name = arena_copy_text(builder->plan.arena, tensor->name, strlen(tensor->name)),
        .dtype = tensor->type,
        .cols = cols,
        .rows = rows,
        .row_bytes = tensor->bytes / rows,
        .shard = tensor->shard,
        .offset = tensor->offset,
        .bytes = tensor->bytes,
    };
    if (!weight.name) {
        model_fail(builder, LOCUM_E_OUT_OF_MEMORY, "no memory for the plan");
        return PLAN_NONE;
    }
    return plan_add_weight(&builder->plan, &weight);
}

uint32_t model_matrix(struct model_builder *builder, enum model_need need, uint64_t cols,
                      uint64_t rows, const char *format, ...) {
    if (failed(builder)) return PLAN_NONE;
    char name[LIMIT_GGUF_NAME];
    va_list arguments;
    va_start(arguments, format);
    const struct gguf_tensor *tensor = find(builder, format, arguments, name);
    va_end(arguments);
    if (!tensor && need == MODEL_REQUIRED) missing(builder, name);
    return tensor ? bind(builder, tensor, cols, rows, 1) : PLAN_NONE;
}

uint32_t model_matrices(struct model_builder *builder, uint64_t cols, uint64_t rows, uint64_t depth,
                        const char *format, ...) {
    if (failed(builder)) return PLAN_NONE;
    char name[LIMIT_GGUF_NAME];
    va_list arguments;
    va_start(arguments, format);
    const struct gguf_tensor *tensor = find(builder, format, arguments, name);
    va_end(arguments);
    if (!tensor) missing(builder, name);
    return tensor ? bind(builder, tensor, cols, rows, depth) : PLAN_NONE;
}

// Vectors, `rows` of them one after the other, are used in place. tensor: NULL if the file has none.
static uint32_t bind_vectors(struct model_builder *builder, enum model_need need,
                             const struct gguf_tensor *tensor, const char *name, uint64_t size,
                             uint64_t rows) {
    if (!tensor) {
        if (need == MODEL_REQUIRED) missing(builder, name);
        return PLAN_NONE;
    }
    if (tensor->type != DTYPE_F32) {
        model_fail(builder, LOCUM_E_UNSUPPORTED, "tensor '%s' has the type %s; vectors must be F32",
                   name, dtype_name(tensor->type));
        return PLAN_NONE;
    }
    if (tensor->offset % sizeof(float)) {
        model_fail(builder, LOCUM_E_UNSUPPORTED,
                   "tensor '%s' begins at byte %llu; vectors must begin at a multiple of 4", name,
                   (unsigned long long)tensor->offset);
        return PLAN_NONE;
    }
    return bind(builder, tensor, size, rows, 1);
}

uint32_t model_vector(struct model_builder *builder, enum model_need need, uint64_t size,
                      const char *format, ...) {
    if (failed(builder)) return PLAN_NONE;
    char name[LIMIT_GGUF_NAME];
    va_list arguments;
    va_start(arguments, format);
    const struct gguf_tensor *tensor = find(builder, format, arguments, name);
    va_end(arguments);
    return bind_vectors(builder, need, tensor, name, size, 1);
}

uint32_t model_vectors(struct model_builder *builder, uint64_t size, uint64_t rows,
                       const char *format, ...) {
    if (failed(builder)) return PLAN_NONE;
    char name[LIMIT_GGUF_NAME];
    va_list arguments;
    va_start(arguments, format);
    const struct gguf_tensor *tensor = find(builder, format, arguments, name);
    va_end(arguments);
    return bind_vectors(builder, MODEL_REQUIRED, tensor, name, size, rows);
}

// ---- experts ----------------------------------------------------------------------------------------
static bool bind_stacked(struct model_builder *builder, const struct gguf_tensor *tensor,
                         struct plan_expert_matrix *matrix, uint64_t cols, uint64_t rows) {
    uint32_t experts = builder->params->experts;
    if (!check_shape(builder, tensor, cols, rows, experts) || !check_type(builder, tensor))
        return false;
    mark_used(builder, tensor);
    *matrix = (struct plan_expert_matrix){
        .name = arena_copy_text(builder->plan.arena, tensor->name, strlen(tensor->name)),
        .dtype = tensor->type,
        .cols = cols,
        .rows = rows,
        .row_bytes = tensor->bytes / experts / rows,
        .bytes = tensor->bytes / experts,
        .place = {tensor->shard, tensor->offset},
        .stride = tensor->bytes / experts,
    };
    if (!matrix->name) model_fail(builder, LOCUM_E_OUT_OF_MEMORY, "no memory for the plan");
    return matrix->name != NULL;
}

// Files of early 2024 have one two-dimensional tensor per expert: blk.L.ffn_gate.E.weight.
static bool bind_each(struct model_builder *builder, uint32_t layer, const char *role,
                      struct plan_expert_matrix *matrix, uint64_t cols, uint64_t rows) {
    uint32_t experts = builder->params->experts;
    struct plan_place *each = arena_array(builder->plan.arena, experts, sizeof *each);
    if (!each) {
        model_fail(builder, LOCUM_E_OUT_OF_MEMORY, "no memory for the plan");
        return false;
    }
    for (uint32_t e = 0; e < experts; e++) {
        char name[LIMIT_GGUF_NAME];
        const struct gguf_tensor *tensor = find_expert(builder, layer, role, e, name);
        if (!tensor) {
            missing(builder, name);
            return false;
        }
        if (!check_shape(builder, tensor, cols, rows, 1) || !check_type(builder, tensor))
            return false;
        if (e > 0 && tensor->type != matrix->dtype) {
            model_fail(builder, LOCUM_E_UNSUPPORTED,
                       "tensor '%s' has the type %s, expert 0 of its layer has %s", name,
                       dtype_name(tensor->type), dtype_name(matrix->dtype));
            return false;
        }
        mark_used(builder, tensor);
        if (e == 0) {
            *matrix = (struct plan_expert_matrix){
                .name = arena_copy_text(builder->plan.arena, name, strlen(name)),
                .dtype = tensor->type,
                .cols = cols,
                .rows = rows,
                .row_bytes = tensor->bytes / rows,
                .bytes = tensor->bytes,
                .place = {tensor->shard, tensor->offset},
            };
        }
        each[e] = (struct plan_place){tensor->shard, tensor->offset};
    }
    matrix->each = each;
    return matrix->name != NULL;
}

static bool bind_matrix(struct model_builder *builder, uint32_t layer, const char *role,
                        struct plan_expert_matrix *matrix, uint64_t cols, uint64_t rows) {
    char name[LIMIT_GGUF_NAME];
    snprintf(name, sizeof name, "blk.%u.ffn_%s_exps.weight", layer, role);
    const struct gguf_tensor *tensor = gguf_file_find(builder->file, name);
    if (tensor) return bind_stacked(builder, tensor, matrix, cols, rows);
    char old[LIMIT_GGUF_NAME];
    if (find_expert(builder, layer, role, 0, old))
        return bind_each(builder, layer, role, matrix, cols, rows);
    missing(builder, name);
    return false;
}

// One row for each expert.
static void bind_biases(struct model_builder *builder, uint32_t layer, enum model_need need,
                        struct plan_experts *set) {
    static const char *const roles[] = {"gate", "up", "down"};
    for (int i = 0; i < PLAN_EXPERT_MATRICES; i++) {
        set->bias[i] = PLAN_NONE;
        if (set->matrix[i].bytes == 0) continue; // it is part of the one before
        char name[LIMIT_GGUF_NAME];
        snprintf(name, sizeof name, "blk.%u.ffn_%s_exps.bias", layer,
                 set->fused && i == PLAN_GATE ? "gate_up" : roles[i]);
        const struct gguf_tensor *tensor = gguf_file_find(builder->file, name);
        set->bias[i] =
            bind_vectors(builder, need, tensor, name, set->matrix[i].rows, set->experts);
    }
}

// Groups of experts, of which a token uses only some.
static locum_status read_groups(const struct model_builder *builder, struct kernels_route *route,
                                locum_error *error) {
    const struct gguf_meta *meta = builder->meta;
    uint32_t groups, used, most = route->experts;
    STATUS_TRY(gguf_meta_u32_or(meta, ".expert_group_count", 1, 0, KERNELS_GROUPS_MAX, &groups,
                                error));
    if (groups <= 1) return LOCUM_OK;
    if (groups > most / 2 || most % groups) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.expert_group_count (%u) does not divide expert_count (%u) into "
                           "groups of 2 or more",
                           meta->name, meta->architecture, groups, most);
    }
    STATUS_TRY(gguf_meta_u32(meta, ".expert_group_used_count", 1, groups, &used, error));
    if (used * (most / groups) < route->used) {
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: %s.expert_used_count (%u) is more than %u groups of %u experts have",
                           meta->name, meta->architecture, route->used, used, most / groups);
    }
    route->groups = groups;
    route->groups_used = used;
    return LOCUM_OK;
}

static bool bind_route(struct model_builder *builder, uint32_t layer, struct model_routing routing,
                       struct plan_experts *set) {
    uint32_t gating;
    bool normalise;
    float scale;
    const struct gguf_meta *meta = builder->meta;
    locum_error *error = builder->plan.error;
    locum_status status =
        gguf_meta_u32_or(meta, ".expert_gating_func", routing.gating, KERNELS_GATING_SOFTMAX,
                         KERNELS_GATING_SOFTMAX_SELECTED, &gating, error);
    if (!status) {
        status =
            gguf_meta_bool_or(meta, ".expert_weights_norm", routing.normalise, &normalise, error);
    }
    if (!status)
        status = gguf_meta_f32_or(meta, ".expert_weights_scale", 1, 0, 1e6f, &scale, error);
    set->route = (struct kernels_route){
        .experts = builder->params->experts,
        .used = builder->params->experts_used,
        .group_best_two = !routing.groups_by_best,
    };
    if (!status) status = read_groups(builder, &set->route, error);
    if (status) {
        builder->plan.status = status;
        return false;
    }
    set->route.gating = (enum kernels_gating)gating;
    set->route.normalise = normalise;
    set->route.scale = scale == 0 ? 1 : scale; // 0 stands for "none" in files
    set->route_bias =
        model_vector(builder, MODEL_OPTIONAL, set->experts, "blk.%u.exp_probs_b.bias", layer);
    return !failed(builder);
}

uint32_t model_experts(struct model_builder *builder, uint32_t layer, struct model_routing routing,
                       enum model_need biases) {
    if (failed(builder)) return PLAN_NONE;
    const struct model_params *p = builder->params;
    struct plan_experts set = {.layer = layer,
                               .experts = p->experts,
                               .used = p->experts_used,
                               .inputs = p->embedding,
                               .width = p->expert_ff ? p->expert_ff : routing.width};
    if (set.width == 0) {
        model_fail(builder, LOCUM_E_FORMAT, "key '%s.expert_feed_forward_length' is missing",
                   builder->meta->architecture);
        return PLAN_NONE;
    }
    char name[LIMIT_GGUF_NAME];
    snprintf(name, sizeof name, "blk.%u.ffn_gate_up_exps.weight", layer);
    const struct gguf_tensor *fused = gguf_file_find(builder->file, name);
    set.fused = fused != NULL;
    bool bound =
        fused
            ? bind_stacked(builder, fused, &set.matrix[PLAN_GATE], set.inputs, 2 * set.width)
            : bind_matrix(builder, layer, "gate", &set.matrix[PLAN_GATE], set.inputs, set.width) &&
                  bind_matrix(builder, layer, "up", &set.matrix[PLAN_UP], set.inputs, set.width);
    if (!bound ||
        !bind_matrix(builder, layer, "down", &set.matrix[PLAN_DOWN], set.width, set.inputs) ||
        !bind_route(builder, layer, routing, &set)) {
        return PLAN_NONE;
    }
    bind_biases(builder, layer, biases, &set);
    // It multiplies what the down matrix gives, before the bias. Left alone it is refused as unknown.
    set.scale = set.bias[PLAN_DOWN] == PLAN_NONE
                    ? model_vector(builder, MODEL_OPTIONAL, set.experts,
                                   "blk.%u.ffn_down_exps.scale", layer)
                    : PLAN_NONE;
    return plan_add_experts(&builder->plan, &set);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/exec/toy_forward.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WIDEST = 4096 };

struct state {
    struct toy_model *toy;
    const struct toy_spec *spec;
    bool gemma, olmoe, qwen2moe, normed_heads, neox;
    double x[WIDEST];      // the stream
    double *keys, *values; // [layers][count][heads_kv * head_size]
    uint32_t count;
};

// Of blk.<layer>.<role>.weight
static const float *weights(const struct state *s, const char *role, uint32_t layer) {
    return toy_tensor(s->toy, "blk.%u.%s.weight", layer, role)->values;
}

static const float *bias_of(const struct state *s, const char *role, uint32_t layer) {
    char name[LIMIT_GGUF_NAME];
    snprintf(name, sizeof name, "blk.%u.%s.bias", layer, role);
    for (uint32_t i = 0; i < s->toy->tensor_count; i++)
        if (strcmp(s->toy->tensors[i].name, name) == 0) return s->toy->tensors[i].values;
    return NULL;
}

static void multiply(double *out, const float *w, const double *x, size_t rows, size_t cols) {
    for (size_t r = 0; r < rows; r++) {
        out[r] = 0;
        for (size_t c = 0; c < cols; c++)
            out[r] += (double)w[r * cols + c] * x[c];
    }
}

static void norm(double *out, const double *x, const float *w, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    double root = sqrt(sum / (double)n + 1e-5);
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] / root * (double)w[i];
}

static double act(const struct state *s, double x) {
    if (!s->gemma) return x / (1 + exp(-x));
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

// down(act(gate x) * up x), added to out with a weight.
static void feed_forward(const struct state *s, double *out, const double *x, const float *gate,
                         const float *up, const float *down, size_t ff, double weight) {
    static double g[WIDEST], u[WIDEST], y[WIDEST];
    size_t width = s->spec->width;
    multiply(g, gate, x, ff, width);
    multiply(u, up, x, ff, width);
    for (size_t i = 0; i < ff; i++)
        g[i] = act(s, g[i]) * u[i];
    multiply(y, down, g, width, ff);
    for (size_t i = 0; i < width; i++)
        out[i] += weight * y[i];
}

static void rotate(const struct state *s, double *head, uint32_t position, double base) {
    size_t size = s->spec->head_size, pairs = size / 2;
    for (size_t i = 0; i < pairs; i++) {
        double angle = position * pow(base, -2.0 * (double)i / (double)size);
        size_t a = s->neox ? i : 2 * i, b = s->neox ? i + pairs : 2 * i + 1;
        double x = head[a], y = head[b];
        head[a] = x * cos(angle) - y * sin(angle);
        head[b] = x * sin(angle) + y * cos(angle);
    }
}

// Queries or keys: projection, bias, norm, rotation.
static void project(const struct state *s, double *out, const double *x, const char *role,
                    uint32_t layer, uint32_t heads, uint32_t position, bool value) {
    char name[32];
    size_t size = s->spec->head_size, rows = heads * size;
    multiply(out, weights(s, role, layer), x, rows, s->spec->width);
    const float *bias = bias_of(s, role, layer);
    for (size_t i = 0; bias && i < rows; i++)
        out[i] += (double)bias[i];
    if (value) return;
    snprintf(name, sizeof name, "%s_norm", role);
    if (s->olmoe) norm(out, out, weights(s, name, layer), rows);
    for (uint32_t h = 0; h < heads; h++) {
        if (s->normed_heads) norm(out + h * size, out + h * size, weights(s, name, layer), size);
        rotate(s, out + h * size, position, 10000);
    }
}

static void attend(const struct state *s, double *out, const double *x, uint32_t layer,
                   uint32_t position) {
    const struct toy_spec *spec = s->spec;
    static double q[WIDEST], a[WIDEST], scores[WIDEST];
    size_t size = spec->head_size, row = (size_t)spec->heads_kv * size;
    double *keys = s->keys + (size_t)layer * s->count * row;
    double *values = s->values + (size_t)layer * s->count * row;
    project(s, q, x, "attn_q", layer, spec->heads, position, false);
    project(s, keys + position * row, x, "attn_k", layer, spec->heads_kv, position, false);
    project(s, values + position * row, x, "attn_v", layer, spec->heads_kv, position, true);
    bool windowed = spec->window && layer % 6 < 5;
    uint32_t from = windowed && position + 1 > spec->window ? position + 1 - spec->window : 0;
    for (uint32_t h = 0; h < spec->heads; h++) {
        size_t at = h / (spec->heads / spec->heads_kv) * size;
        double most = -INFINITY, sum = 0;
        for (uint32_t j = from; j <= position; j++) {
            scores[j] = 0;
            for (size_t i = 0; i < size; i++)
                scores[j] += q[h * size + i] * keys[j * row + at + i];
            scores[j] /= sqrt((double)size);
            most = fmax(most, scores[j]);
        }
        for (size_t i = 0; i < size; i++)
            a[h * size + i] = 0;
        for (uint32_t j = from; j <= position; j++)
            sum += exp(scores[j] - most);
        for (uint32_t j = from; j <= position; j++)
            for (size_t i = 0; i < size; i++)
                a[h * size + i] += exp(scores[j] - most) / sum * values[j * row + at + i];
    }
    multiply(out, weights(s, "attn_output", layer), a, spec->width, spec->heads * size);
}

static void route(const struct state *s, double *out, const double *x, uint32_t layer) {
    const struct toy_spec *spec = s->spec;
    double p[LIMIT_EXPERTS], sum = 0, chosen_sum = 0;
    bool chosen[LIMIT_EXPERTS] = {false};
    multiply(p, weights(s, "ffn_gate_inp", layer), x, spec->experts, spec->width);
    for (uint32_t e = 0; e < spec->experts; e++)
        sum += p[e] = exp(p[e]);
    for (uint32_t k = 0; k < spec->used; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t e = 0; e < spec->experts; e++)
            if (!chosen[e] && (best == UINT32_MAX || p[e] > p[best])) best = e;
        chosen[best] = true;
        chosen_sum += p[best];
    }
    bool normalised = !s->olmoe && !s->qwen2moe;
    size_t each = (size_t)spec->width * spec->expert_ff;
    for (uint32_t e = 0; e < spec->experts; e++) {
        if (!chosen[e]) continue;
        feed_forward(s, out, x, weights(s, "ffn_gate_exps", layer) + e * each,
                     weights(s, "ffn_up_exps", layer) + e * each,
                     weights(s, "ffn_down_exps", layer) + e * each, spec->expert_ff,
                     p[e] / (normalised ? chosen_sum : sum));
    }
    if (!s->qwen2moe) return;
    double gate;
    multiply(&gate, weights(s, "ffn_gate_inp_shexp", layer), x, 1, spec->width);
    feed_forward(s, out, x, weights(s, "ffn_gate_shexp", layer), weights(s, "ffn_up_shexp", layer),
                 weights(s, "ffn_down_shexp", layer), spec->shared_ff, 1 / (1 + exp(-gate)));
}

static void add_block(struct state *s, double *y, const char *post, uint32_t layer) {
    if (s->gemma) norm(y, y, weights(s, post, layer), s->spec->width);
    for (uint32_t i = 0; i < s->spec->width; i++)
        s->x[i] += y[i];
}

static void forward(struct state *s, locum_token token, uint32_t position, double *logits) {
    const struct toy_spec *spec = s->spec;
    static double n[WIDEST], y[WIDEST];
    const float *embedding = toy_tensor(s->toy, "token_embd.weight")->values;
    for (uint32_t i = 0; i < spec->width; i++) {
        s->x[i] = (double)embedding[(size_t)token * spec->width + i];
        if (s->gemma) s->x[i] *= sqrt(spec->width);
    }
    for (uint32_t layer = 0; layer < spec->layers; layer++) {
        norm(n, s->x, weights(s, "attn_norm", layer), spec->width);
        attend(s, y, n, layer, position);
        add_block(s, y, "post_attention_norm", layer);
        norm(n, s->x, weights(s, "ffn_norm", layer), spec->width);
        memset(y, 0, spec->width * sizeof *y);
        if (spec->experts) {
            route(s, y, n, layer);
        } else {
            feed_forward(s, y, n, weights(s, "ffn_gate", layer), weights(s, "ffn_up", layer),
                         weights(s, "ffn_down", layer), spec->ff, 1);
        }
        add_block(s, y, "post_ffw_norm", layer);
    }
    norm(n, s->x, toy_tensor(s->toy, "output_norm.weight")->values, spec->width);
    const char *output = spec->tied ? "token_embd.weight" : "output.weight";
    multiply(logits, toy_tensor(s->toy, "%s", output)->values, n, spec->vocabulary, spec->width);
}

void toy_forward(struct toy_model *toy, const locum_token *tokens, uint32_t count, double *logits) {
    const struct toy_spec *spec = &toy->spec;
    static struct state s;
    s = (struct state){.toy = toy, .spec = spec, .count = count};
    s.gemma = strcmp(spec->arch, "gemma3") == 0;
    s.olmoe = strcmp(spec->arch, "olmoe") == 0;
    s.qwen2moe = strcmp(spec->arch, "qwen2moe") == 0;
    s.normed_heads = s.gemma || strncmp(spec->arch, "qwen3", 5) == 0;
    s.neox = strcmp(spec->arch, "llama") != 0;
    size_t cache = (size_t)spec->layers * count * spec->heads_kv * spec->head_size;
    s.keys = calloc(cache, sizeof *s.keys);
    s.values = calloc(cache, sizeof *s.values);
    assert_true(s.keys && s.values);
    assert_true(spec->type == DTYPE_F32 && spec->form == TOY_STACKED);
    for (uint32_t i = 0; i < count; i++)
        forward(&s, tokens[i], i, logits + (size_t)i * spec->vocabulary);
    free(s.keys);
    free(s.values);
}

// SPDX-License-Identifier: Apache-2.0
//
// Each figure is the best of 25 spells of at least 2 ms: short ones, so that some are not disturbed
// by other work on the machine. Matrices rotate through a pool larger than the caches, so that one
// column reads weights from memory, as decoding does; vectors stay in the cache.
#include "bench.h"

#include "check_weights.h"
#include "platform/clock.h"
#include "platform/vmem.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 768, K = 2048, COLS_MAX = 64, HEAD = 128, HEADS = 8, TOKENS = 32, POOL_BYTES = 512 << 20 };
enum { SPELLS = 25 };
static const double spell_seconds = 0.002;

struct subject {
    const struct kernels_table *table;
    uint32_t argument;
    struct kernels_matmul m;
    uint8_t *pool;
    size_t matrices, matrix_bytes, turn;
    float *x, *y, *z;
    uint8_t *out;
    struct kernels_attend attend;
    float gate[1]; // of the delta rule: decay and rate of all tokens
    double bytes, operations; // of one call
};

// ---------------------------------------------------------------------------------------------
// One call of each kind of kernel
// ---------------------------------------------------------------------------------------------

static void call_matmul(struct subject *s) {
    s->m.w = s->pool + s->turn++ % s->matrices * s->matrix_bytes;
    s->table->matmul[s->argument](&s->m);
}
// Rearranged again and again: what the bytes are makes no difference.
static void call_interleave(struct subject *s) {
    uint8_t *w = s->pool + s->turn++ % s->matrices * s->matrix_bytes;
    s->table->interleave(s->argument, w, s->m.w_row_bytes, ROWS, s->out);
}
static void call_dequantise(struct subject *s) {
    s->table->dequantise[s->argument](s->y, s->pool, K);
}
static void call_quantise(struct subject *s) {
    s->table->quantise[s->argument](s->out, s->x, K);
}
static void call_rms_norm(struct subject *s) {
    s->table->rms_norm(s->y, s->x, s->z, K, 1e-6f);
}
static volatile float sink; // keeps the sum from being thought useless
static void call_dot(struct subject *s) {
    sink = s->table->dot(s->x, s->z, K);
}
static void call_rope_norm(struct subject *s) {
    s->table->rope_norm(s->y, K / HEAD, HEAD, HEAD / 2, s->z);
}
static void call_rope_neox(struct subject *s) {
    s->table->rope_neox(s->y, K / HEAD, HEAD, HEAD / 2, s->z);
}
static void call_attend_block(struct subject *s) {
    s->table->attend_block(&s->attend);
}
static void call_attend_merge(struct subject *s) {
    float m = 1, l = 1;
    s->table->attend_merge(&m, &l, s->y, 1, 1, s->x, HEAD);
}
static void call_scale(struct subject *s) {
    s->table->scale(s->y, s->x, 0.99f, K);
}
static void call_add(struct subject *s) {
    s->table->add(s->y, s->x, K);
}
static void call_add_scaled(struct subject *s) {
    s->table->add_scaled(s->y, s->x, 0.5f, K);
}
static void call_l2_norm(struct subject *s) {
    s->table->l2_norm(s->y, s->x, K, 1e-6f);
}
static void call_mul(struct subject *s) {
    s->table->mul(s->y, s->x, s->z, K);
}
static void call_sigmoid_mul(struct subject *s) {
    s->table->sigmoid_mul(s->y, s->x, s->z, K);
}
static void call_silu_mul(struct subject *s) {
    s->table->silu_mul(s->y, s->x, s->z, K);
}
static void call_gelu_mul(struct subject *s) {
    s->table->gelu_mul(s->y, s->x, s->z, K);
}
static void call_swiglu_oai_mul(struct subject *s) {
    s->table->swiglu_oai_mul(s->y, s->x, s->z, K);
}
static void call_softcap(struct subject *s) {
    s->table->softcap(s->y, 30.0f, K);
}
static void call_to_half(struct subject *s) {
    s->table->to_half((uint16_t *)(void *)s->out, s->x, K);
}
static void call_exp(struct subject *s) {
    s->table->exp(s->y, s->x, K);
}
static void call_argmax(struct subject *s) {
    size_t index = 0;
    s->table->argmax(s->x, K, &index);
    sink = (float)index;
}

// TOKENS tokens that stay in the cache, with weights and state.
static void call_conv(struct subject *s) {
    struct kernels_conv c = {.x = s->y, .stride = KERNELS_CONV_CHANNELS, .tokens = TOKENS,
                             .channels = KERNELS_CONV_CHANNELS, .taps = 4, .w = s->x, .state = s->z};
    s->table->conv(&c);
}
static void call_delta_gates(struct subject *s) {
    s->table->delta_gates(s->y, s->y + TOKENS, s->x, s->x + TOKENS, s->z, s->z + TOKENS, TOKENS);
}
static void call_delta(struct subject *s) {
    struct kernels_delta d = {.state = s->m.y, .key_size = HEAD, .columns = KERNELS_DELTA_COLUMNS,
                              .tokens = TOKENS, .q = s->x, .k = s->x, .v = s->x, .stride = 1,
                              .decay = s->gate, .beta = s->gate, .y = s->y,
                              .y_stride = KERNELS_DELTA_COLUMNS, .scale = 0.1f};
    s->table->delta(&d);
}

static const struct {
    check_fn check; // names the kind
    void (*call)(struct subject *s);
} calls[] = {
    {check_matmul, call_matmul},
    {check_interleave, call_interleave},
    {check_dequantise, call_dequantise},
    {check_quantise, call_quantise},
    {check_rms_norm, call_rms_norm},
    {check_dot, call_dot},
    {check_rope_norm, call_rope_norm},
    {check_rope_neox, call_rope_neox},
    {check_attend_block, call_attend_block},
    {check_attend_merge, call_attend_merge},
    {check_scale, call_scale},
    {check_add, call_add},
    {check_add_scaled, call_add_scaled},
    {check_l2_norm, call_l2_norm},
    {check_mul, call_mul},
    {check_sigmoid_mul, call_sigmoid_mul},
    {check_silu_mul, call_silu_mul},
    {check_gelu_mul, call_gelu_mul},
    {check_swiglu_oai_mul, call_swiglu_oai_mul},
    {check_softcap, call_softcap},
    {check_to_half, call_to_half},
    {check_exp, call_exp},
    {check_argmax, call_argmax},
    {check_conv, call_conv},
    {check_delta_gates, call_delta_gates},
    {check_delta, call_delta},
};

// ---------------------------------------------------------------------------------------------
// Timing
// ---------------------------------------------------------------------------------------------

static double seconds_per_call(void (*call)(struct subject *), struct subject *s) {
    double best = 0;
    size_t n = 1;
    for (size_t i = 0; i < SPELLS;) {
        uint64_t start = clock_now_ns();
        for (size_t j = 0; j < n; j++) call(s);
        double seconds = (double)(clock_now_ns() - start) * 1e-9;
        if (seconds < spell_seconds) {
            n *= seconds < spell_seconds / 8 ? 8 : 2;
            continue;
        }
        seconds /= (double)n;
        best = i++ == 0 || seconds < best ? seconds : best;
    }
    return best;
}

// What one thread reads from memory: the limit of everything with one column.
static void call_read(struct subject *s) {
    const uint64_t *words = (const uint64_t *)(const void *)s->pool;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->matrix_bytes / sizeof *words; i++) sum += words[i];
    sink = (float)sum;
}

static void report(const char *tier, const char *name, const struct subject *s, double seconds,
                   FILE *json, bool *first) {
    double gbytes = s->bytes / seconds * 1e-9, gops = s->operations / seconds * 1e-9;
    printf("%-10s %-18s %3zu columns %10.2f us %8.2f GB/s %8.2f Gop/s\n", tier, name,
           s->m.n_cols, seconds * 1e6, gbytes, gops);
    fflush(stdout);
    if (!json) return;
    fprintf(json,
            "%s  {\"tier\": \"%s\", \"kernel\": \"%s\", \"columns\": %zu, \"seconds\": %.9g, "
            "\"gbytes_s\": %.4g, \"gops_s\": %.4g}",
            *first ? "\n" : ",\n", tier, name, s->m.n_cols, seconds, gbytes, gops);
    *first = false;
}

// Memory of large pages, as weights and slots have it; released when the program ends.
static uint8_t *bench_pool(void) {
    static struct vmem pool;
    locum_error error;
    if (!pool.data && vmem_alloc(&pool, POOL_BYTES, &error) != LOCUM_OK) {
        fprintf(stderr, "checkkernel: %s\n", error.text);
        exit(2);
    }
    vmem_advise_huge(&pool);
    return pool.data;
}

// Columns and vectors for any kernel, and weights in the pool; the caller frees s->out.
static void prepare(struct check *c, const struct kernel *kernel, struct subject *s) {
    bool typed = kernel->check == check_matmul || kernel->check == check_dequantise;
    uint32_t dtype = typed                               ? kernel->argument
                     : kernel->check == check_interleave ? s->argument
                                                         : DTYPE_F32;
    enum kernels_act act = kernels_act_of(dtype);
    uint64_t row_bytes;
    dtype_row_bytes(dtype, K, &row_bytes);
    s->matrix_bytes = (size_t)row_bytes * ROWS;
    s->matrices = POOL_BYTES / s->matrix_bytes;
    uint8_t *pool = bench_pool();
    size_t column = kernels_act_bytes(act, K), vector = K * sizeof(float);
    size_t total = COLS_MAX * column + 3 * vector + COLS_MAX * ROWS * sizeof(float) + vector;
    s->out = aligned_alloc(64, (total + 63) & ~(size_t)63);
    if (!s->out) {
        fputs("checkkernel: no memory\n", stderr);
        exit(2);
    }
    for (size_t r = 0; r < ROWS; r++)
        check_weights_fill(c, dtype, pool + r * row_bytes, K, CHECK_WEIGHTS_SANE);
    c->tested->interleave(dtype, pool, (size_t)row_bytes, ROWS, s->out);
    for (size_t i = 1; i < s->matrices; i++)
        memcpy(pool + i * s->matrix_bytes, pool, s->matrix_bytes);
    s->pool = pool;
    s->x = (float *)(void *)(s->out + COLS_MAX * column);
    s->y = s->x + K;
    s->z = s->y + K;
    check_fill(c, s->x, 3 * (size_t)K, CHECK_PLAIN);
    for (size_t i = 0; i < COLS_MAX; i++)
        c->ref->quantise[act](s->out + i * column, s->x + i, K);
    s->m = (struct kernels_matmul){.w_row_bytes = (size_t)row_bytes, .rows = ROWS, .k = K,
                                   .act = s->out, .act_stride = column, .n_cols = 1,
                                   .y = s->z + K, .y_stride = ROWS};
    s->attend = (struct kernels_attend){.q = s->x, .q_stride = HEAD, .n_q = HEADS, .k = pool,
                                        .v = pool + 64 * HEAD * 2, .head_size_k = HEAD,
                                        .head_size_v = HEAD, .v_stride = HEAD,
                                        .hi = KERNELS_KV_BLOCK, .scale = 0.1f, .m = s->z,
                                        .l = s->z + HEADS, .o = s->m.y};
    s->gate[0] = 0.5f;
}

void bench_kernel(struct check *c, const struct kernel *kernel, FILE *json, bool *first) {
    bool layout = kernel->check == check_interleave;
    struct subject s = {.table = c->tested, .argument = layout ? DTYPE_Q4_K : kernel->argument};
    const char *tier = kernels_tier_name(c->tested->tier);
    size_t i = 0;
    while (calls[i].check != kernel->check) i++;
    prepare(c, kernel, &s);
    if (kernel->check == check_matmul) {
        static const size_t columns[] = {1, 2, 4, 8, 32, COLS_MAX};
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
            s.m.n_cols = columns[j];
            s.bytes = (double)s.matrix_bytes;
            s.operations = 2.0 * ROWS * K * (double)columns[j];
            report(tier, kernel->name, &s, seconds_per_call(calls[i].call, &s), json, first);
        }
    } else {
        bool attention = kernel->check == check_attend_block, delta = kernel->check == check_delta;
        s.bytes = attention ? 2.0 * KERNELS_KV_BLOCK * HEAD * 2
                  : layout  ? (double)s.matrix_bytes
                            : K * 4.0;
        s.operations = attention ? 4.0 * KERNELS_KV_BLOCK * HEAD * HEADS
                       : delta   ? 7.0 * TOKENS * HEAD * KERNELS_DELTA_COLUMNS
                                 : K;
        report(tier, kernel->name, &s, seconds_per_call(calls[i].call, &s), json, first);
    }
    free(s.out);
}

void bench_memory(FILE *json, bool *first) {
    uint8_t *pool = bench_pool();
    memset(pool, 1, POOL_BYTES);
    struct subject s = {.pool = pool, .matrix_bytes = POOL_BYTES, .bytes = POOL_BYTES};
    report("-", "memory read", &s, seconds_per_call(call_read, &s), json, first);
}

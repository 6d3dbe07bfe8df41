// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tables of arithmetic functions; the definition, bit for bit, of what each computes.
// Called by: exec (and tools/checkkernel). Nothing else does arithmetic on the way to a token.
// Threads:   pure functions: no allocation, no threads, no state, no knowledge of models.
// Errors:    functions that meet a value that is not finite return false; everything else is the
//            caller's duty (shapes, alignment) and is asserted in debug builds.
// Not here:  who calls what in which order (exec), sampling (sample).
//
// THE CANONICAL ARITHMETIC
//
// Every function below has exactly one result for given inputs. kernels/ref is the definition in C;
// every instruction set gives the same bits, whatever the number of columns, rows or threads. All
// files are compiled with -ffp-contract=off, in the default rounding mode, without flush to zero.
// rn(..) is one rounding to float32, nearest even; fma(..) is one rounding of the exact a*b+c.
//
//  1. Sums over lanes ("sum16"): 16 virtual lanes, lane = index mod 16, one fma (or add) per element
//     in ascending index, all lanes start at +0, the tail is as if padded with zeros (which turns a
//     -0 into +0). Then the halving tree: lane[i] += lane[i+8] for i<8; then +4; then +2; then +1.
//     Used by F32/F16/BF16 dots (fma(w, x, lane)), sums of squares (fma(x, x, lane)), q.k, and sums
//     of probabilities (lane + p).
//
//  2. Activations for quantised weights.
//     Q32, per block of 32:  m = max|x|, d = rn(m / 127). If d < 2^-126: d = 0 and all q = 0.
//       Else r = rn(1 / d), q = clamp(nearest_even(rn(x * r)), -127, 127). s = sum of the 32 q.
//     Q256, per 256 = 8 blocks of 32:  s_b = rn(max|x| / 127) in block b,
//       D = rn(max_b(s_b) * 0.125).
//       If D < 2^-126: D = 0, all t = 1, all q = 0.
//       Else t_b = clamp(ceil(rn(s_b / D)), 1, 8), r_b = rn(1 / rn(D * t_b)),
//       q = clamp(nearest_even(rn(x * r_b)), -127, 127); ts_g = t_b * (sum of q) per group g of 16.
//     A value that is not finite makes the function return false (the output is then unspecified).
//
//  3. Weights times activations, blocks in ascending k, one chain per output, everything between
//     two roundings in exact integers (int32; unsigned wrapping where it cancels):
//     32-block types (Q8_0 Q4_0 Q5_0 IQ4_NL MXFP4):  acc = fma(rn(d * d_a), (float)p, acc),
//       p = sum of code * q, codes signed (Q4_0: q-8, Q5_0: q-16, tables for IQ4_NL, MXFP4 (doubled
//       E2M1), Q8_0 as stored). MXFP4: d = 2^(e-128), exact, denormals included.
//     with minimum (Q4_1 Q5_1): a second chain acc_m = fma(rn(m * d_a), (float)s, acc_m);
//       y = acc + acc_m.
//     K types with minima (Q4_K Q5_K Q2_K), t and D of rule 2:
//       I = sum_g sc_g * t_b(g) * (sum of code * q over g), M = sum_g m_g * (t_b S_g)
//       acc = fma(rn(d * D), (float)I, acc); acc_m = fma(rn(dmin * D), (float)M, acc_m);
//       y = acc - acc_m.
//     K types without minima (Q6_K Q3_K IQ4_XS): signed codes (q-32; q-4; table) and signed scales
//       (sc; sc-32; ls-32) in I;  acc = fma(rn(d * D), (float)I, acc); y = acc.
//     F32, F16, BF16: rule 1 on the exact float32 values of both.
//     All chains start at +0.
//
//  4. exp, tanh, ... are the functions of kernels/kmath.h, built from + - * /, fma and integers.
//
//  5. Attention, per query head, in blocks of KERNELS_KV_BLOCK absolute positions: kernels_attend.
//
//  6. Recurrent layers go token by token, also through a prompt: kernels_conv, kernels_delta. So it does
//     not matter how tokens are cut into calls.
//
// Ties are decided by value first, then the lower index. Max of floats: the larger value; -0 and +0
// are not told apart by any rule above. Where a result is NaN, that it is one is all that is promised,
// not its bits; no NaN leaves a step unnoticed: quantise, rms_norm, routing and argmax refuse it.
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "base/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Ascending: each tier may use what the ones before it use.
#define KERNELS_TIER_LIST(X)                                                                       \
    X(REF, "ref") X(AVX2, "avx2") X(AVXVNNI, "avxvnni") X(AVX512, "avx512")                        \
    X(AVX512VNNI, "avx512vnni")
enum kernels_tier {
#define KERNELS_TIER_ENUM(name, text) KERNELS_TIER_##name,
    KERNELS_TIER_LIST(KERNELS_TIER_ENUM)
#undef KERNELS_TIER_ENUM
    KERNELS_TIER_COUNT
};
const char *kernels_tier_name(enum kernels_tier tier);
// false: no such name.
bool kernels_tier_parse(const char *name, enum kernels_tier *tier);

// ---------------------------------------------------------------------------------------------
// Activations: one column is the input vector of one token, in the form that a weight type wants.
// ---------------------------------------------------------------------------------------------
enum kernels_act { KERNELS_ACT_NONE, KERNELS_ACT_F32, KERNELS_ACT_Q32, KERNELS_ACT_Q256 };

// What the columns of a matmul with this weight type must be; NONE: the type cannot be multiplied.
enum kernels_act kernels_act_of(uint32_t dtype);

// Q256, one record per 256 values.
struct kernels_q256 {
    int8_t q[256];
    int16_t ts[16]; // t_b * sum of q, per group of 16 (|ts| <= 16256; two of them: <= 32512)
    int16_t t[8];   // multipliers, 1..8
    float d;        // D
    float unused[3];
};
// Q32, one column of k values (nb = k/32 blocks), three arrays one after the other:
//   int8_t q[k rounded up to 64] | float d[nb rounded up to 16] | int32_t s[nb rounded up to 16]
// F32: the floats themselves. What rounding up adds is written as zeros.
static inline size_t kernels_q32_scale_offset(size_t k) {
    return (k + 63) & ~(size_t)63;
}
static inline size_t kernels_q32_sum_offset(size_t k) {
    return kernels_q32_scale_offset(k) + (((k / 32) + 15) & ~(size_t)15) * sizeof(float);
}
// Bytes of one column of k values, a multiple of 64. k: a multiple of 32 (Q32), 256 (Q256).
size_t kernels_act_bytes(enum kernels_act act, size_t k);

// ---------------------------------------------------------------------------------------------
// Shapes of functions
// ---------------------------------------------------------------------------------------------

// y[c * y_stride + r] = dot(row r of w, column c) for r < rows, c < n_cols.
// Rows have w_row_bytes bytes, exactly those of k weights, and are interleaved as described at
// kernels_table; w has no alignment. Columns lie act_stride bytes apart, aligned to 64; cols (may be
// NULL) picks them: column c is number cols[c].
// Work is shared between threads by rows, in whole groups, never by k.
struct kernels_matmul {
    const uint8_t *w;
    size_t w_row_bytes;
    size_t rows;
    size_t k;
    const uint8_t *act;
    size_t act_stride;
    const uint32_t *cols;
    size_t n_cols;
    float *y;
    size_t y_stride;
};
typedef void (*kernels_matmul_fn)(const struct kernels_matmul *m);

// x[k] -> one column at out (aligned to 64). false: x holds a value that is not finite.
typedef bool (*kernels_quantise_fn)(void *out, const float *x, size_t k);

// One row of k weights -> float32, exactly what the format says (embedding rows, tests). The integer
// factors of a weight (code, sub-scale) are multiplied first and then by d, which settles the sign of
// zeros: rn(rn(d * (code * scale)) - rn(dmin * minimum)), rn(rn(d * code) + m).
typedef void (*kernels_dequantise_fn)(float *out, const uint8_t *w, size_t k);

// Attention of n_q query heads that share one KV head, over the visible positions lo..hi-1 (hi > lo)
// of one block of 64 positions. k: 64 rows of the head's size, v: 64 rows v_stride elements apart
// (v may lie within k), float16 bits or float32.
//   s_j = rn(sum16(q*k_j) * scale); with softcap c > 0: s_j = rn(c * tanh(rn(s_j / c)))
//   m = max s_j;  p_j = exp(s_j - m), 0 outside lo..hi-1;  l = sum16(p) (64 elements)
//   o[i] = chain over j = lo..hi-1 of fma(p_j, v_j[i], o[i]), from +0
// Rows outside lo..hi-1 are not part of any result; they are readable memory (64 whole rows).
enum { KERNELS_KV_BLOCK = 64 };
struct kernels_attend {
    const float *q; // n_q rows, q_stride floats apart
    size_t q_stride, n_q;
    const void *k, *v;
    bool kv_f32; // else float16
    size_t head_size_k, head_size_v; // multiples of 8
    size_t v_stride;                 // likewise
    size_t lo, hi;
    float scale, softcap;
    float *m, *l; // n_q each
    float *o;     // n_q rows of head_size_v floats, contiguous
};
typedef void (*kernels_attend_fn)(const struct kernels_attend *a);

// Causal convolution over time of up to KERNELS_CONV_CHANNELS channels, each with `taps` weights, then silu
// unless it is plain:
//   y_t = silu(chain over j = 0..taps-1 of fma(w_j, x_(t - taps + 1 + j), y), from +0)
// x is replaced by y. The inputs before the first token are the state's rows, oldest first; afterwards the
// state holds the last taps - 1 inputs. Channels that are not there keep what the state has.
enum { KERNELS_CONV_CHANNELS = 64, KERNELS_CONV_TAPS_MAX = 8 };
struct kernels_conv {
    float *x; // of token t: x + t * stride
    size_t stride, tokens, channels, taps;
    const float *w; // [channels][taps]
    float *state;   // [taps - 1][KERNELS_CONV_CHANNELS]
    bool plain;     // without silu
};
typedef void (*kernels_conv_fn)(const struct kernels_conv *c);

// The gated delta rule (Yang et al., 2024) for up to KERNELS_DELTA_COLUMNS columns of the state S of one
// head, token after token; per column j, i = 0..key_size-1:
//   p = chain over i of fma(S[i][j], k_i, p), from +0;  d = rn(beta * fma(-decay, p, v_j))
//   S[i][j] = fma(k_i, d, rn(S[i][j] * decay))
//   o = chain over i of fma(S[i][j], q_i, o), from +0;  y_j = rn(o * scale)
// Columns that are not there are computed with v = 0.
enum { KERNELS_DELTA_COLUMNS = 32 };
struct kernels_delta {
    float *state; // [key_size][KERNELS_DELTA_COLUMNS]
    size_t key_size, columns, tokens;
    const float *q, *k, *v; // of token t: stride floats further each
    size_t stride;
    const float *decay, *beta; // one number per token, gate_stride floats apart
    size_t gate_stride;
    float *y; // [columns] per token, y_stride floats apart
    size_t y_stride;
    float scale;
};
typedef void (*kernels_delta_fn)(const struct kernels_delta *d);

// The rows that a table multiplies lie in groups of `lanes`. A row of float weights, any row where lanes
// is 1, and the rows % lanes rows behind the last whole group lie as in the file. A whole group of
// quantised rows, lanes * row_bytes bytes, holds block after block of all its rows, and of a block one
// dword of every row after the other: d0 of row 0, d0 of row 1, .. d0 of the last row, d1 of row 0, ..
// (what is no whole dword and in which order they come: kernels_rows.h). So a core reads a matrix in
// one run, and a vector of rows needs no transposition.
enum { KERNELS_LANES_MAX = 16 };
struct kernels_table {
    enum kernels_tier tier;
    size_t lanes;
    // Rearranges in place: `rows` rows of w from the order of the file, beginning at a group. scratch:
    // lanes * row_bytes bytes.
    void (*interleave)(uint32_t dtype, uint8_t *w, size_t row_bytes, size_t rows, uint8_t *scratch);
    kernels_matmul_fn matmul[DTYPE_ID_MAX];         // NULL: type cannot be multiplied
    kernels_dequantise_fn dequantise[DTYPE_ID_MAX]; // NULL: type cannot be read
    kernels_quantise_fn quantise[4];                // by enum kernels_act; F32 copies and checks

    // y[i] = rn(rn(x[i] * r) * w[i]), r = rn(1 / rn(sqrt(rn(rn(sum16(x*x) / n) + eps))));
    // w NULL: no second product. y may be x. false: the sum is not finite, y is untouched.
    bool (*rms_norm)(float *y, const float *x, const float *w, size_t n, float eps);
    // y[i] = rn(x[i] * r), r = rn(1 / rn(sqrt(rn(sum16(x*x) + eps)))); else as rms_norm.
    bool (*l2_norm)(float *y, const float *x, size_t n, float eps);
    // sum16 of a*b
    float (*dot)(const float *a, const float *b, size_t n);
    // Rotate the first 2*pairs elements of each of `heads` heads in place; cs: cos, sin per pair.
    //   norm: pair i is (x[2i], x[2i+1]);  neox: (x[i], x[i + pairs])
    //   x0' = fma(x0, cos, -rn(x1 * sin)),  x1' = fma(x0, sin, rn(x1 * cos))
    void (*rope_norm)(float *x, size_t heads, size_t head_stride, size_t pairs, const float *cs);
    void (*rope_neox)(float *x, size_t heads, size_t head_stride, size_t pairs, const float *cs);
    kernels_attend_fn attend_block;
    // Add block (m2, l2, o2) to (m, l, o): M = max(m, m2), a = exp(m - M), b = exp(m2 - M),
    //   l = fma(l2, b, rn(l * a)), o[i] = fma(o2[i], b, rn(o[i] * a))
    // A sink s of a head is a last block (s, 1, zeros): it takes its share of the sum and adds nothing.
    void (*attend_merge)(float *m, float *l, float *o, float m2, float l2, const float *o2,
                         size_t n);
    // y[i] = rn(x[i] * c)  (y may be x)
    void (*scale)(float *y, const float *x, float c, size_t n);
    // y[i] = rn(y[i] + x[i])
    void (*add)(float *y, const float *x, size_t n);
    // y[i] = fma(c, x[i], y[i])
    void (*add_scaled)(float *y, const float *x, float c, size_t n);
    // y[i] = rn(g[i] * u[i]);  y may be g
    void (*mul)(float *y, const float *g, const float *u, size_t n);
    // y[i] = rn(sigmoid(g[i]) * u[i]), sigmoid(x) = rn(1 / rn(1 + exp(-x)));  y may be g
    void (*sigmoid_mul)(float *y, const float *g, const float *u, size_t n);
    // y[i] = rn(silu(g[i]) * u[i]), silu(x) = rn(x / rn(1 + exp(-x)));  y may be g
    void (*silu_mul)(float *y, const float *g, const float *u, size_t n);
    // y[i] = rn(gelu(g[i]) * u[i]), the tanh form: kmath.h
    void (*gelu_mul)(float *y, const float *g, const float *u, size_t n);
    // y[i] = swiglu_oai(g[i], u[i]), gate and up value clamped: kmath.h
    void (*swiglu_oai_mul)(float *y, const float *g, const float *u, size_t n);
    // y[i] = rn(c * tanh(rn(y[i] / c)))
    void (*softcap)(float *y, float c, size_t n);
    // float32 -> float16, nearest even
    void (*to_half)(uint16_t *y, const float *x, size_t n);
    // y[i] = exp(x[i]): used by routers and samplers
    void (*exp)(float *y, const float *x, size_t n);
    // The largest element, lowest index on ties; false if any element is NaN or all are -inf.
    bool (*argmax)(const float *x, size_t n, size_t *index);
    kernels_conv_fn conv;
    // The two gates of the delta rule, n heads: decay[i] = exp(rn(rate[i] * softplus(rn(a[i] + bias[i])))),
    // beta[i] = sigmoid(b[i])
    void (*delta_gates)(float *decay, float *beta, const float *a, const float *b, const float *rate,
                        const float *bias, size_t n);
    kernels_delta_fn delta;
};

// What the processor and system allow (platform/cpu.h finds it out; kernels do not look).
struct kernels_cpu {
    bool avx2, avxvnni, avx512, avx512vnni; // each with everything its files are compiled for
};
// The highest tier that `cpu` allows and this build contains.
enum kernels_tier kernels_best(const struct kernels_cpu *cpu);
// false: this processor or build has no such tier. Starts from ref and climbs: the table is full. `cpu`
// must be the truth: even what fills the table is compiled for its tier.
bool kernels_init(struct kernels_table *table, enum kernels_tier tier,
                  const struct kernels_cpu *cpu);

#endif

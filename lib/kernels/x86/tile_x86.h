// SPDX-License-Identifier: Apache-2.0
//
// Owns:      matrix products of quantised weights (rules 2 and 3 of kernels.h), as a template.
// Called by: tile32_*.c and tile256_*.c, one of each per instruction set, which include a vec_*.h
//            first and define TILE_TYPES (one of the lists below) and TILE_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  float weights (float_x86.h).
//
// DESIGN. One row per 32-bit lane. A dword of codes (four weights of each row) meets a broadcast of
// four activations, and products add up in the lanes: no sums across lanes, no scalar work per row.
// After a block each lane holds the exact integer of its row, and one fma per column finishes it.
//
//     stream   one or two columns (decode): VEC rows at a time, codes go from the registers they
//              are unpacked in straight into the products
//     tile     more columns: 2 x VEC rows of 256 weights are unpacked into L1 once, and meet up to
//              TILE_COLUMNS columns at a time: every code that is loaded is used for all of them,
//              every broadcast twice
//
// The last rows of a matrix are computed together with some before them, whose results come out the
// same again; fewer rows than lanes one by one, the same row in all lanes.
#ifndef KERNELS_X86_TILE_X86_H
#define KERNELS_X86_TILE_X86_H

#include "base/check.h"
#include "kernels/x86/unpack_x86.h"

enum {
    TILE_COLUMNS = 4, // of one call of a micro kernel: their sums fill the registers
    TILE_PANEL = 64,  // columns whose running sums are kept (L1)
    TILE_K = 256,     // weights unpacked at a time
    TILE_AHEAD = 8192 // bytes from what is computed to what is prefetched, at least
};

// What a type needs to be multiplied. All members are constants after inlining.
struct tile_form {
    size_t weights, bytes; // of a block
    int steps, run;        // sink_form
    int bias;              // of a block of 32: taken out with the sum of its activations
    int bias_shift;        // of 256: log2 of the bias, taken out with minimum[]
    int pairs;             // of 256: minima used, 4 (of groups of 32) or 8 (of 16); 0: none
    float sign_m;          // y = acc + sign_m * acc_m; 0: y = acc
};

struct tile_sums {
    vf acc, acc_m;
};

TILE_INLINE vf tile_result(const struct tile_form form, struct tile_sums sums) {
    if (form.sign_m > 0.0f) return vf_add(sums.acc, sums.acc_m);
    if (form.sign_m < 0.0f) return vf_sub(sums.acc, sums.acc_m);
    return sums.acc;
}

TILE_INLINE const uint8_t *tile_column(const struct kernels_matmul *m, size_t c) {
    return m->act + (m->cols ? m->cols[c] : c) * m->act_stride;
}

// ---------------------------------------------------------------------------------------------
// The end of a block
// ---------------------------------------------------------------------------------------------

// p: sums of products, in the lanes, of block b of 32.
TILE_INLINE void tile_end_32(const struct tile_form form, struct tile_sums *sums, vi p, vf d, vf m,
                             const uint8_t *column, size_t k, size_t b) {
    float da;
    int32_t s;
    memcpy(&da, column + kernels_q32_scale_offset(k) + 4 * b, sizeof da);
    memcpy(&s, column + kernels_q32_sum_offset(k) + 4 * b, sizeof s);
    vf d_act = vf_set(da);
    if (form.bias) p = vi_sub32(p, vi_set32(form.bias * s));
    sums->acc = vf_fma(vf_mul(d, d_act), vi_to_float(p), sums->acc);
    if (form.sign_m != 0.0f)
        sums->acc_m = vf_fma(vf_mul(m, d_act), vf_set((float)s), sums->acc_m);
}

// sum of minimum[g] * (t S) over the groups, in each lane.
TILE_INLINE vi tile_minima(const vi *minimum, const struct kernels_q256 *a, int pairs) {
    int16_t block[8]; // t S of blocks of 32: two groups of 16
    const int16_t *ts = a->ts;
    vi sum = vi_zero();
    if (pairs == 4) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)a->ts);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(a->ts + 8));
        _mm_storeu_si128((__m128i *)(void *)block, _mm_hadd_epi16(low, high));
        ts = block;
    }
    TILE_UNROLL
    for (int j = 0; j < pairs; j++)
        sum = vi_add32(sum, vi_madd16(minimum[j], tile_broadcast(ts + 2 * j)));
    return sum;
}

// p: sums of products times scales, in the lanes, of a block of 256.
TILE_INLINE void tile_end_256(const struct tile_form form, struct tile_sums *sums, vi p, vf d, vf m,
                              const vi *minimum, const struct kernels_q256 *a) {
    vf d_act = vf_set(a->d);
    if (form.pairs) {
        vi minima = tile_minima(minimum, a, form.pairs);
        if (form.sign_m != 0.0f)
            sums->acc_m = vf_fma(vf_mul(m, d_act), vi_to_float(minima), sums->acc_m);
        else
            p = vi_sub32(p, vi_shl32(minima, form.bias_shift));
    }
    sums->acc = vf_fma(vf_mul(d, d_act), vi_to_float(p), sums->acc);
}

// ---------------------------------------------------------------------------------------------
// Stream: VEC rows, one or two columns
// ---------------------------------------------------------------------------------------------

typedef void (*unpack_head_fn)(struct unpack_head *h, const struct vec_rows *rows);
typedef void (*unpack_body_fn)(struct sink *s, const struct sink_form form,
                               const struct vec_rows *rows);

// Rows from `first` (stride 0: that row in all lanes), columns from c.
TILE_INLINE void tile_stream(const struct kernels_matmul *m, const struct tile_form form,
                             unpack_head_fn head, unpack_body_fn body, size_t first, size_t stride,
                             size_t c, const int columns, struct tile_sums *sums) {
    const bool scaled = form.weights == TILE_K;
    const size_t blocks = m->k / form.weights, step = VEC * form.bytes;
    const struct sink_form sink_form = {columns, form.steps, form.run, scaled,
                                        step * 4 / form.weights};
    const size_t ahead = VEC * m->w_row_bytes > TILE_AHEAD ? VEC * m->w_row_bytes : TILE_AHEAD;
    struct vec_rows rows = {m->w + first * m->w_row_bytes, stride};
    const uint8_t *column[SINK_COLUMNS];
    struct unpack_head h;
    struct sink s = {.scale = h.scale, .ahead = rows.first + ahead};
    for (int i = 0; i < columns; i++) {
        column[i] = tile_column(m, c + (size_t)i);
        sums[i] = (struct tile_sums){vf_zero(), vf_zero()};
    }
    for (size_t b = 0; b < blocks; b++) {
        TILE_UNROLL
        for (int i = 0; i < columns; i++) {
            const struct kernels_q256 *a = (const struct kernels_q256 *)(const void *)column[i] + b;
            s.q[i] = scaled ? a->q : (const int8_t *)column[i] + 32 * b;
            s.multiplier[i] = scaled ? a->t : NULL;
            s.sum[i] = vi_zero();
        }
        head(&h, &rows);
        body(&s, sink_form, &rows);
        TILE_UNROLL
        for (int i = 0; i < columns; i++) {
            const struct kernels_q256 *a = (const struct kernels_q256 *)(const void *)column[i] + b;
            if (scaled)
                tile_end_256(form, &sums[i], s.sum[i], h.d, h.m, h.minimum, a);
            else
                tile_end_32(form, &sums[i], s.sum[i], h.d, h.m, column[i], m->k, b);
        }
        rows.first += form.bytes;
        s.ahead += step;
    }
}

// ---------------------------------------------------------------------------------------------
// Tile: 2 VEC rows, many columns
// ---------------------------------------------------------------------------------------------

// 256 weights of 2 VEC rows: one block of 256, or up to 8 blocks of 32. The halves side by side.
struct tile {
    vi w[TILE_K / 4][2];
    vi scale[16][2];
    vi minimum[2][8];
    vf d[8][2], m[8][2]; // per block
};

// Where in the columns the 256 activations are.
struct tile_place {
    size_t k, blocks; // blocks of 32
};

TILE_INLINE void tile_unpack(struct tile *t, const struct tile_form form, unpack_head_fn head,
                             unpack_body_fn body, struct vec_rows rows, size_t blocks, int half) {
    const struct sink_form store = {0, form.steps, form.run, false, 0};
    struct unpack_head h;
    struct sink s = {.w = &t->w[0][half]};
    if (form.weights == TILE_K) {
        head(&h, &rows);
        for (int g = 0; g < TILE_K / 4 / form.steps; g++) t->scale[g][half] = h.scale[g];
        for (int g = 0; g < form.pairs; g++) t->minimum[half][g] = h.minimum[g];
        t->d[0][half] = h.d;
        if (form.sign_m != 0.0f) t->m[0][half] = h.m;
        body(&s, store, &rows);
        return;
    }
    for (size_t b = 0; b < blocks; b++) {
        head(&h, &rows);
        t->d[b][half] = h.d;
        if (form.sign_m != 0.0f) t->m[b][half] = h.m;
        body(&s, store, &rows);
        rows.first += form.bytes;
        s.w += 2 * 8;
    }
}

// sum[c][half] += scale * (codes w of one group times activations q[c]), in each lane.
TILE_INLINE void tile_group(vi sum[][2], const vi (*w)[2], const int8_t *const *q, const vi *scale,
                            const int *multiplier, const int columns, const int steps,
                            const int run) {
    TILE_UNROLL
    for (int first = 0; first < steps; first += run) {
        vi part[TILE_COLUMNS][2];
        TILE_UNROLL
        for (int i = first; i < first + run; i++) {
            const vi a = w[i][0], b = w[i][1], size_a = vi_abs8(a), size_b = vi_abs8(b);
            TILE_UNROLL
            for (int c = 0; c < columns; c++) {
                vi x = tile_broadcast(q[c] + 4 * i);
                part[c][0] = tile_multiply(part[c][0], i == first, a, size_a, x, run);
                part[c][1] = tile_multiply(part[c][1], i == first, b, size_b, x, run);
                VI_KEEP(part[c][0]);
                VI_KEEP(part[c][1]);
            }
        }
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            TILE_UNROLL
            for (int half = 0; half < 2; half++) {
                vi factor = scale ? tile_factor(scale[half], multiplier[c]) : vi_zero();
                sum[c][half] = tile_add_part(sum[c][half], part[c][half], scale != NULL, factor);
            }
        }
    }
}

// Blocks of 32: one fma each.
TILE_INLINE void tile_micro_32(const struct tile *t, const struct tile_form form,
                               const struct tile_place *place, size_t k,
                               const uint8_t *const *column, struct tile_sums (*sums)[2],
                               const int columns) {
    for (size_t b = 0; b < place->blocks; b++) {
        const int8_t *q[TILE_COLUMNS];
        vi sum[TILE_COLUMNS][2];
        size_t at = place->k / 32 + b;
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            q[c] = (const int8_t *)column[c] + 32 * at;
            sum[c][0] = sum[c][1] = vi_zero();
        }
        tile_group(sum, t->w + 8 * b, q, NULL, NULL, columns, 8, TILE_VNNI ? 8 : form.run);
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            tile_end_32(form, &sums[c][0], sum[c][0], t->d[b][0], t->m[b][0], column[c], k, at);
            tile_end_32(form, &sums[c][1], sum[c][1], t->d[b][1], t->m[b][1], column[c], k, at);
        }
    }
}

// One block of 256 in groups of 4 * steps.
TILE_INLINE void tile_micro_256(const struct tile *t, const struct tile_form form,
                                const struct tile_place *place, const uint8_t *const *column,
                                struct tile_sums (*sums)[2], const int columns) {
    const struct kernels_q256 *a[TILE_COLUMNS];
    vi sum[TILE_COLUMNS][2];
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        a[c] = (const struct kernels_q256 *)(const void *)column[c] + place->k / TILE_K;
        sum[c][0] = sum[c][1] = vi_zero();
    }
    for (int g = 0; g < TILE_K / 4 / form.steps; g++) {
        const int8_t *q[TILE_COLUMNS];
        int multiplier[TILE_COLUMNS];
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            q[c] = a[c]->q + 4 * form.steps * g;
            multiplier[c] = a[c]->t[g * form.steps / 8];
        }
        tile_group(sum, t->w + form.steps * g, q, t->scale[g], multiplier, columns, form.steps,
                   TILE_VNNI ? form.steps : form.run);
    }
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        tile_end_256(form, &sums[c][0], sum[c][0], t->d[0][0], t->m[0][0], t->minimum[0], a[c]);
        tile_end_256(form, &sums[c][1], sum[c][1], t->d[0][1], t->m[0][1], t->minimum[1], a[c]);
    }
}

TILE_INLINE void tile_micro(const struct tile *t, const struct tile_form form,
                            const struct tile_place *place, size_t k, const uint8_t *const *column,
                            struct tile_sums (*sums)[2], const int columns) {
    if (form.weights == TILE_K)
        tile_micro_256(t, form, place, column, sums, columns);
    else
        tile_micro_32(t, form, place, k, column, sums, columns);
}

// Lines of the next tile. Addresses past the end are harmless.
TILE_INLINE void tile_prefetch(const uint8_t *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 2);
}

// Rows [first, first + 2 VEC) times columns [column_first, + n).
TILE_INLINE void tile_panel(const struct kernels_matmul *m, const struct tile_form form,
                            unpack_head_fn head, unpack_body_fn body, size_t first,
                            size_t column_first, size_t n) {
    struct tile t;
    struct tile_sums sums[TILE_PANEL][2];
    const uint8_t *column[TILE_PANEL];
    const uint8_t *ahead = m->w + (first + 2 * VEC) * m->w_row_bytes;
    struct vec_rows low = {m->w + first * m->w_row_bytes, m->w_row_bytes};
    struct vec_rows high = {low.first + VEC * m->w_row_bytes, m->w_row_bytes};
    struct tile_place place = {0};
    for (size_t c = 0; c < n; c++) {
        column[c] = tile_column(m, column_first + c);
        sums[c][0] = sums[c][1] = (struct tile_sums){vf_zero(), vf_zero()};
    }
    for (; place.k < m->k; place.k += TILE_K) {
        size_t weights = m->k - place.k < TILE_K ? m->k - place.k : TILE_K;
        size_t bytes = weights / form.weights * form.bytes;
        place.blocks = weights / 32;
        tile_unpack(&t, form, head, body, low, place.blocks, 0);
        tile_unpack(&t, form, head, body, high, place.blocks, 1);
        low.first += bytes;
        high.first += bytes;
        tile_prefetch(ahead, 2 * VEC * bytes);
        ahead += 2 * VEC * bytes;
        // Columns in equal shares: 5 are 3 + 2, not 4 + 1.
        for (size_t c = 0, calls = (n + TILE_COLUMNS - 1) / TILE_COLUMNS; c < n; calls--) {
            size_t share = (n - c + calls - 1) / calls;
            switch (share) {
            case 1: tile_micro(&t, form, &place, m->k, column + c, sums + c, 1); break;
            case 2: tile_micro(&t, form, &place, m->k, column + c, sums + c, 2); break;
            case 3: tile_micro(&t, form, &place, m->k, column + c, sums + c, 3); break;
            default: tile_micro(&t, form, &place, m->k, column + c, sums + c, 4); break;
            }
            c += share;
        }
    }
    for (size_t c = 0; c < n; c++) {
        float *y = m->y + (column_first + c) * m->y_stride + first;
        vf_store(y, tile_result(form, sums[c][0]));
        vf_store(y + VEC, tile_result(form, sums[c][1]));
    }
}

// ---------------------------------------------------------------------------------------------
// Driving
// ---------------------------------------------------------------------------------------------

// Rows [first, first + rows) times column c; with fewer rows than lanes, all lanes are row `first`.
TILE_INLINE void tile_stream_store(const struct kernels_matmul *m, const struct tile_form form,
                                   unpack_head_fn head, unpack_body_fn body, size_t first,
                                   size_t rows, size_t c, const int columns) {
    struct tile_sums sums[SINK_COLUMNS];
    tile_stream(m, form, head, body, first, rows < VEC ? 0 : m->w_row_bytes, c, columns, sums);
    for (int i = 0; i < columns; i++)
        vf_store_part(m->y + (c + (size_t)i) * m->y_stride + first, tile_result(form, sums[i]),
                      rows);
}

TILE_INLINE void tile_matmul(const struct kernels_matmul *m, const struct tile_form form,
                             unpack_head_fn head, unpack_body_fn body) {
    const bool tiled = m->n_cols > SINK_COLUMNS && m->rows >= 2 * VEC;
    const size_t step = tiled ? 2 * VEC : m->rows >= VEC ? VEC : 1;
    KERNEL_ASSERT(m->n_cols == 0 || m->act_stride % 64 == 0);
    for (size_t r = 0; r < m->rows; r += step) {
        size_t first = m->rows - r < step ? m->rows - step : r, c = 0;
        if (tiled) {
            for (; c < m->n_cols; c += TILE_PANEL)
                tile_panel(m, form, head, body, first, c,
                           m->n_cols - c < TILE_PANEL ? m->n_cols - c : TILE_PANEL);
            continue;
        }
        for (; c + 2 <= m->n_cols; c += 2)
            tile_stream_store(m, form, head, body, first, step, c, 2);
        if (c < m->n_cols) tile_stream_store(m, form, head, body, first, step, c, 1);
    }
}

// X(type, weights, bytes, steps, run, bias, bias_shift, pairs, sign_m)
#define TILE_SIGNED_BIAS (TILE_VNNI ? 128 : 0)
#define TILE_SIGNED_PAIRS (TILE_VNNI ? 4 : 0)
#define TILE_LIST_32(X)                                                                            \
    X(Q8_0, 32, 34, 8, 1, TILE_SIGNED_BIAS, 0, 0, 0)                                               \
    X(Q4_0, 32, 18, 8, 8, 8, 0, 0, 0)                                                              \
    X(Q4_1, 32, 20, 8, 8, 0, 0, 0, 1)                                                              \
    X(Q5_0, 32, 22, 8, 4, 16, 0, 0, 0)                                                             \
    X(Q5_1, 32, 24, 8, 4, 0, 0, 0, 1)                                                              \
    X(IQ4_NL, 32, 18, 8, 1, TILE_SIGNED_BIAS, 0, 0, 0)                                             \
    X(MXFP4, 32, 17, 8, 4, 12, 0, 0, 0)
#define TILE_LIST_256(X)                                                                           \
    X(Q2_K, 256, 84, 4, 4, 0, 0, 8, -1)                                                            \
    X(Q3_K, 256, 110, 4, 4, 0, 2, 8, 0)                                                            \
    X(Q4_K, 256, 144, 8, 8, 0, 0, 4, -1)                                                           \
    X(Q5_K, 256, 176, 8, 4, 0, 0, 4, -1)                                                           \
    X(Q6_K, 256, 210, 4, 2, 0, 5, 8, 0)                                                            \
    X(IQ4_XS, 256, 136, 8, 1, 0, 7, TILE_SIGNED_PAIRS, 0)

#define TILE_MATMUL(type, ...)                                                                     \
    static void tile_matmul_##type(const struct kernels_matmul *m) {                               \
        tile_matmul(m, (struct tile_form){__VA_ARGS__}, unpack_head_##type, unpack_body_##type);   \
    }
TILE_TYPES(TILE_MATMUL)

void TILE_INIT(struct kernels_table *table) {
#define TILE_ENTRY(type, ...) table->matmul[DTYPE_##type] = tile_matmul_##type;
    TILE_TYPES(TILE_ENTRY)
#undef TILE_ENTRY
}

#endif

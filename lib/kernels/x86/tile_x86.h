// SPDX-License-Identifier: Apache-2.0
//
// Owns:      matrix products of quantised weights (rules 2 and 3 of kernels.h), as a template.
// Called by: tile32_*.c and tile256_*.c, one of each per instruction set, which include a vec_*.h
//            first and define TILE_KINDS and TILE_TYPES (of the lists below) and TILE_INIT.
// Threads:   pure.
// Errors:    none.
// Not here:  float weights (float_x86.h).
//
// DESIGN. One row per 32-bit lane. A dword of codes (four weights of each row) meets a broadcast of
// four activations, and products add up in the lanes: no sums across lanes, no scalar work per row.
// After a block each lane holds the exact integer of its row, and one fma per column finishes it.
//
//     stream   few columns (decode, rarely used experts): VEC rows and up to SINK_COLUMNS columns at a
//              time, codes go from the registers they are unpacked in straight into the products
//     tile     more columns: 2 x VEC rows of 256 weights are unpacked into L1 once, and meet up to
//              TILE_COLUMNS columns at a time: every code that is loaded is used for all of them,
//              every broadcast twice
//
// The rows behind the last whole group are few; the reference tier computes them.
#ifndef KERNELS_X86_TILE_X86_H
#define KERNELS_X86_TILE_X86_H

#include "base/check.h"
#include "kernels/ref/kernels_ref.h"
#include "kernels/x86/unpack_x86.h"

enum {
    TILE_FEW = 16,    // columns that are streamed: a tile has to earn its stores
    TILE_COLUMNS = 4, // of one call of a micro kernel: their sums fill the registers
    TILE_PANEL = 64,  // columns whose running sums are kept (L1)
    TILE_K = 256,     // weights unpacked at a time
    TILE_AHEAD = 2048 // bytes from what is streamed to what is prefetched
};

// What besides the products of codes goes into a block: nothing; the sums of activations times the
// bias of the codes (of 256: times scales too); or those sums times minima (y = acc + acc_m of blocks
// of 32, acc - acc_m of 256).
enum tile_end { TILE_PLAIN, TILE_BIAS, TILE_MINIMUM };

// What a type needs to be multiplied.
struct tile_form {
    size_t weights, bytes; // of a block
    int steps, run;        // sink_form
    enum tile_end end;
    int bias; // of 256: its log2
};

struct tile_sums {
    vf acc, acc_m;
};

TILE_INLINE vf tile_result(const struct tile_form form, struct tile_sums sums) {
    if (form.end != TILE_MINIMUM) return sums.acc;
    return form.weights == 32 ? vf_add(sums.acc, sums.acc_m) : vf_sub(sums.acc, sums.acc_m);
}

TILE_INLINE const uint8_t *tile_column(const struct kernels_matmul *m, size_t c) {
    return m->act + (m->cols ? m->cols[c] : c) * m->act_stride;
}

// ---------------------------------------------------------------------------------------------
// The end of a block
// ---------------------------------------------------------------------------------------------

// p: sums of products, in the lanes of `vectors` vectors of rows, of block b of 32.
TILE_INLINE void tile_end_32(const struct tile_form form, struct tile_sums *sums, const vi *p,
                             const vf *d, const vf *m, const int vectors, const uint8_t *column,
                             size_t k, size_t b) {
    float da;
    int32_t s;
    memcpy(&da, column + kernels_q32_scale_offset(k) + 4 * b, sizeof da);
    memcpy(&s, column + kernels_q32_sum_offset(k) + 4 * b, sizeof s);
    const vf d_act = vf_set(da), s_act = vf_set((float)s);
    const vi bias = vi_set32(form.bias * s);
    TILE_UNROLL
    for (int v = 0; v < vectors; v++) {
        vf sum = vi_to_float(form.end == TILE_BIAS ? vi_sub32(p[v], bias) : p[v]);
        sums[v].acc = vf_fma(vf_mul(d[v], d_act), sum, sums[v].acc);
        if (form.end == TILE_MINIMUM)
            sums[v].acc_m = vf_fma(vf_mul(m[v], d_act), s_act, sums[v].acc_m);
    }
}

// How many vectors of minima there are: pairs of groups of 32, or of 16.
TILE_INLINE int tile_pairs(const struct tile_form form) {
    return form.steps == 8 ? 4 : 8;
}

// sum of minimum[g] * (t S) over the groups, in the lanes of `vectors` vectors of rows.
TILE_INLINE void tile_minima(const struct tile_form form, const vi *const *minimum,
                             const int vectors, const struct kernels_q256 *a, vi *out) {
    const int pairs = tile_pairs(form);
    int16_t block[8]; // t S of blocks of 32: two groups of 16
    const int16_t *ts = a->ts;
    if (pairs == 4) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)a->ts);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(a->ts + 8));
        _mm_storeu_si128((__m128i *)(void *)block, _mm_hadd_epi16(low, high));
        ts = block;
    }
    TILE_UNROLL
    for (int i = 0; i < pairs; i++) {
        vi x = tile_broadcast(ts + 2 * i);
        TILE_UNROLL
        for (int v = 0; v < vectors; v++) {
            vi y = vi_madd16(minimum[v][i], x);
            out[v] = i == 0 ? y : vi_add32(out[v], y);
        }
    }
}

// p: sums of products times scales, in the lanes of `vectors` vectors of rows, of a block of 256.
TILE_INLINE void tile_end_256(const struct tile_form form, struct tile_sums *sums, vi *p,
                              const vf *d, const vf *m, const vi *const *minimum,
                              const int vectors, const struct kernels_q256 *a) {
    vf d_act = vf_set(a->d);
    if (form.end != TILE_PLAIN) {
        vi minima[2];
        tile_minima(form, minimum, vectors, a, minima);
        TILE_UNROLL
        for (int v = 0; v < vectors; v++) {
            if (form.end == TILE_MINIMUM)
                sums[v].acc_m = vf_fma(vf_mul(m[v], d_act), vi_to_float(minima[v]), sums[v].acc_m);
            else
                p[v] = vi_sub32(p[v], vi_shl32(minima[v], form.bias));
        }
    }
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        sums[v].acc = vf_fma(vf_mul(d[v], d_act), vi_to_float(p[v]), sums[v].acc);
}

// ---------------------------------------------------------------------------------------------
// Stream: VEC rows, up to SINK_COLUMNS columns
// ---------------------------------------------------------------------------------------------

// Lines of memory that the block of VEC rows takes.
TILE_INLINE int tile_lines(const struct tile_form form) {
    return (int)(VEC * form.bytes + 63) / 64;
}

typedef void (*unpack_head_fn)(struct unpack_head *h, const uint8_t *block);
typedef void (*unpack_body_fn)(struct sink *s, const struct sink_form form, const uint8_t *block);

// The group of rows that begins at `first`, columns from c.
TILE_INLINE void tile_stream(const struct kernels_matmul *m, const struct tile_form form,
                             unpack_head_fn head, unpack_body_fn body, size_t first, size_t c,
                             const int columns, struct tile_sums *sums) {
    const bool scaled = form.weights == TILE_K;
    const struct sink_form sink_form = {columns, form.steps, form.run, scaled,
                                        (int)form.weights / 4, tile_lines(form)};
    const uint8_t *block = m->w + first * m->w_row_bytes;
    const uint8_t *column[SINK_COLUMNS];
    struct unpack_head h;
    struct sink s = {.scale = h.scale, .ahead = block + TILE_AHEAD};
    for (int i = 0; i < columns; i++) {
        column[i] = tile_column(m, c + (size_t)i);
        sums[i] = (struct tile_sums){vf_zero(), vf_zero()};
    }
    for (size_t b = 0; b < m->k / form.weights; b++) {
        TILE_UNROLL
        for (int i = 0; i < columns; i++) {
            const struct kernels_q256 *a = (const struct kernels_q256 *)(const void *)column[i] + b;
            s.q[i] = scaled ? a->q : (const int8_t *)column[i] + 32 * b;
            s.multiplier[i] = scaled ? a->t : NULL;
            s.sum[i] = vi_zero();
        }
        head(&h, block);
        body(&s, sink_form, block);
        TILE_UNROLL
        for (int i = 0; i < columns; i++) {
            const struct kernels_q256 *a = (const struct kernels_q256 *)(const void *)column[i] + b;
            const vi *minimum = h.minimum;
            if (scaled)
                tile_end_256(form, &sums[i], &s.sum[i], &h.d, &h.m, &minimum, 1, a);
            else
                tile_end_32(form, &sums[i], &s.sum[i], &h.d, &h.m, 1, column[i], m->k, b);
        }
        block += VEC * form.bytes;
        s.ahead += VEC * form.bytes;
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
    size_t columns_k, k, blocks; // blocks of 32
};

TILE_INLINE void tile_unpack(struct tile *t, const struct tile_form form, unpack_head_fn head,
                             unpack_body_fn body, const uint8_t *block, size_t blocks, int half,
                             size_t ahead) {
    const struct sink_form store = {0, form.steps, form.run, false, (int)form.weights / 4,
                                    tile_lines(form)};
    struct unpack_head h;
    struct sink s = {.w = &t->w[0][half], .ahead = block + ahead};
    if (form.weights == TILE_K) {
        head(&h, block);
        for (int g = 0; g < TILE_K / 4 / form.steps; g++) t->scale[g][half] = h.scale[g];
        if (form.end != TILE_PLAIN)
            for (int g = 0; g < tile_pairs(form); g++) t->minimum[half][g] = h.minimum[g];
        t->d[0][half] = h.d;
        if (form.end == TILE_MINIMUM) t->m[0][half] = h.m;
        body(&s, store, block);
        return;
    }
    for (size_t b = 0; b < blocks; b++) {
        head(&h, block);
        t->d[b][half] = h.d;
        if (form.end == TILE_MINIMUM) t->m[b][half] = h.m;
        body(&s, store, block);
        block += VEC * form.bytes;
        s.ahead += VEC * form.bytes;
        s.w += 2 * 8;
    }
}

// sum[c][half] += scale * (codes w of one group times activations q[c]), in each lane.
TILE_INLINE void tile_group(vi sum[][2], const vi (*w)[2], const int8_t *const *q, const vi *scale,
                            const int *multiplier, const int columns,
                            const struct tile_form form) {
    const int run = tile_run(form.steps, form.run);
    TILE_UNROLL
    for (int first = 0; first < form.steps; first += run) {
        vi part[TILE_COLUMNS][2];
        TILE_UNROLL
        for (int i = first; i < first + run; i++) {
            const vi a = w[i][0], b = w[i][1], size_a = vi_abs8(a), size_b = vi_abs8(b);
            TILE_UNROLL
            for (int c = 0; c < columns; c++) {
                vi x = tile_broadcast(q[c] + 4 * i);
                part[c][0] = tile_multiply(part[c][0], i == first, a, size_a, x, form.run);
                part[c][1] = tile_multiply(part[c][1], i == first, b, size_b, x, form.run);
                VI_KEEP(part[c][0]);
                VI_KEEP(part[c][1]);
            }
        }
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            TILE_UNROLL
            for (int half = 0; half < 2; half++) {
                vi factor = scale ? tile_factor(scale[half], multiplier[c], form.run) : vi_zero();
                sum[c][half] =
                    tile_add_part(sum[c][half], part[c][half], scale != NULL, factor, form.run);
                VI_KEEP(sum[c][half]);
            }
        }
    }
}

// Blocks of 32: one fma each.
TILE_INLINE void tile_micro_32(const struct tile *t, const struct tile_form form,
                               const struct tile_place *place, const uint8_t *const *column,
                               struct tile_sums (*sums)[2], const int columns) {
    for (size_t b = 0; b < place->blocks; b++) {
        const int8_t *q[TILE_COLUMNS];
        vi sum[TILE_COLUMNS][2];
        size_t at = place->k / 32 + b;
        TILE_UNROLL
        for (int c = 0; c < columns; c++) {
            q[c] = (const int8_t *)column[c] + 32 * at;
            sum[c][0] = sum[c][1] = vi_zero();
        }
        tile_group(sum, t->w + 8 * b, q, NULL, NULL, columns, form);
        TILE_UNROLL
        for (int c = 0; c < columns; c++)
            tile_end_32(form, sums[c], sum[c], t->d[b], t->m[b], 2, column[c], place->columns_k, at);
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
        tile_group(sum, t->w + form.steps * g, q, t->scale[g], multiplier, columns, form);
    }
    TILE_UNROLL
    for (int c = 0; c < columns; c++) {
        const vi *minimum[2] = {t->minimum[0], t->minimum[1]};
        tile_end_256(form, sums[c], sum[c], t->d[0], t->m[0], minimum, 2, a[c]);
    }
}

TILE_INLINE void tile_micro(const struct tile *t, const struct tile_form form,
                            const struct tile_place *place, const uint8_t *const *column,
                            struct tile_sums (*sums)[2], const int columns) {
    if (form.weights == TILE_K)
        tile_micro_256(t, form, place, column, sums, columns);
    else
        tile_micro_32(t, form, place, column, sums, columns);
}

// ---------------------------------------------------------------------------------------------
// One function per type, or per kind of type, and number of columns: compilers take minutes for all
// in one
// ---------------------------------------------------------------------------------------------

// The group of rows at `first` times columns from c.
TILE_INLINE void tile_stream_store(const struct kernels_matmul *m, const struct tile_form form,
                                   unpack_head_fn head, unpack_body_fn body, size_t first,
                                   size_t c, const int columns) {
    struct tile_sums sums[SINK_COLUMNS];
    tile_stream(m, form, head, body, first, c, columns, sums);
    for (int i = 0; i < columns; i++)
        vf_store(m->y + (c + (size_t)i) * m->y_stride + first, tile_result(form, sums[i]));
}

typedef void (*tile_stream_fn)(const struct kernels_matmul *m, size_t first, size_t c);
typedef void (*tile_unpack_fn)(struct tile *t, const uint8_t *block, size_t blocks, int half,
                               size_t ahead);
typedef void (*tile_micro_fn)(const struct tile *t, const struct tile_form *form,
                              const struct tile_place *place, const uint8_t *const *column,
                              struct tile_sums (*sums)[2]);
struct tile_type {
    uint32_t dtype;
    struct tile_form form;
    const tile_stream_fn *stream; // by number of columns, 1 to SINK_COLUMNS
    const tile_micro_fn *micro;   // likewise, 2 to TILE_COLUMNS
    tile_unpack_fn unpack;
};

// Micro kernels of a kind serve all types with the same constants.
#define TILE_MICRO(name, columns, ...)                                                             \
    static void tile_micro_##name##_##columns(                                                     \
        const struct tile *t, const struct tile_form *form, const struct tile_place *place,        \
        const uint8_t *const *column, struct tile_sums (*sums)[2]) {                               \
        tile_micro(t, (struct tile_form){__VA_ARGS__, form->bias}, place, column, sums, columns);  \
    }
#define TILE_KIND(name, ...)                                                                       \
    TILE_MICRO(name, 2, __VA_ARGS__)                                                               \
    TILE_MICRO(name, 3, __VA_ARGS__)                                                               \
    TILE_MICRO(name, 4, __VA_ARGS__)                                                               \
    static const tile_micro_fn tile_micro_##name[TILE_COLUMNS + 1] = {                             \
        NULL, NULL, tile_micro_##name##_2, tile_micro_##name##_3, tile_micro_##name##_4};

#define TILE_STREAM(type, columns, ...)                                                            \
    static void tile_stream_##type##_##columns(const struct kernels_matmul *m, size_t first,       \
                                               size_t c) {                                         \
        tile_stream_store(m, (struct tile_form){__VA_ARGS__}, unpack_head_##type,                  \
                          unpack_body_##type, first, c, columns);                                  \
    }
#define TILE_TYPE(type, kind, ...)                                                                 \
    TILE_STREAM(type, 1, __VA_ARGS__)                                                              \
    TILE_STREAM(type, 2, __VA_ARGS__)                                                              \
    TILE_STREAM(type, 3, __VA_ARGS__)                                                              \
    TILE_STREAM(type, 4, __VA_ARGS__)                                                              \
    static const tile_stream_fn tile_stream_##type[SINK_COLUMNS + 1] = {                           \
        NULL, tile_stream_##type##_1, tile_stream_##type##_2, tile_stream_##type##_3,              \
        tile_stream_##type##_4};                                                                   \
    static void tile_unpack_##type(struct tile *t, const uint8_t *block, size_t blocks,            \
                                   int half, size_t ahead) {                                       \
        tile_unpack(t, (struct tile_form){__VA_ARGS__}, unpack_head_##type, unpack_body_##type,    \
                    block, blocks, half, ahead);                                                   \
    }                                                                                              \
    static const struct tile_type tile_type_##type = {                                             \
        DTYPE_##type, {__VA_ARGS__}, tile_stream_##type, kind, tile_unpack_##type};                \
    static void tile_matmul_##type(const struct kernels_matmul *m) {                               \
        tile_matmul(m, &tile_type_##type);                                                         \
    }

// ---------------------------------------------------------------------------------------------
// Driving
// ---------------------------------------------------------------------------------------------

// Columns of one call when `n` are left and at most `most` fit: equal shares, 5 are 3 + 2. Several
// calls never leave one column alone.
static size_t tile_share(size_t n, size_t most) {
    size_t calls = (n + most - 1) / most;
    return (n + calls - 1) / calls;
}

// Two groups of rows from `first` times columns [column_first, + n), 2 <= n <= TILE_PANEL.
static void tile_panel(const struct kernels_matmul *m, const struct tile_type *type, size_t first,
                       size_t column_first, size_t n) {
    const struct tile_form *form = &type->form;
    struct tile t;
    struct tile_sums sums[TILE_PANEL][2];
    const uint8_t *column[TILE_PANEL];
    const uint8_t *block = m->w + first * m->w_row_bytes;
    struct tile_place place = {.columns_k = m->k};
    for (size_t c = 0; c < n; c++) {
        column[c] = tile_column(m, column_first + c);
        sums[c][0] = sums[c][1] = (struct tile_sums){vf_zero(), vf_zero()};
    }
    for (; place.k < m->k; place.k += TILE_K) {
        size_t weights = m->k - place.k < TILE_K ? m->k - place.k : TILE_K;
        place.blocks = weights / 32;
        // Meanwhile the same place of the next two groups is fetched.
        type->unpack(&t, block, place.blocks, 0, 2 * VEC * m->w_row_bytes);
        type->unpack(&t, block + VEC * m->w_row_bytes, place.blocks, 1, 2 * VEC * m->w_row_bytes);
        block += VEC * weights / form->weights * form->bytes;
        for (size_t c = 0, share; c < n; c += share) {
            share = tile_share(n - c, TILE_COLUMNS);
            type->micro[share](&t, form, &place, column + c, sums + c);
        }
    }
    for (size_t c = 0; c < n; c++) {
        float *y = m->y + (column_first + c) * m->y_stride + first;
        vf_store(y, tile_result(*form, sums[c][0]));
        vf_store(y + VEC, tile_result(*form, sums[c][1]));
    }
}

// One group of rows times all columns.
static void tile_few(const struct kernels_matmul *m, const struct tile_type *type, size_t first) {
    for (size_t c = 0, share; c < m->n_cols; c += share) {
        share = tile_share(m->n_cols - c, SINK_COLUMNS);
        type->stream[share](m, first, c);
    }
}

// Two groups of rows times all columns, which are many.
static void tile_many(const struct kernels_matmul *m, const struct tile_type *type, size_t first) {
    for (size_t c = 0, share; c < m->n_cols; c += share) {
        share = tile_share(m->n_cols - c, TILE_PANEL);
        tile_panel(m, type, first, c, share);
    }
}

static void tile_matmul(const struct kernels_matmul *m, const struct tile_type *type) {
    const size_t whole = m->rows - m->rows % VEC;
    size_t r = 0;
    KERNEL_ASSERT(m->n_cols == 0 || m->act_stride % 64 == 0);
    if (m->n_cols > TILE_FEW)
        for (; r + 2 * VEC <= whole; r += 2 * VEC) tile_many(m, type, r);
    for (; r < whole; r += VEC) tile_few(m, type, r);
    if (whole == m->rows) return;
    struct kernels_matmul rest = *m;
    rest.w += whole * m->w_row_bytes;
    rest.rows -= whole;
    rest.y += whole;
    ref_matmul_of(type->dtype)(&rest);
}

// TILE_KIND(name, weights, 0, steps, run, end). With VNNI `run` makes no difference.
#if TILE_VNNI
#define TILE_KINDS_32                                                                              \
    TILE_KIND(8_bias, 32, 0, 8, 8, TILE_BIAS) TILE_KIND(8_minimum, 32, 0, 8, 8, TILE_MINIMUM)
#define TILE_KINDS_256                                                                             \
    TILE_KIND(8_minimum, 256, 0, 8, 8, TILE_MINIMUM) TILE_KIND(8_bias, 256, 0, 8, 8, TILE_BIAS)    \
    TILE_KIND(4_minimum, 256, 0, 4, 4, TILE_MINIMUM) TILE_KIND(4_bias, 256, 0, 4, 4, TILE_BIAS)
#define tile_micro_4_bias_run2 tile_micro_4_bias
#define tile_micro_8_minimum_run4 tile_micro_8_minimum
#define tile_micro_8_bias_run4 tile_micro_8_bias
#define tile_micro_8_signed tile_micro_8_bias
#define TILE_SIGNED TILE_BIAS
#else
#define TILE_KINDS_32                                                                              \
    TILE_KIND(8_bias, 32, 0, 8, 8, TILE_BIAS) TILE_KIND(8_minimum, 32, 0, 8, 8, TILE_MINIMUM)      \
    TILE_KIND(8_bias_run4, 32, 0, 8, 4, TILE_BIAS)                                                 \
    TILE_KIND(8_minimum_run4, 32, 0, 8, 4, TILE_MINIMUM)                                           \
    TILE_KIND(8_signed, 32, 0, 8, 1, TILE_PLAIN)
#define TILE_KINDS_256                                                                             \
    TILE_KIND(8_minimum, 256, 0, 8, 8, TILE_MINIMUM)                                               \
    TILE_KIND(8_minimum_run4, 256, 0, 8, 4, TILE_MINIMUM)                                          \
    TILE_KIND(8_signed, 256, 0, 8, 1, TILE_PLAIN)                                                  \
    TILE_KIND(4_minimum, 256, 0, 4, 4, TILE_MINIMUM) TILE_KIND(4_bias, 256, 0, 4, 4, TILE_BIAS)    \
    TILE_KIND(4_bias_run2, 256, 0, 4, 2, TILE_BIAS)
#define TILE_SIGNED TILE_PLAIN
#endif

// X(type, kind, weights, bytes, steps, run, end, bias)
#define TILE_LIST_32(X)                                                                            \
    X(Q8_0, tile_micro_8_signed, 32, 34, 8, 1, TILE_SIGNED, 128)                                   \
    X(Q4_0, tile_micro_8_bias, 32, 18, 8, 8, TILE_BIAS, 8)                                         \
    X(Q4_1, tile_micro_8_minimum, 32, 20, 8, 8, TILE_MINIMUM, 0)                                   \
    X(Q5_0, tile_micro_8_bias_run4, 32, 22, 8, 4, TILE_BIAS, 16)                                   \
    X(Q5_1, tile_micro_8_minimum_run4, 32, 24, 8, 4, TILE_MINIMUM, 0)                              \
    X(IQ4_NL, tile_micro_8_signed, 32, 18, 8, 1, TILE_SIGNED, 128)                                 \
    X(MXFP4, tile_micro_8_bias_run4, 32, 17, 8, 4, TILE_BIAS, 12)
#define TILE_LIST_256(X)                                                                           \
    X(Q2_K, tile_micro_4_minimum, 256, 84, 4, 4, TILE_MINIMUM, 0)                                  \
    X(Q3_K, tile_micro_4_bias, 256, 110, 4, 4, TILE_BIAS, 2)                                       \
    X(Q4_K, tile_micro_8_minimum, 256, 144, 8, 8, TILE_MINIMUM, 0)                                 \
    X(Q5_K, tile_micro_8_minimum_run4, 256, 176, 8, 4, TILE_MINIMUM, 0)                            \
    X(Q6_K, tile_micro_4_bias_run2, 256, 210, 4, 2, TILE_BIAS, 5)                                  \
    X(IQ4_XS, tile_micro_8_signed, 256, 136, 8, 1, TILE_SIGNED, 7)

TILE_KINDS
TILE_TYPES(TILE_TYPE)

void TILE_INIT(struct kernels_table *table) {
#define TILE_ENTRY(type, ...) table->matmul[DTYPE_##type] = tile_matmul_##type;
    TILE_TYPES(TILE_ENTRY)
#undef TILE_ENTRY
}

#endif

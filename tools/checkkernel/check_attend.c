// SPDX-License-Identifier: Apache-2.0
//
// Attention over one block, and the merging of blocks.
#include "check_case.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

// 64 rows of a cache. Rows outside lo..hi-1 hold NaN: they must not enter any result.
static void *make_cache(struct check *c, bool f32, size_t head_size, size_t lo, size_t hi,
                        enum check_kind kind) {
    size_t bytes = f32 ? sizeof(float) : sizeof(uint16_t);
    uint8_t *rows = check_buffer(c, KERNELS_KV_BLOCK * head_size * bytes, f32 ? 4 : 2);
    float row[640];
    for (size_t j = lo; j < hi; j++) {
        check_fill(c, row, head_size, kind);
        for (size_t i = 0; i < head_size; i++) {
            uint16_t half = half_from_float(row[i]);
            memcpy(rows + (j * head_size + i) * bytes, f32 ? (void *)&row[i] : (void *)&half,
                   bytes);
        }
    }
    return rows;
}

static double cached(const void *rows, bool f32, size_t at) {
    return (double)(f32 ? ((const float *)rows)[at]
                        : half_to_float(((const uint16_t *)rows)[at]));
}

// One head of the block in double. A score is off by e (its dot, scale and cap); so is the largest,
// and exp multiplies by about 1 + 2e; then one rounding per position.
static void check_head(struct check *c, const struct kernels_attend *a, size_t h) {
    double s[KERNELS_KV_BLOCK], largest = -INFINITY, error = 0, l = 0;
    for (size_t j = a->lo; j < a->hi; j++) {
        double exact = 0, size = 0;
        for (size_t i = 0; i < a->head_size_k; i++) {
            double term = (double)a->q[h * a->q_stride + i] *
                          cached(a->k, a->kv_f32, j * a->head_size_k + i);
            exact += term;
            size += fabs(term);
        }
        s[j] = exact * (double)a->scale;
        double e = size * (double)a->scale * ((double)a->head_size_k / 16 + 8) * 0x1p-24;
        if (a->softcap > 0) {
            s[j] = (double)a->softcap * tanh(s[j] / (double)a->softcap);
            e += (double)a->softcap * 0x1p-21;
        }
        error = e > error ? e : error;
        largest = s[j] > largest ? s[j] : largest;
    }
    if (!(error < 0.01)) return; // the bound below is linear in the error
    double growth = 2.1 * error + 68 * 0x1p-23;
    for (size_t j = a->lo; j < a->hi; j++) l += exp(s[j] - largest);
    if (!check_near(c, "m", a->m[h], largest, error + 0x1p-140)) return;
    if (!check_near(c, "l", a->l[h], l, l * growth)) return;
    for (size_t i = 0; i < a->head_size_v; i++) {
        double exact = 0, size = 0;
        for (size_t j = a->lo; j < a->hi; j++) {
            double term = exp(s[j] - largest) * cached(a->v, a->kv_f32, j * a->v_stride + i);
            exact += term;
            size += fabs(term);
        }
        if (!check_near(c, "o", a->o[h * a->head_size_v + i], exact, size * growth + 0x1p-140))
            return;
    }
}

void check_attend_block(struct check *c, uint32_t unused) {
    (void)unused;
    struct kernels_attend a = {.n_q = 1 + check_below(c, 9), .kv_f32 = check_one_in(c, 2)};
    a.head_size_k = 8 * (1 + check_below(c, 17));
    a.head_size_v = check_one_in(c, 2) ? a.head_size_k : 8 * (1 + check_below(c, 17));
    bool shared = check_one_in(c, 4); // values are the first elements of keys
    if (shared) {
        if (check_one_in(c, 4)) a.head_size_k = 576;
        a.head_size_v = 8 * (1 + check_below(c, (uint32_t)a.head_size_k / 8));
    }
    a.v_stride = shared ? a.head_size_k : a.head_size_v;
    a.lo = check_one_in(c, 2) ? 0 : check_below(c, KERNELS_KV_BLOCK);
    a.hi = a.lo + 1 + check_below(c, (uint32_t)(KERNELS_KV_BLOCK - a.lo));
    if (check_one_in(c, 3)) a.hi = KERNELS_KV_BLOCK;
    a.scale = 1.0f / sqrtf((float)a.head_size_k);
    a.softcap = check_one_in(c, 3) ? 50.0f : 0.0f;
    a.q_stride = a.head_size_k + (check_one_in(c, 2) ? check_below(c, 9) : 0);
    enum check_kind kind = check_pick_kind(c, true);
    a.q = check_floats(c, (a.n_q - 1) * a.q_stride + a.head_size_k, check_pick_kind(c, true));
    a.k = make_cache(c, a.kv_f32, a.head_size_k, a.lo, a.hi, kind);
    a.v = shared ? a.k
                 : make_cache(c, a.kv_f32, a.head_size_v, a.lo, a.hi, check_pick_kind(c, true));
    check_describe(c, ", %zu heads of %zu and %zu%s, %s, positions %zu..%zu, cap %g, keys %s", a.n_q,
                   a.head_size_k, a.head_size_v, shared ? " of them" : "",
                   a.kv_f32 ? "f32" : "f16", a.lo, a.hi - 1, (double)a.softcap,
                   check_kind_name(kind));
    struct kernels_attend expected = a;
    struct kernels_attend *const both[] = {&a, &expected};
    for (size_t i = 0; i < 2; i++) {
        both[i]->m = check_buffer(c, a.n_q * sizeof(float), sizeof(float));
        both[i]->l = check_buffer(c, a.n_q * sizeof(float), sizeof(float));
        both[i]->o = check_buffer(c, a.n_q * a.head_size_v * sizeof(float), sizeof(float));
    }
    c->tested->attend_block(&a);
    c->ref->attend_block(&expected);
    for (size_t h = 0; h < a.n_q; h++) {
        // A score that is NaN leaves the largest one open; it shows in l and o.
        bool equal = a.m[h] == expected.m[h] || isnan(expected.l[h]);
        if (!equal) check_fail(c, "m[%zu] is %a, not %a", h, (double)a.m[h], (double)expected.m[h]);
    }
    if (!check_same_floats(c, "l", a.l, expected.l, a.n_q)) return;
    if (!check_same_floats(c, "o", a.o, expected.o, a.n_q * a.head_size_v)) return;
    for (size_t h = 0; c->oracle && h < a.n_q; h++) check_head(c, &a, h);
}

void check_attend_merge(struct check *c, uint32_t unused) {
    (void)unused;
    size_t n = 1 + check_below(c, 150);
    enum check_kind kind = check_pick_kind(c, true);
    float *got = check_floats(c, n, kind);
    float *expected = check_copy(c, got, n * sizeof *got, sizeof *got);
    const float *added = check_floats(c, n, check_pick_kind(c, true));
    float m[2] = {(float)check_uniform(c, -60, 60), 0}, l[2] = {(float)check_uniform(c, 1, 64), 0};
    float m2 = (float)check_uniform(c, -60, 60), l2 = (float)check_uniform(c, 1, 64);
    if (check_one_in(c, 4)) m[0] = -INFINITY; // nothing seen so far
    if (check_one_in(c, 4)) m2 = m[0];
    m[1] = m[0];
    l[1] = l[0];
    check_describe(c, ", n %zu, values %s", n, check_kind_name(kind));
    c->tested->attend_merge(&m[0], &l[0], got, m2, l2, added, n);
    c->ref->attend_merge(&m[1], &l[1], expected, m2, l2, added, n);
    check_same_floats(c, "m", &m[0], &m[1], 1);
    check_same_floats(c, "l", &l[0], &l[1], 1);
    check_same_floats(c, "o", got, expected, n);
}

// SPDX-License-Identifier: Apache-2.0
//
// Functions over vectors. Where the result is a chain of roundings, ref is also bounded in double.
#include "check_case.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

// Lengths around the widths of registers, and now and then a long one.
static size_t pick_length(struct check *c) {
    return 1 + check_below(c, check_one_in(c, 8) ? 3000 : 140);
}

struct vectors {
    size_t n;
    enum check_kind kind;
    const float *a, *b;     // inputs
    float *got, *expected;  // outputs, equal before the call
    float factor;
};

// Inputs a and b; outputs that hold the same values (functions that read their output use them).
static struct vectors make_vectors(struct check *c) {
    struct vectors v = {.n = pick_length(c), .kind = check_pick_kind(c, false)};
    v.a = check_floats(c, v.n, v.kind);
    v.b = check_floats(c, v.n, check_pick_kind(c, false));
    v.got = check_floats(c, v.n, v.kind);
    v.expected = check_copy(c, v.got, v.n * sizeof(float), sizeof(float));
    v.factor = (float)check_uniform(c, 0.01, 60);
    check_describe(c, ", n %zu, values %s", v.n, check_kind_name(v.kind));
    return v;
}

void check_dot(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    float got = c->tested->dot(v.a, v.b, v.n), expected = c->ref->dot(v.a, v.b, v.n);
    if (!check_same_floats(c, "sum", &got, &expected, 1) || !c->oracle) return;
    double exact = 0, size = 0;
    for (size_t i = 0; i < v.n; i++) {
        exact += (double)v.a[i] * (double)v.b[i];
        size += fabs((double)v.a[i] * (double)v.b[i]);
    }
    double roundings = (double)(v.n / 16 + 6); // of one lane, then the tree
    check_near(c, "sum", got, exact, size * roundings * 0x1p-24 + (double)v.n * 0x1p-149);
}

void check_rms_norm(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    const float *w = check_one_in(c, 3) ? NULL : v.b;
    const float eps = 1e-6f;
    bool in_place = check_one_in(c, 3);
    if (in_place) memcpy(v.got, v.a, v.n * sizeof(float));
    memcpy(v.expected, v.got, v.n * sizeof(float)); // stays so if there is no result
    bool fine = c->tested->rms_norm(v.got, in_place ? v.got : v.a, w, v.n, eps);
    if (fine != c->ref->rms_norm(v.expected, v.a, w, v.n, eps))
        check_fail(c, "says %s", fine ? "finite" : "not finite");
    if (!check_same_floats(c, "y", v.got, v.expected, v.n) || !c->oracle || !fine) return;
    double sum = 0;
    for (size_t i = 0; i < v.n; i++) sum += (double)v.a[i] * (double)v.a[i];
    double r = 1 / sqrt(sum / (double)v.n + (double)eps);
    for (size_t i = 0; i < v.n; i++) {
        double exact = (double)v.a[i] * r * (w ? (double)w[i] : 1);
        // Half of the roundings of the sum (a root), and one each: /n, +eps, root, 1/r, two
        // products.
        double roundings = (double)(v.n / 16 + 6) / 2 + 6;
        double bound = fabs(exact) * roundings * 0x1p-24 + (w ? fabs((double)w[i]) : 1) * 0x1p-140;
        if (!check_near(c, "y", v.got[i], exact, bound + 0x1p-149)) return;
    }
}

void check_l2_norm(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    const float eps = 1e-6f;
    bool in_place = check_one_in(c, 3);
    if (in_place) memcpy(v.got, v.a, v.n * sizeof(float));
    memcpy(v.expected, v.got, v.n * sizeof(float)); // stays so if there is no result
    bool fine = c->tested->l2_norm(v.got, in_place ? v.got : v.a, v.n, eps);
    if (fine != c->ref->l2_norm(v.expected, v.a, v.n, eps))
        check_fail(c, "says %s", fine ? "finite" : "not finite");
    if (!check_same_floats(c, "y", v.got, v.expected, v.n) || !c->oracle || !fine) return;
    double sum = 0;
    for (size_t i = 0; i < v.n; i++) sum += (double)v.a[i] * (double)v.a[i];
    double roundings = (double)(v.n / 16 + 6) / 2 + 4; // half of the sum's; +eps, root, 1/r, product
    for (size_t i = 0; i < v.n; i++) {
        double exact = (double)v.a[i] / sqrt(sum + (double)eps);
        if (!check_near(c, "y", v.got[i], exact, fabs(exact) * roundings * 0x1p-24 + 0x1p-149))
            return;
    }
}

// cs: cosines and sines of some angles. The rest of a head, beyond 2 * pairs, must stay as it is.
static void check_rope(struct check *c,
                       void (*tested)(float *, size_t, size_t, size_t, const float *),
                       void (*ref)(float *, size_t, size_t, size_t, const float *)) {
    size_t heads = 1 + check_below(c, 5), pairs = 1 + check_below(c, 70);
    size_t stride = 2 * pairs + (check_one_in(c, 2) ? check_below(c, 20) : 0);
    size_t n = (heads - 1) * stride + 2 * pairs;
    enum check_kind kind = check_pick_kind(c, false);
    float *cs = check_buffer(c, 2 * pairs * sizeof *cs, sizeof *cs);
    for (size_t i = 0; i < pairs; i++) {
        double angle = check_uniform(c, 0, 6.3);
        cs[2 * i] = (float)cos(angle);
        cs[2 * i + 1] = (float)sin(angle);
    }
    float *got = check_floats(c, n, kind);
    float *expected = check_copy(c, got, n * sizeof *got, sizeof *got);
    check_describe(c, ", %zu heads of %zu pairs, stride %zu, values %s", heads, pairs, stride,
                   check_kind_name(kind));
    tested(got, heads, stride, pairs, cs);
    ref(expected, heads, stride, pairs, cs);
    check_same_floats(c, "x", got, expected, n);
}

void check_rope_norm(struct check *c, uint32_t unused) {
    (void)unused;
    check_rope(c, c->tested->rope_norm, c->ref->rope_norm);
}
void check_rope_neox(struct check *c, uint32_t unused) {
    (void)unused;
    check_rope(c, c->tested->rope_neox, c->ref->rope_neox);
}

void check_scale(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    bool in_place = check_one_in(c, 2);
    c->tested->scale(v.got, in_place ? v.got : v.a, v.factor, v.n);
    c->ref->scale(v.expected, in_place ? v.expected : v.a, v.factor, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

void check_add(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    c->tested->add(v.got, v.a, v.n);
    c->ref->add(v.expected, v.a, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

void check_add_scaled(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    c->tested->add_scaled(v.got, v.a, v.factor, v.n);
    c->ref->add_scaled(v.expected, v.a, v.factor, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

// Half of the cases stretch the values over the range where exp and tanh bend.
static void stretch(struct check *c, float *x, size_t n) {
    if (check_one_in(c, 2)) return;
    for (size_t i = 0; i < n; i++) x[i] = (float)check_uniform(c, -110, 100);
}

static void check_gate(struct check *c,
                       void (*tested)(float *, const float *, const float *, size_t),
                       void (*ref)(float *, const float *, const float *, size_t)) {
    struct vectors v = make_vectors(c);
    bool in_place = check_one_in(c, 2);
    stretch(c, v.got, v.n);
    memcpy(v.expected, v.got, v.n * sizeof(float));
    tested(v.got, in_place ? v.got : v.a, v.b, v.n);
    ref(v.expected, in_place ? v.expected : v.a, v.b, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

void check_mul(struct check *c, uint32_t unused) {
    (void)unused;
    check_gate(c, c->tested->mul, c->ref->mul);
}
void check_sigmoid_mul(struct check *c, uint32_t unused) {
    (void)unused;
    check_gate(c, c->tested->sigmoid_mul, c->ref->sigmoid_mul);
}
void check_silu_mul(struct check *c, uint32_t unused) {
    (void)unused;
    check_gate(c, c->tested->silu_mul, c->ref->silu_mul);
}
void check_gelu_mul(struct check *c, uint32_t unused) {
    (void)unused;
    check_gate(c, c->tested->gelu_mul, c->ref->gelu_mul);
}

void check_swiglu_oai_mul(struct check *c, uint32_t unused) {
    (void)unused;
    check_gate(c, c->tested->swiglu_oai_mul, c->ref->swiglu_oai_mul);
}

void check_softcap(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    stretch(c, v.got, v.n);
    memcpy(v.expected, v.got, v.n * sizeof(float));
    c->tested->softcap(v.got, v.factor, v.n);
    c->ref->softcap(v.expected, v.factor, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

void check_exp(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    stretch(c, v.got, v.n);
    memcpy(v.expected, v.got, v.n * sizeof(float));
    c->tested->exp(v.got, v.got, v.n);
    c->ref->exp(v.expected, v.expected, v.n);
    check_same_floats(c, "y", v.got, v.expected, v.n);
}

void check_to_half(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    if (check_one_in(c, 2)) // ties, denormals and overflow of float16
        for (size_t i = 0; i < v.n; i++)
            v.got[i] = half_from_bits(0x32000000u + check_below(c, 0x16000000u) / 0x800 * 0x800);
    uint16_t *got = check_buffer(c, v.n * sizeof *got, sizeof *got);
    uint16_t *expected = check_buffer(c, v.n * sizeof *got, sizeof *got);
    c->tested->to_half(got, v.got, v.n);
    c->ref->to_half(expected, v.got, v.n);
    for (size_t i = 0; i < v.n; i++) {
        bool both_nan = (got[i] & 0x7fff) > 0x7c00 && (expected[i] & 0x7fff) > 0x7c00;
        if (got[i] == expected[i] || both_nan) continue;
        check_fail(c, "y[%zu] of %a is %04x, not %04x", i, (double)v.got[i], got[i], expected[i]);
        return;
    }
}

void check_argmax(struct check *c, uint32_t unused) {
    (void)unused;
    struct vectors v = make_vectors(c);
    uint32_t change = check_below(c, 8);
    for (size_t i = 0; i < v.n; i++) {
        if (change == 0) v.got[i] = -INFINITY;
        if (change == 1) v.got[i] = (float)check_below(c, 3); // ties
        if (change == 2 && check_one_in(c, 2)) v.got[i] = -INFINITY;
    }
    if (change == 3) v.got[check_below(c, (uint32_t)v.n)] = NAN;
    if (change == 4) v.got[check_below(c, (uint32_t)v.n)] = INFINITY;
    size_t got = SIZE_MAX, expected = SIZE_MAX;
    bool found = c->tested->argmax(v.got, v.n, &got);
    bool right = c->ref->argmax(v.got, v.n, &expected);
    if (found != right || (found && got != expected))
        check_fail(c, "says %d, %zu; not %d, %zu", found, got, right, expected);
}

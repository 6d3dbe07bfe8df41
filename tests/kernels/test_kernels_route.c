// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels_route.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { EXPERTS = 6, USED = 3 };

struct result {
    float scratch[EXPERTS], weights[USED];
    uint32_t ids[USED], rank[USED];
};

static struct kernels_route plain_route(void) {
    return (struct kernels_route){.experts = EXPERTS, .used = USED,
                                  .gating = KERNELS_GATING_SOFTMAX, .scale = 1.0f};
}

static bool select(struct result *r, const struct kernels_route *route, const float *logits) {
    return kernels_route_select(route, logits, r->scratch, r->ids, r->weights, r->rank);
}

static void assert_ids(const struct result *r, uint32_t a, uint32_t b, uint32_t c) {
    assert_int_equal(r->ids[0], a);
    assert_int_equal(r->ids[1], b);
    assert_int_equal(r->ids[2], c);
}
static void assert_near(float got, double expected) {
    if (!(fabs((double)got - expected) < 1e-6)) fail_msg("%g, not %g", (double)got, expected);
}

static const float logits[EXPERTS] = {0.5f, 3.0f, -1.0f, 2.0f, 1.0f, 0.0f};

static double softmax_sum(void) {
    double sum = 0;
    for (int i = 0; i < EXPERTS; i++) sum += exp((double)logits[i]);
    return sum;
}

static void softmax_of_all(void **state) {
    (void)state;
    struct kernels_route route = plain_route();
    struct result r;
    assert_true(select(&r, &route, logits));
    assert_ids(&r, 1, 3, 4);
    assert_near(r.weights[0], exp(3) / softmax_sum());
    assert_near(r.weights[2], exp(1) / softmax_sum());
    assert_int_equal(r.rank[0], 0);
    route.normalise = true;
    route.scale = 2.5f;
    assert_true(select(&r, &route, logits));
    assert_near(r.weights[1], 2.5 * exp(2) / (exp(1) + exp(2) + exp(3)));
}

// Three groups of two, of which two can be chosen from.
static void groups_by_their_best(void **state) {
    (void)state;
    const float by_group[EXPERTS] = {1.0f, 1.5f, 3.0f, -9.0f, 2.0f, 2.0f};
    struct kernels_route route = plain_route();
    struct result r;
    route.groups = 3;
    route.groups_used = 2;
    assert_true(select(&r, &route, by_group));
    assert_ids(&r, 2, 4, 5);
    double sum = exp(1) + exp(1.5) + exp(3) + exp(-9) + 2 * exp(2);
    assert_near(r.weights[1], exp(2) / sum); // a share of all, also of those that cannot be chosen
    // By the sum of two the group with the largest value comes last (sigmoids: 1.55, 0.95, 1.76).
    route.gating = KERNELS_GATING_SIGMOID;
    route.group_best_two = true;
    assert_true(select(&r, &route, by_group));
    assert_ids(&r, 1, 4, 5);
    // A bias chooses groups too, and is no part of a weight.
    const float bias[EXPERTS] = {0, 0, 0, 1.0f, 0, 0};
    route.bias = bias;
    assert_true(select(&r, &route, by_group));
    assert_ids(&r, 2, 3, 4);
    assert_near(r.weights[1], 1 / (1 + exp(9)));
    // Equal scores: the lower group.
    const float equal[EXPERTS] = {0};
    route.bias = NULL;
    assert_true(select(&r, &route, equal));
    assert_ids(&r, 0, 1, 2);
}

static void sigmoid_with_bias(void **state) {
    (void)state;
    // The bias decides who is chosen and does not enter the weights.
    const float bias[EXPERTS] = {0, 0, 2, 0, 0, 1};
    struct kernels_route route = plain_route();
    route.gating = KERNELS_GATING_SIGMOID;
    route.bias = bias;
    struct result r;
    assert_true(select(&r, &route, logits));
    assert_ids(&r, 1, 2, 5);
    assert_int_equal(r.rank[0], 2);
    assert_int_equal(r.rank[1], 0);
    assert_int_equal(r.rank[2], 1);
    assert_near(r.weights[1], 1 / (1 + exp(1)));
}

static void softmax_of_the_chosen(void **state) {
    (void)state;
    struct kernels_route route = plain_route();
    route.gating = KERNELS_GATING_SOFTMAX_SELECTED;
    struct result r;
    assert_true(select(&r, &route, logits));
    assert_ids(&r, 1, 3, 4);
    assert_near(r.weights[0], exp(3) / (exp(1) + exp(2) + exp(3)));
}

static void ties_go_to_the_lower_id(void **state) {
    (void)state;
    const float equal[EXPERTS] = {1, 2, 2, 1, 2, 2};
    const struct kernels_route route = plain_route();
    struct result r;
    assert_true(select(&r, &route, equal));
    assert_ids(&r, 1, 2, 4);
    assert_int_equal(r.rank[0], 0);
    assert_int_equal(r.rank[2], 2);
}

// Sigmoids of 30 and 40 are the same number; logits tell them apart.
static void sigmoids_of_experts_chosen_by_logits(void **state) {
    (void)state;
    const float large[EXPERTS] = {-1, 30, 40, 1, 35, 0};
    struct kernels_route route = plain_route();
    route.gating = KERNELS_GATING_SIGMOID;
    route.used = 1;
    struct result r;
    assert_true(select(&r, &route, large));
    assert_int_equal(r.ids[0], 1); // a tie
    route.by_logits = true;
    assert_true(select(&r, &route, large));
    assert_int_equal(r.ids[0], 2);
    assert_near(r.weights[0], 1);
    assert_true(select(&r, &route, logits));
    assert_near(r.weights[0], 1 / (1 + exp(-3)));
}

static void each_expert_may_have_a_factor(void **state) {
    (void)state;
    const float factors[EXPERTS] = {1, 2, 3, 4, 5, 6};
    struct kernels_route route = plain_route();
    route.normalise = true;
    route.expert_scale = factors;
    struct result r;
    assert_true(select(&r, &route, logits)); // 1, 3, 4
    double sum = exp(1) + exp(2) + exp(3);
    assert_near(r.weights[0], 2 * exp(3) / sum);
    assert_near(r.weights[1], 4 * exp(2) / sum);
    assert_near(r.weights[2], 5 * exp(1) / sum);
}

static void a_vanishing_sum_stays_finite(void **state) {
    (void)state;
    struct kernels_route route = plain_route();
    route.gating = KERNELS_GATING_SIGMOID;
    route.normalise = true;
    const float low[EXPERTS] = {-200, -200, -200, -200, -200, -200};
    struct result r;
    assert_true(select(&r, &route, low));
    for (int i = 0; i < USED; i++) assert_true(r.weights[i] == 0.0f);
}

static void not_finite_is_refused(void **state) {
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    const struct kernels_route route = plain_route();
    struct result r;
    for (size_t i = 0; i < 3; i++) {
        float spoiled[EXPERTS] = {0};
        spoiled[5] = bad[i];
        assert_false(select(&r, &route, spoiled));
    }
}

static void all_experts_and_no_rank(void **state) {
    (void)state;
    struct kernels_route route = plain_route();
    route.used = EXPERTS;
    float scratch[EXPERTS], weights[EXPERTS], sum = 0;
    uint32_t ids[EXPERTS];
    assert_true(kernels_route_select(&route, logits, scratch, ids, weights, NULL));
    for (uint32_t i = 0; i < EXPERTS; i++) {
        assert_int_equal(ids[i], i);
        sum += weights[i];
    }
    assert_near(sum, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_all),
        cmocka_unit_test(groups_by_their_best),
        cmocka_unit_test(sigmoid_with_bias),
        cmocka_unit_test(softmax_of_the_chosen),
        cmocka_unit_test(ties_go_to_the_lower_id),
        cmocka_unit_test(sigmoids_of_experts_chosen_by_logits),
        cmocka_unit_test(each_expert_may_have_a_factor),
        cmocka_unit_test(a_vanishing_sum_stays_finite),
        cmocka_unit_test(not_finite_is_refused),
        cmocka_unit_test(all_experts_and_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/limits.h"
#include "plan/plan.h"

enum { WIDTH = 8, WORDS = 12 };

static struct arena arena;
static struct plan_builder builder;
static locum_error error;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 0);
    memset(&error, 0, sizeof error);
    plan_builder_init(&builder, &arena, &error);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

static uint32_t weight(uint64_t cols, uint64_t rows) {
    struct plan_weight w = {.name = "w",
                            .dtype = DTYPE_F32,
                            .cols = cols,
                            .rows = rows,
                            .row_bytes = 4 * cols,
                            .bytes = 4 * cols * rows};
    return plan_add_weight(&builder, &w);
}

// The smallest model: embedding, output. Gives the buffer of logits; *body: of the state.
static uint32_t smallest(uint32_t *body) {
    builder.plan.vocabulary = WORDS;
    uint32_t x = plan_add_buffer(&builder, "x", WIDTH, false);
    uint32_t h = plan_add_buffer(&builder, "h", WIDTH, true);
    uint32_t logits = plan_add_buffer(&builder, "logits", WORDS, true);
    struct plan_op embed = plan_op_make(PLAN_EMBED, PLAN_NONE);
    embed.weight = weight(WIDTH, WORDS);
    embed.out = x;
    embed.u.scale = 1;
    plan_add_op(&builder, embed);
    plan_begin_head(&builder);
    struct plan_op gather = plan_op_make(PLAN_GATHER, PLAN_NONE);
    gather.in = x, gather.out = h;
    plan_add_op(&builder, gather);
    struct plan_op output = plan_op_make(PLAN_MATMUL, PLAN_NONE);
    output.in = h, output.out = logits, output.weight = embed.weight;
    plan_add_op(&builder, output);
    if (body) *body = x;
    return logits;
}

static void smallest_plan_is_whole(void **state) {
    (void)state;
    struct plan plan;
    uint32_t logits = smallest(NULL);
    assert_int_equal(plan_finish(&builder, logits, &plan), LOCUM_OK);
    assert_int_equal(plan.n_ops, 3);
    assert_int_equal(plan.head_start, 1);
    assert_int_equal(plan.logits, logits);
    assert_int_equal(plan.ops[0].in, PLAN_NONE);
    assert_int_equal(plan.ops[0].bias, PLAN_NONE);
    assert_true(plan.buffers[plan.logits].head);
    assert_false(plan.buffers[0].head);
}

static void lists_grow_and_keep_what_they_hold(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(weight(i + 1, 1), i);
        struct plan_cache cache = {.heads_kv = i + 1, .head_size_k = 8, .head_size_v = 8};
        assert_int_equal(plan_add_cache(&builder, cache), i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(builder.plan.weights[i].cols, i + 1);
        assert_int_equal(builder.plan.caches[i].heads_kv, i + 1);
    }
}

static void first_error_stays(void **state) {
    (void)state;
    struct plan plan;
    uint32_t logits = smallest(NULL);
    assert_int_equal(plan_add_buffer(&builder, "wide", (uint64_t)LIMIT_VOCABULARY + 1, false),
                     PLAN_NONE);
    assert_int_equal(builder.status, LOCUM_E_FORMAT);
    assert_non_null(strstr(error.text, "4194305"));
    assert_non_null(strstr(error.text, "wide"));
    assert_int_equal(plan_add_buffer(&builder, "nothing", 0, false), PLAN_NONE);
    assert_int_equal(weight(1, 1), PLAN_NONE);
    assert_non_null(strstr(error.text, "wide")); // the second one left no trace
    assert_int_equal(plan_finish(&builder, logits, &plan), LOCUM_E_FORMAT);
}

// 2^32 values would be 0 if the width were cut to 32 bits before it is looked at.
static void width_is_not_cut(void **state) {
    (void)state;
    assert_int_equal(plan_add_buffer(&builder, "huge", UINT64_C(1) << 32, false), PLAN_NONE);
    assert_int_equal(builder.status, LOCUM_E_FORMAT);
    assert_non_null(strstr(error.text, "4294967296"));
}

static void too_many_operations(void **state) {
    (void)state;
    struct plan_op op = plan_op_make(PLAN_ADD, 0);
    for (uint32_t i = 0; i < LIMIT_PLAN_OPERATIONS; i++)
        plan_add_op(&builder, op);
    assert_int_equal(builder.status, LOCUM_OK);
    plan_add_op(&builder, op);
    assert_int_equal(builder.status, LOCUM_E_UNSUPPORTED);
    assert_int_equal(builder.plan.n_ops, LIMIT_PLAN_OPERATIONS);
}

static void no_memory_is_an_error(void **state) {
    (void)state;
    arena_release(&arena);
    arena_init(&arena, 8192);
    uint32_t i = 0;
    while (builder.status == LOCUM_OK && i < 100000)
        weight(++i, 1);
    assert_int_equal(builder.status, LOCUM_E_OUT_OF_MEMORY);
    assert_int_equal(error.status, LOCUM_E_OUT_OF_MEMORY);
}

// ---- a plan that contradicts itself is a bug of the builder, and ends the process ---------------
static void dies(void (*make)(void)) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO); // the assertion's text is expected
        make();
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_false(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void finish_with(struct plan_op op) {
    struct plan plan;
    uint32_t logits = smallest(NULL);
    plan_add_op(&builder, op);
    plan_finish(&builder, logits, &plan);
}

static void matmul_of_another_width(void) {
    struct plan_op op = plan_op_make(PLAN_MATMUL, PLAN_NONE);
    op.in = 1, op.out = 2;
    op.weight = weight(WIDTH + 1, WORDS);
    finish_with(op);
}

static void bias_of_another_size(void) {
    struct plan_op op = plan_op_make(PLAN_MATMUL, PLAN_NONE);
    op.in = 1, op.out = 2;
    op.weight = weight(WIDTH, WORDS), op.bias = weight(WORDS - 1, 1);
    finish_with(op);
}

static void buffer_that_is_none(void) {
    struct plan_op op = plan_op_make(PLAN_ADD, PLAN_NONE);
    op.in = 0, op.out = 99;
    finish_with(op);
}

static void groups_that_do_not_divide(void) {
    struct plan_op op = plan_op_make(PLAN_NORM, PLAN_NONE);
    op.in = op.out = 1;
    op.u.norm.groups = 3;
    finish_with(op);
}

static void contradictions_are_bugs(void **state) {
    (void)state;
    dies(matmul_of_another_width);
    dies(bias_of_another_size);
    dies(buffer_that_is_none);
    dies(groups_that_do_not_divide);
}

// ---- sizes --------------------------------------------------------------------------------------
static void sizes_at_the_limits_do_not_wrap(void **state) {
    (void)state;
    for (int i = 0; i < LIMIT_LAYERS; i++)
        plan_add_cache(&builder,
                       (struct plan_cache){.heads_kv = LIMIT_HEADS,
                                           .head_size_k = LIMIT_HEAD_SIZE,
                                           .head_size_v = LIMIT_HEAD_SIZE});
    uint64_t one = (uint64_t)LIMIT_HEADS * 2 * LIMIT_HEAD_SIZE * 4;
    assert_int_equal(plan_kv_bytes_per_token(&builder.plan, 4), LIMIT_LAYERS * one);
    struct plan_experts set = {
        .matrix = {{.bytes = UINT64_C(1) << 40}, {.bytes = 3}, {.bytes = 4}}};
    assert_int_equal(plan_expert_bytes(&set), (UINT64_C(1) << 40) + 7);
}

static void kinds_have_names(void **state) {
    (void)state;
    for (int kind = 0; kind < PLAN_KIND_COUNT; kind++)
        assert_string_not_equal(plan_kind_name((enum plan_kind)kind), "unknown");
    assert_string_equal(plan_kind_name(PLAN_KV_WRITE), "kv_write");
    assert_string_equal(plan_kind_name(PLAN_KIND_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(smallest_plan_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_grow_and_keep_what_they_hold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_error_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(width_is_not_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contradictions_are_bugs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_at_the_limits_do_not_wrap, set_up, tear_down),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

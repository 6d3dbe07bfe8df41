// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "exec/exec_kv.h"

enum { SIZE = 96, ROWS = EXEC_KV_PAGE_POSITIONS };

static struct kernels_table kernels;
static _Alignas(64) uint8_t scratch[4096];

static int set_up(void **state) {
    (void)state;
    struct kernels_cpu none = {0};
    return kernels_init(&kernels, KERNELS_TIER_REF, &none) ? 0 : -1;
}

// What comes back is within half a step of 1/127 of the block's largest number, and the rounding of the
// scale to 11 bits (below 2^-14 to a multiple of 2^-24). Zeros stay zeros.
static void rows_of_8_bits_come_back(void **state) {
    (void)state;
    uint8_t rows[ROWS * SIZE / 32 * 34];
    float in[ROWS][SIZE], out[ROWS][SIZE];
    assert_int_equal(exec_kv_row_bytes(EXEC_KV_Q8_0, SIZE), sizeof rows / ROWS);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < SIZE; i++)
            in[r][i] = r == 3 ? 0 : sinf((float)(r * SIZE + i)) * powf(10, (float)(r % 7 - 3));
        assert_true(exec_kv_store_row(&kernels, EXEC_KV_Q8_0, rows + r * SIZE / 32 * 34, in[r], SIZE,
                                      scratch));
    }
    memset(out, 0x7f, sizeof out);
    exec_kv_expand(&kernels, &out[0][0], rows, 1, ROWS - 1, SIZE);
    for (int r = 1; r < ROWS - 1; r++) {
        for (int i = 0; i < SIZE; i++) {
            float most = 0;
            for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) most = fmaxf(most, fabsf(in[r][j]));
            float step = fmaxf(most * 0x1p-11f, 127 * 0x1p-25f);
            assert_true(fabsf(out[r][i] - in[r][i]) <= most * 0.5f / 127 + step);
            if (r == 3) assert_true(out[r][i] == 0);
        }
    }
    float untouched;
    memset(&untouched, 0x7f, sizeof untouched);
    assert_memory_equal(&out[0][0], &untouched, sizeof untouched); // outside of lo..hi-1
    assert_memory_equal(&out[ROWS - 1][SIZE - 1], &untouched, sizeof untouched);
}

static void rows_of_floats_are_themselves(void **state) {
    (void)state;
    float in[SIZE], single[SIZE];
    uint16_t half[SIZE];
    for (int i = 0; i < SIZE; i++) in[i] = cosf((float)i);
    assert_true(exec_kv_store_row(&kernels, EXEC_KV_F32, (uint8_t *)single, in, SIZE, NULL));
    assert_memory_equal(in, single, sizeof in);
    assert_true(exec_kv_store_row(&kernels, EXEC_KV_F16, (uint8_t *)half, in, SIZE, NULL));
    for (int i = 0; i < SIZE; i++) assert_int_equal(half[i], half_from_float(in[i]));
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    uint8_t row[SIZE / 32 * 34];
    float in[SIZE] = {0};
    in[77] = NAN;
    assert_false(exec_kv_store_row(&kernels, EXEC_KV_Q8_0, row, in, SIZE, scratch));
    in[77] = INFINITY;
    assert_false(exec_kv_store_row(&kernels, EXEC_KV_Q8_0, row, in, SIZE, scratch));
}

static void heads_that_do_not_fit_are_named(void **state) {
    (void)state;
    struct plan_cache caches[] = {{.heads_kv = 2, .head_size_k = 64, .head_size_v = 64},
                                  {.heads_kv = 1, .head_size_k = 48, .head_size_v = 64}};
    struct plan plan = {.n_caches = 1, .caches = caches};
    struct arena arena;
    struct exec_kv_layout layout;
    locum_error error;
    arena_init(&arena, 0);
    assert_int_equal(exec_kv_layout_make(&plan, EXEC_KV_Q8_0, &arena, &layout, &error), LOCUM_OK);
    assert_int_equal(layout.page_bytes, 64 * 2 * (64 + 64) / 32 * 34);
    assert_int_equal(layout.page_bytes % 64, 0);
    assert_int_equal(exec_kv_scratch_bytes(&plan, EXEC_KV_Q8_0), 64 * 128 * 4);
    assert_int_equal(exec_kv_scratch_bytes(&plan, EXEC_KV_F16), 0);
    plan.n_caches = 2;
    assert_int_equal(exec_kv_layout_make(&plan, EXEC_KV_Q8_0, &arena, &layout, &error),
                     LOCUM_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "48 and 64"));
    assert_int_equal(exec_kv_layout_make(&plan, EXEC_KV_F16, &arena, &layout, &error), LOCUM_OK);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_8_bits_come_back),
        cmocka_unit_test(rows_of_floats_are_themselves),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(heads_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

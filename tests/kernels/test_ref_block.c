// SPDX-License-Identifier: Apache-2.0
//
// What blocks of each type mean: against values written by an independent program
// (data/make_dequantised.py), and the corners of the formats by hand.
#include "base/half.h"
#include "kernels/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct kernels_table table;

static int set_up(void **state) {
    (void)state;
    const struct kernels_cpu cpu = {0};
    return kernels_init(&table, KERNELS_TIER_REF, &cpu) ? 0 : -1;
}

static uint32_t type_of(const char *name) {
    for (uint32_t id = 0; id < DTYPE_ID_MAX; id++)
        if (dtype_get(id) && strcmp(dtype_name(id), name) == 0) return id;
    fail_msg("no type %s", name);
    return 0;
}

// "TYPE hex = bits bits ..." against dequantise. Gives the type.
static uint32_t check_line(char *line) {
    char *name = strtok(line, " "), *hex = strtok(NULL, " ");
    assert_non_null(hex);
    uint32_t dtype = type_of(name);
    uint8_t bytes[256];
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    size_t k = size / dtype_get(dtype)->bytes * dtype_get(dtype)->block;
    float values[256];
    table.dequantise[dtype](values, bytes, k);
    assert_string_equal(strtok(NULL, " "), "=");
    for (size_t i = 0; i < k; i++) {
        const char *word = strtok(NULL, " \n");
        assert_non_null(word);
        uint32_t expected = (uint32_t)strtoul(word, NULL, 16);
        // By value: formats do not say which sign a zero has.
        if (values[i] != half_from_bits(expected))
            fail_msg("%s[%zu] is %08x, not %08x", name, i, half_to_bits(values[i]), expected);
    }
    assert_null(strtok(NULL, " \n"));
    return dtype;
}

static void equals_other_program(void **state) {
    (void)state;
    bool seen[DTYPE_ID_MAX] = {[DTYPE_F32] = true}; // a copy
    static char line[8192];
    FILE *file = fopen(LOCUM_SOURCE_DIR "/tests/kernels/data/dequantised.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (*line != '#') seen[check_line(line)] = true;
    fclose(file);
    for (uint32_t id = 0; id < DTYPE_ID_MAX; id++)
        assert_int_equal(seen[id], table.dequantise[id] != NULL);
}

static void mxfp4_scales(void **state) {
    (void)state;
    uint8_t block[17] = {0, 0x21}; // codes 1 and 2: halves of 0.5 and 1
    float values[32];
    const struct {
        uint8_t e;
        float one;
    } cases[] = {{0, 0x1p-128f}, {1, 0x1p-127f}, {2, 0x1p-126f}, {127, 0.5f}, {255, 0x1p127f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        block[0] = cases[i].e;
        table.dequantise[DTYPE_MXFP4](values, block, 32);
        assert_true(values[0] == cases[i].one);
        assert_true(values[16] == 2 * cases[i].one);
        assert_true(values[1] == 0);
    }
}

// gcc 12 with a VNNI target turns a loop that casts uint8_t to int8_t into an unsigned product, so
// these sums would be wrong. Codes -56..-25 times 1..32, by hand.
static void signed_bytes_stay_signed(void **state) {
    (void)state;
    uint8_t block[34] = {0x00, 0x3c}; // d = 1
    float x[32];
    _Alignas(64) uint8_t column[256];
    int32_t expected = 0;
    for (int i = 0; i < 32; i++) {
        block[2 + i] = (uint8_t)(200 + i);
        x[i] = (float)(i < 31 ? i + 1 : 127);
        expected += (200 + i - 256) * (i < 31 ? i + 1 : 127);
    }
    assert_true(sizeof column >= kernels_act_bytes(KERNELS_ACT_Q32, 32));
    assert_true(table.quantise[KERNELS_ACT_Q32](column, x, 32));
    float y = 0;
    const struct kernels_matmul m = {.w = block, .w_row_bytes = 34, .rows = 1, .k = 32,
                                     .act = column, .act_stride = 256, .n_cols = 1, .y = &y,
                                     .y_stride = 1};
    table.matmul[DTYPE_Q8_0](&m);
    assert_true(y == (float)expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_other_program),
        cmocka_unit_test(mxfp4_scales),
        cmocka_unit_test(signed_bytes_stay_signed),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

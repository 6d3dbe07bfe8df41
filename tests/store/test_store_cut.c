// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the pool: classes, the extent, what is promised and what is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "store/store_cut.h"
#include "tests/store/fake_model.h"
#include "tests/store/sim_platform.h"

static struct fake_model model;

static struct store_cut measure(void) {
    struct store_cut cut;
    locum_error error;
    if (store_cut_measure(&model.config, &cut, &error) != LOCUM_OK) fail_msg("%s", error.text);
    return cut;
}

// Slots for experts of a class when all extents are of that class.
static uint64_t slots_of(const struct store_cut *cut, uint32_t size_class) {
    return cut->extents * (cut->extent_bytes / cut->size_class[size_class].slot_bytes);
}

static void test_direct_reads_are_padded(void **state) {
    (void)state;
    // Files that are not named count as direct: one block more than the bytes fill, for each
    // segment that does not happen to begin with a block.
    fake_model_init(&model);
    fake_model_add(&model, 0, FAKE_STACKED, 8, (uint64_t[]){4096, 5000, 0});
    struct store_cut cut = measure();
    assert_int_equal(cut.unit, 4096);
    assert_int_equal(cut.size_class[0].slot_bytes, 2 * 4096 + 3 * 4096);

    struct platform_file file[FAKE_FILES] = {{0, model.file_bytes[0], false, "a"},
                                             {1, model.file_bytes[1], false, "b"}};
    struct platform_file *files[FAKE_FILES] = {&file[0], &file[1]};
    model.config.files = files;
    cut = measure();
    assert_true(cut.size_class[0].slot_bytes < 4096 + 5000 + 4 * 64);
}

static void test_layers_share_classes(void **state) {
    (void)state;
    fake_model_init(&model);
    const uint64_t mib = 1 << 20;
    const uint64_t size[] = {3 * mib, 2 * mib, 3 * mib + 3000, 3 * mib - 70000, 2 * mib, 1000};
    for (uint32_t i = 0; i < 6; i++)
        fake_model_add(&model, 0, FAKE_STACKED, 2, (uint64_t[]){size[i], 0, 0});
    fake_model_add(&model, 0, FAKE_STACKED, 0, (uint64_t[]){1, 1, 1});
    struct store_cut cut = measure();
    assert_int_equal(cut.experts, 12);
    assert_int_equal(cut.experts_widest, 2);
    assert_int_equal(cut.classes, 3);
    static const uint8_t expected[] = {0, 1, 0, 0, 1, 2};
    assert_memory_equal(cut.layer_class, expected, sizeof expected);
    assert_int_equal(cut.size_class[0].experts, 6);
    assert_int_equal(cut.size_class[1].experts, 4);
    assert_int_equal(cut.size_class[2].experts, 2);
}

static void add_layers(uint32_t count, uint64_t gate, uint64_t up, uint64_t down) {
    for (uint32_t i = 0; i < count; i++)
        fake_model_add(&model, 0, FAKE_STACKED, 64, (uint64_t[]){gate, up, down});
}

// Share of the pool in which experts lie, when the extents are shared out by weight.
static double used_share(uint64_t pool_bytes) {
    struct store_cut cut = measure();
    store_cut_choose(&cut, pool_bytes);
    assert_true(cut.extents * cut.extent_bytes <= pool_bytes);
    double weight = 0, filled = 0;
    for (uint32_t i = 0; i < cut.classes; i++) {
        double bytes = (double)cut.size_class[i].experts * (double)cut.size_class[i].slot_bytes;
        weight += bytes;
        filled += bytes * (double)(slots_of(&cut, i) * cut.size_class[i].slot_bytes);
    }
    return filled / weight / (double)pool_bytes;
}

// Real shapes: experts of 2048 x 768 in Q4_K, and the same with Q6_K in the third matrix.
static void test_little_is_lost(void **state) {
    (void)state;
    const uint64_t q4 = 2048 * 768 / 256 * 144, q6 = 2048 * 768 / 256 * 210;
    const uint64_t pool = UINT64_C(600) << 20;
    fake_model_init(&model);
    add_layers(8, q4, q4, q4);
    double one = used_share(pool);
    fake_model_init(&model);
    add_layers(4, q4, q4, q4);
    add_layers(4, q4, q4, q6);
    double two = used_share(pool);
    print_message("used: %.4f with one size, %.4f with two\n", one, two);
    assert_true(one > 0.99 && two > 0.96);
}

// Whatever the sizes and the pool: nobody has fewer slots than the largest experts would have.
static void test_every_class_has_its_slots(void **state) {
    (void)state;
    struct sim_random random = {5};
    for (int round = 0; round < 2000; round++) {
        fake_model_init(&model);
        uint32_t layers = (uint32_t)sim_range(&random, 1, FAKE_LAYERS_MAX);
        for (uint32_t i = 0; i < layers; i++)
            fake_model_add(
                &model, 0, FAKE_STACKED, (uint32_t)sim_range(&random, 1, 16),
                (uint64_t[]){sim_range(&random, 1, 50000), 0, sim_range(&random, 1, 200000)});
        struct store_cut cut = measure();
        uint64_t full = store_cut_full(&cut);
        uint64_t pool = sim_range(&random, store_cut_largest(&cut), full + full / 8);
        store_cut_choose(&cut, pool);
        assert_true(cut.extents * cut.extent_bytes <= pool);
        uint64_t promised = pool / store_cut_largest(&cut);
        uint64_t extents = 0;
        for (uint32_t i = 0; i < cut.classes; i++) {
            uint64_t per_extent = cut.extent_bytes / cut.size_class[i].slot_bytes;
            extents += (cut.size_class[i].experts + per_extent - 1) / per_extent;
            uint64_t least = promised < STORE_HELD_MAX ? promised : STORE_HELD_MAX;
            if (least > cut.size_class[i].experts) least = cut.size_class[i].experts;
            assert_true(slots_of(&cut, i) >= least);
        }
        assert_int_equal(cut.extents >= extents, pool >= full); // holds all when there is room
        assert_true(cut.extent_bytes % cut.unit == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_reads_are_padded),
        cmocka_unit_test(test_layers_share_classes),
        cmocka_unit_test(test_little_is_lost),
        cmocka_unit_test(test_every_class_has_its_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_layout.h"

enum { UNIT = 4096 };

static struct store_layout make(struct store_segment gate, struct store_segment up,
                                struct store_segment down) {
    struct store_layout layout;
    store_layout_make((struct store_segment[]){gate, up, down}, UNIT, &layout);
    return layout;
}

static void assert_range(const struct store_range *range, struct store_range expected) {
    assert_int_equal(range->file, expected.file);
    assert_int_equal(range->offset, expected.offset);
    assert_int_equal(range->bytes, expected.bytes);
    assert_int_equal(range->needed, expected.needed);
    assert_int_equal(range->place, expected.place);
}

static void test_whole_blocks_around_a_segment(void **state) {
    (void)state;
    struct store_layout layout = make((struct store_segment){1, 5000, 100},
                                      (struct store_segment){0}, (struct store_segment){0});
    assert_int_equal(layout.ranges, 1);
    assert_range(&layout.range[0], (struct store_range){1, UNIT, UNIT, 1004, 0, 0});
    assert_int_equal(layout.place[0], 5000 - UNIT);
    assert_int_equal(layout.bytes, UNIT);
    assert_int_equal(layout.wanted, 100);
    // One byte into the next block.
    layout = make((struct store_segment){0, 4095, 2}, (struct store_segment){0},
                  (struct store_segment){0});
    assert_range(&layout.range[0], (struct store_range){0, 0, 2 * UNIT, 4097, 0, 0});
}

// Blocks between two segments are not read for nothing.
static void test_what_touches_is_one_range(void **state) {
    (void)state;
    const struct {
        uint64_t up; // gate fills blocks 0 and 1
        uint32_t ranges;
    } cases[] = {{2 * UNIT - 1, 1}, {2 * UNIT, 1}, {3 * UNIT - 1, 1}, {3 * UNIT, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store_layout layout =
            make((struct store_segment){0, 10, 2 * UNIT - 20},
                 (struct store_segment){0, cases[i].up, 50}, (struct store_segment){0});
        assert_int_equal(layout.ranges, cases[i].ranges);
        uint64_t gap = layout.ranges == 1 ? 0 : UNIT;
        assert_int_equal(layout.place[0], 10);
        assert_int_equal(layout.place[1], cases[i].up - gap);
    }
}

static void test_file_order(void **state) {
    (void)state;
    // down lies first, up in another file; place follows the order of the file.
    struct store_layout layout =
        make((struct store_segment){0, 9 * UNIT, 10}, (struct store_segment){1, 0, UNIT},
             (struct store_segment){0, UNIT, 3 * UNIT});
    assert_int_equal(layout.ranges, 3);
    assert_range(&layout.range[0], (struct store_range){0, UNIT, 3 * UNIT, 3 * UNIT, 0, 2});
    assert_range(&layout.range[1], (struct store_range){0, 9 * UNIT, UNIT, 10, 3 * UNIT, 0});
    assert_range(&layout.range[2], (struct store_range){1, 0, UNIT, UNIT, 4 * UNIT, 1});
    assert_int_equal(layout.place[0], 3 * UNIT);
    assert_int_equal(layout.place[1], 4 * UNIT);
    assert_int_equal(layout.place[2], 0);
    assert_int_equal(layout.bytes, 5 * UNIT);
}

// The same bytes twice, or one inside the other: read once.
static void test_overlap(void **state) {
    (void)state;
    struct store_layout layout =
        make((struct store_segment){0, 100, 5 * UNIT}, (struct store_segment){0, 100, 5 * UNIT},
             (struct store_segment){0, 200, 10});
    assert_int_equal(layout.ranges, 1);
    assert_range(&layout.range[0], (struct store_range){0, 0, 6 * UNIT, 5 * UNIT + 100, 0, 0});
    assert_int_equal(layout.place[0], 100);
    assert_int_equal(layout.place[1], 100);
    assert_int_equal(layout.place[2], 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_blocks_around_a_segment),
        cmocka_unit_test(test_what_touches_is_one_range),
        cmocka_unit_test(test_file_order),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

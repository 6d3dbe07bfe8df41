// SPDX-License-Identifier: Apache-2.0
//
// Who goes first, on a pool of two classes: four extents of two small slots or one large.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_evict.h"

#include <string.h>

enum { LARGE, SMALL, EXTENTS = 4, EXPERTS = 16 };

static struct store_cut cut;
static struct store_pool pool;
static struct store_evict evict;
static struct store_extent extents[EXTENTS];
static struct store_slot slots[2 * EXTENTS];
static uint8_t memory[EXTENTS * 200];
static uint64_t policy_state[1024], mark[EXPERTS];
static const uint32_t layer_first[] = {0, EXPERTS};

static int start(void **state) {
    (void)state;
    cut = (struct store_cut){.classes = 2,
                             .size_class = {{200, EXPERTS}, {100, EXPERTS}},
                             .extent_bytes = 200,
                             .extents = EXTENTS,
                             .extent_slots = 2};
    store_pool_init(&pool, &cut, memory, extents, slots);
    struct store_shape shape = {1, EXPERTS, layer_first};
    assert_true(store_policy_lru.bytes(1, EXPERTS) <= sizeof policy_state);
    memset(policy_state, 0, sizeof policy_state);
    memset(mark, 0, sizeof mark);
    store_evict_init(&evict, &store_policy_lru, &shape, mark, policy_state);
    return 0;
}

// A step uses the expert.
static void touch(uint32_t expert, enum store_order order) {
    store_evict_step(&evict, 0, &expert, 1, order);
}

// The expert is read into the pool; gives its slot.
static uint32_t insert(uint32_t expert, uint32_t size_class, enum store_order order) {
    uint32_t slot = store_pool_find(&pool, size_class);
    assert_int_not_equal(slot, STORE_NONE);
    touch(expert, order);
    store_pool_fill(&pool, slot, size_class, expert);
    store_evict_inserted(&evict, expert, order);
    store_slot_move(&pool.slot[slot], STORE_SLOT_READY);
    return slot;
}

static void fill_small(enum store_order order) {
    for (uint32_t i = 0; i < 2 * EXTENTS; i++)
        assert_int_equal(insert(i, SMALL, order), i);
    assert_int_equal(store_pool_find(&pool, SMALL), STORE_NONE);
}

static void assert_victim(uint32_t size_class, bool keep, uint32_t slot, uint32_t count) {
    struct store_victim victim;
    assert_true(store_evict_choose(&evict, &pool, size_class, keep, 3, &victim));
    assert_int_equal(victim.slot, slot);
    assert_int_equal(victim.count, count);
}

static void assert_no_victim(uint32_t size_class, bool keep) {
    struct store_victim victim;
    assert_false(store_evict_choose(&evict, &pool, size_class, keep, 3, &victim));
}

static void test_least_recently_used(void **state) {
    (void)state;
    fill_small(STORE_ANY);
    assert_victim(SMALL, false, 0, 1);
    touch(0, STORE_ANY);
    touch(1, STORE_ANY);
    assert_victim(SMALL, false, 2, 1);
    touch(2, STORE_ASCENDING); // a prompt passes by: no merit
    assert_victim(SMALL, false, 2, 1);
    assert_no_victim(SMALL, true);
}

static void test_what_a_prompt_brought_goes_first(void **state) {
    (void)state;
    fill_small(STORE_ASCENDING);
    assert_victim(SMALL, true, 7, 1); // the latest
    touch(7, STORE_ANY);
    touch(6, STORE_ANY); // decode works with them now
    assert_victim(SMALL, true, 5, 1);
    for (uint32_t i = 0; i < 6; i++)
        touch(i, STORE_ANY);
    assert_no_victim(SMALL, true);
    assert_victim(SMALL, false, 7, 1);
}

static void test_nothing_in_use_goes(void **state) {
    (void)state;
    fill_small(STORE_ANY);
    slots[0].entry = 0;                          // kept by the step
    store_slot_move(&slots[1], STORE_SLOT_HELD); // computed with
    store_pool_empty(&pool, 2);                  // and read again
    store_pool_fill(&pool, 2, SMALL, 2);
    assert_victim(SMALL, false, 3, 1);
    assert_victim(LARGE, false, 4, 2); // extents 0 and 1 are in use
    for (uint32_t i = 3; i < 2 * EXTENTS; i++)
        slots[i].entry = i;
    assert_no_victim(SMALL, false);
    assert_no_victim(LARGE, false);
}

static void test_an_extent_changes_its_class(void **state) {
    (void)state;
    fill_small(STORE_ANY);
    touch(0, STORE_ANY); // extent 0 is no longer the oldest as a whole
    assert_victim(LARGE, false, 2, 2);
    store_pool_empty(&pool, 2);
    store_pool_empty(&pool, 3);
    assert_int_equal(store_pool_find(&pool, SMALL), 2);
    assert_int_equal(insert(8, LARGE, STORE_ANY), 2);
    // The one large expert is the youngest: an extent of older ones goes for the next.
    assert_victim(LARGE, false, 4, 2);
    // Among the small ones the oldest goes, though half of its extent is younger.
    assert_victim(SMALL, false, 1, 1);
    for (uint32_t i = 0; i < 8; i++)
        touch(i, STORE_ANY);
    assert_victim(LARGE, false, 2, 1);
    assert_victim(SMALL, false, 2, 1); // the large one is older than all of them: its extent
}

static void test_extents_are_counted(void **state) {
    (void)state;
    fill_small(STORE_ANY);
    assert_int_equal(pool.bytes_used, 8 * 100);
    assert_int_equal(pool.extents_free, 0);
    store_pool_empty(&pool, 5);
    assert_int_equal(store_pool_find(&pool, LARGE), STORE_NONE);
    assert_int_equal(store_pool_find(&pool, SMALL), 5);
    store_pool_empty(&pool, 4);
    assert_int_equal(pool.extents_free, 1);
    assert_int_equal(store_pool_find(&pool, LARGE), 4);
    assert_int_equal(insert(9, LARGE, STORE_ANY), 4);
    assert_int_equal(pool.bytes_used, 6 * 100 + 200);
    assert_ptr_equal(store_pool_address(&pool, 4), memory + 2 * 200);
    assert_ptr_equal(store_pool_address(&pool, 7), memory + 3 * 200 + 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_least_recently_used, start),
        cmocka_unit_test_setup(test_what_a_prompt_brought_goes_first, start),
        cmocka_unit_test_setup(test_nothing_in_use_goes, start),
        cmocka_unit_test_setup(test_an_extent_changes_its_class, start),
        cmocka_unit_test_setup(test_extents_are_counted, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

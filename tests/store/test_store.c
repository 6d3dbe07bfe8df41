// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the store relies on, case by case, on the simulated platform.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/store/fake_model.h"
#include "tests/store/sim_platform.h"

// Experts of two sizes, in turn; stacked, read directly.
static const uint64_t small_bytes[STORE_SEGMENTS] = {9000, 9000, 12000};
static const uint64_t large_bytes[STORE_SEGMENTS] = {21000, 21000, 30000};
enum { LAYERS = 4, EXPERTS = 32, ROUTED = 4 };

struct world {
    struct fake_model model;
    struct platform_file file[FAKE_FILES];
    struct platform_file *files[FAKE_FILES];
    struct store *store;
};
static struct world world;

static void make_model(enum fake_order order, const uint64_t *even, const uint64_t *odd) {
    sim_reset(7);
    memset(&world, 0, sizeof world);
    fake_model_init(&world.model);
    for (uint32_t i = 0; i < LAYERS; i++)
        fake_model_add(&world.model, 0, order, EXPERTS, i % 2 == 0 ? even : odd);
    for (uint32_t i = 0; i < FAKE_FILES; i++) {
        world.file[i] = (struct platform_file){i, world.model.file_bytes[i], true, "model.gguf"};
        world.files[i] = &world.file[i];
    }
    world.model.config.files = world.files;
}

static uint64_t floor_bytes(uint32_t held) {
    uint64_t bytes;
    assert_int_equal(store_floor(&world.model.config, held, &bytes, NULL), LOCUM_OK);
    return bytes;
}

static uint64_t full_bytes(void) {
    uint64_t bytes;
    assert_int_equal(store_full(&world.model.config, &bytes, NULL), LOCUM_OK);
    return bytes;
}

static void open_store(uint64_t slot_bytes) {
    locum_error error;
    world.model.config.slot_bytes = slot_bytes;
    if (store_create(&world.model.config, &world.store, &error) != LOCUM_OK)
        fail_msg("%s", error.text);
}

static void close_store(void) {
    store_destroy(world.store);
    world.store = NULL;
    assert_int_equal(sim_vmem_bytes, 0);
}

static struct store_stats stats(void) {
    struct store_stats now;
    store_get_stats(world.store, &now);
    return now;
}

static void begin(uint32_t layer, const uint32_t *ids, uint32_t count, enum store_order order) {
    enum store_phase phase = order == STORE_ANY ? STORE_DECODE : STORE_PREFILL;
    locum_error error;
    if (store_begin(world.store, layer, ids, count, order, phase, &error) != LOCUM_OK)
        fail_msg("%s", error.text);
}

static struct store_expert take(uint32_t layer) {
    struct store_expert expert;
    bool got;
    locum_error error;
    if (store_take(world.store, true, &expert, &got, &error) != LOCUM_OK)
        fail_msg("%s", error.text);
    assert_true(got);
    assert_true(fake_model_right(&world.model, layer, &expert));
    return expert;
}

static void assert_all_taken(void) {
    struct store_expert expert;
    bool got = true;
    assert_int_equal(store_take(world.store, true, &expert, &got, NULL), LOCUM_OK);
    assert_false(got);
}

static void run(uint32_t layer, const uint32_t *ids, uint32_t count, enum store_order order) {
    begin(layer, ids, count, order);
    for (uint32_t i = 0; i < count; i++)
        store_done(world.store, take(layer).slot);
    assert_all_taken();
    store_end(world.store);
    locum_error error;
    if (!store_check(world.store, &error)) fail_msg("%s", error.text);
}

// All experts of all layers, as a long prompt needs them.
static void run_prompt(void) {
    uint32_t ids[EXPERTS];
    for (uint32_t i = 0; i < EXPERTS; i++)
        ids[i] = i;
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        run(layer, ids, EXPERTS, STORE_ASCENDING);
}

// One token: ROUTED experts in each layer, from the first `popular` of them.
static void run_token(struct sim_random *random, uint32_t popular) {
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        uint32_t ids[ROUTED], id = 0;
        for (uint32_t i = 0; i < ROUTED; i++) {
            uint32_t rest = popular - ROUTED + i;
            id = (uint32_t)sim_range(random, id, rest);
            ids[i] = id++;
        }
        run(layer, ids, ROUTED, STORE_ANY);
    }
}

static double decode_hit_rate(const struct store_stats *before) {
    struct store_stats now = stats();
    double hits = (double)(now.hits[STORE_DECODE] - before->hits[STORE_DECODE]);
    return hits / (hits + (double)(now.misses[STORE_DECODE] - before->misses[STORE_DECODE]));
}

// ---- the budget ---------------------------------------------------------------------------------

static void test_room_for_all_reads_once(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    run_prompt();
    struct store_stats first = stats();
    assert_int_equal(first.misses[STORE_PREFILL], LAYERS * EXPERTS);
    assert_int_equal(first.bytes_wanted, world.model.expert_bytes);
    struct sim_random random = {1};
    for (int i = 0; i < 50; i++)
        run_token(&random, EXPERTS);
    run_prompt();
    struct store_stats last = stats();
    assert_int_equal(last.bytes_read, first.bytes_read);
    assert_int_equal(last.evictions, 0);
    assert_int_equal(last.hits[STORE_DECODE], 50 * LAYERS * ROUTED);
    assert_int_equal(last.hits[STORE_PREFILL], LAYERS * EXPERTS);
    assert_int_equal(last.misses[STORE_DECODE], 0);
    close_store();
}

// More than everything is not taken from the system.
static void test_takes_no_more_than_all_need(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    uint64_t full = full_bytes();
    open_store(full * 10);
    assert_true(stats().pool_bytes <= full);
    close_store();
}

static void test_more_budget_fewer_reads(void **state) {
    (void)state;
    double last = -1;
    for (uint32_t percent = 10; percent <= 100; percent += 15) {
        make_model(FAKE_STACKED, small_bytes, large_bytes);
        open_store(full_bytes() * percent / 100);
        assert_true(stats().pool_bytes <= full_bytes() * percent / 100);
        struct sim_random random = {1};
        for (int i = 0; i < 150; i++)
            run_token(&random, EXPERTS);
        struct store_stats warm = stats();
        for (int i = 0; i < 100; i++)
            run_token(&random, EXPERTS);
        double rate = decode_hit_rate(&warm);
        print_message("pool for %u %%: hit rate %.3f\n", percent, rate);
        assert_true(rate > last);
        last = rate;
        close_store();
    }
    assert_true(last == 1);
}

// A pool of a few slots is filled too, though the layers take turns with two sizes: at every moment
// there is room for less than two experts more.
static void test_small_pools_are_filled(void **state) {
    (void)state;
    static const uint64_t even[] = {20000, 20000, 30000}, odd[] = {20000, 20000, 20000};
    for (uint32_t half = 4; half <= 40; half++) {
        make_model(FAKE_STACKED, even, odd);
        uint64_t largest = floor_bytes(2) - floor_bytes(1), bookkeeping = floor_bytes(1) - largest;
        open_store(floor_bytes(1) + largest * (half - 2) / 2);
        struct sim_random random = {half};
        run_prompt();
        for (int i = 0; i < 20; i++)
            run_token(&random, EXPERTS);
        struct store_stats now = stats();
        assert_true(now.evictions > 0);
        if (now.resident_bytes + 2 * largest + bookkeeping < now.pool_bytes)
            fail_msg("%u halves: %llu bytes of %llu are filled", half,
                     (unsigned long long)now.resident_bytes, (unsigned long long)now.pool_bytes);
        close_store();
    }
}

// What decode works with is still there after a prompt that needs every expert.
static void test_hits_survive_a_prompt(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes() / 2);
    struct sim_random random = {1};
    for (int i = 0; i < 100; i++)
        run_token(&random, EXPERTS / 2 - 2);
    struct store_stats before = stats();
    for (int i = 0; i < 20; i++)
        run_token(&random, EXPERTS / 2 - 2);
    double quiet = decode_hit_rate(&before);
    run_prompt();
    run_prompt();
    before = stats();
    for (int i = 0; i < 20; i++)
        run_token(&random, EXPERTS / 2 - 2);
    double after = decode_hit_rate(&before);
    print_message("hit rate %.3f, after a prompt %.3f\n", quiet, after);
    assert_true(quiet > 0.9 && after > quiet - 0.1);
    close_store();
}

// However fast the disk is: reading ahead of a slow caller does not push out more than it needs.
static void test_a_prompt_passes_through_few_slots(void **state) {
    (void)state;
    make_model(FAKE_PACKED, small_bytes, small_bytes);
    uint32_t ids[EXPERTS];
    for (uint32_t i = 0; i < EXPERTS; i++)
        ids[i] = i;
    open_store(full_bytes() / 2);
    for (uint32_t layer = 0; layer < 2; layer++) // fill the pool from two of the layers
        run(layer, ids, EXPERTS, STORE_ANY);
    sim_disk.latency_ns_max = 0;
    run(2, ids, EXPERTS, STORE_ASCENDING);
    // A caller that takes all that is ready before it computes.
    begin(3, ids, EXPERTS, STORE_ASCENDING);
    for (uint32_t taken = 0, held = 0, slots[EXPERTS]; taken < EXPERTS; taken += held) {
        struct store_expert expert;
        bool got = true;
        for (held = 0; got; held += got) {
            assert_int_equal(store_take(world.store, held == 0, &expert, &got, NULL), LOCUM_OK);
            slots[held] = expert.slot;
        }
        for (uint32_t i = 0; i < held; i++)
            store_done(world.store, slots[i]);
    }
    store_end(world.store);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 2 * EXPERTS; i++)
        kept += store_resident(world.store, i / EXPERTS, i % EXPERTS);
    print_message("%u of %u stayed\n", kept, 2 * EXPERTS);
    assert_in_range(kept, 2 * EXPERTS - 7, 2 * EXPERTS - 1);
    close_store();
}

// A prompt in chunks finds what the first chunk left: the pool is not turned over for nothing.
static void test_second_chunk_hits(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes() / 2);
    run_prompt();
    run_prompt();
    struct store_stats now = stats();
    print_message("second chunk: %u of %u hit\n", (unsigned)now.hits[STORE_PREFILL],
                  LAYERS * EXPERTS);
    assert_true(now.hits[STORE_PREFILL] > LAYERS * EXPERTS * 4 / 10);
    close_store();
}

static void test_floor_runs_every_layer(void **state) {
    (void)state;
    for (uint32_t held = 1; held <= 4; held++) {
        make_model(FAKE_STACKED, small_bytes, large_bytes);
        uint64_t floor = floor_bytes(held);
        assert_true(floor < (held + 1) * (21000 + 21000 + 30000 + 6 * 4096));
        open_store(floor);
        assert_true(stats().pool_bytes <= floor);
        struct sim_random random = {held};
        for (int i = 0; i < 5; i++)
            run_token(&random, EXPERTS);
        run_prompt();
        uint32_t all[EXPERTS];
        for (uint32_t i = 0; i < EXPERTS; i++)
            all[i] = i;
        for (uint32_t layer = 0; layer < LAYERS; layer++) // many rounds
            run(layer, all, EXPERTS, STORE_ANY);
        close_store();
    }
}

// ---- order --------------------------------------------------------------------------------------

static void test_any_gives_hits_first(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    const uint32_t warm[] = {3, 9, 20};
    run(1, warm, 3, STORE_ANY);
    const uint32_t ids[] = {1, 3, 5, 9, 20, 31};
    sim_disk.latency_ns_max = 0; // the misses are there at once, and still come second
    begin(1, ids, 6, STORE_ANY);
    for (uint32_t i = 0; i < 6; i++) {
        struct store_expert expert = take(1);
        assert_int_equal(expert.hit, i < 3);
        if (i < 3) assert_int_equal(expert.id, warm[i]);
        store_done(world.store, expert.slot);
    }
    store_end(world.store);
    struct store_stats now = stats();
    assert_int_equal(now.hits[STORE_DECODE], 3);
    assert_int_equal(now.misses[STORE_DECODE], 6);
    close_store();
}

static void test_ascending_reads_ahead(void **state) {
    (void)state;
    make_model(FAKE_PACKED, small_bytes, large_bytes); // one read each
    world.model.config.depth = 3;
    open_store(floor_bytes(2)); // two of the large ones
    const uint32_t ids[] = {2, 4, 6, 8};
    begin(1, ids, 4, STORE_ASCENDING);
    const struct store_segment *segments = world.model.segment[1];
    for (uint32_t i = 0; i < 4; i++) {
        struct store_expert expert = take(1);
        assert_int_equal(expert.id, ids[i]);
        // While this one is computed the next is on its way, and no later one.
        uint32_t ahead = i < 3 ? ids[i + 1] : ids[3];
        uint64_t at = segments[ahead * STORE_SEGMENTS].offset / FILE_BLOCK * FILE_BLOCK;
        assert_int_equal(sim_disk.last_offset, at);
        store_done(world.store, expert.slot);
    }
    store_end(world.store);
    close_store();
}

static void test_adjacent_segments_are_one_read(void **state) {
    (void)state;
    const uint32_t ids[] = {0, 7, 31};
    make_model(FAKE_PACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    run(0, ids, 3, STORE_ANY);
    assert_int_equal(stats().reads, 3);
    assert_int_equal(sim_disk.reads, 3);
    close_store();
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    run(0, ids, 3, STORE_ANY);
    assert_int_equal(stats().reads, 9);
    assert_int_equal(stats().bytes_read, sim_disk.bytes);
    assert_int_equal(stats().bytes_wanted, 3 * 30000);
    close_store();
}

// What is missing is on its way at once, as many reads as the queue takes, before anything is waited
// for; and each read is a whole segment, nothing in parts.
static void test_misses_are_read_together(void **state) {
    (void)state;
    static const uint32_t ids[ROUTED] = {3, 7, 11, 30};
    make_model(FAKE_STACKED, large_bytes, large_bytes);
    world.model.config.depth = 6;
    sim_disk.latency_ns_max = 1000000;
    open_store(full_bytes() / 2);
    begin(0, ids, ROUTED, STORE_ANY);
    assert_int_equal(stats().in_flight_most, 6);
    for (uint32_t i = 0; i < ROUTED; i++)
        store_done(world.store, take(0).slot);
    store_end(world.store);
    struct store_stats quiet = stats();
    assert_int_equal(quiet.reads, ROUTED * STORE_SEGMENTS);
    assert_true(quiet.bytes_read < quiet.bytes_wanted + quiet.reads * 2 * FILE_BLOCK);
    assert_true(quiet.reading_ns > 0);
    run(0, ids, ROUTED, STORE_ANY); // hits
    assert_int_equal(stats().reading_ns, quiet.reading_ns);
    run_prompt();
    struct store_stats last = stats();
    uint64_t misses = last.misses[STORE_PREFILL] + last.misses[STORE_DECODE];
    assert_int_equal(last.reads, misses * STORE_SEGMENTS);
    assert_int_equal(last.in_flight_most, 6);
    close_store();
}

static void test_take_without_waiting(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    const uint32_t ids[] = {5};
    struct store_expert expert = {.id = 77};
    bool got = true;
    sim_disk.latency_ns_max = UINT64_C(1) << 40;
    begin(0, ids, 1, STORE_ANY);
    assert_int_equal(store_take(world.store, false, &expert, &got, NULL), LOCUM_OK);
    assert_false(got);
    assert_int_equal(expert.id, 77);
    assert_false(store_resident(world.store, 0, 5));
    take(0);
    assert_true(store_resident(world.store, 0, 5));
    assert_true(stats().wait_ns > 0);
    store_end(world.store); // releases what is held, and drops it: it may be half rearranged
    assert_false(store_resident(world.store, 0, 5));
    close_store();
}

static void test_fresh_until_done(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    const uint32_t ids[] = {5};
    for (int turn = 0; turn < 3; turn++) {
        begin(0, ids, 1, STORE_ANY);
        struct store_expert expert = take(0);
        assert_int_equal(expert.fresh, turn == 0);
        assert_int_equal(expert.hit, turn > 0);
        if (turn < 2) store_done(world.store, expert.slot);
        store_end(world.store); // in the last turn it is held, but its bytes are as they will be
    }
    assert_true(store_resident(world.store, 0, 5));
    close_store();
}

// ---- hints --------------------------------------------------------------------------------------

// What a hint names is there, or on its way, when its layer begins: a hit, and told apart.
static void test_hinted_experts_are_hits(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    const uint32_t first[] = {1, 2}, second[] = {7, 9};
    run(0, first, 2, STORE_ANY);
    store_hint(world.store, 1, (const uint32_t[]){9}, 1);
    assert_int_equal(stats().hinted, 1);
    begin(1, second, 2, STORE_ANY);
    for (int i = 0; i < 2; i++) {
        struct store_expert expert = take(1);
        assert_int_equal(expert.hit, expert.id == 9);
        assert_int_equal(expert.hinted, expert.id == 9);
        assert_true(expert.fresh);
        store_done(world.store, expert.slot);
    }
    store_end(world.store);
    assert_int_equal(stats().hinted_used, 1);
    assert_int_equal(stats().misses[STORE_DECODE], 3);
    run(1, second, 2, STORE_ANY); // now it is a hit like any other
    assert_int_equal(stats().hits[STORE_DECODE], 3);
    assert_int_equal(stats().hinted_used, 1);
    close_store();
}

// Demand comes first: nothing is read ahead while a step waits for two experts, and what has not been
// begun when the next layer begins is forgotten.
// Experts 9, 5 and 2 of layer 0 were used in earlier runs, 9 most.
static void learn(void) {
    static const uint32_t steps[LAYERS] = {10, 10, 10, 10};
    uint32_t uses[LAYERS * EXPERTS] = {[5] = 4, [9] = 10, [2] = 1};
    store_learn(world.store, steps, uses);
}

static void test_what_earlier_runs_used_is_there(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, small_bytes);
    open_store(full_bytes());
    learn();
    static const uint32_t other[] = {1, 3}, known[] = {2, 5, 9};
    run(1, other, 2, STORE_ASCENDING); // meanwhile they are read
    run(0, known, 3, STORE_ANY);
    assert_int_equal(stats().warmed, 3);
    assert_int_equal(stats().misses[STORE_PREFILL], 2);
    assert_int_equal(stats().hits[STORE_DECODE], 3);
    const uint32_t *steps, *uses;
    store_get_uses(world.store, &steps, &uses);
    assert_true(steps[0] == 11 && steps[1] == 10); // prompts do not count
    assert_true(uses[9] == 11 && uses[5] == 5 && uses[EXPERTS + 3] == 0 && uses[0] == 0);
    close_store();
}

static void test_a_prompt_keeps_what_earlier_runs_used(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, small_bytes);
    open_store(full_bytes() / 4);
    learn();
    run_prompt();
    assert_true(store_resident(world.store, 0, 9) && store_resident(world.store, 0, 5) &&
                store_resident(world.store, 0, 2));
    assert_true(stats().evictions > 0);
    assert_true(stats().warmed <= 3);
    close_store();
}

static void test_other_bytes_are_noticed(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, small_bytes);
    world.model.config.verify = true;
    open_store(floor_bytes(1));
    static const uint32_t one[] = {3}, other[] = {4};
    run(0, one, 1, STORE_ANY);
    run(0, other, 1, STORE_ANY);
    run(0, one, 1, STORE_ANY);
    assert_true(stats().verified == 1 && stats().unequal == 0);
    run(0, other, 1, STORE_ANY);
    sim_disk.flip_percent = 100;
    begin(0, one, 1, STORE_ANY);
    struct store_expert expert;
    bool got;
    locum_error error;
    // Three reads, each with a wrong bit: hardly all of them beside the expert's own bytes.
    assert_int_equal(store_take(world.store, true, &expert, &got, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "layer 0, expert 3"));
    store_end(world.store);
    sim_disk.flip_percent = 0;
    run(0, one, 1, STORE_ANY); // the store stays usable
    run(0, other, 1, STORE_ANY);
    close_store();
}

static void test_hints_wait_for_the_step(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    sim_disk.latency_ns_max = 1000;
    const uint32_t ids[] = {1, 2, 3, 4}, other[] = {5};
    begin(0, ids, 4, STORE_ANY);
    store_hint(world.store, 1, (const uint32_t[]){9, 10, 11, 12, 13, 14, 15}, 7);
    assert_int_equal(stats().hinted, 0);
    for (int i = 0; i < 4; i++)
        store_done(world.store, take(0).slot);
    uint64_t begun = stats().hinted;
    assert_in_range(begun, 1, 6);
    store_end(world.store);
    run(2, other, 1, STORE_ANY);
    assert_int_equal(stats().hinted, begun);
    close_store();
}

// Where most of what is read ahead goes unused, none is wanted for a while.
static void test_wrong_hints_are_ignored(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(floor_bytes(4));
    uint32_t steps = 0;
    for (; store_wants_hints(world.store) && steps < 1000; steps++) {
        const uint32_t right = steps % EXPERTS, wrong = (steps + 7) % EXPERTS;
        store_hint(world.store, 2 * (steps % 2), &wrong, 1);
        run(2 * (steps % 2), &right, 1, STORE_ANY);
    }
    assert_in_range(steps, 30, 999);
    assert_true(stats().hinted_wasted > stats().hinted_used);
    uint32_t ignored = 1;
    while (!store_wants_hints(world.store) && ignored < 10000)
        ignored++;
    assert_in_range(ignored, 100, 9999);
    close_store();
}

// ---- size ---------------------------------------------------------------------------------------

// A smaller pool holds what was used last; grown again it is as good as before.
static void test_resize(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    run_prompt();
    uint64_t all = stats().pool_bytes;
    const uint32_t ids[] = {3, 11, 19, 30};
    run(2, ids, 4, STORE_ANY);
    locum_error error;
    assert_int_equal(store_resize(world.store, all / 2, &error), LOCUM_OK);
    assert_true(stats().pool_bytes <= all / 2 && stats().pool_bytes > all / 3);
    assert_true(stats().resident_bytes <= stats().pool_bytes);
    uint64_t misses = stats().misses[STORE_DECODE];
    run(2, ids, 4, STORE_ANY);
    assert_int_equal(stats().misses[STORE_DECODE], misses);
    run_prompt(); // with half of the room, in rounds
    assert_int_equal(store_resize(world.store, UINT64_MAX, &error), LOCUM_OK);
    assert_int_equal(stats().pool_bytes, all);
    run_prompt();
    run_prompt();
    assert_int_equal(stats().pool_bytes, all);
    close_store();
}

// Any step runs in the least pool, and there is none below it. Within a layer nothing changes.
static void test_resize_refused(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    locum_error error;
    assert_int_equal(store_resize(world.store, 4096, &error), LOCUM_E_BUDGET);
    assert_non_null(strstr(error.text, "the least is"));
    assert_int_equal(store_resize(world.store, stats().pool_least, &error), LOCUM_OK);
    assert_int_equal(stats().pool_bytes, stats().pool_least);
    run_prompt();
    const uint32_t ids[] = {5};
    begin(0, ids, 1, STORE_ANY);
    assert_int_equal(store_resize(world.store, UINT64_MAX, &error), LOCUM_E_ARGUMENT);
    store_end(world.store);
    close_store();
}

// ---- failures -----------------------------------------------------------------------------------

static const struct store_segment *bad_place(uint32_t layer, uint32_t id, uint32_t times) {
    const struct store_segment *segment = &world.model.segment[layer][id * STORE_SEGMENTS];
    sim_disk.bad_offset = segment->offset + 5000;
    sim_disk.bad_bytes = 1;
    sim_disk.fail_times = times;
    return segment;
}

static void test_one_error_is_read_again(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    bad_place(2, 6, 1);
    const uint32_t ids[] = {6, 12};
    run(2, ids, 2, STORE_ANY);
    assert_int_equal(sim_disk.failures, 1);
    assert_int_equal(stats().retries, 1);
    assert_int_equal(stats().reads, sim_disk.reads);
    close_store();
}

static void test_two_errors_end_the_step(void **state) {
    (void)state;
    for (int order = STORE_ANY; order <= STORE_ASCENDING; order++) {
        make_model(FAKE_STACKED, small_bytes, large_bytes);
        open_store(floor_bytes(2));
        const struct store_segment *segment = bad_place(2, 6, UINT32_MAX);
        const uint32_t ids[] = {1, 6, 12, 13, 14};
        begin(2, ids, 5, order);
        locum_error error;
        locum_status status = LOCUM_OK;
        for (uint32_t i = 0; i < 5 && status == LOCUM_OK; i++) {
            struct store_expert expert;
            bool got;
            status = store_take(world.store, true, &expert, &got, &error);
            if (status == LOCUM_OK) store_done(world.store, expert.slot);
        }
        assert_int_equal(status, LOCUM_E_IO);
        char offset[24];
        snprintf(offset, sizeof offset, "%llu",
                 (unsigned long long)(segment->offset / FILE_BLOCK * FILE_BLOCK));
        assert_non_null(strstr(error.text, "model.gguf"));
        assert_non_null(strstr(error.text, offset));
        store_end(world.store);
        assert_false(store_resident(world.store, 2, 6));
        assert_int_equal(stats().retries, 1);
        const uint32_t others[] = {0, 2, 3};
        run(2, others, 3, order); // other requests go on
        sim_disk.fail_times = 0;
        run(2, ids, 5, order); // and this one, when the disk is well again
        close_store();
    }
}

static void test_a_file_that_shrank(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    world.file[0].size -= 100; // within the last segment of the last expert
    const uint32_t ids[] = {EXPERTS - 1};
    begin(LAYERS - 1, ids, 1, STORE_ANY);
    struct store_expert expert;
    bool got;
    locum_error error;
    assert_int_equal(store_take(world.store, true, &expert, &got, &error), LOCUM_E_IO);
    assert_non_null(strstr(error.text, "model.gguf: the file ended at byte"));
    store_end(world.store);
    close_store();
}

// ---- misuse -------------------------------------------------------------------------------------

static void test_wrong_calls_are_refused(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(floor_bytes(2));
    struct store_expert expert;
    bool got;
    const uint32_t falling[] = {4, 3}, twice[] = {4, 4}, past[] = {EXPERTS}, good[] = {1, 2, 3, 4};
    const struct {
        uint32_t layer, count;
        const uint32_t *ids;
    } bad[] = {{0, 2, falling}, {0, 2, twice}, {0, 1, past}, {LAYERS, 1, good}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(store_begin(world.store, bad[i].layer, bad[i].ids, bad[i].count, STORE_ANY,
                                     STORE_DECODE, NULL),
                         LOCUM_E_ARGUMENT);
    assert_int_equal(store_take(world.store, true, &expert, &got, NULL), LOCUM_E_ARGUMENT);
    store_end(world.store); // nothing has begun: nothing happens
    begin(0, NULL, 0, STORE_ANY);
    assert_all_taken();
    store_end(world.store);

    // Layer 1 has the large experts: the pool has room for two of them.
    begin(1, good, 4, STORE_ANY);
    assert_int_equal(store_begin(world.store, 0, good, 1, STORE_ANY, STORE_DECODE, NULL),
                     LOCUM_E_ARGUMENT);
    uint32_t slot = take(1).slot;
    take(1);
    assert_int_equal(store_take(world.store, true, &expert, &got, NULL), LOCUM_E_ARGUMENT);
    store_done(world.store, slot);
    take(1);
    store_end(world.store);
    close_store();
    store_destroy(NULL);
}

static void assert_refused(locum_status status, const char *words) {
    locum_error error;
    struct store *store;
    assert_int_equal(store_create(&world.model.config, &store, &error), status);
    assert_null(store);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

// A read ahead that fails is nobody's failure; the expert is read again when it is needed.
static void test_hint_that_fails(void **state) {
    (void)state;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    open_store(full_bytes());
    const uint32_t ids[] = {3}, named[] = {9};
    bad_place(1, 9, 2);
    store_hint(world.store, 1, named, 1);
    run(0, ids, 1, STORE_ANY);
    run(0, ids, 1, STORE_ANY);
    while (sim_disk.fail_times > 0) // until its reads have come in
        run(0, ids, 1, STORE_ANY);
    run(0, ids, 1, STORE_ANY);
    assert_false(store_resident(world.store, 1, 9));
    run(1, named, 1, STORE_ANY);
    assert_true(store_resident(world.store, 1, 9));
    assert_int_equal(stats().hinted_used, 0);
    assert_int_equal(stats().hinted_wasted, 1);
    close_store();
}

static void test_wrong_configurations_are_refused(void **state) {
    (void)state;
    struct store_config *config = &world.model.config;
    make_model(FAKE_STACKED, small_bytes, large_bytes);
    config->slot_bytes = floor_bytes(1) / 2;
    assert_refused(LOCUM_E_BUDGET, "the largest needs");
    config->slot_bytes = 0;
    assert_refused(LOCUM_E_BUDGET, "0 bytes for experts");

    config->slot_bytes = full_bytes();
    world.file[0].size--;
    assert_refused(LOCUM_E_FORMAT, "model.gguf: layer 3, expert 31 ends at byte");
    world.file[0].size++;
    struct store_segment *segment = &world.model.segment[2][3 * STORE_SEGMENTS];
    segment->file = FAKE_FILES;
    assert_refused(LOCUM_E_ARGUMENT, "layer 2, expert 3: file 2 of 2");
    segment->file = 0;
    segment->offset = UINT64_MAX;
    assert_refused(LOCUM_E_FORMAT, "layer 2, expert 3");
    for (uint32_t i = 0; i < STORE_SEGMENTS; i++)
        segment[i].bytes = 0;
    assert_refused(LOCUM_E_FORMAT, "layer 2, expert 3 has no bytes");

    make_model(FAKE_STACKED, small_bytes, large_bytes);
    config->depth = ASYNC_READ_DEPTH_MAX + 1;
    config->slot_bytes = full_bytes();
    assert_refused(LOCUM_E_ARGUMENT, "257 reads");
    config->depth = 0;
    for (uint32_t i = 0; i < LAYERS; i++)
        world.model.layer[i].experts = 0;
    assert_refused(LOCUM_E_ARGUMENT, "no layer has experts");
    uint64_t bytes;
    assert_int_equal(store_floor(config, 1, &bytes, NULL), LOCUM_E_ARGUMENT);
    assert_int_equal(store_floor(config, 0, &bytes, NULL), LOCUM_E_ARGUMENT);
    assert_int_equal(store_floor(config, STORE_HELD_MAX + 1, &bytes, NULL), LOCUM_E_ARGUMENT);
}

static void test_names_its_io(void **state) {
    (void)state;
    static const char *const names[] = {"buffered, simulated", "partly direct, simulated",
                                        "direct, simulated"};
    for (uint32_t direct = 0; direct <= FAKE_FILES; direct++) {
        make_model(FAKE_STACKED, small_bytes, large_bytes);
        for (uint32_t i = 0; i < FAKE_FILES; i++)
            world.file[i].direct = i < direct;
        open_store(full_bytes());
        assert_string_equal(store_io_name(world.store), names[direct]);
        close_store();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_for_all_reads_once),
        cmocka_unit_test(test_takes_no_more_than_all_need),
        cmocka_unit_test(test_more_budget_fewer_reads),
        cmocka_unit_test(test_small_pools_are_filled),
        cmocka_unit_test(test_hits_survive_a_prompt),
        cmocka_unit_test(test_a_prompt_passes_through_few_slots),
        cmocka_unit_test(test_second_chunk_hits),
        cmocka_unit_test(test_floor_runs_every_layer),
        cmocka_unit_test(test_any_gives_hits_first),
        cmocka_unit_test(test_ascending_reads_ahead),
        cmocka_unit_test(test_adjacent_segments_are_one_read),
        cmocka_unit_test(test_misses_are_read_together),
        cmocka_unit_test(test_take_without_waiting),
        cmocka_unit_test(test_fresh_until_done),
        cmocka_unit_test(test_hinted_experts_are_hits),
        cmocka_unit_test(test_what_earlier_runs_used_is_there),
        cmocka_unit_test(test_a_prompt_keeps_what_earlier_runs_used),
        cmocka_unit_test(test_other_bytes_are_noticed),
        cmocka_unit_test(test_hints_wait_for_the_step),
        cmocka_unit_test(test_wrong_hints_are_ignored),
        cmocka_unit_test(test_hint_that_fails),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_resize_refused),
        cmocka_unit_test(test_one_error_is_read_again),
        cmocka_unit_test(test_two_errors_end_the_step),
        cmocka_unit_test(test_a_file_that_shrank),
        cmocka_unit_test(test_wrong_calls_are_refused),
        cmocka_unit_test(test_wrong_configurations_are_refused),
        cmocka_unit_test(test_names_its_io),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

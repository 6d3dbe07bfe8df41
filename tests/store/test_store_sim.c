// SPDX-License-Identifier: Apache-2.0
//
// The store on a simulated disk, thousands of seeds: models, pools, orders, delays and failures are
// drawn from the seed, and what must always hold is checked after every call. A seed that fails is
// run alone by naming it: test_store_sim SEED.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/store/driver.h"
#include "tests/store/sim_platform.h"

#ifdef __SANITIZE_THREAD__
enum { SEEDS = 100 }; // one thread: nothing to find here, and ten times slower
#else
enum { SEEDS = 2000 };
#endif
enum { STEPS = 40, SEEDS_REACH = 2000 }; // with so many the counts at the end are sure

static uint64_t first_seed = 1, seeds = SEEDS, seed, warmed, unequal;

struct world {
    struct driver driver;
    struct fake_model model;
    struct platform_file file[FAKE_FILES];
    struct platform_file *files[FAKE_FILES];
};

static void checked(const struct driver *driver) {
    struct store_stats stats;
    store_get_stats(driver->store, &stats);
    assert_true(stats.resident_bytes <= stats.pool_bytes);
    assert_int_equal(stats.bytes_read, sim_disk.bytes);
    assert_int_equal(stats.reads, sim_disk.reads);
}

static void draw_config(struct world *world) {
    struct sim_random *random = &world->driver.random;
    struct store_config *config = &world->model.config;
    bool direct = sim_chance(random, 70);
    for (uint32_t i = 0; i < FAKE_FILES; i++) {
        world->file[i] = (struct platform_file){i, world->model.file_bytes[i], direct, "model"};
        world->files[i] = &world->file[i];
    }
    config->files = world->files;
    config->depth = (uint32_t)sim_range(random, 1, 10);
    config->verify = sim_chance(random, 30);
    uint64_t floor, full;
    assert_int_equal(store_floor(config, world->driver.held_most + 1, &floor, NULL), LOCUM_OK);
    assert_int_equal(store_full(config, &full, NULL), LOCUM_OK);
    if (full < floor) full = floor;
    config->slot_bytes = sim_chance(random, 40) ? floor : sim_range(random, floor, full);
}

static void open_world(struct world *world) {
    struct driver *driver = &world->driver;
    *world = (struct world){.driver = {.random = {seed * 1000003}, .model = &world->model}};
    sim_reset(seed);
    fake_model_draw(&world->model, &driver->random);
    driver->held_most = (uint32_t)sim_below(&driver->random, 4);
    driver->may_cancel = true;
    driver->may_fail = sim_chance(&driver->random, 30);
    driver->may_hint = sim_chance(&driver->random, 50);
    // The least pool is made for two experts at once.
    driver->may_resize = driver->held_most <= 1 && sim_chance(&driver->random, 60);
    driver->checked = checked;
    draw_config(world);
    sim_disk.latency_ns_max = sim_chance(&driver->random, 30) ? 0 : 1000000;
    locum_error error;
    if (store_create(&world->model.config, &driver->store, &error) != LOCUM_OK)
        fail_msg("%s", error.text);
    struct store_stats stats;
    store_get_stats(driver->store, &stats);
    assert_true(stats.pool_bytes <= world->model.config.slot_bytes);
    assert_true(sim_vmem_bytes <= world->model.config.slot_bytes);
}

// What earlier runs counted, of any experts.
static void learn(struct world *world) {
    struct sim_random *random = &world->driver.random;
    uint32_t steps[FAKE_LAYERS_MAX], uses[FAKE_LAYERS_MAX * FAKE_EXPERTS_MAX], count = 0;
    for (uint32_t i = 0; i < world->model.config.layers; i++) {
        steps[i] = (uint32_t)sim_below(random, 100);
        for (uint32_t e = 0; e < world->model.layer[i].experts; e++)
            uses[count++] = (uint32_t)sim_below(random, steps[i] + 2); // one more than there can be
    }
    world->driver.warms = true;
    store_learn(world->driver.store, steps, uses);
}

// Each expert is read once while the disk is sound. From then on wrong bits have to be noticed.
static void read_all(struct world *world) {
    struct store *store = world->driver.store;
    const struct store_config *config = &world->model.config;
    for (uint32_t layer = 0; layer < config->layers; layer++) {
        uint32_t ids[FAKE_EXPERTS_MAX], count = config->layer[layer].experts;
        for (uint32_t i = 0; i < count; i++)
            ids[i] = i;
        assert_int_equal(store_begin(store, layer, ids, count, STORE_ASCENDING, STORE_PREFILL, NULL),
                         LOCUM_OK);
        struct store_expert expert;
        bool got = true;
        while (got) {
            assert_int_equal(store_take(store, true, &expert, &got, NULL), LOCUM_OK);
            if (got) store_done(store, expert.slot);
        }
        store_end(store);
    }
}

static uint64_t run_seed(struct world *world) {
    open_world(world);
    struct driver *driver = &world->driver;
    if (sim_chance(&driver->random, 50)) learn(world);
    bool flips = world->model.config.verify && driver->may_fail;
    if (flips) read_all(world);
    for (uint32_t i = 0; i < STEPS; i++) {
        sim_disk.flip_percent = flips ? 10 : 0;
        bool fails = driver->may_fail && sim_chance(&driver->random, 40);
        sim_disk.fail_percent = fails ? 15 : 0;
        driver_step(driver, i);
    }
    struct store_stats stats;
    store_get_stats(driver->store, &stats);
    store_destroy(driver->store);
    assert_int_equal(sim_vmem_bytes, 0);
    unequal += stats.unequal;
    assert_true(stats.unequal <= sim_disk.flips);
    warmed += stats.warmed;
    return stats.evictions;
}

static void test_seeds(void **state) {
    (void)state;
    static struct world world;
    uint64_t hits = 0, misses = 0, failed = 0, evictions = 0, revoked = 0, hinted = 0, resizes = 0;
    for (uint64_t i = 0; i < seeds; i++) {
        seed = first_seed + i;
        evictions += run_seed(&world);
        hits += world.driver.hits;
        misses += world.driver.misses;
        failed += world.driver.failed;
        revoked += world.driver.revoked;
        hinted += world.driver.hinted;
        resizes += world.driver.resizes;
    }
    print_message("%llu hits (%llu by hints), %llu misses, %llu evictions, %llu hits gave way, "
                  "%llu steps failed\n",
                  (unsigned long long)hits, (unsigned long long)hinted, (unsigned long long)misses,
                  (unsigned long long)evictions, (unsigned long long)revoked,
                  (unsigned long long)failed);
    if (seeds < SEEDS_REACH) return;
    // The seeds reach what they are meant to reach.
    assert_true(hits > 50000 && misses > 50000 && evictions > 50000);
    assert_true(warmed > 5000 && unequal > 500);
    assert_true(revoked > 500 && failed > 500 && hinted > 5000 && resizes > 2000);
}

static int name_seed(void **state) {
    (void)state;
    print_message("last seed: %llu\n", (unsigned long long)seed);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_seeds, name_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

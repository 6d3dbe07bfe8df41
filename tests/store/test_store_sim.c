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

#include <stdio.h>
#include <stdlib.h>

#include "tests/store/fake_model.h"
#include "tests/store/sim_platform.h"

enum { SEEDS = 2000, STEPS = 40 };

static uint64_t first_seed = 1, seeds = SEEDS;

struct world {
    struct sim_random random;
    struct fake_model model;
    struct platform_file file[FAKE_FILES];
    struct platform_file *files[FAKE_FILES];
    struct store *store;
    uint32_t held_most; // experts held while another is waited for
    bool failing;       // the disk may fail in this run
    uint64_t steps_failed, hits, misses, evictions, revoked;
};

static void draw_model(struct world *world) {
    struct sim_random *random = &world->random;
    fake_model_init(&world->model);
    uint32_t layers = (uint32_t)sim_range(random, 1, FAKE_LAYERS_MAX);
    uint32_t shapes = (uint32_t)sim_range(random, 1, 3);
    uint64_t shape[3][STORE_SEGMENTS];
    for (uint32_t i = 0; i < shapes; i++)
        for (uint32_t k = 0; k < STORE_SEGMENTS; k++)
            shape[i][k] = sim_range(random, 1, sim_chance(random, 20) ? 30000 : 3000);
    if (sim_chance(random, 30)) shape[0][1] = 0; // fused gate and up
    for (uint32_t i = 0; i < layers; i++) {
        uint32_t experts = (uint32_t)sim_range(random, 1, 24);
        if (i > 0 && sim_chance(random, 10)) experts = 0;
        fake_model_add(&world->model, (uint32_t)sim_below(random, FAKE_FILES),
                       sim_chance(random, 50) ? FAKE_STACKED : FAKE_PACKED, experts,
                       shape[sim_below(random, shapes)]);
    }
}

static void open_world(struct world *world, uint64_t seed) {
    *world = (struct world){.random = {seed * 1000003}};
    sim_reset(seed);
    draw_model(world);
    struct sim_random *random = &world->random;
    bool direct = sim_chance(random, 70);
    for (uint32_t i = 0; i < FAKE_FILES; i++) {
        world->file[i] = (struct platform_file){i, world->model.file_bytes[i], direct, "model"};
        world->files[i] = &world->file[i];
    }
    struct store_config *config = &world->model.config;
    config->files = world->files;
    config->depth = (uint32_t)sim_range(random, 1, 10);
    world->held_most = (uint32_t)sim_below(random, 4);

    locum_error error;
    uint64_t floor, full;
    assert_int_equal(store_floor(config, world->held_most + 1, &floor, &error), LOCUM_OK);
    assert_int_equal(store_full(config, &full, &error), LOCUM_OK);
    if (full < floor) full = floor;
    config->slot_bytes = sim_chance(random, 40) ? floor : sim_range(random, floor, full);
    world->failing = sim_chance(random, 30);
    sim_disk.latency_ns_max = sim_chance(random, 30) ? 0 : 1000000;
    assert_int_equal(store_create(config, &world->store, &error), LOCUM_OK);

    struct store_stats stats;
    store_get_stats(world->store, &stats);
    assert_true(stats.pool_bytes <= config->slot_bytes);
    assert_true(sim_vmem_bytes <= config->slot_bytes);
}

static void check(const struct world *world) {
    locum_error error;
    if (!store_check(world->store, &error)) fail_msg("%s", error.text);
    struct store_stats stats;
    store_get_stats(world->store, &stats);
    assert_true(stats.resident_bytes <= stats.pool_bytes);
    assert_int_equal(stats.bytes_read, sim_disk.bytes);
    assert_int_equal(stats.reads, sim_disk.reads);
}

struct step {
    uint32_t layer, count, ids[FAKE_EXPERTS_MAX];
    bool resident[FAKE_EXPERTS_MAX]; // by id, before the step
    bool given[FAKE_EXPERTS_MAX];    // by id
    enum store_order order;
    enum store_phase phase;
    struct store_expert held[8];
    uint32_t held_count, taken;
};

static void draw_step(struct world *world, uint32_t number, struct step *step) {
    struct sim_random *random = &world->random;
    const struct store_config *config = &world->model.config;
    *step = (struct step){.layer = number % config->layers};
    uint32_t percent = (uint32_t)sim_range(random, 5, 100);
    for (uint32_t id = 0; id < config->layer[step->layer].experts; id++) {
        step->resident[id] = store_resident(world->store, step->layer, id);
        if (sim_chance(random, percent)) step->ids[step->count++] = id;
    }
    step->order = sim_chance(random, 50) ? STORE_ANY : STORE_ASCENDING;
    step->phase = step->order == STORE_ANY ? STORE_DECODE : STORE_PREFILL;
    sim_disk.fail_percent = world->failing && sim_chance(random, 40) ? 15 : 0;
}

static void take_one(struct world *world, struct step *step, const struct store_expert *expert) {
    assert_false(step->given[expert->id]);
    step->given[expert->id] = true;
    if (step->order == STORE_ASCENDING) assert_int_equal(expert->id, step->ids[step->taken]);
    if (expert->hit) assert_true(step->resident[expert->id]);
    if (!expert->hit && step->resident[expert->id]) {
        assert_int_equal(step->order, STORE_ASCENDING); // its slot was needed for an earlier one
        world->revoked++;
    }
    *(expert->hit ? &world->hits : &world->misses) += 1;
    assert_true(fake_model_right(&world->model, step->layer, expert));
    step->held[step->held_count++] = *expert;
    step->taken++;
}

// Give one back; its bytes have not changed while it was held.
static void give_one(struct world *world, struct step *step) {
    uint32_t at = (uint32_t)sim_below(&world->random, step->held_count);
    assert_true(fake_model_right(&world->model, step->layer, &step->held[at]));
    store_done(world->store, step->held[at].slot);
    step->held[at] = step->held[--step->held_count];
}

// true: the step ran to its end; false: a read failed for good.
static bool run_step(struct world *world, struct step *step) {
    locum_error error;
    assert_int_equal(store_begin(world->store, step->layer, step->ids, step->count, step->order,
                                 step->phase, &error),
                     LOCUM_OK);
    check(world);
    for (;;) {
        bool wait = step->held_count == 0 || sim_chance(&world->random, 50);
        struct store_expert expert;
        bool got;
        locum_status status = store_take(world->store, wait, &expert, &got, &error);
        check(world);
        if (status != LOCUM_OK) {
            assert_int_equal(status, LOCUM_E_IO);
            assert_true(world->failing);
            return false;
        }
        if (!got && step->taken == step->count) break;
        if (got)
            take_one(world, step, &expert);
        else
            assert_false(wait);
        while (step->held_count > world->held_most ||
               (step->held_count > 0 && sim_chance(&world->random, 30)))
            give_one(world, step);
        check(world);
        // A caller that cannot go on: the request was cancelled.
        if (sim_chance(&world->random, 1)) return true;
    }
    while (step->held_count > 0 && sim_chance(&world->random, 80))
        give_one(world, step);
    return true;
}

static void run_seed(uint64_t seed, struct world *world) {
    open_world(world, seed);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct step step;
        draw_step(world, i, &step);
        if (!run_step(world, &step)) world->steps_failed++;
        store_end(world->store);
        check(world);
    }
    struct store_stats stats;
    store_get_stats(world->store, &stats);
    world->evictions = stats.evictions;
    store_destroy(world->store);
    assert_int_equal(sim_vmem_bytes, 0);
}

static void test_seeds(void **state) {
    (void)state;
    uint64_t hits = 0, misses = 0, failed = 0, evictions = 0, revoked = 0;
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        static struct world world;
        printf("%sseed %llu", seed == first_seed ? "" : "\r", (unsigned long long)seed);
        run_seed(seed, &world);
        hits += world.hits;
        misses += world.misses;
        failed += world.steps_failed;
        evictions += world.evictions;
        revoked += world.revoked;
    }
    printf("\n%llu hits, %llu misses, %llu evictions, %llu hits gave way, %llu steps failed\n",
           (unsigned long long)hits, (unsigned long long)misses, (unsigned long long)evictions,
           (unsigned long long)revoked, (unsigned long long)failed);
    if (seeds < SEEDS) return;
    // The seeds reach what they are meant to reach.
    assert_true(hits > 50000 && misses > 50000 && evictions > 50000);
    assert_true(revoked > 500 && failed > 500);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

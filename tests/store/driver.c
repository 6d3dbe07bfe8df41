// SPDX-License-Identifier: Apache-2.0
#include "tests/store/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct step {
    uint32_t layer, count, ids[FAKE_EXPERTS_MAX];
    bool resident[FAKE_EXPERTS_MAX]; // by id, before the step
    bool wanted[FAKE_EXPERTS_MAX];   // by id, not given out yet
    enum store_order order;
    enum store_phase phase;
    struct store_expert held[STORE_HELD_MAX];
    uint32_t held_count, taken;
};

static void check(const struct driver *driver) {
    locum_error error;
    if (!store_check(driver->store, &error)) fail_msg("%s", error.text);
    if (driver->checked != NULL) driver->checked(driver);
}

static void draw_step(struct driver *driver, uint32_t number, struct step *step) {
    struct sim_random *random = &driver->random;
    const struct store_config *config = &driver->model->config;
    *step = (struct step){.layer = number % config->layers};
    uint32_t percent = (uint32_t)sim_range(random, 5, 100);
    for (uint32_t id = 0; id < config->layer[step->layer].experts; id++) {
        step->resident[id] = store_resident(driver->store, step->layer, id);
        step->wanted[id] = sim_chance(random, percent);
        if (step->wanted[id]) step->ids[step->count++] = id;
    }
    step->order = sim_chance(random, 50) ? STORE_ANY : STORE_ASCENDING;
    step->phase = step->order == STORE_ANY ? STORE_DECODE : STORE_PREFILL;
}

static void take_one(struct driver *driver, struct step *step, const struct store_expert *expert) {
    assert_true(step->wanted[expert->id]);
    step->wanted[expert->id] = false;
    if (step->order == STORE_ASCENDING) assert_int_equal(expert->id, step->ids[step->taken]);
    if (expert->hit && !expert->hinted && !driver->warms) assert_true(step->resident[expert->id]);
    driver->hinted += expert->hinted;
    if (!expert->hit && step->resident[expert->id]) {
        assert_int_equal(step->order, STORE_ASCENDING); // its slot was needed for an earlier one
        driver->revoked++;
    }
    *(expert->hit ? &driver->hits : &driver->misses) += 1;
    assert_true(fake_model_right(driver->model, step->layer, expert));
    step->held[step->held_count++] = *expert;
    step->taken++;
}

// Give one back; its bytes have not changed while it was held.
static void give_one(struct driver *driver, struct step *step) {
    uint32_t at = (uint32_t)sim_below(&driver->random, step->held_count);
    assert_true(fake_model_right(driver->model, step->layer, &step->held[at]));
    store_done(driver->store, step->held[at].slot);
    step->held[at] = step->held[--step->held_count];
}

// Names some experts of the layer that comes next, right or wrong, in any order.
static void hint(struct driver *driver, uint32_t layer) {
    const struct store_config *config = &driver->model->config;
    uint32_t ids[FAKE_EXPERTS_MAX], count = 0, experts = config->layer[layer].experts;
    for (uint32_t i = 0; i < experts; i++) {
        if (!sim_chance(&driver->random, 30)) continue;
        uint32_t at = (uint32_t)sim_below(&driver->random, count + 1);
        ids[count] = i;
        ids[count++] = ids[at];
        ids[at] = i;
    }
    store_hint(driver->store, layer, ids, count);
    check(driver);
}

// true: the step ran to its end; false: a read failed for good.
static bool run_step(struct driver *driver, struct step *step) {
    locum_error error;
    assert_int_equal(store_begin(driver->store, step->layer, step->ids, step->count, step->order,
                                 step->phase, &error),
                     LOCUM_OK);
    check(driver);
    for (;;) {
        bool wait = step->held_count == 0 || sim_chance(&driver->random, 50);
        struct store_expert expert;
        bool got;
        locum_status status = store_take(driver->store, wait, &expert, &got, &error);
        check(driver);
        if (status != LOCUM_OK) {
            assert_int_equal(status, LOCUM_E_IO);
            assert_true(driver->may_fail);
            return false;
        }
        if (!got && step->taken == step->count) break;
        if (got)
            take_one(driver, step, &expert);
        else
            assert_false(wait);
        while (step->held_count > driver->held_most ||
               (step->held_count > 0 && sim_chance(&driver->random, 30)))
            give_one(driver, step);
        check(driver);
        // A caller that cannot go on: the request was cancelled.
        if (driver->may_cancel && sim_chance(&driver->random, 1)) return true;
        if (driver->may_hint && sim_chance(&driver->random, 10)) {
            hint(driver, (step->layer + 1) % driver->model->config.layers);
        }
    }
    while (step->held_count > 0 && sim_chance(&driver->random, 80))
        give_one(driver, step);
    return true;
}

static void resize(struct driver *driver) {
    struct store_stats stats;
    store_get_stats(driver->store, &stats);
    uint64_t bytes = sim_range(&driver->random, stats.pool_least, stats.pool_most);
    locum_error error;
    if (store_resize(driver->store, bytes, &error) != LOCUM_OK) fail_msg("%s", error.text);
    store_get_stats(driver->store, &stats);
    assert_true(stats.pool_bytes <= bytes);
    driver->resizes++;
    check(driver);
}

void driver_step(struct driver *driver, uint32_t number) {
    struct step step;
    if (driver->may_resize && sim_chance(&driver->random, 20)) resize(driver);
    draw_step(driver, number, &step);
    if (!run_step(driver, &step)) driver->failed++;
    store_end(driver->store);
    check(driver);
}

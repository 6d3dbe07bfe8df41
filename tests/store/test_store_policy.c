// SPDX-License-Identifier: Apache-2.0
//
// What policies have to do, each in a cache of its own: the store's pool and choice, without reads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_evict.h"
#include "store/store_math.h"
#include "tests/store/sim_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 6, EXPERTS = 24, ALL = LAYERS * EXPERTS, SLOTS = 36, USED = 3 };

static const struct store_policy *const policies[] = {&store_policy_lru, &store_policy_decay,
                                                      &store_policy_next};
enum { POLICIES = sizeof policies / sizeof *policies };

struct cache {
    struct store_cut cut;
    struct store_pool pool;
    struct store_extent extent[SLOTS];
    struct store_slot slot[SLOTS];
    struct store_evict evict;
    uint64_t mark[ALL], *state;
    uint32_t layer_first[LAYERS + 1], slot_of[ALL];
    uint32_t victim[1 << 14], victims; // experts, in order
};

static void open_cache(struct cache *cache, const struct store_policy *policy) {
    memset(cache, 0, sizeof *cache);
    cache->cut = (struct store_cut){.classes = 1,
                                    .size_class = {{1, ALL}},
                                    .extent_bytes = 1,
                                    .extents = SLOTS,
                                    .extent_slots = 1};
    store_pool_init(&cache->pool, &cache->cut, NULL, cache->extent, cache->slot);
    for (uint32_t i = 0; i <= LAYERS; i++)
        cache->layer_first[i] = i * EXPERTS;
    for (uint32_t i = 0; i < ALL; i++)
        cache->slot_of[i] = STORE_NONE;
    cache->state = calloc(1, policy->bytes(LAYERS, ALL)); // exactly: a sanitizer sees one byte more
    assert_non_null(cache->state);
    struct store_shape shape = {LAYERS, ALL, cache->layer_first};
    store_evict_init(&cache->evict, policy, &shape, cache->mark, cache->state);
}

static void close_cache(struct cache *cache) {
    free(cache->state);
}

// soon: victims that the step will need.
static void make_room(struct cache *cache, uint32_t soon) {
    struct store_victim victim, walked;
    struct store_evict anew = cache->evict;
    store_evict_forget(&anew);
    assert_true(store_evict_choose(&cache->evict, &cache->pool, 0, false, soon, &victim));
    // What was listed earlier in the step is what a walk over all slots finds now.
    assert_true(store_evict_choose(&anew, &cache->pool, 0, false, 1, &walked));
    uint64_t marks[] = {cache->mark[cache->slot[victim.slot].expert],
                        cache->mark[cache->slot[walked.slot].expert]};
    assert_true(victim.slot == walked.slot || (marks[0] == marks[1] && marks[0] != 0)); // or its equal
    assert_int_equal(victim.count, 1);
    const struct store_slot *slot = &cache->slot[victim.slot];
    assert_int_equal(slot->state, STORE_SLOT_READY);
    assert_int_equal(slot->entry, STORE_NONE); // what the step uses stays
    cache->victim[cache->victims++ % (1 << 14)] = slot->expert;
    cache->slot_of[slot->expert] = STORE_NONE;
    store_pool_empty(&cache->pool, victim.slot);
}

// The slot of the victim goes to an expert that is expected.
static void make_room_and_fill(struct cache *cache) {
    uint32_t expert = 0;
    while (cache->slot_of[expert] != STORE_NONE)
        expert++;
    make_room(cache, 1);
    uint32_t slot = store_pool_find(&cache->pool, 0);
    store_pool_fill(&cache->pool, slot, 0, expert);
    store_slot_move(&cache->slot[slot], STORE_SLOT_READY);
    store_evict_expected(&cache->evict, expert);
    store_evict_released(&cache->evict, &cache->pool, slot);
    cache->slot_of[expert] = slot;
}

// A layer of a token; gives the hits.
static uint32_t step(struct cache *cache, uint32_t layer, const uint32_t *ids, uint32_t count,
                     enum store_order order) {
    uint32_t hits = 0, first = layer * EXPERTS;
    store_evict_step(&cache->evict, layer, ids, count, order);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = cache->slot_of[first + ids[i]];
        if (slot == STORE_NONE) continue;
        cache->slot[slot].entry = i;
        hits++;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cache->slot_of[first + ids[i]] != STORE_NONE) continue;
        if (store_pool_find(&cache->pool, 0) == STORE_NONE) make_room(cache, count - i);
        uint32_t slot = store_pool_find(&cache->pool, 0);
        store_pool_fill(&cache->pool, slot, 0, first + ids[i]);
        store_slot_move(&cache->slot[slot], STORE_SLOT_READY);
        store_evict_inserted(&cache->evict, first + ids[i], order);
        cache->slot[slot].entry = i;
        cache->slot_of[first + ids[i]] = slot;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = cache->slot_of[first + ids[i]];
        cache->slot[slot].entry = STORE_NONE;
        store_evict_released(&cache->evict, &cache->pool, slot);
    }
    return hits;
}

static void draw_ids(struct sim_random *random, uint32_t favourites, uint32_t *ids) {
    for (uint32_t i = 0; i < USED;) {
        ids[i] = (uint32_t)sim_below(random, sim_chance(random, 70) ? favourites : EXPERTS);
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= ids[k] == ids[i];
        if (!again) i++;
    }
}

static void run_random(struct cache *cache, uint64_t seed, uint32_t tokens) {
    struct sim_random random = {seed};
    for (uint32_t i = 0; i < tokens * LAYERS; i++) {
        uint32_t ids[USED];
        draw_ids(&random, 6, ids);
        step(cache, i % LAYERS, ids, USED, STORE_ANY);
    }
}

static uint64_t worth(struct cache *cache, uint32_t layer, uint32_t id) {
    return cache->evict.policy->worth(cache->evict.state, layer * EXPERTS + id, UINT64_MAX);
}

static void test_the_same_steps_have_the_same_victims(void **state) {
    (void)state;
    static struct cache one, other;
    for (uint32_t p = 0; p < POLICIES; p++) {
        open_cache(&one, policies[p]);
        open_cache(&other, policies[p]);
        run_random(&one, 7, 200);
        run_random(&other, 7, 200);
        assert_true(one.victims > 500);
        assert_int_equal(one.victims, other.victims);
        assert_memory_equal(one.victim, other.victim, sizeof one.victim);
        close_cache(&one);
        close_cache(&other);
    }
}

// Values that any machine has to find, or victims would depend on it.
static void test_victims_are_the_same_everywhere(void **state) {
    (void)state;
    static struct cache cache;
    static const uint64_t right[POLICIES] = {0x18574e86fb13556b, 0xdb139689ca5d5762,
                                             0x62cf481b7db9d551};
    for (uint32_t p = 0; p < POLICIES; p++) {
        open_cache(&cache, policies[p]);
        run_random(&cache, 11, 300);
        uint64_t sum = cache.victims;
        for (uint32_t i = 0; i < cache.victims; i++)
            sum = sum * 31 + cache.victim[i];
        if (sum != right[p]) fail_msg("%s: %llx", policies[p]->name, (unsigned long long)sum);
        close_cache(&cache);
    }
}

// Three experts of each layer come with every fourth token; the tokens between ask for all the others
// in turn. LRU loses the three, counts do not.
static uint32_t hits_beside_a_scan(const struct store_policy *policy) {
    static struct cache cache;
    static const uint32_t hot[USED] = {1, 5, 9};
    uint32_t hits = 0, scan = 0;
    open_cache(&cache, policy);
    for (uint32_t token = 0; token < 80; token++)
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            if (token < 8 || token % 4 == 0) {
                uint32_t found = step(&cache, layer, hot, USED, STORE_ANY);
                if (token >= 8) hits += found;
                continue;
            }
            uint32_t cold[USED];
            for (uint32_t i = 0; i < USED; i++)
                cold[i] = 10 + scan++ % (EXPERTS - 10);
            step(&cache, layer, cold, USED, STORE_ANY);
        }
    close_cache(&cache);
    return hits;
}

static void test_what_is_used_often_survives_a_scan(void **state) {
    (void)state;
    uint32_t most = 18 * LAYERS * USED; // tokens 8, 12, ... 76
    assert_int_equal(hits_beside_a_scan(&store_policy_lru), 18); // of token 8, before the scan
    assert_true(hits_beside_a_scan(&store_policy_decay) > most * 3 / 4);
    assert_true(hits_beside_a_scan(&store_policy_next) > most * 3 / 4);
}

static void test_a_prompt_does_not_push_out_what_an_answer_uses(void **state) {
    (void)state;
    static struct cache cache;
    for (uint32_t p = 0; p < POLICIES; p++) {
        open_cache(&cache, policies[p]);
        run_random(&cache, 3, 100);
        bool there[ALL];
        for (uint32_t i = 0; i < ALL; i++)
            there[i] = cache.slot_of[i] != STORE_NONE;
        struct store_victim victim;
        assert_false(store_evict_choose(&cache.evict, &cache.pool, 0, true, 1, &victim));
        // One slot is enough to pass through.
        uint32_t kept = 0;
        for (uint32_t layer = 0; layer < LAYERS; layer++)
            for (uint32_t id = 0; id < EXPERTS; id++)
                if (cache.slot_of[layer * EXPERTS + id] == STORE_NONE)
                    step(&cache, layer, &id, 1, STORE_ASCENDING);
        for (uint32_t i = 0; i < ALL; i++)
            kept += there[i] && cache.slot_of[i] != STORE_NONE;
        assert_true(kept == SLOTS - 1);
        close_cache(&cache);
    }
}

static void test_uses_are_remembered(void **state) {
    (void)state;
    static struct cache cache;
    open_cache(&cache, &store_policy_next);
    static const uint32_t old[USED] = {0, 1, 2};
    for (uint32_t token = 0; token < 12; token++)
        for (uint32_t layer = 0; layer < LAYERS; layer++)
            step(&cache, layer, old, USED, STORE_ANY);
    for (uint32_t token = 0; token < 30; token++)
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            uint32_t others[USED] = {3 + token % 7, 10 + token % 7, 17 + token % 7};
            step(&cache, layer, others, USED, STORE_ANY);
        }
    // One comes again, the other for the first time.
    static const uint32_t both[] = {0, 9};
    step(&cache, 0, both, 2, STORE_ANY);
    assert_true(worth(&cache, 0, 0) > worth(&cache, 0, 9));
    close_cache(&cache);
}

static void test_what_is_expected_goes_last(void **state) {
    (void)state;
    static struct cache cache;
    for (uint32_t p = 0; p < POLICIES; p++) {
        open_cache(&cache, policies[p]);
        run_random(&cache, 9, 50);
        struct store_victim victim;
        assert_true(store_evict_choose(&cache.evict, &cache.pool, 0, false, 1, &victim));
        uint32_t expert = cache.slot[victim.slot].expert, other[] = {expert % EXPERTS == 0};
        store_evict_expected(&cache.evict, expert);
        for (uint32_t i = 0; i < 20; i++)
            make_room_and_fill(&cache);
        assert_true(cache.slot_of[expert] != STORE_NONE);
        // A step of its layer does without it.
        store_evict_step(&cache.evict, expert / EXPERTS, other, 1, STORE_ANY);
        for (uint32_t i = 0; i < SLOTS; i++)
            make_room_and_fill(&cache);
        assert_int_equal(cache.slot_of[expert], STORE_NONE);
        close_cache(&cache);
    }
}

static void test_layers_just_computed_go_first(void **state) {
    (void)state;
    static struct cache cache;
    open_cache(&cache, &store_policy_next);
    static const uint32_t ids[USED] = {4, 8, 12};
    for (uint32_t i = 0; i < 10 * LAYERS + 3; i++)
        step(&cache, i % LAYERS, ids, USED, STORE_ANY);
    // Layer 2 was the last one; 3 comes next, 2 comes last.
    for (uint32_t i = 0; i + 1 < LAYERS; i++)
        assert_true(worth(&cache, (3 + i) % LAYERS, 4) > worth(&cache, (4 + i) % LAYERS, 4));
    close_cache(&cache);
}

// Two kinds of tokens, in an order without a pattern: once a token has shown its kind, the experts
// that its kind uses in the layers to come are worth more.
static void test_a_token_is_recognised(void **state) {
    (void)state;
    static struct cache cache;
    struct sim_random random = {5};
    open_cache(&cache, &store_policy_next);
    static const uint32_t kind[2][USED] = {{0, 1, 2}, {3, 4, 5}};
    for (uint32_t token = 0; token < 60; token++) {
        const uint32_t *ids = kind[sim_chance(&random, 50)];
        for (uint32_t layer = 0; layer < LAYERS; layer++)
            step(&cache, layer, ids, USED, STORE_ANY);
    }
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t layer = 0; layer < 2; layer++)
            step(&cache, layer, kind[k], USED, STORE_ANY);
        for (uint32_t layer = 2; layer < LAYERS; layer++)
            for (uint32_t i = 0; i < USED; i++)
                assert_true(worth(&cache, layer, kind[k][i]) > worth(&cache, layer, kind[1 - k][i]));
    }
    close_cache(&cache);
}

// Batches of sequences, tokens that were broken off, steps of all experts or of none.
static void test_odd_steps(void **state) {
    (void)state;
    static struct cache cache;
    uint32_t all[EXPERTS];
    for (uint32_t i = 0; i < EXPERTS; i++)
        all[i] = i;
    for (uint32_t p = 0; p < POLICIES; p++) {
        struct sim_random random = {p + 1};
        open_cache(&cache, policies[p]);
        for (uint32_t i = 0; i < 20000; i++) {
            uint32_t layer = (uint32_t)sim_below(&random, LAYERS);
            uint32_t count = (uint32_t)sim_below(&random, EXPERTS + 1);
            store_evict_step(&cache.evict, layer, all + EXPERTS - count, count, STORE_ANY);
            float least;
            uint64_t bits = worth(&cache, layer, EXPERTS - 1);
            memcpy(&least, &bits, sizeof least); // of floats the low half
            assert_true(bits < UINT64_C(1) << 63);
            if (policies[p] != &store_policy_lru) assert_true(isfinite(least));
        }
        close_cache(&cache);
    }
}

static void test_functions(void **state) {
    (void)state;
    for (float x = 1e-6f; x < 1e6f; x *= 1.01f)
        assert_true(fabs((double)store_math_log2(x) - log2((double)x)) < 0.0012);
    for (float x = -30.0f; x < 30.0f; x += 0.01f) {
        double right = exp2((double)x);
        assert_true(fabs((double)store_math_exp2(x) - right) < 0.0002 * right);
    }
    assert_true(store_math_chance(1000.0f) <= 1.0f && store_math_chance(-1000.0f) >= 0.0f);
    assert_true(store_math_order(0.0f) == 0 && store_math_order(0.25f) < store_math_order(0.5f));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_steps_have_the_same_victims),
        cmocka_unit_test(test_victims_are_the_same_everywhere),
        cmocka_unit_test(test_what_is_used_often_survives_a_scan),
        cmocka_unit_test(test_a_prompt_does_not_push_out_what_an_answer_uses),
        cmocka_unit_test(test_uses_are_remembered),
        cmocka_unit_test(test_what_is_expected_goes_last),
        cmocka_unit_test(test_layers_just_computed_go_first),
        cmocka_unit_test(test_a_token_is_recognised),
        cmocka_unit_test(test_odd_steps),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 199309L // clock_gettime

#include "replay.h"

#include "base/check.h"
#include "store/store_evict.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Of this process on its processor: others do not count.
static uint64_t processor_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count + 1, size); // never empty
    if (memory == NULL) {
        fprintf(stderr, "no memory for a replay\n");
        exit(1);
    }
    return memory;
}

// ---- one cache ----------------------------------------------------------------------------------

struct cache {
    struct store_cut cut;
    struct store_pool pool;
    struct store_evict evict;
    uint32_t *slot_of; // [experts] STORE_NONE: not there
};

struct replay {
    const struct route_trace *trace;
    const struct replay_policy *policy;
    uint32_t *layer_first; // [layers + 1]
    uint64_t *needed;      // [rows]
    struct cache *cache;   // [1, or layers]
    uint32_t caches;
    uint64_t step_ns, choice_ns, steps;
    struct replay_result result;
};

static void cache_open(struct replay *replay, struct cache *cache, uint32_t capacity) {
    const struct route_trace *trace = replay->trace;
    struct store_shape shape = {trace->layers, trace->layers * trace->experts,
                                replay->layer_first};
    // Slots of a byte, all of one class, each an extent of its own: what lies in them is not asked.
    cache->cut = (struct store_cut){.classes = 1,
                                    .size_class = {{1, shape.experts}},
                                    .extent_bytes = 1,
                                    .extents = capacity,
                                    .extent_slots = 1};
    store_pool_init(&cache->pool, &cache->cut, NULL,
                    zeroed(capacity, sizeof(struct store_extent)),
                    zeroed(capacity, sizeof(struct store_slot)));
    const struct store_policy *policy = replay->policy->policy;
    void *state = zeroed(1, policy->bytes(shape.layers, shape.experts));
    if (replay->policy->knows) *(uint64_t **)state = replay->needed;
    store_evict_init(&cache->evict, policy, &shape, zeroed(shape.experts, sizeof(uint64_t)),
                     state);
    cache->slot_of = zeroed(shape.experts, sizeof(uint32_t));
    for (uint32_t e = 0; e < shape.experts; e++)
        cache->slot_of[e] = STORE_NONE;
}

static void cache_close(struct cache *cache) {
    free(cache->pool.extent);
    free(cache->pool.slot);
    free(cache->evict.state);
    free(cache->evict.mark);
    free(cache->slot_of);
}

// soon: victims that the cell will need.
static void make_room(struct replay *replay, struct cache *cache, uint32_t soon) {
    struct store_victim victim;
    uint64_t start = processor_ns();
    bool found = store_evict_choose(&cache->evict, &cache->pool, 0, false, soon, &victim);
    replay->choice_ns += processor_ns() - start;
    LOCUM_ASSERT(found && victim.count == 1); // a step's experts fit
    uint32_t expert = cache->pool.slot[victim.slot].expert;
    cache->slot_of[expert] = STORE_NONE;
    store_pool_empty(&cache->pool, victim.slot);
    if (replay->policy->evicted != NULL) replay->policy->evicted(cache->evict.state, expert);
    replay->result.victims++;
}

// As store_begin and store_end do it: what is there is kept, then the others come in one by one.
static void replay_cell(struct replay *replay, const struct route_cell *cell) {
    struct cache *cache = &replay->cache[replay->caches == 1 ? 0 : cell->layer];
    const uint32_t *ids = replay->trace->expert + cell->first;
    uint32_t first = replay->layer_first[cell->layer];
    uint64_t start = processor_ns();
    store_evict_step(&cache->evict, cell->layer, ids, cell->count, STORE_ANY);
    replay->step_ns += processor_ns() - start;
    replay->steps++;
    replay->result.lookups += cell->count;
    for (uint32_t i = 0; i < cell->count; i++) {
        uint32_t slot = cache->slot_of[first + ids[i]];
        if (slot == STORE_NONE) continue;
        cache->pool.slot[slot].entry = i;
        replay->result.hits++;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        if (cache->slot_of[first + ids[i]] != STORE_NONE) continue;
        uint32_t slot = store_pool_find(&cache->pool, 0);
        if (slot == STORE_NONE) {
            make_room(replay, cache, cell->count - i);
            slot = store_pool_find(&cache->pool, 0);
        }
        store_pool_fill(&cache->pool, slot, 0, first + ids[i]);
        store_slot_move(&cache->pool.slot[slot], STORE_SLOT_READY);
        cache->pool.slot[slot].entry = i;
        cache->slot_of[first + ids[i]] = slot;
    }
    for (uint32_t i = 0; i < cell->count; i++)
        cache->pool.slot[cache->slot_of[first + ids[i]]].entry = STORE_NONE;
}

// When the expert of each row of an answer is needed again, in cells.
static uint64_t *look_ahead(const struct route_trace *trace) {
    uint64_t *needed = zeroed(trace->rows, sizeof *needed), rows = 0;
    uint64_t *next = zeroed((size_t)trace->layers * trace->experts, sizeof *next);
    for (size_t i = 0; i < (size_t)trace->layers * trace->experts; i++)
        next[i] = REPLAY_NEVER;
    for (size_t c = 0; c < trace->cells; c++)
        rows += trace->cell[c].answer ? trace->cell[c].count : 0;
    for (size_t c = trace->cells; c-- > 0;) {
        const struct route_cell *cell = &trace->cell[c];
        if (!cell->answer) continue;
        rows -= cell->count;
        for (uint32_t i = 0; i < cell->count; i++) {
            uint64_t *when = &next[cell->layer * trace->experts + trace->expert[cell->first + i]];
            needed[rows + i] = *when;
            *when = c;
        }
    }
    free(next);
    return needed;
}

struct replay_result replay_run(const struct route_trace *trace, const struct replay_policy *policy,
                                uint32_t capacity) {
    struct replay replay = {.trace = trace, .policy = policy};
    replay.layer_first = zeroed(trace->layers + 1, sizeof *replay.layer_first);
    for (uint32_t i = 0; i <= trace->layers; i++)
        replay.layer_first[i] = i * trace->experts;
    replay.needed = look_ahead(trace);
    replay.caches = policy->layered ? trace->layers : 1;
    replay.cache = zeroed(replay.caches, sizeof *replay.cache);
    for (uint32_t i = 0; i < replay.caches; i++)
        cache_open(&replay, &replay.cache[i],
                   capacity / replay.caches + (i < capacity % replay.caches));
    for (size_t c = 0; c < trace->cells; c++)
        if (trace->cell[c].answer) replay_cell(&replay, &trace->cell[c]);
    for (uint32_t i = 0; i < replay.caches; i++)
        cache_close(&replay.cache[i]);
    free(replay.cache);
    free(replay.needed);
    free(replay.layer_first);
    replay.result.step_ns = (double)replay.step_ns / (double)(replay.steps + !replay.steps);
    replay.result.choice_ns = (double)replay.choice_ns /
                              (double)(replay.result.victims + !replay.result.victims);
    return replay.result;
}

// ---- the published rates ------------------------------------------------------------------------

struct published {
    const struct route_trace *trace;
    uint64_t *last;  // [experts] use, 0: not there
    uint64_t *batch; // [experts] the batch of that use
    uint64_t now, batches, bytes;
    uint64_t hits, lookups;
};

static void use(struct published *cache, const struct route_cell *cell, bool *counted) {
    for (uint32_t i = 0; i < cell->count; i++) {
        uint32_t id = cache->trace->expert[cell->first + i];
        uint32_t expert = cell->layer * cache->trace->experts + id;
        if (!counted[id]) {
            cache->lookups++;
            if (cache->last[expert] != 0)
                cache->hits++;
            else
                cache->bytes += cache->trace->expert_bytes[cell->layer];
        }
        counted[id] = true;
        cache->last[expert] = ++cache->now;
        cache->batch[expert] = cache->batches;
    }
}

static void shrink(struct published *cache, uint64_t bytes) {
    const struct route_trace *trace = cache->trace;
    while (cache->bytes > bytes) {
        uint32_t experts = trace->layers * trace->experts, oldest = experts;
        for (uint32_t e = 0; e < experts; e++)
            if (cache->last[e] != 0 && cache->batch[e] != cache->batches &&
                (oldest == experts || cache->last[e] < cache->last[oldest]))
                oldest = e;
        if (oldest == experts) return;
        cache->last[oldest] = 0;
        cache->bytes -= trace->expert_bytes[oldest / trace->experts];
    }
}

double replay_published_rate(const struct route_trace *trace, uint64_t bytes) {
    uint32_t experts = trace->layers * trace->experts;
    struct published cache = {.trace = trace,
                              .last = zeroed(experts, sizeof(uint64_t)),
                              .batch = zeroed(experts, sizeof(uint64_t))};
    for (size_t c = 0; c < trace->cells;) {
        bool counted[ROUTE_EXPERTS_MAX] = {false};
        const struct route_cell *first = &trace->cell[c];
        cache.batches++;
        do {
            use(&cache, &trace->cell[c++], counted);
        } while (c < trace->cells && !first->answer && !trace->cell[c].answer &&
                 trace->cell[c].layer == first->layer);
        shrink(&cache, bytes);
    }
    free(cache.last);
    free(cache.batch);
    return (double)cache.hits / (double)cache.lookups;
}

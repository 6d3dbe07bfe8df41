// SPDX-License-Identifier: Apache-2.0
//
// How a step proceeds. Every expert of the layer has an entry:
//
//     WAITING --(room, read begun)--> COMING --(store_take)--> TAKEN --(store_done)--> DONE
//        ^------(ascending only: a hit gave up its slot)--'
//
// Nothing happens behind the caller's back but the reads themselves: each of the functions takes in
// what has arrived and begins what fits. The slot of an entry is kept until done, with one
// exception. With STORE_ASCENDING the caller can be waiting for an expert while all slots are kept
// for later hits; then the last of them gives way and is read again when its turn comes. With
// STORE_ANY the hits are given out first, so there is always one to wait for.
//
// Hints are served last: a read for one begins when the step has no expert left that waits for room and
// at most HINT_BEHIND on their way. Its slot is LOADING or READY and has no entry until a step needs it;
// then it is that step's like any other, or it goes like any other. What earlier runs used is read
// after hints, in the same way, but only into slots that are free or have what a prompt passed by with.
//
// Progress: when nothing is ready, loading or possible, every slot of the class is held by the
// caller. store_floor(held) makes room for `held`, so that cannot happen to who holds fewer.
#include "store/store.h"

#include "base/check.h"
#include "base/checked.h"
#include "platform/clock.h"
#include "store/store_state.h"

#include <stdio.h>
#include <string.h>

enum {
    DEPTH_DEFAULT = 16, // drives give all at 4 to 8; twice that lasts while experts are computed
    DEPTH_SLOTS = 8,    // slots of the pool for each read: a small pool needs them for hits
    DEPTH_LEAST = 8,
    PASSING_SHARE = 8, // a prompt passes through at most 1/8 of the pool that decode left
    PASSING_LEAST = 2, // one to compute, one to read
    HINT_BEHIND = 1,   // experts a step may still wait for when reads for hints begin
    HELD_LEAST = 2,    // experts of a step at once
    HINT_LOADS = 3,    // at once: about what comes in before the next layer has chosen
};

#ifdef STORE_SELF_CHECK
static void self_check(const struct store *store) {
    locum_error error;
    if (!store_check(store, &error)) check_failed(error.text, __FILE__, __LINE__);
}
#else
static void self_check(const struct store *store) {
    (void)store;
}
#endif

// ---- sizes --------------------------------------------------------------------------------------

// How many of each thing a store has.
struct counts {
    uint64_t layers, files, experts, widest, extents, slots, sums;
    uint32_t depth;
    const struct store_policy *policy;
};

static struct counts count(const struct store_config *config, const struct store_cut *cut) {
    return (struct counts){.layers = config->layers,
                           .files = config->file_count,
                           .experts = cut->experts,
                           .widest = cut->experts_widest,
                           .sums = config->verify ? cut->experts : 0,
                           .depth = config->depth == 0 ? DEPTH_DEFAULT : config->depth,
                           .policy = &store_policy_next};
}

// The next part of the bookkeeping, at *at, which moves on. memory NULL: only count.
static void *part(uint8_t *memory, uint64_t *at, uint64_t number, size_t size) {
    uint64_t start = *at;
    *at += (number * size + 63) & ~UINT64_C(63);
    return memory == NULL ? NULL : memory + start;
}

// Bytes of the structure and all its arrays, one allocation. memory: set the pointers into it;
// NULL: only count.
static uint64_t lay_out(struct store *store, uint8_t *memory, const struct counts *c) {
    uint64_t at = 0;
    struct store parts;
    if (store == NULL) store = &parts;
    part(memory, &at, 1, sizeof *store);
    store->layer = part(memory, &at, c->layers, sizeof *store->layer);
    store->files = part(memory, &at, c->files, sizeof *store->files);
    store->layer_first = part(memory, &at, c->layers + 1, sizeof *store->layer_first);
    store->expert_slot = part(memory, &at, c->experts, sizeof *store->expert_slot);
    store->evict.mark = part(memory, &at, c->experts, sizeof *store->evict.mark);
    store->evict.state =
        part(memory, &at, 1, c->policy->bytes((uint32_t)c->layers, (uint32_t)c->experts));
    store->step.entry = part(memory, &at, c->widest, sizeof *store->step.entry);
    store->uses.steps = part(memory, &at, c->layers, sizeof *store->uses.steps);
    store->uses.count = part(memory, &at, c->experts, sizeof *store->uses.count);
    store->uses.order = part(memory, &at, c->experts, sizeof *store->uses.order);
    store->verify.sum = part(memory, &at, c->sums, sizeof *store->verify.sum);
    store->hints.id = part(memory, &at, c->widest, sizeof *store->hints.id);
    if (c->sums == 0) store->verify.sum = NULL;
    store->step.ready = part(memory, &at, c->widest, sizeof *store->step.ready);
    store->pool.extent = part(memory, &at, c->extents, sizeof *store->pool.extent);
    store->pool.slot = part(memory, &at, c->slots, sizeof *store->pool.slot);
    store->reader.request = part(memory, &at, 1, store_read_bytes(c->depth));
    return at;
}

// Bookkeeping of a pool of `bytes`, at most: the extent is not chosen yet.
static uint64_t bookkeeping_most(const struct store_config *config, const struct store_cut *cut,
                                 uint64_t bytes) {
    struct counts c = count(config, cut);
    c.extents = bytes / store_cut_largest(cut);
    c.slots = bytes / store_cut_smallest(cut);
    return lay_out(NULL, NULL, &c) + vmem_page_size(); // extents come in whole pages
}

// What slot_bytes has to be for `extents` bytes of extents.
static uint64_t with_bookkeeping(const struct store_config *config, const struct store_cut *cut,
                                 uint64_t extents) {
    uint64_t bytes = extents, next;
    while ((next = extents + bookkeeping_most(config, cut, bytes)) > bytes)
        bytes = next; // ends: a slot is far larger than its bookkeeping
    return bytes;
}

locum_status store_floor(const struct store_config *config, uint32_t held, uint64_t *bytes,
                         locum_error *error) {
    if (held == 0 || held > STORE_HELD_MAX)
        return status_fail(error, LOCUM_E_ARGUMENT, "a floor for %u experts held", held);
    struct store_cut cut;
    STATUS_TRY(store_cut_measure(config, &cut, error));
    *bytes = with_bookkeeping(config, &cut, held * store_cut_largest(&cut));
    return LOCUM_OK;
}

locum_status store_full(const struct store_config *config, uint64_t *bytes, locum_error *error) {
    struct store_cut cut;
    STATUS_TRY(store_cut_measure(config, &cut, error));
    *bytes = with_bookkeeping(config, &cut, store_cut_full(&cut));
    return LOCUM_OK;
}

// ---- life ---------------------------------------------------------------------------------------

static const char *io_kind(const struct store *store) {
    uint32_t direct = 0;
    for (uint32_t i = 0; i < store->file_count; i++)
        direct += file_is_direct(store->files[i]);
    return direct == 0 ? "buffered" : direct == store->file_count ? "direct" : "partly direct";
}

// How many slots a prompt passes through: enough experts on the way to keep the queue full, one
// computed, one ready, within a share of the pool.
static void choose_passing(struct store *store) {
    uint32_t extents = store_pool_extents(&store->pool), wanted = store->passing_wanted;
    for (uint32_t i = 0; i < store->cut.classes; i++) {
        uint32_t share = extents * store_pool_extent_room(&store->pool, i) / PASSING_SHARE;
        store->passing_most[i] = share < PASSING_LEAST ? PASSING_LEAST
                                 : share < wanted      ? share
                                                       : wanted;
    }
}

// Everything that points or counts, in zeroed memory.
static void fill_in(struct store *store, const struct store_config *config,
                    const struct store_policy *policy, uint32_t depth) {
    store->layers = config->layers;
    store->file_count = config->file_count;
    memcpy(store->layer, config->layer, config->layers * sizeof *store->layer);
    memcpy(store->files, config->files, config->file_count * sizeof(struct platform_file *));
    uint32_t first = 0;
    for (uint32_t i = 0; i < config->layers; i++) {
        store->layer_first[i] = first;
        first += config->layer[i].experts;
    }
    store->layer_first[config->layers] = first;
    for (uint32_t i = 0; i < store->cut.experts; i++)
        store->expert_slot[i] = STORE_NONE;
    struct store_shape shape = {config->layers, store->cut.experts, store->layer_first};
    store_evict_init(&store->evict, policy, &shape, store->evict.mark, store->evict.state);
    store_pool_init(&store->pool, &store->cut, store->memory.data, store->pool.extent,
                    store->pool.slot);
    store->passing_wanted = PASSING_LEAST + (depth + STORE_SEGMENTS - 1) / STORE_SEGMENTS;
    choose_passing(store);
}

static void tell_read(void *user, const struct async_read_done *done,
                      const struct store_range *range, uint32_t slot) {
    const struct store *store = user;
    const struct store_slot *s = &store->pool.slot[slot];
    uint32_t layer = store_layer_of(store, s->expert);
    struct store_io io = {.layer = layer,
                          .expert = s->expert - store->layer_first[layer],
                          .segment = range->segment,
                          .hinted = s->entry == STORE_NONE,
                          .file = range->file,
                          .offset = range->offset,
                          .bytes_wanted = range->bytes,
                          .bytes = done->bytes,
                          .latency_ns = done->latency_ns};
    store->io(store->io_user, &io);
}

static locum_status start_reader(struct store *store, const struct store_config *config,
                                 uint32_t depth, locum_error *error) {
    enum async_read_kind kind = config->io_uring ? ASYNC_READ_AUTO : ASYNC_READ_THREADS;
    STATUS_TRY(
        store_read_init(&store->reader, kind, depth, store->files, store->reader.request, error));
    store->io = config->io;
    store->io_user = config->io_user;
    store->reader.user = store;
    if (store->io) store->reader.ended = tell_read;
    const char *reason = async_read_fallback_reason(store->reader.queue);
    if (reason != NULL)
        log_write(config->log, LOCUM_LOG_NOTICE, "experts are read by threads: %s", reason);
    return LOCUM_OK;
}

// Reads in flight: what was asked for, or what drive and pool suggest.
static uint32_t choose_depth(const struct store_config *config, const struct counts *c) {
    if (config->depth != 0) return config->depth;
    uint64_t depth = c->slots / DEPTH_SLOTS;
    return depth < DEPTH_LEAST ? DEPTH_LEAST : depth > c->depth ? c->depth : (uint32_t)depth;
}

// The pool's cut for slot_bytes, and the bookkeeping that goes with it.
static locum_status plan_pool(const struct store_config *config, struct store_cut *cut,
                              struct counts *c, locum_error *error) {
    STATUS_TRY(store_cut_measure(config, cut, error));
    uint64_t page = vmem_page_size(), bytes = config->slot_bytes;
    uint64_t taken = bookkeeping_most(config, cut, bytes) - page;
    uint64_t rest = bytes < taken ? 0 : (bytes - taken) / page * page;
    if (rest < store_cut_largest(cut))
        return status_fail(error, LOCUM_E_BUDGET,
                           "%llu bytes for experts, the largest needs %llu and bookkeeping %llu",
                           (unsigned long long)bytes, (unsigned long long)store_cut_largest(cut),
                           (unsigned long long)taken);
    store_cut_choose(cut, rest);
    *c = count(config, cut);
    c->extents = cut->extents;
    c->slots = (uint64_t)cut->extents * cut->extent_slots;
    return LOCUM_OK;
}

locum_status store_create(const struct store_config *config, struct store **out,
                          locum_error *error) {
    struct store_cut cut;
    struct counts c;
    *out = NULL;
    if (config->files == NULL || config->depth > ASYNC_READ_DEPTH_MAX)
        return status_fail(error, LOCUM_E_ARGUMENT, "a store of %u files with %u reads at once",
                           config->file_count, config->depth);
    STATUS_TRY(plan_pool(config, &cut, &c, error));
    uint64_t bytes = lay_out(NULL, NULL, &c);
    struct store *store = heap_resize(NULL, (size_t)bytes);
    if (store == NULL)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY,
                           "%llu bytes for the bookkeeping of experts", (unsigned long long)bytes);
    memset(store, 0, (size_t)bytes);
    lay_out(store, (uint8_t *)store, &c);
    store->cut = cut;
    store->full_bytes = store_cut_full(&cut);
    store->bookkeeping = bytes;
    locum_status status =
        vmem_alloc(&store->memory, (size_t)(cut.extents * cut.extent_bytes), error);
    if (status == LOCUM_OK) {
        vmem_advise_huge(&store->memory);
        uint32_t depth = choose_depth(config, &c);
        fill_in(store, config, c.policy, depth);
        status = start_reader(store, config, depth, error);
    }
    if (status != LOCUM_OK) {
        store_destroy(store);
        return status;
    }
    snprintf(store->io_name, sizeof store->io_name, "%s, %s", io_kind(store),
             async_read_name(store->reader.queue));
    *out = store;
    return LOCUM_OK;
}

void store_destroy(struct store *store) {
    if (store == NULL) return;
    store_read_release(&store->reader);
    vmem_release(&store->memory);
    heap_free(store);
}

// ---- experts come and go ------------------------------------------------------------------------

static uint32_t expert_of(const struct store *store, const struct store_entry *entry) {
    return store->layer_first[store->step.layer] + entry->id;
}

static void evict_slot(struct store *store, uint32_t number) {
    if (store->pool.slot[number].hinted) store_hint_judge(&store->hints, false);
    store->expert_slot[store->pool.slot[number].expert] = STORE_NONE;
    store_pool_empty(&store->pool, number);
}

static void evict_victim(struct store *store, const struct store_victim *victim) {
    for (uint32_t k = victim->slot; k < victim->slot + victim->count; k++) {
        if (store->pool.slot[k].state == STORE_SLOT_EMPTY) continue;
        evict_slot(store, k);
        store->stats.evictions++;
    }
}

// The last hit of an ascending step that is kept and not yet taken gives its slot to the next
// expert: it is the one that is needed latest.
static bool give_up_last_hit(struct store *store) {
    struct store_step *step = &store->step;
    for (uint32_t i = step->count; i-- > step->taken;) {
        struct store_entry *entry = &step->entry[i];
        if (entry->state != STORE_ENTRY_COMING || entry->read) continue;
        if (store->pool.slot[entry->slot].state != STORE_SLOT_READY) continue;
        evict_slot(store, entry->slot);
        store_evict_forget(&store->evict);
        store->stats.evictions++;
        *entry = (struct store_entry){entry->id, STORE_NONE, STORE_ENTRY_WAITING, false, false};
        step->waiting++;
        return true;
    }
    return false;
}

// A slot for the layer's next miss, STORE_NONE if it has to wait. pressing: whatever it costs.
static uint32_t make_room(struct store *store, bool pressing) {
    const struct store_step *step = &store->step;
    uint32_t size_class = store->cut.layer_class[step->layer];
    uint32_t slot = store_pool_find(&store->pool, size_class);
    if (slot != STORE_NONE) return slot;
    bool keep = step->order == STORE_ASCENDING && !pressing &&
                step->passing >= store->passing_most[size_class];
    struct store_victim victim;
    if (store_evict_choose(&store->evict, &store->pool, size_class, keep,
                           step->waiting + HINT_LOADS, &victim)) {
        evict_victim(store, &victim);
        return victim.slot; // or the first of an extent: no other is EMPTY
    }
    if (!pressing || !give_up_last_hit(store)) return STORE_NONE;
    return store_pool_find(&store->pool, size_class);
}

// Expert `id` of the layer goes into the slot, which is EMPTY.
static void begin_read(struct store *store, uint32_t layer, uint32_t id, uint32_t slot) {
    const struct store_segment *segments =
        &store->layer[layer].segments[(size_t)id * STORE_SEGMENTS];
    uint32_t expert = store->layer_first[layer] + id;
    struct store_layout layout;
    store_layout_make(segments, store->cut.unit, &layout);
    store_pool_fill(&store->pool, slot, store->cut.layer_class[layer], expert);
    store->expert_slot[expert] = slot;
    store->stats.bytes_wanted += layout.wanted;
    store_read_begin(&store->reader, slot, &layout, store_pool_address(&store->pool, slot));
}

static void begin_miss(struct store *store, uint32_t i, uint32_t slot) {
    struct store_step *step = &store->step;
    struct store_entry *entry = &step->entry[i];
    begin_read(store, step->layer, entry->id, slot);
    store->pool.slot[slot].entry = i;
    *entry = (struct store_entry){entry->id, slot, STORE_ENTRY_COMING, true, false};
    step->waiting--;
    step->passing++;
    store->stats.misses[step->phase]++;
    store_evict_inserted(&store->evict, expert_of(store, entry), step->order);
}

// Begin what can be begun, in ascending order: also the order of the file. pressing: the caller
// waits and nothing is on its way, so the first of them must come in.
static void begin_reads(struct store *store, bool pressing) {
    struct store_step *step = &store->step;
    while (step->waiting > 0 && step->status == LOCUM_OK && store_read_ready(&store->reader)) {
        while (step->entry[step->waiting_from].state != STORE_ENTRY_WAITING)
            step->waiting_from++;
        uint32_t slot = make_room(store, pressing);
        if (slot == STORE_NONE) return;
        begin_miss(store, step->waiting_from, slot);
        pressing = false;
    }
}

// A slot for an expert that is only hinted at: a free one, or that of the expert of least worth, unless
// the same hints name it.
static uint32_t make_room_for_hint(struct store *store) {
    struct store_hints *hints = &store->hints;
    uint32_t size_class = store->cut.layer_class[hints->layer];
    uint32_t slot = store_pool_find(&store->pool, size_class);
    struct store_victim victim;
    if (slot != STORE_NONE) return slot;
    if (!store_evict_choose(&store->evict, &store->pool, size_class, false, HINT_LOADS, &victim))
        return slot;
    for (uint32_t k = victim.slot; k < victim.slot + victim.count; k++) {
        uint32_t expert = store->pool.slot[k].expert, first = store->layer_first[hints->layer];
        if (expert != STORE_NONE && expert >= first &&
            store_hint_names(hints, hints->layer, expert - first)) {
            store_hint_forget(hints); // the least of all is one of them: there is nothing to gain
            return STORE_NONE;
        }
    }
    evict_victim(store, &victim);
    return victim.slot;
}

// Another expert that no step has asked for may be read: the step has next to nothing to wait for.
static bool may_read_ahead(const struct store *store) {
    uint32_t depth = store->reader.depth / STORE_SEGMENTS; // the queue is never full of such
    uint32_t most = depth < HINT_LOADS ? depth : HINT_LOADS;
    return store->step.waiting == 0 && store->hint_loads < most &&
           store_read_loads(&store->reader) <= store->hint_loads + HINT_BEHIND &&
           store_read_ready(&store->reader);
}

static void begin_hints(struct store *store) {
    struct store_hints *hints = &store->hints;
    while (hints->next < hints->count && may_read_ahead(store)) {
        uint32_t id = hints->id[hints->next];
        uint32_t expert = store->layer_first[hints->layer] + id;
        if (store->expert_slot[expert] == STORE_NONE) {
            uint32_t slot = make_room_for_hint(store);
            if (slot == STORE_NONE) return;
            begin_read(store, hints->layer, id, slot);
            store->pool.slot[slot].hinted = true;
            store->hint_loads++;
            hints->begun_total++;
        }
        hints->next++;
    }
}

// What earlier runs used: into a free slot, or one that only a prompt has filled. Not while an answer is
// computed: hints know better what it needs.
static void begin_known(struct store *store) {
    struct store_uses *uses = &store->uses;
    if (store->hints.next < store->hints.count || store->step.phase == STORE_DECODE) return;
    while (uses->next < uses->known && may_read_ahead(store)) {
        uint32_t expert = store_uses_expert(uses, uses->next);
        uint32_t layer = store_layer_of(store, expert);
        uint32_t size_class = store->cut.layer_class[layer];
        struct store_victim victim;
        if (store->expert_slot[expert] == STORE_NONE) {
            uint32_t slot = store_pool_find(&store->pool, size_class);
            if (slot == STORE_NONE) {
                if (!store_evict_choose(&store->evict, &store->pool, size_class, true, HINT_LOADS,
                                        &victim))
                    return;
                evict_victim(store, &victim);
                slot = victim.slot;
            }
            begin_read(store, layer, expert - store->layer_first[layer], slot);
            store->hint_loads++;
            store->stats.warmed++;
        }
        uses->next++;
    }
}

static void became_ready(struct store *store, uint32_t slot) {
    struct store_step *step = &store->step;
    uint32_t entry = store->pool.slot[slot].entry;
    if (entry != STORE_NONE && step->order == STORE_ANY) step->ready[step->ready_count++] = entry;
}

static void fail_entry(struct store *store, struct store_entry *entry) {
    struct store_step *step = &store->step;
    step->passing -= entry->read;
    entry->state = STORE_ENTRY_FAILED;
    entry->slot = STORE_NONE;
    if (step->status != LOCUM_OK) return;
    step->error = store->reader.why;
    step->status = step->error.status;
}

// With verify: the bytes are those of the expert's first read; else why is in the reader.
static bool is_right(struct store *store, uint32_t number) {
    if (store->verify.sum == NULL) return true;
    uint32_t expert = store->pool.slot[number].expert, layer = store_layer_of(store, expert);
    uint32_t id = expert - store->layer_first[layer];
    const struct store_segment *segments =
        &store->layer[layer].segments[(size_t)id * STORE_SEGMENTS];
    struct store_layout layout;
    store_layout_make(segments, store->cut.unit, &layout);
    if (store_verify_same(&store->verify, expert, segments, &layout,
                          store_pool_address(&store->pool, number)))
        return true;
    status_fail(&store->reader.why, LOCUM_E_IO,
                "layer %u, expert %u: its bytes (from %llu on, %llu in all) are not those that were "
                "read first: the drive, memory or the file has changed them",
                layer, id, (unsigned long long)layout.range[0].offset,
                (unsigned long long)layout.wanted);
    return false;
}

static void arrive(struct store *store, const struct store_arrival *arrival) {
    struct store_slot *slot = &store->pool.slot[arrival->slot];
    store->hint_loads -= slot->entry == STORE_NONE;
    if (!arrival->failed && is_right(store, arrival->slot)) {
        store_slot_move(slot, STORE_SLOT_READY);
        slot->fresh = true;
        became_ready(store, arrival->slot);
        if (slot->entry == STORE_NONE)
            store_evict_released(&store->evict, &store->pool, arrival->slot);
        return;
    }
    if (slot->entry != STORE_NONE) fail_entry(store, &store->step.entry[slot->entry]);
    if (slot->hinted) store_hint_judge(&store->hints, false);
    store->expert_slot[slot->expert] = STORE_NONE;
    store_pool_empty(&store->pool, arrival->slot);
    store_evict_forget(&store->evict);
}

// Take in what has arrived, then begin what fits. block: wait for something to arrive.
static void proceed(struct store *store, bool block) {
    struct store_arrival arrivals[STORE_READ_BATCH];
    uint32_t count = store_read_poll(&store->reader, block, arrivals);
    for (uint32_t i = 0; i < count; i++)
        arrive(store, &arrivals[i]);
    begin_reads(store, false);
    begin_hints(store);
    begin_known(store);
}

// ---- size ---------------------------------------------------------------------------------------

// Extents with which any step can run: two experts of any class, one computed, one read.
static uint32_t extents_least(const struct store *store) {
    uint32_t least = 1;
    for (uint32_t i = 0; i < store->cut.classes; i++) {
        uint32_t room = store_pool_extent_room(&store->pool, i);
        if ((HELD_LEAST + room - 1) / room > least) least = (HELD_LEAST + room - 1) / room;
    }
    return least < store->cut.extents ? least : store->cut.extents;
}

static uint64_t bytes_of_extents(const struct store *store, uint32_t extents) {
    return extents * store->cut.extent_bytes + store->bookkeeping;
}

static void withdraw_extent(struct store *store) {
    uint32_t extent = store_evict_extent(&store->evict, &store->pool);
    LOCUM_ASSERT(extent != STORE_NONE); // between layers nothing has to stay
    struct store_victim all = {extent * store->cut.extent_slots, store->cut.extent_slots};
    evict_victim(store, &all);
    store_evict_forget(&store->evict);
    store_pool_withdraw(&store->pool, extent);
    vmem_discard(&store->memory, (size_t)(extent * store->cut.extent_bytes),
                 (size_t)store->cut.extent_bytes);
}

static void restore_extents(struct store *store, uint32_t extents) {
    for (uint32_t i = 0; store_pool_extents(&store->pool) < extents; i++)
        if (store->pool.extent[i].size_class == STORE_EXTENT_GONE)
            store_pool_restore(&store->pool, i);
}

locum_status store_resize(struct store *store, uint64_t slot_bytes, locum_error *error) {
    if (store->step.active)
        return status_fail(error, LOCUM_E_ARGUMENT, "a resize before layer %u has ended",
                           store->step.layer);
    uint64_t rest = slot_bytes < store->bookkeeping ? 0 : slot_bytes - store->bookkeeping;
    uint64_t extents = rest / store->cut.extent_bytes, least = extents_least(store);
    if (extents < least)
        return status_fail(error, LOCUM_E_BUDGET, "%llu bytes for experts, the least is %llu",
                           (unsigned long long)slot_bytes,
                           (unsigned long long)bytes_of_extents(store, (uint32_t)least));
    store_hint_forget(&store->hints);
    store->uses.next = store->uses.known;
    while (store_read_loads(&store->reader) > 0)
        proceed(store, true);
    // What is given back stays given back: no huge page is made of what is left around it.
    if (store_pool_extents(&store->pool) > extents) vmem_refuse_huge(&store->memory);
    while (store_pool_extents(&store->pool) > extents)
        withdraw_extent(store);
    restore_extents(store, extents < store->cut.extents ? (uint32_t)extents : store->cut.extents);
    choose_passing(store);
    self_check(store);
    return LOCUM_OK;
}

// ---- a step -------------------------------------------------------------------------------------

static locum_status check_ids(const struct store *store, uint32_t layer, const uint32_t *ids,
                              uint32_t count, locum_error *error) {
    if (store->step.active)
        return status_fail(error, LOCUM_E_ARGUMENT, "layer %u begins before layer %u has ended",
                           layer, store->step.layer);
    if (layer >= store->layers)
        return status_fail(error, LOCUM_E_ARGUMENT, "layer %u of %u", layer, store->layers);
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] >= store->layer[layer].experts || (i > 0 && ids[i] <= ids[i - 1]))
            return status_fail(error, LOCUM_E_ARGUMENT,
                               "layer %u of %u experts: expert %u is missing or out of order",
                               layer, store->layer[layer].experts, ids[i]);
    return LOCUM_OK;
}

// The expert is in the pool, or already on its way: keep it for this step.
static void keep(struct store *store, uint32_t i, uint32_t slot) {
    struct store_entry *entry = &store->step.entry[i];
    LOCUM_ASSERT(store->pool.slot[slot].entry == STORE_NONE);
    bool hinted = store->pool.slot[slot].hinted;
    if (hinted) store_hint_judge(&store->hints, true);
    store->pool.slot[slot].hinted = false;
    store->hint_loads -= store->pool.slot[slot].state == STORE_SLOT_LOADING;
    store->pool.slot[slot].entry = i;
    *entry = (struct store_entry){entry->id, slot, STORE_ENTRY_COMING, false, hinted};
    if (store->pool.slot[slot].state == STORE_SLOT_READY) became_ready(store, slot);
}

locum_status store_begin(struct store *store, uint32_t layer, const uint32_t *ids, uint32_t count,
                         enum store_order order, enum store_phase phase, locum_error *error) {
    STATUS_TRY(check_ids(store, layer, ids, count, error));
    struct store_step *step = &store->step;
    step->active = true;
    step->layer = layer;
    step->count = count;
    step->order = order;
    step->phase = phase;
    step->taken = step->waiting = step->waiting_from = step->passing = step->ready_count = 0;
    step->status = LOCUM_OK;
    store_hint_forget(&store->hints);
    store_evict_step(&store->evict, layer, ids, count, order);
    if (phase == STORE_DECODE)
        store_uses_step(&store->uses, &store->evict.shape, layer, ids, count);
    // All are kept before anything is evicted for the first of them.
    for (uint32_t i = 0; i < count; i++) {
        step->entry[i] = (struct store_entry){ids[i], STORE_NONE, STORE_ENTRY_WAITING, false, false};
        uint32_t slot = store->expert_slot[store->layer_first[layer] + ids[i]];
        if (slot != STORE_NONE)
            keep(store, i, slot);
        else
            step->waiting++;
    }
    begin_reads(store, false);
    self_check(store);
    return LOCUM_OK;
}

// The entry that is given out next, STORE_NONE if it is not ready yet.
static uint32_t next_ready(const struct store *store) {
    const struct store_step *step = &store->step;
    if (step->order == STORE_ANY)
        return step->taken < step->ready_count ? step->ready[step->taken] : STORE_NONE;
    const struct store_entry *entry = &step->entry[step->taken];
    bool ready = entry->state == STORE_ENTRY_COMING &&
                 store->pool.slot[entry->slot].state == STORE_SLOT_READY;
    return ready ? step->taken : STORE_NONE;
}

static void give_out(struct store *store, uint32_t number, struct store_expert *out) {
    struct store_step *step = &store->step;
    struct store_entry *entry = &step->entry[number];
    const struct store_segment *segments =
        &store->layer[step->layer].segments[(size_t)entry->id * STORE_SEGMENTS];
    struct store_layout layout;
    store_layout_make(segments, store->cut.unit, &layout);
    uint8_t *bytes = store_pool_address(&store->pool, entry->slot);
    store_slot_move(&store->pool.slot[entry->slot], STORE_SLOT_HELD);
    entry->state = STORE_ENTRY_TAKEN;
    step->taken++;
    if (!entry->read) store->stats.hits[step->phase]++;
    *out = (struct store_expert){.id = entry->id,
                                 .slot = entry->slot,
                                 .hit = !entry->read,
                                 .hinted = entry->hinted,
                                 .fresh = store->pool.slot[entry->slot].fresh};
    for (uint32_t i = 0; i < STORE_SEGMENTS; i++)
        out->segment[i] = segments[i].bytes == 0 ? NULL : bytes + layout.place[i];
}

locum_status store_take(struct store *store, bool wait, struct store_expert *out, bool *got,
                        locum_error *error) {
    struct store_step *step = &store->step;
    *got = false;
    if (!step->active) return status_fail(error, LOCUM_E_ARGUMENT, "no layer has begun");
    proceed(store, false);
    while (step->taken < step->count) {
        if (step->status != LOCUM_OK) {
            if (error != NULL) *error = step->error;
            return step->status;
        }
        uint32_t number = next_ready(store);
        if (number != STORE_NONE) {
            give_out(store, number, out);
            *got = true;
            break;
        }
        if (!wait) break;
        if (store_read_loads(&store->reader) == 0) begin_reads(store, true);
        if (store_read_loads(&store->reader) == 0)
            return status_fail(error, LOCUM_E_ARGUMENT,
                               "layer %u: all slots are held, and %u experts still wait for one",
                               step->layer, step->waiting);
        uint64_t start = clock_now_ns();
        proceed(store, true);
        store->stats.wait_ns += clock_now_ns() - start;
    }
    self_check(store);
    return LOCUM_OK;
}

// The entry lets go of its slot, which stays READY.
static void let_go(struct store *store, struct store_entry *entry) {
    struct store_slot *slot = &store->pool.slot[entry->slot];
    if (slot->state == STORE_SLOT_HELD) store_slot_move(slot, STORE_SLOT_READY);
    slot->entry = STORE_NONE;
    store_evict_released(&store->evict, &store->pool, entry->slot);
    entry->slot = STORE_NONE;
    entry->state = STORE_ENTRY_DONE;
    store->step.passing -= entry->read;
}

void store_done(struct store *store, uint32_t slot) {
    LOCUM_ASSERT(store->step.active && slot < store_pool_slots(&store->pool));
    LOCUM_ASSERT(store->pool.slot[slot].state == STORE_SLOT_HELD);
    store->pool.slot[slot].fresh = false;
    let_go(store, &store->step.entry[store->pool.slot[slot].entry]);
    proceed(store, false);
    self_check(store);
}

void store_end(struct store *store) {
    struct store_step *step = &store->step;
    if (!step->active) return;
    step->waiting = 0; // nothing more is begun for it
    if (step->taken < step->count) store_hint_forget(&store->hints); // nor what it foresaw
    while (store_read_loads(&store->reader) > store->hint_loads)
        proceed(store, true);
    for (uint32_t i = 0; i < step->count; i++) {
        uint32_t slot = step->entry[i].slot;
        if (slot == STORE_NONE) continue;
        bool drop = store->pool.slot[slot].fresh && store->pool.slot[slot].state == STORE_SLOT_HELD;
        let_go(store, &step->entry[i]);
        if (!drop) continue;
        evict_slot(store, slot);
        store_evict_forget(&store->evict);
    }
    step->active = false;
    self_check(store);
}

bool store_wants_hints(struct store *store) {
    uint64_t room = store_pool_extents(&store->pool) * store->cut.extent_bytes;
    return room < store->full_bytes && store_hint_wanted(&store->hints);
}

void store_hint(struct store *store, uint32_t layer, const uint32_t *ids, uint32_t count) {
    LOCUM_ASSERT(layer < store->layers && count <= store->layer[layer].experts);
    store_hint_set(&store->hints, layer, ids, count);
    for (uint32_t i = 0; i < count; i++)
        store_evict_expected(&store->evict, store->layer_first[layer] + ids[i]);
    begin_hints(store);
    self_check(store);
}

// Of those that earlier runs used, the pool's worth.
static void choose_known(struct store *store) {
    struct store_uses *uses = &store->uses;
    uint64_t room = store_pool_extents(&store->pool) * store->cut.extent_bytes, bytes = 0;
    uint32_t fit = 0;
    for (; fit < uses->known; fit++) {
        uint32_t expert = store_uses_expert(uses, fit), layer = store_layer_of(store, expert);
        bytes += store->cut.size_class[store->cut.layer_class[layer]].slot_bytes;
        if (bytes > room) break;
        store_evict_known(&store->evict, expert);
    }
    uses->known = fit;
}

void store_learn(struct store *store, const uint32_t *steps, const uint32_t *uses) {
    LOCUM_ASSERT(!store->step.active && store->pool.bytes_used == 0);
    store_uses_load(&store->uses, &store->evict.shape, steps, uses);
    if (store->evict.policy->learn != NULL)
        store->evict.policy->learn(store->evict.state, steps, uses);
    choose_known(store);
    begin_known(store);
    self_check(store);
}

void store_get_uses(const struct store *store, const uint32_t **steps, const uint32_t **uses) {
    *steps = store->uses.steps;
    *uses = store->uses.count;
}

// ---- accounts -----------------------------------------------------------------------------------

void store_get_stats(const struct store *store, struct store_stats *out) {
    *out = store->stats;
    out->reads = store->reader.reads;
    out->retries = store->reader.retries;
    out->bytes_read = store->reader.bytes_read;
    out->verified = store->verify.compared;
    out->unequal = store->verify.unequal;
    out->hinted = store->hints.begun_total;
    out->hinted_used = store->hints.used_total;
    out->hinted_wasted = store->hints.wasted_total;
    struct async_read_stats queue;
    async_read_get_stats(store->reader.queue, &queue);
    out->reading_ns = queue.busy_ns;
    out->in_flight_most = queue.out_max;
    out->resident_bytes = store->pool.bytes_used;
    out->pool_bytes = bytes_of_extents(store, store_pool_extents(&store->pool));
    out->pool_least = bytes_of_extents(store, extents_least(store));
    out->pool_most = bytes_of_extents(store, store->cut.extents);
}

bool store_resident(const struct store *store, uint32_t layer, uint32_t id) {
    if (layer >= store->layers || id >= store->layer[layer].experts) return false;
    uint32_t slot = store->expert_slot[store->layer_first[layer] + id];
    if (slot == STORE_NONE) return false;
    enum store_slot_state state = store->pool.slot[slot].state;
    return state == STORE_SLOT_READY || state == STORE_SLOT_HELD;
}

const char *store_io_name(const struct store *store) {
    return store->io_name;
}

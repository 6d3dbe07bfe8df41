// SPDX-License-Identifier: Apache-2.0
#include "cli_report_replay.h"

#include <stdlib.h>
#include <string.h>

static uint32_t key_at(const struct cli_report_lookups *lookups, size_t i) {
    return lookups->keys[i] & ~CLI_REPORT_BATCH;
}

static size_t batch_end(const struct cli_report_lookups *lookups, size_t begin) {
    size_t end = begin + 1;
    while (end < lookups->count && !(lookups->keys[end] & CLI_REPORT_BATCH))
        end++;
    return end;
}

// ---- LRU ---------------------------------------------------------------------------------------
// A ring of the experts in the cache, from the last used to the one used longest ago; the entry behind
// the last expert begins it.
struct lru_entry {
    uint32_t newer, older;
    uint32_t batch; // that it was last used in, counted from 1
    bool held;
};

static void lru_remove(struct lru_entry *ring, uint32_t key) {
    ring[ring[key].newer].older = ring[key].older;
    ring[ring[key].older].newer = ring[key].newer;
}

static void lru_insert(struct lru_entry *ring, uint32_t head, uint32_t key) {
    ring[key].newer = head;
    ring[key].older = ring[head].older;
    ring[ring[key].older].newer = key;
    ring[head].older = key;
}

bool cli_report_replay_lru(const struct cli_report_lookups *lookups, uint32_t capacity,
                           uint64_t *hits) {
    uint32_t head = lookups->experts, held = 0, batch = 0;
    struct lru_entry *ring = calloc((size_t)head + 1, sizeof *ring);
    if (!ring) return false;
    ring[head] = (struct lru_entry){.newer = head, .older = head};
    *hits = 0;
    for (size_t i = 0, end; i < lookups->count; i = end) {
        end = batch_end(lookups, i);
        batch++;
        for (size_t j = i; j < end; j++) {
            uint32_t key = key_at(lookups, j);
            *hits += ring[key].held;
            held += !ring[key].held;
            if (ring[key].held) lru_remove(ring, key);
            lru_insert(ring, head, key);
            ring[key].batch = batch;
            ring[key].held = true;
        }
        for (; held > capacity && ring[ring[head].newer].batch != batch; held--) {
            uint32_t oldest = ring[head].newer;
            lru_remove(ring, oldest);
            ring[oldest].held = false;
        }
    }
    free(ring);
    return true;
}

// ---- Belady ------------------------------------------------------------------------------------
#define NEVER UINT32_MAX

// A tournament: leaf `leaves + key` has the lookup at which that expert is used next, every node above
// the latest of its two. 0: not in the cache, or of the current batch.
struct belady {
    uint32_t leaves; // a power of two
    uint32_t *latest;
    uint32_t *next; // of each lookup: the number, from 1, of the next one of the same expert
    bool *held;
};

static void belady_set(struct belady *b, uint32_t key, uint32_t next) {
    uint32_t node = b->leaves + key;
    b->latest[node] = next;
    for (node /= 2; node > 0; node /= 2) {
        uint32_t left = b->latest[2 * node], right = b->latest[2 * node + 1];
        uint32_t later = left > right ? left : right;
        if (b->latest[node] == later) break;
        b->latest[node] = later;
    }
}

static uint32_t belady_latest(const struct belady *b) {
    uint32_t node = 1;
    while (node < b->leaves)
        node = 2 * node + (b->latest[2 * node] != b->latest[node]);
    return node - b->leaves;
}

static bool belady_open(struct belady *b, const struct cli_report_lookups *lookups) {
    b->leaves = 2;
    while (b->leaves < lookups->experts)
        b->leaves *= 2;
    b->latest = calloc((size_t)b->leaves * 2, sizeof *b->latest);
    b->next = malloc((lookups->count + 1) * sizeof *b->next);
    b->held = calloc(lookups->experts + 1, sizeof *b->held);
    uint32_t *seen = calloc(lookups->experts + 1, sizeof *seen);
    bool ready = b->latest && b->next && b->held && seen;
    if (ready) {
        for (size_t i = lookups->count; i-- > 0;) {
            uint32_t key = key_at(lookups, i);
            b->next[i] = seen[key] ? seen[key] : NEVER;
            seen[key] = (uint32_t)i + 1;
        }
    }
    free(seen);
    return ready;
}

static void belady_close(struct belady *b) {
    free(b->latest);
    free(b->next);
    free(b->held);
}

static uint64_t belady_replay(struct belady *b, const struct cli_report_lookups *lookups,
                              uint32_t capacity) {
    uint32_t held = 0;
    uint64_t hits = 0;
    for (size_t i = 0, end; i < lookups->count; i = end) {
        end = batch_end(lookups, i);
        for (size_t j = i; j < end; j++) {
            uint32_t key = key_at(lookups, j);
            hits += b->held[key];
            held += !b->held[key];
            b->held[key] = true;
            belady_set(b, key, 0);
        }
        for (; held > capacity && b->latest[1] > 0; held--) {
            uint32_t key = belady_latest(b);
            b->held[key] = false;
            belady_set(b, key, 0);
        }
        for (size_t j = i; j < end; j++)
            belady_set(b, key_at(lookups, j), b->next[j]);
    }
    return hits;
}

bool cli_report_replay_belady(const struct cli_report_lookups *lookups, uint32_t capacity,
                              uint64_t *hits) {
    struct belady b;
    bool ready = belady_open(&b, lookups);
    if (ready) *hits = belady_replay(&b, lookups, capacity);
    belady_close(&b);
    return ready;
}

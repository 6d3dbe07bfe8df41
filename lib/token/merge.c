// SPDX-License-Identifier: Apache-2.0
#include "token/merge.h"

#include "base/arena.h"
#include "base/check.h"

enum {
    FIRST_CAPACITY = 64,
    DEAD = -2 /* id of a symbol that was merged into its left neighbour */
};

static bool reserve(void **memory, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity) {
        return true;
    }
    size_t more = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = heap_resize(*memory, more * size);
    if (!grown) {
        return false;
    }
    *memory = grown;
    *capacity = more;
    return true;
}

void merge_begin(struct merge *merge, struct slice piece) {
    LOCUM_ASSERT(piece.size <= INT32_MAX);
    merge->piece = piece;
    merge->count = 0;
    merge->heap_count = 0;
}

void merge_poll(struct merge *merge) {
    if (merge->failed || ++merge->unpolled < MERGE_POLL) {
        return;
    }
    merge->unpolled = 0;
    if (merge->watch && merge->watch(merge->user)) {
        merge->stopped = merge->failed = true;
    }
}

void merge_append(struct merge *merge, uint32_t begin, int32_t id) {
    void *memory = merge->symbols;
    merge_poll(merge);
    if (merge->failed ||
        !reserve(&memory, &merge->capacity, merge->count + 1, sizeof *merge->symbols)) {
        merge->failed = true;
        return;
    }
    merge->symbols = memory;
    int32_t number = (int32_t)merge->count++;
    if (number > 0) {
        merge->symbols[number - 1].next = number;
    }
    merge->symbols[number] = (struct merge_symbol){begin, number - 1, MERGE_NONE, id};
}

static uint32_t end_of(const struct merge *merge, int32_t symbol) {
    int32_t next = merge->symbols[symbol].next;
    return next == MERGE_NONE ? (uint32_t)merge->piece.size : merge->symbols[next].begin;
}

int32_t merge_first(const struct merge *merge) {
    return merge->count > 0 ? 0 : MERGE_NONE; // the first symbol is nobody's right neighbour
}

struct slice merge_text(const struct merge *merge, int32_t symbol) {
    uint32_t begin = merge->symbols[symbol].begin;
    return slice_make(merge->piece.data + begin, end_of(merge, symbol) - begin);
}

static void heap_push(struct merge *merge, struct merge_candidate candidate) {
    void *memory = merge->heap;
    if (merge->failed ||
        !reserve(&memory, &merge->heap_capacity, merge->heap_count + 1, sizeof *merge->heap)) {
        merge->failed = true;
        return;
    }
    merge->heap = memory;
    size_t hole = merge->heap_count++;
    while (hole > 0 && merge->heap[(hole - 1) / 2].order > candidate.order) {
        merge->heap[hole] = merge->heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
        merge->steps++;
    }
    merge->heap[hole] = candidate;
    merge->steps++;
}

static struct merge_candidate heap_pop(struct merge *merge) {
    struct merge_candidate top = merge->heap[0], last = merge->heap[--merge->heap_count];
    size_t hole = 0;
    for (size_t child = 1; child < merge->heap_count; child = 2 * hole + 1) {
        if (child + 1 < merge->heap_count &&
            merge->heap[child + 1].order < merge->heap[child].order) {
            child++;
        }
        if (merge->heap[child].order >= last.order) {
            break;
        }
        merge->heap[hole] = merge->heap[child];
        hole = child;
        merge->steps++;
    }
    merge->heap[hole] = last;
    merge->steps++;
    return top;
}

static void consider(struct merge *merge, const struct merge_rules *rules, int32_t left) {
    int32_t right = left == MERGE_NONE ? MERGE_NONE : merge->symbols[left].next;
    if (right == MERGE_NONE) {
        return;
    }
    uint32_t begin = merge->symbols[left].begin, end = end_of(merge, right), rank;
    struct slice both = slice_make(merge->piece.data + begin, end - begin);
    if (rules->rank(rules->model, merge->symbols[left].id, merge->symbols[right].id, both, &rank)) {
        heap_push(merge, (struct merge_candidate){(uint64_t)rank << 32 | (uint32_t)left, end});
    }
}

void merge_run(struct merge *merge, const struct merge_rules *rules) {
    for (size_t i = 0; i + 1 < merge->count && !merge->failed; i++) {
        merge_poll(merge);
        consider(merge, rules, (int32_t)i);
    }
    while (merge->heap_count > 0 && !merge->failed) {
        merge_poll(merge);
        struct merge_candidate candidate = heap_pop(merge);
        int32_t left = (int32_t)(uint32_t)candidate.order;
        struct merge_symbol *symbol = &merge->symbols[left];
        int32_t right = symbol->next;
        // Symbols only grow, and only over their right neighbour: the same end means the same pair.
        if (symbol->id == DEAD || right == MERGE_NONE || end_of(merge, right) != candidate.end) {
            continue;
        }
        symbol->next = merge->symbols[right].next;
        if (symbol->next != MERGE_NONE) {
            merge->symbols[symbol->next].prev = left;
        }
        merge->symbols[right].id = DEAD;
        symbol->id = rules->result(rules->model, merge_text(merge, left));
        consider(merge, rules, symbol->prev);
        consider(merge, rules, left);
    }
}

void merge_release(struct merge *merge) {
    heap_free(merge->symbols);
    heap_free(merge->heap);
    *merge = (struct merge){0};
}

// SPDX-License-Identifier: Apache-2.0
#include "grammar/grammar_intern.h"

#include "base/arena.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

bool grammar_intern_grow(void **items, uint32_t *capacity, uint32_t need, size_t size) {
    if (need <= *capacity) return true;
    uint64_t grown = *capacity > 0 ? *capacity : FIRST_CAPACITY;
    while (grown < need)
        grown *= 2;
    if (grown > UINT32_MAX || grown > SIZE_MAX / size) return false;
    void *moved = heap_resize(*items, (size_t)grown * size);
    if (!moved) return false;
    *items = moved;
    *capacity = (uint32_t)grown;
    return true;
}

void grammar_intern_release(struct grammar_intern *intern) {
    heap_free(intern->words);
    heap_free(intern->ends);
    heap_free(intern->slots);
    *intern = (struct grammar_intern){0};
}

size_t grammar_intern_bytes(const struct grammar_intern *intern) {
    return sizeof(uint32_t) *
           ((size_t)intern->words_capacity + intern->ends_capacity + intern->slots_capacity);
}

static uint32_t hash_words(const uint32_t *words, uint32_t count) {
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

// The slot that holds the run, or the empty one where it belongs.
static uint32_t find_slot(const struct grammar_intern *intern, const uint32_t *words,
                          uint32_t count) {
    uint32_t mask = intern->slots_capacity - 1, slot = hash_words(words, count) & mask;
    for (;; slot = (slot + 1) & mask) {
        uint32_t run = intern->slots[slot], size;
        if (run == GRAMMAR_INTERN_NONE) return slot;
        const uint32_t *present = grammar_intern_get(intern, run, &size);
        if (size == count && memcmp(present, words, count * sizeof *words) == 0) return slot;
    }
}

// At most half of the slots are taken.
static bool grow_slots(struct grammar_intern *intern) {
    if (intern->count < intern->slots_capacity / 2) return true;
    uint32_t grown = intern->slots_capacity > 0 ? 2 * intern->slots_capacity : FIRST_CAPACITY;
    uint32_t *slots = heap_resize(intern->slots, grown * sizeof *slots);
    if (!slots) return false;
    intern->slots = slots;
    intern->slots_capacity = grown;
    memset(slots, 0xFF, grown * sizeof *slots);
    for (uint32_t run = 0; run < intern->count; run++) {
        uint32_t size;
        const uint32_t *words = grammar_intern_get(intern, run, &size);
        slots[find_slot(intern, words, size)] = run;
    }
    return true;
}

uint32_t grammar_intern_add(struct grammar_intern *intern, const uint32_t *words, uint32_t count) {
    if (!grow_slots(intern)) return GRAMMAR_INTERN_NONE;
    uint32_t slot = find_slot(intern, words, count);
    if (intern->slots[slot] != GRAMMAR_INTERN_NONE) return intern->slots[slot];
    uint32_t begin = intern->count > 0 ? intern->ends[intern->count - 1] : 0;
    bool inside = intern->words && words >= intern->words && words < intern->words + begin;
    size_t offset = inside ? (size_t)(words - intern->words) : 0;
    if (count > UINT32_MAX - begin ||
        !grammar_intern_grow((void **)&intern->words, &intern->words_capacity, begin + count,
                             sizeof *intern->words) ||
        !grammar_intern_grow((void **)&intern->ends, &intern->ends_capacity, intern->count + 1,
                             sizeof *intern->ends)) {
        return GRAMMAR_INTERN_NONE;
    }
    if (count > 0)
        memcpy(intern->words + begin, inside ? intern->words + offset : words,
               count * sizeof *words);
    intern->ends[intern->count] = begin + count;
    intern->slots[slot] = intern->count;
    return intern->count++;
}

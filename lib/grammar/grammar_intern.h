// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a table that gives equal runs of words the same number, counted from 0.
// Called by: grammar_program (byte sets), grammar_machine (stacks, states).
// Threads:   one thread at a time.
// Errors:    GRAMMAR_INTERN_NONE when the system has no memory; the table stays as it was.
// Not here:  what the words mean.
#ifndef GRAMMAR_INTERN_H
#define GRAMMAR_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAMMAR_INTERN_NONE UINT32_MAX

// All zero is an empty table.
struct grammar_intern {
    uint32_t *words;          // all runs, one behind the other
    uint32_t *ends;           // [count]: where run i ends in words
    uint32_t *slots;          // hash table of run numbers, a power of two of them
    uint32_t count;           // runs
    uint32_t words_capacity, ends_capacity, slots_capacity;
};

void grammar_intern_release(struct grammar_intern *intern); // empty again

// The number of this run. A number that equals the count before the call is new. The words may lie
// in the table itself.
uint32_t grammar_intern_add(struct grammar_intern *intern, const uint32_t *words, uint32_t count);

// Words of a run; valid until the next add.
static inline const uint32_t *grammar_intern_get(const struct grammar_intern *intern, uint32_t run,
                                                 uint32_t *count) {
    uint32_t begin = run > 0 ? intern->ends[run - 1] : 0;
    *count = intern->ends[run] - begin;
    return intern->words + begin;
}

size_t grammar_intern_bytes(const struct grammar_intern *intern);

// The usual growth of an array: room for `need` items of `size` bytes. False: no memory.
bool grammar_intern_grow(void **items, uint32_t *capacity, uint32_t need, size_t size);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      strings of bytes, numbered from 0, with a hash index over some of them.
// Called by: vocabulary, bpe.
// Threads:   read-only once filled: any.
// Errors:    E_OUT_OF_MEMORY when it is made; nothing after.
// Not here:  what the strings mean.
//
// Memory: the bytes, 4 bytes a string, and 5.3 bytes a string for the index (open addressing, three
// quarters full). 262,144 tokens of Gemma: 1.9 MB + 1 MB + 1.4 MB.
#ifndef TOKEN_TABLE_H
#define TOKEN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

struct token_table {
    uint32_t count;    // strings so far
    uint32_t capacity; // strings that fit
    uint32_t cells;    // size of the index
    uint32_t *offsets; // [capacity + 1] begin of string i in bytes
    char *bytes;       // one after the other
    size_t bytes_capacity;
    uint32_t *index; // [cells] number of a string + 1; 0: free
};

locum_status token_table_make(struct token_table *table, struct arena *arena, uint32_t capacity,
                              size_t bytes_capacity, locum_error *error);

// Append a string; both capacities are the caller's duty (asserted). Gives its number.
uint32_t token_table_append(struct token_table *table, struct slice bytes);
// Make a string findable. Of equal strings the one indexed last is found.
void token_table_index(struct token_table *table, uint32_t number);
// Number of an indexed string, or -1.
int32_t token_table_find(const struct token_table *table, struct slice bytes);

static inline struct slice token_table_get(const struct token_table *table, uint32_t number) {
    uint32_t begin = table->offsets[number];
    return slice_make(table->bytes + begin, table->offsets[number + 1] - begin);
}

size_t token_table_memory(const struct token_table *table);

#endif

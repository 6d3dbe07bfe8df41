// SPDX-License-Identifier: Apache-2.0
#include "token/token_table.h"

#include "base/check.h"
#include "token/token_hash.h"

locum_status token_table_make(struct token_table *table, struct arena *arena, uint32_t capacity,
                              size_t bytes_capacity, locum_error *error) {
    LOCUM_ASSERT(bytes_capacity <= UINT32_MAX && capacity <= LIMIT_VOCABULARY);
    uint32_t cells = token_hash_cells(capacity);
    *table = (struct token_table){
        .capacity = capacity,
        .cells = cells,
        .offsets = arena_array(arena, (size_t)capacity + 1, sizeof *table->offsets),
        .bytes = arena_array(arena, bytes_capacity, 1),
        .bytes_capacity = bytes_capacity,
        .index = arena_array(arena, cells, sizeof *table->index),
    };
    if (!table->offsets || !table->bytes || !table->index) {
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a table of %u tokens",
                           capacity);
    }
    return LOCUM_OK;
}

uint32_t token_table_append(struct token_table *table, struct slice bytes) {
    uint32_t number = table->count, begin = table->offsets[number];
    LOCUM_ASSERT(number < table->capacity && bytes.size <= table->bytes_capacity - begin);
    if (bytes.size > 0) {
        memcpy(table->bytes + begin, bytes.data, bytes.size);
    }
    table->offsets[number + 1] = begin + (uint32_t)bytes.size;
    table->count++;
    return number;
}

// The cell that holds an equal string, or the free one where it belongs. There is always a free
// one: cells > capacity.
static uint32_t *find_cell(const struct token_table *table, struct slice bytes, uint64_t hash) {
    uint32_t cell = token_hash_cell(hash, table->cells);
    for (; table->index[cell] != 0; cell = cell + 1 == table->cells ? 0 : cell + 1) {
        int32_t number = token_hash_number_of(table->index[cell]);
        if (token_hash_may_be(hash, table->index[cell]) &&
            slice_equal(token_table_get(table, (uint32_t)number), bytes)) {
            break;
        }
    }
    return &table->index[cell];
}

void token_table_index(struct token_table *table, uint32_t number) {
    LOCUM_ASSERT(number < table->count);
    struct slice bytes = token_table_get(table, number);
    uint64_t hash = token_hash_bytes(bytes);
    *find_cell(table, bytes, hash) = token_hash_pack(hash, number);
}

int32_t token_table_find(const struct token_table *table, struct slice bytes) {
    return token_hash_number_of(*find_cell(table, bytes, token_hash_bytes(bytes)));
}

size_t token_table_memory(const struct token_table *table) {
    return table->bytes_capacity +
           ((size_t)table->capacity + 1 + table->cells) * sizeof *table->offsets;
}

// SPDX-License-Identifier: Apache-2.0
#include "token/token_table.h"

#include "base/check.h"
#include "token/token_hash.h"

locum_status token_table_make(struct token_table *table, struct arena *arena, uint32_t capacity,
                              size_t bytes_capacity, locum_error *error) {
    LOCUM_ASSERT(bytes_capacity <= UINT32_MAX && capacity < INT32_MAX / 2);
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

// The cell that holds an equal string, or the free one where it belongs. There is always a free one:
// cells > capacity.
static uint32_t *find_cell(const struct token_table *table, struct slice bytes) {
    uint32_t cell = token_hash_cell(token_hash_bytes(bytes), table->cells);
    while (table->index[cell] != 0 &&
           !slice_equal(token_table_get(table, table->index[cell] - 1), bytes)) {
        cell = cell + 1 == table->cells ? 0 : cell + 1;
    }
    return &table->index[cell];
}

void token_table_index(struct token_table *table, uint32_t number) {
    LOCUM_ASSERT(number < table->count);
    *find_cell(table, token_table_get(table, number)) = number + 1;
}

int32_t token_table_find(const struct token_table *table, struct slice bytes) {
    return table->cells == 0 ? -1 : (int32_t)*find_cell(table, bytes) - 1;
}

size_t token_table_memory(const struct token_table *table) {
    return table->bytes_capacity +
           ((size_t)table->capacity + 1 + table->cells) * sizeof *table->offsets;
}

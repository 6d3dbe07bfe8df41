// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_index.h"

#include <string.h>

#include "base/check.h"

struct gguf_index_entry {
    const char *name; // NULL: free
    uint32_t size;
    uint32_t number;
};

// Half of the entries are free, so honest names need a handful of steps; names that collide on
// purpose would make a table of a million entries quadratic.
enum { INDEX_PROBES_MAX = 2048 };

// FNV-1a with a final mix: its low bits alone are weak, and the mask takes those.
static uint32_t index_hash(struct slice name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 32);
}

locum_status gguf_index_init(struct gguf_index *index, uint64_t capacity, struct arena *arena,
                             locum_error *error) {
    LOCUM_ASSERT(capacity <= UINT64_C(1) << 29);
    uint32_t size = 8;
    while (size < capacity * 2)
        size *= 2;
    *index = (struct gguf_index){.mask = size - 1};
    index->entries = arena_array(arena, size, sizeof *index->entries);
    if (index->entries == NULL)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for an index of names");
    return LOCUM_OK;
}

// The entry that holds `name`, or the free one where it belongs; NULL after too many steps.
static struct gguf_index_entry *index_probe(const struct gguf_index *index, struct slice name) {
    uint32_t at = index_hash(name) & index->mask;
    for (int step = 0; step < INDEX_PROBES_MAX; step++, at = (at + 1) & index->mask) {
        struct gguf_index_entry *entry = &index->entries[at];
        if (entry->name == NULL || slice_equal(slice_make(entry->name, entry->size), name))
            return entry;
    }
    return NULL;
}

locum_status gguf_index_add(struct gguf_index *index, struct slice name, uint32_t number,
                            int64_t *existing, locum_error *error) {
    LOCUM_ASSERT(name.data != NULL && name.size <= UINT32_MAX);
    struct gguf_index_entry *entry = index_probe(index, name);
    if (entry == NULL)
        return status_fail(error, LOCUM_E_FORMAT, "too many names share one hash value");
    if (entry->name != NULL) {
        *existing = entry->number;
        return LOCUM_OK;
    }
    LOCUM_ASSERT(index->count <= index->mask / 2);
    *entry = (struct gguf_index_entry){name.data, (uint32_t)name.size, number};
    index->count++;
    *existing = GGUF_INDEX_NONE;
    return LOCUM_OK;
}

int64_t gguf_index_find(const struct gguf_index *index, struct slice name) {
    if (index->entries == NULL) return GGUF_INDEX_NONE;
    const struct gguf_index_entry *entry = index_probe(index, name);
    return entry == NULL || entry->name == NULL ? GGUF_INDEX_NONE : (int64_t)entry->number;
}

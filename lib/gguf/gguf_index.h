// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a hash from names to numbers: keys and tensors by name, duplicates found in linear
//            time.
// Called by: gguf_parse, gguf_meta, gguf_file.
// Threads:   one writer, then any number of readers.
// Errors:    E_OUT_OF_MEMORY; E_FORMAT when names were built to collide (a probe has a fixed
//            limit).
// Not here:  the names themselves: the index borrows them.
#ifndef GGUF_INDEX_H
#define GGUF_INDEX_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

struct gguf_index {
    struct gguf_index_entry *entries;
    uint32_t mask; // capacity - 1, a power of two at least twice the count given to init
    uint32_t count;
};

enum { GGUF_INDEX_NONE = -1 };

// Room for `capacity` names (at most 2^29), in the arena.
locum_status gguf_index_init(struct gguf_index *index, uint64_t capacity, struct arena *arena,
                             locum_error *error);
// Adds name -> number. If the name is there already, nothing is changed and *existing is its
// number; else *existing is GGUF_INDEX_NONE. The bytes of `name` must outlive the index.
locum_status gguf_index_add(struct gguf_index *index, struct slice name, uint32_t number,
                            int64_t *existing, locum_error *error);
// The number, or GGUF_INDEX_NONE. A zeroed index is empty.
int64_t gguf_index_find(const struct gguf_index *index, struct slice name);

#endif

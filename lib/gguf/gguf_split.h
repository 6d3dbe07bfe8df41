// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the names of shards, NAME-00002-of-00005.gguf, and their paths.
// Called by: gguf_locate, gguf_file.
// Threads:   pure.
// Errors:    none: any other name is simply no shard's name.
// Not here:  whether a file is a shard: its metadata decides that (gguf_file).
#ifndef GGUF_SPLIT_H
#define GGUF_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct gguf_split {
    size_t prefix;          // bytes of the path before "-00002-of-00005.gguf", folders included
    uint32_t number, total; // 1 <= number <= total
};

// `path` may have folders before the name.
bool gguf_split_parse(const char *path, struct gguf_split *out);
// The same path with another number; NULL when out of memory.
const char *gguf_split_path(struct arena *arena, const char *path, const struct gguf_split *split,
                            uint32_t number);
// Both are names of the same set of shards.
bool gguf_split_same(const char *path_a, const char *path_b);

// The part of a path behind its folders.
const char *gguf_split_base(const char *path);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the tables of one GGUF header: metadata and tensors, checked.
// Called by: gguf_file, tools, the fuzz target. Pure functions over bytes: no file is touched.
// Threads:   pure.
// Errors:    E_FORMAT, naming key or tensor, what was expected and what was found; E_OUT_OF_MEMORY.
// Not here:  where records begin and end (gguf_scan.h), split files (gguf_file.h), typed access to
//            metadata (gguf_meta.h).
#ifndef GGUF_PARSE_H
#define GGUF_PARSE_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "gguf/gguf_index.h"
#include "gguf/gguf_scan.h"
#include "gguf/gguf_value.h"

struct gguf_pair {
    const char *key; // NUL-terminated, printable ASCII
    struct gguf_value value;
};

struct gguf_tensor {
    const char *name;                // NUL-terminated, valid UTF-8 without control characters
    uint32_t type;                   // id as in the file: enum dtype, or one we do not know
    uint32_t dims;                   // 0..4 as in the file
    uint64_t shape[LIMIT_GGUF_DIMS]; // shape[0] is contiguous; missing ones are 1; none is 0
    uint64_t elements;               // product of shape
    uint64_t bytes;                  // 0: the type is unknown
    uint64_t offset;                 // of its first byte, absolute within its shard
    uint32_t shard;                  // 0-based; gguf_parse leaves it 0
};

struct gguf_header {
    uint32_t version;
    uint32_t alignment;
    uint64_t data_start; // absolute; header_size if there are no tensors
    uint64_t data_end;   // end of the last tensor (one of unknown type counts a byte)
    uint64_t metadata_count, tensor_count;
    const struct gguf_pair *metadata;                       // in file order
    struct gguf_tensor *tensors;                            // in file order
    struct gguf_index keys;
};

// Build the tables of a header whose scan is DONE. `bytes` (header_size of them) must outlive *out;
// tables, keys and names are in `arena`: their sizes are those that the scan has proved.
// Refused: duplicate keys, bad alignment, dimensions of 0, products that wrap, tensors that overlap
// or leave the file. Accepted: gaps, tensors of unknown type (kept, bytes 0). Duplicate tensor
// names are found where the tables of all shards meet: gguf_file.
locum_status gguf_parse(const struct gguf_scan *scan, struct slice bytes, struct arena *arena,
                        struct gguf_header *out, locum_error *error);

#endif

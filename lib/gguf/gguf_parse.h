// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the meaning of the bytes of one GGUF header (versions 2 and 3, little-endian).
// Called by: gguf_file, tools, the fuzz target. Pure functions over bytes: no file is touched.
// Threads:   pure.
// Errors:    E_FORMAT: damaged, naming key or tensor and what was expected; E_UNSUPPORTED: big-endian,
//            version 1. Nothing is allocated from a count that the bytes have not proved.
// Not here:  split files (gguf_file.h), typed access to metadata (gguf_meta.h).
#ifndef GGUF_PARSE_H
#define GGUF_PARSE_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "gguf/gguf_index.h"
#include "gguf/gguf_value.h"

// Two passes. The scan walks the structure of a header of which only the beginning may be there yet; it
// holds no memory, so a reader can feed it growing pieces and learns where the header ends. The build
// runs once over the whole header and makes the tables, whose sizes the scan has proved by then.

enum gguf_scan_state { GGUF_SCAN_DONE, GGUF_SCAN_MORE, GGUF_SCAN_ERROR };

struct gguf_scan {
    const char *name;   // of the file, for messages
    uint64_t file_size; // of the whole file: what cannot be inside it is an error at once
    // Valid after DONE:
    uint32_t version;
    uint64_t metadata_count, tensor_count;
    uint64_t header_size; // bytes up to the end of the last tensor record
    // After MORE: total bytes needed to get on, at least (never above file_size).
    uint64_t need;
    // Private: where to resume.
    uint32_t phase;
    uint64_t position, index; // of the next record
    uint64_t elements_left;   // of the array of strings that is being walked
    locum_status status;      // of the error that ended it
};

void gguf_scan_begin(struct gguf_scan *scan, const char *name, uint64_t file_size);
// `bytes` is the file from its first byte on; each call may bring more, never less. Linear in total.
enum gguf_scan_state gguf_scan_feed(struct gguf_scan *scan, struct slice bytes, locum_error *error);

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
    uint32_t shard;                  // 0-based
};

struct gguf_header {
    uint32_t version;
    uint32_t alignment;
    uint64_t data_start; // absolute; header_size if there are no tensors
    uint64_t data_end;   // end of the last tensor of known type
    uint64_t metadata_count, tensor_count, unknown_tensors; // unknown: of a type we cannot size
    const struct gguf_pair *metadata; // in file order
    struct gguf_tensor *tensors;      // in file order
    struct gguf_index keys;
};

// Build the tables of a header whose scan is DONE. `bytes` (header_size of them) must outlive *out;
// tables, keys and names are in `arena`. Tensors get shard number `shard`.
// Refused: duplicate keys, bad alignment, dimensions of 0, products that wrap, tensors that overlap or
// leave the file. Accepted: gaps, tensors of unknown type (kept, bytes 0). Duplicate tensor names are
// found where the tables of all shards meet: gguf_file.
locum_status gguf_parse(const struct gguf_scan *scan, struct slice bytes, uint32_t shard,
                        struct arena *arena, struct gguf_header *out, locum_error *error);

#endif

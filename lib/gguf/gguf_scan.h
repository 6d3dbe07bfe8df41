// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the structure of a GGUF header (versions 2 and 3): where each record begins and ends.
// Called by: gguf_file, gguf_parse, the fuzz target. Pure functions over bytes: no file is touched.
// Threads:   a scan belongs to one thread at a time.
// Errors:    E_FORMAT: damaged, incomplete or no GGUF at all; E_UNSUPPORTED: big-endian, version 1.
//            Texts name the file and the key or tensor.
// Not here:  what records mean: duplicates, shapes, offsets (gguf_parse.h).
//
// Of a header only the beginning may be there yet. The scan holds no memory and resumes where it
// stopped, so a reader feeds it growing pieces and learns where the header ends without reading far
// past it. Counts and lengths are compared with the file's size before anyone allocates from them.
#ifndef GGUF_SCAN_H
#define GGUF_SCAN_H

#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

enum gguf_scan_state { GGUF_SCAN_DONE, GGUF_SCAN_MORE, GGUF_SCAN_ERROR };

struct gguf_scan {
    const char *name;   // of the file, for messages
    uint64_t file_size; // of the whole file
    // From DONE on:
    uint32_t version;
    uint64_t metadata_count, tensor_count;
    uint64_t header_size; // up to the end of the last tensor record
    // After MORE: bytes of the file that are needed to get on, at least. Never above file_size.
    uint64_t need;
    // After ERROR; the text was given when it happened.
    locum_status status;
    // Private: the record to resume at, and for messages the name it belongs to.
    uint32_t phase;
    uint64_t position, index;
    uint64_t strings_left; // of the array that is being walked
    uint64_t name_at, name_size;
};

// 24 bytes of counts, then records: what a file of at least one record has before it.
enum { GGUF_SCAN_FIRST_RECORD = 24 };

void gguf_scan_begin(struct gguf_scan *scan, const char *name, uint64_t file_size);
// `bytes`: the file from its first byte on, at least what was given before. Linear over all calls.
enum gguf_scan_state gguf_scan_feed(struct gguf_scan *scan, struct slice bytes, locum_error *error);

#endif

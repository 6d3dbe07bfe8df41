// SPDX-License-Identifier: Apache-2.0
//
// Owns:      writing a GGUF file (version 3, little-endian): metadata, tensor table, then data, in
//            one pass.
// Called by: tools, tests. Nothing on the way of an answer.
// Threads:   one thread at a time.
// Errors:    sticky: the first one is kept, later calls do nothing, gguf_writer_begin, _data and
//            _end return it. So a chain of adds needs no checks.
// Not here:  quantising weights (tools).
//
// Order of use: create, add_* (metadata), add_tensor, begin, data for every tensor in the order of
// their addition, end, close.
#ifndef GGUF_WRITER_H
#define GGUF_WRITER_H

#include "base/buffer.h"
#include "base/status.h"
#include "gguf/gguf_value.h"
#include "platform/file_write.h"

struct gguf_writer;

// Where bytes go. write returns LOCUM_OK when all `size` bytes were taken.
struct gguf_sink {
    locum_status (*write)(void *user, const void *bytes, size_t size, locum_error *error);
    void *user;
};

struct gguf_sink gguf_writer_to_buffer(struct buffer *buffer);
// Into a file that appears whole or not at all; opening and committing it stay with the caller.
struct gguf_sink gguf_writer_to_file(struct file_write *file);

// alignment: a power of two up to LIMIT_GGUF_ALIGNMENT (asserted); 0: the default of 32. Another
// one than 32 is written as general.alignment, so that key cannot be added. NULL when out of
// memory.
struct gguf_writer *gguf_writer_create(uint32_t alignment);
void gguf_writer_close(struct gguf_writer *writer); // NULL is fine; also before the end

void gguf_writer_add_u32(struct gguf_writer *writer, const char *key, uint32_t value);
void gguf_writer_add_i32(struct gguf_writer *writer, const char *key, int32_t value);
void gguf_writer_add_u64(struct gguf_writer *writer, const char *key, uint64_t value);
void gguf_writer_add_u16(struct gguf_writer *writer, const char *key, uint16_t value);
void gguf_writer_add_f32(struct gguf_writer *writer, const char *key, float value);
void gguf_writer_add_bool(struct gguf_writer *writer, const char *key, bool value);
void gguf_writer_add_text(struct gguf_writer *writer, const char *key, const char *text);
// Any value, e.g. one read from another file, or an array of packed little-endian numbers:
//     {.element = GGUF_I32, .is_array = true, .count = n, .bytes = {data, 4 * n}}
void gguf_writer_add_value(struct gguf_writer *writer, const char *key,
                           const struct gguf_value *value);
void gguf_writer_add_strings(struct gguf_writer *writer, const char *key,
                             const struct slice texts[], uint64_t count);

// type: enum dtype. shape[0] is contiguous.
void gguf_writer_add_tensor(struct gguf_writer *writer, const char *name, uint32_t type,
                            uint32_t dims, const uint64_t shape[]);

// Writes everything before the data. The sink is used until gguf_writer_end.
locum_status gguf_writer_begin(struct gguf_writer *writer, struct gguf_sink sink,
                               locum_error *error);
// The next bytes of the current tensor, in pieces of any size that do not cross its end.
locum_status gguf_writer_data(struct gguf_writer *writer, const void *bytes, size_t size,
                              locum_error *error);
// Pads, and fails when bytes of a tensor are missing.
locum_status gguf_writer_end(struct gguf_writer *writer, locum_error *error);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// GGUF bytes made by hand, record by record, so that any of them can be wrong; and the ways to read
// them that the tests share.
#ifndef TESTS_GGUF_FIXTURE_H
#define TESTS_GGUF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/dtype.h"
#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"

// Raw pieces, little-endian, appended to `out`.
void raw_u32(struct buffer *out, uint32_t value);
void raw_u64(struct buffer *out, uint64_t value);
void raw_text(struct buffer *out, const char *text);
void raw_start(struct buffer *out, uint32_t version, uint64_t tensors, uint64_t keys);
void raw_key_u32(struct buffer *out, const char *key, uint32_t value);
void raw_key_text(struct buffer *out, const char *key, const char *value);
void raw_tensor(struct buffer *out, const char *name, uint32_t dims, const uint64_t shape[],
                uint32_t type, uint64_t offset);
void raw_pad(struct buffer *out, size_t unit);
void raw_zeros(struct buffer *out, size_t count);

// Opens `bytes` from a block of exactly their size, so that a sanitizer sees a read past the end.
locum_status open_exactly(struct slice bytes, struct gguf_file **out, locum_error *error);
// Opens and expects failure with every one of `words` (NULL-terminated list) in the text, which
// also begins with the file's name.
void expect_refused(struct slice bytes, locum_status status, ...);
// The same for a path; the words need not begin with anything.
void expect_refused_path(const char *path, locum_status status, ...);
void expect_words(const locum_error *error, const char *const *words);

// A small sound model: keys of every type, arrays, two tensors with data. The buffer is the
// caller's to release.
struct buffer fixture_model(void);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// A header, version 2 and 3:
//
//     "GGUF"  u32 version  u64 tensors  u64 keys
//     keys    x { string key, u32 type, value }
//     tensors x { string name, u32 dims, u64 shape[dims], u32 type, u64 offset }
//
// with string = u64 size, bytes; array value = u32 element type, u64 count, elements; no padding.
// Reading a record either succeeds, or moves nothing and tells how many bytes it lacks, or fails.
#include "gguf/gguf_scan.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/checked.h"
#include "base/limits.h"
#include "gguf/gguf_bytes.h"
#include "gguf/gguf_text.h"
#include "gguf/gguf_value.h"

enum scan_phase { PHASE_START, PHASE_KEYS, PHASE_STRINGS, PHASE_TENSORS, PHASE_DONE, PHASE_ERROR };

enum {
    KEY_BYTES_MIN = 8 + 1 + 4 + 1,        // a key of one letter, a value of one byte
    TENSOR_BYTES_MIN = 8 + 1 + 4 + 4 + 8, // a name of one letter, no dimensions
};

struct scan_reader {
    struct gguf_scan *scan;
    struct slice bytes;
    uint64_t at; // becomes scan->position when the record is complete
    locum_error *error;
};

// Leave the function unless the bytes were there.
#define SCAN_TRY(call)                                     \
    do {                                                   \
        enum gguf_scan_state scan_try_ = (call);           \
        if (scan_try_ != GGUF_SCAN_DONE) return scan_try_; \
    } while (0)

// --- Messages -----------------------------------------------------------------------------------

// Puts "file: the place: " before a text that was just made, and ends the scan.
static enum gguf_scan_state scan_end(struct scan_reader *reader, locum_status status) {
    struct gguf_scan *scan = reader->scan;
    bool tensors = scan->phase == PHASE_TENSORS;
    if (scan->name_size > 0) {
        status_prefix(reader->error, status, "%s '%.*s'", tensors ? "tensor" : "key",
                      (int)scan->name_size, reader->bytes.data + scan->name_at);
    } else if (scan->phase != PHASE_START) {
        status_prefix(reader->error, status, "%s %s of %s", tensors ? "tensor" : "metadata entry",
                      gguf_text_number(scan->index + 1).text,
                      gguf_text_number(tensors ? scan->tensor_count : scan->metadata_count).text);
    }
    scan->phase = PHASE_ERROR;
    scan->status = status_prefix(reader->error, status, "%s", scan->name);
    return GGUF_SCAN_ERROR;
}

#define SCAN_FAIL(reader, code, ...) \
    scan_end((reader), status_fail((reader)->error, LOCUM_E_##code, __VA_ARGS__))

// --- Pieces -------------------------------------------------------------------------------------

// The next `size` bytes.
static enum gguf_scan_state scan_take(struct scan_reader *reader, uint64_t size,
                                      const char **bytes) {
    struct gguf_scan *scan = reader->scan;
    uint64_t end;
    if (!checked_add(reader->at, size, &end) || end > scan->file_size)
        return SCAN_FAIL(reader, FORMAT,
                         "%s bytes are needed from byte %s on, but the file ends at %s: it is "
                         "incomplete or damaged",
                         gguf_text_number(size).text, gguf_text_number(reader->at).text,
                         gguf_text_number(scan->file_size).text);
    if (end > LIMIT_GGUF_HEADER)
        return SCAN_FAIL(reader, UNSUPPORTED, "the metadata is larger than %d MiB",
                         LIMIT_GGUF_HEADER >> 20);
    if (end > reader->bytes.size) {
        scan->need = end;
        return GGUF_SCAN_MORE;
    }
    *bytes = reader->bytes.data + reader->at;
    reader->at = end;
    return GGUF_SCAN_DONE;
}

static enum gguf_scan_state scan_integer(struct scan_reader *reader, uint32_t size,
                                         uint64_t *value) {
    const char *bytes = NULL;
    SCAN_TRY(scan_take(reader, size, &bytes));
    *value = gguf_bytes_get(bytes, size);
    return GGUF_SCAN_DONE;
}

// A string of at most `max` bytes; `what` is for messages.
static enum gguf_scan_state scan_string(struct scan_reader *reader, uint64_t max, const char *what,
                                        struct slice *text) {
    uint64_t size;
    const char *bytes = NULL;
    SCAN_TRY(scan_integer(reader, 8, &size));
    if (size > max)
        return SCAN_FAIL(reader, FORMAT, "%s of %s bytes is longer than the limit of %s", what,
                         gguf_text_number(size).text, gguf_text_number(max).text);
    SCAN_TRY(scan_take(reader, size, &bytes));
    *text = slice_make(bytes, (size_t)size);
    return GGUF_SCAN_DONE;
}

// The name at the start of a record, which messages of the rest then carry.
static enum gguf_scan_state scan_name(struct scan_reader *reader, uint64_t max, const char *what) {
    struct slice name;
    reader->scan->name_size = 0;
    SCAN_TRY(scan_string(reader, max, what, &name));
    if (name.size == 0) return SCAN_FAIL(reader, FORMAT, "%s is empty", what);
    reader->scan->name_at = (uint64_t)(name.data - reader->bytes.data);
    reader->scan->name_size = name.size;
    return GGUF_SCAN_DONE;
}

// --- Records ------------------------------------------------------------------------------------

// What people have in their hands when it is not a GGUF file.
struct scan_stranger {
    const char *start, *what;
};
static const struct scan_stranger scan_strangers[] = {
    {"FUGG", "this is a big-endian GGUF file, and only little-endian ones are supported"},
    {"tjgg", "this is a GGML file from before 2023-08; it must be converted to GGUF"},
    {"lmgg", "this is a GGML file from before 2023-08; it must be converted to GGUF"},
    {"fmgg", "this is a GGML file from before 2023-08; it must be converted to GGUF"},
    {"vers", "this is no GGUF file; a text that begins like this is often a Git LFS pointer: fetch "
             "the file itself"},
    {"<!DO", "this is a web page, not a GGUF file: the download went wrong"},
    {"<htm", "this is a web page, not a GGUF file: the download went wrong"},
    {"PK\003\004", "this is a ZIP archive (PyTorch weights?), not a GGUF file"},
};

static enum gguf_scan_state scan_magic(struct scan_reader *reader) {
    const char *magic = NULL;
    if (reader->scan->file_size < GGUF_SCAN_FIRST_RECORD)
        return SCAN_FAIL(reader, FORMAT, "this is no GGUF file: it ends after %" PRIu64 " bytes",
                         reader->scan->file_size);
    SCAN_TRY(scan_take(reader, 4, &magic));
    if (memcmp(magic, "GGUF", 4) == 0) return GGUF_SCAN_DONE;
    for (size_t i = 0; i < sizeof scan_strangers / sizeof scan_strangers[0]; i++) {
        if (memcmp(magic, scan_strangers[i].start, 4) == 0)
            return SCAN_FAIL(reader, UNSUPPORTED, "%s", scan_strangers[i].what);
    }
    return SCAN_FAIL(reader, FORMAT, "this is no GGUF file: it begins with %02x %02x %02x %02x",
                     (unsigned char)magic[0], (unsigned char)magic[1], (unsigned char)magic[2],
                     (unsigned char)magic[3]);
}

static enum gguf_scan_state scan_start(struct scan_reader *reader) {
    struct gguf_scan *scan = reader->scan;
    uint64_t version, tensors, keys;
    SCAN_TRY(scan_magic(reader));
    SCAN_TRY(scan_integer(reader, 4, &version));
    if (version != 0 && (version & 0xffff) == 0)
        return SCAN_FAIL(reader, UNSUPPORTED,
                         "this file is big-endian, and only little-endian ones are supported");
    if (version != 2 && version != 3)
        return SCAN_FAIL(reader, UNSUPPORTED, "GGUF version %" PRIu64 "; supported are 2 and 3",
                         version);
    SCAN_TRY(scan_integer(reader, 8, &tensors));
    SCAN_TRY(scan_integer(reader, 8, &keys));
    if (tensors > LIMIT_GGUF_TENSORS)
        return SCAN_FAIL(reader, FORMAT, "claims %s tensors; the limit is %s",
                         gguf_text_number(tensors).text, gguf_text_number(LIMIT_GGUF_TENSORS).text);
    if (keys > LIMIT_GGUF_KEYS)
        return SCAN_FAIL(reader, FORMAT, "claims %s metadata entries; the limit is %s",
                         gguf_text_number(keys).text, gguf_text_number(LIMIT_GGUF_KEYS).text);
    if (keys * KEY_BYTES_MIN + tensors * TENSOR_BYTES_MIN > scan->file_size - reader->at)
        return SCAN_FAIL(reader, FORMAT,
                         "claims %s metadata entries and %s tensors, but the file has only %s "
                         "bytes: it is incomplete or damaged",
                         gguf_text_number(keys).text, gguf_text_number(tensors).text,
                         gguf_text_number(scan->file_size).text);
    scan->version = (uint32_t)version;
    scan->tensor_count = tensors;
    scan->metadata_count = keys;
    scan->phase = PHASE_KEYS;
    return GGUF_SCAN_DONE;
}

// Array of a fixed-size type in one piece; of an array of strings only the head is taken here.
static enum gguf_scan_state scan_array(struct scan_reader *reader, uint64_t *strings) {
    uint64_t element, count, bytes;
    const char *elements;
    SCAN_TRY(scan_integer(reader, 4, &element));
    SCAN_TRY(scan_integer(reader, 8, &count));
    if (element == GGUF_ARRAY)
        return SCAN_FAIL(reader, FORMAT, "arrays of arrays are not supported");
    if (element >= GGUF_TYPE_COUNT)
        return SCAN_FAIL(reader, FORMAT, "array of the unknown value type %" PRIu64, element);
    uint32_t size = element == GGUF_STRING ? 8 : gguf_value_type_bytes((uint32_t)element);
    if (!checked_mul(count, size, &bytes) || bytes > reader->scan->file_size - reader->at)
        return SCAN_FAIL(reader, FORMAT,
                         "claims an array of %s elements (%s), but the file ends %s bytes "
                         "later: it is incomplete or damaged",
                         gguf_text_number(count).text, gguf_value_type_name((uint32_t)element),
                         gguf_text_number(reader->scan->file_size - reader->at).text);
    *strings = element == GGUF_STRING ? count : 0;
    return element == GGUF_STRING ? GGUF_SCAN_DONE : scan_take(reader, bytes, &elements);
}

static enum gguf_scan_state scan_value(struct scan_reader *reader, uint64_t *strings) {
    uint64_t type;
    struct slice text;
    const char *bytes = NULL;
    *strings = 0;
    SCAN_TRY(scan_integer(reader, 4, &type));
    if (type == GGUF_STRING) return scan_string(reader, LIMIT_GGUF_STRING, "a string", &text);
    if (type == GGUF_ARRAY) return scan_array(reader, strings);
    if (type >= GGUF_TYPE_COUNT)
        return SCAN_FAIL(reader, FORMAT, "unknown value type %" PRIu64, type);
    SCAN_TRY(scan_take(reader, gguf_value_type_bytes((uint32_t)type), &bytes));
    if (type == GGUF_BOOL && (unsigned char)*bytes > 1)
        return SCAN_FAIL(reader, FORMAT, "a bool must be 0 or 1, but it is %d",
                         (unsigned char)*bytes);
    return GGUF_SCAN_DONE;
}

static enum gguf_scan_state scan_key(struct scan_reader *reader) {
    struct gguf_scan *scan = reader->scan;
    uint64_t strings;
    if (scan->index == scan->metadata_count) {
        scan->index = 0;
        scan->phase = PHASE_TENSORS;
        return GGUF_SCAN_DONE;
    }
    SCAN_TRY(scan_name(reader, LIMIT_GGUF_KEY, "the key"));
    SCAN_TRY(scan_value(reader, &strings));
    scan->strings_left = strings;
    scan->phase = PHASE_STRINGS;
    return GGUF_SCAN_DONE;
}

// The next string of an array; after the last one, the next key.
static enum gguf_scan_state scan_element(struct scan_reader *reader) {
    struct gguf_scan *scan = reader->scan;
    struct slice text;
    if (scan->strings_left == 0) {
        scan->index++;
        scan->phase = PHASE_KEYS;
        return GGUF_SCAN_DONE;
    }
    SCAN_TRY(scan_string(reader, LIMIT_GGUF_STRING, "a string of the array", &text));
    scan->strings_left--;
    return GGUF_SCAN_DONE;
}

static enum gguf_scan_state scan_tensor(struct scan_reader *reader) {
    struct gguf_scan *scan = reader->scan;
    uint64_t dims;
    const char *rest;
    if (scan->index == scan->tensor_count) {
        scan->header_size = reader->at;
        scan->phase = PHASE_DONE;
        return GGUF_SCAN_DONE;
    }
    SCAN_TRY(scan_name(reader, LIMIT_GGUF_NAME - 1, "the name"));
    SCAN_TRY(scan_integer(reader, 4, &dims));
    if (dims > LIMIT_GGUF_DIMS)
        return SCAN_FAIL(reader, FORMAT, "%" PRIu64 " dimensions; the format allows %d", dims,
                         LIMIT_GGUF_DIMS);
    SCAN_TRY(scan_take(reader, dims * 8 + 4 + 8, &rest));
    scan->index++;
    return GGUF_SCAN_DONE;
}

typedef enum gguf_scan_state (*scan_fn)(struct scan_reader *reader);
static const scan_fn scan_phases[] = {
    [PHASE_START] = scan_start,
    [PHASE_KEYS] = scan_key,
    [PHASE_STRINGS] = scan_element,
    [PHASE_TENSORS] = scan_tensor,
};

void gguf_scan_begin(struct gguf_scan *scan, const char *name, uint64_t file_size) {
    *scan = (struct gguf_scan){.name = name, .file_size = file_size};
}

enum gguf_scan_state gguf_scan_feed(struct gguf_scan *scan, struct slice bytes,
                                    locum_error *error) {
    LOCUM_ASSERT(bytes.size >= scan->position && bytes.size <= scan->file_size);
    LOCUM_ASSERT(scan->phase != PHASE_ERROR);
    struct scan_reader reader = {scan, bytes, scan->position, error};
    while (scan->phase != PHASE_DONE) {
        SCAN_TRY(scan_phases[scan->phase](&reader));
        scan->position = reader.at;
    }
    return GGUF_SCAN_DONE;
}

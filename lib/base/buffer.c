// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

enum { BUFFER_CAPACITY_MIN = 64 };

void buffer_release(struct buffer *buffer) {
    heap_free(buffer->data);
    *buffer = (struct buffer){.limit = buffer->limit};
}

static bool fail(struct buffer *buffer) {
    buffer->failed = true;
    return false;
}

bool buffer_reserve(struct buffer *buffer, size_t more) {
    if (buffer->failed) return false;
    if (more <= buffer->capacity - buffer->size) return true;
    if (more > SIZE_MAX - buffer->size) return fail(buffer);
    size_t need = buffer->size + more;
    if (buffer->limit != 0 && need > buffer->limit) return fail(buffer);
    size_t capacity = buffer->capacity + buffer->capacity / 2; // may wrap: then `need` is larger
    if (capacity < BUFFER_CAPACITY_MIN) capacity = BUFFER_CAPACITY_MIN;
    if (capacity < need) capacity = need;
    if (buffer->limit != 0 && capacity > buffer->limit) capacity = buffer->limit;
    char *data = heap_resize(buffer->data, capacity);
    if (data == NULL) return fail(buffer);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool buffer_append(struct buffer *buffer, const void *data, size_t size) {
    if (!buffer_reserve(buffer, size)) return false;
    if (size > 0) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

bool buffer_append_text(struct buffer *buffer, const char *text) {
    return buffer_append(buffer, text, strlen(text));
}

bool buffer_append_byte(struct buffer *buffer, char byte) {
    return buffer_append(buffer, &byte, 1);
}

bool buffer_format(struct buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    bool fits =
        size >= 0 ? buffer_reserve(buffer, (size_t)size + 1) : fail(buffer); // with its zero
    if (fits) {
        vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
    return fits;
}

const char *buffer_text(struct buffer *buffer) {
    if (!buffer_reserve(buffer, 1)) return NULL;
    buffer->data[buffer->size] = '\0';
    return buffer->data;
}

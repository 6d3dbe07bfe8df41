// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_split.h"

#include <inttypes.h>
#include <string.h>

// Five decimal digits.
static bool read_digits(const char *text, uint32_t *number) {
    *number = 0;
    for (int i = 0; i < 5; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *number = *number * 10 + (uint32_t)(text[i] - '0');
    }
    return true;
}

bool gguf_split_parse(const char *path, struct gguf_split *out) {
    static const char form[] = "-00000-of-00000.gguf"; // "0": a digit
    const size_t form_size = sizeof form - 1;
    const char *base = gguf_split_base(path);
    size_t size = strlen(base);
    if (size <= form_size) return false; // a prefix of at least one letter
    const char *tail = base + size - form_size;
    bool fits = tail[0] == '-' && memcmp(tail + 6, form + 6, 4) == 0 &&
                memcmp(tail + 15, form + 15, 5) == 0 && read_digits(tail + 1, &out->number) &&
                read_digits(tail + 10, &out->total);
    if (!fits || out->number < 1 || out->number > out->total) return false;
    out->prefix = (size_t)(tail - path);
    return true;
}

const char *gguf_split_path(struct arena *arena, const char *path, const struct gguf_split *split,
                            uint32_t number) {
    return arena_format(arena, "%.*s-%05" PRIu32 "-of-%05" PRIu32 ".gguf", (int)split->prefix, path,
                        number, split->total);
}

bool gguf_split_same(const char *path_a, const char *path_b) {
    struct gguf_split a, b;
    return gguf_split_parse(path_a, &a) && gguf_split_parse(path_b, &b) && a.total == b.total &&
           a.prefix == b.prefix && memcmp(path_a, path_b, a.prefix) == 0;
}

const char *gguf_split_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

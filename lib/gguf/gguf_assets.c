// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_assets.h"

#include <string.h>

#include "gguf/gguf_text.h"
#include "platform/file.h"

enum {
    ASSETS_BYTES_MAX = 1 << 20, // about 10,000 lines
    SHA256_DIGITS = 64,
};

// Cuts `rest` behind the next `end`; what was before it is the result.
static struct slice cut(struct slice *rest, char end) {
    const char *found = rest->size > 0 ? memchr(rest->data, end, rest->size) : NULL;
    size_t size = found ? (size_t)(found - rest->data) : rest->size;
    struct slice piece = slice_make(rest->data, size);
    *rest = slice_from(*rest, size + (found != NULL));
    return piece;
}

static bool read_size(struct slice text, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || i == 18) return false; // 18 digits fit
        *out = *out * 10 + (uint64_t)(text.data[i] - '0');
    }
    return text.size > 0;
}

bool gguf_assets_is_digest(struct slice text) {
    for (size_t i = 0; i < text.size; i++) {
        if (memchr("0123456789abcdefABCDEF", text.data[i], 22) == NULL) return false;
    }
    return text.size == SHA256_DIGITS;
}

bool gguf_assets_is_inside(struct slice name) {
    if (name.size == 0 || name.data[0] == '/' || !gguf_text_is_printable(name)) return false;
    while (name.size > 0) {
        if (slice_is(cut(&name, '/'), "..")) return false;
    }
    return true;
}

static locum_status read_line(struct slice line, size_t number, struct arena *arena,
                              struct gguf_asset *out, const char **fault) {
    struct slice name = cut(&line, '\t');
    struct slice size = cut(&line, '\t');
    struct slice digest = cut(&line, '\t');
    *fault = NULL;
    if (!gguf_assets_is_inside(name))
        *fault = "the name must be a path inside this folder";
    else if (!read_size(size, &out->bytes))
        *fault = "the second column must be the size in bytes";
    else if (!gguf_assets_is_digest(digest))
        *fault = "the third column must be a SHA-256 of 64 hexadecimal digits";
    if (*fault != NULL) return LOCUM_E_FORMAT;
    out->name = arena_copy_text(arena, name.data, name.size);
    out->sha256 = arena_copy_text(arena, digest.data, digest.size);
    out->place = arena_format(arena, "line %zu", number);
    return out->name && out->sha256 && out->place ? LOCUM_OK : LOCUM_E_OUT_OF_MEMORY;
}

static locum_status read_lines(struct slice text, struct arena *arena, struct gguf_assets *out,
                               locum_error *error) {
    size_t lines = 1;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    struct gguf_asset *items = arena_array(arena, lines, sizeof *items);
    if (items == NULL) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", out->path);
    out->items = items;
    for (size_t number = 1; text.size > 0; number++) {
        const char *fault;
        struct slice line = cut(&text, '\n');
        if (line.size > 0 && line.data[line.size - 1] == '\r') line.size--;
        if (line.size == 0 || line.data[0] == '#') continue;
        locum_status status = read_line(line, number, arena, &items[out->count++], &fault);
        if (status != LOCUM_OK)
            return status_fail(error, status, "%s, line %zu: %s", out->path, number,
                               fault ? fault : "no memory");
    }
    return LOCUM_OK;
}

locum_status gguf_assets_read(const char *folder, struct arena *arena, struct gguf_assets *out,
                              locum_error *error) {
    *out = (struct gguf_assets){.folder = folder};
    const char *path = arena_format(arena, "%s/assets.tsv", folder);
    if (path == NULL) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", folder);
    struct file_facts facts;
    locum_status status = file_look(path, &facts, error);
    if (status == LOCUM_E_NOT_FOUND) return LOCUM_OK;
    if (status != LOCUM_OK) return status;
    struct slice text;
    out->path = path;
    STATUS_TRY(file_read_whole(path, ASSETS_BYTES_MAX, arena, &text, error));
    return read_lines(text, arena, out, error);
}

locum_status gguf_assets_check(const struct gguf_assets *assets, struct arena *arena,
                               locum_error *error) {
    for (size_t i = 0; i < assets->count; i++) {
        const struct gguf_asset *item = &assets->items[i];
        const char *path = arena_format(arena, "%s/%s", assets->folder, item->name);
        if (path == NULL)
            return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", assets->path);
        struct file_facts facts;
        locum_status status = file_look(path, &facts, error);
        if (status == LOCUM_E_NOT_FOUND)
            return status_fail(error, status, "%s is missing; %s, %s, lists it with %s bytes", path,
                               assets->path, item->place, gguf_text_number(item->bytes).text);
        if (status != LOCUM_OK) return status;
        if (facts.kind != FILE_REGULAR || facts.bytes != item->bytes)
            return status_fail(error, LOCUM_E_FORMAT,
                               "%s has %s bytes, but %s, %s, lists it with %s: the file is "
                               "incomplete or another one",
                               path, gguf_text_number(facts.bytes).text, assets->path, item->place,
                               gguf_text_number(item->bytes).text);
    }
    return LOCUM_OK;
}

bool gguf_assets_lists(const struct gguf_assets *assets, const char *name) {
    for (size_t i = 0; i < assets->count; i++) {
        if (strcmp(assets->items[i].name, name) == 0) return true;
    }
    return false;
}

bool gguf_assets_is_model(const char *name) {
    size_t size = strlen(name);
    return size > 5 && strcmp(name + size - 5, ".gguf") == 0;
}

const char *gguf_assets_first_model(const struct gguf_assets *assets) {
    for (size_t i = 0; i < assets->count; i++) {
        if (gguf_assets_is_model(assets->items[i].name)) return assets->items[i].name;
    }
    return NULL;
}

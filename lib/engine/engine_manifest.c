// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_manifest.h"

#include <jansson.h>
#include <string.h>

#include "base/buffer.h"
#include "gguf/gguf_split.h"
#include "platform/file.h"

enum {
    MANIFEST_BYTES_MAX = 256 << 10, // about 2,000 files; as values in memory below 32 MB
    NAMES_SHOWN = 8,                // of fields that are not used
};

static locum_status no_memory(const char *path, locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", path);
}

// ---- fields -------------------------------------------------------------------------------------
static locum_status read_architecture(const json_t *root, struct arena *arena,
                                      struct engine_manifest *out, locum_error *error) {
    const json_t *value = json_object_get(root, "architecture");
    if (!value) return LOCUM_OK;
    if (!json_is_string(value))
        return status_fail(error, LOCUM_E_FORMAT, "%s: \"architecture\" must be a string",
                           out->assets.path);
    out->architecture = arena_copy_text(arena, json_string_value(value), json_string_length(value));
    return out->architecture ? LOCUM_OK : no_memory(out->assets.path, error);
}

static struct slice text_of(const json_t *value) {
    return json_is_string(value) ? slice_make(json_string_value(value), json_string_length(value))
                                 : slice_make(NULL, 0);
}

// One element of "files"; *fault is the sentence for what is wrong with it.
static locum_status read_file(const json_t *element, size_t index, struct arena *arena,
                              struct gguf_asset *out, const char **fault) {
    struct slice name = text_of(json_object_get(element, "name"));
    const json_t *size = json_object_get(element, "size");
    const json_t *sha256 = json_object_get(element, "sha256");
    struct slice digest = text_of(sha256);
    *fault = NULL;
    if (!json_is_object(element))
        *fault = " must be an object";
    else if (!gguf_assets_is_inside(name))
        *fault = ".name must be a path inside this folder";
    else if (!json_is_integer(size) || json_integer_value(size) < 0)
        *fault = ".size must be the size in bytes";
    else if (sha256 && !gguf_assets_is_digest(digest))
        *fault = ".sha256 must be 64 hexadecimal digits";
    if (*fault) return LOCUM_E_FORMAT;
    out->bytes = (uint64_t)json_integer_value(size);
    out->name = arena_copy_text(arena, name.data, name.size);
    out->place = arena_format(arena, "files[%zu].size", index);
    out->sha256 = sha256 ? arena_copy_text(arena, digest.data, digest.size) : NULL;
    bool whole = out->name && out->place && (!sha256 || out->sha256);
    return whole ? LOCUM_OK : LOCUM_E_OUT_OF_MEMORY;
}

static locum_status read_files(const json_t *root, struct arena *arena, struct gguf_assets *out,
                               locum_error *error) {
    const json_t *files = json_object_get(root, "files");
    if (!files) return LOCUM_OK;
    if (!json_is_array(files))
        return status_fail(error, LOCUM_E_FORMAT, "%s: \"files\" must be an array", out->path);
    struct gguf_asset *items = arena_array(arena, json_array_size(files), sizeof *items);
    if (!items) return no_memory(out->path, error);
    out->items = items;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *fault;
        locum_status status = read_file(json_array_get(files, i), i, arena, &items[i], &fault);
        if (status != LOCUM_OK)
            return status_fail(error, status, "%s: files[%zu]%s", out->path, i,
                               fault ? fault : ": no memory");
        out->count++;
    }
    return LOCUM_OK;
}

// Recommended settings and the like: said once, so that nobody believes they are in force.
static void note_unused(json_t *root, struct arena *arena, struct engine_manifest *out) {
    struct buffer list = {0};
    const char *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach(root, name, value) {
        if (strcmp(name, "architecture") == 0 || strcmp(name, "files") == 0) continue;
        if (count++ < NAMES_SHOWN) buffer_format(&list, "%s%s", count > 1 ? ", " : "", name);
    }
    if (count > NAMES_SHOWN) buffer_format(&list, " and %zu more", count - NAMES_SHOWN);
    const char *names = buffer_text(&list);
    if (count > 0 && names)
        out->notice = arena_format(arena, "%s: not used: %s", out->assets.path, names);
    buffer_release(&list);
}

// ---- reading ------------------------------------------------------------------------------------
static locum_status read_text(struct slice text, struct arena *arena, struct engine_manifest *out,
                              locum_error *error) {
    json_error_t reason; // also for depth, numbers that do not fit, and bytes that are no UTF-8
    json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &reason);
    if (!root)
        return status_fail(error, LOCUM_E_FORMAT, "%s, line %d: %s", out->assets.path, reason.line,
                           reason.text);
    locum_status status = LOCUM_OK;
    if (!json_is_object(root))
        status = status_fail(error, LOCUM_E_FORMAT, "%s: must be a JSON object", out->assets.path);
    if (status == LOCUM_OK) status = read_architecture(root, arena, out, error);
    if (status == LOCUM_OK) status = read_files(root, arena, &out->assets, error);
    if (status == LOCUM_OK) note_unused(root, arena, out);
    json_decref(root);
    return status;
}

// The folder of `path`, which is one or lies in one.
static locum_status find_folder(const char *path, struct arena *arena, struct engine_manifest *out,
                                locum_error *error) {
    struct file_facts facts;
    STATUS_TRY(file_look(path, &facts, error));
    out->from_folder = facts.kind == FILE_FOLDER;
    size_t size = out->from_folder ? strlen(path) : (size_t)(gguf_split_base(path) - path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    out->assets.folder = size == 0 ? "." : arena_copy_text(arena, path, size);
    return out->assets.folder ? LOCUM_OK : no_memory(path, error);
}

static locum_status read_manifest(struct arena *arena, struct engine_manifest *out,
                                  locum_error *error) {
    const char *path = arena_format(arena, "%s/model.json", out->assets.folder);
    if (!path) return no_memory(out->assets.folder, error);
    struct file_facts facts;
    struct slice text;
    locum_status status = file_look(path, &facts, error);
    if (status == LOCUM_E_NOT_FOUND || (status == LOCUM_OK && facts.kind != FILE_REGULAR))
        return LOCUM_OK;
    out->assets.path = path;
    if (status == LOCUM_OK) status = file_read_whole(path, MANIFEST_BYTES_MAX, arena, &text, error);
    return status == LOCUM_OK ? read_text(text, arena, out, error) : status;
}

locum_status engine_manifest_read(const char *path, struct arena *arena,
                                  struct engine_manifest *out, locum_error *error) {
    *out = (struct engine_manifest){.model = path};
    STATUS_TRY(find_folder(path, arena, out, error));
    locum_error reason;
    locum_status status = read_manifest(arena, out, &reason);
    bool unusable = status == LOCUM_E_FORMAT || status == LOCUM_E_NOT_FOUND || status == LOCUM_E_IO;
    if (unusable && !out->from_folder) {
        // The user named a model file: this is another program's, or somebody else's to read.
        *out = (struct engine_manifest){.model = path};
        out->notice = arena_format(arena, "not used: %s", reason.text);
        return LOCUM_OK;
    }
    if (status != LOCUM_OK) return status_fail(error, status, "%s", reason.text);
    const char *first = gguf_assets_first_model(&out->assets);
    if (!out->from_folder || !first) return LOCUM_OK;
    out->model = arena_format(arena, "%s/%s", out->assets.folder, first);
    return out->model ? LOCUM_OK : no_memory(path, error);
}

// ---- checking -----------------------------------------------------------------------------------
locum_status engine_manifest_check(struct engine_manifest *manifest, const struct gguf_file *file,
                                   struct arena *arena, locum_error *error) {
    const struct gguf_assets *assets = &manifest->assets;
    if (!assets->path) return LOCUM_OK;
    if (!manifest->from_folder && !gguf_file_is_listed(file, assets)) {
        manifest->notice = NULL;
        return LOCUM_OK;
    }
    STATUS_TRY(gguf_assets_check(assets, arena, error));
    const char *found = gguf_file_meta(file)->architecture;
    if (manifest->architecture && strcmp(manifest->architecture, found) != 0)
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: \"architecture\" is '%s', but %s holds '%s': the folder was made "
                           "for something else",
                           assets->path, manifest->architecture, gguf_file_shard(file, 0)->path,
                           found);
    return LOCUM_OK;
}

// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_locate.h"

#include <string.h>

#include "base/buffer.h"
#include "gguf/gguf_split.h"
#include "platform/file.h"

enum { NAMES_SHOWN = 8 }; // in a message about a folder with several models

// Projectors of vision models lie beside the model that they belong to.
static bool is_projector(const char *name) {
    return strncmp(name, "mmproj", 6) == 0;
}

static locum_status no_memory(const char *path, locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", path);
}

static locum_status several(const char *folder, const char *const *names, size_t count,
                            locum_error *error) {
    struct buffer list = {0};
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        buffer_format(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    if (count > NAMES_SHOWN) buffer_format(&list, " and %zu more", count - NAMES_SHOWN);
    const char *text = buffer_text(&list);
    status_fail(error, LOCUM_E_ARGUMENT, "%s holds several models; name one of them: %s", folder,
                text ? text : "");
    buffer_release(&list);
    return LOCUM_E_ARGUMENT;
}

// The one model among the names in a folder, without a list that says which.
static locum_status pick(const char *folder, struct arena *arena, const char **picked,
                         bool *as_shards, locum_error *error) {
    const char *const *names;
    size_t count, found = 0;
    STATUS_TRY(file_list(folder, arena, &names, &count, error));
    const char **models = arena_array(arena, count, sizeof *models);
    if (models == NULL) return no_memory(folder, error);
    for (size_t i = 0; i < count; i++) {
        if (gguf_assets_is_model(names[i]) && !is_projector(names[i])) models[found++] = names[i];
    }
    if (found == 0)
        return status_fail(error, LOCUM_E_NOT_FOUND,
                           "%s holds no .gguf file (folders below it are not searched)", folder);
    for (size_t i = 1; i < found; i++) {
        if (!gguf_split_same(models[0], models[i])) return several(folder, models, found, error);
    }
    *picked = models[0]; // names come sorted, so this is the first shard that is there
    *as_shards = found > 1;
    return LOCUM_OK;
}

static locum_status locate_in_folder(const char *folder, struct arena *arena,
                                     struct gguf_located *out, locum_error *error) {
    const char *name = NULL;
    out->from_folder = true;
    STATUS_TRY(gguf_assets_read(folder, arena, &out->assets, error));
    if (out->assets.path == NULL)
        STATUS_TRY(pick(folder, arena, &name, &out->as_shards, error));
    else if ((name = gguf_assets_first_model(&out->assets)) == NULL)
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s lists no .gguf file", out->assets.path);
    out->path = arena_format(arena, "%s/%s", folder, name);
    return out->path ? LOCUM_OK : no_memory(folder, error);
}

locum_status gguf_locate(const char *path, struct arena *arena, struct gguf_located *out,
                         locum_error *error) {
    *out = (struct gguf_located){0};
    struct file_facts facts;
    STATUS_TRY(file_look(path, &facts, error));
    if (facts.kind == FILE_FOLDER) {
        size_t size = strlen(path);
        while (size > 1 && path[size - 1] == '/')
            size--;
        const char *folder = arena_copy_text(arena, path, size);
        return folder ? locate_in_folder(folder, arena, out, error) : no_memory(path, error);
    }
    size_t folder_size = (size_t)(gguf_split_base(path) - path);
    const char *folder = folder_size == 0   ? "."
                         : folder_size == 1 ? "/"
                                            : arena_copy_text(arena, path, folder_size - 1);
    out->path = arena_copy_text(arena, path, strlen(path));
    if (folder == NULL || out->path == NULL) return no_memory(path, error);
    return gguf_assets_read(folder, arena, &out->assets, error);
}

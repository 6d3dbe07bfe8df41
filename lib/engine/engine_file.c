// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_file.h"

#include "base/dtype.h"
#include "engine/engine_describe.h"
#include "engine/engine_manifest.h"
#include "engine/engine_sampling.h"

#include <stdio.h>
#include <string.h>

static locum_status no_memory(locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to describe the file");
}

static locum_status name_types(struct locum_file *file, locum_error *error) {
    uint64_t count = gguf_file_tensor_count(file->gguf);
    file->type_names = arena_array(&file->arena, count, sizeof *file->type_names);
    if (!file->type_names) return no_memory(error);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t type = gguf_file_tensor(file->gguf, i)->type;
        file->type_names[i] =
            dtype_get(type) ? dtype_name(type) : arena_format(&file->arena, "type %u", type);
        if (!file->type_names[i]) return no_memory(error);
    }
    return LOCUM_OK;
}

static locum_status list_sampling(struct locum_file *file, locum_error *error) {
    struct engine_sampling sampling;
    char text[ENGINE_SAMPLING_TEXT];
    locum_setting setting;
    if (engine_sampling_read(gguf_file_meta(file->gguf), &sampling, NULL) != LOCUM_OK)
        return LOCUM_OK;
    const struct engine_card *card = engine_card_find(sampling.name, LOCUM_THINKING_UNKNOWN);
    if (card) file->sampling_card = card->source;
    file->sampling = arena_array(&file->arena, ENGINE_SAMPLING_NUMBERS + 1, sizeof setting);
    if (!file->sampling) return no_memory(error);
    for (uint32_t i = 0; engine_sampling_setting(&sampling, i, text, &setting); i++) {
        setting.value = arena_copy_text(&file->arena, text, strlen(text));
        if (!setting.value) return no_memory(error);
        file->sampling[file->sampling_count++] = setting;
    }
    return LOCUM_OK;
}

// Opens the model that `path` and the model.json beside it name.
static locum_status open_gguf(struct locum_file *file, const char *path, locum_error *error) {
    struct engine_manifest manifest;
    STATUS_TRY(engine_manifest_read(path, &file->arena, &manifest, error));
    STATUS_TRY(gguf_file_open(manifest.model, &file->gguf, error));
    STATUS_TRY(engine_manifest_check(&manifest, file->gguf, &file->arena, error));
    file->notice = manifest.notice;
    return LOCUM_OK;
}

locum_status locum_file_open(const char *path, locum_file **out, locum_error *error) {
    if (!path || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_file_open: path or out is NULL");
    *out = NULL;
    struct locum_file *file = heap_resize(NULL, sizeof *file);
    if (!file) return no_memory(error);
    *file = (struct locum_file){0};
    arena_init(&file->arena, 0);
    locum_status status = open_gguf(file, path, error);
    // Without an architecture the container is sound, but nothing can be said about the model.
    struct slice architecture;
    if (status == LOCUM_OK) {
        status = gguf_meta_string(gguf_file_meta(file->gguf), "general.architecture", &architecture,
                                  error);
    }
    if (status == LOCUM_OK) status = name_types(file, error);
    if (status == LOCUM_OK) status = list_sampling(file, error);
    if (status == LOCUM_OK) status = engine_describe(file->gguf, &file->arena, &file->info, error);
    if (status != LOCUM_OK) {
        locum_file_close(file);
        return status;
    }
    *out = file;
    return LOCUM_OK;
}

void locum_file_close(locum_file *file) {
    if (!file) return;
    gguf_file_close(file->gguf);
    arena_release(&file->arena);
    heap_free(file);
}

void locum_file_get_info(const locum_file *file, locum_file_info *out) {
    *out = file->info;
}

bool locum_file_get_tensor(const locum_file *file, uint64_t index, locum_tensor_info *out) {
    if (index >= gguf_file_tensor_count(file->gguf)) return false;
    const struct gguf_tensor *tensor = gguf_file_tensor(file->gguf, index);
    *out = (locum_tensor_info){
        .name = tensor->name,
        .type = file->type_names[index],
        .dims = tensor->dims,
        .bytes = tensor->bytes,
        .shard = tensor->shard,
        .offset = tensor->offset,
    };
    memcpy(out->shape, tensor->shape, sizeof out->shape);
    return true;
}

bool locum_file_get_sampling(const locum_file *file, uint32_t index, locum_setting *out) {
    if (index >= file->sampling_count) return false;
    *out = file->sampling[index];
    return true;
}

const char *locum_file_sampling_card(const locum_file *file) {
    return file->sampling_card;
}

bool locum_file_get_metadata(const locum_file *file, uint64_t index, const char **key, char *value,
                             size_t value_max) {
    const struct gguf_meta *meta = gguf_file_meta(file->gguf);
    if (index >= meta->count) return false;
    *key = meta->pairs[index].key;
    if (value_max > 0) gguf_value_text(&meta->pairs[index].value, value, value_max);
    return true;
}

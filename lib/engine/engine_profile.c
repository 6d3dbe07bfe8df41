// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_profile.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "gguf/gguf_bytes.h"
#include "platform/file.h"
#include "platform/file_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    VERSION = 1,
    MAGIC_BYTES = 8,
    HEAD_BYTES = MAGIC_BYTES + 3 * 4 + 8,
    HASH_BYTES = 8,
    BEGINNING_BYTES = 64 << 10, // of the first shard: names, sizes, the first of the metadata
    STEPS_MOST = 1 << 14        // then all counts are halved
};
static const char magic[] = "locumuse";
#define FNV_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number) {
    char bytes[8];
    gguf_bytes_put(bytes, sizeof bytes, number);
    return hash_bytes(hash, bytes, sizeof bytes);
}

static locum_status hash_beginning(const char *path, uint64_t *hash, locum_error *error) {
    struct platform_file *file;
    STATUS_TRY(file_open(path, false, NULL, &file, error));
    uint8_t *data = heap_resize(NULL, BEGINNING_BYTES);
    size_t got = 0;
    locum_status status =
        data ? file_read(file, data, BEGINNING_BYTES, 0, &got, error)
             : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory to know the model again");
    if (status == LOCUM_OK) *hash = hash_bytes(*hash, data, got);
    heap_free(data);
    file_close(file);
    return status;
}

static locum_status key_of(const struct gguf_file *gguf, uint64_t *key, locum_error *error) {
    *key = FNV_START;
    for (uint32_t i = 0; i < gguf_file_shard_count(gguf); i++)
        *key = hash_number(*key, gguf_file_shard(gguf, i)->size);
    STATUS_TRY(hash_beginning(gguf_file_shard(gguf, 0)->path, key, error));
    for (uint64_t i = 0; i < gguf_file_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_file_tensor(gguf, i);
        *key = hash_bytes(*key, tensor->name, strlen(tensor->name));
        *key = hash_number(hash_number(*key, tensor->offset), tensor->bytes);
    }
    return LOCUM_OK;
}

locum_status engine_profile_open(struct engine_profile *profile, const struct gguf_file *gguf,
                                 const char *folder, uint32_t layers, uint32_t experts,
                                 locum_error *error) {
    *profile = (struct engine_profile){.layers = layers, .experts = experts};
    STATUS_TRY(key_of(gguf, &profile->key, error));
    size_t room = strlen(folder) + 32;
    profile->path = heap_resize(NULL, room);
    if (!profile->path)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the path of the profile");
    snprintf(profile->path, room, "%s/%016" PRIx64 ".profile", folder, profile->key);
    return LOCUM_OK;
}

void engine_profile_close(struct engine_profile *profile) {
    heap_free(profile->path);
    profile->path = NULL;
}

// ---- reading ------------------------------------------------------------------------------------

static locum_status damaged(const struct engine_profile *profile, const char *how,
                            locum_error *error) {
    return status_fail(error, LOCUM_E_FORMAT, "%s: %s", profile->path, how);
}

static locum_status parse(const struct engine_profile *profile, struct slice bytes,
                          uint32_t *steps, uint32_t *uses, locum_error *error) {
    const char *at = bytes.data;
    size_t body = 4 * ((size_t)profile->layers + profile->experts);
    if (bytes.size < HEAD_BYTES + HASH_BYTES || memcmp(at, magic, MAGIC_BYTES) != 0)
        return damaged(profile, "it is no profile", error);
    at += MAGIC_BYTES;
    if (gguf_bytes_get(at, 4) != VERSION)
        return damaged(profile, "it is of another version", error);
    if (gguf_bytes_get(at + 4, 4) != profile->layers || gguf_bytes_get(at + 8, 4) != profile->experts ||
        gguf_bytes_get(at + 12, 8) != profile->key)
        return damaged(profile, "it is of another model", error);
    if (bytes.size != HEAD_BYTES + body + HASH_BYTES ||
        gguf_bytes_get(bytes.data + HEAD_BYTES + body, 8) !=
            hash_bytes(FNV_START, bytes.data, HEAD_BYTES + body))
        return damaged(profile, "it is damaged", error);
    at = bytes.data + HEAD_BYTES;
    for (uint32_t i = 0; i < profile->layers; i++, at += 4)
        steps[i] = (uint32_t)gguf_bytes_get(at, 4);
    for (uint32_t i = 0; i < profile->experts; i++, at += 4)
        uses[i] = (uint32_t)gguf_bytes_get(at, 4);
    return LOCUM_OK;
}

locum_status engine_profile_load(const struct engine_profile *profile, uint32_t *steps,
                                 uint32_t *uses, bool *found, locum_error *error) {
    struct file_facts facts;
    *found = false;
    if (file_look(profile->path, &facts, NULL) != LOCUM_OK) return LOCUM_OK;
    struct arena arena;
    struct slice bytes;
    arena_init(&arena, 0);
    size_t most = HEAD_BYTES + 4 * ((size_t)profile->layers + profile->experts) + HASH_BYTES;
    locum_status status = file_read_whole(profile->path, most, &arena, &bytes, error);
    if (status == LOCUM_OK) status = parse(profile, bytes, steps, uses, error);
    *found = status == LOCUM_OK;
    arena_release(&arena);
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

static void append(struct buffer *out, uint32_t bytes, uint64_t value) {
    char little[8];
    gguf_bytes_put(little, bytes, value);
    buffer_append(out, little, bytes);
}

// Halved so often, rounded up: what was used once stays known.
static uint32_t faded(uint32_t count, uint32_t halvings) {
    for (; halvings > 0; halvings--)
        count = count / 2 + (count & 1);
    return count;
}

static void write_out(const struct engine_profile *profile, const uint32_t *steps,
                      const uint32_t *uses, struct buffer *out) {
    uint32_t most = 0, halvings = 0;
    for (uint32_t i = 0; i < profile->layers; i++)
        if (steps[i] > most) most = steps[i];
    while (most > STEPS_MOST)
        most = faded(most, 1), halvings++;
    buffer_append(out, magic, MAGIC_BYTES);
    append(out, 4, VERSION);
    append(out, 4, profile->layers);
    append(out, 4, profile->experts);
    append(out, 8, profile->key);
    for (uint32_t i = 0; i < profile->layers; i++)
        append(out, 4, faded(steps[i], halvings));
    for (uint32_t i = 0; i < profile->experts; i++)
        append(out, 4, faded(uses[i], halvings));
    if (!out->failed) append(out, 8, hash_bytes(FNV_START, out->data, out->size));
}

locum_status engine_profile_save(const struct engine_profile *profile, const uint32_t *steps,
                                 const uint32_t *uses, locum_error *error) {
    struct buffer out = {0};
    struct file_write *writer = NULL;
    write_out(profile, steps, uses, &out);
    locum_status status =
        out.failed ? status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the profile")
                   : file_write_folders(profile->path, error);
    if (status == LOCUM_OK) status = file_write_open(profile->path, &writer, error);
    if (status == LOCUM_OK) status = file_write_bytes(writer, out.data, out.size, error);
    if (status == LOCUM_OK)
        status = file_write_commit(writer, error);
    else
        file_write_cancel(writer);
    buffer_release(&out);
    return status;
}

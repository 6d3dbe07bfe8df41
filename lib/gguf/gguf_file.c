// SPDX-License-Identifier: Apache-2.0
//
// Opening, in this order, so that each step can trust the one before:
//   1. locate the first file            (gguf_locate)
//   2. load its header                  pieces -> scan -> tables
//   3. ask its metadata: split.count    one file, or a shard whose name leads to the siblings
//   4. look for all siblings, then load their headers
//   5. merge the tables, names unique over all shards
#include "gguf/gguf_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/check.h"
#include "base/limits.h"
#include "gguf/gguf_locate.h"
#include "gguf/gguf_split.h"
#include "gguf/gguf_text.h"
#include "platform/file.h"

enum {
    HEADER_PIECE = 256 << 10, // first read; a header without a vocabulary fits
    MISSING_SHOWN = 16,       // names of missing shards in a message
};

// One shard with what was read of it.
struct file_part {
    struct gguf_shard shard;
    struct slice bytes;        // the header
    char *memory;              // heap behind `bytes`; NULL: the caller's memory
    bool is_followed;          // another GGUF file begins behind the last tensor
    struct gguf_header header; // its tables point into `bytes` and the arena
    uint64_t first;            // its first tensor in the merged table
};

struct gguf_file {
    struct arena arena;
    struct file_part *parts; // arena, [part_count]
    uint32_t part_count;
    struct gguf_meta meta;       // of the first part
    struct gguf_tensor *tensors; // of all parts
    uint64_t tensor_count;
    struct gguf_index names; // of tensors
};

static locum_status no_memory(const char *name, locum_error *error) {
    return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory for its metadata", name);
}

// --- One header ---------------------------------------------------------------------------------

// Reads on until `size` bytes of the file are there.
static locum_status part_read(struct file_part *part, const struct platform_file *file,
                              uint64_t size, locum_error *error) {
    char *grown = heap_resize(part->memory, (size_t)size);
    if (grown == NULL) return no_memory(part->shard.path, error);
    part->memory = grown;
    size_t have = part->bytes.size, got;
    STATUS_TRY(file_read(file, grown + have, (size_t)size - have, have, &got, error));
    if (got != size - have)
        return status_fail(error, LOCUM_E_IO, "%s: the file became shorter while it was read",
                           part->shard.path);
    part->bytes = slice_make(grown, (size_t)size);
    return LOCUM_OK;
}

// Doubles what is there until the header is complete, so a header of n bytes costs less than 2n.
static locum_status part_scan(struct file_part *part, const struct platform_file *file,
                              struct gguf_scan *scan, locum_error *error) {
    gguf_scan_begin(scan, part->shard.path, part->shard.size);
    enum gguf_scan_state state;
    while ((state = gguf_scan_feed(scan, part->bytes, error)) == GGUF_SCAN_MORE) {
        uint64_t size = part->bytes.size * (uint64_t)2;
        if (size < HEADER_PIECE) size = HEADER_PIECE;
        if (size < scan->need) size = scan->need;
        if (size > part->shard.size) size = part->shard.size;
        STATUS_TRY(part_read(part, file, size, error));
    }
    if (state == GGUF_SCAN_ERROR) return scan->status;
    if (part->memory != NULL) {
        char *fitted = heap_resize(part->memory, (size_t)scan->header_size);
        if (fitted != NULL) part->memory = fitted;
        part->bytes = slice_make(part->memory, (size_t)scan->header_size);
    }
    return LOCUM_OK;
}

// A following GGUF file begins at the end of the last tensor, or after its padding.
static locum_status part_look_behind(struct file_part *part, const struct platform_file *file,
                                     locum_error *error) {
    uint64_t end = part->header.data_end;
    uint64_t padded = (end + part->shard.alignment - 1) & ~(uint64_t)(part->shard.alignment - 1);
    const uint64_t places[] = {end, padded};
    for (size_t i = 0; i < 2; i++) {
        char magic[4];
        size_t got;
        STATUS_TRY(file_read(file, magic, sizeof magic, places[i], &got, error));
        if (got == sizeof magic && memcmp(magic, "GGUF", 4) == 0) part->is_followed = true;
    }
    return LOCUM_OK;
}

static locum_status part_tables(struct file_part *part, const struct gguf_scan *scan,
                                struct arena *arena, locum_error *error) {
    STATUS_TRY(gguf_parse(scan, part->bytes, arena, &part->header, error));
    part->shard.version = part->header.version;
    part->shard.alignment = part->header.alignment;
    part->shard.tensor_count = part->header.tensor_count;
    return LOCUM_OK;
}

static locum_status part_load_file(struct file_part *part, const struct platform_file *file,
                                   struct arena *arena, locum_error *error) {
    struct gguf_scan scan;
    part->shard.size = file_size(file);
    STATUS_TRY(part_scan(part, file, &scan, error));
    STATUS_TRY(part_tables(part, &scan, arena, error));
    return part_look_behind(part, file, error);
}

// Some publishers cut a file at arbitrary bytes; only all pieces together are GGUF.
static bool is_piece_name(const char *path) {
    const char *base = gguf_split_base(path);
    return strstr(base, ".gguf-split-") != NULL || strstr(base, ".gguf.part") != NULL;
}

static locum_status part_load(struct file_part *part, const char *path, struct arena *arena,
                              locum_error *error) {
    struct platform_file *file;
    part->shard.path = path;
    STATUS_TRY(file_open(path, false, NULL, &file, error));
    locum_status status = part_load_file(part, file, arena, error);
    file_close(file);
    if (status != LOCUM_OK && is_piece_name(path))
        return status_prefix(error, status,
                             "the name says that this is a piece of a cut file; join the pieces "
                             "in order (cat) and open the result");
    return status;
}

static struct gguf_meta part_meta(const struct file_part *part) {
    return (struct gguf_meta){
        .name = part->shard.path,
        .pairs = part->header.metadata,
        .count = part->header.metadata_count,
        .index = &part->header.keys,
        .architecture = "",
    };
}

// --- Sets of shards -----------------------------------------------------------------------------

static locum_status refuse_lone_shard(const struct file_part *part, uint32_t count,
                                      locum_error *error) {
    const char *why = part->is_followed
                          ? "another GGUF file follows in it: shards cannot be joined "
                            "with cat. Keep them apart"
                          : "its name does not lead to the others. Give all shards "
                            "their names back";
    return status_fail(
        error, LOCUM_E_FORMAT,
        "%s: the metadata says that this is one of the %" PRIu32
        " shards of a split model, but %s and open the first, NAME-00001-of-%05" PRIu32 ".gguf",
        part->shard.path, count, why, count);
}

// All missing siblings in one message, before any is read.
static locum_status check_siblings(struct arena *arena, const char *path,
                                   const struct gguf_split *split, locum_error *error) {
    struct buffer list = {0};
    uint32_t missing = 0;
    locum_status status = LOCUM_OK;
    for (uint32_t number = 1; number <= split->total && status == LOCUM_OK; number++) {
        struct file_facts facts;
        const char *sibling = gguf_split_path(arena, path, split, number);
        if (sibling == NULL)
            status = no_memory(path, error);
        else
            status = file_look(sibling, &facts, error);
        if (status != LOCUM_E_NOT_FOUND) continue;
        status = LOCUM_OK;
        if (++missing <= MISSING_SHOWN)
            buffer_format(&list, "%s%s", missing > 1 ? ", " : "", gguf_split_base(sibling));
    }
    if (missing > MISSING_SHOWN)
        buffer_format(&list, " and %" PRIu32 " more", missing - MISSING_SHOWN);
    if (status == LOCUM_OK && missing > 0) {
        const char *names = buffer_text(&list);
        status = status_fail(error, LOCUM_E_NOT_FOUND,
                             "%s: %" PRIu32 " of %" PRIu32 " shards are missing beside it: %s",
                             path, missing, split->total, names ? names : "");
    }
    buffer_release(&list);
    return status;
}

// What a shard says about itself against where it was found.
static locum_status check_shard(const struct file_part *part, uint32_t position, uint32_t count,
                                locum_error *error) {
    struct gguf_meta meta = part_meta(part);
    uint32_t own_count, own_number;
    STATUS_TRY(gguf_meta_u32(&meta, "split.count", 0, LIMIT_SHARDS, &own_count, error));
    STATUS_TRY(gguf_meta_u32(&meta, "split.no", 0, LIMIT_SHARDS, &own_number, error));
    if (own_count != count)
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: split.count says %" PRIu32 " shards, but the others say %" PRIu32,
                           part->shard.path, own_count, count);
    if (own_number != position)
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: the metadata says that this is shard %" PRIu32
                           ", but its name says %" PRIu32 ": a renamed file",
                           part->shard.path, own_number + 1, position + 1);
    return LOCUM_OK;
}

static locum_status check_tensor_total(const struct gguf_file *file, locum_error *error) {
    struct gguf_meta meta = part_meta(&file->parts[0]);
    uint64_t claimed, found = 0;
    for (uint32_t i = 0; i < file->part_count; i++)
        found += file->parts[i].header.tensor_count;
    STATUS_TRY(
        gguf_meta_u64_or(&meta, "split.tensors.count", found, 0, UINT64_MAX, &claimed, error));
    if (claimed != found)
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: split.tensors.count says %s tensors, but the %" PRIu32
                           " shards hold %s: a shard of another version is among them",
                           file->parts[0].shard.path, gguf_text_number(claimed).text,
                           file->part_count, gguf_text_number(found).text);
    return LOCUM_OK;
}

// `first` is the shard that was opened, any one of `count`. It becomes one of file->parts.
static locum_status load_shards(struct gguf_file *file, struct file_part *first, uint32_t count,
                                locum_error *error) {
    const char *path = first->shard.path;
    struct gguf_split split;
    if (!gguf_split_parse(path, &split) || split.total != count)
        return refuse_lone_shard(first, count, error);
    STATUS_TRY(check_shard(first, split.number - 1, count, error));
    STATUS_TRY(check_siblings(&file->arena, path, &split, error));
    struct file_part *parts = arena_array(&file->arena, count, sizeof *parts);
    if (parts == NULL) return no_memory(path, error);
    parts[split.number - 1] = *first;
    *first = (struct file_part){0}; // its memory has moved
    file->parts = parts;
    file->part_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (i == split.number - 1) continue;
        const char *sibling = gguf_split_path(&file->arena, path, &split, i + 1);
        if (sibling == NULL) return no_memory(path, error);
        STATUS_TRY(part_load(&parts[i], sibling, &file->arena, error));
        STATUS_TRY(check_shard(&parts[i], i, count, error));
    }
    return check_tensor_total(file, error);
}

static locum_status take_single(struct gguf_file *file, struct file_part *part,
                                locum_error *error) {
    file->parts = arena_array(&file->arena, 1, sizeof *file->parts);
    if (file->parts == NULL) return no_memory(part->shard.path, error);
    file->parts[0] = *part;
    file->part_count = 1;
    *part = (struct file_part){0};
    return LOCUM_OK;
}

// --- Merging ------------------------------------------------------------------------------------

static locum_status refuse_twice(const struct gguf_file *file, uint64_t a, uint64_t b,
                                 locum_error *error) {
    const struct file_part *part_a = &file->parts[file->tensors[a].shard];
    const struct file_part *part_b = &file->parts[file->tensors[b].shard];
    if (part_a == part_b)
        return status_fail(error, LOCUM_E_FORMAT,
                           "%s: tensor '%s' appears twice, as tensors %" PRIu64 " and %" PRIu64,
                           part_a->shard.path, file->tensors[a].name, a - part_a->first + 1,
                           b - part_b->first + 1);
    return status_fail(error, LOCUM_E_FORMAT,
                       "%s: tensor '%s' (number %" PRIu64 ") is also in %s (number %" PRIu64 ")",
                       part_b->shard.path, file->tensors[b].name, b - part_b->first + 1,
                       gguf_split_base(part_a->shard.path), a - part_a->first + 1);
}

static locum_status add_names(struct gguf_file *file, locum_error *error) {
    STATUS_TRY(gguf_index_init(&file->names, file->tensor_count, &file->arena, error));
    for (uint64_t i = 0; i < file->tensor_count; i++) {
        struct slice name = slice_text(file->tensors[i].name);
        int64_t before;
        locum_status status = gguf_index_add(&file->names, name, (uint32_t)i, &before, error);
        if (status != LOCUM_OK)
            return status_prefix(error, status, "%s", file->parts[0].shard.path);
        if (before != GGUF_INDEX_NONE) return refuse_twice(file, (uint64_t)before, i, error);
    }
    return LOCUM_OK;
}

static locum_status merge(struct gguf_file *file, locum_error *error) {
    const char *path = file->parts[0].shard.path;
    for (uint32_t i = 0; i < file->part_count; i++) {
        file->tensor_count += file->parts[i].header.tensor_count;
    }
    if (file->tensor_count > LIMIT_GGUF_TENSORS)
        return status_fail(error, LOCUM_E_FORMAT, "%s: the shards hold %s tensors; the limit is %s",
                           path, gguf_text_number(file->tensor_count).text,
                           gguf_text_number(LIMIT_GGUF_TENSORS).text);
    file->tensors = arena_array(&file->arena, (size_t)file->tensor_count, sizeof *file->tensors);
    if (file->tensors == NULL) return no_memory(path, error);
    uint64_t at = 0;
    for (uint32_t i = 0; i < file->part_count; i++) {
        const struct gguf_header *header = &file->parts[i].header;
        file->parts[i].first = at;
        for (uint64_t k = 0; k < header->tensor_count; k++, at++) {
            file->tensors[at] = header->tensors[k];
            file->tensors[at].shard = i;
        }
    }
    return add_names(file, error);
}

// --- Opening ------------------------------------------------------------------------------------

static locum_status set_meta(struct gguf_file *file, locum_error *error) {
    struct slice architecture;
    file->meta = part_meta(&file->parts[0]);
    STATUS_TRY(gguf_meta_string_or(&file->meta, "general.architecture", slice_text(""),
                                   &architecture, error));
    const char *copy = arena_copy_text(&file->arena, architecture.data, architecture.size);
    if (copy == NULL) return no_memory(file->meta.name, error);
    file->meta.architecture = copy;
    return LOCUM_OK;
}

// From the first part that was loaded to the whole. Takes over its memory on success.
static locum_status assemble(struct gguf_file *file, struct file_part *part, bool from_disk,
                             locum_error *error) {
    struct gguf_meta meta = part_meta(part);
    uint32_t count;
    STATUS_TRY(gguf_meta_u32_or(&meta, "split.count", 0, 0, LIMIT_SHARDS, &count, error));
    if (count <= 1)
        STATUS_TRY(take_single(file, part, error));
    else if (from_disk)
        STATUS_TRY(load_shards(file, part, count, error));
    else
        return refuse_lone_shard(part, count, error);
    STATUS_TRY(set_meta(file, error));
    return merge(file, error);
}

bool gguf_file_is_listed(const struct gguf_file *file, const struct gguf_assets *assets) {
    for (uint32_t i = 0; i < file->part_count; i++) {
        if (gguf_assets_lists(assets, gguf_split_base(file->parts[i].shard.path))) return true;
    }
    return false;
}

static locum_status open_path(struct gguf_file *file, const char *path, locum_error *error) {
    struct gguf_located located;
    STATUS_TRY(gguf_locate(path, &file->arena, &located, error));
    struct file_part part = {0};
    locum_status status = part_load(&part, located.path, &file->arena, error);
    if (status == LOCUM_OK) status = assemble(file, &part, true, error);
    heap_free(part.memory);
    if (status != LOCUM_OK) return status;
    if (located.as_shards && file->part_count == 1)
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "%s holds several models (their names are those of shards, their "
                           "metadata is not); name one of them",
                           path);
    if (!located.from_folder && !gguf_file_is_listed(file, &located.assets)) return LOCUM_OK;
    return gguf_assets_check(&located.assets, &file->arena, error);
}

static locum_status open_bytes(struct gguf_file *file, struct slice bytes, const char *name,
                               locum_error *error) {
    struct file_part part = {.bytes = bytes, .shard.size = bytes.size};
    struct gguf_scan scan;
    part.shard.path = arena_copy_text(&file->arena, name, strlen(name));
    if (part.shard.path == NULL) return no_memory(name, error);
    STATUS_TRY(part_scan(&part, NULL, &scan, error));
    STATUS_TRY(part_tables(&part, &scan, &file->arena, error));
    return assemble(file, &part, false, error);
}

static locum_status file_create(const char *name, struct gguf_file **out, locum_error *error) {
    *out = heap_resize(NULL, sizeof **out);
    if (*out == NULL) return no_memory(name, error);
    **out = (struct gguf_file){0};
    arena_init(&(*out)->arena, 0);
    return LOCUM_OK;
}

// Hands the file over, or closes what an error left behind.
static locum_status finish(locum_status status, struct gguf_file *file, struct gguf_file **out) {
    if (status == LOCUM_OK)
        *out = file;
    else
        gguf_file_close(file);
    return status;
}

locum_status gguf_file_open(const char *path, struct gguf_file **out, locum_error *error) {
    struct gguf_file *file;
    *out = NULL;
    STATUS_TRY(file_create(path, &file, error));
    return finish(open_path(file, path, error), file, out);
}

locum_status gguf_file_open_bytes(struct slice bytes, const char *name, struct gguf_file **out,
                                  locum_error *error) {
    struct gguf_file *file;
    *out = NULL;
    STATUS_TRY(file_create(name, &file, error));
    return finish(open_bytes(file, bytes, name, error), file, out);
}

void gguf_file_close(struct gguf_file *file) {
    if (file == NULL) return;
    for (uint32_t i = 0; i < file->part_count; i++)
        heap_free(file->parts[i].memory);
    arena_release(&file->arena);
    heap_free(file);
}

// --- Looking ------------------------------------------------------------------------------------

const struct gguf_meta *gguf_file_meta(const struct gguf_file *file) {
    return &file->meta;
}

uint64_t gguf_file_tensor_count(const struct gguf_file *file) {
    return file->tensor_count;
}

const struct gguf_tensor *gguf_file_tensor(const struct gguf_file *file, uint64_t index) {
    LOCUM_ASSERT(index < file->tensor_count);
    return &file->tensors[index];
}

const struct gguf_tensor *gguf_file_find(const struct gguf_file *file, const char *name) {
    int64_t number = gguf_index_find(&file->names, slice_text(name));
    return number == GGUF_INDEX_NONE ? NULL : &file->tensors[number];
}

uint32_t gguf_file_shard_count(const struct gguf_file *file) {
    return file->part_count;
}

const struct gguf_shard *gguf_file_shard(const struct gguf_file *file, uint32_t index) {
    LOCUM_ASSERT(index < file->part_count);
    return &file->parts[index].shard;
}

uint64_t gguf_file_memory(const struct gguf_file *file) {
    uint64_t bytes = sizeof *file + file->arena.bytes;
    for (uint32_t i = 0; i < file->part_count; i++)
        bytes += file->parts[i].memory != NULL ? file->parts[i].bytes.size : 0;
    return bytes;
}

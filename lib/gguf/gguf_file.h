// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the directory of one model: all shards' metadata and tensor tables, merged. Weights
//            are neither read nor mapped.
// Called by: model (binder), store (byte ranges), token (metadata), engine (inspect), tools.
// Threads:   open and close: one; all else is read-only: any.
// Errors:    E_NOT_FOUND, E_IO, E_FORMAT, E_UNSUPPORTED, E_OUT_OF_MEMORY; texts name file, shard,
//            tensor or key.
// Not here:  reading weights (platform/file.h through store), which tensors a model needs (model).
#ifndef GGUF_FILE_H
#define GGUF_FILE_H

#include "gguf/gguf_assets.h"
#include "gguf/gguf_meta.h"

struct gguf_file;

struct gguf_shard {
    const char *path;
    uint64_t size; // bytes; every tensor of the shard ends at or before it
    uint64_t tensor_count;
    uint32_t version; // 2 or 3
    uint32_t alignment;
};

// path: a GGUF file, any shard of a split one, or a folder that holds one model.
//
// Split files: the metadata (split.count) decides whether a file is a shard; its name only leads to
// the siblings. All shards must be there: the message lists every missing one before any is read.
// Metadata is that of the first shard, which may hold no tensors.
//
// Folders: with an assets.tsv, the first .gguf it lists; else the one .gguf (or the one set of
// shards) in it; files named mmproj* are no candidates. assets.tsv has lines
// `file<TAB>size<TAB>sha256` (blank lines and lines that begin with '#' are skipped); when it lists
// a file of the model, or the path was the folder, every listed file must be there with that size.
// Digests are not computed here, and model.json (JSON) is left to the engine.
locum_status gguf_file_open(const char *path, struct gguf_file **out, locum_error *error);
// A whole unsplit file in memory, which must outlive *out. `name` stands for the path in messages.
locum_status gguf_file_open_bytes(struct slice bytes, const char *name, struct gguf_file **out,
                                  locum_error *error);
void gguf_file_close(struct gguf_file *file); // NULL is fine

// The list speaks of this model: one of its shards is on it.
bool gguf_file_is_listed(const struct gguf_file *file, const struct gguf_assets *assets);

const struct gguf_meta *gguf_file_meta(const struct gguf_file *file);

// Tensors of all shards, in file order, shard by shard.
uint64_t gguf_file_tensor_count(const struct gguf_file *file);
const struct gguf_tensor *gguf_file_tensor(const struct gguf_file *file, uint64_t index);
const struct gguf_tensor *gguf_file_find(const struct gguf_file *file,
                                         const char *name); // NULL: absent

uint32_t gguf_file_shard_count(const struct gguf_file *file);
const struct gguf_shard *gguf_file_shard(const struct gguf_file *file, uint32_t index);

// Memory held until close: headers and tables.
uint64_t gguf_file_memory(const struct gguf_file *file);

#endif

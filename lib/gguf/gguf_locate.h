// SPDX-License-Identifier: Apache-2.0
//
// Owns:      from what the user names (a file or a folder) to the one file to open first.
// Called by: gguf_file.
// Threads:   one thread at a time.
// Errors:    E_NOT_FOUND: nothing there, or a folder without a model; E_ARGUMENT: a folder with
//            several. Those of assets.tsv.
// Not here:  the siblings of a shard (gguf_file).
#ifndef GGUF_LOCATE_H
#define GGUF_LOCATE_H

#include "gguf/gguf_assets.h"

struct gguf_located {
    const char *path;          // the file to open
    struct gguf_assets assets; // of its folder; path NULL: there is no list
    bool from_folder;
    // By their names the folder's files are one set of shards. If the metadata says otherwise they
    // are several models.
    bool as_shards;
};

locum_status gguf_locate(const char *path, struct arena *arena, struct gguf_located *out,
                         locum_error *error);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      assets.tsv, the list of the files that a model's folder must hold.
// Called by: gguf_locate, gguf_file.
// Threads:   one thread at a time.
// Errors:    E_FORMAT (a malformed line, by its number; a file with another size), E_NOT_FOUND (a
//            listed file is missing), and those of reading.
// Not here:  computing digests.
//
// Lines are `file<TAB>size<TAB>sha256`, the name relative to the folder, the size in bytes, the
// digest as 64 hexadecimal digits. Blank lines and lines that begin with '#' are skipped.
#ifndef GGUF_ASSETS_H
#define GGUF_ASSETS_H

#include "base/arena.h"
#include "base/status.h"

struct gguf_asset {
    const char *name; // relative to the folder, never out of it
    uint64_t bytes;
    const char *sha256; // 64 hexadecimal digits
};

struct gguf_assets {
    const char *path; // of the list itself; NULL: there is none
    const char *folder;
    const struct gguf_asset *items;
    size_t count;
};

// Reads `folder`/assets.tsv. No such file: LOCUM_OK with path NULL.
locum_status gguf_assets_read(const char *folder, struct arena *arena, struct gguf_assets *out,
                              locum_error *error);
// Every listed file is there and has the listed size.
locum_status gguf_assets_check(const struct gguf_assets *assets, struct arena *arena,
                               locum_error *error);
bool gguf_assets_lists(const struct gguf_assets *assets, const char *name);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the list of the files that a model's folder must hold, and its form as assets.tsv.
// Called by: gguf_locate, gguf_file, engine_manifest (the same list in JSON).
// Threads:   one thread at a time.
// Errors:    E_FORMAT (a malformed line, by its number; a file with another size), E_NOT_FOUND (a
//            listed file is missing), and those of reading.
// Not here:  computing digests.
//
// Lines are `file<TAB>size<TAB>sha256`, the name relative to the folder, the size in bytes, the
// digest as 64 hexadecimal digits. Blank lines and lines that begin with '#' are skipped.
#ifndef GGUF_ASSETS_H
#define GGUF_ASSETS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

struct gguf_asset {
    const char *name; // relative to the folder, never out of it
    uint64_t bytes;
    const char *sha256; // 64 hexadecimal digits; NULL: not stated
    const char *place;  // where the list says so, for messages: "line 3"
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
// The first .gguf file of the list; NULL: there is none.
const char *gguf_assets_first_model(const struct gguf_assets *assets);

// What a list may hold, in any form: a relative path that stays below its folder, a digest.
bool gguf_assets_is_inside(struct slice name);
bool gguf_assets_is_digest(struct slice text);
bool gguf_assets_is_model(const char *name); // a .gguf file

#endif

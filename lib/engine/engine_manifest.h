// SPDX-License-Identifier: Apache-2.0
//
// Owns:      model.json beside a model: which files belong to it, how large they are, and for which
//            architecture they were made.
// Called by: engine_file.c.
// Threads:   one thread at a time.
// Errors:    LOCUM_E_FORMAT (no JSON, a field of another kind, a file of another size, another
//            architecture), LOCUM_E_NOT_FOUND (a listed file is missing), those of reading; texts name
//            the file and the field.
// Not here:  assets.tsv (gguf_assets.h, the same list in another form), digests.
//
// {
//     "architecture": "qwen3moe",            general.architecture of the model file
//     "files": [                             as in assets.tsv; the first .gguf is the one to open
//         {"name": "model.gguf", "size": 123, "sha256": "64 hexadecimal digits, optional"}
//     ]
// }
//
// Both are optional, other names are not used. The manifest counts when MODEL is its folder or a
// file that it lists: people keep models of several programs in one folder, and the name is a common
// one.
#ifndef ENGINE_ENGINE_MANIFEST_H
#define ENGINE_ENGINE_MANIFEST_H

#include "gguf/gguf_file.h"

struct engine_manifest {
    const char *model;         // the path to open: the caller's, or a file that the manifest names
    struct gguf_assets assets; // path NULL: there is no manifest for this model
    const char *architecture;  // NULL: not stated
    const char *notice;        // what was not used of it, one sentence; NULL: nothing
    bool from_folder;          // the path was the folder
};

// Reads the model.json that belongs to `path`, a file or a folder.
locum_status engine_manifest_read(const char *path, struct arena *arena,
                                  struct engine_manifest *out, locum_error *error);

// What it promises about the opened model holds.
locum_status engine_manifest_check(struct engine_manifest *manifest, const struct gguf_file *file,
                                   struct arena *arena, locum_error *error);

#endif

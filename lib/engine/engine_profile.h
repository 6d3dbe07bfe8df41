// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the file that says how often answers of a model used each expert, from one run to the next.
// Called by: engine_native.c.
// Threads:   one.
// Errors:    engine_profile_open: LOCUM_E_IO and others of a file that cannot be read.
//            engine_profile_load: LOCUM_E_FORMAT for one that is damaged, of another version or of another
//            model; engine_profile_save: as file_write.h. None of them is a reason not to run.
// Not here:  the counts themselves (store.h), which folder (the host says).
//
// The file is FOLDER/KEY.profile; the key is made of the sizes of the model's shards, the beginning of the
// first and the places of all tensors, so a model that was moved is known again and one that was changed
// is not. Its bytes, integers little-endian:
//
//     "locumuse", u32 version, u32 layers, u32 experts of all layers, u64 key
//     u32 steps of answers        [layers]
//     u32 steps that used it      [experts]
//     u64 hash of all before (FNV-1a)
//
// It appears whole or not at all. Counts are halved before they grow large: what was long ago fades.
#ifndef ENGINE_ENGINE_PROFILE_H
#define ENGINE_ENGINE_PROFILE_H

#include "gguf/gguf_file.h"

struct engine_profile {
    char *path; // NULL: nothing is kept
    uint64_t key;
    uint32_t layers, experts; // experts of all layers
};

locum_status engine_profile_open(struct engine_profile *profile, const struct gguf_file *gguf,
                                 const char *folder, uint32_t layers, uint32_t experts,
                                 locum_error *error);
void engine_profile_close(struct engine_profile *profile); // one that was not opened is fine

// *found false, and nothing else: there is no file yet. steps: [layers], uses: [experts].
locum_status engine_profile_load(const struct engine_profile *profile, uint32_t *steps,
                                 uint32_t *uses, bool *found, locum_error *error);
locum_status engine_profile_save(const struct engine_profile *profile, const uint32_t *steps,
                                 const uint32_t *uses, locum_error *error);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      one value with its source for every setting of sampling: given, from the file, from the makers'
//            card, or the default; the table of settings with their ranges.
// Called by: engine_*.c.
// Threads:   pure.
// Errors:    LOCUM_E_ARGUMENT naming the field, LOCUM_E_FORMAT naming the key.
// Not here:  flags (applications), what a setting does (lib/sample).
#ifndef ENGINE_ENGINE_SAMPLING_H
#define ENGINE_ENGINE_SAMPLING_H

#include "base/log.h"
#include "engine/engine_card.h"
#include "engine/engine_options.h"
#include "gguf/gguf_meta.h"
#include "sample/sample_settings.h"

enum { ENGINE_SAMPLING_NUMBERS = 22 };

// Every number of *sampling becomes "not given".
void engine_sampling_clear(locum_sampling *sampling);

// What a model brings along.
struct engine_sampling {
    double file[ENGINE_SAMPLING_NUMBERS];
    bool in_file[ENGINE_SAMPLING_NUMBERS];
    struct sample_chain chain;
    bool chain_in_file;
    char unknown_chain
        [160];         // why the file's order of stages is not used; "": it is, or there is none
    struct slice name; // general.name, of the file
};
locum_status engine_sampling_read(const struct gguf_meta *meta, struct engine_sampling *out,
                                  locum_error *error);

// What a request asks for, over that. Nothing given: NULL. Biases stay the caller's; breakers are not made.
// Settings that were given and cannot have an effect are told to log.
locum_status engine_sampling_resolve(const struct engine_sampling *model,
                                     const locum_sampling *given, uint32_t vocabulary,
                                     const struct log_sink *log, struct sample_settings *out,
                                     locum_error *error);

// Setting number `index` of a request that gives nothing, its value as text. false past the end.
enum { ENGINE_SAMPLING_TEXT = 160 };
bool engine_sampling_setting(const struct engine_sampling *model, uint32_t index,
                             char text[ENGINE_SAMPLING_TEXT], locum_setting *out);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the engine port: what a model must be able to do for the public API, as a table of methods.
// Called by: engine_api.c; implemented by engine_native.c (this library's own inference) and
//            engine_scripted.c (given answers). An external engine will enter here too.
// Threads:   as in locum.h: one thread per model, except the cancel flag.
// Errors:    as in locum.h.
// Not here:  files and tokenizers, which exist without a model.
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/status.h"

#include <stdatomic.h>

struct engine;
struct engine_session;
struct file_methods; // platform/file.h

struct engine_methods {
    void (*close)(struct engine *engine);
    const locum_tokenizer *(*tokenizer)(const struct engine *engine); // NULL: it has none
    void (*get_plan)(const struct engine *engine, locum_memory_plan *out);
    locum_status (*set_memory)(struct engine *engine, uint64_t memory, locum_error *error); // any thread
    const char *(*summary)(const struct engine *engine);
    bool (*get_setting)(const struct engine *engine, uint32_t index, locum_setting *out);
    locum_status (*session_open)(struct engine *engine, struct engine_session **out,
                                 locum_error *error);
    void (*session_close)(struct engine *engine, struct engine_session *session);
    void (*session_reset)(struct engine *engine, struct engine_session *session);
    locum_status (*generate)(struct engine *engine, struct engine_session *session,
                             const locum_request *request, const atomic_bool *cancel,
                             locum_finish *finish, locum_stats *stats, locum_error *error);
};

// Implementations embed this as their first member.
struct engine {
    const struct engine_methods *methods;
};

// methods: how weights and experts are read, NULL for the system's; tests put their own here.
locum_status engine_native_open(const locum_file *file, const locum_options *options,
                                const struct file_methods *methods, struct engine **out,
                                locum_error *error);

#endif

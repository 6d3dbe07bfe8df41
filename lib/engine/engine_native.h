// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the inside of the native engine, shared by opening (engine_native.c) and answering
//            (engine_generate.c).
// Called by: those two.
// Threads:   one thread.
// Errors:    as in locum.h.
// Not here:  the public API's view (engine.h).
#ifndef ENGINE_ENGINE_NATIVE_H
#define ENGINE_ENGINE_NATIVE_H

#include "base/log.h"
#include "engine/engine.h"
#include "engine/engine_grammar.h"
#include "engine/engine_io_trace.h"
#include "engine/engine_layout.h"
#include "engine/engine_metrics.h"
#include "engine/engine_op_trace.h"
#include "engine/engine_profile.h"
#include "engine/engine_options.h"
#include "engine/engine_sampling.h"
#include "engine/engine_size.h"
#include "engine/engine_tokenizer.h"
#include "engine/engine_trace.h"
#include "exec/exec.h"
#include "session/session.h"

enum { ENGINE_SETTINGS = 8 + ENGINE_SAMPLING_NUMBERS + 1 };

struct engine_native {
    struct engine base;
    struct engine_layout layout;
    locum_options options; // strings in the layout's arena
    locum_memory_plan plan;
    uint32_t logit_rows;
    struct log_sink log;
    struct locum_tokenizer tokenizer;
    const struct file_methods *methods;
    struct platform_file **files; // of the shards
    uint32_t file_count;
    struct kernels_table kernels;
    struct exec_team *team;
    struct store *store; // NULL: no experts
    struct engine_size size;
    struct engine_profile profile;    // with cache_path, unless no_profile
    uint32_t profile_steps;           // that earlier runs counted, of one layer
    struct exec *exec;
    struct session_pool pool;
    struct sampler *sampler;
    struct engine_grammar grammar;    // of the last request with a structure
    struct engine_trace *trace;       // NULL: none
    struct engine_op_trace *op_trace; // NULL: none
    struct engine_metrics metrics;    // with metrics_path
    struct engine_io_trace io_trace;  // with io_trace_path
    const char *model_path;           // in the layout's arena
    struct engine_sampling sampling;
    char *summary;
    locum_setting settings[ENGINE_SETTINGS];
    uint32_t setting_count;
    uint32_t turns; // requests so far
    double load_s;
};

struct engine_session {
    struct session *session;
};

locum_status engine_generate(struct engine *engine, struct engine_session *session,
                             const locum_request *request, const atomic_bool *cancel,
                             locum_finish *finish, locum_stats *stats, locum_error *error);

#endif

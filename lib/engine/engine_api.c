// SPDX-License-Identifier: Apache-2.0
//
// The public functions about models and sessions: arguments are checked here, the work is the engine's.
#include "base/arena.h"
#include "engine/engine.h"
#include "engine/engine_file.h"
#include "engine/engine_memory.h"
#include "engine/engine_options.h"
#include "engine/engine_sampling.h"
#include "engine/engine_scripted.h"

struct locum_model {
    struct engine *engine;
};

struct locum_session {
    struct locum_model *model;
    struct engine_session *session;
    atomic_bool cancel;
};

const char *locum_version(void) {
    return LOCUM_VERSION;
}

void locum_options_init(locum_options *options) {
    *options = (locum_options){.struct_size = sizeof *options};
}

void locum_request_init(locum_request *request) {
    *request = (locum_request){
        .struct_size = sizeof *request,
        .predict = UINT32_MAX,
    };
}

void locum_sampling_init(locum_sampling *sampling) {
    *sampling = (locum_sampling){.struct_size = sizeof *sampling};
    engine_sampling_clear(sampling);
}

void locum_script_init(locum_script *script) {
    *script = (locum_script){.struct_size = sizeof *script, .piece_bytes = 1};
}

locum_status locum_file_plan(const locum_file *file, const locum_options *options,
                             locum_memory_plan *out, locum_error *error) {
    if (!file || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_file_plan: file or out is NULL");
    locum_options ours;
    STATUS_TRY(engine_options_of(options, &ours, error));
    struct engine_layout layout;
    STATUS_TRY(engine_layout_make(file, &ours, &layout, error));
    uint32_t logit_rows;
    locum_status status =
        engine_memory_plan(&layout, file->info.path, &ours, out, &logit_rows, error);
    engine_layout_release(&layout);
    return status;
}

static locum_status wrap(struct engine *engine, locum_model **out, locum_error *error) {
    struct locum_model *model = heap_resize(NULL, sizeof *model);
    if (!model) {
        engine->methods->close(engine);
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the model");
    }
    model->engine = engine;
    *out = model;
    return LOCUM_OK;
}

locum_status locum_model_open(const locum_file *file, const locum_options *options,
                              locum_model **out, locum_error *error) {
    if (!file || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_model_open: file or out is NULL");
    *out = NULL;
    locum_options ours;
    STATUS_TRY(engine_options_of(options, &ours, error));
    struct engine *engine;
    STATUS_TRY(engine_native_open(file, &ours, NULL, &engine, error));
    return wrap(engine, out, error);
}

locum_status locum_model_open_scripted(const locum_script *script, locum_model **out,
                                       locum_error *error) {
    if (!script || !out)
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_model_open_scripted: an argument is NULL");
    *out = NULL;
    locum_script ours;
    locum_script_init(&ours);
    STATUS_TRY(engine_options_read(&ours, sizeof ours, script, "locum_script", error));
    struct engine *engine;
    STATUS_TRY(engine_scripted_open(&ours, &engine, error));
    return wrap(engine, out, error);
}

void locum_model_close(locum_model *model) {
    if (!model) return;
    model->engine->methods->close(model->engine);
    heap_free(model);
}

const locum_tokenizer *locum_model_tokenizer(const locum_model *model) {
    return model->engine->methods->tokenizer(model->engine);
}

void locum_model_get_plan(const locum_model *model, locum_memory_plan *out) {
    model->engine->methods->get_plan(model->engine, out);
}

locum_status locum_model_set_memory(locum_model *model, uint64_t memory, locum_error *error) {
    return model->engine->methods->set_memory(model->engine, memory, error);
}

const char *locum_model_summary(const locum_model *model) {
    return model->engine->methods->summary(model->engine);
}

bool locum_model_get_setting(const locum_model *model, uint32_t index, locum_setting *out) {
    return model->engine->methods->get_setting(model->engine, index, out);
}

locum_status locum_session_open(locum_model *model, locum_session **out, locum_error *error) {
    if (!model || !out)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_session_open: model or out is NULL");
    *out = NULL;
    struct locum_session *session = heap_resize(NULL, sizeof *session);
    if (!session) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a session");
    session->model = model;
    atomic_init(&session->cancel, false);
    locum_status status =
        model->engine->methods->session_open(model->engine, &session->session, error);
    if (status != LOCUM_OK) {
        heap_free(session);
        return status;
    }
    *out = session;
    return LOCUM_OK;
}

void locum_session_close(locum_session *session) {
    if (!session) return;
    struct engine *engine = session->model->engine;
    engine->methods->session_close(engine, session->session);
    heap_free(session);
}

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may cancel");

void locum_session_cancel(locum_session *session) {
    atomic_store(&session->cancel, true);
}

void locum_session_reset(locum_session *session) {
    struct engine *engine = session->model->engine;
    engine->methods->session_reset(engine, session->session);
}

locum_status locum_generate(locum_session *session, const locum_request *request,
                            locum_finish *finish, locum_stats *stats, locum_error *error) {
    if (!session || !request)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_generate: an argument is NULL");
    locum_request ours;
    locum_request_init(&ours);
    if (stats) *stats = (locum_stats){0};
    STATUS_TRY(engine_options_read(&ours, sizeof ours, request, "locum_request", error));
    if (ours.logits > LOCUM_LOGITS_ALL)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_request: logits is %d", ours.logits);
    if (ours.top_logprobs > LOCUM_LOGPROBS_MAX)
        return status_fail(error, LOCUM_E_ARGUMENT,
                           "locum_request: top_logprobs is %u; 0 to %d is possible",
                           ours.top_logprobs, LOCUM_LOGPROBS_MAX);
    locum_sampling sampling;
    locum_sampling_init(&sampling);
    if (ours.sampling) {
        STATUS_TRY(engine_options_read(&sampling, sizeof sampling, ours.sampling, "locum_sampling",
                                       error));
        ours.sampling = &sampling;
    }
    if (ours.structure > LOCUM_STRUCTURE_OBJECT)
        return status_fail(error, LOCUM_E_ARGUMENT, "locum_request: structure is %d", ours.structure);
    struct engine *engine = session->model->engine;
    locum_finish ended = LOCUM_FINISH_END;
    locum_status status = engine->methods->generate(engine, session->session, &ours,
                                                    &session->cancel, &ended, stats, error);
    atomic_store(&session->cancel,
                 false); // a cancel counts for the request that runs, or for the next one
    if (status == LOCUM_OK && finish) *finish = ended;
    return status;
}

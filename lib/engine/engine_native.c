// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_native.h"

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine_memory.h"
#include "exec/exec_load.h"
#include "platform/clock.h"
#include "sample/sample.h"

#include <stdio.h>
#include <string.h>

static void told(const struct engine_native *n, locum_status status, const locum_error *error) {
    if (status != LOCUM_OK) log_write(&n->log, LOCUM_LOG_WARN, "%s", error->text);
}

static void close_outputs(struct engine_native *n) {
    locum_error error;
    told(n, engine_trace_close(n->trace, &error), &error);
    told(n, engine_op_trace_close(n->op_trace, n->model_path, &error), &error);
    told(n, engine_csv_close(&n->metrics.csv, &error), &error);
    told(n, engine_csv_close(&n->io_trace.csv, &error), &error);
}

static uint32_t most_steps(const struct engine_native *n, const uint32_t *steps) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < n->profile.layers; i++)
        if (steps[i] > most) most = steps[i];
    return most;
}

// What cannot be kept is no failure of a run.
static void save_profile(struct engine_native *n) {
    const uint32_t *steps, *uses;
    locum_error error;
    if (!n->store || !n->profile.path) return;
    store_get_uses(n->store, &steps, &uses);
    if (most_steps(n, steps) == n->profile_steps) return; // nothing was answered
    if (engine_profile_save(&n->profile, steps, uses, &error) != LOCUM_OK)
        log_write(&n->log, LOCUM_LOG_NOTICE, "which experts were used is not kept: %s", error.text);
}

static void native_close(struct engine *base) {
    struct engine_native *n = (struct engine_native *)base;
    close_outputs(n);
    save_profile(n);
    engine_profile_close(&n->profile);
    engine_size_release(&n->size);
    exec_destroy(n->exec);
    store_destroy(n->store);
    exec_team_destroy(n->team);
    sampler_destroy(n->sampler);
    engine_grammar_release(&n->grammar);
    session_pool_release(&n->pool);
    for (uint32_t i = 0; i < n->file_count; i++)
        file_close(n->files[i]);
    engine_layout_release(&n->layout);
    heap_free(n);
}

static const locum_tokenizer *native_tokenizer(const struct engine *base) {
    const struct engine_native *n = (const struct engine_native *)base;
    return n->tokenizer.tokenizer ? &n->tokenizer : NULL;
}

static void native_get_plan(const struct engine *base, locum_memory_plan *out) {
    *out = ((const struct engine_native *)base)->plan;
}

static const char *native_summary(const struct engine *base) {
    return ((const struct engine_native *)base)->summary;
}

static bool native_get_setting(const struct engine *base, uint32_t index, locum_setting *out) {
    const struct engine_native *n = (const struct engine_native *)base;
    if (index >= n->setting_count) return false;
    *out = n->settings[index];
    return true;
}

static locum_status native_session_open(struct engine *base, struct engine_session **out,
                                        locum_error *error) {
    struct engine_native *n = (struct engine_native *)base;
    struct engine_session *session = heap_resize(NULL, sizeof *session);
    if (!session) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a session");
    locum_status status = session_create(&n->pool, n->plan.context, &session->session, error);
    if (status != LOCUM_OK) {
        heap_free(session);
        return status;
    }
    *out = session;
    return LOCUM_OK;
}

static void native_session_close(struct engine *base, struct engine_session *session) {
    (void)base;
    session_destroy(session->session);
    heap_free(session);
}

static void native_session_reset(struct engine *base, struct engine_session *session) {
    (void)base;
    session_cut(session->session, 0);
}

static locum_status native_set_memory(struct engine *engine, uint64_t memory, locum_error *error) {
    return engine_size_want(&((struct engine_native *)engine)->size, memory, error);
}

static const struct engine_methods native_methods = {
    .close = native_close,
    .tokenizer = native_tokenizer,
    .get_plan = native_get_plan,
    .set_memory = native_set_memory,
    .summary = native_summary,
    .get_setting = native_get_setting,
    .session_open = native_session_open,
    .session_close = native_session_close,
    .session_reset = native_session_reset,
    .generate = engine_generate,
};

// ---- opening ------------------------------------------------------------------------------------------
static locum_status open_files(struct engine_native *n, const struct gguf_file *gguf,
                               locum_error *error) {
    uint32_t count = gguf_file_shard_count(gguf);
    n->files = arena_array(&n->layout.arena, count, sizeof *n->files);
    if (!n->files)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the list of files");
    bool told = false; // of one shard: the others lie beside it
    for (uint32_t i = 0; i < count; i++) {
        const char *path = gguf_file_shard(gguf, i)->path;
        bool direct = n->options.io != LOCUM_IO_BUFFERED;
        STATUS_TRY(file_open(path, direct, n->methods, &n->files[i], error));
        n->file_count = i + 1;
        uint64_t now = file_size(n->files[i]), then = gguf_file_shard(gguf, i)->size;
        if (now != then) {
            return status_fail(error, LOCUM_E_IO,
                               "%s: the file has changed: it has %llu bytes, %llu were there", path,
                               (unsigned long long)now, (unsigned long long)then);
        }
        const char *reason = file_buffered_reason(n->files[i]);
        if (!reason) continue;
        if (n->options.io == LOCUM_IO_DIRECT) {
            return status_fail(error, LOCUM_E_UNSUPPORTED,
                               "%s: direct reads were asked for, but %s", path, reason);
        }
        if (!told)
            log_write(&n->log, LOCUM_LOG_NOTICE, "%s is read through the page cache: %s", path,
                      reason);
        told = true;
    }
    return LOCUM_OK;
}

static bool load_progress(void *user, uint64_t done, uint64_t total) {
    struct engine_native *n = user;
    return n->options.progress &&
           n->options.progress(n->options.user, LOCUM_PHASE_LOAD, done, total);
}

static locum_status make_store(struct engine_native *n, locum_error *error) {
    if (!engine_layout_has_experts(&n->layout)) return LOCUM_OK;
    struct store_config config = engine_layout_store(&n->layout);
    config.files = n->files;
    config.slot_bytes = n->plan.slots;
    config.log = &n->log;
    if (n->options.io_trace_path) {
        config.io = engine_io_trace_write;
        config.io_user = &n->io_trace;
    }
    return store_create(&config, &n->store, error);
}

// What earlier runs used, to the store. Without it the model runs as well.
static void load_profile(struct engine_native *n, const struct gguf_file *gguf) {
    uint32_t layers = n->layout.model.plan.layers, experts = 0;
    locum_error error;
    if (!n->store || !n->options.cache_path || n->options.no_profile) return;
    for (uint32_t i = 0; i < layers; i++)
        experts += n->layout.layers[i].experts;
    locum_status status = engine_profile_open(&n->profile, gguf, n->options.cache_path, layers,
                                              experts, &error);
    uint32_t *counts = heap_resize(NULL, ((size_t)layers + experts) * sizeof *counts);
    bool found = false;
    if (status == LOCUM_OK && counts)
        status = engine_profile_load(&n->profile, counts, counts + layers, &found, &error);
    if (status != LOCUM_OK)
        log_write(&n->log, LOCUM_LOG_NOTICE, "which experts earlier runs used is not known: %s",
                  error.text);
    if (found) {
        store_learn(n->store, counts, counts + layers);
        n->profile_steps = most_steps(n, counts);
    }
    heap_free(counts);
}

static locum_status make_exec(struct engine_native *n, locum_error *error) {
    struct exec_config config = {
        .plan = &n->layout.model.plan,
        .kernels = &n->kernels,
        .team = n->team,
        .weights = &n->layout.weights,
        .store = n->store,
        .kv = &n->layout.kv,
        .chunk = n->plan.chunk,
        .logit_rows = n->logit_rows,
        .look_ahead = n->store && !n->options.no_lookahead,
        .trace = n->trace ? engine_trace_write : NULL,
        .trace_user = n->trace,
        .times = n->op_trace ? &n->op_trace->times : NULL,
    };
    return exec_create(&config, &n->exec, error);
}

static locum_status copy_text(struct engine_native *n, const char **text, locum_error *error) {
    if (!*text) return LOCUM_OK;
    *text = arena_copy_text(&n->layout.arena, *text, strlen(*text));
    return *text ? LOCUM_OK
                 : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the options");
}

static const char *io_of(const struct engine_native *n) {
    if (n->store) return store_io_name(n->store);
    return file_is_direct(n->files[0]) ? "direct" : "buffered";
}

// "streaming: budget 6.00 GiB = weights ... ; 2 threads, avx2, direct, io_uring"
static locum_status summarise(struct engine_native *n, locum_error *error) {
    char budget[ENGINE_SIZE_TEXT], dense[ENGINE_SIZE_TEXT], kv[ENGINE_SIZE_TEXT],
        slots[ENGINE_SIZE_TEXT];
    char experts[ENGINE_SIZE_TEXT], recurrent[ENGINE_SIZE_TEXT];
    const locum_memory_plan *p = &n->plan;
    struct arena *arena = &n->layout.arena;
    const char *slots_text = n->store ? arena_format(arena, ", slots %s for experts of %s",
                                                     engine_size_text(p->slots, slots),
                                                     engine_size_text(p->experts_total, experts))
                                      : "";
    const char *recurrent_text =
        p->recurrent
            ? arena_format(arena, ", recurrent state %s", engine_size_text(p->recurrent, recurrent))
            : "";
    n->summary = arena_format(
        arena, "%s: budget %s (weights %s, KV of %u tokens %s%s%s); %u thread%s, %s, %s I/O",
        p->streaming ? "streaming"
        : n->store   ? "all experts fit in memory, loaded when first called"
                     : "dense model",
        engine_size_text(p->budget, budget), engine_size_text(p->dense, dense), p->context,
        engine_size_text(p->kv, kv), recurrent_text ? recurrent_text : "",
        slots_text ? slots_text : "", p->threads, p->threads == 1 ? "" : "s",
        kernels_tier_name(n->layout.tier), io_of(n));
    return n->summary ? LOCUM_OK
                      : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the summary");
}

static void add_setting(struct engine_native *n, const char *name, const char *source,
                        const char *value) {
    if (value && n->setting_count < ENGINE_SETTINGS) {
        n->settings[n->setting_count++] = (locum_setting){name, value, source};
    }
}

static void list_settings(struct engine_native *n) {
    const locum_options *o = &n->options;
    struct arena *arena = &n->layout.arena;
    char budget[ENGINE_SIZE_TEXT];
    const char *given = engine_source_name(ENGINE_FROM_CALLER),
               *usual = engine_source_name(ENGINE_FROM_DEFAULT);
    add_setting(n, "memory", o->memory == LOCUM_MEMORY_AUTO ? usual : given,
                arena_format(arena, "%s", engine_size_text(n->plan.budget, budget)));
    add_setting(n, "ctx", o->context ? given : usual, arena_format(arena, "%u", n->plan.context));
    add_setting(n, "chunk", o->chunk ? given : usual, arena_format(arena, "%u", n->plan.chunk));
    add_setting(n, "threads", o->threads ? given : usual,
                arena_format(arena, "%u", n->plan.threads));
    add_setting(n, "io", o->io == LOCUM_IO_AUTO ? usual : given, io_of(n));
    add_setting(n, "kv-type", o->kv_type == LOCUM_KV_F16 ? usual : given,
                exec_kv_type_name(n->layout.kv.type));
    add_setting(n, "cpu", o->cpu && strcmp(o->cpu, "auto") ? given : usual,
                kernels_tier_name(n->layout.tier));
    const char *kept = !o->cache_path || o->no_profile ? "off"
                       : n->profile_steps == 0         ? "nothing known yet"
                                                       : "of earlier runs";
    add_setting(n, "profile", o->no_profile ? given : usual, kept);
    char text[ENGINE_SAMPLING_TEXT];
    locum_setting setting;
    for (uint32_t i = 0; engine_sampling_setting(&n->sampling, i, text, &setting); i++)
        add_setting(n, setting.name, setting.source, arena_format(arena, "%s", text));
}

static void notices(struct engine_native *n) {
    const struct model_params *params = &n->layout.model.params;
    if (n->plan.context > params->context) {
        log_write(&n->log, LOCUM_LOG_WARN,
                  "a context of %u tokens is more than the %u that the model was trained for",
                  n->plan.context, params->context);
    }
    if (n->options.kv_type == LOCUM_KV_Q8_0) {
        log_write(&n->log, LOCUM_LOG_NOTICE,
                  "the KV cache is rounded to 8 bits (q8_0): answers are not exactly those of f16");
    }
    if (n->options.threads > n->plan.threads) {
        log_write(&n->log, LOCUM_LOG_NOTICE,
                  "%u threads were asked for, %u compute: so many processors may be used",
                  n->options.threads, n->plan.threads);
    }
    if (n->layout.model.unknown_tensors > 0) {
        log_write(&n->log, LOCUM_LOG_INFO, "%llu tensors of the file are not used",
                  (unsigned long long)n->layout.model.unknown_tensors);
    }
    // A host's tokenizer said it when it was opened.
    if (n->layout.tokenizer && !n->options.tokenizer) {
        engine_tokenizer_notice(n->layout.tokenizer, &n->log);
    }
}

static locum_status open_metrics(struct engine_native *n, const char *model, locum_error *error) {
    char head[ENGINE_CSV_ROW];
    const locum_memory_plan *p = &n->plan;
    int length = snprintf(head, sizeof head,
                          "# model=%.300s arch=%s\n# threads=%u n_ctx=%u chunk=%u budget=%llu\n",
                          model, n->layout.model.architecture, p->threads, p->context, p->chunk,
                          (unsigned long long)p->budget);
    LOCUM_ASSERT(length > 0 && length < (int)sizeof head);
    return engine_metrics_open(&n->metrics, n->options.metrics_path, head, error);
}

// What is measured goes into files of these names, where there are names.
static locum_status open_outputs(struct engine_native *n, const char *model, locum_error *error) {
    const locum_options *o = &n->options;
    if (o->trace_path)
        STATUS_TRY(engine_trace_open(o->trace_path, model, &n->layout, &n->trace, error));
    if (o->op_trace_path)
        STATUS_TRY(
            engine_op_trace_open(o->op_trace_path, &n->layout.model.plan, &n->op_trace, error));
    if (o->metrics_path) STATUS_TRY(open_metrics(n, model, error));
    if (o->io_trace_path)
        STATUS_TRY(engine_io_trace_open(&n->io_trace, o->io_trace_path, model, error));
    return LOCUM_OK;
}

// The file may be closed before the model.
static locum_status read_sampling(struct engine_native *n, const struct gguf_meta *meta,
                                  locum_error *error) {
    struct slice *name = &n->sampling.name;
    STATUS_TRY(engine_sampling_read(meta, &n->sampling, error));
    name->data = arena_copy_text(&n->layout.arena, name->data, name->size);
    return name->data ? LOCUM_OK
                      : status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the model's name");
}

static locum_status open_all(struct engine_native *n, const struct locum_file *file,
                             locum_error *error) {
    STATUS_TRY(copy_text(n, &n->options.cpu, error));
    STATUS_TRY(copy_text(n, &n->options.trace_path, error));
    STATUS_TRY(copy_text(n, &n->options.op_trace_path, error));
    STATUS_TRY(copy_text(n, &n->options.metrics_path, error));
    STATUS_TRY(copy_text(n, &n->options.io_trace_path, error));
    STATUS_TRY(copy_text(n, &n->options.cache_path, error));
    n->model_path = file->info.path;
    STATUS_TRY(copy_text(n, &n->model_path, error));
    STATUS_TRY(read_sampling(n, gguf_file_meta(file->gguf), error));
    STATUS_TRY(engine_memory_plan(&n->layout, file->info.path, &n->options, &n->plan,
                                  &n->logit_rows, error));
    n->tokenizer = (struct locum_tokenizer){.tokenizer = n->layout.tokenizer,
                                            .bytes = n->layout.tokenizer_bytes,
                                            .log = n->log,
                                            .progress = n->options.progress};
    notices(n);
    if (file->notice) log_write(&n->log, LOCUM_LOG_NOTICE, "%s", file->notice);
    kernels_init(&n->kernels, n->layout.tier, &n->layout.cpu);
    STATUS_TRY(open_files(n, file->gguf, error));
    STATUS_TRY(open_outputs(n, file->info.path, error));
    STATUS_TRY(exec_load_weights(&n->layout.weights, &n->layout.model.plan, &n->kernels, n->files,
                                 true, &n->log, load_progress, n, error));
    STATUS_TRY(exec_team_create(n->plan.threads, n->layout.cpus, &n->team, error));
    STATUS_TRY(make_store(n, error));
    load_profile(n, file->gguf);
    const locum_memory_plan *p = &n->plan;
    uint64_t budget = n->options.memory == LOCUM_MEMORY_ALL ? UINT64_MAX : p->budget;
    engine_size_init(&n->size, n->store, budget,
                     p->dense + p->kv + p->recurrent + p->scratch + p->fixed, &n->log);
    STATUS_TRY(make_exec(n, error));
    STATUS_TRY(session_pool_init(&n->pool, &n->layout.kv, n->plan.context,
                                 plan_state_bytes(&n->layout.model.plan), &n->layout.arena, error));
    STATUS_TRY(sampler_create(n->layout.model.plan.vocabulary, n->plan.context, &n->kernels,
                              &n->sampler, error));
    list_settings(n);
    return summarise(n, error);
}

locum_status engine_native_open(const locum_file *file, const locum_options *options,
                                const struct file_methods *methods, struct engine **out,
                                locum_error *error) {
    uint64_t start = clock_now_ns();
    struct engine_native *n = heap_resize(NULL, sizeof *n);
    if (!n) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for the model");
    memset(n, 0, sizeof *n);
    n->base.methods = &native_methods;
    n->options = *options;
    n->methods = methods;
    n->log = (struct log_sink){options->log, options->user};
    locum_status status = engine_layout_make(file, options, &n->layout, error);
    if (status != LOCUM_OK) {
        heap_free(n);
        return status;
    }
    status = open_all(n, file, error);
    if (status != LOCUM_OK) {
        engine_trace_cancel(n->trace); // closing would write an empty one
        n->trace = NULL;
        engine_op_trace_cancel(n->op_trace);
        n->op_trace = NULL;
        engine_csv_cancel(&n->metrics.csv);
        engine_csv_cancel(&n->io_trace.csv);
        native_close(&n->base);
        return status;
    }
    n->load_s = (double)(clock_now_ns() - start) * 1e-9;
    *out = &n->base;
    return LOCUM_OK;
}

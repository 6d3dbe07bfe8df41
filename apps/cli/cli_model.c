// SPDX-License-Identifier: Apache-2.0
#include "cli_model.h"

#include <stdio.h>
#include <string.h>

#include "cli_cache.h"
#include "cli_interrupt.h"
#include "cli_number.h"
#include "cli_output.h"
#include "cli_progress.h"
#include "cli_sampling.h"
#include "platform/file_write.h"

// ---- what the library reports ------------------------------------------------------------------
static void on_log(void *user, locum_log_level level, const char *text) {
    struct cli_model *model = user;
    if (level == LOCUM_LOG_WARN) {
        model->warnings++;
        cli_output_warn("%s", text);
    } else if (level == LOCUM_LOG_NOTICE || model->arguments->flags[CLI_VERBOSE].given) {
        cli_output_note("%s", text);
    }
}

static bool on_progress(void *user, locum_phase phase, uint64_t done, uint64_t total) {
    (void)user;
    static const char *const what[] = {[LOCUM_PHASE_LOAD] = "loading",
                                       [LOCUM_PHASE_PROMPT] = "reading the prompt",
                                       [LOCUM_PHASE_ANSWER] = "answering",
                                       [LOCUM_PHASE_TOKENIZE] = "cutting the text into tokens"};
    if (done < total) {
        cli_progress(what[phase], done, total);
    } else {
        cli_progress_end();
    }
    return cli_interrupt_seen();
}

static const struct {
    locum_status status;
    int loading, request;
} exits[] = {
    {LOCUM_E_ARGUMENT, CLI_EXIT_USAGE, CLI_EXIT_USAGE},
    {LOCUM_E_OUT_OF_MEMORY, CLI_EXIT_MEMORY, CLI_EXIT_MEMORY},
    {LOCUM_E_SYSTEM, CLI_EXIT_RUN, CLI_EXIT_RUN},
    {LOCUM_E_NOT_FOUND, CLI_EXIT_FILE, CLI_EXIT_FILE},
    {LOCUM_E_IO, CLI_EXIT_FILE, CLI_EXIT_RUN}, // a read that fails in the middle of an answer
    {LOCUM_E_FORMAT, CLI_EXIT_FILE, CLI_EXIT_FILE},
    {LOCUM_E_UNSUPPORTED, CLI_EXIT_FILE, CLI_EXIT_FILE},
    {LOCUM_E_BUDGET, CLI_EXIT_MEMORY, CLI_EXIT_MEMORY},
    {LOCUM_E_CONTEXT, CLI_EXIT_USAGE, CLI_EXIT_USAGE},
    {LOCUM_E_CANCELLED, CLI_EXIT_INTERRUPTED, CLI_EXIT_INTERRUPTED},
};

int cli_model_fail(locum_status status, const locum_error *error, bool in_request) {
    int code = CLI_EXIT_RUN;
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
        if (exits[i].status == status) code = in_request ? exits[i].request : exits[i].loading;
    }
    cli_progress_end();
    if (code != CLI_EXIT_INTERRUPTED) cli_output_error("%s", error->text);
    return code;
}

// ---- options -----------------------------------------------------------------------------------
static void read_options(const struct cli_arguments *arguments, locum_options *out) {
    static const char *const tiers[] = {NULL, "ref", "avx2", "avxvnni", "avx512", "avx512vnni"};
    const struct cli_value *flags = arguments->flags;
    out->context = (uint32_t)flags[CLI_CTX].integer;
    out->memory = flags[CLI_MEMORY].integer; // not given: LOCUM_MEMORY_AUTO
    out->threads = (uint32_t)flags[CLI_THREADS].integer;
    out->chunk = (uint32_t)flags[CLI_CHUNK].integer;
    out->io = (locum_io)flags[CLI_IO].integer;
    out->kv_type = (locum_kv_type)flags[CLI_KV_TYPE].integer;
    out->cpu = tiers[flags[CLI_CPU].integer];
    out->trace_path = flags[CLI_TRACE].text;
    out->op_trace_path = flags[CLI_OP_TRACE].text;
    out->metrics_path = flags[CLI_METRICS].text;
    out->io_trace_path = flags[CLI_IO_TRACE].text;
    out->no_lookahead = flags[CLI_NO_LOOKAHEAD].given;
    out->verify = flags[CLI_VERIFY].given;
    out->cache_path = cli_cache_folder();
    // What is measured must not depend on what ran before, nor what it asks for be taken for use.
    out->no_profile = flags[CLI_NO_PROFILE].given || arguments->command == CLI_BENCH;
}

// Any model counts, not only the one that runs: a path that opens as one is no place for an output.
static bool is_model_file(const char *path) {
    locum_file *file;
    if (locum_file_open(path, &file, NULL) != LOCUM_OK) return false;
    locum_file_close(file);
    return true;
}

int cli_model_check_outputs(const struct cli_arguments *arguments, const char *command) {
    static const struct {
        int flag;
        const char *name;
    } outputs[] = {{CLI_STATS, "--stats"},
                   {CLI_TRACE, "--trace"},
                   {CLI_OP_TRACE, "--op-trace"},
                   {CLI_METRICS, "--metrics"},
                   {CLI_IO_TRACE, "--io-trace"}};
    const struct cli_value *flags = arguments->flags;
    const char *prompt = flags[CLI_FILE].text;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *path = flags[outputs[i].flag].text;
        if (!path) continue;
        if (is_model_file(path))
            return cli_output_usage(command, "%s would replace the model file '%s'",
                                    outputs[i].name, path);
        if (prompt && file_write_replaces(path, prompt))
            return cli_output_usage(command, "%s would replace the prompt '%s'", outputs[i].name,
                                    path);
        for (size_t j = 0; j < i; j++) {
            const char *other = flags[outputs[j].flag].text;
            if (other && file_write_replaces(path, other))
                return cli_output_usage(command, "%s and %s are both to be written to '%s'",
                                        outputs[j].name, outputs[i].name, path);
        }
    }
    return CLI_EXIT_OK;
}

_Static_assert(CLI_SIZE_AUTO == LOCUM_MEMORY_AUTO && CLI_SIZE_ALL == LOCUM_MEMORY_ALL,
               "sizes go to the library as they are");

// ---- the plan ----------------------------------------------------------------------------------
static void plan_line(void (*line)(const char *), const char *what, uint64_t bytes,
                      const char *more) {
    char size[CLI_NUMBER_TEXT], text[160];
    snprintf(text, sizeof text, "  %-14s %10s%s%s", what, cli_number_bytes(bytes, size),
             more[0] ? "   " : "", more);
    line(text);
}

void cli_model_plan_lines(const locum_memory_plan *plan, void (*line)(const char *text)) {
    char kv[64], scratch[64], slots[96] = "", experts[CLI_NUMBER_TEXT], context[64];
    snprintf(kv, sizeof kv, "%u tokens", plan->context);
    snprintf(scratch, sizeof scratch, "prompts in chunks of %u, %u thread%s", plan->chunk,
             plan->threads, plan->threads == 1 ? "" : "s");
    if (plan->experts_total > 0) {
        snprintf(slots, sizeof slots, "of %s that all experts take",
                 cli_number_bytes(plan->experts_total, experts));
    }
    snprintf(context, sizeof context, "a context of %u tokens fits", plan->context_max);
    plan_line(line, "dense weights", plan->dense, "");
    plan_line(line, "KV cache", plan->kv, kv);
    if (plan->recurrent > 0)
        plan_line(line, "recurrent", plan->recurrent,
                  "state of recurrent layers, and a checkpoint");
    plan_line(line, "scratch", plan->scratch, scratch);
    plan_line(line, "expert slots", plan->slots, slots);
    plan_line(line, "fixed", plan->fixed, "metadata, tokenizer, stacks, buffers");
    uint64_t sum =
        plan->dense + plan->kv + plan->recurrent + plan->scratch + plan->slots + plan->fixed;
    plan_line(line, "together", sum, "");
    plan_line(line, "budget", plan->budget, plan->context_max ? context : "no context fits");
    plan_line(line, "floor", plan->floor, "the least that can run this");
    plan_line(line, "recommended", plan->recommended, "more brings little");
}

static void note_line(const char *text) {
    cli_output_note("%s", text);
}

// has: what is known of the prompt, with a number of tokens.
static int check_context(const locum_memory_plan *plan, uint64_t tokens, const char *has) {
    char have[CLI_NUMBER_TEXT], room[CLI_NUMBER_TEXT], more[64] = "";
    if (tokens <= plan->context) return CLI_EXIT_OK;
    if (tokens <= plan->context_max) {
        snprintf(more, sizeof more, "; -c gives more, up to %u", plan->context_max);
    } else if (plan->context_max > plan->context) {
        snprintf(more, sizeof more, "; the largest that can be (-c) is %u", plan->context_max);
    }
    cli_output_error("the prompt has %s%s tokens, the context holds %s%s", has,
                     cli_number_count(tokens, have), cli_number_count(plan->context, room), more);
    return CLI_EXIT_USAGE;
}

static uint64_t longest_token(const locum_tokenizer *tokenizer) {
    uint64_t longest = 1;
    for (uint32_t id = 0; id < locum_tokenizer_size(tokenizer); id++) {
        const char *bytes;
        size_t size = locum_token_bytes(tokenizer, (locum_token)id, true, &bytes);
        if (size > longest) longest = size;
    }
    return longest;
}

int cli_model_check_text(const struct cli_model *model, size_t bytes) {
    locum_error error;
    locum_memory_plan plan = {0};
    locum_status status = locum_file_plan(model->file, &model->options, &plan, &error);
    bool planned =
        status == LOCUM_OK || status == LOCUM_E_BUDGET; // which is told with the arithmetic
    if (!planned) return cli_model_fail(status, &error, false);
    char has[64], size[CLI_NUMBER_TEXT];
    uint64_t longest = longest_token(model->tokenizer);
    snprintf(has, sizeof has, "%s bytes, at least ", cli_number_count(bytes, size));
    return check_context(&plan, (bytes + longest - 1) / longest, has);
}

int cli_model_plan(struct cli_model *model, size_t prompt_tokens) {
    // No step is larger than the one prompt: the memory is the experts'.
    if (model->options.chunk > prompt_tokens) model->options.chunk = (uint32_t)prompt_tokens;
    locum_error error;
    locum_memory_plan plan = {0};
    locum_status status = locum_file_plan(model->file, &model->options, &plan, &error);
    bool planned = status == LOCUM_OK || status == LOCUM_E_BUDGET;
    if (planned && model->arguments->flags[CLI_PLAN].given) {
        cli_output_note("memory plan");
        cli_model_plan_lines(&plan, note_line);
    }
    if (status != LOCUM_OK) return cli_model_fail(status, &error, false);
    model->options.memory = plan.budget; // `auto` is asked once: this plan is the one that is used
    return check_context(&plan, prompt_tokens, "");
}

// ---- settings ----------------------------------------------------------------------------------
const char *cli_model_setting(const struct cli_model *model, const char *name) {
    locum_setting setting;
    for (uint32_t i = 0; locum_model_get_setting(model->model, i, &setting); i++) {
        if (strcmp(setting.name, name) == 0) return setting.value;
    }
    return "";
}

static const char *source_name(const char *source) {
    static const char *const names[][2] = {
        {"given", "command line"}, {"file", "model"}, {"card", "makers of the model"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i][0], source) == 0) return names[i][1];
    }
    return source;
}

static void show_setting(const char *name, const char *value, const char *source) {
    cli_output_note("  %-18s %-22s %s", name, value, source);
}

// What is decided by the command alone.
static void show_request_settings(const struct cli_arguments *arguments) {
    static const struct {
        enum cli_flag_id id;
        const char *otherwise;
    } settings[] = {{CLI_PREDICT, "until the answer ends"},
                    {CLI_SEED, "drawn"},
                    {CLI_LOGIT_BIAS, "none"},
                    {CLI_DRY_SEQUENCE_BREAKER, "[\"\\n\", \":\", \"\\\"\", \"*\"]"},
                    {CLI_IGNORE_EOS, "off"},
                    {CLI_RAW, "off"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct cli_value *flag = &arguments->flags[settings[i].id];
        const char *value = !flag->given ? settings[i].otherwise : flag->text ? flag->text : "on";
        show_setting(cli_flag_table[settings[i].id].name, value,
                     flag->given ? "command line" : "default");
    }
}

// What the model resolved, overridden by what this command line says for its request.
static void show_settings(const struct cli_model *model) {
    locum_setting setting;
    for (uint32_t i = 0; locum_model_get_setting(model->model, i, &setting); i++) {
        locum_setting applies = cli_sampling_applies(model->arguments, &setting);
        show_setting(applies.name, applies.value, source_name(applies.source));
    }
    if (model->arguments->command == CLI_RUN) show_request_settings(model->arguments);
}

// ---- opening and closing -----------------------------------------------------------------------
int cli_model_open(const struct cli_arguments *arguments, struct cli_model *out) {
    *out = (struct cli_model){.arguments = arguments};
    locum_options_init(&out->options);
    read_options(arguments, &out->options);
    out->options.log = on_log;
    out->options.progress = on_progress;
    out->options.user = out;
    locum_error error;
    locum_status status = locum_file_open(arguments->operands[0], &out->file, &error);
    if (status != LOCUM_OK) return cli_model_fail(status, &error, false);
    locum_file_get_info(out->file, &out->info);
    return CLI_EXIT_OK;
}

int cli_model_open_tokenizer(struct cli_model *model) {
    locum_error error;
    locum_status status =
        locum_tokenizer_open(model->file, &model->options, &model->tokenizer, &error);
    if (status != LOCUM_OK) return cli_model_fail(status, &error, false);
    model->options.tokenizer = model->tokenizer;
    return CLI_EXIT_OK;
}

int cli_model_load(struct cli_model *model) {
    const struct cli_value *flags = model->arguments->flags;
    static const struct {
        int flag;
        const char *name;
    } of_experts[] = {{CLI_TRACE, "--trace"}, {CLI_IO_TRACE, "--io-trace"}};
    for (size_t i = 0; i < sizeof of_experts / sizeof *of_experts; i++)
        if (flags[of_experts[i].flag].given && model->info.experts == 0)
            cli_output_warn("%s: the model has no experts, so the trace has no rows",
                            of_experts[i].name);
    locum_error error;
    locum_status status = locum_model_open(model->file, &model->options, &model->model, &error);
    if (status != LOCUM_OK) return cli_model_fail(status, &error, false);
    cli_output_note("%s", locum_model_summary(model->model));
    if (flags[CLI_VERBOSE].given) show_settings(model);
    return CLI_EXIT_OK;
}

int cli_model_close(struct cli_model *model, int status) {
    unsigned before = model->warnings;
    locum_model_close(model->model);
    locum_tokenizer_close(model->tokenizer);
    locum_file_close(model->file);
    bool failed = model->warnings != before;
    *model = (struct cli_model){0};
    return failed && status == CLI_EXIT_OK ? CLI_EXIT_FILE : status;
}

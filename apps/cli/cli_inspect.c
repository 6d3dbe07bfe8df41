// SPDX-License-Identifier: Apache-2.0
//
// locum inspect: what a file holds, what it takes to run it, and why it cannot be run.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_number.h"
#include "cli_output.h"

struct judgement {
    bool runnable; // with enough memory
    bool fits;     // with this budget
    bool planned;  // plan is filled
    locum_memory_plan plan;
    locum_error reason; // text "" if it can be run
};

static struct judgement judge(const struct cli_model *model) {
    struct judgement j = {0};
    locum_status status = locum_file_plan(model->file, &model->options, &j.plan, &j.reason);
    j.fits = status == LOCUM_OK;
    j.runnable = j.planned = j.fits || status == LOCUM_E_BUDGET;
    if (j.fits) j.reason.text[0] = 0;
    // As `run` says it, when it loads the model.
    if (j.planned && model->options.threads > j.plan.threads)
        cli_output_note("%u threads were asked for, %u compute: so many processors may be used",
                        model->options.threads, j.plan.threads);
    return j;
}

// ---- text --------------------------------------------------------------------------------------
static void row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The text may come from the file.
static void row(const char *name, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_output_print("  %-14s ", name);
    cli_output_print_safe(text, strlen(text));
    cli_output_print("\n");
}

static const char *or_unknown(const char *text) {
    return text ? text : "unknown";
}

static void print_head(const locum_file_info *info) {
    char size[CLI_NUMBER_TEXT], tensors[CLI_NUMBER_TEXT];
    const char *name = info->name ? info->name : "a model without a name";
    cli_output_print_safe(name, strlen(name));
    cli_output_print("\n");
    row("file", "%s", info->path);
    if (info->shards > 1) row("shards", "%u", info->shards);
    row("format", "GGUF %u, %s, %s tensors", info->gguf_version,
        cli_number_bytes(info->file_bytes, size), cli_number_count(info->tensors, tensors));
    if (info->unknown_tensors > 0) {
        row("not used", "%s tensors", cli_number_count(info->unknown_tensors, tensors));
    }
    row("architecture", "%s", or_unknown(info->architecture));
}

static void print_shape(const locum_file_info *info) {
    char total[CLI_NUMBER_TEXT], active[CLI_NUMBER_TEXT], size[CLI_NUMBER_TEXT];
    if (info->parameters_total > 0) {
        row("parameters", "%s, %s for one token", cli_number_short(info->parameters_total, total),
            cli_number_short(info->parameters_active, active));
    }
    if (info->layers > 0) row("layers", "%u of width %u", info->layers, info->embedding);
    if (info->heads > 0) {
        row("attention", "%u heads of %u, %u for keys and values", info->heads, info->head_size,
            info->heads_kv);
    }
    if (info->experts > 0) {
        row("experts", "%u in each of %u layers, %u used for one token, the largest %s",
            info->experts, info->moe_layers, info->experts_used,
            cli_number_bytes(info->expert_bytes_max, size));
    }
    if (info->context_trained > 0) row("trained for", "%u tokens", info->context_trained);
    row("tokenizer", "%s, %u tokens, %s chat template", info->tokenizer ? info->tokenizer : "none",
        info->vocabulary, info->has_chat_template ? "with a" : "no");
}

static void print_sizes(const locum_file_info *info) {
    char text[CLI_NUMBER_TEXT];
    if (info->tensors == 0) return;
    cli_output_print("\nWeights\n");
    if (info->quantisation) row("types", "%s", info->quantisation);
    row("dense", "%s", cli_number_bytes(info->dense_bytes, text));
    if (info->expert_bytes_total > 0) {
        row("experts", "%s", cli_number_bytes(info->expert_bytes_total, text));
        row("one token", "%s of experts", cli_number_bytes(info->demand_bytes_per_token, text));
    }
    if (info->kv_bytes_per_token > 0) {
        row("KV cache", "%s for each token (f16)",
            cli_number_bytes(info->kv_bytes_per_token, text));
    }
}

// What the model brings along; the rest of sampling is off or `locum run`'s default.
static void print_sampling(const locum_file *file) {
    locum_setting setting;
    const char *card = locum_file_sampling_card(file);
    cli_output_print("\nSampling\n");
    for (uint32_t i = 0; locum_file_get_sampling(file, i, &setting); i++) {
        bool usual = i < 4; // temperature, top-k, top-p, min-p: always of interest
        if (!usual && strcmp(setting.source, "default") == 0) continue;
        bool from_card = card && strcmp(setting.source, "card") == 0;
        row(setting.name, "%s (%s)", setting.value, from_card ? card : setting.source);
    }
}

static void print_line(const char *text) {
    cli_output_print("%s\n", text);
}

// The reason without the file that it begins with, whose end is all that a long path leaves: the file
// stands above.
static const char *without_file(const char *reason, const char *path) {
    for (; *path; path++) {
        size_t size = strlen(path);
        if (strncmp(reason, path, size) == 0 && strncmp(reason + size, ": ", 2) == 0)
            return reason + size + 2;
    }
    return reason;
}

static void print_judgement(const struct judgement *j, const char *path) {
    if (j->planned) {
        cli_output_print("\nMemory\n");
        cli_model_plan_lines(&j->plan, print_line);
    }
    cli_output_print("\n");
    if (!j->runnable) {
        cli_output_print("`locum run` cannot run it: ");
    } else if (!j->fits) {
        cli_output_print("`locum run` needs more memory: ");
    } else if (j->plan.streaming) {
        cli_output_print("`locum run` can run it, reading experts as they are needed.");
    } else {
        cli_output_print("`locum run` can run it, all in memory.");
    }
    const char *reason = without_file(j->reason.text, path);
    cli_output_print_safe(reason, strlen(reason));
    cli_output_print("\n");
}

static void print_tensors(const locum_file *file) {
    locum_tensor_info tensor;
    cli_output_print("\nTensors: name, type, shape, bytes, shard, offset\n");
    for (uint64_t i = 0; locum_file_get_tensor(file, i, &tensor); i++) {
        char shape[100] = "";
        for (uint32_t d = 0; d < tensor.dims; d++) {
            size_t used = strlen(shape);
            snprintf(shape + used, sizeof shape - used, "%s%" PRIu64, d ? " x " : "",
                     tensor.shape[d]);
        }
        cli_output_print("  ");
        cli_output_print_safe(tensor.name, strlen(tensor.name));
        int pad = 34 - (int)strlen(tensor.name);
        cli_output_print("%*s %-8s %-22s %12" PRIu64 " %3u %14" PRIu64 "\n", pad > 0 ? pad : 0, "",
                         tensor.type, shape, tensor.bytes, tensor.shard + 1, tensor.offset);
    }
}

// ---- JSON --------------------------------------------------------------------------------------
static json_t *plan_json(const struct judgement *j) {
    if (!j->planned) return json_null();
    const locum_memory_plan *p = &j->plan;
    const struct {
        const char *key;
        uint64_t value;
    } entries[] = {
        {"budget", p->budget},
        {"floor", p->floor},
        {"recommended", p->recommended},
        {"dense", p->dense},
        {"kv", p->kv},
        {"recurrent", p->recurrent},
        {"scratch", p->scratch},
        {"slots", p->slots},
        {"fixed", p->fixed},
        {"slots_floor", p->slots_floor},
        {"experts_total", p->experts_total},
        {"context", p->context},
        {"context_max", p->context_max},
        {"chunk", p->chunk},
        {"threads", p->threads},
    };
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        json_object_set_new(out, entries[i].key, cli_json_count(entries[i].value));
    }
    json_object_set_new(out, "fits", json_boolean(j->fits));
    json_object_set_new(out, "streaming", j->fits ? json_boolean(p->streaming) : json_null());
    return out;
}

static json_t *sampling_json(const locum_file *file) {
    json_t *out = json_object();
    locum_setting setting;
    for (uint32_t i = 0; locum_file_get_sampling(file, i, &setting); i++) {
        json_object_set_new(out, setting.name,
                            json_pack("{s:s, s:s}", "value", setting.value, "source",
                                      setting.source));
    }
    json_object_set_new(out, "card", cli_json_text(locum_file_sampling_card(file)));
    return out;
}

static json_t *metadata_json(const locum_file *file) {
    json_t *out = json_object();
    const char *key;
    char value[512];
    for (uint64_t i = 0; locum_file_get_metadata(file, i, &key, value, sizeof value); i++) {
        json_t *name = cli_json_text(key); // a key need not be UTF-8 either
        json_object_set_new(out, json_string_value(name), cli_json_text(value));
        json_decref(name);
    }
    return out;
}

static json_t *tensors_json(const locum_file *file) {
    json_t *out = json_array();
    locum_tensor_info tensor;
    for (uint64_t i = 0; locum_file_get_tensor(file, i, &tensor); i++) {
        json_t *shape = json_array();
        for (uint32_t d = 0; d < tensor.dims; d++) {
            json_array_append_new(shape, cli_json_count(tensor.shape[d]));
        }
        json_array_append_new(
            out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(tensor.name),
                           "type", cli_json_text(tensor.type), "shape", shape, "bytes",
                           cli_json_count(tensor.bytes), "shard", cli_json_count(tensor.shard),
                           "offset", cli_json_count(tensor.offset)));
    }
    return out;
}

static void add_counts(json_t *out, const locum_file_info *info) {
    const struct {
        const char *key;
        uint64_t value;
    } entries[] = {
        {"gguf_version", info->gguf_version},
        {"shards", info->shards},
        {"file_bytes", info->file_bytes},
        {"tensors", info->tensors},
        {"unknown_tensors", info->unknown_tensors},
        {"parameters_total", info->parameters_total},
        {"parameters_active", info->parameters_active},
        {"layers", info->layers},
        {"moe_layers", info->moe_layers},
        {"embedding", info->embedding},
        {"heads", info->heads},
        {"heads_kv", info->heads_kv},
        {"head_size", info->head_size},
        {"experts", info->experts},
        {"experts_used", info->experts_used},
        {"context_trained", info->context_trained},
        {"vocabulary", info->vocabulary},
        {"dense_bytes", info->dense_bytes},
        {"expert_bytes_total", info->expert_bytes_total},
        {"expert_bytes_max", info->expert_bytes_max},
        {"demand_bytes_per_token", info->demand_bytes_per_token},
        {"kv_bytes_per_token", info->kv_bytes_per_token},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        json_object_set_new(out, entries[i].key, cli_json_count(entries[i].value));
    }
}

static int print_json(const struct cli_model *model, const struct judgement *j) {
    const locum_file_info *info = &model->info;
    json_t *out = json_object();
    json_object_set_new(out, "path", cli_json_text(info->path));
    json_object_set_new(out, "name", cli_json_text(info->name));
    json_object_set_new(out, "architecture", cli_json_text(info->architecture));
    json_object_set_new(out, "quantisation", cli_json_text(info->quantisation));
    json_object_set_new(out, "tokenizer", cli_json_text(info->tokenizer));
    json_object_set_new(out, "chat_template", json_boolean(info->has_chat_template));
    add_counts(out, info);
    json_object_set_new(out, "runnable", json_boolean(j->runnable));
    json_object_set_new(out, "reason", cli_json_text(j->reason.text[0] ? j->reason.text : NULL));
    json_object_set_new(out, "sampling", sampling_json(model->file));
    json_object_set_new(out, "plan", plan_json(j));
    json_object_set_new(out, "metadata", metadata_json(model->file));
    if (model->arguments->flags[CLI_TENSORS].given) {
        json_object_set_new(out, "tensor_list", tensors_json(model->file));
    }
    return cli_json_print(out);
}

int cli_inspect(const struct cli_arguments *arguments) {
    struct cli_model model;
    int status = cli_model_open(arguments, &model);
    if (status != CLI_EXIT_OK) return cli_model_close(&model, status);
    struct judgement j = judge(&model);
    if (j.reason.status == LOCUM_E_ARGUMENT) { // a flag asks for what there is not
        status = cli_model_fail(j.reason.status, &j.reason, false);
    } else if (arguments->flags[CLI_JSON].given) {
        status = print_json(&model, &j);
    } else {
        print_head(&model.info);
        print_shape(&model.info);
        print_sizes(&model.info);
        print_sampling(model.file);
        print_judgement(&j, model.info.path);
        if (arguments->flags[CLI_TENSORS].given) print_tensors(model.file);
    }
    return cli_model_close(&model, status);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_json.h"
#include "cli_output.h"
#include "cli_sampling.h"

int cli_stats_open(const char *path, struct file_write **out) {
    *out = NULL;
    locum_error error;
    if (!path || file_write_open(path, out, &error) == LOCUM_OK) return CLI_EXIT_OK;
    cli_output_error("%s", error.text);
    return CLI_EXIT_FILE;
}

static json_t *rate_json(uint64_t tokens, double seconds) {
    return seconds > 0 ? cli_json_real((double)tokens / seconds) : json_null();
}

static json_t *hit_rate_json(uint64_t hits, uint64_t misses) {
    return hits + misses ? cli_json_real((double)hits / (double)(hits + misses)) : json_null();
}

static json_t *ids_json(const struct cli_stats_run *run) {
    json_t *ids = json_array();
    for (size_t i = 0; i < run->id_count; i++)
        json_array_append_new(ids, json_integer(run->ids[i]));
    return ids;
}

static json_t *experts_json(const locum_stats *s) {
    json_t *ahead = json_pack("{s:o, s:o, s:o}", "read", cli_json_count(s->read_ahead), "used",
                              cli_json_count(s->read_ahead_used), "wasted",
                              cli_json_count(s->read_ahead_wasted));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "hits",
                     cli_json_count(s->hits_prefill + s->hits_decode), "misses",
                     cli_json_count(s->misses_prefill + s->misses_decode), "hit_rate_prefill",
                     hit_rate_json(s->hits_prefill, s->misses_prefill), "hit_rate_decode",
                     hit_rate_json(s->hits_decode, s->misses_decode), "bytes_read",
                     cli_json_count(s->bytes_read), "reads", cli_json_count(s->reads),
                     "reads_at_once", cli_json_count(s->reads_at_once), "reading_s",
                     cli_json_real(s->reading_s), "evictions", cli_json_count(s->evictions),
                     "read_ahead", ahead, "warmed", cli_json_count(s->warmed), "verified",
                     cli_json_count(s->verified),
                     "slots_bytes", cli_json_count(s->slots_bytes), "demand_bytes_per_token",
                     cli_json_count(s->demand_bytes_per_token));
}

static json_t *memory_json(const locum_memory_plan *plan, const locum_stats *s) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "budget",
                     cli_json_count(plan->budget), "floor", cli_json_count(plan->floor), "dense",
                     cli_json_count(plan->dense), "kv", cli_json_count(plan->kv), "recurrent",
                     cli_json_count(plan->recurrent), "scratch", cli_json_count(plan->scratch),
                     "slots", cli_json_count(plan->slots), "fixed", cli_json_count(plan->fixed),
                     "peak_rss", cli_json_known(s->peak_rss), "resident_dense",
                     cli_json_count(s->resident_dense), "resident_kv",
                     cli_json_count(s->resident_kv), "resident_slots",
                     cli_json_count(s->resident_slots));
}

static json_t *time_json(const locum_stats *s) {
    return json_pack("{s:o, s:o, s:o}", "compute_s", cli_json_real(s->compute_s), "io_wait_s",
                     cli_json_real(s->io_wait_s), "sample_s", cli_json_real(s->sample_s));
}

static json_t *to_json(const struct cli_stats_run *run) {
    const locum_stats *s = run->stats;
    locum_memory_plan plan;
    locum_model_get_plan(run->model->model, &plan);
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, s->logits_hash);
    json_t *out = json_object();
    const struct {
        const char *key;
        json_t *value;
    } entries[] = {
        {"model", cli_json_text(run->model->info.path)},
        {"arch", cli_json_text(run->model->info.architecture)},
        {"prompt_tokens", cli_json_count(s->prompt_tokens)},
        {"computed_tokens", cli_json_count(s->computed_tokens)},
        {"generated_tokens", cli_json_count(s->generated_tokens)},
        {"ids", ids_json(run)},
        {"logits_hash", cli_json_text(hash)},
        {"seed", cli_json_seed(s->seed)},
        {"sampling", cli_sampling_json(run->model->arguments, run->model->model)},
        {"text", cli_json_bytes(run->text, run->text_size)},
        {"prefill_tok_s", rate_json(s->computed_tokens, s->prefill_s)},
        {"decode_tok_s", rate_json(s->decode_steps, s->decode_s)},
        {"load_s", cli_json_real(s->load_s)},
        {"first_token_s", cli_json_real(s->first_token_s)},
        {"time", time_json(s)},
        {"experts", experts_json(s)},
        {"memory", memory_json(&plan, s)},
        {"threads", cli_json_count(plan.threads)},
        {"cpu", cli_json_text(cli_model_setting(run->model, "cpu"))},
        {"io", cli_json_text(cli_model_setting(run->model, "io"))},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        json_object_set_new(out, entries[i].key, entries[i].value);
    }
    if (run->logprobs) json_object_set(out, "logprobs", run->logprobs);
    return out;
}

int cli_stats_write(struct file_write *writer, const struct cli_stats_run *run) {
    char *text = cli_json_dump(to_json(run));
    if (!text) {
        file_write_cancel(writer);
        return CLI_EXIT_MEMORY;
    }
    locum_error error;
    locum_status status = file_write_bytes(writer, text, strlen(text), &error);
    if (status == LOCUM_OK) status = file_write_bytes(writer, "\n", 1, &error);
    free(text);
    if (status != LOCUM_OK) {
        file_write_cancel(writer);
    } else {
        status = file_write_commit(writer, &error);
    }
    if (status == LOCUM_OK) return CLI_EXIT_OK;
    cli_output_error("%s", error.text);
    return CLI_EXIT_FILE;
}

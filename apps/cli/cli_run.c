// SPDX-License-Identifier: Apache-2.0
//
// locum run: one prompt in, one answer out. The order matters to who waits: a file that cannot run is
// refused before the prompt is read, and all that can be wrong with the prompt is told before the
// weights are loaded.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_input.h"
#include "cli_interrupt.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_number.h"
#include "cli_output.h"
#include "cli_progress.h"
#include "cli_sampling.h"
#include "cli_stats.h"
#include "cli_structure.h"
#include "platform/terminal.h"

struct run {
    const struct cli_arguments *arguments;
    struct cli_model model;
    struct cli_sampling sampling;
    struct cli_input prompt;
    struct cli_structure structure;
    struct file_write *stats_file; // NULL: no --stats
    locum_token *ids;              // of the prompt
    size_t id_count;
    locum_token *answer; // ids, kept for --stats
    char *text;          // likewise
    json_t *logprobs;    // likewise, with --logprobs
    size_t answer_count, answer_room, text_size, text_room;
    bool no_memory;
};

// ---- the answer --------------------------------------------------------------------------------
static bool reserve(void *block, size_t needed, size_t element, size_t *room) {
    if (needed <= *room) return true;
    size_t larger = needed > *room * 2 ? needed : *room * 2;
    void *grown = realloc(*(void **)block, larger * element);
    if (!grown) return false;
    *(void **)block = grown;
    *room = larger;
    return true;
}

static void keep_token(struct run *run, locum_token token) {
    size_t count = run->answer_count;
    if (!reserve(&run->answer, count + 1, sizeof *run->answer, &run->answer_room)) {
        run->no_memory = true;
        return;
    }
    run->answer[run->answer_count++] = token;
}

static json_t *logprob_json(locum_token token, float logprob) {
    return json_pack("{s:i, s:o}", "id", (int)token, "logprob", cli_json_real((double)logprob));
}

static void keep_logprobs(struct run *run, const locum_event *event) {
    json_t *one = logprob_json(event->token, event->logprob), *top = json_array();
    for (uint32_t i = 0; i < event->top_count; i++)
        json_array_append_new(top, logprob_json(event->top[i].token, event->top[i].logprob));
    json_object_set_new(one, "top", top);
    if (!run->logprobs) run->logprobs = json_array();
    if (json_array_append_new(run->logprobs, one) != 0) run->no_memory = true;
}

static void keep_text(struct run *run, const char *text, size_t size) {
    if (!reserve(&run->text, run->text_size + size, 1, &run->text_room)) {
        run->no_memory = true;
        return;
    }
    memcpy(run->text + run->text_size, text, size);
    run->text_size += size;
}

// A token is followed by its text, so a stop waits for that.
static bool on_event(void *user, const locum_event *event) {
    struct run *run = user;
    if (event->kind == LOCUM_EVENT_TOKEN) {
        if (run->stats_file) keep_token(run, event->token);
        if (run->arguments->flags[CLI_LOGPROBS].given) keep_logprobs(run, event);
        return run->no_memory;
    }
    if (run->stats_file) keep_text(run, event->text, event->text_size);
    cli_output_write(event->text, event->text_size);
    return cli_output_broken() || run->no_memory || cli_interrupt_seen();
}

// ---- the prompt --------------------------------------------------------------------------------
// What can be said without looking at any file.
static int check_usage(const struct cli_arguments *arguments) {
    const struct cli_value *flags = arguments->flags;
    bool dash = arguments->operand_count == 2;
    if (flags[CLI_SYSTEM].given) {
        return cli_output_usage("run", "--system needs a chat template, and this version applies "
                                       "none; write the text into the prompt");
    }
    if (flags[CLI_LOGPROBS].given && !flags[CLI_STATS].given)
        return cli_output_usage("run", "--logprobs are written with --stats FILE");
    if (dash && strcmp(arguments->operands[1], "-") != 0) {
        return cli_output_usage("run", "after MODEL only - can stand; a prompt is given with -p");
    }
    int structures = flags[CLI_GRAMMAR].given + flags[CLI_JSON_SCHEMA].given +
                     flags[CLI_JSON_OBJECT].given + flags[CLI_IGNORE_EOS].given;
    if (structures > 1) {
        return cli_output_usage("run", "--grammar, --json-schema, --json-object and --ignore-eos "
                                       "exclude each other");
    }
    bool given = flags[CLI_PROMPT].given || flags[CLI_FILE].given;
    if (given && dash) {
        return cli_output_usage("run", "there are two prompts: - and -p or -f exclude each other");
    }
    if (!given && !dash && terminal_is(TERMINAL_IN)) {
        return cli_output_usage("run",
                                "there is no prompt: give -p TEXT, -f FILE, or - to type it");
    }
    return CLI_EXIT_OK;
}

static int read_prompt(struct run *run) {
    const struct cli_value *flags = run->arguments->flags;
    if (flags[CLI_PROMPT].given) {
        cli_input_use(flags[CLI_PROMPT].text, &run->prompt);
        return CLI_EXIT_OK;
    }
    const char *path = flags[CLI_FILE].text;
    return cli_input_read(path && strcmp(path, "-") != 0 ? path : NULL, &run->prompt);
}

static int tokenize(struct run *run) {
    uint32_t flags = LOCUM_TOKENIZE_BOS;
    if (run->arguments->flags[CLI_RAW].given) flags |= LOCUM_TOKENIZE_SPECIAL;
    // A token has at least a byte, and there are few more: one call does.
    size_t room = run->prompt.size + 16;
    run->ids = malloc(room * sizeof *run->ids);
    locum_error error = {LOCUM_E_OUT_OF_MEMORY, "no memory for the prompt"};
    locum_status status = LOCUM_E_OUT_OF_MEMORY;
    if (run->ids) {
        status = locum_tokenize(run->model.tokenizer, run->prompt.text, run->prompt.size, flags,
                                run->ids, room, &run->id_count, &error);
    }
    cli_progress_end();
    if (cli_interrupt_seen()) return CLI_EXIT_INTERRUPTED;
    if (status != LOCUM_OK) return cli_model_fail(status, &error, true);
    return run->id_count > 0 ? CLI_EXIT_OK : cli_output_usage("run", "the prompt is empty");
}

// ---- the request -------------------------------------------------------------------------------
static void fill_request(struct run *run, locum_request *request) {
    const struct cli_value *flags = run->arguments->flags;
    locum_request_init(request);
    request->prompt = run->ids;
    request->prompt_count = run->id_count;
    request->event = on_event;
    request->user = run;
    request->ignore_end = flags[CLI_IGNORE_EOS].given;
    cli_structure_use(&run->structure, request);
    if (flags[CLI_PREDICT].given) request->predict = (uint32_t)flags[CLI_PREDICT].integer;
    request->sampling = &run->sampling.sampling;
    request->logprobs = flags[CLI_LOGPROBS].given;
    request->top_logprobs = (uint32_t)flags[CLI_LOGPROBS].integer;
}

static void append_rate(char *line, size_t room, uint64_t tokens, const char *what, uint64_t steps,
                        double seconds) {
    char count[CLI_NUMBER_TEXT], rate[CLI_NUMBER_TEXT];
    size_t used = strlen(line);
    snprintf(line + used, room - used, "%s%s %s token%s", used ? ", " : "",
             cli_number_count(tokens, count), what, tokens == 1 ? "" : "s");
    if (steps == 0 || seconds <= 0) return;
    used = strlen(line);
    snprintf(line + used, room - used, " at %s/s", cli_number_rate((double)steps / seconds, rate));
}

static void closing_line(const struct run *run, const locum_stats *s) {
    char line[400] = "", text[CLI_NUMBER_TEXT], read[CLI_NUMBER_TEXT];
    append_rate(line, sizeof line, s->prompt_tokens, "prompt", s->computed_tokens, s->prefill_s);
    append_rate(line, sizeof line, s->generated_tokens, "answer", s->decode_steps, s->decode_s);
    size_t used = strlen(line);
    if (s->demand_bytes_per_token > 0) {
        snprintf(line + used, sizeof line - used, ", hit rate %s, %s read",
                 cli_number_percent(s->hits_prefill + s->hits_decode,
                                    s->misses_prefill + s->misses_decode, text),
                 cli_number_bytes(s->bytes_read, read));
        used = strlen(line);
    }
    snprintf(line + used, sizeof line - used, ", peak memory %s, seed %llu, prompt used raw%s",
             cli_number_peak(s->peak_rss, text), (unsigned long long)s->seed,
             run->arguments->flags[CLI_RAW].given ? "" : " (no chat templates in this version)");
    cli_output_note("%s", line);
}

static int finish(struct run *run, const locum_stats *stats, locum_finish ended, int status) {
    if (!cli_output_broken()) {
        cli_output_part();
        uint32_t predict = (uint32_t)run->arguments->flags[CLI_PREDICT].integer;
        bool asked = run->arguments->flags[CLI_PREDICT].given && stats->generated_tokens == predict;
        if (status == CLI_EXIT_OK && ended == LOCUM_FINISH_LENGTH && !asked) {
            cli_output_note("the answer ends because the context is full; -c gives more");
        }
        closing_line(run, stats);
    }
    if (!run->stats_file) return status;
    struct cli_stats_run numbers = {&run->model, stats,          run->answer,  run->answer_count,
                                    run->text,   run->text_size, run->logprobs};
    int written = cli_stats_write(run->stats_file, &numbers);
    run->stats_file = NULL;
    return status == CLI_EXIT_OK ? written : status;
}

static int generate(struct run *run) {
    locum_request request;
    fill_request(run, &request);
    locum_error error;
    locum_session *session;
    locum_status status = locum_session_open(run->model.model, &session, &error);
    if (status != LOCUM_OK) return cli_model_fail(status, &error, true);
    cli_output_part();
    cli_progress("reading the prompt", 0, run->id_count);
    cli_interrupt_watch(session);
    locum_stats stats = {0};
    locum_finish ended = LOCUM_FINISH_END;
    status = locum_generate(session, &request, &ended, &stats, &error);
    cli_interrupt_watch(NULL);
    cli_progress_end();
    locum_session_close(session);
    if (run->no_memory) {
        cli_output_error("no memory to keep the answer for --stats");
        return CLI_EXIT_MEMORY;
    }
    if (cli_interrupt_seen()) return finish(run, &stats, ended, CLI_EXIT_INTERRUPTED);
    if (status == LOCUM_OK) return finish(run, &stats, ended, CLI_EXIT_OK);
    cli_output_part();
    return cli_model_fail(status, &error, true);
}

static int prepare(struct run *run) {
    int status = cli_model_open(run->arguments, &run->model);
    if (status == CLI_EXIT_OK && run->model.info.unsupported) {
        cli_output_error("%s", run->model.info.unsupported);
        status = CLI_EXIT_FILE;
    }
    if (status == CLI_EXIT_OK) status = cli_structure_read(run->arguments, &run->structure);
    if (status == CLI_EXIT_OK) status = read_prompt(run);
    if (status == CLI_EXIT_OK) {
        status = cli_stats_open(run->arguments->flags[CLI_STATS].text, &run->stats_file);
    }
    if (status == CLI_EXIT_OK) status = cli_model_open_tokenizer(&run->model);
    if (status == CLI_EXIT_OK) status = cli_model_check_text(&run->model, run->prompt.size);
    if (status == CLI_EXIT_OK) status = tokenize(run);
    if (status == CLI_EXIT_OK) status = cli_model_plan(&run->model, run->id_count);
    if (status == CLI_EXIT_OK) status = cli_model_load(&run->model);
    return status;
}

int cli_run(const struct cli_arguments *arguments) {
    int status = check_usage(arguments);
    if (status == CLI_EXIT_OK) status = cli_model_check_outputs(arguments, "run");
    if (status != CLI_EXIT_OK) return status;
    struct run run = {.arguments = arguments};
    status = cli_sampling_read(arguments, &run.sampling);
    if (status == CLI_EXIT_OK) status = prepare(&run);
    if (status == CLI_EXIT_OK) status = generate(&run);
    file_write_cancel(run.stats_file);
    status = cli_model_close(&run.model, status);
    cli_input_release(&run.prompt);
    cli_structure_release(&run.structure);
    free(run.ids);
    free(run.answer);
    free(run.text);
    json_decref(run.logprobs);
    cli_sampling_release(&run.sampling);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      opening a model as the flags say, what is shown meanwhile, and the exit status that a
//            status of the library becomes.
// Called by: run, bench, inspect, tokenize.
// Threads:   one.
// Errors:    told on standard error; the exit status is returned.
// Not here:  requests.
#ifndef CLI_CLI_MODEL_H
#define CLI_CLI_MODEL_H

#include <locum/locum.h>

#include "cli_flags.h"

struct cli_model {
    const struct cli_arguments *arguments;
    locum_file *file;
    locum_file_info info; // of the file, valid while it is open
    locum_options options;
    locum_tokenizer *tokenizer; // the model's as well
    locum_model *model;
    unsigned warnings; // of the library
};

// The files that flags name for output must not replace a model, the prompt, or each other: else the exit
// status of wrong usage.
int cli_model_check_outputs(const struct cli_arguments *arguments, const char *command);
// The directory of the file. Its exit status is that of a refused file, unless it is OK.
int cli_model_open(const struct cli_arguments *arguments, struct cli_model *out);
// Its tokenizer, which needs no weights.
int cli_model_open_tokenizer(struct cli_model *model);
// Refuses a prompt of so many bytes that no cutting into tokens fits the context: to cut it would take
// many times its bytes in memory.
int cli_model_check_text(const struct cli_model *model, size_t bytes);
// What a prompt of that many tokens needs, before anything long is begun: the memory plan (shown with
// --plan, and kept to by cli_model_load) and a context that holds it.
int cli_model_plan(struct cli_model *model, size_t prompt_tokens);
// The weights.
int cli_model_load(struct cli_model *model);
// status, unless something could not be written on closing (a routing trace): then that.
int cli_model_close(struct cli_model *model, int status);

// Tell the error. in_request: the model was loaded before.
int cli_model_fail(locum_status status, const locum_error *error, bool in_request);

// Value of a setting of the loaded model, "" if it has none of that name.
const char *cli_model_setting(const struct cli_model *model, const char *name);

// The memory plan as lines of text, each given to `line`.
void cli_model_plan_lines(const locum_memory_plan *plan, void (*line)(const char *text));

#endif

// SPDX-License-Identifier: Apache-2.0
//
// locum tokenize: the ids of a text, as `locum run` computes them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_input.h"
#include "cli_interrupt.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_output.h"
#include "cli_progress.h"
#include "platform/terminal.h"

static int read_text(const struct cli_arguments *arguments, struct cli_input *out) {
    const char *text = arguments->operands[1];
    if (text && strcmp(text, "-") != 0) {
        cli_input_use(text, out);
        return CLI_EXIT_OK;
    }
    if (!text && terminal_is(TERMINAL_IN)) {
        return cli_output_usage("tokenize",
                                "there is no text: give it after MODEL, or - to type it");
    }
    return cli_input_read(NULL, out);
}

static void print_lines(const locum_tokenizer *tokenizer, const locum_token *ids, size_t count) {
    for (size_t i = 0; i < count && !cli_interrupt_seen(); i++) {
        const char *bytes = NULL;
        size_t size = locum_token_bytes(tokenizer, ids[i], true, &bytes);
        cli_output_print("%7d  '", ids[i]);
        cli_output_print_safe(bytes, size);
        cli_output_print("'\n");
    }
}

static void print_ids(const locum_token *ids, size_t count) {
    for (size_t i = 0; i < count && !cli_interrupt_seen(); i++)
        cli_output_print(i ? " %d" : "%d", ids[i]);
    cli_output_print("\n");
}

// `bytes` has what a token is exactly; `text` what can be shown of it.
static int print_json(const locum_tokenizer *tokenizer, const locum_token *ids, size_t count) {
    json_t *tokens = json_array(), *list = json_array();
    for (size_t i = 0; i < count && !cli_interrupt_seen(); i++) {
        const char *bytes = NULL;
        size_t size = locum_token_bytes(tokenizer, ids[i], true, &bytes);
        json_t *values = json_array();
        for (size_t j = 0; j < size; j++) {
            json_array_append_new(values, json_integer((unsigned char)bytes[j]));
        }
        json_array_append_new(list, json_integer(ids[i]));
        json_array_append_new(tokens, json_pack("{s:i, s:o, s:o}", "id", ids[i], "text",
                                                cli_json_bytes(bytes, size), "bytes", values));
    }
    json_t *all =
        json_pack("{s:o, s:o, s:o}", "count", cli_json_count(count), "ids", list, "tokens", tokens);
    if (!cli_interrupt_seen()) return cli_json_print(all);
    json_decref(all); // half of the list
    return CLI_EXIT_INTERRUPTED;
}

static int tokenize(const struct cli_arguments *arguments, const locum_tokenizer *tokenizer,
                    const struct cli_input *input) {
    const struct cli_value *flags = arguments->flags;
    uint32_t how = (flags[CLI_NO_BOS].given ? 0 : LOCUM_TOKENIZE_BOS) |
                   (flags[CLI_SPECIAL].given ? LOCUM_TOKENIZE_SPECIAL : 0);
    size_t room = input->size + 16, count = 0;
    locum_token *ids = malloc(room * sizeof *ids);
    locum_error error = {LOCUM_E_OUT_OF_MEMORY, "no memory for the ids"};
    locum_status status = LOCUM_E_OUT_OF_MEMORY;
    if (ids) {
        status =
            locum_tokenize(tokenizer, input->text, input->size, how, ids, room, &count, &error);
    }
    cli_progress_end();
    int result = CLI_EXIT_OK;
    if (cli_interrupt_seen()) {
        result = CLI_EXIT_INTERRUPTED;
    } else if (status != LOCUM_OK) {
        result = cli_model_fail(status, &error, true);
    } else if (flags[CLI_JSON].given) {
        result = print_json(tokenizer, ids, count);
    } else if (flags[CLI_IDS].given) {
        print_ids(ids, count);
    } else {
        print_lines(tokenizer, ids, count);
    }
    free(ids);
    return cli_interrupt_seen() ? CLI_EXIT_INTERRUPTED : result;
}

int cli_tokenize(const struct cli_arguments *arguments) {
    struct cli_model model;
    struct cli_input input = {0};
    int status = cli_model_open(arguments, &model);
    if (status == CLI_EXIT_OK) status = cli_model_open_tokenizer(&model);
    if (status == CLI_EXIT_OK) status = read_text(arguments, &input);
    if (status == CLI_EXIT_OK) status = tokenize(arguments, model.tokenizer, &input);
    cli_input_release(&input);
    return cli_model_close(&model, status);
}

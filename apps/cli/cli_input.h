// SPDX-License-Identifier: Apache-2.0
//
// Owns:      texts that are given as an argument, a file or standard input.
// Called by: run and tokenize.
// Threads:   one.
// Errors:    told on standard error; the exit status is returned.
// Not here:  what the text means.
#ifndef CLI_CLI_INPUT_H
#define CLI_CLI_INPUT_H

#include <stddef.h>

struct cli_input {
    const char *text; // not terminated: it may hold any bytes
    size_t size;
    char *owned; // NULL: the text is an argument
};

void cli_input_use(const char *argument, struct cli_input *out);
int cli_input_read(const char *path, struct cli_input *out); // NULL: standard input
void cli_input_release(struct cli_input *input);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the flags that hold an answer to a grammar or a schema.
// Called by: cli_run.
// Threads:   one.
// Errors:    an exit status; the message is told.
// Not here:  grammars themselves (the library).
#ifndef CLI_CLI_STRUCTURE_H
#define CLI_CLI_STRUCTURE_H

#include <locum/locum.h>

#include "cli_flags.h"
#include "cli_input.h"

struct cli_structure {
    locum_structure kind;
    struct cli_input text;
    const char *after; // NULL: at once
};

// Reads the text and checks it: what is wrong with it is told before a model is loaded.
int cli_structure_read(const struct cli_arguments *arguments, struct cli_structure *out);
void cli_structure_use(const struct cli_structure *structure, locum_request *request);
void cli_structure_release(struct cli_structure *structure);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      help, made from the tables of cli_flags.h.
// Called by: cli_main.c.
// Threads:   one.
// Errors:    none.
// Not here:  the texts (cli_table.c).
#ifndef CLI_CLI_HELP_H
#define CLI_CLI_HELP_H

#include "cli_flags.h"

// All commands, on standard output or standard error.
void cli_help_overview(bool to_error);
void cli_help_command(enum cli_command_id command);

#endif

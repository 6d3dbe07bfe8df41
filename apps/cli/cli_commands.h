// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the list of commands as functions; cli_table.c describes them.
// Called by: cli_main.c.
// Threads:   one.
// Errors:    told on standard error; each returns its exit status.
// Not here:  reading the command line, --help.
#ifndef CLI_CLI_COMMANDS_H
#define CLI_CLI_COMMANDS_H

#include "cli_flags.h"

int cli_run(const struct cli_arguments *arguments);
int cli_inspect(const struct cli_arguments *arguments);
int cli_tokenize(const struct cli_arguments *arguments);
int cli_bench(const struct cli_arguments *arguments);
int cli_report(const struct cli_arguments *arguments);
int cli_version(const struct cli_arguments *arguments);
int cli_help(const struct cli_arguments *arguments);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// locum COMMAND ...: finds the command, reads its flags by the table, runs it.
#include <stdio.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_help.h"
#include "cli_interrupt.h"
#include "cli_output.h"

static int (*const functions[CLI_COMMANDS])(const struct cli_arguments *) = {
    [CLI_RUN] = cli_run,     [CLI_INSPECT] = cli_inspect, [CLI_TOKENIZE] = cli_tokenize,
    [CLI_BENCH] = cli_bench, [CLI_REPORT] = cli_report,   [CLI_VERSION] = cli_version,
    [CLI_HELP] = cli_help,
};

static int unknown_command(const char *name) {
    const char *near = cli_flags_nearest_command(name);
    FILE *file = near ? NULL : fopen(name, "rb");
    if (near) {
        cli_output_error("there is no command '%s'; did you mean `locum %s`?", name, near);
    } else if (file) {
        fclose(file);
        cli_output_error("there is no command '%s'; to run that file: locum run %s", name, name);
    } else {
        cli_output_error("there is no command '%s'", name);
    }
    fputs("Try: locum help\n", stderr);
    return CLI_EXIT_USAGE;
}

static int command(int count, char **arguments) {
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    enum cli_command_id id = cli_flags_command(name);
    if (id == CLI_COMMANDS) return unknown_command(name);
    // Before the flags are read: what is wrong with them is told without colour as well.
    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "--no-color") == 0) cli_output_style(true, false);
    }
    struct cli_arguments parsed;
    int status = cli_flags_parse(id, count - 2, arguments + 2, &parsed);
    if (status != CLI_EXIT_OK) return status;
    cli_output_style(parsed.flags[CLI_NO_COLOR].given, parsed.flags[CLI_QUIET].given);
    if (parsed.flags[CLI_SHOW_HELP].given) {
        cli_help_command(id);
        return CLI_EXIT_OK;
    }
    return functions[id](&parsed);
}

int main(int count, char **arguments) {
    cli_output_init();
    cli_interrupt_init();
    if (count < 2) {
        cli_help_overview(true);
        return CLI_EXIT_USAGE;
    }
    return cli_output_finish(command(count, arguments));
}

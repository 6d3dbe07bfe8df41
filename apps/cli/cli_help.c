// SPDX-License-Identifier: Apache-2.0
#include "cli_help.h"

#include <locum/locum.h>
#include <stdio.h>
#include <string.h>

#include "cli_commands.h"
#include "cli_json.h"
#include "cli_number.h"
#include "cli_output.h"

#define ABOUT "Locum runs Mixture-of-Experts language models that are bigger than memory."

enum { COLUMNS = 92, FLAG_COLUMNS = 26 };

// ---- text --------------------------------------------------------------------------------------
// Wraps `text` behind what already stands in the line; further lines begin at `indent`.
static void wrap(const char *text, size_t indent) {
    size_t at = indent;
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        if (at > indent && at + 1 + length > COLUMNS) {
            cli_output_print("\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            cli_output_print(" ");
            at++;
        }
        cli_output_print("%.*s", (int)length, word);
        at += length;
        word += length;
        word += strspn(word, " ");
    }
    cli_output_print("\n");
}

static void print_flag(const struct cli_flag *flag) {
    char left[64], letter[8] = "    ", choices[128] = "";
    if (flag->letter) snprintf(letter, sizeof letter, "-%c, ", flag->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, flag->name, flag->value ? " " : "",
             flag->value ? flag->value : "");
    for (int i = 0; flag->kind == CLI_CHOICE && flag->choices[i]; i++) {
        size_t used = strlen(choices);
        snprintf(choices + used, sizeof choices - used, "%s%s", i ? ", " : ": ", flag->choices[i]);
    }
    char help[400];
    snprintf(help, sizeof help, "%s%s", flag->help, choices);
    cli_output_print("  %-*s ", FLAG_COLUMNS - 3, left);
    if (strlen(left) > FLAG_COLUMNS - 3) cli_output_print("\n%*s", FLAG_COLUMNS, "");
    wrap(help, FLAG_COLUMNS);
}

void cli_help_command(enum cli_command_id id) {
    const struct cli_command *command = &cli_command_table[id];
    cli_output_print("locum %s: %s\n\nUsage: locum %s%s%s [flags]\n\n", command->name,
                     command->summary, command->name, command->operands[0] ? " " : "",
                     command->operands);
    for (int i = 0; command->notes[i]; i++) {
        wrap(command->notes[i], 0);
        cli_output_print("\n");
    }
    cli_output_print("Flags\n");
    for (int i = 0; i < CLI_FLAGS; i++) {
        if (cli_flag_table[i].commands & 1U << id) print_flag(&cli_flag_table[i]);
    }
    cli_output_print("\nExamples\n");
    for (int i = 0; command->examples[i]; i += 2) {
        cli_output_print("  %s\n      %s\n", command->examples[i], command->examples[i + 1]);
    }
    if (id != CLI_RUN) return;
    cli_output_print("\nExit status: 0 done, 2 wrong usage, 3 a file, 4 memory, 5 while running, "
                     "130 interrupted\n");
}

void cli_help_overview(bool to_error) {
    FILE *out = to_error ? stderr : stdout;
    fprintf(out, ABOUT "\n\nUsage: locum COMMAND [arguments] [flags]\n\n");
    for (int i = 0; i < CLI_COMMANDS; i++) {
        fprintf(out, "  %-10s %s\n", cli_command_table[i].name, cli_command_table[i].summary);
    }
    fprintf(out, "\n`locum help COMMAND` explains one. To begin with:\n\n  %s\n",
            cli_command_table[CLI_RUN].examples[0]);
}

// ---- JSON --------------------------------------------------------------------------------------
static json_t *flag_json(const struct cli_flag *flag) {
    static const char *const kinds[] = {"switch", "integer", "real", "size",
                                        "choice", "text", "input", "output"};
    char letter[2] = {flag->letter, 0};
    json_t *commands = json_array(), *choices = json_array();
    for (int i = 0; i < CLI_COMMANDS; i++) {
        if (!(flag->commands & 1U << i)) continue;
        json_array_append_new(commands, cli_json_text(cli_command_table[i].name));
    }
    for (int i = 0; flag->choices && flag->choices[i]; i++) {
        json_array_append_new(choices, cli_json_text(flag->choices[i]));
    }
    json_t *value =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(flag->name),
                  "letter", flag->letter ? cli_json_text(letter) : json_null(), "kind",
                  cli_json_text(kinds[flag->kind]), "value", cli_json_text(flag->value), "choices",
                  choices, "commands", commands, "help", cli_json_text(flag->help));
    if (flag->kind == CLI_INTEGER || flag->kind == CLI_REAL) {
        char least[CLI_NUMBER_TEXT], most[CLI_NUMBER_TEXT]; // as text: one bound is above 2^63
        json_object_set_new(value, "least", cli_json_text(cli_number_bound(flag->least, least)));
        json_object_set_new(value, "most", cli_json_text(cli_number_bound(flag->most, most)));
    }
    return value;
}

static json_t *strings_json(const char *const *texts) {
    json_t *list = json_array();
    for (int i = 0; texts[i]; i++)
        json_array_append_new(list, cli_json_text(texts[i]));
    return list;
}

static int print_json(void) {
    json_t *commands = json_array(), *flags = json_array();
    for (int i = 0; i < CLI_COMMANDS; i++) {
        const struct cli_command *command = &cli_command_table[i];
        json_array_append_new(commands, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                                                  cli_json_text(command->name), "operands",
                                                  cli_json_text(command->operands), "summary",
                                                  cli_json_text(command->summary), "notes",
                                                  strings_json(command->notes), "examples",
                                                  strings_json(command->examples)));
    }
    for (int i = 0; i < CLI_FLAGS; i++)
        json_array_append_new(flags, flag_json(&cli_flag_table[i]));
    return cli_json_print(json_pack("{s:o, s:o}", "commands", commands, "flags", flags));
}

// ---- commands ----------------------------------------------------------------------------------
int cli_help(const struct cli_arguments *arguments) {
    if (arguments->flags[CLI_JSON].given) return print_json();
    const char *name = arguments->operands[0];
    if (!name) {
        cli_help_overview(false);
        return CLI_EXIT_OK;
    }
    enum cli_command_id id = cli_flags_command(name);
    if (id == CLI_COMMANDS) {
        const char *near = cli_flags_nearest_command(name);
        cli_output_error("there is no command '%s'%s%s%s", name, near ? "; did you mean " : "",
                         near ? near : "", near ? "?" : "");
        fputs("Try: locum help\n", stderr);
        return CLI_EXIT_USAGE;
    }
    cli_help_command(id);
    return CLI_EXIT_OK;
}

int cli_version(const struct cli_arguments *arguments) {
    if (arguments->flags[CLI_JSON].given) {
        return cli_json_print(json_pack("{s:s}", "version", locum_version()));
    }
    cli_output_print("locum %s\n", locum_version());
    return CLI_EXIT_OK;
}

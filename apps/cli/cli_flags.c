// SPDX-License-Identifier: Apache-2.0
#include "cli_flags.h"

#include "cli_number.h"
#include "cli_output.h"

#include <stdio.h>
#include <string.h>

// ---- nearest names -----------------------------------------------------------------------------
enum { NAME_MAX_LENGTH = 32 };

// Letters to add, drop, change or swap with their neighbour. Names longer than any of ours are far
// from all of them.
static size_t distance(const char *a, const char *b) {
    size_t rows[3][NAME_MAX_LENGTH + 1], length = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    if (length > NAME_MAX_LENGTH || strlen(a) > NAME_MAX_LENGTH) return NAME_MAX_LENGTH;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *reused = before;
        before = last;
        last = row;
        row = reused;
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t least = last[j] < row[j - 1] ? last[j] + 1 : row[j - 1] + 1;
            size_t changed = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (changed < least) least = changed;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < least) least = before[j - 2] + 1;
            row[j] = least;
        }
    }
    return row[length];
}

// Near enough to be meant: a third of its letters wrong, or its beginning.
static bool is_near(const char *typed, const char *name, size_t *best) {
    size_t letters = strlen(typed), off = distance(typed, name);
    if (letters >= 3 && strncmp(typed, name, letters) == 0) off = 1;
    if (off >= *best || off > (letters + 2) / 3) return false;
    *best = off;
    return true;
}

static const char *nearest_flag(enum cli_command_id command, const char *typed) {
    const char *found = NULL;
    size_t best = NAME_MAX_LENGTH;
    for (int i = 0; i < CLI_FLAGS; i++) {
        const struct cli_flag *flag = &cli_flag_table[i];
        if (flag->commands & 1U << command && is_near(typed, flag->name, &best)) found = flag->name;
    }
    return found;
}

const char *cli_flags_nearest_command(const char *name) {
    const char *found = NULL;
    size_t best = NAME_MAX_LENGTH;
    for (int i = 0; i < CLI_COMMANDS; i++) {
        if (is_near(name, cli_command_table[i].name, &best)) found = cli_command_table[i].name;
    }
    return found;
}

enum cli_command_id cli_flags_command(const char *name) {
    int i = 0;
    while (i < CLI_COMMANDS && strcmp(cli_command_table[i].name, name) != 0)
        i++;
    return (enum cli_command_id)i;
}

// ---- one flag ----------------------------------------------------------------------------------
struct reader {
    const char *name; // of the command
    enum cli_command_id command;
    int count, next; // arguments, and the one to be read next
    char **arguments;
    struct cli_arguments *out;
};

static int read_choice(const struct reader *r, const struct cli_flag *flag, const char *shown,
                       struct cli_value *value) {
    char list[160];
    size_t used = 0;
    for (uint32_t i = 0; flag->choices[i]; i++) {
        if (strcmp(flag->choices[i], value->text) == 0) {
            value->integer = i;
            return CLI_EXIT_OK;
        }
        const char *between = i == 0 ? "" : flag->choices[i + 1] ? ", " : " or ";
        int length = snprintf(list + used, sizeof list - used, "%s%s", between, flag->choices[i]);
        if (length > 0 && (size_t)length < sizeof list - used) used += (size_t)length;
    }
    return cli_output_usage(r->name, "%s '%s': it is one of %s", shown, value->text, list);
}

static int read_integer(const struct reader *r, const struct cli_flag *flag, const char *shown,
                        struct cli_value *value) {
    char least[CLI_NUMBER_TEXT], most[CLI_NUMBER_TEXT];
    bool negative = value->text[0] == '-';
    enum cli_number_result result = cli_number_integer(value->text + negative, &value->integer);
    double size = (double)value->integer;
    bool below = (negative ? -size : size) < flag->least;
    if (result != CLI_NUMBER_OK || below || (!negative && size > flag->most)) {
        return cli_output_usage(r->name, "%s '%s': a whole number from %s to %s is possible", shown,
                                value->text, cli_number_bound(flag->least, least),
                                cli_number_bound(flag->most, most));
    }
    if (negative) value->integer = UINT64_C(0) - value->integer;
    return CLI_EXIT_OK;
}

static int read_real(const struct reader *r, const struct cli_flag *flag, const char *shown,
                     struct cli_value *value) {
    char least[CLI_NUMBER_TEXT], most[CLI_NUMBER_TEXT];
    bool number = cli_number_real(value->text, &value->real) != CLI_NUMBER_NONE;
    if (number && value->real >= flag->least && value->real <= flag->most) return CLI_EXIT_OK;
    return cli_output_usage(r->name, "%s '%s': a number from %s to %s is possible", shown,
                            value->text, cli_number_bound(flag->least, least),
                            cli_number_bound(flag->most, most));
}

static int read_size(const struct reader *r, const char *shown, struct cli_value *value) {
    if (cli_number_is_word(value->text, "auto")) {
        value->integer = CLI_SIZE_AUTO;
        return CLI_EXIT_OK;
    }
    if (cli_number_is_word(value->text, "all")) {
        value->integer = CLI_SIZE_ALL;
        return CLI_EXIT_OK;
    }
    enum cli_number_result result = cli_number_size(value->text, &value->integer);
    if (result == CLI_NUMBER_OK && value->integer > 0) return CLI_EXIT_OK;
    const char *why = result == CLI_NUMBER_OK        ? "it is nothing"
                      : result == CLI_NUMBER_OUTSIDE ? "it is too large"
                                                     : "it is no size";
    return cli_output_usage(r->name,
                            "%s '%s': %s; sizes are 6G, 512MiB, a number of bytes, auto or all",
                            shown, value->text, why);
}

static int read_path(const struct reader *r, const struct cli_flag *flag, const char *shown,
                     const struct cli_value *value) {
    if (!value->text[0])
        return cli_output_usage(r->name, "%s '': a path is needed, this is an empty text", shown);
    if (flag->kind == CLI_INPUT || strcmp(value->text, "-") != 0) return CLI_EXIT_OK;
    return cli_output_usage(
        r->name, "%s -: standard output has the result; ./- is a file of that name", shown);
}

// shown: the flag as the user wrote it, without its value.
static int set_flag(struct reader *r, int id, const char *shown, const char *attached) {
    const struct cli_flag *flag = &cli_flag_table[id];
    struct cli_value *value = &r->out->flags[id];
    if (value->given) return cli_output_usage(r->name, "%s is given twice", shown);
    value->given = true;
    if (flag->kind == CLI_SWITCH) {
        if (!attached) return CLI_EXIT_OK;
        return cli_output_usage(r->name, "%s takes no value, but '%s' was given", shown, attached);
    }
    value->text = attached;
    if (!attached) {
        if (r->next == r->count)
            return cli_output_usage(r->name, "%s needs a value: %s", shown, flag->value);
        value->text = r->arguments[r->next++];
    }
    switch (flag->kind) {
    case CLI_INTEGER:
        return read_integer(r, flag, shown, value);
    case CLI_REAL:
        return read_real(r, flag, shown, value);
    case CLI_SIZE:
        return read_size(r, shown, value);
    case CLI_CHOICE:
        return read_choice(r, flag, shown, value);
    case CLI_INPUT:
    case CLI_OUTPUT:
        return read_path(r, flag, shown, value);
    default:
        return CLI_EXIT_OK;
    }
}

// ---- the line ----------------------------------------------------------------------------------
// What other programs call our flags, where the two names are not near.
static const struct {
    const char *theirs;
    enum cli_flag_id ours;
} spellings[] = {
    {"temperature", CLI_TEMP},       {"ctx-size", CLI_CTX},          {"context", CLI_CTX},
    {"context-size", CLI_CTX},       {"max-tokens", CLI_PREDICT},    {"n-predict", CLI_PREDICT},
    {"max-new-tokens", CLI_PREDICT}, {"threads-batch", CLI_THREADS}, {"batch-size", CLI_CHUNK},
    {"ubatch-size", CLI_CHUNK},      {"cache-type-k", CLI_KV_TYPE},  {"cache-type-v", CLI_KV_TYPE},
};

static bool has_flag(const struct reader *r, int id) {
    return cli_flag_table[id].commands & 1U << r->command;
}

// The flag of this command with exactly that name, or with that name elsewhere; NULL: none.
static const char *meant_flag(const struct reader *r, const char *name) {
    for (int i = 0; i < CLI_FLAGS; i++) {
        if (has_flag(r, i) && strcmp(cli_flag_table[i].name, name) == 0) return name;
    }
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        int id = spellings[i].ours;
        if (has_flag(r, id) && strcmp(spellings[i].theirs, name) == 0)
            return cli_flag_table[id].name;
    }
    return NULL;
}

// A flag that other commands have: say so, rather than guess.
static int foreign_flag(const struct reader *r, const char *shown, const struct cli_flag *flag,
                        const char *written) {
    int owner = 0;
    while (!(flag->commands & 1U << owner))
        owner++;
    return cli_output_usage(r->name, "%s is no flag of this command; `locum %s` has %s", shown,
                            cli_command_table[owner].name,
                            strcmp(shown, written) == 0 ? "it" : written);
}

static int unknown_letter(const struct reader *r, const char *shown, char letter) {
    const char written[] = {'-', letter, 0};
    for (int i = 0; i < CLI_FLAGS; i++) {
        const struct cli_flag *flag = &cli_flag_table[i];
        if (flag->letter != letter) continue;
        if (!has_flag(r, i)) return foreign_flag(r, shown, flag, written);
        return cli_output_usage(r->name, "unknown flag %s; did you mean %s?", shown, written);
    }
    return cli_output_usage(r->name, "unknown flag %s", shown);
}

// shown: as the user wrote it; name: without its dashes.
static int unknown_flag(const struct reader *r, const char *shown, const char *name) {
    const struct cli_command *command = &cli_command_table[r->command];
    bool model = strcmp(name, "m") == 0 || strcmp(name, "model") == 0;
    if (model && command->needed && strcmp(command->needed, "MODEL") == 0)
        return cli_output_usage(r->name, "unknown flag %s; the model needs none: locum %s %s",
                                shown, r->name, command->operands);
    if (name[0] && !name[1]) return unknown_letter(r, shown, name[0]);
    for (int i = 0; i < CLI_FLAGS; i++) {
        const struct cli_flag *flag = &cli_flag_table[i];
        if (!has_flag(r, i) && strcmp(flag->name, name) == 0)
            return foreign_flag(r, shown, flag, shown);
    }
    const char *near = meant_flag(r, name);
    if (!near) near = nearest_flag(r->command, name);
    if (near) return cli_output_usage(r->name, "unknown flag %s; did you mean --%s?", shown, near);
    return cli_output_usage(r->name, "unknown flag %s", shown);
}

static int read_long(struct reader *r, const char *argument) {
    char name[256];
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    if (length >= sizeof name) return cli_output_usage(r->name, "unknown flag %s", argument);
    memcpy(name, argument, length);
    name[length] = 0;
    for (int i = 0; i < CLI_FLAGS; i++) {
        const struct cli_flag *flag = &cli_flag_table[i];
        if (!has_flag(r, i) || strcmp(flag->name, name + 2) != 0) continue;
        return set_flag(r, i, name, equals ? equals + 1 : NULL);
    }
    return unknown_flag(r, name, name + 2);
}

// -n 40 and -n40. A long name behind one dash is taken for what it says: -temp is not -t with "emp".
static int read_short(struct reader *r, const char *argument) {
    char shown[3] = {'-', argument[1], 0};
    if (argument[2] && meant_flag(r, argument + 1)) return unknown_flag(r, argument, argument + 1);
    for (int i = 0; i < CLI_FLAGS; i++) {
        if (!has_flag(r, i) || cli_flag_table[i].letter != argument[1]) continue;
        return set_flag(r, i, shown, argument[2] ? argument + 2 : NULL);
    }
    return unknown_flag(r, argument[2] ? argument : shown, argument + 1);
}

static int read_operand(struct reader *r, const char *argument) {
    const struct cli_command *command = &cli_command_table[r->command];
    if (r->out->operand_count == command->operands_most) {
        return cli_output_usage(r->name, "'%s' is one argument too many", argument);
    }
    r->out->operands[r->out->operand_count++] = argument;
    return CLI_EXIT_OK;
}

// Flags of which one would make the other one mean nothing.
static int check_conflicts(const struct reader *r) {
    static const enum cli_flag_id conflicts[][2] = {{CLI_PROMPT, CLI_FILE},
                                                    {CLI_JSON, CLI_IDS},
                                                    {CLI_QUIET, CLI_VERBOSE},
                                                    {CLI_QUIET, CLI_PLAN}};
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
        enum cli_flag_id a = conflicts[i][0], b = conflicts[i][1];
        if (!r->out->flags[a].given || !r->out->flags[b].given) continue;
        return cli_output_usage(r->name, "--%s and --%s exclude each other", cli_flag_table[a].name,
                                cli_flag_table[b].name);
    }
    return CLI_EXIT_OK;
}

static int read_arguments(struct reader *r) {
    bool flags = true;
    while (r->next < r->count) {
        const char *argument = r->arguments[r->next++];
        int status;
        if (!flags || argument[0] != '-' || argument[1] == 0) {
            status = read_operand(r, argument);
        } else if (strcmp(argument, "--") == 0) {
            flags = false;
            status = CLI_EXIT_OK;
        } else {
            status = argument[1] == '-' ? read_long(r, argument) : read_short(r, argument);
        }
        if (status != CLI_EXIT_OK) return status;
    }
    return CLI_EXIT_OK;
}

int cli_flags_parse(enum cli_command_id id, int count, char **arguments,
                    struct cli_arguments *out) {
    const struct cli_command *command = &cli_command_table[id];
    *out = (struct cli_arguments){.command = id};
    struct reader r = {command->name, id, count, 0, arguments, out};
    int status = read_arguments(&r);
    if (status == CLI_EXIT_OK) status = check_conflicts(&r);
    if (status != CLI_EXIT_OK || out->flags[CLI_SHOW_HELP].given) return status;
    if (command->needed && out->operand_count > 0 && out->operands[0][0] == 0)
        return cli_output_usage(r.name, "%s is an empty text: %s, is needed", command->needed,
                                command->needed_what);
    if (out->operand_count >= command->operands_least) return CLI_EXIT_OK;
    return cli_output_usage(r.name, "%s is missing: %s", command->needed, command->needed_what);
}

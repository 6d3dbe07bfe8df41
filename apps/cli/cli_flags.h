// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the one table of flags and the one of commands, and reading a command line by them.
// Called by: every command; cli_help.c prints both tables.
// Threads:   one.
// Errors:    told on standard error, with the nearest flag where one is near; the exit status is
//            returned.
// Not here:  what a flag does.
#ifndef CLI_CLI_FLAGS_H
#define CLI_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_command_id {
    CLI_RUN,
    CLI_INSPECT,
    CLI_TOKENIZE,
    CLI_BENCH,
    CLI_REPORT,
    CLI_VERSION,
    CLI_HELP,
    CLI_COMMANDS
};

enum cli_kind {
    CLI_SWITCH,  // no value
    CLI_INTEGER, // least..most
    CLI_REAL,    // least..most
    CLI_SIZE,    // bytes, or one of choices
    CLI_CHOICE,  // one of choices
    CLI_TEXT,
    CLI_INPUT, // path of a file, - for standard input
    CLI_OUTPUT // path of a file
};

enum cli_flag_id {
    CLI_PROMPT,
    CLI_FILE,
    CLI_PREDICT,
    CLI_SYSTEM,
    CLI_RAW,
    CLI_IGNORE_EOS,
    CLI_GRAMMAR,
    CLI_JSON_SCHEMA,
    CLI_JSON_OBJECT,
    CLI_STRUCTURE_AFTER,
    CLI_TEMP,
    CLI_TOP_K,
    CLI_TOP_P,
    CLI_MIN_P,
    CLI_TYPICAL_P,
    CLI_TOP_N_SIGMA,
    CLI_XTC_PROBABILITY,
    CLI_XTC_THRESHOLD,
    CLI_MIN_KEEP,
    CLI_DYNATEMP_RANGE,
    CLI_DYNATEMP_EXP,
    CLI_REPEAT_LAST_N,
    CLI_REPEAT_PENALTY,
    CLI_FREQUENCY_PENALTY,
    CLI_PRESENCE_PENALTY,
    CLI_DRY_MULTIPLIER,
    CLI_DRY_BASE,
    CLI_DRY_ALLOWED_LENGTH,
    CLI_DRY_PENALTY_LAST_N,
    CLI_MIROSTAT,
    CLI_MIROSTAT_ENT,
    CLI_MIROSTAT_LR,
    CLI_SAMPLERS, // last of those that models have settings for
    CLI_DRY_SEQUENCE_BREAKER,
    CLI_LOGIT_BIAS,
    CLI_LOGPROBS,
    CLI_SEED,
    CLI_MEMORY,
    CLI_CTX,
    CLI_THREADS,
    CLI_CHUNK,
    CLI_IO,
    CLI_KV_TYPE,
    CLI_CPU,
    CLI_PROMPT_TOKENS,
    CLI_DEPTH,
    CLI_WARM_UP,
    CLI_REPEAT,
    CLI_PLAN,
    CLI_STATS,
    CLI_TRACE,
    CLI_OP_TRACE,
    CLI_METRICS,
    CLI_IO_TRACE,
    CLI_OUT,
    CLI_NO_LOOKAHEAD,
    CLI_NO_PROFILE,
    CLI_VERIFY,
    CLI_TENSORS,
    CLI_IDS,
    CLI_SPECIAL,
    CLI_NO_BOS,
    CLI_JSON,
    CLI_NO_COLOR,
    CLI_QUIET,
    CLI_VERBOSE,
    CLI_SHOW_HELP,
    CLI_FLAGS
};

struct cli_flag {
    const char *name; // without dashes
    char letter;      // 0: none
    enum cli_kind kind;
    unsigned commands; // bits 1 << cli_command_id
    const char *value; // what help calls its value; NULL for a switch
    double least, most;
    const char *const *choices; // NULL-terminated
    const char *help;           // one line
};

struct cli_command {
    const char *name;
    const char *operands; // as help shows them
    int operands_least, operands_most;
    const char *needed, *needed_what; // the first operand: its name, what it is; NULL: none is needed
    const char *summary;
    const char *const *notes;    // paragraphs, NULL-terminated
    const char *const *examples; // pairs: command line, what it does; NULL-terminated
};

extern const struct cli_flag cli_flag_table[CLI_FLAGS];
extern const struct cli_command cli_command_table[CLI_COMMANDS];

struct cli_value {
    bool given;
    const char *text; // as written
    uint64_t integer; // CLI_INTEGER (as int64_t where negative numbers are possible), CLI_SIZE;
                      // index of a choice
    double real;
};

enum { CLI_OPERANDS = 8 };
struct cli_arguments {
    enum cli_command_id command;
    struct cli_value flags[CLI_FLAGS];
    const char *operands[CLI_OPERANDS];
    int operand_count;
};

// Sizes: the choices of a CLI_SIZE flag become these.
#define CLI_SIZE_AUTO UINT64_C(0)
#define CLI_SIZE_ALL  UINT64_MAX

// arguments: what follows the command's name. The exit status, OK to go on.
int cli_flags_parse(enum cli_command_id id, int count, char **arguments, struct cli_arguments *out);
// CLI_COMMANDS if there is none of that name.
enum cli_command_id cli_flags_command(const char *name);
// The name of the command that is nearest to a mistyped one, or NULL.
const char *cli_flags_nearest_command(const char *name);

#endif

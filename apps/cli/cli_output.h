// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the standard streams: the result on standard output, everything else on standard
//            error; colour, and what happens when a stream goes away.
// Called by: every command.
// Threads:   one.
// Errors:    a failed write to standard output is remembered; cli_output_finish turns it into the
//            exit status. A closed pipe is no error: its reader has what it wanted; nor is a write
//            that Ctrl-C interrupts.
// Not here:  what is said; the progress line (cli_progress.h), which ends before anything else is
//            written.
#ifndef CLI_CLI_OUTPUT_H
#define CLI_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_FILE = 3,
    CLI_EXIT_MEMORY = 4,
    CLI_EXIT_RUN = 5,
    CLI_EXIT_INTERRUPTED = 130
};

// Before anything is opened: descriptors 0 to 2 exist from here on, whatever the parent closed.
void cli_output_init(void);
void cli_output_style(bool no_colour, bool quiet);

// ---- standard output ---------------------------------------------------------------------------
// At once, unbuffered to the reader. False: nobody can read it any more; stop working.
bool cli_output_write(const void *bytes, size_t size);
void cli_output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Text that comes from a file, with control characters and invalid bytes escaped.
void cli_output_print_safe(const char *bytes, size_t size);
// Bytes of the well-formed UTF-8 character at the start of text, 0 if there is none or it is a control.
size_t cli_output_character(const char *text, size_t size);
bool cli_output_broken(void);
// status, unless the result could not be written: then the error is told and its status returned.
int cli_output_finish(int status);

// ---- standard error ----------------------------------------------------------------------------
// A note is calm (dim) and absent with --quiet. On a terminal, lines are broken between words. Where
// both streams lead to one pipe or file, the first message behind an unfinished line begins a new one.
void cli_output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_output_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_output_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The same, with where to read on. Returns CLI_EXIT_USAGE.
int cli_output_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cli_output_is_quiet(void);   // --quiet
bool cli_output_has_colour(void); // of standard error
// After an answer: ends its last line on a terminal (in a file or pipe its bytes stay as they are),
// and sets what follows on standard error apart from it.
void cli_output_part(void);

#endif

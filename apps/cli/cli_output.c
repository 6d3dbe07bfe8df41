// SPDX-License-Identifier: Apache-2.0
#include "cli_output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli_progress.h"
#include "platform/signal.h"
#include "platform/terminal.h"

enum { COLUMNS_LEAST = 20 }; // narrower than that, breaking lines does not help

// A program has one set of standard streams, so their state is the program's.
static struct {
    bool colour, quiet;
    bool joined; // both streams lead to one pipe or file
    int error;   // errno of the first failed write to standard output
    char last;   // byte written to standard output; 0: none yet
} state;

void cli_output_init(void) {
    // A file that got the number of a closed standard stream would receive our messages.
    FILE *spare;
    do {
        spare = fopen("/dev/null", "r+");
    } while (spare && fileno(spare) <= 2);
    if (spare) fclose(spare);
    signal_ignore_failed_writes();
    state.colour = terminal_has_colour(TERMINAL_ERROR);
    state.joined = !terminal_is(TERMINAL_OUT) && terminal_same(TERMINAL_OUT, TERMINAL_ERROR);
}

void cli_output_style(bool no_colour, bool quiet) {
    state.colour = state.colour && !no_colour;
    state.quiet = quiet;
}

static bool is_inside_line(void) {
    return state.last != 0 && state.last != '\n';
}

// ---- standard output ---------------------------------------------------------------------------
static void keep_error(void) {
    if (state.error == 0) state.error = errno ? errno : EIO;
}

bool cli_output_write(const void *bytes, size_t size) {
    if (state.error || size == 0) return state.error == 0;
    cli_progress_end();
    errno = 0;
    if (fwrite(bytes, 1, size, stdout) != size || fflush(stdout) != 0) keep_error();
    state.last = ((const char *)bytes)[size - 1];
    return state.error == 0;
}

void cli_output_print(const char *format, ...) {
    va_list list;
    va_start(list, format);
    errno = 0;
    if (vfprintf(stdout, format, list) < 0) keep_error();
    va_end(list);
    state.last = '\n';
}

size_t cli_output_character(const char *bytes, size_t size) {
    const unsigned char *text = (const unsigned char *)bytes;
    static const struct {
        unsigned char low, high, length;
        unsigned char second_low, second_high;
    } forms[] = {{0x20, 0x7e, 1, 0, 0},       {0xc2, 0xc2, 2, 0xa0, 0xbf},
                 {0xc3, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
                 {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f},
                 {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
                 {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].low || text[0] > forms[i].high) continue;
        size_t length = forms[i].length;
        if (length > size) return 0;
        if (length > 1 && (text[1] < forms[i].second_low || text[1] > forms[i].second_high))
            return 0;
        for (size_t j = 2; j < length; j++) {
            if (text[j] < 0x80 || text[j] > 0xbf) return 0;
        }
        return length;
    }
    return 0;
}

void cli_output_print_safe(const char *bytes, size_t size) {
    static const char named[] = "\n\r\t", letters[] = "nrt";
    for (size_t i = 0; i < size;) {
        const char *name = bytes[i] ? strchr(named, bytes[i]) : NULL;
        size_t length = cli_output_character(bytes + i, size - i);
        if (length > 0) {
            cli_output_print("%.*s", (int)length, bytes + i);
        } else if (name) {
            cli_output_print("\\%c", letters[name - named]);
        } else {
            cli_output_print("\\x%02x", (unsigned char)bytes[i]);
        }
        i += length > 0 ? length : 1;
    }
}

bool cli_output_broken(void) {
    return state.error != 0;
}

int cli_output_finish(int status) {
    cli_progress_stop();
    errno = 0;
    if (state.error == 0 && fflush(stdout) != 0) keep_error();
    bool told = state.error == EPIPE || state.error == EINTR; // by the reader, by Ctrl-C
    if (state.error == 0 || told) return status;
    cli_output_error("writing the result failed: %s", strerror(state.error));
    return status == CLI_EXIT_OK ? CLI_EXIT_RUN : status;
}

// ---- standard error ----------------------------------------------------------------------------
// Breaks a line that is wider than the terminal between words. A character counts as one column.
static void print_wrapped(const char *text, size_t width) {
    size_t column = 0;
    while (*text) {
        size_t length = 1 + strcspn(text + 1, " "), columns = 0; // a word and the blanks before it
        for (size_t i = 0; i < length; i++)
            columns += (text[i] & 0xc0) != 0x80;
        if (column > 0 && column + columns > width) {
            fprintf(stderr, "\n   %s%.*s", text[0] == ' ' ? "" : " ", (int)length, text);
            column = 3 + columns;
        } else {
            fprintf(stderr, "%.*s", (int)length, text);
            column += columns;
        }
        text += length;
    }
}

static void say(const char *colour, const char *before, const char *format, va_list list) {
    char text[2048]; // the library's errors have half of that
    int length = snprintf(text, sizeof text, "%s", before);
    vsnprintf(text + length, sizeof text - (size_t)length, format, list);
    cli_progress_end();
    if (state.joined &&
        is_inside_line()) { // a reader of both would find it behind the answer's text
        fputs("\n", stderr);
        state.last = '\n';
    }
    if (state.colour) fputs(colour, stderr);
    uint32_t width = terminal_width(TERMINAL_ERROR);
    if (width >= COLUMNS_LEAST) {
        print_wrapped(text, width);
    } else {
        fputs(text, stderr);
    }
    fputs(state.colour ? "\033[0m\n" : "\n", stderr);
}

void cli_output_note(const char *format, ...) {
    if (state.quiet) return;
    va_list list;
    va_start(list, format);
    say("\033[2m", "", format, list);
    va_end(list);
}

void cli_output_warn(const char *format, ...) {
    va_list list;
    va_start(list, format);
    say("\033[33m", "locum: warning: ", format, list);
    va_end(list);
}

void cli_output_error(const char *format, ...) {
    va_list list;
    va_start(list, format);
    say("\033[31m", "locum: ", format, list);
    va_end(list);
}

int cli_output_usage(const char *command, const char *format, ...) {
    char before[64];
    snprintf(before, sizeof before, "locum %s: ", command);
    va_list list;
    va_start(list, format);
    say("\033[31m", before, format, list);
    va_end(list);
    fprintf(stderr, "Try: locum help %s\n", command);
    return CLI_EXIT_USAGE;
}

bool cli_output_is_quiet(void) {
    return state.quiet;
}

bool cli_output_has_colour(void) {
    return state.colour;
}

void cli_output_part(void) {
    cli_progress_end();
    if (!terminal_is(TERMINAL_OUT)) return;
    if (is_inside_line()) cli_output_write("\n", 1);
    if (!state.quiet && terminal_is(TERMINAL_ERROR)) fputs("\n", stderr);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_interrupt.h"
#include "cli_output.h"

// Beyond the longest context that any model has; protects from `-f /dev/zero`.
enum { INPUT_MAX = 256 << 20, INPUT_FIRST = 1 << 16 };

void cli_input_use(const char *argument, struct cli_input *out) {
    *out = (struct cli_input){.text = argument, .size = strlen(argument)};
}

void cli_input_release(struct cli_input *input) {
    free(input->owned);
    *input = (struct cli_input){0};
}

static int too_large(const char *name) {
    cli_output_error("%s: the text is longer than %d MiB", name, INPUT_MAX >> 20);
    return CLI_EXIT_FILE;
}

static int read_all(FILE *file, const char *name, struct cli_input *out) {
    size_t room = 0;
    while (!feof(file)) {
        if (out->size == room) {
            if (room == INPUT_MAX) return too_large(name);
            room = room ? room * 2 : INPUT_FIRST;
            char *larger = realloc(out->owned, room);
            if (!larger) {
                cli_output_error("%s: no memory for the text", name);
                return CLI_EXIT_MEMORY;
            }
            out->owned = larger;
        }
        errno = 0;
        out->size += fread(out->owned + out->size, 1, room - out->size, file);
        if (cli_interrupt_seen()) return CLI_EXIT_INTERRUPTED;
        if (ferror(file)) {
            cli_output_error("%s: reading failed: %s", name, strerror(errno));
            return CLI_EXIT_FILE;
        }
    }
    out->text = out->owned;
    return CLI_EXIT_OK;
}

int cli_input_read(const char *path, struct cli_input *out) {
    *out = (struct cli_input){0};
    FILE *file = path ? fopen(path, "rb") : stdin;
    if (!file) {
        cli_output_error("%s: %s", path, strerror(errno));
        return CLI_EXIT_FILE;
    }
    int status = read_all(file, path ? path : "standard input", out);
    if (path) fclose(file);
    if (status != CLI_EXIT_OK) cli_input_release(out);
    return status;
}

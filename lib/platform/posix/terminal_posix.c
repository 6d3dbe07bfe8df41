// SPDX-License-Identifier: Apache-2.0
#include "platform/terminal.h"

#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/env.h"

static int descriptor_of(enum terminal_stream stream) {
    static const int descriptors[] = {
        [TERMINAL_IN] = STDIN_FILENO,
        [TERMINAL_OUT] = STDOUT_FILENO,
        [TERMINAL_ERROR] = STDERR_FILENO,
    };
    return descriptors[stream];
}

bool terminal_is(enum terminal_stream stream) {
    return isatty(descriptor_of(stream)) == 1;
}

bool terminal_same(enum terminal_stream a, enum terminal_stream b) {
    struct stat one, other;
    return fstat(descriptor_of(a), &one) == 0 && fstat(descriptor_of(b), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

uint32_t terminal_width(enum terminal_stream stream) {
    struct winsize size;
    if (ioctl(descriptor_of(stream), TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

bool terminal_has_colour(enum terminal_stream stream) {
    const char *kind = env_get("TERM");
    if (kind == NULL || strcmp(kind, "dumb") == 0 || env_get("NO_COLOR") != NULL) return false;
    return terminal_is(stream);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/platform/scratch.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[512];

int scratch_create(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s/scratch-XXXXXX", LOCUM_BINARY_DIR);
    return mkdtemp(folder) == NULL;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts;
    (void)kind;
    (void)place;
    return strcmp(path, folder) == 0 ? 0 : remove(path);
}

void scratch_clear(void) {
    assert_int_equal(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int scratch_remove(void **state) {
    (void)state;
    scratch_clear();
    return rmdir(folder);
}

const char *scratch_path(const char *format, ...) {
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];
    int size = snprintf(path, sizeof paths[0], "%s/", folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + size, sizeof paths[0] - (size_t)size, format, arguments);
    va_end(arguments);
    return path;
}

const char *scratch_write(const char *name, const void *data, size_t bytes) {
    const char *path = scratch_path("%s", name);
    char part[4096];
    for (const char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        mkdir(part, 0777);
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *scratch_text(const char *name, const char *text) {
    return scratch_write(name, text, strlen(text));
}

void scratch_fill(unsigned char *data, size_t bytes, unsigned seed) {
    uint32_t word = seed * 2654435761u + 1;
    for (size_t i = 0; i < bytes; i++) {
        word = word * 1664525u + 1013904223u;
        data[i] = (unsigned char)(word >> 24);
    }
}

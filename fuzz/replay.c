// SPDX-License-Identifier: Apache-2.0
//
// Feeds files to a fuzz target without libFuzzer: fuzz_x PATH... where a PATH is a file or a folder
// of files. Each input is copied to a block of its exact size, so a read past its end is seen by
// the address sanitizer. Ends with status 1 when there was no input at all: an empty corpus would
// otherwise pass for ever.
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *path) {
    fprintf(stderr, "replay: %s %s: %s\n", what, path, strerror(errno));
    exit(1);
}

static size_t replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        die("cannot open", path);
    }
    uint8_t *data = malloc(size ? size : 1);
    if (!data) {
        die("no memory for", path);
    }
    if (fread(data, 1, size, file) != size) {
        die("cannot read", path);
    }
    fclose(file);
    // Flushed first, so the last line names the input when the target dies.
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t replay_path(const char *path);

// In the order of names, so two runs print the same.
static size_t replay_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) {
        die("cannot open", path);
    }
    char **names = NULL;
    size_t count = 0, done = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        size_t length = strlen(path) + strlen(entry->d_name) + 2;
        char **grown = realloc(names, (count + 1) * sizeof *names);
        char *name = malloc(length);
        if (!grown || !name) {
            die("no memory for", path);
        }
        snprintf(name, length, "%s/%s", path, entry->d_name);
        names = grown;
        names[count++] = name;
    }
    closedir(folder);
    if (count > 1) {
        qsort(names, count, sizeof *names, by_name);
    }
    for (size_t i = 0; i < count; i++) {
        done += replay_path(names[i]);
        free(names[i]);
    }
    free(names);
    return done;
}

static size_t replay_path(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        die("cannot find", path);
    }
    return S_ISDIR(info.st_mode) ? replay_folder(path) : replay_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv) {
    size_t done = 0;
    for (int i = 1; i < argc; i++) {
        done += replay_path(argv[i]);
    }
    printf("%zu inputs replayed\n", done);
    return done ? 0 : 1;
}

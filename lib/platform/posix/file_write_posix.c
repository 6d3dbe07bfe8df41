// SPDX-License-Identifier: Apache-2.0
#include "platform/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "platform/random.h"
#include "platform/system_error.h"

enum { WRITE_BUFFER_BYTES = 64 << 10 };

struct file_write {
    int descriptor;
    bool in_place; // the target is a pipe or device: no temporary file
    bool failed;
    size_t pending;        // bytes in buffer
    char target[PATH_MAX]; // symbolic links resolved
    char temporary[PATH_MAX];
    uint8_t buffer[WRITE_BUFFER_BYTES];
};

static locum_status fail(struct file_write *writer, const char *what, int number,
                         locum_error *error) {
    writer->failed = true;
    return status_fail(error, LOCUM_E_IO, "%s: %s: %s", writer->target, what,
                       system_error_of(number).text);
}

// The folder of the target, with its slash: "" for the current one.
static int folder_size(const struct file_write *writer) {
    const char *slash = strrchr(writer->target, '/');
    return slash ? (int)(slash + 1 - writer->target) : 0;
}

static locum_status open_temporary(struct file_write *writer, const struct stat *old,
                                   locum_error *error) {
    uint64_t number;
    STATUS_TRY(random_u64(&number, error));
    int size =
        snprintf(writer->temporary, sizeof writer->temporary, "%.*s.locum-%016" PRIx64 ".tmp",
                 folder_size(writer), writer->target, number);
    if (size < 0 || (size_t)size >= sizeof writer->temporary)
        return status_fail(error, LOCUM_E_ARGUMENT, "%s: the path is too long", writer->target);
    writer->descriptor = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->descriptor < 0)
        return fail(writer, "a new file cannot be made beside it", errno, error);
    if (old != NULL)
        (void)!fchmod(writer->descriptor, old->st_mode & 07777); // not ours to change: keep our own
    return LOCUM_OK;
}

static locum_status open_target(struct file_write *writer, const char *path, locum_error *error) {
    struct stat old;
    size_t size = strlen(path) + 1;
    if (size > sizeof writer->target || size == 1)
        return status_fail(error, LOCUM_E_ARGUMENT, "'%s' is no path of a file", path);
    memcpy(writer->target, path, size);
    if (stat(path, &old) != 0) {
        if (errno != ENOENT) return fail(writer, "cannot be written", errno, error);
        return open_temporary(writer, NULL, error);
    }
    if (S_ISDIR(old.st_mode)) return fail(writer, "cannot be written", EISDIR, error);
    if (!S_ISREG(old.st_mode)) {
        writer->in_place = true;
        writer->descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return writer->descriptor >= 0 ? LOCUM_OK : fail(writer, "cannot be written", errno, error);
    }
    if (realpath(path, writer->target) == NULL) {
        int number = errno;
        memcpy(writer->target, path, size);
        return fail(writer, "cannot be found", number, error);
    }
    return open_temporary(writer, &old, error);
}

// The name of a file that does not exist, its folder without links or dots; false: there is no folder.
static bool find_new(const char *path, char found[PATH_MAX], const char **name) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    int size = slash ? (int)(*name - path) : 1;
    int length = snprintf(folder, sizeof folder, "%.*s", size, slash ? path : ".");
    return length < PATH_MAX && realpath(folder, found) != NULL;
}

bool file_write_replaces(const char *path, const char *other) {
    if (strcmp(path, other) == 0) return true;
    struct stat a, b;
    bool exists = stat(path, &a) == 0;
    if (exists != (stat(other, &b) == 0)) return false;
    if (exists) return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    char folders[2][PATH_MAX];
    const char *names[2];
    return find_new(path, folders[0], &names[0]) && find_new(other, folders[1], &names[1]) &&
           strcmp(folders[0], folders[1]) == 0 && strcmp(names[0], names[1]) == 0;
}

locum_status file_write_folders(const char *path, locum_error *error) {
    char folder[PATH_MAX];
    size_t size = strlen(path) + 1;
    if (size > sizeof folder)
        return status_fail(error, LOCUM_E_ARGUMENT, "'%s' is no path of a file", path);
    memcpy(folder, path, size);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return status_fail(error, LOCUM_E_IO, "%s: the folder cannot be made: %s", folder,
                               system_error_of(errno).text);
        *slash = '/';
    }
    return LOCUM_OK;
}

locum_status file_write_open(const char *path, struct file_write **out, locum_error *error) {
    *out = NULL;
    struct file_write *writer = heap_resize(NULL, sizeof *writer);
    if (writer == NULL) return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: out of memory", path);
    writer->descriptor = -1;
    writer->in_place = writer->failed = false;
    writer->pending = 0;
    locum_status status = open_target(writer, path, error);
    if (status == LOCUM_OK)
        *out = writer;
    else
        heap_free(writer);
    return status;
}

static locum_status write_all(struct file_write *writer, const uint8_t *data, size_t bytes,
                              locum_error *error) {
    while (bytes > 0) {
        ssize_t put = write(writer->descriptor, data, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail(writer, "writing fails", put < 0 ? errno : EIO, error);
        data += put;
        bytes -= (size_t)put;
    }
    return LOCUM_OK;
}

static locum_status flush(struct file_write *writer, locum_error *error) {
    size_t bytes = writer->pending;
    writer->pending = 0;
    return write_all(writer, writer->buffer, bytes, error);
}

locum_status file_write_bytes(struct file_write *writer, const void *data, size_t bytes,
                              locum_error *error) {
    if (writer->failed)
        return status_fail(error, LOCUM_E_IO, "%s: an earlier write failed", writer->target);
    if (bytes > sizeof writer->buffer - writer->pending) STATUS_TRY(flush(writer, error));
    if (bytes >= sizeof writer->buffer) return write_all(writer, data, bytes, error);
    if (bytes > 0) memcpy(writer->buffer + writer->pending, data, bytes);
    writer->pending += bytes;
    return LOCUM_OK;
}

// The name in the folder reaches the device too. A file system that cannot do this has nothing
// better to offer, and the file is in place: no error.
static void sync_folder(const struct file_write *writer) {
    char folder[PATH_MAX];
    int size = folder_size(writer);
    snprintf(folder, sizeof folder, "%.*s", size ? size : 1, size ? writer->target : ".");
    int descriptor = open(folder, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    close(descriptor);
}

static locum_status finish(struct file_write *writer, locum_error *error) {
    if (writer->failed)
        return status_fail(error, LOCUM_E_IO, "%s: an earlier write failed", writer->target);
    STATUS_TRY(flush(writer, error));
    if (!writer->in_place && fsync(writer->descriptor) != 0)
        return fail(writer, "flushing to the device fails", errno, error);
    int failed = close(writer->descriptor);
    writer->descriptor = -1;
    if (failed) return fail(writer, "closing fails", errno, error);
    if (writer->in_place) return LOCUM_OK;
    if (rename(writer->temporary, writer->target) != 0)
        return fail(writer, "the new file cannot take its place", errno, error);
    sync_folder(writer);
    return LOCUM_OK;
}

locum_status file_write_commit(struct file_write *writer, locum_error *error) {
    locum_status status = finish(writer, error);
    if (status != LOCUM_OK) {
        file_write_cancel(writer);
        return status;
    }
    heap_free(writer);
    return LOCUM_OK;
}

void file_write_cancel(struct file_write *writer) {
    if (writer == NULL) return;
    if (writer->descriptor >= 0) close(writer->descriptor);
    if (!writer->in_place) unlink(writer->temporary);
    heap_free(writer);
}

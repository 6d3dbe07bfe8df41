// SPDX-License-Identifier: Apache-2.0
//
// What is the same on every system: opening with the probe of direct reads, and reading.
#include "platform/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "platform/file_internal.h"
#include "platform/system_error.h"
#include "platform/vmem.h"

enum {
    FILE_REQUEST_MAX = 1 << 30, // a multiple of FILE_BLOCK
    // a system that is interrupted this often without one byte is broken
    FILE_ROUNDS_MAX = 1000,
};

size_t file_transfer_next(const struct file_transfer *transfer) {
    size_t left = transfer->bytes - transfer->done;
    return left < FILE_REQUEST_MAX ? left : FILE_REQUEST_MAX;
}

bool file_transfer_step(const struct platform_file *file, struct file_transfer *transfer,
                        int64_t result) {
    if (result == -EINTR || result == -EAGAIN) {
        if (++transfer->rounds < FILE_ROUNDS_MAX) return true;
        transfer->error = (int)-result;
        return false;
    }
    if (result < 0) {
        transfer->error = (int)-result;
        return false;
    }
    if (result == 0) return false;
    size_t got = (size_t)result;
    LOCUM_ASSERT(got <= transfer->bytes - transfer->done);
    size_t before = transfer->done;
    transfer->done += got;
    if (transfer->done == transfer->bytes || transfer->offset + transfer->done >= file->size)
        return false;
    // A direct read must go on at a whole block: the beginning of a broken one is read again.
    if (file->direct) transfer->done -= transfer->done % FILE_BLOCK;
    if (transfer->done > before) return true;
    if (++transfer->rounds < FILE_ROUNDS_MAX) return true;
    transfer->error = EIO;
    return false;
}

// Run the transfer to its end; gives the errno value.
static int transfer_run(const struct platform_file *file, struct file_transfer *transfer) {
    int64_t result;
    do {
        result = file->methods->read(
            file->methods->user, file->handle, transfer->buffer + transfer->done,
            file_transfer_next(transfer), transfer->offset + transfer->done);
    } while (file_transfer_step(file, transfer, result));
    return transfer->error;
}

locum_status file_read_failed(const struct platform_file *file, size_t bytes, uint64_t offset,
                              int number, locum_error *error) {
    return status_fail(error, LOCUM_E_IO, "%s: reading %zu bytes at offset %" PRIu64 ": %s",
                       file->path, bytes, offset, system_error_of(number).text);
}

locum_status file_read(const struct platform_file *file, void *buffer, size_t bytes,
                       uint64_t offset, size_t *got, locum_error *error) {
    *got = 0;
    if (bytes == 0) return LOCUM_OK;
    if (file->direct) LOCUM_ASSERT(((uintptr_t)buffer | bytes | offset) % FILE_BLOCK == 0);
    struct file_transfer transfer = {.buffer = buffer, .bytes = bytes, .offset = offset};
    int number = transfer_run(file, &transfer);
    if (number != 0) return file_read_failed(file, bytes, offset, number, error);
    *got = transfer.done;
    return LOCUM_OK;
}

static locum_status open_failed(const char *path, int number, locum_error *error) {
    switch (number) {
    case ENOMEM:
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: out of memory", path);
    case EMFILE:
    case ENFILE:
        return status_fail(error, LOCUM_E_SYSTEM, "%s: %s", path, system_error_of(number).text);
    case EISDIR:
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: is a folder, not a file", path);
    case ESPIPE:
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: is a pipe or device, not a file", path);
    default:
        return status_fail(error, LOCUM_E_NOT_FOUND, "%s: %s", path, system_error_of(number).text);
    }
}

// number: errno value, 0: none.
static void set_reason(struct platform_file *file, const char *what, int number) {
    if (number == 0)
        snprintf(file->reason, sizeof file->reason, "%s", what);
    else
        snprintf(file->reason, sizeof file->reason, "%s: %s", what, system_error_of(number).text);
}

// Read the block at `offset` through both handles into blocks[0] and blocks[1]. false: reads fail
// or disagree, the reason is set.
static bool probe_block(struct platform_file *file, struct platform_file *direct, uint8_t *blocks,
                        uint64_t offset) {
    struct file_transfer plain = {.buffer = blocks, .bytes = FILE_BLOCK, .offset = offset};
    struct file_transfer other = plain;
    other.buffer = blocks + FILE_BLOCK;
    int number = transfer_run(direct, &other);
    if (number == 0) number = transfer_run(file, &plain);
    if (number != 0) {
        set_reason(file, "a direct read fails", number);
        return false;
    }
    if (plain.done != other.done || memcmp(plain.buffer, other.buffer, plain.done) != 0) {
        set_reason(file, "direct reads give other bytes than buffered ones", 0);
        return false;
    }
    return true;
}

static bool probe(struct platform_file *file, struct platform_file *direct) {
    struct vmem memory = {0};
    uint64_t size;
    if (vmem_alloc(&memory, 2 * FILE_BLOCK, NULL) != LOCUM_OK) {
        set_reason(file, "no memory to try direct reads", 0);
        return false;
    }
    bool works = false;
    int number = direct->methods->size(direct->methods->user, direct->handle, &size);
    if (number != 0 || size != file->size)
        set_reason(file, "the file is being changed", 0);
    else
        works = probe_block(file, direct, memory.data, 0) &&
                probe_block(file, direct, memory.data, size - size % FILE_BLOCK);
    vmem_release(&memory);
    return works;
}

// Replace the handle by a direct one if that works; otherwise leave it and set the reason.
static void try_direct(struct platform_file *file) {
    const struct file_methods *methods = file->methods;
    struct platform_file direct = *file;
    direct.direct = true;
    direct.handle = methods->open(methods->user, file->path, true);
    if (direct.handle < 0) {
        set_reason(file, "a direct open fails", (int)-direct.handle);
        return;
    }
    bool works = probe(file, &direct);
    methods->close(methods->user, works ? file->handle : direct.handle);
    if (works) {
        file->handle = direct.handle;
        file->direct = true;
    }
}

locum_status file_open(const char *path, bool direct, const struct file_methods *methods,
                       struct platform_file **out, locum_error *error) {
    *out = NULL;
    if (methods == NULL) methods = file_methods_system();
    LOCUM_ASSERT(methods->version >= 1 && methods->version <= FILE_METHODS_VERSION);
    file_handle handle = methods->open(methods->user, path, false);
    if (handle < 0) return open_failed(path, (int)-handle, error);
    uint64_t size;
    int number = methods->size(methods->user, handle, &size);
    size_t path_size = strlen(path) + 1;
    struct platform_file *file = number == 0 ? heap_resize(NULL, sizeof *file + path_size) : NULL;
    if (file == NULL) {
        methods->close(methods->user, handle);
        return open_failed(path, number < 0 ? -number : ENOMEM, error);
    }
    *file = (struct platform_file){
        .methods = methods, .handle = handle, .size = size, .path = (char *)(file + 1)};
    memcpy(file->path, path, path_size);
    if (direct) try_direct(file);
    *out = file;
    return LOCUM_OK;
}

void file_close(struct platform_file *file) {
    if (file == NULL) return;
    file->methods->close(file->methods->user, file->handle);
    heap_free(file);
}

const char *file_path(const struct platform_file *file) {
    return file->path;
}

uint64_t file_size(const struct platform_file *file) {
    return file->size;
}

bool file_is_direct(const struct platform_file *file) {
    return file->direct;
}

const char *file_buffered_reason(const struct platform_file *file) {
    return file->reason[0] != '\0' ? file->reason : NULL;
}

locum_status file_read_whole(const char *path, size_t max, struct arena *arena, struct slice *out,
                             locum_error *error) {
    struct platform_file *file;
    *out = slice_make(NULL, 0);
    STATUS_TRY(file_open(path, false, NULL, &file, error));
    locum_status status = LOCUM_OK;
    char *text = NULL;
    size_t got = 0;
    if (file->size > max)
        status = status_fail(error, LOCUM_E_FORMAT, "%s has %" PRIu64 " bytes; the limit is %zu",
                             path, file->size, max);
    else if ((text = arena_alloc(arena, (size_t)file->size)) == NULL)
        status = status_fail(error, LOCUM_E_OUT_OF_MEMORY, "%s: no memory", path);
    else
        status = file_read(file, text, (size_t)file->size, 0, &got, error);
    file_close(file);
    *out = slice_make(text, got);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/platform/fake_disk.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "platform/clock.h"

// Handles of a disk in memory: below zero they would be errors.
enum { HANDLE_BUFFERED = 1, HANDLE_DIRECT = 2 };

static file_handle disk_open(void *user, const char *path, bool direct) {
    struct fake_disk *disk = user;
    if (direct && disk->direct_open_number != 0) return -disk->direct_open_number;
    file_handle handle = direct ? HANDLE_DIRECT : HANDLE_BUFFERED;
    if (disk->data == NULL) {
        const struct file_methods *system = file_methods_system();
        handle = system->open(system->user, path, direct);
    }
    if (handle >= 0) atomic_fetch_add(&disk->opens, 1);
    return handle;
}

static int disk_size(void *user, file_handle handle, uint64_t *bytes) {
    struct fake_disk *disk = user;
    if (disk->data == NULL) {
        const struct file_methods *system = file_methods_system();
        return system->size(system->user, handle, bytes);
    }
    *bytes = disk->bytes;
    return 0;
}

static void disk_close(void *user, file_handle handle) {
    struct fake_disk *disk = user;
    atomic_fetch_add(&disk->closes, 1);
    if (disk->data == NULL) {
        const struct file_methods *system = file_methods_system();
        system->close(system->user, handle);
    }
}

// The fault that read number n meets: 0 none, below 0 an error; *bytes may shrink.
static int64_t fault(struct fake_disk *disk, size_t n, size_t *bytes) {
    int number = disk->fail_number != 0 ? disk->fail_number : EIO;
    if (n == disk->fail_at || (disk->fail_from != 0 && n >= disk->fail_from)) return -number;
    if (disk->interrupt_every != 0 && n % disk->interrupt_every == 0) return -EINTR;
    if (disk->short_every != 0 && n % disk->short_every == 0 && *bytes > 1)
        *bytes = 1 + (n * 7919) % (*bytes - 1);
    return 0;
}

static int64_t memory_read(struct fake_disk *disk, file_handle handle, void *buffer, size_t bytes,
                           uint64_t offset) {
    if (handle == HANDLE_DIRECT && disk->direct_is_strict &&
        ((uintptr_t)buffer | offset) % FILE_BLOCK != 0)
        return -EINVAL;
    if (offset >= disk->bytes) return 0;
    if (bytes > disk->bytes - offset) bytes = (size_t)(disk->bytes - offset);
    memcpy(buffer, disk->data + offset, bytes);
    if (handle == HANDLE_DIRECT && disk->direct_lies) ((unsigned char *)buffer)[bytes - 1] ^= 1;
    return (int64_t)bytes;
}

static int64_t disk_read(void *user, file_handle handle, void *buffer, size_t bytes,
                         uint64_t offset) {
    struct fake_disk *disk = user;
    size_t n = atomic_fetch_add(&disk->reads, 1) + 1;
    if (disk->delay_ns_max != 0) clock_sleep_ns(n * 2654435761u % disk->delay_ns_max);
    if (handle == HANDLE_DIRECT && disk->data != NULL && disk->direct_read_number != 0)
        return -disk->direct_read_number;
    size_t kept = bytes; // a short read: the device gave all, and less of it is admitted
    int64_t number = fault(disk, n, &kept);
    if (number < 0) return number;
    const struct file_methods *system = file_methods_system();
    int64_t got = disk->data != NULL ? memory_read(disk, handle, buffer, bytes, offset)
                                     : system->read(system->user, handle, buffer, bytes, offset);
    return got > (int64_t)kept ? (int64_t)kept : got;
}

// io_uring has made the read already: the fault is applied to its answer.
static int64_t disk_filter(void *user, file_handle handle, size_t bytes, uint64_t offset,
                           int64_t result) {
    struct fake_disk *disk = user;
    (void)handle;
    (void)bytes;
    (void)offset;
    size_t n = atomic_fetch_add(&disk->reads, 1) + 1;
    if (result <= 0) return result;
    size_t kept = (size_t)result;
    int64_t number = fault(disk, n, &kept);
    return number < 0 ? number : (int64_t)kept;
}

void fake_disk_init(struct fake_disk *disk, const void *data, uint64_t bytes) {
    memset(disk, 0, sizeof *disk);
    disk->data = data;
    disk->bytes = bytes;
    disk->methods = (struct file_methods){
        .version = FILE_METHODS_VERSION,
        .user = disk,
        .open = disk_open,
        .size = disk_size,
        .read = disk_read,
        .close = disk_close,
        .filter = disk_filter,
    };
}

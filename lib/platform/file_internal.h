// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the inside of an open file, and how a read goes on after a partial answer: one rule
//            for blocking reads, the thread pool and io_uring.
// Called by: file.c, async_read*.c, and the implementations of file.h.
// Threads:   a file is constant; a transfer belongs to whoever drives it.
// Errors:    errno values.
// Not here:  making the reads.
#ifndef PLATFORM_FILE_INTERNAL_H
#define PLATFORM_FILE_INTERNAL_H

#include "platform/file.h"

enum { FILE_REASON_MAX = 160 };

struct platform_file {
    const struct file_methods *methods;
    file_handle handle;
    uint64_t size; // when it was opened
    bool direct;
    char reason[FILE_REASON_MAX]; // why it is not direct, although that was asked for
    char *path;
};

// One read on its way: `done` of `bytes` have arrived.
struct file_transfer {
    uint8_t *buffer;
    size_t bytes, done;
    uint64_t offset; // of buffer[0]
    uint32_t rounds; // answers so far that brought nothing
    int error;       // errno value, 0: none
};

// What to ask for next. The system's calls take 31 bits of size.
size_t file_transfer_next(const struct file_transfer *transfer);

// Take the answer (bytes, 0 at the end of the file, negative errno). true: ask for the rest, at
// buffer + done and offset + done; false: ended, with all bytes, at the end of the file, or with an
// error.
bool file_transfer_step(const struct platform_file *file, struct file_transfer *transfer,
                        int64_t result);

#endif

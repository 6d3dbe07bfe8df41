// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the one part of opening a file that differs between POSIX systems.
// Called by: file_posix.c; implemented in linux/file_linux.c.
// Threads:   any.
// Errors:    negative errno values.
// Not here:  the probe (file.c): a descriptor that was given may still fail to read.
#ifndef PLATFORM_POSIX_FILE_POSIX_H
#define PLATFORM_POSIX_FILE_POSIX_H

#include "platform/file.h"

#include <fcntl.h>

// O_NONBLOCK: opening a pipe that nobody writes to must not hang; it has no effect on files.
#define FILE_POSIX_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

file_handle file_posix_open_direct(const char *path);

#endif

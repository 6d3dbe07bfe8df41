// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a new file that appears whole or not at all.
// Called by: gguf writer, snapshots, traces and statistics, tools.
// Threads:   one writer belongs to one thread.
// Errors:    LOCUM_E_IO / LOCUM_E_SYSTEM with the path and the system's reason. After one, commit
//            fails too and the target keeps what it held before.
// Not here:  reading (file.h).
//
// Bytes go to a temporary file in the target's folder; commit flushes it to the device and renames
// it. A target that exists and is no regular file (a pipe, /dev/stdout) is written directly
// instead. A symbolic link stays one: the file that it points to is replaced. The mode of an
// existing file is kept.
#ifndef PLATFORM_FILE_WRITE_H
#define PLATFORM_FILE_WRITE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct file_write;

// Whether a file written to `path` would take the place of `other`, however both are spelled; neither
// has to exist. Pipes and devices are replaced by nothing: those are the same only when the text is.
bool file_write_replaces(const char *path, const char *other);

// Makes the folders of a path that are not there, for this user alone.
locum_status file_write_folders(const char *path, locum_error *error);
locum_status file_write_open(const char *path, struct file_write **out, locum_error *error);
locum_status file_write_bytes(struct file_write *writer, const void *data, size_t bytes,
                              locum_error *error);
// Ends the writer in every case. On failure nothing was changed.
locum_status file_write_commit(struct file_write *writer, locum_error *error);
void file_write_cancel(struct file_write *writer); // removes the temporary file; NULL is fine

#endif

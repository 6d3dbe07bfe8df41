// SPDX-License-Identifier: Apache-2.0
//
// Owns:      open files for reading (buffered or direct), questions about paths and folders.
// Called by: gguf, store, engine; writers use file_write.h.
// Threads:   an open file may be read from several threads at once; everything else is stateless.
// Errors:    LOCUM_E_NOT_FOUND (cannot be opened), LOCUM_E_IO, LOCUM_E_SYSTEM,
//            LOCUM_E_OUT_OF_MEMORY; the text has the whole path, the offset where there is one, and
//            the system's reason.
// Not here:  reads in the background (async_read.h), what the bytes mean.
//
// Paths are UTF-8; on POSIX systems they are handed over byte for byte.
#ifndef PLATFORM_FILE_H
#define PLATFORM_FILE_H

#include "base/arena.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Direct reads: address, offset and size are multiples of this. It is the page size and covers
// every logical block size in use (512 and 4096); a device that wants more fails the probe and is
// read buffered.
enum { FILE_BLOCK = 4096 };

// ---- the seam to the system: tests put their own methods here -----------------------------------
// Results below zero are negative errno values. Methods are only ever appended, with a new version.
// A descriptor. io_uring reads from it, so test methods that are used with io_uring keep it a real
// one.
typedef intptr_t file_handle;

struct file_methods {
    uint32_t version; // FILE_METHODS_VERSION that the structure was written for
    void *user;       // first argument of every method
    file_handle (*open)(void *user, const char *path, bool direct); // regular files only
    int (*size)(void *user, file_handle handle, uint64_t *bytes);
    // One read: may be short, 0 is the end of the file. Called from several threads.
    int64_t (*read)(void *user, file_handle handle, void *buffer, size_t bytes, uint64_t offset);
    void (*close)(void *user, file_handle handle);
    // What io_uring answered to a read it made by itself; gives the answer to use instead (fewer
    // bytes or an error). NULL: unchanged.
    int64_t (*filter)(void *user, file_handle handle, size_t bytes, uint64_t offset,
                      int64_t result);
};
enum { FILE_METHODS_VERSION = 1 };

const struct file_methods *file_methods_system(void);

// ---- reading ------------------------------------------------------------------------------------
struct platform_file; // nothing in it changes after opening

// direct: read past the page cache if the file's storage really does it. That is probed with
// aligned reads of the first and the last block, compared with buffered ones; some file systems
// accept the flag and fail at the first read. If the probe fails the file is open, buffered, and
// file_buffered_reason says why. methods: NULL for the system's. Folders, pipes and devices are
// refused.
locum_status file_open(const char *path, bool direct, const struct file_methods *methods,
                       struct platform_file **out, locum_error *error);
void file_close(struct platform_file *file); // NULL is fine

const char *file_path(const struct platform_file *file); // as it was given
uint64_t file_size(const struct platform_file *file);    // when it was opened
bool file_is_direct(const struct platform_file *file);
// Why a direct open became a buffered one; NULL if it did not.
const char *file_buffered_reason(const struct platform_file *file);

// Read `bytes` at `offset`, continuing after short reads and interruptions. *got is less than
// `bytes` only at the end of the file. Direct files: everything a multiple of FILE_BLOCK
// (asserted).
locum_status file_read(const struct platform_file *file, void *buffer, size_t bytes,
                       uint64_t offset, size_t *got, locum_error *error);

// A whole small file into memory of the arena. More than `max` bytes: LOCUM_E_FORMAT.
locum_status file_read_whole(const char *path, size_t max, struct arena *arena, struct slice *out,
                             locum_error *error);

// The error of a read that failed with `number` (an errno value), as file_read words it.
locum_status file_read_failed(const struct platform_file *file, size_t bytes, uint64_t offset,
                              int number, locum_error *error);

// ---- paths --------------------------------------------------------------------------------------
enum file_kind { FILE_REGULAR, FILE_FOLDER, FILE_OTHER };
struct file_facts {
    enum file_kind kind;
    uint64_t bytes;      // of a regular file
    int64_t modified_ns; // since 1970
};
// Follows symbolic links. LOCUM_E_NOT_FOUND if there is nothing.
locum_status file_look(const char *path, struct file_facts *out, locum_error *error);

// Names in a folder (without . and ..) in byte order, all memory from the arena. More than
// LIMIT_FOLDER_ENTRIES is an error.
locum_status file_list(const char *path, struct arena *arena, const char *const **names,
                       size_t *count, locum_error *error);

#endif

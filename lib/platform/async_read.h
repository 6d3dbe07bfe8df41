// SPDX-License-Identifier: Apache-2.0
//
// Owns:      a bounded queue of reads that run in the background.
// Called by: store (experts), exec_load (dense weights).
// Threads:   one consumer thread calls everything; the reads run in threads of the queue or in the
//            kernel. A buffer belongs to the queue from submit until its completion is taken.
// Errors:    of one read: in its completion. Short reads, interruptions and "try again" are handled
//            inside.
// Not here:  retries after real errors, priorities: the store decides those.
#ifndef PLATFORM_ASYNC_READ_H
#define PLATFORM_ASYNC_READ_H

#include "platform/file.h"

enum { ASYNC_READ_DEPTH_MAX = 256 };
#define ASYNC_READ_FOREVER UINT64_MAX

enum async_read_kind {
    ASYNC_READ_AUTO,    // io_uring where this build and the kernel have it, else threads
    ASYNC_READ_URING,   // LOCUM_E_UNSUPPORTED where there is none
    ASYNC_READ_THREADS, // a few threads that block in file_read
};

struct async_read;

// depth: reads between submit and taking the completion, 1 to ASYNC_READ_DEPTH_MAX. Nothing is
// allocated after creation.
locum_status async_read_create(enum async_read_kind kind, uint32_t depth, struct async_read **out,
                               locum_error *error);
void async_read_destroy(struct async_read *queue); // waits for reads in flight; NULL is fine

const char *async_read_name(const struct async_read *queue); // "io_uring", "threads"
// Why AUTO did not give io_uring; NULL if it did, or if it was not asked.
const char *async_read_fallback_reason(const struct async_read *queue);

// false: `depth` reads are out already, take completions first. Direct files: buffer, bytes and
// offset are multiples of FILE_BLOCK. bytes > 0. The file stays open until the completion is taken.
bool async_read_submit(struct async_read *queue, const struct platform_file *file, void *buffer,
                       size_t bytes, uint64_t offset, uint64_t tag);

struct async_read_done {
    uint64_t tag;
    locum_status status;
    int system_error; // errno value when status is not OK
    size_t bytes;     // less than asked for only at the end of the file, or after an error
    uint64_t
        latency_ns; // from submit until the end was seen; io_uring sees it when the consumer looks
    const struct platform_file *file;
    uint64_t offset;
    size_t bytes_wanted;
};
// Up to max completions, in the order of their arrival. Blocks until there is one, at most
// timeout_ns (0: does not block). 0 also when nothing is out.
size_t async_read_wait(struct async_read *queue, struct async_read_done *done, size_t max,
                       uint64_t timeout_ns);
// The text of a failed read, worded as file_read does; gives done->status.
locum_status async_read_failed(const struct async_read_done *done, locum_error *error);

// Reads out: submitted and not yet taken.
uint32_t async_read_out(const struct async_read *queue);

struct async_read_stats {
    uint64_t reads, bytes; // taken completions, failed ones included
    uint64_t resubmits;    // continued after a short read or an interruption
    uint64_t busy_ns;      // time with at least one read in flight
    uint32_t out_max;      // most reads out at once
};
void async_read_get_stats(const struct async_read *queue, struct async_read_stats *out);

#endif

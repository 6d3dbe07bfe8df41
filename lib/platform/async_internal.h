// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what the queue and its two backends share.
// Called by: async_read.c, async_threads.c, linux/async_uring_linux.c.
// Threads:   a request belongs to the consumer, or between submit and collect to the backend.
// Errors:    see async_read.h.
// Not here:  the public functions.
#ifndef PLATFORM_ASYNC_INTERNAL_H
#define PLATFORM_ASYNC_INTERNAL_H

#include "platform/async_read.h"
#include "platform/file_internal.h"

struct async_request {
    const struct platform_file *file;
    struct file_transfer transfer;
    uint64_t tag;
    uint64_t started_ns, finished_ns;
    uint32_t resubmits;
};

struct async_read;

// Time with at least one read in flight. Each backend keeps one, where it knows both ends of a
// read.
struct async_busy {
    uint32_t in_flight;
    uint64_t since_ns, total_ns;
};
static inline void async_busy_begin(struct async_busy *busy, uint64_t now_ns) {
    if (busy->in_flight++ == 0) busy->since_ns = now_ns;
}
static inline void async_busy_end(struct async_busy *busy, uint64_t now_ns) {
    if (--busy->in_flight == 0) busy->total_ns += now_ns - busy->since_ns;
}

// `state` is the backend's own. Requests are named by their index; at most `depth` are out at once.
struct async_backend {
    const char *name;
    locum_status (*create)(uint32_t depth, struct async_request *requests, void **state,
                           locum_error *error);
    void (*submit)(void *state, uint32_t index);
    // Indices of ended requests, at most max. Waits for the first one, at most timeout_ns.
    size_t (*collect)(void *state, uint32_t *indices, size_t max, uint64_t timeout_ns);
    uint64_t (*busy_ns)(void *state, uint64_t now_ns);
    void (*destroy)(void *state); // nothing is in flight
};

extern const struct async_backend async_threads_backend;
#if LOCUM_HAVE_LIBURING
extern const struct async_backend async_uring_backend;
#endif

#endif

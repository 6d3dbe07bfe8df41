// SPDX-License-Identifier: Apache-2.0
#include "platform/async_read.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "platform/async_internal.h"
#include "platform/clock.h"

struct async_read {
    const struct async_backend *backend;
    void *state; // of the backend
    uint32_t depth, out;
    struct async_request *requests; // [depth]
    uint32_t *unused;               // [depth], the first depth - out are indices of free requests
    uint32_t *ended;                // [depth], scratch of wait
    struct async_read_stats stats;
    char fallback[160]; // why AUTO did not take io_uring
};

static locum_status create_uring(struct async_read *queue, locum_error *error) {
#if LOCUM_HAVE_LIBURING
    queue->backend = &async_uring_backend;
    return queue->backend->create(queue->depth, queue->requests, &queue->state, error);
#else
    (void)queue;
    return status_fail(error, LOCUM_E_UNSUPPORTED, "this build has no io_uring");
#endif
}

static locum_status create_threads(struct async_read *queue, locum_error *error) {
    queue->backend = &async_threads_backend;
    return queue->backend->create(queue->depth, queue->requests, &queue->state, error);
}

static locum_status create_backend(struct async_read *queue, enum async_read_kind kind,
                                   locum_error *error) {
    if (kind == ASYNC_READ_THREADS) return create_threads(queue, error);
    if (kind == ASYNC_READ_URING) return create_uring(queue, error);
    locum_error refusal;
    if (create_uring(queue, &refusal) == LOCUM_OK) return LOCUM_OK;
    snprintf(queue->fallback, sizeof queue->fallback, "%.*s", (int)sizeof queue->fallback - 1,
             refusal.text);
    return create_threads(queue, error);
}

// The queue and its three arrays in one piece of memory.
static struct async_read *allocate(uint32_t depth) {
    size_t bytes =
        sizeof(struct async_read) + depth * (sizeof(struct async_request) + 2 * sizeof(uint32_t));
    struct async_read *queue = heap_resize(NULL, bytes);
    if (queue == NULL) return NULL;
    memset(queue, 0, bytes);
    queue->depth = depth;
    queue->requests = (struct async_request *)(queue + 1);
    queue->unused = (uint32_t *)(queue->requests + depth);
    queue->ended = queue->unused + depth;
    for (uint32_t i = 0; i < depth; i++)
        queue->unused[i] = depth - 1 - i;
    return queue;
}

locum_status async_read_create(enum async_read_kind kind, uint32_t depth, struct async_read **out,
                               locum_error *error) {
    LOCUM_ASSERT(depth >= 1 && depth <= ASYNC_READ_DEPTH_MAX);
    *out = NULL;
    struct async_read *queue = allocate(depth);
    if (queue == NULL)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a queue of %u reads",
                           depth);
    locum_status status = create_backend(queue, kind, error);
    if (status == LOCUM_OK)
        *out = queue;
    else
        heap_free(queue);
    return status;
}

void async_read_destroy(struct async_read *queue) {
    if (queue == NULL) return;
    while (queue->out > 0)
        queue->out -= (uint32_t)queue->backend->collect(queue->state, queue->ended, queue->depth,
                                                        ASYNC_READ_FOREVER);
    queue->backend->destroy(queue->state);
    heap_free(queue);
}

const char *async_read_name(const struct async_read *queue) {
    return queue->backend->name;
}

const char *async_read_fallback_reason(const struct async_read *queue) {
    return queue->fallback[0] != '\0' ? queue->fallback : NULL;
}

bool async_read_submit(struct async_read *queue, const struct platform_file *file, void *buffer,
                       size_t bytes, uint64_t offset, uint64_t tag) {
    LOCUM_ASSERT(bytes > 0);
    if (file->direct) LOCUM_ASSERT(((uintptr_t)buffer | bytes | offset) % FILE_BLOCK == 0);
    if (queue->out == queue->depth) return false;
    uint32_t index = queue->unused[queue->depth - ++queue->out];
    queue->requests[index] = (struct async_request){
        .file = file,
        .transfer = {.buffer = buffer, .bytes = bytes, .offset = offset},
        .tag = tag,
        .started_ns = clock_now_ns(),
    };
    if (queue->out > queue->stats.out_max) queue->stats.out_max = queue->out;
    queue->backend->submit(queue->state, index);
    return true;
}

static struct async_read_done done_of(const struct async_request *request) {
    return (struct async_read_done){
        .tag = request->tag,
        .status = request->transfer.error == 0 ? LOCUM_OK : LOCUM_E_IO,
        .system_error = request->transfer.error,
        .bytes = request->transfer.done,
        .latency_ns = request->finished_ns - request->started_ns,
        .file = request->file,
        .offset = request->transfer.offset,
        .bytes_wanted = request->transfer.bytes,
    };
}

size_t async_read_wait(struct async_read *queue, struct async_read_done *done, size_t max,
                       uint64_t timeout_ns) {
    if (queue->out == 0 || max == 0) return 0;
    if (max > queue->out) max = queue->out;
    size_t count = queue->backend->collect(queue->state, queue->ended, max, timeout_ns);
    for (size_t i = 0; i < count; i++) {
        uint32_t index = queue->ended[i];
        const struct async_request *request = &queue->requests[index];
        done[i] = done_of(request);
        queue->stats.reads++;
        queue->stats.bytes += request->transfer.done;
        queue->stats.resubmits += request->resubmits;
        queue->unused[queue->depth - queue->out--] = index;
    }
    return count;
}

locum_status async_read_failed(const struct async_read_done *done, locum_error *error) {
    if (done->status == LOCUM_OK) return LOCUM_OK;
    return file_read_failed(done->file, done->bytes_wanted, done->offset, done->system_error,
                            error);
}

uint32_t async_read_out(const struct async_read *queue) {
    return queue->out;
}

void async_read_get_stats(const struct async_read *queue, struct async_read_stats *out) {
    *out = queue->stats;
    out->busy_ns = queue->backend->busy_ns(queue->state, clock_now_ns());
}

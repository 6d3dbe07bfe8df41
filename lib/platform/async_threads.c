// SPDX-License-Identifier: Apache-2.0
//
// A few threads that block in the file's read method. Two rings of indices, waiting and ended, are
// all that the consumer and the threads share.
#include <string.h>

#include "base/check.h"
#include "platform/async_internal.h"
#include "platform/clock.h"
#include "platform/thread.h"

// Blocking reads of an expert's size keep a fast drive busy from two at once; the rest is for
// stragglers.
enum { ASYNC_THREADS_MAX = 4 };

struct ring {
    uint32_t *items; // [depth of the queue]: it cannot overflow
    uint32_t first, count;
};

struct async_threads {
    struct async_request *requests;
    uint32_t depth;
    uint32_t threads;
    struct thread thread[ASYNC_THREADS_MAX];
    // guards everything below, and requests on their way through the rings
    struct thread_mutex mutex;
    struct thread_condition work, news; // for the threads, for the consumer
    struct ring waiting, ended;
    struct async_busy busy;
    bool stop;
};

static void ring_push(struct ring *ring, uint32_t depth, uint32_t item) {
    LOCUM_ASSERT(ring->count < depth);
    ring->items[(ring->first + ring->count++) % depth] = item;
}

static uint32_t ring_pop(struct ring *ring, uint32_t depth) {
    LOCUM_ASSERT(ring->count > 0);
    uint32_t item = ring->items[ring->first];
    ring->first = (ring->first + 1) % depth;
    ring->count--;
    return item;
}

static void run_request(struct async_request *request) {
    const struct platform_file *file = request->file;
    struct file_transfer *transfer = &request->transfer;
    for (;;) {
        int64_t result = file->methods->read(
            file->methods->user, file->handle, transfer->buffer + transfer->done,
            file_transfer_next(transfer), transfer->offset + transfer->done);
        if (!file_transfer_step(file, transfer, result)) return;
        request->resubmits++;
    }
}

static void thread_main(void *user) {
    struct async_threads *pool = user;
    thread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->waiting.count == 0 && !pool->stop)
            thread_condition_wait(&pool->work, &pool->mutex, THREAD_FOREVER);
        if (pool->waiting.count == 0) break;
        uint32_t index = ring_pop(&pool->waiting, pool->depth);
        thread_mutex_unlock(&pool->mutex);
        run_request(&pool->requests[index]);
        thread_mutex_lock(&pool->mutex);
        pool->requests[index].finished_ns = clock_now_ns();
        async_busy_end(&pool->busy, pool->requests[index].finished_ns);
        ring_push(&pool->ended, pool->depth, index);
        thread_condition_signal(&pool->news);
    }
    thread_mutex_unlock(&pool->mutex);
}

static void threads_destroy(void *state) {
    struct async_threads *pool = state;
    thread_mutex_lock(&pool->mutex);
    LOCUM_ASSERT(pool->waiting.count == 0);
    pool->stop = true;
    thread_condition_broadcast(&pool->work);
    thread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->threads; i++)
        thread_join(&pool->thread[i]);
    thread_condition_destroy(&pool->news);
    thread_condition_destroy(&pool->work);
    thread_mutex_destroy(&pool->mutex);
    heap_free(pool);
}

static locum_status threads_create(uint32_t depth, struct async_request *requests, void **state,
                                   locum_error *error) {
    size_t bytes = sizeof(struct async_threads) + 2 * depth * sizeof(uint32_t);
    struct async_threads *pool = heap_resize(NULL, bytes);
    if (pool == NULL)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a queue of %u reads",
                           depth);
    memset(pool, 0, bytes);
    pool->requests = requests;
    pool->depth = depth;
    pool->waiting.items = (uint32_t *)(pool + 1);
    pool->ended.items = pool->waiting.items + depth;
    thread_mutex_init(&pool->mutex);
    thread_condition_init(&pool->work);
    thread_condition_init(&pool->news);
    uint32_t threads = depth < ASYNC_THREADS_MAX ? depth : ASYNC_THREADS_MAX;
    while (pool->threads < threads) {
        locum_status status =
            thread_start(&pool->thread[pool->threads], "locum-read", 0, thread_main, pool, error);
        if (status != LOCUM_OK) {
            threads_destroy(pool);
            return status;
        }
        pool->threads++;
    }
    *state = pool;
    return LOCUM_OK;
}

static void threads_submit(void *state, uint32_t index) {
    struct async_threads *pool = state;
    thread_mutex_lock(&pool->mutex);
    async_busy_begin(&pool->busy, pool->requests[index].started_ns);
    ring_push(&pool->waiting, pool->depth, index);
    thread_condition_signal(&pool->work);
    thread_mutex_unlock(&pool->mutex);
}

static size_t threads_collect(void *state, uint32_t *indices, size_t max, uint64_t timeout_ns) {
    struct async_threads *pool = state;
    uint64_t start = timeout_ns == 0 || timeout_ns == ASYNC_READ_FOREVER ? 0 : clock_now_ns();
    size_t count = 0;
    thread_mutex_lock(&pool->mutex);
    while (pool->ended.count == 0 && timeout_ns != 0) {
        uint64_t left = timeout_ns;
        if (timeout_ns != ASYNC_READ_FOREVER) {
            uint64_t passed = clock_now_ns() - start;
            if (passed >= timeout_ns) break;
            left = timeout_ns - passed;
        }
        thread_condition_wait(&pool->news, &pool->mutex, left);
    }
    while (count < max && pool->ended.count > 0)
        indices[count++] = ring_pop(&pool->ended, pool->depth);
    thread_mutex_unlock(&pool->mutex);
    return count;
}

static uint64_t threads_busy_ns(void *state, uint64_t now_ns) {
    struct async_threads *pool = state;
    thread_mutex_lock(&pool->mutex);
    uint64_t total = pool->busy.total_ns;
    if (pool->busy.in_flight > 0) total += now_ns - pool->busy.since_ns;
    thread_mutex_unlock(&pool->mutex);
    return total;
}

const struct async_backend async_threads_backend = {
    .name = "threads",
    .create = threads_create,
    .submit = threads_submit,
    .collect = threads_collect,
    .busy_ns = threads_busy_ns,
    .destroy = threads_destroy,
};

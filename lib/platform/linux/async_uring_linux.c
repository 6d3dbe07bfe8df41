// SPDX-License-Identifier: Apache-2.0
//
// One ring with room for every request of the queue, so that neither of its sides can overflow. The
// kernel may refuse rings altogether (old, seccomp, kernel.io_uring_disabled): creation then fails
// and says why.
#include <errno.h>
#include <liburing.h>

#include "base/check.h"
#include "platform/async_internal.h"
#include "platform/clock.h"
#include "platform/system_error.h"

enum {
    NS_PER_S = 1000000000,
    SUBMIT_PAUSE_NS = 100 * 1000, // when the kernel is out of resources for the moment
};

struct async_uring {
    struct io_uring ring;
    struct async_request *requests;
    uint32_t unsent; // entries that are in the ring but not known to the kernel yet
    struct async_busy busy;
};

static locum_status uring_create(uint32_t depth, struct async_request *requests, void **state,
                                 locum_error *error) {
    struct async_uring *uring = heap_resize(NULL, sizeof *uring);
    if (uring == NULL)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for a queue of %u reads",
                           depth);
    *uring = (struct async_uring){.requests = requests};
    int result = io_uring_queue_init(depth, &uring->ring, 0);
    if (result < 0) {
        heap_free(uring);
        return status_fail(error, LOCUM_E_UNSUPPORTED, "the kernel refuses io_uring: %s",
                           system_error_of(-result).text);
    }
    struct io_uring_probe *probe = io_uring_get_probe_ring(&uring->ring);
    bool can_read = probe != NULL && io_uring_opcode_supported(probe, IORING_OP_READ);
    // Waits with a timeout would need entries of their own in older kernels (before 5.11).
    bool can_wait = (uring->ring.features & IORING_FEAT_EXT_ARG) != 0;
    io_uring_free_probe(probe);
    if (!can_read || !can_wait) {
        io_uring_queue_exit(&uring->ring);
        heap_free(uring);
        return status_fail(error, LOCUM_E_UNSUPPORTED, "the kernel's io_uring is too old");
    }
    *state = uring;
    return LOCUM_OK;
}

static void uring_destroy(void *state) {
    struct async_uring *uring = state;
    LOCUM_ASSERT(uring->busy.in_flight == 0);
    io_uring_queue_exit(&uring->ring);
    heap_free(uring);
}

// Hand prepared entries to the kernel. What it does not take now stays in the ring for the next
// try.
static void send_entries(struct async_uring *uring) {
    while (uring->unsent > 0) {
        int result = io_uring_submit(&uring->ring);
        if (result >= 0) {
            LOCUM_ASSERT((uint32_t)result <= uring->unsent);
            uring->unsent -= (uint32_t)result;
            if (result == 0) return;
        } else if (result != -EINTR) {
            LOCUM_ASSERT(result == -EAGAIN || result == -EBUSY || result == -ENOMEM);
            return;
        }
    }
}

static void prepare(struct async_uring *uring, uint32_t index) {
    struct async_request *request = &uring->requests[index];
    const struct file_transfer *transfer = &request->transfer;
    struct io_uring_sqe *entry = io_uring_get_sqe(&uring->ring);
    LOCUM_ASSERT(entry != NULL);
    io_uring_prep_read(entry, (int)request->file->handle, transfer->buffer + transfer->done,
                       (unsigned)file_transfer_next(transfer), transfer->offset + transfer->done);
    io_uring_sqe_set_data64(entry, index);
    // Begun by a thread of the kernel. Else the consumer would spend its own time on it: on finding
    // and clearing the pages of a direct read when they are used for the first time, or on copying
    // what a buffered one finds in the page cache.
    io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
    uring->unsent++;
}

static void uring_submit(void *state, uint32_t index) {
    struct async_uring *uring = state;
    async_busy_begin(&uring->busy, uring->requests[index].started_ns);
    prepare(uring, index);
    send_entries(uring);
}

// Take one answer of the kernel. true: the request has ended.
static bool take(struct async_uring *uring, struct io_uring_cqe *answer, uint32_t *index) {
    *index = (uint32_t)io_uring_cqe_get_data64(answer);
    int64_t result = answer->res;
    io_uring_cqe_seen(&uring->ring, answer);
    struct async_request *request = &uring->requests[*index];
    const struct file_methods *methods = request->file->methods;
    if (methods->filter != NULL)
        result = methods->filter(methods->user, request->file->handle,
                                 file_transfer_next(&request->transfer),
                                 request->transfer.offset + request->transfer.done, result);
    if (file_transfer_step(request->file, &request->transfer, result)) {
        request->resubmits++;
        prepare(uring, *index);
        return false;
    }
    request->finished_ns = clock_now_ns();
    async_busy_end(&uring->busy, request->finished_ns);
    return true;
}

// Sleep until an answer may be there. false: the time is over.
static bool sleep_until_answer(struct async_uring *uring, uint64_t timeout_ns, uint64_t start_ns) {
    struct io_uring_cqe *answer;
    if (uring->unsent > 0) { // the kernel had no resources: give it a moment
        clock_sleep_ns(SUBMIT_PAUSE_NS);
        return timeout_ns == ASYNC_READ_FOREVER || clock_now_ns() - start_ns < timeout_ns;
    }
    int result;
    if (timeout_ns == ASYNC_READ_FOREVER) {
        result = io_uring_wait_cqe(&uring->ring, &answer);
    } else {
        uint64_t passed = clock_now_ns() - start_ns;
        if (passed >= timeout_ns) return false;
        uint64_t left = timeout_ns - passed;
        struct __kernel_timespec limit = {.tv_sec = (long long)(left / NS_PER_S),
                                          .tv_nsec = (long long)(left % NS_PER_S)};
        result = io_uring_wait_cqe_timeout(&uring->ring, &answer, &limit);
    }
    LOCUM_ASSERT(result == 0 || result == -EINTR || result == -ETIME || result == -EAGAIN);
    return true;
}

static size_t uring_collect(void *state, uint32_t *indices, size_t max, uint64_t timeout_ns) {
    struct async_uring *uring = state;
    uint64_t start_ns = clock_now_ns();
    size_t count = 0;
    for (;;) {
        struct io_uring_cqe *answer;
        while (count < max && io_uring_peek_cqe(&uring->ring, &answer) == 0)
            count += take(uring, answer, &indices[count]);
        send_entries(uring); // the rest of partial reads
        if (count > 0 || timeout_ns == 0 || !sleep_until_answer(uring, timeout_ns, start_ns))
            return count;
    }
}

static uint64_t uring_busy_ns(void *state, uint64_t now_ns) {
    const struct async_uring *uring = state;
    if (uring->busy.in_flight == 0) return uring->busy.total_ns;
    return uring->busy.total_ns + (now_ns - uring->busy.since_ns);
}

const struct async_backend async_uring_backend = {
    .name = "io_uring",
    .create = uring_create,
    .submit = uring_submit,
    .collect = uring_collect,
    .busy_ns = uring_busy_ns,
    .destroy = uring_destroy,
};

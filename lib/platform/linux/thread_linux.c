// SPDX-License-Identifier: Apache-2.0
//
// Gates on the futex system call.
#include "platform/thread.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

static_assert(sizeof(_Atomic uint32_t) == 4, "the kernel compares a 32-bit word");

enum { NS_PER_S = 1000000000 };

void thread_gate_init(struct thread_gate *gate, uint32_t word) {
    atomic_init(&gate->word, word);
}

void thread_gate_destroy(struct thread_gate *gate) {
    (void)gate;
}

bool thread_gate_wait(struct thread_gate *gate, uint32_t seen, uint64_t timeout_ns) {
    struct timespec limit = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
                             .tv_nsec = (long)(timeout_ns % NS_PER_S)};
    struct timespec *timeout = timeout_ns == THREAD_FOREVER ? NULL : &limit;
    long result = syscall(SYS_futex, &gate->word, FUTEX_WAIT_PRIVATE, seen, timeout, NULL, 0);
    if (result == 0 || errno == EAGAIN || errno == EINTR) return true;
    LOCUM_ASSERT(errno == ETIMEDOUT);
    return false;
}

static void wake(struct thread_gate *gate, int count) {
    long result = syscall(SYS_futex, &gate->word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    LOCUM_ASSERT(result >= 0);
}

void thread_gate_wake_one(struct thread_gate *gate) {
    wake(gate, 1);
}

void thread_gate_wake_all(struct thread_gate *gate) {
    wake(gate, INT_MAX);
}

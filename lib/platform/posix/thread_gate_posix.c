// SPDX-License-Identifier: Apache-2.0
//
// Gates for systems without a futex. The waker takes the mutex between the change of the word and
// the signal: a thread that has compared the word inside the mutex is then either asleep, and is
// woken, or has not compared yet, and sees the change.
#include "platform/thread.h"

#include <stdatomic.h>

void thread_gate_init(struct thread_gate *gate, uint32_t word) {
    atomic_init(&gate->word, word);
    thread_mutex_init(&gate->mutex);
    thread_condition_init(&gate->condition);
}

void thread_gate_destroy(struct thread_gate *gate) {
    thread_condition_destroy(&gate->condition);
    thread_mutex_destroy(&gate->mutex);
}

bool thread_gate_wait(struct thread_gate *gate, uint32_t seen, uint64_t timeout_ns) {
    bool in_time = true;
    thread_mutex_lock(&gate->mutex);
    if (atomic_load(&gate->word) == seen)
        in_time = thread_condition_wait(&gate->condition, &gate->mutex, timeout_ns);
    thread_mutex_unlock(&gate->mutex);
    return in_time;
}

void thread_gate_wake_one(struct thread_gate *gate) {
    thread_mutex_lock(&gate->mutex);
    thread_condition_signal(&gate->condition);
    thread_mutex_unlock(&gate->mutex);
}

void thread_gate_wake_all(struct thread_gate *gate) {
    thread_mutex_lock(&gate->mutex);
    thread_condition_broadcast(&gate->condition);
    thread_mutex_unlock(&gate->mutex);
}

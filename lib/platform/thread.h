// SPDX-License-Identifier: Apache-2.0
//
// Owns:      threads, mutexes, condition variables, gates (a word that threads can sleep on).
// Called by: exec (thread team), async_read, engine.
// Threads:   that is the subject. Counters and flags use C11 atomics directly.
// Errors:    thread_start: LOCUM_E_SYSTEM. Everything else cannot fail; a failure is a broken
//            invariant.
// Not here:  how work is shared (exec's team), which cpus there are (cpu.h).
#ifndef PLATFORM_THREAD_H
#define PLATFORM_THREAD_H

#include "base/status.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_FOREVER UINT64_MAX

// Room for the system's own objects; thread_posix.c asserts that they fit.
struct thread {
    alignas(16) unsigned char storage[32];
};
struct thread_mutex {
    alignas(16) unsigned char storage[64];
};
struct thread_condition {
    alignas(16) unsigned char storage[64];
};

enum { THREAD_STACK_DEFAULT = 256 << 10 }; // library code keeps its frames small

typedef void (*thread_fn)(void *user);
// name: at most 15 characters are kept, for debuggers. stack_bytes 0: THREAD_STACK_DEFAULT. All
// signals are blocked in the new thread: they belong to the host's threads.
locum_status thread_start(struct thread *thread, const char *name, size_t stack_bytes,
                          thread_fn function, void *user, locum_error *error);
void thread_join(struct thread *thread);

void thread_mutex_init(struct thread_mutex *mutex);
void thread_mutex_destroy(struct thread_mutex *mutex);
void thread_mutex_lock(struct thread_mutex *mutex);
void thread_mutex_unlock(struct thread_mutex *mutex);

void thread_condition_init(struct thread_condition *condition);
void thread_condition_destroy(struct thread_condition *condition);
// Woken without cause at times, as everywhere: wait in a loop. false: the time is over.
bool thread_condition_wait(struct thread_condition *condition, struct thread_mutex *mutex,
                           uint64_t timeout_ns);
void thread_condition_signal(struct thread_condition *condition);
void thread_condition_broadcast(struct thread_condition *condition);

// A word to sleep on. Whoever changes it does so with an atomic store or add on `word`, then wakes.
// Nobody sleeps through a change: wait returns at once if the word is no longer what was seen.
struct thread_gate {
    _Atomic uint32_t word;
    struct thread_mutex mutex; // these two only where the system has no futex
    struct thread_condition condition;
};
void thread_gate_init(struct thread_gate *gate, uint32_t word);
void thread_gate_destroy(struct thread_gate *gate);
// Sleep while word == seen, at most timeout_ns; may return early. false: the time is over.
bool thread_gate_wait(struct thread_gate *gate, uint32_t seen, uint64_t timeout_ns);
void thread_gate_wake_one(struct thread_gate *gate);
void thread_gate_wake_all(struct thread_gate *gate);

void thread_yield(void);

// In a spinning loop: let the sibling of the core work.
static inline void thread_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#endif

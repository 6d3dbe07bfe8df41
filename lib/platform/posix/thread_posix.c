// SPDX-License-Identifier: Apache-2.0
#include "platform/thread.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/check.h"
#include "platform/system_error.h"
#include "platform/vmem.h"

enum { NS_PER_S = 1000000000 };

// What struct thread holds. It stays at its address until the join.
struct thread_body {
    pthread_t id;
    thread_fn function;
    void *user;
};

static_assert(sizeof(struct thread_body) <= sizeof(struct thread), "storage of a thread");
static_assert(sizeof(pthread_mutex_t) <= sizeof(struct thread_mutex), "storage of a mutex");
static_assert(sizeof(pthread_cond_t) <= sizeof(struct thread_condition), "storage of a condition");

static pthread_mutex_t *mutex_of(struct thread_mutex *mutex) {
    return (void *)mutex->storage;
}

static pthread_cond_t *condition_of(struct thread_condition *condition) {
    return (void *)condition->storage;
}

// pthread functions give the error number; other than the few that are handled, each is a bug.
static void must(int failed) {
    LOCUM_ASSERT(!failed);
}

static void *thread_main(void *argument) {
    struct thread_body *body = argument;
    body->function(body->user);
    return NULL;
}

static void name_thread(pthread_t id, const char *name) {
#ifdef __linux__
    char text[16];
    snprintf(text, sizeof text, "%.15s", name);
    pthread_setname_np(id, text); // for debuggers only: a failure does not matter
#else
    (void)id;
    (void)name;
#endif
}

locum_status thread_start(struct thread *thread, const char *name, size_t stack_bytes,
                          thread_fn function, void *user, locum_error *error) {
    struct thread_body *body = (void *)thread->storage;
    body->function = function;
    body->user = user;
    if (stack_bytes == 0) stack_bytes = THREAD_STACK_DEFAULT;
    if (stack_bytes < (size_t)PTHREAD_STACK_MIN) stack_bytes = (size_t)PTHREAD_STACK_MIN;
    bool fits = vmem_round(stack_bytes, &stack_bytes);
    LOCUM_ASSERT(fits);
    pthread_attr_t attributes;
    must(pthread_attr_init(&attributes));
    must(pthread_attr_setstacksize(&attributes, stack_bytes));
    sigset_t all, before; // a new thread inherits the mask of its creator
    sigfillset(&all);
    must(pthread_sigmask(SIG_SETMASK, &all, &before));
    int failed = pthread_create(&body->id, &attributes, thread_main, body);
    must(pthread_sigmask(SIG_SETMASK, &before, NULL));
    must(pthread_attr_destroy(&attributes));
    if (failed)
        return status_fail(error, LOCUM_E_SYSTEM, "thread '%s' cannot be started: %s", name,
                           system_error_of(failed).text);
    name_thread(body->id, name);
    return LOCUM_OK;
}

void thread_join(struct thread *thread) {
    struct thread_body *body = (void *)thread->storage;
    must(pthread_join(body->id, NULL));
}

void thread_yield(void) {
    sched_yield();
}

void thread_mutex_init(struct thread_mutex *mutex) {
    must(pthread_mutex_init(mutex_of(mutex), NULL));
}

void thread_mutex_destroy(struct thread_mutex *mutex) {
    must(pthread_mutex_destroy(mutex_of(mutex)));
}

void thread_mutex_lock(struct thread_mutex *mutex) {
    must(pthread_mutex_lock(mutex_of(mutex)));
}

void thread_mutex_unlock(struct thread_mutex *mutex) {
    must(pthread_mutex_unlock(mutex_of(mutex)));
}

void thread_condition_init(struct thread_condition *condition) {
    pthread_condattr_t attributes; // timeouts must not depend on the wall clock
    must(pthread_condattr_init(&attributes));
    must(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
    must(pthread_cond_init(condition_of(condition), &attributes));
    must(pthread_condattr_destroy(&attributes));
}

void thread_condition_destroy(struct thread_condition *condition) {
    must(pthread_cond_destroy(condition_of(condition)));
}

bool thread_condition_wait(struct thread_condition *condition, struct thread_mutex *mutex,
                           uint64_t timeout_ns) {
    if (timeout_ns == THREAD_FOREVER) {
        must(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
        return true;
    }
    struct timespec end;
    must(clock_gettime(CLOCK_MONOTONIC, &end));
    end.tv_sec += (time_t)(timeout_ns / NS_PER_S);
    end.tv_nsec += (long)(timeout_ns % NS_PER_S);
    if (end.tv_nsec >= NS_PER_S) {
        end.tv_sec++;
        end.tv_nsec -= NS_PER_S;
    }
    int result = pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), &end);
    if (result == ETIMEDOUT) return false;
    must(result);
    return true;
}

void thread_condition_signal(struct thread_condition *condition) {
    must(pthread_cond_signal(condition_of(condition)));
}

void thread_condition_broadcast(struct thread_condition *condition) {
    must(pthread_cond_broadcast(condition_of(condition)));
}

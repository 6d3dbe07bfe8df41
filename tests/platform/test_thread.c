// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/thread.h"

struct shared {
    struct thread_mutex mutex;
    struct thread_condition condition;
    uint64_t count;
    int turn;
};

static void shared_init(struct shared *shared) {
    thread_mutex_init(&shared->mutex);
    thread_condition_init(&shared->condition);
    shared->count = 0;
    shared->turn = 0;
}

static void shared_destroy(struct shared *shared) {
    thread_condition_destroy(&shared->condition);
    thread_mutex_destroy(&shared->mutex);
}

static void count_many(void *user) {
    struct shared *shared = user;
    for (int i = 0; i < 10000; i++) {
        thread_mutex_lock(&shared->mutex);
        shared->count++;
        thread_mutex_unlock(&shared->mutex);
    }
}

static void a_mutex_excludes(void **state) {
    (void)state;
    struct shared shared;
    struct thread threads[4];
    shared_init(&shared);
    for (int i = 0; i < 4; i++)
        assert_int_equal(thread_start(&threads[i], "count", 0, count_many, &shared, NULL),
                         LOCUM_OK);
    for (int i = 0; i < 4; i++)
        thread_join(&threads[i]);
    assert_int_equal(shared.count, 40000);
    shared_destroy(&shared);
}

enum { TURNS = 1000 };

static void take_turns(struct shared *shared, int mine) {
    thread_mutex_lock(&shared->mutex);
    for (int i = 0; i < TURNS; i++) {
        while (shared->turn != mine)
            thread_condition_wait(&shared->condition, &shared->mutex, THREAD_FOREVER);
        shared->count++;
        shared->turn = !mine;
        thread_condition_signal(&shared->condition);
    }
    thread_mutex_unlock(&shared->mutex);
}

static void take_turns_as_second(void *user) {
    take_turns(user, 1);
}

static void a_condition_hands_over(void **state) {
    (void)state;
    struct shared shared;
    struct thread thread;
    shared_init(&shared);
    assert_int_equal(thread_start(&thread, "turns", 0, take_turns_as_second, &shared, NULL),
                     LOCUM_OK);
    take_turns(&shared, 0);
    thread_join(&thread);
    assert_int_equal(shared.count, 2 * TURNS);
    shared_destroy(&shared);
}

static void a_condition_gives_up_in_time(void **state) {
    (void)state;
    struct shared shared;
    shared_init(&shared);
    thread_mutex_lock(&shared.mutex);
    uint64_t start = clock_now_ns();
    while (thread_condition_wait(&shared.condition, &shared.mutex, 2000000)) {}
    assert_true(clock_now_ns() - start >= 2000000);
    thread_mutex_unlock(&shared.mutex);
    shared_destroy(&shared);
}

struct facts {
    bool blocked;
    char name[16];
    size_t stack;
};

static void look_around(void *user) {
    struct facts *facts = user;
    sigset_t mask;
    pthread_attr_t attributes;
    void *address;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    facts->blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM);
    for (int i = 0; i < 1000 && strcmp(facts->name, "0123456789abcde") != 0; i++) {
        pthread_getname_np(pthread_self(), facts->name, sizeof facts->name); // set by the starter
        clock_sleep_ns(1000000);
    }
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &address, &facts->stack);
    pthread_attr_destroy(&attributes);
}

static void a_thread_has_its_name_and_stack_and_no_signals(void **state) {
    (void)state;
    struct facts facts = {0};
    struct thread thread;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(thread_start(&thread, "0123456789abcdefgh", 300001, look_around, &facts, NULL),
                     LOCUM_OK);
    thread_join(&thread);
    assert_true(facts.blocked);
    assert_string_equal(facts.name, "0123456789abcde");
    assert_true(facts.stack >= 300001);
#ifndef __SANITIZE_THREAD__ // it enlarges stacks for itself
    assert_true(facts.stack < 300001 + (64 << 10));
#endif
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

static void an_impossible_stack_is_an_error(void **state) {
    (void)state;
    struct thread thread;
    locum_error error;
    locum_status status =
        thread_start(&thread, "large", (size_t)1 << 60, look_around, NULL, &error);
    assert_int_equal(status, LOCUM_E_SYSTEM);
    assert_non_null(strstr(error.text, "large"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutex_excludes),
        cmocka_unit_test(a_condition_hands_over),
        cmocka_unit_test(a_condition_gives_up_in_time),
        cmocka_unit_test(a_thread_has_its_name_and_stack_and_no_signals),
        cmocka_unit_test(an_impossible_stack_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Built twice: with the futex gates of the library, and with those for systems without a futex.
#include <stdatomic.h>

#include "platform/clock.h"
#include "platform/thread.h"

enum { WAITERS = 6, TURNS = 2000 };

struct game {
    struct thread_gate gate; // word: 0 first's turn, 1 second's turn
    uint64_t count;          // whoever has the turn
};

static void play(struct game *game, uint32_t mine) {
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&game->gate.word) != mine)
            thread_gate_wait(&game->gate, !mine, THREAD_FOREVER);
        game->count++;
        atomic_store(&game->gate.word, !mine);
        thread_gate_wake_one(&game->gate);
    }
}

static void play_second(void *user) {
    play(user, 1);
}

static void no_wake_up_is_lost(void **state) {
    (void)state;
    struct game game = {.count = 0};
    struct thread thread;
    thread_gate_init(&game.gate, 0);
    assert_int_equal(thread_start(&thread, "game", 0, play_second, &game, NULL), LOCUM_OK);
    play(&game, 0);
    thread_join(&thread);
    assert_int_equal(game.count, 2 * TURNS);
    thread_gate_destroy(&game.gate);
}

static void a_changed_word_is_not_slept_on(void **state) {
    (void)state;
    struct thread_gate gate;
    thread_gate_init(&gate, 5);
    assert_true(thread_gate_wait(&gate, 4, THREAD_FOREVER)); // would never end otherwise
    thread_gate_wake_one(&gate);
    thread_gate_wake_all(&gate); // nobody there
    thread_gate_destroy(&gate);
}

static void waiting_gives_up_in_time(void **state) {
    (void)state;
    struct thread_gate gate;
    thread_gate_init(&gate, 5);
    uint64_t start = clock_now_ns();
    while (thread_gate_wait(&gate, 5, 2000000)) {}
    assert_true(clock_now_ns() - start >= 2000000);
    assert_false(thread_gate_wait(&gate, 5, 0));
    thread_gate_destroy(&gate);
}

struct crowd {
    struct thread_gate start;
    _Atomic uint32_t arrived, left;
};

static void wait_for_start(void *user) {
    struct crowd *crowd = user;
    atomic_fetch_add(&crowd->arrived, 1);
    while (atomic_load(&crowd->start.word) == 0)
        thread_gate_wait(&crowd->start, 0, THREAD_FOREVER);
    atomic_fetch_add(&crowd->left, 1);
}

static void all_are_woken(void **state) {
    (void)state;
    struct crowd crowd = {.arrived = 0};
    struct thread threads[WAITERS];
    thread_gate_init(&crowd.start, 0);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(thread_start(&threads[i], "crowd", 0, wait_for_start, &crowd, NULL),
                         LOCUM_OK);
    while (atomic_load(&crowd.arrived) < WAITERS)
        thread_yield();
    clock_sleep_ns(2000000); // most of them sleep by now; if not, the test is only easier
    assert_int_equal(atomic_load(&crowd.left), 0);
    atomic_store(&crowd.start.word, 1);
    thread_gate_wake_all(&crowd.start);
    for (int i = 0; i < WAITERS; i++)
        thread_join(&threads[i]);
    assert_int_equal(atomic_load(&crowd.left), WAITERS);
    thread_gate_destroy(&crowd.start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(a_changed_word_is_not_slept_on),
        cmocka_unit_test(waiting_gives_up_in_time),
        cmocka_unit_test(all_are_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

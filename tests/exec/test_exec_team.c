// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>

#include "exec/exec_team.h"
#include "platform/thread.h"

// ---- every item of every phase is taken exactly once, and phases do not overlap --------------------
enum { ITEMS = 1000, PHASES = 200 };

struct sums {
    struct exec_team *team;
    uint32_t taken[ITEMS];   // plain memory: the meeting points must order it
    _Atomic uint64_t visits; // workers that entered
    uint32_t phase;
};

static void count_items(void *user, uint32_t worker) {
    struct sums *s = user;
    atomic_fetch_add(&s->visits, 1);
    for (uint32_t p = 0; p < PHASES; p++) {
        for (size_t begin, end; exec_team_take(s->team, worker, ITEMS, 7, &begin, &end);) {
            for (size_t i = begin; i < end; i++)
                s->taken[i]++;
        }
        assert_true(exec_team_sync(s->team));
        if (worker == 0) s->phase++;
        assert_true(exec_team_sync(s->team));
        assert_int_equal(s->phase, p + 1); // nobody is ahead or behind
    }
}

static void run_with(uint32_t threads, uint32_t cpus) {
    static struct sums s;
    memset(&s, 0, sizeof s);
    locum_error error;
    assert_int_equal(exec_team_create(threads, cpus, &s.team, &error), LOCUM_OK);
    assert_int_equal(exec_team_size(s.team), threads);
    exec_team_run(s.team, count_items, &s, NULL);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(s.taken[i], PHASES);
    assert_int_equal(s.visits, threads);
    exec_team_destroy(s.team);
}

static void items_are_taken_once(void **state) {
    (void)state;
    run_with(1, 1);
    run_with(2, 2);
    run_with(7, 2); // more threads than processors: sleeping instead of spinning
    run_with(7, 64);
}

// ---- a stop is seen by all at the same meeting point ----------------------------------------------
struct stopping {
    struct exec_team *team;
    _Atomic uint32_t firsts;
    uint32_t left_at[64];
};

static void stop_in_phase_five(void *user, uint32_t worker) {
    struct stopping *s = user;
    for (uint32_t p = 0;; p++) {
        if (p == 5 && worker % 2 == 0 && exec_team_stop(s->team)) atomic_fetch_add(&s->firsts, 1);
        s->left_at[worker] = p;
        if (!exec_team_sync(s->team)) return;
    }
}

static void a_stop_ends_the_run_for_all(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 9; threads += 4) {
        struct stopping s = {0};
        locum_error error;
        assert_int_equal(exec_team_create(threads, 2, &s.team, &error), LOCUM_OK);
        for (int repeat = 0; repeat < 50; repeat++) { // the team can be used again
            s.firsts = 0;
            exec_team_run(s.team, stop_in_phase_five, &s, NULL);
            assert_int_equal(s.firsts, 1);
            assert_false(exec_team_cancelled(s.team));
            for (uint32_t w = 0; w < threads; w++)
                assert_int_equal(s.left_at[w], 5);
        }
        exec_team_destroy(s.team);
    }
}

// ---- cancelling from another thread ---------------------------------------------------------------
struct endless {
    struct exec_team *team;
    atomic_bool cancel;
    _Atomic uint32_t phases;
};

static void run_for_ever(void *user, uint32_t worker) {
    struct endless *e = user;
    do {
        if (worker == 0) atomic_fetch_add(&e->phases, 1);
    } while (exec_team_sync(e->team));
}

static void cancel_soon(void *user) {
    struct endless *e = user;
    while (atomic_load(&e->phases) < 100)
        thread_yield();
    atomic_store(&e->cancel, true);
}

static void a_cancel_ends_the_run(void **state) {
    (void)state;
    struct endless e = {0};
    locum_error error;
    struct thread other;
    assert_int_equal(exec_team_create(3, 2, &e.team, &error), LOCUM_OK);
    assert_int_equal(thread_start(&other, "cancel", 0, cancel_soon, &e, &error), LOCUM_OK);
    exec_team_run(e.team, run_for_ever, &e, &e.cancel);
    thread_join(&other);
    assert_true(exec_team_cancelled(e.team));
    exec_team_destroy(e.team);
}

// ---- shares -----------------------------------------------------------------------------------------
static void portions_cover_uneven_totals(void **state) {
    (void)state;
    struct exec_team *team;
    locum_error error;
    assert_int_equal(exec_team_create(1, 1, &team, &error), LOCUM_OK);
    for (size_t total = 0; total < 200; total++) {
        for (size_t grain = 1; grain < 40; grain += 3) {
            size_t begin, end, next = 0;
            while (exec_team_take(team, 0, total, grain, &begin, &end)) {
                assert_int_equal(begin, next);
                assert_true(end > begin && end - begin <= grain && end <= total);
                next = end;
            }
            assert_int_equal(next, total);
            assert_true(exec_team_sync(team)); // the counter starts again
        }
    }
    exec_team_destroy(team);
}

// Plays a phase of `portions` in one thread: in each turn worker 0 takes if the turn's number is a
// multiple of `pause`, all others do. Returns the number of turns.
static uint32_t play(uint32_t threads, uint32_t portions, uint32_t pause, uint32_t *taken) {
    struct exec_team *team;
    locum_error error;
    assert_int_equal(exec_team_create(threads, 1, &team, &error), LOCUM_OK);
    memset(taken, 0, threads * sizeof *taken);
    uint32_t turn = 0, left = portions;
    for (; left > 0; turn++) {
        for (uint32_t w = turn % pause == 0 ? 0 : 1; w < threads && left > 0; w++) {
            size_t begin, end;
            assert_true(exec_team_take(team, w, portions, 1, &begin, &end));
            if (pause == 1 && taken[w] < portions / threads) // its own stretch, from front to back
                assert_int_equal(begin, (size_t)portions * w / threads + taken[w]);
            taken[w]++;
            left--;
        }
    }
    exec_team_destroy(team);
    return turn;
}

static void shares_are_even_and_a_slow_worker_is_helped(void **state) {
    (void)state;
    static const uint32_t teams[] = {8, 64}, totals[] = {1, 63, 64, 640, 1001};
    uint32_t taken[64];
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < 5; i++) {
            uint32_t threads = teams[t], portions = totals[i];
            uint32_t even = (portions + threads - 1) / threads;
            assert_int_equal(play(threads, portions, 1, taken), even);
            for (uint32_t w = 0; w < threads; w++)
                assert_true(taken[w] == even || taken[w] + 1 == even);
            // Worker 0 at a quarter of the speed: the others do the rest, nobody waits for it.
            uint32_t quarters = 4 * (threads - 1) + 1;
            assert_true(play(threads, portions, 4, taken) <= portions * 4 / quarters + 2);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_taken_once),
        cmocka_unit_test(a_stop_ends_the_run_for_all),
        cmocka_unit_test(a_cancel_ends_the_run),
        cmocka_unit_test(portions_cover_uneven_totals),
        cmocka_unit_test(shares_are_even_and_a_slow_worker_is_helped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// DESIGN. `meeting` is a word that counts meeting points. The last worker to arrive at one resets what
// belongs to a phase (counter, arrivals), decides whether the run goes on, and only then moves the word;
// the others wait for that. Hence all workers see one decision, and nobody can be a phase ahead.
// Workers sleep between runs on `job`, which counts runs.
#include "exec/exec_team.h"

#include "base/arena.h"
#include "base/check.h"
#include "base/limits.h"
#include "platform/thread.h"

#include <stdalign.h>
#include <string.h>

// About 20 us: longer than the gaps between phases, shorter than a wait for storage.
enum { SPIN_ROUNDS = 1500 };
// A worker's stack as address space, and what it touches at most: kernels keep frames of up to 32 KiB.
enum { STACK_BYTES = THREAD_STACK_DEFAULT, STACK_TOUCHED = 64 << 10 };

struct worker {
    alignas(64) atomic_size_t taken; // portions of its stretch of the phase, maybe more than it has
    struct exec_team *team;
    uint32_t number;
    struct thread thread;
};

struct exec_team {
    alignas(64) struct thread_gate meeting;
    alignas(64) atomic_uint arrived;
    alignas(64) struct thread_gate job;
    atomic_uint sleepers; // on either gate
    atomic_bool stop_wanted, quit;
    bool stop;      // the decision of the last meeting; written by its last worker only
    bool cancelled; // likewise
    const atomic_bool *cancel;
    exec_team_fn function;
    void *user;
    uint32_t threads;
    uint32_t spin;
    uint32_t started; // worker threads to join
    struct worker workers[];
};

uint64_t exec_team_bytes(uint32_t threads) {
    return sizeof(struct exec_team) + (uint64_t)threads * (sizeof(struct worker) + STACK_TOUCHED);
}

uint32_t exec_team_size(const struct exec_team *team) {
    return team->threads;
}

// Until the word is no longer `seen`.
static void wait_for(struct exec_team *team, struct thread_gate *gate, uint32_t seen) {
    for (uint32_t i = 0; i < team->spin; i++) {
        if (atomic_load_explicit(&gate->word, memory_order_acquire) != seen) return;
        thread_relax();
    }
    atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(&gate->word) == seen)
        thread_gate_wait(gate, seen, THREAD_FOREVER);
    atomic_fetch_sub(&team->sleepers, 1);
}

static void advance(struct exec_team *team, struct thread_gate *gate) {
    atomic_fetch_add(&gate->word, 1);
    if (atomic_load(&team->sleepers) > 0) thread_gate_wake_all(gate);
}

// Run by the last worker to arrive, while all others wait.
static void decide(struct exec_team *team) {
    bool cancelled = team->cancel && atomic_load_explicit(team->cancel, memory_order_relaxed);
    bool failed = atomic_load_explicit(&team->stop_wanted, memory_order_relaxed);
    team->cancelled = cancelled && !failed;
    team->stop = cancelled || failed;
    for (uint32_t i = 0; i < team->threads; i++)
        atomic_store_explicit(&team->workers[i].taken, 0, memory_order_relaxed);
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
}

static void meet(struct exec_team *team) {
    uint32_t seen = atomic_load_explicit(&team->meeting.word, memory_order_relaxed);
    if (atomic_fetch_add(&team->arrived, 1) + 1 == team->threads) {
        decide(team);
        advance(team, &team->meeting);
    } else {
        wait_for(team, &team->meeting, seen);
    }
}

bool exec_team_sync(struct exec_team *team) {
    meet(team);
    return !team->stop;
}

bool exec_team_stop(struct exec_team *team) {
    return !atomic_exchange(&team->stop_wanted, true);
}

bool exec_team_cancelled(const struct exec_team *team) {
    return team->cancelled;
}

bool exec_team_take(struct exec_team *team, uint32_t worker, size_t total, size_t grain,
                    size_t *begin, size_t *end) {
    LOCUM_ASSERT(grain > 0);
    size_t portions = (total + grain - 1) / grain, threads = team->threads;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t owner = (worker + i) % team->threads;
        size_t first = portions * owner / threads, count = portions * (owner + 1) / threads - first;
        atomic_size_t *taken = &team->workers[owner].taken;
        if (atomic_load_explicit(taken, memory_order_relaxed) >= count) continue;
        size_t number = atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
        if (number >= count) continue;
        *begin = (first + number) * grain;
        *end = total - *begin < grain ? total : *begin + grain;
        return true;
    }
    return false;
}

static void worker_main(void *user) {
    struct worker *worker = user;
    struct exec_team *team = worker->team;
    uint32_t seen = 0;
    for (;;) {
        wait_for(team, &team->job, seen);
        seen++;
        if (atomic_load(&team->quit)) return;
        team->function(team->user, worker->number);
        meet(team); // the end of the run
    }
}

void exec_team_run(struct exec_team *team, exec_team_fn function, void *user,
                   const atomic_bool *cancel) {
    team->function = function;
    team->user = user;
    team->cancel = cancel;
    team->stop = team->cancelled = false;
    atomic_store(&team->stop_wanted, false);
    for (uint32_t i = 0; i < team->threads; i++)
        atomic_store(&team->workers[i].taken, 0);
    advance(team, &team->job);
    function(user, 0);
    bool stopped = team->stop, cancelled = team->cancelled;
    meet(team);
    // The last meeting decides nothing: what counts is why the function was left.
    team->stop = stopped;
    team->cancelled = stopped && cancelled;
}

locum_status exec_team_create(uint32_t threads, uint32_t cpus, struct exec_team **out,
                              locum_error *error) {
    LOCUM_ASSERT(threads >= 1 && threads <= LIMIT_THREADS);
    size_t bytes = sizeof(struct exec_team) + threads * sizeof(struct worker) + 64;
    void *memory = heap_resize(NULL, bytes);
    if (!memory)
        return status_fail(error, LOCUM_E_OUT_OF_MEMORY, "no memory for %u compute threads",
                           threads);
    memset(memory, 0, bytes);
    uintptr_t aligned = ((uintptr_t)memory + sizeof(void *) + 63) & ~(uintptr_t)63;
    ((void **)aligned)[-1] = memory;
    struct exec_team *team = (struct exec_team *)aligned;
    thread_gate_init(&team->meeting, 0);
    thread_gate_init(&team->job, 0);
    team->threads = threads;
    team->spin = threads <= cpus ? SPIN_ROUNDS : 0;
    for (uint32_t i = 1; i < threads; i++) {
        struct worker *worker = &team->workers[i];
        *worker = (struct worker){.team = team, .number = i};
        locum_status status =
            thread_start(&worker->thread, "locum-compute", STACK_BYTES, worker_main, worker, error);
        if (status != LOCUM_OK) {
            exec_team_destroy(team);
            return status;
        }
        team->started++;
    }
    *out = team;
    return LOCUM_OK;
}

void exec_team_destroy(struct exec_team *team) {
    if (!team) return;
    atomic_store(&team->quit, true);
    advance(team, &team->job);
    for (uint32_t i = 1; i <= team->started; i++)
        thread_join(&team->workers[i].thread);
    thread_gate_destroy(&team->meeting);
    thread_gate_destroy(&team->job);
    heap_free(((void **)team)[-1]);
}

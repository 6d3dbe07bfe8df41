// SPDX-License-Identifier: Apache-2.0
#include "cli_progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli_output.h"
#include "platform/clock.h"
#include "platform/terminal.h"
#include "platform/thread.h"

#define DELAY_NS    UINT64_C(500000000) // work that ends sooner is not worth a line
#define INTERVAL_NS UINT64_C(100000000) // between two drawings

// The program has one terminal. All but `tried` and `running` is guarded by the mutex.
static struct {
    bool tried, running; // to have a thread; known to the commands' thread alone
    struct thread thread;
    struct thread_mutex mutex;
    struct thread_condition changed;
    bool stop;
    bool active;  // something is under way
    bool is_new;  // line was not drawn yet
    bool shown;   // a line is on the terminal
    uint64_t due; // when the next drawing may be
    char line[80];
} state;

static void draw(void) {
    bool colour = cli_output_has_colour();
    fprintf(stderr, "\r\033[K%s%s%s", colour ? "\033[2m" : "", state.line,
            colour ? "\033[0m" : "");
    fflush(stderr);
    state.shown = true;
    state.is_new = false;
    state.due = clock_now_ns() + INTERVAL_NS;
}

static void draw_when_due(void *user) {
    (void)user;
    thread_mutex_lock(&state.mutex);
    while (!state.stop) {
        uint64_t now = clock_now_ns(), wait = THREAD_FOREVER;
        if (state.active && state.is_new) {
            if (now >= state.due) {
                draw();
            } else {
                wait = state.due - now;
            }
        }
        thread_condition_wait(&state.changed, &state.mutex, wait);
    }
    thread_mutex_unlock(&state.mutex);
}

static bool start(void) {
    if (state.tried || cli_output_is_quiet() || !terminal_is(TERMINAL_ERROR)) return state.running;
    state.tried = true;
    thread_mutex_init(&state.mutex);
    thread_condition_init(&state.changed);
    state.running =
        thread_start(&state.thread, "progress", 0, draw_when_due, NULL, NULL) == LOCUM_OK;
    return state.running;
}

void cli_progress(const char *what, uint64_t done, uint64_t total) {
    if (!start()) return;
    thread_mutex_lock(&state.mutex);
    if (!state.active) state.due = clock_now_ns() + DELAY_NS;
    state.active = state.is_new = true;
    double percent = total > 0 ? 100.0 * (double)done / (double)total : 0;
    if (total > 0) {
        snprintf(state.line, sizeof state.line, "%s %3.0f %%", what, percent);
    } else {
        snprintf(state.line, sizeof state.line, "%s", what);
    }
    thread_condition_signal(&state.changed);
    thread_mutex_unlock(&state.mutex);
}

void cli_progress_end(void) {
    if (!state.running) return;
    thread_mutex_lock(&state.mutex);
    state.active = false;
    if (state.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    state.shown = false;
    thread_mutex_unlock(&state.mutex);
}

void cli_progress_stop(void) {
    if (!state.running) return;
    cli_progress_end();
    thread_mutex_lock(&state.mutex);
    state.stop = true;
    thread_condition_signal(&state.changed);
    thread_mutex_unlock(&state.mutex);
    thread_join(&state.thread);
    state.running = false;
}

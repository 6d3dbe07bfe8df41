// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/env.h"
#include "platform/signal.h"
#include "platform/terminal.h"

// Everything here changes the process, so each case runs in a child; its exit status is the
// verdict.
static int status_of(void (*function)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        function();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void need(bool condition, int code) {
    if (!condition) _exit(code);
}

#define ASSERT_PASSES(function) assert_int_equal(status_of(function), 0)

static void environment(void) {
    setenv("LOCUM_TEST_VALUE", "x y", 1);
    setenv("LOCUM_TEST_EMPTY", "", 1);
    unsetenv("LOCUM_TEST_NONE");
    need(env_get("LOCUM_TEST_VALUE") && strcmp(env_get("LOCUM_TEST_VALUE"), "x y") == 0, 1);
    need(env_get("LOCUM_TEST_EMPTY") == NULL, 2);
    need(env_get("LOCUM_TEST_NONE") == NULL, 3);
}

static void empty_variables_are_unset(void **state) {
    (void)state;
    ASSERT_PASSES(environment);
}

static void on_a_terminal(void) {
    int master, slave;
    struct winsize size = {.ws_row = 30, .ws_col = 97};
    need(openpty(&master, &slave, NULL, NULL, &size) == 0, 1);
    dup2(slave, STDOUT_FILENO);
    need(terminal_is(TERMINAL_OUT), 2);
    need(terminal_width(TERMINAL_OUT) == 97, 3);
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    need(terminal_has_colour(TERMINAL_OUT), 4);
    setenv("NO_COLOR", "1", 1);
    need(!terminal_has_colour(TERMINAL_OUT), 5);
    setenv("NO_COLOR", "", 1);
    need(terminal_has_colour(TERMINAL_OUT), 6);
    setenv("TERM", "dumb", 1);
    need(!terminal_has_colour(TERMINAL_OUT), 7);
    unsetenv("TERM");
    need(!terminal_has_colour(TERMINAL_OUT), 8);
}

static void in_a_pipe(void) {
    int ends[2];
    need(pipe(ends) == 0, 1);
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[0], STDIN_FILENO);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    need(!terminal_is(TERMINAL_ERROR) && !terminal_is(TERMINAL_IN), 2);
    need(terminal_width(TERMINAL_ERROR) == 0, 3);
    need(!terminal_has_colour(TERMINAL_ERROR), 4);
    close(STDIN_FILENO);
    need(!terminal_is(TERMINAL_IN), 5);
}

static void a_terminal_is_recognised(void **state) {
    (void)state;
    ASSERT_PASSES(on_a_terminal);
    ASSERT_PASSES(in_a_pipe);
}

static _Atomic int count;

static void first_interrupt(void) {
    need(signal_count_interrupts(&count), 1);
    need(atomic_load(&count) == 0, 2);
    raise(SIGINT);
    need(atomic_load(&count) == 1, 3);
    raise(SIGTERM);
    need(atomic_load(&count) == 2, 4);
}

static void second_interrupt(void) {
    need(signal_count_interrupts(&count), 1);
    raise(SIGINT);
    raise(SIGINT);
    _exit(9); // not reached
}

static atomic_bool called;

static void note_call(void) {
    atomic_store(&called, true);
}

static void interrupt_calls(void) {
    need(signal_count_interrupts(&count), 1);
    signal_call_on_interrupt(note_call);
    raise(SIGINT);
    need(atomic_load(&called) && atomic_load(&count) == 1, 2);
    signal_call_on_interrupt(NULL);
    atomic_store(&called, false);
    raise(SIGTERM);
    need(!atomic_load(&called) && atomic_load(&count) == 2, 3);
}

static void armed_again(void) {
    for (int i = 1; i <= 3; i++) {
        need(signal_count_interrupts(&count), 1);
        raise(SIGINT);
        need(atomic_load(&count) == i, 2);
    }
}

static void ignored_interrupt(void) {
    signal(SIGINT, SIG_IGN);
    need(signal_count_interrupts(&count), 1);
    raise(SIGINT);
    need(atomic_load(&count) == 0, 2);
}

static void interrupts_are_counted_and_the_second_one_ends(void **state) {
    (void)state;
    ASSERT_PASSES(first_interrupt);
    ASSERT_PASSES(interrupt_calls);
    ASSERT_PASSES(armed_again);
    ASSERT_PASSES(ignored_interrupt);
    int status = status_of(second_interrupt);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static void joined_streams(void) {
    int ends[2];
    need(pipe(ends) == 0 && dup2(ends[1], 1) == 1, 1);
    need(!terminal_same(TERMINAL_OUT, TERMINAL_IN), 2);
    need(dup2(ends[1], 2) == 2 && terminal_same(TERMINAL_OUT, TERMINAL_ERROR), 3);
    need(pipe(ends) == 0 && dup2(ends[1], 2) == 2, 4);
    need(!terminal_same(TERMINAL_OUT, TERMINAL_ERROR), 5);
    close(1);
    close(2);
    need(!terminal_same(TERMINAL_OUT, TERMINAL_ERROR), 6);
}

static void streams_that_lead_to_one_place_are_known(void **state) {
    (void)state;
    ASSERT_PASSES(joined_streams);
}

static void closed_pipe(void) {
    int ends[2];
    need(signal_ignore_failed_writes(), 1);
    need(pipe(ends) == 0, 2);
    close(ends[0]);
    need(write(ends[1], "x", 1) == -1 && errno == EPIPE, 3);
}

static void a_file_at_its_limit(void) {
    const struct rlimit none = {0, 0};
    need(signal_ignore_failed_writes(), 1);
    FILE *file = tmpfile();
    need(file != NULL && setrlimit(RLIMIT_FSIZE, &none) == 0, 2);
    need(write(fileno(file), "x", 1) == -1 && errno == EFBIG, 3);
}

static void what_cannot_be_written_is_an_error(void **state) {
    (void)state;
    ASSERT_PASSES(closed_pipe);
    ASSERT_PASSES(a_file_at_its_limit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_variables_are_unset),
        cmocka_unit_test(a_terminal_is_recognised),
        cmocka_unit_test(streams_that_lead_to_one_place_are_known),
        cmocka_unit_test(interrupts_are_counted_and_the_second_one_ends),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

static void a_true_invariant_passes(void **state) {
    (void)state;
    int evaluated = 0;
    LOCUM_ASSERT(++evaluated == 1);
    assert_int_equal(evaluated, 1);
}

// In a child: what it writes to stderr, and its wait status.
static int run_broken(char *text, size_t max) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); // cmocka has a handler of its own
        dup2(ends[1], STDERR_FILENO);
        LOCUM_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while (size < max - 1 && (got = read(ends[0], text + size, max - 1 - size)) > 0)
        size += (size_t)got;
    text[size] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_broken_one_names_the_place_and_ends_the_process(void **state) {
    (void)state;
    char text[500];
    int status = run_broken(text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "1 + 1 == 3"));
    assert_non_null(strstr(text, "test_check.c"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_true_invariant_passes),
        cmocka_unit_test(a_broken_one_names_the_place_and_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

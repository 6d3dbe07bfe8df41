// SPDX-License-Identifier: Apache-2.0
#include "platform/signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

// A handler gets no argument, so what it uses has to be global. The counter is set before the
// handler is.
static _Atomic int *interrupt_count;
static void (*_Atomic interrupt_call)(void);

static void count_interrupt(int number) {
    (void)number;
    atomic_fetch_add(interrupt_count, 1);
    void (*call)(void) = atomic_load(&interrupt_call);
    if (call) call();
}

void signal_call_on_interrupt(void (*call)(void)) {
    atomic_store(&interrupt_call, call);
}

bool signal_count_interrupts(_Atomic int *count) {
    static const int numbers[] = {SIGINT, SIGTERM};
    interrupt_count = count;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old, action = {.sa_handler = count_interrupt};
        if (sigaction(numbers[i], NULL, &old) != 0) return false;
        if (old.sa_handler == SIG_IGN) continue;
        sigemptyset(&action.sa_mask);
        // No SA_RESTART: a read from a terminal returns when it is interrupted. SA_RESETHAND: the
        // second signal meets the default action.
        action.sa_flags = (int)SA_RESETHAND;
        if (sigaction(numbers[i], &action, NULL) != 0) return false;
    }
    return true;
}

bool signal_ignore_failed_writes(void) {
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR && signal(SIGXFSZ, SIG_IGN) != SIG_ERR;
}

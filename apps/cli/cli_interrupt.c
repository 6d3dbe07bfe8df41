// SPDX-License-Identifier: Apache-2.0
#include "cli_interrupt.h"

#include "platform/signal.h"

// Reached from a signal handler, which gets no argument.
static _Atomic int interrupts;
static locum_session *_Atomic watched;

static void cancel_watched(void) {
    locum_session *session = watched;
    if (session) locum_session_cancel(session);
}

void cli_interrupt_init(void) {
    signal_call_on_interrupt(cancel_watched);
    signal_count_interrupts(&interrupts);
}

bool cli_interrupt_seen(void) {
    return interrupts > 0;
}

void cli_interrupt_watch(locum_session *session) {
    watched = session;
    if (session && cli_interrupt_seen()) locum_session_cancel(session);
}

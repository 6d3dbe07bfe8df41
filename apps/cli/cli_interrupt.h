// SPDX-License-Identifier: Apache-2.0
//
// Owns:      what Ctrl-C does: it cancels the running request; a second one ends the program.
// Called by: cli_main.c (init), commands that compute.
// Threads:   one, and the signal handler.
// Errors:    none.
// Not here:  the exit status.
#ifndef CLI_CLI_INTERRUPT_H
#define CLI_CLI_INTERRUPT_H

#include <locum/locum.h>

void cli_interrupt_init(void);
bool cli_interrupt_seen(void);
// The session that an interrupt cancels from now on; NULL before it is closed.
void cli_interrupt_watch(locum_session *session);

#endif

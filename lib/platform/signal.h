// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the process's reaction to Ctrl-C and to writes that cannot be done.
// Called by: the command line only: a library does not touch signals.
// Threads:   the main thread; the count may be read by any.
// Errors:    false if the system refuses.
// Not here:  what to do about an interruption.
#ifndef PLATFORM_SIGNAL_H
#define PLATFORM_SIGNAL_H

#include <stdbool.h>

// Count SIGINT and SIGTERM in *count from now on. The second one of a kind ends the process in the
// usual way, so that a program that hangs can still be stopped; another call makes the next one a
// first one again. An ignored signal stays ignored (nohup, background jobs).
bool signal_count_interrupts(_Atomic int *count);
// Also call `call` (NULL: nothing) after each count. It runs inside the signal handler, so it may
// touch nothing but atomics.
void signal_call_on_interrupt(void (*call)(void));
// Writing to a closed pipe, or past the largest size that a file may have (ulimit -f), becomes an
// ordinary error.
bool signal_ignore_failed_writes(void);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Owns:      the one line on a terminal that says how far something is, rewritten in place.
// Called by: commands that take long; cli_output.c ends it before it writes.
// Threads:   one; the line is drawn by a thread of its own, because a single step of a model may take
//            long and reports nothing meanwhile.
// Errors:    none: without a thread there is no line.
// Not here:  any other output.
#ifndef CLI_CLI_PROGRESS_H
#define CLI_CLI_PROGRESS_H

#include <stdint.h>

// Only on a terminal, not with --quiet, and only once the work has lasted for a moment: what is done
// at once leaves no flash. total 0: no percentage.
void cli_progress(const char *what, uint64_t done, uint64_t total);
void cli_progress_end(void);
void cli_progress_stop(void); // for good: before the program ends

#endif

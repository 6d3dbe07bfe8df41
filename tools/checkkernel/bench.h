// SPDX-License-Identifier: Apache-2.0
//
// Owns:      timing of kernels, on stdout and as JSON.
// Called by: checkkernel --bench.
// Threads:   one.
// Errors:    a JSON file that cannot be written is named; false.
// Not here:  whole models (locum bench).
#ifndef CHECKKERNEL_BENCH_H
#define CHECKKERNEL_BENCH_H

#include "kernel_list.h"

#include <stdio.h>

// Times one kernel of the tested table and prints a line per shape; json (may be NULL) gets one
// object per line of output, `first` says whether a comma must go before it.
void bench_kernel(struct check *c, const struct kernel *kernel, FILE *json, bool *first);
// What one thread reads from memory, as one more line.
void bench_memory(FILE *json, bool *first);

#endif

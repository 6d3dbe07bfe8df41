// SPDX-License-Identifier: Apache-2.0
//
// Owns:      small text files of /proc and /sys, below a root folder that tests replace.
// Called by: the files of lib/platform/linux only.
// Threads:   any.
// Errors:    false: the file is absent, unreadable or does not hold what was asked for.
// Not here:  what the values mean.
#ifndef PLATFORM_LINUX_PSEUDO_FILE_H
#define PLATFORM_LINUX_PSEUDO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/cpu.h"

// The file at the formatted path, terminated, at most max - 1 bytes of it. errno says why not.
bool pseudo_file_text(char *text, size_t max, const char *path_format, ...)
    __attribute__((format(printf, 3, 4)));
// A file that begins with a decimal number; "max" and "-1" are not numbers.
bool pseudo_file_number(uint64_t *value, const char *path_format, ...)
    __attribute__((format(printf, 2, 3)));
// The number behind `key` at the start of a line ("MemTotal:    24683656 kB").
bool pseudo_file_field(const char *text, const char *key, uint64_t *value);
// "0-3,8,10-11", as the kernel writes sets of cpus; numbers too large for a set are left out.
bool pseudo_file_cpus(const char *text, struct cpu_set *set);

#endif
